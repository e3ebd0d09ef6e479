"""The What-if page without a browser: what it states, what it refuses, what its address holds."""

from __future__ import annotations

import re
from fractions import Fraction

import helpers_page
import pandas as pd
import pytest
from helpers_page import html_of, open_page, pictures
from streamlit.testing.v1 import AppTest

import dpengine as dp
from dpengine.planning import whatif
from ui.pictures.sketch import Sketch
from ui.whatif.settings import LECTURES, PRESETS, SLIDERS, USUAL, other

pytestmark = pytest.mark.usefixtures("shared")

TYPED = {"from": "typed", "q": "count", "n": "1000", "k": "1", "e2": "0.5", "d2": "0.000000001"}


def opened(**address: str) -> AppTest:
    return open_page("whatif", **address)


def words(page: AppTest) -> str:
    return re.sub(r"\s+", " ", helpers_page.plain(html_of(page), " "))


def cells(page: AppTest, label: str) -> list[str]:
    """A row of a comparison: what stands under A and under B."""
    rows = re.findall(r"<tr><th scope='row'>(.*?)</th>(.*?)</tr>", html_of(page))
    (found,) = [row for name, row in rows if label in helpers_page.plain(name, "")]
    return [helpers_page.plain(cell, "") for cell in re.findall(r"<td>(.*?)</td>", found)]


def hints(page: AppTest) -> list[str]:
    return [helpers_page.plain(part, "") for part in re.findall(r'<p class="warn"[^>]*>(.*?)</p>', html_of(page))]


def move(page: AppTest, name: str, value: str) -> None:
    (slider,) = [one for one in page.select_slider if str(one.key).startswith(f"whatif-{name}-")]
    slider.set_value(value).run()


def solved(**given: str) -> whatif.Setting:
    return whatif.solve(whatif.read(USUAL | TYPED | {"x": "0"} | given))


def test_two_settings_of_one_question_and_every_row_is_that_of_the_engine() -> None:
    page = opened(**TYPED | {"k": "20"})
    first, second = solved(k="20"), solved(k="20", e="0.5", d="0.000000001")
    assert cells(page, "Each answer, 95 times in 100") == [f"±{side.promise.amount} people" for side in (first, second)]
    assert cells(page, "becomes at most") == ["23.2 % sure", "15.5 % sure"]
    assert cells(page, "Chance that this fails") == ["1 in a million", "1 in a billion"]
    takes = [whatif.at_error(side, first.promise.amount) for side in (first, second)]
    assert cells(page, "Questions that fit") == [f"{found.questions:,}" for found in takes]
    assert cells(page, "needed (ε)") == [f"{float(found.epsilon or 0):g}" for found in takes]
    assert cells(page, "People needed") == ["any number", "no number"]
    assert len([one for one in pictures(page) if one.startswith("whatif-picture-")]) == 2
    times = float(second.promise.amount / first.promise.amount)
    assert f"A is {times:.2g} times as exact." in words(page) and not hints(page)


def test_the_answer_a_newcomer_came_for_needs_no_typing(shared: dp.Workspace) -> None:
    """ε 0.5 instead of 1, δ 1e-9 instead of 1e-6: the page opens with them, and the histogram is one choice away."""
    page = opened()
    assert cells(page, "Chance that this fails") == ["1 in a million", "1 in a billion"]
    assert all("people in 100" in cell for cell in cells(page, "Each answer"))
    (kind,) = [one for one in page.selectbox if str(one.key).startswith("whatif-q-")]
    kind.set_value("histogram").run()
    assert all(re.fullmatch(r"±[\d,]+ people", cell) for cell in cells(page, "Each answer"))
    fits = cells(page, "Questions that fit")
    assert int(fits[0]) >= 20 > int(fits[1]) and shared.ledger.head()[0] == 0


@pytest.mark.long
def test_moving_a_slider_changes_that_setting_and_b_follows_the_people_of_a() -> None:
    page = opened(**TYPED)
    move(page, "n", "500")
    assert "rows given away at worst, on average, of 500" in words(page)
    given = page.session_state["whatif"]["given"]
    assert other(given)["n"] == "500" and given["n2"] == ""
    move(page, "n2", "2000")
    move(page, "e2", "3")
    given = page.session_state["whatif"]["given"]
    assert (given["n"], given["n2"], given["e"], given["e2"]) == ("500", "2000", "1", "3")
    assert cells(page, "becomes at most") == ["23.2 % sure", "69.1 % sure"]
    assert page.query_params["n2"] == "2000" and page.query_params["e2"] == "3"


def test_an_address_brings_back_the_whole_page() -> None:
    told = {"from": "typed", "q": "mean", "q2": "count", "e": "0.37", "e2": "2", "d": "0.0001", "d2": "0", "n": "777"}
    told |= {"n2": "5000", "k": "4", "k2": "9", "x": "50", "high": "500", "relation": "add_remove", "see": "ways"}
    page = opened(**told)
    assert {name: page.query_params[name] for name in told} == told
    assert page.session_state["whatif"]["given"] == USUAL | told | {"column": ""}
    assert "counted four ways" in words(page)
    assert cells(page, "ε of one question")[0] == f"{float(solved(**told).query.epsilon):.3g}"


