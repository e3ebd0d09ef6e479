"""The Answers page without a browser: cards, comparisons, what is copied and taken away, and that it reads the ledger
alone."""

from __future__ import annotations

import csv
import io
import re
import shutil
from dataclasses import replace
from fractions import Fraction
from html import escape
from pathlib import Path
from typing import Any

import openpyxl
import pandas as pd
import pytest
from helpers_page import html_of, plain
from streamlit.testing.v1 import AppTest

import dpengine as dp
from dpengine.core.printed import percent
from dpengine.messages import say
from dpengine.messages.language import speaking
from dpengine.released.compare import compare
from dpengine.workspace import Workspace
from ui.answers import answers, picked
from ui.answers.answers import PER_PAGE
from ui.answers.picked import Named, Words, printed_figure
from ui.ask.answer import card_sentence, card_words
from ui.ledger import report
from ui.parts import answer_notes, exports
from ui.parts.history import when

ROOT = Path(__file__).resolve().parents[2]
NAME = "R&D #1 <b>100%</b>"


@pytest.fixture
def clinic(home: Workspace) -> dp.Table:
    return made(home)


def made(home: Workspace) -> dp.Table:
    frame = pd.DataFrame({"wait": [10, 20, 30, 40] * 250, "clinic": ["eyes", "heart", "eyes", "skin"] * 250})
    schema = dp.Schema({"wait": dp.Number(0, 60), "clinic": dp.Category(["eyes", "heart", "skin"])})
    return home.add_table(NAME, frame, schema=schema, unit=dp.Unit.rows(), budget=dp.Budget("50", "1e-6"))


def bars(table: dp.Table) -> dp.Answer:
    return table.ask(table.query("histogram", column="clinic", epsilon="1"))


def opened(**address: str) -> AppTest:
    page = AppTest.from_file(str(ROOT / "ui" / "main.py"), default_timeout=60)
    page.run()
    for name, value in ({"table": NAME} | address).items():
        page.query_params[name] = value
    page.switch_page("../pages/answers.py").run()
    assert not page.exception
    return page


def pick(page: AppTest, place: int, *parts: str) -> AppTest:
    """The pills of the card in this place."""
    _pills(page)[place].set_value(list(parts)).run()
    assert not page.exception
    return page


def test_every_answer_is_a_card_newest_first(clinic: dp.Table) -> None:
    first, second = bars(clinic), clinic.ask(clinic.query("mean", column="wait", epsilon="1"))
    told = html_of(opened())
    for answer in (first, second):
        assert card_words(answer, aside=_aside(clinic, answer)) in told
        assert answer.receipt["charge"]["hash"][:8] in told
    assert told.index(escape(second.sentence)) < told.index(escape(first.sentence))


def _aside(table: dp.Table, answer: dp.Answer) -> str:
    [entry] = [one for one in table.history() if one.charge.request == answer.request_id]
    return say("answers.took", share=percent(table.took(entry)), at=when(answer.at))


def test_an_empty_table_says_how_to_start(clinic: dp.Table) -> None:
    page = opened()
    assert escape(say("ledger.empty", table=NAME)) in html_of(page) and not _pills(page)


def _pills(page: AppTest) -> list[Any]:
    return [one for one in page.get("button_group") if str(one.key).startswith("pick-")]


def test_opening_it_reads_the_ledger_alone_and_costs_nothing(clinic: dp.Table, home: Workspace) -> None:
    bars(clinic)
    before = clinic.meter().used, home.ledger.head()
    for folder in (home.folder / "tables").iterdir():
        shutil.rmtree(folder)
    pick(opened(), 0, "eyes", "heart")
    assert (clinic.meter().used, home.ledger.head()) == before


