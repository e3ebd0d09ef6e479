"""The ledger in Postgres keeps what the file keeps: the same rows, byte for byte, under the same guards."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from fractions import Fraction
from itertools import islice
from pathlib import Path
from typing import Any

import pandas as pd
import psycopg
import pytest
from engines.ledger_in_postgres import URL, address_of, in_postgres
from engines.postgres_server import PostgresServer

import dpengine as dp
from dpengine.accountant.costs import cost
from dpengine.accountant.filter import Totals, price
from dpengine.accountant.history import History
from dpengine.accountant.loss import Pure
from dpengine.core.types import JsonObject
from dpengine.ledger.chain import hash_of
from dpengine.ledger.ledger import Ledger
from dpengine.ledger.rows import COLUMNS, charge_body, charge_totals
from dpengine.ledger.sqlite_file import VERSION
from tests.helpers_ledger import USUAL, ask, raises, until

ROOT = Path(__file__).resolve().parent.parent.parent
OF_THE_LEDGER = [
    "tests/engine/ledger/test_ledger.py",
    "tests/engine/ledger/test_repeats.py",
    "tests/engine/ledger/test_long_lists.py",
    "tests/engine/ledger/test_kept_reads.py",
    "tests/engine/people/test_grants.py",
]
OF_WHO_USES_IT = [
    "tests/engine/asking/test_jobs.py",
    "tests/engine/asking/test_jobs_processes.py",
    "tests/engine/asking/test_plan.py",
    "tests/engine/asking/test_meanwhile.py",
    "tests/engine/asking/test_session.py",
]


@pytest.fixture(scope="module")
def database(postgres: PostgresServer) -> str:
    return postgres.database()


@pytest.fixture
def ledger(database: str, tmp_path: Path) -> Iterator[Ledger]:
    """Three rows: a budget, a charge and its answer."""
    with closing(shared(database, tmp_path)) as made:
        made.create_budget("b", USUAL, "private", "owner", "people")
        made.reserve(**ask("r"))
        made.answer("r", {"value": 1})
        yield made


def shared(database: str, folder: Path) -> Ledger:
    path = folder / "ledger.sqlite"
    return Ledger(path, store=in_postgres(database, path))


def stranger(database: str, ledger: Ledger) -> psycopg.Connection[tuple[Any, ...]]:
    """Somebody who may do anything, and knows nothing of the engine."""
    connection = psycopg.connect(database, autocommit=True)
    connection.execute(f"SET search_path = {address_of(database, ledger.path).schema}")
    return connection


@pytest.mark.parametrize(
    "files",
    [
        pytest.param(OF_THE_LEDGER, id="of the ledger"),
        pytest.param(OF_WHO_USES_IT, id="of who uses it", marks=pytest.mark.long),
    ],
)
def test_the_ordinary_tests_of_the_ledger_hold_on_postgres(database: str, files: list[str]) -> None:
    told = [sys.executable, "-W", "error", "-m", "pytest", "-p", "no:playwright", "-p", "engines.ledger_in_postgres"]
    paths = os.pathsep.join([str(ROOT / "tests"), os.environ.get("PYTHONPATH", "")])
    environment = os.environ | {URL: database, "PYTHONPATH": paths}
    told += ["-q", "-x", "-m", "not long", *files]
    done = subprocess.run(told, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-5000:]


_COPY = "INSERT INTO entries SELECT {}, at, kind, budget, {}, actor, body, totals, {}, hash FROM entries"
_LAST = "(SELECT hash FROM entries WHERE seq = 3)"


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE entries SET at = 'x' WHERE seq = 2",
        "DELETE FROM entries WHERE seq = 3",
        "TRUNCATE entries",
        "TRUNCATE entries, looks CASCADE",
        "DELETE FROM looks",
        "UPDATE looks SET law = ''",
        "TRUNCATE looks",
        "INSERT INTO entries SELECT * FROM entries WHERE seq = 2 ON CONFLICT (seq) DO UPDATE SET at = 'x'",
        f"{_COPY.format('seq + 9', 'request', 'prev')} WHERE seq = 2",
        f"{_COPY.format('4', 'request', 'prev')} WHERE seq = 2",
        f"{_COPY.format('4', 'budget', _LAST)} WHERE seq = 1",
        f"{_COPY.format('4', 'request', _LAST)} WHERE seq = 2",
        f"{_COPY.format('4', 'request', _LAST)} WHERE seq = 3",
    ],
)
@pytest.mark.parametrize("role", ["origin", "replica"])
def test_the_database_itself_refuses_changes(database: str, ledger: Ledger, statement: str, role: str) -> None:
    with closing(stranger(database, ledger)) as other:
        other.execute(f"SET session_replication_role = {role}")  # which switches ordinary triggers off
        with pytest.raises((psycopg.errors.RaiseException, psycopg.errors.IntegrityError)):
            other.execute(statement)
    assert ledger.verify().ok and ledger.head()[0] == 3


def _row(ledger: Ledger, **columns: str) -> dict[str, Any]:
    """A row that continues the chain well, whatever it says."""
    last = list(ledger.export_rows())[-1]
    row = last | {"seq": last["seq"] + 1, "prev": last["hash"], "actor": "eve"} | columns
    return row | {"hash": hash_of(row)}


def _charge(before: Totals, after: Totals, history: History, epsilon: str = "1/10") -> dict[str, str]:
    loss = Pure(Fraction(epsilon))
    paid = price(USUAL, before, cost(loss, USUAL.alpha))
    body = charge_body("people", "ab12", {"digest": "d"}, loss, paid)
    return {"kind": "charge", "request": "new", "body": body, "totals": charge_totals(before, after, history)}


def _insert(other: psycopg.Connection[tuple[Any, ...]], row: dict[str, Any]) -> None:
    marks = ", ".join(["%s"] * len(COLUMNS))
    other.execute(f"INSERT INTO entries VALUES ({marks})".encode(), [row[name] for name in COLUMNS])


def test_no_cap_is_exceeded_even_by_a_writer_that_skips_the_engine(database: str, ledger: Ledger) -> None:
    now = ledger.standing("b")

    def after(epsilon: str) -> Totals:
        return now.totals.plus(cost(Pure(Fraction(epsilon)), USUAL.alpha))

    with closing(stranger(database, ledger)) as other:
        for totals in (
            _charge(now.totals, after("5"), now.history),  # beyond the cap
            _charge(Totals.NOTHING, after("0.1"), now.history),  # as if nothing had been charged before
            _charge(now.totals, Totals.NOTHING, now.history),  # gives back
            _charge(now.totals, Totals(None, after("5").renyi, now.totals.delta), now.history),
            _charge(now.totals, Totals(after("0.1").epsilon, after("0.1").renyi, Fraction(1, 2)), now.history),
        ):
            with pytest.raises(psycopg.errors.RaiseException, match=r"begins where|stays within"):
                _insert(other, _row(ledger, **totals))
        assert ledger.head()[0] == 3
        _insert(other, _row(ledger, **_charge(now.totals, now.totals, now.history)))  # says that it cost nothing
    assert (ledger.verify().broken, ledger.verify().why) == (4, "chain.totals")


@pytest.mark.parametrize(
    ("forgery", "found"),
    [
        ("UPDATE entries SET actor = 'eve' WHERE seq = 2", (2, "chain.hash")),
        ("DELETE FROM entries WHERE seq = 2", (2, "chain.gap")),
        ("UPDATE looks SET law = 'x'", (None, "chain.guards")),
    ],
)
def test_a_forged_row_is_named(database: str, ledger: Ledger, forgery: str, found: tuple[int | None, str]) -> None:
    """By somebody who may take the guards off, and puts them back."""
    with closing(stranger(database, ledger)) as other:
        guards = other.execute(
            "SELECT relname, tgname FROM pg_trigger JOIN pg_class AS c ON c.oid = tgrelid"
            " JOIN pg_namespace AS n ON n.oid = relnamespace WHERE nspname = current_schema()"
        ).fetchall()
        for table, name in guards:
            other.execute(f"ALTER TABLE {table} DISABLE TRIGGER {name}")
        other.execute(forgery.encode())
        for table, name in guards:
            other.execute(f"ALTER TABLE {table} ENABLE ALWAYS TRIGGER {name}")
    verdict = ledger.verify()
    assert (verdict.broken, verdict.why) == found
    if found[0] is not None:  # nor is anything spent from it after a start
        with closing(Ledger(ledger.path, store=in_postgres(database, ledger.path))) as again, raises("ledger.damaged"):
            again.reserve(**ask("after the forgery"))


@pytest.mark.parametrize(
    "taken_off",
    [
        "DROP TRIGGER no_update ON entries",
        "ALTER TABLE entries DISABLE TRIGGER no_delete",
        "ALTER TABLE entries ENABLE TRIGGER no_delete",  # off for a replica again
        "DROP INDEX one_charge",
        "CREATE OR REPLACE FUNCTION only_next() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'",
        "CREATE OR REPLACE FUNCTION at_most(a text, b text) RETURNS boolean LANGUAGE sql AS 'SELECT true'",
        "CREATE FUNCTION json_extract(body text, path varchar) RETURNS text LANGUAGE sql AS 'SELECT NULL::text'",
        "CREATE RULE quiet AS ON INSERT TO entries DO INSTEAD NOTHING",
        "ALTER TABLE entries ENABLE ROW LEVEL SECURITY",
        "ALTER TABLE entries ALTER COLUMN actor DROP NOT NULL",
        "ALTER TABLE entries ALTER COLUMN at SET DEFAULT 'x'",
    ],
)
def test_a_guard_that_is_gone_or_changed_is_missed(database: str, ledger: Ledger, taken_off: str) -> None:
    assert ledger.verify().ok
    with closing(stranger(database, ledger)) as other:
        other.execute(taken_off.encode())
    assert ledger.verify().why == "chain.guards"


def test_a_role_that_owns_nothing_can_spend_and_verify_but_take_no_guard_off(
    postgres: PostgresServer, database: str, ledger: Ledger, tmp_path: Path
) -> None:
    schema = address_of(database, ledger.path).schema
    with closing(psycopg.connect(database, autocommit=True)) as owner:
        owner.execute("CREATE ROLE clerk LOGIN PASSWORD 'clerk'")
        owner.execute(f"GRANT USAGE ON SCHEMA {schema} TO clerk".encode())
        owner.execute(f"GRANT SELECT, INSERT ON ALL TABLES IN SCHEMA {schema} TO clerk".encode())
    as_clerk = postgres.url(database.rpartition("/")[2], "clerk", "clerk")
    with closing(Ledger(ledger.path, store=in_postgres(as_clerk, ledger.path))) as theirs:
        assert theirs.reserve(**ask("by the clerk")).fresh and theirs.verify().ok
    with closing(stranger(as_clerk, ledger)) as other:
        for act in ("DROP TRIGGER no_update ON entries", "TRUNCATE entries", "UPDATE entries SET at = ''"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                other.execute(act.encode())


# The same bytes


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ledger file with repeated questions, a session, a plan, and what owners do."""
    folder = tmp_path_factory.mktemp("filled")
    with closing(dp.open_workspace(folder)) as home:
        for name, shift in (("open", 1), ("sealed", 2)):
            frame = pd.DataFrame(
                {"x": [(row + shift) % 5 for row in range(60)], "c": ["ab"[row % 2] for row in range(60)]}
            )
            schema = dp.Schema({"x": dp.Number(0, 4), "c": dp.Category(["a", "b"])})
            home.add_table(name, frame, schema=schema, unit=dp.Unit.rows(), budget=dp.Budget("3", "1e-6"))
        table = home.table("open")
        for number in range(3):
            table.ask(table.query("count", where=[["x", ">", 1]], epsilon="0.1"), f"count {number}")
        table.ask(table.query("histogram", column="c", epsilon="0.1"))
        session = table.open_session(table.query("adaptive_session", questions=3, epsilon="1"), "a session")
        session.ask({"average": "x"}, "only")
        session.end()
        table.submit_plan([table.query("mean", column="x", epsilon="0.1")], "a plan")
        until(lambda: [state for _, state in table.run("a plan").rows] == ["done"])
        home.raise_cap("open", "5")
        home.seal("sealed")
    return folder / "ledger.sqlite"


