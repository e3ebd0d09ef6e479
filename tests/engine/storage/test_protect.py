"""“One row each” was wrong: a table is corrected towards more protection, on the allowance it has."""

from __future__ import annotations

import shutil
import threading
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import dpengine as dp
from dpengine.accountant.costs import cost
from dpengine.accountant.filter import Totals, used
from dpengine.accountant.group import for_group
from dpengine.accountant.history import Past
from dpengine.core.errors import AllowanceError
from dpengine.ledger import ledger
from dpengine.ledger.ledger import Ledger
from dpengine.storage.registry import Registry
from dpengine.workspace import Workspace
from tests.helpers_ledger import code_of
from tests.helpers_people import MINE, OTHER, office, rows

SCHEMA = dp.Schema({"mark": dp.Number(1, 5), "class": dp.Category(["a", "b"])})
SEVEN = dp.Unit.column("Pupil no.", 7)
BUDGET = dp.Budget("1", "1e-6")


def marks(pupils: int = 40, each: int = 7) -> pd.DataFrame:
    """`each` marks of every pupil, and a row without a number."""
    told = [(f"P{p}", 1 + (p + m) % 5, "ab"[p % 2]) for p in range(pupils) for m in range(each)]
    return pd.DataFrame([*told, ("", 3, "a")], columns=["Pupil no.", "mark", "class"])


def add(home: Workspace, name: str = "marks", frame: pd.DataFrame | None = None, **terms: Any) -> dp.Table:
    usual: dict[str, Any] = {"schema": SCHEMA, "unit": dp.Unit.rows(), "relation": "replace", "budget": BUDGET}
    return home.add_table(name, marks() if frame is None else frame, **(usual | terms))


@pytest.fixture
def home(tmp_path: Path) -> Any:
    found = Workspace(tmp_path / "var")
    yield found
    found.close()


def coded(home: Workspace, name: str) -> pd.DataFrame:
    place = home.coded(home.record(name))
    assert isinstance(place, Path)
    return pd.read_parquet(place)


def test_rows_become_people_on_the_same_allowance_at_the_price_that_was_shown(home: Workspace) -> None:
    table = add(home)
    asked = [
        table.query("mean", column="mark", epsilon="0.01"),
        table.query("median", column="mark", epsilon="0.01"),
        table.query("histogram", column="class", epsilon="0.01", noise="gaussian"),
    ]
    given = [table.ask(query) for query in asked]
    before, shown = table.meter(), table.protection_preview(SEVEN)
    took = [table.took(entry) for entry in reversed(table.history())]
    after = table.protect(SEVEN)
    expected = Totals.NOTHING
    for query in asked:
        expected = expected.plus(cost(for_group(query.loss(), 7), table.budget.rule.alpha))
    assert after.meter().used == used(table.budget.rule, expected) > before.used
    assert (shown.left_now, shown.left_then, shown.fits) == (before.unused, after.meter().unused, True)
    assert after.facts.unit == SEVEN and after.facts.about == 40 and after.facts.relation == "replace"
    assert after.budget.id == table.budget.id and after.meter().epsilon == before.epsilon
    assert len(coded(home, "marks")) == 280 and home.verify_ledger().ok
    # Answers stay as they were given, with the receipts they had.
    assert [one.value for one in after.answers(9)] == [one.value for one in given]
    assert [one.query.facts.unit for one in after.answers(9)] == [dp.Unit.rows()] * 3
    assert all(finding.ok for finding in home.check_receipts("\n".join(after.answer_lines()).encode(), "all.jsonl"))
    entries = list(reversed(after.history()))
    assert sum(map(after.took, entries)) == after.meter().used, "each says what it takes as it counts now"
    assert all(after.took(entry) > was for entry, was in zip(entries, took, strict=True))
    # From now on prices, the burn-down and the rows of the account go on from there.
    steps = [step.left for step in after.burn_down()]
    assert steps[-1] == after.meter().unused < steps[-2] and not any(step.raised for step in after.burn_down())
    next_one = after.ask(after.query("count", where=[["class", "in", ["a"]]], epsilon="0.1"))
    entry = home.ledger.find(next_one.request_id)
    assert entry is not None and after.took(entry) == after.meter().used - (1 - shown.left_then)
    assert next_one.receipt["claim"]["unit"] == SEVEN.as_json()
    told = [row for row in after.ledger_rows() if row[2] == "protect"]
    assert len(told) == 1 and "Pupil no." in told[0][6] and home.verify_ledger().ok


