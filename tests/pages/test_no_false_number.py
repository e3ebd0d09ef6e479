"""False numbers that strangers believed: what stands beside an answer, in which size, and in every list."""

from __future__ import annotations

import json
import re
from urllib.parse import parse_qs

import pandas as pd
import pytest
from helpers_page import html_of, open_page, plain, until

import dpengine as dp
from dpengine.asking.plan import Wish
from dpengine.messages import say
from dpengine.messages.language import speaking
from ui.data import presets
from ui.several import plan
from ui.words.markup import unmarked
from ui.words.wording import axis


def notes_of(shown: str) -> str:
    """What stands in the headline's size below it."""
    return " ".join(plain(part.split("</p>")[0]) for part in shown.split('<p class="headline-note">')[1:])


def headline_of(shown: str) -> str:
    return plain(shown.split('<p class="headline')[1].split(">", 1)[1].split("</p>")[0])


def spending(home: dp.Workspace) -> dp.Table:
    """150 of 1,000 people hold two thirds of the rows, and buy otherwise than the rest; one row of each counts."""
    heavy = [(f"h{who}", 70, "online") for who in range(150) for _ in range(11)]
    light = [(f"l{who}", 20, "counter") for who in range(850)]
    frame = pd.DataFrame(heavy + light, columns=["Card no", "Spent", "Channel"])
    schema = dp.Schema({"Spent": dp.Number(0, 100), "Channel": dp.Category(["online", "counter"])})
    unit = dp.Unit.column("Card no", 1)
    return home.add_table("spending", frame, schema=schema, unit=unit, budget=dp.Budget("9", "1e-6"))


@pytest.mark.long
def test_an_answer_of_some_rows_of_each_person_says_so_wherever_it_stands(home: dp.Workspace) -> None:
    """15 of 100 people have more; the noise makes that less than 2 or more than 60 with a chance below 1e-9."""
    table = spending(home)
    table.ask(table.query("fit_checks", columns=[], ids=["Card no"], epsilon="0.7"))
    answer = table.ask(table.query("mean", column="Spent", epsilon="2"), checked=True, anyway=True)
    assert answer.sentence == "The mean of Spent for rows (at most 1 of each person)"
    shown = html_of(open_page("ask", table="spending", answer=answer.request_id))
    assert headline_of(shown).startswith("Of at most 1 row per person: about ")
    wanted = r"At most 1 row per person counts\. (How many people have more is not known: at most )?"
    wanted += r"[\d–]+ %( of people have more)?, perhaps with"
    assert re.search(wanted, notes_of(shown))
    look = table.ask(table.query("overview", columns=["Spent", "Channel"], epsilon="1"))
    assert re.search(wanted, notes_of(html_of(open_page("board", table="spending", look=look.request_id))))
    for name, address in (("tables", {}), ("answers", {"table": "spending"}), ("ask", {"table": "spending"})):
        assert re.search(wanted, plain(html_of(open_page(name, **address)))), name
    answers = open_page("answers", table="spending")
    for entry in table.history():
        answers.session_state[f"copy-answer-{entry.charge.seq}"] = True  # its popover is opened
    copied = [part.value for part in answers.run().get("code")]
    assert any(re.search(wanted, text) for text in copied)
    table.protect(dp.Unit.column("Card no", 2))
    for name, address in (("tables", {}), ("answers", {"table": "spending"}), ("ask", {"table": "spending"})):
        listed = plain(html_of(open_page(name, **address)))
        assert re.search(wanted, listed) and "An older answer" in listed, name


@pytest.mark.long
def test_where_nobody_counted_the_rows_of_people_the_headline_says_that(home: dp.Workspace) -> None:
    table = spending(home)
    answer = table.ask(table.query("mean", column="Spent", epsilon="2"))
    shown = html_of(open_page("ask", table="spending", answer=answer.request_id))
    assert say("fit.note.rows_unchecked", most=1) in notes_of(shown)
    assert headline_of(shown).startswith("Of at most 1 row")
    with speaking("sl"):
        assert "največ 1 na osebo" in answer.query.sentence()