@pytest.mark.long
def test_many_answers_are_paged(clinic: dp.Table) -> None:
    for _ in range(PER_PAGE + 1):
        clinic.ask(clinic.query("count", where=[["clinic", "in", ["eyes"]]], epsilon="0.1"))
    told = html_of(opened())
    assert told.count('class="headline"') == PER_PAGE
    assert say("answers.rows", first=1, last=PER_PAGE, charges=PER_PAGE + 1) in told
    assert html_of(opened(page="2")).count('class="headline"') == 1


def test_two_bars_are_compared_for_nothing(clinic: dp.Table) -> None:
    question = bars(clinic).sentence
    page = pick(opened(), 0, "eyes", "heart")
    figures = {one.part: one for one in clinic.figures(clinic.history(1)[0])}
    picks, unchecked = [figures["eyes"], figures["heart"]], (say("fit.note.unchecked", column="clinic"),)
    words = Words(compare(picks), [Named(one.part, one, unchecked) for one in picks], NAME, question)
    told = html_of(page)
    assert escape(words.headline()) in told and words.table() in told and escape(words.chance_words()) in told
    assert "not the world" in words.chance_words() and "95 times in 100" in words.chance_words()
    assert words.sentence().startswith(question) and words.sentence() in [code.value for code in page.code]
    page.button(key="compare-clear").click().run()
    assert words.table() not in html_of(page)


@pytest.mark.long
def test_figures_of_two_answers_are_told_apart_by_their_question(clinic: dp.Table) -> None:
    for name in ("eyes", "skin"):
        clinic.ask(clinic.query("count", where=[["clinic", "in", [name]]], epsilon="1"))
    page = pick(pick(opened(), 0, ""), 1, "")
    told = plain(html_of(page))
    assert "clinic is skin exceeds" in told or "clinic is eyes exceeds" in told
    assert say("compare.twice") in told


@pytest.mark.long
def test_what_cannot_be_compared_gets_one_sentence(clinic: dp.Table) -> None:
    bars(clinic)
    clinic.ask(clinic.query("mean", column="wait", epsilon="1"))
    page = pick(pick(opened(), 0, ""), 1, "eyes")
    assert escape(say("compare.units")) in html_of(page)


@pytest.mark.long
def test_a_bought_range_says_that_it_holds_alone(clinic: dp.Table) -> None:
    clinic.ask(clinic.query("median", column="wait", by="clinic", epsilon="20"))
    told = html_of(pick(opened(), 0, "heart", "skin"))
    assert escape(say("compare.claim_alone", chance="95", table=NAME)) in told


@pytest.mark.long
def test_two_medians_are_compared_and_their_chances_add_up(clinic: dp.Table) -> None:
    for name in ("eyes", "skin"):
        clinic.ask(clinic.query("median", column="wait", where=[["clinic", "in", [name]]], epsilon="10"))
    told = html_of(pick(pick(opened(), 0, ""), 1, ""))
    assert escape(say("compare.claim_bought", chance="90", table=NAME)) in told and "compared" in told


@pytest.mark.parametrize("lang", ["en", "sl"])
def test_printed_ranges_are_rounded_outwards(clinic: dp.Table, lang: str) -> None:
    bars(clinic)
    eyes, heart, *_ = clinic.figures(clinic.history(1)[0])
    told = compare([eyes, heart]).pairs[0]
    assert told.ratio is not None
    with speaking(lang):
        _, low, high = printed_figure(told.ratio)
    marks = str.maketrans({",": "." if lang == "sl" else "", ".": "" if lang == "sl" else "."})
    assert Fraction(low.translate(marks)) <= told.ratio.low <= told.ratio.high <= Fraction(high.translate(marks))


def test_a_card_is_the_same_in_the_report(clinic: dp.Table) -> None:
    answer = bars(clinic)
    told = report.html(clinic, (1, "0" * 64), "2026-11-15T10:00:00")
    assert card_words(answer, "1. ") in told and "own noise" in plain(told).lower()


