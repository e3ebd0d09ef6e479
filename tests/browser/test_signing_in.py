"""Signing in for real, in chromium, at a provider for trying: a deep link survives it, and signing out in one window
ends the other."""

from __future__ import annotations

import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from browser.steps import settled, shot
from helpers_serving import Office, office

import dpengine as dp


def refused(office: Office, path: str, **headers: str) -> int:
    """What somebody without a browser gets."""
    ask = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with ask.open(urllib.request.Request(office.address + path, headers=headers)) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as refusal:
        refusal.close()
        return refusal.code


@pytest.mark.long  # tests/pages/test_auth.py and test_provider.py put the same to the door itself
def test_in_and_out(open_page: Callable[..., Any], tmp_path: Path, server_log: Path) -> None:
    with office(tmp_path, server_log) as here:
        assert [refused(here, path) for path in ("/static/index.html", "/media/a.csv", "/_stcore/host-config")] == [
            401
        ] * 3
        assert refused(here, "/_stcore/health") == 200
        page = open_page()
        here.signed_in(page, "ana", "/ask?table=films&lang=en")
        assert "table=films" in page.url and page.url.startswith(f"{here.address}/ask")
        page.get_by_role("button", name="Ana Novak").click()
        page.get_by_text("ana@example.org").wait_for()
        shot(page, "signed-in")
        cookies = {one["name"]: one for one in page.context.cookies()}
        assert cookies["allowance"]["httpOnly"] and len(cookies["allowance"]["value"]) < 400
        stolen = f"allowance={cookies['allowance']['value']}"
        assert refused(here, "/_stcore/host-config", cookie=stolen) == 200
        other = page.context.new_page()
        other.goto(f"{here.address}/whatif?lang=en&see=curves")
        settled(other)
        with other.expect_download() as given:  # what a page offers somebody is theirs
            other.get_by_test_id("stDownloadButton").first.get_by_role("button").click()
        assert given.value.failure() is None and given.value.suggested_filename == "what-if.csv"
        other.goto(f"{here.address}/tables")
        settled(other)
        page.get_by_role("link", name="Sign out").click()
        page.get_by_text("You are signed out").wait_for()
        assert refused(here, "/_stcore/host-config", cookie=stolen) == 401
        other.get_by_text("Authenticate predefined users").wait_for()  # the other window went back to the provider
        space = dp.open_workspace(here.server.home)
        assert [one.email for one in space.people() if one.name == "Ana Novak"] == ["ana@example.org"]
