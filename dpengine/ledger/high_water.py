"""What was last written down, kept beside a file: so that an older copy of the file is not taken for the newest.

A hash chain cannot see its own end missing, and a ledger that was copied back is a sound, shorter chain: with it, money
already spent would be spent again. So beside the ledger lies one line, the number and hash of its last row, advanced
after each commit and before anything is read or drawn for it. A ledger that does not hold that very row is refused. A
kill between the commit and the line leaves the line older, never newer: no sound ledger is refused.

The line is written in place and never shrinks, so it is whole after a power cut too, if perhaps a little old. It says
nothing to someone who changes both files; the head of the chain, kept elsewhere, does. A copy made by `backup` bears
the word *copy*, and is no workspace before an operator says what became of the original (recover.py).
"""

from __future__ import annotations

import fcntl
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from dpengine.core.errors import AllowanceError

_DIGITS, _HASH = 20, 64
_LIVE, _COPY = "live", "copy"
_SIZE = len(_LIVE) + 1 + _DIGITS + 1 + _HASH + 1


@dataclass(frozen=True)
class Mark:
    """A row's number and hash. `copy`: it lies in a backup."""

    seq: int
    hash: str
    copy: bool = False

    def line(self) -> bytes:
        word = _COPY if self.copy else _LIVE
        return f"{word} {self.seq:0{_DIGITS}d} {self.hash:>{_HASH}}\n".encode()

    @staticmethod
    def from_line(line: bytes) -> Mark:
        word, seq, digest = line.decode("ascii").split()
        if len(line) != _SIZE or word not in (_LIVE, _COPY) or not seq.isdigit() or len(digest) != _HASH:
            raise ValueError
        return Mark(int(seq), digest, word == _COPY)


class Anchor:
    """The line in a file of its own. Any number of processes advance it; it never goes back by itself."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> Mark | None:
        """None where nothing was ever written down. A line that cannot be read is no leave to go on: ValueError."""
        try:
            return Mark.from_line(self.path.read_bytes())
        except FileNotFoundError:
            return None

    def advance(self, seq: int, digest: str) -> None:
        """To a later row. Another process may have come further since: then nothing changes."""
        if not self.path.exists():
            self.put(Mark(seq, digest))
        with self._held() as handle:
            try:
                before = Mark.from_line(os.pread(handle, _SIZE + 1, 0))
            except ValueError:
                return  # whoever opens the file next is told
            if seq > before.seq and not before.copy:
                os.pwrite(handle, Mark(seq, digest).line(), 0)

    def put(self, mark: Mark) -> None:
        """Whole or not at all, whatever stood there: for the first line, and for an operator."""
        fresh = self.path.with_name(f"{self.path.name}.{os.getpid()}-{threading.get_ident()}.new")
        handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        try:
            os.write(handle, mark.line())
            os.fsync(handle)
        finally:
            os.close(handle)
        os.replace(fresh, self.path)

    @contextmanager
    def _held(self) -> Iterator[int]:
        handle = os.open(self.path, os.O_RDWR | os.O_CLOEXEC)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)  # the kernel drops it on a kill
            yield handle
        finally:
            os.close(handle)


def refuse_older(mark: Mark | None, held: str | None, code: str) -> None:
    """`held`: the hash that the file has in the row of the mark, None where it has no such row."""
    if mark is not None and mark.copy:
        raise AllowanceError("workspace.copy")
    if mark is not None and mark.seq and held != mark.hash:
        raise AllowanceError(code)
