"""Several percentiles of every group, in one question."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from battery import allowed_failures

import dpengine as dp
from dpengine.declared.facts import Facts
from dpengine.declared.unit import RELATIONS
from dpengine.mechanisms.choices.quantile import Quantile
from dpengine.messages.language import speaking
from dpengine.noise.coins import SystemCoins
from dpengine.statistics.need import Spread

SCHEMA = dp.Schema({"x": dp.Number(0, 29, missing=0), "c": dp.Category(["a", "b"])})
SHARES = ["0.2", "0.5", "0.95"]


def ask(relation: str, people: int = 400, **given: Any) -> Quantile:
    facts = Facts("t", SCHEMA, dp.Unit.rows(), relation, people)  # type: ignore[arg-type]
    made = dp.catalogue["quantile"].build(facts, {"column": "x", "share": SHARES, "by": "c", "epsilon": "2"} | given)
    assert isinstance(made, Quantile)
    return made


def spread(held: Any) -> Spread:
    return Spread(*(one.astype(np.int64) for one in np.unique(held, return_counts=True)))


@pytest.mark.every(9)
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("noise", ["", "joint", "tree", "gaussian_root"])
def test_all_of_all_groups_hold_at_once(relation: str, noise: str) -> None:
    """β = 0.2, 30 draws of three percentiles of four groups, the last two of them empty; false alarm 1e-6. And the
    ranges say something: on average they hold less than the whole grid."""
    query, draws = ask(relation, noise=noise, beta="0.2"), 30
    groups = [np.random.default_rng().integers(0, 30, people) // 3 * 3 for people in (250, 150)]
    value = tuple(spread(held) for held in (*groups, np.array([]), np.array([])))
    assert query.groups == 4
    far = missed = wide = 0
    for _ in range(draws):
        told = query.release(value, SystemCoins())
        codes, ends = list(told.value.values()), list(told.interval.values())
        off = missing = False
        for place in range(6):
            held, share = groups[place // 3], Fraction(SHARES[place % 3])
            wished = share * len(held)
            below, upto = int((held < codes[place]).sum()), int((held <= codes[place]).sum())
            off |= max(below - wished, wished - upto) >= query.promise().rows + 1
            low, high = ends[place]
            missing |= not any((held < c).sum() <= wished <= (held <= c).sum() for c in range(low, high + 1))
            wide += high - low + 1
        far, missed = far + off, missed + missing
    assert far <= allowed_failures(draws, 0.2) and missed <= allowed_failures(draws, 0.2)
    assert wide < 30 * 6 * draws


def test_they_are_named_by_group_and_percentile() -> None:
    query = ask("replace")
    assert query.labels()[:4] == ["a × 20 %", "a × 50 %", "a × 95 %", "b × 20 %"] and len(query.labels()) == 12
    assert query.leftovers() and all(label in query.labels() for label in query.leftovers())
    assert not query.compared and ask("replace", share="0.5").compared
    with speaking("sl"):
        assert query.shown()["a × 20 %"] == "a, 20\N{NO-BREAK SPACE}%" and len(query.shown()) == 12
    assert query.headline_parts(query.labels())[:2] == ["a × 50 %", "b × 50 %"], "one figure of each group"
    assert query.headline_parts(["b × 20 %", "b × 95 %"]) == ["b × 20 %"] and query.headline_parts([]) == []
    told = query.finish(tuple(range(12 * 3)) if not query.noise else ())
    assert list(told.value) == query.labels()


@pytest.mark.parametrize("relation", RELATIONS)
def test_one_question_promises_more_than_one_for_each_percentile(relation: str) -> None:
    """At the same ε in all: the best way of drawing all of them against one percentile after the other."""
    together = min(ask(relation, noise=noise).promise().rows for noise in ("joint", "tree"))
    alone = ask(relation, share="0.5", epsilon="0.666666666", beta="0.016666666")
    apart = min(alone.with_noise(noise).promise().rows for noise in ("", "joint"))
    assert together < apart * Fraction(8, 10)


def test_too_many_at_once_are_refused() -> None:
    shares = [f"0.{place}" for place in range(11, 31)]
    wide = dp.Schema({"x": dp.Number(0, 99)})
    facts = Facts("t", wide, dp.Unit.rows(), "replace", 100)
    with pytest.raises(dp.AllowanceError, match="1,000 figures"):
        asked = {"column": "x", "share": shares, "by": {"column": "x", "step": 1}, "epsilon": "1"}
        dp.catalogue["quantile"].build(facts, asked)
