"""Figures about the server: for an administrator's own token, about no table and no person, and a release's duration
changes nothing in them."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from helpers_door import COUNT, PLENTY, AtDoor, at_door

from dpengine.ledger.people_rules import ADMINISTRATOR
from tests.helpers_people import MINE, OTHER
from ui.api.app import ApiApp
from ui.api.metrics import OFTEN, Counters, MetricsApp

WANTED = COUNT | {"request": "one"}


class Watched:
    """Both doors of one server, and its clock."""

    def __init__(self, here: AtDoor) -> None:
        self.now, self.counted = 0.0, Counters()
        self.api = AtDoor(here.here, ApiApp(lambda: here.here.workspace, PLENTY, self.counted), here.made)
        figures = MetricsApp(lambda: here.here.workspace, self.counted, PLENTY, lambda: self.now)
        self.figures = AtDoor(here.here, figures, here.made)

    def text(self) -> str:
        self.now += OFTEN
        said = self.figures.ask("/metrics", self.figures.token("administrator", metrics=True))
        assert said.status == 200 and said.headers["content-type"].startswith("application/openmetrics-text")
        return str(said.body)

    def value(self, name: str) -> int:
        found = re.search(rf"^{re.escape(name)} (\d+)$", self.text(), re.MULTILINE)
        return int(found[1]) if found else 0


@pytest.mark.long
def test_what_is_counted(tmp_path: Path) -> None:
    with at_door(tmp_path) as door:
        here, token = Watched(door), door.token()
        here.api.ask("ask", token, WANTED)
        here.api.ask("ask", token, WANTED)  # again: it is the same question
        here.api.ask("ask", token, COUNT | {"request": "dear", "parameters": COUNT["parameters"] | {"epsilon": "9"}})
        here.api.ask("meter/none", token)
        here.api.ask("tables", "forged")
        for seconds in (0.05, 0.1, 3.0, 60.0):
            here.counted.page(seconds)
        text = here.text()
        assert text.endswith("# EOF\n") and text.count("# TYPE") == text.count("# HELP") == 6
        for line, value in (
            ("allowance_questions_total", 2),
            ("allowance_api_requests_total", 5),
            ('allowance_api_refusals_total{class="table"}', 1),
            ('allowance_api_refusals_total{class="door"}', 1),
            ('allowance_queue{lane="short"}', 0),
            ('allowance_queue{lane="long"}', 0),
            ('allowance_page_seconds_bucket{le="0.1"}', 2),
            ('allowance_page_seconds_bucket{le="5.0"}', 3),
            ('allowance_page_seconds_bucket{le="+Inf"}', 4),
        ):
            assert here.value(line) == value, line
        refused = re.findall(r'^allowance_refusals_total\{class="(\w+)"\} 1$', text, re.MULTILINE)
        assert len(refused) == 1
        for private in (MINE, OTHER, "analyst", "p-", "count", *door.here.ids.values()):
            assert private not in text.replace("counter", ""), private
        assert "_sum" not in text  # exact times would tell more than the classes


def test_only_an_administrators_own_token_opens_them(tmp_path: Path) -> None:
    with at_door(tmp_path) as door:
        here = Watched(door)
        good = door.token("administrator", metrics=True)
        for token in ("", "alw_x_y", door.token("administrator"), door.token("owner"), door.token("auditor")):
            assert here.figures.ask("/metrics", token).status == 401
        assert here.figures.ask("/metrics", good, method="POST").status == 405
        assert here.figures.ask("/metrics", good, headers={"origin": "https://data.example.org"}).status == 403
        assert here.figures.ask("/metrics", good).status == 200
        door.here.name("eva", ADMINISTRATOR)
        door.here.name("administrator", ADMINISTRATOR, on=False)
        assert here.figures.ask("/metrics", good).status == 401


def test_how_long_a_release_takes_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told = []
    for name, pause in (("quick", 0.0), ("slow", 0.4)):
        (tmp_path / name).mkdir()
        with at_door(tmp_path / name) as door, monkeypatch.context() as patched:
            here, read = Watched(door), type(door.here.workspace).read
            patched.setattr(type(door.here.workspace), "read", slower(read, pause))
            handed = here.api.ask("ask", door.token(), WANTED | {"wait": 0})
            at_once = here.text()
            person = door.here.person("analyst")
            assert handed.status in (200, 202) and door.here.workspace.jobs.of(person).wait("one", 60).state == "done"
            assert here.text() == at_once  # that it has ended is not told either
            here.api.ask("ask", door.token(), WANTED | {"request": "two"})
            told.append(here.text())
    assert told[0] == told[1]


def slower(read: Callable[..., Any], pause: float) -> Callable[..., Any]:
    def reads(*given: Any) -> Any:
        time.sleep(pause)
        return read(*given)

    return reads


def test_they_are_told_anew_four_times_a_minute(tmp_path: Path) -> None:
    with at_door(tmp_path) as door:
        here, token = Watched(door), door.token("administrator", metrics=True)
        before = here.text()
        here.api.ask("tables", door.token())
        here.now += OFTEN - 0.01
        assert here.figures.ask("/metrics", token).body == before
        assert here.text() != before
