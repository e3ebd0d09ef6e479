"""“Only people where …”: canonical JSON rows [column, op, operand], all of which must hold; ["any", [rows]] for OR.

A condition is compiled against the schema into ranges and sets of codes, so a filter is integer comparisons.
A grouped column stands in a condition as the JSON of its groups: [{"column": "visited", "by": "weekday"}, "in",
["Monday"]]. A row with a missing Number meets no condition on it.
A condition is about one row, even if a person has several: `has` reads the set in that row's cell.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from dpengine.core.errors import AllowanceError, refusing
from dpengine.core.exact import ceiling, floor, read_number, text_of
from dpengine.core.types import Json, JsonObject
from dpengine.declared.cell_kinds import FITS, numbered
from dpengine.declared.date_column import Date
from dpengine.declared.grouped import Grouped, Ref
from dpengine.declared.read_group import read_group
from dpengine.declared.schema import MISSING, Category, Code, Column, ItemSet, Number, Ordered, Schema
from dpengine.messages import plain, say

NUMBER_OPS = ("=", "<", "<=", ">", ">=", "between")
CATEGORY_OPS = ("in", "not in", "=")
ITEM_OPS = ("has", "has none of")
FIT_OP = "fits"  # for every kind of column: the cell fits its declaration, and is none of the named codes
MOST_ITEMS = 30  # in one condition
Row = JsonObject  # a code for each column; for an ItemSet the tuple of its items' codes


@dataclass(frozen=True)
class Range:
    """The code is from `low` to `high`. Nobody meets it if low > high."""

    column: str
    low: Code
    high: Code

    def holds(self, row: Row) -> bool:
        return bool(row[self.column] != MISSING and self.low <= row[self.column] <= self.high)


@dataclass(frozen=True)
class OneOf:
    column: str
    codes: tuple[Code, ...]

    def holds(self, row: Row) -> bool:
        return row[self.column] in self.codes


@dataclass(frozen=True)
class InGroup:
    """The row is in one of these groups. A row without a value is in none."""

    group: Grouped
    places: tuple[int, ...]

    @property
    def column(self) -> str:
        return self.group.column

    def holds(self, row: Row) -> bool:
        return self.group.of(row[self.column]) in self.places


@dataclass(frozen=True)
class Has:
    """The row's set holds at least one of the items; with `none`, it holds none of them."""

    column: str
    codes: tuple[Code, ...]
    none: bool = False

    def holds(self, row: Row) -> bool:
        return any(code in self.codes for code in row[self.column]) != self.none


@dataclass(frozen=True)
class Fitting:
    """The cell fits its declaration and is not of the kinds in `without`, which are usual codes in the range."""

    column: str
    without: tuple[int, ...] = ()

    def holds(self, row: Row) -> bool:
        kind = row[kind_name(self.column)]
        return bool(kind >= FITS and kind not in self.without)


def kind_name(column: str) -> str:
    """The key under which a row in tests has the kind of a column's cell."""
    return f"kind {column}"


Simple = Range | OneOf | InGroup | Has | Fitting


@dataclass(frozen=True)
class AnyOf:
    parts: tuple[Simple, ...]

    def holds(self, row: Row) -> bool:
        return any(part.holds(row) for part in self.parts)


Clause = Simple | AnyOf


def parts_of(clause: Clause) -> tuple[Simple, ...]:
    return clause.parts if isinstance(clause, AnyOf) else (clause,)


@dataclass(frozen=True)
class Predicate:
    """A condition: all clauses hold. `rows`: the canonical JSON that they were compiled from."""

    clauses: tuple[Clause, ...] = ()
    rows: tuple[Json, ...] = ()

    def holds(self, row: Row) -> bool:
        return all(clause.holds(row) for clause in self.clauses)

    @property
    def everyone(self) -> bool:
        return not self.clauses

    def as_json(self) -> list[Json]:
        rows: list[Json] = json.loads(json.dumps(self.rows, default=Grouped.as_json))
        return rows

    @property
    def parts(self) -> list[Simple]:
        return [part for clause in self.clauses for part in parts_of(clause)]

    def columns(self) -> set[str]:
        return {part.column for part in self.parts}

    def fitting(self) -> dict[str, Fitting]:
        """Its clauses that only count fitting cells, by column."""
        return {clause.column: clause for clause in self.clauses if isinstance(clause, Fitting)}

    def kinds_of(self) -> set[str]:
        """The columns for which the kind of a cell decides who meets the condition."""
        return {part.column for part in self.parts if isinstance(part, Fitting)}


