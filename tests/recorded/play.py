"""Pairs of neighbouring tables, loaded by the real loader, and every release on them recorded and replayed."""

from __future__ import annotations

import itertools
import os
import random
import secrets
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

from recorded import made
from recorded.compared import compare
from recorded.recorder import RecordedFinding, RecordedRun, converse, release

import dpengine as dp
from dpengine.asking.exports import ANSWER_COLUMNS, ROW_COLUMNS
from dpengine.core.errors import AllowanceError
from dpengine.ledger.exports import export_lines
from dpengine.mechanisms.query import Query
from dpengine.mechanisms.session.adaptive_session import AdaptiveSession
from dpengine.workspace import Workspace
from ui.ledger import report
from ui.parts import exports

MEMORY = Path("/dev/shm")
BUDGET = dp.Budget("100", "0.99")


@dataclass
class Count:
    """What was played, and what was found."""

    pairs: int = 0
    releases: Counter[str] = field(default_factory=Counter)
    calls: int = 0
    refused: int = 0
    told: int = 0  # pieces that were the same
    found: list[str] = field(default_factory=list)

    def add(self, other: Count) -> None:
        self.pairs += other.pairs
        self.releases += other.releases
        self.calls += other.calls
        self.refused += other.refused
        self.told += other.told
        self.found += other.found


@contextmanager
def folder() -> Iterator[Path]:
    """In memory where there is such a place: every charge waits for its disk."""
    with tempfile.TemporaryDirectory(dir=MEMORY if os.access(MEMORY, os.W_OK) else None) as name:
        yield Path(name)


class Still:
    """Names that are drawn at random and the clock, the same for both sides: then all that is written can be."""

    def __init__(self) -> None:
        self._names = itertools.count(1), itertools.count(1)
        self.side = 0

    def name(self, size: int = 16) -> str:
        return f"{next(self._names[self.side]):0{2 * size}x}"


STILL = Still()
DRAWN = secrets.token_hex


def own_names(name: Callable[[int], str]) -> Callable[[int], str]:
    """For our own code alone: a library draws names too, some for each step of a load, and no one is told those."""

    def drawn(size: int = 16) -> str:
        ours = sys._getframe(1).f_globals["__name__"].partition(".")[0] in ("dpengine", "ui")
        return name(size) if ours else DRAWN(size)

    return drawn


@contextmanager
def still() -> Iterator[None]:
    STILL.__init__()  # type: ignore[misc]
    with ExitStack() as held:
        held.enter_context(patch("secrets.token_hex", own_names(STILL.name)))
        for place in ("dpengine.ledger.ledger._now", "dpengine.workspace._now"):
            held.enter_context(patch(place, lambda: "2026-01-02T03:04:05+00:00"))
        yield


@contextmanager
def loaded(world: made.World) -> Iterator[list[tuple[Workspace, dp.Table]]]:
    """The two tables, each in a workspace of its own; which rows of a person count is one secret's choice."""
    with folder() as home, still():
        held: list[tuple[Workspace, dp.Table]] = []
        try:
            for side in (0, 1):
                STILL.side = side
                (home / f"{side}").mkdir()
                workspace_home = home / f"{side}" / "var"
                workspace_home.mkdir()
                (workspace_home / "secret").write_bytes(b"one secret of both workspaces...")
                path = made.write(home / f"{side}" / "table.csv", world.header, world.rows(side))
                source: Path | dp.Joined = path
                if world.second is not None:
                    head, *rows = world.second[side]
                    people = made.write(home / f"{side}" / "people.csv", head, rows)
                    source = dp.Joined(path, people, (made.ID, head[0]), everybody=world.everybody)
                workspace = Workspace(workspace_home)
                about = {} if world.relation == "replace" else {"about_rows": world.about}
                table = workspace.add_table(
                    "table",
                    source,
                    schema=world.schema,
                    unit=world.unit,
                    relation=world.relation,
                    budget=BUDGET,
                    **about,
                )
                if world.summaries is not None:
                    table = workspace.one_row_a_person("table", "people", world.summaries)
                held.append((workspace, table))
            yield held
        finally:
            for workspace, _ in held:
                workspace.close()


Build = Callable[[dp.Table], Query]


