"""Wrong twins of publishing: what a row tells too much, and what a file tells beside its rows."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
from battery import check_law_against_loss, check_sensitivity
from helpers_floors import check_floors

import dpengine as dp
from dpengine.asking.release import charge_and_draw
from dpengine.core.exact import ln_above, up
from dpengine.mechanisms.promises import Blurred
from dpengine.mechanisms.publish.of_rows import OfRows
from dpengine.mechanisms.publish.publish_category import PublishCategory
from dpengine.mechanisms.publish.publish_number import PublishNumber
from dpengine.mechanisms.publish.publish_row import PublishRow
from dpengine.mechanisms.publish.publish_set import PublishSet
from dpengine.mechanisms.publish.publish_table import PublishTable
from dpengine.mechanisms.publish.write_file import publish
from dpengine.noise.coins import Coins, SystemCoins
from dpengine.noise.laws import Independent
from dpengine.noise.row_noise import Blur, ItemByItem, RowNoise, Swap
from tests.planted.checks import check_noise_is_independent, check_samples_follow_the_law
from tests.planted.ledgers import charged_after
from tests.planted.registry import Planted
from tests.planted.wrong_questions import made

# A row that tells too much


class ContinuousBlur(Blur):
    @property
    def scale(self) -> Fraction:  # type: ignore[override]
        return up(self.steps / (self.epsilon - 2 * ln_above(1 - self.delta)), 10**9)


class HairSwap(Swap):
    @property
    def mixed(self) -> Fraction:  # type: ignore[override]
        return super().mixed - Fraction(1, 2**40)


def _as(kind: type[RowNoise], row: RowNoise) -> Any:
    return kind(**{one.name: getattr(row, one.name) for one in fields(row)})


class ContinuousScale(PublishNumber):
    """The least scale for continuous noise: on a coarse grid it is too little."""

    def row(self, name: str) -> RowNoise:
        return _as(ContinuousBlur, super().row(name))


class TooTrue(PublishCategory):
    def row(self, name: str) -> RowNoise:
        return _as(HairSwap, super().row(name))


class OneNoiseForAllRows(PublishNumber):
    """Every row is right by itself; the difference of two is bare."""

    def perturbed(self, value: Any, coins: Coins) -> tuple[Any, ...]:
        [shift] = coins.many_laplace(np.zeros(1, dtype=np.int64), self.row(self.columns[0]).scale)  # type: ignore[union-attr]
        return tuple(self.coarsened(name, codes) + shift for name, codes in zip(self.columns, value, strict=True))


class UntilInRange(PublishNumber):
    """A number outside the range looks odd, so it is drawn again. (Cutting it off afterwards would be fine.)"""

    def perturbed(self, value: Any, coins: Coins) -> tuple[Any, ...]:
        drawn = super().perturbed(value, coins)
        while any(
            (codes < 0).any() or (codes > self.steps(name)).any()
            for name, codes in zip(self.columns, drawn, strict=True)
        ):
            again = super().perturbed(value, coins)
            drawn = tuple(
                np.where((codes < 0) | (codes > self.steps(name)), new, codes)
                for name, codes, new in zip(self.columns, drawn, again, strict=True)
            )
        return drawn


class EmptyBelow(PublishNumber):
    """An empty cell is published one step below the range: it lies farther from the top than the noise is for."""

    def coarsened(self, name: str, codes: Any) -> Any:
        return np.asarray(codes, dtype=np.int64)


class FloorOfAShare(PublishTable):
    """What nobody can beat is taken at the share of ε that a column gets: another mechanism shares otherwise."""

    def promise(self) -> Blurred:
        own = replace(self, epsilon=self.epsilon / len(self.columns))
        return Blurred(**vars(super().promise()) | {"floors": tuple(map(own.floor, self.columns))})


class ErrorsAsFloors(PublishSet):
    """What this way errs by is told as what nobody can beat; another way may err less."""

    def promise(self) -> Blurred:
        told = super().promise()
        return Blurred(**vars(told) | {"floors": told.errors})


class WholeSpend(ItemByItem):
    @property
    def each(self) -> Swap:  # type: ignore[override]
        return Swap(2, self.epsilon, self.delta)


class EveryItemAtTheWholeSpend(PublishSet):
    """Each item of a set is published at ε, as if a set were one answer: it is as many as there are items."""

    def row(self, name: str) -> RowNoise:
        return _as(WholeSpend, super().row(name))


class OfTheLongestColumn(PublishRow):
    """Randomised response over as many rows as the longest column has values: whole rows are far more."""

    @property
    def whole(self) -> Swap:  # type: ignore[override]
        few = Swap(max(self.sizes), self.epsilon, self.delta)
        return TooFew(self.combinations, self.epsilon, self.delta, few)


@dataclass(frozen=True)
class TooFew(Swap):
    few: Swap

    @property
    def mixed(self) -> Fraction:  # type: ignore[override]
        return self.few.mixed


class HeldByTheLast(PublishCategory):
    """A row by itself is published as it should be; beside others the last one is hardly changed."""

    def law(self, value: Any) -> Independent:
        right = super().law(value)
        if len(value[0]) < 2:
            return right
        row = self.row(self.columns[0])
        assert isinstance(row, Swap)
        bare = Swap(row.size, 20 * self.epsilon, self.delta)
        return Independent((*right.parts[:-1], bare.law(int(value[0][-1]))))


# A file that tells something beside its rows

Publisher = Callable[[OfRows, Any, Path], None]


def check_the_order_of_rows_is_lost(write: Publisher) -> None:
    """At ε = 50 rows come out as they went in: 100 of one value, then 100 of another. They stay in that order with
    chance 1/C(200, 100), below 1e-58; a value is changed with chance below 1e-18."""
    query = made(PublishCategory, {"columns": ["c"], "epsilon": "50"})
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "p.parquet"
        write(query, (np.repeat([0, 1], 100),), target)
        told = pq.read_table(target).column(0).to_pylist()
    assert told != sorted(told) and told != sorted(told, reverse=True), "rows lie as they lay in the table"


def shuffled(query: OfRows, value: Any, target: Path) -> None:
    publish(query, value, SystemCoins(), target, lambda done, total: None)


class InOrder(SystemCoins):
    def order(self, count: int) -> Any:
        return np.arange(count)


def unshuffled(query: OfRows, value: Any, target: Path) -> None:
    publish(query, value, InOrder(), target, lambda done, total: None)


def check_no_file_without_its_charge(carry: Any) -> None:
    """A table that the allowance cannot bear leaves nothing on the disk."""
    with tempfile.TemporaryDirectory() as folder, mock.patch("dpengine.asking.release.charge_and_draw", carry):
        workspace = dp.Workspace(Path(folder))
        frame = pd.DataFrame({"c": ["a", "b"] * 10})
        schema = dp.Schema({"c": dp.Category(["a", "b"])})
        table = workspace.add_table(
            "t", frame, schema=schema, unit=dp.Unit.rows(), budget=dp.Budget("1", "1e-6"), relation="replace"
        )
        with suppress(dp.AllowanceError):
            table.ask(table.query("publish_category", columns=["c"], epsilon="2"))
        left = list((Path(folder) / "published").glob("*"))
        workspace.close()
    assert not left, "a file was written before the charge"


NUMBERS, LISTED = {"columns": ["x"], "delta": "0.1"}, {"columns": ["c"], "delta": "0.1"}
BLURRED, SWAPPED = made(PublishNumber, NUMBERS), made(PublishCategory, LISTED)
PAIR = {"columns": ["c", "d"], "epsilon": "1"}
SETS, ROWS, LISTS = {"columns": ["s"]}, {"columns": ["t", "c"]}, {"columns": ["t"]}
law = (check_law_against_loss, "exceeds")

PLANTED = [
    Planted(
        "the continuous scale on the grid",
        "Numbers are published with the least scale of continuous noise.",
        *law,
        BLURRED,
        made(ContinuousScale, NUMBERS),
    ),
    Planted(
        "randomised response a hair too true",
        "The chance of another value lies 2^-40 below its bound.",
        *law,
        SWAPPED,
        made(TooTrue, LISTED),
    ),
    Planted(
        "one noise for all rows",
        "All published rows get the same noise, so their differences are bare.",
        check_noise_is_independent,
        "hangs together",
        BLURRED,
        made(OneNoiseForAllRows, NUMBERS),
    ),
    Planted(
        "published numbers drawn again until in range",
        "What leaves the range is drawn anew.",
        check_samples_follow_the_law,
        "law",
        BLURRED,
        made(UntilInRange, NUMBERS),
    ),
    Planted(
        "an empty cell below the range",
        "A missing number is published outside what the noise is for.",
        check_sensitivity,
        "moves it by",
        BLURRED,
        made(EmptyBelow, NUMBERS),
    ),
    Planted(
        "a floor at a share of ε",
        "“Nobody can do better” is said of a column at the ε/k that it gets.",
        check_floors,
        "somebody does better",
        made(PublishTable, PAIR),
        made(FloorOfAShare, PAIR),
    ),
    Planted(
        "an error in place of a floor",
        "“Nobody can do better” is said of what one way of publishing sets errs by.",
        check_floors,
        "somebody does better",
        made(PublishSet, SETS),
        made(ErrorsAsFloors, SETS),
    ),
    Planted(
        "every item at the whole spend",
        "A set is published item by item, and ε is not divided among the items.",
        *law,
        made(PublishSet, SETS),
        made(EveryItemAtTheWholeSpend, SETS),
    ),
    Planted(
        "a row that counts as its longest column",
        "Whole rows are swapped with the chances of a list as long as one column.",
        *law,
        made(PublishRow, ROWS),
        made(OfTheLongestColumn, ROWS),
    ),
    Planted(
        "a row that is bare beside others",
        "It says that every row is published by itself, and one row alone is.",
        *law,
        made(PublishCategory, LISTS),
        made(HeldByTheLast, LISTS),
    ),
    Planted(
        "rows published in their order",
        "The file's order, which may be sorted by what it holds, stays.",
        check_the_order_of_rows_is_lost,
        "as they lay",
        shuffled,
        unshuffled,
    ),
    Planted(
        "a file written before its charge",
        "The table is drawn and written, then charged.",
        check_no_file_without_its_charge,
        "before the charge",
        charge_and_draw,
        charged_after,
    ),
]
