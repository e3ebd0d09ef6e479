"""Does a paid first look already answer a question of a session? It is read off the same draw: free.

Cells       a condition on one column holds for all rows of a cell, for none of them, or perhaps for some: for a group
            that it cuts in two, and for misfits, which the session counts at an end of the range.
Range       the rows that meet all conditions are at least those of the cells where each holds for all, and at most
            those of the cells where each may hold for some. Both shares are read off a bought marginal, each with its
            range; so the true share is between the lower end of the first and the upper end of the second whenever the
            look's own claim holds (`look`: for everything read off it, even if chosen after seeing all of it).
Average     of a column in which every row has a value: the look's average of the rows that fit, the others anywhere in
            the declared range.
Estimated   where the columns were not bought together: by maximum entropy, without a promise (`look`).
No answer   where a person may have several rows, since a look counts rows; about columns declared anew since; and
            under conditions on one column *or* another.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from dpengine.core.errors import AllowanceError
from dpengine.declared.cell_kinds import FITS
from dpengine.declared.conditions import Clause, Predicate, kind_name, parts_of
from dpengine.declared.facts import Facts
from dpengine.declared.schema import MISSING
from dpengine.declared.unit import Unit
from dpengine.mechanisms.marginals.wanted import DOES_NOT_FIT
from dpengine.mechanisms.session.asks import Ask, Average, Share
from dpengine.released.look import Figure, Look

MOST_CODES = 20_000  # of a column: its cells are compared with a condition one by one
Labels = dict[str, list[str]]


@dataclass(frozen=True)
class KnownAlready:
    """In the question's own unit. Without ends it is an estimate, and nothing is promised."""

    value: float
    low: float | None
    high: float | None
    request: str = ""  # of the first look

    @property
    def width(self) -> float | None:
        return None if self.low is None or self.high is None else self.high - self.low


def known(look: Look, ask: Ask, facts: Facts) -> KnownAlready | None:
    """What a look says about one question of a session on the same rows; None if nothing."""
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
    if inner.how == outer.how == "measured":
        return KnownAlready(value, 100 * (inner.low or 0.0), 100 * (1.0 if outer.high is None else outer.high))
    return KnownAlready(value, None, None)


def _figure(look: Look, labels: Labels) -> Figure:
    """The share of these labels; 0 where a column has none of them."""
    if all(labels.values()):
        return look.share(labels)
    measured = tuple(sorted(look.place(column) for column in labels)) in look.marginals
    return Figure("", 0.0, 0.0, 0.0, "measured" if measured else "estimated")


def _cells(look: Look, column: str, conditions: Sequence[Clause]) -> tuple[list[str], list[str]] | None:
    """The labels of the cells where all conditions on a column hold for every row, and where they may for some."""
    place, size = look.place(column), look.query.facts.schema[column].size
    axis, labels = look.query.axes[place], look.query.cell_labels[place]
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
