"""Uploads: accepted only when a page asks for one, written straight to disk, limited in number and size, and deleted
when the visitor leaves.

Streamlit accepts a file from any socket that names a live session, and holds it in memory. Here the front door takes
the file first. It gives out an upload address only to a session with an uploader on its page (`picker`), accepts a file
only at such an address, and writes it to disk as it arrives. Streamlit gets a four-byte note instead. A visitor's files
are deleted with their last session (a reload starts a new one), once it cannot be resumed.
"""

from __future__ import annotations

import asyncio
import logging
import re
import secrets
import shutil
import threading
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

import streamlit as st
from python_multipart.exceptions import MultipartParseError
from python_multipart.multipart import MultipartParser, parse_options_header
from streamlit.runtime import get_instance
from streamlit.runtime.scriptrunner import get_script_run_ctx

from dpengine.core import files
from dpengine.core.errors import AllowanceError
from dpengine.core.files import nearly_full
from dpengine.intake.file_kinds import KINDS, PACKED, kind_of, unpack
from ui.shell import gate

_BOUNDARY = re.compile(rb"[A-Za-z0-9'()+_,./:=? -]{1,70}")
_MOST_HEADERS, _LONGEST_HEADER = 4, 2048
_MOST_HEAD = _MOST_HEADERS * _LONGEST_HEADER
_STEP = 2**20
logging.getLogger("python_multipart").setLevel(logging.CRITICAL)  # its warnings quote bytes of the file


class Unfit(Exception):
    """A request that is not an upload of one file. `status` is the HTTP status to answer."""

    def __init__(self, status: int = 400) -> None:
        super().__init__(status)
        self.status = status


class FileRequest:
    """An upload request with one file in one part. `head`: the part's headers; `size`: the file's bytes so far."""

    def __init__(self, content_type: bytes) -> None:
        kind, options = parse_options_header(content_type)
        self._boundary = options.get(b"boundary", b"") if kind == b"multipart/form-data" else b""
        self.head = b""
        self.size = 0

    async def parts(self, receive: Any) -> AsyncIterator[bytes]:
        """The file's bytes, about a megabyte at a time."""
        if not _BOUNDARY.fullmatch(self._boundary):
            raise Unfit
        seen: list[str] = []
        data, start, more = bytearray(), b"", True
        events: Any = {
            "on_part_begin": lambda: seen.append("part"),
            "on_headers_finished": lambda: seen.append("head"),
            "on_part_data": lambda chunk, first, last: data.extend(chunk[first:last]),
            "on_end": lambda: seen.append("end"),
        }
        limits: Any = {"max_header_count": _MOST_HEADERS, "max_header_size": _LONGEST_HEADER}
        parser = MultipartParser(self._boundary, events, **limits)
        while more:
            message = await receive()
            body, more = message.get("body", b""), message.get("more_body", False)
            if message["type"] == "http.disconnect" or ("end" in seen and body.strip()):
                raise Unfit
            try:
                parser.write(body)
            except MultipartParseError:
                raise Unfit from None
            if not self.head:
                start += body
                self._read_head(start, "head" in seen)
            if len(data) >= _STEP or (data and not more):
                self.size += len(data)
                yield bytes(data)
                data.clear()
        if seen != ["part", "head", "end"]:
            raise Unfit

    def _read_head(self, start: bytes, complete: bool) -> None:
        first, _, rest = start.partition(b"\r\n")
        if complete and first == b"--" + self._boundary and not rest.startswith(b"\r\n"):
            self.head = rest.partition(b"\r\n\r\n")[0]
        elif complete or len(start) > _MOST_HEAD:
            raise Unfit

    def replaced(self, content: bytes) -> tuple[list[tuple[bytes, bytes]], bytes]:
        """The headers and the body of the same request with `content` in place of the file."""
        mark = b"--" + self._boundary
        body = mark + b"\r\n" + self.head + b"\r\n\r\n" + content + b"\r\n" + mark + b"--\r\n"
        kind = b"multipart/form-data; boundary=" + self._boundary
        return [(b"content-type", kind), (b"content-length", str(len(body)).encode())], body


