"""What a clerk sees before saying yes or paying: what a guessed range costs, what a number of rows loses, whether the
columns fit, a condition that leaves nobody out. And afterwards: a range that can be seen, answers at a glance."""

from __future__ import annotations

import re
from typing import Any

import pandas as pd
import pytest
from helpers_declare import Page
from helpers_page import html_of, open_page, plain

import dpengine as dp
from dpengine.declared.conditions import excludes_nothing, read_predicate
from dpengine.mechanisms.answer_state import FEW
from dpengine.mechanisms.choices.find_declarations import Drafted
from dpengine.mechanisms.counts.fit_checks import SOME_NOT
from dpengine.messages import of_practice, say
from dpengine.messages.language import speaking
from ui.data import price
from ui.data.draft import Card
from ui.data.presets import RANGES
from ui.parts.answer_notes import fit_notes, headline_notes
from ui.pictures import charts

VISITS = "patient_id,amount_eur,age,smoker\na,33,20,no\na,34,15,no\nb,44,30,yes\n"


def at_unit() -> Page:
    page = Page().upload(VISITS, "visits.csv").to("unit").set("declare-unit", "more")
    return page.set("declare-who", "patient_id")


def line_of(page: Page, name: str) -> str:
    return next(plain(part.proto.body) for part in page.app.get("html") if f"<b>{name}</b>" in part.proto.body)


# --- a guessed range


@pytest.mark.long
@pytest.mark.usefixtures("shared")
def test_a_guessed_range_says_what_error_it_buys_and_when_that_is_more_than_a_usual_value() -> None:
    page = at_unit().set("declare-each-usual", 5).set("declare-relation", "add_remove").set("declare-about", 5_000)
    page.press("Go on")
    assert page.draft.state("amount_eur") == "guess"
    assert "average ±" not in line_of(page, "age") and "narrow the range" not in line_of(page, "age")
    told = line_of(page, "amount_eur")
    assert "average ±" in told and say("data.short.wide") in told
    page.set("declare-1-upper", "300").press("This is right")
    assert page.draft.state("amount_eur") == "settled" and "narrow the range" not in page.text


def test_a_range_is_called_too_wide_only_where_somebody_said_how_many_people_there_are() -> None:
    usual, rows = RANGES["gain"], dp.Unit.rows()
    column = dp.Number(usual.lower, usual.upper, usual.step)
    assert not price.too_wide(column, usual, rows, "replace", (1_000, 10_000))
    short = price.short(column, rows, "replace", (1_000, 10_000))
    assert short == price.short(column, rows, "replace", (10_000,)) != price.short(column, rows, "replace", (1_000,))
    assert price.too_wide(column, usual, rows, "replace", (1_000,)) == say("data.short.wide")
    assert not price.too_wide(column, usual, rows, "replace", (10_000,))
    with speaking("sl"):
        assert "zožite razpon" in price.too_wide(column, usual, rows, "replace", (1_000,))


def test_a_range_that_somebody_narrowed_is_not_called_too_wide_and_none_is_where_narrowing_does_not_help() -> None:
    usual, visits = RANGES["gain"], dp.Unit.column("who", 10)
    column = dp.Number(usual.lower, usual.upper, usual.step)
    assert price.too_wide(column, usual, visits, "add_remove", (1_000,))
    assert not price.too_wide(dp.Number(0, 90_000, 100), usual, visits, "add_remove", (1_000,))
    assert not price.too_wide(column, usual, visits, "add_remove", (20,)), "no range helps so few people"


@pytest.mark.parametrize(("lang", "told"), [("en", "yes, no, 1, 0"), ("sl", "da, ne, 1, 0")])
@pytest.mark.usefixtures("shared")
def test_yes_and_no_are_told_once(lang: str, told: str) -> None:
    from ui.data.draft import Card, Draft, column_of

    with speaking(lang):
        column = column_of(Card.for_name("smoker"), Draft().dialect)
        assert plain_list(price.also(column)) == told and price.briefly(column) == ""
        assert price.short_words(column).count("da") == (lang == "sl")


