"""What a click on Ask costs the server: part of `python -m bench.pages ask`.

A visitor without a browser (bench/sockets.py) clicks on a real server, which serves nobody else. What counts is the
processor time of the server's whole process, from the message of the click until the script has ended and a moment
after: the script, its messages and their way through the socket. Each kind of click is made many times, and its median
is held to `RERUN`. A click takes another value each time, so that no run finds the answer of the run before; where the
page was not drawn anew with the value that was clicked, the bench ends without a figure.

*A new table* is one that nobody has looked at: its first visit to Ask, and the first question until its answer is read.
"""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import Awaitable, Callable
from urllib.parse import parse_qs, urlencode

from bench.measure import must
from bench.sockets import Visitor

TIMES, WARM = 25, 6
RERUN, FIRST = 0.040, 0.3  # seconds of the processor
READY = 8.0  # seconds: what the app imports once its first page is drawn
AFTER = 0.05  # seconds: the script's thread ends after its last message
TABLE = "census"
NEW_TABLES = tuple(f"new{place}" for place in range(5))  # which nobody has looked at
KINDS = ("median", "mean", "sum", "iqr", "quantile", "variance")


def used(server: int) -> float:
    """Seconds of processor time that a process has used, exact to the microsecond (on Linux)."""
    return time.clock_gettime((~server << 3) | 2)


async def measure(folder: str) -> dict[str, float]:
    """By kind of click, the median of its seconds."""
    from bench.page import _running

    with _running("app.py", folder) as (base, server):
        visitor = Visitor(base)
        await visitor.come()
        await visitor.open("")
        await asyncio.sleep(READY)
        found: dict[str, list[float]] = {}
        for name, click in CLICKS.items():
            for turn in range(WARM + TIMES):
                cost = await click(visitor, server, turn)
                found.setdefault(name, []).extend([cost] if turn >= WARM else [])
        for table in NEW_TABLES:
            await _new(visitor, server, table, found)
        await visitor.leave()
    must(all(found.get(name) for name in NAMES), "not every kind of click was made")
    return {name: statistics.median(times) for name, times in found.items()}


async def _cost(server: int, click: Awaitable[object]) -> float:
    await asyncio.sleep(AFTER)
    began = used(server)
    await click
    await asyncio.sleep(AFTER)
    return used(server) - began


async def _ask(visitor: Visitor, **question: str) -> None:
    await visitor.open("ask", urlencode({"table": TABLE} | question))


def _must_show(visitor: Visitor, name: str, value: str) -> None:
    """The whole page ran, and what it holds is what was clicked."""
    told = "".join(visitor.html)
    must('class="meter"' in told and 'class="asked' in told, f"after a click on {name} the page was not drawn")
    now = parse_qs(visitor.query).get(name)
    must(now == [value], f"after a click on {name} the page holds {now} and not {value}")


async def _question(visitor: Visitor, server: int, turn: int) -> float:
    if not turn:
        await _ask(visitor, q=KINDS[-1], column="age")
    import dpengine as dp

    wanted = KINDS[turn % len(KINDS)]
    _, widget = visitor.find("selectbox", "ask-kind")
    place = list(widget.proto.options).index(dp.catalogue[wanted].card.noun)
    cost = await _cost(server, visitor.choose("ask-kind", place))
    _must_show(visitor, "q", wanted)
    return cost


async def _column(visitor: Visitor, server: int, turn: int) -> float:
    if not turn:
        await _ask(visitor, q="median", column="age")
    wanted = f"amount_{turn % 12}"
    _, widget = visitor.find("selectbox", "ask-column")
    cost = await _cost(server, visitor.choose("ask-column", list(widget.proto.options).index(wanted)))
    _must_show(visitor, "column", wanted)
    return cost


async def _number(visitor: Visitor, server: int, turn: int) -> float:
    if not turn:
        await _ask(visitor, q="histogram", column="age")
    cost = await _cost(server, visitor.set("ask-bins", 5 + turn))
    _must_show(visitor, "bins", str(5 + turn))
    return cost


async def _price(visitor: Visitor, server: int, turn: int) -> float:
    if not turn:
        await _ask(visitor, q="median", column="age")
    _, slider = visitor.find("slider", "ask-slider")
    options = list(slider.proto.options)
    before = parse_qs(visitor.query)["epsilon"]
    cost = await _cost(server, visitor.move("ask-slider", options[turn % min(len(options), 4)]))
    now = parse_qs(visitor.query)["epsilon"]
    must(now != before, "the price stayed as it was")
    _must_show(visitor, "epsilon", now[0])
    return cost


async def _fold(visitor: Visitor, server: int, turn: int) -> float:
    another = Visitor(visitor.base)  # what was opened once is drawn from then on
    await another.come()
    await _ask(another, q="median", column=f"amount_{turn % 12}")
    must(not another.shows("text_input", "ask-typed"), "the fold is open already")
    cost = await _cost(server, another.unfold("exactly-ask"))
    must(another.shows("text_input", "ask-typed"), "the fold did not open")
    await another.leave()
    return cost


async def _new(visitor: Visitor, server: int, table: str, found: dict[str, list[float]]) -> None:
    visited = await _cost(server, visitor.open("ask", urlencode({"table": table})))
    _must_show(visitor, "table", table)

    async def answered() -> None:
        await visitor.press("ask-go-")
        while visitor.again:
            await asyncio.sleep(min(visitor.again.values()))
            await visitor.rerun(next(iter(visitor.again)))

    asked = await _cost(server, answered())
    must('class="headline' in "".join(visitor.html), f"{table} has no answer")
    for name, cost in zip(NEW, (visited, asked), strict=True):
        found.setdefault(name, []).append(cost)


Click = Callable[[Visitor, int, int], Awaitable[float]]
CLICKS: dict[str, Click] = {
    "another question is picked": _question,
    "another column is picked": _column,
    "a number is changed": _number,
    "the price is moved": _price,
    "a fold is opened": _fold,
}
NEW = ("Ask is opened for a new table", "its first question is asked")
NAMES = (*CLICKS, *NEW)


TITLE = "## What a click on Ask costs"
_HEAD = f"""{TITLE}

Written with the page Ask (bench/clicks.py): the processor time of a whole server for one click, from its message until
the script has ended and what it drew is sent; the median of {TIMES} clicks, each to another value. A rerun may cost
{RERUN * 1000:.0f} ms, and the first visit and the first question of a new table {FIRST:g} s each (the median of
{len(NEW_TABLES)} tables).

| click | found | at most | too long |
|---|---|---|---|"""


def report(costs: dict[str, float]) -> tuple[list[str], bool]:
    """A line for each kind of click, and whether any costs more than it may."""
    lines, bad = [], False
    for name, cost in costs.items():
        most = FIRST if name in NEW else RERUN
        bad = bad or cost > most
        lines.append(f"| {name} | {cost * 1000:.0f} ms | {most * 1000:.0f} ms | {'too long' if cost > most else ''} |")
    return lines, bad


def text(lines: list[str]) -> list[str]:
    return [*_HEAD.splitlines(), *lines]
