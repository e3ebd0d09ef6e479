"""The stage for other engines: one Postgres and one Spark for all tests, started by them and stopped after.

`make test-engines` builds what they need. `postgres` is a running server (`postgres.database()` makes an empty
database and returns its address), `spark` an engine with a Spark of this machine."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from engines.postgres_server import PostgresServer, running

from dpengine.statistics.engines.spark import SparkEngine
from dpengine.workspace import Workspace


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    with running() as server:
        yield server


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkEngine]:
    # Small tables: Spark's time here is its planning, run once each, which a compiler for long runs only slows down.
    os.environ.setdefault("JDK_JAVA_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
    engine = SparkEngine()
    yield engine
    engine.stop()


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Workspace]:
    opened = Workspace(tmp_path / "var")
    yield opened
    opened.close()
