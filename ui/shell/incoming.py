"""Uploads: accepted only where a page asks for one, written straight to disk, limited in number and size, and deleted
when the visitor leaves.

Streamlit takes a file from any socket that names a live session, and holds it in memory. Here the front door takes it
first: an address is given out only to a session whose page shows an uploader (`picker`), a file is taken only at such
an address, and written to disk as it arrives; Streamlit gets a note of four bytes in its place. A visitor's files are
deleted with the last of their sessions (a reload is a new one), once it cannot be resumed.
"""

from __future__ import annotations

import asyncio
import os
import re
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import streamlit as st
from streamlit.runtime import get_instance
from streamlit.runtime.scriptrunner import get_script_run_ctx

from dpengine.core.errors import AllowanceError
from dpengine.core.space import nearly_full
from ui.shell import gate, uploads

# A browser's upload as it comes over the net: one file in one part. The part's own bytes, step by step, and the same
# request again with something short in the file's place.

_BOUNDARY = re.compile(rb"""multipart/form-data;.*?boundary=("?)([A-Za-z0-9'()+_,./:=? -]{1,70})\1\s*(?:;|$)""", re.I)
_MOST_HEAD = 8192
_STEP = 2**20


class Unfit(Exception):
    """It is no upload of one file. `status` is what to answer."""

    def __init__(self, status: int = 400) -> None:
        super().__init__(status)
        self.status = status


class Filed:
    """`head`: the headers of the part, once they are read; `size`: how much of the file has come."""

    def __init__(self, content_type: bytes) -> None:
        found = _BOUNDARY.match(content_type)
        self._mark = None if found is None else b"--" + found[2]
        self.head = b""
        self.size = 0

    async def parts(self, receive: Any) -> AsyncIterator[bytes]:
        """The file's bytes, about a megabyte at a time."""
        if self._mark is None:
            raise Unfit
        end = b"\r\n" + self._mark + b"--"
        heard, more = b"", True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise Unfit
            heard, more = heard + message.get("body", b""), message.get("more_body", False)
            if not self.head:
                before, found, after = heard.partition(b"\r\n\r\n")
                if not found and len(heard) <= _MOST_HEAD and more:
                    continue
                if not found or len(before) > _MOST_HEAD or not before.startswith(self._mark + b"\r\n"):
                    raise Unfit
                self.head, heard = before[len(self._mark) + 2 :], after
            ready = len(heard) - len(end) - 4  # what may be the end waits
            if more and ready >= _STEP:
                self.size += ready
                yield heard[:ready]
                heard = heard[ready:]
        data, found, rest = heard.rpartition(end)
        if not found or rest.strip():
            raise Unfit
        self.size += len(data)
        if data:
            yield data

    def replaced(self, content: bytes) -> tuple[list[tuple[bytes, bytes]], bytes]:
        """Headers and body of the same request with `content` for the file."""
        assert self._mark is not None
        body = self._mark + b"\r\n" + self.head + b"\r\n\r\n" + content + b"\r\n" + self._mark + b"--\r\n"
        kind = b"multipart/form-data; boundary=" + self._mark[2:]
        return [(b"content-type", kind), (b"content-length", str(len(body)).encode())], body


MOST_FILES, MOST_FILES_IN_ALL = 4, 40
_MOST_ADDRESSES, MOST_NOTES = 16, 256

_LOOK = 5.0  # seconds
HERE, FULL = b"here", b"full"
_OF_BODY = (b"content-type", b"content-length", b"transfer-encoding")
Made = TypeVar("Made")


@dataclass
class _File:
    """One that is here or coming in. `taken`: a draft has it, and lets it go itself."""

    session: str
    owner: str
    path: Path
    size: int = 0
    taken: bool = False