@pytest.mark.parametrize(("lang", "told"), [("en", "else “other”"), ("sl", "drugo je »drugo«")])
def test_a_long_list_that_waits_says_what_any_other_cell_counts_as(lang: str, told: str) -> None:
    from ui.data.draft import Card, Draft, column_of

    with speaking(lang):
        card = Card.for_name("native_country")
        assert price.briefly(column_of(card, Draft().dialect)).endswith(told)


@pytest.mark.usefixtures("shared")
def test_how_numbers_are_written_is_told_in_one_form() -> None:
    from ui.data.draft import NUMBERS, numbers_like, numbers_of

    page = Page().upload("age\n33\n44\n").to("names")
    assert f"Numbers are written like {numbers_like(numbers_of(page.draft.dialect))}." in page.text
    assert [numbers_like(one) for one in list(NUMBERS)[:3]] == ["1234.5 or 1,234.5", "1234,5 or 1.234,5", "1 234.5"]


def plain_list(values: Any) -> str:
    return ", ".join(values)


# --- how many rows of a person


@pytest.mark.usefixtures("shared")
def test_whoever_chooses_how_many_rows_count_reads_which_to_take_and_what_is_lost() -> None:
    page = at_unit()
    (radio,) = [one for one in page.app.radio if one.key == "declare-each-usual"]
    assert page.draft.each is None and "smallest that fits" in radio.label
    assert list(radio.proto.captions) == ["", "", "", say("data.unit.each_drops_one")]
    page.set("declare-each-usual", 3)
    assert say("data.unit.each_cut") in page.text


# --- does it fit


@pytest.mark.long
def test_an_answer_about_a_range_that_nobody_checked_says_what_lies_beyond_it(home: dp.Workspace) -> None:
    frame = pd.DataFrame({"wait": [10, 400] * 500})
    schema = dp.Schema({"wait": dp.Number(0, 240, measure="min")})
    table = home.add_table("cut", frame, schema=schema, unit=dp.Unit.rows(), budget=dp.Budget("50", "1e-6"))
    asked = table.ask(table.query("mean", column="wait", epsilon="2"))
    told = plain(html_of(open_page("ask", table="cut", answer=asked.request_id)))
    assert "Nobody has checked" in told and "wait above 240 counts as 240" in told
    assert say("fit.note.unchecked", column="wait") in headline_notes(asked), "beside the headline"
    table.ask(table.query("fit_checks", columns=["wait"], epsilon="5"))
    told = plain(html_of(open_page("ask", table="cut", answer=asked.request_id)))
    assert "Nobody has checked" not in told and "most lie above 240" in told


@pytest.mark.long
def test_an_answer_that_says_nothing_is_not_followed_by_a_large_note_that_nobody_has_checked(
    home: dp.Workspace,
) -> None:
    """Three rows at ε = 1/1000: the mean is too few to tell, except where the noise leaves its own range, once in 20
    draws; eight times in a row less than once in 10^10."""
    schema = dp.Schema({"wait": dp.Number(0, 240, measure="min")})
    frame = pd.DataFrame({"wait": [10, 20, 30]})
    table = home.add_table("tiny", frame, schema=schema, unit=dp.Unit.rows(), budget=dp.Budget("50", "1e-6"))
    draws = (table.ask(table.query("mean", column="wait", epsilon="0.001")) for _ in range(8))
    asked = next(one for one in draws if one.query.state(one.value, one.interval) == FEW)
    note = say("fit.note.unchecked", column="wait")
    assert note not in headline_notes(asked) and note in fit_notes(asked), "it is said small"
    shown = html_of(open_page("ask", table="tiny", answer=asked.request_id))
    assert 'class="headline-note"' not in shown and say("fit.note.link") in shown


# --- a range that can be seen