MOST_FILES, MOST_FILES_IN_ALL = 4, 40
_MOST_ADDRESSES, MOST_NOTES = 16, 256

_CHECK_EVERY, _SWEEP_EVERY = 5.0, 3600.0  # seconds
HERE, FULL = b"here", b"full"
_OF_BODY = (b"content-type", b"content-length", b"transfer-encoding")
Made = TypeVar("Made")


@dataclass
class _File:
    """An upload, complete or on its way. If `taken` is true, a draft has the file and deletes it itself."""

    session: str
    owner: str
    path: Path
    size: int = 0
    taken: bool = False


class Incoming:
    """All uploads of one server. Pages run on threads, requests on the event loop."""

    def __init__(self) -> None:
        self.folder: Path | None = None  # None: no server runs, as in a test of a page
        self._lock = threading.Lock()
        self._shown: dict[str, list[bool]] = {}  # by session: an uploader in this run, and in the run before
        self._visitors: dict[str, str] = {}  # by session
        self._addresses: dict[str, OrderedDict[str, None]] = {}
        self._files: dict[tuple[str, str], _File] = {}
        self._notes: dict[str, set[str]] = {}  # by session: notes that Streamlit keeps until it deletes them
        self._held: set[Path] = set()
        self._seen: dict[str, float] = {}  # by session: when it was last alive

    # --- called by pages

    @contextmanager
    def run(self, visitor: str | None) -> Iterator[None]:
        """The context of one run of a page. An uploader that the run does not show again is gone. If the run is cut
        short, the uploader of the run before stays."""
        session = _session()
        with self._lock:
            before = self._shown.get(session, [False, False])
            self._shown[session], self._visitors[session] = [False, any(before)], visitor or session
        yield
        with self._lock:
            self._shown[session][1] = False

    def picker(self, label: str, key: str, **more: Any) -> Any:
        """Streamlit's `st.file_uploader`, with a note that this session shows one; returns the uploaded file, or
        None."""
        with self._lock:
            self._shown.setdefault(_session(), [False, False])[0] = True
        return st.file_uploader(label, key=key, **more)

    def take(self, given: Any, folder: Path, most: int) -> Path:
        """Move an uploaded file to a draft's folder, and return its path. Refuses an empty file and one that did not
        fit."""
        if self.folder is None:
            return opened(keep(given, given.size, folder, most), folder)
        file = self._found(given)
        if not file.size:
            self.forget(file.path)
            raise AllowanceError("load.empty")
        with file.path.open("rb") as content:
            kind = kind_of(content)
        with self._lock:
            # When people sign in, this is their own folder: they can open no other files.
            file.path, file.taken = file.path.rename(folder / file.path.with_suffix(f".{kind}").name), True
        try:
            plain = opened(file.path, folder)
        except AllowanceError:
            self.forget(file.path)
            raise
        with self._lock:
            file.path = plain
        return plain

    def content(self, given: Any, most: int) -> bytes:
        """The content of a small file, cut at `most` + 1 bytes."""
        if self.folder is None:
            return bytes(given.getvalue()[: most + 1])
        with self._found(given).path.open("rb") as opened:
            return opened.read(most + 1)

    def release(self, given: Any) -> None:
        """Delete a file that the page has read."""
        if self.folder is not None:
            self.forget(self._found(given).path)

    def forget(self, path: Path | None) -> None:
        """Delete the file and free its quota."""
        with self._lock:
            self._files = {key: file for key, file in self._files.items() if file.path != path}
            held = path in self._held
        if not held:
            drop(path)

    def holding(self, path: Path | None, work: Callable[..., Made]) -> Callable[..., Made]:
        """A function that does `work` and keeps the work's file until it ends, even if the visitor leaves."""
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
                    drop(path)

        return run

    def _found(self, uploaded: Any) -> _File:
        if uploaded.getvalue() == FULL:
            raise AllowanceError("upload.full")
        with self._lock:
            file = self._files.get((_session(), uploaded.file_id))
        if file is None or not file.path.exists():
            raise AllowanceError("upload.gone")
        return file

    # --- called by Streamlit

    def serving(self, folder: Path) -> Callable[[Any], Any]:
        """The app's lifespan, in which Streamlit's file manager asks here for upload addresses."""

        @asynccontextmanager
        async def span(_: Any) -> AsyncIterator[None]:
            server = get_instance()
            manager: Any = server.uploaded_file_mgr
            addresses = manager.get_upload_urls

            def give_out(session: str, names: Any) -> list[Any]:
                given = addresses(session, list(names)[:MOST_FILES]) if self.shows(session) else []
                self.announce(session, [info.file_id for info in given])
                return list(given)

            async def watch() -> None:
                swept = -float("inf")
                while True:
                    now = time.monotonic()
                    self.look(server.is_active_session, now)
                    if now - swept > _SWEEP_EVERY:
                        swept = now
                        with suppress(OSError):
                            await asyncio.to_thread(sweep_all, folder)
                    await asyncio.sleep(_CHECK_EVERY)

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
        """End sessions that are gone for too long to be resumed."""
        patience = float(st.get_option("server.disconnectedSessionTTL"))
        with self._lock:
            self._seen |= {session: now for session in self._visitors if alive(session) or session not in self._seen}
            gone = [session for session, seen in self._seen.items() if now - seen > patience]
        for session in gone:
            self.leave(session)

    def leave(self, session: str) -> None:
        """Forget a session that has ended, with its files. A visitor's last session takes the draft's files with it."""
        with self._lock:
            self._seen.pop(session, None)
            self._shown.pop(session, None)
            self._addresses.pop(session, None)
            self._notes.pop(session, None)
            owner = self._visitors.pop(session, session)
            last = owner not in self._visitors.values()
            own = [file for file in self._files.values() if file.session == session and not file.taken]
            own += [file for file in self._files.values() if last and file.owner == owner and file not in own]
            gone = [file.path for file in own]
        for path in gone:
            with suppress(OSError):  # a read-only disk must not stop the check
                self.forget(path)

    # --- requests

    async def through(self, app: Any, scope: Any, receive: Any, send: Any) -> None:
        """Handle uploads; pass everything else on."""
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
            await gate.respond(send, 403)
        else:
            await self._receive(app, scope, receive, send, at[0], at[1])

    async def _receive(self, app: Any, scope: Any, receive: Any, send: Any, session: str, name: str) -> None:
        most = int(st.get_option("server.maxUploadSize")) * _STEP
        body = FileRequest(dict(scope["headers"]).get(b"content-type", b""))
        file = self._begin(session, name)
        kept = False
        try:
            kept = await self._write(body, file, receive, most)
            if file is not None and not kept:
                self.forget(file.path)
            headers, note = body.replaced(HERE if kept else FULL)
            headers += [pair for pair in scope["headers"] if pair[0].lower() not in _OF_BODY]
            good = await _status(app, {**scope, "headers": headers}, _once(note), send) < 300
            kept = kept and good
            if good:
                with self._lock:
                    self._notes.setdefault(session, set()).add(name)
        except Unfit as error:
            kept = False
            await gate.respond(send, error.status)
        except OSError:
            kept = False
            await gate.respond(send, 507)
        finally:
            if file is not None and not kept:
                self.forget(file.path)

    async def _write(self, body: FileRequest, file: _File | None, receive: Any, most: int) -> bool:
        """Write the uploaded file to disk. True if the whole file is there. One that does not fit is read to its end,
        so that its page can say so."""
        room = file is not None
        target = None if file is None else files.create(file.path)
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
            del known[name]  # an address takes one file
            return True

    def _begin(self, session: str, name: str) -> _File | None:
        """Note a new upload of this session; None if a quota or the disk is full."""
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
        """Count more bytes of a file. False if they do not fit: a visitor may have two files of full size, all visitors
        four."""
        whole = int(st.get_option("server.maxUploadSize")) * _STEP
        with self._lock:
            of_all = sum(other.size for other in self._files.values())
            of_owner = sum(other.size for other in self._files.values() if other.owner == file.owner)
            if of_owner + more > 2 * whole or of_all + more > 4 * whole or file not in self._files.values():
                return False
            step = file.size // _STEP != (file.size + more) // _STEP
            file.size += more
        return not (step and self.folder is not None and nearly_full(self.folder))


