"""A model from a paid first look: what each value of each column adds to the prediction of another column. Free
post-processing of released figures; it needs no table.

Columns     those that were counted against the target. Where two of them were not counted together, the look's estimate
            stands in (`look_fit`): then effects have no bands, because the estimate uses the counts against the target
            too.
Target      of a list, yes and no by its labels, 1 and 0; of a number in groups, the middle of a row's group. Rows on
            neither side, and without a value, say nothing about it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from statistics import NormalDist

import numpy as np

from dpengine.core.errors import AllowanceError
from dpengine.core.exact import read_number
from dpengine.core.types import Floats, Json, JsonObject
from dpengine.declared.date_column import Date
from dpengine.declared.grouped import WEEK, Grouped, ref_json
from dpengine.declared.schema import MISSING, Category, Number
from dpengine.mechanisms.marginals.residuals import Columns
from dpengine.released.look import Figure, Look
from dpengine.statistics.features import WEIGHT_BITS, Model, layout_of

FARTHEST = 1_000.0  # an effect on a scale from 0 to 1
RIDGE = 4.0
_LEAST = 1e-12


@dataclass(frozen=True)
class CrossMoments:
    """The input of a fit: released figures alone. Its arrays have one block of places for each column."""

    sizes: tuple[int, ...]
    rows: Floats  # of each cell
    second: Floats  # H without its noise
    bare: Floats  # H as released
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
        held = np.concatenate([np.arange(self.starts[column], self.starts[column + 1]) for column in columns])
        sizes = tuple(self.sizes[column] for column in columns)
        second, bare = self.second[np.ix_(held, held)], self.bare[np.ix_(held, held)]
        sums = self.rows[held], second, bare, self.against[held], self.noise[list(columns)]
        return CrossMoments(sizes, *sums, self.average, self.spread, self.total)

    @cached_property
    def centring(self) -> Floats:
        """C, the matrix after which the effects of a column have the average 0 over the rows."""
        taken: Floats = np.eye(len(self.rows))
        for column in range(len(self.sizes)):
            place = self.block(column)
            weights = self.rows[place] / max(float(self.rows[place].sum()), _LEAST)
            taken[place, place] -= weights[None, :]
        return taken

    @cached_property
    def covariance(self) -> Floats:
        """The covariance of the noise in u."""
        covariance: Floats = np.zeros_like(self.second)
        for column, size in enumerate(self.sizes):
            place = self.block(column)
            covariance[place, place] = self.noise[column] * (np.eye(size) - 1 / size)
        return covariance


@dataclass(frozen=True)
class ShapesFit:
    """An additive model from noisy cross tables.

    Released    the cells of every column, of every two columns, and of every column against the target (`residuals`).
    Fit         ridge regression of the target on indicators of all cells. Its normal equations hold nothing but cross
                tables: H, rows with a cell of one column and a cell of another, less the product under independence; u,
                the target summed over the rows of a cell, less the share of the average. With H = Σ h·e·eᵀ
                    θ = G·u,  G = Σ f(h)·e·eᵀ,  f(h) = h₊/(h₊² + RIDGE·(h₊ + v/s²)):
                the best linear guess where H is known, u has noise of variance v besides its own of s²·H, and s²/RIDGE
                is the prior variance of an effect. A direction with more noise than rows is left alone.
    Kept        the whole is then shrunk to its part beyond noise: by λ = (θᵀu − tr(G·Cov) − √(θᵀ·Cov·θ))/(θᵀHθ),
                between 0 and 1, the slope of the target on the prediction less one standard deviation. So a model
                drowned in noise predicts the average of everybody.
    Pairs       the noise in a cross table of two columns hardly matters where they depend on each other in few ways:
                the excess over independence is cut to the directions that stand out (singular values above
                √V·(√rows + √columns), which those of pure noise of variance V hardly exceed, less the noise in them).
    Band        Of everything released, only the residuals R_{jT} of a column and the target enter u, as a linear map:
                G, the average and the rows of cells are functions of the other residuals, with independent noise. Given
                those, the noise of u has covariance σ_{jT}²·‖a‖²·(I − J/n_j) for each column, a the centred values of
                the target's cells, and is subgaussian with it (Canonne, Kamath, Steinke 2020, Corollary 17). So, except
                with probability β, all N effects at once are within λ·√(2·(C·G·Cov·Gᵀ·Cᵀ)_b·ln(2N/β)) of the same fit,
                with the same λ, had every R_{jT} been released without noise; C removes the average of a column's
                effects. There is no claim about the noise in tables of two columns, nor about people outside the table.
    Score       no promise: the share that would be right if sums of effects were normal on each side. The noise in u
                fits itself, which tr(G·Cov) removes on average. Doubts count against the model, so that its score is
                mostly a little too low.
    """

    moments: CrossMoments

    @cached_property
    def shrink(self) -> float:
        """λ, from 0 to 1."""
        noise, theta = self.moments.covariance, self._whole @ self.moments.against
        sure = float(theta @ self.moments.against) - float(np.trace(self._whole @ noise))
        sure -= math.sqrt(max(float(theta @ noise @ theta), 0.0))
        return min(max(sure / max(float(theta @ self.moments.second @ theta), _LEAST), 0.0), 1.0)

    @cached_property
    def map(self) -> Floats:
        """λ·C·G, which takes u to the effects."""
        return self.shrink * self._whole

    @cached_property
    def _whole(self) -> Floats:
        moments = self.moments
        sizes, ways = np.linalg.eigh(moments.second)
        kept, spread = np.maximum(sizes, 0.0), max(moments.spread, _LEAST)
        noise = float(np.mean(np.diag(moments.covariance)))
        filtered = kept / np.maximum(kept**2 + RIDGE * (kept + noise / spread), _LEAST)
        centred: Floats = moments.centring @ (ways * filtered) @ ways.T
        return centred

    @cached_property
    def effects(self) -> Floats:
        return self.map @ self.moments.against

    def reach(self, beta: float) -> Floats:
        """How far each effect may be from that of the same fit without noise, all effects at once except with
        probability β."""
        variances = np.einsum("ij,jk,ik->i", self.map, self.moments.covariance, self.map)
        reach: Floats = np.sqrt(2 * np.maximum(variances, 0.0) * math.log(2 * len(variances) / beta))
        return reach

    @cached_property
    def explained(self) -> float:
        """Σ over rows of (target − average)·(prediction − average), less what the fit's own noise adds to it on
        average, and less twice the standard deviation that noise gives the rest."""
        own, noise = float(self.effects @ self.moments.against), self.moments.covariance
        unsure = 2 * math.sqrt(max(float(self.effects @ noise @ self.effects), 0.0))
        return own - float(np.trace(self.map @ noise)) - unsure

    @cached_property
    def predicted(self) -> float:
        """The variance of the predictions over the rows: the larger of two, by the noisy tables as drawn and by the
        corrected ones."""
        variances = (float(self.effects @ table @ self.effects) for table in (self.moments.bare, self.moments.second))
        return max(*variances, 0.0) / self.moments.total

    def right(self, share: float) -> float:
        """About the share of rows on the predicted side of ½. `share`: that of the rows with a yes."""
        apart, within = self._sides(share)
        normal = NormalDist()
        yes, no = share + (1 - share) * apart, share - share * apart
        return share * normal.cdf((yes - 0.5) / within) + (1 - share) * normal.cdf((0.5 - no) / within)

    def ranked(self, share: float) -> float:
        """About how often a yes row gets a higher chance than a no row: the area under the ROC curve. `share`: that of
        the rows with a yes."""
        apart, within = self._sides(share)
        return NormalDist().cdf(apart / (within * math.sqrt(2)))

    def _sides(self, share: float) -> tuple[float, float]:
        """Two numbers: how far apart the mean predictions of yes rows and no rows are, and the standard deviation of
        predictions on each side. `share`: that of the rows with a yes."""
        mixed = max(share * (1 - share), _LEAST)
        apart = max(self.explained / (self.moments.total * mixed), 0.0)
        return apart, math.sqrt(max(self.predicted - mixed * apart**2, self.predicted * 1e-3, _LEAST))

    @cached_property
    def off(self) -> float:
        """About the typical error of a prediction: the root of its mean square."""
        left = self.moments.spread - 2 * self.explained / self.moments.total + self.predicted
        return math.sqrt(max(left, 0.0))


def held_back(moments: CrossMoments) -> tuple[float, float]:
    """Two numbers: how far the model of the other columns misses the average target in the cells of a left-out column,
    and how far the average of everybody misses it. Both are means over rows and over the columns left out, noise
    included."""
    columns = range(len(moments.sizes))
    off, blank = [], []
    for left in columns:
        others = [column for column in columns if column != left]
        fit, place = ShapesFit(moments.only(others)), moments.block(left)
        held = np.concatenate([np.arange(moments.starts[column], moments.starts[column + 1]) for column in others])
        predicted = moments.second[place, :][:, held] @ fit.effects
        off.append(float(np.abs(predicted - moments.against[place]).sum()) / moments.total)
        blank.append(float(np.abs(moments.against[place]).sum()) / moments.total)
    return float(np.mean(off)), float(np.mean(blank))


def projected(cells: Floats, total: float) -> Floats:
    """The nearest numbers to `cells` that are at least 0 and add up to `total`."""
    falling = np.sort(cells)[::-1]
    above = (np.cumsum(falling) - total) / np.arange(1, len(cells) + 1)
    projected: Floats = np.maximum(cells - above[np.flatnonzero(falling > above)[-1]], 0.0)
    return projected


def denoised(table: Floats, variance: float) -> Floats:
    """What stands out of noise of this variance in every cell of a table; the rows and columns of the table add up to
    0."""
    left, sizes, right = np.linalg.svd(table, full_matrices=False)
    edge = math.sqrt(variance) * (math.sqrt(table.shape[0]) + math.sqrt(table.shape[1]))
    signal: Floats = (left * np.sqrt(np.maximum(sizes**2 - edge**2, 0.0))) @ right
    return signal


@dataclass(frozen=True)
class Effect:
    """What a value or group of a column adds to the prediction, with the ends of its band if it has one."""

    label: str  # as it is stored
    rows: float
    value: float
    low: float | None
    high: float | None

    @property
    def clear(self) -> bool:
        """Does the effect's band exclude 0, so that the effect is more than noise?"""
        return self.low is not None and self.high is not None and not self.low <= 0 <= self.high


