"""How the declaration changes the file before a question is answered, so that people know which table an answer is
about.

At most m rows of a person count. Numbers and days beyond their range count as its ends. A number that stands for
“unknown” counts as an empty cell. A cell outside a list, and an empty cell, count as the declaration says. Answers are
about the table after these changes. Whether any cell changed is private, so the notes depend on the declaration and the
question alone.

For a column that enters an answer we list every such rule. For a column in a condition we list only rules that can
change who meets it: “amount > 200” holds for 350 and for the 300 it counts as, so a range that ends at 300 changes
nothing there; it does change “amount = 300”, “≤ 300” and “> 300”. We leave out a rule at an end of the range if the
condition treats all values beyond the end like the end itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction

from dpengine.core.exact import read_number, text_of
from dpengine.core.types import Json, JsonObject
from dpengine.declared.conditions import FIT_OP, Predicate
from dpengine.declared.date_column import Date
from dpengine.declared.facts import Facts
from dpengine.declared.grouped import AGAIN, Grouped
from dpengine.declared.schema import Category, Column, ItemSet, Number, Ordered
from dpengine.messages import plain, say
from dpengine.messages.numbers import day, local
from dpengine.statistics.need import AnyNeed
from dpengine.statistics.raw_needs import RawNeed

LOWER, UPPER, FILLED, OUTSIDE, EMPTY, ITEMS = "lower", "upper", "filled", "outside", "empty", "items"
CODES = "codes"
_NAMED = 3  # of more codes one is named: a card proposes several, and the page of the table lists all
_YEARS = range(1800, 2101)


@dataclass(frozen=True)
class Cut:
    """One rule by which the declaration changes the file: a message code with public facts, all JSON."""

    code: str
    facts: tuple[tuple[str, Json], ...]

    def words(self) -> str:
        """Part of a sentence, in the reader's language."""
        days = self.code.startswith("cut.days")
        facts = dict(self.facts)
        for name in {LOWER, UPPER, "value"} & facts.keys():
            facts[name] = day(facts[name]) if days else figure(facts[name])
        if CODES in facts:
            if len(codes := facts[CODES]) > _NAMED:
                named = next((code for code in codes if not code.startswith("-")), codes[-1])
                return say(f"{self.code}.several", column=facts["column"], code=local(named))
            facts |= {CODES: [local(code) for code in facts[CODES]], "many": len(facts[CODES])}
        return say(self.code, **facts)

    def as_json(self) -> JsonObject:
        return {"code": self.code} | dict(self.facts)


def sentence(cuts: Iterable[Cut]) -> str:
    """All rules as one sentence; empty if there are none."""
    parts = [cut.words() for cut in cuts]
    return say("cut.all", parts="; ".join(parts)) if parts else ""


def cut(code: str, **facts: Json) -> Cut:
    return Cut(f"cut.{code}", tuple(facts.items()))


def of_question(
    facts: Facts, need: AnyNeed | RawNeed, valued: set[str], conditions: Iterable[Predicate]
) -> tuple[Cut, ...]:
    """All rules for a question. The limit on rows per person is omitted if the statistic reads every row."""
    unit, reads_all = facts.unit, getattr(need, "every_row", False)
    cuts = [] if unit.single or reads_all else [cut("rows", column=unit.id_column, most=unit.at_most)]
    return *cuts, *of_columns(facts, valued, conditions)


def of_columns(facts: Facts, valued: Iterable[str], conditions: Iterable[Predicate]) -> list[Cut]:
    """The rules for columns that enter an answer, and for those that only decide who counts."""
    conditions = tuple(conditions)
    kinds_of: dict[str, set[str]] = {name: _all(facts.schema[name]) for name in valued}
    for predicate in conditions:
        for name, kinds in _changed(facts, predicate.rows):
            kinds_of.setdefault(name, set()).update(kinds)
    for predicate in conditions:
        for name in predicate.fitting():  # cells that do not fit do not count at all
            kinds_of[name] = kinds_of.get(name, set()) - {LOWER, UPPER, OUTSIDE, ITEMS}
    cuts: list[Cut] = []
    places: dict[tuple[str, str], list[str]] = {}  # columns by rule and label, so that one note names them together
    for name in sorted(kinds_of):
        column = facts.schema[name]
        if isinstance(column, (Number, Date)):
            cuts += _of_ordered(name, column, kinds_of[name])
        elif isinstance(column, Category):
            for code, label in _of_list(column, kinds_of[name]):
                places.setdefault((code, label), []).append(name)
        elif ITEMS in kinds_of[name]:
            cuts.append(cut("items", column=name))
    return cuts + [cut(code, columns=names, label=label) for (code, label), names in places.items()]


def _all(column: Column) -> set[str]:
    if isinstance(column, ItemSet):
        return {ITEMS}
    if isinstance(column, Category):
        return {OUTSIDE, EMPTY}
    return {LOWER, UPPER, FILLED, CODES}