def incomes(home: dp.Workspace, low: int, beyond: int) -> dp.Table:
    """Seven of a hundred cells lie beyond one end of 500–2,500, and none beyond the other."""
    cells = [low] * 10_230 + [beyond] * 770
    schema = dp.Schema({"income": dp.Number(500, 2_500), "town": dp.Category(["Mill"])})
    frame = pd.DataFrame({"income": cells, "town": ["Mill"] * 11_000})
    table = home.add_table("incomes", frame, schema=schema, unit=dp.Unit.rows(), budget=dp.Budget("50", "1e-6"))
    table.ask(table.query("fit_checks", columns=["income"], epsilon="1", beta="1e-8"))  # no range fails by chance
    return table


def test_a_few_misfits_on_one_side_say_in_the_headline_where_the_truth_lies(home: dp.Workspace) -> None:
    """The noise hides 770 of 11,000 cells with a chance below 1e-9."""
    table = incomes(home, 1_500, 9_000)
    answer = table.ask(table.query("mean", column="income", epsilon="1"), checked=True)
    shown = html_of(open_page("ask", table="incomes", answer=answer.request_id))
    assert headline_of(shown).startswith("At least about 1,5")
    wanted = r"[67]–[89] % of the cells of income do not fit: most lie above 2,500 and count as 2,500\."
    assert re.search(wanted + " So the true answer is higher", notes_of(shown))
    with speaking("sl"):
        (note,) = table.fits().doubts(answer.query)
        assert "nad 2.500 in štejejo kot 2.500. Zato je pravi odgovor višji" in note
    median = table.ask(table.query("median", column="income", epsilon="1"), checked=True)
    shown = html_of(open_page("ask", table="incomes", answer=median.request_id))
    assert "count as 2,500." in notes_of(shown) and "true answer" not in notes_of(shown), "no median moves by that"
    some = table.query("mean", column="income", where=[["income", "<", 2_000]], epsilon="1")
    assert not table.fit_of("income").moves(some)


def test_misfits_below_the_range_say_that_the_truth_is_lower(home: dp.Workspace) -> None:
    table = incomes(home, 1_500, 3)
    answer = table.ask(table.query("sum", column="income", epsilon="1"), checked=True)
    shown = html_of(open_page("ask", table="incomes", answer=answer.request_id))
    assert headline_of(shown).startswith("At most about ") and "the true answer is lower" in notes_of(shown)


def test_what_is_not_in_a_list_says_what_it_counts_as(home: dp.Workspace) -> None:
    frame = pd.DataFrame({"town": ["Mill"] * 10_230 + ["Dale"] * 770})
    schema = dp.Schema({"town": dp.Category(["Mill", "Hill"])})
    table = home.add_table("towns", frame, schema=schema, unit=dp.Unit.rows(), budget=dp.Budget("50", "1e-6"))
    table.ask(table.query("fit_checks", columns=["town"], epsilon="1"))
    assert "are not in your list. Such cells count as “other”." in table.fit_of("town").note()


