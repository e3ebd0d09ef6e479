"""Pages read the same sums many times: they are read once, and again as soon as anybody has written."""

from __future__ import annotations

import sqlite3
from fractions import Fraction
from pathlib import Path
from unittest.mock import patch

from helpers_ledger import WIDE, ask, opened, raises
from sqlite_utils import Database

from dpengine.ledger import ledger as ledger_module
from dpengine.ledger import owner_rows
from dpengine.ledger.ledger import Ledger, sound_rows


def test_the_same_sums_are_read_once_until_something_is_written(tmp_path: Path) -> None:
    with opened(tmp_path, WIDE) as ledger:
        ledger.reserve(**ask("one"))
        with (
            patch.object(ledger_module, "sound_rows", side_effect=sound_rows) as rows,
            patch.object(owner_rows, "sound_rows", side_effect=sound_rows) as acts,
        ):
            assert [ledger.standing("b").totals.epsilon for _ in range(9)] == [Fraction(1, 10)] * 9
            assert [ledger.budget("b").rule for _ in range(9)] == [WIDE] * 9
            assert (rows.call_count, acts.call_count) == (1, 4)  # the budget; its sums, raises and protection
            ledger.reserve(**ask("two"))
            assert ledger.standing("b").totals.epsilon == Fraction(2, 10)


def test_what_another_connection_wrote_is_seen_at_once(tmp_path: Path) -> None:
    with opened(tmp_path) as ledger:
        assert ledger.standing("b").totals.epsilon == 0
        other = Ledger(tmp_path / "ledger.sqlite")
        other.reserve(**ask("one"))
        assert ledger.standing("b").totals.epsilon == Fraction(1, 10)
        other.raise_cap("b", "people", Fraction(2), "owner")
        assert ledger.budget("b").rule.epsilon == 2
        other.close_table("seal", "b", "people", "owner")
        assert ledger.closed() == {("b", "people"): "seal"}
        other.close()


def test_a_page_that_is_drawn_reads_anew_what_it_looks_up_or_has_written(tmp_path: Path) -> None:
    """A request is not kept: it is looked up now, and so are the sums after it."""
    with opened(tmp_path, WIDE) as ledger:
        other = Ledger(tmp_path / "ledger.sqlite")
        with ledger.steady():
            assert ledger.standing("b").totals.epsilon == 0
            other.reserve(**ask("one"))
            assert ledger.standing("b").totals.epsilon == 0
            assert ledger.find("one") is not None
            assert ledger.standing("b").totals.epsilon == Fraction(1, 10)
            other.reserve(**ask("again"))
            assert len(ledger.charges("b")) == 2 and ledger.standing("b").totals.epsilon == Fraction(2, 10)
            ledger.reserve(**ask("two"))
            assert ledger.standing("b").totals.epsilon == Fraction(3, 10)
            other.reserve(**ask("three"))
        assert ledger.standing("b").totals.epsilon == Fraction(4, 10) and len(ledger.charges("b")) == 4
        other.close()


def test_an_edit_is_noticed_though_the_sums_were_read_before(tmp_path: Path) -> None:
    with opened(tmp_path, WIDE) as ledger:
        ledger.reserve(**ask("one"))
        assert ledger.standing("b").totals.epsilon == Fraction(1, 10)
        with sqlite3.connect(tmp_path / "ledger.sqlite", isolation_level=None) as db:
            db.execute("DROP TRIGGER no_update")
            db.execute("UPDATE entries SET totals = replace(totals, '1/10', '1/90') WHERE kind = 'charge'")
        db.close()
        with raises("ledger.damaged"):
            ledger.standing("b")


def test_a_refusal_is_not_kept(tmp_path: Path) -> None:
    with opened(tmp_path) as ledger:
        with raises("budget.unknown"):
            ledger.budget("c")
        ledger.create_budget("c", WIDE, "private", "owner", "people")
        assert ledger.budget("c").rule == WIDE


def test_what_was_read_before_somebody_wrote_is_not_kept_as_newer(tmp_path: Path) -> None:
    """A read that asks for another one: in between somebody writes, and the inner one sees it."""
    with opened(tmp_path, WIDE) as ledger:
        other = Ledger(tmp_path / "ledger.sqlite")

        def outer(db: Database) -> int:
            seen: int = db.conn.execute("SELECT count(*) FROM entries WHERE kind = 'charge'").fetchone()[0]
            if not seen:
                other.reserve(**ask("one"))
            assert ledger.standing("b").totals.epsilon == Fraction(1, 10)
            return seen

        assert [ledger._store.cached(("outer",), outer) for _ in range(2)] == [0, 1]
        other.close()
