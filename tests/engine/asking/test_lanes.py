"""Who is answered next: people take turns, and what takes long delays nobody's short question."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pandas as pd
import pytest

import dpengine as dp
from dpengine.asking.jobs import THREADS, Lanes
from dpengine.mechanisms import asked_on, catalogue

PATIENCE = 120.0


class Desk:
    """Lanes whose threads are held until they are let go, and the order in which work was done."""

    def __init__(self) -> None:
        self.lanes, self.done, self._open = Lanes(), [], threading.Event()
        self._held = threading.Barrier(sum(THREADS.values()) + 1)

    def hold(self) -> None:
        def wait() -> None:
            self._held.wait(PATIENCE)
            self._open.wait(PATIENCE)

        for long, threads in THREADS.items():
            for place in range(threads):
                self.lanes.put("nobody", f"held-{long}-{place}", wait, long)
        self._held.wait(PATIENCE)

    def put(self, person: str, request: str, long: bool = False) -> None:
        self.lanes.put(person, request, self._noted(request), long)

    def go(self) -> None:
        self._open.set()

    def _noted(self, request: str) -> Callable[[], None]:
        return lambda: self.done.append(request)

    done: list[str]


@pytest.fixture
def desk() -> Iterator[Desk]:
    made = Desk()
    yield made
    made.go()
    made.lanes.close()


def test_one_person_with_many_questions_delays_another_by_one_turn(desk: Desk) -> None:
    desk.hold()
    for place in range(5):
        desk.put("ana", f"ana-{place}")
    desk.put("bor", "bor-0")
    desk.put("bor", "bor-1")
    order = ["ana-0", "bor-0", "ana-1", "bor-1", "ana-2", "ana-3", "ana-4"]
    assert [desk.lanes.ahead(request) for request in order] == [1, 2, 3, 4, 5, 6, 7]
    desk.go()
    until = time.monotonic() + PATIENCE
    while len(desk.done) < 7 and time.monotonic() < until:
        time.sleep(0.01)
    assert sorted(desk.done) == sorted(order) and desk.lanes.ahead("ana-4") == 0


def test_a_count_does_not_wait_for_trainings(desk: Desk) -> None:
    began, go = threading.Event(), threading.Event()

    def train() -> None:
        began.set()
        go.wait(PATIENCE)

    desk.lanes.put("ana", "training-0", train, long=True)
    desk.lanes.put("ana", "training-1", train, long=True)
    assert began.wait(PATIENCE)
    told = threading.Event()
    desk.lanes.put("bor", "count", told.set)
    assert told.wait(PATIENCE) and desk.lanes.ahead("training-1") == 1
    go.set()


def test_what_may_take_minutes_says_so_itself() -> None:
    long = {key for key, question in catalogue.items() if question.takes_long}
    assert long == {*asked_on("train"), *asked_on("publish"), *asked_on("synthetic")} - {"check_model"}


def test_a_question_says_how_many_are_answered_before_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace = dp.Workspace(tmp_path)
    schema = dp.Schema({"age": dp.Number(0, 100)})
    table = workspace.add_table(
        "people", pd.DataFrame({"age": [30, 40]}), schema=schema, unit=dp.Unit.rows(), budget=dp.Budget("9", "1e-6")
    )
    go, real = threading.Event(), workspace.read
    monkeypatch.setattr(workspace, "read", lambda *given: go.wait(PATIENCE) and real(*given))
    jobs = [
        table.submit(table.query("mean", column="age", epsilon="1"), f"request-number-{place}") for place in range(4)
    ]
    until = time.monotonic() + PATIENCE
    while [workspace.job(job.request_id).state for job in jobs].count("running") < 2 and time.monotonic() < until:
        time.sleep(0.01)
    assert [workspace.job(job.request_id).ahead for job in jobs] == [0, 0, 0, 1]
    go.set()
    assert [workspace.jobs.wait(job.request_id, PATIENCE).state for job in jobs] == ["done"] * 4
    workspace.close()
