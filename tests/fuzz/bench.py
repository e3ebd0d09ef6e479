"""What every example is held to: only our own sentences, no value of the data in any of them, no charge but a row."""

from __future__ import annotations

import os
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from leaks import exits, stage
from leaks.canaries import Canary, Scan, text

import dpengine as dp
from dpengine.core.errors import AllowanceError
from dpengine.workspace import Workspace

MEMORY = Path("/dev/shm")
TRIED: Counter[str] = Counter()
REFUSED: Counter[str] = Counter()


@contextmanager
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(dir=MEMORY if os.access(MEMORY, os.W_OK) else None) as name:
        yield Path(name)


def refused(act: Callable[[], Any], scan: Scan) -> tuple[Any, str]:
    """What an act gave, or our sentence; any other error ends the example. The sentence holds no value."""
    try:
        return act(), ""
    except AllowanceError as refusal:
        before = len(scan.findings)
        exits.error(scan, refusal, refusal.code)
        assert len(scan.findings) == before, scan.findings[before:]
        return None, str(refusal)


def looked(scan: Scan, place: str, *pieces: Any) -> None:
    found = [one for piece in pieces for one in scan.look(place, piece)]
    assert not found, found


class Two:
    """Two tables with the same public facts and other people in them, each in a workspace of its own."""

    def __init__(self, home: Path, names: list[str] | None = None) -> None:
        self.sides: list[stage.Stage] = []
        for side in ("one", "two"):
            places = [home / side / part for part in ("home", "source")]
            for place in places:
                place.mkdir(parents=True)
            self.sides.append(stage.build(places[0], places[1], names))
        self.scan = Scan([canary for side in self.sides for canary in side.canaries])

    def close(self) -> None:
        for side in self.sides:
            side.workspace.close()


def rows_of(workspace: Workspace, table: dp.Table) -> int:
    """How many charges the ledger holds for a table's budget; the meter says the same."""
    with workspace.ledger._store.reading() as db:  # counted, not read: this is asked after every question
        told = db.execute("SELECT count(*) FROM entries WHERE kind = 'charge' AND budget = ?", [table.budget.id])
        (rows,) = told.fetchone()
    assert table.meter().charges == rows, "the meter counts a charge that has no row"
    return rows


def secret() -> tuple[str, Scan]:
    """A word that stands in one cell and nowhere else, and what looks for it."""
    word = text()
    return word, Scan([Canary("the secret cell", word)])