def refusal(act: Callable[[], Any]) -> tuple[Any, str]:
    """What an act gave, or the sentence it was refused with."""
    try:
        return act(), ""
    except AllowanceError as refused:
        return None, str(refused)


def played(
    sides: list[tuple[Workspace, dp.Table]], build: Build, request: str, asks: list[Any] | None = None
) -> tuple[Count, Query | None]:
    """One question: recorded on the first table, replayed on the second, and compared."""
    count = Count()
    queries = [refusal(lambda table=table: build(table)) for _, table in sides]  # type: ignore[misc]
    count.found += [f"another refusal: {queries}"] if queries[0][1] != queries[1][1] else []
    query = queries[0][0]
    if query is None:
        count.refused += 1
        return count, None
    runs: list[RecordedRun] = []
    words: list[str] = []
    for side, ((workspace, table), (own, _)) in enumerate(zip(sides, queries, strict=True)):
        STILL.side = side
        script = runs[0].recorder.events if runs else None
        run, refused = refusal(
            lambda: (
                converse(workspace, table, own, asks or [], request, script)  # noqa: B023
                if isinstance(own, AdaptiveSession)  # noqa: B023
                else release(workspace, table, own, request, script)  # noqa: B023
            )
        )
        words.append(refused)
        if run is not None:
            runs.append(run)
    if words[0] != words[1]:
        count.found.append(f"another refusal: {words}")
        return count, query
    if len(runs) < 2:
        count.refused += 1
        charged = [workspace.ledger.find(request) is not None for workspace, _ in sides]
        if any(charged):
            count.found.append(f"failed after its charge: {words}")
        return count, query
    findings, measured = compare(query, runs[0], runs[1])
    findings += leaving(runs[0], runs[1])
    key = query.card.key
    count.found += [f"{key} {query.parameters()}: {finding}" for finding in findings]
    count.releases[key] += 1
    count.calls += measured.calls
    count.told += len(runs[0].revealed) + 1
    return count, query


def leaving(one: RecordedRun, other: RecordedRun) -> list[RecordedFinding]:
    """The answer as a file holds it."""
    assert one.answer is not None and other.answer is not None
    same = replace(other.answer, at=one.answer.at, receipt=one.answer.receipt)  # compared already, but for the clock
    told = [exports.answer_csv(answer) for answer in (one.answer, same)]
    return [] if told[0] == told[1] else [RecordedFinding("answer", "its CSV differs")]


def written(workspace: Workspace, table: dp.Table) -> dict[str, str]:
    """All that a person can take away about these answers, hashes and all."""
    with patch("ui.ledger.report.workspace", lambda: workspace):
        printed = report.html(table, workspace.ledger.head(), "2026-01-02T03:04:05+00:00")
    return {
        "ledger": "".join(export_lines(workspace.ledger)),
        "answers": "".join(table.answer_lines()),
        "figures": exports.as_csv(ANSWER_COLUMNS, table.answer_rows()),
        "rows": exports.as_csv(ROW_COLUMNS, table.ledger_rows()),
        "report": printed,
        "meter": repr(table.meter()),
    }


def play(seed: int, kind: Callable[[random.Random], made.World] = made.world, every: int = 1) -> Count:
    """One random world, and a question of every kind about it, or every so many of them from a random one on."""
    rng = random.Random(seed)
    world = kind(rng)
    total = Count(pairs=1)
    with loaded(world) as sides:
        world = replace(world, schema=sides[0][1].schema, unit=sides[0][1].facts.unit)
        facts = [table.facts for _, table in sides]
        if repr(facts[0]) != repr(facts[1]):
            total.found.append(f"facts: {facts[0].about} {facts[1].about}")
            return total
        for place, (key, given) in enumerate(made.questions(rng, world)[rng.randrange(every) :: every]):

            def build(table: dp.Table, key: str = key, given: dict[str, Any] = given) -> Query:
                return table.query(key, **given)

            asks = made.asks(rng, world.schema, given) if key == "adaptive_session" else None
            count, _ = played(sides, build, f"r{place}", asks)
            total.add(count)
        one, other = (written(workspace, table) for workspace, table in sides)
        total.found += [f"what is taken away: {name} differs" for name in one if one[name] != other[name]]
        total.told += len(one)
    total.found = [f"seed {seed}: {one}" for one in total.found]
    return total
