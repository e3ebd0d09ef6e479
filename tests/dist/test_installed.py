"""`make test-dist`: the wheel in an empty environment outside the repository starts, and answers in a browser."""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

import allowance
from allowance.cli import free_port
from bench.page import FLAGS

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 120.0  # seconds
LIMIT = 1000 * PATIENCE


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an environment `env` that holds the wheel and what it asks for, at the pinned versions."""
    place = tmp_path_factory.mktemp("elsewhere")
    assert ROOT not in place.parents
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(place)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    pins = re.findall(r"(?m)^[A-Za-z0-9._-]+==[^\\\n]+", (ROOT / "requirements.txt").read_text(encoding="utf-8"))
    (place / "pins.txt").write_text("\n".join(pins) + "\n", encoding="utf-8")
    subprocess.run([sys.executable, "-m", "venv", str(place / "env")], check=True)
    [wheel] = place.glob("*.whl")
    install = ["-m", "pip", "--disable-pip-version-check", "install", "-q", "-c", str(place / "pins.txt"), str(wheel)]
    ran(place, str(place / "env" / "bin" / "python"), *install)
    return place


def environment(place: Path) -> dict[str, str]:
    ours = ("ALLOWANCE_", "PYTHON", "STREAMLIT_", "VIRTUAL_ENV")
    env = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    return env | {"HOME": str(place / "me"), "XDG_DATA_HOME": str(place / "me" / "data"), "BROWSER": "true"}


def ran(place: Path, *command: str) -> str:
    done = subprocess.run(
        command, cwd=place, env=environment(place), capture_output=True, encoding="utf-8", timeout=800
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@contextmanager
def started(place: Path) -> Iterator[str]:
    port = free_port()
    command = [str(place / "env" / "bin" / "allowance"), f"--server.port={port}", "--server.headless=true"]
    with (place / "log").open("w") as log:
        app = subprocess.Popen(command, cwd=place, env=environment(place), stdout=log, stderr=log)
        try:
            address, deadline = f"http://localhost:{port}", time.monotonic() + PATIENCE
            while time.monotonic() < deadline and app.poll() is None:
                try:
                    with urllib.request.urlopen(f"{address}/_stcore/health", timeout=5):
                        break
                except OSError:
                    time.sleep(0.1)
            assert app.poll() is None, (place / "log").read_text()
            yield address
        finally:
            app.terminate()
            app.wait()


def test_the_wheel_answers_in_a_browser(place: Path) -> None:
    from playwright.sync_api import sync_playwright

    command = str(place / "env" / "bin" / "allowance")
    assert ran(place, command, "--version") == f"allowance {allowance.__version__}\n"
    with started(place) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        page = browser.new_page()
        page.set_default_timeout(LIMIT)
        page.goto(address)
        page.locator(".st-key-start-try a").click()
        page.locator(".st-key-ask-go button").click()
        assert re.search(r"\d", page.locator(".headline").inner_text())
        browser.close()
        assert address in ran(place, command)  # a second start finds the first
    folder = place / "me" / "data" / "Allowance"
    assert (folder / "ledger.sqlite").is_file() and folder.stat().st_mode & 0o77 == 0
    ran(place, command, "verify")
    with closing(sqlite3.connect(folder / "ledger.sqlite")) as ledger:
        assert ledger.execute("SELECT count(*) FROM entries WHERE kind = 'answer'").fetchone() == (1,)


def test_nothing_of_ours_has_a_common_name(place: Path) -> None:
    [packages] = (place / "env" / "lib").glob("python*/site-packages")
    names = {path.name for path in packages.iterdir()}
    assert {"allowance", "dpengine"} <= names and not names & {
        "ui",
        "pages",
        "data",
        "demos",
        "bench",
        "tests",
        "tools",
    }
    ran(place, str(place / "env" / "bin" / "python"), "-m", "pip", "check")
