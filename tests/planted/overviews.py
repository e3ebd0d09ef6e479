"""Wrong twins of a first look: a total as it is, noise in the wrong place, bars that need somebody, and what a replaced
row or a second row moves."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from decimal import Decimal
from functools import cached_property
from typing import Any

import numpy as np
from battery import SEVERAL, check_law_against_loss, facts

from dpengine.mechanisms.marginals.overview import Overview
from dpengine.mechanisms.marginals.residuals import Columns, ResidualLayout, residual
from dpengine.mechanisms.marginals.wanted import Held
from dpengine.mechanisms.query import Released
from dpengine.noise.coins import Coins
from dpengine.noise.laws import Finite, Independent
from dpengine.released.look import Ranges
from tests.planted.checks import check_noise_is_independent, check_samples_follow_the_law, check_the_shape_is_public
from tests.planted.registry import Planted

PAIR: dict[str, Any] = {"columns": ["c", "d"], "against": ["c"]}
LIST: dict[str, Any] = {"columns": ["c"]}
SETS: dict[str, Any] = {"columns": ["c", "s"]}
ONE: dict[str, Any] = {"columns": ["t"]}
Cells = Sequence[Sequence[int]]


def made(kind: type[Overview], given: dict[str, Any], relation: str = "replace", unit: Any = None) -> Any:
    return kind.build(facts(relation, unit=unit), {"epsilon": "1"} | given)


class BareTotal(Overview):
    """The number of rows as it is, though membership is secret: the residual of no column comes first."""

    def draw(self, value: Cells, coins: Coins) -> tuple[int, ...]:
        return (sum(value[0]), *super().draw(value, coins)[1:])

    def law(self, value: Cells) -> Independent:
        return Independent((Finite({sum(value[0]): Decimal(1)}), *super().law(value).parts[1:]))


class NoiseThenMap(Overview):
    """Noise is added to the cells, and the residuals are taken afterwards: the numbers hang together, and in discrete
    noise that loses more than is claimed."""

    def draw(self, value: Cells, coins: Coins) -> tuple[int, ...]:
        drawn: list[int] = []
        for part, cells in self._counted(value):
            noisy = np.array(coins.gaussian([int(count) for count in cells.ravel()], self.noise_of[part]))
            drawn += [int(number) for number in residual(noisy.reshape(cells.shape)).ravel()]
        return tuple(drawn)

    def _counted(self, value: Cells) -> list[tuple[Columns, Any]]:
        """The cells of every marginal that a residual is taken of."""
        shape = [self.axes[place].size for place in self.largest[0]]
        cells = np.array(value[0]).reshape(shape)
        others = [
            tuple(at for at, place in enumerate(self.largest[0]) if place not in part) for part in self.layout.bases
        ]
        return [(part, cells.sum(axis=rest)) for part, rest in zip(self.layout.bases, others, strict=True)]


class OnlyWhereSomebodyIs(Overview):
    """A column is in the answer where somebody has its last value."""

    def release(self, value: Cells, coins: Coins) -> Released:
        told = super().release(value, coins)
        return told if value[0][-1] else Released({}, {})


class TwiceKept(ResidualLayout):
    """A replaced row is taken for one that leaves and one that comes, as if these were at right angles."""

    def worst(self, weights: Mapping[Columns, float]) -> tuple[float, dict[Columns, float]]:
        moves = {part: 2 * float(self.kept(part)) for part in self.bases}
        return sum(moves[part] * weights[part] for part in moves), moves


def _own(layout: ResidualLayout) -> dict[str, Any]:
    return {field.name: getattr(layout, field.name) for field in fields(layout)}


class TwoRightAngles(Overview):
    @cached_property
    def layout(self) -> ResidualLayout:
        return TwiceKept(**_own(Overview.layout.func(self)))  # type: ignore[attr-defined]


class OneRowEach(Overview):
    """As if nobody had a second row."""

    @cached_property
    def layout(self) -> ResidualLayout:
        right: ResidualLayout = Overview.layout.func(self)  # type: ignore[attr-defined]
        return replace(right, rows=1)


class PublicRows(Overview):
    """The number of rows is taken for public where only that of people is: the total is told as it is."""

    @cached_property
    def layout(self) -> ResidualLayout:
        right: ResidualLayout = Overview.layout.func(self)  # type: ignore[attr-defined]
        return replace(right, known=True)

    def draw(self, value: Cells, coins: Coins) -> tuple[int, ...]:
        return (*super().draw(value, coins), sum(value[0]))

    def law(self, value: Cells) -> Independent:
        return Independent((*super().law(value).parts, Finite({sum(value[0]): Decimal(1)})))


class CellsAlone(Ranges):
    """Cells are taken to have noise of their own: that residuals tie them together is forgotten."""

    def variance(self, part: Columns, a: Any) -> float:
        return float(self.query.variance(part)) * float((a**2).sum())


def check_sums_have_their_variance(ranges: Ranges) -> None:
    """The variance of a sum of cells, beside the exact one: by how much each drawn number moves the sum."""
    query = ranges.query
    part = max(query.sets, key=len)
    shape = [query.axes[place].size for place in part]
    drawn = [variance for numbers, variance in query._numbers([[0] * math.prod(shape)]) for _ in numbers]
    for a in (np.ones(shape), np.eye(*shape), np.arange(math.prod(shape)).reshape(shape) ** 2.0):
        exact = 0.0
        for place, variance in enumerate(drawn):
            raw = [int(place == other) for other in range(len(drawn))]
            known = query.marginals([0] * len(drawn))[part]
            exact += float(variance) * float((a * (query.marginals(raw)[part] - known)).sum()) ** 2
        told = ranges.variance(part, a)
        assert math.isclose(told, exact, rel_tol=1e-9), f"a sum has the variance {exact}, not {told}"


class OneItemEach(Overview):
    """The declared size of a set is forgotten: as if nobody held a second item."""

    @cached_property
    def held(self) -> tuple[Held, ...]:
        right: tuple[Held, ...] = Overview.held.func(self)  # type: ignore[attr-defined]
        return tuple(replace(one, moves=1) for one in right)


class BareItems(Overview):
    """The people who hold the last item are told as they are."""

    def draw(self, value: Any, coins: Coins) -> tuple[int, ...]:
        return (*super().draw(value, coins)[:-1], value[-1][-1])

    def law(self, value: Any) -> Independent:
        return Independent((*super().law(value).parts[:-1], Finite({value[-1][-1]: Decimal(1)})))


law = (check_law_against_loss, "exceeds")
LOOK = made(Overview, PAIR, "add_remove")

PLANTED = [
    Planted(
        "an un-noised total of a first look",
        "The number of rows is told as it is, though membership is secret.",
        *law,
        made(Overview, PAIR, "add_remove"),
        made(BareTotal, PAIR, "add_remove"),
    ),
    Planted(
        "residuals of noisy cells",
        "A first look adds noise to the cells and takes residuals afterwards.",
        check_samples_follow_the_law,
        "law",
        made(Overview, LIST),
        made(NoiseThenMap, LIST),
        also=((check_noise_is_independent, "hangs together"),),
    ),
    Planted(
        "columns that appear where somebody is",
        "A column of a first look is shown where somebody has its last value.",
        check_the_shape_is_public,
        "which bars appear",
        made(Overview, ONE),
        made(OnlyWhereSomebodyIs, ONE),
    ),
    Planted(
        "a replaced row at right angles",
        "A first look takes the change of a replaced row for 2·p instead of the worst agreement of two rows.",
        *law,
        made(Overview, PAIR),
        made(TwoRightAngles, PAIR),
    ),
    Planted(
        "one row each in a first look",
        "A first look forgets that a person may have a second row.",
        *law,
        made(Overview, PAIR, unit=SEVERAL),
        made(OneRowEach, PAIR, unit=SEVERAL),
    ),
    Planted(
        "a wrong covariance of cells",
        "What is read off a first look takes its cells to have noise of their own.",
        check_sums_have_their_variance,
        "variance",
        Ranges(LOOK, {}, LOOK.noise_of),
        CellsAlone(LOOK, {}, LOOK.noise_of),
    ),
    Planted(
        "a forgotten size of a set",
        "A first look takes nobody to hold more than one item of a set.",
        *law,
        made(Overview, SETS),
        made(OneItemEach, SETS),
    ),
    Planted(
        "a bare item of a set",
        "A first look tells how many hold one item as it is.",
        *law,
        made(Overview, SETS, "add_remove"),
        made(BareItems, SETS, "add_remove"),
    ),
    Planted(
        "public rows where only people are",
        "A first look tells the number of rows of a table in which a person may have several.",
        *law,
        made(Overview, PAIR, unit=SEVERAL),
        made(PublicRows, PAIR, unit=SEVERAL),
    ),
]
