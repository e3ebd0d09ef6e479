"""Computations on a synthetic table: free post-processing of a release."""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from pathlib import Path
from uuid import uuid4

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from dpengine.core import files
from dpengine.core.errors import AllowanceError
from dpengine.core.types import Arrow, Floats, Integers, Json, JsonObject
from dpengine.declared.conditions import combined, read_predicate
from dpengine.declared.grouped import Grouped, base
from dpengine.declared.schema import Number
from dpengine.mechanisms.marginals.residuals import Columns
from dpengine.mechanisms.query import AnyQuery
from dpengine.mechanisms.synthetic.of_class import OfClass
from dpengine.mechanisms.synthetic.plans import CHOSEN
from dpengine.mechanisms.synthetic.rules import Mask, evened, valued
from dpengine.mechanisms.synthetic.soft_fit import Points, Progress, Target, quiet
from dpengine.mechanisms.synthetic.synthetic_table import SyntheticTable
from dpengine.messages import called
from dpengine.released.look import Look
from dpengine.released.synthetic_fit import PublicMix, fitted, shares_of, whole_rows

SURE = 3  # standard deviations
MOST_MENDED, MOST_THREES = 400, 600  # pairs and threes that the rows are adjusted to
MOST_HELD = 2**22  # cells of these together
HELD_BACK = 5  # pairs
TRIED_POINTS, TRIED_SWEEPS = 2**17, 25  # of the trial fit
_FACTS, _REFINED = b"synthetic table", b"refined"
_MISFITS = ""  # the name of a column that only the file has
_GOLDEN = (5**0.5 - 1) / 2
Pair = tuple[str, str]


def undeclared_cells(look: Look, place: int) -> npt.NDArray[np.bool_]:
    """For each cell of a column: is it neither a listed value nor a group of the declared range?"""
    query = look.query
    axis, extra = query.axes[place], query.extra(place)
    named = [label in extra for label in query.cell_labels[place]]
    return np.array([cell >= axis.listed or named[cell] for cell in range(axis.size)])


def left_out(look: Look) -> list[npt.NDArray[np.bool_]]:
    """For each column, the cells that get no rows. A cell that comes from the declaration alone (outside the list,
    without a value, misfits) gets none if its released count is at most `SURE` standard deviations of its noise. Most
    files have no rows in such cells, and noise alone would put a few impossible rows into every second file. Listed
    values and groups of a range keep their rows: where all of them occur, leaving out the rarest would move single
    columns a little further off. `perhaps_none` names those that may be noise alone."""
    cells = []
    for place in range(len(look.query.axes)):
        sure = SURE * math.sqrt(float(look.query.layout.variance((place,), look.noise)))
        out = undeclared_cells(look, place) & (look.marginals[(place,)] <= sure)
        cells.append(out if not out.all() else np.zeros_like(out))
    return cells


def kept(cells: Sequence[npt.NDArray[np.bool_]], codes: Sequence[Integers]) -> npt.NDArray[np.bool_]:
    """For each combination of cells: may it get rows, since it has none of the cells that get no rows?"""
    fine = np.ones(len(codes[0]), dtype=np.bool_)
    for out, code in zip(cells, codes, strict=True):
        fine &= ~out[code]
    return fine


def perhaps_none(look: Look, place: int, rows: Floats) -> list[str]:
    """The values and groups of a column that occur in made-up rows although perhaps nobody has them; in the reader's
    language."""
    names, own = look.query.cell_names(place), undeclared_cells(look, place)
    none = look.marginals[(place,)] - math.ceil(look.reach((place,))) <= 0
    return [name for cell, name in enumerate(names) if none[cell] and rows[cell] > 0 and not own[cell]]


