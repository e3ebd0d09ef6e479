"""An index beside the chain: it finds a question asked thousands of times as fast as one asked once.

One row for each answer: the question (a hash of budget, table and claim without ε and noise), the law, and the answer's
number among the answers to this question and among those of this law. Everything in it follows from the chain and is
written in the same transaction as the answer; `agrees_with_chain` compares the two. The index only finds rows: each is
then read from the chain and its hash checked, like any other.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import zip_longest

from dpengine.core.strict_json import canonical
from dpengine.core.types import JsonObject
from dpengine.ledger import long_lists
from dpengine.ledger.people_rules import base_of
from dpengine.ledger.rows import NO_ROW
from dpengine.ledger.store import Database, walked

FEW = 12  # answers under each law that `first` finds; combining them uses no more
MOST_FIRST = 480  # answers that `first` finds in all
MOST_NEWEST = 50
_ILLEGIBLE = (ValueError, KeyError, TypeError, AttributeError)

STATEMENTS = (
    """CREATE TABLE looks (
                seq INTEGER PRIMARY KEY, charge INTEGER NOT NULL, question TEXT NOT NULL, law TEXT NOT NULL,
                number INTEGER NOT NULL, place INTEGER NOT NULL
            ) STRICT""",
    "CREATE UNIQUE INDEX look_of ON looks (question, number)",
    "CREATE UNIQUE INDEX look_of_law ON looks (question, law, place)",
    f"CREATE UNIQUE INDEX first_looks ON looks (question, number) WHERE place <= {FEW}",
    """CREATE TRIGGER no_look_update BEFORE UPDATE ON looks
                BEGIN SELECT RAISE(ABORT, 'looks are append-only'); END""",
    """CREATE TRIGGER no_look_delete BEFORE DELETE ON looks
                BEGIN SELECT RAISE(ABORT, 'looks are append-only'); END""",
    """CREATE TRIGGER only_next_look BEFORE INSERT ON looks
                WHEN NEW.seq <= (SELECT coalesce(max(seq), 0) FROM looks)
                BEGIN SELECT RAISE(ABORT, 'looks are append-only'); END""",
    """CREATE INDEX kinds_of ON entries
                (budget, json_extract(body, '$.table'), json_extract(body, '$.claim.key'), seq)
                WHERE kind = 'charge'""",
)

_ANSWERS = (
    "SELECT answer.seq AS seq, charge.seq AS charge, charge.budget AS budget, charge.body AS body"
    " FROM entries AS answer JOIN entries AS charge ON charge.kind = 'charge' AND charge.request = answer.request"
    " WHERE answer.kind = 'answer' ORDER BY answer.seq"
)
_INSERT = (
    "INSERT INTO looks (seq, charge, question, law, number, place) VALUES (:seq, :charge, :question, :law,"
    " (SELECT coalesce(max(number), 0) + 1 FROM looks WHERE question = :question),"
    " (SELECT coalesce(max(place), 0) + 1 FROM looks WHERE question = :question AND law = :law))"
)
_PROTECTED = "SELECT seq FROM entries WHERE kind = 'protect' AND budget = ? AND seq < ? ORDER BY seq DESC LIMIT 1"
_NUMBER = "SELECT coalesce(max(number), 0) AS number FROM looks WHERE question = ?"
_FIRST = (
    f"SELECT charge FROM looks INDEXED BY first_looks WHERE question = ? AND place <= {FEW}"
    f" ORDER BY number LIMIT {MOST_FIRST}"
)
_NEWEST = f"SELECT charge FROM looks WHERE question = ? ORDER BY number DESC LIMIT {MOST_NEWEST}"
_OF_LAW = f"SELECT charge FROM looks WHERE question = ? AND law = ? ORDER BY place DESC LIMIT {MOST_NEWEST}"
_ALL = "SELECT seq, charge, question, law, number, place FROM looks ORDER BY seq"


def question_of(budget: str, table: str, claim: JsonObject) -> str:
    """A hash of the question and its bounds, which is the same at any ε and with any noise."""
    asked = {name: value for name, value in claim.get("parameters", {}).items() if name not in ("epsilon", "noise")}
    identity = [budget, table, claim.get("key"), claim.get("version"), asked, claim.get("bounds")]
    return hashlib.sha256(canonical(identity).encode("utf-8", "surrogatepass")).hexdigest()


def law_of(claim: JsonObject, noise: str | None = None) -> str:
    given = claim.get("parameters", {})
    return canonical([given.get("noise") or "" if noise is None else noise, given.get("epsilon")])


def since(db: Database, budget: str, charge: int = NO_ROW) -> str:
    """The name by which this index knows a budget: its id, with the number of the last `protect` row before this
    charge. So a question asked after that row does not find answers from before it."""
    rows = list(db.query(_PROTECTED, [base_of(budget), charge]))
    return f"{budget} {rows[0]['seq']}" if rows else budget


def note(db: Database, seq: int, charge: int, budget: str, body: str) -> None:
    """Add the index row of a new answer."""
    question, law = _named(since(db, budget, charge), body)
    row = {"seq": seq, "charge": charge, "question": question, "law": law}
    db.conn.execute(_INSERT, row)


def _named(budget: str, body: str) -> tuple[str, str]:
    """The question and the law of a charge, from the `body` of its row."""
    charge = json.loads(body)
    return question_of(budget, charge["table"], long_lists.whole(charge["claim"])), law_of(charge["claim"])


def fill(db: Database) -> None:
    """Build the index of a ledger that has none. An answer that cannot be read is left out: `verify` names it."""
    for row in walked(db, _ANSWERS):
        with suppress(*_ILLEGIBLE):
            long_lists.at_hand(db, [row["body"]])
            note(db, row["seq"], row["charge"], row["budget"], row["body"])


def number(db: Database, question: str) -> int:
    return int(next(iter(db.query(_NUMBER, [question])))["number"])


def first(db: Database, question: str) -> list[int]:
    """The row numbers of the charges of the first few answers with each law, in the order of the answers."""
    return _charges(db.query(_FIRST, [question]))


def newest(db: Database, question: str) -> list[int]:
    """The row numbers of the charges of the latest answers to a question, oldest first."""
    return _charges(db.query(_NEWEST, [question]))[::-1]


def of_laws(db: Database, question: str, laws: Sequence[str]) -> list[int]:
    """The row numbers of the charges of the latest answers with each of these laws, law by law."""
    return [charge for law in laws for charge in _charges(db.query(_OF_LAW, [question, law]))]


def agrees_with_chain(db: Database) -> bool:
    """Does the index hold exactly one row for every answer, each as derived from the chain?"""
    with db.atomic():  # both are read at the same moment: others may be writing
        return all(_follows(db))


def _follows(db: Database) -> Iterator[bool]:
    questions: Counter[str] = Counter()
    laws: Counter[tuple[str, str]] = Counter()
    for row, look in zip_longest(walked(db, _ANSWERS), walked(db, _ALL)):
        try:
            long_lists.at_hand(db, [row["body"]])
            question, law = _named(since(db, row["budget"], row["charge"]), row["body"])
            questions[question] += 1
            laws[question, law] += 1
            expected = (row["seq"], row["charge"], question, law, questions[question], laws[question, law])
            yield expected == tuple(look.values())
        except _ILLEGIBLE:  # or one of the two is missing
            yield False


def _charges(rows: Iterable[JsonObject]) -> list[int]:
    return [row["charge"] for row in rows]
