"""The steps of a session, as rows of the ledger.

    step   the next step of a session is recorded as used, before reading or drawing     once per number and per step id
    part   its answer                                                                    } one of the two, once
    lost   it was cut short, and is never drawn again                                    }
    ended  no more steps; what was charged stays charged                                 once per session

All carry the request of the session's charge. A step that has neither part nor lost, and whose worker is gone, was cut
short too: readers report it as lost, and it is never drawn.
"""

from __future__ import annotations

import json

from dpengine.core.canonical import canonical
from dpengine.core.errors import AllowanceError
from dpengine.core.json_types import JsonObject
from dpengine.ledger.rows import Burned, Charge, questions_of
from dpengine.ledger.sqlite_file import sound_rows
from dpengine.ledger.store import Database

_OF = "SELECT * FROM entries WHERE kind = 'step' AND request = ? AND json_extract(body, '$.index') > ?"
_TOLD = "SELECT * FROM entries WHERE kind IN ('part', 'lost') AND request = ? AND json_extract(body, '$.index') > ?"
_CHOSE = (
    "SELECT * FROM entries WHERE kind = 'step' AND request = ?"
    " AND json_extract(body, '$.claim.ask.largest') IS NOT NULL LIMIT 1"
)
_BY_ID = "SELECT * FROM entries WHERE kind = 'step' AND request = ? AND json_extract(body, '$.step') = ?"
_NUMBERED = "SELECT * FROM entries WHERE kind = 'step' AND request = ? AND json_extract(body, '$.index') = ?"
_TOLD_OF = "SELECT * FROM entries WHERE kind IN ('part', 'lost') AND request = ? AND json_extract(body, '$.index') = ?"
_ASKED = "SELECT coalesce(max(json_extract(body, '$.index')), 0) AS n FROM entries WHERE kind = 'step' AND request = ?"
_ENDED = "SELECT * FROM entries WHERE kind = 'ended' AND request = ?"


def step_body(table: str, index: int, step: str, worker: str, claim: JsonObject) -> str:
    return canonical({"table": table, "index": index, "step": step, "worker": worker, "claim": claim})


def of_session(db: Database, session: str, after: int = 0) -> list[Burned]:
    """The steps after number `after`, in order, each with its outcome."""
    outcomes = {_index(row): row for row in sound_rows(db, _TOLD, [session, after])}
    rows = sorted(sound_rows(db, _OF, [session, after]), key=_index)
    return [Burned.from_row(row, outcomes.get(_index(row))) for row in rows]


def chose(db: Database, session: str) -> bool:
    """Was “which is largest” asked in it?"""
    return bool(sound_rows(db, _CHOSE, [session]))


def find(db: Database, session: str, step: str) -> Burned | None:
    return _told(db, sound_rows(db, _BY_ID, [session, step]))


def numbered(db: Database, session: str, index: int) -> Burned | None:
    return _told(db, sound_rows(db, _NUMBERED, [session, index]))


def asked(db: Database, session: str) -> int:
    return int(next(iter(db.query(_ASKED, [session])))["n"])


def ended(db: Database, session: str) -> bool:
    return bool(sound_rows(db, _ENDED, [session]))


def refuse_over(db: Database, charge: Charge) -> int:
    """How many steps were used; refuses where no further one is allowed."""
    so_far, questions = asked(db, charge.request), questions_of(charge.claim)
    assert questions is not None
    if ended(db, charge.request):
        raise AllowanceError("session.ended", asked=so_far, questions=questions)
    if so_far >= questions:
        raise AllowanceError("session.over", questions=questions)
    return so_far


def _index(row: JsonObject) -> int:
    return int(json.loads(row["body"])["index"])


def _told(db: Database, rows: list[JsonObject]) -> Burned | None:
    if not rows:
        return None
    burned = Burned.from_row(rows[0])
    outcomes = sound_rows(db, _TOLD_OF, [burned.session, burned.index])
    return Burned.from_row(rows[0], outcomes[0] if outcomes else None)
