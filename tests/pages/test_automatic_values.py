"""“Other”, “no answer”, “yes” and “no” are read in the page's language; what is stored, and what links hold, stays."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pandas as pd
import pytest
from helpers_page import html_of, open_page, plain

import dpengine as dp
from dpengine.messages import say
from dpengine.messages.language import speaking
from dpengine.messages.language import stored as in_english
from ui.parts import exports

OURS = ("drugo", "ni odgovora", "da", "ne")
NAME = "answers"


@pytest.fixture
def table(home: dp.Workspace) -> Iterator[dp.Table]:
    frame = pd.DataFrame({"car": ["yes", "no", "", "maybe"] * 250, "land": ["no", "si", "no", "x"] * 250})
    schema = dp.Schema({"car": dp.Category(["yes", "no"]), "land": dp.Category(["no", "si"])})
    yield home.add_table(NAME, frame, schema=schema, unit=dp.Unit.rows(), budget=dp.Budget("60", "1e-6"))


def test_a_label_that_nobody_wrote_is_told_in_the_readers_words(table: dp.Table) -> None:
    car, land = table.schema.category("car"), table.schema.category("land")
    with speaking("sl"):
        query = table.query("histogram", column="car", epsilon="1")
        assert tuple(query.shown().values()) == ("da", "ne", "drugo", "ni odgovora")
        assert table.query("histogram", column="land", epsilon="1").shown() == {
            "other": "drugo",
            "no answer": "ni odgovora",
        }
        crossed = table.query("crosstab", columns=["car", "land"], epsilon="1")
        assert "da × no" in crossed.shown().values() and crossed.crossed()[0][1]["no"] == "ne"
        told = table.query(
            "count", where=[["car", "in", ["no"]], ["land", "in", ["no", "other"]]], epsilon="1"
        ).sentence()
        assert "car = ne" in told and "no ali drugo" in told  # Norway stays what it is
    assert car.labels == ("yes", "no", "other", "no answer") == tuple(json.loads(json.dumps(car.labels)))
    assert land.as_json()["unknown"] == "other" and not table.query("histogram", column="car", epsilon="1").shown()


def test_a_list_that_has_the_readers_word_already_keeps_ours_apart() -> None:
    with speaking("sl"):
        column = dp.Category(["drugo", "stanovanje"])
        assert say("data.list", labels=column.labels, more=0).startswith("drugo, stanovanje, other")


@pytest.mark.long
def test_pages_say_it_and_links_keep_the_stored_word(table: dp.Table) -> None:
    answer = table.ask(table.query("histogram", column="car", epsilon="5"))
    page = open_page("ask", table=NAME, answer=answer.request_id, lang="sl")
    told = plain(html_of(page))
    assert all(word in told for word in OURS) and "no answer" not in told and "other" not in told
    where = json.dumps([["car", "in", ["no"]]])
    page = open_page("ask", table=NAME, q="count", where=where, epsilon="1", lang="sl")
    [picked] = [one for one in page.multiselect if "values" in str(one.key)]
    assert list(picked.value) == ["no"] and list(picked.options)[:4] == ["da", "ne", "drugo", "ni odgovora"]
    assert json.loads("".join(page.query_params["where"])) == [["car", "in", ["no"]]]
    for name in ("answers", "tables", "data"):
        told = plain(html_of(open_page(name, table=NAME, lang="sl")))
        assert "no answer" not in told, name


def test_an_answers_own_file_names_its_parts_as_the_page_does(table: dp.Table) -> None:
    answer = table.ask(table.query("crosstab", columns=["car", "land"], epsilon="5"))
    with speaking("sl"):
        told = exports.answer_csv(answer)
    assert ",da,no," in told and ",ni odgovora,drugo," in told and "no answer" not in told
    assert ",yes,no," in exports.answer_csv(answer)
    with in_english():
        assert "yes × no" in answer.receipt["answer"]["value"]
