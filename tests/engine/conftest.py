"""The workspace of one test of the engine: empty, and closed afterwards."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from dpengine.workspace import Workspace


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Workspace]:
    from dpengine.workspace import Workspace

    opened = Workspace(tmp_path / "var")
    yield opened
    opened.close()
