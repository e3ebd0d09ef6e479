"""A nurse with a phone asks a table of visits: what the button pays for, what was answered just now, what is known of a
column, and whose word a number is."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import pytest
from helpers_page import html_of, open_page, plain
from helpers_visits import OF_MONTHS, WOMEN, answered
from helpers_visits import visits as visits

import dpengine as dp
from dpengine.messages import say
from dpengine.messages.language import speaking
from ui.ask import preview
from ui.ask.answer import bars_table
from ui.data import presets
from ui.data.presets import LISTS
from ui.shell import frame


def asked_line(app: Any) -> str:
    """What stands right above the button that pays."""
    (line,) = [part.proto.body for part in app.get("html") if 'class="asked' in part.proto.body]
    return plain(line)


def kind_of(app: Any) -> Any:
    return next(box for box in app.selectbox if str(box.key).startswith("ask-kind"))


@pytest.mark.long
@pytest.mark.every(9)
@pytest.mark.parametrize("lang", ["en", "sl"])
def test_another_measure_keeps_the_sentence_in_view_and_says_which_column_it_is_about(
    visits: dp.Table, lang: str
) -> None:
    answer = visits.ask(visits.query("histogram", epsilon="0.5", column=OF_MONTHS))
    with speaking(lang):
        app = open_page("ask", **preview.preview_link(visits, answer.query), answer=answer.request_id, lang=lang)
        assert answer.query.sentence() in asked_line(app) and "data-turn" not in html_of(app)
        kind_of(app).set_value("mean").run()
        assert not app.exception and "wait" in asked_line(app)
        priced = {"en": "after this question", "sl": "po tem vprašanju"}
        assert priced[lang] in plain(html_of(app)), "the first change after an answer is priced too"
        gone = {"en": "does not suit this question", "sl": "za to vprašanje ni primeren"}
        assert gone[lang] in plain(html_of(app))
        assert "data-turn" in html_of(app), "the page is shorter now: it is scrolled to the sentence"
        kind_of(app).set_value("median").run()
        assert gone[lang] not in plain(html_of(app)) and "wait" in asked_line(app)


@pytest.mark.long
@pytest.mark.every(3)
@pytest.mark.parametrize("lang", ["en", "sl"])
def test_what_was_just_answered_is_not_offered_as_if_it_were_new(visits: dp.Table, lang: str) -> None:
    """Also where the answer before it makes another noise the cheaper one for the same question."""
    given = {"column": "ward", "epsilon": "0.1"}
    usual = visits.query("histogram", **given)
    first = visits.ask(visits.cheapest(usual))
    visits.ask(visits.cheapest(visits.query("mean", column="wait", by="ward", epsilon="0.5")))
    noises = {visits.cheapest(usual).digest(), *(usual.with_noise(one).digest() for one in ("", *usual.noises))}
    assert len(noises) > 1, "else this test would show nothing"
    with speaking(lang):
        form = preview.preview_link(visits, usual)
        app = open_page("ask", **form, answer=first.request_id, lang=lang)
        assert say("ask.just", sentence="").strip() in asked_line(app)
        assert not [
            one for one in app.button if str(one.key).startswith("ask-go-") and say("ask.again_pay") != one.label
        ]
        app = open_page("ask", **form | {"epsilon": "0.5"}, answer=first.request_id, lang=lang)
        assert say("ask.just", sentence="").strip() not in asked_line(app)


@pytest.mark.long
def test_what_was_just_answered_for_less_with_another_noise_is_not_offered_as_new(visits: dp.Table) -> None:
    """The noise that takes least may have a smaller ε and still promise as much."""
    usual = visits.query("mean", column="wait", epsilon="0.2")
    best = visits.cheapest(usual)
    assert best.epsilon < usual.epsilon, "else this test would show nothing"
    answer = visits.ask(best)
    app = open_page("ask", **preview.preview_link(visits, usual), answer=answer.request_id)
    assert say("ask.just", sentence="").strip() in asked_line(app)


def test_figures_that_say_nothing_do_not_push_the_ranges_out_of_a_phone() -> None:
    bars = {"ward 0": 4_000, "ward 1": 20}
    table = bars_table(answered("histogram", bars, {"ward 0": (3_900, 4_100), "ward 1": (0, 15_000)}, column="ward"))
    assert 'class="plain figures"' in table and '<td class="number words">Too few to tell</td>' in table
    style = (Path(frame.__file__).parent / "style.css").read_text()
    assert "table.figures td.words { white-space: normal; }" in style


@pytest.mark.every(3)
@pytest.mark.parametrize(("lang", "told"), [("en", "about 600 people, by your estimate"), ("sl", "po vaši oceni")])
def test_a_number_of_people_that_nobody_counted_is_nobodys_fact(visits: dp.Table, lang: str, told: str) -> None:
    visits.ask(visits.query("count", epsilon="1", where=WOMEN))
    with speaking(lang):
        page = plain(html_of(open_page("tables", lang=lang)))
        assert told in page
        assert {"en": "under Tables", "sl": "na strani Tabele"}[lang] not in page, "this is the page"
        assert say("people.link") in page


def test_the_short_cells_of_the_readers_language_come_first() -> None:
    with speaking("sl"):
        assert presets.candidates("spol")[0].like[:2] == ("m", "ž")
    assert presets.candidates("sex")[0].like[:2] == ("M", "F")
    known = dp.Category(list(LISTS["sex"].values), spellings=LISTS["sex"].table).spelled()
    assert all(cell.lower() in known for cells in LISTS["sex"].short.values() for cell in cells)


def test_usual_days_begin_with_the_last_whole_year() -> None:
    assert presets.DAYS[:4] == ("year_before", "year_now", "two_years", "ten_years")
    assert presets.days("two_years", date(2026, 11, 16)) == (date(2024, 1, 1), date(2025, 12, 31))
