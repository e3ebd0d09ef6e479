"""Wrong twins of what becomes of a table that lives in a database: whose budget it spends from, where its password is,
and how its cells are coded there."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from helpers_source import ADDRESS, PASSWORD, pretend

import dpengine as dp
from dpengine.declared.dialect import Dialect
from dpengine.declared.schema import Schema
from dpengine.intake.coding_expressions import coding, listed
from dpengine.intake.encode import encode
from dpengine.intake.load import Loaded
from dpengine.intake.postgres import SourceColumn
from dpengine.storage.sources import CONNECTION
from dpengine.workspace import Workspace
from tests.planted.ledgers import a_folder
from tests.planted.registry import Planted

SCHEMA = dp.Schema({"age": dp.Number(0, 120)})
COLUMNS = SourceColumn("id", "integer", "N"), SourceColumn("age", "integer", "N")


def check_states_of_one_table_have_one_budget(kind: type[Workspace]) -> None:
    """Its newer rows spend from the same budget, or the ledger says why not; its password is in one file."""
    with a_folder() as folder, closing(kind(folder / "var")) as home, pytest.MonkeyPatch.context() as patched:
        database = pretend(patched, "1,20\n2,30\n", *COLUMNS)
        source = dp.Source(ADDRESS, "visits", password=PASSWORD)
        terms: dict[str, Any] = {"schema": SCHEMA, "unit": dp.Unit.rows(), "budget": dp.Budget("1", "1e-6")}
        first = home.add_table("ward", source, **terms)
        database.rows += "3,40\n"
        newer = home.bring_newer("ward", "newer")
        assert newer.budget.id == first.budget.id, "newer rows of the same people have a budget of their own"
        database.rows = "9,50\n"
        home.bring_newer("ward", "apart", new_people=True)
        rows = list(home.ledger.export_rows())
        assert any(row["kind"] == "new_people" for row in rows), "the ledger does not say that people are new"
        holding = [one for one in home.folder.rglob("*") if one.is_file() and PASSWORD.encode() in one.read_bytes()]
        assert {one.name for one in holding} == {CONNECTION}, "the password is in another file"


class MarksContentAlone(Workspace):
    """Where a table came from is not noted."""

    def _load(self, *given: Any, **more: Any) -> Loaded:
        return replace(super()._load(*given, **more), addresses=())


class KeepsNewPeopleToItself(Workspace):
    """An owner's word that people are new is taken, and not written down."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.ledger.new_people = lambda *told: None  # type: ignore[assignment, method-assign, return-value]


class NotesTheAddress(Workspace):
    """The address goes into the registry as it was given."""

    def _load(self, folder: Path, source: Any, *given: Any, **more: Any) -> Loaded:
        loaded = super()._load(folder, source, *given, **more)
        return replace(loaded, addresses=(*loaded.addresses, f"{source.host}:{source.password}"))


GRID = dp.Schema({"n": dp.Number(0, 10, step="0.5", codes=[999]), "town": dp.Category(["Kranj", "Ptuj"])})
CELLS = [
    "999",
    "999.0",
    "998",
    "0.25",
    "0.75",
    "1.25",
    "9.75",
    "-3",
    "1e999",
    "NaN",
    "",
    "x",
    " kranj ",
    "PTUJ",
    "Celje",
]
Codes = Callable[[Schema, Dialect, str], str]


def check_cells_are_coded_in_a_database_as_from_a_file(code: Codes) -> None:
    with a_folder() as folder:
        folder.mkdir(exist_ok=True)
        texts = pa.array([cell or None for cell in CELLS], pa.string())
        pq.write_table(pa.table({"n": texts, "town": texts}), folder / "raw.parquet")
        encode(folder / "raw.parquet", GRID, Dialect(), folder / "coded.parquet")
        wanted = pq.read_table(folder / "coded.parquet").to_pylist()
    with closing(duckdb.connect()) as connection:
        connection.register("texts", pa.table({"t0": texts, "t1": texts}))
        lists = [(one.column, one.spelled, one.place, one.kind) for one in listed(GRID)]
        names = ("list", "spelled", "place", "kind")
        connection.register("lists", pa.table(dict(zip(names, map(list, zip(*lists, strict=True)), strict=True))))
        found = connection.sql(code(GRID, Dialect(), "duckdb")).to_arrow_table().to_pylist()
    assert sorted(map(str, found)) == sorted(map(str, wanted)), "a cell is coded otherwise"


