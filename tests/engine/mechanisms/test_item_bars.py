"""Items of sets in a first look: what one person changes, by brute force over sets and rows; how ρ is divided; that the
same numbers come from a file; and that ranges of items and their shares hold."""

from __future__ import annotations

from fractions import Fraction
from itertools import chain, combinations
from typing import Any

import numpy as np
import pandas as pd
import pytest
from battery import allowed_failures

import dpengine as dp
from dpengine.declared.facts import Facts
from dpengine.mechanisms.marginals.overview import Overview
from dpengine.mechanisms.marginals.wanted import held_of, need_of, split
from dpengine.noise.coins import SystemCoins
from dpengine.released import look_groups
from dpengine.released.look import Look
from dpengine.statistics.counts import cut
from dpengine.statistics.engines.duck import DuckEngine

RELATIONS = ("replace", "add_remove")
UNITS = {"a row": dp.Unit.rows(), "rows of a person": dp.Unit.column("who", 2)}


def facts(relation: str, unit: dp.Unit, most: int | None, about: int = 3) -> Facts:
    schema = dp.Schema({"s": dp.ItemSet(["p", "q", "r"], at_most=most), "c": dp.Category(["a", "b"], "a", "a")})
    return Facts("t", schema, unit, relation, about)  # type: ignore[arg-type]


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("most", [1, 2, 3, None])
def test_no_person_moves_the_numbers_by_more_than_is_claimed_and_some_do(
    relation: str, unit: str, most: int | None
) -> None:
    """Every two people, each with every set, alone or beside somebody; with several rows, split over them in a way."""
    public = facts(relation, UNITS[unit], most)
    several = UNITS[unit].id_column is not None
    sets = list(chain.from_iterable(combinations(range(3), size) for size in range(4)))

    def person(number: int, held: tuple[int, ...]) -> list[dict[str, Any]]:
        counts = held if most is None else held[:most]
        parts = [held[:1], held[1:], held] if several else [held]  # a row beyond those that count holds items too
        return [{"person": number, "s": own, cut("s"): tuple(set(own) & set(counts)), "c": 0} for own in parts]

    for one in held_of(public, ["s"], {}):
        count, worst = need_of(public, one).of, 0
        for rest in ([], person(0, (0, 1))):
            for mine in sets:
                others = sets if relation == "replace" else [None]
                for other in others:
                    before = np.array(count([*rest, *person(1, mine)]))
                    after = np.array(count([*rest, *(person(1, other) if other is not None else [])]))
                    worst = max(worst, int(((before - after) ** 2).sum()))
        assert worst == one.moves
    assert any(not one.column for one in held_of(public, ["s"], {})) == (relation == "add_remove")


@pytest.mark.parametrize("level", [True, False])
def test_all_of_the_loss_is_divided_and_the_division_is_the_best(level: bool) -> None:
    variances, rho = [7.5, 0.5, 3.0], Fraction(1, 3)
    parts = split(rho, variances, level)
    assert sum(parts) == rho and min(parts) > 0 and min(split(rho, [1e-300, 1.0], level)) > 0

    def total(of: list[Fraction]) -> float:
        each = [variance / float(part) for variance, part in zip(variances, of, strict=True)]
        return max(each) if level else sum(each)

    for one, other in combinations(range(3), 2):
        for shift in (Fraction(1, 200), Fraction(-1, 200)):
            moved = list(parts)
            moved[one] += shift
            moved[other] -= shift
            assert total(moved) >= total(parts) * (1 - 1e-5)


@pytest.mark.parametrize("relation", RELATIONS)
def test_a_first_look_without_sets_is_as_it_was(relation: str) -> None:
    made = dp.catalogue["overview"].build(facts(relation, dp.Unit.rows(), 2), {"columns": ["c"], "epsilon": "1"})
    assert isinstance(made, Overview) and made.noise_of == made.layout.best(made.rho) and not made.held