def excludes_nothing(clause: Clause, schema: Schema) -> bool:
    """Does every row with a value meet this clause, by the declaration alone?"""
    if isinstance(clause, AnyOf):
        return any(excludes_nothing(part, schema) for part in clause.parts)
    if isinstance(clause, InGroup):
        return len(clause.places) == clause.group.size
    column = schema[clause.column]
    if isinstance(clause, Fitting):
        return False  # whether a cell fits is not known from the declaration
    if isinstance(clause, Range):
        return isinstance(column, (Number, Date)) and (clause.low, clause.high) == (0, column.size - 1)
    return isinstance(clause, OneOf) and len(clause.codes) == column.size


EVERYONE = Predicate()


def read_predicate(rows: Json, schema: Schema) -> Predicate:
    """Compile JSON rows to a condition. A row that the schema does not allow is refused in one sentence."""
    if rows is None:
        return EVERYONE
    if not isinstance(rows, (list, tuple)):
        raise AllowanceError("predicate.unreadable")
    clauses: list[Clause] = []
    canonical: list[Json] = []
    for row in rows:
        if isinstance(row, (list, tuple)) and len(row) == 2 and row[0] == "any":
            if not isinstance(row[1], (list, tuple)) or not row[1]:
                raise AllowanceError("predicate.unreadable")
            parts = [_simple(inner, schema) for inner in row[1]]
            clauses.append(AnyOf(tuple(clause for clause, _ in parts)))
            canonical.append(("any", tuple(text for _, text in parts)))
        else:
            clause, text = _simple(row, schema)
            clauses.append(clause)
            canonical.append(text)
    return Predicate(tuple(clauses), tuple(canonical))


def _simple(row: Json, schema: Schema) -> tuple[Simple, tuple[Json, ...]]:
    if not isinstance(row, (list, tuple)) or len(row) != 3 or not isinstance(row[0], (str, dict, Grouped)):
        deep = isinstance(row, (list, tuple)) and len(row) > 0 and row[0] == "any"
        raise AllowanceError("predicate.deep" if deep else "predicate.unreadable")
    name, op, operand = row
    if not isinstance(name, str):
        group = name if isinstance(name, Grouped) else read_group(name, schema)
        places, plain_op, labels = _one_of(str(group), group, op, operand)
        return InGroup(group, places), (group, plain_op, labels)
    column = schema[name]
    if op == FIT_OP:
        return _fitting(name, column, operand)
    if isinstance(column, (Number, Date)):
        return _range(name, column, op, operand), (name, op, _plain(operand, column))
    if isinstance(column, ItemSet):
        return _has(name, column, op, operand)
    codes, plain_op, labels = _one_of(name, column, op, operand)
    return OneOf(name, codes), (name, plain_op, labels)


def _known_op(name: str, op: object, ops: tuple[str, ...]) -> str:
    if not isinstance(op, str) or op not in ops:
        raise AllowanceError("predicate.op", op=str(op)[:20], column=name, ops=ops)
    return op


def _plain(operand: Json, column: Ordered) -> Json:
    if isinstance(operand, (list, tuple)):
        return tuple(_plain(part, column) for part in operand)
    if isinstance(column, Date):
        return column.plain(operand)
    exact = read_number(operand, "value")
    if exact.denominator == 1:
        return int(exact)
    near = float(exact)
    return near if read_number(near, "value") == exact else text_of(exact)  # different values never get the same text


