"""Wrong twins of the ledger and of the worker: charged late, given back, drawn twice, taken out, told of."""

from __future__ import annotations

import hashlib
import json
import tempfile
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from sqlite_utils import Database

from dpengine.asking import release as asking_release
from dpengine.asking.jobs import Jobs
from dpengine.asking.release import charge_and_draw
from dpengine.core.errors import AllowanceError, BudgetExceeded
from dpengine.ledger import ledger as ledger_module
from dpengine.ledger import long_lists
from dpengine.ledger.chain import START, hash_of, verify
from dpengine.ledger.ledger import Entry, Ledger, Standing, Verdict
from dpengine.ledger.long_lists import LONG
from dpengine.ledger.rows import COLUMNS, Charge
from dpengine.storage.workers import in_hand
from tests.helpers_ledger import PATIENCE, ask, opened, value
from tests.planted.registry import Planted

Carry = Callable[..., Entry]


@contextmanager
def a_folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


@contextmanager
def _ledger(kind: type[Ledger] = Ledger) -> Iterator[Ledger]:
    """One budget, "b", of ε = 1."""
    with a_folder() as folder, opened(folder), closing(kind(folder / "ledger.sqlite")) as ledger:
        yield ledger


# One release


def check_the_charge_comes_first(carry: Carry) -> None:
    """When the data are read, another program already finds the charge in the file; a refusal reads nothing."""
    with _ledger() as ledger, closing(Jobs(ledger.path.parent, ledger)) as worker:
        seen: list[bool] = []

        def read() -> int:
            with closing(Ledger(ledger.path)) as other:
                seen.append(other.find("r") is not None)
            return 7

        carry(ledger, ask("r", worker=worker.worker), read, value)
        assert seen == [True], "the data were read before the charge was written"
        with suppress(BudgetExceeded):
            carry(ledger, ask("too much", "5", worker=worker.worker), read, value)
        assert len(seen) == 1, "a question that was refused was answered first"


def check_a_request_is_drawn_once(carry: Carry) -> None:
    """Asked again under its id, after an answer and after a failure, it gets what it had; nothing is drawn anew."""
    with _ledger() as ledger, closing(Jobs(ledger.path.parent, ledger)) as worker:
        drawn: list[int] = []

        def draw(statistic: int) -> dict[str, Any]:
            drawn.append(statistic)
            if statistic < 0:
                raise RuntimeError
            return value(statistic)

        for request, statistic in (("r", 7), ("r", 7), ("failed", -1), ("failed", 8)):
            with suppress(AllowanceError):
                carry(ledger, ask(request, worker=worker.worker), lambda told=statistic: told, draw)
        assert drawn == [7, -1], "a paid question was drawn twice"


def check_a_failure_says_nothing_of_the_data(carry: Carry) -> None:
    """Whatever goes wrong once the data were read, the same sentence comes, and nothing hangs on it."""
    with _ledger() as ledger, closing(Jobs(ledger.path.parent, ledger)) as worker:

        def read() -> int:
            raise ValueError("salary of Ana is 4711")

        try:
            carry(ledger, ask("r", worker=worker.worker), read, value)
        except Exception as error:
            told = "".join(traceback.format_exception(error)[-1:]) + repr((error.__cause__, error.__context__))
            assert isinstance(error, AllowanceError) and "4711" not in told, "a failure tells of the data"


def handing_on(ledger: Ledger, reserve_args: dict[str, Any], read: Any, draw: Any) -> Entry:
    """An error of the reader is passed on to whoever asked."""
    with in_hand(reserve_args["worker"], reserve_args["request"]):
        ledger.answer(ledger.reserve(**reserve_args).request, draw(read()))
    found = ledger.find(reserve_args["request"])
    assert found is not None
    return found


def charged_after(ledger: Ledger, reserve_args: dict[str, Any], read: Any, draw: Any) -> Entry:
    """As a published tool did: answer, then charge."""
    with in_hand(reserve_args["worker"], reserve_args["request"]):
        told = draw(read())
        charge = ledger.reserve(**reserve_args)
        if charge.fresh:
            ledger.answer(charge.request, told)
    found = ledger.find(charge.request)
    assert found is not None
    return found


def drawn_anew(ledger: Ledger, reserve_args: dict[str, Any], read: Any, draw: Any) -> Entry:
    """Whoever asks gets a draw, whether the charge is a new one or not."""
    with in_hand(reserve_args["worker"], reserve_args["request"]):
        charge = ledger.reserve(**reserve_args)
        with suppress(AllowanceError):
            asking_release._draw_once(ledger, charge.request, read, draw)
    found = ledger.find(charge.request)
    assert found is not None
    return found


# The ledger


