"""Tables that came from a database: one allowance for all states of one, one file for its password. (With a database:
tests/engines.)"""

from __future__ import annotations

import stat
import sys
from pathlib import Path
from typing import Any

import pytest
from helpers_people import office
from helpers_source import ADDRESS, PASSWORD, Pretended, pretend

import dpengine as dp
from dpengine.commands.backup import backup
from dpengine.core.errors import AllowanceError
from dpengine.declared.source import without_password
from dpengine.intake.postgres import SourceColumn
from dpengine.storage import sources
from dpengine.storage.sources import CONNECTION
from dpengine.workspace import Workspace

ROWS = "".join(f"{n},{n % 90}\n" for n in range(40))
COLUMNS = SourceColumn("id", "integer", "N"), SourceColumn("age", "integer", "N")
SCHEMA = dp.Schema({"age": dp.Number(0, 120)})
VISITS = dp.Source(ADDRESS, "visits", password=PASSWORD)


@pytest.fixture
def database(monkeypatch: pytest.MonkeyPatch) -> Pretended:
    return pretend(monkeypatch, ROWS, *COLUMNS)


def add(home: Any, name: str, source: dp.Source = VISITS, **terms: Any) -> dp.Table:
    usual: dict[str, Any] = {"schema": SCHEMA, "unit": dp.Unit.column("id", 2), "budget": dp.Budget("1", "1e-6")}
    return home.add_table(name, source, **(usual | terms))


def code_of(call: Any) -> str:
    with pytest.raises(AllowanceError) as refused:
        call()
    assert PASSWORD not in str(refused.value)
    return refused.value.code


def test_a_newer_state_joins_the_allowance_of_the_newest(home: Workspace, database: Pretended) -> None:
    first = add(home, "ward")
    database.rows += "99,7\n"
    second = home.bring_newer("ward", "ward 2")
    assert second.joined and second.budget.id == first.budget.id and second.facts.people == 41
    elsewhere = add(home, "elsewhere", dp.Source(ADDRESS, "patients", password=PASSWORD), schema=SCHEMA)
    assert elsewhere.budget.id == first.budget.id  # the very rows, wherever they live
    database.rows = "5000,1\n"
    act = "new_people"
    third = home.bring_newer("ward", "ward 3", new_people=True)
    assert not third.joined and third.budget.id != first.budget.id
    assert (third.budget.rule.epsilon, third.budget.rule.delta) == (first.budget.rule.epsilon, first.budget.rule.delta)
    told = [(one.table, one.newer) for one in home.ledger.acts(first.budget.id) if one.kind == act]
    assert told == [("ward 2", "ward 3"), ("ward", "ward 3")] and home.verify_ledger().ok
    account = "".join(str(line) for line in first.ledger_rows())
    assert (
        "the newer state of “ward” holds other people" in account and "ward 3" not in account
    )  # which not everybody may see
    database.rows = "5000,2\n"
    assert home.bring_newer("ward", "ward 4").budget.id == third.budget.id
    head = home.ledger.head()
    assert home.bring_newer("ward", "ward 5", new_people=True).budget.id == third.budget.id  # these rows are known
    assert home.ledger.head() == head
    home.seal("ward")
    assert home.closed() == {"ward": "seal"}  # other states are other content


def test_other_terms_and_other_types_are_refused(home: Workspace, database: Pretended) -> None:
    add(home, "ward")
    database.rows += "99,7\n"
    assert code_of(lambda: add(home, "other", unit=dp.Unit.rows())) == "budget.other_terms"
    database.columns = SourceColumn("id", "integer", "N"), SourceColumn("age", "text", "S")
    assert code_of(lambda: home.bring_newer("ward", "newer")) == "source.changed"
    database.columns = COLUMNS[:1]
    assert code_of(lambda: home.bring_newer("ward", "newer")) == "source.column_gone"
    assert [one.name for one in home.tables()] == ["ward"]


def test_the_password_is_in_one_file_of_its_user(home: Workspace, database: Pretended, tmp_path: Path) -> None:
    add(home, "ward")
    file = home.folder / "tables" / home.record("ward").folder / CONNECTION
    assert stat.S_IMODE(file.stat().st_mode) == 0o600 and home.has_source("ward")
    home.ledger.close()
    backup(home.folder, tmp_path / "copy")

    def holding() -> list[Path]:
        everywhere = [path for path in tmp_path.rglob("*") if path.is_file()]
        return [path for path in everywhere if PASSWORD.encode() in path.read_bytes()]

    assert holding() == [file]
    home.forget("ward")
    assert not holding() and not home.has_source("ward")
    assert code_of(lambda: home.bring_newer("ward", "newer")) == "source.unknown"


