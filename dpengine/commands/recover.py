"""`python -m dpengine recover`: for a ledger that is lost, damaged or an older copy, and a workspace that was moved.

Without options it reports the state and the possible actions. `--close` goes on after a loss: the valid rows are kept,
and **every private budget is closed**, those of the ledger and those of the declared tables. Nobody knows how much the
lost rows spent, and a session's step that was drawn there must not be drawn again: so everything counts as spent, for
good. `--moved HEAD` goes on with a backup on another machine and closes nothing: HEAD, the last head of the original,
proves that the copy holds all of its rows. If a whole folder was put back, no file in it can show that: `--close HEAD`,
with a head that was noted elsewhere, closes the budgets if the ledger has no such row.

The recovery itself becomes a chained row, `recovered`, and a `close` row for each budget. They are written into a new
file, which replaces the ledger in one step; the old file is kept beside it. If the command is killed, the workspace
either refuses to open or is recovered, and the same command again does what is left.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from dpengine.commands.backup import REGISTRY, SECRET, home_of
from dpengine.commands.ledger_places import LEDGER, Place, place_of_ledger
from dpengine.core.errors import AllowanceError, Misused
from dpengine.core.types import Json, JsonObject
from dpengine.ledger.chain import START, Verdict, verify
from dpengine.ledger.high_water import Anchor, Mark
from dpengine.ledger.sqlite_file import anchor_path
from dpengine.messages import say
from dpengine.storage.registry import Registry
from dpengine.storage.workers import Hold
from dpengine.workspace import read_secret

OPERATOR = "operator"
_LEAST_HEAD = 12


@dataclass(frozen=True)
class LedgerState:
    """The state of a ledger (`fine`, `copy`, `ahead`, `rolled_back`, `missing` or `damaged`) and its valid rows."""

    state: str
    rows: int
    head: str
    had: int  # the ledger once had at least this many rows
    why: str = ""

    @property
    def sentence(self) -> str:
        return say(f"recover.{self.state}", rows=self.rows, head=self.head, had=self.had, why=self.why)


def main(arguments: list[str]) -> int:
    home, rest = home_of(arguments)
    wanted = rest[0] if rest else "look"
    if (wanted, len(rest)) not in (("look", 0), ("--close", 1), ("--close", 2), ("--moved", 2)):
        raise Misused
    with Hold(home, alone=True), closing(place_of_ledger(home)) as place:
        state = look(home, place, rest[1] if (wanted, len(rest)) == ("--close", 2) else "")
        return _done(home, place, state, wanted, rest)


def _done(home: Path, place: Place, state: LedgerState, wanted: str, rest: list[str]) -> int:
    if state.state == "fine":
        place.tidy()
        if (home / REGISTRY).exists():
            read_secret(home / SECRET)  # without it the folder does not open, whole as its ledger is
        print(state.sentence)
        return 0
    if wanted == "--close":
        budgets, aside = close(home, state, place)
        print(say("recover.closed", rows=state.rows, budgets=budgets, aside=aside))
        return 0
    if wanted == "--moved":
        moved(home, state, rest[1], place)
        print(say("recover.moved", rows=state.rows))
        return 0
    print(state.sentence)
    if state.state == "copy":
        print(say("recover.way_moved"))
    print(say("recover.way_close", rows=state.rows, budgets=len(_budgets(home, state, place))))
    return 1


def look(home: Path, place: Place, kept: str = "") -> LedgerState:
    """The ledger's state; nothing is changed. `kept`: a head noted elsewhere; a ledger without that row is an older
    copy."""
    if kept and len(kept) < _LEAST_HEAD:
        raise AllowanceError("recover.short_head", least=_LEAST_HEAD)
    try:
        mark = Anchor(anchor_path(home / LEDGER)).read() or Mark(0, START)
    except ValueError:
        mark = Mark(0, "?")  # its last row is unknown
    if not place.there():
        return LedgerState("missing", 0, START, mark.seq)
    held: list[str] = []
    older, later = bool(kept), False

    def note(rows: Iterator[JsonObject]) -> Iterator[JsonObject]:
        nonlocal older, later
        for row in rows:
            held.extend([row["hash"]] if row["seq"] == mark.seq else [])
            later = later or (row["seq"] > mark.seq and row["kind"] != "recovered")
            older = older and not row["hash"].startswith(kept.lower())
            yield row

    verdict = _verdict(place, note)
    if verdict.why:
        return LedgerState("damaged", verdict.rows, verdict.head[1], max(mark.seq, verdict.rows), verdict.sentence)
    state = "copy" if mark.copy else "fine"
    if mark.copy and later:  # a backup's folder beside a database that went on: newer tables are unknown
        state = "ahead"
    elif held != [mark.hash] and (mark.copy or mark.seq or mark.hash != START):
        state = "rolled_back"  # an unfinished copy too
    state = "rolled_back" if older else state
    if state == "fine":
        verdict = place.checked()
        state = "fine" if verdict.ok else "damaged"
    # For a copy, the head when it was made: a killed `--moved` has added a row of its own.
    head = mark.hash if state == "copy" else verdict.head[1]
    return LedgerState(state, verdict.rows, head, max(mark.seq, verdict.rows), verdict.sentence)


def close(home: Path, state: LedgerState, place: Place) -> tuple[int, str]:
    """Close every private budget that is open; returns how many, and where the old ledger is now."""
    budgets = _budgets(home, state, place)
    return len(budgets), _rebuild(place, state, budgets)


def moved(home: Path, state: LedgerState, head: str, place: Place) -> None:
    if state.state != "copy":
        raise AllowanceError("recover.not_copy")
    if len(head) < _LEAST_HEAD or not state.head.startswith(head.lower()):
        raise AllowanceError("recover.other_head")
    _rebuild(place, state, [], "moved")


def _verdict(place: Place, note: Json) -> Verdict:
    """The verdict on the rows before the first that is invalid or cannot be read."""
    broken = False

    def readable(rows: Iterator[JsonObject]) -> Iterator[JsonObject]:
        nonlocal broken
        try:
            yield from rows
        except (sqlite3.Error, AllowanceError, ValueError):
            broken = True

    try:
        with place.rows() as rows:
            verdict = verify(readable(note(rows)))
    except AllowanceError:
        return Verdict(False, 0, (0, START), None, "ledger.damaged")
    return Verdict(False, verdict.rows, verdict.head, None, "ledger.damaged") if verdict.ok and broken else verdict


def _kept(place: Place, state: LedgerState) -> Iterator[JsonObject]:
    if state.rows:
        with place.rows() as rows:
            yield from islice(rows, state.rows)


def _budgets(home: Path, state: LedgerState, place: Place) -> list[str]:
    """The private budgets that are not closed, of the valid rows and of the declared tables."""
    rows = [row for row in _kept(place, state) if row["kind"] in ("budget", "close")]
    kinds = {row["budget"]: json.loads(row["body"])["kind"] for row in rows if row["kind"] == "budget"}
    private = {budget for budget, kind in kinds.items() if kind == "private"}
    declared = {record.budget for record in Registry(home / REGISTRY).all() if not record.practice}
    return sorted((private | declared) - {row["budget"] for row in rows if row["kind"] == "close"})


def _rebuild(place: Place, state: LedgerState, budgets: list[str], why: str = "") -> str:
    note = {"why": why or state.state, "kept": [state.rows, state.head], "had": state.had}
    return place.renew(lambda: _kept(place, state), lambda ledger: ledger.recover(budgets, note, OPERATOR))
