"""The engines that compute a need. An engine reads coded tables and nothing else; its result equals `need.of(rows)`
exactly."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol, TypeVar

from dpengine.declared.schema import Schema
from dpengine.statistics.need import Need

Statistic = TypeVar("Statistic")


class Engine(Protocol):
    def read(self, need: Need[Statistic], coded: Path, schema: Schema) -> Statistic: ...