def _of_ordered(name: str, column: Ordered, kinds: set[str]) -> Iterator[Cut]:
    ends = {LOWER: column.text(0), UPPER: column.text(column.size - 1)}
    ends_cut = {end: text for end, text in ends.items() if end in kinds}
    code = "days" if isinstance(column, Date) else "range"
    if len(ends_cut) == 2:
        yield cut(code, column=name, **ends_cut)
    elif ends_cut:
        yield cut(f"{code}.{next(iter(ends_cut))}", column=name, **ends_cut)
    if isinstance(column, Number) and column.codes and CODES in kinds:
        yield cut("codes", column=name, codes=[text_of(code) for code in column.codes])
    if isinstance(column, Number) and column.missing is not None and FILLED in kinds:
        yield cut("filled", column=name, value=text_of(column.missing))


def _of_list(column: Category, kinds: set[str]) -> Iterator[tuple[str, str]]:
    """The rules of a list: which label cells outside it get, and which one empty cells get, if that is in the list."""
    outside = OUTSIDE in kinds
    empty = EMPTY in kinds and column.missing in column.values
    if outside and empty and column.unknown == column.missing:
        yield "list.both", column.unknown
        return
    if outside:
        yield "list", column.unknown
    if empty:
        yield "list.empty", column.missing


def _changed(facts: Facts, rows: Iterable[Json]) -> Iterator[tuple[str, set[str]]]:
    """Each simple condition's column, with the rules that can change who meets the condition."""
    for row in rows:
        if row[0] == "any":
            yield from _changed(facts, row[1])
            continue
        name, op, operand = row
        if op == FIT_OP:
            continue
        if isinstance(name, Grouped):
            yield name.column, _of_groups(facts, name, op, operand)
            continue
        column = facts.schema[name]
        if isinstance(column, (Number, Date)):
            yield name, _of_interval(column, op, operand)
        elif isinstance(column, Category):
            labels = {OUTSIDE: column.unknown, EMPTY: column.missing}
            yield name, {kind for kind, label in labels.items() if label in operand}


def _of_groups(facts: Facts, group: Grouped, op: str, named: Json) -> set[str]:
    """The rules that can change a condition on groups. Values beyond an end count in that end's group, so the end
    matters if the condition names this group; it always does if groups recur like weekdays."""
    column = facts.schema.ordered(group.column)
    ends = {LOWER: group.of(0), UPPER: group.of(column.size - 1)}
    kinds = {end for end, place in ends.items() if group.rule in AGAIN or group.labels[place] in named}
    if isinstance(column, Number):
        last = column.size - 1

        def holds(place: Fraction | int) -> bool:
            return (group.labels[group.of(min(max(round(place), 0), last))] in named) != (op == "not in")

        kinds |= _of_absent(column, holds)
    return kinds


def _of_absent(column: Number, holds: Callable[[Fraction | int], bool]) -> set[str]:
    """The rules for empty cells that can change a condition. Filling does if the filled value meets it, because an
    empty cell never does. A code for “unknown” does if the condition would treat it unlike an empty cell."""
    filled = column.missing is not None and holds(column.code(column.missing))
    coded = any(holds(column.place(code)) != filled for code in column.codes)
    return {kind for kind, so in ((FILLED, filled), (CODES, coded)) if so}


def _of_interval(column: Ordered, op: str, operand: Json) -> set[str]:
    """The rules that can change a condition on an ordered column, which is an interval in steps of its grid."""
    low: Fraction | None
    high: Fraction | None
    low, high, last = None, None, column.size - 1
    if op == "between":
        low, high = column.place(operand[0]), column.place(operand[1])
    elif op == "=":
        low = high = column.place(operand)
    elif op in ("<", "<="):
        high = column.place(operand)
    else:
        low = column.place(operand)

    if low is not None and high is not None and low > high:
        return set()  # nobody meets it, whatever cells count as

    def holds(place: Fraction | int) -> bool:
        above = low is None or place > low or (place == low and op != ">")
        below = high is None or place < high or (place == high and op != "<")
        return above and below

    kinds: set[str] = set()
    beyond = {high is None and (low is None or low <= last), not (high is not None and high <= last)}
    if beyond != {holds(last)}:  # the condition differs among values above the end, or from the end itself
        kinds.add(UPPER)
    beyond = {low is None and (high is None or high >= 0), not (low is not None and low >= 0)}
    if beyond != {holds(0)}:
        kinds.add(LOWER)
    if isinstance(column, Number):
        kinds |= _of_absent(column, holds)
    return kinds


def figure(text: str) -> str:
    """An end of a range as the reader writes it; a year has no thousands separator."""
    exact = read_number(text, "value")
    return local(text) if exact.denominator == 1 and int(exact) in _YEARS else plain(exact)
