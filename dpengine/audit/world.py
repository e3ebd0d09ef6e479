"""A small world that can be listed completely: all tables of up to three people, and all their neighbours.

One Number with a missing value, one Category, and columns that are functions of them, so that every kind of question
can be asked. If a person may have several rows: all people with one or two rows, beside at most one other person.
`CASES` holds every variant of every question in the catalogue, as the questions themselves name them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import combinations_with_replacement, product
from typing import TypeVar

from dpengine.core.types import JsonObject
from dpengine.declared.cell_kinds import ABOVE, EMPTY, FITS, UNREADABLE
from dpengine.declared.conditions import Row, kind_name
from dpengine.declared.facts import Facts
from dpengine.declared.schema import MISSING
from dpengine.declared.unit import Unit
from dpengine.mechanisms import catalogue
from dpengine.mechanisms.query import AnyQuery
from dpengine.mechanisms.trial import RAW, WORLD
from dpengine.statistics.counts import cut
from dpengine.statistics.need import Spread

SCHEMA = WORLD
RAW_NUMBERS = {MISSING: None, 0: "0", 1: "-3.5", 3: "1e99"}  # cells of a column that is not declared
RAW_TEXTS = ("Ann", "ann ", "Bo", None, "tab\there")
KINDS_OF_X = {MISSING: EMPTY, 0: FITS, 1: FITS, 3: ABOVE}
SETS = ((), (0,), (0, 1), (2, 3), (1, 2), (0, 1, 2, 3), (0, 2), (3,))


def one_person(rows: tuple[Row, ...]) -> tuple[Row, ...]:
    """A person's rows, of whose items the first two count in a histogram. Any rule on their set would do."""
    first = sorted({item for row in rows for item in row["s"]})[:2]
    return tuple(row | {cut("s"): tuple(item for item in row["s"] if item in first)} for row in rows)


# z, p, d, t and s are functions of x and c, to keep the world small; each number and list still takes all its values.
POSSIBLE_ROWS: tuple[Row, ...] = tuple(
    one_person(({"x": x, "c": c, "z": 2 if x == MISSING else x, "d": (x + c) % 2, "t": (x + c) % 3, "s": held},))[0]
    | {"p": 1 if x == MISSING else x}
    | {kind_name(name): (FITS, UNREADABLE)[c] for name in SCHEMA.columns}
    | {"b": x, "fault": max(c, int(x == 3)), "kind x": KINDS_OF_X[x], "kind z": x + 1}
    | {"raw number": RAW_NUMBERS[x], "raw text": RAW_TEXTS[(x + c) % 5]}
    for (x, c), held in zip(product((MISSING, 0, 1, 3), (0, 1)), SETS, strict=True)
)
HEADER = (*SCHEMA.columns, *RAW)

Case = tuple[str, JsonObject]  # a question's key, and its parameters in the small world

# Every variant of every question, as the questions name them: each goes through every check and is in the report.
_NAMED: dict[str, Case] = {
    f"{key}: {name}": (key, dict(given))
    for key, question in catalogue.items()
    for name, given in question.trial.cases.items()
}
CASES: list[Case] = list(_NAMED.values())

# Checks that compare laws or shapes on a public support do not apply to a question with a support that depends on the
# data (which δ pays for). It goes through all other checks, and through these in a test file of its own.
DATA_SUPPORT = {key: query.trial.data_support for key, query in catalogue.items() if query.trial.data_support}
PUBLIC_SUPPORT = [case for case in CASES if case[0] not in DATA_SUPPORT]


SEVERAL = Unit.column("who", at_most=2)


def facts(relation: str, about: int = 3, unit: Unit | None = None) -> Facts:
    return Facts("small", SCHEMA, unit or Unit.rows(), relation, about, HEADER)  # type: ignore[arg-type]


def build(
    key: str, parameters: JsonObject, relation: str, epsilon: str = "1", about: int = 3, unit: Unit | None = None
) -> AnyQuery:
    return catalogue[key].build(facts(relation, about, unit), {"epsilon": epsilon} | parameters)


