"""The facade as a notebook uses it: the whole line from a table to an answer, and everything that may go wrong."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import dpengine as dp
from dpengine.workspace import Workspace
from tests.helpers_ledger import PATIENCE

SCHEMA = dp.Schema({"salary": dp.Number(1500, 4500), "state": dp.Category(["TX", "CA", "NY"])})
CANARY = "3217"


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    opened = Workspace(tmp_path / "var")
    yield opened
    opened.close()


@pytest.fixture
def people(tmp_path: Path) -> Path:
    path = tmp_path / "people.csv"
    rows = [f"{1500 + 7 * (i % 400)},{'TX' if i % 3 else 'CA'}" for i in range(999)]
    path.write_text("salary,state\n" + "\n".join([*rows, f"{CANARY},NY"]) + "\n", encoding="utf-8")
    return path


def add(workspace: Workspace, source: Any, name: str = "people", **changes: Any) -> dp.Table:
    given: dict[str, Any] = {
        "schema": SCHEMA,
        "unit": dp.Unit.rows(),
        "relation": "replace",
        "budget": dp.Budget(epsilon="1", delta="1e-6"),
    }
    return workspace.add_table(name, source, **(given | changes))


def test_the_line_of_the_contract(workspace: Workspace, people: Path) -> None:
    add(workspace, people)
    table = workspace.table("people")
    query = table.query("median", column="salary", epsilon="0.1", where=[["state", "in", ["TX"]]])
    preview = table.preview(query)
    assert preview.cost == Fraction(1, 10) and preview.admissible
    assert preview.share < Fraction(1, 50) and preview.unused_after == 1 - preview.share
    answer = table.ask(query, request_id="one")
    assert 1500 <= answer.value <= 4500 and answer.interval[0] <= answer.value <= answer.interval[1]
    assert answer.receipt["charge"]["hash"] and answer.promise == query.promise()
    assert table.ask(query, request_id="one").value == answer.value  # the same id is the same answer
    assert [one.value for one in table.recall(query)] == [answer.value]
    job = table.submit(table.query("count", where=[["state", "in", ["CA"]]], epsilon="0.1"), request_id="two")
    workspace.jobs.wait("two", PATIENCE)
    job = workspace.job("two")
    assert job.state == "done" and job.answer is not None and job.done == job.total == 1
    meter = table.meter()
    assert meter.spent_epsilon == Fraction(2, 10) and 0 < meter.used < Fraction(2, 10)
    assert set(meter.rules) == {"basic", "lecture", "zcdp"}
    assert meter.rules["basic"] == Fraction(2, 10) and meter.rules["zcdp"] < meter.rules["lecture"]
    assert workspace.verify_ledger().ok


def test_a_question_gets_the_nearest_noise_at_its_epsilon(workspace: Workspace, people: Path) -> None:
    table = add(workspace, people, relation="add_remove", about_rows=1_000, budget=dp.Budget("1", "0"))
    given = {"column": "salary", "epsilon": "0.1"}
    nearest, usual = table.query("mean", **given), table.query("mean", **given, noise="")
    assert (nearest.noise, usual.noise) == ("shared", "") and nearest.epsilon == usual.epsilon
    assert nearest.promise().amount < usual.promise().amount
    for place in range(10):  # ten of a tenth fit, as with the usual noise
        table.ask(table.query("mean", **given), request_id=f"r{place}")
    assert table.meter().spent_epsilon == 1
    assert [one.query.noise for one in table.recall(usual)][-1] == "shared", "found whatever its noise"


def test_the_charge_is_committed_before_the_data_is_read(workspace: Workspace, people: Path) -> None:
    table = add(workspace, people)
    read = workspace.engine.duck.read
    seen = []

    def watching(*args: Any) -> Any:
        seen.append(Workspace(workspace.folder).ledger.find("one"))  # another reader of the same file
        return read(*args)

    workspace.engine.duck.read = watching  # type: ignore[method-assign]
    table.ask(table.query("median", column="salary", epsilon="0.1"), request_id="one")
    assert seen[0] is not None and seen[0].outcome is None


def test_previews_forms_and_rehearsals_touch_no_data(workspace: Workspace, people: Path) -> None:
    table = add(workspace, people)

    def forbidden(*_: Any) -> Any:
        raise AssertionError("the data was read")

    workspace.engine.duck.read = forbidden  # type: ignore[method-assign]
    for file in (workspace.folder / "tables").rglob("*.parquet"):
        file.unlink()
    for key, parameters in QUESTIONS:
        query = table.query(key, epsilon="0.1", **parameters)
        assert table.preview(query).cost > 0 and query.sentence()
        assert table.recall(query) == []
    assert table.meter().charges == 0


QUESTIONS: list[tuple[str, dict[str, Any]]] = [
    ("count", {"where": [["state", "in", ["TX"]]]}),
    ("histogram", {"column": "state"}),
    ("histogram", {"column": "salary", "bins": 5}),
    ("median", {"column": "salary"}),
    ("quantile", {"column": "salary", "share": "0.9", "where": [["salary", ">", 4499]]}),
    ("top_item", {"column": "state", "where": [["salary", "<", 1501]]}),
]


def test_a_failure_after_the_charge_keeps_it_and_says_one_constant_sentence(
    workspace: Workspace, people: Path, caplog: pytest.LogCaptureFixture
) -> None:
    table = add(workspace, people)

    def broken(*_: Any) -> Any:
        raise RuntimeError(f"cannot convert {CANARY}")

    workspace.engine.duck.read = broken  # type: ignore[method-assign]
    query = table.query("median", column="salary", epsilon="0.1")
    with caplog.at_level(logging.DEBUG), pytest.raises(dp.AllowanceError) as failed:
        table.ask(query, request_id="lost")
    assert failed.value.code == "release.failed" and CANARY not in str(failed.value) + caplog.text
    assert failed.value.__cause__ is None and failed.value.__context__ is None
    assert table.meter().spent_epsilon == Fraction(1, 10)
    assert workspace.job("lost").state == "failed"
    assert table.recall(query) == []


def test_above_what_is_left_is_refused_and_spends_nothing(workspace: Workspace, people: Path) -> None:
    table = add(workspace, people)
    query = table.query("count", where=[["state", "in", ["TX"]]], epsilon="1.5")
    assert not table.preview(query).admissible
    with pytest.raises(dp.BudgetExceeded) as refused:
        table.ask(query)
    assert str(refused.value).endswith(".") and table.meter().spent_epsilon == 0
    for place in range(10):
        table.ask(table.query("count", where=[["state", "in", ["TX"]]], epsilon="0.1"), request_id=f"r{place}")
    assert table.meter().used == 1
    with pytest.raises(dp.BudgetExceeded):
        table.ask(table.query("count", where=[["state", "in", ["TX"]]], epsilon="0.0001"))


def test_the_same_content_joins_its_budget_and_the_first_cap_stays(
    workspace: Workspace, people: Path, tmp_path: Path
) -> None:
    first = add(workspace, people)
    first.ask(first.query("histogram", column="state", epsilon="0.4"))
    header, *rows = people.read_text().splitlines()
    shuffled = tmp_path / "again.csv"
    shuffled.write_text("\n".join([header, *reversed(rows)]) + "\n")
    other_schema = dp.Schema({"state": dp.Category(["TX", "CA"])})
    second = add(workspace, shuffled, "again", schema=other_schema, budget=dp.Budget(epsilon="50"))
    assert second.joined and second.budget.id == first.budget.id
    assert second.meter().epsilon == 1 and second.meter().spent_epsilon == first.meter().spent_epsilon > 0
    changed = tmp_path / "changed.csv"
    changed.write_text(people.read_text().replace(CANARY, "3218"))
    assert not add(workspace, changed, "changed").joined


def test_two_tables_can_share_a_budget_by_name(workspace: Workspace, people: Path) -> None:
    first = add(workspace, people)
    frame = pd.DataFrame({"salary": [1600, 1700, None], "state": ["TX", None, "zz"]})
    second = add(workspace, frame, "other", budget=first.budget.id)
    second.ask(second.query("histogram", column="state", epsilon="0.3"))
    assert first.meter().spent_epsilon == Fraction(3, 10)


def test_samples_have_a_practice_budget_per_visitor(workspace: Workspace) -> None:
    one, other = workspace.table("residents", visitor="a"), workspace.table("residents", visitor="b")
    assert one.practice and one.facts.about == 1000
    before = workspace.ledger.head()
    assert one.meter().charges == 0 and workspace.ledger.head() == before  # looking writes nothing
    one.ask(one.query("top_item", column="state", epsilon="0.5"))
    assert one.meter().spent_epsilon == Fraction(1, 2) and other.meter().spent_epsilon == 0
    assert workspace.table("residents", visitor="a").meter().spent_epsilon == Fraction(1, 2)
    assert workspace.tables() == []


REFUSALS: list[tuple[str, dict[str, Any]]] = [
    ("unit.missing", {"unit": None}),
    ("relation.unknown", {"relation": "maybe"}),
    ("facts.rows_needed", {"relation": "add_remove"}),
    ("facts.rows", {"relation": "add_remove", "about_rows": 0}),
    ("facts.rows", {"relation": "add_remove", "about_rows": 2.5}),
    ("budget.unknown", {"budget": "nobody"}),
    ("column.absent", {"schema": dp.Schema({"nobody": dp.Number(0, 1)})}),
    ("table.name", {"name": "   "}),
    ("table.exists", {"name": "town"}),
]


@pytest.mark.parametrize(("code", "changes"), REFUSALS, ids=lambda value: str(value)[:40])
def test_refusals_leave_nothing_behind(workspace: Workspace, people: Path, code: str, changes: dict[str, Any]) -> None:
    with pytest.raises(dp.AllowanceError) as refused:
        add(workspace, people, **changes)
    assert refused.value.code == code and str(refused.value).endswith(".")
    assert list((workspace.folder / "tables").iterdir()) == [] and workspace.tables() == []
    assert workspace.ledger.head()[0] == 0


@pytest.mark.parametrize("relation", ["replace", "add_remove"])
def test_one_other_person_changes_no_status_no_bar_and_no_message(tmp_path: Path, relation: str) -> None:
    """The whole line on neighbouring files: what appears is the same; a nasty row is a row like any other."""
    base = ["1600,TX", "1700,CA", "1800,TX", "2500,NY"]
    other_rows = ["4500,NY", ",?", "nan,zz", "inf,", "-1e9,TX", '"=1+1","<b>x</b>"', '"1,5","a;b"', "text,' OR 1=1 --"]
    appeared = []
    for number, last in enumerate([None, *other_rows] if relation == "add_remove" else other_rows[:3]):
        workspace = Workspace(tmp_path / f"var{number}")
        path = tmp_path / f"file{number}.csv"
        path.write_text("salary,state\n" + "\n".join(base + ([last] if last is not None else [])) + "\n")
        table = add(workspace, path, relation=relation, about_rows=5 if relation == "add_remove" else None)
        told: list[Any] = [table.facts, table.joined]
        for place, (key, parameters) in enumerate(QUESTIONS):
            query = table.query(key, epsilon="0.1", **parameters)
            preview = table.preview(query)
            answer = table.ask(query, request_id=f"q{place}")
            shape = list(answer.value) if isinstance(answer.value, dict) else type(answer.value).__name__
            receipt = answer.receipt
            told.append([preview, shape, sorted(receipt), receipt["claim"], receipt["loss"], receipt["price"]])
        told.append(table.meter())
        appeared.append(json.dumps(told, default=str, sort_keys=True))
        workspace.close()
    assert len(set(appeared)) == 1


def test_files_are_the_users_alone(workspace: Workspace, people: Path) -> None:
    table = add(workspace, people)
    table.ask(table.query("histogram", column="state", epsilon="0.1"))
    for path in [workspace.folder, *workspace.folder.rglob("*")]:
        assert path.stat().st_mode & 0o077 == 0, path
    secret = (workspace.folder / "secret").read_bytes()
    assert len(secret) == 32
    everything = b"".join(path.read_bytes() for path in workspace.folder.glob("ledger.sqlite*"))
    for record in workspace._registry.all():
        assert record.fingerprint.encode() not in everything and record.fingerprint not in record.folder


def test_an_answer_is_found_by_another_workspace_on_the_same_folder(workspace: Workspace, people: Path) -> None:
    table = add(workspace, people)
    answer = table.ask(table.query("histogram", column="state", epsilon="0.1"), request_id="kept")
    again = Workspace(workspace.folder)
    job = again.job("kept")
    assert job.answer is not None and job.answer.value == answer.value
    assert list(job.answer.value) == ["TX", "CA", "NY", "other", "no answer"]
    assert again.job("never").state == "unknown"
    again.close()


def test_a_query_of_another_table_is_refused(workspace: Workspace, people: Path) -> None:
    table = add(workspace, people)
    query = workspace.table("residents").query("top_item", column="state", epsilon="0.1")
    with pytest.raises(dp.AllowanceError, match="another table"):
        table.ask(query)
    with pytest.raises(dp.AllowanceError):
        table.query("no such thing", epsilon="0.1")


@pytest.mark.every(9)
@pytest.mark.parametrize("size", [2, 128, 129, 32768, 32769])
def test_no_value_makes_a_release_fail(workspace: Workspace, size: int) -> None:
    """Codes at both ends of grids around the widths in which they are stored: a failure would be an oracle."""
    schema = dp.Schema({"x": dp.Number(0, size - 1), "c": dp.Category(["a", "b"])})
    for name, value in (("low", 0), ("high", size - 1)):
        frame = pd.DataFrame({"x": [value] * 5, "c": ["a"] * 5})
        table = add(workspace, frame, name, schema=schema, budget=dp.Budget("50", "1e-6"))
        for key in ("mean", "sum", "variance", "median"):
            if key == "variance" and size > 10_000:
                continue
            answer = table.ask(table.query(key, column="x", epsilon="5"))
            assert answer.value is not None
        table.ask(table.query("mean", column="x", by="c", epsilon="5"))


def test_one_budget_never_mixes_relations_or_kinds(workspace: Workspace, people: Path) -> None:
    first = add(workspace, people)
    with pytest.raises(dp.AllowanceError) as refused:
        add(workspace, people, "again", relation="add_remove", about_rows=1000)
    assert refused.value.code == "budget.other_terms"
    other = pd.DataFrame({"salary": [1600], "state": ["TX"]})
    with pytest.raises(dp.AllowanceError) as refused:
        add(workspace, other, "named", relation="add_remove", about_rows=9, budget=first.budget.id)
    assert refused.value.code == "budget.other_terms"
    sample = workspace.table("residents")
    sample.ask(sample.query("top_item", column="state", epsilon="0.1"))
    with pytest.raises(dp.AllowanceError) as refused:
        add(workspace, other, "practised", budget=sample.budget.id)
    assert refused.value.code == "budget.practice"
    assert len(workspace.tables()) == 1


def test_what_a_killed_load_left_is_swept_and_a_damaged_secret_is_refused(workspace: Workspace, people: Path) -> None:
    add(workspace, people)
    orphan = workspace.folder / "tables" / "0123456789abcdef"
    orphan.mkdir()
    (orphan / "raw.parquet").write_bytes(b"rows")
    again = Workspace(workspace.folder)
    assert not orphan.exists() and again.table("people").facts.about == 1000
    again.close()
    (workspace.folder / "secret").write_bytes(b"")
    with pytest.raises(dp.AllowanceError, match="secret"):
        Workspace(workspace.folder)


def test_two_questions_never_share_a_name(workspace: Workspace, people: Path) -> None:
    table = add(workspace, people)
    near = ["1999.99999999999999999999", "2000.00000000000000000001"]
    names = {table.query("count", where=[["salary", "<", text]], epsilon="0.1").digest() for text in near}
    assert len(names) == 2
    fine = dp.Schema(
        {"x": dp.Number(1000, 1001, step="0.0001"), "c": dp.Category(["a × b", "a"]), "d": dp.Category(["c", "b × c"])}
    )
    other = add(workspace, pd.DataFrame({"x": [1000.0], "c": ["a"], "d": ["c"]}), "fine", schema=fine)
    for query in (
        other.query("histogram", column="x", bins=["1000", "1000.0002"], epsilon="0.1"),
        other.query("crosstab", columns=["c", "d"], epsilon="0.1"),
    ):
        assert len(set(query.labels())) == len(query.labels())
        assert len(other.ask(query).value) == len(query.labels())


def exact(table: dp.Table, query: dp.Query) -> Any:
    """The statistic behind a question, which nothing but a test may look at."""
    workspace = table._workspace
    return workspace.engine.duck.read(query.need(), workspace.coded(table._record), table.schema)


def test_rows_of_one_person_are_kept_by_their_own_content(workspace: Workspace, tmp_path: Path) -> None:
    """At most two rows each, blanks left out; file order and other people do not matter to which are kept."""
    rows = [f"p{person},{1500 + 10 * person + visit},TX" for person in range(40) for visit in range(person % 5 + 1)]
    rows += [",4500,NY", "  ,4400,NY"]
    schema, unit = SCHEMA, dp.Unit.column("who", at_most=2)
    kept = []
    for number, order in enumerate((rows, rows[::-1], [*rows[60:], *rows[:60], "stranger,4444,CA"])):
        path = tmp_path / f"visits{number}.csv"
        path.write_text("who,salary,state\n" + "\n".join(order) + "\n")
        table = add(workspace, path, f"visits{number}", schema=schema, unit=unit)
        assert table.facts.people == (41 if number == 2 else 40)
        kept.append(exact(table, table.query("histogram", column="salary", bins=1000, epsilon="1")))
        assert exact(table, table.query("count", people=True, where=[["state", "in", ["TX"]]], epsilon="1")) == 40
        by_state = exact(table, table.query("count", people=True, by="state", epsilon="1"))
        assert sum(by_state) == table.facts.people  # each of them once, in the one group they are in
    assert kept[0] == kept[1] and sum(kept[0]) == sum(min(person % 5 + 1, 2) for person in range(40))
    assert sum(abs(a - b) for a, b in zip(kept[0], kept[2], strict=True)) == 1  # the stranger's own row
    with pytest.raises(dp.AllowanceError, match="public"):
        table.query("count", people=True, epsilon="1")
    for wrong in (lambda: dp.Unit.column("who", at_most=0), lambda: dp.Unit.column(" ", at_most=1)):
        with pytest.raises(dp.AllowanceError):
            wrong()
    with pytest.raises(dp.AllowanceError) as refused:
        add(workspace, path, "none", schema=schema, unit=dp.Unit.column("nobody", at_most=2))
    assert refused.value.code == "column.absent"


def test_questions_nobody_meets_answer_like_any_other(workspace: Workspace, people: Path) -> None:
    table = add(workspace, people, budget=dp.Budget("50", "1e-6"))
    nobody = [["salary", "between", [4498, 4499]]]
    for key, parameters in (
        ("mean", {"column": "salary"}),
        ("median", {"column": "salary"}),
        ("variance", {"column": "salary"}),
        ("sum", {"column": "salary"}),
        ("proportion", {"of": [["state", "in", ["TX"]]]}),
        ("mean", {"column": "salary", "by": "state"}),
        ("median", {"column": "salary", "by": "state"}),
    ):
        answer = table.ask(table.query(key, where=nobody, epsilon="0.5", **parameters))
        assert answer.value is not None and answer.interval is not None


def test_suggestions_come_from_public_facts_and_are_worth_asking(workspace: Workspace) -> None:
    for name in ("town", "residents", "films", "clinic"):
        table = workspace.table(name)
        found = table.suggestions()
        asked = {(query.card.key, query.parameters().get("column")) for query in found}
        flags = [one for one in table.schema.of_kind(dp.Category) if len(table.schema.category(one).values) <= 2]
        assert not {("top_item", one) for one in flags} & asked  # a share says it better
        if name == "town":  # enough people for each group, for a twentieth of the allowance
            assert any(query.card.key == "mean" and query.parameters().get("by") for query in found)
        assert 3 <= len(found) <= 5 and len({query.digest() for query in found}) == len(found)
        told = [table.preview(query) for query in found]
        assert all(one.useful and one.admissible and one.share <= Fraction(1, 20) for one in told)


def test_a_question_that_is_picked_is_suggested_at_the_price_it_opens_with(workspace: Workspace) -> None:
    table = workspace.table("residents")
    picked = table.suggested("mean", column="salary")
    assert picked is not None and picked.parameters()["column"] == "salary"
    told = table.preview(picked)
    assert told.useful and told.share <= Fraction(1, 20)
    assert table.suggested("mean", column="nowhere") is None  # and nothing is refused aloud