def test_a_ledger_goes_from_the_file_into_postgres_and_back_byte_for_byte(
    database: str, filled: Path, tmp_path: Path
) -> None:
    with closing(Ledger(filled)) as file:
        rows, head = list(file.export_rows()), file.head()
    (tmp_path / "back").mkdir()
    with closing(shared(database, tmp_path)) as there, closing(Ledger(tmp_path / "back" / "ledger.sqlite")) as back:
        there.adopt(rows)
        assert there.verify().ok and there.head() == head and list(there.export_rows()) == rows
        back.adopt(there.export_rows())
        assert back.verify().ok and list(back.export_rows()) == rows
        budget = next(row["budget"] for row in rows if row["kind"] == "charge")
        for read in (
            lambda ledger: [entry.outcome for entry in ledger.walk(budget)],
            lambda ledger: ledger.standing(budget),
            lambda ledger: ledger.spread(budget, 3),
            lambda ledger: ledger.charges(limit=-1),
            lambda ledger: ledger.closed(),
            lambda ledger: ledger.acts_by(None, 5, None),
            lambda ledger: ledger.row_of(head[1][:12]),
        ):
            assert read(there) == read(back)
        claims = {row["request"]: row for row in rows if row["kind"] == "charge"}
        for entry in islice(there.walk(budget), 10):
            charge = entry.charge
            assert charge.request in claims
            assert there.all_answers_to(budget, charge.table, charge.claim) == back.all_answers_to(
                budget, charge.table, charge.claim
            )


