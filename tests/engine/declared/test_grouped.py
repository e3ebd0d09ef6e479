"""A column told in groups: every code is in the group that the calendar or the edges say, on every engine."""

from __future__ import annotations

import random
from datetime import date, timedelta
from itertools import product
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dpengine as dp
from dpengine.declared.conditions import read_predicate
from dpengine.declared.facts import Facts
from dpengine.declared.grouped import Grouped
from dpengine.declared.read_group import MOST_GROUPS, read_group
from dpengine.declared.schema import MISSING, Category, Number, Schema
from dpengine.declared.unit import Unit
from dpengine.mechanisms import catalogue
from dpengine.messages.language import speaking
from dpengine.statistics.counts import CellCounts, GroupDistributions, HitCounts, Moments, RowCount
from dpengine.statistics.engines.duck import DuckEngine

FIRST = date(2019, 2, 27)
SCHEMA = Schema(
    {
        "visited": dp.Date(FIRST, "2024-11-15"),
        "age": Number(18, 99),
        "height": Number(-1, 1, step="0.25", missing=0),
        "town": Category(["A", "B"]),
    }
)
DAYS = [{"column": "visited", "by": rule} for rule in ("month", "quarter", "year", "weekday", "month_of_year")]
NUMBERS = [
    {"column": "age", "step": 10},
    {"column": "age", "edges": [18, "30", 65]},
    {"column": "height", "step": "0.5"},
    {"column": "height", "edges": ["0.1"]},
]


def _facts() -> Facts:
    return Facts("t", SCHEMA, Unit.rows(), "replace", 1000)


def test_every_day_is_in_the_group_the_calendar_says() -> None:
    column = SCHEMA["visited"]
    told = {
        "month": lambda day: f"{day:%Y-%m}",
        "quarter": lambda day: f"{day.year}-Q{(day.month + 2) // 3}",
        "year": lambda day: str(day.year),
        "weekday": lambda day: f"{day:%A}",
        "month_of_year": lambda day: f"{day:%B}",
    }
    for rule, name in told.items():
        group = read_group({"column": "visited", "by": rule}, SCHEMA)
        for code in range(column.size):
            assert group.labels[group.of(code)] == name(FIRST + timedelta(days=code))
        assert group.of(MISSING) == MISSING
        assert group.size == {"month": 70, "quarter": 24, "year": 6, "weekday": 7, "month_of_year": 12}[rule]


def test_numbers_fall_between_the_edges() -> None:
    assert read_group(NUMBERS[0], SCHEMA).labels[:3] == ("18–19", "20–29", "30–39")
    assert read_group(NUMBERS[1], SCHEMA).labels == ("18–29", "30–64", "65–99")
    assert read_group(NUMBERS[2], SCHEMA).labels == ("-1–-0.75", "-0.5–-0.25", "0–0.25", "0.5–0.75", "1")
    assert read_group(NUMBERS[3], SCHEMA).labels == ("-1–0", "0.25–1")


@pytest.mark.parametrize(
    "given",
    [
        {"column": "visited", "by": "hour"},
        {"column": "visited", "step": 10},
        {"column": "age", "by": "month"},
        {"column": "age", "step": 0},
        {"column": "age", "step": "0.1"},
        {"column": "age", "step": 1000},
        {"column": "age", "edges": [30, 20]},
        {"column": "age", "edges": []},
        {"column": "age", "edges": [10]},
        {"column": "age", "step": 10, "by": "month"},
        {"column": "town", "step": 1},
        {"column": "no such", "by": "month"},
        {"column": ["age"], "step": 1},
        {"by": "month"},
        {},
        7,
    ],
)
def test_what_cannot_be_grouped_is_refused_in_a_sentence(given: object) -> None:
    with pytest.raises(dp.AllowanceError):
        read_group(given, SCHEMA)
    with pytest.raises(dp.AllowanceError):
        catalogue["mean"].build(_facts(), {"column": "height", "by": given, "epsilon": 1})


def test_there_are_never_very_many_groups() -> None:
    long = Schema({"d": dp.Date("0001-01-01", "9999-12-31")})
    for rule in ("month", "quarter", "year", "month_of_year"):
        with pytest.raises(dp.AllowanceError):
            read_group({"column": "d", "by": rule}, long)
    assert read_group({"column": "d", "by": "weekday"}, long).size == 7
    most = Schema({"d": dp.Date("1600-01-01", "1999-12-31")})
    assert read_group({"column": "d", "by": "year"}, most).size == MOST_GROUPS


