"""Run as `python -m helpers_systems <folder>` from tests/: a table's whole life on a system that is not POSIX.

Our modules see no POSIX-only module and an `os` without its POSIX-only names; libraries see the real ones, because on
Windows they use others. As on Windows, nothing that this process has open can be replaced, renamed or deleted.
"""

from __future__ import annotations

import builtins
import json
import os
import sys
import tempfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from types import ModuleType
from typing import Any

MODULES = {"fcntl", "resource", "pwd", "grp", "termios", "posix", "tty", "pty", "syslog", "readline"}
NAMES = {
    "statvfs", "fstatvfs", "fork", "forkpty", "getuid", "geteuid", "getgid", "getegid", "getpgid", "getpgrp", "setsid",
    "killpg", "register_at_fork", "pread", "pwrite", "fchmod", "fchown", "chown", "lchown", "chroot", "mkfifo", "uname",
    "getloadavg", "sysconf", "nice", "sendfile", "fdatasync", "sched_getaffinity", "posix_fadvise", "posix_fallocate",
    "O_CLOEXEC", "O_DIRECTORY", "O_NOFOLLOW", "O_SYNC", "O_DSYNC", "O_NONBLOCK", "WNOHANG",
}  # fmt: skip
PROC = Path("/proc/self/fd")
ROOT = Path(__file__).resolve().parent.parent
OURS = ("dpengine", "ui", "pages", "demos", "allowance", "app")


class Elsewhere(ModuleType):
    """`os` as our modules would see it there."""

    def __getattr__(self, name: str) -> Any:
        if name in NAMES:
            raise AttributeError(f"module 'os' has no attribute '{name}'")
        return getattr(os, name)


def hide() -> None:
    elsewhere, usual = Elsewhere("os"), builtins.__import__

    def imported(name: str, globals: Any = None, locals: Any = None, fromlist: Any = (), level: int = 0) -> Any:
        ours = level == 0 and str((globals or {}).get("__name__", "")).split(".")[0] in OURS
        if ours and name in MODULES:
            raise ModuleNotFoundError(f"No module named '{name}'", name=name)
        return elsewhere if ours and name == "os" else usual(name, globals, locals, fromlist, level)

    builtins.__import__ = imported  # type: ignore[assignment]


def opened() -> set[str]:
    found = set()
    for handle in os.listdir(PROC) if PROC.exists() else []:
        try:
            found.add(os.readlink(PROC / handle))
        except OSError:
            continue
    return found


def hold_open_files() -> None:
    def guarded(usual: Callable[..., Any], places: int) -> Callable[..., Any]:
        def careful(*given: Any, **named: Any) -> Any:
            paths = {os.path.realpath(os.fsdecode(path)) for path in given[:places]} if not named else set()
            if held := [file for file in opened() for path in paths if file == path or file.startswith(path + os.sep)]:
                raise PermissionError(13, "it is open in this process", held[0])
            return usual(*given, **named)

        return careful

    tempfile._os = Elsewhere("os")  # type: ignore[attr-defined]  # it has its own way there
    for name in NAMES:
        if hasattr(os, name):
            setattr(tempfile._os, name, getattr(os, name))  # type: ignore[attr-defined]
    for name, usual in {name: getattr(os, name) for name in ("unlink", "remove", "rename", "replace")}.items():
        setattr(tempfile._os, name, usual)  # type: ignore[attr-defined]
        setattr(os, name, guarded(usual, 2 if name in ("rename", "replace") else 1))


