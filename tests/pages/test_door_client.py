"""The client of one file, against a real server: the same names as in Python, and a broken connection charges once."""

from __future__ import annotations

import ast
import json
import socket
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from textwrap import indent
from types import SimpleNamespace
from typing import Any

import pytest
import uvicorn
from helpers_door import AtDoor, at_door

import dpengine as dp
from dpengine import client as client_file
from dpengine.client import Client, RefusedByServer
from dpengine.workspace import Workspace
from tests.helpers_people import MINE, OTHER

ROOT = Path(__file__).resolve().parents[2]
WHERE = [["town", "in", ["a"]]]


@contextmanager
def serving(app: Any) -> Iterator[str]:
    """A real server on a thread; its address."""
    listening = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(app, lifespan="off", ws="none", log_config=None)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()
        listening.close()


class Breaking:
    """The same door behind a network that loses its first answers, after they were given."""

    def __init__(self, door: Any, lost: int) -> None:
        self.door, self.lost, self.seen = door, lost, 0

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        said: list[Any] = []

        async def kept(message: Any) -> None:
            said.append(message)

        await self.door(scope, receive, kept)
        self.seen += 1
        if self.seen <= self.lost:
            await send(said[0])
            raise ConnectionResetError  # the server closes the connection in the middle of its answer
        for message in said:
            await send(message)


@pytest.fixture(scope="module")
def door(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AtDoor]:
    with at_door(tmp_path_factory.mktemp("client")) as found:
        yield found


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """What the client waited: its own, for other threads of this process wait too."""
    waited: list[float] = []
    monkeypatch.setattr(client_file, "time", SimpleNamespace(**{**vars(time), "sleep": waited.append}))
    return waited


@pytest.mark.long
def test_a_notebook_asks_by_the_same_names(door: AtDoor) -> None:
    with serving(door.door) as url:
        far = Client(url, door.token())
        visits = far.table(MINE)
        assert MINE in far.tables() and OTHER not in far.tables()
        kept = dp.Declaration.read(json.dumps(visits.declaration()))
        assert kept.schema.columns.keys() == {"x", "town"} and kept.fitted(["X", "town"])[1].renamed == (("x", "X"),)
        assert far.catalogue()["count"].parameters and visits.facts().columns.keys() == {"x", "town"}
        seen = visits.preview("count", where=WHERE, epsilon=Fraction(1, 50))
        assert isinstance(seen.share, Fraction) and seen.admissible and seen.promise["kind"]
        answer = visits.ask("count", where=WHERE, epsilon="0.02", request_id="notebook 1/2")
        assert (
            isinstance(answer.value, int) and len(answer.interval) == 2 and answer.receipt["request"] == answer.request
        )
        assert visits.meter().charges == 1 and visits.meter().used == seen.share
        assert visits.meter().yours.share == Fraction(1, 2)
        assert visits.recall("count", where=WHERE, epsilon="0.02") == [answer]
        assert far.job("notebook 1/2").answer == answer
        looked = visits.overview(epsilon="0.05")
        assert set(looked.look) == {"x", "town"}
        for call, code in (
            (lambda: far.table(OTHER).meter(), "table.unknown"),
            (lambda: far.job("never"), "request.unknown"),
            (lambda: visits.ask("count", where=WHERE, epsilon="50"), None),
            (lambda: replace(far, token="alw_x_y").tables(), "door.token"),
            (lambda: replace(far, url=f"{url}/elsewhere/").table("").meter(), "door.path"),
        ):
            with pytest.raises(RefusedByServer) as refused:
                call()
            assert code is None or refused.value.code == code
            assert refused.value.sentence in str(refused.value)
        with pytest.raises(RefusedByServer, match="Tabele"):
            replace(far, language="sl").table("none").meter()
        assert far.token not in repr(far)


def test_a_broken_connection_charges_once(door: AtDoor, quick: list[float]) -> None:
    before = door.charges()
    breaking = Breaking(door.door, 3)
    with serving(breaking) as url:
        answer = Client(url, door.token()).table(MINE).ask("count", where=WHERE, epsilon="0.01")
    assert breaking.seen == 4 and len(quick) == 3 and door.charges() == before + 1
    assert answer.value is not None
    with serving(Breaking(door.door, 100)) as url, pytest.raises(RefusedByServer) as refused:
        Client(url, door.token()).table(MINE).meter()
    assert refused.value.code == "client.connection"


