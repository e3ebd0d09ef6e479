"""A download is the person's to whom a page offered it, and of nobody who only knows or echoes its address."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers_auth import ANA, BOR, Door
from streamlit.runtime import media_file_manager
from streamlit.runtime.media_file_manager import MediaFileManager
from streamlit.runtime.memory_media_file_storage import MemoryMediaFileStorage

from dpengine.core.errors import AllowanceError
from ui.shell import downloads, person


class Manager(MediaFileManager):
    """Streamlit's own, so that what is watched here is watched nowhere else."""


class Pages:
    """Two people's sessions, in which pages offer files."""

    def __init__(self, patched: pytest.MonkeyPatch) -> None:
        self.session = ""
        self.sessions = {"of ana": ANA, "of bor": BOR}
        patched.setattr(person, "_sessions", self.sessions)
        patched.setattr(person, "person", self._person)
        patched.setattr(media_file_manager, "_get_session_id", lambda: self.session)
        patched.setattr(downloads, "here", downloads.Downloads())
        patched.setattr(Manager, "add", MediaFileManager.add)
        patched.setattr(Manager, "execute_deferred", MediaFileManager.execute_deferred)
        downloads.here.watch(Manager)
        self.files = Manager(MemoryMediaFileStorage("/media"))

    def _person(self) -> str:
        if self.session not in self.sessions:
            raise AllowanceError("porter.nobody")
        return self.sessions[self.session]

    def offer(self, session: str, content: bytes) -> str:
        self.session = session
        return self.files.add(content, "text/csv", "1.2", "a.csv", is_for_static_download=True)


@pytest.fixture
def pages(monkeypatch: pytest.MonkeyPatch) -> Pages:
    return Pages(monkeypatch)


@pytest.fixture
def door(tmp_path: Path) -> Door:
    return Door(tmp_path)


def test_a_download_is_given_to_whom_it_was_offered_alone(pages: Pages, door: Door) -> None:
    ana, bor = door.signed_in(), door.signed_in(BOR)
    address = pages.offer("of ana", b"rows of ana")
    assert door.ask(address, ana)[0]
    file = address.removeprefix("/media/")
    for path in (address, f"/media/{file[:-4]}", f"//media/{file}", f"/media/x/../{file}", f"/media//{file}"):
        assert not door.ask(path, bor, headers={"accept": "*/*"})[0], path
    assert pages.offer("of bor", b"rows of ana") == address  # the same content is offered to both
    assert door.ask(address, bor)[0]


def test_an_address_that_a_page_only_repeats_opens_nothing(pages: Pages, door: Door) -> None:
    address, bor = pages.offer("of ana", b"rows"), door.signed_in(BOR)
    door.says = [{"type": "websocket.send", "bytes": b"\x0a\x10No table is called " + address.encode()}]
    door.ask("/_stcore/stream", bor, kind="websocket")
    assert not door.ask(address, bor)[0]


def test_a_file_made_when_asked_for_is_whose_page_offered_it(pages: Pages, door: Door) -> None:
    pages.session = "of ana"
    name = pages.files.add_deferred(lambda: b"later", "text/csv", "1.2", "a.csv")
    pages.session = "of bor"  # who asks is not asked
    address = pages.files.execute_deferred(name)
    assert door.ask(address, door.signed_in())[0] and not door.ask(address, door.signed_in(BOR))[0]


def test_what_nobody_is_known_for_is_nobodys_and_old_files_are_forgotten(
    pages: Pages, door: Door, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(downloads, "_MOST", 2)
    assert not door.ask(pages.offer("of nobody", b"x"), door.signed_in())[0]
    offered = [pages.offer("of ana", bytes([place])) for place in range(3)]
    assert [bool(door.ask(one, door.signed_in())[0]) for one in offered] == [False, True, True]