def test_what_is_copied_has_its_range_and_its_receipt(clinic: dp.Table) -> None:
    answer = clinic.ask(clinic.query("count", where=[["clinic", "in", ["eyes"]]], epsilon="1"))
    told = card_sentence(answer)
    assert "95 times in 100" in told and answer.receipt["charge"]["hash"][:8] in told and NAME in told
    page = opened()
    page.session_state[f"copy-answer-{clinic.history(1)[0].charge.seq}"] = True  # its popover is opened
    assert told in [code.value for code in page.run().code]


def test_all_answers_can_be_taken_away(clinic: dp.Table) -> None:
    answer = bars(clinic)
    written = {what: write() for what, _, write in answers.files(clinic)}
    rows = list(csv.DictReader(io.StringIO(str(written["csv"]).lstrip("\ufeff"))))
    assert {row["label"] for row in rows} == set(answer.value)
    assert escape(answer.sentence) in str(written["report"])


def test_answers_are_taken_away_as_spreadsheets(clinic: dp.Table) -> None:
    answer = bars(clinic)
    written = {what: write() for what, _, write in answers.files(clinic)}
    for content in (written["sheet"], exports.answer_sheet(answer)):
        assert isinstance(content, bytes)
        sheet = openpyxl.load_workbook(io.BytesIO(content)).active
        heads, *rows = sheet.iter_rows(values_only=True)
        told = {row[heads.index("label")]: row[heads.index("value")] for row in rows}
        assert told == answer.value and all(isinstance(value, int) for value in told.values())


def test_a_difference_says_what_it_is_counted_in(home: Workspace) -> None:
    """People, rows, or what the column is counted in; a sum too."""
    frame = pd.DataFrame(
        {
            "who": [f"p{at % 400}" for at in range(1_000)],
            "cost": [10, 10, 10, 40] * 250,
            "at": ["a", "a", "a", "b"] * 250,
        }
    )
    schema = dp.Schema({"cost": dp.Number(0, 60, measure="€"), "at": dp.Category(["a", "b"])})
    budget, unit = dp.Budget("50", "1e-6"), dp.Unit.column("who", at_most=3)
    visits = home.add_table("paid", frame, schema=schema, unit=unit, budget=budget)
    asked = (("mean", {"column": "cost"}, "€"), ("count", {}, "rows"), ("count", {"people": True}, "people"))
    for key, given, counted in asked:
        visits.ask(visits.query(key, by="at", **given, epsilon="8"))
        picks = [one for one in visits.figures(visits.history(1)[0]) if one.part in "ab"]
        words = Words(compare(picks), [Named(one.part, one) for one in picks], "paid")
        told = dict(words.rows())
        assert f" {counted} (between" in told["a − b"] and counted in words.headline(), told
        assert key == "mean" or f" {counted} (between" in told[say("compare.sum")]


def test_figures_counted_in_different_units_are_not_compared(clinic: dp.Table) -> None:
    """The column was declared anew between two answers: 2,500 € and 2.5 thousand € have no difference."""
    bars(clinic)
    one, other, *_ = clinic.figures(clinic.history(1)[0])
    with pytest.raises(dp.AllowanceError) as refused:
        compare([replace(one, measure="€"), replace(other, measure="k€")])
    assert refused.value.code == "compare.measures"


@pytest.mark.long
def test_a_note_stands_by_the_figure_it_concerns(clinic: dp.Table) -> None:
    """Of two answers in a comparison only one is about a column that nobody checked."""
    clinic.ask(clinic.query("fit_checks", columns=["clinic"], epsilon="2"))
    for where in ([["clinic", "in", ["eyes"]]], [["wait", ">=", 30]]):
        clinic.ask(clinic.query("count", where=where, epsilon="2"))
    page = pick(pick(opened(), 0, ""), 1, "")
    note = say("fit.note.unchecked", column="wait")
    named = say("compare.note", name="people where wait is at least 30", note=note)  # what both share stands before it
    assert named in plain(html_of(page)) and plain(html_of(page)).count(note) == 2  # there, and on its own card
    assert any(named in code.value for code in page.code)


