"""Select the engine for a table's address. Only DuckDB is always there; another engine is imported when the first table
needs it, and has its own requirements."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from dpengine.core.errors import AllowanceError
from dpengine.declared.schema import Schema
from dpengine.statistics.engines import Coded, Engine, PostgresRows, SparkRows
from dpengine.statistics.engines.duck import DuckEngine
from dpengine.statistics.need import AnyNeed, Need
from dpengine.statistics.raw_needs import RawNeed

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

    def refuse(self, need: AnyNeed | RawNeed, coded: Coded) -> None:
        """Called before a charge: can this need be computed where the table lies?"""
        self._at(coded).engine.refuse(need)

    def refuse_away(self, coded: Coded) -> None:
        """Called before a charge: can the rows be reached?"""
        self._at(coded).refuse_away()

    def read(self, need: Need[Statistic], coded: Coded, schema: Schema) -> Statistic:
        return self._at(coded).read(need, schema)

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