@dataclass(frozen=True)
class KeptTogether:
    """Which columns a synthetic table measured together. The measured marginals are part of the draw, so they are
    released; which columns were not measured together follows from them."""

    look: Look

    @cached_property
    def measured(self) -> list[Columns]:
        """The measured sets of columns: single columns, pairs and threes."""
        return sorted(self.look.marginals, key=lambda part: (len(part), part))

    @property
    def names(self) -> list[str]:
        return self.look.cells

    @cached_property
    def _together(self) -> set[Columns]:
        """The pairs that were measured, alone or as part of three columns."""
        return {pair for part in self.measured for pair in combinations(part, 2)}

    @property
    def pairs(self) -> int:
        return len(self._together)

    @property
    def all_pairs(self) -> int:
        return math.comb(len(self.names), 2)

    @property
    def threes(self) -> int:
        return sum(len(part) == 3 for part in self.measured)

    @property
    def all_threes(self) -> int:
        return math.comb(len(self.names), 3)

    @cached_property
    def apart(self) -> list[Pair]:
        """The pairs of columns that were not measured together, in their order."""
        pairs = (pair for pair in combinations(range(len(self.names)), 2) if pair not in self._together)
        return [(self.names[first], self.names[second]) for first, second in pairs]

    def apart_by_column(self) -> dict[str, list[str]]:
        """For each column, the other columns that were not measured together with it. A column that was measured with
        all others is missing."""
        others_of: dict[str, list[str]] = {name: [] for name in self.names}
        for first, second in self.apart:
            others_of[first].append(second)
            others_of[second].append(first)
        return {name: others for name, others in others_of.items() if others}

    @property
    def uneven(self) -> list[str]:
        """The columns of numbers or days whose averages, sums and values neither the measurements nor another answer
        shows."""
        return [name for name, several in evened(self.look.query.axes, self.look.query.facts).items() if several]

    def reach(self, columns: int) -> int:
        """The reach of every count of this many columns, in people or rows; smaller counts may be noise alone."""
        return math.ceil(max(self.look.reach(part) for part in self.measured if len(part) == columns))

    @property
    def widest(self) -> int:
        return max(self.reach(columns) for columns in {len(part) for part in self.measured})


@dataclass(frozen=True)
class Curve:
    """Where the values of a column lie inside a measured group, by another paid answer about the column: a histogram, a
    curve, a first look in finer groups. Free post-processing; the table is not read.

    Curve       runs of codes and about how many rows are in each, with how far that may be off.
    Pieces      a group is cut where runs begin. A piece of a run has its part of the run's rows. Pieces that noise
                could have made are merged with the next until it could not, and counts below 0 become 0.
    Spread      the rows of a group over its pieces in proportion, and evenly inside a piece. Evenly over a group that
                the curve does not cut.
    """

    column: str
    starts: tuple[int, ...]  # of runs of codes, the first at 0
    counts: tuple[float, ...]
    off: float  # how far each count may be off
    size: int  # codes in all
    source: str  # the request that bought it

    def pieces(self, start: int, end: int) -> tuple[Integers, Floats] | None:
        """The codes at which the pieces of a group begin, and about how many rows each piece has; None for a single
        piece."""
        inner = [cut for cut in self.starts if start < cut < end]
        if not inner:
            return None
        cuts = [start, *inner, end]
        places = np.searchsorted(np.array(self.starts), cuts[:-1], side="right") - 1
        begins = np.array(self.starts, dtype=np.int64)
        wide = np.diff(np.append(begins, self.size))[places]
        rows = np.array(self.counts)[places] * np.diff(cuts) / wide
        kept: list[int] = []
        sums: list[float] = []
        low = False  # whether the last piece is one that noise could have made
        for at, count in zip(cuts[:-1], rows.tolist(), strict=True):
            if low and count < self.off:
                sums[-1] += count
            else:
                kept.append(at)
                sums.append(count)
            low = sums[-1] < self.off
        counts = np.maximum(np.array(sums), 0.0)
        return (np.array(kept, dtype=np.int64), counts) if len(kept) > 1 and counts.sum() > 0 else None

    def spread(self, start: int, end: int, many: int) -> Integers | None:
        """Codes for this many rows of a group, rising; None if the curve does not cut the group."""
        pieces = self.pieces(start, end)
        if pieces is None:
            return None
        begins, rows = pieces
        edges = np.floor(np.cumsum(rows) / rows.sum() * many + 0.5).astype(np.int64)
        edges[-1] = many
        counts = np.diff(edges, prepend=0)
        ends = np.append(begins[1:], end)
        runs = zip(begins.tolist(), ends.tolist(), counts.tolist(), strict=True)
        return np.concatenate([evenly(first, last, part) for first, last, part in runs])