# An older state, and another folder


def _copied(database: str, rows: list[JsonObject], folder: Path) -> str:
    """A database that holds these rows only, as one restored from a backup; the name of its schema."""
    folder.mkdir()
    with closing(shared(database, folder)) as ledger:
        ledger.adopt(rows)
        return address_of(database, ledger.path).schema


def test_an_older_state_of_the_database_is_refused(database: str, ledger: Ledger, tmp_path: Path) -> None:
    rows = list(ledger.export_rows())
    older, empty, newest = (_copied(database, rows[:n], tmp_path / str(n)) for n in (2, 0, 3))
    for schema, code in ((older, "ledger.database_rolled_back"), (empty, "ledger.database_rolled_back")):
        with raises(code):
            in_postgres(database, ledger.path, schema=schema)
    with raises("ledger.database_missing"):
        in_postgres(database, ledger.path, schema="never_made")
    in_postgres(database, ledger.path, schema=newest).close()
    # put back while a program runs: the next write notices
    with closing(psycopg.connect(database, autocommit=True)) as operator:
        here = address_of(database, ledger.path).schema
        operator.execute(f"ALTER SCHEMA {here} RENAME TO {here}_newer".encode())
        operator.execute(f"ALTER SCHEMA {older} RENAME TO {here}".encode())
    with raises("ledger.database_rolled_back"):
        ledger.reserve(**ask("again"))


def test_a_database_belongs_to_one_folder(database: str, ledger: Ledger, tmp_path: Path) -> None:
    in_postgres(database, ledger.path, mark="first").close()  # from now on it knows its folder
    in_postgres(database, ledger.path, mark="first").close()
    with raises("ledger.other_folder"):
        in_postgres(database, ledger.path, mark="second")
    ledger.path.touch()
    with raises("ledger.two"):
        in_postgres(database, ledger.path)
    ledger.path.unlink()


def test_a_ledger_of_another_version_is_left_alone(database: str, ledger: Ledger) -> None:
    for change, code in (
        (f"UPDATE edition SET version = {VERSION + 1}", "newer"),
        (f"UPDATE edition SET version = {VERSION - 1}", "older"),
        ("DROP TABLE edition", "older"),
    ):
        with closing(stranger(database, ledger)) as other:
            other.execute(change.encode())
        with raises(f"workspace.{code}"):
            in_postgres(database, ledger.path)
