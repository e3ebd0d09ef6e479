"""What is computed from a synthetic table. It costs nothing: the rows were released, and all of it is post-processing.

For every query of its class (`of_class`), or the complement of one, the share is within the promise of the true one,
all of them at once. Anything else may be computed too, but nothing is promised about it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dpengine.core.arrays import Integers
from dpengine.core.errors import AllowanceError
from dpengine.core.json_types import Json
from dpengine.declared.condition_words import combined
from dpengine.declared.conditions import read_predicate
from dpengine.mechanisms import catalogue
from dpengine.mechanisms.query import AnyQuery
from dpengine.mechanisms.synthetic.of_class import OfClass
from dpengine.messages import called

_GOLDEN = (5**0.5 - 1) / 2
KEYS = tuple(key for key, question in catalogue.items() if question.card.answer == "table")


@dataclass(frozen=True)
class ClassShare:
    """In percent; `width` is None where nothing is promised."""

    value: float
    width: float | None

    @property
    def interval(self) -> tuple[float, float] | None:
        if self.width is None:
            return None
        return max(self.value - self.width, 0.0), min(self.value + self.width, 100.0)


class Synthetic:
    """One synthetic table: its question, its rows, and what can be computed from it."""

    def __init__(self, query: AnyQuery, value: dict[str, int]) -> None:
        if not isinstance(query, OfClass):
            raise AllowanceError("synthetic.unknown")
        self.query, self.value = query, value

    @cached_property
    def cells(self) -> Integers:
        """Rows of each combination, in the declared order."""
        return np.array([self.value[label] for label in self.query.labels()], dtype=np.int64)

    @property
    def rows(self) -> int:
        return int(self.cells.sum())

    @cached_property
    def width(self) -> float:
        """How far a share of the class can be off, in percent."""
        return float(self.query.promise().alpha)

    def table(self, most: int | None = None) -> pa.Table:
        """Its rows (the first `most`), mixed evenly by a public rule, so that the first rows look like the whole."""
        mixed = np.argsort(np.arange(self.rows) * _GOLDEN % 1)[:most]
        cell = np.repeat(np.arange(self.query.domain), self.cells)[mixed]
        columns = {}
        for name, codes in self.query.codes.items():
            labels = pa.array(list(self.query.facts.schema.category(name).labels))
            columns[name] = pa.DictionaryArray.from_arrays(pa.array(codes[cell].astype(np.int32)), labels)
        return pa.table(columns)

    def share(self, condition: Json) -> ClassShare:
        """Which share of the rows meets a condition on its columns."""
        read = read_predicate(condition, self.query.facts.schema)
        if strange := sorted(read.columns() - set(self.query.columns)):
            raise AllowanceError("synthetic.condition", column=strange[0])
        return self._share(self.query.holds(read))

    def marginal(self, names: Sequence[str]) -> dict[str, ClassShare]:
        """The share of every combination of values of one or more of its columns."""
        for name in names:
            if name not in self.query.columns:
                raise AllowanceError("column.absent", column=str(name)[:60], columns=list(self.query.columns))
        block = self.query.marginal(names)
        labels = combined([[called(one) for one in self.query.facts.schema.category(name).labels] for name in names])
        if any(set(one.names) == set(names) for one in self.query.blocks):  # one check for all of them
            shares = block.sums(self.cells) * (100 / self.rows)
            return {label: ClassShare(float(one), self.width) for label, one in zip(labels, shares, strict=True)}
        return {label: self._share(block.places == place) for place, label in enumerate(labels)}

    def _share(self, held: npt.NDArray[np.bool_]) -> ClassShare:
        value = 100 * int(self.cells[held].sum()) / self.rows
        return ClassShare(value, self.width if self.promised(held) else None)

    def promised(self, held: npt.NDArray[np.bool_]) -> bool:
        """Are these cells a query of the class, or the complement of one?"""
        for cells in (held, ~held):
            if not cells.any():
                return True  # nobody or everybody: the share is known
            for block in self.query.blocks:
                first = block.places[cells][0]
                if first >= 0 and np.array_equal(block.places == first, cells):
                    return True
        return False
