"""Heavy work at the door for programs: one person's keeps nobody else from anything."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest
from helpers_door import COUNT, AtDoor, at_door

from dpengine.people.limiter import AT_ONCE, RATES, Limiter
from tests.helpers_people import MINE
from ui.api import serialize

_MANY = 20
_PATIENCE = 120  # seconds, for what would otherwise never come


def test_one_persons_previews_keep_nobody_waiting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    go_on, begun, lock, preview = threading.Event(), [0], threading.Lock(), serialize.preview

    def held(*given: Any) -> Any:
        with lock:
            begun[0] += 1
        go_on.wait(4 * _PATIENCE)
        return preview(*given)

    monkeypatch.setattr(serialize, "preview", held)

    async def meanwhile(door: AtDoor) -> None:
        one, other = door.token("analyst"), door.token("owner")
        asked = [asyncio.create_task(door.asked("preview", one, COUNT)) for _ in range(_MANY)]
        try:
            async with asyncio.timeout(_PATIENCE):
                while sum(task.done() for task in asked) < _MANY - AT_ONCE or begun[0] < AT_ONCE:
                    await asyncio.sleep(0.01)
                refused = [task.result() for task in asked if task.done()]
                assert {(said.status, said.code) for said in refused} == {(429, "door.slow")}
                assert {said.headers["retry-after"] for said in refused} == {"1"}
                for token in (one, other):  # the person's own quick reads do not wait either
                    assert (await door.asked(f"meter/{MINE}", token)).status == 200
                theirs = asyncio.create_task(door.asked("preview", other, COUNT))
                while begun[0] <= AT_ONCE:
                    await asyncio.sleep(0.01)
        finally:
            go_on.set()
        done = [said for said in await asyncio.gather(*asked) if said.status == 200]
        assert len(done) == AT_ONCE and (await theirs).status == 200
        assert (await door.asked("preview", one, COUNT)).status == 200  # and afterwards all is as before

    with at_door(tmp_path, Limiter(dict.fromkeys(RATES, (1000.0, 1000)))) as door:
        asyncio.run(meanwhile(door))
