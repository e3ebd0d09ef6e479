"""A table of visits, several for each patient, read by somebody who counts both: what is tapped is what is asked, and
what is said of rows is not said of people."""

from __future__ import annotations

import pytest
from helpers_page import html_of, open_page, plain
from helpers_visits import MONTHS, OF_MONTHS, WEEK, WOMEN, answered
from helpers_visits import visits as visits

import dpengine as dp
from dpengine.mechanisms import asked_on
from dpengine.messages import say
from dpengine.messages.language import speaking
from ui.ask import preview
from ui.ask.answer import card_sentence
from ui.parts.answer_notes import finding
from ui.words.wording import headline, in_short


@pytest.mark.long
@pytest.mark.every(9)
@pytest.mark.parametrize("people", [False, True])
def test_what_is_tapped_is_what_is_asked(visits: dp.Table, people: bool) -> None:
    tapped = visits.query("count", epsilon="0.1", where=WOMEN, people=people)
    app = open_page("ask", **preview.preview_link(visits, tapped))
    assert [toggle.value for toggle in app.toggle if "people" in str(toggle.key)] == [people]


def test_rows_that_are_cut_are_not_said_of_everybody() -> None:
    everybody = answered("count", 5_187, (5_100, 5_270), people=True)
    women = answered("count", 2_187, (2_100, 2_270), people=True, where=WOMEN)
    rows = answered("count", 2_187, (2_100, 2_270), where=WOMEN)
    assert "left out" not in finding(everybody)
    assert "Rows of a person beyond 3 are ignored: in truth there may be many more people." in finding(women)
    assert "Rows of a person beyond 3 are ignored: in truth there may be many more." in finding(rows)
    with speaking("sl"):
        assert "izpuščen" not in finding(everybody)
        assert "Presežne vrstice osebe (nad 3) so izpuščene: v resnici je oseb lahko precej več." in finding(women)
        assert "Presežne vrstice osebe (nad 3) so izpuščene: v resnici jih je lahko precej več." in finding(rows)


def test_a_bought_list_says_how_many_rows_of_a_person_count() -> None:
    """Not how many rows there may be in all."""
    asked = answered("find_declarations", None, lists=["ward"], delta="1e-7").query
    assert asked.most_rows == 3


@pytest.mark.long
@pytest.mark.every(9)
@pytest.mark.parametrize("lang", ["en", "sl"])
def test_the_first_answer_that_contradicts_the_number_leads_to_its_field(visits: dp.Table, lang: str) -> None:
    """About 3,000 rows of women, at most 3 of a person: 1,000 women at least, where 600 people were declared."""
    answer = visits.ask(visits.query("count", epsilon="1", where=WOMEN))
    told = {"en": "You declared about 600 people; this answer says at least", "sl": "Navedli ste približno 600 oseb"}
    with speaking(lang):
        beside = html_of(open_page("ask", table="our visits", answer=answer.request_id, lang=lang))
        assert told[lang] in plain(beside)
        asked = {"q": "mean", "column": "wait", "epsilon": "0.1"}
        for page in (
            beside,
            html_of(open_page("ask", table="our visits", lang=lang, **asked)),
            html_of(open_page("tables", lang=lang)),
        ):
            assert "people=1" in page and say("people.link") in plain(page)
        app = open_page("data", table="our visits", people="1", lang=lang)
        field = next(one for one in app.number_input if one.label == say("data.people.field"))
        assert 900 <= field.value <= 1_100 and 'class="arrived"' in html_of(app)
        field.set_value(3_000).run()
        next(button for button in app.button if button.key == "people-correct").click().run()
        assert not app.exception
    assert visits._workspace.table("our visits").facts.about == 3_000  # type: ignore[attr-defined]


@pytest.mark.long
def test_the_field_is_one_tap_from_the_declared_number(visits: dp.Table) -> None:
    assert "people=1" in html_of(open_page("data", table="our visits"))
    app = open_page("data", table="our visits", people="1")
    assert [one.value for one in app.number_input if one.label == say("data.people.field")] == [600]


def around(bars: dict[str, int]) -> dict[str, tuple[int, int]]:
    return {name: (one - 60, one + 60) for name, one in bars.items()}


