"""A class in three browsers: an instructor with a code, a phone and a desk that ask once each, and a new round."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from browser.steps import go, settled, shot

from ui.shell import workshop_state

CODE = "ABCD-2345"
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True}


@pytest.mark.long
def test_two_visitors_and_an_instructor(
    open_page: Callable[..., Any], own_server: Callable[..., Any], tmp_path: Path, server_log: Path
) -> None:
    told = {workshop_state.CODE: CODE, workshop_state.ADDRESS: "http://127.0.0.1:1"}
    with own_server(tmp_path / "home", server_log, **told) as server:
        teacher, phone, desk = open_page(), open_page(**PHONE), open_page(color_scheme="dark")
        for page in (teacher, phone, desk):
            go(page, f"{server.url}/wall")
            page.get_by_text("Not private: workshop.").wait_for()
        assert not phone.get_by_role("button", name="Put it on the wall").count()
        teacher.get_by_text("For the instructor").click()
        teacher.get_by_label("Instructor’s code").fill("ABCD-2346")
        teacher.get_by_role("button", name="Unlock").click()
        teacher.get_by_text("That is not the code").wait_for()
        teacher.get_by_label("Instructor’s code").fill(CODE)
        teacher.get_by_role("button", name="Unlock").click()
        teacher.get_by_role("button", name="Put it on the wall").click()
        for page in (phone, desk):  # the question appears by itself
            page.get_by_role("button", name="Ask —").click()
            page.get_by_text("Your answer").wait_for()
        teacher.get_by_text("2 answers;").wait_for()
        assert CODE not in teacher.url and CODE not in teacher.content()
        teacher.get_by_text("Show the truth").click()
        for page in (phone, desk, teacher):
            page.get_by_text("the truth is 25,234.").wait_for()
        teacher.get_by_text("Show 1,000 simulated answers").click()
        phone.get_by_text("Simulated: what 1,000 of you would give").wait_for()
        for name, page in (("instructor", teacher), ("phone", phone), ("dark", desk)):
            shot(page, f"wall-{name}")
        phone.reload()
        settled(phone, quiet_ms=50)
        phone.get_by_text("Your answer").wait_for()
        assert not phone.get_by_role("button", name="Ask —").count()
        teacher.get_by_role("button", name="New round").click()
        teacher.get_by_role("button", name="Begin a new round").click()
        desk.get_by_text("The wall is empty.").wait_for()
        go(desk, f"{server.url}/data")
        desk.get_by_text("nobody can add another").wait_for()
        assert not desk.get_by_test_id("stFileUploader").count()
