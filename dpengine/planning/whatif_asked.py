"""Which questions What-if offers, what a person types in place of a table, and the real question that follows from it.

A question says on its card that it can be asked of public sizes alone (`asked_on` has “whatif”), and its parameters say
which: a range of numbers, the length of a list, how many columns, options, features or questions of a session. From
these a made-up table is declared, of which nothing but such sizes is known, and the question is built on it as its own
page would build it. For every other question there is one sentence why not.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache

from dpengine.accountant.budget import Budget
from dpengine.core.amounts import LEAST_EPSILON
from dpengine.core.errors import AllowanceError
from dpengine.core.exact import read_typed
from dpengine.declared.facts import Facts
from dpengine.declared.schema import Category, Column, ItemSet, Number, Schema
from dpengine.declared.unit import Unit, read_relation
from dpengine.mechanisms import asked_on, catalogue
from dpengine.mechanisms.card import Parameter
from dpengine.mechanisms.choices.noisy_argmax import MOST_OPTIONS
from dpengine.mechanisms.models.excess import COORDINATE
from dpengine.mechanisms.query import AnyQuery
from dpengine.mechanisms.sums.vector_mean import MOST_COLUMNS, VectorMean
from dpengine.mechanisms.synthetic.of_class import MOST_COLUMNS as MOST_LISTS
from dpengine.messages import known, say
from dpengine.messages.language import stored
from dpengine.statistics.features import MOST_WIDE

MOST_VALUES = 10_000
MOST_ASKS = 10_000
UNNAMED = "range"  # the column of numbers that a person describes by its range
LIST = "values"
_COLUMN = {  # one column of the open table, or what a person types in its place
    "column.number": UNNAMED,
    "column.ordered": UNNAMED,
    "columns.curve": UNNAMED,
    "columns.number": UNNAMED,
    "column.listed": LIST,
    "column.any": LIST,
}
_SIZES = {  # what has no single column: always typed
    "columns": ("lists", "values"),
    "options": ("options",),
    "columns.features": ("features",),
    "column.target.number": ("range",),
    "column.target.category": (),
}
_LIMITS = {  # the least and the most of a typed size
    "values": (2, MOST_VALUES),
    "lists": (1, MOST_LISTS),
    "columns": (1, MOST_COLUMNS),
    "options": (2, MOST_OPTIONS),
    "features": (1, MOST_WIDE - 1),
    "asks": (1, MOST_ASKS),
}


def offered() -> tuple[str, ...]:
    """The questions for which only public sizes matter."""
    return asked_on("whatif")


def why_not(key: str) -> str:
    """Why a question is not offered, in one sentence: what it promises is told on its own page."""
    if key in offered():
        return ""
    code = f"whatif.elsewhere.{catalogue[key].card.asked_on[-1]}"
    return say(code if known(code) else "whatif.elsewhere.other")


def typed(key: str) -> set[str]:
    """Which public facts a person must type for a question: “range”, “values”, “share”, and other sizes."""
    needed: set[str] = set()
    for parameter in catalogue[key].card.parameters:
        if parameter.kind in _COLUMN:
            needed.add(_COLUMN[parameter.kind])
        elif parameter.kind == "share":
            needed.add("share")
        elif _counted(parameter):
            needed.add("asks")
        if parameter.kind == "columns.number":  # several alike
            needed.add("columns")
        needed |= {*_SIZES.get(parameter.kind, ())}
    return needed


def sized(key: str) -> bool:
    """Is it described by sizes alone, also for the people of an open table?"""
    return any(one.kind in _SIZES or _counted(one) for one in catalogue[key].card.parameters)


def _counted(parameter: Parameter) -> bool:
    """A number that must be given: how many questions a session has."""
    return parameter.kind == "number" and parameter.required


def number(text: str, name: str) -> Fraction:
    """Reads “1,000”, “0.1” and “5 %” as a URL holds them: in English notation."""
    with stored():
        return read_typed(text, name, "%")


def whole(text: str, field: str, most: int, least: int = 1) -> int:
    name = say(f"whatif.field.{field}")
    value = number(text, name)
    if value.denominator != 1 or not least <= value <= most:
        raise AllowanceError("whatif.whole", name=name, least=least, most=most)
    return int(value)


def size(given: Mapping[str, str], name: str) -> int:
    least, most = _LIMITS[name]
    return whole(given[name], name, most, least)


def made_up(given: Mapping[str, str], people: int) -> Facts:
    """The facts of a made-up table, of which only the sizes are known."""
    needed = typed(given["q"])
    ends = (Fraction(0), Fraction(1), Fraction(1))
    if "range" in needed:
        lower, upper, step = (number(given[name], say(f"whatif.field.{name}")) for name in ("low", "high", "step"))
        ends = (lower, upper, step)
    sizes = {name: size(given, name) for name in ("values", "lists", "options", "features") if name in needed}
    labels = sizes.get("options") or sizes.get("values", 2)
    full = given["full"] == "yes" or "features" in needed
    counts = (labels, sizes.get("lists", 0), sizes.get("features", 0))
    return _facts(read_relation(given["relation"]), people, ends, full, counts)


@lru_cache(maxsize=64)
def _facts(relation: str, people: int, ends: tuple[Fraction, ...], full: bool, counts: tuple[int, int, int]) -> Facts:
    labels, lists, features = counts
    names = [str(place) for place in range(1, labels + 1)]
    lower, upper, step = ends
    columns: dict[str, Column] = {
        UNNAMED: Number(lower, upper, step=step, missing=lower if full else None),
        LIST: Category(names, unknown=names[0], missing=names[0]),
    }
    columns |= {f"list {place}": columns[LIST] for place in range(1, lists + 1)}
    columns |= {f"number {place}": Number(0, 1, missing=0) for place in range(1, features + 1)}
    return Facts("", Schema(columns), Unit.rows(), read_relation(relation), people)


def question(facts: Facts, key: str, given: Mapping[str, str], budget: Budget) -> AnyQuery:
    """The real question, at a placeholder ε. If it needs a condition, any will do: no promise depends on it."""
    parameters: dict[str, object] = {"epsilon": LEAST_EPSILON, "beta": given.get("beta")}
    for parameter in catalogue[key].card.parameters:
        parameters |= _given(facts, parameter, given, budget)
    kinds = {parameter.kind for parameter in catalogue[key].card.parameters}
    if "bins" in kinds and isinstance(facts.schema.columns.get(str(parameters["column"])), Number):
        parameters["bins"] = size(given, "values")
    if "where" in kinds and not kinds & {"of", *_COLUMN, *_SIZES}:
        parameters["where"] = _some(facts.schema)
    beta = parameters["beta"]
    parameters["beta"] = number(str(beta), say("whatif.field.beta")) if beta not in (None, "") else None
    query = catalogue[key].build(facts, parameters)
    return query.of_width(size(given, "columns")) if isinstance(query, VectorMean) else query


def _given(facts: Facts, parameter: Parameter, given: Mapping[str, str], budget: Budget) -> dict[str, object]:
    """What one field of its form holds; nothing where its default will do."""
    kind, name = parameter.kind, parameter.name
    if kind in _COLUMN:
        column = given.get("column") or _COLUMN[kind]
        return {name: [column] if kind.startswith("columns") else column}
    if kind == "share":
        return {name: number(given["share"], say("whatif.field.share")) / 100}
    if kind == "of":
        return {name: _some(facts.schema)}
    if kind in ("people", "switch"):
        return {name: parameter.default}
    if kind == "columns":
        return {name: [f"list {place}" for place in range(1, size(given, "lists") + 1)]}
    if kind == "options":
        return {name: [[[LIST, "in", [label]]] for label in facts.schema.category(LIST).values]}
    if kind == "columns.features":
        return {name: [f"number {place}" for place in range(1, size(given, "features") + 1)]}
    if kind.startswith("column.target"):
        return {name: UNNAMED if kind.endswith("number") else LIST}
    if kind == "descent.calibration" and not budget.delta:
        return {name: COORDINATE}  # the only one that needs no δ
    return {name: size(given, "asks")} if _counted(parameter) else {}


def _some(schema: Schema) -> list[list[object]]:
    """A condition on the first list, else on the first column."""
    lists = [*schema.of_kind(Category), *schema.of_kind(ItemSet)]
    name = lists[0] if lists else next(iter(schema.columns))
    column = schema[name]
    if isinstance(column, (Category, ItemSet)):
        return [[name, "in" if isinstance(column, Category) else "has", [column.value(0)]]]
    return [[name, ">=", column.value(column.size // 2)]]


def about(given: Mapping[str, str], people: int, facts: Facts | None) -> Facts:
    """The table that is asked: the open one at this size, or a made-up one, with the open table's terms if there is
    one."""
    if facts is None:
        return made_up(given, people)
    if sized(given["q"]):
        return made_up({**given, "relation": facts.relation}, people)
    return replace(facts, about=people)