def evenly(start: int, end: int, many: int) -> Integers:
    return start + (np.arange(many, dtype=np.int64) * (end - start)) // max(many, 1)


def best(curves: Iterable[Curve], column: str, starts: Sequence[int]) -> Curve | None:
    """The most exact curve that cuts some group of the column into pieces; None if no curve does."""
    able = []
    for curve in curves:
        ends = [*starts[1:], curve.size]
        if curve.column == column and any(curve.pieces(*group) for group in zip(starts, ends, strict=True)):
            able.append(curve)
    return min(able, key=lambda curve: curve.off, default=None)


@dataclass(frozen=True)
class Tried:
    """How well a fit predicts pairs of columns that were left out of it. An error is the share of rows that the fit
    puts into other cells than the noisy measurement does, as an average over the pairs."""

    off: float  # the error of the fit
    noise: float  # the error that noise alone would make
    alone: float  # the error if the two columns are taken for independent
    pairs: int


class FittedTable:
    """The rows of a paid synthetic table, fitted to the released marginals: written once, read any number of times.
    Free, and the table itself is not needed.

    Measured    every bought marginal has its promised range (`look`).
    Made up     figures of the rows. For a measured marginal the range stands beside them: it bounds the distance of the
                truth from the measurement, not from the rows.
    Held back   fitted figures have no promise. How a fit does where the truth is known up to noise: some of the
                measured pairs, chosen at random, are left out of another fit, smaller but else the same, and compared
                with their cells. An average over these pairs, noise included; beside it the error of noise alone, and
                that of taking the two columns as independent.
    Noise       cells outside a list or without a value that may be zero get no rows (`left_out`).
    Values      a cell of a list is its label; of a number or a day, one of its values on the declared grid: spread over
                the group as another paid answer about the column says (`Curve`), else evenly. Rows without a value have
                none, and neither have misfits.
    Rules       no row meets a condition that was declared impossible. Combinations of cells where every value would
                have no weight; where only some would, others are taken (`synthetic.rules`). Checked before writing.
    """

    def __init__(
        self,
        query: object,
        look: object,
        path: Path,
        curves: Callable[[], Sequence[Curve]] = tuple,
        progress: Callable[[], tuple[int, int] | None] = lambda: None,
    ) -> None:
        """`curves` returns other paid answers about the table's columns; `progress` returns how far a fit is that runs
        now, or None."""
        if not isinstance(query, SyntheticTable) or not isinstance(look, Look):
            raise AllowanceError("synthetic.unknown")
        self.query, self.look, self.path, self.progress = query, look, path, progress
        self._bought = curves

    # What was released

    @cached_property
    def targets(self) -> list[Target]:
        marginals, noise = self.look.marginals, self.look.noise
        variance = {part: float(self.query.layout.variance(part, noise)) for part in marginals}
        return [Target(part, cells, variance[part]) for part, cells in marginals.items()]

    @property
    def alike(self) -> bool:
        """Are all pairs followed equally closely? True if the plan chose the pairs: then each is far from what was
        expected."""
        return self.query.plan == CHOSEN

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        return tuple(axis.size for axis in self.query.axes)

    @cached_property
    def rows(self) -> int:
        return self.query.rows_made(self.look.marginals[(0,)].tolist())

    @cached_property
    def seed(self) -> int:
        """A public seed, computed from the draw: the same drawn numbers give the same table."""
        drawn = json.dumps(list(self.look.raw)).encode()
        return int.from_bytes(hashlib.sha256(drawn).digest()[:8], "big")

    # Making it

    @property
    def ready(self) -> bool:
        return self.path.is_file()

    def make(self, progress: Progress = quiet) -> None:
        """Fit the rows and write the file. Another process that does the same writes the same file."""
        if self.ready:
            return
        how = float(self.rows), self.seed, progress, self.alike
        codes = self._whole(fitted(self.sizes, self.targets, *how, possible=self.possible))
        by_curve = {name: curve.source for name, curve in self._curves.items()}
        facts = {_FACTS: json.dumps(self._tried()).encode(), _REFINED: json.dumps(by_curve).encode()}
        table = self.arrow(codes).replace_schema_metadata(facts)
        part = self.path.with_suffix(f".part{os.getpid()}-{uuid4().hex[:8]}")  # the same stem, so it is not swept
        pq.write_table(table, part, compression="zstd")
        part.chmod(0o600)
        files.replace(part, self.path)

    def _whole(self, points: Points) -> list[Integers]:
        weights = points.weights * kept(self.left_out, points.codes)
        kept_points = Points(points.codes, weights if weights.any() else points.weights)
        return whole_rows(kept_points, self.sizes, self.rows, self._mended_by, self.seed, self._may_have_rows)

    @cached_property
    def _mended_by(self) -> list[Columns]:
        """The marginals that whole rows are fitted to: all pairs and threes. If these are many, only the measured ones;
        if they are large, the smallest ones that fit into memory."""
        return [*self._adjusted(2, MOST_MENDED), *self._adjusted(3, MOST_THREES)]

    def _adjusted(self, columns: int, most: int) -> list[Columns]:
        parts: list[Columns] = list(combinations(range(len(self.sizes)), columns))
        if len(parts) > most:
            parts = [target.columns for target in self.targets if target.cells.ndim == columns][:most]
        cells = {part: math.prod(self.sizes[place] for place in part) for part in parts}
        order = sorted(parts, key=lambda part: cells[part])
        held = set(order[: int(np.searchsorted(np.cumsum([cells[part] for part in order]), MOST_HELD, "right"))])
        return [part for part in parts if part in held]

    def _tried(self) -> JsonObject | None:
        pairs = [target for target in self.targets if len(target.columns) == 2]
        if len(pairs) < 3:
            return None
        chosen = PublicMix(self.seed).order(len(pairs))[: min(HELD_BACK, len(pairs) // 3)]
        out = {pairs[place].columns for place in chosen.tolist()}
        rest = [target for target in self.targets if not any(set(pair) <= set(target.columns) for pair in out)]
        seen = {place for target in rest for place in target.columns}
        if len(seen) < len(self.sizes):
            return None
        size, rows = (TRIED_POINTS, TRIED_POINTS, TRIED_SWEEPS), float(self.rows)
        points = fitted(self.sizes, rest, rows, self.seed, quiet, self.alike, *size, self.possible)
        shares, errors = shares_of(self.sizes, rest), []
        for target in pairs:
            if target.columns in out:
                fitted_shares = points.marginal(target.columns, self.sizes) / points.weights.sum()
                alone = np.outer(*(shares[place] for place in target.columns))
                real = target.cells / self.look.rows
                noise = math.sqrt(target.variance / (2 * math.pi)) * target.cells.size / self.look.rows
                errors.append((np.abs(fitted_shares - real).sum() / 2, noise, np.abs(alone - real).sum() / 2))
        means = [float(np.mean([target[place] for target in errors])) for place in range(3)]
        return {"off": means[0], "noise": means[1], "alone": means[2], "pairs": len(errors)}

    @cached_property
    def tried(self) -> Tried | None:
        facts = (pq.read_schema(self.path).metadata or {}).get(_FACTS, b"null")
        tried = json.loads(facts)
        return None if tried is None else Tried(**tried)

    # Values inside the groups

    @cached_property
    def _curves(self) -> dict[str, Curve]:
        """For each column of numbers or days, the curve of its values inside groups; columns without a curve are
        missing."""
        refs = [ref for place, ref in enumerate(self.query.columns) if self._spread(place) and isinstance(ref, Grouped)]
        curves = {base(ref): best(self._bought(), base(ref), ref.starts) for ref in refs} if refs else {}
        return {name: curve for name, curve in curves.items() if curve is not None}

    @cached_property
    def refined(self) -> dict[str, str]:
        """The columns whose values in the file follow a curve inside their groups, each with the request of the answer
        that shows the curve."""
        sources: dict[str, str] = json.loads((pq.read_schema(self.path).metadata or {}).get(_REFINED, b"{}"))
        return sources

    def off_by_spreading(self) -> dict[str, float]:
        """By column, how far an average can be off because values are spread evenly inside measured groups: half the
        width of each group, weighted by the group's share. Columns that follow a curve are missing."""
        off = {}
        for place, axis in enumerate(self.query.axes):
            name, column = base(axis.ref), self.query.facts.schema[base(axis.ref)]
            if not isinstance(axis.ref, Grouped) or not isinstance(column, Number) or not self._spread(place):
                continue
            wide = np.diff([*axis.ref.starts, column.size]) - 1
            rows = np.maximum(self.look.marginals[(place,)][: axis.listed], 0.0)
            if wide.any() and rows.sum() > 0 and name not in self.refined:
                off[name] = float((rows * wide).sum() / rows.sum() / 2 * float(column.step))
        return off

    def together(self) -> list[tuple[list[str], int]]:
        """What was measured together, pairs first: the columns, and the reach of their counts in people or rows."""
        parts = sorted((part for part in self.look.marginals if len(part) > 1), key=lambda part: (len(part), part))
        names = self.look.cells
        return [([names[place] for place in part], math.ceil(self.look.reach(part))) for part in parts]

    # Rules

    def possible(self, codes: Sequence[Integers]) -> Mask | None:
        """For each combination of cells: does every declared rule allow it? None if no rules were declared."""
        return self.query.rules.possible(codes) if self.query.never else None

    @cached_property
    def left_out(self) -> list[Mask]:
        """For each column the cells that get no rows, because they may be zero (`left_out`)."""
        return left_out(self.look)

    def _may_have_rows(self, codes: Sequence[Integers]) -> Mask:
        fine, ruled = kept(self.left_out, codes), self.possible(codes)
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
        columns = {name: self._as_stored(place, values[place]) for place, name in enumerate(names)}
        return pa.table(columns | {_MISFITS: pa.array(self._misfits(mixed))})

    def _misfits(self, cells: Sequence[Integers]) -> Integers:
        """For each row, a number whose bits mark the columns where its cell is a misfit; without it, that cell would
        seem to be empty."""
        bits = np.zeros(len(cells[0]), dtype=np.int64)
        for place, axis in enumerate(self.query.axes):
            if axis.absent and axis.misfit:
                bits |= (cells[place] == axis.size - 1).astype(np.int64) << place
        return bits

    def _values(self, place: int, cells: Integers, rng: PublicMix) -> Integers:
        """For every cell of a column a declared code, −1 for no value; the cell itself if the column shows labels."""
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

    def _as_stored(self, place: int, codes: Integers) -> Arrow:
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
        """The made-up rows (the first `most`), in the reader's words and in mixed order."""
        rows = self._file()
        rows = rows if most is None else rows.slice(0, most)
        names = [base(ref) for ref in self.query.columns]
        return pa.table({name: self._in_words(place, rows.column(place)) for place, name in enumerate(names)})

    def _file(self) -> pa.Table:
        if not self.ready:
            self.make()
        return pq.read_table(self.path)

    def _in_words(self, place: int, column: Arrow) -> Arrow:
        if self._spread(place):
            return column
        words = {str(label): called(label) for label in self.query.cell_labels[place]}
        encoded = column.unify_dictionaries().combine_chunks()
        labels = [words[label] for label in encoded.dictionary.to_pylist()]
        return pa.DictionaryArray.from_arrays(encoded.indices, pa.array(labels, pa.string()))

    @cached_property
    def codes(self) -> list[Integers]:
        """The cells of the made-up rows, column by column, read back from the file."""
        rows = self._file()
        cells = [self._cells(place, rows.column(place)) for place in range(len(self.sizes))]
        misfits = rows.column(_MISFITS).to_numpy()
        return [np.where((misfits >> place) & 1, self.sizes[place] - 1, code) for place, code in enumerate(cells)]

    def _cells(self, place: int, column: Arrow) -> Integers:
        axis = self.query.axes[place]
        values = column.combine_chunks().dictionary_encode() if not pa.types.is_dictionary(column.type) else None
        encoded = values if values is not None else column.unify_dictionaries().combine_chunks()
        places = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
        met = encoded.dictionary.to_pylist()
        if self._spread(place):
            declared, ref = self.query.facts.schema.ordered(base(axis.ref)), axis.ref
            assert isinstance(ref, Grouped)
            cell_of = [ref.of(declared.code(value)) for value in met]
        else:
            known = {str(label): cell for cell, label in enumerate(self.query.cell_labels[place])}
            cell_of = [known[value] for value in met]
        cells = np.array(cell_of, dtype=np.int64)
        none = axis.listed if axis.absent or axis.misfit else 0
        return np.where(places < 0, none, cells[places] if len(cells) else none)

    def counts(self, *names: str) -> Floats:
        """How many of the made-up rows have each combination of these columns' cells; an axis for each column."""
        columns = tuple(self.look.place(name) for name in names)
        points = Points(tuple(self.codes), np.ones(len(self.codes[0])))
        return points.marginal(columns, self.sizes)


@dataclass(frozen=True)
class ClassShare:
    """A share in percent. `width`: how far the true share may be from it; None if no range holds."""

    value: float
    width: float | None

    @property
    def interval(self) -> tuple[float, float] | None:
        if self.width is None:
            return None
        return max(self.value - self.width, 0.0), min(self.value + self.width, 100.0)


class Synthetic:
    """A synthetic table with a promise for a class of queries: for every query of the class (`of_class`), or its
    complement, the table's share is within the promised width of the true share, all at once. Other shares may be
    computed too, without a promise."""

    def __init__(self, query: AnyQuery, value: dict[str, int]) -> None:
        if not isinstance(query, OfClass):
            raise AllowanceError("synthetic.unknown")
        self.query, self.value = query, value

    @cached_property
    def cells(self) -> Integers:
        """The number of rows with each combination, in the declared order."""
        return np.array([self.value[label] for label in self.query.labels()], dtype=np.int64)

    @property
    def rows(self) -> int:
        return int(self.cells.sum())

    @cached_property
    def width(self) -> float:
        """How far a share of the class can be off, in percent."""
        return float(self.query.promise().alpha)

    def table(self, most: int | None = None) -> pa.Table:
        """The table's rows (the first `most`), mixed evenly by a public rule, so that the first rows look like the
        whole."""
        mixed = np.argsort(np.arange(self.rows) * _GOLDEN % 1)[:most]
        cell = np.repeat(np.arange(self.query.domain), self.cells)[mixed]
        columns = {}
        for name, codes in self.query.codes.items():
            labels = pa.array(list(self.query.facts.schema.category(name).labels))
            columns[name] = pa.DictionaryArray.from_arrays(pa.array(codes[cell].astype(np.int32)), labels)
        return pa.table(columns)

    def share(self, condition: Json) -> ClassShare:
        """The share of the rows that meet a condition on the table's columns."""
        read = read_predicate(condition, self.query.facts.schema)
        if strange := sorted(read.columns() - set(self.query.columns)):
            raise AllowanceError("synthetic.condition", column=strange[0])
        return self._share(self.query.holds(read))

    def marginal(self, names: Sequence[str]) -> dict[str, ClassShare]:
        """The share of every combination of values of one or more of the table's columns."""
        for name in names:
            if name not in self.query.columns:
                raise AllowanceError("column.absent", column=str(name)[:60], columns=list(self.query.columns))
        block = self.query.marginal(names)
        labels = combined([list(map(called, self.query.facts.schema.category(name).labels)) for name in names])
        if any(set(other.names) == set(names) for other in self.query.blocks):  # one check for all of them
            shares = block.sums(self.cells) * (100 / self.rows)
            return {label: ClassShare(float(share), self.width) for label, share in zip(labels, shares, strict=True)}
        return {label: self._share(block.places == place) for place, label in enumerate(labels)}

    def _share(self, held: npt.NDArray[np.bool_]) -> ClassShare:
        value = 100 * int(self.cells[held].sum()) / self.rows
        return ClassShare(value, self.width if self.promised(held) else None)

    def promised(self, held: npt.NDArray[np.bool_]) -> bool:
        """Does the promise cover the share of these cells? True if they, or all other cells, are a query of the
        class."""
        for cells in (held, ~held):
            if not cells.any():
                return True  # nobody or everybody: the share is known
            for block in self.query.blocks:
                first = block.places[cells][0]
                if first >= 0 and np.array_equal(block.places == first, cells):
                    return True
        return False
