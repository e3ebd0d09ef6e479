"""The OpenAPI description says what is sent and what is answered: both are held against it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest
from helpers_door import COUNT, AtDoor, at_door

import dpengine as dp
from tests.helpers_people import MINE
from ui.api import openapi, verbs


@pytest.fixture(scope="module")
def door(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AtDoor]:
    with at_door(tmp_path_factory.mktemp("described")) as found:
        yield found


def held(described: dict[str, Any], schema: dict[str, Any], told: Any) -> None:
    whole = {"$schema": "https://json-schema.org/draft/2020-12/schema", "components": described["components"]} | schema
    jsonschema.Draft202012Validator(whole).validate(told)


def test_what_is_sent_and_answered_is_as_described(door: AtDoor) -> None:
    token = door.token()
    said = door.ask("openapi.json", token)
    described = said.body
    assert said.status == 200 and described["openapi"] == "3.1.0" and described["info"]["title"]
    asked = COUNT | {"request": "one", "wait": 10}
    look = {"table": MINE, "parameters": {"epsilon": "0.05"}, "request": "two"}
    calls: dict[str, tuple[str, Any]] = {
        "catalogue": ("catalogue", None),
        "tables": ("tables", None),
        "table": (f"table/{MINE}", None),
        "declaration": (f"declaration/{MINE}", None),
        "preview": ("preview", COUNT),
        "read": ("read", {"table": MINE, "text": "average x by town"}),
        "ask": ("ask", asked),
        "overview": ("overview", look),
        "recall": ("recall", COUNT),
        "meter": (f"meter/{MINE}", None),
        "job": ("job/one", None),
    }
    assert set(calls) == set(verbs.BY_NAME)
    for name, (path, body) in calls.items():
        verb = verbs.BY_NAME[name]
        operation = described["paths"][f"/{verb.path}"][verb.method.lower()]
        if body is not None:
            held(described, operation["requestBody"]["content"]["application/json"]["schema"], body)
        answer = door.ask(path, token, body)
        assert answer.status == 200, answer.body
        held(described, operation["responses"]["200"]["content"]["application/json"]["schema"], answer.body)
        assert "rows" not in operation["operationId"]
    refused = door.ask("table/none", token)
    held(described, {"$ref": "#/components/schemas/Error"}, refused.body)
    wrong = {"table": MINE, "key": "count", "parameters": {"nothing": 1}}
    schema = described["paths"]["/preview"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    with pytest.raises(jsonschema.ValidationError):
        held(described, schema, wrong)
    assert door.ask("preview", token, wrong).status == 422


def test_every_question_of_the_catalogue_is_described_with_its_parameters() -> None:
    for lang in ("en", "sl"):
        schemas = openapi.described(lang)["components"]["schemas"]
        for key, kind in dp.catalogue.items():
            names = {one.name for one in kind.card.parameters}
            assert names <= set(schemas[f"ask_{key}"]["properties"])
        for name, schema in schemas.items():
            jsonschema.Draft202012Validator.check_schema(schema)
            assert name
    said = [openapi.described(lang)["paths"]["/ask"]["post"]["summary"] for lang in ("en", "sl")]
    assert said[0] != said[1]
