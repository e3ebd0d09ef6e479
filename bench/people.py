"""An office on this machine: `python -m bench.people`. Fifty people ask of five tables for two minutes.

Each opens Ask, changes what is asked and what it may take, asks, looks at the board and at the answers, with some
seconds between two clicks. They are WebSocket clients that speak Streamlit's own messages (bench/sockets.py), in one
process beside the server and on the same cores, so what is timed is the server: from sending a message to “the script
has finished”. With `--kills 10` the server is killed and started again ten times under that load, and at the end the
ledger is compared with what everybody has seen.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from statistics import quantiles
from typing import Any
from urllib.parse import parse_qs

from websockets.exceptions import WebSocketException

from bench.page import _wait
from bench.sockets import Visitor, line_of, worked
from bench.tasks import BUILD, ROOT

TARGET = 0.4  # seconds, for 95 of 100 reruns
TABLES = 5
PEOPLE = 30_000
STEPS = ("Ask is opened", "a picker is changed", "an amount is chosen", "Ask is pressed", "an answer is waited for")
STEPS += ("the board is opened", "the answers are opened")
KINDS = 8  # of those on the list, the first
HERE = "127.0.0.1"
_ANSWER = 'class="headline"'  # on a page that shows an answer
Times = dict[str, list[float]]


@dataclass
class Office:
    """The server, and what was seen of it."""

    home: str
    port: int
    times: Times = field(default_factory=lambda: defaultdict(list))
    seen: dict[str, str] = field(default_factory=dict)  # by request, what stood on the page of whoever asked
    kinds: list[int] = field(default_factory=list)  # places on the list of questions
    dropped: int = 0
    process: subprocess.Popen[bytes] | None = None

    @property
    def base(self) -> str:
        return f"http://{HERE}:{self.port}"

    def start(self) -> None:
        BUILD.mkdir(parents=True, exist_ok=True)
        options = ["--server.headless=true", f"--server.address={HERE}", f"--server.port={self.port}"]
        with (BUILD / "people-server.log").open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "bench.people_server", str(self._blocks), *options],
                cwd=ROOT,
                env=os.environ | {"ALLOWANCE_HOME": self.home},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
            _wait(self.base, self.process, Path(log.name))

    def kill(self) -> None:
        assert self.process is not None
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    @property
    def _blocks(self) -> Path:
        return BUILD / f"people-blocks-{self.port}"

    def memory(self) -> str:
        """What the server's process holds, and how much of Python's is in use."""
        assert self.process is not None
        pages = int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1])
        self._blocks.unlink(missing_ok=True)
        self.process.send_signal(signal.SIGUSR1)
        until = time.monotonic() + 30
        while not self._blocks.exists() and time.monotonic() < until:
            time.sleep(0.1)
        blocks = int(self._blocks.read_text()) / 1e6
        return f"{pages * os.sysconf('SC_PAGE_SIZE') / 2**20:.0f} MB ({blocks:.2f} million blocks in use)"

    def worked(self) -> float:
        assert self.process is not None
        return worked(self.process.pid)


def main() -> int:
    parser = argparse.ArgumentParser(prog="bench.people", description=__doc__)
    parser.add_argument("--people", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--think", type=float, default=10.0, help="seconds between two clicks, on average")
    parser.add_argument("--kills", type=int, default=0, help="how often the server is killed meanwhile")
    parser.add_argument("--leave", type=float, default=240.0, help="seconds until memory is read again; 0: it is not")
    parser.add_argument("--write", action="store_true", help="put the figures into bench/results-people.md")
    given = parser.parse_args()
    with socket.socket() as probe:
        probe.bind((HERE, 0))
        port = int(probe.getsockname()[1])
    with tempfile.TemporaryDirectory() as home:
        declare(home)
        office = Office(home, port)
        office.start()
        try:
            told, good = asyncio.run(_day(office, given))
        finally:
            office.kill()
        found, whole = checked(office)
    told = f"{told}\n{found}"
    print(told)
    if given.write:
        _write(told, "kills" if given.kills else "load")
    return int(not (good and whole))


def declare(home: str) -> None:
    """Five tables of made-up people, with room for everybody's questions."""
    import numpy as np
    import pandas as pd

    import dpengine as dp

    draw = np.random.default_rng(1)  # made-up people: nothing here is private
    towns = ["Koper", "Piran", "Ptuj", "Kranj", "Celje", "Novo mesto"]
    workspace = dp.open_workspace(home)
    for place in range(TABLES):
        rows = {"age": draw.integers(18, 90, PEOPLE), "income": draw.integers(0, 4000, PEOPLE)}
        frame = pd.DataFrame(rows | {"town": draw.choice(towns, PEOPLE), "works": draw.choice(["yes", "no"], PEOPLE)})
        columns: dict[str, Any] = {"age": dp.Number(0, 100, step=1), "income": dp.Number(0, 5000, step=10)}
        columns |= {"town": dp.Category(towns), "works": dp.Category(["yes", "no"])}
        table = workspace.add_table(
            f"office{place}", frame, schema=dp.Schema(columns), unit=dp.Unit.rows(), budget=dp.Budget("100", "1e-6")
        )
        table.ask(table.query("overview", against=["town"], epsilon="1"))
    workspace.close()