@pytest.mark.parametrize(
    ("value", "ends", "limits"),
    [(38.98, (38.9, 39.06), (0, 120)), (1_340.0, (740.0, 1_940.0), (0, 100_000)), (0.4, (0.0, 0.9), (0, 100))],
)
def test_the_range_of_an_answer_is_a_good_part_of_its_axis_and_bears_its_numbers(
    monkeypatch: pytest.MonkeyPatch, value: float, ends: tuple[float, float], limits: tuple[float, float]
) -> None:
    drawn: list[Any] = []
    monkeypatch.setattr(charts, "show", lambda figure, *_: drawn.append(figure.layout))
    charts.point(value, ends, "wait", "", "key", limits, ("lo", "hi"))
    (layout,) = drawn
    first, last = layout["xaxis"]["range"]
    assert (ends[1] - ends[0]) / (last - first) >= 0.3 and first <= ends[0] < ends[1] <= last
    assert [(one["x"], one["text"]) for one in layout["annotations"]] == [(ends[0], "lo"), (ends[1], "hi")]


# --- answers at a glance


def test_three_answers_stand_in_a_list_with_their_figures_ranges_and_what_they_took(home: dp.Workspace) -> None:
    frame = pd.DataFrame({"wait": [10, 40] * 500})
    schema = dp.Schema({"wait": dp.Number(0, 60)})
    table = home.add_table("ours", frame, schema=schema, unit=dp.Unit.rows(), budget=dp.Budget("50", "1e-6"))
    for key in ("mean", "median"):
        table.ask(table.query(key, column="wait", epsilon="1"))
    assert 'class="glance"' not in html_of(open_page("answers", table="ours"))
    last = table.ask(table.query("proportion", of=[["wait", ">=", 30]], epsilon="1"))
    told = html_of(open_page("answers", table="ours"))
    assert told.split('class="glance"')[1].split("</ul>")[0].count("<li>") == 3 and last.sentence in plain(told)
    assert told.index('class="glance"') < told.index('class="headline"'), "above the cards"
    with speaking("sl"):
        assert say("answers.glance", many=10) == "Zadnjih 10 na kratko" and "Zadnji 3" in say("answers.glance", many=3)


# --- a condition that leaves nobody out

SCHEMA = dp.Schema(
    {"age": dp.Number(0, 100), "sex": dp.Category(["f", "m"]), "day": dp.Date("2026-01-01", "2026-12-31", "ymd")}
)


@pytest.mark.parametrize(
    ("row", "idle"),
    [
        (["age", "between", [0, 100]], True),
        (["age", "between", [1, 100]], False),
        (["age", ">=", 0], True),
        (["age", "<=", 99], False),
        (["day", "between", ["2026-01-01", "2026-12-31"]], True),
        (["day", ">=", "2026-01-02"], False),
        (["sex", "in", ["f", "m", "other", "no answer"]], True),
        (["sex", "in", ["f", "m"]], False),  # those without an answer are left out
        (["any", [["sex", "in", ["f"]], ["age", ">=", 0]]], True),
    ],
)
def test_a_condition_is_known_to_exclude_nothing_from_the_declaration_alone(row: list[Any], idle: bool) -> None:
    (clause,) = read_predicate([row], SCHEMA).clauses
    assert excludes_nothing(clause, SCHEMA) == idle


@pytest.mark.long
@pytest.mark.parametrize("lang", ["en", "sl"])
def test_ask_says_so_before_it_is_paid(shared: dp.Workspace, lang: str) -> None:
    ends = shared.table("town").schema["age"]
    assert isinstance(ends, dp.Number)
    whole = f'[["age","between",[{ends.lower},{ends.upper}]]]'
    some = f'[["age","between",[{ends.lower + 1},{ends.upper}]]]'
    with speaking(lang), of_practice("town"):
        told = say("form.where_all", column="age")
        assert told in plain(html_of(open_page("ask", table="town", q="count", where=whole, lang=lang)))
        assert told not in plain(html_of(open_page("ask", table="town", q="count", where=some, lang=lang)))


