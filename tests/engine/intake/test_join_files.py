"""Two files, one table: equal to pandas on random pairs; one person's records change that person's rows alone."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet as pq
import pytest
from helpers_people import office

import dpengine as dp
from dpengine.accountant.filter import used
from dpengine.accountant.group import for_group
from dpengine.accountant.history import Past
from dpengine.core.errors import AllowanceError
from dpengine.core.exact import up
from dpengine.declared.dialect import Dialect
from dpengine.intake.join_files import load_joined
from dpengine.ledger.rows import standing_of

SECRET = b"k" * 32
Rows = list[dict[str, Any]]


def files(chance: random.Random) -> tuple[Rows, Rows]:
    """Events, and people, some in one file alone; ids with spaces, empty ids; no id twice among people."""
    ids = [f"p{number}" for number in range(chance.randint(1, 6))]
    events = [
        {"patient": chance.choice([who, f" {who} ", ""]), "cost": str(chance.randint(0, 9)), "sex": chance.choice("ab")}
        for who in ids
        for _ in range(chance.randint(0, 3))
    ]
    people = [{"id": who, "sex": chance.choice(["f", "m", ""]), "age": str(chance.randint(1, 9))} for who in ids[1:]]
    people += [{"id": f"q{number}", "sex": "f", "age": "3"} for number in range(chance.randint(0, 2))]
    return events or [{"patient": "p0", "cost": "1", "sex": "a"}], people or [{"id": "p0", "sex": "f", "age": "1"}]


def joined(folder: Path, events: Rows, people: Rows, everybody: bool = True) -> Counter[tuple[str, ...]]:
    pd.DataFrame(events).to_csv(folder / "events.csv", index=False)
    pd.DataFrame(people).to_csv(folder / "people.csv", index=False)
    source = dp.Joined(folder / "events.csv", folder / "people.csv", ("patient", "id"), everybody=everybody)
    loaded = load_joined(source, folder / "raw.parquet", SECRET)
    assert loaded.columns == ("patient", "cost", "sex", "sex 2", "age") and len(loaded.marks) == 2
    assert [path.name for path in folder.iterdir() if path.is_dir()] == []
    rows = pq.read_table(folder / "raw.parquet").to_pylist()
    return Counter(tuple((row[name] or "").strip() for name in loaded.columns) for row in rows)


def by_pandas(events: Rows, people: Rows, everybody: bool = True) -> Counter[tuple[str, ...]]:
    left, right = pd.DataFrame(events), pd.DataFrame(people)
    left["patient"] = left["patient"].str.strip()
    left, right = left[left["patient"] != ""], right[right["id"] != ""].rename(columns={"sex": "sex 2"})
    both = left.merge(right, how="outer" if everybody else "left", left_on="patient", right_on="id")
    both["patient"] = both["patient"].fillna(both["id"])
    both = both.drop(columns="id").fillna("")
    return Counter(tuple(str(cell) for cell in row) for row in both.itertuples(index=False))


@pytest.mark.parametrize("pairs", [3, pytest.param(200, marks=pytest.mark.long)])
def test_random_pairs_equal_pandas(pairs: int, tmp_path: Path) -> None:
    chance = random.SystemRandom()
    for number in range(pairs):
        events, people = files(chance)
        assert joined(tmp_path, events, people, number % 2 == 0) == by_pandas(events, people, number % 2 == 0)


def test_one_persons_records_change_that_persons_rows_alone(tmp_path: Path) -> None:
    chance = random.SystemRandom()
    for _ in range(2):
        (events, people), (others, strangers) = files(chance), files(chance)
        before = joined(tmp_path, events, people)
        keep = [row for row in events if row["patient"].strip() != "p1"]
        kept = [row for row in people if row["id"] != "p1"]
        mine = [row | {"patient": "p1"} for row in others]
        after = joined(tmp_path, keep + mine, [*kept, strangers[0] | {"id": "p1"}])
        assert {row: n for row, n in before.items() if row[0] != "p1"} == {
            row: n for row, n in after.items() if row[0] != "p1"
        }


def test_of_two_records_of_one_person_one_is_kept_whatever_the_order(tmp_path: Path) -> None:
    events = [{"patient": "a", "cost": "1", "sex": "x"}]
    twice = [{"id": "a", "sex": "f", "age": "1"}, {"id": " a", "sex": "m", "age": "2"}]
    first, second = joined(tmp_path, events, twice), joined(tmp_path, events, twice[::-1])
    assert first == second and sum(first.values()) == 1


SCHEMA = dp.Schema({"cost": dp.Number(0, 9), "sex 2": dp.Category(["f", "m"]), "age": dp.Number(0, 9)})


def add(workspace: dp.Workspace, source: Any, name: str, **more: Any) -> dp.Table:
    given: dict[str, Any] = {"schema": SCHEMA, "unit": dp.Unit.column("patient", 3), "budget": dp.Budget("5", "1e-6")}
    given |= {"relation": "add_remove", "about_rows": 50}
    return workspace.add_table(name, source, **(given | more))


def two_files(folder: Path) -> dp.Joined:
    rows = [{"patient": f"p{number % 40}", "cost": str(number % 9), "sex": "x"} for number in range(100)]
    people = [{"id": f"p{number}", "sex": "fm"[number % 2], "age": str(number % 8)} for number in range(50)]
    pd.DataFrame(rows).to_csv(folder / "events.csv", index=False)
    pd.DataFrame(people).to_csv(folder / "people.csv", index=False)
    return dp.Joined(folder / "events.csv", folder / "people.csv", ("patient", "id"))


def test_no_joined_row_is_no_refusal(tmp_path: Path) -> None:
    """One person more or less must not decide whether the table is there."""
    events, people = [{"patient": "", "cost": "1", "sex": "x"}], [{"id": "a", "sex": "f", "age": "1"}]
    assert not joined(tmp_path, events, people, everybody=False)
    source = dp.Joined(tmp_path / "events.csv", tmp_path / "people.csv", ("patient", "id"), everybody=False)
    table = add(dp.open_workspace(tmp_path / "home"), source, "nobody")
    assert abs(float(table.ask(table.query("count", epsilon="1")).value)) < 3 * 20  # 1 in e^20


def test_either_file_alone_joins_the_allowance_of_both(tmp_path: Path) -> None:
    workspace, source = dp.open_workspace(tmp_path / "home"), two_files(tmp_path)
    both = add(workspace, source, "both")
    both.ask(both.query("mean", column="age", by="sex 2", epsilon="1"))
    alone = dp.Schema({"cost": dp.Number(0, 9)})
    events = add(workspace, tmp_path / "events.csv", "events", schema=alone)
    assert events.joined and events.budget.id == both.budget.id and events.meter().unused < 1
    assert not [path for path in (tmp_path / "home" / "tables").rglob(".*") if path.is_dir()]


def test_joined_files_start_with_what_they_have_spent(tmp_path: Path) -> None:
    workspace, source = dp.open_workspace(tmp_path / "home"), two_files(tmp_path)
    events = add(workspace, tmp_path / "events.csv", "events", schema=dp.Schema({"cost": dp.Number(0, 9)}))
    events.ask(events.query("mean", column="cost", epsilon="1"))
    both = add(workspace, source, "both")
    assert both.joined and both.budget.id == events.budget.id and both.meter().unused == events.meter().unused < 1


def test_a_person_without_a_visit_has_one_row_and_no_visit(tmp_path: Path) -> None:
    """All rows of a person are at least one, so the mean of rows is not that of visits: rows with a cost are."""
    workspace, source = dp.open_workspace(tmp_path / "home"), two_files(tmp_path)  # 40 of 50 people have visits, 100
    add(workspace, source, "both", relation="replace", about_rows=None, budget=dp.Budget("100", "1e-6"))
    given: dict[str, Any] = {"lower": 0, "upper": 9}
    summaries = {"rows": dp.Summary("count", **given), "visits": dp.Summary("count", "cost", **given)}
    people = workspace.one_row_a_person("both", "people", summaries)
    means = [float(people.ask(people.query("mean", column=name, epsilon="30")).value) for name in summaries]
    assert abs(means[0] - 110 / 50) < 0.1 and abs(means[1] - 100 / 50) < 0.1  # noise of 9 / 50 / 30: 1 in e^16


def alone(workspace: dp.Workspace, folder: Path, people_unit: dp.Unit) -> tuple[dp.Table, dp.Table]:
    """Both files, each with its own allowance, each asked once."""
    events = add(workspace, folder / "events.csv", "events", schema=dp.Schema({"cost": dp.Number(0, 9)}))
    given: dict[str, Any] = {"schema": dp.Schema({"age": dp.Number(0, 9)}), "unit": people_unit}
    people = add(workspace, folder / "people.csv", "people", **given, budget=dp.Budget("3", "1e-5"))
    for table, column in ((events, "cost"), (people, "age")):
        table.ask(table.query("mean", column=column, epsilon="0.5"))
        table.ask(table.query("count", noise="gaussian", epsilon="0.25"))
    return events, people


def sums(table: dp.Table) -> Any:
    return table._workspace.ledger.standing(table.budget.id)


@pytest.mark.every(3)
@pytest.mark.parametrize("people_unit", [dp.Unit.rows(), dp.Unit.column("id", 3)])
@pytest.mark.parametrize("each", [1, 2])
def test_two_allowances_become_one_that_has_spent_both(people_unit: dp.Unit, each: int, tmp_path: Path) -> None:
    """The sums are those of a ledger in which one budget paid for everything, the people file re-priced for a person
    with `each` rows of it; then either file alone spends the joint allowance."""
    workspace, source = dp.open_workspace(tmp_path / "home"), replace(two_files(tmp_path), people_at_most=each)
    events, people = alone(workspace, tmp_path, people_unit)
    with pytest.raises(AllowanceError) as refusal:
        add(workspace, source, "both")
    assert refusal.value.code == "joined.adds_up" and refusal.value.facts["tables"] == ["people"]
    rule = events.budget.rule
    by_row = people_unit.id_column is None
    losses = [entry.charge.loss for entry in workspace.ledger.walk(events.budget.id)]
    theirs = [entry.charge.loss for entry in workspace.ledger.walk(people.budget.id)]
    losses += [for_group(loss, each if by_row else 1) for loss in theirs]
    expected = standing_of([(loss, 1) for loss in losses], rule.alpha)
    head = workspace.ledger.head()
    both = add(workspace, source, "both", add_up=True)
    assert both.joined and both.budget.id == events.budget.id and sums(both) == expected == sums(events)
    assert workspace.ledger.head()[0] == head[0] + 2  # one row that takes over, one that closes
    assert refusal.value.facts["spent"] == up(used(rule, expected.totals) * 100, 100)
    assert workspace.ledger.released(both.budget.id) == Past.of(losses)
    assert workspace.closed() == {"people": "joined"} and workspace.verify_ledger().ok
    with pytest.raises(AllowanceError) as refusal:
        people.ask(people.query("mean", column="age", epsilon="0.5"))
    assert refusal.value.code == "budget.joined"
    both.ask(both.query("mean", column="age", epsilon="0.25"))
    assert sums(both).charges == 5
    again: dict[str, Any] = {"schema": dp.Schema({"age": dp.Number(0, 9)}), "unit": dp.Unit.column("id", 3)}
    once_more = add(workspace, tmp_path / "people.csv", "people again", **again)
    assert once_more.joined and once_more.budget.id == both.budget.id
    once_more.ask(once_more.query("count", epsilon="0.1"))
    third = add(workspace, source, "both again")
    assert third.budget.id == both.budget.id and workspace.verify_ledger().ok
    assert [act.kind for act in workspace.ledger.acts(people.budget.id)] == ["joined"]


def test_a_people_file_with_an_allowance_and_new_events_get_one_together(tmp_path: Path) -> None:
    """Nothing was spent on the events yet: the joined table opens an allowance that starts with the people's sums."""
    workspace, source = dp.open_workspace(tmp_path / "home"), two_files(tmp_path)
    people = add(
        workspace, tmp_path / "people.csv", "people", schema=dp.Schema({"age": dp.Number(0, 9)}), unit=dp.Unit.rows()
    )
    people.ask(people.query("mean", column="age", epsilon="1"))
    spent = sums(people)
    both = add(workspace, source, "both", add_up=True, budget=dp.Budget("2", "1e-6"))
    assert both.budget.id != people.budget.id and both.budget.rule.epsilon == 2
    assert sums(both).history == spent.history and sums(both).charges == 1 and workspace.verify_ledger().ok
    events = add(workspace, tmp_path / "events.csv", "events", schema=dp.Schema({"cost": dp.Number(0, 9)}))
    assert events.joined and events.budget.id == both.budget.id


