"""No form opens above a twentieth of what is left, and a question costs and promises the same at every door."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from html import unescape
from typing import Any
from urllib.parse import parse_qs

import pandas as pd
import pytest
from helpers_page import html_of, open_page, plain

import dpengine as dp
from dpengine.accountant.filter import Totals
from dpengine.asking.checking import CHEAP
from dpengine.core.exact import text_of
from dpengine.core.printed import percent_taken
from dpengine.declared.unit import Unit
from dpengine.mechanisms import asked_on
from dpengine.messages import say
from dpengine.planning.opening import PART, Opening, opening
from ui.ask import preview
from ui.data import offers, price
from ui.several import plan as suggestions
from ui.words.markup import unmarked

COUNTRIES = [f"country {place}" for place in range(40)]
SPENT = (Fraction(0), Fraction(1, 4))  # of the allowance, before

# Every question that Ask puts together, at least once.
ASKED: list[tuple[str, dict[str, Any]]] = [
    ("count", {"where": [["sex", "in", ["f"]]]}),
    ("proportion", {"of": [["sex", "in", ["f"]]]}),
    ("histogram", {"column": "country"}),
    ("histogram", {"column": "age", "bins": 10}),
    ("crosstab", {"columns": ["sex", "country"]}),
    ("mean", {"column": "age"}),
    ("mean", {"column": "age", "by": "country"}),
    ("sum", {"column": "age"}),
    ("variance", {"column": "age"}),
    ("median", {"column": "age"}),
    ("quantile", {"column": "age", "share": "0.9"}),
    ("iqr", {"column": "age"}),
    ("top_item", {"column": "country"}),
    ("top_item", {"column": "country", "how_many": 5}),
    ("cdf", {"column": "age"}),
    ("cdf_tree", {"column": "age"}),
    ("vector_mean", {"columns": ["age", "hours"]}),
    ("noisy_argmax", {"options": [[["sex", "in", ["f"]]], [["sex", "in", ["m"]]]]}),
    ("density", {"columns": ["age"]}),
]


@pytest.fixture
def census(home: dp.Workspace) -> dp.Table:
    places = range(2_000)
    frame = pd.DataFrame(
        {
            "age": [str(20 + place % 60) for place in places],
            "hours": [str(place % 50) for place in places],
            "sex": ["f" if place % 2 else "m" for place in places],
            "country": [COUNTRIES[place % 40] for place in places],
        }
    )
    schema = {
        "age": dp.Number(0, 100),
        "hours": dp.Number(0, 60),
        "sex": dp.Category(["f", "m"]),
        "country": dp.Category(COUNTRIES),
    }
    budget = dp.Budget("1", "1e-6")
    return home.add_table(
        "census", frame, schema=dp.Schema(schema), unit=Unit.rows(), relation="replace", budget=budget
    )


def spend(table: dp.Table, share: Fraction) -> None:
    if share:
        query = table.at_share(table.query("count", where=[["sex", "in", ["m"]]], epsilon="1"), share)
        assert query is not None
        table.ask(query)


def opens(table: dp.Table, key: str, given: dict[str, Any]) -> Opening:
    found = table.opening(table.query(key, **given, epsilon="1"))
    assert found is not None
    return found


def link(given: dict[str, Any]) -> dict[str, str]:
    return {name: one if isinstance(one, str) else json.dumps(one) for name, one in given.items()}


def taken(app: Any, key: str) -> Fraction:
    """What the button says that it takes, in parts of the allowance."""
    (go,) = [button for button in app.button if str(button.key).startswith(key)]
    (told,) = re.findall(r"([\d.]+) %", go.label)
    return Fraction(told) / 100


@pytest.mark.long
@pytest.mark.every(5)
@pytest.mark.parametrize("spent", SPENT)
@pytest.mark.parametrize("page", ["ask", "board", "synthetic", "publish", "train", "several"])
def test_no_form_opens_above_a_twentieth_of_what_is_left(census: dp.Table, page: str, spent: Fraction) -> None:
    """Bars by country opened at 83 % of the allowance, a model at 51 %, a session at half of what was left."""
    spend(census, spent)
    left = census.meter().unused
    app = open_page(page, table=census.name, view="after")
    dear = say("spend.least", share="§").split("§")[0] in plain(html_of(app))
    dear = dear or say("spend.least_part", share="§").split("§")[0] in plain(html_of(app))
    share = taken(app, f"{'session' if page == 'several' else page}-go")
    assert share > 0 and (share <= left * PART + Fraction(1, 1000) or (dear and spent)), (page, float(share))


@pytest.mark.long
@pytest.mark.every(3)
@pytest.mark.parametrize("spent", SPENT)
def test_no_question_on_ask_opens_above_a_twentieth_of_what_is_left(census: dp.Table, spent: Fraction) -> None:
    spend(census, spent)
    left = census.meter().unused
    for key, given in ASKED:
        found = opens(census, key, given)
        assert found.share <= left * PART or found.dear, key
        assert census.preview(found.asked).share == found.share and found.asked == census.cheapest(found.query)
        more = census.prices([found.query.at(found.query.epsilon * Fraction(101, 100))])[0]
        most = left * PART - census._check_share(found.query.asked_at)
        clear = 2 * found.asked.promise().amount <= found.asked.coarse()
        assert clear or found.dear or more is None or more > most, f"{key}: a twentieth buys more"


def test_every_question_of_ask_is_walked() -> None:
    assert {key for key, _ in ASKED} == set(asked_on("ask"))


@pytest.mark.long
def test_where_nothing_cheaper_can_be_asked_the_page_says_so(census: dp.Table) -> None:
    """Noise without an ε of its own closes the pure clause: after one large plain question its first price is high."""
    census.ask(census.query("count", where=[["sex", "in", ["f"]]], epsilon="0.4"))
    found = opens(census, "overview", {"columns": ["age", "sex"], "against": []})
    assert found.dear and found.share > census.meter().unused * PART
    assert found.share == min(
        one for one in census.prices([found.query.at(Fraction(step, 1000)) for step in (5, 10, 20, 50)]) if one
    )
    told = plain(html_of(open_page("board", table=census.name)))
    assert say("spend.least", share="§").split("§")[0] in told


@pytest.mark.long
def test_every_door_gives_one_question_one_price_and_one_promise(census: dp.Table) -> None:
    """One count was told ±25 on a page and ±30 on another, an average ±0.25 on the form and ±0.38 in the plan."""
    spend(census, Fraction(1, 10))
    told: dict[str, set[tuple[Fraction, str, Fraction, Fraction]]] = {}

    def seen(query: dp.Query, share: Fraction) -> None:
        shape = json.dumps([query.card.key, {n: v for n, v in query.parameters().items() if n not in BESIDE}])
        told.setdefault(shape, set()).add((query.epsilon, query.noise, query.promise().amount, share))

    for key, given in ASKED:
        app = open_page("ask", table=census.name, q=key, **link(given))
        asked = census.cheapest(census.query(key, **given, epsilon=app.session_state["ask-epsilon"]))
        seen(asked, census.preview(asked).share)  # the form
        seen(opens(census, key, given).asked, opens(census, key, given).share)  # whatever else offers it
        wish = suggestions.Wish.of(asked)
        (line,) = census.planner().price([wish]).lines  # the plan
        assert line.query is not None
        seen(line.query, line.share)
        kept = suggestions._read(census, json.dumps([suggestions.wish_as_json(wish)]), "0")  # the plan, sent as a link
        (line,) = census.planner().price(kept.wishes).lines
        assert line.query is not None
        seen(line.query, line.share)
    for one in census.suggestions():  # a card
        seen(one, census.preview(one).share)
    for alike in offers._at_once(census):  # right after the table was added
        for offer in alike:
            seen(offer.query, census.preview(offer.query).share)
    assert len(told) >= len(ASKED)
    assert not {shape: found for shape, found in told.items() if len(found) > 1}


BESIDE = ("epsilon", "noise")


@pytest.mark.long
def test_a_suggestion_s_card_and_the_plan_it_goes_into_tell_what_the_form_tells(census: dp.Table) -> None:
    told = html_of(open_page("ask", table=census.name))
    found = re.findall(r'<div class="idea"><a href="ask\?(.*?)" target="_self">(.*?)</a>', told)
    links = {unescape(sentence): unescape(query) for query, sentence in found}
    ideas = [query for query in census.suggestions() if query.sentence() in links]
    assert len(ideas) == suggestions.MOST_IDEAS == len(links)
    for idea in ideas:
        given = parse_qs(links[idea.sentence()])
        assert given["epsilon"] == [preview.opening(census, idea)["epsilon"]]
    app, best = open_page("several", table=census.name), census.suggestions()[0]
    next(one for one in app.button if one.key == "suggest-add-0").click().run()
    (row,) = app.session_state["plans"][census.name].rows
    assert row.wish.query == best
    shown = plain(
        html_of(open_page("several", table=census.name, plan=json.dumps([suggestions.wish_as_json(row.wish)])))
    )
    assert best.promise().words(best) in shown
    assert percent_taken(Fraction(1), census.preview(best).share) in shown


def test_a_column_s_card_is_priced_like_the_table_it_becomes(census: dp.Table) -> None:
    """Before the table is added, from the same public facts and an unspent allowance."""
    query, promise = price._first(
        "mean", census.schema["age"], "replace", census.facts.about, Unit.rows(), dp.Budget("1", "1e-6")
    )
    asked = census.query("mean", column="age", epsilon="1")
    rule, nothing = dp.Budget("1", "1e-6").rule(), Totals.NOTHING
    found = opening(asked, rule, nothing, Fraction(1), CHEAP)  # its check at the most
    assert found is not None
    assert (text_of(query.epsilon), query.noise, promise.amount) == (
        text_of(found.asked.epsilon),
        found.asked.noise,
        found.asked.promise().amount,
    )


# --- mostly noise, before an answer and under it

WOULD_BE = say("spend.noise_short", people=0)[:13]


@pytest.mark.long
def test_mostly_noise_does_not_stay_under_an_answer_that_is_not(home: dp.Workspace) -> None:
    """Bars by country are planned for forty equal ones; the table has nearly everybody in one."""
    schema = dp.Schema({"country": dp.Category(COUNTRIES)})
    frame = pd.DataFrame({"country": ["country 7"] * 1_990 + COUNTRIES[:10]})
    table = home.add_table("towns", frame, schema=schema, unit=Unit.rows(), budget=dp.Budget("1", "1e-6"))
    found = opens(table, "histogram", {"column": "country"})
    assert not table.preview(found.asked).useful
    form = {"q": "histogram", "column": "country", "epsilon": text_of(found.query.epsilon)}
    before = plain(html_of(open_page("ask", table="towns", **form)))
    assert WOULD_BE in before and say("ask.useless") in before
    answer = table.ask(found.asked)
    below = plain(html_of(open_page("ask", table="towns", answer=answer.request_id, **form)))
    assert "1,9" in below or "2,0" in below
    assert not any(words in below for words in (WOULD_BE, say("ask.useless"), say("spend.noise_answered")))


@pytest.mark.long
def test_an_answer_that_is_mostly_noise_says_so_though_more_was_planned(census: dp.Table) -> None:
    """A condition that nobody meets: the average was planned for those who would."""
    where = [["country", "in", ["other"]]]
    query = census.query("mean", column="age", where=where, epsilon="0.2")
    assert census.preview(query).useful, "else this test would show nothing"
    answers = [census.ask(query) for _ in range(3)]  # one says so but for a chance of a thousandth
    answer = next(one for one in answers if one.query.mostly_noise(one.value, one.interval))
    form = {"q": "mean", "column": "age", "where": json.dumps(where), "epsilon": "0.2"}
    assert say("spend.noise_answered") in plain(
        html_of(open_page("ask", table=census.name, answer=answer.request_id, **form))
    )


@pytest.mark.long
@pytest.mark.parametrize(
    ("key", "given", "value", "interval", "noise"),
    [
        ("mean", {"column": "age"}, 50, (45, 55), False),
        ("mean", {"column": "age"}, 50, (30, 70), True),
        ("median", {"column": "age"}, 50, (40, 60), False),
        ("median", {"column": "age"}, 50, (20, 80), True),
        ("count", {"where": [["sex", "in", ["f"]]]}, 1_000, (900, 1_100), False),
        ("count", {"where": [["sex", "in", ["f"]]]}, 1_000, (400, 1_600), True),
        ("mean", {"column": "age", "by": "sex"}, {"f": 50, "m": 50}, {"f": (49, 51), "m": (0, 100)}, False),
        ("mean", {"column": "age", "by": "sex"}, {"f": 50, "m": 50}, {"f": (20, 80), "m": (0, 90)}, True),
        ("histogram", {"column": "sex"}, {"f": 1_900, "m": 100}, {"f": (1_700, 2_100), "m": (-100, 300)}, False),
    ],
)
def test_a_released_answer_decides_itself_whether_it_is_mostly_noise(
    census: dp.Table, key: str, given: dict[str, Any], value: Any, interval: Any, noise: bool
) -> None:
    query = census.query(key, **given, epsilon="1")
    assert query.mostly_noise(value, interval) is noise


# --- what would help


def test_advice_to_narrow_a_range_stops_once_a_check_found_cells_outside(home: dp.Workspace) -> None:
    """Also where the range was widened since: what was found outside a narrower one is outside it again."""
    frame = pd.DataFrame({"pay": [str(10 * (place % 150)) for place in range(2_000)]})
    schema = dp.Schema({"pay": dp.Number(0, 1_000)})
    table = home.add_table("pays", frame, schema=schema, unit=Unit.rows(), budget=dp.Budget("5", "1e-6"))

    def kinds(one: dp.Table) -> set[str]:
        return {lever.kind for lever in one.levers(one.query("sum", column="pay", epsilon="0.005"))}

    assert "range" in kinds(table)
    table.ask(table.query("fit_checks", columns=["pay"], epsilon="1"))
    assert "range" not in kinds(table)
    wider = table.revise(dp.Schema({"pay": dp.Number(0, 2_000)}))
    assert "range" not in kinds(wider)


@pytest.mark.long
def test_a_lever_leads_to_what_it_tells(census: dp.Table) -> None:
    """The form that it opens has the error and the price that stood on it."""
    app = open_page("ask", table=census.name, q="top_item", column="country", how_many="5")
    found = opens(census, "top_item", {"column": "country", "how_many": 5})
    (lever,) = [one for one in app.get("page_link") if "bars of all values" in one.proto.label]
    to = {name: one[0] for name, one in parse_qs(lever.proto.query_string).items()}
    form = open_page("ask", **to)
    asked = census.cheapest(census.query("histogram", column="country", epsilon=form.session_state["ask-epsilon"]))
    assert unmarked(asked.promise().short(asked)) in lever.proto.label
    assert abs(census.preview(asked).share - found.share) < Fraction(1, 1000)


@pytest.mark.long
def test_a_narrower_range_takes_its_step_along_or_offers_a_finer_one(home: dp.Workspace) -> None:
    places = [str(place) for place in range(100)]
    schema = dp.Schema({"cost": dp.Number(0, 10_000, 100), "fee": dp.Number(0, 10_000, 10)})
    frame = pd.DataFrame({"cost": places, "fee": places})
    table = home.add_table("costs", frame, schema=schema, unit=Unit.rows(), budget=dp.Budget("1", "1e-6"))
    for column, step, then in (("cost", "100", "1"), ("fee", "10", "10")):
        app = open_page("data", table=table.name, change="1")
        app.session_state["changes"][table.name][1].opened = column
        app.run()
        (upper,) = [one for one in app.text_input if str(one.key).endswith("-upper")]
        at = str(upper.key).removesuffix("-upper")
        assert app.text_input(key=f"{at}-step").value == step
        upper.set_value("100").run()
        assert not app.exception and app.text_input(key=f"{at}-step").value == then
        if then == step:  # it is the person's own: another is offered
            app.button(key=f"{at}-finer-take").click().run()
            assert app.text_input(key=f"{at}-step").value == "1"
        assert not [one for one in app.button if str(one.key).endswith("-finer-take")]
