"""`python -m dpengine recover`: for a ledger that is lost, damaged or an older copy, and a workspace that was moved.

Without options it says what is there and what can be done. `--close` goes on after a loss: the valid rows are kept, and
**every private budget is closed**, those of the ledger and those of the declared tables. Nobody knows how much was
spent in the lost rows, and a session's step that was drawn there must not be drawn again: so all of it counts as spent,
for good. `--moved HEAD` goes on with a backup on another machine and closes nothing: HEAD, the last head of the
original, proves that the copy holds all of its rows. If a whole folder was put back, no file in it can show that:
`--close HEAD`, with a head that was noted elsewhere, closes the budgets if the ledger has no such row.

The recovery itself becomes a chained row, `recovered`, and a `close` row for each budget. They are written into a new
file, which replaces the ledger in one step; the old file is kept beside it. If the command is killed, the workspace
either refuses to open or is recovered, and the same command again does what is left.
"""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from itertools import count, islice
from pathlib import Path

from dpengine.commands.backup import LEDGER, REGISTRY, home_of
from dpengine.core.errors import AllowanceError
from dpengine.core.json_types import Json, JsonObject
from dpengine.ledger.chain import START, Verdict, verify
from dpengine.ledger.exports import opened
from dpengine.ledger.high_water import Anchor, Mark
from dpengine.ledger.ledger import Ledger
from dpengine.ledger.sqlite_file import anchor_path
from dpengine.messages import say
from dpengine.storage.folder_lock import Hold
from dpengine.storage.registry import Registry

OPERATOR = "operator"
_NEW = "ledger.new.sqlite"
_BESIDE = ("-wal", "-shm", "-journal")
_LEAST_HEAD = 12


@dataclass(frozen=True)
class Found:
    """The state of a ledger, `fine`, `copy`, `rolled_back`, `missing` or `damaged`, and how much of it is valid."""

    state: str
    rows: int
    head: str
    had: int  # how many rows there were at least
    why: str = ""

    @property
    def sentence(self) -> str:
        return say(f"recover.{self.state}", rows=self.rows, head=self.head, had=self.had, why=self.why)


def main(arguments: list[str]) -> int:
    home, rest = home_of(arguments)
    wanted = rest[0] if rest else "look"
    if (wanted, len(rest)) not in (("look", 0), ("--close", 1), ("--close", 2), ("--moved", 2)):
        print(say("recover.usage"), file=sys.stderr)
        return 2
    hold = Hold(home, alone=True)
    try:
        state = look(home, rest[1] if (wanted, len(rest)) == ("--close", 2) else "")
        if state.state == "fine":
            print(state.sentence)
            return 0
        if wanted == "--close":
            budgets, aside = close(home, state)
            print(say("recover.closed", rows=state.rows, budgets=budgets, aside=aside.name))
            return 0
        if wanted == "--moved":
            moved(home, state, rest[1])
            print(say("recover.moved", rows=state.rows))
            return 0
        print(state.sentence)
        if state.state == "copy":
            print(say("recover.way_moved"))
        print(say("recover.way_close", rows=state.rows, budgets=len(_budgets(home, state))))
        return 1
    finally:
        hold.let_go()


def look(home: Path, kept: str = "") -> Found:
    """`kept`: a head that was noted elsewhere. A ledger without that row is an older copy, whatever lies beside it.
    Nothing is changed, except that a valid ledger of an older version is migrated."""
    if kept and len(kept) < _LEAST_HEAD:
        raise AllowanceError("recover.short_head", least=_LEAST_HEAD)
    try:
        mark = Anchor(anchor_path(home / LEDGER)).read() or Mark(0, START)
    except ValueError:
        mark = Mark(0, "?")  # its last row is unknown
    if not (home / LEDGER).exists():
        return Found("missing", 0, START, mark.seq)
    held: list[str] = []
    older = bool(kept)

    def note(rows: Iterator[JsonObject]) -> Iterator[JsonObject]:
        nonlocal older
        for row in rows:
            held.extend([row["hash"]] if row["seq"] == mark.seq else [])
            older = older and not row["hash"].startswith(kept.lower())
            yield row

    verdict = _verdict(home, note)
    if verdict.why:
        return Found("damaged", verdict.rows, verdict.head[1], max(mark.seq, verdict.rows), verdict.sentence)
    state = "copy" if mark.copy else "fine"
    if held != [mark.hash] and (mark.copy or mark.seq or mark.hash != START):
        state = "rolled_back"  # an unfinished copy too
    state = "rolled_back" if older else state
    if state == "fine":
        with closing(Ledger(home / LEDGER)) as ledger:  # checks the triggers and indexes too
            verdict = ledger.verify()
        state = "fine" if verdict.ok else "damaged"
    # For a copy, the head when it was made: a `--moved` that was killed has added a row of its own.
    head = mark.hash if state == "copy" else verdict.head[1]
    return Found(state, verdict.rows, head, max(mark.seq, verdict.rows), verdict.sentence)


