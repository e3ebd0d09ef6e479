"""The wheel: what is in it, what it asks for, and that it works beside the repository and not because of it."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from email.parser import Parser
from pathlib import Path
from zipfile import ZipFile

import pytest
from packaging.requirements import Requirement

import allowance
from allowance import cli
from bench import evening
from dpengine import __main__ as commands
from dpengine.core import places
from tools import dist, release

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built without a network."""
    place = tmp_path_factory.mktemp("dist")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(place)],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    return next(place.glob("*.whl"))


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel alone, over the packages of this environment."""
    place = tmp_path_factory.mktemp("site")
    command = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "-q",
        "--no-index",
        "--no-deps",
        "--target",
        str(place),
        str(wheel),
    ]
    subprocess.run(command, check=True, capture_output=True)
    return place


def run(installed: Path, folder: Path, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    env = {name: value for name, value in os.environ.items() if not name.startswith("ALLOWANCE_")}
    env |= {
        "PYTHONPATH": str(installed),
        "PYTHONUTF8": "1",
        "HOME": str(folder),
        "USERPROFILE": str(folder),
    } | variables
    env["XDG_DATA_HOME"] = env["LOCALAPPDATA"] = str(folder / "data")
    return subprocess.run(
        [sys.executable, "-W", "error", *words], cwd=folder, env=env, capture_output=True, encoding="utf-8", timeout=240
    )


def test_the_wheel_holds_the_program_and_nothing_else(wheel: Path) -> None:
    with ZipFile(wheel) as archive:
        names = set(archive.namelist())
    info = f"allowance-{allowance.__version__}.dist-info"
    assert {name.split("/")[0] for name in names} == {"allowance", "dpengine", info}
    wanted = {"allowance/app.py", "allowance/.streamlit/config.toml", "allowance/ui/main.py", "allowance/ui/icon.png"}
    wanted |= {f"dpengine/samples/{path.name}" for path in (ROOT / "data").glob("*.csv")} | {"dpengine/py.typed"}
    for part, place in {"ui": "allowance/ui", "pages": "allowance/pages", "demos": "allowance/demos"}.items():
        wanted |= {f"{place}/{path.relative_to(ROOT / part).as_posix()}" for path in (ROOT / part).rglob("*.py")}
        wanted |= {f"{place}/{path.relative_to(ROOT / part).as_posix()}" for path in (ROOT / part).rglob("*.css")}
    wanted |= {path.relative_to(ROOT).as_posix() for path in (ROOT / "dpengine").rglob("*.py")}
    assert not wanted - names
    assert not [name for name in names if re.search(r"\.pyc$|\.sqlite|secret|/var/|make_samples|\.parquet", name)]


def required(file: str) -> set[str]:
    lines = (line.partition("#")[0].strip() for line in (ROOT / file).read_text(encoding="utf-8").splitlines())
    return {str(Requirement(line)) for line in lines if line and not line.startswith("-")}


def test_it_asks_for_what_the_checkout_asks_for(wheel: Path) -> None:
    with ZipFile(wheel) as archive:
        info = next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        told = Parser().parsestr(archive.read(info).decode())
        scripts = archive.read(info.replace("METADATA", "entry_points.txt")).decode()
    assert (
        told["Name"] == "allowance" and told["Version"] == allowance.__version__ and told["License-Expression"] == "MIT"
    )
    assert told["Requires-Python"] == ">=3.11" and "allowance = allowance.cli:main" in scripts
    wanted = [Requirement(one) for one in told.get_all("Requires-Dist") or []]
    for extra in ("", "serve", "postgres", "spark"):
        file = f"requirements-{extra}.in" if extra else "requirements.in"
        found = set()
        for one in wanted:
            if (f'extra == "{extra}"' in str(one.marker)) if extra else one.marker is None:
                bare = Requirement(str(one))
                bare.marker = None
                found.add(str(bare))
        assert found == required(file), file
    assert set(told.get_all("Provides-Extra") or []) == {"serve", "postgres", "spark"}


ASK = """
import json, sys
import dpengine as dp
from dpengine.core import places
table = dp.open_workspace().table("town")
answer = table.ask(table.query("median", column="monthly_income", epsilon="0.1"))
print(json.dumps([dp.__file__, str(places.home()), str(places.SAMPLES), answer.value]))
"""


@pytest.mark.long
def test_the_engine_answers_from_anywhere(installed: Path, tmp_path: Path) -> None:
    spoken = run(installed, tmp_path, "-c", ASK)
    assert spoken.returncode == 0, spoken.stderr
    engine, home, samples, value = json.loads(spoken.stdout)
    assert Path(engine).is_relative_to(installed) and Path(samples) == installed / "dpengine" / "samples"
    assert Path(home).is_relative_to(tmp_path) and 0 <= value <= 12_000
    assert not (installed / "var").exists() and not (tmp_path / "var").exists()


def test_the_command_knows_its_verbs(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In this process; installed, below."""
    monkeypatch.setenv("ALLOWANCE_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)

    def told(*words: str) -> tuple[int, str, str]:
        return cli.main(words), *capsys.readouterr()

    assert told("--version") == (0, f"allowance {allowance.__version__}\n", "")
    assert "--home" in told("--help")[1]
    code, _, unknown = told("sing")
    assert code == 2 and "workshop" in unknown
    code, _, nothing = told("backup", "copy", "--home", "nowhere")
    assert code == 2 and str(tmp_path / "nowhere") in nothing
    (tmp_path / "file").write_text("", encoding="utf-8")
    code, _, taken = told("--home", "file")
    assert code == 2 and len(taken.splitlines()) == 1


@pytest.mark.long
def test_the_installed_command_knows_its_verbs(installed: Path, tmp_path: Path) -> None:
    assert run(installed, tmp_path, "-m", "allowance", "--version").stdout == f"allowance {allowance.__version__}\n"
    assert "--home" in run(installed, tmp_path, "-m", "allowance", "--help").stdout
    unknown = run(installed, tmp_path, "-m", "allowance", "sing")
    assert unknown.returncode == 2 and "workshop" in unknown.stderr and "Traceback" not in unknown.stderr
    nothing = run(installed, tmp_path, "-m", "allowance", "backup", "copy", "--home", "nowhere")
    assert nothing.returncode == 2 and str(tmp_path / "nowhere") in nothing.stderr
    assert run(installed, tmp_path, "-m", "allowance", "serve").returncode == 2
    (tmp_path / "file").write_text("", encoding="utf-8")
    taken = run(installed, tmp_path, "-m", "allowance", "--home", "file")
    assert taken.returncode == 2 and len(taken.stderr.splitlines()) == 1


def test_every_command_says_how_it_is_called(capsys: pytest.CaptureFixture[str]) -> None:
    for name in commands.COMMANDS.keys() - {*commands.OWN_HELP}:
        assert commands.main([name, "--help"]) == 0
        assert f"python -m dpengine {name}" in capsys.readouterr().out


def test_a_place_of_another_user_is_refused_in_one_sentence(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Tests may run as root, who may use every place."""

    def refuse(path: Path, **_: object) -> bool:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "exists", refuse)
    for words in (["backup", "copy"], ["verify"], ["move", "all.zip"], ["arrive", "all.zip"], ["people"]):
        assert commands.main([*words, "--home", str(tmp_path)]) == 2, words
        [said] = capsys.readouterr().err.splitlines()
        assert str(tmp_path) in said and "user" in said


def test_where_the_folder_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv(places.SETTING, raising=False)
    assert places.home() == ROOT / "var" and places.SAMPLES == ROOT / "data"
    monkeypatch.setenv(places.SETTING, str(tmp_path))
    assert places.home() == tmp_path


def test_a_second_start_opens_the_first(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """And a taken port is no error."""
    monkeypatch.setenv(places.SETTING, str(tmp_path))
    seen: list[list[str]] = []
    monkeypatch.setattr(cli, "_shown", lambda note: seen.append([note.read_text(encoding="utf-8")]) or 0)

    def start(options: list[str]) -> int:
        seen.append(options)
        return cli.opened([]) if len(seen) == 1 else 0

    monkeypatch.setattr(cli, "run", start)
    first = cli.free_port()
    with cli.socket.socket() as other:
        other.bind(("127.0.0.1", first))
        other.listen()
        assert cli.opened(["--server.headless=true"]) == 0
    (port, headless), (address,) = seen
    assert port != f"--server.port={first}" and headless == "--server.headless=true"
    assert address == f"http://localhost:{port.rpartition('=')[2]}"


def test_the_bill_lists_every_pin() -> None:
    bill = dist.bill()
    pins = {
        name
        for file in dist.PINS
        for name in re.findall(r"^([A-Za-z0-9._-]+)==", (ROOT / file).read_text("utf-8"), re.M)
    }
    assert {part["name"] for part in bill["components"]} == pins and all(part["hashes"] for part in bill["components"])
    assert bill["bomFormat"] == "CycloneDX" and bill["metadata"]["component"]["version"] == allowance.__version__
    assert "://" not in json.dumps(bill)


def test_the_table_of_wheels_is_of_these_pins() -> None:
    text = dist.WHEELS.read_text(encoding="utf-8")
    assert (
        text == dist.table({(system, python): [] for system in dist.SYSTEMS for python in dist.PYTHONS})
        and "://" not in text
    )


# A release


def test_a_release_is_checked_before_hours_of_tests(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "allowance").mkdir()
    for name in ("VERSION", "CHANGELOG", "README"):
        path: Path = getattr(release, name)
        copy = tmp_path / path.relative_to(ROOT)
        copy.write_text(path.read_text(encoding="utf-8"), encoding="utf-8")
        monkeypatch.setattr(release, name, copy)
    monkeypatch.setattr(release, "ROOT", tmp_path)
    said = {"status": "", "tag": ""}
    monkeypatch.setattr(release, "_git", lambda *words: said[words[0]])
    (tmp_path / "CHANGELOG.md").write_text("# Changelog\n\n## Unreleased\n\n- Ask.\n", encoding="utf-8")
    assert len(release.check()) == 2 and release.prepare("1.0") and release.prepare("")
    assert release.prepare("9.8.7") == [] and release.version() == "9.8.7" and release.check() == []
    assert release.prepare("9.8.8")  # nothing is unreleased
    said["status"] = " M docs/audit.md\n M bench/results-people.md\n"
    assert release.check() == []
    said["status"] += " M ui/main.py\n"
    said["tag"] = "v9.8.7\n"
    assert len(release.check()) == 2 and "ui/main.py" in release.check()[0]
    assert release.done() == ["dist/ is not whole: make dist"]
    (tmp_path / "dist").mkdir()
    names = ("allowance-9.8.7-py3-none-any.whl", "allowance-9.8.7.tar.gz", "allowance-9.8.7.cdx.json")
    for name in names:
        (tmp_path / "dist" / name).write_text(name, encoding="utf-8")
    sums = "".join(f"{release._sum(tmp_path / 'dist' / name)}  {name}\n" for name in names)
    (tmp_path / "dist" / "SHA256SUMS").write_text(sums, encoding="utf-8")
    capsys.readouterr()
    assert release.done() == [] and "git tag -a v9.8.7" in capsys.readouterr().out
    (tmp_path / "dist" / names[0]).write_text("another", encoding="utf-8")
    assert len(release.done()) == 1 and release.main(["done"]) == 1


def test_a_release_runs_every_part(tmp_path: Path) -> None:
    """The targets exist, run in order, and the first failure ends it."""
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    parts = re.findall(r"(?m)^RELEASE := (.+)$", text)[0].split()
    assert parts == ["test", "test-engines", "test-dist", "audit", "bench-all", "dist"]
    assert all(re.search(rf"(?m)^{part}:", text) for part in parts)
    written = {path.name for path in (ROOT / "bench").glob("results*.md")}
    parts = {**evening.ERRORS, **evening.TIMES}
    files = {f"results-{name}.md" if name else "results.md" for name in parts.values()}
    assert written - {"results-evening.md"} == files
    assert all(
        (ROOT / "bench" / part.split()[0]).with_suffix(".py").exists() or part.startswith("utility") for part in parts
    )


def test_an_evening_goes_on_where_it_stopped(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    ran: list[str] = []

    def measured(part: str) -> dict[str, object]:
        ran.append(part)
        return {"began": "2026-01-02 19:00", "seconds": 60, "code": int(part == "kept" and len(ran) < 18), "load": 1.0}

    monkeypatch.setattr(evening, "measured", measured)
    for name in ("RESULTS", "KEPT", "LOGS"):
        monkeypatch.setattr(evening, name, tmp_path / name)
    monkeypatch.setattr(evening, "ROOT", tmp_path)
    monkeypatch.setattr("sys.argv", ["bench.evening"])
    with pytest.raises(SystemExit, match="Failed: kept"):
        evening.main()
    assert set(ran) == {*evening.ERRORS, *evening.TIMES} and "failed after 60" in evening.RESULTS.read_text("utf-8")
    ran += ["done before"]
    monkeypatch.setattr("sys.argv", ["bench.evening", "--resume", "pages"])
    assert evening.main() == 0 and ran[-2:] == ["pages --write", "kept"]
    assert "failed" not in evening.RESULTS.read_text("utf-8")


# The files to double-click

FAKE = """#!/bin/sh
echo "$@" >> "$HOME/calls"
case "$2" in venv) mkdir -p "$3/bin" && cp "$0" "$3/bin/python" ;; esac
"""


def clicked(folder: Path, path: str) -> subprocess.CompletedProcess[str]:
    env = {"HOME": str(folder), "PATH": path}
    return subprocess.run(
        ["sh", str(folder / "start.command")],
        cwd="/",
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
    )


def test_a_double_click_sets_up_once_and_starts(tmp_path: Path) -> None:
    folder = tmp_path / "my files"
    (folder / "bin").mkdir(parents=True)
    for name in ("start.command", "requirements.txt"):
        (folder / name).write_bytes((ROOT / name).read_bytes())
    (folder / "allowance-1.0-py3-none-any.whl").write_bytes(b"a wheel")
    for tool in ("sh", "dirname", "uname", "ls", "tail", "cmp", "rm", "mkdir", "cp"):
        (folder / "bin" / tool).symlink_to(shutil.which(tool) or pytest.fail(tool))
    none = clicked(folder, str(folder / "bin"))
    assert none.returncode == 1 and len(none.stdout.splitlines()) == 1 and "python.org" in none.stdout
    (folder / "bin" / "python3").write_text(FAKE, encoding="utf-8")
    (folder / "bin" / "python3").chmod(0o755)
    calls = folder / "calls"
    for wheel, setup in ((b"a wheel", True), (b"a wheel", False), (b"the next", True), (b"the next", False)):
        (folder / "allowance-1.0-py3-none-any.whl").write_bytes(wheel)
        calls.write_text("", encoding="utf-8")
        started = clicked(folder, str(folder / "bin"))
        assert started.returncode == 0 and not started.stderr, started.stdout + started.stderr
        *before, last = calls.read_text(encoding="utf-8").splitlines()
        assert last == "-m allowance" and any("--require-hashes" in line for line in before) == setup
        assert (
            any("-m venv" in line for line in before)
            == any("--no-deps allowance-1.0" in line for line in before)
            == setup
        )


def test_both_files_do_the_same() -> None:
    """Windows wants its own line ends, and knows no signs beyond ASCII before the code page is known."""
    windows, other = (ROOT / "start.cmd").read_bytes(), (ROOT / "start.command").read_bytes()
    assert windows.isascii() and other.isascii() and b"\r" not in other
    assert windows.count(b"\n") == windows.count(b"\r\n") > 20
    said = re.compile(rb"Allowance needs [^\"\r\n]+|Setting up did not work[^\"\r\n]+|Allowance has stopped[^\"\r\n]+")
    assert set(said.findall(windows)) == set(said.findall(other)) and len(set(said.findall(windows))) == 3
    assert os.access(ROOT / "start.command", os.X_OK)