# --- Slovene


def test_how_many_columns_wait_is_told_in_the_right_form() -> None:
    with speaking("sl"):
        told = [say("data.cards.next", waits=waits) for waits in (1, 2, 3, 5, 6)]
        counted = ("1 stolpec", "2 stolpca", "3 stolpci", "5 stolpcev", "6 stolpcev")
        assert told == [f"Naprej (še {one} brez odgovora)" for one in counted]
        lever = say("lever.groups", now="±5, če so skupine enako velike", then="±3", question="")
        assert "velike; potem ±3" in lever


# --- what would be believed


@pytest.mark.long
def test_an_average_at_the_end_of_its_range_is_doubted_until_the_column_is_checked(home: dp.Workspace) -> None:
    """Forty hours a week declared as hours of a day: nearly everybody counts as 24."""
    frame = pd.DataFrame({"hours": [40] * 1_900 + [20] * 100})
    schema = dp.Schema({"hours": dp.Number(0, 24, measure="h")})
    table = home.add_table("weekly", frame, schema=schema, unit=dp.Unit.rows(), budget=dp.Budget("50", "1e-6"))
    asked = table.ask(table.query("mean", column="hours", epsilon="2"))
    told = plain(html_of(open_page("ask", table="weekly", answer=asked.request_id)))
    assert "This is close to 24\xa0h, where the declared range of hours ends." in told
    assert "Rows without hours are not counted." in told
    fine = dp.Schema({"hours": dp.Number(0, 60, measure="h")})
    other = home.add_table("fine", frame + 1, schema=fine, unit=dp.Unit.rows(), budget=dp.Budget("50", "1e-6"))
    asked = other.ask(other.query("mean", column="hours", epsilon="2"))
    assert "This is close to" not in plain(html_of(open_page("ask", table="fine", answer=asked.request_id)))


@pytest.mark.long
def test_a_share_of_next_to_nothing_is_doubted_where_its_list_was_never_checked(home: dp.Workspace) -> None:
    frame = pd.DataFrame({"sex": ["Male", "Female"] * 2_000})
    schema = dp.Schema({"sex": dp.Category(["ženska", "moški"])})
    table = home.add_table("otherwise", frame, schema=schema, unit=dp.Unit.rows(), budget=dp.Budget("50", "1e-6"))
    asked = table.ask(table.query("proportion", of=[["sex", "in", ["moški"]]], epsilon="2"))
    told = plain(html_of(open_page("ask", table="otherwise", answer=asked.request_id)))
    assert "Hardly anybody. Either that is true, or cells of sex are spelled differently" in told
    rest = table.ask(table.query("proportion", of=[["sex", "in", ["other"]]], epsilon="2"))
    assert "Hardly anybody" not in plain(html_of(open_page("ask", table="otherwise", answer=rest.request_id)))
    table.ask(table.query("fit_checks", columns=["sex"], epsilon="5"))
    told = plain(html_of(open_page("ask", table="otherwise", answer=asked.request_id)))
    assert "Hardly anybody" not in told and "are not in your list" in told


@pytest.mark.long
def test_answers_at_a_glance_say_what_a_check_found(home: dp.Workspace) -> None:
    frame = pd.DataFrame({"hours": [40] * 2_000})
    schema = dp.Schema({"hours": dp.Number(0, 24)})
    table = home.add_table("cut", frame, schema=schema, unit=dp.Unit.rows(), budget=dp.Budget("50", "1e-6"))
    for spend in ("1", "2"):
        table.ask(table.query("mean", column="hours", epsilon=spend))
    table.ask(table.query("fit_checks", columns=["hours"], epsilon="5"))
    told = html_of(open_page("answers", table="cut"))
    glance = told.split('class="glance"')[1].split("</ul>")[0]
    assert glance.count("lie above 24") >= 2


