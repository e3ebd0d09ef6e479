"""All coded columns of a table that stays in its engine, with its columns of sets, as one query.

coding_expressions.py codes a cell with one value; this codes a cell with several, with the meaning of `encode`,
`raw_cells.kind_of` and `bring_in.cut_sets`. Each distinct text is split and looked up once. A listed item counts once;
any other is dropped and does not fit. Of a set larger than declared, the first items by a keyed hash of the whole set
and the item count; if a person has several rows, of the union over all of them.

Ibis cannot write arrays of codes for every engine, so each engine's SQL is here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from dpengine.declared.cell_kinds import FITS, UNREADABLE
from dpengine.declared.dialect import Dialect
from dpengine.declared.schema import ItemSet, Schema
from dpengine.declared.spelling import SPACES
from dpengine.intake.coding_expressions import LISTS, coding
from dpengine.intake.rows_per_person import PERSON
from dpengine.statistics.counts import cut_name

SET_TEXTS = "set_texts"  # t0, t1, … of all rows, the source of the distinct texts of sets
KEYS = "keys"  # a table of one row; its column `items` is the key of the hashes
_SPACES = SPACES[:-4]  # those that Python's `strip` knows


def separators(schema: Schema) -> dict[str, str]:
    """The separator between the items of a cell, by column."""
    columns = schema.columns.items()
    return {name: kind.separator for name, kind in columns if isinstance(kind, ItemSet) and kind.separator}


def cut_sizes(schema: Schema) -> dict[str, int]:
    """How many items of a set count in a histogram, by coded column."""
    columns = enumerate(schema.columns.values())
    return {f"c{at}": column.at_most for at, column in columns if isinstance(column, ItemSet) and column.at_most}


@dataclass(frozen=True)
class Words:
    """An engine's SQL for operations on arrays."""

    name: str
    codes: Callable[[int], str]  # the type of codes below a size
    array: str  # the type of arrays of a type
    none: str  # an empty array
    flag: str  # the type of a mark, and of the kind of a cell
    items: Callable[[str, str], str]  # one row for each part of a text
    together: str  # an array of the different codes, sorted, without NULL
    union: str  # one row for each item of an array
    first: str  # the first items of an array by a hash
    also: str  # the items of an array that are also in another


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _pattern(text: str) -> str:
    """A Java regular expression that matches exactly this text."""
    return "r'" + "".join(f"\\x{{{ord(letter):x}}}" for letter in text) + "'"


POSTGRES = Words(
    "postgres",
    lambda size: "smallint" if size < 2**15 else "integer",
    "{}[]",
    "'{{}}'",
    "smallint",
    lambda text, between: f"unnest(string_to_array({text}, {_literal(between)}))",
    "array_agg(DISTINCT {0} ORDER BY {0}) FILTER (WHERE {0} IS NOT NULL)",
    "unnest({})",
    "CASE WHEN cardinality({0}) <= {1} THEN {0} ELSE ARRAY(SELECT x FROM unnest({0}) AS one(x) ORDER BY sha256("
    "convert_to({2} || '[' || array_to_string({0}, ', ') || ']:' || x, 'UTF8')), x LIMIT {1}) END",
    "ARRAY(SELECT x FROM unnest({0}) AS one(x) WHERE x = ANY({1}))",
)
SPARK = Words(
    "pyspark",
    lambda size: "TINYINT" if size <= 2**7 else "SMALLINT" if size <= 2**15 else "INT",
    "ARRAY<{}>",
    "array()",
    "TINYINT",
    lambda text, between: f"explode(split({text}, {_pattern(between)}))",
    "sort_array(collect_set({0}))",
    "explode({})",
    "CASE WHEN size({0}) <= {1} THEN {0} ELSE transform(slice(array_sort(transform({0}, x -> struct(sha2(concat({2},"
    " '[', array_join(CAST({0} AS ARRAY<STRING>), ', '), ']:', CAST(x AS STRING)), 256) AS mark, x AS item))), 1, {1}),"
    " one -> one.item) END",
    "array_intersect({0}, {1})",
)


