"""Every answer says what of the file does not count as it stands there, wherever it is read: on the page, in its CSV,
in its receipt and in the report. Over the whole catalogue, on a table that is capped and one that is cut."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from html import escape
from typing import Any
from unittest import mock

import pandas as pd
import pytest
from helpers_page import html_of, open_page, plain

import dpengine as dp
from dpengine.asking.exports import ANSWER_COLUMNS
from dpengine.asking.receipts import check
from dpengine.mechanisms import cuts
from dpengine.messages.language import speaking
from ui.ask import answer as answers
from ui.ledger import report
from ui.parts import exports

pytestmark = pytest.mark.usefixtures("shared")

PEOPLE = 240
ROWS, RANGE = "at most 2 rows of each patient count", "amount above 300 counts as 300, below 0 as 0"
LISTED = "what is not on the list of town counts as “other”"
ABOVE = "amount above 300 counts as 300"
TRAINED = {"steps": 2, "epsilon": "1"}

# One question of each kind, and what it must say beside what the table says.
ASKED: list[tuple[str, dict[str, Any], tuple[str, ...]]] = [
    ("count", {"where": [["amount", "<=", 300]]}, (ABOVE,)),
    ("proportion", {"of": [["town", "in", ["other"]]]}, (LISTED,)),
    ("median", {"column": "amount", "by": "town"}, (RANGE, LISTED)),
    ("mean", {"column": "amount"}, (RANGE,)),
    ("sum", {"column": "amount"}, (RANGE,)),
    ("variance", {"column": "amount"}, (RANGE,)),
    ("quantile", {"column": "amount", "share": "0.9"}, (RANGE,)),
    ("iqr", {"column": "amount"}, (RANGE,)),
    ("histogram", {"column": "amount", "bins": 3}, (RANGE,)),
    ("crosstab", {"columns": ["town", "ill"]}, (LISTED,)),
    ("top_item", {"column": "town"}, (LISTED,)),
    ("noisy_argmax", {"options": [[["amount", "=", 300]], [["town", "in", ["A"]]]]}, (ABOVE,)),
    ("fit_check", {"column": "amount"}, ()),
    ("fit_checks", {"columns": ["amount", "town"]}, ()),
    ("find_declarations", {"numbers": ["amount"], "lists": ["town"], "delta": "1e-9"}, ()),
    ("adaptive_session", {"questions": 2}, ()),
    ("publish_number", {"columns": ["amount"]}, (RANGE,)),
    ("publish_category", {"columns": ["town"]}, (LISTED,)),
    ("publish_set", {"columns": ["likes"]}, ("what is not on the list of likes is left out",)),
    ("publish_table", {"columns": ["amount", "town"]}, (RANGE, LISTED)),
    ("publish_row", {"columns": ["amount", "town"]}, (RANGE, LISTED)),
    ("local_count", {"where": [["amount", "<=", 300]]}, (ABOVE,)),
    ("shuffle_count", {"where": [["amount", "<=", 300]], "delta": "1e-7"}, (ABOVE,)),
    ("shuffle_histogram", {"column": "town", "delta": "1e-7"}, (LISTED,)),
    ("cdf", {"column": "amount", "points": 3}, (RANGE,)),
    ("cdf_tree", {"column": "amount"}, (RANGE,)),
    ("small_database", {"columns": ["town"], "size": 2}, (LISTED,)),
    ("synthetic_table", {"columns": ["town", "ill"]}, (LISTED,)),
    ("density", {"columns": ["amount"], "resolution": 20}, (RANGE,)),
    ("train_linear", {"target": "amount", "features": ["town"], **TRAINED}, (RANGE, LISTED)),
    ("train_logistic", {"target": "ill", "features": ["amount"], **TRAINED}, (RANGE,)),
    ("train_hinge", {"target": "ill", "features": ["amount"], **TRAINED}, (RANGE,)),
    ("vector_mean", {"columns": ["amount"]}, (RANGE,)),
    ("overview", {"columns": ["amount", "town"]}, (LISTED,)),
    ("check_model", {}, (RANGE, "errors of more than 150 in amount count as 150")),
]


def test_the_whole_catalogue_is_here() -> None:
    assert sorted(key for key, _, _ in ASKED) == sorted(dp.catalogue)


@pytest.fixture(scope="module")
def tables(shared: dp.Workspace) -> Iterator[dict[bool, dp.Table]]:
    """By whether a person may have several rows."""
    frame = pd.DataFrame(
        {
            "patient": [f"p{place // 3}" for place in range(PEOPLE)],
            "amount": [str(place * 7 % 900 - 100) for place in range(PEOPLE)],
            "town": ["ABCD"[place % 4] for place in range(PEOPLE)],
            "ill": ["yes" if place % 2 else "no" for place in range(PEOPLE)],
            "likes": ["x|y" if place % 2 else "z" for place in range(PEOPLE)],
        }
    )
    schema = dp.Schema(
        {
            "amount": dp.Number(0, 300),
            "town": dp.Category(["A", "B"]),
            "ill": dp.Category(["yes", "no"], "no", "no"),
            "likes": dp.ItemSet(["x", "y"]),
        }
    )
    usual = {"schema": schema, "budget": dp.Budget("100", "1e-5")}
    yield {
        True: shared.add_table("bills", frame, unit=dp.Unit.column("patient", 2), **usual),
        False: shared.add_table("payers", frame.iloc[1:], unit=dp.Unit.rows(), **usual),
    }


@pytest.fixture(scope="module")
def asked(tables: dict[bool, dp.Table]) -> dict[str, tuple[dp.Answer, tuple[str, ...]]]:
    """Every question once: where it can be, on the table with several rows a person."""
    found: dict[str, tuple[dp.Answer, tuple[str, ...]]] = {}
    for key, given, said in ASKED:
        table = tables[dp.catalogue[key].card.several]
        if key == "check_model":
            trained = found["train_linear"][0]
            given = {"model": trained.query.model(trained.path.weights).as_json()}  # type: ignore[attr-defined, union-attr]
        answer = table.ask(table.query(key, **{"epsilon": "1"} | given))
        found[key] = answer, (*((ROWS,) if dp.catalogue[key].card.several else ()), *said)
    return found


every_question = pytest.mark.parametrize("key", [key for key, _, _ in ASKED])


def on_screen(answer: dp.Answer) -> str:
    """What the answer shows as text, its picture and its links left out."""
    with (
        mock.patch("ui.ask.answer.st") as shown,
        mock.patch("ui.ask.answer.picture"),
        mock.patch("ui.ask.answer.nav"),
    ):
        answers.show(answer)
    return plain("".join(call.args[0] for call in shown.html.call_args_list))


def in_csv(answer: dp.Answer) -> str:
    rows = list(csv.DictReader(io.StringIO(exports.answer_csv(answer))))
    assert rows and len({row["counted"] for row in rows}) == 1
    return rows[0]["counted"]


def in_receipt(answer: dp.Answer) -> str:
    return "; ".join(one["words"] for one in json.loads(json.dumps(answer.receipt))["claim"]["cuts"])


def in_report(answer: dp.Answer) -> str:
    with mock.patch("ui.ledger.report.workspace"):
        return plain(report._section(1, answer, "1 %"))


PLACES = {"page": on_screen, "csv": in_csv, "receipt": in_receipt, "report": in_report}


def check_it_is_said(answer: dp.Answer, said: tuple[str, ...]) -> None:
    for name, place in PLACES.items():
        told = place(answer)
        for part in said:
            assert part in told, f"the {name} forgets that {part}"


@pytest.mark.every(27)
@every_question
def test_every_answer_says_what_is_cut(asked: dict[str, tuple[dp.Answer, tuple[str, ...]]], key: str) -> None:
    answer, said = asked[key]
    check_it_is_said(answer, said)
    with speaking("sl"):
        told = cuts.sentence(answer.query.cuts())
        assert (told in on_screen(answer) and told in in_csv(answer) and told in in_report(answer)) or not told
        assert "štejeta največ 2 vrstici" in told or not answer.query.card.several


@pytest.mark.parametrize("place", ["page", "csv", "report"])
def test_a_place_that_forgets_is_caught(asked: dict[str, tuple[dp.Answer, tuple[str, ...]]], place: str) -> None:
    answer, said = asked["sum"]
    with mock.patch("ui.parts.answer_notes.cut_words", return_value=""):
        assert not all(part in PLACES[place](answer) for part in said)


def test_a_question_that_forgets_is_caught(asked: dict[str, tuple[dp.Answer, tuple[str, ...]]]) -> None:
    answer, said = asked["sum"]
    with mock.patch.object(type(answer.query), "cuts", lambda self: ()), pytest.raises(AssertionError, match="forgets"):
        check_it_is_said(answer, said)


def test_receipts_hold_and_the_list_of_all_answers_says_it(
    shared: dp.Workspace, tables: dict[bool, dp.Table], asked: dict[str, tuple[dp.Answer, tuple[str, ...]]]
) -> None:
    receipts = [answer.receipt for answer, _ in asked.values()]
    assert {one.code for one in check(receipts, shared.ledger.export_rows())} == {"verify.fine"}
    told: dict[str, str] = {}
    for table in tables.values():
        for row in table.answer_rows():
            one = dict(zip(ANSWER_COLUMNS, row, strict=True))
            told[one["hash"]] = one["counted"]
    for answer, said in asked.values():
        assert all(part in told[answer.receipt["charge"]["hash"]] for part in said)


def test_a_session_says_it_of_every_answer(tables: dict[bool, dp.Table], shared: dp.Workspace) -> None:
    table = tables[True]
    session = table.open_session(table.query("adaptive_session", questions=3, epsilon="1"), "session-counted")
    for place, ask in enumerate(({"average": "amount"}, {"share": [["amount", "<=", 300]]})):
        one = session.ask(ask, f"counted-{place}")
        words = "; ".join(cut["words"] for cut in one.receipt["step"]["claim"]["cuts"])
        assert ROWS in words and "amount above 300 counts as 300" in words
    page = plain(html_of(open_page("several", table="bills", session=session.request)))
    assert page.count(ROWS) >= 2 and RANGE in page
    told = [dict(zip(ANSWER_COLUMNS, row, strict=True)) for row in table.answer_rows()]
    assert [RANGE in one["counted"] for one in told if "verage of amount" in one["question"]] == [True]
    found = table.recall(session.query)[-1]
    with mock.patch("ui.ledger.report.workspace", lambda: shared):
        assert RANGE in plain(report._section(1, found, "1 %"))


PAGES: list[tuple[str, str, dict[str, str]]] = [
    ("ask", RANGE, {"table": "bills", "q": "sum", "column": "amount"}),
    ("ask", RANGE, {"table": "bills", "q": "cdf_tree", "column": "amount"}),
    ("publish", RANGE, {"table": "payers", "columns": '["amount"]', "epsilon": "1"}),
    ("synthetic", LISTED, {"table": "bills", "columns": '["town", "ill"]', "epsilon": "1"}),
    ("train", RANGE, {"table": "bills", "target": "amount", "features": '["town"]'}),
    ("several", ROWS, {"table": "bills", "view": "after"}),
    ("several", RANGE, {"table": "bills", "plan": '[["sum", {"column": "amount", "epsilon": "1"}, "1000", 0]]'}),
]
RESULTS = {
    "publish_number": ("publish", "published"),
    "small_database": ("synthetic", "made"),
    "synthetic_table": ("synthetic", "made"),
    "train_linear": ("train", "trained"),
}


@pytest.mark.every(9)
@pytest.mark.parametrize(("page", "said", "address"), PAGES, ids=[f"{page}-{said[:9]}" for page, said, _ in PAGES])
def test_it_is_said_before_anything_is_spent(
    tables: dict[bool, dp.Table], page: str, said: str, address: dict[str, str]
) -> None:
    assert said in plain(html_of(open_page(page, **address)))


@pytest.mark.long
def test_sums_by_group_that_are_cut_at_nothing_are_drawn(tables: dict[bool, dp.Table]) -> None:
    """A group with nobody in it has a range that nearly always reaches below 0 and is cut there, to a number of the
    browser’s kind."""
    answer = tables[True].ask(tables[True].query("sum", column="amount", by="town", epsilon="0.5"))
    page = open_page("ask", table="bills", answer=answer.request_id)
    assert RANGE in plain(html_of(page)) and "could not be drawn" not in plain(html_of(page))


@pytest.mark.every(5)
@pytest.mark.parametrize("key", list(RESULTS))
def test_pages_of_their_own_say_it(asked: dict[str, tuple[dp.Answer, tuple[str, ...]]], key: str) -> None:
    (answer, said), (page, name) = asked[key], RESULTS[key]
    told = html_of(open_page(page, table=answer.receipt["table"], **{name: answer.request_id}))
    assert all(escape(part, quote=False) in told or part in plain(told) for part in said)
