"""The Synthetic page without a browser: what is promised before, what is refused, what is told of a synthetic table."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from html import unescape
from io import BytesIO
from itertools import combinations
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from helpers_page import pictures
from openpyxl import load_workbook
from streamlit.testing.v1 import AppTest

import dpengine as dp
from dpengine.released.synthetic import FittedTable
from tests.helpers_ledger import PATIENCE
from ui.ask.answer import card_sentence
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
        "known": {"schema": dp.Schema(lists, never=([["colour", "in", ["red"]], ["=size", "in", ["big"]]],))},
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


@pytest.mark.long
def test_before_it_is_bought_the_page_says_what_it_is_worth(tables: dict[str, dp.Table]) -> None:
    before = charges(tables)
    app = opened(table="rows", columns=COLUMNS, epsilon="1")
    text = said(app)
    assert "Measured: each column and every two together, 3 tables of counts" in text
    assert "Where such a count says 60, the truth is between" in text and "averages" not in text
    assert "Nothing is promised about it" in text and "Not for rare cases" in text
    assert "It will have 600 rows, like your table" in text
    assert len(buttons(app)) == 1 and not buttons(app)[0].disabled and charges(tables) == before
    assert "their number is secret" in said(opened(table="secret", columns=COLUMNS, epsilon="1"))
    text = said(opened(table="rows", columns='["many0", "many1", "many2", "pay"]', epsilon="0.1"))
    assert "every two together" in text, "all six pairs would be chosen of six"
    text = said(opened(table="rows", columns='["many0", "many1", "many2", "pay", "colour"]', epsilon="0.1"))
    assert "pairs and triples. This spend cannot measure all" in text
    assert "Choose fewer columns, or a larger spend." in text and "So do averages" not in text, "it is noise"
    text = said(opened(table="rows", columns='["pay", "colour"]', epsilon="1"))
    assert "So do averages of pay, whose" in text


@pytest.mark.every(3)
@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"columns": '["colour"]'}, "Choose from 2 to 60 different columns"),
        ({"made": "nobody"}, "not a synthetic table"),
        *(
            pytest.param(*case, marks=pytest.mark.long)
            for case in (
                ({"epsilon": "30"}, "costs more than"),
                ({"columns": "[]"}, "Choose from 2 to 60 different columns"),
                ({"epsilon": "NaN"}, "ε"),
                ({"table": "numbers"}, "needs two columns"),
                ({"never": '[[["many0", "in", ["v1"]]]]'}, "which is not among the chosen columns"),
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


@pytest.mark.long
def test_a_synthetic_table_is_shown_asked_of_and_listed(tables: dict[str, dp.Table], answer: dp.Answer) -> None:
    spent, where = tables["rows"].meter().spent_epsilon, {"table": "rows", "made": answer.request_id}
    app = opened(**where)
    text = said(app)
    assert f"{answer.query.rows} made-up rows" in text and "Each of 8 answers within ±" in text
    assert "In your table each is within ±" in text and len(pictures(app)) == 1
    told = said(opened(**where, of="?", **{"if": json.dumps([["colour", "in", ["red"]]])}))
    assert "The exact answer, counted as declared, is between" in told or "Anything from" in told
    both = [["any", [["colour", "in", ["red"]], ["=size", "in", ["big"]]]]]  # all but one pair, so promised as it is
    assert "The exact answer, counted as declared, is between" in said(
        opened(**where, of="?", **{"if": json.dumps(both)})
    )
    opened(**where, of="nobody", **{"if": "[[[["})
    other = tables["rows"].ask(tables["rows"].query("small_database", columns=["colour"], epsilon="1", size=2))
    text = said(opened(**where))
    assert "Made before" in text and other.receipt["charge"]["hash"][:8] in text
    assert tables["rows"].meter().spent_epsilon <= spent + 1, "asking of a synthetic table costs"


@pytest.mark.long
def test_what_was_not_asked_for_has_no_promise(tables: dict[str, dp.Table]) -> None:
    table, own = tables["secret"], [[["colour", "in", ["red"]]]]
    answer = table.ask(table.query("small_database", columns=["colour", "=size"], epsilon="3", queries=own))
    where = {"table": "secret", "made": answer.request_id}
    assert "Nothing is promised about this" in said(opened(**where, of="=size"))
    assert "In your table each is within ±" in said(opened(**where, of="colour"))
    assert "for about 600 people" in said(opened(**where, of="colour"))


def test_a_rule_that_the_form_cannot_show_is_kept_as_it_came(tables: dict[str, dp.Table]) -> None:
    never = '[[["pay", "<", 5], ["colour", "in", ["red"]]]]'
    app = opened(table="rows", columns='["colour", "pay"]', never=never, epsilon="1")
    held = app.query_params["never"]
    assert json.loads(held[0] if isinstance(held, list) else held) == json.loads(never)
    opened(table="rows", columns='["colour", "pay"]', never='[[["pay"]], 7, [[]], {"a": 1}]', epsilon="1")


def test_what_was_declared_with_the_table_stands_in_the_form(tables: dict[str, dp.Table]) -> None:
    app = opened(table="known", columns=COLUMNS, epsilon="1")
    assert "Declared with the table" in said(app) and "colour is red and =size is big" in said(app)
    assert "never" not in app.query_params or "red" not in str(app.query_params["never"])


def test_a_click_makes_it_on_the_worker_and_the_address_finds_it(tables: dict[str, dp.Table]) -> None:
    table = tables["secret"]
    before, never = len(table.history()), '[[["colour", "in", ["red"]], ["=size", "in", ["big"]]]]'
    app = opened(table="secret", columns=COLUMNS, epsilon="2", never=never)
    buttons(app)[0].click().run()
    held = app.query_params["made"]
    request = held[0] if isinstance(held, list) else held
    workspace = dp.open_workspace(table._workspace.folder)
    deadline = time.monotonic() + PATIENCE
    while (done := workspace.job(request).answer) is None or table.synthetic(done).progress() is not None:  # type: ignore[union-attr]
        assert time.monotonic() < deadline
        time.sleep(0.05)
    app.run()
    text, spent = said(app), table.meter().used
    assert "made-up rows of 2 columns" in text and "What was measured, and what the rows say" in text
    assert "too few pairs to leave some out" in text and len(table.history()) == before + 2
    both = said(opened(table="secret", made=request, of="colour × =size"))
    assert "The band holds the truth" in both and "of these 4 figures are inside" in both
    found = workspace.job(request).answer
    assert found is not None
    made = table.synthetic(found)
    assert isinstance(made, FittedTable) and made.counts("colour", "=size")[0, 1] == 0, "a rule was broken"
    first, *rest = exports.table_csv(made.table()).decode("utf-8-sig").splitlines()
    assert first == '"colour","\'=size"' and len(rest) == made.rows and '"red","big"' not in rest
    sheet = load_workbook(BytesIO(exports.table_sheet(made.table()))).active
    assert sheet is not None and sheet.max_row == made.rows + 1
    assert "Two columns" not in said(opened("board", table="secret", look=request))
    made.path.unlink()
    text = said(opened(table="secret", made=request))
    assert "The made-up rows are not fitted yet" in text
    assert table.meter().used == spent, "looking at it costs"


@pytest.mark.long
def test_what_was_chosen_is_told_and_what_was_not_has_no_promise(tables: dict[str, dp.Table]) -> None:
    table = tables["rows"]
    columns = ["colour", "=size", "pay", "many0", "many1"]  # ten pairs, of which eight are measured at most
    asked = table.query("synthetic_table", columns=columns, plan="chosen", epsilon="1")
    found = table.ask(asked)
    made = table.synthetic(found)
    assert isinstance(made, FittedTable) and made.table().num_rows == PEOPLE
    pairs = {part for part in made.look.marginals if len(part) == 2}
    left = next(part for part in combinations(range(5), 2) if part not in pairs)
    names = " × ".join(made.look.cells[place] for place in left)
    where = {"table": "rows", "made": found.request_id}
    text = said(opened(**where, of=names))
    assert "were not measured together" in text and "pairs not chosen are likely fitted better" in text
    threes = sum(len(part) == 3 for part in made.look.marginals)
    many = f"{len(pairs)} of 10 pairs of columns" + (f" and {threes} triple" if threes else "")
    assert f"Measured: each column, and {many}" in text and "up to" not in text
    assert f"Counted with noise: each column, and {many}" in text
    lost = text[text.index("What it does not keep") :]
    assert f"How {10 - len(pairs)} of the 10 pairs of columns" in lost and names in lost
    assert "How three columns go together" in lost and "may be noise and absent from your table" in lost
    answers = said(opened("answers", table="rows"))
    lost = f"Not kept: how {10 - len(pairs)} of 10 pairs of columns go together; how three columns go together"
    assert lost in answers and lost in card_sentence(found)
    listed = [" × ".join(columns) for columns, _ in made.together()]
    assert len(listed) == len([part for part in made.look.marginals if len(part) > 1]) and names not in listed
    assert all(one in text for one in listed)
    board = said(opened("board", table="rows", look=found.request_id))
    assert f"Only {len(pairs)} of 10 pairs" in board and "The truth is within every error bar" in board
    one, other = (made.look.cells[place] for place in sorted(pairs)[0])
    board = said(opened("board", table="rows", look=found.request_id, by=one))
    assert "not bought" not in board
    listed = re.search(r"Only its pairs with (.*?) were counted", board)  # whichever were chosen
    assert other in listed.group(1) if listed else "Showing" in board


@pytest.mark.long
def test_ask_ledger_report_and_exports_tell_of_it(tables: dict[str, dp.Table], answer: dp.Answer) -> None:
    table, told = tables["rows"], f"{answer.query.rows} made-up rows"
    app = opened("ask", table="rows", answer=answer.request_id)
    assert told in said(app)
    assert told in said(opened("answers", view="ledger", table="rows"))
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
    never = '[[["colour", "in", ["red"]]]]'
    app = opened(table="rows", columns=COLUMNS, never=never, epsilon="0.25", keep="=size")
    kept = {name: value[0] if isinstance(value, list) else value for name, value in dict(app.query_params).items()}
    assert (json.loads(kept["columns"]), json.loads(kept["never"])) == (json.loads(COLUMNS), json.loads(never))
    assert (kept["epsilon"], kept["keep"]) == ("0.25", "=size")


@pytest.mark.long
def test_the_lecture_s_way_draws_a_small_database_that_is_asked_like_any_other(tables: dict[str, dp.Table]) -> None:
    """S1.7: from the page, paid, drawn exactly, and free to ask afterwards."""
    app = AppTest.from_file(str(ROOT / "ui" / "main.py"), default_timeout=60)
    for name, value in {"table": "rows", "way": "small_database", "columns": '["colour"]', "epsilon": "3"}.items():
        app.query_params[name] = value
    app.switch_page("../pages/synthetic.py").run()
    query = tables["rows"].query("small_database", columns=["colour"], epsilon="3")
    told = "\n".join(element.proto.body for element in app.get("html"))
    assert f"It has {query.rows} made-up rows" in told and query.promise().words(query) in unescape(told)  # type: ignore[attr-defined]
    asked = [button for button in app.button if str(button.key).startswith("synthetic-go")]
    assert len(asked) == 1 and not asked[0].disabled and not app.exception
    before = len(tables["rows"].history())
    answer = tables["rows"].ask(query)
    assert sum(answer.value.values()) == query.rows and len(tables["rows"].history()) == before + 1  # type: ignore[attr-defined]
    app.query_params["made"] = answer.request_id
    app.run()
    assert "colour" in "\n".join(element.proto.body for element in app.get("html")) and not app.exception


@pytest.mark.long
def test_only_short_lists_are_offered_the_lecture_s_way(tables: dict[str, dp.Table]) -> None:
    for table, way in (("rows", True), ("numbers", False)):
        app = AppTest.from_file(str(ROOT / "ui" / "main.py"), default_timeout=60)
        app.query_params["table"] = table
        app.switch_page("../pages/synthetic.py").run()
        assert not app.exception
        assert any(str(one.key).startswith("synthetic-way-") for one in app.get("button_group")) == way
