"""What a first look counts: which columns, in which cells, and which of them together. Public facts only.

Columns of sets: people who hold each item, released together with the marginals (`Held`)

Statistic   for each column of sets with H items, the number of people who hold each. At most k items of a person's set
            count, k as declared (`ItemSet.at_most`), chosen from the set alone; without a declared k all of them may
            count, so k = H. A person with several rows holds what any of *all* their rows holds: the number of rows
            does not matter. If the number of people is secret, it is one more number, for shares.
Change      one person in or out moves at most min(k, H) of the H numbers, by one each; one replaced by another moves
            the items in one set and not in the other, at most min(2k, H). So the squared length is at most
            κ = min(k, H), or κ = min(2k, H). The number of people moves by one, or not at all.
Loss        the numbers + independent discrete Gaussian noise of σ² each: ρ = κ/(2σ²) (Canonne, Kamath, Steinke 2020,
            Theorem 14). A person's items do not restrict their cells, nor the items of other columns, so the worst of
            all parts can happen at once, and the loss of the whole is the sum of theirs, exactly.
Noise       a part with the weighted variance V_j at ρ = 1 has V_j/ρ_j at ρ_j. With Σρ_j = ρ the least maximum of all
            is at ρ_j ∝ V_j (`level`: all figures are about equally exact), the least sum at ρ_j ∝ √V_j.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import combinations

from dpengine.core.errors import AllowanceError
from dpengine.core.exact import decade, one_two_five, read_number, text_of, up
from dpengine.core.types import Json, JsonObject
from dpengine.declared.date_column import Date
from dpengine.declared.facts import Facts
from dpengine.declared.grouped import Grouped, Ref, base
from dpengine.declared.read_group import MOST_GROUPS, read_group, read_ref
from dpengine.declared.schema import Category, ItemSet, Number, Ordered, Schema
from dpengine.mechanisms.marginals.residuals import Columns
from dpengine.mechanisms.query import Fields
from dpengine.statistics.counts import ItemCounts, RowCount
from dpengine.statistics.marginals import CellAxis, axis_in
from dpengine.statistics.need import AnyNeed

WANTED = 12  # groups of a number, about
MANY = 100  # if the first group holds this many values, 0 gets its own group
FEW = 5  # groups of a number that is made coarser, about
MOST_DAYS = {"month": 24, "quarter": 24, "year": MOST_GROUPS}  # groups of days, at most
FEW_DAYS = {"quarter": 8, "year": 24}
_LONGEST = {"month": 31, "quarter": 92, "year": 366}  # days


def coarser(name: str, schema: Schema) -> Ref:
    """The column in fewer groups, if possible."""
    return readable(name, schema, FEW, FEW_DAYS)


def readable(ref: Ref, schema: Schema, wanted: int = WANTED, days: Mapping[str, int] = MOST_DAYS) -> Ref:
    """A column in groups that are easy to read, from its declared range: a list as it is; a number in even steps of 1,
    2 or 5 times a power of ten, if that suits; days by month, quarter or year. A range of more than 400 years stays as
    it is, and so is refused."""
    if not isinstance(ref, str):
        return ref
    column = schema[ref]
    return _groups(ref, column, wanted, tuple(days.items())) if isinstance(column, Ordered) else ref


def zero_apart(name: str, schema: Schema) -> Ref:
    """`readable` with 0 in its own group, if amounts begin there and the first group holds many others: often most
    people have none, and a synthetic row would give them some."""
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
    """`readable` of an ordered column. Cached, because a form asks for the groups of every column at every change."""
    schema = Schema({ref: column})
    if isinstance(column, Number):
        for step in _steps(column):
            if (column.upper - column.lower) / step > wanted + 2:
                continue
            try:
                group = read_group({"column": ref, "step": text_of(step)}, schema)
            except AllowanceError:  # all of it in one group, or too many
                continue
            if group.size <= wanted + 2:
                return group
        apart = -(-column.size // wanted)  # no such step suits the declared one: put this many values in a group
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
    """Widths of groups, 1, 2 or 5 times a power of ten, from the declared step up to the whole range."""
    return one_two_five(column.step, 5 * decade(column.upper - column.lower))


FEW_ITEMS = 12  # a person may hold all of this many, if no size of a set is declared
_GRAIN = 10**6


def countable(column: ItemSet) -> bool:
    """Is the number of items per person declared, or the number of all items small?"""
    return column.at_most is not None or column.size <= FEW_ITEMS


@dataclass(frozen=True)
class Held:
    """A vector of counts of people: those who hold each item of a column, or everyone if `column` is empty."""

    column: str
    size: int
    moves: int  # κ: one person changes this many of the numbers, by one each
    weight: Fraction = Fraction(1)

    def noise(self, rho: Fraction) -> Fraction:
        """σ² of each number, at this loss."""
        return up(Fraction(self.moves) / (2 * rho), _GRAIN)


def held_of(facts: Facts, names: Sequence[str], weights: dict[str, Fraction]) -> tuple[Held, ...]:
    """The counts to measure: everyone first, if their number is secret; then the holders of each item, per column of
    sets. Empty without such columns."""
    held = [] if facts.people is not None or not names else [Held("", 1, 1)]
    for name in names:
        column = set_of(facts, name)
        most = column.size if column.at_most is None else column.at_most
        held.append(Held(name, column.size, min(facts.sides * most, column.size), weights.get(name, Fraction(1))))
    return tuple(held)


def set_of(facts: Facts, name: str) -> ItemSet:
    column = facts.schema[name]
    assert isinstance(column, ItemSet)
    return column


def need_of(facts: Facts, held: Held) -> AnyNeed:
    several = facts.unit.id_column is not None
    if not held.column:
        return RowCount(people=several)
    cut = set_of(facts, held.column).at_most is not None
    return ItemCounts(held.column, held.size, people=several, cut=cut)


def split(rho: Fraction, variances: Sequence[float], level: bool) -> list[Fraction]:
    """Divides ρ among parts by their weighted variances at ρ = 1. They get exactly ρ in all, and none gets 0."""
    matters = [variance if level else math.sqrt(variance) for variance in variances]
    free = _GRAIN - len(matters)
    units = [1 + math.floor(free * matter / sum(matters)) for matter in matters]
    units[0] += _GRAIN - sum(units)
    return [rho * Fraction(unit, _GRAIN) for unit in units]


MOST_COLUMNS = 60
MOST_CELLS = 10_000  # of one marginal
MOST_NUMBERS = 200_000  # to draw
MOST_SETS = 2_000  # of columns together
MOST_AGAINST = 2
NAMED = 3  # columns in a refusal of too many cells
EVERY_PAIR = "all"  # instead of columns of interest
FOR_MODEL = 30  # the weight of a column that a model predicts (`planning.training`)
LEVEL, EVEN = "level", "even"  # the spread of noise: the least widest range of a cell, or the least total variance
NO_ANSWER, DOES_NOT_FIT = "no answer", "does not fit"  # stored labels


def read_wanted(facts: Facts, given: JsonObject) -> Fields:
    names = given.get("columns") or [name for name, column in facts.schema.columns.items() if has_cells(column)]
    if not isinstance(names, (list, tuple)) or not 1 <= len(names) <= MOST_COLUMNS:
        raise AllowanceError("overview.columns", most=MOST_COLUMNS)
    read = [read_ref(name, facts.schema) for name in names]
    sets = {ref for ref in read if isinstance(ref, str) and isinstance(facts.schema[ref], ItemSet)}
    items = tuple(ref for ref in read if isinstance(ref, str) and ref in sets)
    refs = tuple(readable(ref, facts.schema) for ref in read if ref not in sets)
    plain = [base(ref) for ref in refs]
    if len({*plain, *items}) != len(read):
        raise AllowanceError("overview.columns", most=MOST_COLUMNS)
    asked = given.get("against") or ()
    every = asked == EVERY_PAIR
    against = tuple(map(str, asked)) if isinstance(asked, (list, tuple)) else () if every else (str(asked),)
    if len(against) > MOST_AGAINST or len(set(against)) != len(against) or not set(against) <= set(plain):
        raise AllowanceError("overview.against", most=MOST_AGAINST)
    three = given.get("three") in (True, "true", "1")
    fields = {
        "columns": refs,
        "items": items,
        "against": against,
        "every": every,
        "three": three and (every or len(against) == MOST_AGAINST),
        "weights": read_weights(given.get("weights"), [*plain, *items]),
        "spread": EVEN if given.get("spread") == EVEN else LEVEL,
    }
    refuse_large(facts, fields)
    return fields


def wanted_sets(
    names: Sequence[str], against: Sequence[str], three: bool = False, every: bool = False
) -> tuple[Columns, ...]:
    hubs = [names.index(name) for name in against]
    singles = [(place,) for place in range(len(names))]
    pairs = {tuple(sorted((hub, place))) for hub in hubs for place in range(len(names)) if place != hub}
    pairs |= set(combinations(range(len(names)), 2)) if every else set()
    triples = {tuple(sorted((*hubs, place))) for place in range(len(names)) if place not in hubs} if three else set()
    if three and every:
        triples = set(combinations(range(len(names)), 3))
    return (*singles, *sorted(pairs), *sorted(triples))


def labels_of(axis: CellAxis, facts: Facts) -> list[str]:
    own = list(facts.schema.category(axis.ref).labels)
    return own + [NO_ANSWER] * axis.absent + [DOES_NOT_FIT] * axis.misfit


def has_cells(column: object) -> bool:
    """Does a column have cells to count? Not if its list, range of years or sets are too long or unknown."""
    if isinstance(column, Date):
        return column.last.year - column.first.year < MOST_GROUPS
    if isinstance(column, ItemSet):
        return countable(column) and column.size <= MOST_CELLS
    return not (isinstance(column, Category) and column.size > MOST_CELLS)


def read_weights(given: Json, names: Sequence[str]) -> tuple[tuple[str, Fraction], ...]:
    if given in (None, "", {}):
        return ()
    if not isinstance(given, Mapping) or not set(given) <= set(names):
        raise AllowanceError("overview.weights")
    weights = {name: read_number(weight, name) for name, weight in given.items()}
    if any(not 0 < weight <= 1000 for weight in weights.values()):
        raise AllowanceError("overview.weights")
    return tuple(sorted((name, weight) for name, weight in weights.items() if weight != 1))


def refuse_large(facts: Facts, fields: Fields) -> None:
    """Refuse too many combinations, and name their columns."""
    for name in fields["items"]:
        column = set_of(facts, name)
        if not countable(column):
            raise AllowanceError("items.size_needed", column=name)
        if column.size > MOST_CELLS:
            raise AllowanceError("overview.cells", columns=[name], cells=column.size, most=MOST_CELLS)
    names = [base(ref) for ref in fields["columns"]]
    sizes = [axis_in(ref, facts.schema).size for ref in fields["columns"]]
    total, of_each = 0, dict.fromkeys(names, 0)
    wanted = wanted_sets(names, fields["against"], fields["three"], fields["every"])
    if len(wanted) > MOST_SETS:
        raise AllowanceError("overview.sets", sets=len(wanted), columns=len(names), most=MOST_SETS)
    for part in wanted:
        cells = math.prod(sizes[place] for place in part)
        total += cells
        of_each |= {names[place]: of_each[names[place]] + cells for place in part}
        if cells > MOST_CELLS:
            columns = [names[place] for place in part]
            raise AllowanceError("overview.cells", columns=columns, cells=cells, most=MOST_CELLS)
    if total > MOST_NUMBERS:
        longest = sorted(names, key=lambda name: -of_each[name])[:NAMED]
        raise AllowanceError("overview.numbers", cells=total, most=MOST_NUMBERS, columns=longest)
