"""What a first look is asked for: which columns, in which cells, and which of them together. Public facts only."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import combinations

from dpengine.core.errors import AllowanceError
from dpengine.core.exact import read_number
from dpengine.core.json_types import Json, JsonObject
from dpengine.declared.date_column import Date
from dpengine.declared.facts import Facts
from dpengine.declared.grouped import Ref, base
from dpengine.declared.read_group import MOST_GROUPS, read_ref
from dpengine.declared.schema import Category, ItemSet
from dpengine.mechanisms.marginals.bins import readable
from dpengine.mechanisms.marginals.items import countable, set_of
from dpengine.mechanisms.marginals.residuals import Columns
from dpengine.mechanisms.query import Fields
from dpengine.messages import say
from dpengine.statistics.marginals import CellAxis, axis_in

MOST_COLUMNS = 60
MOST_CELLS = 10_000  # of one marginal
MOST_NUMBERS = 200_000  # to draw
MOST_SETS = 2_000  # of columns together
MOST_AGAINST = 2
NAMED = 3  # columns, where all together are too many
EVERY_PAIR = "all"  # instead of columns of interest
FOR_MODEL = 30  # the weight of a column that a model is to predict (`planning.look_for_model`)
# How noise is spread: for the narrowest widest range of a cell, or for the least total variance.
LEVEL, EVEN = "level", "even"
NO_ANSWER, DOES_NOT_FIT = "no answer", "does not fit"  # as they are stored


def read_wanted(facts: Facts, given: JsonObject) -> Fields:
    names = given.get("columns") or [name for name, column in facts.schema.columns.items() if tellable(column)]
    if not isinstance(names, (list, tuple)) or not 1 <= len(names) <= MOST_COLUMNS:
        raise AllowanceError("overview.columns", most=MOST_COLUMNS)
    told = [read_ref(name, facts.schema) for name in names]
    sets = {ref for ref in told if isinstance(ref, str) and isinstance(facts.schema[ref], ItemSet)}
    items = tuple(ref for ref in told if isinstance(ref, str) and ref in sets)
    refs = tuple(readable(ref, facts.schema) for ref in told if ref not in sets)
    plain = [base(ref) for ref in refs]
    if len({*plain, *items}) != len(told):
        raise AllowanceError("overview.columns", most=MOST_COLUMNS)
    asked = given.get("against") or ()
    every = asked == EVERY_PAIR
    against = tuple(map(str, asked)) if isinstance(asked, (list, tuple)) else () if every else (str(asked),)
    if len(against) > MOST_AGAINST or len(set(against)) != len(against) or not set(against) <= set(plain):
        raise AllowanceError("overview.against", most=MOST_AGAINST)
    three = given.get("three") in (True, "true", "1")
    made = {
        "columns": refs,
        "items": items,
        "against": against,
        "every": every,
        "three": three and (every or len(against) == MOST_AGAINST),
        "weights": read_weights(given.get("weights"), [*plain, *items]),
        "spread": EVEN if given.get("spread") == EVEN else LEVEL,
    }
    refuse_large(facts, made)
    return made


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


def bought_for(weights: Sequence[tuple[str, Fraction]]) -> str:
    """The column that a model is to predict, by what matters in a first look at every two; nothing for other looks."""
    return weights[0][0] if len(weights) == 1 and weights[0][1] == FOR_MODEL else ""


def sentence_of(names: Sequence[str], against: Sequence[str], every: bool, target: str) -> str:
    if target:
        return say("sentence.overview_model", columns=len(names) - 1, target=target)
    if every:
        return say("sentence.overview_every", columns=len(names))
    code = "sentence.overview_against" if against else "sentence.overview"
    return say(code, columns=len(names), against=list(against))


def axis_of(ref: Ref, facts: Facts) -> CellAxis:
    return axis_in(ref, facts.schema)


def labels_of(axis: CellAxis, facts: Facts) -> list[str]:
    own = list(facts.schema.category(axis.ref).labels)
    return own + [NO_ANSWER] * axis.absent + [DOES_NOT_FIT] * axis.misfit


def tellable(column: object) -> bool:
    """Whether a column has cells that rows can be counted in, or items: no list and no range of years that is too long,
    no sets of unknown size."""
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
    found = {name: read_number(weight, name) for name, weight in given.items()}
    if any(not 0 < weight <= 1000 for weight in found.values()):
        raise AllowanceError("overview.weights")
    return tuple(sorted((name, weight) for name, weight in found.items() if weight != 1))


def refuse_large(facts: Facts, made: Fields) -> None:
    """What would be too many combinations says which."""
    for name in made["items"]:
        column = set_of(facts, name)
        if not countable(column):
            raise AllowanceError("items.size_needed", column=name)
        if column.size > MOST_CELLS:
            raise AllowanceError("overview.cells", columns=[name], cells=column.size, most=MOST_CELLS)
    names = [base(ref) for ref in made["columns"]]
    sizes = [axis_of(ref, facts).size for ref in made["columns"]]
    total, of_each = 0, dict.fromkeys(names, 0)
    wanted = wanted_sets(names, made["against"], made["three"], made["every"])
    if len(wanted) > MOST_SETS:
        raise AllowanceError("overview.sets", sets=len(wanted), columns=len(names), most=MOST_SETS)
    for part in wanted:
        cells = math.prod(sizes[place] for place in part)
        total += cells
        of_each |= {names[place]: of_each[names[place]] + cells for place in part}
        if cells > MOST_CELLS:
            told = [names[place] for place in part]
            raise AllowanceError("overview.cells", columns=told, cells=cells, most=MOST_CELLS)
    if total > MOST_NUMBERS:
        longest = sorted(names, key=lambda name: -of_each[name])[:NAMED]
        raise AllowanceError("overview.numbers", cells=total, most=MOST_NUMBERS, columns=longest)
