"""A census-like table of made-up people, from a public seed, and how well a model guesses on it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

NUMBERS = {"age": (17, 90), "hours": (1, 99), "years": (0, 60)}
LISTS = {"education": 8, "sex": 2, "marital": 4, "work": 5, "occupation": 10}
MOST_PAY = 12_000
Columns = dict[str, Any]


def census(people: int, seed: int) -> Columns:
    """Made-up people: what they are, what they earn, and whether they own a home; all as integers."""
    rng = np.random.default_rng(seed)
    age = np.clip(rng.gamma(6, 6, people) + 16, 17, 90).round()
    education = rng.choice(8, people, p=[0.05, 0.1, 0.15, 0.3, 0.2, 0.12, 0.06, 0.02])
    sex = rng.integers(0, 2, people)
    settled = rng.random(people) < 1 / (1 + np.exp(-(age - 30) / 6))
    marital = np.where(settled, rng.choice([0, 0, 0, 2, 3], people), 1)
    work = rng.choice(5, people, p=[0.65, 0.1, 0.1, 0.1, 0.05])
    occupation = np.clip((0.8 * education + rng.normal(2, 2, people)).round(), 0, 9)
    hours = np.clip(rng.normal(40, 10, people), 1, 99).round()
    years = np.clip(age - 18 - education + rng.normal(0, 4, people), 0, 60).round()
    odds = 0.045 * (age - 38) - 0.0015 * (age - 45) ** 2 + 0.55 * education + 0.35 * sex + 1.6 * (marital == 0)
    odds += 0.03 * (hours - 40) + 0.12 * occupation + 0.4 * (work == 2) - 4.8
    owner = rng.random(people) < 1 / (1 + np.exp(-odds))
    log_pay = 7.2 + 0.09 * education + 0.012 * years + 0.1 * sex + 0.012 * (hours - 40) + 0.05 * occupation
    pay = np.clip(np.exp(log_pay + rng.normal(0, 0.35, people)), 0, MOST_PAY).round(-1)
    told = {
        "age": age,
        "hours": hours,
        "years": years,
        "education": education,
        "sex": sex,
        "marital": marital,
        "work": work,
        "occupation": occupation,
        "pay": pay,
        "owner": ~owner,
    }
    return {name: column.astype(np.int64) for name, column in told.items()}


def vectors(table: Columns, names: tuple[str, ...]) -> Any:
    """Rows in the unit ball, as `dpengine.statistics.features` scales them, in floats: what the other tool is given."""
    parts = [np.ones((len(table["age"]), 1))]
    for name in names:
        if name in NUMBERS:
            low, high = NUMBERS[name]
            parts.append((2 * (table[name] - low) / (high - low) - 1)[:, None])
        else:
            parts.append((table[name][:, None] == np.arange(LISTS[name])).astype(float))
    return np.hstack(parts) / math.sqrt(len(names) + 1)


def accuracy(margins: Any, table: Columns) -> float:
    return float(((margins > 0) == (table["owner"] == 0)).mean())


def error(guesses: Any, table: Columns) -> float:
    """Root of the mean squared error; guesses on [−1, 1] are kept there."""
    there = (np.clip(guesses, -1, 1) + 1) * MOST_PAY / 2
    return float(np.sqrt(np.mean((there - table["pay"]) ** 2)))