def test_what_both_spent_must_fit(tmp_path: Path) -> None:
    workspace, source = dp.open_workspace(tmp_path / "home"), two_files(tmp_path)
    given: dict[str, Any] = {"schema": dp.Schema({"age": dp.Number(0, 9)}), "unit": dp.Unit.rows()}
    people = add(workspace, tmp_path / "people.csv", "people", **given)
    people.ask(people.query("mean", column="age", epsilon="2"))
    head = workspace.ledger.head()
    with pytest.raises(AllowanceError) as refusal:
        add(workspace, source, "both", add_up=True, budget=dp.Budget("1", "1e-6"))
    assert refusal.value.code == "joined.exceeded" and refusal.value.facts["needs"] <= 2
    assert workspace.ledger.head() == head and not workspace.closed()
    assert [record.name for record in workspace.tables()] == ["people"]


def test_a_public_number_of_people_is_told_once(tmp_path: Path) -> None:
    """Under replace-one, files are joined on the first one's allowance only if their people are its people."""
    workspace, source = dp.open_workspace(tmp_path / "home"), two_files(tmp_path)
    terms: dict[str, Any] = {"relation": "replace", "about_rows": None}
    given = terms | {"schema": dp.Schema({"age": dp.Number(0, 9)}), "unit": dp.Unit.rows()}
    people = add(workspace, tmp_path / "people.csv", "people", **given)
    people.ask(people.query("mean", column="age", epsilon="1"))
    apart = replace(source, everybody=False)
    for pair in (source, apart):  # the events were never counted
        with pytest.raises(AllowanceError) as refusal:
            add(workspace, pair, "both", add_up=True, **terms)
        assert refusal.value.code == "joined.counted"
    events = add(
        workspace, tmp_path / "events.csv", "events", **terms | {"schema": dp.Schema({"cost": dp.Number(0, 9)})}
    )
    events.ask(events.query("mean", column="cost", epsilon="1"))
    with pytest.raises(AllowanceError) as refusal:  # more people than the events have
        add(workspace, source, "both", add_up=True, **terms)
    assert refusal.value.code == "joined.counted"
    with pytest.raises(AllowanceError) as refusal:
        add(workspace, apart, "both", **terms)
    assert refusal.value.code == "joined.adds_up"
    both = add(workspace, apart, "both", add_up=True, **terms)
    assert both.facts.people == events.facts.people == 40 and both.budget.id == events.budget.id
    assert sums(both).totals.epsilon == 2 and workspace.verify_ledger().ok


