"""The address of a table in a database: read strictly, and its password told to nobody."""

from __future__ import annotations

import traceback

import pytest

import dpengine as dp
from dpengine.core.errors import AllowanceError

PASSWORD = "s3cr3t-hor$e"


def test_an_address_is_read_and_its_password_is_never_shown() -> None:
    source = dp.Source("postgresql://ana:s3cr3t-hor%24e@DB.Example.org./care?sslmode=require", table=' care."Visits" ')
    assert (source.host, source.port, source.database, source.user) == ("db.example.org", 5432, "care", "ana")
    assert source.password == PASSWORD and source.encrypted == "require" and source.names == ("care", "Visits")
    assert source == dp.Source("postgres://ana@db.example.org/care?sslmode=require", 'care."Visits"', password=PASSWORD)
    for shown in (repr(source), str(source), source.shown, f"{source}"):
        assert "s3cr3t" not in shown and "db.example.org" in shown
    again = dp.Source.from_kept(source.described((("age", "integer"),)).kept())
    assert again == source and again.seen == (("age", "integer"),)


@pytest.mark.parametrize(
    "address",
    [
        "",
        "visits.csv",
        "mysql://ana:s3cr3t@host/care",
        "postgresql://ana:s3cr3t@/care",
        "postgresql://ana:s3cr3t@host/",
        "postgresql://host/care",
        "postgresql://ana:s3cr3t@one,two/care",
        "postgresql://ana:s3cr3t@host:port/care",
        "postgresql://ana:s3cr3t@host/care?sslmode=none",
        "postgresql://ana:s3cr3t@host/care?passfile=/etc/passwd",
        "postgresql://ana:s3cr3t@host/care?host=/var/run",
        "postgresql://ana:s3cr3t@host/care?service=other",
        "postgresql://ana:s3cr3t@host/care#s3cr3t",
        "postgresql://ana:s3cr3t@host/care/more",
        "postgresql://ana:s3cr3t\n@host/care",
        "postgresql://ana:%ff%fe@host/care",
    ],
)
def test_any_other_address_is_refused_without_a_word_of_it(address: str) -> None:
    with pytest.raises(AllowanceError) as refused:
        dp.Source(address, table="visits")
    told = "".join(traceback.format_exception(refused.value)[-1:]) + str(refused.value)
    assert refused.value.code == "source.address" and "s3cr3t" not in told


@pytest.mark.parametrize("table", ["", ".", "a.b.c", "care.", '"care', 'care."', "a..b", "x\ny"])
def test_a_table_has_a_name(table: str) -> None:
    with pytest.raises(AllowanceError) as refused:
        dp.Source("postgresql://ana@host/care", table=table)
    assert refused.value.code == "source.table"


def test_a_lake_is_a_path_and_the_spark_that_reads_it() -> None:
    lake = dp.Source("spark", path="/data/visits/../visits/*.parquet")
    assert lake.spark == "local[2]" and lake.in_place and lake.lake_place() == ("spark", "/data/visits/*.parquet")
    assert dp.Source("sc://spark.example.org:15002", path="s3://lake/visits").lake_place() == (
        "spark",
        "s3://lake/visits",
    )
    assert dp.Source.from_kept(lake.kept()) == lake and "visits" in repr(lake)
    for given in (
        {},
        {"path": ""},
        {"path": "a\nb"},
        {"path": "/data", "table": "visits"},
        {"path": "/d", "password": "x"},
        {"table": "visits", "password": "x"},
    ):
        with pytest.raises(AllowanceError) as refused:
            dp.Source("spark", **given)  # type: ignore[arg-type]
        assert refused.value.code == "source.path"
    table = dp.Source("spark", table="Lake.care.visits", snapshot=7)  # type: ignore[arg-type]
    assert table.lake_place() == ("spark table", "lake", "care", "visits") == table.newest().lake_place()
    assert dp.Source.from_kept(table.kept()) == table and "snapshot='7'" in repr(table) and not table.newest().snapshot
    for given, code in (
        ({"path": "/data", "snapshot": "7"}, "source.snapshot"),
        ({"table": "visits", "snapshot": "7'; --"}, "source.snapshot"),
        ({"table": "a.b.c.d"}, "source.table"),
    ):
        with pytest.raises(AllowanceError) as refused:
            dp.Source("spark", **given)  # type: ignore[arg-type]
        assert refused.value.code == code
    for address in ("spark://a,b:7077", "sc://host/;token=x", "local[*]", "yarn", "sc://host:65536"):
        with pytest.raises(AllowanceError) as refused:
            dp.Source(address, path="/data")
        assert refused.value.code == "source.address"


def test_a_place_is_the_same_whoever_reads_it() -> None:
    one = dp.Source("postgresql://ana:a@LOCALHOST/care", "visits").place("public", "visits")
    assert one == dp.Source("postgresql://bor:b@127.0.0.1:5432/care", "Visits").place("public", "visits")
    assert one != dp.Source("postgresql://ana@localhost:5433/care", "visits").place("public", "visits")
    assert one != dp.Source("postgresql://ana@localhost/other", "visits").place("public", "visits")
