"""What a first look says about a question of a session: every range holds the truth, and only the draw is read."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations_with_replacement, product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dpengine as dp
from dpengine.accountant.history import Past
from dpengine.asking.sessions import Taken
from dpengine.declared.facts import Facts
from dpengine.mechanisms.marginals.overview import Overview
from dpengine.mechanisms.session.asks import read_ask
from dpengine.noise.coins import SystemCoins
from dpengine.population.session_validity import claimed
from dpengine.released.look import Look
from dpengine.released.look_answers import KnownAlready, known
from dpengine.workspace import Workspace
from tests.battery import allowed_failures
from tests.planted.known import (
    check_a_range_of_what_was_not_bought_together_holds,
    check_what_is_known_comes_from_the_draw,
)

PEOPLE, DRAWS = 300, 60
SCHEMA = dp.Schema(
    {
        "sex": dp.Category(["f", "m"], "m", "m"),
        "town": dp.Category(["a", "b", "c"]),
        "age": dp.Number(0, 99, missing=0),
        "pay": dp.Number(0, 50),
        "since": dp.Date("2020-01-01", "2020-12-31"),
    }
)
ASKED: list[tuple[Any, bool]] = [
    ({"share": [["sex", "in", ["f"]]]}, True),
    ({"share": [["sex", "in", ["f"]], ["town", "in", ["a", "b"]]]}, True),
    ({"share": [["age", ">=", 35]]}, True),
    ({"share": [["age", "between", [33, 47]], ["sex", "=", "m"]]}, True),
    ({"share": [["pay", "<", 20]]}, True),
    ({"share": [["any", [["town", "in", ["a"]], ["town", "in", ["c"]]]]]}, True),
    ({"average": "age"}, True),
    ({"share": [["town", "in", ["a"]], ["age", "<", 50]]}, False),
    ({"share": [["town", "in", ["a", "b"]], ["sex", "=", "f"], ["age", "<", 80]]}, False),
    ({"share": [["pay", "<", 45], ["sex", "=", "f"], ["age", ">=", 20], ["town", "in", ["a", "b"]]]}, False),
]


def made(relation: str = "replace", epsilon: str = "1") -> Overview:
    facts = Facts("t", SCHEMA, dp.Unit.rows(), relation, PEOPLE)  # type: ignore[arg-type]
    query = dp.catalogue["overview"].build(facts, {"against": ["sex"], "epsilon": epsilon})
    assert isinstance(query, Overview)
    return query


def people() -> list[dict[str, int]]:
    """Some ages and pays lie beyond their range, and are counted at its end; some pays are missing."""
    draw, rows = np.random.default_rng(5), []  # made-up people
    for _ in range(PEOPLE):
        age, pay = int(draw.integers(-5, 120)), int(draw.integers(-4, 60))
        fault = {"kind age": -int(not 0 <= age <= 99), "kind pay": -int(not 0 <= pay <= 50), "kind since": 0}
        codes = {"sex": int(draw.integers(0, 2)), "town": int(draw.integers(0, 4)), "since": int(draw.integers(0, 366))}
        held = {"age": min(max(age, 0), 99), "pay": -1 if pay % 7 == 0 else min(max(pay, 0), 50)}
        rows.append(codes | held | fault | ({"kind pay": 0} if held["pay"] < 0 else {}))
    return rows


@pytest.mark.long
@pytest.mark.every(9)
@pytest.mark.parametrize("relation", ["replace", "add_remove"])
def test_every_range_holds_the_truth(relation: str) -> None:
    query, rows, coins = made(relation), people(), SystemCoins()
    value = query.need().of(rows)
    asks = [(read_ask(ask, query.facts), measured) for ask, measured in ASKED]
    missed = 0
    for _ in range(DRAWS):
        look = Look(query, query.draw(value, coins))
        held = []
        for ask, measured in asks:
            told = known(look, ask, query.facts)
            assert told is not None and told.estimated is not measured and told.low is not None
            if told.low is not None and told.high is not None:
                truth = _truth(ask, rows)
                held.append(told.low - 1e-9 <= truth <= told.high + 1e-9)
                assert told.low <= told.value <= told.high
        missed += not all(held)
    assert missed <= allowed_failures(DRAWS, 0.05)


def _truth(ask: Any, rows: list[dict[str, int]]) -> float:
    if hasattr(ask, "of"):
        return 100 * sum(ask.of.holds(row) for row in rows) / len(rows)
    return sum(row[ask.column] for row in rows) / len(rows)


@pytest.mark.parametrize("people", [2, pytest.param(3, marks=pytest.mark.long)])
def test_ranges_of_columns_not_bought_together_hold_on_every_table_of_few_people(people: int) -> None:
    """All multisets of rows of three columns of two values, with next to no noise: the range holds the truth, and the
    largest and the least share that the pairs leave is reached to within what pairs can say."""
    schema = dp.Schema({name: dp.Category(["a", "b"], "b", "b") for name in "cde"})
    facts = Facts("t", schema, dp.Unit.rows(), "replace", people)
    query = dp.catalogue["overview"].build(facts, {"against": "all", "epsilon": "50"})
    ask = read_ask({"share": [[name, "in", ["a"]] for name in "cde"]}, facts)
    kinds, exact = [dict(zip("cde", codes, strict=True)) for codes in product((0, 1), repeat=3)], 0
    for rows in combinations_with_replacement(kinds, people):
        told = known(Look(query, query.measured(query.need().of(list(rows)))), ask, facts)
        assert told is not None
        low, high = (0.0, 100.0) if told.low is None or told.high is None else (told.low, told.high)
        truth = _truth(ask, list(rows))
        assert low - 1e-9 <= truth <= high + 1e-9 and low <= told.value <= high
        exact += high - low < 30  # less than a person: here pairs leave no choice
    assert exact > {2: 20, 3: 60}[people]


def test_a_group_that_is_cut_in_two_widens_the_range() -> None:
    query = made(epsilon="50")
    look = Look(query, query.draw(query.need().of(people()), SystemCoins()))
    whole, cut = (known(look, read_ask({"share": [["age", "<", end]]}, query.facts), query.facts) for end in (40, 45))
    assert whole is not None and cut is not None and whole.width is not None and cut.width is not None
    assert cut.width > whole.width + 2


def test_what_a_look_cannot_say() -> None:
    query = made()
    look = Look(query, query.draw(query.need().of(people()), SystemCoins()))

    def told(ask: Any, facts: Facts = query.facts) -> Any:
        return known(look, read_ask(ask, facts), facts)

    one = {"share": [["sex", "in", ["f"]]]}
    several = Facts("t", SCHEMA, dp.Unit.column("who", at_most=3), "replace", PEOPLE)
    anew = dp.Schema({**SCHEMA.columns, "sex": dp.Category(["f", "m", "x"], "m", "m")})
    assert told(one) is not None
    assert told(one, several) is None, "a look counts rows, a session people"
    assert told(one, Facts("t", anew, dp.Unit.rows(), "replace", PEOPLE)) is None
    assert told({"average": "pay"}) is None, "rows without a value are counted in the middle"
    assert told({"share": [["any", [["sex", "in", ["f"]], ["town", "in", ["a"]]]]]}) is None
    assert told({"largest": [[["sex", "in", ["f"]]], [["town", "in", ["a"]]]]}) is None


def test_an_estimate_is_kept_in_a_range_that_holds() -> None:
    check_a_range_of_what_was_not_bought_together_holds(lambda look, ask: known(look, ask, look.query.facts))


def test_it_reads_nothing_but_the_draw() -> None:
    check_what_is_known_comes_from_the_draw(lambda look, rows, ask: known(look, ask, look.query.facts))


@pytest.fixture()
def home(tmp_path: Path) -> Iterator[Workspace]:
    opened = Workspace(tmp_path / "var")
    yield opened
    opened.close()


def test_before_anything_is_drawn_a_table_says_what_it_sold(home: Workspace, tmp_path: Path) -> None:
    """Of the looks it has the narrowest range; also when its files are gone, and for nothing."""
    frame = pd.DataFrame({"sex": ["f", "m"] * 500, "town": ["a", "b", "c", "a"] * 250})
    schema = dp.Schema({name: SCHEMA[name] for name in ("sex", "town")})
    table = home.add_table("t", frame, schema=schema, unit=dp.Unit.rows(), budget=dp.Budget("3", "1e-6"))
    session = table.query("adaptive_session", questions=3, epsilon="1", ask={"share": [["sex", "in", ["f"]]]})
    assert table.already_known(session) is None
    sold = [table.ask(table.query("overview", epsilon=epsilon)).request_id for epsilon in ("0.5", "0.1")]
    for folder in (tmp_path / "var" / "tables").iterdir():
        shutil.rmtree(folder)
    spent, found = table.meter().used, table.already_known(session)
    assert found is not None and found.request == sold[0] and found.low is not None
    assert found.low <= 60 and found.high >= 40
    both = {"share": [["sex", "in", ["f"]], ["town", "in", ["a"]]]}
    either = table.already_known(session.asking(both))
    assert either is not None and either.estimated and either.low == 0 and either.high >= 50
    assert table.meter().used == spent


def test_a_session_over_listed_columns_asks_only_what_its_look_leaves_in_doubt(home: Workspace) -> None:
    """Both are charged at once, for no more than was said; free answers use no question; the rest is answered fresh;
    and what is said of the population counts the look."""
    random = np.random.default_rng(3)  # made-up people
    frame = pd.DataFrame({name: random.choice(["a", "b"], 40_000) for name in "cdef"})
    schema = dp.Schema({name: dp.Category(["a", "b"], "b", "b") for name in frame})
    table = home.add_table("t", frame, schema=schema, unit=dp.Unit.rows(), budget=dp.Budget("1", "1e-6"))
    alone = table.session_for(2, Fraction(1, 20))
    look, query = table.session_over("cdef", 2, Fraction(1, 20))
    session = table.open_session_over(look, query, "r")
    assert Fraction(49, 1000) < table.meter().used <= Fraction(1, 20)
    assert session.past == Past.of([look.loss()]) and session.others_from is None
    pair = {"share": [["c", "in", ["a"]], ["d", "in", ["a"]]]}
    free = session.answer(pair, "a")
    assert isinstance(free, KnownAlready) and not free.estimated and session.look()[0].asked == 0
    four = {"share": [[name, "in", ["a"]] for name in "cdef"]}  # more than were counted together
    fresh = session.answer(four, "b")
    assert isinstance(fresh, Taken) and session.look()[0].asked == 1
    assert fresh.population is not None
    width = claimed(alone, Past.NOTHING, session.reserve, 1)
    assert width is not None and fresh.population[1] - fresh.population[0] > 200 * float(width.width)
    assert isinstance(session.answer(four, "c"), Taken)
    over = session.answer(four, "d")
    assert isinstance(over, KnownAlready) and over.estimated, "no question is left, and what is known is free"
    with pytest.raises(dp.AllowanceError):
        table.session_over("c", 2, Fraction(1, 20))


def test_an_answer_between_its_questions_counts_though_it_was_charged_before(home: Workspace) -> None:
    """A look that is reserved with a session is told before its first question; another session's answer is not."""
    frame = pd.DataFrame({name: ["a", "b"] * 5000 for name in "cd"})
    schema = dp.Schema({name: dp.Category(["a", "b"], "b", "b") for name in frame})
    table = home.add_table("t", frame, schema=schema, unit=dp.Unit.rows(), budget=dp.Budget("1", "1e-6"))
    other = table.open_session(table.session_for(2, Fraction(1, 10)), "other")
    session = table.open_session_over(*table.session_over("cd", 2, Fraction(1, 10)), "r")
    one = {"share": [["c", "in", ["a"]]]}
    session.ask(one, "a")
    assert session.others_from is None
    told = other.ask(one, "x")
    assert session.others_from is not None and session.others_from > told.seq


def test_a_first_look_in_the_middle_voids_what_rounding_promised(home: Workspace) -> None:
    frame = pd.DataFrame({"sex": ["f", "m"] * 5000, "note": ["x"] * 10_000})
    schema = dp.Schema({"sex": SCHEMA["sex"]})
    table = home.add_table("t", frame, schema=schema, unit=dp.Unit.rows(), budget=dp.Budget("3", "1e-6"))
    fitted = table.session_for(3, Fraction(1, 2))
    assert fitted.rounded is not None
    session = table.open_session(fitted, "s")
    assert session.others_from is None
    looked = table.ask(table.query("overview", epsilon="0.1"))
    assert session.others_from == looked.receipt["charge"]["seq"]
    assert table.session_for(3, Fraction(1, 4)).rounded is None
