"""One displayed price everywhere: what is taken, the check counted in."""

from __future__ import annotations

import re
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from helpers_page import html_of, open_page, plain

import dpengine as dp
from dpengine.core.printed import percent_left, percent_taken
from dpengine.messages import say

PEOPLE = 3_000


def table_in(home: dp.Workspace, name: str) -> dp.Table:
    """Few enough people for a check that takes some percent."""
    draw = np.random.default_rng()
    frame = pd.DataFrame({"age": draw.integers(18, 90, PEOPLE), "town": draw.choice(["Mill", "Hill"], PEOPLE)})
    schema = dp.Schema({"age": dp.Number(0, 120), "town": dp.Category(["Mill", "Hill"])})
    return home.add_table(name, frame, schema=schema, unit=dp.Unit.rows(), budget=dp.Budget("1", "1e-6"))


@pytest.mark.long
def test_a_first_look_takes_what_its_link_and_its_button_say_and_its_board_says_the_same(home: dp.Workspace) -> None:
    table = table_in(home, "looked at")
    links = [one.proto.label for one in open_page("data", table=table.name).get("page_link")]
    page = open_page("board", table=table.name)
    (button,) = [one for one in page.button if str(one.key).startswith("board-go")]
    opens = table.opening(table.query("overview", columns=["age", "town"], against=[], epsilon="1"))
    assert opens is not None
    query = opens.asked
    seen = table.preview(query, checked=True)
    assert seen.check is not None and seen.check_share > 0
    told = percent_taken(Fraction(1), seen.share)
    assert say("first_look.offer", share=told) in links and button.label == say("board_page.button", share=told)
    answer = table.ask(query, checked=True)
    assert percent_taken(Fraction(1), table.meter().used) == told
    shown = plain(html_of(open_page("board", table=table.name, look=answer.request_id)))
    assert say("board_page.free", share=told, chance=95).split(".")[0] in shown


def test_the_meter_of_a_plan_moves_by_what_its_button_says(home: dp.Workspace) -> None:
    table = table_in(home, "planned")
    page = open_page("several", table=table.name, plan='[["mean",{"column":"age","epsilon":"0.1"},"3",false]]')
    (button,) = [one for one in page.button if str(one.key).startswith("plan-run-")]
    takes = re.search(r"([\d.]+ %)", button.label)
    assert takes is not None
    for tenths in range(1, 999):
        if percent_taken(Fraction(1), Fraction(tenths, 1000)) == takes[1]:
            after = percent_left(1 - Fraction(tenths, 1000))
    shown = plain(html_of(page))
    assert "%, included): if a tenth does not fit" in shown
    words = plain(say("meter.after_plan", left=percent_left(Fraction(1)), after=after))
    assert " ".join(words.split()) in " ".join(shown.split())


@pytest.mark.long
def test_a_session_says_what_it_takes_with_the_check(home: dp.Workspace) -> None:
    table = table_in(home, "in session")
    page = open_page("several", table=table.name, view="after")
    (slider,) = [one for one in page.select_slider if one.key == "session-share"]
    assert table.check_part(table.session_for(20, table.meter().unused / 2)) > 0
    shown = plain(html_of(page))
    (button,) = [one for one in page.button if str(one.key).startswith("session-go")]
    takes = re.search(r"takes ([\d.]+ %)", button.label)
    assert takes is not None and "%, included): if a tenth does not fit" in shown
    assert any(takes[1] in option for option in slider.options), (takes[1], slider.options)
