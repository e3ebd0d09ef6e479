"""Records a release on one table and replays it on a neighbouring one, to compare the draws with the claim.

The method of Cebere, Erb, Desfontaines, Bellet and Fitzsimons (2026, arXiv:2602.17454), applied to this engine: every
statistic comes through `Workspace.read`, and every random number through the coins. A release is run on one table and
recorded: its statistics, its noise with all parameters, its output. Then it is run on the neighbour, and every noise
call returns what it returned before. A difference now did not pass through the noise. `compared` lists the checks.

Five questions (`WHOLE`) draw with other calls, or have a support that depends on the data, for which δ pays; so do
jointly drawn percentiles and sets of the most common values. For these the whole draw is recorded and replayed, and its
loss is that of its exact law.

It detects errors only on the pairs that were run. Whether the noise has the requested law is another check
(`tests/battery.py`).
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from dpengine.asking.answers import Answer
from dpengine.core.strict_json import canonical
from dpengine.core.types import Bits, Integers, JsonObject
from dpengine.mechanisms.choices.find_declarations import FindDeclarations
from dpengine.mechanisms.curves.cdf import Cdf
from dpengine.mechanisms.local.shuffle_count import ShuffleCount
from dpengine.mechanisms.local.shuffle_histogram import ShuffleHistogram
from dpengine.mechanisms.publish.of_rows import OfRows
from dpengine.mechanisms.query import AnyQuery
from dpengine.noise.coins import Coins, SystemCoins
from dpengine.table import Table
from dpengine.workspace import Workspace

WHOLE: tuple[type[AnyQuery], ...] = (Cdf, FindDeclarations, ShuffleCount, ShuffleHistogram)
WHOLE_BY_NOISE = ("joint", "joint_set", "joint_order")
_VOLATILE = {"at", "hash", "ledger", "budget"}  # parts of a receipt that depend on the time and the file


def is_whole(query: AnyQuery) -> bool:
    return isinstance(query, WHOLE) or query.noise in WHOLE_BY_NOISE


@dataclass(frozen=True)
class RecordedEvent:
    """A statistic that was computed, or a noise call: its public part, its private part, and its result."""

    kind: str
    public: str
    private: Any
    drawn: Any
    numbers: tuple[Any, ...] = ()  # its public parameters, exactly


@dataclass(frozen=True)
class RecordedFinding:
    """`kind` is one of those in `compared`, with what was recorded and what was claimed."""

    kind: str
    recorded: str
    claimed: str = ""

    def __str__(self) -> str:
        return f"{self.kind}: {self.recorded}" + (f", claimed {self.claimed}" if self.claimed else "")


class Recorder(Coins):
    """System coins that record every call; with a `script`, each call returns what it returned there."""

    def __init__(self, script: Sequence[RecordedEvent] | None = None, paid: Callable[[], bool] = lambda: True) -> None:
        self.events: list[RecordedEvent] = []
        self.findings: list[RecordedFinding] = []
        self._script = script
        self._paid = paid
        self._inner = SystemCoins()

    def note(self, kind: str, private: Any, draw: Callable[[], Any], *numbers: Any, freed: bool = False) -> Any:
        """`freed` values are not replayed: each table has its own statistic."""
        public = repr(numbers)
        if not self._paid():
            self.findings.append(RecordedFinding("charge", kind))
        scripted = None
        if self._script is not None:
            place = len(self.events)
            scripted = self._script[place] if place < len(self._script) else None
            if scripted is None or (scripted.kind, scripted.public) != (kind, public):
                before = "nothing" if scripted is None else f"{scripted.kind} {scripted.public}"
                self.findings.append(RecordedFinding("order", f"{kind} {public[:200]}", before[:200]))
                scripted = None
        drawn = draw() if scripted is None or freed else scripted.drawn
        self.events.append(RecordedEvent(kind, public, private, drawn, numbers))
        return drawn

    # Noise on private numbers

    def laplace(self, values: Sequence[int], scale: Fraction) -> list[int]:
        return self._noised("laplace", self._inner.laplace, values, scale)

    def gaussian(self, values: Sequence[int], sigma_squared: Fraction) -> list[int]:
        return self._noised("gaussian", self._inner.gaussian, values, sigma_squared)

    def wide_gaussian(self, values: Sequence[int], sigma_squared: Fraction) -> list[int]:
        return self._noised("gaussian", self._inner.wide_gaussian, values, sigma_squared)

    def _noised(
        self, kind: str, draw: Callable[[list[int], Fraction], list[int]], values: Sequence[int], size: Fraction
    ) -> list[int]:
        held = [int(value) for value in values]
        return list(self.note(kind, held, lambda: draw(held, size), size, len(held)))

    def many_laplace(self, values: Integers, scale: Fraction) -> Integers:
        held = np.array(values, dtype=np.int64)
        drawn = self.note("laplace", held.tolist(), lambda: self._inner.many_laplace(held, scale), scale, len(held))
        return np.array(drawn, dtype=np.int64)

    def respond(self, codes: Integers, mixed: Fraction, size: int) -> Integers:
        held = np.array(codes, dtype=np.int64)
        public = mixed, size, len(held)
        drawn = self.note("respond", held.tolist(), lambda: self._inner.respond(held, mixed, size), *public)
        return np.array(drawn, dtype=np.int64)

    def toggle(self, bits: Bits, chance: Fraction) -> Bits:
        held = np.array(bits, dtype=np.bool_)
        drawn = self.note("toggle", held.tolist(), lambda: self._inner.toggle(held, chance), chance, len(held))
        return np.array(drawn, dtype=np.bool_)

    def choose(self, gaps: Integers, sizes: Integers, rate: Fraction, most: int | None = None) -> tuple[int, int]:
        """The choice is recorded as its place among all candidates: their blocks are private."""
        own, blocks = np.array(gaps, dtype=np.int64), np.array(sizes, dtype=np.int64)
        ends = np.cumsum(blocks)

        def draw() -> int:
            block, offset = self._inner.choose(own, blocks, rate, most)
            return int(ends[block] - blocks[block]) + offset

        place = int(self.note("choose", (own, blocks), draw, rate, int(ends[-1]), most))
        block = int(np.searchsorted(ends, place, side="right"))
        return block, place - int(ends[block] - blocks[block])

    def flip(self, gaps: Integers, rate: Fraction, most: int | None = None) -> int:
        own = np.array(gaps, dtype=np.int64)
        private, public = (own, np.ones_like(own)), (rate, len(own), most)
        return int(self.note("flip", private, lambda: self._inner.flip(own, rate, most), *public))

    # Coins without a private number

    def bits(self, count: int) -> int:
        return int(self.note("bits", None, lambda: self._inner.bits(count), count))

    def words(self, count: int) -> Any:
        return self.note("words", None, lambda: self._inner.words(count), count)

    def below(self, bound: int) -> int:
        return int(self.note("below", None, lambda: self._inner.below(bound), bound))

    def geometric(self, scale: Fraction) -> int:
        return int(self.note("geometric", None, lambda: self._inner.geometric(scale), scale))

    def many_flips(self, chance: Fraction, count: int) -> Bits:
        return np.array(self.note("flips", None, lambda: self._inner.many_flips(chance, count), chance, count))

    def many_below(self, bound: int, count: int) -> Integers:
        return np.array(self.note("many_below", None, lambda: self._inner.many_below(bound, count), bound, count))

    def order(self, count: int) -> Integers:
        return np.array(self.note("shuffled", None, lambda: self._inner.order(count), count))

    def whole(self, query: AnyQuery) -> AnyQuery:
        """The same question with its whole draw as one recorded call; the calls inside are not recorded."""
        recorder = self

        def draw(self: Any, value: Any, coins: Coins) -> Any:
            inner = recorder._inner
            return recorder.note("whole", value, lambda: type(query).draw(query, value, inner))

        watched = copy.copy(query)
        kind = type(f"Recorded{type(query).__name__}", (type(query),), {"draw": draw})
        object.__setattr__(watched, "__class__", kind)
        return watched


# One release


@dataclass
class RecordedRun:
    """One release on one table: what happened, and everything it revealed."""

    recorder: Recorder
    answer: Answer | None
    revealed: dict[str, str] = field(default_factory=dict)
    steps: list[Any] = field(default_factory=list)  # of a session


def release(
    workspace: Workspace, table: Table, query: AnyQuery, request: str, script: Sequence[RecordedEvent] | None = None
) -> RecordedRun:
    """Ask and record; with a `script`, ask and replay."""
    with recording(workspace, request, script) as recorder:
        answer = table.ask(recorder.whole(query) if is_whole(query) else query, request)
    parts = {name: repr(getattr(answer, name)) for name in ("value", "interval", "raw", "path")}
    parts |= {"receipt": steady(answer.receipt), "sentence": answer.sentence}
    if isinstance(query, OfRows):
        parts["file"] = workspace.published_file(request).read_bytes().hex()
    return RecordedRun(recorder, answer, parts)


def converse(
    workspace: Workspace,
    table: Table,
    query: AnyQuery,
    asks: Sequence[Any],
    request: str,
    script: Sequence[RecordedEvent] | None = None,
) -> RecordedRun:
    """Open a session, ask these questions one by one, and record."""
    parts: dict[str, str] = {}
    steps = []
    with recording(workspace, request, script) as recorder:
        session = table.open_session(query, request)
        for place, ask in enumerate(asks):
            step = session.ask(ask, f"step-{place}")
            steps.append(step)
            revealed = (step.state, step.value, step.interval, step.population)
            parts[f"step {place}"] = repr(revealed) + steady(step.receipt)
    answer = workspace.job(request).answer
    assert answer is not None
    return RecordedRun(recorder, answer, parts | {"receipt": steady(answer.receipt)}, steps)


@contextmanager
def recording(workspace: Workspace, request: str, script: Sequence[RecordedEvent] | None) -> Iterator[Recorder]:
    """The workspace's own coins and reader, with every call recorded."""
    coins, read = workspace.coins, workspace.read
    recorder = Recorder(script, paid=lambda: workspace.ledger.find(request) is not None)

    def noted(need: Any, record: Any, schema: Any) -> Any:
        statistic = read(need, record, schema)
        return recorder.note("read", statistic, lambda: statistic, need, freed=True)

    workspace.coins, workspace.read = recorder, noted  # type: ignore[assignment, method-assign]
    try:
        yield recorder
    finally:
        workspace.coins = coins
        del workspace.read


def steady(receipt: JsonObject) -> str:
    """A receipt without its time and file."""

    def kept(part: Any) -> Any:
        if isinstance(part, dict):
            return {name: kept(inner) for name, inner in part.items() if name not in _VOLATILE}
        return [kept(inner) for inner in part] if isinstance(part, list) else part

    return canonical(kept(receipt))
