"""A page without a browser: opened at an address, and what it says."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from html import escape, unescape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpengine.messages import CATALOGUES

if TYPE_CHECKING:
    from streamlit.testing.v1 import AppTest

ROOT = Path(__file__).resolve().parent.parent
PATIENCE = 120.0  # seconds, on a busy machine, for what would otherwise never come


def open_page(name: str, **address: str) -> AppTest:
    from streamlit.testing.v1 import AppTest

    app = AppTest.from_file(str(ROOT / "ui" / "main.py"), default_timeout=600)
    for key, value in address.items():
        app.query_params[key] = value
    app.run() if name == "start" else app.switch_page(f"../pages/{name}.py").run()
    assert not app.exception
    told = html_of(app)
    assert not any(escape(catalogue["page.failed"]) in told for catalogue in CATALOGUES.values()), (
        "the page could not be drawn"
    )
    return app


def until(page: Any, met: Callable[[], object]) -> None:
    """What is asked or saved in the background is there once the page is drawn again."""
    deadline = time.monotonic() + PATIENCE
    while not met():
        assert time.monotonic() < deadline, "it did not come"
        time.sleep(0.05)
        page.run()


def html_of(app: AppTest) -> str:
    return "\n".join(element.proto.body for element in app.get("html"))


def plain(part: str, between: str = " ") -> str:
    """Without tags, as a person reads it."""
    return unescape(re.sub(r"<style>.*?</style>|<[^>]+>", between, part, flags=re.S))