def coded_rows(
    words: Words, schema: Schema, dialect: Dialect, small: str, kept: tuple[str, ...] = (), cut: bool = False
) -> dict[str, str]:
    """Queries that code a table, each over those before it. They begin from `texts` (t0, t1, … and the `kept` columns),
    `set_texts`, `lists` and `keys`; the last, `coded`, has the columns of a coded table. `small`: the engine's lower
    case. With `cut`, each set of a declared size gets a second column with the items that count in a histogram."""
    columns = dict(enumerate(schema.columns.values()))
    sets = {at: column for at, column in columns.items() if isinstance(column, ItemSet)}
    tables = {"plain": coding(schema, dialect, words.name, kept)}
    kinds, joins = dict[int, str](), ""
    for at, column in sets.items():
        tables[f"sets{at}"] = _set_table(words, at, column, small)
        joins += f" LEFT JOIN sets{at} ON sets{at}.text{at} = plain.t{at}"
        kinds[at] = f"coalesce(kind{at}, CAST({FITS} AS {words.flag}))"
    wanted = [
        f"coalesce(codes{at}, {_none(words, column.size)}) AS c{at}"
        if at in sets
        else f"CAST(c{at} AS {words.codes(column.size)}) AS c{at}"
        for at, column in columns.items()
    ]
    wanted += [f"{kinds[at] if at in sets else f'CAST(f{at} AS {words.flag})'} AS f{at}" for at in columns]
    faults = ["fault", *(f"CASE WHEN {kind} < {FITS} THEN 1 ELSE 0 END" for kind in kinds.values())]
    worst = f"greatest({', '.join(faults)})" if sets else faults[0]
    wanted += [f"CAST({worst} AS {words.flag}) AS fault", *kept]
    tables["whole"] = f"SELECT {', '.join(wanted)} FROM plain{joins}"
    tables["coded"] = _cut(words, schema, PERSON in kept) if cut and cut_sizes(schema) else "SELECT * FROM whole"
    return tables


def _none(words: Words, size: int) -> str:
    return f"CAST({words.none.format()} AS {words.array.format(words.codes(size))})"


def _set_table(words: Words, at: int, column: ItemSet, small: str) -> str:
    """For each distinct text of a column of sets, its codes and its kind: whether it holds an unlisted item."""
    each = f"SELECT DISTINCT t{at} AS text{at} FROM {SET_TEXTS} WHERE t{at} IS NOT NULL"
    text = f"text{at}"
    items = words.items(text, column.separator) if column.separator else text
    split = f"SELECT {text}, {items} AS x FROM ({each}) AS each"
    tidy = small.format(f"trim(BOTH {_literal(_SPACES)} FROM x)")
    split = f"SELECT {text}, {tidy} AS item FROM ({split}) AS split"
    own = f"SELECT spelled, place FROM {LISTS} WHERE list = {at}"
    matched = f"SELECT {text}, item, place FROM ({split}) AS tidy LEFT JOIN ({own}) AS own ON spelled = item"
    kind = words.array.format(words.codes(column.size))
    codes = f"coalesce(CAST({words.together.format('place')} AS {kind}), {_none(words, column.size)})"
    kind = f"CAST(min(CASE WHEN item <> '' AND place IS NULL THEN {UNREADABLE} ELSE {FITS} END) AS {words.flag})"
    return f"SELECT {text}, {codes} AS codes{at}, {kind} AS kind{at} FROM ({matched}) AS matched GROUP BY {text}"


def _cut(words: Words, schema: Schema, several: bool) -> str:
    added, joins = list[str](), ""
    for name, size in cut_sizes(schema).items():
        if not several:
            added.append(f"{words.first.format(name, size, f'{KEYS}.items')} AS {cut_name(name)}")
            continue
        items = f"SELECT {PERSON}, {words.union.format(name)} AS item FROM whole"
        own = f"SELECT {PERSON}, {words.together.format('item')} AS own FROM ({items}) AS items GROUP BY {PERSON}"
        best = words.first.format("own", size, f"{KEYS}.items")
        joins += (
            f" LEFT JOIN (SELECT {PERSON}, {best} AS best_{name} FROM ({own}) AS own CROSS JOIN {KEYS}) AS of_{name}"
        )
        joins += f" USING ({PERSON})"
        none = _none(words, list(schema.columns.values())[int(name[1:])].size)
        held = f"coalesce({words.also.format(name, f'best_{name}')}, {none})"
        added.append(f"{held} AS {cut_name(name)}")
    own_columns = [f"{letter}{at}" for letter in "cf" for at, _ in enumerate(schema.columns)]
    selected = [*own_columns, "fault", *([PERSON] if several else []), *added]
    return f"SELECT {', '.join(selected)} FROM whole{joins}{'' if several else f' CROSS JOIN {KEYS}'}"
