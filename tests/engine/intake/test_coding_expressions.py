"""The coding that a database computes is that of `encode`, cell by cell; here in DuckDB (tests/engines: Postgres)."""

from __future__ import annotations

import random
from datetime import date
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dpengine as dp
from dpengine.core.errors import AllowanceError
from dpengine.declared.dialect import Dialect
from dpengine.intake.coding_expressions import MOST_IN_PLACE, coding, listed, refuse_uncodable
from dpengine.intake.encode import encode

SCHEMA = dp.Schema(
    {
        "n": dp.Number("-1.5", "10", step="0.25"),
        "whole": dp.Number(0, 10**6, missing=7),
        "threes": dp.Number(1, 10, step=3),
        "codes": dp.Number(0, 260, codes=[-9, "0.125", 5, 999, "99999999999999999999"]),
        "codes in": dp.Number(0, 1000, missing=40, codes=[999, 0]),
        "day": dp.Date("1999-12-31", "2024-03-01", "dmy"),
        "iso": dp.Date("2000-01-01", "2000-12-31"),
        "town": dp.Category(["Kranj", "Ptuj"], aliases={"krajn": "Kranj"}),
        "all": dp.Category(["a", "b"], unknown="b", missing="b", complete=True),
    }
)
ODD = [
    None,
    "",
    " ",
    "NaN",
    "inf",
    "-Infinity",
    "∞",
    "1e999",
    "-1e999",
    "9" * 399,
    "9" * 401,
    "0.125",
    ".375",
    "1.",
    "−3",
]
ODD += [
    "1,234.5",
    "12,34,567",
    "1,2",
    "1e2",
    "1e-3",
    "+5",
    "--5",
    "1 000",
    "0x10",
    "10.000000001",
    "4.5",
    "1.5",
    "7.5",
]
ODD += [
    "999",
    " 999 ",
    "999.0",
    "999,0",
    "9.99e2",
    "+999.",
    "99,9e1",
    "998.9999999999",
    "999.0000000000001",
    "-9",
    "−9.00",
]
ODD += [
    "0",
    "-0",
    "0.0",
    "0e9",
    "9" * 20,
    "9" * 19 + "8",
    "1e20",
    "5",
    "5.0000000001",
    "0999",
    "1 999",
    "999 €",
    "0,125",
]
ODD += ["29.02.2000", "29.2.1900", "30.2.2000", "2000-02-29", "2000-02-30", "2000-13-01", "1.1.0001", "31/12/9999"]
ODD += ["2000-05-06 10:30:00", "2000-05-06T10:30Z", "06. 05. 2000", "2000-5-6 x", "0000-01-01", "2000-05-06 BC"]
ODD += ["Kranj", " kranj ", "KRAJN", "Ptuj\t", "Čatež", "a", "B ", "other", "no answer", "'", '"', "\\", "%s", "{x}"]


def both(rows: list[list[str | None]], dialect: Dialect, tmp_path: Path) -> tuple[pa.Table, pa.Table]:
    """The codes as `encode` writes them, and as DuckDB computes them."""
    names = list(SCHEMA.columns)
    columns = list(zip(*rows, strict=True))
    raw = tmp_path / "raw.parquet"
    cells = [[cell or None for cell in column] for column in columns]
    pq.write_table(
        pa.table({name: pa.array(column, pa.string()) for name, column in zip(names, cells, strict=True)}), raw
    )
    encode(raw, SCHEMA, dialect, tmp_path / "coded.parquet")
    connection = duckdb.connect()
    texts = {f"t{at}": pa.array(column, pa.string()) for at, column in enumerate(columns)}
    connection.register("texts", pa.table(texts | {"person": pa.array(range(len(rows)), pa.int64())}))
    found = [(one.column, one.spelled, one.place, one.kind) for one in listed(SCHEMA)]
    names_of = ("list", "spelled", "place", "kind")
    connection.register("lists", pa.table(dict(zip(names_of, map(list, zip(*found, strict=True)), strict=True))))
    sql = f"SELECT * FROM ({coding(SCHEMA, dialect, 'duckdb', ('person',))}) ORDER BY person"
    return pq.read_table(tmp_path / "coded.parquet"), connection.sql(sql).to_arrow_table()


def same(rows: list[list[str | None]], dialect: Dialect, tmp_path: Path) -> None:
    wanted, found = both(rows, dialect, tmp_path)
    for name in wanted.column_names:
        pairs = zip(wanted[name].to_pylist(), found[name].to_pylist(), rows, strict=True)
        assert [pair for pair in pairs if pair[0] != pair[1]] == [], name


@pytest.mark.every(9)
@pytest.mark.parametrize(
    "dialect", [Dialect(), Dialect(thousands=","), Dialect(decimal=",", thousands="."), Dialect(thousands=" ")]
)
def test_odd_cells_are_coded_as_from_a_file(dialect: Dialect, tmp_path: Path) -> None:
    same([[cell] * len(SCHEMA.columns) for cell in ODD], dialect, tmp_path)


def cell(chance: random.Random) -> str | None:
    """Any text: odd, near the declarations, or anything."""
    day = date.fromordinal(chance.choice((1, chance.randint(1, 3_652_059), chance.randint(729_000, 740_000))))
    return chance.choice(
        (
            chance.choice(ODD),
            str(chance.randint(-200, 2 * 10**9) / 1000),
            str(chance.randint(-(10**20), 10**20)),
            f"{day.day}.{day.month:02}.{day.year:04}",
            day.isoformat(),
            "".join(chance.choices("0123456789.,-+e /:TKranjPtujčŠ \t", k=chance.randint(0, 9))),
        )
    )


@pytest.mark.long
def test_random_tables_are_coded_as_from_a_file(tmp_path: Path) -> None:
    chance = random.Random()
    rows = [[cell(chance) for _ in SCHEMA.columns] for _ in range(1_000)]
    same(rows, Dialect(thousands=","), tmp_path)


def test_what_cannot_be_coded_there_is_refused_by_its_declaration() -> None:
    with pytest.raises(AllowanceError) as refused:
        refuse_uncodable(dp.Schema({"x": dp.Number(10**16, 10**16 + 10)}))
    assert refused.value.code == "source.in_place_fine"
    refuse_uncodable(SCHEMA)
    wide = dp.Schema({f"k{at}": dp.Number(0, 1) for at in range(MOST_IN_PLACE + 1)})
    refuse_uncodable(wide, "pyspark")
    with pytest.raises(AllowanceError) as refused:
        refuse_uncodable(wide)
    assert refused.value.code == "source.in_place_wide"
