"""Canaries in private tables are looked for in everything that leaves the engine and the app."""

from __future__ import annotations

import logging
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from leaks import exits, stage, tally, walk
from leaks.canaries import Scan

import dpengine as dp
from ui.ask.preview import preview_link


@pytest.fixture(name="own_folders")
def given_own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Path, Path, Path]]:
    """A home, a place for the files that are brought, and a folder for temporary files that is searched afterwards."""
    home, source, temporary = tmp_path / "home", tmp_path / "source", tmp_path / "temporary"
    for place in (home, source, temporary):
        place.mkdir()
    monkeypatch.setenv("ALLOWANCE_HOME", str(home))
    monkeypatch.setenv("TMPDIR", str(temporary))
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    monkeypatch.setattr("ui.shell.state.visitor", lambda: "local")
    yield home, source, temporary


def whole_scan(
    folders: tuple[Path, Path, Path], log: Any, printed: Any, names: list[str], pages: int | None, every: int
) -> Scan:
    """Declare, look at every page, ask, look again, take everything away, declare anew, forget."""
    home, source, temporary = folders
    log.set_level(logging.DEBUG)
    held = stage.build(home, source, names)
    scan = Scan(held.canaries)
    for table in held.tables:
        for name, app in walk.pages(
            table, pages, answer="-", session="-", published="-", made="-", fitted="-", trained="-", look="-"
        ):
            exits.page(scan, app, name)
        answers = stage.ask_all(table, every=every) + stage.publish(table) + stage.make_up(table) + stage.train(table)
        answers += stage.look(table)
        session = table.open_session(table.query("adaptive_session", questions=2, epsilon="0.5"), f"s{table.name}")
        scan.look("answers", repr(session.ask({"average": "pay"}, "one")))
        for answer in answers:
            scan.look("answers", f"{answer!r} {answer.query!r} {answer.receipt}")
            scan.look("addresses", repr(preview_link(table, answer.query)))
        paid = {"answer": answers[0].request_id, "session": f"s{table.name}", "published": f"p{table.name}"}
        paid |= {
            "made": f"m{table.name}",
            "fitted": f"f{table.name}",
            "trained": f"t{table.name}",
            "look": f"l{table.name}",
        }
        for name, app in walk.pages(table, pages, **paid):
            exits.page(scan, app, name)
        for name, written in walk.downloads(table, held.workspace, answers):
            scan.look(f"download: {name}", written)
    exits.files(scan, home)
    exits.caches(scan)
    table = held.tables[0].revise(dp.Schema({"note": dp.Category([stage.COMMON]), "far": dp.Number(0, 5)}))
    scan.look("answers", repr(table.ask(table.query("histogram", column="note", epsilon="1"))))
    exits.files(scan, home)
    held.workspace.seal(names[0])
    held.workspace.forget(names[0])
    exits.files(scan, home)
    scan.look("log at debug level", log.text)
    told = printed.readouterr()
    scan.look("printed", told.out + told.err)
    exits.folder(scan, temporary, "temporary files")
    return scan


def test_no_canary_leaves(own_folders: Any, caplog: Any, capfd: Any) -> None:
    scan = whole_scan(own_folders, caplog, capfd, ["canary people"], walk.SHORT, 5)
    assert not scan.findings


@pytest.mark.long
def test_no_canary_leaves_any_page(own_folders: Any, caplog: Any, capfd: Any) -> None:
    scan = whole_scan(own_folders, caplog, capfd, list(stage.TERMS), None, 1)
    tally.tell(scan, "engine and pages")
    assert not scan.findings
