"""Wrong twins of a synthetic table that is fitted to marginals: a choice without noise, rows that see the table, an
exact total, and what nobody is charged for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
from battery import check_law_against_loss, facts
from recorded import made

import dpengine as dp
from dpengine.accountant.loss import Gaussian, Loss, Together
from dpengine.core.types import Integers, JsonObject
from dpengine.declared.facts import Facts
from dpengine.mechanisms.marginals.residuals import ResidualLayout
from dpengine.mechanisms.query import ReleaseTools
from dpengine.mechanisms.synthetic.chosen_pairs import Choosing, Offer
from dpengine.mechanisms.synthetic.synthetic_table import SyntheticTable
from dpengine.noise.coins import SystemCoins
from dpengine.noise.laws import Finite, Independent
from tests.planted.recorded import Scene, check_the_recorder_finds_nothing
from tests.planted.registry import Planted

LISTS = dp.Schema({name: dp.Category(["a", "b"], unknown="b", missing="b") for name in ("c", "d", "e")})
CHOSEN: dict[str, Any] = {"columns": ["c", "d", "e"], "plan": "chosen"}
PAIR: dict[str, Any] = {"columns": ["c", "d"], "plan": "pairs"}


def _rows(*rows: str) -> list[list[str]]:
    return [row.split(",") for row in rows]


HEAD = ["who", "c", "d", "e"]
REST = _rows("p1,a,a,b", *(f"p{place},a,b,a" for place in (2, 3, 4, 5)), "p6,b,a,b", "p7,b,a,a")
ONE, OTHER = ([*REST, *_rows(last)] for last in ("p8,a,a,b", "p8,b,a,a"))  # another pair is farthest from even
NEAR = made.World(LISTS, dp.Unit.rows(), "replace", 8, HEAD, ONE, OTHER)


class Largest(SystemCoins):
    """The best candidate, always."""

    def choose(self, gaps: Integers, sizes: Integers, rate: Any, most: int | None = None) -> tuple[int, int]:
        return int(np.where(sizes > 0, gaps, np.iinfo(np.int64).max).argmin()), 0


class EvenlyExpected(SyntheticTable):
    """Pairs are compared with an even spread: a valid question, whose choice hangs on nothing drawn before."""

    def _expected(self, raw: Any, known: Any, wanted: Any) -> Any:
        left = [part for part in self._parts if len(part) == 2 and part not in self.marginals(raw)]
        return {part: np.full([2, 2], self.facts.about // 4, dtype=np.int64) for part in left}

    @property
    def turns(self) -> int:
        return 3


class ChosenBare(EvenlyExpected):
    """The pair that is farthest off is taken as it is."""

    def drawn(self, value: Any, coins: Any, progress: Any) -> tuple[int, ...]:
        bare = Largest()
        coins.choose, kept = bare.choose, coins.choose
        try:
            return super().drawn(value, coins, progress)
        finally:
            coins.choose = kept


class FittedToTheTable(SyntheticTable):
    """Among what was drawn stand the counts themselves, for a better fit."""

    def draw_body(self, value: Any, tools: ReleaseTools) -> JsonObject:
        return super().draw_body(value, tools) | {"fit": [list(one) for one in value]}


class ExactTotal(SyntheticTable):
    """The table has as many rows as there are, though membership is secret."""

    @cached_property
    def layout(self) -> ResidualLayout:
        right: ResidualLayout = SyntheticTable.layout.func(self)  # type: ignore[attr-defined]
        return replace(right, known=True)

    def draw(self, value: Any, coins: Any) -> tuple[int, ...]:
        return (*super().draw(value, coins), sum(value[0]))

    def law(self, value: Any) -> Any:
        told = super().law(value)
        assert isinstance(told, Independent)
        return Independent((*told.parts, Finite({sum(value[0]): Decimal(1)})))


class MeasuredForNothing(SyntheticTable):
    """Only the columns by themselves are charged."""

    def loss(self) -> Loss:
        first, parts = Gaussian(self.choosing.for_first), super().loss().parts  # type: ignore[attr-defined]
        return Together(tuple(first if isinstance(one, Gaussian) else one for one in parts))


class FarQuicker(Choosing):
    @cached_property
    def epsilon(self) -> Any:
        return 40 * Choosing.epsilon.func(self)  # type: ignore[attr-defined]


class ChosenQuicker(EvenlyExpected):
    """Choices at forty times the rate that is charged."""

    @cached_property
    def choosing(self) -> Choosing:
        right: Choosing = SyntheticTable.choosing.func(self)  # type: ignore[attr-defined]
        return FarQuicker(*(getattr(right, one.name) for one in fields(right)))

    def loss(self) -> Loss:
        return SyntheticTable.build(self.facts, self.parameters()).loss()


class TwiceTheScore(Choosing):
    """What takes two turns counts twice, as if a person moved it by no more."""

    def scores(self, cells: Any, expected: Any, offers: Any) -> tuple[Integers, Integers]:
        return super().scores(cells, expected, [replace(one, valued=1000 * one.turns) for one in offers])


class SeveralTooExact(SyntheticTable):
    """What takes k turns has a k²-th of the noise, not a k-th."""

    def _spread_of(self, part: Any, turns: int = 1) -> Fraction:
        return super()._spread_of(part, turns) / turns


class OneTurn(Offer):
    @property
    def turns(self) -> int:
        return 1


class SeveralForOne(Choosing):
    def offers(self, held: Any, left: int, always: Any, noise: Any) -> list[Offer]:
        return [OneTurn(**vars(one)) for one in super().offers(held, left, always, noise)]


class SeveralTurnsForOne(SyntheticTable):
    """Whatever is chosen counts as one of T turns, however many it takes."""

    @cached_property
    def choosing(self) -> Choosing:
        right: Choosing = SyntheticTable.choosing.func(self)  # type: ignore[attr-defined]
        return SeveralForOne(*(getattr(right, one.name) for one in fields(right)))


class Noting(SystemCoins):
    """Chooses what a script says, and notes of each noise what it was added to and how wide it is."""

    def __init__(self, pick: Callable[[list[int]], int]) -> None:
        self.pick, self.wide = pick, list[tuple[int, Fraction]]()

    def choose(self, gaps: Integers, sizes: Integers, rate: Any, most: int | None = None) -> tuple[int, int]:
        return self.pick(np.flatnonzero(sizes).tolist()), 0

    def gaussian(self, values: Sequence[int], sigma_squared: Fraction) -> list[int]:
        self.wide.append((len(values), sigma_squared))
        return super().gaussian(values, sigma_squared)


def check_turns_add_up_to_what_is_charged(query: SyntheticTable) -> None:
    """Lists of two values: however the turns are divided, all that is measured loses what is charged. A row moves a
    residual of k such columns to +1 or −1 in each of 2^k cells; one replaced by another moves it twice as far."""
    value = [[3] * query.layout.cells(part) for part in query.largest]
    moved = 4 if query.layout.replaced else 1
    charged = next(one.rho for one in query.loss().parts if isinstance(one, Gaussian))  # type: ignore[union-attr]
    for pick in (max, min, lambda able: able[len(able) // 2], lambda able: able[-len(query._parts) :][0]):
        coins = Noting(pick)
        query.draw(value, coins)
        lost = sum(moved * cells / (2 * variance) for cells, variance in coins.wide)
        assert lost <= charged, "more is measured than is charged"
        assert lost >= Fraction(99, 100) * charged, "less is measured than is charged"


def check_no_score_moves_by_more(choosing: Choosing) -> None:
    """A row added to or taken from every cell of three lists, a triple of which lacks a pair."""
    cells = list(product(*map(range, choosing.layout.sizes)))
    noise = choosing.layout.best(choosing.for_first) | choosing.noise
    offers = choosing.offers({(0, 1): 1, (0, 2): 2}, 99, [(0,), (1,), (2,)], noise)
    expected = {part: np.zeros([choosing.layout.sizes[at] for at in part], dtype=np.int64) for part in choosing.parts}

    def scores(rows: list[tuple[int, ...]]) -> Integers:
        found = {part: one.copy() for part, one in expected.items()}
        for part, counts in found.items():
            for row in rows:
                counts[tuple(row[at] for at in part)] += 1
        return choosing.scores(found, expected, [replace(one, worth=0) for one in offers])[0]

    most = max(int(np.abs(scores(cells) - scores([*cells, one])).max()) for one in cells)
    assert most <= choosing.moved, "a score moves by more than is charged"


def choices(kind: type[Choosing]) -> Choosing:
    right = SyntheticTable.build(Facts("t", LISTS, dp.Unit.rows(), "add_remove", 8), {"epsilon": "1"} | CHOSEN).choosing
    return kind(*(getattr(right, one.name) for one in fields(right)))


def of_four(kind: type[SyntheticTable], relation: str) -> SyntheticTable:
    lists = {f"c{at}": dp.Category(["a", "b"], unknown="b", missing="b") for at in range(4)}
    public = Facts("t", dp.Schema(lists), dp.Unit.rows(), relation, 48)  # type: ignore[arg-type]
    return kind.build(public, {"epsilon": "1", "columns": list(lists), "plan": "chosen"})


def scene(kind: type[SyntheticTable]) -> Scene:
    return Scene(kind, CHOSEN, NEAR)


def small(kind: type[SyntheticTable], relation: str) -> Any:
    return kind.build(facts(relation), {"epsilon": "1"} | PAIR)


PLANTED = [
    Planted(
        "a pair chosen without noise",
        "A synthetic table measures the pair that is farthest off, as it is.",
        check_the_recorder_finds_nothing,
        "raw differs",
        scene(EvenlyExpected),
        scene(ChosenBare),
    ),
    Planted(
        "a fit that sees the table",
        "The rows of a synthetic table are fitted to the counts themselves.",
        check_the_recorder_finds_nothing,
        "differs",
        scene(SyntheticTable),
        scene(FittedToTheTable),
    ),
    Planted(
        "an exact total of a synthetic table",
        "It has as many rows as there are, though membership is secret.",
        check_law_against_loss,
        "exceeds",
        small(SyntheticTable, "add_remove"),
        small(ExactTotal, "add_remove"),
    ),
    Planted(
        "pairs measured for nothing",
        "A synthetic table is charged for its columns alone, and measures pairs too.",
        check_turns_add_up_to_what_is_charged,
        "more is measured",
        of_four(SyntheticTable, "replace"),
        of_four(MeasuredForNothing, "replace"),
    ),
    Planted(
        "a score that counts twice",
        "A triple that is measured with a pair has twice its score, and a person moves it twice as far.",
        check_no_score_moves_by_more,
        "more than is charged",
        choices(Choosing),
        choices(TwiceTheScore),
    ),
    Planted(
        "choices at another rate",
        "Pairs are chosen with a fraction of the noise that is charged.",
        check_the_recorder_finds_nothing,
        "loss",
        scene(EvenlyExpected),
        scene(ChosenQuicker),
    ),
    Planted(
        "several turns, far too exact",
        "What takes k turns is measured with a k²-th of the noise.",
        check_turns_add_up_to_what_is_charged,
        "more is measured",
        of_four(SyntheticTable, "replace"),
        of_four(SeveralTooExact, "replace"),
    ),
    Planted(
        "several turns charged as one",
        "What takes k turns is counted as one of those that are charged.",
        check_turns_add_up_to_what_is_charged,
        "more is measured",
        of_four(SyntheticTable, "add_remove"),
        of_four(SeveralTurnsForOne, "add_remove"),
    ),
]
