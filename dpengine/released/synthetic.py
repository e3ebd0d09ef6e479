"""What is computed from a synthetic table. It costs nothing: the rows were released, and all of it is post-processing.

For every query of its class (`of_class`), or the complement of one, the share is within the promise of the true one,
all of them at once. Anything else may be computed too, but nothing is promised about it.
"""

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

from dpengine.core.errors import AllowanceError
from dpengine.core.types import Arrow, Floats, Integers, Json, JsonObject
from dpengine.declared.condition_words import combined
from dpengine.declared.conditions import read_predicate
from dpengine.declared.grouped import Grouped, base
from dpengine.declared.schema import Number
from dpengine.mechanisms import catalogue
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

# Cells of single columns that cannot be told from none, by what was released: post-processing.
#
# Made up     cells that a declaration makes by itself (cells outside a list, without a value, that do not fit) get no
#             made-up rows where their released count is at most `SURE` standard deviations of its noise. Most files
#             have
#             none of them, and noise alone would put a few rows into every second one: rows that no file could have.
# Listed      values that somebody listed, and groups of a range, keep theirs: where all of them occur, leaving the
# rarest
#             out would move what single columns say a little further off. Which may be noise alone is told instead.

SURE = 3  # standard deviations


def made_by_declaration(look: Look, place: int) -> npt.NDArray[np.bool_]:
    """Which cells of a column stand for no listed value and no group of its range."""
    query = look.query
    axis, extra = query.axes[place], query.extra(place)
    named = [label in extra for label in query.cell_labels[place]]
    return np.array([cell >= axis.listed or named[cell] for cell in range(axis.size)])


def left_out(look: Look) -> list[npt.NDArray[np.bool_]]:
    """For each column, the cells that get no rows."""
    found = []
    for place in range(len(look.query.axes)):
        sure = SURE * math.sqrt(float(look.query.layout.variance((place,), look.noise)))
        out = made_by_declaration(look, place) & (look.marginals[(place,)] <= sure)
        found.append(out if not out.all() else np.zeros_like(out))
    return found


def kept(cells: Sequence[npt.NDArray[np.bool_]], codes: Sequence[Integers]) -> npt.NDArray[np.bool_]:
    """Which combinations have none of these cells."""
    fine = np.ones(len(codes[0]), dtype=np.bool_)
    for out, code in zip(cells, codes, strict=True):
        fine &= ~out[code]
    return fine


def perhaps_none(look: Look, place: int, rows: Floats) -> list[str]:
    """The listed values and groups of a column that have made-up rows and may be noise alone, in the reader's words."""
    names, own = look.query.cell_names(place), made_by_declaration(look, place)
    none = look.marginals[(place,)] - math.ceil(look.reach((place,))) <= 0
    return [name for cell, name in enumerate(names) if none[cell] and rows[cell] > 0 and not own[cell]]


# What a synthetic table keeps of its columns together, and what not: from its question and from what was released.
#
# Which marginals were measured is part of what was drawn, so it is released; that the others were not follows from it.

Pair = tuple[str, str]


@dataclass(frozen=True)
class KeptTogether:
    """Of a synthetic table, by what was released for it."""

    look: Look

    @cached_property
    def measured(self) -> list[Columns]:
        """Columns by themselves, pairs, threes."""
        return sorted(self.look.marginals, key=lambda part: (len(part), part))

    @property
    def names(self) -> list[str]:
        return self.look.cells

    @cached_property
    def _together(self) -> set[Columns]:
        """Pairs that were measured, by themselves or inside a three."""
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
        found = (pair for pair in combinations(range(len(self.names)), 2) if pair not in self._together)
        return [(self.names[one], self.names[other]) for one, other in found]

    def apart_by_column(self) -> dict[str, list[str]]:
        """For each column the others that it was not measured with; none of those that all were."""
        found: dict[str, list[str]] = {name: [] for name in self.names}
        for one, other in self.apart:
            found[one].append(other)
            found[other].append(one)
        return {name: others for name, others in found.items() if others}

    @property
    def uneven(self) -> list[str]:
        """Numbers and days of which neither averages and sums nor single values follow from what was measured, unless
        another answer tells them."""
        return [name for name, several in evened(self.look.query.axes, self.look.query.facts).items() if several]

    def reach(self, columns: int) -> int:
        """Within how many people or rows every count of so many columns is; fewer may be noise alone."""
        return math.ceil(max(self.look.reach(part) for part in self.measured if len(part) == columns))

    @property
    def widest(self) -> int:
        return max(self.reach(columns) for columns in {len(part) for part in self.measured})