def without_codes(schema: Schema) -> Schema:
    columns = schema.columns.items()
    return Schema({name: replace(one, codes=()) if isinstance(one, dp.Number) else one for name, one in columns})


def clips_codes_there(schema: Schema, dialect: Dialect, engine: str) -> str:
    """999 is a number like any other, and counts as the end of the range."""
    return coding(without_codes(schema), dialect, engine)


Encode = Callable[[Path, Schema, Dialect, Path], None]


def check_a_number_for_unknown_counts_as_an_empty_cell(code: Encode) -> None:
    """In every spelling; and a cell that is nearly one counts as what it says."""
    schema = dp.Schema({"out": dp.Number(0, 260, codes=[999]), "in": dp.Number(0, 1000, missing=7, codes=[999])})
    cells = ["", "999", " 999 ", "999.0", "9.99e2", "998", "999.0000000000001"]
    with a_folder() as folder:
        folder.mkdir(exist_ok=True)
        texts = pa.array([cell or None for cell in cells], pa.string())
        pq.write_table(pa.table({"out": texts, "in": texts}), folder / "raw.parquet")
        code(folder / "raw.parquet", schema, Dialect(), folder / "coded.parquet")
        found = pq.read_table(folder / "coded.parquet")
    assert found["c0"].to_pylist() == [-1] * 5 + [260] * 2, "999 for unknown counts as a value"
    assert found["c1"].to_pylist() == [7] * 5 + [998, 999], "999 for unknown counts as a value"
    assert [kind < 0 for kind in found["f0"].to_pylist()] == [False] * 5 + [True] * 2, (
        "999 for unknown is said not to fit"
    )


def clips_codes(raw: Path, schema: Schema, dialect: Dialect, coded: Path) -> None:
    """999 is clipped into the range, as every number beyond it."""
    encode(raw, without_codes(schema), dialect, coded)


def halves_upwards(schema: Schema, dialect: Dialect, engine: str) -> str:
    """As engines round by themselves."""
    return coding(schema, dialect, engine).replace('"t0"."w0" % 2', "1")


PLANTED = [
    Planted(
        "a newer state of a database's table with a new budget",
        "A table is known by its rows alone, and these change every day.",
        check_states_of_one_table_have_one_budget,
        "budget of their own",
        Workspace,
        MarksContentAlone,
    ),
    Planted(
        "new people that nobody wrote down",
        "A newer state gets its own budget without a row of the ledger.",
        check_states_of_one_table_have_one_budget,
        "does not say",
        Workspace,
        KeepsNewPeopleToItself,
    ),
    Planted(
        "a password in the registry",
        "The address of a database is stored as it was typed, and not as a keyed mark.",
        check_states_of_one_table_have_one_budget,
        "in another file",
        Workspace,
        NotesTheAddress,
    ),
    Planted(
        "a half that is rounded up in the database",
        "A number between two grid points is coded otherwise where its rows may not leave the database.",
        check_cells_are_coded_in_a_database_as_from_a_file,
        "coded otherwise",
        coding,
        halves_upwards,
    ),
    Planted(
        "a number for unknown that is clipped",
        "999 is declared to mean unknown, and counts as the end of the range.",
        check_a_number_for_unknown_counts_as_an_empty_cell,
        "counts as a value",
        encode,
        clips_codes,
    ),
    Planted(
        "a number for unknown that is clipped in the database",
        "999 is declared to mean unknown, and counts as the end of the range where rows may not leave the database.",
        check_cells_are_coded_in_a_database_as_from_a_file,
        "coded otherwise",
        coding,
        clips_codes_there,
    ),
]