def close(home: Path, found: Found) -> tuple[int, Path]:
    """Close the budgets; returns how many, and where the old file is now."""
    budgets = _budgets(home, found)
    return len(budgets), _rebuild(home, found, budgets)


def moved(home: Path, found: Found, head: str) -> None:
    if found.state != "copy":
        raise AllowanceError("recover.not_copy")
    if len(head) < _LEAST_HEAD or not found.head.startswith(head.lower()):
        raise AllowanceError("recover.other_head")
    _rebuild(home, found, [], "moved")


def _verdict(home: Path, note: Json) -> Verdict:
    """The verdict on the rows up to the first that is invalid or cannot be read."""
    broken = False

    def readable(rows: Iterator[JsonObject]) -> Iterator[JsonObject]:
        nonlocal broken
        try:
            yield from rows
        except (sqlite3.Error, AllowanceError, ValueError):
            broken = True

    try:
        with opened(home / LEDGER) as rows:
            verdict = verify(readable(note(rows)))
    except AllowanceError:
        return Verdict(False, 0, (0, START), None, "ledger.damaged")
    return Verdict(False, verdict.rows, verdict.head, None, "ledger.damaged") if verdict.ok and broken else verdict


def _kept(home: Path, found: Found) -> Iterator[JsonObject]:
    if found.rows:
        with opened(home / LEDGER) as rows:
            yield from islice(rows, found.rows)


def _budgets(home: Path, found: Found) -> list[str]:
    """Every private budget that is known, from valid rows or from a declared table, and is not closed yet."""
    rows = [row for row in _kept(home, found) if row["kind"] in ("budget", "close")]
    made = {row["budget"]: json.loads(row["body"])["kind"] for row in rows if row["kind"] == "budget"}
    private = {budget for budget, kind in made.items() if kind == "private"}
    declared = {record.budget for record in Registry(home / REGISTRY).all() if not record.practice}
    return sorted((private | declared) - {row["budget"] for row in rows if row["kind"] == "close"})


def _rebuild(home: Path, found: Found, budgets: list[str], why: str = "") -> Path:
    path, new = home / LEDGER, home / _NEW
    for left in home.glob("ledger.new.*"):  # left by a recovery that was killed
        left.unlink()
    note = {"why": why or found.state, "kept": [found.rows, found.head], "had": found.had}
    with closing(Ledger(new)) as ledger:
        ledger.adopt(_kept(home, found))
        ledger.recover(budgets, note, OPERATOR)
        if not ledger.verify().ok:
            raise AllowanceError("ledger.damaged")
        head = ledger.head()
    aside = _set_aside(home)
    for end in _BESIDE:  # or SQLite would apply an old log or journal to the new file
        path.with_name(path.name + end).unlink(missing_ok=True)
    os.replace(new, path)
    Anchor(anchor_path(path)).put(Mark(*head))
    anchor_path(new).unlink(missing_ok=True)
    return aside


def _set_aside(home: Path) -> Path:
    aside = next(place for number in count(1) if not (place := home / f"found-{number}").exists())
    aside.mkdir(mode=0o700)
    for name in (LEDGER, *(LEDGER + end for end in _BESIDE), anchor_path(Path(LEDGER)).name):
        if (home / name).exists():
            shutil.copyfile(home / name, aside / name)
            (aside / name).chmod(0o600)
    return aside