def test_it_waits_as_long_as_it_is_told(door: AtDoor, quick: list[float]) -> None:
    told = iter([(429, b"7"), (503, b"")])

    async def busy(scope: Any, receive: Any, send: Any) -> None:
        status, after = next(told, (0, b""))
        if not status:
            await door.door(scope, receive, send)
            return
        await send({"type": "http.response.start", "status": status, "headers": [(b"retry-after", after)]})
        await send({"type": "http.response.body", "body": b"{}"})

    with serving(busy) as url:
        assert Client(url, door.token()).tables()
    assert quick == [7.0, 1.0]


def test_a_token_goes_nowhere_else(door: AtDoor) -> None:
    heard: list[Any] = []

    async def elsewhere(scope: Any, receive: Any, send: Any) -> None:
        heard.append(scope["path"])
        where = (b"location", b"/api/v1/elsewhere")
        await send({"type": "http.response.start", "status": 307, "headers": [where]})
        await send({"type": "http.response.body", "body": b""})

    with serving(elsewhere) as url, pytest.raises(RefusedByServer) as refused:
        Client(url, "secret").tables()
    assert refused.value.status == 307 and heard == ["/api/v1/tables"]
    for address in ("http://data.example.org", "ftp://x", "data.example.org"):
        with pytest.raises(ValueError):
            Client(address, "secret")


def test_the_example_in_the_docs_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = (ROOT / "docs" / "serving.md").read_text(encoding="utf-8")
    [example] = [part.split("```")[0] for part in text.split("```python\n")[1:] if "dpengine.client" in part]
    assert indent(example, "    ") in str(client_file.__doc__)
    with at_door(tmp_path) as here, serving(here.door) as url:
        assert "https://data.example.org" in example
        exec(example.replace("https://data.example.org", url), {"token": here.token("nobody", ("clinic",))})
        share, told = capsys.readouterr().out.splitlines()
        assert 0 < Fraction(share) < 1 and told.endswith(f" {share}") and here.charges() == 1


@pytest.mark.long
def test_the_whole_app_has_the_door(tmp_path: Path) -> None:
    """As an organisation serves it, behind the porter: with a token, and not with what a browser has."""
    from helpers_serving import office

    with office(tmp_path, tmp_path / "server.log") as here:
        workspace = Workspace(tmp_path / "home")
        try:
            ana = workspace.person(here.issuer, "ana")
            token, _ = workspace.as_person(ana).new_token("notebook", ["town"])
            root = workspace.person(here.issuer, "root")
            figures, _ = workspace.as_person(root).new_token("monitoring", metrics=True)
        finally:
            workspace.close()
        town = Client(here.address, token).table("town")
        answer = town.ask("median", column=next(iter(town.facts().columns)), epsilon="0.1")
        assert answer.receipt["actor"] == ana and town.meter().charges == 1
        for wrong in ("alw_x_y", ""):
            with pytest.raises(RefusedByServer) as refused:
                Client(here.address, wrong or "x").tables()
            assert refused.value.code == "door.token"
        for shown, status in ((figures, 200), (token, 401), ("", 401)):
            asked = urllib.request.Request(f"{here.address}/metrics", headers={"Authorization": f"Bearer {shown}"})
            try:
                with urllib.request.urlopen(asked, timeout=500) as reply:
                    assert (reply.status, status) == (200, 200) and b"allowance_questions_total 1\n" in reply.read()
            except urllib.error.HTTPError as reply:
                with reply:
                    assert reply.code == status


def test_it_needs_nothing_but_python() -> None:
    tree = ast.parse(Path(client_file.__file__).read_text(encoding="utf-8"))
    named = {
        name.split(".")[0]
        for node in ast.walk(tree)
        for name in (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else [node.module or "."]
            if isinstance(node, ast.ImportFrom)
            else []
        )
    }
    assert named <= set(sys.stdlib_module_names)
