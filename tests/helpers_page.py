"""A page without a browser: opened at an address, and what it says."""

from __future__ import annotations

import re
import time
from base64 import b64decode
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


def pictures(app: AppTest) -> list[str]:
    """The pictures of a page, each as the HTML that begins with its name."""
    return [part.partition('data-name="')[2] for part in html_of(app).split('<div class="drawn')[1:]]


def bars(picture: str) -> list[tuple[str, str, float]]:
    """The name of each bar in a picture, its colour and its length."""
    image = b64decode(picture.partition("data:image/svg+xml;base64,")[2].partition('"')[0]).decode()
    drawn = re.findall(r'<rect x="\S+" y="\S+" width="(\S+)" height="\S+" fill="(\S+)" opacity', image)
    names = re.findall(r'<[ua] [^>]*title="(.*?): ', picture)
    return [(unescape(name), fill, float(wide)) for name, (wide, fill) in zip(names, drawn, strict=True)]


def plain(part: str, between: str = " ") -> str:
    """Without tags, as a person reads it."""
    return unescape(re.sub(r"<style>.*?</style>|<[^>]+>", between, part, flags=re.S))
