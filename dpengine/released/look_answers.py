"""Does a paid first look already answer a question of a session? It is read off the same draw: free.

Cells       a condition on one column holds for all rows of a cell, for none of them, or perhaps for some: for a group
            that it cuts in two, and for misfits, which the session counts at an end of the range.
Range       the rows that meet all conditions are at least those of the cells where each holds for all, and at most
            those of the cells where each may hold for some. Both shares are read off a bought marginal, each with its
            range; so the true share is between the lower end of the first and the upper end of the second whenever the
            look's own claim holds (`look`: for everything read off it, even if chosen after seeing all of it).
Average     of a column in which every row has a value: the look's average of the rows that fit, the others anywhere in
            the declared range.
Value       of several columns: by the fit of maximum entropy to everything bought about them (`synthetic_fit`), inside
            the range.
Estimated   where the columns were not bought together: in the same way, inside a range that does hold.
            Let S_j be the rows in cells of column j where its conditions hold for all, T_j those where they may hold
            for some; A a bought set of the asked columns. Then (Bonferroni 1936; for pairs Hunter 1976, Worsley 1982)

                |∩T_j| ≤ |∩_{j∈A} T_j|     and     |∩S_j| ≥ |∩_{j∈A} S_j| − Σ_{j∉A} min_{h∈A} |S_h ∖ S_j|,

            because a row of ∩_A S_j that is not in all S_j is in S_h ∖ S_j for some j ∉ A, and then for every h ∈ A.
            Each term is a share of labels in a bought marginal (of S_j alone, where h and j were not bought together),
            so the look's claim holds for all of them at once. The range is the narrowest over all A. A range that says
            nothing is none.
No answer   where a person may have several rows, since a look counts rows; about columns declared anew since; and
            under conditions on one column *or* another.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

import numpy as np

from dpengine.core.errors import AllowanceError
from dpengine.declared.cell_kinds import FITS
from dpengine.declared.conditions import Clause, Predicate, kind_name, parts_of
from dpengine.declared.facts import Facts
from dpengine.declared.schema import MISSING
from dpengine.declared.unit import Unit
from dpengine.mechanisms.marginals.residuals import parts_of as parts_of_columns
from dpengine.mechanisms.marginals.wanted import DOES_NOT_FIT
from dpengine.mechanisms.session.asks import Ask, Average, Share
from dpengine.mechanisms.synthetic.soft_fit import Target
from dpengine.released.look import Figure, Look
from dpengine.released.synthetic_fit import fitted

MOST_BOUNDED = 6  # columns of a question with a range, where they were not bought together
MOST_CODES = 20_000  # of a column: its cells are compared with a condition one by one
Labels = dict[str, list[str]]


@dataclass(frozen=True)
class KnownAlready:
    """What a look says about a question, in the question's own unit. Without ends it is an estimate, and no range
    holds."""

    value: float
    low: float | None
    high: float | None
    request: str = ""  # of the first look
    estimated: bool = False  # the value; a range holds all the same

    @property
    def width(self) -> float | None:
        return None if self.low is None or self.high is None else self.high - self.low

    def enough(self, promised: Fraction) -> bool:
        """Is the look's range no wider than that of a fresh answer, which is within `promised` of the truth?"""
        return self.width is not None and self.width <= 2 * promised

    def doubtful(self, promised: Fraction) -> bool:
        """Is a fresh answer, which is within `promised` of the truth, worth a question? Ranges of a look hold for all
        that may be read off it, so they are up to twice as wide as those of a fresh answer with the same noise."""
        return self.width is None or self.width > (2 if self.estimated else 4) * promised


def known(look: Look, ask: Ask, facts: Facts) -> KnownAlready | None:
    """What a look says about one question `ask` of a session on the same rows; None if it says nothing."""
    if facts.unit != Unit.rows() or not isinstance(ask, Share | Average):
        return None
    asked, declared = ask.columns(), look.query.facts.schema
    if not asked <= set(look.cells) or any(declared[name] != facts.schema[name] for name in asked):
        return None
    try:
        return _share(look, ask.of) if isinstance(ask, Share) else _average(look, ask)
    except AllowanceError:  # too many combinations for an estimate
        return None


def _share(look: Look, of: Predicate) -> KnownAlready | None:
    clauses: dict[str, list[Clause]] = {}
    for clause in of.clauses:
        columns = {part.column for part in parts_of(clause)}
        if len(columns) > 1:
            return None
        clauses.setdefault(columns.pop(), []).append(clause)
    surely: Labels = {}
    perhaps: Labels = {}
    for column, conditions in clauses.items():
        cells = _cells(look, column, conditions)
        if cells is None:
            return None
        surely[column], perhaps[column] = cells
    inner, outer = (_figure(look, labels) for labels in (surely, perhaps))
    value = 50 * (inner.value + outer.value)
    if len(clauses) > 1 and not look.fit.hubs and look.fits(tuple(map(look.place, clauses))):
        value = _by_fit(look, surely, perhaps)
    measured = inner.how == outer.how == "measured"
    if measured:
        low, high = inner.low or 0.0, 1.0 if outer.high is None else outer.high
    else:
        low, high = _between(look, surely, perhaps) if len(clauses) <= MOST_BOUNDED else (0.0, 1.0)
    if high - low >= 1.0:
        return KnownAlready(value, None, None, estimated=not measured)
    return KnownAlready(min(max(value, 100 * low), 100 * high), 100 * low, 100 * high, estimated=not measured)


