"""What can be put on the class wall, one figure each about a bundled sample; its answers, and what is true of it."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import dpengine as dp
from demos import truth
from dpengine.core.printed import chance
from dpengine.messages import say
from ui.shell.state import open_table, workspace
from ui.shell.workshop_state import GONE, WAITING, Dot, here
from ui.words.wording import axis
from ui.workshop.wall_picture import width
from ui.workshop.workshop import figure

EVERY = 2  # seconds between two looks of a viewer
MANY = 1_000

QUESTIONS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "car": ("town", "count", {"where": [["has_car", "in", ["yes"]]]}),
    "income": ("town", "median", {"column": "monthly_income"}),
    "mean_income": ("town", "mean", {"column": "monthly_income"}),
    "smokers": ("clinic", "count", {"where": [["smoker", "in", ["yes"]]]}),
    "pressure": ("clinic", "mean", {"column": "blood_pressure"}),
    "typical_pressure": ("clinic", "median", {"column": "blood_pressure"}),
}
EPSILONS = ("0.01", "0.02", "0.05", "0.1", "0.2", "0.5", "1")
USUAL = ("car", "0.1")


def clean(question: Any, epsilon: Any) -> tuple[str, str]:
    """What an address means; anything else is the usual."""
    return question if question in QUESTIONS else USUAL[0], epsilon if epsilon in EPSILONS else USUAL[1]


def query_of(question: str, epsilon: str) -> tuple[dp.Table, dp.Query]:
    """The viewer's own table, with their practice budget, and the question."""
    name, key, given = QUESTIONS[question]
    table = open_table(name)
    return table, table.query(key, epsilon=epsilon, **given)


@lru_cache(maxsize=64)
def told_of(question: str, epsilon: str, lang: str) -> tuple[str, str]:
    """What its axis is called, and how many of 100 ranges are promised to hold. Kept by `lang` too."""
    query = query_of(question, epsilon)[1]
    return axis(query), chance(query.beta)


def words_of(question: str) -> str:
    return say(f"workshop.q.{question}")


def read(request: str) -> Dot | str:
    """What became of one participant's question."""
    found = workspace().job(request)
    if found.answer is not None:
        value, interval = found.answer.value, found.answer.interval or (found.answer.value,) * 2
        return Dot(float(value), *map(float, interval))
    return GONE if found.over and found.state != "unknown" else WAITING


@lru_cache(maxsize=64)
def true_value(question: str) -> float:
    """From the bundled file; once for everybody."""
    here()
    return figure(truth.of(query_of(question, "1")[1]))


@lru_cache(maxsize=64)
def thousand(question: str, epsilon: str) -> tuple[tuple[float, ...], int, float]:
    """Simulated: the answers, how many of their ranges hold the truth, and half of a usual range. The instructor's
    switch makes them; whoever looks later finds them made."""
    here()
    found = truth.simulated(query_of(question, epsilon)[1], MANY)
    dots = [Dot(float(one.value), *map(float, one.interval)) for one in found]
    return tuple(dot.value for dot in dots), sum(dot.holds(true_value(question)) for dot in dots), width(dots)