def test_a_bar_at_an_end_says_what_else_it_holds() -> None:
    late = answered("histogram", MONTHS, around(MONTHS), column=OF_MONTHS)
    assert "“December 2024” also holds everything after 2024-12-31" in plain(finding(late))
    assert "also holds everything after" in card_sentence(late), "and in what is copied"
    early = MONTHS | {"2024-12": 500, "2024-01": 5_000}
    assert "everything before 2024-01-01" in finding(answered("count", early, around(early), by=OF_MONTHS))
    inside = MONTHS | {"2024-12": 500, "2024-06": 5_000}
    assert "also holds" not in finding(answered("histogram", inside, around(inside), column=OF_MONTHS))
    assert "everything after" in finding(answered("top_item", "2024-12", column=OF_MONTHS))
    again = {day: 5_000 if day == "Sunday" else 500 for day in answered("count", 1, by=WEEK).query.labels()}
    assert "also holds" not in finding(answered("count", again, around(again), by=WEEK)), "weekdays have no ends"
    bars = answered("histogram", 1, column="wait").query.labels()
    waits = {bar: 5_000 if bar == bars[-1] else 500 for bar in bars}
    assert "also holds everything above 240" in finding(answered("histogram", waits, around(waits), column="wait"))
    with speaking("sl"):
        told = plain(finding(late))
        assert "»december 2024« vsebuje tudi vse, kar je po 31. 12. 2024" in told, told


def test_a_bar_at_an_end_is_never_named_as_the_most() -> None:
    """The file runs to the end of 2025, the declared days to the end of 2024: December holds a year more."""
    bars = MONTHS | {"2024-05": 700}
    late = answered("histogram", bars, around(bars), column=OF_MONTHS)
    told = (
        "Between the ends of the range, most: May 2024, about 700 rows; December 2024 and everything later: about "
        "5,000 rows"
    )
    assert headline(late) == in_short(late) == told and told in card_sentence(late)
    both = bars | {"2024-01": 4_990}
    assert "January 2024 and everything earlier: about" in headline(answered("count", both, around(both), by=OF_MONTHS))
    unsure = MONTHS | {"2024-05": 700, "2024-06": 690}
    assert "most: May 2024: about 700 rows (640 – 760) or June 2024: about 690 rows (630 – 750); December" in headline(
        answered("histogram", unsure, around(unsure), column=OF_MONTHS)
    )
    flat = headline(answered("histogram", MONTHS, around(MONTHS), column=OF_MONTHS))
    assert "none clearly the largest; at the ends of the range: December 2024 and" in flat, flat
    inside = MONTHS | {"2024-12": 500, "2024-06": 5_000}
    assert headline(answered("histogram", inside, around(inside), column=OF_MONTHS)).startswith(
        "Most: June 2024, about"
    )
    assert (
        headline(answered("top_item", "2024-12", column=OF_MONTHS, epsilon="9")) == "December 2024 and everything later"
    )
    labels = answered("histogram", 1, column="wait").query.labels()
    waits = {bar: 5_000 if bar == labels[-1] else 500 + 400 * (bar == labels[2]) for bar in labels}
    assert "and everything above: about 5,000 rows" in headline(
        answered("histogram", waits, around(waits), column="wait")
    )
    with speaking("sl"):
        assert headline(late) == (
            "Med koncema razpona največ: maj 2024, približno 700 vrstic; december 2024 in vse kasneje: približno "
            "5.000 vrstic"
        )


@pytest.mark.parametrize(("lang", "people"), [("en", "people"), ("sl", "oseb")])
def test_what_a_question_is_says_nothing_of_people_where_rows_may_count(lang: str, people: str) -> None:
    with speaking(lang):
        told = {key: dp.catalogue[key].card.plain for key in asked_on("ask")}
    assert not {key: words for key, words in told.items() if people in words}


def test_how_far_a_place_may_be_off_does_not_read_as_how_good_it_is() -> None:
    median = answered("median", 30, (20, 40), column="wait").query
    with speaking("sl"):
        for words in (median.promise().words(median), median.promise().short(median)):
            assert "sredine" in words and "natančno" not in words
