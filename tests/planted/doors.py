"""Wrong twins of the front door and of what several servers share: a door that compares names, one that believes a
proxy's word, one that takes files from anybody, and a sweep that asks for process numbers."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from unittest.mock import patch
from urllib.parse import urlsplit

from dpengine.storage import erase
from dpengine.storage.workers import Worker
from tests.planted.ledgers import a_folder
from tests.planted.registry import Planted
from ui.shell import gate
from ui.shell.incoming import Incoming

Meant = Callable[[Mapping[str, Any], gate.Origin | None], gate.Origin | None]
OURS = gate.Origin("http", "localhost", 8501)


def _scope(**told: str) -> dict[str, Any]:
    headers = [(name.replace("_", "-").encode(), value.encode()) for name, value in told.items()]
    return {"headers": headers, "server": ("127.0.0.1", 8501)}


def check_pages_elsewhere_are_foreign(foreign: Callable[[Mapping[str, Any], gate.Origin], bool]) -> None:
    """Scheme, host and port: all three are the app's own, or the page is not."""
    assert not foreign(_scope(host="localhost:8501", origin="http://localhost:8501"), OURS), "our own page is refused"
    assert not foreign(_scope(host="localhost:8501"), OURS), "a plain link is refused"
    for origin in ("http://localhost:8639", "https://localhost:8501", "http://elsewhere.example:8501", "null"):
        assert foreign(_scope(host="localhost:8501", origin=origin), OURS), "a page of another origin comes through"


def compares_names(scope: Mapping[str, Any], ours: gate.Origin) -> bool:
    origin = gate.header(scope, b"origin")
    return bool(origin) and urlsplit(origin).hostname != ours.host


def check_no_other_name_leads_here(meant: Meant) -> None:
    """Whatever a request says of a proxy: only `Host` tells which address it came to, and it is one of the app's."""
    assert meant(_scope(host="localhost:8501"), None) == OURS, "our own name is refused"
    for forwarded in ({}, {"x_forwarded_host": "localhost:8501"}):
        assert meant(_scope(host="elsewhere.example:8501", **forwarded), None) is None, "another name leads here"


def believes_a_proxy(scope: Mapping[str, Any], told: gate.Origin | None) -> gate.Origin | None:
    forwarded = gate.header(scope, b"x-forwarded-host")
    return gate.own_origin(_scope(host=forwarded) if forwarded else scope, told)


def check_files_come_only_where_asked_for(kind: type[Incoming]) -> None:
    """A session whose page shows no uploader has no address for a file."""
    files = kind()
    files.announce("asked", ["a"])
    assert files._announced("asked", "a"), "a file that was asked for is refused"
    assert not files.shows("s") and not files._announced("s", "f"), "a file is taken from anybody"


class TakesFromAnybody(Incoming):
    """As Streamlit does: whoever knows a session may put a file there."""

    def _announced(self, session: str, name: str) -> bool:
        return True


def check_what_lives_is_not_swept(sweep: Callable[[Path], None]) -> None:
    """A container sees none of another's processes; what those spill is theirs as long as they live."""

    def nobody(*_: int) -> None:
        raise ProcessLookupError

    with a_folder() as home, patch.object(os, "kill", nobody):
        (home / "tmp").mkdir()
        worker = Worker(home)
        spill = erase.spill_folder(home, worker.name)
        spill.mkdir()
        sweep(home)
        assert spill.exists(), "a living process lost what it spilled"
        worker.close()
        sweep(home)
        assert not spill.exists(), "what a dead process spilled stays"


def asks_for_numbers(home: Path) -> None:
    for folder in (home / "tmp").glob("spill-*"):
        try:
            os.kill(os.getpid(), 0)
        except ProcessLookupError:
            shutil.rmtree(folder)


PLANTED = [
    Planted(
        "a page on another port comes in",
        "The front door compares host names, not whole addresses.",
        check_pages_elsewhere_are_foreign,
        "another origin",
        gate.foreign,
        compares_names,
    ),
    Planted(
        "a proxy's word is believed",
        "The front door takes the name from X-Forwarded-Host.",
        check_no_other_name_leads_here,
        "another name",
        gate.own_origin,
        believes_a_proxy,
    ),
    Planted(
        "a file from any socket",
        "Uploads are taken though no page shows an uploader.",
        check_files_come_only_where_asked_for,
        "from anybody",
        Incoming,
        TakesFromAnybody,
    ),
    Planted(
        "a living server's files swept",
        "Whether a process lives is asked by its number.",
        check_what_lives_is_not_swept,
        "lost what it spilled",
        erase.sweep_spill,
        asks_for_numbers,
    ),
]
