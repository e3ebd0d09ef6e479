"""Writes a published table to a file, named after its request and identified by its SHA-256.

We add noise to every cell separately (`of_rows`), put the rows in random order, and only then write anything. The file
has another name until it is complete; a release that stops halfway leaves nothing to read.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from dpengine.core.types import Arrow, Integers, Json, JsonObject
from dpengine.declared.date_column import Date
from dpengine.declared.schema import Category, ItemSet
from dpengine.mechanisms.publish.of_rows import OfRows
from dpengine.mechanisms.query import Progress, ReleaseTools
from dpengine.noise.coins import Coins
from dpengine.noise.row_noise import Blur

CHUNK = 1 << 17
SHOWN = 10  # made-up rows
FARTHEST = 200  # noise exceeds this many times its scale with chance e^-200


@dataclass(frozen=True, kw_only=True)
class PublishedRows(OfRows):
    """A question with a file as its answer."""

    def draw_body(self, value: tuple[Integers, ...], tools: ReleaseTools) -> JsonObject:
        return self.stored(publish(self, value, tools.coins, tools.file(), tools.progress))


def publish(query: OfRows, value: tuple[Integers, ...], coins: Coins, target: Path, progress: Progress) -> JsonObject:
    """Draw and write; return what the ledger stores. `progress(done, total)` counts rows: a public number."""
    people = len(value[0]) if value else 0
    order = coins.order(people)
    part = target.with_suffix(".part")
    schema = pa.schema([(name, _kind(query, name)) for name in query.columns])
    with pq.ParquetWriter(part, schema, compression="zstd") as file:
        for start in range(0, max(people, 1), CHUNK):
            rows = order[start : start + CHUNK]
            drawn = query.perturbed(tuple(codes[rows] for codes in value), coins)
            columns = [values_of(query, name, codes) for name, codes in zip(query.columns, drawn, strict=True)]
            file.write_batch(pa.record_batch(columns, schema))
            progress(min(start + CHUNK, people), people)
    part.chmod(0o600)
    digest = file_digest(part)
    os.replace(part, target)
    return {"file": target.name, "sha256": digest, "rows": people, "columns": list(query.columns)}


def imagined(query: OfRows, coins: Coins) -> tuple[list[list[Json]], list[list[Json]]]:
    """A few made-up rows and their published versions, in the same order for comparison."""
    few = min(query.facts.about, SHOWN)
    sizes = [query.facts.schema[name].points for name in query.columns]
    rows = tuple(np.array([(size - 1) * at // max(few - 1, 1) for at in range(few)]) for size in sizes)
    grid = tuple(query.coarsened(name, codes) for name, codes in zip(query.columns, rows, strict=True))
    return _rows(query, grid), _rows(query, query.perturbed(rows, coins))


def _rows(query: OfRows, columns: tuple[Integers, ...]) -> list[list[Json]]:
    cells = [values_of(query, name, codes).to_pylist() for name, codes in zip(query.columns, columns, strict=True)]
    return [list(row) for row in zip(*cells, strict=True)]


def file_digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _kind(query: OfRows, name: str) -> Arrow:
    column = query.facts.schema[name]
    if isinstance(column, Category):
        return pa.dictionary(pa.int32(), pa.string())
    if isinstance(column, ItemSet | Date):
        return pa.string()
    return pa.int64() if _whole(query, name) else pa.float64()


def _whole(query: OfRows, name: str) -> bool:
    """Are all published numbers integers that fit 64 bits? From public facts."""
    column, grain, row = query.facts.schema.number(name), query.grain(name), query.row(name)
    scale = row.scale if isinstance(row, Blur) else 0  # else it stays within the range
    farthest = abs(column.lower) + abs(column.upper) + FARTHEST * scale * grain
    return (column.lower.denominator, grain.denominator) == (1, 1) and farthest < 2**62


def values_of(query: OfRows, name: str, codes: Integers) -> Arrow:
    """Codes as readable values: labels, separated items, numbers or days on the published grid. Days are text, because
    noise may move them beyond the years that a file's own type can hold."""
    column = query.facts.schema[name]
    if isinstance(column, Category):
        return pa.DictionaryArray.from_arrays(pa.array(codes.astype(np.int32)), pa.array(list(column.labels)))
    if isinstance(column, ItemSet):
        distinct, places = np.unique(codes, return_inverse=True)
        sets = [_items(column, int(code)) for code in distinct]
        return pa.array(sets, pa.string()).take(pa.array(places.ravel()))
    if isinstance(column, Date):
        days = np.datetime64(column.first, "D") + days_of(query, name, codes).astype("timedelta64[D]")
        return pa.array(np.datetime_as_string(days), pa.string())
    lower, grain = query.facts.schema.number(name).lower, query.grain(name)
    if _whole(query, name):
        return pa.array(codes * int(grain) + int(lower))
    # The place from zero is below 2^51 (`of_rows`), so a float division gives the nearest float.
    first = lower / grain
    if first.denominator == 1 and (1 / grain).denominator == 1:
        return pa.array((codes + int(first)) / float(1 / grain))
    return pa.array((codes + float(first)) * float(grain))


def codes_of(query: OfRows, name: str, values: Arrow) -> Integers:
    """The inverse of `values_of`, to compute from the file."""
    column = query.facts.schema[name]
    if isinstance(column, Category):
        places = {label: place for place, label in enumerate(column.labels)}
        encoded = values.unify_dictionaries().combine_chunks()
        codes: Integers = np.array([places[label] for label in encoded.dictionary.to_pylist()], dtype=np.int64)
        return np.asarray(codes[encoded.indices.to_numpy()])
    if isinstance(column, ItemSet):
        encoded = (values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values).dictionary_encode()
        sets = [_code(column, text) for text in encoded.dictionary.to_pylist()]
        return np.asarray(np.array(sets, dtype=np.int64)[encoded.indices.to_numpy()])
    if isinstance(column, Date):
        days = np.array(values.to_pylist(), dtype="datetime64[D]") - np.datetime64(column.first, "D")
        steps, declared = query.steps(name), column.size - 1
        return np.asarray((2 * days.astype(np.int64) * steps + declared) // (2 * declared), dtype=np.int64)
    lower, grain = query.facts.schema.number(name).lower, query.grain(name)
    if _whole(query, name):
        return np.asarray((values.to_numpy() - int(lower)) // int(grain), dtype=np.int64)
    return np.asarray(np.rint(values.to_numpy() / float(grain) - float(lower / grain)), dtype=np.int64)


def days_of(query: OfRows, name: str, codes: Integers) -> Integers:
    """The points of the published grid in days after the first one, to the nearest day; no two points share a day."""
    steps, declared = query.steps(name), query.facts.schema[name].points - 1
    return np.asarray((2 * codes * declared + steps) // (2 * steps), dtype=np.int64)


SIGNS = "|;/,+&~"


def sign_of(column: ItemSet) -> str:
    """The separator of the items in a published set: the file's own, or one that is in no item."""
    fits = (sign for sign in SIGNS if not any(sign in value for value in column.values))
    return column.separator or next(fits, "\x1f")


def _items(column: ItemSet, code: int) -> str:
    return sign_of(column).join(value for place, value in enumerate(column.values) if code >> place & 1)


def _code(column: ItemSet, text: str) -> int:
    return sum(1 << column.code(value) for value in text.split(sign_of(column)) if value)