def test_a_question_mark_that_was_found_is_no_answer() -> None:
    card = Card()
    card.take_found(Drafted("job", "list", values=(("clerk", 900), ("?", 200), ("nurse", 100))), "found")
    assert card.values == ["clerk", "nurse"]


@pytest.mark.long
def test_below_a_check_that_doubts_a_part_stands_what_helps_before_the_questions(home: dp.Workspace) -> None:
    """700 of 11,000 cells are 999; the noise moves them by 250 with a chance below 1e-9."""
    wait = [120] * 10_300 + [999] * 700
    table = home.add_table(
        "codes",
        pd.DataFrame({"wait": wait, "stay": [3] * 11_000}),
        schema=dp.Schema({"wait": dp.Number(0, 366), "stay": dp.Number(0, 30)}),
        unit=dp.Unit.rows(),
        budget=dp.Budget("50", "1e-6"),
    )
    check = table.ask(table.query("fit_checks", columns=["wait", "stay"], epsilon="0.2"))
    assert table.fit_of("wait").in_part or table.fit_of("wait").state == SOME_NOT
    told = plain(html_of(open_page("data", table="codes", answer=check.request_id)))
    assert "Do the cells fit what you declared?" in told
    assert told.index("Do the cells fit what you declared?") < told.index("How “")
    assert told.count("Do the cells fit what you declared?") == 1


@pytest.mark.long
def test_cells_beyond_the_range_are_told_before_a_question_is_paid_for_and_on_every_line(home: dp.Workspace) -> None:
    """800 of 11,000 cells are 999; the noise hides that with a chance below 1e-9."""
    table = home.add_table(
        "coded",
        pd.DataFrame({"wait": [120] * 10_200 + [999] * 800, "stay": [3] * 11_000}),
        schema=dp.Schema({"wait": dp.Number(0, 366, measure="days"), "stay": dp.Number(0, 30)}),
        unit=dp.Unit.rows(),
        budget=dp.Budget("50", "1e-6"),
    )
    asked = {"q": "mean", "column": "wait"}
    assert "Careful" not in plain(html_of(open_page("ask", table="coded", **asked)))
    table.ask(table.query("fit_checks", columns=["wait", "stay"], epsilon="1"))
    told = plain(html_of(open_page("ask", table="coded", **asked)))
    assert re.search("Careful: [67]–[89] % of the cells of wait do not fit", told) and not table.meter().charges - 1
    assert say("fit.careful") in told, "beside the button too"
    answer = table.ask(table.query("mean", column="wait", epsilon="1"), checked=True)
    shown = html_of(open_page("ask", table="coded", answer=answer.request_id))
    assert re.search('<p class="headline-note">Careful: [67]–[89] %', shown), "beside the headline"
    again = table.ask(table.query("mean", column="wait", epsilon="1"), checked=True)
    shown = html_of(open_page("ask", table="coded", answer=again.request_id))
    together = shown.split("<h2>" + say("looks.title", count=2))[1]
    assert re.search('<p class="headline-note">Careful: [67]–[89] %', together), "the answers together say it too"
    for name, address in (("tables", {}), ("answers", {"table": "coded"}), ("ask", {"table": "coded"})):
        listed = plain(html_of(open_page(name, **address)))
        assert re.search("Careful: [67]–[89] % of the cells of wait", listed), name
    fitting = table.query("mean", column="wait", where=[["wait", "fits", []]], epsilon="1")
    assert table.fits().doubts(fitting) == [] and fitting.where.fitting().keys() == {"wait"}
    assert table.fits().doubts(table.query("mean", column="stay", epsilon="1")) == []


