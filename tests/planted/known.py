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


PLANTED = [
    Planted(
        "a session that answers from a fit of the table itself",
        "What a first look says for nothing is fitted to the counts before their noise.",
        check_what_is_known_comes_from_the_draw,
        "nobody paid for",
        from_the_draw,
        from_a_fit_of_the_table,
    ),
]
