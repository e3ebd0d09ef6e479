"""A wrong twin of what a first look says about a question of a session."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import dpengine as dp
from dpengine.declared.facts import Facts
from dpengine.mechanisms.marginals.overview import Overview
from dpengine.mechanisms.session.asks import read_ask
from dpengine.noise.coins import SystemCoins
from dpengine.released.look import Look
from dpengine.released.look_answers import KnownAlready, known
from tests.planted.registry import Planted

SCHEMA = dp.Schema({"c": dp.Category(["a", "b"], "b", "b"), "d": dp.Category(["x", "y"], "y", "y")})
ASK: dict[str, Any] = {"share": [["c", "in", ["a"]], ["d", "in", ["x"]]]}
Says = Callable[[Look, list[dict[str, int]], Any], KnownAlready | None]


def check_what_is_known_comes_from_the_draw(says: Says) -> None:
    """The same draw, on two tables that differ in one person: nothing else may be told."""
    facts = Facts("t", SCHEMA, dp.Unit.rows(), "replace", 40)
    query = dp.catalogue["overview"].build(facts, {"epsilon": "1"})
    assert isinstance(query, Overview)
    rows = [{"c": place % 2, "d": place % 3 % 2} for place in range(40)]
    look = Look(query, query.draw(query.need().of(rows), SystemCoins()))
    changed = [{"c": 0, "d": 0} if place == 1 else row for place, row in enumerate(rows)]
    ask = read_ask(ASK, facts)
    here, there = says(look, rows, ask), says(look, changed, ask)
    assert here is not None and here == there, "a table was read that nobody paid for"


def from_the_draw(look: Look, rows: list[dict[str, int]], ask: Any) -> KnownAlready | None:
    return known(look, ask, look.query.facts)


def from_a_fit_of_the_table(look: Look, rows: list[dict[str, int]], ask: Any) -> KnownAlready | None:
    """The maximum entropy fit, of the table's own counts."""
    value = look.query.need().of(rows)
    return known(Look(look.query, look.query.measured(value)), ask, look.query.facts)


Between = Callable[[Look, Any], KnownAlready | None]
THREE = dp.Schema({name: dp.Category(["a", "b"], "b", "b") for name in "cde"})


def check_a_range_of_what_was_not_bought_together_holds(between: Between) -> None:
    """Three columns, each two of them as if independent; half of all people have an even number of a's, or all have an
    odd one. The pairs are the same, and the share with three a's is 0 or a quarter. Next to no noise."""
    facts = Facts("t", THREE, dp.Unit.rows(), "replace", 400)
    query = dp.catalogue["overview"].build(facts, {"against": "all", "epsilon": "50"})
    assert isinstance(query, Overview)
    ask = read_ask({"share": [[name, "in", ["a"]] for name in "cde"]}, facts)
    for odd in (0, 1):
        rows = [{"c": place % 2, "d": place // 2 % 2, "e": (place + place // 2 + odd) % 2} for place in range(400)]
        truth = 100 * sum(not any(row.values()) for row in rows) / 400
        told = between(Look(query, query.draw(query.need().of(rows), SystemCoins())), ask)
        assert told is not None and told.low is not None and told.high is not None
        assert told.low - 1e-9 <= truth <= told.high + 1e-9, "a range of an estimate does not hold the truth"


def from_the_pairs(look: Look, ask: Any) -> KnownAlready | None:
    return known(look, ask, look.query.facts)


def around_the_estimate(look: Look, ask: Any) -> KnownAlready | None:
    """The fit, give or take the reach of what was measured, as if a fit had a promise."""
    told = from_the_pairs(look, ask)
    assert told is not None
    reach = 100 * look.reach((0, 1)) / look.rows
    return KnownAlready(told.value, told.value - reach, told.value + reach)


PLANTED = [
    Planted(
        "a session that gives an estimate the range of a measurement",
        "Columns that were not bought together are fitted, and the fit is given the reach of the bought pairs.",
        check_a_range_of_what_was_not_bought_together_holds,
        "does not hold the truth",
        from_the_pairs,
        around_the_estimate,
    ),
    Planted(
        "a session that answers from a fit of the table itself",
        "What a first look says for nothing is fitted to the counts before their noise.",
        check_what_is_known_comes_from_the_draw,
        "nobody paid for",
        from_the_draw,
        from_a_fit_of_the_table,
    ),
]