def test_a_range_that_is_widened_over_a_code_does_not_hide_it(home: dp.Workspace) -> None:
    """800 of 11,000 cells are 999; the noise hides that with a chance below 1e-9."""
    frame = pd.DataFrame({"pressure": [130] * 10_200 + [999] * 800})
    wide = dp.Schema({"pressure": dp.Number(40, 1_000)})
    table = home.add_table("wide", frame, schema=wide, unit=dp.Unit.rows(), budget=dp.Budget("50", "1e-6"))
    table.ask(table.query("fit_checks", columns=["pressure"], epsilon="1"))
    query = table.query("mean", column="pressure", epsilon="1")
    assert "are exactly 999" in " ".join(table.fits().notes(query))
    named = table.revise(dp.Schema({"pressure": dp.Number(40, 1_000, codes=[999])}))
    assert named.fits().notes(named.query("mean", column="pressure", epsilon="1")) == []


@pytest.mark.long
def test_an_answer_given_before_a_column_was_declared_anew_says_so_wherever_it_is_listed(home: dp.Workspace) -> None:
    frame = pd.DataFrame({"age": list(range(20, 60)) * 50})
    first = dp.Schema({"age": dp.Number(0, 120)})
    table = home.add_table("since", frame, schema=first, unit=dp.Unit.rows(), budget=dp.Budget("50", "1e-6"))
    answer = table.ask(table.query("mean", column="age", epsilon="1"))
    told = say("since.answer", parts=say("since.codes", column="age", codes=["99"]))
    places = (("tables", {}), ("answers", {"table": "since"}), ("ask", {"table": "since", "answer": answer.request_id}))
    for name, address in places:
        assert told not in plain(html_of(open_page(name, **address))), name
    anew = table.revise(dp.Schema({"age": dp.Number(0, 120, codes=[99])}))
    for name, address in places:
        assert told in plain(html_of(open_page(name, **address))), name
    assert anew.recall(anew.query("mean", column="age", epsilon="1")) == [], "it is not offered as known"


@pytest.mark.long
def test_an_answer_given_before_more_rows_of_each_person_counted_says_so_wherever_it_is_listed(
    home: dp.Workspace,
) -> None:
    frame = pd.DataFrame({"who": list(range(500)) * 4, "age": list(range(20, 60)) * 50})
    schema, unit = dp.Schema({"age": dp.Number(0, 120)}), dp.Unit.column("who", 2)
    table = home.add_table("loans", frame, schema=schema, unit=unit, budget=dp.Budget("50", "1e-6"))
    answer = table.ask(table.query("mean", column="age", epsilon="1"))
    told = say("since.answer", parts=say("since.rows", most=4))
    places = (("tables", {}), ("answers", {"table": "loans"}), ("ask", {"table": "loans", "answer": answer.request_id}))
    for name, address in places:
        assert told not in plain(html_of(open_page(name, **address))), name
    table.protect(dp.Unit.column("who", 4))
    for name, address in places:
        assert told in plain(html_of(open_page(name, **address))), name


@pytest.mark.long
def test_a_first_look_says_a_doubt_in_headline_size_and_one_figure_of_it(home: dp.Workspace) -> None:
    """3,000 of 10,000 cells are above the range; the noise hides that with a chance below 1e-9."""
    frame = pd.DataFrame({"chol": [4] * 7_000 + [9] * 3_000, "age": [30, 50] * 5_000})
    schema = dp.Schema({"chol": dp.Number(3, 6), "age": dp.Number(0, 120)})
    table = home.add_table("looked", frame, schema=schema, unit=dp.Unit.rows(), budget=dp.Budget("50", "1e-6"))
    table.ask(table.query("fit_checks", columns=["chol", "age"], epsilon="1"))
    look = table.ask(table.query("overview", columns=["chol", "age"], epsilon="1"))
    shown = html_of(open_page("board", table="looked", look=look.request_id))
    assert f'<p class="headline-note">{say("fit.note.below", columns=["chol"])}' in shown
    assert "%" not in shown.split('<p class="headline-note">')[1].split("</p>")[0], "the figure stands with its picture"
    assert len(spans := set(re.findall(r"(\d+)–(\d+) % of the cells", plain(shown)))) == 1
    assert 27 < int(min(spans)[0]) <= 30 <= int(min(spans)[1]) < 33, "noise of half a percent: below 1e-9"