def test_where_people_sign_in_only_named_hosts_are_reached(tmp_path: Path, database: Pretended) -> None:
    with office(tmp_path / "var") as here:
        owner = here.face("owner")
        for call in (lambda: owner.describe_source(VISITS), lambda: add(owner, "ward")):
            assert code_of(call) == "source.not_allowed"
        assert not owner.reads_databases and not database.read
        here.workspace.databases = ("db.example.org:5433", "example.org")
        assert code_of(lambda: owner.describe_source(VISITS)) == "source.not_allowed"
        here.workspace.databases = ("DB.example.org:5432",)
        assert owner.describe_source(VISITS).columns == COLUMNS
        here.workspace.databases = ("db.example.org",)
        table = add(owner, "ward")
        assert table.name == "ward" and owner.reads_databases and owner.has_source("ward")
        other = here.face("owner of another")
        database.rows += "99,7\n"
        assert other.describe_source(VISITS).earlier == () and owner.describe_source(VISITS).earlier == ("ward",)
        assert code_of(lambda: add(other, "theirs", new_people=True)) == "people.not_as_declared"
        assert add(other, "mine too").joined is False  # charged to the same allowance, and not told
        assert here.workspace.record("mine too").budget == here.workspace.record("ward").budget
        assert owner.bring_newer("ward", "apart", new_people=True).name == "apart" and here.workspace.verify_ledger().ok


def test_where_people_sign_in_a_lake_is_read_from_named_folders_and_no_other_path(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A Spark reads whatever it may, the rows of other tables among it, whoever asks."""
    spark, connect = "spark://s.example.org:7077", "sc://s.example.org"
    named = (f"{spark}/lake/", connect, "db.example.org")
    for address, given, allowed in (
        (spark, {"path": "/lake/care/year=2024/*.parquet"}, True),
        (spark, {"path": "/lake/../data/tables/x/raw.parquet"}, False),
        (spark, {"path": "/lake/{a,b}"}, False),
        (spark, {"path": "/lake/\\.\\./data"}, False),
        (spark, {"path": "/lakeside/x"}, False),
        (spark, {"path": "file:/lake/x"}, False),
        (spark, {"table": "care.visits"}, False),
        (connect, {"table": "care.visits"}, True),
        (connect, {"path": "/lake/x"}, False),
        ("spark", {"path": "/lake/x"}, False),
        ("spark", {"table": "care.visits"}, False),
    ):
        source = dp.Source(address, **given)  # type: ignore[arg-type]
        call = lambda source=source: sources.refuse_elsewhere(source, named, True)  # noqa: E731
        if allowed:
            call()
        else:
            assert code_of(call) == "source.not_allowed"
        assert code_of(lambda source=source: sources.refuse_elsewhere(source, (), True)) == "source.not_allowed"
        sources.refuse_elsewhere(source, None, False)
    monkeypatch.setattr(sources, "find_spec", lambda name: None)
    assert not sources.may_read(named, True, lakes=True) and sources.may_read(named, True, lakes=False)
    monkeypatch.setattr(sources, "find_spec", lambda name: name)
    assert sources.may_read(named, True, lakes=True) and sources.may_read(None, False, lakes=True)
    assert not sources.may_read(named[2:], True, lakes=True) and not sources.may_read(named[:1], True, lakes=False)


def test_a_workshop_reaches_no_database(tmp_path: Path, database: Pretended) -> None:
    (tmp_path / "samples-only").touch()
    room = Workspace(tmp_path)
    assert not room.reads_databases and code_of(lambda: room.describe_source(VISITS)) == "workshop.no_tables"
    assert code_of(lambda: add(room, "ward")) == "workshop.no_tables" and not database.read


def test_without_the_driver_one_sentence_says_what_to_install(home: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    assert code_of(lambda: add(home, "ward")) == "source.driver"
    assert code_of(lambda: home.describe_source(VISITS)) == "source.driver"


def test_a_source_that_fails_leaves_nothing(home: Workspace, database: Pretended) -> None:
    before = sorted(home.folder.rglob("*"))
    for code in ("source.cut", "source.unreadable", "source.busy"):
        database.refuses = code
        assert code_of(lambda: add(home, "ward")) == code
    database.refuses, database.rows = "", ""
    assert code_of(lambda: add(home, "ward")) == "source.no_rows"
    assert sorted(home.folder.rglob("*")) == before


@pytest.mark.parametrize(
    ("typed", "left"),
    [
        (
            "postgresql://ana:a:b/c@d@[::1]:5433/care?sslmode=require",
            "postgresql://ana@[::1]:5433/care?sslmode=require",
        ),
        ("postgresql://ana@db.example.org", "postgresql://ana@db.example.org"),
        ("postgres:/ana:hush@db.example.org/care", "postgres@db.example.org/care"),
        ("ana:hush@db.example.org/care", "ana@db.example.org/care"),
        ("postgresql://ana:hush/care", ""),
        ("postgresql://db.example.org/care?user=ana&password=hush", ""),
        ("host=db.example.org password=hush", ""),
    ],
)
def test_an_address_that_is_refused_goes_back_without_its_password(typed: str, left: str) -> None:
    assert without_password(typed) == left
