"""Wrong twins of one row a person: a summary that drops a person's further rows, or looks at other people."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
from helpers_load import SECRET

import dpengine as dp
from dpengine.declared.dialect import Dialect
from dpengine.intake import person_rows, rows_per_person
from dpengine.intake.load import load
from tests.planted.registry import Planted

Rows = list[tuple[str, int]]
Summarise = Callable[[Rows], dict[str, str]]
ROWS: Rows = [(f"p{person}", cost) for person in range(4) for cost in range(1, 3 * person + 2)]
SCHEMA = dp.Schema({"cost": dp.Number(0, 100)})


def from_all_rows(rows: Rows) -> dict[str, str]:
    with tempfile.TemporaryDirectory() as folder:
        raw, made = Path(folder) / "raw.parquet", Path(folder) / "made.parquet"
        frame = pd.DataFrame({"who": [who for who, _ in rows], "cost": [cost for _, cost in rows]})
        loaded = load(frame, Dialect(), raw, SECRET)
        given = {"paid": dp.Summary("sum", "cost", lower=0, upper=1_000)}
        unit = dp.Unit.column("who", 3)
        person_rows.summarise(raw, loaded.columns, unit, SCHEMA, Dialect(), SECRET, given, made)
        return {row["who"]: row["paid"] for row in pq.read_table(made).to_pylist()}


def from_three_rows(rows: Rows) -> dict[str, str]:
    """As for questions about rows: the declared number of each person."""
    keep = rows_per_person.keep_rows

    def capped(*given: object, every: bool = False) -> int:
        return keep(*given)  # type: ignore[arg-type]

    before, person_rows.keep_rows = person_rows.keep_rows, capped
    try:
        return from_all_rows(rows)
    finally:
        person_rows.keep_rows = before


def beside_the_mean(rows: Rows) -> dict[str, str]:
    """Each total less the mean of all: one person's record moves every row."""
    totals = {who: int(paid) for who, paid in from_all_rows(rows).items()}
    mean = sum(totals.values()) // len(totals)
    return {who: str(total - mean) for who, total in totals.items()}


def check_a_summary_is_of_all_own_rows(summarise: Summarise) -> None:
    found = summarise(ROWS)
    changed = summarise([row for row in ROWS if row[0] != "p3"] + [("p3", 99)])
    others = [who for who in found if who != "p3" and found[who] != changed[who]]
    assert not others, f"one person's records change the rows of others: {others}"
    totals = {who: str(sum(cost for other, cost in ROWS if other == who)) for who, _ in ROWS}
    assert found == totals, "a person's further rows are dropped"


PLANTED = [
    Planted(
        "a summary that caps",
        "One row a person is made of three rows of each.",
        check_a_summary_is_of_all_own_rows,
        "further rows are dropped",
        from_all_rows,
        from_three_rows,
    ),
    Planted(
        "a summary beside others",
        "A person's row says how far it is from the mean of all.",
        check_a_summary_is_of_all_own_rows,
        "rows of others",
        from_all_rows,
        beside_the_mean,
    ),
]
