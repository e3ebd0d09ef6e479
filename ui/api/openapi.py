"""The API's OpenAPI description, built from its verbs, the questions' cards and the records that it answers with."""

from __future__ import annotations

from dataclasses import fields
from functools import cache

from dpengine.asking.answers import Meter, Preview
from dpengine.core.types import JsonObject
from dpengine.ledger.rows import LONGEST_REQUEST
from dpengine.mechanisms import catalogue
from dpengine.mechanisms.query import AnyQuery
from dpengine.messages import say
from dpengine.messages.language import speaking
from ui.api.verbs import MOST_WAIT, VERBS, Field, Verb

TEXT: JsonObject = {"type": "string"}
EXACT: JsonObject = {"type": "string", "pattern": r"^-?[0-9]+(\.[0-9]+|/[0-9]+)?$"}
WHOLE: JsonObject = {"type": "integer"}
SWITCH: JsonObject = {"type": "boolean"}
THING: JsonObject = {"type": "object"}
AMOUNT: JsonObject = {"type": ["string", "number"]}
_FIELDS = {"string": TEXT, "object": THING, "number": {"type": "number"}, "boolean": SWITCH}
_RECORDED = {"Fraction": EXACT, "int": WHOLE, "bool": SWITCH, "str": TEXT, "Promise": THING}
_PARAMETERS = {"epsilon": AMOUNT, "delta": AMOUNT, "switch": SWITCH, "flag": SWITCH, "where": {"type": "array"}}
_REFUSED = ("400", "401", "403", "404", "405", "408", "409", "413", "415", "422", "429", "500")


def described(lang: str) -> JsonObject:
    with speaking(lang):
        return _described(lang)


@cache
def _described(lang: str) -> JsonObject:
    return {
        "openapi": "3.1.0",
        "info": {"title": "Allowance", "version": "1", "description": say("door.described")},
        "servers": [{"url": "/api/v1"}],
        "security": [{"token": []}],
        "paths": {f"/{verb.path}": {verb.method.lower(): _operation(verb)} for verb in VERBS},
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "responses": {"Refused": {"description": say("door.refused"), "content": _json(_ref("Error"))}},
            "schemas": _answers() | {f"ask_{key}": _parameters(kind) for key, kind in catalogue.items()},
        },
    }


def _operation(verb: Verb) -> JsonObject:
    response = {"description": say(f"door.verb.{verb.name}"), "content": _json(_ref(verb.answer))}
    operation: JsonObject = {
        "operationId": verb.name,
        "summary": say(f"door.verb.{verb.name}"),
        "responses": {"200": response} | {status: {"$ref": "#/components/responses/Refused"} for status in _REFUSED},
    }
    if verb.shows is not None:
        operation["responses"]["202"] = response
    if verb.in_path:
        operation["parameters"] = [{"name": verb.in_path, "in": "path", "required": True, "schema": TEXT}]
    if verb.fields:
        operation["requestBody"] = {"required": True, "content": _json(_sent(verb))}
    return operation


def _sent(verb: Verb) -> JsonObject:
    names = {field.name for field in verb.fields}
    schema = _object({field.name: _field(field) for field in verb.fields}, [f.name for f in verb.fields if f.required])
    if "key" in names:
        kinds = [_object({"key": {"const": key}, "parameters": _ref(f"ask_{key}")}, [], True) for key in catalogue]
        return schema | {"oneOf": kinds}
    return schema


def _field(field: Field) -> JsonObject:
    more: JsonObject = {"request": {"minLength": 1, "maxLength": LONGEST_REQUEST}, "wait": {"maximum": MOST_WAIT}}
    return {**_FIELDS[field.kind], **more.get(field.name, {})}


def _parameters(kind: type[AnyQuery]) -> JsonObject:
    known = {spec.name: _PARAMETERS.get(spec.kind, {}) | {"description": spec.label} for spec in kind.card.parameters}
    known["beta"] = AMOUNT
    if kind.noises:
        known["noise"] = {"enum": ["", *kind.noises]}
    automatic = {"delta"} if kind.declares else set()  # has a default
    needed = [spec.name for spec in kind.card.parameters if spec.required and spec.name not in automatic]
    return _object(known, needed) | {"title": kind.card.title}


def _answers() -> JsonObject:
    answer = dict.fromkeys(("request", "table", "key", "at", "sentence"), TEXT)
    answer |= {"value": {}, "interval": {}, "population": {}, "promise": THING, "notes": _list(TEXT), "receipt": THING}
    job = {"request": TEXT, "state": TEXT, "done": WHOLE, "total": WHOLE, "ahead": WHOLE}
    job |= {"answer": _or_none(_ref("Answer")), "error": _or_none(_ref("Error"))}
    number = {"type": ["number", "null"]}
    bar = _object({"label": TEXT, "value": number, "low": number, "high": number})
    look = {"type": ["object", "null"], "additionalProperties": _list(bar)}
    table = {"name": TEXT, "practice": SWITCH, "closed": _or_none(TEXT), "relation": TEXT}
    table |= {"unit": THING, "people": WHOLE, "sample": SWITCH, "columns": THING}
    meter = _record(Meter) | {"unused": EXACT, "delta_now": EXACT}
    parameter = _object({"name": TEXT, "kind": TEXT, "required": SWITCH, "label": TEXT})
    question = {"key": TEXT, "version": WHOLE, "title": TEXT, "about": TEXT, "answer": TEXT}
    question |= {
        "relations": _list(TEXT),
        "several_rows": SWITCH,
        "noises": _list(TEXT),
        "parameters": _list(parameter),
    }
    named = _object({"name": TEXT, "closed": _or_none(TEXT)})
    return {
        "Error": _object(
            {"code": TEXT, "sentence": TEXT, "ways": _list(THING), "readings": _list(THING)}, ["code", "sentence"]
        ),
        "Answer": _object(answer),
        "Job": _object(job),
        "Looked": _object(job | {"look": look}),
        "Answers": _object({"answers": _list(_ref("Answer"))}),
        "Preview": _object({"sentence": TEXT} | _record(Preview)),
        "Read": _object({"key": TEXT, "parameters": THING, "sentence": TEXT}),
        "Meter": _object(meter),
        "Meters": _object({"yours": _ref("Meter"), "table": _ref("Meter")}),
        "Table": _object(table),
        "Declaration": _object(
            {"@context": TEXT, "dc:title": TEXT, "dialect": THING, "tableSchema": THING, "allowance": THING}
        ),
        "Tables": _object({"tables": _list(named)}),
        "Catalogue": _object({"questions": _list(_object(question))}),
    }


def _record(kind: type) -> JsonObject:
    """The OpenAPI schema of an engine record, from the declared types of its fields."""
    properties: JsonObject = {}
    for field in fields(kind):
        name, _, more = str(field.type).partition(" | ")
        schema = _RECORDED.get(name, THING)
        properties[field.name] = _or_none(schema) if more == "None" else schema
    return properties


def _object(properties: JsonObject, required: list[str] | None = None, more: bool = False) -> JsonObject:
    needed = list(properties) if required is None else required
    return {"type": "object", "properties": properties} | (
        ({"required": needed} if needed else {}) | ({} if more else {"additionalProperties": False})
    )


def _or_none(schema: JsonObject) -> JsonObject:
    return {"anyOf": [schema, {"type": "null"}]}


def _list(schema: JsonObject) -> JsonObject:
    return {"type": "array", "items": schema}


def _ref(name: str) -> JsonObject:
    return {"$ref": f"#/components/schemas/{name}"}


def _json(schema: JsonObject) -> JsonObject:
    return {"application/json": {"schema": schema}}
