"""From a file to a true answer on the shortest way: few words and choices, a price at which an answer is useful, whose
word the number of people is, what was left out, and what an average is not."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any

import pandas as pd
import pytest
from files.make_census import NAMES
from helpers_declare import Page
from helpers_page import html_of, open_page, plain

import dpengine as dp
from dpengine.core.exact import text_of
from dpengine.declared.unit import Unit
from dpengine.messages import say
from dpengine.messages.language import speaking
from dpengine.planning.opening import CLEAR, PART, room
from ui.data import change
from ui.data import people as care
from ui.parts import tables
from ui.words import prices
from ui.words.markup import unmarked

PEOPLE = 3_000
HELP = say("about.data")[:40]  # behind “What is this?”


@pytest.fixture
def clinic(home: dp.Workspace) -> dp.Table:
    """Two visits each, mostly without a fee; nobody said what a ward is."""
    places = range(2 * PEOPLE)
    frame = pd.DataFrame(
        {
            "patient": [str(place // 2) for place in places],
            "sex": ["f" if place % 4 < 2 else "m" for place in places],
            "wait": [str(place % 60) for place in places],
            "fee": ["900" if place % 20 == 0 else "0" for place in places],
            "ward": [f"ward {place % 3}" for place in places],
        }
    )
    schema = {"sex": dp.Category(["f", "m"]), "wait": dp.Number(0, 240), "fee": dp.Number(0, 1000, 10)}
    return home.add_table(
        "our clinic",
        frame,
        schema=dp.Schema(schema),
        unit=Unit.column("patient", 2),
        relation="add_remove",
        about_rows=PEOPLE,
        budget=dp.Budget("1", "1e-6"),
    )


def at_half(table: dp.Table, query: dp.Query) -> dp.Query:
    """For half of the allowance."""
    return at_share(table, query, Fraction(1, 2))


def at_share(table: dp.Table, query: dp.Query, share: Fraction) -> dp.Query:
    found = table.at_share(query, share)
    assert found is not None
    return found


def told(app: Any) -> str:
    return plain(html_of(app))


# --- how careful: a choice that holds enough answers


VISITS = "patient_id,age,minutes,cost,sex\na,33,20,10,f\na,34,15,20,f\nb,44,30,5,m\n"


def at_care(about: int) -> Page:
    page = Page().upload(VISITS, "visits.csv").to("unit").set("declare-unit", "more").set("declare-who", "patient_id")
    page.set("declare-each", 3).set("declare-relation", "add_remove").set("declare-about", about).press("Go on")
    return page.to("care")


@pytest.mark.long
@pytest.mark.usefixtures("shared")
def test_what_is_chosen_for_five_thousand_people_with_three_rows_each_holds_ten_good_answers() -> None:
    page = at_care(5_000)
    assert care._good(page.draft, care.drafts.budget(page.draft)) >= 10


@pytest.mark.long
@pytest.mark.usefixtures("shared")
def test_where_careful_holds_few_answers_usual_is_chosen_and_one_sentence_says_what_that_costs() -> None:
    page = at_care(800)
    few = care._held(page.draft, "careful")
    assert few < care.ENOUGH and page.draft.care == "usual"
    held = "1 average or chart" if few == 1 else f"{few} averages or charts"
    assert f"would protect more, but allow only about {held}" in page.text
    assert "from 10 to at most 15.5 in 100" in page.text
    page.set("declare-care", "careful")
    assert "allow only about" not in page.text  # whoever chose needs no reason


@pytest.mark.long
@pytest.mark.usefixtures("shared")
def test_no_letter_of_the_mathematics_stands_on_the_way() -> None:
    """ε and δ are behind what can be unfolded, until the first answer."""
    page = Page().upload(VISITS, "visits.csv")
    for step in ("names", "unit", "cards", "care"):
        page.to(step)
        radios = [caption for radio in page.app.radio for caption in [*radio.proto.captions, *radio.proto.options]]
        folded = [part.proto.body for one in page.app.expander for part in one.get("html")]
        shown = [part.proto.body for part in page.app.get("html") if part.proto.body not in folded]
        told = [plain(one) for one in [*radios, *shown] if {"ε", "δ"} & {*plain(one)} and HELP not in plain(one)]
        assert not told
    assert "ε" in page.text  # it can be unfolded


@pytest.mark.long
@pytest.mark.usefixtures("shared")
def test_a_question_s_error_is_the_same_on_the_column_s_line_on_the_ready_page_and_in_the_form() -> None:
    page = at_care(5_000).set("declare-care", "usual").click("declare-back-care")
    (line,) = re.findall(r"average ±([\d.]+)\smin", plain(page.text))
    (bars,) = re.findall(r"each bar ±(\d+) rows", plain(page.text))
    table = page.press("Go on").finish("one error")
    ready = plain(page.text)
    (exact,) = re.findall(r"·\s+within ±(\d+) rows", ready)
    assert float(bars) == float(f"{int(exact):.2g}") or 0 <= int(bars) - int(exact) <= 10  # rounded up
    best = table.opening(table.suggested("mean", column="minutes")).asked
    assert f"within ±{line}\N{NO-BREAK SPACE}min" in best.promise().short(best)
    asked = open_page("ask", table=table.name, q="mean", column="minutes")
    assert f"±{line}\N{NO-BREAK SPACE}min" in told(asked)


# --- where prices begin


def started(table: dp.Table, app: Any, **given: Any) -> dp.Query:
    """The question as Ask puts it at the price it starts with."""
    return table.cheapest(table.query("mean", **given, epsilon=app.session_state["ask-epsilon"]))


def room_of(table: dp.Table, query: dp.Query) -> Fraction:
    return room(table.cheapest(query))


@pytest.mark.long
def test_a_question_by_group_starts_at_its_own_price(clinic: dp.Table) -> None:
    alone = open_page("ask", table=clinic.name, q="mean", column="wait").session_state["ask-epsilon"]
    app = open_page("ask", table=clinic.name, q="mean", column="wait", epsilon=alone)
    picker = next(box for box in app.selectbox if str(box.key).startswith("ask-by-mean"))
    picker.set_value("sex").run()
    assert not app.exception
    opens = clinic.opening(clinic.query("mean", column="wait", by="sex", epsilon="1"))
    assert opens is not None and started(clinic, app, column="wait", by="sex") == opens.asked


@pytest.mark.long
def test_a_link_keeps_its_price_and_one_without_a_price_opens_low(clinic: dp.Table) -> None:
    app = open_page("ask", table=clinic.name, q="mean", column="wait", by="sex", epsilon="0.5")
    assert app.session_state["ask-epsilon"] == "0.5"
    app = open_page("ask", table=clinic.name, q="mean", column="wait", by="sex")
    assert clinic.preview(started(clinic, app, column="wait", by="sex")).share <= PART


@pytest.mark.long
@pytest.mark.every(3)
@pytest.mark.parametrize("by", ["", "sex"])
def test_a_question_starts_no_higher_than_it_must(clinic: dp.Table, by: str) -> None:
    """Clearly useful, or at a twentieth of what is left, with the best noise for that price."""
    given = {"column": "wait"} | ({"by": by} if by else {})
    now = open_page("ask", table=clinic.name, q="mean", **given).session_state["ask-epsilon"]
    query = clinic.query("mean", **given, epsilon=now)
    share = clinic.preview(query).share + clinic._check_share(lambda _: query)
    assert share <= PART and (room_of(clinic, query) >= CLEAR or share >= PART * Fraction(97, 100))


@pytest.mark.long
def test_where_it_is_cheap_a_question_starts_more_exact(clinic: dp.Table) -> None:
    """Five hours of a hundred do not tell men's weeks from women's."""
    town = clinic._workspace.table("town", visitor="local")  # type: ignore[attr-defined]
    now = open_page("ask", table="town", q="mean", column="age").session_state["ask-epsilon"]
    assert room_of(town, town.query("mean", column="age", epsilon=now)) >= 8


@pytest.mark.long
def test_where_a_twentieth_is_mostly_noise_the_page_says_what_is_enough_and_what_would_help(clinic: dp.Table) -> None:
    app = open_page("ask", table=clinic.name, q="mean", column="fee", by="sex")
    opens = clinic.opening(clinic.query("mean", column="fee", by="sex", epsilon="1"))
    assert opens is not None and opens.useful is not None and room(opens.asked) < 1 and opens.share <= PART
    assert f"which takes about {prices.takes(clinic, opens.useful)} " in told(app)
    assert say("lever.lead") in told(app)
    assert opens.better is not None and clinic.preview(opens.better, checked=True).share <= Fraction(1, 4)
    next(button for button in app.button if button.key == "spend-useful").click().run()
    assert not app.exception and app.session_state["ask-epsilon"] == text_of(opens.better.epsilon)
    assert "spend-useful" not in [button.key for button in app.button], "it is useful now"
    assert 'class="stepped"' in html_of(app), "what it buys is brought into view"
    assert 'class="stepped"' not in html_of(app.run())


@pytest.mark.long
def test_where_nothing_that_is_left_is_enough_the_page_says_so(clinic: dp.Table) -> None:
    given = {"column": "fee", "by": "sex"}
    clinic.ask(at_share(clinic, clinic.query("count", epsilon="0.1", where=[["sex", "in", ["f"]]]), Fraction(9, 10)))
    app = open_page("ask", table=clinic.name, q="mean", **given)
    price = clinic.preview(started(clinic, app, **given))
    assert not price.useful and "cannot buy an exact enough setting" in told(app)
    assert price.share <= clinic.meter().unused * PART


@pytest.mark.long
def test_an_answer_that_is_only_just_useful_says_what_a_clear_one_takes(clinic: dp.Table) -> None:
    opens = clinic.opening(clinic.query("histogram", column="wait", bins=4, epsilon="1"))
    assert opens is not None and opens.clear is not None and 1 <= room(opens.asked) < CLEAR, "else this shows nothing"
    app = open_page("ask", table=clinic.name, q="histogram", column="wait", bins="4")
    words = say("spend.dear", share=prices.takes(clinic, opens.clear))
    (said,) = [one for one in app.expander if unmarked(words) in one.label]
    assert say("lever.lead") in plain("".join(part.proto.body for part in said.get("html")))
    cheap = open_page("ask", table="town", q="mean", column="monthly_income")
    assert not [one for one in cheap.expander if "a clearly useful answer" in one.label]


@pytest.mark.long
def test_what_would_help_comes_before_an_answer_that_would_be_mostly_noise(clinic: dp.Table) -> None:
    for epsilon, kind in (("0.01", "secondary"), ("0.5", "primary")):
        app = open_page("ask", table=clinic.name, q="mean", column="wait", by="sex", epsilon=epsilon)
        (go,) = [button for button in app.button if str(button.key).startswith("ask-go-")]
        assert go.proto.type == kind


# --- whose word the number of people is


@pytest.mark.long
def test_a_forecast_says_whose_number_it_is_planned_with_and_where_it_is_corrected(clinic: dp.Table) -> None:
    page = html_of(open_page("ask", table=clinic.name, q="mean", column="wait", epsilon="0.1"))
    assert say("people.supposed", people=PEOPLE) in plain(page) and "people=1" in page


@pytest.mark.long
def test_a_released_number_is_planned_with_after_one_tap(clinic: dp.Table) -> None:
    clinic.correct_people(500)
    table = clinic._workspace.table(clinic.name)  # type: ignore[attr-defined]
    table.ask(table.query("count", epsilon="0.5", people=True))
    app = open_page("ask", table=clinic.name, q="mean", column="wait", epsilon="0.1")
    assert say("people.supposed", people=500) not in told(app)
    next(button for button in app.button if button.key == "people-use").click().run()
    assert not app.exception
    now = clinic._workspace.table(clinic.name).facts.about  # type: ignore[attr-defined]
    assert 2_500 <= now <= 3_500
    assert say("people.supposed", people=now) in told(app)


# --- what was left out


@pytest.mark.long
def test_columns_that_were_left_out_are_called_to_mind_once_after_the_first_answer(clinic: dp.Table) -> None:
    tables._reminded.clear()
    sentence = say("missing.offer", many=1, columns="ward")
    assert sentence not in told(open_page("tables")) and sentence not in told(open_page("ask", table=clinic.name))
    clinic.ask(clinic.query("mean", column="wait", epsilon="0.1"))
    for app in (open_page("tables"), open_page("ask", table=clinic.name)):
        assert sentence in told(app)
    find = open_page("data", table=clinic.name, find="1")
    chosen = [box for kind in ("multiselect", "button_group") for box in find.get(kind) if box.key == "found-columns"]
    assert [box.value for box in chosen] == [["ward"]]
    assert [button for button in find.button if "Find 1 column" in button.label]
    for app in (open_page("tables"), open_page("ask", table=clinic.name)):
        assert sentence not in told(app)  # once


@pytest.mark.long
def test_nobody_is_reminded_who_does_not_need_it(clinic: dp.Table) -> None:
    tables._reminded.clear()
    clinic.ask(clinic.query("mean", column="wait", epsilon="0.1"))
    app = open_page("ask", table=clinic.name)
    next(button for button in app.button if button.key == "missing-no").click().run()
    assert not app.exception and say("missing.offer", many=1, columns="ward") not in told(app)
    assert tables.missing_columns(clinic) == ["ward"]
    clinic.ask(at_half(clinic, clinic.query("find_declarations", lists=["ward"], epsilon="1", delta="1e-8")))
    assert tables.missing_columns(clinic) == []  # it was bought


# --- edits of a declaration


@pytest.mark.long
def test_what_was_changed_on_a_description_survives_a_reload(clinic: dp.Table, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(change, "visitor", lambda: "ana")
    app = open_page("data", table=clinic.name, change="1")
    draft = app.session_state["changes"][clinic.name][1]
    draft.card("wait").upper = "300"
    again = open_page("data", table=clinic.name, change="1")
    assert again.session_state["changes"][clinic.name][1].card("wait").upper == "300"
    monkeypatch.setattr(change, "visitor", lambda: "bor")
    other = open_page("data", table=clinic.name, change="1")
    assert other.session_state["changes"][clinic.name][1].card("wait").upper == "240"
    monkeypatch.setattr(change, "visitor", lambda: "ana")
    next(button for button in again.button if button.key == "declare-leave").click().run()
    fresh = open_page("data", table=clinic.name, change="1")
    assert fresh.session_state["changes"][clinic.name][1].card("wait").upper == "240"  # given up


# --- an average


@pytest.mark.long
def test_beside_an_average_stands_that_it_is_not_typical_and_one_tap_to_the_median(clinic: dp.Table) -> None:
    answer = clinic.ask(clinic.query("mean", column="fee", epsilon="0.2"))
    app = open_page("ask", table=clinic.name, answer=answer.request_id)
    assert say("typical.average") in told(app)
    (link,) = [
        link.proto for link in app.get("page_link") if "median" in link.proto.label and "takes" in link.proto.label
    ]
    assert "q=median" in link.query_string and "column=fee" in link.query_string
    assert "In your first look" not in told(app)
    median = clinic.ask(clinic.query("median", column="fee", epsilon="0.2"))
    assert say("typical.average") not in told(open_page("ask", table=clinic.name, answer=median.request_id))


@pytest.mark.long
def test_a_first_look_that_was_bought_says_how_untypical_it_is(clinic: dp.Table) -> None:
    clinic.ask(at_half(clinic, clinic.query("overview", columns=["fee", "wait"], epsilon="1")))
    answer = clinic.ask(clinic.query("mean", column="fee", epsilon="0.1"))
    page = told(open_page("ask", table=clinic.name, answer=answer.request_id))
    assert "In your first look, at least" in page and "% are at 0" in page
    few = clinic.ask(clinic.query("mean", column="wait", epsilon="0.1"))
    assert "In your first look" not in told(open_page("ask", table=clinic.name, answer=few.request_id))


# --- what is read on the way, in words


@pytest.mark.parametrize("lang", ["en", "sl"])
def test_the_step_with_most_to_read_is_read_in_a_few_seconds(lang: str) -> None:
    codes = "unit.title unit.lead unit.one_label unit.more_label unit.more_means relation.title relation.replace_label"
    codes += " relation.replace_means relation.add_remove_label relation.add_remove_means"
    with speaking(lang):
        assert sum(len(say(f"data.{code}").split()) for code in codes.split()) <= 54
        assert len(say("data.cards.lead", sizes="").split()) <= 12


@pytest.mark.long
@pytest.mark.usefixtures("shared")
def test_what_cannot_be_taken_back_is_said_above_the_choices_and_a_guess_is_a_cell_and_a_limit() -> None:
    page = Page().upload(f"{NAMES}\n{'1,' * NAMES.count(',')}1\n").to("unit")
    assert page.text.index(say("data.unit.lead")) < page.text.index(say("data.relation.title"))
    asked = page.to("cards").text.split('<div class="line guess asks">')[1:]
    told = [re.sub("<[^>]*>", " ", one.partition("</div>")[0]) for one in asked]
    assert len(told) == 14 and sum(len(one.split()) for one in told) <= 150