def named(name: str) -> Case:
    """A case by its name, such as “count: of some”."""
    return _NAMED[name]


Statistic = TypeVar("Statistic")
Pairs = tuple[tuple[tuple[Row, ...], tuple[Row, ...]], ...]


@cache
def neighbours(relation: str, unit: Unit | None = None) -> Pairs:
    """Every ordered pair of neighbouring tables. A table in several pairs is the same object in all of them."""
    tables: dict[tuple[int, ...], tuple[Row, ...]] = {}
    pairs = _neighbours(relation) if unit in (None, Unit.rows()) else _neighbours_of_people(relation)
    return tuple((_same(tables, first), _same(tables, second)) for first, second in pairs)


def _same(tables: dict[tuple[int, ...], tuple[Row, ...]], table: tuple[Row, ...]) -> tuple[Row, ...]:
    return tables.setdefault(tuple(id(row) for row in table), table)


def neighbouring_statistics(
    read: Callable[[Sequence[Row]], Statistic], relation: str, unit: Unit | None = None, size: int | None = None
) -> Iterator[tuple[Statistic, Statistic]]:
    """Every two different statistics of two neighbouring tables, in both directions; of tables with `size` rows, if it
    is given. Each table is read once."""
    known: dict[int, tuple[object, Statistic]] = {}

    def of(table: tuple[Row, ...]) -> tuple[object, Statistic]:
        if id(table) not in known:
            value = read(table)
            known[id(table)] = key_of(value), value
        return known[id(table)]

    seen: set[tuple[object, object]] = set()
    for pair in neighbours(relation, unit):
        if size is not None and {len(pair[0]), len(pair[1])} != {size}:
            continue
        (key, value), (other_key, other) = of(pair[0]), of(pair[1])
        if (key, other_key) not in seen:
            seen.add((key, other_key))
            yield value, other


def _neighbours_of_people(relation: str) -> Iterator[tuple[tuple[Row, ...], tuple[Row, ...]]]:
    """One person with one or two rows is replaced, added or removed, beside at most one other person."""
    rows = [POSSIBLE_ROWS[place] for place in (0, 2, 3, 5, 6, 7)]
    bundles = [(row,) for row in rows] + list(combinations_with_replacement(rows, 2))

    def person(number: int, bundle: tuple[Row, ...]) -> tuple[Row, ...]:
        return tuple(row | {"person": number} for row in one_person(bundle))

    people = [person(1, bundle) for bundle in bundles]
    for rest in [()] + [person(0, (row,)) for row in rows]:
        for person_rows in people:
            if relation == "add_remove":
                yield rest, rest + person_rows
                yield rest + person_rows, rest
            else:
                yield from ((rest + person_rows, rest + other) for other in people if other is not person_rows)


def _neighbours(relation: str) -> Iterator[tuple[tuple[Row, ...], tuple[Row, ...]]]:
    """Ordered pairs of neighbouring tables; row order does not matter to any statistic, so tables are multisets."""
    if relation == "replace":
        for size in (1, 2, 3):
            for rest in combinations_with_replacement(POSSIBLE_ROWS, size - 1):
                for row, other in product(POSSIBLE_ROWS, repeat=2):
                    if row != other:
                        yield (*rest, row), (*rest, other)
    else:
        for size in (0, 1, 2):
            for rest in combinations_with_replacement(POSSIBLE_ROWS, size):
                for row in POSSIBLE_ROWS:
                    yield rest, (*rest, row)
                    yield (*rest, row), rest


def key_of(statistic: object) -> object:
    """A hashable key, equal for equal statistics."""
    if isinstance(statistic, Spread):
        return tuple(statistic.codes.tolist()), tuple(statistic.counts.tolist())
    return tuple(key_of(part) for part in statistic) if isinstance(statistic, tuple) else statistic
