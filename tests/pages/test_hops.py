"""From click to stored answer: the files that a reader opens to follow one count. docs/architecture.md lists them.

A *station* is a file of `ui` or `dpengine` on the call stack when the question is queued, its charge is written, the
rows are read, the noise is drawn, or its answer is written. Where an object's method runs, the file of its class and of
every base up to the method is a station too. A *hop* is a step into a station that is not open yet: returning is none.
"""

from __future__ import annotations

import re
import sqlite3
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from types import FrameType
from typing import Any

import duckdb
import pandas as pd
import pytest
from helpers_page import PATIENCE, open_page

import dpengine as dp
from dpengine.statistics.engines import duck

ROOT = Path(__file__).resolve().parents[2]
MOST = 11
EFFECTS = ["queued", "written", "read", "drawn", "written"]


def station(name: object) -> str:
    """A file of ours by its path in the repository, else an empty text."""
    path = Path(str(name))
    inside = path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else ""
    return inside if inside.startswith(("ui/", "dpengine/")) else ""


def opened(frame: FrameType | None) -> Iterator[str]:
    """The stations of a call stack, the outermost first."""
    calls: list[FrameType] = []
    while frame is not None:
        calls, frame = [frame, *calls], frame.f_back
    for call in calls:
        here = station(call.f_code.co_filename)
        if here:
            own = type(call.f_locals["self"]).__mro__ if "self" in call.f_locals else ()
            files = [station(getattr(sys.modules[kind.__module__], "__file__", "")) for kind in own]
            yield from filter(None, files[: files.index(here)] if here in files else ())
            yield here


class Trace:
    """The effects of one question, and the stations on the way to each."""

    def __init__(self) -> None:
        self.effects: list[str] = []
        self.stations: dict[str, None] = {}
        self._statements: list[str] = []

    def note(self, effect: str, frame: FrameType | None) -> None:
        self.effects += [effect] if [effect] != self.effects[-1:] else []
        self.stations |= dict.fromkeys(opened(frame))

    def submit(self, pool: ThreadPoolExecutor, work: Callable[..., Any], *given: Any) -> Future[Any]:
        def watched() -> None:
            sys.setprofile(self.profile)
            try:
                work(*given)
            finally:
                sys.setprofile(None)

        self.note("queued", sys._getframe(1))
        return REAL(pool, watched)

    def profile(self, frame: FrameType, event: str, called: Any) -> None:
        library = type(getattr(called, "__self__", None)).__module__
        if event == "call" and "/opendp/" in frame.f_code.co_filename:
            self.note("drawn", frame)
        elif event == "c_call" and library == "sqlite3" and called.__name__ == "execute":
            self._statements.clear()
            connection: sqlite3.Connection = called.__self__
            connection.set_trace_callback(self._statements.append)
        elif event == "c_return" and library == "sqlite3" and called.__name__ == "execute":
            if any(statement.startswith("INSERT INTO entries") for statement in self._statements):
                self.note("written", frame)
            self._statements.clear()


class Watched:
    """A connection to DuckDB that notes what is executed."""

    def __init__(self, real: duckdb.DuckDBPyConnection, trace: Trace) -> None:
        self.real, self.trace = real, trace

    def __getattr__(self, name: str) -> Any:
        return getattr(self.real, name)

    def cursor(self) -> Watched:
        return Watched(self.real.cursor(), self.trace)

    def execute(self, *given: Any) -> Any:
        self.trace.note("read", sys._getframe(1))
        return self.real.execute(*given)


REAL, CONNECT = ThreadPoolExecutor.submit, duck.connect


def test_a_count_takes_few_hops_from_click_to_stored_answer(
    home: dp.Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    frame = pd.DataFrame({"age": range(500), "town": ["Mill", "Hill"] * 250})
    schema = dp.Schema({"age": dp.Number(0, 600), "town": dp.Category(["Mill", "Hill"])})
    table = home.add_table("t", frame, schema=schema, unit=dp.Unit.rows(), budget=dp.Budget("1"))
    page = open_page("ask", table="t", q="count", where='[["age",">",30]]', epsilon="0.1")
    (button,) = [one for one in page.button if str(one.key).startswith("ask-go-")]
    trace = Trace()
    monkeypatch.setattr(ThreadPoolExecutor, "submit", lambda pool, *given: trace.submit(pool, *given))
    monkeypatch.setattr(duck, "connect", lambda folder: Watched(CONNECT(folder), trace))
    button.click().run()
    request = page.query_params["answer"]
    assert home.jobs.wait(request, PATIENCE).state == "done"
    assert [entry.charge.claim["key"] for entry in table.history(9)] == ["count"], "no check was bought with it"
    stations = list(trace.stations)
    assert trace.effects == EFFECTS, trace.effects
    assert len(stations) - 1 <= MOST, " > ".join(stations)
    [listed] = re.findall(r"(?s)A count on DuckDB.*?The rule", (ROOT / "docs" / "architecture.md").read_text("utf-8"))
    assert re.findall(r"`((?:ui|dpengine)/[\w/]+\.py)`", listed) == stations, " > ".join(stations)