def test_sets_of_unknown_size_are_refused_where_there_are_many_items_and_never_crossed() -> None:
    many = dp.Schema({"s": dp.ItemSet([f"i{place}" for place in range(40)]), "c": dp.Category(["a", "b"])})
    public = Facts("t", many, dp.Unit.rows(), "replace", 100)
    with pytest.raises(dp.AllowanceError) as refused:
        dp.catalogue["overview"].build(public, {"columns": ["s"], "epsilon": "1"})
    assert refused.value.code == "items.size_needed"
    assert dp.catalogue["overview"].build(public, {"epsilon": "1"}).names == ["c"]
    with pytest.raises(dp.AllowanceError) as refused:
        few = facts("replace", dp.Unit.rows(), 2)
        dp.catalogue["overview"].build(few, {"against": ["s"], "epsilon": "1"})
    assert refused.value.code == "overview.against"


@pytest.mark.every(9)
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("unit", UNITS)
def test_the_same_numbers_come_from_a_file(tmp_path: Any, relation: str, unit: str) -> None:
    """People of one or of two rows: how many hold each item is read off the file, and how many there are."""
    held = ["p|q", "q", "", "p", "r|q", "p|q|r"] * 10
    frame = pd.DataFrame({"who": [str(place // 2) for place in range(60)], "s": held, "c": ["a", "b", "a"] * 20})
    several = UNITS[unit].id_column is not None
    schema = dp.Schema({"s": dp.ItemSet(["p", "q", "r"], at_most=3), "c": dp.Category(["a", "b"])})
    space = dp.Workspace(tmp_path)
    terms: dict[str, Any] = {"unit": UNITS[unit], "budget": dp.Budget("9", "1e-6"), "relation": relation}
    terms |= {"about_rows": 30 if several else 60} if relation == "add_remove" else {}
    table = space.add_table("sets", frame, schema=schema, **terms)
    query = table.query("overview", epsilon="1")
    assert isinstance(query, Overview)
    sets = frame.groupby("who").s.agg("|".join) if several else frame.s
    truth = tuple(int(sum(item in one.split("|") for one in sets)) for item in ("p", "q", "r"))
    cells, *people = DuckEngine().read(query.need(), next(tmp_path.rglob("coded-1.parquet")), schema)
    assert people == [*([len(sets)] if relation == "add_remove" else []), truth] and cells == ((40, 20, 0, 0),)
    alone = table.query("overview", columns=["s"], epsilon="1")
    assert DuckEngine().read(alone.need(), next(tmp_path.rglob("coded-1.parquet")), schema) == ((), *people)
    look = table.ask(query).value
    assert [bar.label for bar in look.bars("s")] == ["p", "q", "r"] and "s: q" in look


@pytest.mark.every(3)
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("columns", [["s"], ["c", "s"]])
def test_ranges_of_items_hold_and_narrower_ones_do_not(relation: str, columns: list[str]) -> None:
    """40 draws: with probability at most 1e-6 a right range fails this often; a quarter of it fails more often."""
    public = facts(relation, dp.Unit.rows(), 2, about=300)
    query = dp.catalogue["overview"].build(public, {"columns": columns, "epsilon": "1", "beta": "0.2"})
    assert isinstance(query, Overview)
    counts = (120, 30, 0)
    value = (((200, 100),) if "c" in columns else (), *([300] if relation == "add_remove" else []), counts)
    coins, wrong, narrow, draws = SystemCoins(), 0, 0, 60
    for _ in range(draws):
        look = Look(query, query.draw(value, coins))
        told = [(bar, count) for bar, count in zip(look.bars("s"), counts, strict=True)]
        told += [(one, count / 300) for one, count in zip(look_groups.of_everyone(look, "s"), counts, strict=True)]
        wrong += not all(bar.low <= truth <= bar.high for bar, truth in told)
        narrow += not all(abs(bar.value - truth) <= (bar.high - bar.low) / 8 for bar, truth in told)
    allowed = allowed_failures(draws, float(query.beta))
    assert wrong <= allowed < narrow