async def _day(office: Office, given: argparse.Namespace) -> tuple[str, bool]:
    first = Visitor(office.base)
    await first.come()
    for kind in range(KINDS):  # the first visit loads what everybody uses, and finds what needs no condition
        await first.open("ask", "table=office0")
        await first.choose("ask-kind", kind)
        with suppress(LookupError):
            await first.unfold("exactly-ask")
        if first.shows("text_input", "ask-typed"):
            office.kinds.append(kind)
    await first.leave()
    second = Visitor(office.base)
    await second.come()
    for _ in range(3):
        await _round(office, second, "table=office0", 0.1)
    await second.leave()
    office.times.clear()
    began, worked = office.memory(), office.worked()
    until = time.monotonic() + given.seconds
    everybody = [asyncio.create_task(_person(office, place, until, given.think)) for place in range(given.people)]
    killed = 0
    for place in range(given.kills):
        await asyncio.sleep(max(until - time.monotonic(), 0) / (given.kills - place + 1))
        office.kill()
        killed += 1
        await asyncio.to_thread(office.start)
    await asyncio.gather(*everybody)
    most, worked = office.memory(), office.worked() - worked
    if not given.kills and given.leave:
        await asyncio.sleep(given.leave)
    after = office.memory()
    more = after
    if (
        not given.kills and given.leave
    ):  # half as many clicks again: what stays is what is kept for everybody, and does not grow
        until = time.monotonic() + given.seconds / 2
        again = Office(office.home, office.port, kinds=office.kinds, process=office.process)
        await asyncio.gather(*(_person(again, place, until, given.think) for place in range(given.people)))
        office.seen |= again.seen
        more = office.memory()
        await asyncio.sleep(given.leave)
    return _report(office, given, (began, most, after, more, office.memory()), worked, killed)


async def _person(office: Office, place: int, until: float, think: float) -> None:
    """Comes, asks until it is time to go, and comes again when the connection breaks."""
    await asyncio.sleep(random.uniform(0, think))
    while time.monotonic() < until:
        visitor = Visitor(office.base)
        try:
            await visitor.come()
            while time.monotonic() < until:
                await _round(office, visitor, f"table=office{place % TABLES}", think)
        except (TimeoutError, OSError, EOFError, WebSocketException):
            office.dropped += 1
            await asyncio.sleep(1)
        finally:
            with suppress(Exception):
                await visitor.leave()


