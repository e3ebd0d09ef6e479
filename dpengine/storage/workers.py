"""Which process computes a release, and whether it is alive.

Each process that spends has a name, its *worker*, and holds a kernel lock on `workers/<worker>.lock` in the workspace
folder while it runs; the kernel releases it on kill -9 too. Names are random and used once, so a free lock means that
the process has ended.
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import threading
import time
import weakref
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path

from dpengine.core import files
from dpengine.core.errors import AllowanceError, refusing

# This process's own workers, and the releases it is computing, by (worker, request)
_guard = threading.Lock()
_own: set[str] = set()
_hands: Counter[tuple[str, str]] = Counter()
_NOTES_KEPT = 30 * 24 * 3600.0  # seconds to keep a note of an ended process
_NOTE = 34  # bytes


@contextmanager
def in_hand(worker: str, request: str) -> Iterator[None]:
    """A context in which this process computes the release. Enter it before the charge is written; otherwise the charge
    would seem abandoned."""
    key = (worker, request)
    with _guard:
        _hands[key] += 1
    try:
        yield
    finally:
        with _guard:
            _hands[key] -= 1
            if not _hands[key]:
                del _hands[key]


def still_computing(
    folder: Path, worker: str, request: str, elsewhere: Callable[[str], bool] = lambda _: False
) -> bool:
    """Is this release still being computed? This process knows its own releases; of other processes the locks tell
    whether they live. `elsewhere` returns True if a worker on another machine is alive."""
    with _guard:
        if (worker, request) in _hands:
            return True
        if worker in _own:
            return False
    return alive(folder, worker) or (_is_name(worker) and elsewhere(worker))


def alive(folder: Path, worker: str) -> bool:
    """Does the process with this name still run? It does while it holds its kernel lock, which works across
    containers."""
    return _is_name(worker) and _held(_path(folder, worker))


def _is_name(worker: str) -> bool:
    return bool(re.fullmatch(r"[0-9a-f]{1,64}", worker))


def refuse_apart(folder: Path, others: Callable[[], Sequence[str]], patience: float = 5.0) -> None:
    """Refuse to work if a living program that shares the ledger does not share this folder, with locks that work from
    machine to machine. Otherwise each program would sweep away the other's work, and content known to one would be new
    to the other. `others` returns the first characters of the names of these programs. Tried for a while, since a
    program may be ending right now."""
    deadline = time.monotonic() + patience
    while any(not _seen(folder, name) for name in others()):
        if time.monotonic() > deadline:
            raise AllowanceError("ledger.folder_apart")
        time.sleep(0.1)


def _seen(folder: Path, beginning: str) -> bool:
    return any(_held(path) for path in (folder / "workers").glob(f"{beginning}*.lock"))


class Worker:
    """This process's name in a workspace folder, and the lock that shows that the process lives. Both are made when
    first needed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._name: str | None = None
        self._handle = -1
        _workers.add(self)

    @property
    def name(self) -> str:
        with self._lock:
            if self._name is None:
                with refusing("ledger.unwritable", OSError):
                    self._name, self._handle = _take(self._folder)
                with _guard:
                    _own.add(self._name)
                path = _path(self._folder, self._name)
                self.let_go = weakref.finalize(self, _give_back, self._handle, path, os.getpid())
            return self._name

    def close(self) -> None:
        with self._lock:
            if self._name is not None:
                self.let_go()
                self._name = None

    def forked(self) -> None:
        """In a forked child: close the parent's lock, which must not outlive the parent."""
        if self._name is not None:
            os.close(self._handle)
        self._lock, self._name = threading.Lock(), None


_workers: weakref.WeakSet[Worker] = weakref.WeakSet()


# Questions that wait in a process's memory are noted beside its lock, to be known after a stop or a kill.


def note_waiting(folder: Path, worker: str, name: str, waits: bool) -> None:
    """Note that a question began to wait (`waits`), or that it ended in any way. Only a hash of the question's id is
    noted. If the note cannot be written, only this information is lost."""
    path = folder / "workers" / f"{worker}.waiting"
    with suppress(OSError):
        if not path.exists():
            tidy_notes(folder)
        with open(path, "ab", buffering=0, opener=files.private) as file:
            file.write(f"{'+' if waits else '-'}{_hash(name)}\n".encode())


