"""Conditions as words, the same in form, answer, history and receipt."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from dpengine.core.types import Json
from dpengine.declared.conditions import FIT_OP, Predicate
from dpengine.declared.grouped import Grouped, Ref
from dpengine.messages import plain, say


def who(where: Predicate, by: Ref | None = None, rows: int | None = None) -> str:
    """“everyone”, or “people where district is Mill or Hill and age is at least 30, by district”. With `rows` it says
    rows instead of people: at most this many of each person, or 0 for all."""
    kind = "" if rows is None else ".rows" if rows else ".all_rows"
    facts = {} if where.everyone else {"conditions": conditions(where)}
    people = say(f"who.{'where' if facts else 'everyone'}{kind}", most=rows, **facts)
    return people if by is None else say("who.by_group" if isinstance(by, Grouped) else "who.by", who=people, by=by)


def conditions(where: Predicate) -> str:
    return say("who.and").join(_row(row) for row in where.rows)


def _row(row: tuple[Json, ...]) -> str:
    if row[0] == "any":
        return say("who.any", conditions=say("who.or").join(_row(inner) for inner in row[1]))
    column, op, operand = row
    if isinstance(column, Grouped):
        labels = column.shown()
        return say(f"who.{op}", column=column.where(), value=say("who.or").join(labels[label] for label in operand))
    if op == FIT_OP:
        without = say("who.or").join(plain(value) for value in operand)
        return say("who.fits_without" if operand else "who.fits", column=column, value=without)
    if op == "between":
        return say("who.between", column=column, low=_figure(operand[0]), high=_figure(operand[1]))
    if isinstance(operand, tuple):
        operand = say("who.or").join(plain(value) for value in operand)
    return say(f"who.{op}", column=column, value=_figure(operand))


def _figure(value: Json) -> str:
    """Numbers of four digits are written without a comma, because they may be years."""
    return str(value) if isinstance(value, int) and abs(value) < 10_000 else plain(value)


def combined(lists: Sequence[Sequence[str]]) -> list[str]:
    """A name for every combination of one value from each list; the last list varies fastest."""
    labels = [" × ".join(combination) for combination in product(*lists)]
    if len(set(labels)) < len(labels):  # some values contain the separator themselves
        labels = [" × ".join(f"“{value}”" for value in combination) for combination in product(*lists)]
    return labels
