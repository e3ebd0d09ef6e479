"""One row a person equals pandas on random tables; one person's records change that person's row alone."""

from __future__ import annotations

import random
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet as pq
import pytest

import dpengine as dp
from dpengine.core.errors import AllowanceError
from dpengine.declared.dialect import Dialect
from dpengine.declared.summary import KINDS, read_summaries
from dpengine.intake.bring_in import Declared
from dpengine.intake.load import load
from dpengine.intake.person_rows import summarise

SECRET = b"k" * 32
WAYS = ("bus", "car", "tram")
SCHEMA = dp.Schema(
    {
        "cost": dp.Number(0, 50, "0.5"),
        "way": dp.Category(WAYS),
        "day": dp.Date("2024-01-01", "2024-12-31", "ymd"),
    }
)
SUMMARIES = {
    "visits": dp.Summary("count", lower=0, upper=100),
    "dated": dp.Summary("count", "day", lower=0, upper=100),
    "ways told": dp.Summary("count", "way", lower=0, upper=100),
    "costs told": dp.Summary("count", "cost", lower=0, upper=100),
    "by bus": dp.Summary("any", "way", value="bus"),
    "paid": dp.Summary("sum", "cost", lower=0, upper=500, step="0.5"),
    "usual cost": dp.Summary("mean", "cost", step="0.25"),
    "cheapest": dp.Summary("least", "cost"),
    "dearest": dp.Summary("most", "cost"),
    "first way": dp.Summary("first", "way", by="day"),
    "last cost": dp.Summary("last", "cost", by="day"),
    "mostly": dp.Summary("frequent", "way"),
}


def table(chance: random.Random, people: int) -> list[dict[str, Any]]:
    rows = []
    for person in range(people):
        for _ in range(chance.choice([1, 1, 2, 5, 12])):
            cost = chance.choice([None, *range(0, 101)])
            rows.append(
                {
                    "who": chance.choice([f"p{person}", f" p{person} "]),
                    "cost": None if cost is None else cost / 2,
                    "way": chance.choice([*WAYS, None, "ship"]),
                    "day": chance.choice([None, f"2024-{chance.randint(1, 12):02}-{chance.randint(1, 28):02}"]),
                }
            )
    rows += [{"who": None, "cost": 1.0, "way": "bus", "day": None}]  # nobody's
    chance.shuffle(rows)
    return rows


def ours(rows: list[dict[str, Any]], folder: Path, summaries: dict[str, dp.Summary] = SUMMARIES) -> dict[str, Any]:
    columns = {name: [row[name] for row in rows] for name in ("who", "cost", "way", "day")}
    raw, made = folder / "raw.parquet", folder / "people.parquet"
    loaded = load(pd.DataFrame(columns), Dialect(), raw, SECRET)
    declared = Declared(SCHEMA, dp.Unit.column("who", 1), Dialect(), SECRET)
    summarise(raw, loaded.columns, declared, summaries, made)
    found = {row["who"].strip(): row for row in pq.read_table(made).to_pylist()}
    assert len(found) == pq.read_metadata(made).num_rows  # one row each
    return {who: {name: row[name] for name in summaries} for who, row in found.items()}


def by_pandas(rows: list[dict[str, Any]]) -> dict[str, Any]:
    frame = pd.DataFrame(rows)
    frame = frame[frame["who"].notna()]
    frame["who"] = frame["who"].str.strip()
    frame["label"] = frame["way"].map(lambda way: "no answer" if way is None or way != way else way)
    frame["label"] = frame["label"].replace("ship", "other")
    order = [*WAYS, "other", "no answer"]
    found = {}
    for who, own in frame.groupby("who"):
        costs = own["cost"].dropna()
        dated = own[own["day"].notna()]
        dated = dated.assign(place=[order.index(label) for label in dated["label"]])
        first = dated.sort_values(["day", "place"])["label"]
        last = dated[dated["cost"].notna()].sort_values(["day", "cost"], ascending=[False, True])["cost"]
        ways = Counter(own["label"][own["label"] != "no answer"])
        mostly = min(ways, key=lambda way: (-ways[way], order.index(way))) if ways else None
        mean = None if costs.empty else Fraction(str(costs.sum())) / len(costs)
        found[str(who)] = {
            "visits": str(len(own)),
            "dated": str(own["day"].count()),
            "ways told": str(own["way"].count()),
            "costs told": str(own["cost"].count()),
            "by bus": "yes" if (own["way"] == "bus").any() else "no",
            "paid": None if costs.empty else f"{costs.sum():g}",
            "usual cost": None if mean is None else f"{float(round(mean * 4) / Fraction(4)):g}",
            "cheapest": None if costs.empty else f"{costs.min():g}",
            "dearest": None if costs.empty else f"{costs.max():g}",
            "first way": None if first.empty else first.iloc[0],
            "last cost": None if last.empty else f"{last.iloc[0]:g}",
            "mostly": mostly,
        }
    return found


def test_every_summary_is_here() -> None:
    assert {summary.kind for summary in SUMMARIES.values()} == {*KINDS}


