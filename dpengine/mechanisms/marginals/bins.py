"""Groups of a column that are easy to read, from its declared range alone."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache

from dpengine.core.errors import AllowanceError
from dpengine.core.exact import text_of
from dpengine.declared.grouped import Grouped, Ref
from dpengine.declared.read_group import MOST_GROUPS, read_group
from dpengine.declared.schema import Number, Ordered, Schema

WANTED = 12  # groups of a number, about
MANY = 100  # values in the first group, from which on 0 is told apart
FEW = 5  # groups, where somebody wants fewer
MOST_DAYS = {"month": 24, "quarter": 24, "year": MOST_GROUPS}  # groups of days, at most
FEW_DAYS = {"quarter": 8, "year": 24}
_LONGEST = {"month": 31, "quarter": 92, "year": 366}  # days


def coarser(name: str, schema: Schema) -> Ref:
    """The same column in fewer groups, where there is such a way to tell it."""
    return readable(name, schema, FEW, FEW_DAYS)


def readable(ref: Ref, schema: Schema, wanted: int = WANTED, days: Mapping[str, int] = MOST_DAYS) -> Ref:
    """A list as it is; a number in even steps of 1, 2 or 5 times a power of ten, where that suits; days by month,
    quarter or year. A range of more than 400 years is left as it is, and so refused."""
    if not isinstance(ref, str):
        return ref
    column = schema[ref]
    return _groups(ref, column, wanted, tuple(days.items())) if isinstance(column, Ordered) else ref


def zero_apart(name: str, schema: Schema) -> Ref:
    """The same, with 0 in a group of its own where amounts begin there and the first group holds many others: often
    most people have none, and spread over the group they would all have some."""
    usual, column = readable(name, schema), schema[name]
    return _with_zero(name, usual, column) if isinstance(column, Number) and isinstance(usual, Grouped) else usual


@lru_cache(maxsize=1000)
def _with_zero(name: str, usual: Grouped, column: Number) -> Grouped:
    if len(usual.starts) < 2 or column.lower != 0 or usual.starts[1] < MANY:
        return usual
    edges = [column.text(1), *(column.text(start) for start in usual.starts[1:])]
    return read_group({"column": name, "edges": edges}, Schema({name: column}))


@lru_cache(maxsize=1000)
def _groups(ref: str, column: Ordered, wanted: int, days: tuple[tuple[str, int], ...]) -> Ref:
    """Kept, because a form asks for those of every column at every change."""
    schema = Schema({ref: column})
    if isinstance(column, Number):
        for step in _steps(column):
            if (column.upper - column.lower) / step > wanted + 2:  # that many groups need not be made to be counted
                continue
            try:
                group = read_group({"column": ref, "step": text_of(step)}, schema)
            except AllowanceError:  # all of it in one group, or too many
                continue
            if group.size <= wanted + 2:
                return group
        apart = -(-column.size // wanted)  # no such step suits the declared one: so many of its values in a group
        edges = [column.text(code) for code in range(apart, column.size, apart)]
        return read_group({"column": ref, "edges": edges}, schema)
    for rule, most in days:
        if column.size > (most + 2) * _LONGEST[rule]:
            continue
        try:
            group = read_group({"column": ref, "by": rule}, schema)
        except AllowanceError:
            continue
        if group.size <= most:
            return group
    return ref


def _steps(column: Number) -> list[Fraction]:
    """From the declared step on, until the range is a few groups."""
    wide, steps = column.upper - column.lower, []
    power = Fraction(1)
    while power > column.step:
        power /= 10
    while power <= wide:
        steps += [power * times for times in (1, 2, 5) if power * times >= column.step]
        power *= 10
    return steps