async def _round(office: Office, visitor: Visitor, table: str, think: float) -> None:
    times = office.times

    async def pause() -> None:
        await asyncio.sleep(random.uniform(0.5, 1.5) * think)

    times[STEPS[0]].append(await visitor.open("ask", table))
    await pause()
    times[STEPS[1]].append(await visitor.choose("ask-kind", random.choice(office.kinds)))
    await pause()
    _, slider = visitor.find("slider", "ask-slider")
    options = list(slider.proto.options)
    times[STEPS[2]].append(await visitor.move("ask-slider", random.choice(options[: max(len(options) // 2, 2)])))
    await pause()
    own = f"0.05{random.randrange(1000, 10_000)}"  # nobody else asks at this ε: the same question would be free
    if not visitor.shows("text_input", "ask-typed"):  # drawn once somebody opens it
        await visitor.unfold("exactly-ask")
        await pause()
    times[STEPS[2]].append(await visitor.enter("ask-typed", own))
    await pause()
    with suppress(LookupError):
        times[STEPS[3]].append(await visitor.press("ask-go-"))
        began = time.perf_counter()
        while visitor.again and time.perf_counter() - began < 60:
            await asyncio.sleep(min(visitor.again.values()))
            await visitor.rerun(next(iter(visitor.again)))
        times[STEPS[4]].append(time.perf_counter() - began)
        office.seen |= {request: "".join(visitor.html) for request in parse_qs(visitor.query).get("answer", [])}
    await pause()
    times[STEPS[5]].append(await visitor.open("board", table))
    await pause()
    times[STEPS[6]].append(await visitor.open("answers", table))
    await pause()


def _report(
    office: Office, given: argparse.Namespace, memory: tuple[str, ...], worked: float, killed: int
) -> tuple[str, bool]:
    lines = ["| what | times | median | 95 of 100 within | slowest |", "|---|---|---|---|---|"]
    every = [one for step in STEPS if step != STEPS[4] for one in office.times[step]]
    for step in STEPS:
        lines.append(line_of(step, office.times[step]))
    lines.append(line_of("**all reruns**", every))
    within = quantiles(every, n=20, method="inclusive")[-1]
    pressed = len(office.times[STEPS[3]])
    asked = len(office.seen) >= pressed / 2 > 0  # what is left: a last round, and a server that was killed
    verdict = "nothing was asked" if not asked else "met" if within <= TARGET else "missed"
    facts = (
        f"{given.people} people, {given.seconds:g} s, {given.think:g} s between two clicks; {len(office.seen)} "
        f"requests; {office.dropped} connections broken. {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}. "
        f"Target: 95 of 100 reruns within {TARGET:g} s: {verdict}."
    )
    if not killed:
        facts += f" The server worked {1000 * worked / len(every):.0f} ms for each rerun."
    if not killed and given.leave:
        facts += (
            f" It held {memory[0]} after the first visit, {memory[1]} at the end, {memory[2]} {given.leave:g} s after "
            f"all left, {memory[3]} when they came for half as long, {memory[4]} when all had left again. Blocks are "
            "what Python has in use; pages that hold none any more stay with the process for the next visitors."
        )
    if killed:
        facts += f" The server was killed and started again {killed} times."
    return "\n".join([*lines, "", facts]), asked and (within <= TARGET or bool(killed))


def checked(office: Office) -> tuple[str, bool]:
    """What the ledger says of everything that somebody has seen."""
    import dpengine as dp

    workspace = dp.Workspace(Path(office.home))
    try:
        whole = workspace.verify_ledger().ok
        states: dict[str, int] = defaultdict(int)
        for place in range(TABLES):
            for entry in workspace.table(f"office{place}").history(10**6):
                states[workspace.job(entry.charge.request).state] += 1
        answered = {request for request in office.seen if workspace.job(request).state == "done"}
        lost = [request for request, page in office.seen.items() if request not in answered and _ANSWER in page]
    finally:
        workspace.close()
    counted = ", ".join(f"{number} {state}" for state, number in sorted(states.items()))
    asked = f"of {len(office.seen)} requests {len(answered)} answered, {len(lost)} lost"
    told = f"The ledger is {'whole' if whole else 'BROKEN'}; charges: {counted}; {asked}."
    if not answered:
        told += " NOBODY GOT AN ANSWER: nothing of this was timed."
    return told, bool(whole and not lost and answered)


def _write(told: str, part: str) -> None:
    """Between the part's two marks."""
    path = ROOT / "bench" / "results-people.md"
    before, mark, rest = path.read_text(encoding="utf-8").partition(f"<!-- {part} -->\n")
    _, end, after = rest.partition(f"<!-- end of {part} -->\n")
    path.write_text(before + mark + told + "\n" + end + after, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
