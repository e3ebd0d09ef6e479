"""Bars that cannot be told from none do not look like a result; which they are follows from the released answer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import helpers_page
import pandas as pd
import pytest
from helpers_page import html_of, open_page, plain
from streamlit.testing.v1 import AppTest

import dpengine as dp
from dpengine.messages import say
from dpengine.messages.language import speaking
from ui.ledger import report
from ui.ledger.ledger_view import now
from ui.parts import exports
from ui.pictures import many

LANDS = [f"land {place:02}" for place in range(40)]
BIG = {"land 03", "land 17"}


@pytest.fixture
def table(home: dp.Workspace) -> Iterator[dp.Table]:
    rows = {"land": [*sorted(BIG)] * 500, "side": ["left", "left"] * 500}
    schema = dp.Schema({"land": dp.Category(LANDS), "side": dp.Category(["left", "right"])})
    yield home.add_table(
        "lands", pd.DataFrame(rows), schema=schema, unit=dp.Unit.rows(), budget=dp.Budget("60", "1e-6")
    )


def bars(page: AppTest) -> dict[str, str]:
    """The colour of each bar that is drawn."""
    return {name: colour for name, colour, _ in helpers_page.bars(helpers_page.pictures(page)[0])}


def opened(answer: dp.Answer, **more: str) -> AppTest:
    return open_page("ask", table="lands", answer=answer.request_id, **more)


def maybe_none(answer: dp.Answer) -> set[str]:
    return {label for label, (low, _) in answer.interval.items() if low <= 0}


@pytest.mark.long
def test_a_long_list_of_noise_is_one_sentence(table: dp.Table) -> None:
    answer = table.ask(table.query("histogram", column="land", epsilon="1"))
    none = maybe_none(answer)
    assert len(none) > 20 and not none & BIG  # 42 bars, of which 40 are nobody's
    page = opened(answer)
    assert set(bars(page)) == set(answer.value) - none
    most = max(answer.interval[label][1] for label in none)
    told = say("many.none", none=len(none), most=most, unit=say("compare.unit.people", value=most))
    assert told in plain(html_of(page)) and str(len(none)) in told
    (switch,) = [one for one in page.toggle if one.label == say("many.none_shown")]
    drawn = bars(switch.set_value(True).run())
    assert set(drawn) == set(answer.value)
    grey = {drawn[label] for label in none}
    assert len(grey) == 1 and not grey & {drawn[label] for label in BIG}
    assert exports.answer_csv(answer).count("\n") == 1 + len(answer.value)  # a file has all of them
    assert told in plain(report.html(table, *now()))


@pytest.mark.long
def test_in_a_short_list_they_are_grey(table: dp.Table) -> None:
    answer = table.ask(table.query("histogram", column="side", epsilon="1"))
    page, none = opened(answer), maybe_none(answer)
    drawn: dict[str, Any] = bars(page)
    assert set(drawn) == set(answer.value) and "left" not in none
    assert all((drawn[label] == drawn["left"]) != (label in none) for label in drawn)
    seen = any(round(answer.value[label]) > 0 for label in none)
    assert (say("many.grey") in html_of(page)) == seen


def test_shares_are_no_such_bars_and_columns_in_which_nothing_shows_are_one_sentence(table: dp.Table) -> None:
    average = table.query("proportion", of=[["side", "in", ["left"]]], by="land", epsilon="1")
    checks = table.query("fit_checks", columns=["land", "side"], epsilon="1")
    assert not average.maybe_none((-1, 1)) and checks.maybe_none((-1, 1), "land")
    ranges = {"land": (-20, 26), "side": (277, 323)}
    answer = replace(table.ask(checks), value={"land": 3, "side": 300}, interval=ranges)
    assert many.split_maybe_zero(answer) == (["side"], ["land"]), "a wide range around none is not what was found"
    told = many.none_words(answer, ["land"])
    assert told.startswith("In 1 column nothing shows that cells do not fit; up to 26 could still be outside")
    below = replace(answer, interval={"land": (-85, -39), "side": (277, 323)})
    assert "up to 0 could" in many.none_words(below, ["land"]), "no number of cells is below none"
    with speaking("sl"):
        assert many.none_words(answer, ["land", "side"]).startswith("V 2 stolpcih nič ne kaže, da celice ne")
