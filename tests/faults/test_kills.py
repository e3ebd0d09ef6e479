"""kill -9 at every step of everything that spends or changes a workspace; see stage.py for what “every step” is.

After each kill: the ledger verifies; no noise was drawn without a charge that is still there; what was shown is stored
word for word; what was drawn is not drawn again when the same is asked again; the folder opens; the next question
works. The short form is test_steps.py: every step of a release on the bare ledger.
"""

from __future__ import annotations

import random
import shutil
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from amount import amount

from tests.faults.counts import note
from tests.faults.stage import Stage

SPENDING = ("ask", "plan", "publish", "session", "train")
CHANGING = ("declare", "forget", "raise", "revise", "seal")
NEXT = {"forget": "table.forgotten", "seal": "table.sealed"}
PLAN = ("run.1", "run.2", "run.3")
DRAWS = {"model": 3}  # in a whole run; of any other request one. So few people are looked at three times


@pytest.fixture(scope="module")
def stage() -> Iterator[Stage]:
    opened = Stage()
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def made(stage: Stage, quick: Path) -> Path:
    """A workspace with one table and one answer."""
    folder = quick / "made"
    stage.play("make", folder)
    return folder


@dataclass
class Tally:
    kills: int = 0
    uncharged: int = 0
    lost: int = 0
    double: int = 0
    freed: int = 0

    @property
    def faults(self) -> int:
        return self.uncharged + self.lost + self.double + self.freed


def drawn(lines: list[list[Any]]) -> Counter[str]:
    """Which request each draw was for; the draws of a plan come in its order."""
    found: Counter[str] = Counter()
    asking, plan = "", iter(PLAN)
    for line in lines:
        if line[0] == "asking":
            asking = line[1]
        elif line[0] == "draw":
            found[next(plan) if asking == "run" else asking] += 1
    return found


def kill(
    stage: Stage, made: Path, place: Path, scene: str, kind: str, at: float, tally: Tally, plant: str = ""
) -> bool:
    """One kill and what is left of it. False where the scene was over before."""
    folder = place / "var"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(made, folder)
    told, killed, _ = stage.play(scene, folder, kind, at, plant)
    after = stage.check(scene, folder, plant)
    tally.kills += killed
    charged, first, second = set(after["charged"]), drawn(told), drawn(after["again"])
    tally.uncharged += sum(request not in charged for request in first)
    shown = {line[1]: line[2] for line in told if line[0] == "shown"}
    tally.lost += sum(after["answers"].get(request) != value for request, value in shown.items())
    tally.lost += after["answers"].get("before") is None
    tally.double += sum(
        max(first[request], second[request]) > DRAWS.get(request, 1) or (first[request] > 0 and second[request] > 0)
        for request in first | second
    )
    requests = [request for request in after["charged"] if "/" not in request]
    tally.freed += after["charges"] != len(requests)
    if plant:
        return killed
    assert after["verified"] and not after["strays"] and not after["differing"], after
    done = any(line[0] in ("done", "declared", "version") for line in told)
    if scene in NEXT:
        assert after["next"] == NEXT[scene] and after["next_charged"] == 0, after
        assert not done or after["closed"]["people"] == scene
    else:
        assert after["next"] == "answered" and after["next_charged"] == 1, after
    if scene == "declare":
        assert done <= ("more" in after["tables"]) and after.get("declared_again", True), after
    if scene == "revise":
        assert after["version"] in ((2,) if done else (1, 2)), after
    if scene == "raise":
        assert after["cap"] in (("4",) if done else ("3", "4")), after
    return killed


def points(stage: Stage, made: Path, place: Path, scene: str, kind: str) -> int:
    shutil.rmtree(place / "var", ignore_errors=True)
    shutil.copytree(made, place / "var")
    _, killed, passed = stage.play(scene, place / "var", kind)
    assert not killed and passed > 10
    return passed


