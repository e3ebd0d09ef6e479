"""What a journey does between clicks: wait until the page is at rest, and take its picture."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

# How long anything is waited for, in milliseconds. Every wait is for something that happens, so that it takes no longer
# than it must: the limit is for what never happens, and holds on two cores with eight others at work.
LIMIT = 120_000
TEST_LIMIT = 900  # seconds, of one journey

not_ours: set[str] = set()  # addresses of pages that a journey passes and that are not this app's

SHOTS = Path(__file__).resolve().parents[2] / "build" / "shots"

_AT_REST = """(quiet) => {
    const app = document.querySelector('[data-testid="stApp"]');
    const calm = app
        && app.dataset.testConnectionState === 'CONNECTED'
        && app.dataset.testScriptState === 'notRunning'
        && !document.querySelector('[data-testid="stSkeleton"], [data-testid="stAppSkeleton"]');
    if (!calm) { window.allowanceCalmSince = null; return false; }
    window.allowanceCalmSince ??= performance.now();
    return performance.now() - window.allowanceCalmSince >= quiet;
}"""

# Streamlit scrolls inside the window, so a picture of the whole page needs a window as tall as what is inside it.
_FULL_HEIGHT = """() => {
    const main = document.querySelector('[data-testid="stMain"]');
    return main ? Math.ceil(main.getBoundingClientRect().top + main.scrollHeight) : document.body.scrollHeight;
}"""


_DRAWN = "() => new Promise(drawn => requestAnimationFrame(() => requestAnimationFrame(() => drawn(true))))"


def settled(page: Any, quiet_ms: int = 300) -> Any:
    """Wait until the app is connected, no script runs and nothing is still loading, for `quiet_ms` on end."""
    page.evaluate("() => { window.allowanceCalmSince = null; }")
    page.wait_for_function(_AT_REST, arg=quiet_ms, timeout=LIMIT, polling=50)
    return page


def go(page: Any, path: str = "/") -> Any:
    """Open a page of the app and wait until it is at rest."""
    page.goto(path)
    return settled(page)


def shot(page: Any, name: str, always: bool = False) -> Path:
    """Save a picture of the whole page as build/shots/<name>.png; where nobody looks (CI=true), only of a failure."""
    if os.environ.get("CI") and not always:
        return SHOTS
    SHOTS.mkdir(parents=True, exist_ok=True)
    target = SHOTS / (re.sub(r"[^\w.-]+", "-", name).strip("-") + ".png")
    window = page.viewport_size
    height = max(window["height"], min(page.evaluate(_FULL_HEIGHT), 12_000))
    if height != window["height"]:
        page.set_viewport_size({"width": window["width"], "height": height})
        page.wait_for_function("(height) => window.innerHeight === height", arg=height, timeout=LIMIT)
        page.evaluate(_DRAWN)
    page.screenshot(path=target, full_page=True, animations="disabled")
    if height != window["height"]:
        page.set_viewport_size(window)
    return target