def test_more_rows_of_a_person_cost_nothing_where_each_charge_covered_a_person_already(home: Workspace) -> None:
    """Rows beyond m did not count, so those charges hold for whoever has more; what was charged for rows does not."""
    by_id = add(home, unit=dp.Unit.column("Pupil no.", 3))
    by_id.ask(by_id.query("mean", column="mark", epsilon="0.1"))
    used_before = by_id.meter().used
    assert len(coded(home, "marks")) == 120
    more = by_id.protect(SEVEN)
    assert more.meter().used == used_before and more.facts.about == 40 and len(coded(home, "marks")) == 280
    assert code_of(lambda: more.protect(dp.Unit.column("Pupil no.", 3))) == "protect.fewer"
    by_row = add(home, "others", marks(30))
    by_row.ask(by_row.query("mean", column="mark", epsilon="0.01"))
    people = by_row.protect(dp.Unit.column("Pupil no.", 4))
    people.ask(people.query("mean", column="mark", epsilon="0.1"))
    assert people.meter().spent_epsilon == Fraction(14, 100)
    assert people.protect(SEVEN).meter().spent_epsilon == Fraction(17, 100)  # 7 × 0.01 + 0.1
    assert home.verify_ledger().ok


def test_the_same_file_brought_again_offers_it_and_does_it_when_told_to(home: Workspace) -> None:
    table = add(home)
    table.ask(table.query("mean", column="mark", epsilon="0.01"))
    with pytest.raises(AllowanceError) as refused:
        add(home, "again", unit=SEVEN)
    assert refused.value.code == "protect.offered" and refused.value.facts == {"table": "marks"}
    assert home.table("marks").facts.unit == dp.Unit.rows() and "again" not in dict(home.names())
    again = add(home, "again", unit=SEVEN, protect=True)
    assert again.joined and again.facts.about == 40
    assert home.table("marks").facts.unit == SEVEN and home.table("marks").facts.about == 40
    assert again.meter().spent_epsilon == home.table("marks").meter().spent_epsilon == Fraction(7, 100)
    assert code_of(lambda: add(home, "less")) == "budget.other_terms"  # never back
    assert code_of(lambda: add(home, "secret", unit=SEVEN, relation="add_remove", about_rows=40)) == (
        "budget.other_terms"
    )
    assert home.verify_ledger().ok


def test_never_less_and_nothing_else_changes(home: Workspace) -> None:
    table = add(home, relation="add_remove", about_rows=280)
    table.ask(table.query("mean", column="mark", epsilon="0.01"))
    head = home.ledger.head()
    for code, unit in (
        ("protect.less", dp.Unit.rows()),
        ("protect.fewer", dp.Unit.column("Pupil no.", 1)),
        ("protect.absent", dp.Unit.column("nobody", 7)),
    ):
        assert code_of(lambda unit=unit: table.protection_preview(unit)) == code
        assert code_of(lambda unit=unit: table.protect(unit, 40)) == code
    assert code_of(lambda: table.protect(SEVEN)) == "protect.people_needed"  # nobody counts them
    assert home.ledger.head() == head and home.table("marks").facts.unit == dp.Unit.rows()
    after = table.protect(SEVEN, 45)
    assert after.facts.relation == "add_remove" and after.facts.about == 45 and after.facts.people is None
    assert home.verify_ledger().ok


def test_what_does_not_fit_leaves_everything_as_it_was(home: Workspace) -> None:
    table = add(home)
    table.ask(table.query("mean", column="mark", epsilon="0.5"))
    shown = table.protection_preview(SEVEN)
    assert not shown.fits and shown.needs == Fraction(7, 2) and shown.left_then == 0
    assert code_of(lambda: table.protect(SEVEN)) == "protect.exceeded"
    assert home.table("marks").facts.unit == dp.Unit.rows() and home.ledger.protected_since(table.budget.id) is None
    assert table.ask(table.query("mean", column="mark", epsilon="0.01")) is not None
    home.raise_cap("marks", "4")
    assert table.protect(SEVEN).meter().epsilon == 4 and home.verify_ledger().ok