def spread(most: int, wanted: int) -> list[int]:
    """`wanted` of the points 1 to `most`, about evenly apart, or all of them."""
    return sorted({1 + (most - 1) * place // max(wanted - 1, 1) for place in range(min(wanted, most))})


@pytest.mark.long
@pytest.mark.parametrize(
    "plant", ["draw again at restart", "draw before charge", "refund at restart", "show before store"]
)
def test_a_planted_mistake_is_seen_by_the_kills(stage: Stage, made: Path, place: Path, plant: str) -> None:
    """The power of the tests here: with this mistake in the engine they fail."""
    where = {"draw again at restart": "double", "draw before charge": "uncharged", "refund at restart": "freed"}
    tally = Tally()
    draw = _point_of_the_draw(stage, made, place, plant)
    for at in range(draw + 1, draw + 40):
        kill(stage, made, place, "ask", "effect", at, tally, plant)
        if getattr(tally, where.get(plant, "lost")):
            return
    pytest.fail(f"{plant}: not seen")


def _point_of_the_draw(stage: Stage, made: Path, place: Path, plant: str) -> int:
    """The last point at which no noise was drawn yet."""
    low, high = 1, points(stage, made, place, "ask", "effect")
    while low < high:
        middle = (low + high + 1) // 2
        shutil.rmtree(place / "var")
        shutil.copytree(made, place / "var")
        told, _, _ = stage.play("ask", place / "var", "effect", middle, plant)
        low, high = (low, middle - 1) if ["draw"] in told else (middle, high)
    return low


@pytest.mark.long
@pytest.mark.timeout(1800)  # up to 300 kills, on a machine that may be busy
@pytest.mark.parametrize("scene", sorted((*SPENDING, *CHANGING)))
def test_killed_at_every_step(stage: Stage, made: Path, place: Path, scene: str) -> None:
    """Every effect, or forty of them; lines and the insides of statements, evenly; then random moments."""
    tally = Tally()
    every = points(stage, made, place, scene, "effect")
    effects = spread(every, amount(40, every))
    for at in effects:
        kill(stage, made, place, scene, "effect", at, tally)
    for kind, wanted in (("line", 8), ("inside", 8)):
        for at in spread(points(stage, made, place, scene, kind), wanted):
            kill(stage, made, place, scene, kind, at, tally)
    moments = random.SystemRandom()
    for _ in range(10):
        kill(stage, made, place, scene, "moment", moments.uniform(0.001, 0.15), tally)
    assert tally.kills >= len(effects) and not tally.faults, tally
    note(f"kill -9, {len(effects)} of {every} steps and between: {scene}", tally.kills)


@pytest.mark.long
@pytest.mark.parametrize("scene", ["backup", "recover"])
def test_an_operator_is_killed_at_every_step(stage: Stage, made: Path, place: Path, scene: str) -> None:
    """A recovery that was killed is refused or done; the same command does it again. A copy is never a workspace."""

    def prepared() -> Path:
        for path in place.iterdir():
            shutil.rmtree(path)
        folder = Path(shutil.copytree(made, place / "var"))
        if scene == "recover":
            stage.play("lose", folder)
        return folder

    _, _, every = stage.play(scene, prepared())
    assert every > 20
    for at in range(1, every + 1):
        folder = prepared()
        assert stage.play(scene, folder, "effect", at)[1]
        if scene == "backup":
            copy = place / "copy"
            if (copy / "ledger.sqlite").exists():
                assert stage.play("open", copy)[0] == [["refused", "workspace.copy"]]
            assert stage.check("ask", folder)["next"] == "answered"
            continue
        opens = stage.play("open", folder)[0]
        assert opens in ([["refused", "ledger.rolled_back"]], [["refused", "ledger.damaged"]], [["closed", "close"]])
        if opens[0][0] == "refused":
            assert stage.play(scene, folder)[0] == [["done", scene]]
        assert stage.play("open", folder)[0] == [["closed", "close"]]
        after = stage.check("ask", folder)
        assert after["verified"] and after["next"] == "budget.closed" and after["answers"]["before"] is not None
        assert after["next_charged"] == 0
    note(f"kill -9, every step of an operator: {scene}", every)