@pytest.mark.parametrize("steps", [12, pytest.param(60, marks=pytest.mark.long)])
def test_no_order_of_joining_splitting_and_deleting_makes_a_person_cheaper(steps: int, tmp_path: Path) -> None:
    """Three files about the same people, brought alone, joined either way, forgotten, summarised and brought again in
    other bytes: whatever was answered about files that were ever joined stands in one allowance, and fits its cap."""
    chance, workspace = random.SystemRandom(), dp.open_workspace(tmp_path / "home")
    ids, columns = {"a": "who", "b": "whom", "c": "whose"}, {"a": "x", "b": "y", "c": "z"}
    for name, who in ids.items():
        rows = [{who: f"p{row % 30}", columns[name]: str((row * 7 + ord(name)) % 10)} for row in range(60)]
        pd.DataFrame(rows).to_csv(tmp_path / f"{name}.csv", index=False)
    tables: list[tuple[dp.Table, str]] = []  # with the files that each is made of
    groups, asked = {name: {name} for name in ids}, Counter[str]()

    def file(name: str) -> Path:
        """The same rows in another order."""
        path = tmp_path / f"{name} {chance.getrandbits(40)}.csv"
        pd.read_csv(tmp_path / f"{name}.csv").sample(frac=1).to_csv(path, index=False)
        return path

    for step in range(steps):
        begun = ["alone", "ask", "alone", "ask", "join", "ask"]  # so that there is something to cheat with
        act = begun[step] if step < len(begun) else chance.choice([*begun, "forget", "each"])
        made = "".join(chance.sample("abc", 2 if act == "join" else 1))
        table, of = chance.choice(tables) if tables else (None, "")
        try:
            if act in ("alone", "join"):
                one = file(made[0])
                source = one if act == "alone" else dp.Joined(one, file(made[1]), (ids[made[0]], ids[made[1]]))
                schema = dp.Schema({columns[name]: dp.Number(0, 9) for name in made})
                unit, more = dp.Unit.column(ids[made[0]], 2), {"add_up": True} if act == "join" else {}
                tables.append((add(workspace, source, f"t{step}", schema=schema, unit=unit, **more), made))
                for name in made:
                    groups[name] |= set.union(*(groups[other] for other in made))
                for name in groups[made[0]]:
                    groups[name] = groups[made[0]]
            elif table is None:
                continue
            elif act == "ask":
                table.ask(table.query("count", epsilon="0.7"))
                asked[of[0]] += 1
            elif act == "forget":
                workspace.forget(table.name)
            else:
                each = {"n": dp.Summary("count", lower=0, upper=9)}
                tables.append((workspace.one_row_a_person(table.name, f"t{step}", each), of))
        except AllowanceError as refusal:
            assert refusal.code.split(".")[0] in ("budget", "joined", "table", "summary", "price", "forget"), (
                refusal.code
            )
        taken = workspace.ledger.taken_by()
        for group in {frozenset(group) for group in groups.values()}:
            own = {taken.get(t.budget.id, t.budget.id) for t, of in tables if of[0] in group}
            spent = sum(workspace.ledger.standing(budget).totals.epsilon for budget in own)
            told = Fraction(7, 10) * sum(asked[name] for name in group)
            assert len(own) <= 1 and spent == told <= 5, (group, own)
    assert workspace.verify_ledger().ok


