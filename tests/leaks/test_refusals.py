"""Every refusal is caused on a table of canaries; neither its sentence nor anything it carries along holds one."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from leaks import exits, refusal_codes, refusals, stage, tally
from leaks.canaries import Scan
from leaks.refusal_bench import Bench

from dpengine.core.errors import AllowanceError
from dpengine.intake import file_process
from dpengine.messages import CATALOGUES

ROOT = Path(__file__).resolve().parents[2]
READER = """
import io, sys
sys.path.insert(0, sys.argv[1])
from dpengine.intake import file_process
jobs, told = sys.stdin, sys.stdout
for job in jobs:
    sys.stdin, sys.stdout = io.StringIO(job), told
    file_process.main()
    told.write('{"over": true}\\n')
    told.flush()
"""


@pytest.fixture(name="bench")
def made_bench(tmp_path: Path) -> Bench:
    folders = [tmp_path / name for name in ("home", "source", "files")]
    for folder in folders:
        folder.mkdir()
    return Bench(stage.build(folders[0], folders[1]), folders[2])


@pytest.fixture
def one_reader(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """To start a process for each foreign file takes half a second: one reads them all, and its errors stay there."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    command, usual, start = [sys.executable, "-I", "-c", READER, str(ROOT)], file_process.run, file_process._START
    with subprocess.Popen(command, encoding="utf-8", **pipes) as reader:  # type: ignore[call-overload]

        def run(work: str, given: Any, progress: Any = None) -> Any:
            if start != file_process._START:  # a cause of its own
                return usual(work, given, progress)
            reader.stdin.write(json.dumps({"work": work, "given": given}) + "\n")
            reader.stdin.flush()
            told: dict[str, Any] = {}
            while "over" not in (line := json.loads(reader.stdout.readline())):
                told = line
            if "refused" in told:
                raise AllowanceError(told["refused"], **told["facts"])
            return told["done"]

        monkeypatch.setattr(file_process, "run", run)
        yield


def caused(bench: Bench, scan: Scan) -> list[str]:
    """The codes that came out wrong; the scan sees every error, and what the workspace looks like afterwards."""
    wrong = []
    for code, cause in refusals.CAUSES.items():
        looked_for = code.startswith(("load.", "column.absent"))  # nothing stays of what was refused
        before = here(bench) if looked_for else set()
        try:
            cause(bench)
            wrong.append(f"{code}: nothing was refused")
        except AllowanceError as refusal:
            exits.error(scan, refusal, code)
            if refusal.code != code:
                wrong.append(f"{code}: {refusal.code}")
        if looked_for:
            wrong += [f"{code}: left {name}" for name in here(bench) - before]
    return wrong


def here(bench: Bench) -> set[str]:
    """What lies in the workspace."""
    home = bench.stage.workspace.folder
    return {str(path.relative_to(home)) for part in ("tables", "tmp") for path in (home / part).rglob("*")}


def test_every_code_is_caused_or_has_a_reason() -> None:
    known = refusal_codes.codes()
    assert not {code for code in known if code not in refusals.CAUSES and not refusal_codes.cannot(code)}
    assert not set(refusals.CAUSES) - known and not set(refusal_codes.CANNOT) - known
    assert not set(refusals.CAUSES) & set(refusal_codes.CANNOT)
    assert known <= set(CATALOGUES["en"])


def scanned(bench: Bench, caplog: Any, capfd: Any) -> Scan:
    caplog.set_level(logging.DEBUG)
    scan = Scan(bench.stage.canaries)
    assert not caused(bench, scan)
    scan.look("log at debug level", caplog.text)
    told = capfd.readouterr()
    scan.look("printed", told.out + told.err)
    exits.files(scan, bench.stage.workspace.folder)
    exits.caches(scan)
    return scan


@pytest.mark.usefixtures("one_reader")
def test_no_refusal_holds_a_canary(bench: Bench, caplog: Any, capfd: Any) -> None:
    assert not scanned(bench, caplog, capfd).findings


@pytest.mark.long
def test_no_refusal_holds_a_canary_and_how_many_there_are(bench: Bench, caplog: Any, capfd: Any) -> None:
    scan = scanned(bench, caplog, capfd)
    tally.tell(scan, "refusals")
    caused, known = len(refusals.CAUSES), len(refusal_codes.codes())
    tally.add(
        [
            ["refusals: kinds caused", caused, "", len(scan.canaries), 0],
            ["refusals: kinds that cannot be caused on a table", known - caused, "", "", ""],
        ]
    )
    assert not scan.findings


def test_hidden_causes_are_looked_into() -> None:
    """Power: an error that was raised over one that quotes a cell is found, however it is hidden."""
    canaries = stage.canaries()
    for hide in (True, False):
        scan = Scan(canaries)
        try:
            try:
                float(canaries[4].core)
            except ValueError as fault:
                if hide:
                    raise AllowanceError("load.unreadable") from None
                raise AllowanceError("load.unreadable") from fault
        except AllowanceError as refusal:
            exits.error(scan, refusal, "planted")
        assert scan.findings
