"""The rows of a synthetic table that was paid for, fitted to what was released: written once, read as often as one
likes. Free, and the table itself is not needed.

Measured    every marginal that was bought has its range, as promised before (`look`).
Made up     figures of the rows. Where a marginal was measured, the range stands beside them, and says how far the truth
            is from what was measured, not from the rows.
Held back   of what was only fitted nothing is promised. How a fit does where the truth is known but for noise: some of
            the measured pairs, chosen at random, are left out of another fit, smaller but else the same, and held
            against their cells. An average over these pairs, noise included; beside it what noise alone would come to,
            and what taking the two columns for independent would.
Noise       cells outside a list or without a value that cannot be told from none get no rows (`faint`).
Values      a cell of a list is its label; of a number or a day, one of its values on the declared grid: spread over the
            group as another paid answer about the column says (`refined`), else evenly. Rows without a value have none,
            and so have those that do not fit the declaration.
Rules       no row meets a condition that somebody said cannot be. Combinations of cells of which every value would have
            no weight; where only some would, others are taken (`synthetic.rules`). Checked before they are written.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from pathlib import Path
from uuid import uuid4

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from dpengine.core.arrays import Arrow, Floats, Integers
from dpengine.core.errors import AllowanceError
from dpengine.core.json_types import JsonObject
from dpengine.declared.grouped import Grouped, base
from dpengine.declared.schema import Number
from dpengine.mechanisms.marginals.residuals import Columns
from dpengine.mechanisms.synthetic.plans import CHOSEN
from dpengine.mechanisms.synthetic.rules import Mask, valued
from dpengine.mechanisms.synthetic.soft_fit import Points, Progress, Target, quiet
from dpengine.mechanisms.synthetic.synthetic_table import SyntheticTable
from dpengine.messages import called
from dpengine.released import faint
from dpengine.released.look import Look
from dpengine.released.mixing import PublicMix
from dpengine.released.refined import Curve, best, evenly
from dpengine.released.table_fit import fitted, shares_of, whole_rows

MOST_MENDED = 400  # pairs that rows are mended by
MOST_HELD = 2**22  # cells of these together
HELD_BACK = 5  # pairs
TRIED_POINTS, TRIED_SWEEPS = 2**17, 25  # of the fit that is tried
_FACTS, _REFINED = b"synthetic table", b"refined"
_MISFITS = ""  # the name of a column that only the file has


@dataclass(frozen=True)
class Tried:
    """How a fit did on pairs that were left out of it: shares of rows in other cells than measured, noise included."""

    off: float
    noise: float  # that noise alone would come to
    alone: float  # of columns taken for independent
    pairs: int


class MadeTable:
    """One synthetic table: its question, what was released, and the file of its rows."""

    def __init__(
        self,
        query: object,
        look: object,
        path: Path,
        curves: Callable[[], Sequence[Curve]] = tuple,
        progress: Callable[[], tuple[int, int] | None] = lambda: None,
    ) -> None:
        """`curves`: what else was bought of its columns; `progress`: of a fit that is being made just now."""
        if not isinstance(query, SyntheticTable) or not isinstance(look, Look):
            raise AllowanceError("synthetic.unknown")
        self.query, self.look, self.path, self.progress = query, look, path, progress
        self._bought = curves

    # What was released

    @cached_property
    def targets(self) -> list[Target]:
        told, noise = self.look.marginals, self.look.noise
        return [Target(part, cells, float(self.query.layout.variance(part, noise))) for part, cells in told.items()]

    @property
    def alike(self) -> bool:
        """Where pairs were chosen all are followed as closely: they are far from what was expected."""
        return self.query.plan == CHOSEN

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        return tuple(axis.size for axis in self.query.axes)

    @cached_property
    def rows(self) -> int:
        return self.query.rows_made(self.look.marginals[(0,)].tolist())

    @cached_property
    def seed(self) -> int:
        """Chance for what follows, from what was drawn: the same numbers make the same table."""
        drawn = json.dumps(list(self.look.raw)).encode()
        return int.from_bytes(hashlib.sha256(drawn).digest()[:8], "big")

    # Making it

    @property
    def ready(self) -> bool:
        return self.path.is_file()

    def make(self, progress: Progress = quiet) -> None:
        """Fit, and write; some other process may do the same, and writes the same."""
        if self.ready:
            return
        points = fitted(
            self.sizes, self.targets, float(self.rows), self.seed, progress, self.alike, possible=self.possible
        )
        codes = self._whole(points)
        by_curve = {name: curve.source for name, curve in self._curves.items()}
        facts = {_FACTS: json.dumps(self._tried()).encode(), _REFINED: json.dumps(by_curve).encode()}
        told = self.arrow(codes).replace_schema_metadata(facts)
        part = self.path.with_suffix(
            f".part{os.getpid()}-{uuid4().hex[:8]}"
        )  # of the same stem, so that nobody sweeps it
        pq.write_table(told, part, compression="zstd")
        part.chmod(0o600)
        os.replace(part, self.path)

    def _whole(self, points: Points) -> list[Integers]:
        weights = points.weights * faint.kept(self.left_out, points.codes)
        told = Points(points.codes, weights if weights.any() else points.weights)
        return whole_rows(told, self.sizes, self.rows, self._mended_by, self.seed, self._told_possible)

    @cached_property
    def _mended_by(self) -> list[Columns]:
        """All pairs; of many, those that were measured; of large ones, the smallest that can be held together."""
        pairs: list[Columns] = [(one, other) for one, other in combinations(range(len(self.sizes)), 2)]
        if len(pairs) > MOST_MENDED:
            pairs = [one.columns for one in self.targets if one.cells.ndim == 2][:MOST_MENDED]
        cells = {pair: self.sizes[pair[0]] * self.sizes[pair[1]] for pair in pairs}
        order = sorted(pairs, key=lambda pair: cells[pair])
        held = set(order[: int(np.searchsorted(np.cumsum([cells[pair] for pair in order]), MOST_HELD, "right"))])
        return [pair for pair in pairs if pair in held]

    def _tried(self) -> JsonObject | None:
        pairs = [one for one in self.targets if len(one.columns) == 2]
        if len(pairs) < 3:
            return None
        chosen = PublicMix(self.seed).order(len(pairs))[: min(HELD_BACK, len(pairs) // 3)]
        out = {pairs[place].columns for place in chosen.tolist()}
        rest = [one for one in self.targets if not any(set(pair) <= set(one.columns) for pair in out)]
        seen = {place for one in rest for place in one.columns}
        if len(seen) < len(self.sizes):
            return None
        points = fitted(
            self.sizes,
            rest,
            float(self.rows),
            self.seed,
            alike=self.alike,
            points=TRIED_POINTS,
            most=TRIED_POINTS,
            sweeps=TRIED_SWEEPS,
            possible=self.possible,
        )
        shares, found = shares_of(self.sizes, rest), []
        for one in pairs:
            if one.columns in out:
                told = points.marginal(one.columns, self.sizes) / points.weights.sum()
                alone = np.outer(*(shares[place] for place in one.columns))
                real = one.cells / self.look.rows
                noise = math.sqrt(one.variance / (2 * math.pi)) * one.cells.size / self.look.rows
                found.append((np.abs(told - real).sum() / 2, noise, np.abs(alone - real).sum() / 2))
        means = [float(np.mean([one[place] for one in found])) for place in range(3)]
        return {"off": means[0], "noise": means[1], "alone": means[2], "pairs": len(found)}

    @cached_property
    def tried(self) -> Tried | None:
        facts = (pq.read_schema(self.path).metadata or {}).get(_FACTS, b"null")
        told = json.loads(facts)
        return None if told is None else Tried(**told)

    # Values inside the groups

    @cached_property
    def _curves(self) -> dict[str, Curve]:
        """For each column of numbers or days the curve that its values follow inside a group, where there is one."""
        refs = [ref for place, ref in enumerate(self.query.columns) if self._spread(place) and isinstance(ref, Grouped)]
        found = {base(ref): best(self._bought(), base(ref), ref.starts) for ref in refs} if refs else {}
        return {name: curve for name, curve in found.items() if curve is not None}

    @cached_property
    def refined(self) -> dict[str, str]:
        """Which columns of the file follow a curve inside their groups, and the request that bought it."""
        told: dict[str, str] = json.loads((pq.read_schema(self.path).metadata or {}).get(_REFINED, b"{}"))
        return told

    def off_by_spreading(self) -> dict[str, float]:
        """How far an average of a column can be off only because values are spread evenly inside measured groups: at
        most half the width of each, by its measured share. None of a column that follows a curve."""
        found = {}
        for place, axis in enumerate(self.query.axes):
            name, column = base(axis.ref), self.query.facts.schema[base(axis.ref)]
            if not isinstance(axis.ref, Grouped) or not isinstance(column, Number) or not self._spread(place):
                continue
            wide = np.diff([*axis.ref.starts, column.size]) - 1
            rows = np.maximum(self.look.marginals[(place,)][: axis.listed], 0.0)
            if wide.any() and rows.sum() > 0 and name not in self.refined:
                found[name] = float((rows * wide).sum() / rows.sum() / 2 * float(column.step))
        return found

    def together(self) -> list[tuple[list[str], int]]:
        """What was measured together, and within how many people or rows each of its counts is: pairs first."""
        parts = sorted((part for part in self.look.marginals if len(part) > 1), key=lambda part: (len(part), part))
        names = self.look.cells
        return [([names[place] for place in part], math.ceil(self.look.reach(part))) for part in parts]

    # Rules

    def possible(self, codes: Sequence[Integers]) -> Mask | None:
        """Which combinations of cells no rule excludes; None where there is no rule."""
        return self.query.rules.possible(codes) if self.query.never else None

    @cached_property
    def left_out(self) -> list[Mask]:
        """For each column the cells that get no rows, because they cannot be told from none (`faint`)."""
        return faint.left_out(self.look)

    def _told_possible(self, codes: Sequence[Integers]) -> Mask:
        fine, ruled = faint.kept(self.left_out, codes), self.possible(codes)
        return fine if ruled is None else fine & ruled

    # Rows as a person reads them

    def arrow(self, codes: Sequence[Integers]) -> pa.Table:
        rng = PublicMix(self.seed + 1)
        order = rng.order(len(codes[0]))
        mixed = [code[order].astype(np.int64) for code in codes]
        rules = self.query.rules
        if self.query.never:
            mixed = rules.freed(mixed, rng)
        values = [self._values(place, cells, rng) for place, cells in enumerate(mixed)]
        if self.query.never:
            rules.moved_out(mixed, values, rng)
            if rules.met(mixed, values).any():
                raise AllowanceError("synthetic_table.nothing", columns=[rule.name for rule in rules.columns])
        names = [base(ref) for ref in self.query.columns]
        told = {name: self._told(place, values[place]) for place, name in enumerate(names)}
        return pa.table(told | {_MISFITS: pa.array(self._misfits(mixed))})

    def _misfits(self, cells: Sequence[Integers]) -> Integers:
        """A bit for each column in which a row does not fit: else it could not be told from one without a value."""
        found = np.zeros(len(cells[0]), dtype=np.int64)
        for place, axis in enumerate(self.query.axes):
            if axis.absent and axis.misfit:
                found |= (cells[place] == axis.size - 1).astype(np.int64) << place
        return found

    def _values(self, place: int, cells: Integers, rng: PublicMix) -> Integers:
        """A declared code for every cell, −1 for none; a cell itself where its column is told by labels."""
        axis = self.query.axes[place]
        if not self._spread(place):
            return cells
        assert isinstance(axis.ref, Grouped)
        ends = [*axis.ref.starts[1:], self.query.facts.schema[base(axis.ref)].size]
        codes, curve = np.full(len(cells), -1, dtype=np.int64), self._curves.get(base(axis.ref))
        for cell, (start, end) in enumerate(zip(axis.ref.starts, ends, strict=True)):
            held = np.flatnonzero(cells == cell)
            spread = curve.spread(start, end, len(held)) if curve is not None else None
            codes[held[rng.order(len(held))]] = evenly(start, end, len(held)) if spread is None else spread
        return codes

    def _spread(self, place: int) -> bool:
        return valued(self.query.axes[place], self.query.facts)

    def _told(self, place: int, codes: Integers) -> Arrow:
        """Codes as a file has them."""
        axis = self.query.axes[place]
        column = self.query.facts.schema[base(axis.ref)]
        if not self._spread(place):
            labels = pa.array([str(label) for label in self.query.cell_labels[place]])  # as they are stored
            none = codes >= axis.listed
            return pa.DictionaryArray.from_arrays(pa.array(codes.astype(np.int32), mask=none), labels)
        met, places = np.unique(codes, return_inverse=True)
        values = [None if code < 0 else column.value(code) for code in met.tolist()]
        whole = isinstance(column, Number) and column.step.denominator == column.lower.denominator == 1
        kind = pa.int64() if whole else pa.float64() if isinstance(column, Number) else pa.string()
        return pa.array(values, kind).take(pa.array(places.ravel()))

    # What is read off it

    def table(self, most: int | None = None) -> pa.Table:
        """Its rows (the first `most`), in the reader's words; they stand in mixed order."""
        told = self._file()
        told = told if most is None else told.slice(0, most)
        names = [base(ref) for ref in self.query.columns]
        return pa.table({name: self._in_words(place, told.column(place)) for place, name in enumerate(names)})

    def _file(self) -> pa.Table:
        if not self.ready:
            self.make()
        return pq.read_table(self.path)

    def _in_words(self, place: int, column: Arrow) -> Arrow:
        if self._spread(place):
            return column
        words = {str(label): called(label) for label in self.query.cell_labels[place]}
        encoded = column.unify_dictionaries().combine_chunks()
        told = [words[label] for label in encoded.dictionary.to_pylist()]
        return pa.DictionaryArray.from_arrays(encoded.indices, pa.array(told, pa.string()))

    @cached_property
    def codes(self) -> list[Integers]:
        """The cells of the rows, read back from the file."""
        told = self._file()
        cells = [self._cells(place, told.column(place)) for place in range(len(self.sizes))]
        misfits = told.column(_MISFITS).to_numpy()
        return [np.where((misfits >> place) & 1, self.sizes[place] - 1, code) for place, code in enumerate(cells)]

    def _cells(self, place: int, column: Arrow) -> Integers:
        axis = self.query.axes[place]
        told = column.combine_chunks().dictionary_encode() if not pa.types.is_dictionary(column.type) else None
        encoded = told if told is not None else column.unify_dictionaries().combine_chunks()
        places = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
        met = encoded.dictionary.to_pylist()
        if self._spread(place):
            declared, ref = self.query.facts.schema.ordered(base(axis.ref)), axis.ref
            assert isinstance(ref, Grouped)
            found = [ref.of(declared.code(value)) for value in met]
        else:
            known = {str(label): cell for cell, label in enumerate(self.query.cell_labels[place])}
            found = [known[value] for value in met]
        cells = np.array(found, dtype=np.int64)
        none = axis.listed if axis.absent or axis.misfit else 0
        return np.where(places < 0, none, cells[places] if len(cells) else none)

    def counts(self, *names: str) -> Floats:
        """How many of its rows are in each combination of cells of these columns; an axis for each."""
        columns = tuple(self.look.place(name) for name in names)
        points = Points(tuple(self.codes), np.ones(len(self.codes[0])))
        return points.marginal(columns, self.sizes)
