"""A mark beside the ledger with its last row, so that nobody uses an older copy of the file by mistake.

A hash chain cannot detect that its own end is missing. An older copy of a ledger is a valid, shorter chain: with it,
spent allowance could be spent again. So a file of one line lies beside the ledger, with the number and hash of the last
row. It is updated after each commit, before anything is read or drawn for it. A ledger without exactly that row is
refused. If the process is killed between the commit and the update, the mark is older than the ledger, never newer, so
no valid ledger is refused.

The line is overwritten in place and never gets shorter, so it is complete after a power cut too, if perhaps a little
old. It does not protect against somebody who changes both files; the head of the chain, kept elsewhere, does. `backup`
marks its copy with the word *copy*: it cannot be used as a workspace before an operator says what became of the
original (commands/recover.py).
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from dpengine.core import files
from dpengine.core.errors import AllowanceError

_DIGITS, _HASH = 20, 64
_LIVE, _COPY = "live", "copy"
_SIZE = len(_LIVE) + 1 + _DIGITS + 1 + _HASH + 1


@dataclass(frozen=True)
class Mark:
    """A row's number and hash. `copy`: the mark lies in a backup, which may not be used as a workspace."""

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
    """The file with the mark, and the lock on that file. Any process may move the mark to a later row; only `put` can
    set it back."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = path.with_name(f"{path.name}.lock")

    def read(self, held: bool = False) -> Mark | None:
        """The mark; None if there is no file. ValueError if the line cannot be read: then work must stop. With `held`
        the line is read under the lock, so that no process on any machine is writing it."""
        try:
            if held:
                with self._held() as file:
                    return Mark.from_line(file.read(_SIZE + 1))
            return Mark.from_line(self.path.read_bytes())
        except FileNotFoundError:
            return None

    def advance(self, seq: int, digest: str) -> None:
        """Move the mark to a later row. If another process has moved the mark further meanwhile, nothing changes."""
        if not self.path.exists():
            self.put(Mark(seq, digest))
        with self._held() as file:
            try:
                before = Mark.from_line(file.read(_SIZE + 1))
            except ValueError:
                return  # reported when the file is opened next
            if seq > before.seq and not before.copy:
                file.seek(0)
                file.write(Mark(seq, digest).line())

    def put(self, mark: Mark) -> None:
        """Replace the mark by any other mark, atomically: for the first mark, and for an operator."""
        fresh = self.path.with_name(f"{self.path.name}.{os.getpid()}-{threading.get_ident()}.new")
        with open(fresh, "wb", opener=files.private) as file:
            file.write(mark.line())
            file.flush()
            os.fsync(file.fileno())
        files.replace(fresh, self.path)

    @contextmanager
    def _held(self) -> Iterator[BinaryIO]:
        with files.locked(self._lock), open(self.path, "r+b", buffering=0) as file:
            yield file


def refuse_older(mark: Mark | None, held: str | None, code: str, **facts: str) -> None:
    """Refuse a ledger without the marked row. `held`: the ledger's own hash for the marked number, None if it has no
    such row."""
    if mark is not None and mark.copy:
        raise AllowanceError("workspace.copy")
    if mark is not None and mark.seq and held != mark.hash:
        raise AllowanceError(code, **facts)
