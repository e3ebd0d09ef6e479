"""The choices on the audit page, kept in the address, and the draws, kept in the session.

Everything is about two made-up tables: all of it may be shown, kept and drawn again.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import streamlit as st

from demos.neighbours import EXAMPLES, UNITS, Example, settings
from demos.twins import twins, watched
from demos.views import Claim, View
from demos.watching import BulkCoins, Watched, claimed
from dpengine.audit.empirical import Evidence, lower_bound
from dpengine.declared.unit import RELATIONS
from ui.shell.language import address

STATE, DRAWN = "audit", "audit-drawn"
CARE = ("0.1", "0.2", "0.5", "1", "1.5", "2", "3")
CHOICES: dict[str, tuple[str, ...]] = {"q": tuple(EXAMPLES), "relation": RELATIONS, "unit": tuple(UNITS), "e": CARE}
USUAL = {"q": "count", "relation": "replace", "unit": "one", "e": "1", "twin": ""}
FIRST, MORE, MOST = 10_000, 20_000, 200_000  # draws of each table
SECONDS = 0.7  # of drawing when a question opens, and again for its twin
LONGER = 2.0  # when more draws are wanted
FAILURE = 1e-6
_BATCH = 250
_MOST_KEPT = 24


@dataclass(frozen=True)
class Prepared:
    """A question or its twin, ready to be drawn: the exact part."""

    subject: Watched
    values: tuple[Any, Any]
    view: View
    claim: Claim
    loss: float | None  # exact, on these two tables


@lru_cache(maxsize=256)
def prepared(example: Example, twin: str) -> Prepared:
    subject, claim = watched(example, twin), claimed(example.query)
    one, other = (subject.value(rows) for rows in example.tables)
    view = subject.view(one, other)
    return Prepared(subject, (one, other), view, claim, view.loss(claim.delta))


@dataclass
class Drawn:
    """The cells of the draws, for each table."""

    wanted: int = 0
    seconds: float = SECONDS  # for the next draws
    cells: tuple[list[int], list[int]] = field(default_factory=lambda: ([], []))
    found: tuple[int, Evidence] | None = None  # the number of draws, and their evidence

    @property
    def many(self) -> int:
        return len(self.cells[1])

    def share(self, side: int, cells: tuple[int, ...]) -> float:
        return sum(cell in cells for cell in self.cells[side]) / max(self.many, 1)

    def shares(self, side: int, cells: int) -> list[float]:
        counts = [0] * cells
        for cell in self.cells[side]:
            counts[cell] += 1
        return [count / max(self.many, 1) for count in counts]


def drawn(example: Example, twin: str) -> Drawn:
    kept: dict[tuple[Example, str], Drawn] = st.session_state.setdefault(DRAWN, {})
    key = (example, twin)
    if key not in kept:
        while len(kept) >= _MOST_KEPT:
            kept.pop(next(iter(kept)))
        kept[key] = Drawn(FIRST, SECONDS)
    return kept[key]


def draw_more(ready: Prepared, kept: Drawn, report: Callable[[float], object]) -> None:
    """Draw up to the wanted number or the time limit; draws before an interruption stay."""
    coins, start, before = BulkCoins(), time.monotonic(), kept.many
    while kept.many < kept.wanted and time.monotonic() - start < kept.seconds:
        batch = min(_BATCH, kept.wanted - kept.many)
        both = [[ready.view.place(ready.subject.draw(value, coins)) for _ in range(batch)] for value in ready.values]
        for cells, more in zip(kept.cells, both, strict=True):
            cells += more
        report((kept.many - before) / (kept.wanted - before))
    kept.wanted = kept.many


def wish(kept: Drawn) -> None:
    """More draws in the next run of the page."""
    kept.wanted, kept.seconds = min(kept.many + MORE, MOST), LONGER


def evidence(ready: Prepared, kept: Drawn) -> Evidence:
    """What the draws prove. Answers are ordered by their evidence, so that no event family misses the best one."""
    if kept.found is None or kept.found[0] != kept.many:
        ranks = ready.view.ranks()
        one, other = ([ranks[cell] for cell in cells] for cells in kept.cells)
        kept.found = (kept.many, lower_bound(one, other, ready.claim.delta, FAILURE))
    return kept.found[1]


# --- the address ------------------------------------------------------------------------------------------------------


def state() -> dict[str, str]:
    """The settings: from the URL on arrival, else as last left, else the defaults."""
    arriving = {name: st.query_params[name] for name in USUAL if name in st.query_params}
    kept = st.session_state.get(STATE)
    if kept is None or (arriving and arriving != kept["url"]):
        turn = kept["turn"] + 1 if kept else 0  # new widgets, because a browser keeps old widget values
        kept = {"url": arriving, "given": clean(arriving), "turn": turn}
        st.session_state[STATE] = kept
    return dict(kept["given"])


def clean(arriving: dict[str, str]) -> dict[str, str]:
    """Replace impossible values by defaults; nothing in a URL is trusted."""
    given = fitted(USUAL | {name: text for name, text in arriving.items() if text in CHOICES.get(name, ())})
    return given | {"twin": twin_of(given, arriving.get("twin", ""))}


def fitted(given: dict[str, str]) -> dict[str, str]:
    """The table for this question: the default one if the chosen one does not suit it."""
    fits = (given["relation"], given["unit"]) in settings(given["q"])
    return given if fits else given | {name: USUAL[name] for name in ("relation", "unit")}


def twin_of(given: dict[str, str], wished: str) -> str:
    """The chosen twin if this question has it, else its first."""
    offered = twins(example_of(given))
    return wished if wished in offered else next(iter(offered))


def example_of(given: dict[str, str]) -> Example:
    return Example(given["q"], given["relation"], given["unit"], given["e"])  # type: ignore[arg-type]


def widget(name: str) -> str:
    return f"audit-{name}-{st.session_state[STATE]['turn']}"


def remember(given: dict[str, str]) -> None:
    """Write the settings to the address, without defaults."""
    usual = USUAL | {"twin": twin_of(given, "")}
    kept = st.session_state[STATE]
    kept["given"], kept["url"] = given, {name: text for name, text in given.items() if text != usual[name]}
    others = {name: st.query_params[name] for name in st.query_params if name not in USUAL}
    address(others | kept["url"])
