"""Wrong twins of a model that is read off a first look: one that sees the table, a score that is computed on it for
nothing, and bands that are too narrow."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from helpers_shapes import TARGET, asked, counted, looked, people

from dpengine.core.types import Floats
from dpengine.mechanisms.marginals.residuals import residual
from dpengine.released.look import Look
from dpengine.released.shapes import Shapes, ShapesFit
from tests.planted.registry import Planted

Made = Callable[[Look, dict[str, Any]], Any]  # what is told of a model, from a look and from the rows of the table


def model(look: Look, rows: dict[str, Any]) -> Any:
    found = Shapes(look, TARGET, ["yes"])
    return [found.right(), found.held_back(), found.as_json()]


def from_the_table(look: Look, rows: dict[str, Any]) -> Any:
    """Effects are read off the released tables of columns, and the exact numbers of yes and no."""
    query, seen = look.query, dict(zip(look.query.largest, counted(look.query, rows), strict=True))
    raw, start = list(look.raw), 0
    for part in query.layout.bases:
        size = query.layout.cells(part)
        if len(part) == 2 and len(query.axes) - 1 in part:
            cells = np.array(seen[part]).reshape([query.axes[place].size for place in part])
            raw[start : start + size] = [int(one) for one in residual(cells).ravel()]
        start += size
    return model(Look(query, raw), rows)


def scored_on_the_table(look: Look, rows: dict[str, Any]) -> Any:
    found = Shapes(look, TARGET, ["yes"])
    said = [found.predict({"age": int(a), "sex": "fm"[s], "town": "abc"[t]}) for a, s, t in _rows(rows)]
    right = np.mean((np.array(said) > 0.5) == (rows["car"][: len(said)] == 0))
    return [float(right), found.held_back(), found.as_json()]


def _rows(rows: dict[str, Any]) -> list[tuple[int, int, int]]:
    return list(zip(*(rows[name][:200].tolist() for name in ("age", "sex", "town")), strict=True))


@cache
def _look() -> Look:
    return looked(asked(), people())


def check_a_model_follows_from_the_release_alone(made: Made) -> None:
    """Beside the same release, two tables say the same."""
    told = [made(_look(), people(seed=seed)) for seed in (1, 2)]
    assert told[0] == told[1], "what is told of a model depends on the table beyond what was released"


class HalfBand(ShapesFit):
    """The noise is taken to be that of one cell, as if fitting did not carry it to others."""

    def reach(self, beta: float) -> Floats:
        variances = np.diag(self.map) ** 2 * np.diag(self.moments.covariance)
        found: Floats = np.sqrt(2 * variances * math.log(2 * len(variances) / beta))
        return found


def check_bands_have_their_width(fit: type[ShapesFit]) -> None:
    """Every number that was counted against the target, moved by one, moves the effects by what it always does; from
    that follows the variance of each, and its band."""
    look = _look()
    query, beta = look.query, 0.05
    goal = len(query.axes) - 1
    base = fit(Shapes(look, TARGET, ["yes"]).moments)
    exact, start = np.zeros(len(base.effects)), 0
    for part in query.layout.bases:
        size = query.layout.cells(part)
        if len(part) == 2 and goal in part:
            variance = float(query.noise_of[part]) * size**2
            for at in range(start, start + size):
                raw = list(look.raw)
                raw[at] += 1000
                moved = fit(Shapes(Look(query, raw), TARGET, ["yes"]).moments)
                exact += variance * ((moved.effects - base.effects) / 1000) ** 2
        start += size
    told = base.reach(beta)
    wide = np.sqrt(2 * exact * math.log(2 * len(exact) / beta))
    assert np.allclose(told, wide, rtol=1e-6, atol=1e-9), "a band is not as wide as noise carries an effect"


PLANTED = [
    Planted(
        "a model that sees the table",
        "A model takes the numbers of yes and no from the table instead of from what was released.",
        check_a_model_follows_from_the_release_alone,
        "depends on the table",
        model,
        from_the_table,
    ),
    Planted(
        "a score for nothing",
        "How good a model is, is computed on the table and not paid for.",
        check_a_model_follows_from_the_release_alone,
        "depends on the table",
        model,
        scored_on_the_table,
    ),
    Planted(
        "bands of cells by themselves",
        "The band of an effect forgets that fitting carries the noise of one cell to others.",
        check_bands_have_their_width,
        "band",
        ShapesFit,
        HalfBand,
    ),
]
