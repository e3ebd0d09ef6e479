"""What an answer does not count as the file has it, from public facts: so that “the truth” is said of the right table.

A declaration cuts: of a person's rows at most m count, numbers and days beyond their range count as its ends, a cell
outside a list counts where the list says, and an empty one where the declaration fills it. Answers are about the table
after that. Whether any cell was cut is private, so what is told depends on the declaration and the question alone.

Of a column whose values enter an answer all that is cut is told. Of one in a condition, what can change who meets it:
“amount > 200” holds of 350 and of the 300 it counts as, so a range that ends at 300 changes nothing; it does change
“amount = 300”, “≤ 300” and “> 300”. A condition must say of all values beyond an end what it says of the end itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction

from dpengine.core.exact import read_number, text_of
from dpengine.core.json_types import Json, JsonObject
from dpengine.declared.conditions import Predicate
from dpengine.declared.date_column import Date
from dpengine.declared.facts import Facts
from dpengine.declared.grouped import AGAIN, Grouped
from dpengine.declared.schema import Category, Column, ItemSet, Number, Ordered
from dpengine.messages import plain, say
from dpengine.messages.numbers import day, local
from dpengine.statistics.need import AnyNeed
from dpengine.statistics.raw_needs import RawNeed

LOWER, UPPER, FILLED, OUTSIDE, EMPTY, ITEMS = "lower", "upper", "filled", "outside", "empty", "items"
_YEARS = range(1000, 3000)


@dataclass(frozen=True)
class Cut:
    """One thing that is cut, as a code of the catalogue with public facts; all of them JSON."""

    code: str
    facts: tuple[tuple[str, Json], ...]

    def words(self) -> str:
        """Part of a sentence, in the reader's language."""
        days = self.code.startswith("cut.days")
        told = dict(self.facts)
        for name in {LOWER, UPPER, "value"} & told.keys():
            told[name] = day(told[name]) if days else _figure(told[name])
        return say(self.code, **told)

    def as_json(self) -> JsonObject:
        return {"code": self.code} | dict(self.facts)


def sentence(cuts: Iterable[Cut]) -> str:
    """All of it as one sentence; nothing where nothing is cut."""
    told = [cut.words() for cut in cuts]
    return say("cut.all", parts="; ".join(told)) if told else ""


def cut(code: str, **facts: Json) -> Cut:
    return Cut(f"cut.{code}", tuple(facts.items()))


def of_question(
    facts: Facts, need: AnyNeed | RawNeed, valued: set[str], conditions: Iterable[Predicate]
) -> tuple[Cut, ...]:
    """All of it; of rows nothing where the statistic reads every one."""
    unit, every = facts.unit, getattr(need, "every_row", False)
    found = [] if unit.id_column is None or every else [cut("rows", column=unit.id_column, most=unit.at_most)]
    return *found, *of_columns(facts, valued, conditions)


def of_columns(facts: Facts, valued: Iterable[str], conditions: Iterable[Predicate]) -> list[Cut]:
    """What is cut of the columns whose values enter an answer, and of those that only decide who counts."""
    found: dict[str, set[str]] = {name: _all(facts.schema[name]) for name in valued}
    for predicate in conditions:
        for name, kinds in _changed(facts, predicate.rows):
            found.setdefault(name, set()).update(kinds)
    told: list[Cut] = []
    places: dict[tuple[str, str], list[str]] = {}  # columns whose cells count as the same label, together
    for name in sorted(found):
        column = facts.schema[name]
        if isinstance(column, (Number, Date)):
            told += _of_ordered(name, column, found[name])
        elif isinstance(column, Category):
            for code, label in _of_list(column, found[name]):
                places.setdefault((code, label), []).append(name)
        elif ITEMS in found[name]:
            told.append(cut("items", column=name))
    return told + [cut(code, columns=names, label=label) for (code, label), names in places.items()]


def _all(column: Column) -> set[str]:
    if isinstance(column, ItemSet):
        return {ITEMS}
    if isinstance(column, Category):
        return {OUTSIDE, EMPTY}
    return {LOWER, UPPER, FILLED}


def _of_ordered(name: str, column: Ordered, kinds: set[str]) -> Iterator[Cut]:
    ends = {LOWER: column.text(0), UPPER: column.text(column.size - 1)}
    told = {end: text for end, text in ends.items() if end in kinds}
    code = "days" if isinstance(column, Date) else "range"
    if len(told) == 2:
        yield cut(code, column=name, **told)
    elif told:
        yield cut(f"{code}.{next(iter(told))}", column=name, **told)
    if isinstance(column, Number) and column.missing is not None and FILLED in kinds:
        yield cut("filled", column=name, value=text_of(column.missing))


def _of_list(column: Category, kinds: set[str]) -> Iterator[tuple[str, str]]:
    """Where cells outside the list go, and empty ones where they count as one of its values."""
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
    """For each simple condition its column, and which cuts can change whether it holds."""
    for row in rows:
        if row[0] == "any":
            yield from _changed(facts, row[1])
            continue
        name, op, operand = row
        if isinstance(name, Grouped):
            yield name.column, _of_groups(facts, name, op, operand)
            continue
        column = facts.schema[name]
        if isinstance(column, (Number, Date)):
            yield name, _of_interval(column, op, operand)
        elif isinstance(column, Category):
            yield (
                name,
                {kind for kind, label in ((OUTSIDE, column.unknown), (EMPTY, column.missing)) if label in operand},
            )


def _of_groups(facts: Facts, group: Grouped, op: str, named: Json) -> set[str]:
    """A value beyond an end counts in the group of that end; where groups come again, in whichever."""
    column = facts.schema.ordered(group.column)
    ends = {LOWER: group.of(0), UPPER: group.of(column.size - 1)}
    kinds = {end for end, place in ends.items() if group.rule in AGAIN or group.labels[place] in named}
    if isinstance(column, Number) and column.missing is not None:
        held = group.labels[group.of(column.code(column.missing))] in named
        kinds |= {FILLED} if held != (op == "not in") else set()
    return kinds


def _of_interval(column: Ordered, op: str, operand: Json) -> set[str]:
    """A condition on an ordered column is an interval, in steps from the lowest value."""
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
        return set()  # nobody, whatever counts as what

    def holds(place: int) -> bool:
        above = low is None or place > low or (place == low and op != ">")
        below = high is None or place < high or (place == high and op != "<")
        return above and below

    kinds: set[str] = set()
    beyond = {high is None and (low is None or low <= last), not (high is not None and high <= last)}
    if beyond != {holds(last)}:  # not all values above the end say the same, or not what the end says
        kinds.add(UPPER)
    beyond = {low is None and (high is None or high >= 0), not (low is not None and low >= 0)}
    if beyond != {holds(0)}:
        kinds.add(LOWER)
    if isinstance(column, Number) and column.missing is not None and holds(column.code(column.missing)):
        kinds.add(FILLED)  # an empty cell itself meets no condition
    return kinds


def _figure(text: str) -> str:
    exact = read_number(text, "value")
    return local(text) if exact.denominator == 1 and int(exact) in _YEARS else plain(exact)