@pytest.mark.parametrize(
    ("names", "short", "shared"),
    [
        (
            ("The mean of pay for people where sex is f", "The mean of pay for people where sex is m"),
            ["sex is f", "sex is m"],
            "The mean of pay for people where",
        ),
        (("The mean of pay for everyone", "The mean of age for everyone"), None, ""),
        (("eyes", "skin", "eyes and skin"), None, ""),
    ],
)
def test_names_that_begin_alike_are_told_by_what_differs(
    names: tuple[str, ...], short: list[str] | None, shared: str
) -> None:
    assert picked.shortened(names) == (short or list(names), shared)


def test_the_file_of_all_answers_has_the_notes(clinic: dp.Table) -> None:
    clinic.ask(clinic.query("fit_checks", columns=["clinic"], epsilon="2"))
    bars(clinic)
    clinic.ask(clinic.query("mean", column="wait", by="clinic", epsilon="2"))
    with speaking("sl"):
        (text,) = [str(write()) for what, _, write in answers.files(clinic) if what == "csv"]
    rows = list(csv.DictReader(io.StringIO(text.lstrip(exports.MARK))))
    note = say("fit.note.unchecked", column="wait")
    of_wait = [one["note"] for one in rows if "wait" in one["question"]]
    assert len(of_wait) == 5 and all(note in one for one in of_wait)
    assert not [one for one in rows if note in one["note"] and "wait" not in one["question"]]


def test_figures_of_several_columns_have_their_own_notes(home: Workspace) -> None:
    """Of two averages in one answer only one is of a column that nobody checked."""
    frame = pd.DataFrame({"wait": [10, 20, 30, 40] * 250, "age": [30, 40, 50, 60] * 250})
    schema = dp.Schema({"wait": dp.Number(0, 60), "age": dp.Number(0, 100)})
    table = home.add_table("two", frame, schema=schema, unit=dp.Unit.rows(), budget=dp.Budget("50", "1e-6"))
    table.ask(table.query("fit_checks", columns=["wait"], epsilon="4"))
    answer = table.ask(table.query("vector_mean", columns=["wait", "age"], epsilon="5"))
    note = say("fit.note.unchecked", column="age")
    assert not answer_notes.fit_lines(answer, "wait") and answer_notes.fit_lines(answer, "age") == [note]
    told = html_of(opened(table="two"))
    wait, age = (told.index(f'<th scope="row">{name}</th>') for name in ("wait", "age"))
    assert told.count(note) == 1 and wait < age < told.index(note)
    rows = {row[2]: row[-1] for row in exports.answer_rows(answer)[1]}
    assert rows == {"wait": "", "age": note}


def test_answers_are_searched_by_the_words_people_use(home: dp.Workspace) -> None:
    town = home.table("town", visitor="local")
    town.ask(town.query("histogram", column="district", epsilon="0.1"))
    town.ask(town.query("median", column="monthly_income", epsilon="0.1"))
    town.ask(town.query("mean", column="age", epsilon="0.1"))

    def searched(typed: str) -> str:
        page = AppTest.from_file(str(ROOT / "ui" / "main.py"), default_timeout=60)
        page.query_params["table"], page.session_state["answers-search"] = "town", typed
        page.switch_page("../pages/answers.py").run()
        assert not page.exception
        return plain(html_of(page), "")

    for typed, found in (("Histogram", "district"), ("median income", "monthly_income"), ("average", "age")):
        told = searched(typed).split(say("answers.found", count=1))
        others = {"district", "monthly_income", "age"} - {found}
        assert len(told) == 2 and re.search(rf"\b{found}\b", told[1]), typed
        assert not any(re.search(rf"\b{other}\b", told[1]) for other in others), typed
    assert say("answers.found_none", typed="nobody") in searched("nobody")
    assert town.meter().charges == 3
