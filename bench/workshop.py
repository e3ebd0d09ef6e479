"""A class on this machine: `python -m bench.workshop`. Thirty visitors go through a lesson and then to the class wall.

They are WebSocket clients that speak Streamlit's own messages (bench/sockets.py), so what is timed is the server: from
sending a message to “the script has finished”. Browsers of thirty people draw on machines of their own. The visitors
run in one process beside the server, on the same cores, and take some of them.
"""

from __future__ import annotations

import argparse
import asyncio
import math
import os
import random
import socket
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import quantiles
from tempfile import TemporaryDirectory

from bench.measure import must
from bench.page import _wait
from bench.sockets import Visitor, line_of, worked
from bench.tasks import BUILD, ROOT
from ui.shell.workshop_state import ADDRESS, CODE, new_code
from ui.workshop.invite import ALONE, command

TARGET = 2.0  # seconds, for 95 of 100 reruns
LESSON, SLIDER = "averaging", "times"
STEPS = ("a lesson is opened", "its slider is moved", "the wall is opened", "Ask is pressed", "the wall is looked at")
Times = dict[str, list[float]]


def main() -> int:
    parser = argparse.ArgumentParser(prog="bench.workshop", description=__doc__)
    parser.add_argument("--visitors", type=int, default=30)
    parser.add_argument("--moves", type=int, default=8, help="how often each moves the slider")
    parser.add_argument("--think", type=float, default=4.0, help="seconds between two moves, on average")
    parser.add_argument("--watch", type=float, default=30.0, help="seconds before the wall")
    parser.add_argument("--settle", type=float, default=20.0, help="seconds between the start and the first visitor")
    parser.add_argument("--write", action="store_true", help="put the figures into bench/results-workshop.md")
    given = parser.parse_args()
    code = new_code()
    with _served(code) as (base, server):
        time.sleep(given.settle)  # as an instructor does before a class comes in
        before, used = os.getloadavg()[0], worked(server)
        times, dots, sent = asyncio.run(_class(base, code, given))
        used = worked(server) - used
    told = report(times, given, dots, sent, used, (before, os.getloadavg()[0]))
    print(told)
    if given.write:
        path = ROOT / "bench" / "results-workshop.md"
        head, mark, _ = path.read_text(encoding="utf-8").partition("<!-- figures -->\n")
        path.write_text(head + mark + told + "\n", encoding="utf-8")
    must(dots >= given.visitors, f"{given.visitors} visitors asked and {dots} answers came: that is not what is timed.")
    must(all(times[step] for step in STEPS), "Some step was never taken: nothing of it was timed.")
    return 0


async def _class(base: str, code: str, given: argparse.Namespace) -> tuple[Times, int, float]:
    times: Times = defaultdict(list)
    everyone = [Visitor(base) for _ in range(given.visitors)]
    instructor = Visitor(base)
    await asyncio.gather(*(one.come() for one in [instructor, *everyone]))
    await instructor.open("wall")
    await instructor.type("workshop-typed", code)
    await instructor.press("workshop-unlock")
    await asyncio.gather(*(_lesson(one, times, given) for one in everyone))
    await instructor.press("wall-pose")
    looks = [asyncio.create_task(_watch(instructor, defaultdict(list), given.watch + 10))]
    await asyncio.gather(*(_wall(one, times, given) for one in everyone), *looks)
    dots = max(sum(html.count('<i class="d') for html in one.html) for one in everyone)
    sent = sum(one.bytes for one in everyone) / len(everyone) / 2**20
    await asyncio.gather(*(one.leave() for one in [instructor, *everyone]))
    return times, dots, sent


async def _lesson(one: Visitor, times: Times, given: argparse.Namespace) -> None:
    await asyncio.sleep(random.uniform(0, given.think))
    times[STEPS[0]].append(await one.open("lessons", f"lesson={LESSON}"))
    for _ in range(given.moves):
        await asyncio.sleep(random.uniform(0.5, 1.5) * given.think)
        _, slider = one.find("slider", SLIDER)
        times[STEPS[1]].append(await one.move(SLIDER, random.choice(list(slider.proto.options))))


async def _wall(one: Visitor, times: Times, given: argparse.Namespace) -> None:
    await asyncio.sleep(random.uniform(0, given.think))
    times[STEPS[2]].append(await one.open("wall"))
    await _watch(one, times, random.uniform(0, given.think))
    times[STEPS[3]].append(await one.press("wall-ask-"))
    await _watch(one, times, given.watch)


async def _watch(one: Visitor, times: Times, seconds: float) -> None:
    """Rerun what asks to be rerun, as a browser does: at fixed times, however long a run takes."""
    begun = time.monotonic()
    due = {name: begun + every for name, every in one.again.items()}
    while due and min(due.values()) < begun + seconds:
        name = min(due, key=lambda name: due[name])
        await asyncio.sleep(max(due[name] - time.monotonic(), 0))
        times[STEPS[4]].append(await one.rerun(name))
        now = time.monotonic()
        if name in one.again:  # a time that passed meanwhile is left out
            due[name] += one.again[name] * max(1, math.ceil((now - due[name]) / one.again[name]))
        due = {other: due.get(other, now + every) for other, every in one.again.items()}
    await asyncio.sleep(max(begun + seconds - time.monotonic(), 0))


def report(
    times: Times, given: argparse.Namespace, dots: int, sent: float, used: float, load: tuple[float, float]
) -> str:
    lines = ["| what | times | median | 95 of 100 within | slowest |", "|---|---|---|---|---|"]
    every: list[float] = []
    for step in STEPS:
        every += times[step]
        lines.append(line_of(step, times[step]))
    lines.append(line_of("**all of it**", every))
    within = quantiles(every, n=20, method="inclusive")[-1]
    verdict = "met" if within <= TARGET else "missed"
    facts = (
        f"{given.visitors} visitors, {given.moves} moves each about {given.think:g} s apart, then {given.watch:g} s "
        f"before the wall; {dots} dots on it at the end; {sent:.1f} MB sent to each. The server worked {used:.1f} s in "
        f"all, {1000 * used / len(every):.0f} ms for each rerun. {os.cpu_count()} cores; load average {load[0]:.1f} "
        f"before and {load[1]:.1f} after. Target: 95 of 100 within {TARGET:g} s: {verdict}."
    )
    return "\n".join([*lines, "", facts])


@contextmanager
def _served(code: str) -> Iterator[tuple[str, int]]:
    """The app as `make workshop` starts it, on this machine alone."""
    with socket.socket() as probe:
        probe.bind((ALONE, 0))
        port = int(probe.getsockname()[1])
    BUILD.mkdir(parents=True, exist_ok=True)
    base = f"http://{ALONE}:{port}"
    with TemporaryDirectory() as home, (BUILD / "workshop-server.log").open("ab") as log:
        env = os.environ | {CODE: code, ADDRESS: base, "ALLOWANCE_HOME": home}
        options = [*command(ALONE, port), f"--server.address={ALONE}"]
        process = subprocess.Popen(options, cwd=ROOT, env=env, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        try:
            _wait(base, process, Path(log.name))
            yield base, process.pid
        finally:
            process.terminate()
            process.wait(timeout=20)


if __name__ == "__main__":
    sys.exit(main())