def live(folder: Path) -> None:
    import dpengine as dp
    from dpengine.__main__ import main
    from dpengine.core import files

    source = folder / "people.csv"
    lines = [f"{1500 + 7 * (i % 400)},{'TX' if i % 3 else 'ČB'},{i % 900}" for i in range(1800)]
    source.write_text("salary,state,id\n" + "\n".join(lines) + "\n", encoding="utf-8")
    schema = dp.Schema({"salary": dp.Number(1500, 4500), "state": dp.Category(["TX", "ČB"])})
    home = folder / "home"
    read_without_posix()
    with closing(dp.open_workspace(home)) as workspace:
        table = workspace.add_table(
            "people",
            source,
            schema=schema,
            unit=dp.Unit.column("id", at_most=2),
            relation="replace",
            budget=dp.Budget(epsilon="2", delta="1e-6"),
        )
        answer = table.ask(table.query("median", column="salary", epsilon="0.2"), checked=True)
        assert 1500 <= answer.interval[0] <= answer.interval[1] <= 4500
        (folder / "receipt.json").write_text(json.dumps(answer.receipt), encoding="utf-8")
        table.submit(table.query("count", epsilon="0.1"), request_id="one")
        workspace.jobs.wait("one", 60)
        assert workspace.job("one").state == "done"
        revised = dp.Schema({"salary": dp.Number(1000, 5000), "state": dp.Category(["TX", "ČB"])})
        table = table.revise(revised)
        table.ask(table.query("mean", column="salary", epsilon="0.2"), checked=True)
        published = table.query("publish", epsilon="0.2") if "publish" in dp.catalogue else None
        assert published is None or table.ask(published).value is not None
        add_a_sheet(workspace, folder)
        add_a_large_table(workspace, folder)
        write_a_report(workspace, table, folder)
        table.keep_draft("count", {"epsilon": "0.1"})
        assert workspace.verify_ledger().ok
    (folder / "safe").mkdir()
    for words in (
        ["verify", str(folder / "receipt.json"), str(home / "ledger.sqlite")],
        ["verify", "--home", str(home)],
        ["verify", "--kept", "--home", str(home)],
        ["head", "--home", str(home), "--write", str(folder / "safe" / "heads.txt")],
        ["head", "--home", str(home), "--check", str(folder / "safe" / "heads.txt")],
        ["backup", "--home", str(home), str(folder / "safe" / "copy")],
    ):
        assert main(words) == 0, words
    assert b"\r" not in (folder / "safe" / "heads.txt").read_bytes()
    there = folder / "there"
    assert main(["move", "--home", str(home), str(folder / "all.zip")]) == 0
    assert main(["arrive", "--home", str(there), str(folder / "all.zip")]) == 0
    with closing(dp.Workspace(there)) as workspace:
        table = workspace.table("people")
        drafted = table.draft()
        assert drafted is not None and drafted["key"] == "count"
        table.ask(table.query("count", epsilon="0.1"))
        for name in ("people", "sheet", "large"):
            workspace.forget(name)
        assert workspace.verify_ledger().ok and not any((there / "tables").iterdir())
    show(folder / "pages")
    assert not hasattr(files.os, "fork")  # or nothing was hidden
    if not PROC.exists():
        return
    with source.open("rb"):
        try:
            source.unlink()
        except PermissionError:
            return
    raise AssertionError("an open file was deleted")


def read_without_posix() -> None:
    """The process that reads spreadsheets sees no more of POSIX than this one."""
    from dpengine.intake import file_process

    here = [str(ROOT), str(ROOT / "tests")]
    hidden = f"import sys; sys.path[:0] = {here!r}; import helpers_systems; helpers_systems.hide_all(); "
    file_process._START = hidden + file_process._START


def add_a_sheet(workspace: Any, folder: Path) -> None:
    """From an .xlsx file, which a process of its own reads."""
    import openpyxl

    import dpengine as dp

    book = openpyxl.Workbook()
    for row in [("pay", "town"), *((1000 + i % 50, "Črni Vrh" if i % 2 else "Brest") for i in range(300))]:
        book.active.append(row)
    book.save(source := folder / "pay.xlsx")
    schema = dp.Schema({"pay": dp.Number(900, 1100), "town": dp.Category(["Črni Vrh", "Brest"])})
    terms: dict[str, Any] = {"unit": dp.Unit.rows(), "relation": "replace", "budget": dp.Budget("2", "1e-6")}
    table = workspace.add_table("sheet", source, schema=schema, **terms)
    answer = table.ask(table.query("histogram", column="town", epsilon="1"), checked=True)
    assert min(answer.value["Črni Vrh"], answer.value["Brest"]) > 75  # of 150; at ε = 1 less is rarer than 1e-30
    source.unlink()  # nobody holds it


def add_a_large_table(workspace: Any, folder: Path) -> None:
    """Its counts are kept beside its rows."""
    import dpengine as dp
    from dpengine.statistics import kept

    source = folder / "large.csv"
    source.write_text("k\n" + "\n".join(str(i % 7) for i in range(kept.LEAST_ROWS)) + "\n", encoding="utf-8")
    schema = dp.Schema({"k": dp.Number(0, 6, step=1)})
    terms: dict[str, Any] = {"unit": dp.Unit.rows(), "relation": "replace", "budget": dp.Budget("2", "1e-6")}
    table = workspace.add_table("large", source, schema=schema, **terms)
    assert 0 <= table.ask(table.query("mean", column="k", epsilon="1"), checked=True).value <= 6
    assert any((workspace.folder / "tables").rglob("*.kept-*.parquet"))
    source.unlink()


def write_a_report(workspace: Any, table: Any, folder: Path) -> None:
    """For Word, with pictures."""
    os.environ["ALLOWANCE_HOME"] = str(workspace.folder)
    from ui.answers import word

    findings = [word.Finding("A finding", answer) for answer in word.fit_for_report(table)]
    written = word.document(table, "Report", findings, workspace.ledger.head(), "2026-01-02")
    assert findings and written.startswith(b"PK")
    (folder / "report.docx").write_bytes(written)


def show(home: Path) -> None:
    """The first pages, as the app starts them."""
    os.environ["ALLOWANCE_HOME"] = str(home)
    from streamlit.testing.v1 import AppTest

    import app

    assert app.app is not None
    for page in ("start", "tables", "ask"):
        opened = AppTest.from_file(str(ROOT / "ui" / "main.py"), default_timeout=120)
        if page != "start":
            opened.switch_page(f"../pages/{page}.py")
        opened.run()
        assert not opened.exception and len(opened.get("html")) > 2, page


def hide_all() -> None:
    hide()
    hold_open_files()


if __name__ == "__main__":
    hide_all()
    live(Path(sys.argv[1]))
    print("lived")
