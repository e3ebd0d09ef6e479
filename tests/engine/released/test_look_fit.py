"""Estimates of what was not bought: the fit has every bought marginal and the largest entropy, leaves out what it is
told to, says how it did, and refuses what is too large."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest

import dpengine as dp
from dpengine.core.types import Floats
from dpengine.declared.facts import Facts
from dpengine.mechanisms.marginals.overview import Overview
from dpengine.noise.coins import SystemCoins
from dpengine.released import look_fit
from dpengine.released.look import Look
from dpengine.released.look_fit import EntropyFit

SIZES = (3, 2, 4)
ROWS = 40_000


def table() -> Floats:
    """A joint distribution in which every pair hangs together."""
    joint = np.random.default_rng(2).random(SIZES) ** 2
    return joint / joint.sum()


def of(joint: Floats, part: tuple[int, ...]) -> Floats:
    return joint.sum(axis=tuple(axis for axis in range(joint.ndim) if axis not in part))


def entropy(joint: Floats) -> float:
    cells = joint[joint > 0]
    return float(-(cells * np.log(cells)).sum())


def test_a_fit_of_all_pairs_has_them_all_and_no_interaction_of_three() -> None:
    joint = table()
    parts = [*((place,) for place in range(3)), *combinations(range(3), 2)]
    fit = EntropyFit(SIZES, (), {part: 1000 * of(joint, part) for part in parts})
    told = fit.table((2, 0, 1))
    for one, other in combinations(range(3), 2):
        axes = [(2, 0, 1).index(place) for place in (one, other)]
        found = np.moveaxis(told, axes, (0, 1)).sum(axis=2)
        assert np.allclose(found, of(joint, (one, other)), atol=1e-6)
    logs = np.log(np.moveaxis(told, (1, 2, 0), (0, 1, 2)))  # of largest entropy: a sum of functions of two columns
    for axis in range(3):
        logs = logs - logs.mean(axis=axis, keepdims=True)
    assert np.abs(logs).max() < 1e-5 and entropy(told) > entropy(joint)


def test_what_is_independent_given_a_column_of_interest_is_told_exactly() -> None:
    hub, first, second = np.array([0.3, 0.7]), np.array([[0.9, 0.1], [0.2, 0.8]]), np.array([[0.5, 0.5], [0.1, 0.9]])
    joint = hub[:, None, None] * first[:, :, None] * second[:, None, :]
    fit = EntropyFit((2, 2, 2), (0,), {part: of(joint, part) for part in [(0,), (1,), (2,), (0, 1), (0, 2)]})
    assert np.allclose(fit.table((1, 2)), of(joint, (1, 2)))
    assert np.allclose(fit.among({1: np.array([0.0, 1.0])}, 2), of(joint, (1, 2))[1])
    assert fit.share({1: np.array([0.0, 1.0]), 2: np.array([1.0, 0.0])}) == pytest.approx(of(joint, (1, 2))[1, 0])


def asked(relation: str, **given: Any) -> tuple[Look, Floats]:
    sizes = dict(zip("abc", SIZES, strict=True))
    lists = {name: dp.Category([f"v{at}" for at in range(size)], "v0", "v0") for name, size in sizes.items()}
    facts = Facts("t", dp.Schema(lists), dp.Unit.rows(), relation, ROWS)  # type: ignore[arg-type]
    query = dp.catalogue["overview"].build(facts, {"epsilon": "2"} | given)
    assert isinstance(query, Overview)
    counts = np.random.default_rng(4).multinomial(ROWS, table().ravel()).reshape(SIZES)
    value = [tuple(int(one) for one in of(counts, part).ravel()) for part in query.largest]
    return Look(query, query.draw(value, SystemCoins())), counts / ROWS


@pytest.mark.parametrize("relation", ["replace", "add_remove"])
def test_three_columns_are_estimated_from_their_pairs_and_what_was_left_out_is_told(relation: str) -> None:
    """The noise is far below what is compared: with probability below 1e-6 it decides (10 standard deviations)."""
    look, truth = asked(relation, against="all")
    told = look.estimated((0, 1, 2))
    alone = np.einsum("a,b,c->abc", *(of(truth, (place,)) for place in range(3)))
    assert np.abs(told - truth).sum() < np.abs(alone - truth).sum()
    share = look.share({"a": ["v0"], "b": ["v1"], "c": ["v2"]})
    assert share.how == "estimated" and share.low is None and share.value == pytest.approx(told[0, 1, 2], abs=1e-6)
    tried = look.checked("a", "b", "c")
    assert tried is not None and tried.cells == 3 * 2 + 3 * 4 + 2 * 4 and 0 <= tried.inside < tried.cells
    assert 0.02 < tried.off < 0.5


def test_columns_that_are_free_of_each_other_pass_the_check() -> None:
    """Left out, a pair of columns that have nothing to do with each other is estimated within its ranges."""
    query = asked("replace", against="all")[0].query
    counts = np.full(SIZES, 1_000)
    value = [tuple(int(one) for one in of(counts, part).ravel()) for part in query.largest]
    look = Look(query.of_size(24_000), query.draw(value, SystemCoins()))
    tried = look.checked("a", "b", "c")
    assert tried is not None and tried.off < 0.02 and tried.inside == tried.cells


def test_through_a_column_of_interest_pairs_are_left_out_one_by_one() -> None:
    look, truth = asked("replace", against=["a"])
    assert look.held_back is not None and look.held_back.cells == 3 * 2 + 3 * 4
    alone = [
        np.abs(np.outer(of(truth, (0,)), of(truth, (place,))) - of(truth, (0, place))).sum() / 2 for place in (1, 2)
    ]
    assert look.held_back.off == pytest.approx(float(np.mean(alone)), abs=0.02)
    assert look.checked("b", "c") == look.held_back and asked("replace")[0].checked("b", "c") is None


def test_what_is_too_large_is_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    look, _ = asked("replace", against="all")
    monkeypatch.setattr("dpengine.released.look.MOST_FITTED", 20)
    with pytest.raises(dp.AllowanceError) as refused:
        look.share({"a": ["v0"], "b": ["v1"], "c": ["v2"]})
    assert (
        refused.value.code == "look.large" and "a, b, c" in str(refused.value) and look.checked("a", "b", "c") is None
    )
    assert look_fit.MOST_FITTED > 20
