"""The Synthetic page without a browser: what is promised before, what is refused, what is told of a synthetic table."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from streamlit.testing.v1 import AppTest

import dpengine as dp
from ui.ledger import report
from ui.parts import exports, history

pytestmark = pytest.mark.usefixtures("shared")

ROOT = Path(__file__).resolve().parents[2]
PEOPLE = 600
COLUMNS = '["colour", "=size"]'


@pytest.fixture(scope="module")
def tables(shared: dp.Workspace) -> Iterator[dict[str, dp.Table]]:
    frame = pd.DataFrame(
        {
            "colour": ["red" if place % 3 else "blue" for place in range(PEOPLE)],
            "=size": ["=1" if place % 5 else "big" for place in range(PEOPLE)],
            "pay": [str(place % 10) for place in range(PEOPLE)],
            **{f"many{at}": [f"v{place % 30}" for place in range(PEOPLE)] for at in range(3)},
        }
    )
    lists = {
        "colour": dp.Category(["red", "blue"], "blue", "blue"),
        "=size": dp.Category(["=1", "big"], "big", "big"),
    }
    long = {f"many{at}": dp.Category([f"v{place}" for place in range(30)], "v0", "v0") for at in range(3)}
    terms: dict[str, dict[str, Any]] = {
        "rows": {"schema": dp.Schema(lists | {"pay": dp.Number(0, 9)} | long)},
        "secret": {"relation": "add_remove", "about_rows": PEOPLE, "schema": dp.Schema(lists)},
        "numbers": {"schema": dp.Schema({"pay": dp.Number(0, 9)})},
    }
    made = {}
    for place, (name, given) in enumerate(terms.items()):
        usual = {"unit": dp.Unit.rows(), "budget": dp.Budget("20", "1e-6")}
        made[name] = shared.add_table(name, frame.iloc[: PEOPLE - place], **(usual | given))
    yield made


def opened(page: str = "synthetic", **address: str) -> AppTest:
    app = AppTest.from_file(str(ROOT / "ui" / "main.py"), default_timeout=60)
    for name, value in address.items():
        app.query_params[name] = value
    app.switch_page(f"../pages/{page}.py").run()
    assert not app.exception
    return app


def said(app: AppTest) -> str:
    bodies = "\n".join(element.proto.body for element in app.get("html"))
    return unescape(re.sub(r"<style>.*?</style>|<[^>]+>", " ", bodies, flags=re.S))


def buttons(app: AppTest) -> list[Any]:
    return [one for one in app.button if "Make it — takes" in one.label]


def charges(tables: dict[str, dp.Table]) -> int:
    return sum(len(table.history()) for table in tables.values())


def test_before_it_is_bought_the_page_says_what_it_is_worth(tables: dict[str, dp.Table]) -> None:
    before = charges(tables)
    app = opened(table="rows", columns=COLUMNS, epsilon="1")
    text, query = said(app), tables["rows"].query("small_database", columns=["colour", "=size"], epsilon="1")
    assert "What is promised: each of 8 answers within ±" in text and f"{query.rows} made-up rows" in text
    assert "every pair of values" in text and "The other way, learning in rounds (MWEM)" in text
    ways = next(one for one in app.radio if one.label == "How it is made").options
    assert "promises more" in ways[0] and "promises more" not in ways[1]
    assert len(buttons(app)) == 1 and not buttons(app)[0].disabled and charges(tables) == before
    app = opened(table="secret", columns=COLUMNS, epsilon="1", kind="mwem")
    assert "the number of rows is bought" in said(app) and "it is loose" in said(app)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"size": "0", "kind": "small_database"}, "from 1 to 1,000"),
        ({"size": "900", "kind": "small_database"}, "by MWEM"),
        ({"columns": '["many0", "many1", "many2"]'}, "a synthetic table can hold at most 10,000"),
        *(
            pytest.param(*case, marks=pytest.mark.long)
            for case in (
                ({"size": "many", "kind": "small_database"}, "Rows of the small table"),
                ({"epsilon": "30"}, "costs more than"),
                ({"columns": "[]"}, "Choose at least one column."),
                ({"epsilon": "NaN"}, "ε"),
                ({"rounds": "-1", "kind": "mwem"}, "from 1 to 150"),
                ({"table": "numbers"}, "columns with a list of values"),
                ({"made": "nobody"}, "not a synthetic table"),
            )
        ),
    ],
)
def test_bad_input_gets_one_sentence_and_spends_nothing(
    tables: dict[str, dp.Table], given: dict[str, str], sentence: str
) -> None:
    before = charges(tables)
    app = opened(**({"table": "rows", "columns": COLUMNS, "epsilon": "1"} | given))
    assert sentence in said(app) and "Traceback" not in said(app)
    wrong = "made" not in given and given.get("epsilon") != "NaN"  # that is refused, and the usual spend stays picked
    assert charges(tables) == before and (not wrong or all(one.disabled for one in buttons(app)))


@pytest.fixture(scope="module")
def answer(tables: dict[str, dp.Table]) -> dp.Answer:
    table = tables["rows"]
    return table.ask(table.query("small_database", columns=["colour", "=size"], epsilon="2"), "made=&one")


def test_a_synthetic_table_is_shown_asked_of_and_listed(tables: dict[str, dp.Table], answer: dp.Answer) -> None:
    spent, where = tables["rows"].meter().spent_epsilon, {"table": "rows", "made": answer.request_id}
    app = opened(**where)
    text = said(app)
    assert f"{answer.query.rows} made-up rows" in text and "Each of 8 answers within ±" in text
    assert "In your table each is within ±" in text and len(app.get("plotly_chart")) == 1
    told = said(opened(**where, of="?", **{"if": json.dumps([["colour", "in", ["red"]]])}))
    assert "Between" in told or "Anything from" in told
    both = [["any", [["colour", "in", ["red"]], ["=size", "in", ["big"]]]]]  # all but one pair, so promised as it is
    assert "Between" in said(opened(**where, of="?", **{"if": json.dumps(both)}))
    opened(**where, of="nobody", **{"if": "[[[["})
    other = tables["rows"].ask(tables["rows"].query("mwem", columns=["colour"], epsilon="1", rounds=2))
    text = said(opened(**where))
    assert "Made before" in text and other.receipt["charge"]["hash"][:8] in text
    assert tables["rows"].meter().spent_epsilon <= spent + 1, "asking of a synthetic table costs"


@pytest.mark.long
def test_what_was_not_asked_for_has_no_promise(tables: dict[str, dp.Table]) -> None:
    table, own = tables["secret"], [[["colour", "in", ["red"]]]]
    answer = table.ask(table.query("mwem", columns=["colour", "=size"], epsilon="3", queries=own))
    where = {"table": "secret", "made": answer.request_id}
    assert "Nothing is promised about this" in said(opened(**where, of="=size"))
    assert "In your table each is within ±" in said(opened(**where, of="colour"))
    assert "for about 600 people" in said(opened(**where, of="colour"))


def test_a_click_makes_it_on_the_worker_and_the_address_finds_it(tables: dict[str, dp.Table]) -> None:
    before = len(tables["secret"].history())
    app = opened(table="secret", columns=COLUMNS, epsilon="1", queries='[[["colour", "in", ["red"]]]]')
    assert "colour is red" in said(app)
    buttons(app)[0].click().run()
    held = app.query_params["made"]
    request = held[0] if isinstance(held, list) else held
    deadline = time.monotonic() + 30
    while not dp.open_workspace(tables["secret"]._workspace.folder).job(request).over:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    app.run()
    assert "made-up rows" in said(app) and len(tables["secret"].history()) == before + 1


def test_ask_ledger_report_and_exports_tell_of_it(tables: dict[str, dp.Table], answer: dp.Answer) -> None:
    table, told = tables["rows"], f"{answer.query.rows} made-up rows"
    app = opened("ask", table="rows", answer=answer.request_id)
    assert told in said(app)
    assert told in said(opened("ledger", table="rows"))
    assert told in report.html(table, (1, "0" * 64), "2026-01-02T03:04:05+00:00")
    assert ",red,'=1," in exports.answer_csv(answer)
    entry = next(one for one in table.history() if one.charge.request == answer.request_id)
    assert history.answer_link(entry.charge) == "synthetic?table=rows&amp;made=made%3D%26one"
    [found] = dp.open_workspace(table._workspace.folder).check_receipts(json.dumps(answer.receipt).encode(), "r.json")
    assert found.ok


def test_files_to_take_away_are_safe_and_whole(tables: dict[str, dp.Table], answer: dp.Answer) -> None:
    made = tables["rows"].synthetic(answer)
    first, *rest = exports.table_csv(made.table()).decode("utf-8-sig").splitlines()
    assert first == '"colour","\'=size"' and len(rest) == made.rows
    assert {line.split(",")[1] for line in rest} <= {'"\'=1"', '"big"'}
    read = pa.parquet.read_table(pa.BufferReader(exports.table_parquet(made.table())))
    assert read.num_rows == made.rows and set(read.column("=size").to_pylist()) <= {"=1", "big"}


@pytest.mark.long
def test_an_address_of_the_form_brings_it_back(tables: dict[str, dp.Table]) -> None:
    own = '[[["colour", "in", ["red"]]]]'
    app = opened(table="rows", columns=COLUMNS, queries=own, epsilon="0.25", size="3", kind="small_database")
    kept = {name: value[0] if isinstance(value, list) else value for name, value in dict(app.query_params).items()}
    assert (json.loads(kept["columns"]), json.loads(kept["queries"])) == (json.loads(COLUMNS), json.loads(own))
    assert (kept["size"], kept["epsilon"], kept["kind"]) == ("3", "0.25", "small_database")