@pytest.mark.every(3)
@pytest.mark.parametrize("given", DAYS + NUMBERS, ids=str)
def test_the_engine_reads_what_the_reference_says(given: Any, tmp_path: Path) -> None:
    source, rows = random.Random(5), []  # public made-up rows: the seed hides nothing
    for _ in range(200):
        visited = source.choice([MISSING, *range(SCHEMA["visited"].size)])
        age = source.choice([MISSING, *range(SCHEMA["age"].size)])
        rows.append({"visited": visited, "age": age, "height": source.randrange(9), "town": source.randrange(4)})
    rows += [{"visited": MISSING, "age": MISSING, "height": 0, "town": 0}] * 5
    columns = {f"c{at}": pa.array([row[name] for row in rows]) for at, name in enumerate(SCHEMA.columns)}
    pq.write_table(pa.table(columns), tmp_path / "coded-1.parquet")
    engine = DuckEngine()
    group = read_group(given, SCHEMA)
    where = read_predicate([[given, "not in", [group.labels[0], group.labels[-1]]]], SCHEMA)
    needs = [
        CellCounts((group, "town"), (group.size, 4)),
        CellCounts((group,), (group.size,), where),
        HitCounts(where, group, group.size),
        Moments("height", 9, 2, group, group.size),
        GroupDistributions("height", 9, group, group.size),
        RowCount(where),
    ]
    for need in needs:
        found, meant = engine.read(need, tmp_path / "coded-1.parquet", SCHEMA), need.of(rows)
        if isinstance(need, GroupDistributions):
            found, meant = ([(list(one.codes), list(one.counts)) for one in spreads] for spreads in (found, meant))
        assert found == meant, (given, type(need).__name__)


def test_a_question_keeps_its_groups_in_its_parameters() -> None:
    """…and one about a column itself is stored as it always was."""
    for key, more in (("count", {}), ("mean", {"column": "height"}), ("proportion", {"of": [["age", ">=", 30]]})):
        for given in DAYS + NUMBERS:
            asked = {"by": given, "where": [[given, "=", read_group(given, SCHEMA).labels[0]]], "epsilon": 1} | more
            query = catalogue[key].build(_facts(), asked)
            again = catalogue[key].build(_facts(), query.parameters())
            assert again == query
            assert again.digest() == query.digest()
            assert query.valued() >= {given["column"]}
            assert query.cells()[1] == [(label,) for label in query.labels()]
    plain = catalogue["count"].build(_facts(), {"by": "town", "epsilon": 1})
    assert plain.parameters() == {"epsilon": "1", "by": "town"}


def test_groups_of_one_column_written_two_ways_are_one_question() -> None:
    one, other = (
        catalogue["histogram"].build(_facts(), {"column": {"column": "age", "edges": edges}, "epsilon": 1})
        for edges in ([30, 65], ["30.0", 65.0])
    )
    assert one.digest() == other.digest()


def test_labels_are_stored_plainly_and_shown_in_the_readers_language() -> None:
    group = read_group({"column": "visited", "by": "month"}, SCHEMA)
    with speaking("sl"):
        assert read_group({"column": "visited", "by": "month"}, SCHEMA) == group
        assert group.shown()["2024-10"] == "oktober 2024"
        weekdays = catalogue["count"].build(_facts(), {"by": {"column": "visited", "by": "weekday"}, "epsilon": 1})
        assert weekdays.labels()[0] == "Monday"
        assert weekdays.shown()["Monday"] == "ponedeljek"
        rows = [[{"column": "visited", "by": "weekday"}, "in", ["Saturday", "Sunday"]]]
        some = catalogue["count"].build(_facts(), {"where": rows, "epsilon": 1})
        assert "sobota ali nedelja" in some.sentence()
    assert "weekday of visited is Saturday or Sunday" in some.sentence()
    assert "by weekday of visited" in weekdays.sentence()


def test_a_crosstab_of_groups_names_every_cell() -> None:
    asked = {"columns": ["town", {"column": "visited", "by": "quarter"}], "epsilon": 1}
    query = catalogue["crosstab"].build(_facts(), asked)
    names, cells = query.cells()
    assert names == ("town", "quarter of visited")
    assert cells == list(product(("A", "B", "other", "no answer"), read_group(asked["columns"][1], SCHEMA).labels))
    assert query.shown()["A × 2024-Q4"] == "A × Q4 2024"
    assert isinstance(query.columns[1], Grouped)


def test_amounts_have_signs_between_thousands_and_years_have_none() -> None:
    schema = Schema({"gain": dp.Number(0, 20_000, 100), "born": dp.Number(1900, 2029)})
    gains = read_group({"column": "gain", "step": 5_000}, schema).shown()
    assert list(gains.values())[:2] == ["0–4,900", "5,000–9,900"]
    born = read_group({"column": "born", "step": 10}, schema).shown()
    assert next(iter(born.values())) == "1900–1909"