def test_a_second_question_of_another_kind_is_not_divided_by_the_first() -> None:
    page = opened(**TYPED | {"q2": "median"})
    assert "cannot be compared" in words(page) and cells(page, "Questions that fit")[1] == "—"


def test_the_accepted_error_decides_the_rows_below_it() -> None:
    page = opened(**TYPED | {"k": "20", "x": "20"})
    sides = [solved(k="20"), solved(k="20", e="0.5", d="0.000000001")]
    takes = [whatif.at_error(side, Fraction(20)) for side in sides]
    assert cells(page, "Questions that fit") == [f"{found.questions:,}" for found in takes]
    assert cells(page, "needed (ε)") == [f"{float(found.epsilon or 0):g}" for found in takes]


def test_what_delta_does_is_said_for_both_and_without_one() -> None:
    page = opened(**TYPED | {"k": "20", "d2": "0.00001"})
    text = words(page)
    assert "What δ does" in text and "with Gaussian noise, which needs a δ" in text
    usual, gaussian = cells(page, "with the usual noise"), cells(page, "with Gaussian noise")
    first = solved(k="20")
    deltas = [Fraction(1, 10**5), Fraction(1, 10**6), Fraction(1, 10**9), Fraction(0)]
    rows = whatif.by_delta(first, first.promise.amount, tuple(deltas))
    assert usual == [str(row.usual) for row in rows]
    assert gaussian == [*(str(row.with_noise) for row in rows[:-1]), "none"]
    assert cells(page, "rows given away")[:2] == ["0.010", "0.0010"]


def test_what_a_careful_adviser_would_add() -> None:
    (large,) = hints(opened(**TYPED | {"d": "0.001"}))
    assert "not below one in 1,000 people" in large
    assert not hints(opened(**TYPED | {"d": "0.0009"}))
    assert "mostly noise" in hints(opened(**TYPED | {"n": "50", "k": "10"}))[0]


@pytest.mark.parametrize(
    ("address", "sentence"),
    [
        ({"beta": "1.5"}, "The chance of error must lie between 0 and 1; 0.05 is usual."),
        ({"q": "mean", "low": "9", "high": "1"}, "The lowest value must be below the highest; swap them or widen"),
        ({"q": "vector_mean", "columns": "21"}, "must be a whole number from 1 to 20"),
    ],
)
def test_bad_input_gets_one_sentence(address: dict[str, str], sentence: str) -> None:
    page = opened(**TYPED | address)
    told = hints(page)
    assert len({*told}) == 1 and sentence in told[0] and "\n" not in told[0]
    assert not pictures(page) and page.select_slider


def test_a_number_by_hand_is_taken_or_refused_in_one_sentence() -> None:
    page = opened(**TYPED)

    def by_hand(name: str, text: str) -> None:
        (field,) = [one for one in page.text_input if str(one.key).startswith(f"whatif-by-hand-{name}-")]
        field.set_value(text).run()

    by_hand("n", "2,239")
    assert page.session_state["whatif"]["given"]["n"] == "2239" and not hints(page)
    for name, text, sentence in (
        ("n", "-3", "A: People must be a whole number from 1 to 1,000,000,000,000."),
        ("d2", "1", "must be at least 0 and below 1"),
        ("e", "lots", "must be a plain number, such as 12 or 0.5."),
    ):
        by_hand(name, text)
        assert sentence in hints(page)[0]
    assert page.session_state["whatif"]["given"]["n"] == "2239"


def test_too_many_questions_are_refused_beside_the_other_setting() -> None:
    page = opened(**TYPED | {"k2": "1000000", "d2": "0"})
    (told,) = hints(page)
    assert "ask fewer" in told and cells(page, "Each answer") == ["±3 people"]


@pytest.mark.long
@pytest.mark.parametrize("preset", PRESETS, ids=[preset.key for preset in PRESETS])
def test_a_published_allowance_becomes_b_and_names_its_source(preset: object) -> None:
    page = opened(**TYPED)
    assert preset.source in words(page)  # type: ignore[attr-defined]
    page.button(key=f"whatif-preset-{preset.key}").click().run()  # type: ignore[attr-defined]
    given = page.session_state["whatif"]["given"]
    assert (given["e2"], given["d2"]) == (preset.epsilon, preset.delta)  # type: ignore[attr-defined]
    assert given["e"] == "1" and not page.exception


