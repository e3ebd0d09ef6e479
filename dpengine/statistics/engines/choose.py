"""Select the engine for a table's address. Only DuckDB is always there; another engine is imported when the first table
needs it, and has its own requirements."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from dpengine.core.errors import AllowanceError
from dpengine.statistics.engines import Coded, Engine, PostgresRows, SparkRows
from dpengine.statistics.engines.duck import DuckEngine


class Engines:
    """One engine of each kind for a process, each started when it is first needed."""

    def __init__(self, spill: Callable[[], Path] | None = None) -> None:
        self.spill, self._making = spill, threading.Lock()
        self.duck = DuckEngine(spill)
        self._postgres: Engine[PostgresRows] | None = None
        self._spark: Engine[SparkRows] | None = None

    def of(self, coded: Coded) -> Engine[Any]:
        """The engine that reads rows at this address."""
        if isinstance(coded, Path):
            return self.duck
        try:
            with self._making:
                if isinstance(coded, PostgresRows):
                    from dpengine.statistics.engines.postgres import PostgresEngine

                    self._postgres = self._postgres or PostgresEngine()
                    return self._postgres
                from dpengine.statistics.engines.spark import SparkEngine

                self._spark = self._spark or SparkEngine(self.spill)
                return self._spark
        except ImportError:
            name = "Postgres" if isinstance(coded, PostgresRows) else "Spark"
            raise AllowanceError("engine.absent", engine=name, file=f"requirements-{name.lower()}.txt") from None

    def let_go(self) -> None:
        for engine in (self.duck, self._postgres, self._spark):
            if engine is not None:
                engine.let_go()
