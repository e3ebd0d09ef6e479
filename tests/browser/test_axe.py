"""axe-core finds nothing on any page that Streamlit does not cause by itself; what it causes is listed here."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from axe_playwright_python.sync_playwright import Axe
from browser import views
from browser.steps import LIMIT, go, settled
from conftest import _wait_until_healthy, free_port


class Theirs(NamedTuple):
    """One violation of Streamlit's own mark-up: no page can change it."""

    rule: str
    selector: str
    made_by: str  # the call that makes it in an app with nothing else
    why: str


STREAMLIT = (
    Theirs(
        "presentation-role-conflict",
        'section[data-testid="stFileUploaderDropzone"]',
        'st.file_uploader("File")',
        "the drop zone is called a presentation and named at once; the button inside it has a name of its own",
    ),
)

_MATCHES = """([target, selectors]) => {
    const found = document.querySelector(target);
    return selectors.some(selector => found && found.matches(selector));
}"""


def violations(page: Any, allowed: tuple[Theirs, ...] = STREAMLIT) -> list[str]:
    """What axe finds, one line for each element, without what Streamlit causes."""
    found = []
    for rule in Axe().run(page).response["violations"]:
        theirs = [one.selector for one in allowed if one.rule == rule["id"]]
        for node in rule["nodes"]:
            target = node["target"][-1]
            if not page.evaluate(_MATCHES, [target, theirs]):
                found.append(f"{rule['id']}: {node['html'][:200]} ({node['failureSummary']})")
    return found


def opened(page: Any) -> None:
    """Everything that can be unfolded, and what the page says of itself."""
    page.evaluate("() => document.querySelectorAll('details:not([open]) > summary').forEach(one => one.click())")
    settled(page)
    page.locator(".st-key-what button").click()
    page.locator(".about").wait_for()


def test_start_has_nothing_to_mend_and_a_fault_would_be_found(page: Any) -> None:
    go(page)
    assert not violations(page)
    page.locator(".st-key-what button").click()
    page.locator(".about").wait_for()
    fault = """one => { one.innerHTML += '<img src="data:,"><p style="color:#999">pale</p>'; }"""
    page.locator(".about").evaluate(fault)
    assert {line.split(":")[0] for line in violations(page)} == {"image-alt", "color-contrast"}


@pytest.mark.long
@pytest.mark.parametrize(("look", "lang"), [("dark", "en"), ("light", "en"), ("light", "sl"), ("phone", "en")])
def test_no_page_has_anything_to_mend(look: str, lang: str, open_page: Callable[..., Any]) -> None:
    page = open_page(**views.LOOKS[look])
    addresses = views.pages() | views.each_lesson()
    wrong: dict[str, list[str]] = {}
    for used in (False, True):
        if used:
            addresses = views.use(page, lang) | views.after_asking()
        for name, address in addresses.items():
            go(page, address + ("&" if "?" in address else "?") + f"lang={lang}")
            wrong[name] = violations(page)
            opened(page)
            wrong[f"{name}, unfolded"] = violations(page)
    assert not {name: lines for name, lines in wrong.items() if lines}


@pytest.mark.long
@pytest.mark.parametrize("theirs", STREAMLIT, ids=lambda one: f"{one.rule}")
def test_an_app_with_nothing_else_has_the_same(theirs: Theirs, open_page: Callable[..., Any], tmp_path: Path) -> None:
    bare, log = tmp_path / "bare.py", tmp_path / "bare.log"
    bare.write_text(f"import streamlit as st\n{theirs.made_by}\n", encoding="utf-8")
    port = free_port()
    options = (f"--server.port={port}", "--server.headless=true", "--browser.gatherUsageStats=false")
    command = [sys.executable, "-m", "streamlit", "run", str(bare), *options]
    with log.open("wb") as said:
        server = subprocess.Popen(command, cwd=tmp_path, env=os.environ.copy(), stdout=said, stderr=said)
    try:
        url = f"http://127.0.0.1:{port}"
        _wait_until_healthy(url, server, log)
        page = open_page()
        go(page, url)
        page.locator(theirs.selector).wait_for()
        lines = [line for line in violations(page, ()) if line.startswith(theirs.rule)]
        assert lines and not [line for line in violations(page, (theirs,)) if line.startswith(theirs.rule)]
    finally:
        server.terminate()
        server.wait(timeout=LIMIT / 1000)
