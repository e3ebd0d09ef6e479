"""Who computes a need. An engine reads coded tables and nothing else; its answers equal `need.of(rows)` exactly."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from dpengine.needs import Need, Statistic
from dpengine.schema import Schema


class Engine(Protocol):
    def read(self, need: Need, coded: Path, schema: Schema) -> Statistic: ...
