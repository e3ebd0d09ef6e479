"""Tokens, by which a program asks for a person: shown once, kept as a hash, worth no more than the person's rights."""

from __future__ import annotations

import hmac
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from dpengine.__main__ import main
from dpengine.ledger.people_rules import BARRED
from dpengine.storage import tokens
from dpengine.workspace import Workspace
from tests.helpers_ledger import raises
from tests.helpers_people import MINE, OTHER, office


def test_a_token_is_shown_once_and_kept_as_a_hash(tmp_path: Path) -> None:
    with office(tmp_path) as here:
        shown, made = here.face("analyst").new_token("my notebook", [MINE])
        secret = shown.split("_", 2)[2]
        assert len(secret) >= 43 and shown.startswith(f"alw_{made.id}_")
        for file in here.workspace.folder.glob("registry.sqlite*"):
            assert secret.encode() not in file.read_bytes()
        assert secret not in repr(made) and secret not in repr(here.face("analyst").tokens())
        assert made.tables == (MINE,) and made.covers(MINE) and not made.covers(OTHER)
        assert here.workspace.token_book.opened(shown) is not None
        [kept] = here.face("analyst").tokens()
        assert kept.name == "my notebook" and kept.used == kept.at[:10] and kept.live


def test_only_the_very_token_opens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with office(tmp_path) as here:
        book = here.workspace.token_book
        shown, made = here.face("analyst").new_token("one")
        other, _ = here.face("analyst").new_token("two")
        mixed = f"alw_{made.id}_{other.split('_', 2)[2]}"
        compared: list[tuple[str, str]] = []
        constant = hmac.compare_digest

        def noted(one: str, two: str) -> bool:
            compared.append((one, two))
            return constant(one, two)

        monkeypatch.setattr(tokens.hmac, "compare_digest", noted)
        forged = [mixed, shown[:-1], shown + "A", shown.lower(), "", "alw__", "alw_x_y", "Bearer " + shown, "ž" * 50]
        for one in (*forged, "alw_" + "a" * 5000):
            assert book.opened(one) is None, one
        assert book.opened(shown) is not None and compared  # and whole hashes are compared, in constant time


def test_a_revoked_token_opens_nothing(tmp_path: Path) -> None:
    with office(tmp_path) as here:
        face, book = here.face("analyst"), here.workspace.token_book
        shown, made = face.new_token("lost laptop")
        with raises("token.unknown"):
            here.face("owner").revoke_token(made.id)
        with raises("people.no_right"):
            here.face("owner").tokens(here.person("analyst"))
        assert book.opened(shown) is not None
        face.revoke_token(made.id)
        assert book.opened(shown) is None and not face.tokens()[0].live
        again, second = face.new_token("another")
        assert here.face("administrator").tokens(here.person("analyst"))[1].id == second.id
        here.face("administrator").revoke_token(second.id)
        assert book.opened(again) is None
        with raises("token.unknown"):
            face.revoke_token("no such")


def test_a_token_is_only_for_tables_that_one_may_see(tmp_path: Path) -> None:
    with office(tmp_path) as here:
        for name in (OTHER, "nothing of the kind"):
            with raises("table.unknown"):
                here.face("analyst").new_token("x", [name])
        with raises("people.no_right"):
            here.face("analyst").new_token("x", metrics=True)
        _, made = here.face("administrator").new_token("x", metrics=True)
        assert made.metrics and not made.covers(MINE)
        for name, tables in (("", []), ("x" * 61, []), ("\n", [])):
            with raises("token.form"):
                here.face("analyst").new_token(name, tables)
        here.name("analyst", BARRED)
        with raises("people.no_right"):
            here.face("analyst").new_token("x")


def test_whoever_is_forgotten_has_no_tokens(tmp_path: Path) -> None:
    with office(tmp_path) as here:
        shown, _ = here.face("analyst").new_token("of Ana Novak")
        here.face("administrator").forget_person(here.person("analyst"))
        assert here.workspace.token_book.opened(shown) is None
        assert [one.name for one in here.face("analyst").tokens()] == [""]
        assert b"Novak" not in (here.workspace.folder / "registry.sqlite").read_bytes()