def was_waiting(folder: Path, name: str, elsewhere: Callable[[str], bool] = lambda _: False) -> bool:
    """Was this question waiting in a process when that process ended?"""
    return any(_hash(name) in _left(path) for path in _ended_notes(folder, elsewhere))


def tidy_notes(folder: Path) -> None:
    """Delete the notes of ended processes, except of questions that still waited; those stay for a month."""
    with suppress(OSError):
        for path in _ended_notes(folder):
            left = _left(path)
            if not left or time.time() - path.stat().st_mtime > _NOTES_KEPT:
                path.unlink(missing_ok=True)
            elif path.stat().st_size > len(left) * _NOTE:
                short = path.with_suffix(f".{secrets.token_hex(4)}")
                short.touch(0o600)
                short.write_bytes("".join(f"+{digest}\n" for digest in sorted(left)).encode("ascii"))
                files.replace(short, path)


def _ended_notes(folder: Path, elsewhere: Callable[[str], bool] = lambda _: False) -> list[Path]:
    with _guard:
        own = set(_own)
    notes = (path for path in (folder / "workers").glob("*.waiting") if path.stem not in own)
    return [path for path in notes if not alive(folder, path.stem) and not elsewhere(path.stem)]


def _left(path: Path) -> set[str]:
    """The hashes of the questions that, by the notes in this file, began to wait and did not end."""
    counted: Counter[str] = Counter()
    with suppress(OSError):
        for line in path.read_text(encoding="ascii", errors="replace").split():
            counted[line[1:]] += 1 if line[0] == "+" else -1
    return {name for name, times in counted.items() if times > 0}


def _hash(name: str) -> str:
    return hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _path(folder: Path, worker: str) -> Path:
    return folder / "workers" / f"{worker}.lock"


def _take(folder: Path) -> tuple[str, int]:
    """A new name, and the open file that holds its lock."""
    workers = folder / "workers"
    workers.mkdir(mode=0o700, exist_ok=True)
    with files.locked(workers / "names"):  # so that nobody takes a file that is not locked yet for abandoned
        for left in workers.glob("*.lock"):  # left by killed processes
            if not _held(left):
                with suppress(PermissionError):  # somebody else looks at it
                    left.unlink(missing_ok=True)
        name = secrets.token_hex(8)
        handle = files.private(_path(folder, name), os.O_RDWR | os.O_CREAT | os.O_EXCL)
        try:
            files.lock(handle)
        except OSError:
            os.close(handle)
            raise
    return name, handle


def _held(path: Path) -> bool:
    try:
        with open(path, "rb") as file:
            return not files.lock(file.fileno(), shared=True, wait=False)
    except FileNotFoundError:
        return False
    except OSError:
        return True  # unknown: no process is declared dead on a guess


def _give_back(handle: int, path: Path, pid: int) -> None:
    if os.getpid() != pid:  # in a forked child, where `forked` has closed the file
        return
    os.close(handle)
    with suppress(PermissionError):  # somebody looks at it: the next process to start removes it
        path.unlink(missing_ok=True)
    with _guard:
        _own.discard(path.stem)


def _after_fork() -> None:
    global _guard
    _guard = threading.Lock()
    _own.clear()
    _hands.clear()
    for worker in list(_workers):
        worker.forked()


files.after_fork(_after_fork)


# Who has a workspace open: a kernel lock on `open.lock`, shared by programs that use it, exclusive for recovery.


class Hold(AbstractContextManager["Hold"]):
    """A lock that shows that this program has the workspace open; with `alone`, no other program may open it. The lock
    ends with the process at the latest."""

    def __init__(self, folder: Path, alone: bool = False) -> None:
        handle = files.private(folder / "open.lock", os.O_RDWR | os.O_CREAT)
        try:
            held = files.lock(handle, shared=not alone, wait=False)
        except OSError:
            held = False
        if not held:
            os.close(handle)
            raise AllowanceError("workspace.in_use" if alone else "workspace.mending")
        self.let_go = weakref.finalize(self, os.close, handle)

    def __exit__(self, *error: object) -> None:
        self.let_go()