class Incoming:
    """What one server has of it. Pages run on threads of their own, requests on the event loop."""

    def __init__(self) -> None:
        self.folder: Path | None = None  # None: nobody is served, as in a test of a page
        self._lock = threading.Lock()
        self._shown: dict[str, list[bool]] = {}  # by session: is there an uploader, was there before this run?
        self._visitors: dict[str, str] = {}  # by session
        self._addresses: dict[str, OrderedDict[str, None]] = {}
        self._files: dict[tuple[str, str], _File] = {}
        self._notes: dict[str, set[str]] = {}  # by session: what Streamlit was handed, and keeps until it is taken back
        self._held: set[Path] = set()
        self._seen: dict[str, float] = {}  # by session: when it was last alive

    # --- what pages say

    @contextmanager
    def run(self, visitor: str | None) -> Iterator[None]:
        """A page runs, from its beginning: what it does not ask for again, it asks for no more. One that is broken off
        says nothing about what stood on it."""
        session = _session()
        with self._lock:
            before = self._shown.get(session, [False, False])
            self._shown[session], self._visitors[session] = [False, any(before)], visitor or session
        yield
        with self._lock:
            self._shown[session][1] = False

    def picker(self, label: str, key: str, **more: Any) -> Any:
        """`st.file_uploader`, announced."""
        with self._lock:
            self._shown.setdefault(_session(), [False, False])[0] = True
        return st.file_uploader(label, key=key, **more)

    def take(self, given: Any, folder: Path, most: int) -> Path:
        """The file itself, for a draft to keep; refuses an empty one, and one that found no room."""
        if self.folder is None:
            return uploads.keep(given, given.size, folder, most)
        file = self._found(given)
        if not file.size:
            self.forget(file.path)
            raise AllowanceError("load.empty")
        with file.path.open("rb") as opened:
            kind = uploads.kind_of(opened)
        with self._lock:
            # Where people sign in, among their own files: no others can be brought.
            file.path, file.taken = file.path.rename(folder / file.path.with_suffix(f".{kind}").name), True
        return file.path

    def content(self, given: Any, most: int) -> bytes:
        """Of a small file: all of it, or one byte more than `most`."""
        if self.folder is None:
            return bytes(given.getvalue()[: most + 1])
        with self._found(given).path.open("rb") as opened:
            return opened.read(most + 1)

    def release(self, given: Any) -> None:
        """Its page has read it."""
        if self.folder is not None:
            self.forget(self._found(given).path)

    def forget(self, path: Path | None) -> None:
        """Delete it; the room it took is free again."""
        with self._lock:
            self._files = {key: file for key, file in self._files.items() if file.path != path}
            held = path in self._held
        if not held:
            uploads.drop(path)

    def holding(self, path: Path | None, work: Callable[..., Made]) -> Callable[..., Made]:
        """Work that reads a file runs on when its visitor leaves; the file goes afterwards."""
        if path is None or self.folder is None:
            return work

        def run(*given: Any) -> Made:
            with self._lock:
                self._held.add(path)
            try:
                return work(*given)
            finally:
                with self._lock:
                    self._held.discard(path)
                    left = all(file.path != path for file in self._files.values())
                if left:
                    uploads.drop(path)

        return run

    def _found(self, given: Any) -> _File:
        if given.getvalue() == FULL:
            raise AllowanceError("upload.full")
        with self._lock:
            file = self._files.get((_session(), given.file_id))
        if file is None or not file.path.exists():
            raise AllowanceError("upload.gone")
        return file

    # --- what Streamlit says

    def serving(self, folder: Path) -> Callable[[Any], Any]:
        """For the app's lifespan: from then on Streamlit's own list of files asks here."""

        @asynccontextmanager
        async def span(_: Any) -> AsyncIterator[None]:
            server = get_instance()
            manager: Any = server.uploaded_file_mgr
            addresses = manager.get_upload_urls

            def give_out(session: str, names: Any) -> list[Any]:
                given = addresses(session, list(names)[:MOST_FILES]) if self.shows(session) else []
                self.announce(session, [one.file_id for one in given])
                return list(given)

            async def watch() -> None:
                while True:
                    self.look(server.is_active_session, time.monotonic())
                    await asyncio.sleep(_LOOK)

            manager.get_upload_urls = give_out
            self.folder = folder
            watching = asyncio.create_task(watch())
            try:
                yield
            finally:
                watching.cancel()
                for session in list(self._visitors):
                    self.leave(session)

        return span

    def shows(self, session: str) -> bool:
        with self._lock:
            return any(self._shown.get(session, ()))

    def announce(self, session: str, files: list[str]) -> None:
        with self._lock:
            known = self._addresses.setdefault(session, OrderedDict())
            known.update(dict.fromkeys(files))
            while len(known) > _MOST_ADDRESSES:
                known.popitem(last=False)

    def look(self, alive: Callable[[str], bool], now: float) -> None:
        """Who has been gone for so long that Streamlit would not take their session up again?"""
        patience = float(st.get_option("server.disconnectedSessionTTL"))
        with self._lock:
            self._seen |= {session: now for session in self._visitors if alive(session) or session not in self._seen}
            gone = [session for session, seen in self._seen.items() if now - seen > patience]
        for session in gone:
            self.leave(session)

    def leave(self, session: str) -> None:
        """A session has ended; with the last of a visitor's go the files that their draft kept."""
        with self._lock:
            self._seen.pop(session, None)
            self._shown.pop(session, None)
            self._addresses.pop(session, None)
            self._notes.pop(session, None)
            owner = self._visitors.pop(session, session)
            last = owner not in self._visitors.values()
            gone = [
                file.path
                for file in self._files.values()
                if (file.session == session and not file.taken) or (last and file.owner == owner)
            ]
        for path in gone:
            with suppress(OSError):  # a disk that lets nothing go just now must not end the looking
                self.forget(path)

    # --- what comes over the net

    async def through(self, app: Any, scope: Any, receive: Any, send: Any) -> None:
        """Everything but a file passes."""
        at = gate.upload(scope["path"]) if scope.get("method") in ("PUT", "DELETE") else None
        if at is None:
            await app(scope, receive, send)
        elif scope["method"] == "DELETE":
            with self._lock:
                file = self._files.get((at[0], at[1]))
            if file is not None and not file.taken:
                self.forget(file.path)
            if await _status(app, scope, receive, send) < 300:
                with self._lock:
                    self._notes.get(at[0], set()).discard(at[1])
        elif not self._announced(at[0], at[1]):
            await _say(send, 403)
        else:
            await self._receive(app, scope, receive, send, at[0], at[1])

    async def _receive(self, app: Any, scope: Any, receive: Any, send: Any, session: str, name: str) -> None:
        most = int(st.get_option("server.maxUploadSize")) * _STEP
        body = Filed(dict(scope["headers"]).get(b"content-type", b""))
        file = self._begin(session, name)
        kept = False
        try:
            kept = await self._write(body, file, receive, most)
            if file is not None and not kept:
                self.forget(file.path)
            headers, note = body.replaced(HERE if kept else FULL)
            told = [one for one in scope["headers"] if one[0].lower() not in _OF_BODY]
            good = await _status(app, {**scope, "headers": told + headers}, _once(note), send) < 300
            kept = kept and good
            if good:
                with self._lock:
                    self._notes.setdefault(session, set()).add(name)
        except Unfit as fault:
            kept = False
            await _say(send, fault.status)
        except OSError:
            kept = False
            await _say(send, 507)
        finally:
            if file is not None and not kept:
                self.forget(file.path)

    async def _write(self, body: Filed, file: _File | None, receive: Any, most: int) -> bool:
        """Whether all of it is on the disk. What finds no room is heard to its end, for its page to say so."""
        room = file is not None
        target = None if file is None else _new(file.path)
        try:
            async for data in body.parts(receive):
                if body.size > most:
                    raise Unfit(413)
                room = room and file is not None and self._grow(file, len(data))
                if room and target is not None:
                    await asyncio.to_thread(target.write, data)
        finally:
            if target is not None:
                await asyncio.to_thread(target.close)
        return room

    def _announced(self, session: str, name: str) -> bool:
        with self._lock:
            known: OrderedDict[str, None] = self._addresses.get(session, OrderedDict())
            if name not in known or (session, name) in self._files or len(self._notes.get(session, ())) >= MOST_NOTES:
                return False
            del known[name]  # for one file, once
            return True

    def _begin(self, session: str, name: str) -> _File | None:
        """A place for one more file, or none."""
        with self._lock:
            if self.folder is None or nearly_full(self.folder):
                return None
            owner = self._visitors.get(session, session)
            of_owner = sum(file.owner == owner for file in self._files.values())
            if of_owner >= MOST_FILES or len(self._files) >= MOST_FILES_IN_ALL:
                return None
            file = _File(session, owner, self.folder / f"upload-{secrets.token_hex(8)}.csv")
            self._files[session, name] = file
            return file

    def _grow(self, file: _File, more: int) -> bool:
        """So many bytes of one visitor: two whole files. Of all together: four."""
        whole = int(st.get_option("server.maxUploadSize")) * _STEP
        with self._lock:
            sizes = [(one.owner == file.owner, one.size) for one in self._files.values()]
            of_owner, of_all = sum(size for own, size in sizes if own), sum(size for _, size in sizes)
            if of_owner + more > 2 * whole or of_all + more > 4 * whole or file not in self._files.values():
                return False
            step = file.size // _STEP != (file.size + more) // _STEP
            file.size += more
        return not (step and self.folder is not None and nearly_full(self.folder))


here = Incoming()


def _session() -> str:
    context = get_script_run_ctx(suppress_warning=True)
    return context.session_id if context is not None else ""


def _new(path: Path) -> Any:
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "wb")


def _once(body: bytes) -> Callable[[], Any]:
    sent = False

    async def receive() -> dict[str, Any]:
        nonlocal sent
        if sent:
            return {"type": "http.disconnect"}
        sent = True
        return {"type": "http.request", "body": body, "more_body": False}

    return receive


async def _status(app: Any, scope: Any, receive: Any, send: Any) -> int:
    """What the app behind answers."""
    answered = [500]

    async def listen(message: Any) -> None:
        if message["type"] == "http.response.start":
            answered.append(message["status"])
        await send(message)

    await app(scope, receive, listen)
    return int(answered[-1])


async def _say(send: Any, status: int) -> None:
    await send({"type": "http.response.start", "status": status, "headers": []})
    await send({"type": "http.response.body", "body": b""})