def _by_fit(look: Look, surely: Labels, perhaps: Labels) -> float:
    """The share, in percent, of the rows that meet the conditions, by the fit to all that was bought about these
    columns. The fit takes noise off empty and small cells. A cell in which only some rows may meet the conditions
    counts half."""
    columns = sorted(surely, key=look.place)
    places = tuple(look.place(column) for column in columns)
    bought = [part for part in parts_of_columns(places) if part in look.marginals]
    targets = [
        Target(
            tuple(map(places.index, part)),
            look.marginals[part],
            float(look.query.layout.variance(part, look.noise)),
        )
        for part in bought
    ]
    points = fitted([look.query.axes[place].size for place in places], targets, look.rows, 1)
    share = 0.0
    for labels in (surely, perhaps):
        met = np.ones(len(points.weights), dtype=bool)
        for code, column in zip(points.codes, columns, strict=True):
            held = np.isin(_labels(look, column), labels[column])
            met &= held[code]
        share += float(points.weights[met].sum())
    return 50 * share / float(points.weights.sum())


def _between(look: Look, surely: Labels, perhaps: Labels) -> tuple[float, float]:
    """A range for the share of rows that meet conditions on columns that were not bought together (see the module's
    text)."""
    bought = [
        part
        for size in (1, 2, 3)
        for part in combinations(surely, size)
        if tuple(sorted(look.place(column) for column in part)) in look.marginals
    ]
    rest = {column: [label for label in _labels(look, column) if label not in held] for column, held in surely.items()}

    def most(labels: Labels) -> float:
        return _figure(look, labels).high or 0.0

    def lost(part: tuple[str, ...], column: str) -> float:
        """The most rows of `part` that the conditions on another column may exclude."""
        alone = most({column: rest[column]})
        pairs = [held for held in part if (held, column) in bought or (column, held) in bought]
        return min([alone, *(most({held: surely[held], column: rest[column]}) for held in pairs)])

    def least(part: tuple[str, ...]) -> float:
        own = _figure(look, {column: surely[column] for column in part}).low or 0.0
        return own - sum(lost(part, column) for column in surely if column not in part)

    low = max(map(least, bought), default=0.0) if all(surely.values()) else 0.0
    high = min((most({column: perhaps[column] for column in part}) for part in bought), default=1.0)
    return min(max(low, 0.0), high), high


def _labels(look: Look, column: str) -> list[str]:
    return look.query.cell_labels[look.place(column)]


def _figure(look: Look, labels: Labels) -> Figure:
    """The share of rows with one of these labels in each column; 0 if a column is given no label."""
    if all(labels.values()):
        return look.share(labels)
    measured = tuple(sorted(look.place(column) for column in labels)) in look.marginals
    return Figure("", 0.0, 0.0, 0.0, "measured" if measured else "estimated")


def _cells(look: Look, column: str, conditions: Sequence[Clause]) -> tuple[list[str], list[str]] | None:
    """Two lists of a column's labels: cells in which every row meets all conditions, and cells in which some row may.
    None for a column with too many values."""
    place, size = look.place(column), look.query.facts.schema[column].size
    axis, labels = look.query.axes[place], _labels(look, column)
    if size > MOST_CODES:
        return None
    met = np.zeros((2, axis.size), dtype=np.int64)  # codes of each cell that do not meet them, and that do
    fits = {kind_name(column): FITS}
    for code in range(-1 if axis.absent else 0, size):
        row = fits | {column: MISSING if code < 0 else code}
        met[int(all(condition.holds(row) for condition in conditions)), axis.of(row)] += 1
    if axis.misfit:
        met[:, -1] = 1  # counted at an end of the range, or as without a value
    return (
        [label for label, (no, yes) in zip(labels, met.T, strict=True) if yes and not no],
        [label for label, (_, yes) in zip(labels, met.T, strict=True) if yes],
    )


def _average(look: Look, ask: Average) -> KnownAlready | None:
    place = look.place(ask.column)
    axis = look.query.axes[place]
    if axis.absent or not ask.complete:
        return None
    mean = look.mean(ask.column)
    assert mean.low is not None and mean.high is not None
    odd = _figure(look, {ask.column: [DOES_NOT_FIT] if axis.misfit else []}).high or 0.0
    lowest, highest = float(ask.low), float(ask.low + Fraction(ask.width))
    return KnownAlready(mean.value, (1 - odd) * mean.low + odd * lowest, (1 - odd) * mean.high + odd * highest)
