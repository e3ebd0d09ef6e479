"""Estimates of the marginals that a first look did not buy, from those that it did.

Fit         the distribution of maximum entropy with the bought marginals. Given columns of interest the others are
            independent, so it factors: each column with them is fitted by itself (of two, by iterative proportional
            fitting to its three pairs, or it was bought as a whole). Where pairs of all columns were bought, the fit is
            over the asked columns and everything bought about them, by iterative proportional fitting. Two columns with
            nothing bought about both together are taken as independent.
Held back   a fit has no promise. But we can see how it did where the truth is known up to noise: a bought marginal is
            left out, estimated from the rest, and compared with its measured cells: the share of rows in other cells
            than measured, noise included, and how many cells are within their ranges.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpengine.core.types import Floats
from dpengine.mechanisms.marginals.residuals import Columns, parts_of

MOST_FITTED = 250_000  # cells of a fit
_ROUNDS = 200  # of iterative proportional fitting
_NEAR = 1e-6  # of all rows


@dataclass(frozen=True)
class HeldBack:
    """How well estimates predicted measurements that they did not use."""

    off: float  # the share of rows in other cells than measured, noise included; the mean over all left out
    inside: int  # cells within their measured range
    cells: int

    @staticmethod
    def of(results: Sequence[HeldBack]) -> HeldBack | None:
        if not results:
            return None
        off = float(np.mean([result.off for result in results]))
        return HeldBack(off, sum(result.inside for result in results), sum(result.cells for result in results))


@dataclass(frozen=True)
class EntropyFit:
    sizes: tuple[int, ...]
    hubs: Columns  # the columns of interest
    marginals: Mapping[Columns, Floats]

    @cached_property
    def hub(self) -> Floats:
        """The probability of each combination of the hubs; an axis for each."""
        return self._chances(self.hubs) if self.hubs else np.ones(())

    @cached_property
    def _known(self) -> dict[int, Floats]:
        return {}

    def cells(self, columns: Iterable[int]) -> int:
        return math.prod(self.sizes[place] for place in columns)

    def held_at_once(self, columns: Columns) -> int:
        """The number of cells in the largest fit that an estimate among these columns needs."""
        if self.hubs:
            whole = [tuple(sorted({*self.hubs, place})) for place in columns]
            return max((self.cells(part) for part in whole if part not in self.marginals), default=0)
        return self.cells(columns) if self.together(columns) else 0

    def given(self, place: int) -> Floats:
        """The probability of each cell of a column given the hubs: their axes first, the column's last."""
        if place not in self._known:
            self._known[place] = self._given(place)
        return self._known[place]

    def _given(self, place: int) -> Floats:
        if place in self.hubs:
            own = np.zeros((*self.hub.shape, self.sizes[place]))
            at = np.indices(self.hub.shape)[self.hubs.index(place)]
            np.put_along_axis(own, at[..., None], 1.0, axis=-1)
            return own
        if not self.hubs:
            return self._chances((place,))
        whole = tuple(sorted((*self.hubs, place)))
        joint = self._chances((*self.hubs, place)) if whole in self.marginals else self.fitted((*self.hubs, place))
        total = joint.sum(axis=-1, keepdims=True)
        return np.where(total > 0, joint / np.where(total > 0, total, 1.0), 1 / self.sizes[place])

    def together(self, columns: Columns) -> bool:
        """Was anything bought about two of these columns together?"""
        return any(part in self.marginals for part in parts_of(tuple(sorted(columns))) if len(part) > 1)

    def table(self, columns: Columns) -> Floats:
        """The probability of each combination of cells of these columns; an axis for each, in this order."""
        if not self.hubs:
            return self.fitted(columns)
        weights, rows = self.hub.reshape(-1), self.hub.size
        given = [self.given(place).reshape(rows, -1) for place in columns]
        joint = weights[:, None] * given[0]
        for chances in given[1:-1]:
            joint = (joint[:, :, None] * chances[:, None, :]).reshape(rows, -1)
        return (joint.T @ given[-1]).reshape([self.sizes[place] for place in columns])

    def among(self, wanted: Mapping[int, Floats], target: int) -> Floats:
        """The probability of each cell of the column `target` together with a wanted cell in each other column."""
        if self.hubs:
            met = self.hub
            for place, cells in wanted.items():
                met = met * (self.given(place) @ cells)
            return np.tensordot(met, self.given(target), axes=met.ndim)
        if not self.together((target, *wanted)):
            others = (float(self._chances((place,)) @ cells) for place, cells in wanted.items())
            return self._chances((target,)) * math.prod(others)
        joint = self.table((target, *wanted))
        for cells in reversed(list(wanted.values())):
            joint = joint @ cells
        return joint

    def share(self, wanted: Mapping[int, Floats]) -> float:
        """The probability that each of these columns has a wanted cell."""
        (first, cells), *rest = wanted.items()
        return float(self.among(dict(rest), first) @ cells)

    def fitted(self, columns: Columns, without: Columns | None = None) -> Floats:
        """Iterative proportional fitting to everything bought about these columns, except the marginal `without`."""
        bought = [part for part in parts_of(tuple(sorted(columns))) if part in self.marginals]
        if without is not None:  # nor any larger one that it is part of
            bought = [part for part in bought if not set(without) <= set(part)]
        targets = [part for part in bought if not any(set(part) < set(other) for other in bought)]
        joint: Floats = np.full([self.sizes[place] for place in columns], 1 / self.cells(columns))
        steps = []
        for part in targets:
            axes = tuple(sorted(columns.index(place) for place in part))
            rest = tuple(axis for axis in range(len(columns)) if axis not in axes)
            target = np.expand_dims(self._chances(tuple(columns[axis] for axis in axes)), rest)
            steps.append((rest, target, np.zeros_like(target)))
        for _ in range(_ROUNDS):
            before = joint
            for rest, target, change in steps:
                now = joint.sum(axis=rest, keepdims=True)
                joint = joint * np.divide(target, now, out=change, where=now > 0)  # where it is 0, so is the joint
            if len(steps) == 1 or float(np.abs(joint - before).max()) < _NEAR:
                break
        total = joint.sum()
        return joint / total if total > 0 else np.full(joint.shape, 1 / joint.size)

    def left_out(self, columns: Columns, part: Columns) -> Floats:
        """The estimate of a bought marginal from everything else that was bought about these columns."""
        axes = tuple(axis for axis, place in enumerate(columns) if place not in part)
        estimate = self.fitted(columns, without=part).sum(axis=axes)
        order = [place for place in columns if place in part]
        return np.moveaxis(estimate, [order.index(place) for place in part], range(len(part)))

    def _chances(self, columns: Columns) -> Floats:
        """A bought marginal as probabilities, its axes in this order."""
        part = tuple(sorted(columns))
        cells = np.clip(self.marginals[part], 0, None)
        cells = np.moveaxis(cells, [part.index(place) for place in columns], range(len(columns)))
        total = cells.sum()
        return cells / total if total > 0 else np.full(cells.shape, 1 / cells.size)
