"""kill -9 before every statement of a release that changes the ledger, at its read and at its draw: nothing sampled.

The states a kill can leave are those between two statements (a statement is whole or not at all: SQLite's promise,
which the kills inside statements and at random moments in test_ledger.py and test_kills.py try).
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from dpengine.asking import release as asking_release
from dpengine.asking.jobs import Jobs
from dpengine.asking.release import Release, charge_and_draw, charge_and_draw_all
from dpengine.core.errors import AllowanceError
from dpengine.ledger.ledger import Ledger
from tests.faults.counts import note
from tests.helpers_ledger import ask, opened, value

SESSION = {
    "key": "adaptive_session",
    "version": 1,
    "digest": "d",
    "parameters": {"questions": 3, "epsilon": "0.3"},
    "sentence": "",
}
STEPS = ("BEGIN", "INSERT", "COMMIT", "read", "draw")
Tell = Callable[..., None]
Scene = Callable[[Ledger, str, Tell], None]


def hooks(tell: Tell, request: str) -> tuple[Callable[[], int], Callable[[int], dict[str, Any]]]:
    def read() -> int:
        tell("read", request)
        return 7

    def draw(statistic: int) -> dict[str, Any]:
        tell("draw", request)
        return value(int.from_bytes(os.urandom(4), "big"))

    return read, draw


def release(ledger: Ledger, worker: str, tell: Tell) -> None:
    entry = charge_and_draw(ledger, ask("one", worker=worker), *hooks(tell, "one"))
    assert entry.outcome is not None
    tell("shown", "one", entry.outcome.body["value"])


def plan(ledger: Ledger, worker: str, tell: Tell) -> None:
    names = ("one", "two", "three")
    charge_and_draw_all(ledger, [Release(ask(name, worker=worker), *hooks(tell, name)) for name in names], Fraction(0))
    for name in names:
        entry = ledger.find(name)
        if entry is not None and entry.outcome is not None and entry.outcome.kind == "answer":
            tell("shown", name, entry.outcome.body["value"])


def session(ledger: Ledger, worker: str, tell: Tell) -> None:
    """The order of sessions.py: burn, read, draw, tell."""
    ledger.reserve(**ask("s", claim=SESSION, worker=worker))
    for name in ("s/1", "s/2"):
        burned = ledger.burn("s", name, "ana", {"ask": name}, worker)
        if burned.fresh:
            read, draw = hooks(tell, name)
            ledger.settle_step("s", burned.index, "part", draw(read()))
        again = ledger.step("s", name)
        if again is not None and again.outcome is not None:
            tell("shown", name, again.outcome.body["value"])


SCENES: dict[str, Scene] = {"plan": plan, "release": release, "session": session}


def draws_first(ledger: Ledger, worker: str, tell: Tell) -> None:
    read, draw = hooks(tell, "one")
    body = draw(read())
    charge_and_draw(ledger, ask("one", worker=worker), lambda: 0, lambda _: body)


def draws_again(ledger: Ledger, worker: str, tell: Tell) -> None:
    charge = ledger.reserve(**ask("one", worker=worker))
    entry = ledger.find("one")
    if entry is not None and entry.outcome is None:
        read, draw = hooks(tell, "one")
        asking_release._draw_once(ledger, charge.request, read, draw)


def shows_first(ledger: Ledger, worker: str, tell: Tell) -> None:
    read, draw = hooks(tell, "one")

    def showing(statistic: int) -> dict[str, Any]:
        body = draw(statistic)
        tell("shown", "one", body["value"])
        return body

    charge_and_draw(ledger, ask("one", worker=worker), read, showing)


class Refunding(Ledger):
    """What was charged and not answered counts as free again."""

    def standing(self, budget: str) -> Any:
        entries = [entry for entry in self.charges(budget) if entry.outcome is not None]
        return entries[0].charge.standing if entries else super().standing("nobody")


@dataclass
class Tally:
    points: list[str] = field(default_factory=list)
    uncharged: int = 0
    lost: int = 0
    double: int = 0
    freed: int = 0

    @property
    def faults(self) -> list[int]:
        return [self.uncharged, self.lost, self.double, self.freed]


def play(folder: Path, scene: Scene, at: int | None) -> tuple[list[list[Any]], bool]:
    """In a child that kills itself before the `at`-th statement, read or draw. Lines that it wrote whole."""
    receive, send = os.pipe()
    pid = os.fork()
    if not pid:
        passed, before = 0, ""

        def tell(*words: Any) -> None:
            if words[0] in ("read", "draw"):
                point(words[0])
            os.write(send, (json.dumps(words) + "\n").encode())

        def point(label: str) -> None:
            nonlocal passed, before
            if label.split()[0] not in STEPS or label == before:  # SQLite tells a statement again for each trigger
                return
            passed, before = passed + 1, label
            if at is None:
                os.write(send, (json.dumps(["point", label.split()[0]]) + "\n").encode())
            elif passed == at:
                os.kill(os.getpid(), signal.SIGKILL)

        connect = sqlite3.connect

        def connecting(*args: Any, **named: Any) -> sqlite3.Connection:
            made = connect(*args, **named)
            made.set_trace_callback(point)
            return made

        try:
            sqlite3.connect = connecting  # type: ignore[assignment]
            ledger = Ledger(folder / "ledger.sqlite")
            scene(ledger, Jobs(folder, ledger).worker, tell)
        except AllowanceError as complaint:
            os.write(send, (json.dumps(["refused", complaint.code]) + "\n").encode())
        except BaseException as error:
            os.write(send, (json.dumps(["broken", repr(error)]) + "\n").encode())
        finally:
            os._exit(0)
    os.close(send)
    with os.fdopen(receive) as pipe:
        lines = [json.loads(line) for line in pipe.read().splitlines(keepends=True) if line.endswith("\n")]
    _, status = os.waitpid(pid, 0)
    assert not any(line[0] == "broken" for line in lines), lines
    return lines, os.WIFSIGNALED(status)


def every_point(folder: Path, scene: Scene, kind: type[Ledger] = Ledger, planted: bool = False) -> Tally:
    made = folder / "made"
    made.mkdir()
    with opened(made):
        pass
    place = folder / "killed"
    shutil.copytree(made, place)
    lines, _ = play(place, scene, None)
    tally = Tally([line[1] for line in lines if line[0] == "point"])
    for at in range(1, len(tally.points) + 1):
        shutil.rmtree(place)
        shutil.copytree(made, place)
        first, killed = play(place, scene, at)
        assert killed
        with closing(kind(place / "ledger.sqlite")) as ledger:
            assert ledger.verify().ok
            charges, answers = set(), {}
            for entry in ledger.charges("b"):
                charges.add(entry.charge.request)
                if entry.outcome is not None:
                    answers[entry.charge.request] = entry.outcome.body.get("value")
                for step in ledger.steps(entry.charge.request):
                    charges.add(step.step)
                    answers |= {step.step: step.outcome.body["value"]} if step.outcome is not None else {}
            paid = sum("/" not in request for request in charges)
            tally.freed += ledger.standing("b").charges != paid
        second, _ = play(place, scene, 10**9)  # the same again, after the restart
        drawn = [line[1] for line in first if line[0] == "draw"]
        tally.uncharged += sum(request not in charges for request in drawn)
        told = [(line[1], line[2]) for line in first if line[0] == "shown"]
        tally.lost += sum(answers.get(request) != given for request, given in told)
        tally.double += sum(["draw", request] in second for request in drawn)
        with closing(Ledger(place / "ledger.sqlite")) as ledger:
            assert ledger.reserve(**ask("next", "0.01")).fresh and ledger.verify().ok
        if planted and any(tally.faults):
            break
    return tally


@pytest.mark.parametrize(
    "name", [pytest.param("plan", marks=pytest.mark.long), "release", pytest.param("session", marks=pytest.mark.long)]
)
def test_killed_before_every_statement(place: Path, name: str) -> None:
    tally = every_point(place, SCENES[name])
    assert tally.faults == [0, 0, 0, 0], tally
    order, inside = " ".join(tally.points), "BEGIN INSERT COMMIT"
    stored = "BEGIN INSERT INSERT COMMIT"  # the answer, and beside it by which question it is found
    expected = {
        "release": f"{inside} read draw {stored}",
        "plan": f"BEGIN INSERT INSERT INSERT COMMIT {f'read draw {stored} ' * 3}",
        "session": f"{inside} {f'{inside} read draw {inside} ' * 2}",
    }[name]
    assert order == expected.strip(), order  # charged and committed, then read, drawn, stored
    note(f"kill -9 before every statement: {name}", len(tally.points))


@pytest.mark.every(5)
@pytest.mark.parametrize(
    ("scene", "kind", "seen"),
    [(draws_first, Ledger, 0), (shows_first, Ledger, 1), (draws_again, Ledger, 2), (release, Refunding, 3)],
    ids=["draw before charge", "show before store", "draw again at restart", "refund at restart"],
)
def test_a_planted_mistake_is_seen(place: Path, scene: Scene, kind: type[Ledger], seen: int) -> None:
    assert every_point(place, scene, kind, planted=True).faults[seen] > 0