def check_a_failure_gives_nothing_back(kind: type[Ledger]) -> None:
    with _ledger(kind) as ledger:
        ledger.reserve(**ask("r", "0.9"))
        before = ledger.standing("b")
        ledger.fail("r", "release.failed")
        assert ledger.standing("b") == before, "a failure gave something back"
        with suppress(BudgetExceeded):
            ledger.reserve(**ask("s", "0.9"))
            raise AssertionError("a failure gave something back")


def two_at_once(kind: type[Ledger]) -> tuple[int, Verdict]:
    """Two threads, each of which alone would be admitted: how many were, and what the chain says of it."""
    with _ledger() as ledger:
        went: list[str] = []

        def spend(name: str) -> None:
            with closing(kind(ledger.path)) as mine:
                try:
                    mine.reserve(**ask(name, "0.9"))
                    went.append(name)
                except BudgetExceeded:
                    pass

        threads = [threading.Thread(target=spend, args=(name,)) for name in ("one", "two")]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return len(went), ledger.verify()


def check_two_at_once_spend_one_cap(kind: type[Ledger]) -> None:
    admitted, verdict = two_at_once(kind)
    assert admitted == 1 and verdict.ok, "two at once overspent the cap"


def check_nothing_leaves_the_ledger(kind: type[Ledger]) -> None:
    """Whatever happens, the rows that were there stay the beginning of the rows there are, and the chain holds."""
    with _ledger(kind) as ledger:
        acts: list[Callable[[], Any]] = [
            lambda: ledger.reserve(**ask("r", "0.1")),
            lambda: ledger.fail("r", "release.failed"),
            lambda: ledger.reserve(**ask("s", "0.1")),
            lambda: ledger.answer("s", value(3)),
            lambda: ledger.raise_cap("b", "people", Fraction(2), "owner"),
            lambda: ledger.close_table("seal", "b", "people", "owner"),
        ]
        before = list(ledger.export_rows())
        for act in acts:
            act()
            after = list(ledger.export_rows())
            assert after[: len(before)] == before and len(after) == len(before) + 1, "a row left the ledger"
            before = after
        assert ledger.verify().ok


def check_a_request_belongs_to_one_question(kind: type[Ledger]) -> None:
    with _ledger(kind) as ledger:
        one = ask("r")
        ledger.reserve(**one)
        other = one["claim"] | {"parameters": one["claim"]["parameters"] | {"where": [["state", "in", ["TX"]]]}}
        try:
            ledger.reserve(**(one | {"claim": other}))
        except AllowanceError as refused:
            assert refused.code == "request.reused"
        else:
            raise AssertionError("another question got the answer of this one")


def check_the_ledger_does_not_time_the_draw(kind: type[Ledger]) -> None:
    """An answer carries the time of its charge; one of its own would tell how long reading and drawing took."""
    with _ledger(kind) as ledger, pytest.MonkeyPatch.context() as patch:
        patch.setattr("dpengine.ledger.ledger._now", lambda: "2001-01-01T00:00:00+00:00")
        ledger.reserve(**ask("r"))
        patch.setattr("dpengine.ledger.ledger._now", lambda: "2001-01-01T00:00:09+00:00")
        ledger.answer("r", value(3))
        times = {row["at"] for row in ledger.export_rows() if row["request"] == "r"}
        assert len(times) == 1, "the ledger tells how long the draw took"


class Timed(Ledger):
    def _append(self, db: Database, *given: Any) -> dict[str, Any]:
        return super()._append(db, *given[:-1], ledger_module._now())


class LooksBeforeItLocks(Ledger):
    """The sums are read before the write lock is taken."""

    meet = threading.Barrier(2)

    def reserve(self, **told: Any) -> Any:
        self._seen = super().standing(told["budget"])
        self.meet.wait(PATIENCE)
        return super().reserve(**told)

    def _standing(self, db: Database, budget: str) -> Standing:
        return getattr(self, "_seen", None) or super()._standing(db, budget)


class Refunds(Ledger):
    """Only charges that did not fail count."""

    def _standing(self, db: Database, budget: str) -> Standing:
        sql = (
            "SELECT * FROM entries AS e WHERE kind = 'charge' AND budget = ? AND NOT EXISTS (SELECT 1 FROM entries"
            " WHERE kind = 'failed' AND request = e.request) ORDER BY seq DESC LIMIT 1"
        )
        rows = list(db.query(sql, [budget]))
        return Charge.from_row(rows[0]).standing if rows else Standing.NOTHING


class Deletes(Ledger):
    """A failed question is taken out again, as if it had never been asked."""

    def fail(self, request: str, code: str) -> None:
        with self._store.writing() as db:
            db.conn.execute("DROP TRIGGER no_delete")
            db.conn.execute("DELETE FROM entries WHERE request = ?", [request])


