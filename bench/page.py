"""The Start page in chromium against an empty Streamlit app: milliseconds from navigation to what a person came for.

Each visit is a new visitor with an empty cache. The clock is the page's own: the first frame in which the
three numbers (there: the title) are laid out. The servers are warm; the very first visit after a start is told apart.
"""

from __future__ import annotations

import os
import shutil
import socket
import statistics
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bench.tasks import BUILD, ROOT

VISITS = 9
APPS = {  # what a person came for, and all of it
    "Start page": ("app.py", ".why b", ".st-key-start-try a"),
    "empty app": ("bench/empty_app.py", "h1", "h1"),
}
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-sync",
    "--disable-background-networking",
    "--disable-component-update",
]
_WATCH = """(() => {
    window.seen = {};
    const wanted = %s;
    const look = () => {
        for (const [name, selector] of Object.entries(wanted)) {
            const found = document.querySelector(selector);
            if (!(name in window.seen) && found && found.getBoundingClientRect().height > 0)
                window.seen[name] = performance.now();
        }
        if (Object.keys(window.seen).length < Object.keys(wanted).length) requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
})()"""


def measure() -> dict[str, Any]:
    """By app: the median, the first visit, and how many visits. Or why there is nothing to tell."""
    chromium = shutil.which("chromium")
    if chromium is None:
        return {"failed": "there is no chromium in PATH"}
    from playwright.sync_api import sync_playwright

    times: dict[str, list[dict[str, float]]] = {name: [] for name in APPS}
    with ExitStack() as stack:
        addresses = {name: stack.enter_context(_served(app[0])) for name, app in APPS.items()}
        playwright = stack.enter_context(sync_playwright())
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        for _ in range(VISITS + 1):
            for name, app in APPS.items():  # by turns: other work on the machine meets both
                times[name].append(_visit(browser, addresses[name], *app[1:]))
        browser.close()
    return {
        name: {
            "median": statistics.median(visit["first"] for visit in visits[1:]),
            "whole": statistics.median(visit["whole"] for visit in visits[1:]),
            "cold": visits[0]["first"],
            "times": len(visits) - 1,
        }
        for name, visits in times.items()
    }


def _visit(browser: Any, address: str, first: str, whole: str) -> dict[str, float]:
    context = browser.new_context(viewport={"width": 1280, "height": 900}, reduced_motion="reduce")
    page = context.new_page()
    page.add_init_script(_WATCH % {"first": first, "whole": whole})
    page.goto(address, wait_until="commit")
    page.wait_for_function("() => Object.keys(window.seen).length === 2", timeout=60_000)
    seen: dict[str, float] = page.evaluate("() => window.seen")
    context.close()
    return seen


@contextmanager
def _served(script: str, place: str = "", module: str = "streamlit") -> Iterator[str]:
    """The address of a server of its own; `place` is its folder, else an empty one."""
    with _running(script, place, module) as (base, _):
        yield base


@contextmanager
def _running(script: str, place: str = "", module: str = "streamlit") -> Iterator[tuple[str, int]]:
    """The address of a server of its own, and its process."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    command = [sys.executable, "-m", module, "run", script, f"--server.port={port}", "--server.headless=true"]
    BUILD.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory() as home, (BUILD / "page-server.log").open("ab") as log:
        env = os.environ | {"ALLOWANCE_HOME": place or home}
        process = subprocess.Popen(command, cwd=ROOT, env=env, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        try:
            _wait(f"http://127.0.0.1:{port}", process, Path(log.name))
            yield f"http://127.0.0.1:{port}", process.pid
        finally:
            process.terminate()
            process.wait(timeout=20)


def _wait(address: str, process: subprocess.Popen[bytes], log: Path) -> None:
    ask = urllib.request.build_opener(urllib.request.ProxyHandler({})).open
    deadline = time.monotonic() + 90
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with ask(f"{address}/_stcore/health", timeout=2) as answer:
                if answer.status == 200:
                    return
        except OSError:
            time.sleep(0.1)
    raise RuntimeError(f"an app did not start; see {log.name}")
