"""`python -m bench.first_start`: from the command to the first screen, beside an empty Streamlit app, and the first
question on a sample of 30,000 rows.

Both apps start by turns in new processes and are opened in one running chromium. Beside wall time stands the server's
processor time, which other work on the machine changes little. The question is the one that Start offers: two clicks.
It ends when the answer can be read; beside it stands when its picture is there too.
"""

from __future__ import annotations

import os
import shutil
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from allowance.cli import free_port
from bench.page import FLAGS
from bench.tasks import ROOT

TIMES = 5
EMPTY = "import streamlit as st\n\nst.title('Empty')\n"


@contextmanager
def started(command: list[str], **variables: str) -> Iterator[tuple[str, int]]:
    port = free_port()
    options = [f"--server.port={port}", "--server.headless=true"]
    env = {**os.environ, **variables}
    process = subprocess.Popen(
        [*command, *options], cwd=ROOT, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        yield f"http://localhost:{port}", process.pid
    finally:
        process.terminate()
        process.wait()


def processor(pid: int) -> float:
    """Seconds of processor time of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def opened(page: Any, url: str, selector: str) -> None:
    port = int(url.rpartition(":")[2])
    while True:  # asked by a browser before it listens, it would show an error page
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                break
        time.sleep(0.02)
    page.goto(url, wait_until="commit")
    page.locator(selector).first.wait_for()


def measure(times: int = TIMES) -> dict[str, float]:
    from playwright.sync_api import sync_playwright

    seen: dict[str, list[float]] = {}

    def note(**figures: float) -> None:
        for name, figure in figures.items():
            seen.setdefault(name.replace("_", " "), []).append(figure)

    with sync_playwright() as playwright, TemporaryDirectory() as folder:
        (empty := Path(folder) / "empty.py").write_text(EMPTY, encoding="utf-8")
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        for turn in range(times + 1):
            for name in ("empty", "allowance"):
                command = [
                    sys.executable,
                    "-m",
                    *(["streamlit", "run", str(empty)] if name == "empty" else ["allowance"]),
                ]
                page = browser.new_page()
                page.set_default_timeout(180_000)
                began = time.perf_counter()
                with started(command, ALLOWANCE_HOME=str(Path(folder) / f"home{turn}")) as (url, pid):
                    opened(page, url, "h1" if name == "empty" else ".st-key-start-try a")
                    figures = {f"{name}_wall": time.perf_counter() - began, f"{name}_processor": processor(pid)}
                    if name == "allowance":
                        page.locator(".st-key-start-try a").click()
                        page.locator(".st-key-ask-go button").wait_for()
                        page.wait_for_timeout(3000)  # a person reads
                        asked, used = time.perf_counter(), processor(pid)
                        page.locator(".st-key-ask-go button").click()
                        page.locator(".headline").wait_for()
                        figures |= {
                            "question_wall": time.perf_counter() - asked,
                            "question_processor": processor(pid) - used,
                        }
                        page.locator(".drawn img").first.wait_for()
                        figures["picture_wall"] = time.perf_counter() - asked
                page.close()
                if turn:  # the first brings files into the system's cache
                    note(**figures)
        browser.close()
    medians = {name: statistics.median(figures) for name, figures in seen.items()}
    return medians | {
        "ratio of wall time": medians["allowance wall"] / medians["empty wall"],
        "ratio of processor time": medians["allowance processor"] / medians["empty processor"],
    }


if __name__ == "__main__":
    for name, figure in measure(int(sys.argv[1]) if len(sys.argv) > 1 else TIMES).items():
        print(f"{name:26} {figure:6.2f}")