def test_no_token_of_a_barred_person_opens_again_when_they_come_back(tmp_path: Path) -> None:
    with office(tmp_path) as here:
        person, administrator = here.person("analyst"), here.face("administrator")
        book, folder = here.workspace.token_book, str(here.workspace.folder)
        first, _ = here.face("analyst").new_token("before")
        others, _ = here.face("owner").new_token("of another")
        administrator.name_role(person, BARRED)
        assert book.opened(first) is None
        administrator.name_role(person, BARRED, on=False)
        assert book.opened(first) is None
        second, _ = here.face("analyst").new_token("since")
        for way in ("--withdraw", "--readmit"):
            assert main(["people", way, person, "--home", folder]) == 0
            assert book.opened(second) is None
        assert book.opened(others) is not None


def test_nobody_has_more_than_fifty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "MOST_TOKENS", 2)
    with office(tmp_path, tables=False) as here:
        made = [here.face("nobody").new_token(str(place))[1] for place in range(2)]
        with raises("token.many"):
            here.face("nobody").new_token("one more")
        here.face("nobody").revoke_token(made[0].id)
        assert here.face("nobody").new_token("one more")


def test_from_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with office(tmp_path) as here:
        analyst, administrator = here.person("analyst"), here.person("administrator")
    home = ["--home", str(tmp_path / "var")]
    assert main(["people", "--token", analyst[:12], "notebook", MINE, *home]) == 0
    assert main(["people", "--metrics-token", administrator, "monitoring", *home]) == 0
    shown, watching = capsys.readouterr().out.split()
    assert main(["people", *home]) == 0
    assert f"{analyst} Analyst: may use 50 % of “{MINE}”" in capsys.readouterr().out  # nobody who may ask has no line
    for wrong in (["--token", analyst, "x", OTHER], ["--metrics-token", analyst, "x"], ["--revoke", "x"]):
        assert main(["people", *wrong, *home]) == 2
    workspace = Workspace(tmp_path / "var")
    opened = workspace.token_book.opened(shown)
    metrics = workspace.token_book.opened(watching)
    workspace.close()
    assert opened is not None and opened.tables == (MINE,) and metrics is not None and metrics.metrics
    assert main(["people", "--revoke", opened.id, *home]) == 0
    workspace = Workspace(tmp_path / "var")
    assert workspace.token_book.opened(shown) is None
    workspace.close()


def test_a_copy_of_the_workspace_has_no_tokens(tmp_path: Path) -> None:
    """One that was taken back after the copy was made would be good again."""
    with office(tmp_path) as here:
        shown, _ = here.face("analyst").new_token("x")
    assert main(["backup", str(tmp_path / "copy"), "--home", str(tmp_path / "var")]) == 0
    workspace = Workspace(tmp_path / "var")
    assert workspace.token_book.opened(shown) is not None
    workspace.close()
    [registry] = (tmp_path / "copy").rglob("registry.sqlite")
    assert b"notebook" not in registry.read_bytes()


def test_a_token_has_a_last_day(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with office(tmp_path) as here:
        face, book = here.face("analyst"), here.workspace.token_book
        today = datetime.now(UTC).date()
        assert face.new_token("usual")[1].until == (today + timedelta(days=90)).isoformat()
        shown, made = face.new_token("chosen", until=today.isoformat())
        assert made.live and book.opened(shown) is not None  # through that day
        for wrong in ((today - timedelta(days=1)).isoformat(), (today + timedelta(days=366)).isoformat(), "soon"):
            with raises("token.until"):
                face.new_token("x", until=wrong)

        monkeypatch.setattr(tokens, "_now", lambda: "2999-01-01T00:00:00+00:00")
        with raises("door.token_ended") as refusal:
            book.opened(shown)
        assert made.until in str(refusal.value) and not made.live
        assert book.opened(shown[:-1] + "!") is None  # whoever does not hold it is told nothing