def test_where_people_sign_in_the_owner_of_both_adds_two_allowances_up(tmp_path: Path) -> None:
    """Grants and their shares stay right, row by row; another owner's file is not told of."""
    with office(tmp_path, tables=False) as here:
        owner = here.face("owner")
        rows = [{"patient": f"p{number % 40}", "cost": str(number % 9)} for number in range(100)]
        people = [{"id": f"p{number}", "age": str(number % 8)} for number in range(50)]
        home = owner.folder / "tmp"
        home.mkdir(parents=True, exist_ok=True)
        pd.DataFrame(rows).to_csv(home / "events.csv", index=False)
        pd.DataFrame(people).to_csv(home / "people.csv", index=False)
        terms: dict[str, Any] = {"relation": "add_remove", "about_rows": 50, "budget": dp.Budget("4", "1e-6")}
        visits = terms | {"unit": dp.Unit.column("patient", 3), "schema": dp.Schema({"cost": dp.Number(0, 9)})}
        one = owner.add_table("stays", home / "events.csv", **visits)
        two = owner.add_table(
            "persons", home / "people.csv", unit=dp.Unit.rows(), schema=dp.Schema({"age": dp.Number(0, 9)}), **terms
        )
        here.give("stays", "analyst")
        theirs = here.face("analyst").table("stays")
        theirs.ask(theirs.query("mean", column="cost", epsilon="0.5"))
        for table, column in ((one, "cost"), (two, "age")):
            table.ask(table.query("mean", column=column, epsilon="0.5"))
        source = dp.Joined(home / "events.csv", home / "people.csv", ("patient", "id"))
        with pytest.raises(AllowanceError) as refusal:
            owner.add_table("both", source, **visits)
        assert refusal.value.code == "joined.adds_up"
        both = owner.add_table("both", source, **visits, add_up=True)
        assert here.workspace.ledger.standing(both.budget.id).charges == 3 and here.workspace.verify_ledger().ok
        both.ask(both.query("mean", column="cost", epsilon="0.5"))
        theirs.ask(theirs.query("count", epsilon="0.25"))
        assert here.workspace.verify_ledger().ok
        assert here.workspace.ledger.standing(both.budget.id).charges == 5
        assert here.face("analyst").meter("stays")[0].used > Fraction(1, 20)
        here.workspace.raise_cap("stays", "5", here.person("owner"))
        owner.table("stays").protect(dp.Unit.column("patient", 4))
        theirs = here.face("analyst").table("stays")
        theirs.ask(theirs.query("count", epsilon="0.25"))
        assert here.workspace.verify_ledger().ok


def test_what_cannot_be_joined_is_one_sentence(tmp_path: Path) -> None:
    workspace, source = dp.open_workspace(tmp_path / "home"), two_files(tmp_path)
    with pytest.raises(AllowanceError) as refusal:
        add(workspace, source, "both", unit=dp.Unit.rows())
    assert refusal.value.code == "joined.unit"
    wrong = dp.Joined(tmp_path / "events.csv", tmp_path / "people.csv", ("patient", "who"))
    with pytest.raises(AllowanceError) as refusal:
        add(workspace, wrong, "both")
    assert refusal.value.code == "column.absent"
    with pytest.raises(AllowanceError) as refusal:
        dp.Joined("a", "b", ("x", "y"), Dialect(decimal=","))
    assert refusal.value.code == "joined.numbers"
    with pytest.raises(AllowanceError) as refusal:
        dp.Joined(dp.Source("spark", path="/a"), "b", ("x", "y"))  # type: ignore[arg-type]
    assert refusal.value.code == "joined.files"
    assert not workspace.tables()
