"""A long list of declared values stands in the ledger once, and every claim that names it reads as if it held it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import dpengine as dp
from dpengine.asking import receipts
from dpengine.ledger import long_lists, repeats
from dpengine.ledger.chain import START, hash_of, verify

MANY = [f"item {place}" for place in range(long_lists.LONG + 1)]
FEW = MANY[:-2]  # with “other” and “no answer” beside it still no long list


def made(folder: Path, values: list[str]) -> dp.Table:
    frame = pd.DataFrame({"item": (MANY * 3)[:2_000], "n": ["1"] * 2_000})
    schema = dp.Schema({"item": dp.Category(values, values[0], values[0]), "n": dp.Number(0, 9)})
    terms = {"schema": schema, "unit": dp.Unit.rows(), "budget": dp.Budget("100", "1e-6")}
    return dp.open_workspace(folder).add_table("T", frame, **terms)


def rows_of(table: dp.Table) -> list[dict[str, Any]]:
    return list(table._workspace.ledger.export_rows())


def forgotten() -> None:
    """As in a process that has read nothing yet."""
    long_lists._kept.clear()


def test_a_list_is_written_once_and_claims_read_whole(tmp_path: Path) -> None:
    table = made(tmp_path, MANY)
    asked = [table.ask(table.query("top_item", column="item", epsilon="0.5")) for _ in range(2)]
    table.ask(table.query("top_item", column="item", epsilon="1", where=[["n", ">=", 1]]))
    table.ask(table.query("count", epsilon="0.1", where=[["n", ">=", 1]]))
    rows = rows_of(table)
    assert [row["kind"] for row in rows].count("list") == 1
    assert all(len(row["body"]) < 6_000 for row in rows if row["kind"] == "charge")
    forgotten()
    for answer in asked:
        entry = table._workspace.ledger.find(answer.request_id)
        assert entry is not None and entry.charge.claim["bounds"]["item"]["values"] == MANY
    forgotten()
    assert table._workspace.verify_ledger().ok, "the index of answers follows from the chain, lists and all"
    forgotten()
    question = repeats.question_of(table.budget.id, "T", asked[0].receipt["claim"])
    with table._workspace.ledger._store.reading() as db:
        assert repeats.number(db, question) == 2


def test_a_receipt_holds_the_list_and_is_checked_against_the_rows_or_alone(tmp_path: Path) -> None:
    table = made(tmp_path, MANY)
    receipt = json.loads(json.dumps(table.ask(table.query("top_item", column="item", epsilon="0.5")).receipt))
    assert receipt["claim"]["bounds"]["item"]["values"] == MANY
    rows = rows_of(table)
    forgotten()
    assert [one.code for one in receipts.check([receipt], rows)] == ["verify.fine"]
    receipt["claim"]["bounds"]["item"]["values"][7] = "another"
    assert [one.code for one in receipts.check([receipt], rows)] == ["verify.differs"]


def test_a_step_of_a_session_names_the_list_too(tmp_path: Path) -> None:
    table = made(tmp_path, MANY)
    session = table.open_session(table.query("adaptive_session", questions=2, epsilon="1"), "s")
    session.ask({"share": [["item", "in", MANY[:3]]]}, "first")
    steps = [row for row in rows_of(table) if row["kind"] == "step"]
    assert len(steps) == 1 and len(steps[0]["body"]) < 6_000
    forgotten()
    assert table._workspace.verify_ledger().ok


def test_a_short_list_stays_in_its_claim(tmp_path: Path) -> None:
    table = made(tmp_path, FEW)
    table.ask(table.query("top_item", column="item", epsilon="0.5"))
    rows = rows_of(table)
    assert "list" not in {row["kind"] for row in rows}
    charge = next(row for row in rows if row["kind"] == "charge")
    assert json.loads(charge["body"])["claim"]["bounds"]["item"]["values"] == FEW


def chained(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows with numbers, links and hashes made anew: as somebody who edits a ledger would leave it."""
    last, again = START, []
    for seq, row in enumerate(rows, start=1):
        row = row | {"seq": seq, "prev": last}
        row["hash"] = last = hash_of(row)
        again.append(row)
    return again


@pytest.mark.parametrize(
    ("edit", "why"),
    [
        (lambda row: [row | {"body": row["body"].replace("item 7", "another")}], "chain.form"),
        (lambda row: [row, row], "chain.twice"),
        (lambda row: [], "chain.orphan"),
        (lambda row: [row | {"body": "{}"}], "chain.form"),
    ],
)
def test_a_list_that_is_edited_repeated_or_gone_breaks_the_verdict(tmp_path: Path, edit: Any, why: str) -> None:
    table = made(tmp_path, MANY)
    table.ask(table.query("top_item", column="item", epsilon="0.5"))
    rows = rows_of(table)
    assert verify(chained(rows)).ok
    place = next(place for place, row in enumerate(rows) if row["kind"] == "list")
    verdict = verify(chained([*rows[:place], *edit(rows[place]), *rows[place + 1 :]]))
    assert not verdict.ok and verdict.why == why


def test_a_label_that_looks_like_a_name_of_a_list_is_a_label() -> None:
    trick = '"values":{"listed":"' + "0" * 64 + '"}'
    body = json.dumps({"claim": {"bounds": {"x": {"kind": "category", "values": [trick]}}}}, separators=(",", ":"))
    assert list(long_lists.named_in(body)) == []
    claim = {"bounds": {"x": {"kind": "category", "values": [trick] * 3}}}
    assert long_lists.folded(claim) == (claim, {}) and long_lists.whole(claim) == claim
