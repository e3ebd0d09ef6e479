"""A person who asks sees one price: the share of the allowance. ε stands under details, not beside it."""

from __future__ import annotations

import re
from fractions import Fraction
from html import escape

import pytest
from helpers_page import html_of, open_page, plain

import dpengine as dp
from dpengine.core.printed import percent_left, percent_taken, percents
from dpengine.messages import say
from dpengine.messages.language import speaking

pytestmark = pytest.mark.usefixtures("home")

ASKED = {"table": "town", "q": "median", "column": "monthly_income", "epsilon": "0.1"}
PLANNED = '[["sum",{"column":"monthly_income","epsilon":"0.1"},"300000",false]]'


def words(page: str, **address: str) -> str:
    """Everything outside the meter, which tells whose allowance it is and its terms, outside the glossary, outside
    *Set it exactly* and outside the receipt of an answer."""
    app = open_page(page, **address)
    apart = f'class="meter"|<dl|ρ =|{re.escape(escape(say("receipt.plain")))}'
    told = [part.proto.body for part in app.get("html") if not re.search(apart, part.proto.body)]
    sliders = [option for slider in app.select_slider for option in slider.proto.options]
    return " ".join([*(plain(part) for part in told), *sliders, *(button.label for button in app.button)])


@pytest.mark.long
@pytest.mark.parametrize("lang", ["en", "sl"])
def test_no_epsilon_beside_a_price(home: dp.Workspace, lang: str) -> None:
    table = home.table("town", visitor="local")
    query = table.query("median", column="monthly_income", epsilon="0.1")
    for _ in range(2):
        answer = table.ask(query)
    with speaking(lang):
        for page, address in (
            ("ask", ASKED),
            ("ask", {"table": "town"}),
            ("several", {"table": "town", "plan": PLANNED}),
            ("board", {"table": "town"}),
        ):
            told = words(page, **address, lang=lang)
            assert re.search(r"\s%", told) and "ε" not in told, (page, [s for s in told.split(".") if "ε" in s])
        again = words("ask", **ASKED, answer=answer.request_id, lang=lang)
        assert "twice the spend" not in again and "dvakratno porabo" not in again


def test_each_look_says_what_it_moved_the_meter_by(home: dp.Workspace) -> None:
    """A question that was asked twice took the same share of what can ever be asked each time."""
    table = home.table("town", visitor="local")
    query = table.query("median", column="monthly_income", epsilon="0.1")
    answers = [table.ask(query) for _ in range(2)]
    assert len(answers) == 2 and sum(map(table.took, table.history())) == table.meter().used


def test_steps_that_take_nearly_the_same_read_differently() -> None:
    shares = [Fraction(1, 100_000), Fraction(2, 100_000), Fraction(12, 10_000), Fraction(14, 10_000)]
    shares += [Fraction(146, 1000), Fraction(154, 1000), Fraction(1, 2)]
    told = percents(shares)
    assert told == ["0.001 %", "0.002 %", "0.12 %", "0.14 %", "14.6 %", "15.4 %", "50 %"]
    assert percents([Fraction(1, 10), Fraction(1, 5)]) == ["10 %", "20 %"]
    with speaking("sl"):
        assert percents(shares)[2] == "0,12 %"


def test_what_is_told_to_be_taken_is_what_the_meter_moves_by() -> None:
    """Whatever is asked in whatever order: left before, minus the price that was told, is left after."""

    def tenths(told: str) -> Fraction:
        return Fraction(0) if told == "below 0.1 %" else Fraction(told.removesuffix(" %"))

    left = Fraction(1)
    for share in [Fraction(n, 123_457) for n in (993, 993, 25_001, 17, 60, 3_052, 12_346, 80_000)] * 2:
        if share > left:
            continue
        assert tenths(percent_left(left)) - tenths(percent_taken(left, share)) == tenths(percent_left(left - share))
        left -= share
    assert percent_left(Fraction(1)) == "100 %" and percent_left(Fraction(99_999, 100_000)) == "99.9 %"
    assert percent_left(Fraction(1, 100_000)) == "below 0.1 %" and percent_left(Fraction(0)) == "0 %"
    assert percent_taken(Fraction(1), Fraction(8, 1000)) == "0.8 %"  # and 99.2 % are left, not 99.1
    with speaking("sl"):
        assert percent_left(Fraction(7_921, 10_000)) == "79,2 %"


def test_the_first_page_of_html_has_a_price(home: dp.Workspace) -> None:
    app = open_page("ask", **ASKED)
    assert "after this question" in plain(html_of(app)) and any("takes" in one.label for one in app.button)
