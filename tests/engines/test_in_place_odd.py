"""Tables in a database that are unlike most: their collations, encodings and widths. Each is coded as a file's rows
would be, or refused by what it declares; no row decides which."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas
import psycopg
import pyarrow.parquet as pq
import pytest
from engines.postgres_server import PostgresServer
from engines.source_steps import add, prepared, refused, run, source
from engines.test_in_place import codes, staying

import dpengine as dp
from dpengine.intake.bring_in import Declared, code_rows, load_raw
from dpengine.intake.coding_expressions import MOST_IN_PLACE
from dpengine.workspace import Workspace


@pytest.fixture(scope="module")
def address(postgres: PostgresServer) -> str:
    made = prepared(postgres.database())
    run(
        made,
        "CREATE SCHEMA allowance",
        "GRANT CREATE, USAGE ON SCHEMA allowance TO ana",
        "CREATE COLLATION loose (provider = icu, locale = 'und-u-ks-level1', deterministic = false)",
    )
    return made


def test_a_collation_for_which_letters_are_equal_gives_nobody_more_rows(home: Workspace, address: str) -> None:
    letters = dp.Schema({"a": dp.Category(["e", "é", "è", "ê"])})
    run(
        address,
        'CREATE TABLE loose (id integer, a text COLLATE loose, b text COLLATE "C")',
        "INSERT INTO loose SELECT 1, 'é', 'z' || n FROM generate_series(1, 9) n",
        "INSERT INTO loose VALUES (2, 'E', ''), (3, 'x', '')",
        "CREATE TABLE looser AS SELECT a FROM loose",
    )
    terms: dict[str, Any] = {"schema": letters, "unit": dp.Unit.column("id", 2)}
    table = add(home, staying(address, "loose"), "loose", **terms)
    found = [(row[-1], row[0]) for row in codes(home, address, "loose")]
    assert sorted(found) == [(0, 1), (0, 1), (1, 0), (2, 4)] and table.facts.people == 3
    looser = add(home, staying(address, "looser"), "looser", schema=letters)  # Postgres finds no pattern under it
    assert looser.facts.people == 11
    assert add(home, source(address, "loose"), "over", **terms).facts.people == 3


@pytest.mark.parametrize("kind", ["text", 'text COLLATE "C"', "name"])
def test_letters_are_made_small_by_our_rule_and_not_by_the_databases(
    home: Workspace, postgres: PostgresServer, kind: str
) -> None:
    """A database whose locale is C knows no Š; the same rows from a file have the same codes and the same allowance."""
    made = prepared(postgres.database("LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0"))
    run(made, "CREATE SCHEMA allowance", "GRANT CREATE, USAGE ON SCHEMA allowance TO ana")
    towns = ["Škofja Loka", "ČRNOMELJ", "ΣΑΣ", "İzmir", "Ptuj", "É", "E\u0301"]
    run(made, f"CREATE TABLE towns (id integer, town {kind})")
    with psycopg.connect(made) as connection:
        for place, town in enumerate(towns):
            connection.execute("INSERT INTO public.towns VALUES (%s, %s)", (place, town))
    schema = dp.Schema({"town": dp.Category(["Škofja Loka", "Črnomelj", "Σας", "İzmir", "Ptuj", "é"])})
    frame = pandas.DataFrame({"id": range(len(towns)), "town": towns})
    first = add(home, frame, "file", schema=schema)
    there = add(home, staying(made, "towns"), "there", schema=schema)
    assert there.joined and there.budget.id == first.budget.id
    coded = pq.read_table(home.folder / "tables" / home.record("file").folder / "coded-1.parquet")["c0"].to_pylist()
    assert [row[0] for row in codes(home, made, "there")] == sorted(coded) == [0, 1, 2, 3, 4, 5, 6]


def test_no_number_is_too_near_zero(home: Workspace, address: str, tmp_path: Path) -> None:
    run(
        address,
        "CREATE TABLE tiny (x text, y numeric)",
        "INSERT INTO tiny VALUES ('5', 5), ('1e-400', 1e-350), ('-1e-999', -1e-390),"
        " ('0.5' || repeat('0', 390) || '1', 1)",
    )
    schema = dp.Schema({"x": dp.Number(0, 100), "y": dp.Number(-1, 100)})
    add(home, staying(address, "tiny"), "tiny", schema=schema)
    declared = Declared(schema, dp.Unit.rows(), dp.Dialect(), home._secret)
    code_rows(tmp_path, load_raw(tmp_path, source(address, "tiny"), declared), declared)
    wanted = pq.read_table(tmp_path / "coded-1.parquet").to_pandas().to_numpy().tolist()
    assert codes(home, address, "tiny") == sorted(map(tuple, wanted)) and wanted[3][0] == 1


def test_a_wide_table_is_coded_whatever_its_cells_hold(home: Workspace, address: str) -> None:
    """800 numbers of ten digits are more than a page of Postgres; a function takes at most 100 of them."""
    columns = ", ".join(f"k{at} integer" for at in range(800))
    run(address, f"CREATE TABLE wide ({columns})")
    run(
        address,
        f"INSERT INTO wide SELECT {', '.join('n * 1000000000' for _ in range(800))} FROM generate_series(1, 2) n",
    )
    table = add(
        home,
        staying(address, "wide"),
        "wide",
        schema=dp.Schema({"k1": dp.Number(0, 9)}),
        unit=dp.Unit.column("k0", 1),
    )
    assert table.facts.people == 2


def test_how_many_columns_are_coded_there_is_decided_by_the_declaration(home: Workspace, address: str) -> None:
    """Numbers take the most room on their way."""
    wide = MOST_IN_PLACE + 1
    run(address, f"CREATE TABLE many ({', '.join(f'k{at} integer' for at in range(wide))}, id text)")
    run(address, f"INSERT INTO many SELECT {', '.join('1' for _ in range(wide))}, 'ana'")
    few, more = (dp.Schema({f"k{at}": dp.Number(0, 9) for at in range(most)}) for most in (MOST_IN_PLACE, wide))
    terms: dict[str, Any] = {"unit": dp.Unit.column("id", 1)}
    assert add(home, staying(address, "many"), "many", schema=few, **terms).facts.people == 1
    refused(home, staying(address, "many"), "source.in_place_wide", schema=more, **terms)