def test_a_preview_reads_no_row_and_says_nothing_about_them(home: Workspace) -> None:
    """Other rows of the same number, with other people: the same preview. Without any file: the same still."""
    tables = [add(home, str(each), marks(280 // each, each)) for each in (7, 2)]
    for table in tables:
        table.ask(table.query("mean", column="mark", epsilon="0.01"))
    seen = [table.protection_preview(SEVEN) for table in tables]
    shutil.rmtree(home.folder / "tables")
    assert seen[0] == seen[1] == tables[0].protection_preview(SEVEN)


def test_the_row_of_the_ledger_does_not_depend_on_who_has_how_many_rows(home: Workspace) -> None:
    told = []
    for each in (7, 2):
        table = add(home, f"of {each}", marks(280 // each, each))
        table.ask(table.query("mean", column="mark", epsilon="0.01"))
        table.protect(SEVEN)
        [row] = [row for row in home.ledger.export_rows(table.budget.id) if row["kind"] == "protect"]
        told.append((row["body"].replace(f"of {each}", ""), row["totals"]))
    assert told[0] == told[1]


def test_all_tables_of_the_allowance_are_corrected_or_none(home: Workspace) -> None:
    table = add(home)
    renamed = marks(30).rename(columns={"Pupil no.": "who"})
    add(home, "other", renamed, budget=table.budget.id)
    assert code_of(lambda: table.protect(SEVEN)) == "protect.absent"
    home.seal("other")  # of which nothing more is asked
    assert table.protect(SEVEN).facts.unit == SEVEN and home.table("other").facts.unit == dp.Unit.rows()
    assert home.verify_ledger().ok


def test_two_tables_on_one_allowance_change_together(home: Workspace) -> None:
    first = add(home)
    second = add(home, "second", marks(30, 4), budget=first.budget.id)
    for table in (first, second):
        table.ask(table.query("mean", column="mark", epsilon="0.01"))
    first.protect(SEVEN)
    assert [home.table(name).facts.about for name in ("marks", "second")] == [40, 30]
    assert first.meter().spent_epsilon == Fraction(14, 100)
    assert code_of(lambda: second.ask(second.query("mean", column="mark", epsilon="0.01"))) == "table.revised"
    assert home.verify_ledger().ok


def test_a_question_that_was_prepared_before_is_not_asked_of_rows_after(home: Workspace) -> None:
    """Also where it looked whether the table is as it was, and the change came before its charge."""
    table = add(home)
    query = table.query("mean", column="mark", epsilon="0.01")
    current = home.current
    home.current = lambda record: True  # type: ignore[method-assign]
    try:
        table.protect(SEVEN)
        assert code_of(lambda: table.ask(query)) == "table.revised"
    finally:
        home.current = current  # type: ignore[method-assign]
    assert home.ledger.standing(table.budget.id).charges == 0


def test_a_declaration_made_anew_at_the_same_moment_is_coded_for_people(home: Workspace) -> None:
    """Both wait for one lock, and the later one reads what the earlier one left."""
    table = add(home)
    ready, errors = threading.Barrier(2), []

    def both(work: Any) -> None:
        ready.wait()
        try:
            work()
        except AllowanceError as error:
            errors.append(error)

    narrower = dp.Schema({"mark": dp.Number(1, 4)})
    works = [lambda: table.protect(SEVEN), lambda: home.revise("marks", narrower)]
    threads = [threading.Thread(target=both, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    now = home.table("marks")
    assert now.facts.unit == SEVEN and "person" in coded(home, "marks").columns and len(coded(home, "marks")) == 280


def test_a_program_killed_in_between_finishes_when_it_is_opened_again(
    home: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The ledger's row stands and the registry was not told: nothing is asked of rows, and opening makes it whole."""
    table = add(home)
    table.ask(table.query("mean", column="mark", epsilon="0.01"))

    def killed(*given: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(Registry, "protect", killed)
        table.protect(SEVEN)
    assert home.record("marks").unit == dp.Unit.rows().as_json()
    assert table.meter().spent_epsilon == Fraction(7, 100) and home.verify_ledger().ok
    assert code_of(lambda: table.ask(table.query("mean", column="mark", epsilon="0.01"))) == "table.revised"
    home.close()
    opened = Workspace(tmp_path / "var")
    try:
        whole = opened.table("marks")
        assert whole.facts.unit == SEVEN and whole.facts.about == 40
        assert whole.ask(whole.query("mean", column="mark", epsilon="0.1")) is not None
        assert whole.meter().spent_epsilon == Fraction(17, 100) and opened.verify_ledger().ok
    finally:
        opened.close()


def test_killed_before_the_row_of_the_ledger_nothing_happened(home: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    table = add(home)
    table.ask(table.query("mean", column="mark", epsilon="0.01"))

    def killed(*given: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(Ledger, "protect", killed)
        table.protect(SEVEN)
    assert table.meter().spent_epsilon == Fraction(1, 100) and len(coded(home, "marks")) == 281
    assert table.ask(table.query("mean", column="mark", epsilon="0.01")) is not None
    assert len(list((home.folder / "tables" / home.record("marks").folder).glob("coded-*"))) == 1


def test_a_session_ends_and_its_claims_about_the_population_are_withdrawn(home: Workspace) -> None:
    table = add(home, frame=marks(600, 4), budget=dp.Budget("3", "1e-6"))
    session = table.open_session(table.session_for(5, Fraction(1, 20), "laplace"), "session")
    first = session.ask({"share": [["class", "in", ["a"]]]}, "one")
    assert not session.withdrawn
    after = table.protect(SEVEN)
    again = after.session("session")
    assert again.withdrawn and again.look()[1] and again.look()[2][0].value == first.value
    assert first.population is not None and again.look()[2][0].population is None
    assert code_of(lambda: again.ask({"share": [["class", "in", ["b"]]]}, "two")) in (
        "session.protected",
        "table.revised",
    )
    later = after.open_session(after.session_for(3, Fraction(1, 10), "laplace"), "later")
    assert not later.withdrawn and later.ask({"share": [["class", "in", ["a"]]]}, "one").value is not None
    assert home.verify_ledger().ok


def test_what_was_released_counts_for_people_once_they_are_protected(home: Workspace) -> None:
    table = add(home, budget=dp.Budget("10", "1e-6"))
    for noise in ("", "gaussian"):
        table.ask(table.query("histogram", column="class", epsilon="0.01", noise=noise))
    charged = [entry.charge for entry in home.ledger.walk(home.record("marks").budget)]
    assert table.released() == Past.of(one.loss for one in charged)
    after = table.protect(SEVEN)
    after.ask(after.query("mean", column="mark", epsilon="0.02"))
    newest = home.ledger.charges(limit=1)[0].charge
    rows = [for_group(one.loss, 7) for one in charged]
    assert after.released() == Past.of([*rows, newest.loss])
    assert after.released(newest.seq) == Past.of(rows) and after.released(charged[1].seq) == Past.of(rows[:1])


def test_of_many_charges_what_was_released_is_never_less_than_each_for_a_person(
    home: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = add(home, budget=dp.Budget("10", "1e-6"))
    for _ in range(3):
        table.ask(table.query("mean", column="mark", epsilon="0.01"))
    seqs = [entry.charge.seq for entry in home.ledger.walk(home.record("marks").budget)]
    after = table.protect(SEVEN)
    monkeypatch.setattr(ledger, "_MOST_COUNTED", 1)
    for before in (None, seqs[2]):  # running sums: also for a row before it, never less
        assert after.released(before).pure == Fraction(21, 100)
    after.ask(after.query("mean", column="mark", epsilon="0.02"))
    assert after.released().pure == Fraction(23, 100)


def test_a_question_refused_for_repeated_ids_is_answered_once_rows_belong_to_people(home: Workspace) -> None:
    table = add(home, frame=marks(400), budget=dp.Budget("10", "1e-6"))
    with pytest.raises(dp.ColumnDoubted) as doubted:
        table.ask(table.query("mean", column="mark", epsilon="0.1"), checked=True)
    assert [(way.kind, way.column) for way in doubted.value.ways] == [("people", "Pupil no."), ("rows", "Pupil no.")]
    after = table.protect(SEVEN)
    query = after.query("mean", column="mark", epsilon="0.1")
    assert after.doubts(query) is None and 1 <= after.ask(query, checked=True).value <= 5
    assert home.verify_ledger().ok


# Where people sign in


def test_the_sums_of_everybody_who_asked_are_counted_anew(tmp_path: Path) -> None:
    by_n = dp.Unit.column("n", 3)
    with office(tmp_path) as here:
        table = here.face("analyst").table(MINE)
        for _ in range(2):
            table.ask(table.query("mean", column="x", epsilon="0.02"))
        owners = here.face("owner").table(MINE)
        owners.ask(owners.query("mean", column="x", epsilon="0.01"))
        for name in ("analyst", "administrator", "auditor", "nobody"):
            with pytest.raises(AllowanceError) as refused:
                here.face(name).table(MINE).protect(by_n)
            assert refused.value.code in ("people.no_right", "table.unknown")
        after = owners.protect(by_n)
        assert after.meter().spent_epsilon == Fraction(15, 100)
        budget = here.workspace.record(MINE).budget
        with here.workspace.ledger.people() as book:
            own = [book.own(budget, here.person(name)).totals.epsilon for name in ("analyst", "owner")]
            assert own == [Fraction(12, 100), Fraction(3, 100)]
            assert book.of_table(budget, MINE).totals.epsilon == Fraction(15, 100)
        mine, _ = here.face("analyst").meter(MINE)
        assert mine.spent_epsilon == Fraction(12, 100)
        again = here.face("analyst").table(MINE)
        again.ask(again.query("mean", column="x", epsilon="0.1"))
        assert here.face("analyst").meter(MINE)[0].spent_epsilon == Fraction(22, 100)
        assert here.workspace.verify_ledger().ok


def test_nobody_changes_a_table_of_somebody_else_with_the_same_content(tmp_path: Path) -> None:
    with office(tmp_path) as here:
        copy = here.bring("owner of another", "copy")  # the very rows of MINE
        assert here.workspace.record("copy").budget == here.workspace.record(MINE).budget
        unit = dp.Unit.column("n", 3)
        for name, table in (("owner", MINE), ("owner of another", "copy")):
            found = here.face(name).table(table)
            assert code_of(lambda found=found: found.protect(unit)) == "protect.shared"
            assert code_of(lambda found=found: found.protection_preview(unit)) == "protect.shared"
        assert copy.facts.unit == dp.Unit.rows() and here.workspace.verify_ledger().ok
        assert here.face("owner of another").table(OTHER).protect(unit).facts.unit == unit
        terms: dict[str, Any] = {"schema": here.workspace.table(MINE).schema, "relation": "replace", "budget": BUDGET}
        here.face("owner").add_table("new", rows(200), unit=dp.Unit.rows(), **terms)
        with pytest.raises(AllowanceError) as refused:
            here.face("owner of another").add_table("guess", rows(200), unit=unit, protect=True, **terms)
        assert refused.value.code == "people.not_as_declared"  # who has it is not told


@pytest.mark.parametrize("relation", ["replace", "add_remove"])
def test_a_correction_that_meets_more_protection_changes_nothing(
    home: Workspace, monkeypatch: pytest.MonkeyPatch, relation: str
) -> None:
    """Else rows would count as people again, or people with several rows as a random sample."""
    table = add(home, relation=relation, about_rows=None if relation == "replace" else 280)
    read = home._to_correct

    def slowly(name: str, actor: str) -> Any:
        found = read(name, actor)
        home.protect("marks", SEVEN, people=40)
        return found

    monkeypatch.setattr(home, "_to_correct", slowly)
    with pytest.raises(AllowanceError) as refused:
        table.declare_sample() if relation == "replace" else table.correct_people(300)
    now = home.record("marks")
    assert refused.value.code == "table.revised"
    assert (now.unit, now.about, now.sample) == (SEVEN.as_json(), 40, False)