def predictable(look: Look) -> list[str]:
    """The columns of a look that a model can predict: those counted against another column that are numbers, or lists
    of at least two values."""
    return [name for name in look.cells if _may_be_target(look, name) and sources(look, name)]


def sources(look: Look, target: str) -> list[str]:
    place = look.place(target)
    return [name for at, name in enumerate(look.cells) if _pair(at, place) in look.marginals]


def _may_be_target(look: Look, name: str) -> bool:
    column, ref = look.query.facts.schema[name], look.query.columns[look.place(name)]
    if isinstance(column, Number):
        return isinstance(ref, Grouped) and len(ref.starts) > 1
    return isinstance(column, Category) and len(look.query.cell_labels[look.place(name)]) > 1


def _pair(first: int, second: int) -> Columns:
    return (min(first, second), max(first, second))


class Shapes:
    """A model of `target` from other columns of a look."""

    def __init__(self, look: Look, target: str, yes: Sequence[str] = (), columns: Sequence[str] = ()) -> None:
        able = sources(look, target) if target in look.cells and _may_be_target(look, target) else []
        if not able:
            raise AllowanceError("shapes.target", column=target[:60])
        wanted = list(dict.fromkeys(columns)) or able
        if strange := [name[:60] for name in wanted if name not in able]:
            raise AllowanceError("shapes.columns", column=target, others=strange)
        self.look, self.target, self.columns = look, target, wanted
        self.yes = tuple(yes)
        labels = look.query.cell_labels[self._goal]
        if self.listed:
            if not set(self.yes) < set(labels):
                raise AllowanceError("train.sides")
            self.yes = tuple(label for label in labels if label in self.yes) or tuple(labels[:1])
        elif self.yes:
            raise AllowanceError("train.sides")

    @cached_property
    def _goal(self) -> int:
        return self.look.place(self.target)

    @property
    def listed(self) -> bool:
        """Is the target yes or no, rather than a number?"""
        return isinstance(self.look.query.facts.schema[self.target], Category)

    @cached_property
    def places(self) -> list[int]:
        return [self.look.place(name) for name in self.columns]

    @cached_property
    def _worth(self) -> tuple[Floats, Floats]:
        """Two numbers for each cell of the target: the cell's value, and 1 if it has a value, else 0."""
        query, size = self.look.query, self.look.query.axes[self._goal].size
        if self.listed:
            return np.array([float(label in self.yes) for label in query.cell_labels[self._goal]]), np.ones(size)
        ref, column = query.columns[self._goal], query.facts.schema.number(self.target)
        assert isinstance(ref, Grouped)
        ends = [*ref.starts[1:], column.size]
        runs = zip(ref.starts, ends, strict=True)
        middles = [float(column.value(start) + column.value(end - 1)) / 2 for start, end in runs]
        values = np.zeros(size)
        values[: len(middles)] = middles
        return values, (np.arange(size) < len(middles)).astype(np.float64)

    @cached_property
    def measured_pairs(self) -> bool:
        """Were all of these columns counted with each other?"""
        return all(_pair(first, second) in self.look.marginals for first, second in combinations(self.places, 2))

    @cached_property
    def moments(self) -> CrossMoments:
        look, query, (worth, counted) = self.look, self.look.query, self._worth
        goal = projected(look.marginals[(self._goal,)], look.rows) * counted
        rows = max(float(goal.sum()), 1.0)
        average = float(goal @ worth) / rows
        spread = float(goal @ (worth - average) ** 2) / rows
        away = (worth - average) * counted
        sizes = tuple(query.axes[place].size for place in self.places)
        cells = [projected(look.marginals[(place,)], look.rows) for place in self.places]
        # Rows without a target count in the tables of columns but not in its own: as if they were like the others.
        against = [self._against(place) @ away * (look.rows / rows) for place in self.places]
        steep = float(((away - away.mean()) ** 2).sum()) * (look.rows / rows) ** 2
        noise = np.array([float(query.noise_of[_pair(place, self._goal)]) * steep for place in self.places])
        second = np.zeros((sum(sizes), sum(sizes)))
        starts = [0, *np.cumsum(sizes).tolist()]
        for at, own in enumerate(cells):
            block = slice(starts[at], starts[at + 1])
            second[block, block] = np.diag(own) - np.outer(own, own) / max(float(own.sum()), 1.0)
        bare = second.copy()
        for one, other in combinations(range(len(sizes)), 2):
            beyond, variance = self._beyond(self.places[one], self.places[other], cells[one], cells[other])
            first, last = (slice(starts[at], starts[at + 1]) for at in (one, other))
            kept = denoised(beyond, variance)
            second[first, last], second[last, first] = kept, kept.T
            bare[first, last], bare[last, first] = beyond, beyond.T
        sums = np.concatenate(cells), second, bare, np.concatenate(against), noise
        return CrossMoments(sizes, *sums, average, spread, look.rows)

    def _against(self, place: int) -> Floats:
        cells = self.look.marginals[_pair(place, self._goal)]
        return cells if place < self._goal else cells.T

    def _beyond(self, first: int, second: int, rows: Floats, columns: Floats) -> tuple[Floats, float]:
        """Two values: how many more rows the cells of two columns share than if they were independent, and the variance
        of the noise in these numbers."""
        part, total = _pair(first, second), self.look.rows
        apart, variance = np.outer(rows, columns) / total, 0.0
        if part in self.look.marginals:
            cells = self.look.marginals[part] if first < second else self.look.marginals[part].T
            variance = float(self.look.query.variance(part))
        else:
            cells = total * self.look.estimated((first, second)) if self.look.fits((first, second)) else apart
        beyond = cells - apart
        beyond = beyond - beyond.mean(axis=0, keepdims=True)
        centred: Floats = beyond - beyond.mean(axis=1, keepdims=True)
        return centred, variance

    @cached_property
    def fit(self) -> ShapesFit:
        return ShapesFit(self.moments)

    # What it says

    @property
    def average(self) -> float:
        return self.moments.average

    def effects(self, column: str) -> list[Effect]:
        """The effect of each value or group of a column, in the column's order, without impossible ones."""
        at = self.columns.index(column)
        block = self.moments.block(at)
        reach = self.fit.reach(float(self.look.query.beta)) if self.measured_pairs else None
        labels = zip(self.look.query.cell_labels[self.places[at]], range(block.start, block.stop), strict=True)
        return [self._effect(label, place, reach) for label, place in labels]

    def _effect(self, label: str, place: int, reach: Floats | None) -> Effect:
        value, rows = float(self.fit.effects[place]), float(self.moments.rows[place])
        if reach is None:
            return Effect(label, rows, value, None, None)
        return Effect(label, rows, value, value - float(reach[place]), value + float(reach[place]))

    def strongest(self) -> list[str]:
        """The columns of the model, first the one whose effects vary most among rows."""
        moved = {}
        for at, name in enumerate(self.columns):
            block = self.moments.block(at)
            moved[name] = float(self.moments.rows[block] @ self.fit.effects[block] ** 2)
        return sorted(moved, key=lambda name: -moved[name])

    def predict(self, values: Mapping[str, Json]) -> float:
        """The prediction for one row, as a person writes it: the chance of a yes, or the number, within its possible
        range."""
        return self.within_range(self.average + sum(self.added(name, values[name]) for name in self.columns))

    def added(self, column: str, value: Json) -> float:
        """What one column adds to the prediction for a value: a listed value, a number, or a day; None means that it
        was not answered."""
        at = self.columns.index(column)
        return float(self.fit.effects[self.moments.starts[at] + self._cell(self.places[at], value)])

    def usual_value(self, name: str) -> Json:
        """A value of the largest released group of a column, with which a form can start; of a range, the middle
        value."""
        place, query = self.look.place(name), self.look.query
        ref, column = query.columns[place], query.facts.schema[name]
        rows = [effect.rows for effect in self.effects(name)[: query.axes[place].listed]]
        most = rows.index(max(rows))
        assert isinstance(column, Number | Date | Category)
        if not isinstance(ref, Grouped):
            return column.value(most)
        if not ref.starts:
            return column.value(min((ref.monday + most) % WEEK, column.size - 1))
        run = ref.places.index(most)
        return column.value((ref.starts[run] + [*ref.starts[1:], column.size][run] - 1) // 2)

    def within_range(self, prediction: float) -> float:
        if self.listed:
            return min(max(prediction, 0.0), 1.0)
        column = self.look.query.facts.schema.number(self.target)
        return min(max(prediction, float(column.lower)), float(column.upper))

    def _cell(self, place: int, value: Json) -> int:
        ref, axis = self.look.query.columns[place], self.look.query.axes[place]
        column = self.look.query.facts.schema[self.look.cells[place]]
        if isinstance(column, Category):
            try:
                code = column.code(value)
            except KeyError:
                code = column.code(column.unknown)
        else:
            assert isinstance(column, Number | Date)
            code = self._placed(column, value, axis.absent)
        if isinstance(ref, Grouped):
            code = ref.of(code)
        return axis.listed if code == MISSING else int(code)

    @staticmethod
    def _placed(column: Number | Date, value: Json, absent: bool) -> int:
        none = isinstance(column, Number) and value not in (None, "") and read_number(value, "value") in column.codes
        if value not in (None, "") and not none:
            return column.code(value)
        counted_as = getattr(column, "missing", None)
        if absent or counted_as is None:
            return MISSING
        return column.code(counted_as)

    # How good it is

    def checkable(self) -> Model | None:
        """The same model in whole numbers, to be scored on the table at a price; None if values of the target were
        merged."""
        schema, look = self.look.query.facts.schema, self.look
        middle, half = 0.0, 1.0
        yes: tuple[int, ...] = ()
        no: tuple[int, ...] = ()
        if self.listed:
            if isinstance(look.query.columns[self._goal], Grouped):
                return None
            goal = schema.category(self.target)
            yes = tuple(goal.code(label) for label in self.yes)
            no = tuple(code for code in range(goal.size) if code not in yes)
        else:
            number = schema.number(self.target)
            middle, half = float(number.lower + number.upper) / 2, float(number.diameter) / 2
        layout = layout_of(schema, [look.query.columns[place] for place in self.places], self.target, yes, no)
        weights = [(self.average - middle) / half, *(effect / half for effect in self.fit.effects.tolist())]
        return Model(layout, tuple(round(min(max(weight, -FARTHEST), FARTHEST) * 2**WEIGHT_BITS) for weight in weights))

    def always(self) -> Figure:
        """How often always guessing the more frequent side is right: measured, with its range."""
        return self.look.share({self.target: self.usual})

    @property
    def usual(self) -> tuple[str, ...]:
        """The labels on the more frequent side of yes and no."""
        labels = self.look.query.cell_labels[self._goal]
        return self.yes if self.average > 0.5 else tuple(label for label in labels if label not in self.yes)

    @property
    def blank(self) -> bool:
        """Does the model predict the same for every row, because the rest could be noise?"""
        return self.fit.shrink == 0

    def right(self) -> float:
        """About how often the likelier side is right. An estimate without a promise."""
        return self.fit.right(min(max(self.average, 0.0), 1.0))

    def ranked(self) -> float:
        """About how often a yes gets a higher chance than a no; half by chance alone. An estimate without a promise."""
        return self.fit.ranked(min(max(self.average, 0.0), 1.0))

    def off(self) -> tuple[float, float]:
        """Two estimates: how far predictions of a number are off, and how far always predicting the average is off."""
        return self.fit.off, float(np.sqrt(self.moments.spread))

    def held_back(self) -> tuple[float, float] | None:
        """Two numbers: leaving out each column in turn, how far on average the model of the others misses the averages
        of its groups, and how far one average for everybody misses them. None for a model of one column."""
        return held_back(self.moments) if len(self.columns) > 1 else None

    def as_json(self) -> JsonObject:
        """The model by itself: what every value adds."""
        data: JsonObject = {"kind": "shapes", "target": self.target, "average": self.average}
        data |= {"yes": list(self.yes)} if self.listed else {}
        columns = []
        for name, place in zip(self.columns, self.places, strict=True):
            bars = self.effects(name)
            effects = [{"value": bar.label, "adds": bar.value, "low": bar.low, "high": bar.high} for bar in bars]
            columns.append({"column": ref_json(self.look.query.columns[place]), "effects": effects})
        return data | {"columns": columns}


class LookWithModels(Look):
    """A first look with its models, as the value of an answer."""

    def model(self, target: str, yes: Sequence[str] = (), columns: Sequence[str] = ()) -> Shapes:
        """A free model that predicts the column `target` from other columns: for a list, whether the value is in `yes`;
        for a number, its value."""
        return Shapes(self, target, yes, columns)
