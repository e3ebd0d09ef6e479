"""A release from charge to stored answer: once, in order, and never a refund; and what a page can learn of it."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from dpengine.asking import jobs as jobs_module
from dpengine.asking.jobs import Jobs
from dpengine.asking.release import charge_and_draw
from dpengine.core.errors import AllowanceError, BudgetExceeded
from dpengine.ledger.ledger import Ledger
from dpengine.messages import say
from tests.helpers_ledger import PATIENCE, ask, code_of, once_closing, opened, until, value

SECRET = "salary of Ana is 4711"


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with opened(tmp_path) as made:
        yield made


@pytest.fixture
def jobs(tmp_path: Path, ledger: Ledger) -> Iterator[Jobs]:
    made = Jobs(tmp_path, ledger)
    yield made
    made.close()


# The steps


def test_charge_then_read_then_draw_then_store(ledger: Ledger, jobs: Jobs) -> None:
    steps = []

    def read() -> int:
        with closing(Ledger(ledger.path)) as other:  # committed: another connection sees it
            entry = other.find("r")
            assert entry is not None and entry.outcome is None and other.standing("b").charges == 1
        assert jobs.state("r").state == "running"
        steps.append("read")
        return 7

    def draw(statistic: int) -> dict[str, Any]:
        steps.append("draw")
        return value(statistic)

    entry = charge_and_draw(ledger, ask("r", worker=jobs.worker), read, draw)
    assert steps == ["read", "draw"]
    assert entry == ledger.find("r") and entry.outcome is not None and entry.outcome.body == value(7)
    again = charge_and_draw(ledger, ask("r", worker=jobs.worker), read, draw)
    assert again == entry and steps == ["read", "draw"]
    assert ledger.standing("b").charges == 1 and ledger.verify().ok


def test_a_refusal_reads_nothing(ledger: Ledger, jobs: Jobs) -> None:
    touched = threading.Event()
    with pytest.raises(BudgetExceeded):
        charge_and_draw(ledger, ask("r", "2", worker=jobs.worker), touched.set, lambda _: {})
    assert not touched.is_set() and ledger.find("r") is None and jobs.state("r").state == "unknown"


def _raise(error: BaseException) -> Callable[..., Any]:
    def fail(*_: Any) -> Any:
        raise error

    return fail


@pytest.mark.parametrize(
    ("read", "draw"),
    [
        (_raise(ValueError(SECRET)), value),
        (lambda: 7, _raise(RuntimeError(SECRET))),
        (lambda: 7, _raise(AllowanceError("column.unknown", column=SECRET, columns=[SECRET]))),
        (lambda: 7, lambda _: {"value": float("nan")}),
        (lambda: 7, lambda _: {"value": object()}),
        (_raise(MemoryError()), value),
    ],
    ids=["read", "draw", "draw-complains", "nan", "no-json", "memory"],
)
def test_any_failure_after_the_charge_keeps_it_and_says_one_constant_sentence(
    ledger: Ledger, jobs: Jobs, caplog: pytest.LogCaptureFixture, read: Callable[[], int], draw: Callable[[int], Any]
) -> None:
    caplog.set_level(logging.DEBUG)
    with pytest.raises(AllowanceError) as caught:
        charge_and_draw(ledger, ask("r", worker=jobs.worker), read, draw)
    error = caught.value
    assert str(error) == say("release.failed") and error.facts == {}
    assert error.__cause__ is None and error.__context__ is None
    assert SECRET not in caplog.text and "Error" in caplog.text and "Traceback" not in caplog.text
    assert ledger.standing("b").charges == 1
    entry = ledger.find("r")
    assert entry is not None and entry.outcome is not None and entry.outcome.body == {"code": "release.failed"}
    assert code_of(lambda: charge_and_draw(ledger, ask("r", worker=jobs.worker), lambda: 7, value)) == "release.failed"
    state = jobs.state("r")
    assert state.state == "failed" and state.error is not None and state.error.code == "release.failed"
    assert ledger.verify().ok


@pytest.mark.parametrize("stop", [KeyboardInterrupt, SystemExit, GeneratorExit])
def test_a_stop_keeps_the_charge_and_goes_on_stopping(ledger: Ledger, jobs: Jobs, stop: type[BaseException]) -> None:
    with pytest.raises(stop):
        charge_and_draw(ledger, ask("r", worker=jobs.worker), _raise(stop()), value)
    assert ledger.standing("b").charges == 1 and jobs.state("r").state == "failed"


def test_when_even_the_failure_cannot_be_noted_the_release_counts_as_interrupted(
    ledger: Ledger, jobs: Jobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(ledger, "_settle", _raise(AllowanceError("ledger.unwritable")))
        assert (
            code_of(lambda: charge_and_draw(ledger, ask("r", worker=jobs.worker), lambda: 7, value)) == "release.failed"
        )
    assert jobs.state("r").state == "interrupted"
    assert (
        code_of(lambda: charge_and_draw(ledger, ask("r", worker=jobs.worker), lambda: 8, value))
        == "release.interrupted"
    )
    assert ledger.standing("b").charges == 1


def test_a_double_click_is_one_draw(ledger: Ledger, jobs: Jobs) -> None:
    draws: list[int] = []
    together = threading.Barrier(8)
    values: list[Any] = []

    def draw(statistic: int) -> dict[str, Any]:
        draws.append(statistic)
        time.sleep(0.05)
        return {"value": len(draws)}

    def click() -> None:
        together.wait(PATIENCE)
        entry = charge_and_draw(ledger, ask("r", worker=jobs.worker), lambda: 7, draw)
        values.append(entry.outcome and entry.outcome.body["value"])

    threads = [threading.Thread(target=click) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert draws == [7] and values == [1] * 8 and ledger.standing("b").charges == 1


# What a page sees


def test_a_submitted_release_goes_from_queued_to_done(ledger: Ledger, jobs: Jobs) -> None:
    gate, ran = threading.Event(), []

    def carry(name: str) -> Callable[[], Any]:
        def work() -> Any:
            ran.append(name)
            gate.wait(PATIENCE)
            return charge_and_draw(ledger, ask(name, "0.01", worker=jobs.worker), lambda: 7, value)

        return work

    names = [f"r{i}" for i in range(4)]
    assert jobs.state("r0").state == "unknown"
    for name in [*names, *names]:  # every one is clicked twice
        jobs.submit(name, carry(name))
    until(lambda: len(ran) == 2)
    assert [jobs.state(name).state for name in names] == ["running", "running", "queued", "queued"]
    assert jobs.wait("r3", timeout=0.01).state == "queued"
    gate.set()
    assert [jobs.wait(name, timeout=PATIENCE).state for name in names] == ["done"] * 4
    assert sorted(ran) == names and ledger.standing("b").charges == 4
    jobs.submit("r0", carry("r0"))  # a click after the end: the same answer, no new charge
    assert jobs.wait("r0", timeout=PATIENCE).state == "done" and ledger.standing("b").charges == 4
    assert not jobs._running.jobs  # the ledger knows them all


def test_a_refused_release_says_why_and_can_be_tried_again(ledger: Ledger, jobs: Jobs) -> None:
    def carry(epsilon: str) -> Callable[[], Any]:
        return lambda: charge_and_draw(ledger, ask("r", epsilon, worker=jobs.worker), lambda: 7, value)

    jobs.submit("r", carry("2"))
    state = jobs.wait("r", timeout=PATIENCE)
    assert (
        state.state == "refused" and isinstance(state.error, BudgetExceeded) and "Nothing was spent" in str(state.error)
    )
    assert state.error.__traceback__ is None
    jobs.submit("r", carry("0.5"))
    assert jobs.wait("r", timeout=PATIENCE).state == "done"
    jobs.submit("r", carry("0.1"))
    state = jobs.wait("r", timeout=PATIENCE)
    assert state.state == "refused" and state.error is not None and state.error.code == "request.reused"
    jobs.submit("r", carry("0.5"))
    assert jobs.wait("r", timeout=PATIENCE).state == "done"


def test_failures_on_the_worker_are_told_without_the_data(
    ledger: Ledger, jobs: Jobs, caplog: pytest.LogCaptureFixture
) -> None:
    jobs.submit(
        "late", lambda: charge_and_draw(ledger, ask("late", worker=jobs.worker), _raise(ValueError(SECRET)), value)
    )
    jobs.submit("early", _raise(TypeError(SECRET)))
    assert jobs.wait("late", timeout=PATIENCE).state == "failed"
    state = jobs.wait("early", timeout=PATIENCE)
    assert state.state == "refused" and state.error is not None and state.error.code == "release.not_started"
    assert SECRET not in caplog.text and ledger.standing("b").charges == 1


def test_a_restart_finds_every_ending_in_the_ledger(tmp_path: Path, ledger: Ledger) -> None:
    before = Jobs(tmp_path, ledger)
    charge_and_draw(ledger, ask("done", worker=before.worker), lambda: 7, value)
    with pytest.raises(AllowanceError):
        charge_and_draw(ledger, ask("failed", worker=before.worker), _raise(ValueError()), value)
    ledger.reserve(**ask("interrupted", worker=before.worker))
    before.close()
    after = Jobs(tmp_path, ledger)
    for name in ("done", "failed", "interrupted", "unknown"):
        assert after.state(name).state == name
    assert after.state("\ud800").state == "unknown"  # an address typed by hand
    after.close()


def test_closing_finishes_what_runs_and_drops_what_is_queued(tmp_path: Path, ledger: Ledger) -> None:
    jobs = Jobs(tmp_path, ledger)
    names = [f"r{i}" for i in range(5)]
    gate = threading.Event()
    for name in names:
        args = ask(name, "0.01", worker=jobs.worker)
        jobs.submit(name, partial(charge_and_draw, ledger, args, lambda: gate.wait(PATIENCE), lambda _: value(7)))
    until(lambda: ledger.standing("b").charges == 2)
    once_closing(jobs, gate.set)
    jobs.close()
    after = Jobs(tmp_path, ledger)  # found after the restart: not asked, nothing spent
    for each in (jobs, after):
        states = [each.state(name) for name in names]
        assert [one.state for one in states] == ["done", "done", "refused", "refused", "refused"]
        assert {one.error.code for one in states if one.error is not None} == {"release.dropped"}
        assert each.state("never handed over").state == "unknown"
        assert each.of("somebody else").state("r4").state == "unknown"
    assert ledger.standing("b").charges == 2
    args = ask("r4", "0.01", worker=after.worker)
    after.submit("r4", partial(charge_and_draw, ledger, args, lambda: 7, value))
    assert after.wait("r4", PATIENCE).state == "done" and ledger.standing("b").charges == 3  # asked again, charged once
    after.submit("r3", partial(_refuse))
    assert after.wait("r3", PATIENCE).error.code == "release.not_started"  # type: ignore[union-attr]
    after.close()


def _refuse() -> None:
    raise RuntimeError


def test_what_is_cancelled_before_its_turn_is_never_charged(ledger: Ledger, jobs: Jobs) -> None:
    gate = threading.Event()
    for name in ("a", "b", "late"):
        args = ask(name, "0.01", worker=jobs.worker)
        jobs.submit(name, partial(charge_and_draw, ledger, args, lambda: gate.wait(PATIENCE), lambda _: value(7)))
    until(lambda: ledger.standing("b").charges == 2)
    assert jobs.state("late").state == "queued" and jobs.cancel("late")
    gate.set()
    state = jobs.wait("late", timeout=PATIENCE)
    assert state.state == "refused" and state.error is not None and state.error.code == "release.stopped"
    assert ledger.find("late") is None and ledger.standing("b").charges == 2


def test_only_so_many_refusals_are_remembered(jobs: Jobs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs_module, "_REMEMBERED", 3)
    for i in range(6):
        jobs.submit(f"r{i}", _raise(AllowanceError("budget.unknown")))
        assert jobs.wait(f"r{i}", timeout=PATIENCE).state == "refused"
    assert list(jobs._running.jobs) == ["r3", "r4", "r5"] and jobs.state("r0").state == "unknown"