here = Incoming()


def _session() -> str:
    context = get_script_run_ctx(suppress_warning=True)
    return context.session_id if context is not None else ""


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
    """The HTTP status with which the app behind answers."""
    answered = [500]

    async def listen(message: Any) -> None:
        if message["type"] == "http.response.start":
            answered.append(message["status"])
        await send(message)

    await app(scope, receive, listen)
    return int(answered[-1])


# --- uploaded files on the server: in the workspace's tmp/, readable by its user only, under a random name, deleted
# after use. The browser's file name is never part of a path. The first bytes decide the kind of file.

ONE_DAY = 24 * 60 * 60
_OURS = re.compile(rf"upload-[0-9a-f]{{16}}(\.({'|'.join(KINDS)}))?")  # without an ending: half unpacked


def keep(stream: BinaryIO, size: int, folder: Path, most: int) -> Path:
    """Write the stream to a new file in the folder, and return its path. Refuses an empty file and one above `most`
    bytes."""
    if size > most:
        raise AllowanceError("data.file.large", most=most // 2**20)
    stream.seek(0)
    if not stream.read(1):
        raise AllowanceError("load.empty")
    path = folder / f"upload-{secrets.token_hex(8)}.{kind_of(stream)}"
    try:
        with files.create(path) as target:
            shutil.copyfileobj(stream, target, 1 << 20)
    except OSError:
        path.unlink(missing_ok=True)
        raise AllowanceError("load.unwritable") from None
    return path


def opened(path: Path, folder: Path) -> Path:
    """The path of the file itself; for a packed file, that of its content, as an upload of its own. A packed upload is
    deleted."""
    if path.suffix.lower().lstrip(".") not in PACKED:
        return path
    try:
        return unpack(path, folder, f"upload-{secrets.token_hex(8)}")
    finally:
        drop(path)


def waiting(folder: Path) -> list[Path]:
    """The tables, and folders of tables, in the owner's folder for large files. Links are not followed."""
    from dpengine.intake.inspect import SUFFIXES

    if not folder.is_dir():
        return []
    visible = (path for path in folder.iterdir() if not path.is_symlink() and not path.name.startswith("."))
    return sorted(path for path in visible if path.is_dir() or (path.is_file() and path.suffix.lower() in SUFFIXES))


def drop(path: Path | None) -> None:
    if path is not None and _OURS.fullmatch(path.name):
        path.unlink(missing_ok=True)


def is_deleted_upload(path: Path) -> bool:
    """Is this the path of an upload whose file is deleted?"""
    return bool(_OURS.fullmatch(path.name)) and not path.exists()


def sweep(folder: Path, older_than: float = ONE_DAY) -> None:
    """Delete uploads that are older than so many seconds: nobody finished with them."""
    for path in folder.glob("upload-*"):
        try:
            if _OURS.fullmatch(path.name) and time.time() - path.stat().st_mtime > older_than:
                path.unlink()
        except OSError:
            continue  # another process deleted it first


def sweep_all(folder: Path) -> None:
    """`sweep` for the server's folder of uploads and for each person's: a killed server leaves files in both, and no
    page of theirs may ever be opened again."""
    for place in (folder, *folder.parent.glob("people/*/tmp")):
        sweep(place)