def _range(name: str, column: Ordered, op: object, operand: Json) -> Range:
    op, last = _known_op(name, op, NUMBER_OPS), column.size - 1

    def place(value: Json) -> Fraction:
        return column.place(value, name)

    if op == "between":
        if not isinstance(operand, (list, tuple)) or len(operand) != 2:
            raise AllowanceError("predicate.unreadable")
        low, high = ceiling(place(operand[0])), floor(place(operand[1]))
    elif op == "=":
        low, high = ceiling(place(operand)), floor(place(operand))
    elif op in ("<", "<="):
        at = place(operand)
        low, high = 0, floor(at) - (1 if op == "<" and at.denominator == 1 else 0)
    else:
        at = place(operand)
        low, high = ceiling(at) + (1 if op == ">" and at.denominator == 1 else 0), last
    return Range(name, max(low, 0), min(high, last))


def _fitting(name: str, column: Column, operand: Json) -> tuple[Fitting, tuple[Json, ...]]:
    """The clause that only fitting cells meet. `operand`: usual codes that do not count either."""
    if not isinstance(operand, (list, tuple)):
        raise AllowanceError("predicate.unreadable")
    own = numbered(name, column) if isinstance(column, Number) else {}
    codes = sorted({read_number(code, name) for code in operand})
    if strange := [code for code in codes if code not in own]:
        raise AllowanceError("predicate.value", value=text_of(strange[0]), column=name)
    return Fitting(name, tuple(own[code] for code in codes)), (name, FIT_OP, tuple(text_of(code) for code in codes))


def _has(name: str, column: ItemSet, op: object, operand: Json) -> tuple[Has, tuple[Json, ...]]:
    op, codes = _known_op(name, op, ITEM_OPS), _listed(name, column, operand)
    if len(codes) > MOST_ITEMS:
        raise AllowanceError("predicate.has_many", column=name, most=MOST_ITEMS)
    chosen = tuple(sorted(codes))
    return Has(name, chosen, op == "has none of"), (name, op, tuple(column.labels[code] for code in chosen))


def _one_of(
    name: str, column: Category | Grouped, op: object, operand: Json
) -> tuple[tuple[Code, ...], str, tuple[str, ...]]:
    """The codes that meet the condition; and its operator and labels in canonical form."""
    op, named = _known_op(name, op, CATEGORY_OPS), _listed(name, column, operand)
    codes = set(range(column.size)) - named if op == "not in" else named
    return tuple(sorted(codes)), "in" if op == "=" else op, tuple(column.labels[code] for code in sorted(named))


def _listed(name: str, column: Category | Grouped | ItemSet, operand: Json) -> set[Code]:
    """The codes of one public value or of several."""
    wanted = operand if isinstance(operand, (list, tuple)) else [operand]
    if not wanted:
        raise AllowanceError("predicate.empty", column=name)
    codes: set[Code] = set()
    for value in wanted:
        with refusing("predicate.value", KeyError, value=str(value)[:60], column=name):
            codes.add(column.code(value))
    return codes


# Conditions as words, the same in form, answer, history and receipt.


def who(where: Predicate, by: Ref | None = None, rows: int | None = None, of: bool = False) -> str:
    """Who is counted, as text: “everyone”, or “people where district is Mill or Hill and age is at least 30, by
    district”. `rows`: say rows and not people, at most this many of each person; 0: all. `of`: as it stands after “the
    number of”, which some languages say in another case."""
    kind = "" if rows is None else ".rows" if rows else ".all_rows"
    facts = {} if where.everyone else {"conditions": conditions(where)}
    people = say(f"who.{'of.' if of else ''}{'where' if facts else 'everyone'}{kind}", most=rows, **facts)
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
    """A number as text. Four digits have no comma, since they may be a year."""
    return str(value) if isinstance(value, int) and abs(value) < 10_000 else plain(value)


def combined(lists: Sequence[Sequence[str]]) -> list[str]:
    """A name for each combination of one value from each list; the last list varies fastest."""
    labels = [" × ".join(combination) for combination in product(*lists)]
    if len(set(labels)) < len(labels):  # some values contain the separator themselves
        labels = [" × ".join(f"“{value}”" for value in combination) for combination in product(*lists)]
    return labels
