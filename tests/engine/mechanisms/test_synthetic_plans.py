"""What a synthetic table measures follows from public facts."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd

import dpengine as dp
from dpengine.declared.facts import Facts
from dpengine.mechanisms.synthetic.plans import CHOSEN, MIXED, PAIRS, TRIPLES
from dpengine.mechanisms.synthetic.synthetic_table import SyntheticTable
from dpengine.released.synthetic import FittedTable
from dpengine.workspace import Workspace


def question(sizes: tuple[int, ...], people: int, **given: Any) -> SyntheticTable:
    lists = {f"c{at}": dp.Category([f"v{one}" for one in range(size)], "v0", "v0") for at, size in enumerate(sizes)}
    facts = Facts("t", dp.Schema(lists), dp.Unit.rows(), "replace", people)
    query = dp.catalogue["synthetic_table"].build(facts, {"columns": list(lists), "epsilon": "1"} | given)
    assert isinstance(query, SyntheticTable)
    return query


def test_how_much_goes_to_triples_follows_from_public_noise() -> None:
    """The less noise would put triples off, the more of them are worth choosing."""
    sizes = (9, 7, 6, 5, 2, 2)
    exact, rough = (question(sizes, people, plan=MIXED, epsilon="0.3") for people in (200_000, 5_000))
    assert (exact.turns, exact.choosing.first) == (9, Fraction(3, 5))
    assert (rough.turns, rough.choosing.first) == (3, Fraction(17, 20))


def test_how_many_are_chosen_and_at_which_part_of_the_loss() -> None:
    sizes = (15, 2, 5, 16, 7, 6, 9, 15, 10, 42, 2, 8, 6, 12)
    chosen = question(sizes, 48_842, plan=CHOSEN, epsilon="0.2")
    assert (chosen.turns, chosen.choosing.chosen, chosen.choosing.first) == (39, Fraction(1, 20), Fraction(5, 12))


def _nothing(query: SyntheticTable) -> list[int]:
    return [0] * sum(query.layout.cells(part) for part in query.layout.bases)


def test_what_was_measured_again_counts_with_all_its_turns() -> None:
    query = question((2, 3, 2, 2), 900, plan=CHOSEN, epsilon="1")
    part, many = query._parts[0], len(query._parts)
    cells = query.layout.cells(part)
    raw = [*_nothing(query), 0, *([8] * cells), many, *([4] * cells), 3 * many, *([2] * cells)]
    told, turns = query.choosing.read(raw, len(_nothing(query)), query._always)[part]
    assert turns == 8 and told.tolist() == [[(8 + 4 + 6 * 2) / 8] * 3] * 2
    assert query.noise_in(raw)[part] == query.noise_of[part] / 8
    assert query.reach(part, query.noise_in(raw)) < query.reach(part)
    assert query.ways((0,)) == 1 and query.ways(part) == 4 and query.ways((0, 1, 2)) == 64


def test_where_all_triples_would_be_chosen_nothing_is_chosen() -> None:
    for people in (3_000, 30_000, 300_000):
        query = question((4, 3, 5, 2), people)
        assert query.plan in (PAIRS, TRIPLES) or query.turns < query.choices


def test_who_has_none_of_an_amount_is_told_apart(tmp_path: Path) -> None:
    """Spread over the first group, all would have some."""
    workspace = Workspace(tmp_path)
    frame = pd.DataFrame({"gain": ["0"] * 450 + ["7000"] * 50, "town": ["a", "b"] * 250})
    schema = dp.Schema({"gain": dp.Number(0, 99_999, missing=0), "town": dp.Category(["a", "b"], "a", "a")})
    table = workspace.add_table("t", frame, schema=schema, unit=dp.Unit.rows(), budget=dp.Budget("20", "1e-6"))
    found = table.ask(table.query("synthetic_table", columns=["gain", "town"], epsilon="3"))
    made = table.synthetic(found)
    assert isinstance(made, FittedTable) and 0.8 < (made.table()["gain"].to_pandas() == 0).mean() < 0.97
    workspace.close()
