"""Files on their way in: taken only where a page asked for one, written straight to the disk, within bounds, and gone
with whoever brought them."""

from __future__ import annotations

import asyncio
import os
import stat
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from dpengine.core import files
from tests.helpers_ledger import raises
from ui.shell import incoming, workshop_state
from ui.shell.incoming import FULL, HERE, MOST_FILES, MOST_FILES_IN_ALL, MOST_NOTES, Incoming
from ui.shell.web import FrontDoor

MARK = b"----WebKitFormBoundaryx"
HEAD = b'Content-Disposition: form-data; name="file"; filename="ana.csv"\r\nContent-Type: text/csv'
MEGABYTE = 2**20


def body_of(data: bytes) -> bytes:
    return b"--" + MARK + b"\r\n" + HEAD + b"\r\n\r\n" + data + b"\r\n--" + MARK + b"--\r\n"


class Net:
    """The front door over something like Streamlit, which keeps what it is handed."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, folder: Path, whole: int = 4) -> None:
        self.files = Incoming()
        self.files.folder = folder
        self.got: list[bytes] = []
        self.now = ""
        monkeypatch.setattr(incoming, "here", self.files)
        monkeypatch.setattr(incoming, "_session", lambda: self.now)
        options = {"server.maxUploadSize": whole, "server.disconnectedSessionTTL": 120}
        monkeypatch.setattr(incoming.st, "get_option", options.get)
        monkeypatch.setattr(incoming.st, "file_uploader", lambda *_, **__: None)

    def opens(self, session: str, visitor: str = "", uploader: bool = True) -> None:
        """A page runs in a session."""
        self.now = session
        with self.files.run(visitor):
            if uploader:
                self.files.picker("file", key="file")

    def put(
        self, session: str, name: str, data: bytes = b"a\n1\n", announced: bool = True, method: str = "PUT", **more: Any
    ) -> int:
        """The status that is answered; `read` counts what was heard of the body."""
        if announced and self.files.shows(session):
            self.files.announce(session, [name])
        whole, self.read, status = more.get("body", body_of(data)), 0, []

        async def receive() -> dict[str, Any]:
            step = whole[self.read : self.read + 65536]
            self.read += len(step)
            if self.read > more.get("broken", 2**62):
                return {"type": "http.disconnect"}
            return {"type": "http.request", "body": step, "more_body": self.read < len(whole)}

        async def app(scope: Any, receive: Any, send: Any) -> None:
            self.got.append((await receive())["body"] if method == "PUT" else b"")
            await send({"type": "http.response.start", "status": more.get("then", 204), "headers": []})
            await send({"type": "http.response.body", "body": b""})

        async def send(message: Any) -> None:
            if message["type"] == "http.response.start":
                status.append(int(message["status"]))

        kind = (b"content-type", b"multipart/form-data; boundary=" + MARK)
        scope = {
            "type": "http",
            "method": method,
            "path": f"/_stcore/upload_file/{session}/{name}",
            "query_string": b"",
            "server": ("127.0.0.1", 8501),
            "headers": [(b"host", b"localhost:8501"), more.get("kind", kind)],
        }
        asyncio.run(FrontDoor(app)(scope, receive, send))
        return status[0]

    def given(self, name: str, note: bytes = HERE) -> Any:
        return SimpleNamespace(file_id=name, getvalue=lambda: note, name="ana.csv")


@pytest.fixture
def net(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Net:
    assert not workshop_state.on()
    return Net(monkeypatch, tmp_path)


def there(folder: Path) -> list[int]:
    return sorted(path.stat().st_size for path in folder.iterdir())


def test_no_file_without_an_uploader(net: Net, tmp_path: Path) -> None:
    """Five large ones, as from any socket; then from a page that shows no uploader, and one that no longer does."""
    net.opens("s", uploader=False)
    for number in range(5):
        assert net.put("s", f"f{number}", b"x" * MEGABYTE) == 403 and net.read == 0
    net.opens("s")
    assert net.put("s", "guessed", announced=False) == 403 and net.put("t", "f") == 403
    net.opens("s", uploader=False)
    assert net.put("s", "late") == 403
    assert not there(tmp_path) and not net.got


def test_a_file_goes_to_the_disk_and_a_note_to_streamlit(net: Net, tmp_path: Path) -> None:
    net.opens("s")
    data = bytes(range(256)) * 12_000 + b"\r\n--" + MARK + b"-x"  # about 3 MB, with what looks like an end
    assert net.put("s", "f", data) == 204
    assert net.got == [body_of(HERE)]  # under the same name
    path = net.files.take(net.given("f"), tmp_path, 0)
    assert path.read_bytes() == data and stat.S_IMODE(path.stat().st_mode) == 0o600 and path.suffix == ".csv"
    assert net.put("s", "f") == 403  # an address is for one file
    assert net.put("s", "g", b"PAR1....") == 204 and net.files.take(net.given("g"), tmp_path, 0).suffix == ".parquet"
    own = tmp_path.with_name(f"{tmp_path.name}-of-a-person-who-signed-in")
    own.mkdir()
    assert net.put("s", "own", b"a\n1\n") == 204 and net.files.take(net.given("own"), own, 0).parent == own
    assert net.put("s", "h", b"") == 204
    with raises("load.empty"):
        net.files.take(net.given("h"), tmp_path, 0)
    assert len(there(tmp_path)) == 2
    assert net.put("s", "i", b"0123456789") == 204 and net.files.content(net.given("i"), 4) == b"01234"
    net.files.release(net.given("i"))
    with raises("upload.gone"):
        net.files.content(net.given("i"), 4)


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        ({"data": b"x" * (4 * MEGABYTE + 1)}, 413),
        ({"data": b"x" * 200_000, "broken": 100_000}, 400),
        ({"body": body_of(b"x")[:-9]}, 400),
        ({"body": b"x" * 100_000}, 400),
        ({"body": b"\r" * 100_000}, 400),
        ({"body": body_of(b"x")[:-4] + b"\r\n" + body_of(b"y")[len(MARK) + 4 :]}, 400),  # two parts
        ({"body": body_of(b"x") + b"y" * 100_000}, 400),  # more after the end
        ({"body": body_of(b"x").replace(b"ana", b"a" * 5000)}, 400),
        ({"body": body_of(b"x").replace(b"\r\nContent-Type", b"\r\nA: b" * 5 + b"\r\nContent-Type")}, 400),
        ({"body": b"--" + MARK + b"--\r\n"}, 400),  # no part at all
        ({"body": body_of(b"x").replace(HEAD + b"\r\n", b"")}, 400),  # no headers
        ({"body": b"\r\nx" + body_of(b"x")}, 400),  # something before the part
        ({"kind": (b"content-type", b"text/csv")}, 400),
        ({"then": 403}, 403),  # what Streamlit says of its token
    ],
)
def test_what_is_no_upload_leaves_nothing(net: Net, tmp_path: Path, sent: dict[str, Any], status: int) -> None:
    net.opens("s")
    assert net.put("s", "f", **sent) == status
    assert not there(tmp_path) and net.put("s", "g") == 204


def test_so_many_of_one_visitor_and_in_all(net: Net, tmp_path: Path) -> None:
    net.opens("s", "ana")
    net.opens("t", "ana")  # a second tab
    for number in range(MOST_FILES):
        assert net.put("st"[number % 2], f"f{number}") == 204 and net.got[-1] == body_of(HERE)
    assert net.put("s", "more") == 204 and net.got[-1] == body_of(FULL)
    net.now = "s"
    with raises("upload.full"):
        net.files.take(net.given("more", FULL), tmp_path, 0)
    assert len(there(tmp_path)) == MOST_FILES
    assert net.put("s", "f0", method="DELETE") == 204  # the cross beside it
    assert net.put("s", "again") == 204 and net.got[-1] == body_of(HERE)
    for number in range(MOST_FILES, MOST_FILES_IN_ALL):
        net.opens(f"v{number}")
        assert net.put(f"v{number}", "f") == 204 and net.got[-1] == body_of(HERE)
    net.opens("last")
    assert net.put("last", "f") == 204 and net.got[-1] == body_of(FULL)
    assert len(there(tmp_path)) == MOST_FILES_IN_ALL


def test_so_large_of_one_visitor_and_in_all(net: Net, tmp_path: Path) -> None:
    """Two whole files of one, four of all; what does not fit leaves no part of itself."""
    whole = b"x" * 4 * MEGABYTE
    net.opens("s", "ana")
    assert [net.put("s", name, whole) for name in "ab"] == [204, 204]
    assert net.put("s", "c", whole) == 204 and net.got[-1] == body_of(FULL)
    for session in "tu":
        net.opens(session)
        assert net.put(session, "a", whole) == 204 and net.got[-1] == body_of(HERE)
    net.opens("v")
    assert net.put("v", "a", b"xx") == 204 and net.got[-1] == body_of(FULL)
    assert there(tmp_path) == [4 * MEGABYTE] * 4


def test_a_disk_that_is_nearly_full_takes_none(net: Net, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    net.opens("s")
    monkeypatch.setattr(files, "KEPT_FREE", 2**80)
    assert net.put("s", "f") == 204 and net.got == [body_of(FULL)] and not there(tmp_path)


def test_files_go_with_whoever_brought_them(net: Net, tmp_path: Path) -> None:
    net.opens("s", "ana")
    net.put("s", "kept")
    net.put("s", "waiting")
    path = net.files.take(net.given("kept"), tmp_path, 0)
    net.opens("bor's", "bor")
    net.put("bor's", "f")
    alive = {"s", "bor's"}
    net.files.look(alive.__contains__, 0)
    alive.remove("s")
    net.files.look(alive.__contains__, 100)
    assert len(there(tmp_path)) == 3  # a short break in the line
    net.opens("reloaded", "ana")
    alive.add("reloaded")
    net.files.look(alive.__contains__, 121)
    assert path.exists() and len(there(tmp_path)) == 2  # the draft goes on in another session
    alive.remove("reloaded")
    net.files.look(alive.__contains__, 242)
    assert not path.exists() and len(there(tmp_path)) == 1
    assert net.put("s", "late") == 403


def test_work_under_way_keeps_its_file_until_it_is_done(net: Net, tmp_path: Path) -> None:
    net.opens("s")
    net.put("s", "f")
    path = net.files.take(net.given("f"), tmp_path, 0)

    def work() -> bytes:
        net.files.leave("s")
        return path.read_bytes()

    assert net.files.holding(path, work)() == b"a\n1\n" and not path.exists()


def test_a_page_that_is_broken_off_still_asks(net: Net) -> None:
    net.opens("s")
    with pytest.raises(KeyboardInterrupt), net.files.run(""):  # as a click elsewhere does
        raise KeyboardInterrupt
    assert net.files.shows("s")
    net.opens("s", uploader=False)
    assert not net.files.shows("s")


def test_nor_do_notes_of_files_that_found_no_room_pile_up(net: Net) -> None:
    """Streamlit keeps each of them with the file's name until the session ends: so many, and no more until some are
    taken back."""
    net.opens("s")
    for number in range(MOST_NOTES):
        assert net.put("s", f"f{number}") == 204
    held = len(net.got)
    assert net.put("s", "more") == 403 and len(net.got) == held
    assert net.put("s", "f9", method="DELETE", then=403) == 403 and net.put("s", "again") == 403
    assert net.put("s", "f9", method="DELETE") == 204 and net.put("s", "after") == 204
    net.opens("t")
    assert net.put("t", "f") == 204
    net.files.leave("s")
    net.opens("s")
    assert net.put("s", "new") == 204


def test_a_disk_that_lets_nothing_go_does_not_end_the_looking(net: Net, monkeypatch: pytest.MonkeyPatch) -> None:
    """It may be read-only for a while. Whoever leaves then, and later, takes their room with them all the same."""
    for session in ("s", "t"):
        net.opens(session, session)
        assert net.put(session, "f") == net.put(session, "g") == 204
    net.files.look(lambda _: False, 0.0)

    def fails(path: Path | None) -> None:
        raise PermissionError

    with monkeypatch.context() as read_only:
        read_only.setattr(incoming, "drop", fails)
        net.files.look(lambda _: False, 1000.0)
    assert not net.files._files and not net.files._visitors


def test_a_server_deletes_what_a_killed_one_left_though_nobody_opens_a_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = [folder / f"upload-{16 * 'a'}.csv" for folder in (tmp_path / "tmp", tmp_path / "people" / "ana" / "tmp")]
    for path in left:
        path.parent.mkdir(parents=True)
        path.write_text("a\n1\n")
        os.utime(path, (time.time() - 90_000,) * 2)
    manager = SimpleNamespace(get_upload_urls=lambda session, names: [])
    server = SimpleNamespace(uploaded_file_mgr=manager, is_active_session=lambda session: True)
    monkeypatch.setattr(incoming, "get_instance", lambda: server)
    monkeypatch.setattr(incoming.st, "get_option", lambda name: 120)

    async def serve() -> None:
        async with Incoming().serving(tmp_path / "tmp")(None):
            for _ in range(500):
                await asyncio.sleep(0.01)
                if not any(path.exists() for path in left):
                    return

    asyncio.run(serve())
    assert not any(path.exists() for path in left)