@pytest.mark.long
@pytest.mark.parametrize("tables", [8, pytest.param(200, marks=pytest.mark.long)])
def test_random_tables_equal_pandas(tables: int, tmp_path: Path) -> None:
    chance = random.SystemRandom()
    for _ in range(tables):
        rows = table(chance, chance.randint(1, 6))
        assert ours(rows, tmp_path) == by_pandas(rows), rows


def test_one_persons_records_change_that_persons_row_alone(tmp_path: Path) -> None:
    chance = random.SystemRandom()
    for _ in range(2):
        rows = table(chance, 5)
        before = ours(rows, tmp_path)
        others = [row for row in rows if row["who"] is None or row["who"].strip() != "p2"]
        mine = [row | {"who": "p2"} for row in table(chance, 3) if row["who"]]
        after = ours([*others, *mine], tmp_path)
        assert {who: row for who, row in before.items() if who != "p2"} == {
            who: row for who, row in after.items() if who != "p2"
        }
        gone = ours(others, tmp_path)
        assert gone == {who: row for who, row in before.items() if who != "p2"}


def added(workspace: dp.Workspace, rows: list[dict[str, Any]], unit: dp.Unit, name: str = "trips") -> dp.Table:
    given: dict[str, Any] = {"schema": SCHEMA, "unit": unit, "budget": dp.Budget("50", "1e-6")}
    return workspace.add_table(name, pd.DataFrame(rows), **given)


def test_it_spends_the_same_allowance_with_one_row_each(tmp_path: Path) -> None:
    rows = table(random.SystemRandom(), 40)
    workspace = dp.open_workspace(tmp_path / "home")
    visits = added(workspace, rows, dp.Unit.column("who", 3))
    visits.ask(visits.query("count", epsilon="1"))
    people = workspace.one_row_a_person("trips", "travellers", SUMMARIES)
    assert people.budget.id == visits.budget.id and people.meter().unused < 1
    assert people.facts.unit.at_most == 1 and people.facts.people == visits.facts.people == 40
    assert people.facts.said_rows is None  # words say people
    mean = people.query("mean", column="visits", epsilon="1")
    rough = visits.query("mean", column="cost", epsilon="1")
    assert mean.loss().epsilon == rough.loss().epsilon
    answer = people.ask(people.query("mean", column="visits", epsilon="20"))
    exact = sum(1 for row in rows if row["who"]) / 40
    assert abs(float(answer.value) - exact) < 100 * 20 / 20 / 40 * 2  # 1 in e^40
    assert not [path for path in (tmp_path / "home" / "tables").rglob(".*") if path.is_dir()]
    workspace.seal("trips")
    assert workspace.closed().keys() == {"trips", "travellers"}


def test_a_sealed_or_single_or_sample_table_is_one_sentence(tmp_path: Path) -> None:
    workspace = dp.open_workspace(tmp_path / "home")
    rows = table(random.SystemRandom(), 4)
    added(workspace, rows, dp.Unit.rows())
    for name, code in (("trips", "summary.one_row"), ("visits", "act.practice"), ("none", "table.unknown")):
        with pytest.raises(AllowanceError) as refusal:
            workspace.one_row_a_person(name, "made", SUMMARIES)
        assert refusal.value.code == code
    workspace.seal("trips")
    with pytest.raises(AllowanceError) as refusal:
        workspace.one_row_a_person("trips", "made", SUMMARIES)
    assert refusal.value.code == "table.closed"


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"kind": "median", "column": "cost"}, "summary.kind"),
        ({"kind": "sum"}, "summary.column"),
        ({"kind": "count"}, "summary.range"),
        ({"kind": "count", "column": "filled", "lower": 0, "upper": 9}, "summary.counted"),
        ({"kind": "count", "column": "whole", "lower": 0, "upper": 9}, "summary.counted"),
        ({"kind": "sum", "column": "cost"}, "summary.range"),
        ({"kind": "first", "column": "cost"}, "summary.by"),
        ({"kind": "any", "column": "way", "value": "ship"}, "summary.value"),
        ({"kind": "frequent", "column": "cost"}, "summary.frequent"),
        ({"kind": "mean", "column": "way"}, "column.wrong_kind"),
    ],
)
def test_what_no_summary_can_be_is_one_sentence(given: dict[str, Any], code: str) -> None:
    whole = dp.Category(["a", "b"], complete=True, unknown="a", missing="b")
    more = {"filled": dp.Number(0, 9, missing=0), "whole": whole}
    with pytest.raises(AllowanceError) as refusal:
        read_summaries({"x": dp.Summary(**given)}, dp.Schema({**SCHEMA.columns, **more}), "who")
    assert refusal.value.code == code


def test_a_table_needs_a_summary_and_its_own_names() -> None:
    for given, code in (({}, "summary.none"), ({"who": SUMMARIES["visits"]}, "summary.name")):
        with pytest.raises(AllowanceError) as refusal:
            read_summaries(given, SCHEMA, "who")
        assert refusal.value.code == code
