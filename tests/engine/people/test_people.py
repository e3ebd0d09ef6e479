"""People and roles: who somebody is, when a workspace is served; nobody there does anything without a right."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import dpengine as dp
from dpengine.__main__ import main
from dpengine.ledger.people_rules import ADMINISTRATOR, OPERATOR, OWNER
from dpengine.workspace import Workspace
from tests.helpers_ledger import raises
from tests.helpers_people import MINE, OTHER, TERMS, count, office, rows


def test_a_person_is_an_id_in_the_ledger_and_a_name_in_the_registry(tmp_path: Path) -> None:
    with office(tmp_path) as here:
        ana = here.workspace.person("https://id.example.org", "ana", "Ana Novak", "ana@example.org")
        assert re.fullmatch(r"p-[0-9a-f]{32}", ana)
        assert ana == here.workspace.person("https://id.example.org", "ana")
        assert ana != here.workspace.person("https://other.example.org", "ana")
        known = {person.id: person for person in here.workspace.people()}
        assert (known[ana].name, known[ana].email) == ("Ana Novak", "ana@example.org")
        here.name("ana", OWNER)
        assert "Novak" not in str(list(here.workspace.ledger.export_rows()))
        here.workspace.forget_person(ana)
        known = {person.id: person for person in here.workspace.people()}
        assert (known[ana].name, known[ana].email) == ("", "")
        assert b"Novak" not in (here.workspace.folder / "registry.sqlite").read_bytes()


def test_two_workspaces_know_the_same_person_by_other_ids(tmp_path: Path) -> None:
    ids = []
    for name in ("one", "two"):
        workspace = Workspace(tmp_path / name)
        ids.append(workspace.person("https://id.example.org", "ana"))
        workspace.close()
    assert ids[0] != ids[1]


def test_a_laptop_is_as_it_was(tmp_path: Path) -> None:
    """Nobody signs in, one person is everything; and what they left is nobody's once people do."""
    workspace = Workspace(tmp_path / "var")
    table = workspace.add_table("mine", rows(), **TERMS, budget=dp.Budget("1", "1e-6"))
    table.ask(count(table), request_id="before")
    assert not workspace.served
    administrator = workspace.person("https://id.example.org", "eva")
    with raises("people.no_right"):
        workspace.ledger.name_role(administrator, OWNER, OPERATOR)  # the first is an administrator
    workspace.name_administrator(administrator)
    assert workspace.served
    for attempt in (
        lambda: table.ask(count(table), request_id="after"),
        lambda: workspace.table("town").ask(count_in_town(workspace), request_id="practice"),
        lambda: workspace.seal("mine"),
        lambda: workspace.forget("mine"),
        lambda: workspace.raise_cap("mine", "2"),
        lambda: table.revise(dp.Schema({"x": dp.Number(0, 5)})),
        lambda: workspace.add_table("more", rows(50), **TERMS, budget=dp.Budget("1", "1e-6")),
    ):
        with raises("people.no_right"):
            attempt()
    face = workspace.as_person(administrator)
    ana = workspace.person("https://id.example.org", "ana")
    face.hand_over("mine", ana)
    mine = workspace.as_person(ana).table("mine")
    assert mine.ask(count(mine), request_id="handed").value is not None
    assert [entry.charge.request for entry in mine.history()] == ["handed", "before"]
    assert workspace.verify_ledger().ok
    workspace.close()


def count_in_town(workspace: Workspace) -> dp.Query:
    return workspace.table("town").suggestions()[0]


def test_a_withdrawn_person_is_refused_at_the_next_call(tmp_path: Path) -> None:
    with office(tmp_path) as here:
        table, admin = here.face("analyst").table(MINE), here.face("administrator")
        assert table.ask(count(table)).value is not None
        admin.name_role(here.person("analyst"), "barred")
        for attempt in (table.meter, lambda: table.ask(count), lambda: here.face("analyst").table("town")):
            with raises("people.no_right"):
                attempt()
        admin.name_role(here.person("analyst"), "barred", on=False)
        assert table.meter().charges == 1
        here.give(MINE, "analyst", 0)  # type: ignore[arg-type]
        with raises("table.unknown"):
            table.meter()
        assert here.workspace.verify_ledger().ok


def test_only_administrators_name_people(tmp_path: Path) -> None:
    with office(tmp_path) as here:
        eva = here.person("eva")
        for name in ("nobody", "owner", "analyst", "auditor", "withdrawn"):
            with raises("people.no_right"):
                here.face(name).name_role(eva, OWNER)
            with raises("people.no_right"):
                here.workspace.ledger.name_role(eva, OWNER, here.person(name))
        here.face("administrator").name_role(eva, ADMINISTRATOR)
        here.face("eva").name_role(here.person("administrator"), ADMINISTRATOR, on=False)
        with raises("people.no_right"):
            here.face("administrator").name_role(eva, OWNER)
        assert here.workspace.verify_ledger().ok


def test_a_sample_is_for_everybody_who_signed_in_each_with_a_budget_of_their_own(tmp_path: Path) -> None:
    with office(tmp_path, tables=False) as here:
        tables = [here.face(name).table("town") for name in ("nobody", "analyst")]
        tables[0].ask(tables[0].suggestions()[0])
        assert [table.meter().charges for table in tables] == [1, 0]
        assert here.workspace.verify_ledger().ok


def test_a_table_that_one_may_not_see_is_as_one_that_is_not_there(tmp_path: Path) -> None:
    with office(tmp_path) as here:
        face = here.face("analyst")
        told = []
        for name in (OTHER, "nothing of the kind"):
            with raises("table.unknown") as refused:
                face.table(name)
            told.append(str(refused.value).replace(name, "…"))
        assert told[0] == told[1]
        assert [name for name, _ in face.names()] == [MINE] == [record.name for record in face.tables()]
        assert face.may("ask", MINE) and not face.may("ask", OTHER) and not face.may("seal", MINE)
        assert face.may("ask", "town") and not face.may("nothing of the kind")


def test_from_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    home = ["--home", str(tmp_path / "var")]
    assert main(["people", "--administrator", "https://id.example.org", "eva", "Eva", *home]) == 0
    assert main(["people", "--owner", "https://id.example.org", "ana", *home]) == 0
    [eva, ana] = [line.split()[1] for line in capsys.readouterr().out.splitlines()]
    assert main(["people", "--withdraw", ana[:12], *home]) == 0
    assert main(["people", *home]) == 0
    said = capsys.readouterr().out
    assert f"{eva} Eva: administrator" in said and "owner, barred" in said
    assert main(["people", "--readmit", ana, *home]) == 0
    assert main(["people", "--withdraw", "p-nobody", *home]) == 2
    assert main(["people", "--what", *home]) == 2
    workspace = Workspace(tmp_path / "var")
    assert workspace.served and workspace.as_person(ana).may("add_table") and workspace.verify_ledger().ok
    workspace.close()
