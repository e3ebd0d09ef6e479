"""The Publish and the thesis page without a browser: what is refused, what is extreme, what is told of a release."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from helpers_page import html_of, open_page, pictures, plain
from streamlit.testing.v1 import AppTest

import dpengine as dp
from dpengine.asking.exports import ANSWER_COLUMNS
from dpengine.commands import backup
from tests.helpers_ledger import PATIENCE
from ui.ledger import report
from ui.parts import exports, history

pytestmark = pytest.mark.usefixtures("shared")

ROOT = Path(__file__).resolve().parents[2]
PEOPLE = 300


@pytest.fixture(scope="module")
def tables(shared: dp.Workspace) -> Iterator[dict[str, dp.Table]]:
    frame = pd.DataFrame(
        {
            "who": [f"p{place // 2}" for place in range(PEOPLE)],
            "pay": [str(place % 101) for place in range(PEOPLE)],
            "=word": ["=1+1" if place % 3 else "plain" for place in range(PEOPLE)],
            "held": ["x|y"] * PEOPLE,
        }
    )
    schema = dp.Schema(
        {
            "pay": dp.Number(0, 100),
            "=word": dp.Category(["=1+1", "plain"]),
            "held": dp.ItemSet(["x", "y"], "|", 2),
        }
    )
    terms: dict[str, dict[str, Any]] = {
        "rows": {"unit": dp.Unit.rows()},
        "secret": {"unit": dp.Unit.rows(), "relation": "add_remove", "about_rows": PEOPLE},
        "several": {"unit": dp.Unit.column("who", 2)},
        "teaching": {"unit": dp.Unit.rows(), "budget": dp.Budget("20", "0.5")},
        "sets": {"unit": dp.Unit.rows(), "schema": dp.Schema({"held": schema["held"]})},
        "long sets": {
            "unit": dp.Unit.rows(),
            "schema": dp.Schema({"held": dp.ItemSet([f"item {place}" for place in range(63)], "|")}),
        },
        "lists": {
            "unit": dp.Unit.rows(),
            "schema": dp.Schema(
                {name: dp.Category(["x|y", "z"], unknown="z", missing="z") for name in ("held", "=word")}
            ),
        },
    }
    made = {}
    for place, (name, given) in enumerate(terms.items()):
        usual = {"schema": schema, "budget": dp.Budget("10", "1e-6")}
        made[name] = shared.add_table(name, frame.iloc[: PEOPLE - place], **(usual | given))
    yield made


def opened(page: str = "publish", **address: str) -> AppTest:
    return open_page(page, **address)


def said(app: AppTest) -> str:
    return plain(html_of(app))


def buttons(app: AppTest) -> list[Any]:
    return [one for one in app.button if "Publish — takes" in one.label]


def charges(tables: dict[str, dp.Table]) -> int:
    return sum(len(table.history()) for table in tables.values())


@pytest.mark.long
@pytest.mark.every(9)
@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        ("secret", "the number of rows would show"),
        ("several", "a person may have several rows"),
        ("long sets", "sets of that many items would say nothing"),
    ],
)
def test_what_can_never_be_published_is_said_at_once(tables: dict[str, dp.Table], table: str, sentence: str) -> None:
    app = opened(table=table)
    assert sentence in said(app) and not buttons(app)
    assert "Traceback" not in said(app)


@pytest.mark.every(9)
@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"columns": "[]"}, "Choose at least one column."),
        ({"columns": '["nobody", 7, ["pay"]]'}, "Choose at least one column."),
        ({"delta": "1"}, "at least 0 and below 1"),
        ({"delta": "2"}, "at least 0 and below 1"),
        ({"delta": "-0.1"}, "at least 0 and below 1"),
        ({"delta": "half"}, "δ"),
        ({"grid": "0"}, "whole number of steps"),
        ({"grid": "many"}, "Steps of the published numbers"),
        ({"delta": "0.01"}, "left in the reserve"),
        ({"epsilon": "30"}, "costs more than"),
        ({"epsilon": "NaN"}, "ε"),
        ({"epsilon": "1e999"}, "ε"),
    ],
)
def test_bad_input_gets_one_sentence_and_spends_nothing(
    tables: dict[str, dp.Table], given: dict[str, str], sentence: str
) -> None:
    before = charges(tables)
    app = opened(**({"table": "rows", "columns": '["pay"]', "epsilon": "1"} | given))
    assert sentence in said(app)
    assert all(one.disabled or "epsilon" in given for one in buttons(app)) and charges(tables) == before


def test_a_list_of_one_value_cannot_be_declared() -> None:
    """So no column with a single category is ever met here."""
    with pytest.raises(dp.AllowanceError) as refused:
        dp.Category(["only"], unknown="only", missing="only")
    assert refused.value.code == "category.few"


@pytest.mark.long
def test_nobody_can_do_better_is_said_of_the_whole_row_at_the_whole_spend(tables: dict[str, dp.Table]) -> None:
    """Each figure beside those of the theorems; of one column of two, not what a share of ε would bound is said."""
    alone = said(opened(table="lists", columns='["held"]', epsilon="1"))
    assert "Untrue with chance 26.9 %: no method with this ε does better." in alone
    both = said(opened(table="lists", columns='["held", "=word"]', epsilon="1"))
    assert "Untrue with chance 35 %. Published alone, with the whole spend: 26.9 %; no method" in both
    assert "unchanged with chance 47.5 %; no method with this ε exceeds 47.6 %" in both
    assert "beats the larger, 0.26" in both and "35 %: no method" not in both
    assert "Each row is published as one of 4 possible rows" in both and "Column by column: " in both
    number = said(opened(table="rows", columns='["pay"]', epsilon="1", grid="1"))
    assert "does better than 26 at worst" in number and "Rounding to steps of 100 can add up to 50" in number
    five = said(opened(table="rows", columns='["pay"]', epsilon="1", grid="4"))
    assert "two cells 100 apart force an error of at least 26 (Theorem 5.3 says 13)" in five
    assert "5 different cells, no two nearer than κ = 25, force 14 (Theorem 5.5)" in five


@pytest.mark.long
def test_the_preview_says_what_a_row_and_all_rows_will_tell(tables: dict[str, dp.Table]) -> None:
    text = said(opened(table="rows", columns='["pay", "=word"]', epsilon="4"))
    assert "As one of 404 possible rows" in text
    assert "If you asked for its mean instead, at the same ε, it would be within" in text
    three = said(opened(table="rows", columns='["pay", "=word", "held"]', epsilon="1"))
    assert "If you asked for its" in three and "3 columns share the spend" in three
    assert "Something is wrong" not in three
    sets = said(opened(table="sets", columns='["held"]', epsilon="1"))
    assert (
        "About 0.7 of 2 items of a row’s set are wrong" in sets
        and "as one of 4 possible sets; item by item 0.755" in sets
    )
    assert "No method with this ε gets fewer than 0.53 wrong" in sets and "published wrong with chance 0.34976" in sets
    assert "(Theorem 5.3 says" in text and "κ = 1, force" in text
    assert "A row is off by about" in text and "at worst; this is" in text and "Rounding to" not in text
    assert "2 columns share the spend: ε = 2 for each" in text and "at this spend:" not in text
    assert "Made-up rows, before and after" in text and "→" in text
    plain = said(opened(table="teaching", columns='["pay"]', epsilon="2", delta="0.04"))
    assert "the thesis’s scale is" in plain and "For teaching only" in plain


@pytest.fixture(scope="module")
def answer(tables: dict[str, dp.Table]) -> dp.Answer:
    query = tables["rows"].query("publish_table", columns=["pay", "=word"], epsilon="2")
    return tables["rows"].ask(query, "published=&one")


def test_a_published_table_is_shown_asked_of_and_listed(tables: dict[str, dp.Table], answer: dp.Answer) -> None:
    spent = tables["rows"].meter().spent_epsilon
    where = {"table": "rows", "published": answer.request_id}
    text = said(opened(**where))
    assert "300 rows published" in text and answer.value["sha256"] in text and "Theorem 4.3" in text
    assert "The exact answer, counted as declared, is between" in text or "Anything from" in text
    for what in ("bars", "percentile"):  # a hundred steps of 300 people: honest and useless, with what to do
        text = said(opened(**where, of="pay", what=what))
        assert "the correction is itself mostly noise" in text
        assert "it would say something" in text or "No coarser grid helps" in text
    app = opened(**where, of="=word")
    assert "all at once, 95 times in 100" in said(app) and len(pictures(app)) == 1
    opened(**where, of="nobody", what="\0", bins="9" * 99, share="-3")
    other = tables["rows"].ask(tables["rows"].query("publish_number", columns=["pay"], epsilon="1", grid=2))
    text = said(opened(**where))
    assert "Published before" in text and other.receipt["charge"]["hash"][:8] in text
    assert tables["rows"].meter().spent_epsilon == spent + 1, "asking of a published table costs"


@pytest.mark.long
def test_a_click_publishes_on_the_worker_and_the_address_finds_it(tables: dict[str, dp.Table]) -> None:
    app = opened(table="teaching", columns='["=word"]', epsilon="1")
    buttons(app)[0].click().run()
    held = app.query_params["published"]
    request = held[0] if isinstance(held, list) else held
    deadline = time.monotonic() + PATIENCE
    while not dp.open_workspace(tables["teaching"]._workspace.folder).job(request).over:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    app.run()
    assert "rows published" in said(app) and len(tables["teaching"].history()) == 2


@pytest.mark.long
def test_ask_ledger_report_and_exports_tell_of_it(tables: dict[str, dp.Table], answer: dp.Answer) -> None:
    table = tables["rows"]
    assert "300 rows published" in said(opened("ask", table="rows", answer=answer.request_id))
    assert "300 rows published" in said(opened("answers", view="ledger", table="rows"))
    page = report.html(table, (1, "0" * 64), "2026-01-02T03:04:05+00:00")
    assert "300 rows published" in page and answer.value["sha256"] in page
    row = next(one for one in table.answer_rows() if one[4] == "columns")
    assert row[ANSWER_COLUMNS.index("value")] == "pay, =word"
    assert answer.value["sha256"] in exports.answer_csv(answer)
    told = json.dumps(answer.receipt).encode()
    [found] = dp.open_workspace(table._workspace.folder).check_receipts(told, "receipt.json")
    assert found.ok
    entry = next(one for one in table.history() if one.charge.request == answer.request_id)
    assert history.answer_link(entry.charge) == "publish?table=rows&amp;published=published%3D%26one"


@pytest.mark.long
def test_a_plan_may_hold_a_published_table(tables: dict[str, dp.Table]) -> None:
    plan = json.dumps([["publish_table", {"columns": ["pay"], "epsilon": "1"}, "0.4", 0]])
    app = opened("several", table="rows", plan=plan)
    assert "off by at most" in said(app) and "The published table of pay" in said(app)


def test_files_to_take_away_are_safe_and_whole(tables: dict[str, dp.Table], answer: dp.Answer) -> None:
    published = tables["rows"].published(answer)
    written = exports.table_csv(published.table()).decode("utf-8-sig")
    first, *rest = written.splitlines()
    assert first == '"pay","\'=word"' and len(rest) == PEOPLE
    assert {line.split(",", 1)[1] for line in rest} <= {'"\'=1+1"', '"plain"', '"other"', '"no answer"'}
    cut, whole = (published.table(clamped).column("pay").to_pylist() for clamped in (True, False))
    assert cut == [min(max(one, 0), 100) for one in whole] and min(whole) < 0 < 100 < max(whole)
    read = pa.BufferReader(exports.table_parquet(published.table(clamped=True)))
    assert pa.parquet.read_table(read).column("pay").to_pylist() == cut


def test_a_file_that_was_changed_is_not_shown(tables: dict[str, dp.Table]) -> None:
    answer = tables["rows"].ask(tables["rows"].query("publish_category", columns=["=word"], epsilon="0.1"))
    tables["rows"].published(answer).path.unlink()
    app = opened(table="rows", published=answer.request_id)
    assert "not the one in the ledger" in said(app) and "300 rows published" in said(app)


def test_files_are_copied_swept_and_stay_when_their_table_is_forgotten(tmp_path: Path) -> None:
    workspace = dp.Workspace(tmp_path / "home")
    table = workspace.add_table(
        "t",
        pd.DataFrame({"c": ["a", "b"]}),
        schema=dp.Schema({"c": dp.Category(["a", "b"])}),
        unit=dp.Unit.rows(),
        budget=dp.Budget("5", "1e-6"),
    )
    answer = table.ask(table.query("publish_category", columns=["c"], epsilon="1"))
    kept = table.published(answer).path
    for name in ("0" * 32 + ".parquet", "1" * 32 + ".part"):  # a release that was killed while it wrote
        (kept.parent / name).write_bytes(b"x")
    workspace.forget("t")
    workspace.close()
    again = dp.Workspace(tmp_path / "home")
    assert [path.name for path in kept.parent.iterdir()] == [kept.name]
    assert again.table("t").published(again.table("t").publications()[0]).whole
    assert kept.parent.stat().st_mode & 0o777 == 0o700
    again.close()
    backup.backup(tmp_path / "home", tmp_path / "copy")
    copied = tmp_path / "copy" / "published" / kept.name
    assert copied.read_bytes() == kept.read_bytes() and copied.stat().st_mode & 0o777 == 0o600


@pytest.mark.long
def test_the_tables_of_the_thesis_are_shown_and_drawn_again(tables: dict[str, dp.Table]) -> None:
    app = opened("thesis")
    text = said(app)
    assert all(f"Table {number}" in text for number in range(2, 8)) and "declared, not read off the data" in text
    assert "14,589" in text and "thesis: 0.0075" in text and "outside its range" not in text
    assert "0.428" in text and "between 0 and 0" not in text  # (1−δ)/(1+e^ε), which the thesis has not printed
    app.button(key="thesis-again").click().run()
    assert said(app) != text and "14,589" in said(app)


def test_an_address_of_the_form_brings_it_back(tables: dict[str, dp.Table]) -> None:
    app = opened(table="rows", columns='["pay"]', grid="4", epsilon="0.25")
    kept = {name: value[0] if isinstance(value, list) else value for name, value in dict(app.query_params).items()}
    assert (json.loads(kept["columns"]), kept["grid"], kept["epsilon"]) == (["pay"], "4", "0.25")


def test_items_that_a_spreadsheet_would_compute_are_written_as_words() -> None:
    """Sets and days of a published file, as the lists beside them."""
    rows = pa.table({"held": ["=1+1|x", "", "x"], "day": ["-0400-01-01", "1990-01-01", "1990-01-01"]})
    first, *lines = exports.table_csv(rows).decode("utf-8-sig").splitlines()
    assert first == '"held","day"' and lines == ['"\'=1+1|x","\'-0400-01-01"', '"","1990-01-01"', '"x","1990-01-01"']


def test_combinations_of_whole_rows_are_counted_for_nothing(tables: dict[str, dp.Table]) -> None:
    table = tables["lists"]
    answer = table.ask(table.query("publish_row", columns=["held", "=word"], epsilon="6"))
    before = len(table.history())
    text = said(opened(table="lists", published=answer.request_id, of=" "))
    assert "the 4 ranges hold the truth" in text and "x|y · z" in text
    assert len(table.history()) == before
