"""Where faults are played: in memory where there is such a disk. A kill -9 leaves what the kernel was told either way;
only a power cut, which no test here claims to play, would tell the two apart."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

MEMORY = Path("/dev/shm")


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    if not (MEMORY.is_dir() and os.access(MEMORY, os.W_OK)):
        yield tmp_path_factory.mktemp("quick")
        return
    folder = Path(tempfile.mkdtemp(prefix="allowance-", dir=MEMORY))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def place(quick: Path) -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(dir=quick))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)