def hours(home: dp.Workspace, name: str, upper: int, cells: list[int]) -> dp.Table:
    schema = dp.Schema({name: dp.Number(0, upper)})
    frame = pd.DataFrame({name: cells * (12_000 // len(cells))})
    return home.add_table(name, frame, schema=schema, unit=dp.Unit.rows(), budget=dp.Budget("9", "1e-6"))


@pytest.mark.long
def test_other_codes_are_found_and_a_usual_day_of_eight_hours_is_none(home: dp.Workspace) -> None:
    """A sixth of 12,000 cells; the noise hides that with a chance below 1e-9."""
    slept = hours(home, "ure spanja", 100, [6, 7, 8, 5, 9, 77])
    with pytest.raises(dp.ColumnDoubted, match="exactly 77"):
        slept.ask(slept.query("mean", column="ure spanja", epsilon="0.5"), checked=True)
    sugar = hours(home, "krvni sladkor", 20, [5, 6, 0, 7, 6, 0])
    with pytest.raises(dp.ColumnDoubted, match="exactly 0"):
        sugar.ask(sugar.query("mean", column="krvni sladkor", epsilon="0.5"), checked=True)
    worked = hours(home, "hours a day", 24, [8, 8, 8, 8, 7, 9])
    worked.ask(worked.query("mean", column="hours a day", epsilon="0.5"), checked=True)


@pytest.mark.long
def test_an_average_with_a_few_codes_says_where_it_lies_without_them(home: dp.Workspace) -> None:
    """5 of 100 cells are 99; the noise hides that with a chance below 1e-9."""
    table = hours(home, "wait", 100, [6, 7, 8, 5, 10] * 19 + [99] * 5)
    table.ask(table.query("fit_checks", epsilon="1"))
    answer = table.ask(table.query("mean", column="wait", epsilon="1"), checked=True)
    shown = notes_of(html_of(open_page("ask", table="wait", answer=answer.request_id)))
    assert "are exactly 99" in shown and "Without those cells the average is lower." in shown


@pytest.mark.long
def test_many_zeros_are_said_beside_the_answer_and_named_by_one_click(home: dp.Workspace) -> None:
    """A third of 12,000 cells; the noise hides that with a chance below 1e-9."""
    table = hours(home, "trips", 50, [0, 12, 20, 0, 14, 30])
    answer = table.ask(table.query("mean", column="trips", epsilon="0.5"), checked=True)
    page = open_page("ask", table=table.name, answer=answer.request_id)
    shown = html_of(page)
    assert re.search(r"[23]\d–[34]\d % of the cells of trips are exactly 0\. If 0 means", plain(shown))
    assert "exactly 0" not in notes_of(shown), "it may be real: not in the size of a warning"
    assert any(say("fit.way.code", code="0", column="trips") == button.label for button in page.button)
    anew = table.revise(dp.Schema({"trips": dp.Number(0, 50, codes=[0])}))
    assert anew.fit_of("trips").checked and anew.fit_of("trips").zeros is None


@pytest.mark.long
def test_what_a_check_looked_for_is_said_in_the_usual_size(home: dp.Workspace) -> None:
    """12,000 cells that fit: this check cannot tell 2 of 100, and its ranges fail once in 10⁸."""
    table = hours(home, "weight", 100, [61, 72, 83, 94, 65, 56])
    table.ask(table.query("fit_checks", epsilon="0.1", beta="1e-8"))
    answer = table.ask(table.query("mean", column="weight", epsilon="0.5"), checked=True)
    shown = html_of(open_page("ask", table=table.name, answer=answer.request_id))
    assert "may lie outside 0–100 or hold a usual code (0, 9, 77, 88" in plain(shown)
    assert not notes_of(shown)


def test_a_price_on_the_slider_and_on_an_offer_is_what_the_button_takes(home: dp.Workspace) -> None:
    """Two rows of each person count, so the check that comes first is priced with the question."""
    frame = pd.DataFrame({"who": [f"p{at // 5}" for at in range(3_500)], "rating": [2, 4, 6, 8, 9] * 700})
    schema, unit = dp.Schema({"rating": dp.Number(1, 10)}), dp.Unit.column("who", 2)
    table = home.add_table("ratings", frame, schema=schema, unit=unit, budget=dp.Budget("1", "1e-6"))
    for epsilon in ("0.05", "0.1", "0.3", "0.6"):
        query = table.query("mean", column="rating", epsilon=epsilon)
        seen = table.preview(table.cheapest(query), checked=True)
        assert table.prices([query], checked=True) == [seen.share if seen.admissible else None]
    page = open_page("ask", table="ratings", q="mean", column="rating", epsilon="0.1")
    slider = next(one for one in page.select_slider if one.key == "ask-slider")
    shares = re.findall(r"[\d.]+ %", " ".join(slider.options))
    button = next(one.label for one in page.button if one.key and one.key.startswith("ask-go"))
    assert re.findall(r"[\d.]+ %", button)[0] in shares, (button, shares)


def repeated(home: dp.Workspace) -> dp.Table:
    """2,000 rows of 400 pupils, declared as one row each."""
    frame = pd.DataFrame({"Pupil no.": [f"p{at % 400}" for at in range(2_000)], "mark": [1, 2, 3, 4, 5] * 400})
    schema = dp.Schema({"mark": dp.Number(1, 5), "town": dp.Category(["Mill", "Hill"])})
    frame["town"] = ["Mill", "Hill"] * 1_000
    table = home.add_table("pupils", frame, schema=schema, unit=dp.Unit.rows(), budget=dp.Budget("9", "1e-6"))
    table.ask(table.query("fit_checks", columns=[], ids=["Pupil no."], epsilon="1"))
    return table


@pytest.mark.long
def test_refusals_about_people_have_their_ways_out_on_every_page(home: dp.Workspace) -> None:
    repeated(home)
    for page in ("board", "synthetic", "several", "train"):
        shown = open_page(page, table="pupils", target="town", features='["mark"]', view="after")
        labels = [link.proto.label for link in shown.get("page_link")]
        assert unmarked(say("fit.way.people")) in labels, page
        assert any(button.label == unmarked(say("fit.way.rows")) for button in shown.button), page


@pytest.mark.long
def test_the_way_to_say_whose_the_rows_are_carries_the_question_and_its_spend(home: dp.Workspace) -> None:
    repeated(home)
    page = open_page("ask", table="pupils", q="mean", column="mark", epsilon="0.3")
    link = next(one for one in page.get("page_link") if one.proto.label == unmarked(say("fit.way.people")))
    asked = parse_qs(link.proto.query_string)
    assert asked["protect"] == ["Pupil no."] and json.loads(asked["then"][0])["epsilon"] == "0.3"
    back = open_page("data", table="pupils", protect="Pupil no.", then=asked["then"][0])
    next(one for one in back.number_input if one.key == "protect-each-pupils").set_value(5).run()
    next(one for one in back.button if one.key == "protect-do-pupils").click().run()
    until(back, lambda: "People with up to 5 rows are protected." in plain(html_of(back)))
    assert back.session_state["ask-epsilon"] == "0.3"


@pytest.mark.long
def test_a_paid_session_with_questions_left_is_offered(home: dp.Workspace) -> None:
    frame = pd.DataFrame({"town": ["Mill", "Hill"] * 2_000})
    schema = dp.Schema({"town": dp.Category(["Mill", "Hill"])})
    table = home.add_table("open", frame, schema=schema, unit=dp.Unit.rows(), budget=dp.Budget("9", "1e-6"))
    opened = table.open_session(table.session_for(5, table.meter().unused / 4))
    page = open_page("several", table="open", view="after")
    (way,) = [one for one in page.button if one.label == say("session.go_on", asked=0, questions=5)]
    way.click().run()
    assert opened.request in page.query_params["session"], "the address keeps it"
    assert say("session.now", next=1, asked=0, questions=5) in plain(html_of(page))


@pytest.mark.parametrize("name", ["years_employed", "Months insured", "let zaposlen", "number vaccinated"])
def test_a_quantity_is_not_guessed_as_yes_or_no(name: str) -> None:
    assert presets.suggest(name).kind == "number"
    assert presets.suggest("employed").kind == presets.suggest("is smoker").kind == "yes_no"


def test_a_plan_lists_the_check_that_it_bought(home: dp.Workspace) -> None:
    table = hours(home, "weight", 100, [61, 72, 83, 94, 65, 56])
    query = table.query("mean", column="weight", epsilon="0.5")
    table.submit_plan([query], "run", checked=True)
    home.jobs.wait("run", 60)
    assert [entry.charge.claim["key"] for entry in table.checks_of("run")] == ["fit_checks"]
    shown = plain(html_of(open_page("several", table=table.name, run="run")))
    assert "with a value of weight that does not fit the declaration" in shown


@pytest.mark.every(3)
@pytest.mark.parametrize("lang", ["en", "sl"])
def test_an_answer_that_counts_rows_says_rows_in_headline_and_axis(home: dp.Workspace, lang: str) -> None:
    """Also in lists; before a check said that ids repeat, the same answer said people."""
    table = repeated(home)
    before = table.query("count", by="town", epsilon="1")
    answer = home.table("pupils").ask(
        before, checked=True, anyway=True
    )  # a question built before the check is the same
    assert "at most 1" not in plain(html_of(open_page("ask", table="pupils", q="count", epsilon="0.1")))
    with speaking(lang):
        people, rows = say("chart.people"), say("chart.rows")
        worded = home.table("pupils").recall(answer.query)[0].query
        assert axis(before) == people and axis(worded) == axis(answer.query) == rows
        assert rows.lower() in worded.sentence().lower() and people.lower() not in worded.sentence().lower()
    pages = [open_page("ask", lang=lang, table="pupils", answer=answer.request_id)]
    pages.append(open_page("answers", lang=lang, table="pupils"))
    for page in pages:
        shown = plain(html_of(page))
        counted = {"en": r"\d (people|persons)\b", "sl": r"\d oseb"}[lang]
        assert not re.search(counted, shown), re.search(f".{{60}}{counted}", shown)
        assert re.search({"en": r"\d rows\b", "sl": r"\d vrstic"}[lang], shown)


@pytest.mark.long
def test_a_first_look_says_on_the_card_of_a_list_what_is_not_in_it(home: dp.Workspace) -> None:
    """A fifth is missing in the list and counts as its first value: its card names no share of that value."""
    frame = pd.DataFrame({"species": (["dog"] * 4 + ["cat"] * 4 + ["rabbit"] * 2) * 300, "days": range(3_000)})
    listed = dp.Category(["dog", "cat"], unknown="dog", missing="dog")
    schema = dp.Schema({"species": listed, "days": dp.Number(0, 3_000)})
    table = home.add_table("shelter", frame, schema=schema, unit=dp.Unit.rows(), budget=dp.Budget("99", "1e-6"))
    table.ask(table.query("fit_checks", epsilon="2"))
    look = table.ask(table.query("overview", columns=["species", "days"], epsilon="2"))
    shown = plain(html_of(open_page("board", table="shelter", look=look.request_id)))
    assert "most: dog" not in shown and shown.count("are not in your list") >= 2


@pytest.mark.long
def test_a_plan_made_to_fit_leaves_room_for_the_check(home: dp.Workspace) -> None:
    frame = pd.DataFrame({"x": [at % 50 for at in range(2_000)], "y": [at % 9 for at in range(2_000)]})
    schema = dp.Schema({"x": dp.Number(0, 60), "y": dp.Number(0, 10)})
    table = home.add_table("fits", frame, schema=schema, unit=dp.Unit.rows(), budget=dp.Budget("1", "1e-6"))
    made = plan.Plan()
    for name in ("x", "y"):
        query = table.query("mean", column=name, epsilon="0.9")
        made.rows.append(plan.Row(Wish(query, query.promise().amount), len(made.rows)))
    assert not table.planner(made.share).price(made.wishes).fits
    plan._fit(table, made)
    planner = table.planner(made.share)
    priced = planner.price(made.wishes)
    checks = table.checks_for(priced.queries)
    assert checks and planner.price_of([*checks, *priced.queries]).fits