# Where inside a measured group the values of a column lie, by another answer about the same column that was paid for: a
# histogram, a curve, a first look in finer groups. Post-processing of released figures: free, and the table is not
# read.
#
# Curve       runs of codes and about how many rows are in each, with how far that may be off.
# Pieces      a group is cut where runs begin. Of a piece that is a part of a run, its part of the run's rows. Pieces
# that
#             noise could have made are put together with the next until it could not, and what is below 0 counts as
#             none.
# Spread      the rows of a group over its pieces as these have rows, and evenly inside a piece. Of a group that no run
#             cuts, or of which the curve tells nothing, evenly.


@dataclass(frozen=True)
class Curve:
    column: str
    starts: tuple[int, ...]  # of runs of codes, the first at 0
    counts: tuple[float, ...]
    off: float  # how far each count may be off
    size: int  # codes in all
    source: str  # the request that bought it

    def pieces(self, start: int, end: int) -> tuple[Integers, Floats] | None:
        """Where the pieces of a group begin, and about how many rows each has; None where there is one."""
        inner = [one for one in self.starts if start < one < end]
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
        for at, many in zip(cuts[:-1], rows.tolist(), strict=True):
            if low and many < self.off:
                sums[-1] += many
            else:
                kept.append(at)
                sums.append(many)
            low = sums[-1] < self.off
        told = np.maximum(np.array(sums), 0.0)
        return (np.array(kept, dtype=np.int64), told) if len(kept) > 1 and told.sum() > 0 else None

    def spread(self, start: int, end: int, many: int) -> Integers | None:
        """Codes for so many rows of a group, rising; None where the curve tells nothing of it."""
        found = self.pieces(start, end)
        if found is None:
            return None
        begins, rows = found
        edges = np.floor(np.cumsum(rows) / rows.sum() * many + 0.5).astype(np.int64)
        edges[-1] = many
        told = np.diff(edges, prepend=0)
        ends = np.append(begins[1:], end)
        runs = zip(begins.tolist(), ends.tolist(), told.tolist(), strict=True)
        return np.concatenate([evenly(first, last, part) for first, last, part in runs])


def evenly(start: int, end: int, many: int) -> Integers:
    return start + (np.arange(many, dtype=np.int64) * (end - start)) // max(many, 1)


def best(curves: Iterable[Curve], column: str, starts: Sequence[int]) -> Curve | None:
    """The most exact one among those that cut some group of the column into pieces."""
    able = []
    for curve in curves:
        ends = [*starts[1:], curve.size]
        if curve.column == column and any(curve.pieces(*ends_) for ends_ in zip(starts, ends, strict=True)):
            able.append(curve)
    return min(able, key=lambda curve: curve.off, default=None)


# The rows of a synthetic table that was paid for, fitted to what was released: written once, read as often as one
# likes. Free, and the table itself is not needed.
#
# Measured    every marginal that was bought has its range, as promised before (`look`).
# Made up     figures of the rows. Where a marginal was measured, the range stands beside them, and says how far the
# truth
#             is from what was measured, not from the rows.
# Held back   of what was only fitted nothing is promised. How a fit does where the truth is known but for noise: some
# of
#             the measured pairs, chosen at random, are left out of another fit, smaller but else the same, and held
#             against their cells. An average over these pairs, noise included; beside it what noise alone would come
#             to,
#             and what taking the two columns for independent would.
# Noise       cells outside a list or without a value that cannot be told from none get no rows (`faint`).
# Values      a cell of a list is its label; of a number or a day, one of its values on the declared grid: spread over
# the
#             group as another paid answer about the column says (`refined`), else evenly. Rows without a value have
#             none,
#             and so have those that do not fit the declaration.
# Rules       no row meets a condition that somebody said cannot be. Combinations of cells of which every value would
# have
#             no weight; where only some would, others are taken (`synthetic.rules`). Checked before they are written.

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
        weights = points.weights * kept(self.left_out, points.codes)
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
        return left_out(self.look)

    def _told_possible(self, codes: Sequence[Integers]) -> Mask:
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
