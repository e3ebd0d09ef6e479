"""Wrong twins of one row a person and of two joined files: rows that are dropped, or that depend on other people."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
from helpers_load import SECRET

import dpengine as dp
from dpengine.declared.dialect import Dialect
from dpengine.intake import person_rows, rows_per_person
from dpengine.intake.bring_in import Declared
from dpengine.intake.join_files import load_joined
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
        person_rows.summarise(raw, loaded.columns, Declared(SCHEMA, unit, Dialect(), SECRET), given, made)
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


def joined_rows(rows: Rows, everybody: bool = True) -> Counter[str]:
    """How many joined rows each person has; p0 has no events, and nobody knows p9."""
    with tempfile.TemporaryDirectory() as folder:
        events, people = Path(folder) / "events.csv", Path(folder) / "people.csv"
        pd.DataFrame(rows, columns=["who", "cost"]).to_csv(events, index=False)
        pd.DataFrame({"id": [f"p{person}" for person in range(4)], "age": [30] * 4}).to_csv(people, index=False)
        source = dp.Joined(events, people, ("who", "id"), everybody=everybody)
        load_joined(source, Path(folder) / "raw.parquet", SECRET)
        return Counter(row["who"] for row in pq.read_table(Path(folder) / "raw.parquet").to_pylist())


def of_both_alone(rows: Rows) -> Counter[str]:
    """Only ids that are in both files: an inner join."""
    known = {f"p{person}" for person in range(4)} & {who for who, _ in rows}
    return Counter({who: many for who, many in joined_rows(rows).items() if who in known})


def check_a_join_drops_nobody(join: Callable[[Rows], Counter[str]]) -> None:
    events: Rows = [("p1", 1), ("p1", 2), ("p2", 3), ("p9", 4)]
    assert join(events) == Counter({"p0": 1, "p1": 2, "p2": 1, "p3": 1, "p9": 1}), "the join drops people"


PLANTED = [
    Planted(
        "a join that drops",
        "Only people in both files are kept.",
        check_a_join_drops_nobody,
        "drops people",
        joined_rows,
        of_both_alone,
    ),
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