def test_what_is_folded_is_drawn_when_it_is_first_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ui.parts.fields.WHEN_OPENED", True)
    app = opened(**TYPED)

    def fields() -> list[str]:
        return [one.key for one in app.text_input if str(one.key).startswith("whatif-by-hand-")]

    assert not fields()
    app.session_state["whatif-more"] = True
    app.run()
    assert len(fields()) > len(SLIDERS)
    app.session_state["whatif-more"] = False
    app.run()
    assert len(fields()) > len(SLIDERS), "a field that is gone forgets what it holds"


def test_an_allowance_is_carried_into_a_new_table(shared: dp.Workspace) -> None:
    links = re.findall(r'href="data\?([^"]*)"', "".join(one.proto.body for one in opened(**TYPED).get("html")))
    assert len(links) == 2 and links[1].startswith("epsilon=0.5&amp;delta=0.000000001")
    page = open_page("data", epsilon="0.5", delta="0.000000001")
    assert (page.session_state["draft"].epsilon, page.session_state["draft"].delta) == ("0.5", "0.000000001")
    assert "epsilon" not in page.query_params
    for strange in ({"epsilon": "-1", "delta": "0"}, {"epsilon": "<script>"}, {"delta": "0.1"}):
        assert open_page("data", **strange).session_state["draft"].epsilon == ""


@pytest.mark.every(9)
@pytest.mark.parametrize("key", whatif.offered())
@pytest.mark.parametrize("source", ["typed", "table"])
def test_every_question_is_drawn_under_both(key: str, source: str) -> None:
    page = opened(**{"table": "town", "from": source, "q": key, "e": "3", "n": "100000", "k": "2"})
    drawn = [one for one in pictures(page) if one.startswith("whatif-picture-")]
    assert len(drawn) == 2 or any("whole number" in hint or "people" in hint for hint in hints(page)), hints(page)
    assert not page.exception


def test_every_other_question_says_why_it_is_not_here() -> None:
    everyone = words(opened())
    assert dp.catalogue["publish_table"].card.title in everyone and "Each row gets its own noise" in everyone


def test_an_open_table_lends_its_public_facts_and_numbers_are_those_of_ask(shared: dp.Workspace) -> None:
    page = opened(**{"table": "town", "q": "mean", "column": "monthly_income", "k": "5"})
    table = shared.table("town", visitor="local")
    told = USUAL | {"q": "mean", "column": "monthly_income", "n": "40000", "k": "5", "x": "0"}
    found = whatif.solve(whatif.read(told, table.facts))
    asked = table.query("mean", column="monthly_income", epsilon=found.query.epsilon)
    assert table.preview(asked).promise == found.promise and table.preview(asked).more_like_this == 5
    assert cells(page, "Each answer")[0] == found.promise.size_for(found.query)
    assert page.query_params["n"] == "40,000" and "of 40,000" in words(page)


def test_a_link_shows_the_same_to_somebody_who_does_not_have_the_table(home: dp.Workspace) -> None:
    """It named the table and none of its numbers: elsewhere, or after a raised allowance, it showed other ones."""
    schema = dp.Schema({"age": dp.Number(0, 120)})
    frame = pd.DataFrame({"age": [str(30 + place % 40) for place in range(777)]})
    home.add_table("mine", frame, schema=schema, unit=dp.Unit.rows(), budget=dp.Budget("0.37", "1e-6"))
    page = opened(table="mine", q="median")
    told = {name: value[0] if isinstance(value, list) else value for name, value in page.query_params.items()}
    there = opened(**told | {"table": "not here"})
    for row in ("Each answer", "ε of one question", "Questions that fit", "People needed", "needed (ε)"):
        assert cells(there, row) == cells(page, row), row
    assert "of 777" in words(page) and "of 777" in words(there)


def test_choosing_one_of_many_is_drawn_against_asking_for_all() -> None:
    page = opened(see="choose")
    text = html_of(page)
    assert "Choosing costs less than asking for all" in text and "With 1,000 groups, the one chosen privately" in text
    assert any(one.startswith("whatif-choose") for one in pictures(page))


@pytest.mark.every(3)
@pytest.mark.parametrize("name", LECTURES)
def test_a_statement_of_the_lectures_is_drawn_with_the_engine_s_curves(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: dict[str, Sketch] = {}
    draw = Sketch.html
    monkeypatch.setattr(Sketch, "html", lambda one, alt, key: drawn.setdefault(key, one) and draw(one, alt, key))
    page = opened(**TYPED | {"see": "lectures", "pic": name, "n": "20000"})
    lines = [trace for trace in drawn[f"whatif-pic-{name}"].data if trace.get("mode") == "lines"]
    longest = {"class": 1e12, "split": 4e8, "values": 1e9, "columns": 200, "weights": 10}[name]
    assert (
        len(lines) >= 2
        and max(max(trace["x"]) for trace in lines) == longest
        and (name == "class" or page.query_params["pic"] == name)
    )


def test_without_a_delta_the_shuffled_histogram_is_not_drawn() -> None:
    page = opened(**TYPED | {"see": "lectures", "pic": "values", "d": "0"})
    assert any("Nothing to draw" in hint for hint in hints(page))
