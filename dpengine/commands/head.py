"""`python -m dpengine head`: the head of the ledger's chain, kept in a place of the administrator's choice.

A hash chain cannot show that its own end is missing, and whoever can write to the workspace can also cut the note
beside the ledger. `--write FILE` adds a line with the day, the number and the hash of the last row to a file elsewhere,
on another disk or machine or in a mailbox; run it at each day's end. `--check FILE` reports whether the ledger still
holds every row in such a file: if its end was cut off, or rows were changed and every hash computed anew, it does not.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from dpengine.commands.backup import home_of
from dpengine.commands.ledger_places import LEDGER
from dpengine.core import files
from dpengine.core.errors import AllowanceError, Misused, refusing
from dpengine.core.types import JsonObject
from dpengine.ledger.chain import verify
from dpengine.ledger.exports import opened_anywhere
from dpengine.ledger.ledger import open_ledger
from dpengine.messages import say

_LINE = re.compile(r"(\S+) (\d{1,18}) ([0-9a-f]{64})")
_MOST_LINES = 10**6


def main(arguments: list[str]) -> int:
    home, rest = home_of(arguments)
    if rest and (rest[0] not in ("--write", "--check") or len(rest) != 2):
        raise Misused
    if rest and rest[0] == "--check":
        return check(home / LEDGER, Path(rest[1]))
    with closing(open_ledger(home / LEDGER)) as ledger:
        line = line_of(*ledger.head())
    if rest:
        write(Path(rest[1]), line)
    print(line)
    return 0


def line_of(row: int, digest: str) -> str:
    return f"{datetime.now(UTC).isoformat(timespec='seconds')} {row} {digest}"


def write(place: Path, line: str) -> None:
    """Append a line and flush it to disk. Earlier lines are not touched."""
    with (
        refusing("head.unwritable", OSError, file=place.name),
        open(place, "ab", buffering=0, opener=files.private) as file,
    ):
        file.write(f"{line}\n".encode())
        os.fsync(file.fileno())


def check(ledger: Path, place: Path) -> int:
    """The exit code: 0 if the ledger's chain is whole and holds every row that the file names."""
    wanted: dict[int, set[str]] = {}
    lines = read(place)
    for row, digest in lines:
        wanted.setdefault(row, set()).add(digest)
    with opened_anywhere(ledger) as rows:
        hashes: dict[int, str] = {}

        def noted() -> Iterator[JsonObject]:
            for row in rows:
                if row["seq"] in wanted:
                    hashes[row["seq"]] = row["hash"]
                yield row

        verdict = verify(noted())
    missing = sorted(row for row, digests in wanted.items() if row and {hashes.get(row)} != digests)
    if missing:
        print(say("head.missing", row=missing[0], rows=verdict.rows))
        return 1
    print(say("head.held", lines=len(lines), rows=verdict.rows) if verdict.ok else verdict.sentence)
    return 0 if verdict.ok else 1


def read(place: Path) -> list[tuple[int, str]]:
    with refusing("head.unreadable", OSError, UnicodeDecodeError, file=place.name):
        text = place.read_text(encoding="ascii").splitlines()
    matches = [match for line in text[:_MOST_LINES] if (match := _LINE.fullmatch(line.strip()))]
    if not matches or len(matches) != len([line for line in text if line.strip()]):
        raise AllowanceError("head.unreadable", file=place.name)
    return [(int(match[2]), match[3]) for match in matches]