class AnyQuestion(Ledger):
    """A request that is known gets what it had, whatever it asks now."""

    def _charged_before(self, db: Database, one: dict[str, Any]) -> Charge | None:
        return self._charge(db, one["request"])


# The chain


def check_rows_that_differ_hash_differently(hashed: Callable[[dict[str, Any]], str]) -> None:
    """Whatever is changed, moved from one column to the next or made another type: another hash."""
    row: dict[str, Any] = {name: f"{name}-12" for name in COLUMNS} | {"seq": 7}
    changed = [row | {name: "8"} for name in COLUMNS if name != "hash"] + [row | {"seq": "7"}]
    changed += [row | {"actor": "actor-1", "body": "2body-12"}, row | {"totals": "", "body": "body-12totals-12"}]
    assert len({hashed(one) for one in [row, *changed]}) == len(changed) + 1, "an edit leaves the hash as it was"


def without_the_sums(row: dict[str, Any]) -> str:
    return hash_of(row | {"totals": ""})


def run_together(row: dict[str, Any]) -> str:
    return hashlib.sha256("".join(str(row[name]) for name in COLUMNS if name != "hash").encode()).hexdigest()


# Long lists


def check_an_edited_list_is_noticed(judge: Callable[[list[Any]], Verdict]) -> None:
    """Somebody puts another value into a list that charges name, and makes every hash anew."""
    values = [f"v{place}" for place in range(LONG + 1)]
    claim = ask("r")["claim"] | {"bounds": {"x": {"kind": "category", "values": values}}}
    with _ledger() as ledger:
        ledger.reserve(**ask("r", claim=claim))
        rows = list(ledger.export_rows())
        assert judge(rows).ok
        last = START
        for place, row in enumerate(rows):
            edited = row["body"].replace('"v7"', '"another"') if row["kind"] == "list" else row["body"]
            rows[place] = row | {"body": edited, "prev": last}
            rows[place]["hash"] = last = hash_of(rows[place])
        assert not judge(rows).ok, "an edited list was believed"


def believing(rows: list[Any]) -> Verdict:
    """Whatever a list's row says, its digest is taken for right."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(long_lists, "noted", lambda body: json.loads(body)["digest"])
        return verify(rows)


PLANTED = [
    Planted(
        "a list under another's digest",
        "A long list in a row of its own is not held against the digest that charges name.",
        check_an_edited_list_is_noticed,
        "was believed",
        verify,
        believing,
    ),
    Planted(
        "spend after answer",
        "The answer is drawn, then charged.",
        check_the_charge_comes_first,
        "before the charge",
        charge_and_draw,
        charged_after,
    ),
    Planted(
        "a paid question drawn again",
        "Asking again under the same id draws again, free.",
        check_a_request_is_drawn_once,
        "drawn twice",
        charge_and_draw,
        drawn_anew,
    ),
    Planted(
        "refund on failure",
        "A failed release no longer counts, though its data were read.",
        check_a_failure_gives_nothing_back,
        "gave something back",
        Ledger,
        Refunds,
    ),
    Planted(
        "an error passed on after the charge",
        "What went wrong while reading is told, with what was read.",
        check_a_failure_says_nothing_of_the_data,
        "tells of the data",
        charge_and_draw,
        handing_on,
    ),
    Planted(
        "a time of its own for the answer",
        "The ledger tells to the second how long an answer took.",
        check_the_ledger_does_not_time_the_draw,
        "how long",
        Ledger,
        Timed,
    ),
    Planted(
        "a chain that leaves a column out",
        "A row's sums are not hashed, so they can be edited.",
        check_rows_that_differ_hash_differently,
        "as it was",
        hash_of,
        without_the_sums,
    ),
    Planted(
        "a chain over columns run together",
        "Text can move from one column to the next under the same hash.",
        check_rows_that_differ_hash_differently,
        "as it was",
        hash_of,
        run_together,
    ),
    Planted(
        "lookup before the lock",
        "What is left is read before the write lock is taken.",
        check_two_at_once_spend_one_cap,
        "overspent",
        Ledger,
        LooksBeforeItLocks,
    ),
    Planted(
        "deleting instead of chaining ledger rows",
        "A failed question's row is taken out of the ledger.",
        check_nothing_leaves_the_ledger,
        "left the ledger",
        Ledger,
        Deletes,
    ),
    Planted(
        "a request that answers another question",
        "A known request id gets its old answer, whatever it asks.",
        check_a_request_belongs_to_one_question,
        "another question",
        Ledger,
        AnyQuestion,
    ),
]
