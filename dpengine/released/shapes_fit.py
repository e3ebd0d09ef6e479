"""An additive model from noisy cross tables: what each value of each column adds to the prediction. Numbers only.

Released    the cells of every column, of every two columns, and of every column against the target (`residuals`).
Fit         ridge regression of the target on indicators of all cells. Its normal equations hold nothing but cross
            tables: H, rows that have a cell of one column and a cell of another, less what independence gives; u, the
            target summed over the rows of a cell, less what the average gives. With H = Σ h·e·eᵀ
                θ = G·u,  G = Σ f(h)·e·eᵀ,  f(h) = h₊/(h₊² + RIDGE·(h₊ + v/s²)):
            the best linear guess where H is known, u has noise of variance v besides its own of s²·H, and s²/RIDGE is
            how much an effect varies a priori. A direction in which there is more noise than rows is left alone.
Kept        the whole is then shrunk to the part of it that is no noise: by λ = (θᵀu − tr(G·Cov) − √(θᵀ·Cov·θ))/(θᵀHθ),
            between 0 and 1, the slope of the target on the prediction less one standard deviation. So a model that
            noise drowns says the average of everybody.
Pairs       the noise in a cross table of two columns hardly matters where they go together in few ways: what exceeds
            independence is cut to the directions that stand out of it (singular values above √V·(√rows + √columns),
            which those of pure noise of variance V hardly exceed, less the noise in them).
Band        Of all that was released, only the residuals R_{jT} of a column and the target enter u, as a linear map: G,
            the average and the rows of cells are functions of the other residuals, whose noise is independent. Given
            those, the noise of u has covariance σ_{jT}²·‖a‖²·(I − J/n_j) for each column, a the centred values of the
            target's cells, and is subgaussian with it (Canonne, Kamath, Steinke 2020, Corollary 17). So, but for β, all
            N effects at once are within λ·√(2·(C·G·Cov·Gᵀ·Cᵀ)_b·ln(2N/β)) of the same fit, with the same λ, had every
            R_{jT} been released without noise; C takes the average of a column's effects out. Nothing is said of the
            noise in tables of two columns, nor of people who are not in the table.
Score       no promise. If sums of effects were normal on each side, so much would be right; the part of u that is
            noise fits itself, which tr(G·Cov) takes out on average. Doubts are counted against the model, so that it is
            mostly told a little worse than it is.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import NormalDist

import numpy as np

from dpengine.core.arrays import Floats

RIDGE = 4.0
_LEAST = 1e-12


@dataclass(frozen=True)
class CrossMoments:
    """What a fit uses: released figures alone. One block of places for each column."""

    sizes: tuple[int, ...]
    rows: Floats  # of each cell
    second: Floats  # H, of which noise was cut off
    bare: Floats  # H as it was released
    against: Floats  # u
    noise: Floats  # for each column, the variance of the noise in u
    average: float  # of the target
    spread: float  # s², of the target
    total: float  # rows

    @cached_property
    def starts(self) -> list[int]:
        return [0, *np.cumsum(self.sizes).tolist()]

    def block(self, column: int) -> slice:
        return slice(self.starts[column], self.starts[column + 1])

    def only(self, columns: Sequence[int]) -> CrossMoments:
        """Of these columns alone."""
        held = np.concatenate([np.arange(self.starts[one], self.starts[one + 1]) for one in columns])
        sizes = tuple(self.sizes[one] for one in columns)
        second, bare = self.second[np.ix_(held, held)], self.bare[np.ix_(held, held)]
        sums = self.rows[held], second, bare, self.against[held], self.noise[list(columns)]
        return CrossMoments(sizes, *sums, self.average, self.spread, self.total)

    @cached_property
    def centring(self) -> Floats:
        """C: an average row has an effect of 0 in every column."""
        taken: Floats = np.eye(len(self.rows))
        for column in range(len(self.sizes)):
            place = self.block(column)
            weights = self.rows[place] / max(float(self.rows[place].sum()), _LEAST)
            taken[place, place] -= weights[None, :]
        return taken

    @cached_property
    def covariance(self) -> Floats:
        """Of the noise in u."""
        found: Floats = np.zeros_like(self.second)
        for column, size in enumerate(self.sizes):
            place = self.block(column)
            found[place, place] = self.noise[column] * (np.eye(size) - 1 / size)
        return found


@dataclass(frozen=True)
class ShapesFit:
    moments: CrossMoments

    @cached_property
    def kept(self) -> float:
        """λ"""
        noise, found = self.moments.covariance, self._whole @ self.moments.against
        sure = float(found @ self.moments.against) - float(np.trace(self._whole @ noise))
        sure -= math.sqrt(max(float(found @ noise @ found), 0.0))
        return min(max(sure / max(float(found @ self.moments.second @ found), _LEAST), 0.0), 1.0)

    @cached_property
    def map(self) -> Floats:
        """λ·C·G"""
        found: Floats = self.kept * self._whole
        return found

    @cached_property
    def _whole(self) -> Floats:
        moments = self.moments
        sizes, ways = np.linalg.eigh(moments.second)
        kept, spread = np.maximum(sizes, 0.0), max(moments.spread, _LEAST)
        noise = float(np.mean(np.diag(moments.covariance)))
        filtered = kept / np.maximum(kept**2 + RIDGE * (kept + noise / spread), _LEAST)
        found: Floats = moments.centring @ (ways * filtered) @ ways.T
        return found

    @cached_property
    def effects(self) -> Floats:
        found: Floats = self.map @ self.moments.against
        return found

    def reach(self, beta: float) -> Floats:
        """How far each effect may be from the same fit without noise in what was counted against the target; all at
        once but for β."""
        variances = np.einsum("ij,jk,ik->i", self.map, self.moments.covariance, self.map)
        found: Floats = np.sqrt(2 * np.maximum(variances, 0.0) * math.log(2 * len(variances) / beta))
        return found

    @cached_property
    def explained(self) -> float:
        """Σ over rows of (target − average)·(prediction − average): less what the noise in it explains of itself, and
        less twice the standard deviation that the noise gives what is left."""
        own, noise = float(self.effects @ self.moments.against), self.moments.covariance
        unsure = 2 * math.sqrt(max(float(self.effects @ noise @ self.effects), 0.0))
        return own - float(np.trace(self.map @ noise)) - unsure

    @cached_property
    def predicted(self) -> float:
        """The variance of predictions: the larger of what the tables say with their noise and without."""
        found = (float(self.effects @ table @ self.effects) for table in (self.moments.bare, self.moments.second))
        return max(*found, 0.0) / self.moments.total

    def right(self, share: float) -> float:
        """About which share of rows is on the side of ½ where the prediction is; `share` of them are a yes."""
        apart, within = self._sides(share)
        normal = NormalDist()
        yes, no = share + (1 - share) * apart, share - share * apart
        return share * normal.cdf((yes - 0.5) / within) + (1 - share) * normal.cdf((0.5 - no) / within)

    def ranked(self, share: float) -> float:
        """About how often somebody who is a yes is given a higher chance than somebody who is not: the area under the
        ROC curve."""
        apart, within = self._sides(share)
        return NormalDist().cdf(apart / (within * math.sqrt(2)))

    def _sides(self, share: float) -> tuple[float, float]:
        """How far apart the mean predictions of both sides are, and the standard deviation within one."""
        mixed = max(share * (1 - share), _LEAST)
        apart = max(self.explained / (self.moments.total * mixed), 0.0)
        return apart, math.sqrt(max(self.predicted - mixed * apart**2, self.predicted * 1e-3, _LEAST))

    @cached_property
    def off(self) -> float:
        """About the typical error of a prediction: the root of its mean square."""
        left = self.moments.spread - 2 * self.explained / self.moments.total + self.predicted
        return math.sqrt(max(left, 0.0))


def held_back(moments: CrossMoments) -> tuple[float, float]:
    """Each column is left out in turn: how far what the others say about the average target of its cells is off from
    what was measured, and how far saying the average of all is; the mean over rows and columns, noise included."""
    columns = range(len(moments.sizes))
    off, blank = [], []
    for left in columns:
        others = [one for one in columns if one != left]
        fit, place = ShapesFit(moments.only(others)), moments.block(left)
        held = np.concatenate([np.arange(moments.starts[one], moments.starts[one + 1]) for one in others])
        told = moments.second[place, :][:, held] @ fit.effects
        off.append(float(np.abs(told - moments.against[place]).sum()) / moments.total)
        blank.append(float(np.abs(moments.against[place]).sum()) / moments.total)
    return float(np.mean(off)), float(np.mean(blank))


def in_all(cells: Floats, total: float) -> Floats:
    """The nearest numbers from 0 up that add up to the total."""
    falling = np.sort(cells)[::-1]
    above = (np.cumsum(falling) - total) / np.arange(1, len(cells) + 1)
    found: Floats = np.maximum(cells - above[np.flatnonzero(falling > above)[-1]], 0.0)
    return found


def standing_out(table: Floats, variance: float) -> Floats:
    """Of a table whose rows and columns add up to 0, what stands out of noise of this variance in every cell."""
    left, sizes, right = np.linalg.svd(table, full_matrices=False)
    edge = math.sqrt(variance) * (math.sqrt(table.shape[0]) + math.sqrt(table.shape[1]))
    found: Floats = (left * np.sqrt(np.maximum(sizes**2 - edge**2, 0.0))) @ right
    return found
