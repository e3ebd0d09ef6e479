"""Ranges of what is read off a first look hold on draws: for rows and for people of several rows, under both relations;
averages, percentiles, differences of cells and of groups, of three columns; all at once, and each by itself.

False alarms: with probability at most 1e-6 a right range fails so often. Power: with sums that are taken for almost
exact, the same checks fail."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from battery import allowed_failures

import dpengine as dp
from dpengine.core.types import Integers
from dpengine.declared.facts import Facts
from dpengine.mechanisms.marginals.overview import Overview
from dpengine.noise.coins import SystemCoins
from dpengine.released import look_groups
from dpengine.released.look import Figure, Look, Ranges

ROWS = 600
DRAWS, MORE = 25, 300
BETA = "0.2"
UNITS = {"a row": dp.Unit.rows(), "three rows of a person": dp.Unit.column("who", 3)}
TOWNS = ["v0", "v1", "v2"]


def made(relation: str, unit: dp.Unit, **given: Any) -> Overview:
    lists = {name: dp.Category(TOWNS[:size], "v0", "v0") for name, size in (("town", 3), ("rich", 2), ("sex", 2))}
    schema = dp.Schema(lists | {"score": dp.Number(0, 9, missing=0)})
    facts = Facts("t", schema, unit, relation, ROWS // unit.at_most)  # type: ignore[arg-type]
    query = dp.catalogue["overview"].build(facts, {"epsilon": "2", "beta": BETA} | given)
    assert isinstance(query, Overview)
    return query


def rows() -> dict[str, Integers]:
    draw = np.random.default_rng(5)  # made-up people
    sex, town = draw.integers(0, 2, ROWS), draw.integers(0, 3, ROWS)
    rich = (draw.random(ROWS) < np.where(sex == 1, 0.8, 0.2)).astype(np.int64)
    return {"town": town, "rich": rich, "sex": sex, "score": np.minimum(draw.integers(0, 8, ROWS) + 2 * rich, 9)}


def counted(query: Overview, codes: dict[str, Integers]) -> list[list[int]]:
    names, found = [ref if isinstance(ref, str) else ref.column for ref in query.columns], []
    for part in query.largest:
        cells = np.zeros([query.axes[place].size for place in part], dtype=np.int64)
        np.add.at(cells, tuple(codes[names[place]] for place in part), 1)
        found.append([int(one) for one in cells.ravel()])
    return found


def figures(look: Look, codes: dict[str, Integers]) -> Iterator[tuple[str, Figure, float]]:
    """Each figure by name, with the truth."""
    town, rich, sex, score = (codes[name] for name in ("town", "rich", "sex", "score"))
    yield "a difference of two cells", look.difference("town", "v0", "v2"), float((town == 0).sum() - (town == 2).sum())
    for label in (0, 1):
        among = score[rich == label]
        yield f"an average in a group {label}", look.mean("score", among={"rich": [f"v{label}"]}), float(among.mean())
    yield "an average", look.mean("score"), float(score.mean())
    for share in (0.25, 0.5, 0.75):
        truth = float(np.quantile(score, share, method="inverted_cdf"))
        yield f"the percentile {share}", look.percentile("score", share), truth
    if look.query.three:
        inside = town[(rich == 1) & (sex == 0)]
        for cell, figure in enumerate(look_groups.of_group(look, "town", {"rich": "v1", "sex": "v0"})):
            yield f"a share among two groups {cell}", figure, float((inside == cell).mean())
        for cell, figure in enumerate(look_groups.counts_of_group(look, "town", {"rich": "v1", "sex": "v0"})):
            yield f"a number among two groups {cell}", figure, float((inside == cell).sum())


def misses(query: Overview, draws: int) -> dict[str, int]:
    """How often each range did not hold, and "any" of them."""
    codes, coins = rows(), SystemCoins()
    value, found = counted(query, codes), {"any": 0}
    for _ in range(draws):
        wrong = set()
        for name, one, truth in figures(Look(query, query.draw(value, coins)), codes):
            assert one.low is not None and one.high is not None and one.low <= one.value <= one.high
            if not one.low - 1e-9 <= truth <= one.high + 1e-9:
                wrong.add(name)
        for name in wrong | ({"any"} if wrong else set()):
            found[name] = found.get(name, 0) + 1
    return found


CASES = [
    pytest.param(relation, unit, given, id=f"{relation}, {unit}, {name}")
    for relation in ("replace", "add_remove")
    for unit in UNITS
    for name, given in {"pairs": {"against": ["rich"]}, "threes": {"against": "all", "three": True}}.items()
]


@pytest.mark.every(9)
@pytest.mark.parametrize(("relation", "unit", "given"), CASES)
def test_ranges_hold_all_at_once_and_each_by_itself(relation: str, unit: str, given: dict[str, Any]) -> None:
    found = misses(made(relation, UNITS[unit], **given), DRAWS)
    allowed = allowed_failures(DRAWS, float(BETA))
    assert max(found.values()) <= allowed, found


@pytest.mark.long
@pytest.mark.parametrize(("relation", "unit", "given"), CASES)
def test_ranges_hold_on_many_draws(relation: str, unit: str, given: dict[str, Any]) -> None:
    found = misses(made(relation, UNITS[unit], **given), MORE)
    assert max(found.values()) <= allowed_failures(MORE, float(BETA)), found


@pytest.mark.parametrize("unit", UNITS)
def test_sums_that_are_taken_for_exact_are_caught(unit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Ranges, "listed", property(lambda self: 1e-4))
    found = misses(made("replace", UNITS[unit], against=["rich"]), DRAWS)
    allowed = allowed_failures(DRAWS, float(BETA))
    alone = ("a difference of two cells", "an average")
    assert found["any"] > allowed and all(found[name] > allowed for name in alone), found
