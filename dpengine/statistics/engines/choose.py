"""Select the engine for a table's address. Only DuckDB is always there; another engine is imported when the first table
needs it, and has its own requirements."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, Generic, TypeVar, cast

from dpengine.core.errors import AllowanceError
from dpengine.declared.schema import Schema
from dpengine.statistics.counts import Counts
from dpengine.statistics.engines import Coded, Engine, PostgresRows, SparkRows
from dpengine.statistics.engines.duck import DuckEngine
from dpengine.statistics.kept import CodeCounts, from_kept, keep, keepable, place_of, stored_counts
from dpengine.statistics.kept_view import reads
from dpengine.statistics.marginals import Marginals
from dpengine.statistics.need import Aggregate, Aggregated, AnyNeed, Need, Needs
from dpengine.statistics.raw_needs import RawNeed
from dpengine.statistics.view import WEIGHT

Statistic = TypeVar("Statistic")
Where = TypeVar("Where")


@dataclass(frozen=True)
class CodedTable(Generic[Where]):
    """Coded rows with the engine that reads them."""

    engine: Engine[Where]
    coded: Where

    def read(self, need: Need[Statistic], schema: Schema) -> Statistic:
        return self.engine.read(need, self.coded, schema)

    def refuse_away(self) -> None:
        self.engine.refuse_away(self.coded)


class Engines:
    """All engines as one; each starts when it is first needed."""

    def __init__(self, spill: Callable[[], Path] | None = None) -> None:
        self.spill, self._making = spill, threading.Lock()
        self._duck = DuckEngine(spill)
        self._postgres: Engine[PostgresRows] | None = None
        self._spark: Engine[SparkRows] | None = None

    def get_ready(self) -> None:
        """Open the embedded database before the first question: that takes a tenth of its time."""
        self._duck.get_ready()

    def refuse(self, need: AnyNeed | RawNeed, coded: Coded) -> None:
        """Called before a charge: can this need be computed where the table lies?"""
        self._at(coded).engine.refuse(need)

    def refuse_away(self, coded: Coded) -> None:
        """Called before a charge: can the rows be reached?"""
        self._at(coded).refuse_away()

    def read(self, need: Need[Statistic], coded: Coded, schema: Schema, kept: Path | None = None) -> Statistic:
        """`kept`: where the counts of a large table are kept (statistics/kept.py)."""
        if kept is not None and isinstance(need, Needs):
            return cast(Statistic, tuple(self.read(part, coded, schema, kept) for part in need.parts))
        if kept is not None and isinstance(need, Marginals):
            return cast(Statistic, self._marginals(need, coded, schema, kept))
        if kept is not None and isinstance(need, Aggregate) and need.weighed:
            files = self._kept(need, coded, schema, kept)
            if files:
                read = [from_kept(part, file, schema) for part, file in files]
                return cast(Statistic, read[0] if len(read) == 1 else tuple(chain.from_iterable(read)))
        return self._at(coded).read(need, schema)

    def keep(self, coded: Coded, schema: Schema, kept: Path, counted: Mapping[int, Aggregated] | None = None) -> None:
        """Keep the counts of every declared column of a large table, before its first question; `counted`: those that
        were counted already."""
        for at in range(len(schema.columns)):
            if keepable({f"c{at}"}, schema):
                own = counted[at] if counted and at in counted else None
                keep(kept, (at,), schema, partial(self._counts, coded, schema, own))

    def _counts(self, coded: Coded, schema: Schema, counted: Aggregated | None, need: CodeCounts) -> Aggregated:
        return self._at(coded).read(need, schema) if counted is None else counted

    def _kept(
        self, need: Aggregate[Any], coded: Coded, schema: Schema, kept: Path
    ) -> list[tuple[Aggregate[Any], Path]]:
        """Each part of a need with the file that has its counts; nothing if one scan of the rows is better."""
        parts, files = need.apart(), list[tuple[Aggregate[Any], Path]]()
        for part in parts:
            places = keepable(reads(part, schema) - {WEIGHT}, schema)
            if places is None or (len(parts) > 1 and not place_of(kept, places).is_file()):
                return []
            file = keep(kept, places, schema, lambda counts: self._at(coded).read(counts, schema))
            files.append((part, file))
        return files

    def _marginals(self, need: Marginals, coded: Coded, schema: Schema, kept: Path) -> tuple[Counts, ...]:
        """Sets of one column, and of two whose counts are kept already, from these counts; one scan for all others."""
        names, found = {name: f"c{at}" for at, name in enumerate(schema.columns)}, dict[tuple[int, ...], Counts]()
        for columns in need.sets:
            alone = need.only([columns])
            places = keepable(set(alone.stored(names)), schema)
            if places is not None and (len(places) == 1 or place_of(kept, places).is_file()):
                file = keep(kept, places, schema, lambda counts: self._at(coded).read(counts, schema))
                (found[columns],) = alone.weighed_counts(stored_counts(file), names)
        others = [columns for columns in need.sets if columns not in found]
        if others:
            found |= zip(others, self._at(coded).read(need.only(others), schema), strict=True)
        return tuple(found[columns] for columns in need.sets)

    def let_go(self) -> None:
        for engine in (self._duck, self._postgres, self._spark):
            if engine is not None:
                engine.let_go()

    def _at(self, coded: Coded) -> CodedTable[Path] | CodedTable[PostgresRows] | CodedTable[SparkRows]:
        if isinstance(coded, Path):
            return CodedTable(self._duck, coded)
        try:
            with self._making:
                if isinstance(coded, PostgresRows):
                    from dpengine.statistics.engines.postgres import PostgresEngine

                    self._postgres = self._postgres or PostgresEngine()
                    return CodedTable(self._postgres, coded)
                from dpengine.statistics.engines.spark import SparkEngine

                self._spark = self._spark or SparkEngine(self.spill)
                return CodedTable(self._spark, coded)
        except ImportError:
            name = "Postgres" if isinstance(coded, PostgresRows) else "Spark"
            raise AllowanceError("engine.absent", engine=name, file=f"requirements-{name.lower()}.txt") from None
