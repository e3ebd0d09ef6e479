"""Made-up stays in a hospital, and whether the person came back: another table for models, made in another way than the
census (`bench.census`) and looked at by no constant. One in five comes back; shapes bend, tails are long, and two
columns tell something only together.
"""

from __future__ import annotations

from typing import Any

import numpy as np

NUMBERS = {"old": (0, 100), "days": (0, 365), "visits": (0, 60), "bill": (0, 50_000)}
LISTS = {"ward": 11, "payer": 4, "triage": 5, "diagnosis": 23, "gender": 2, "area": 9, "month": 12}
_TASTES = 5  # the seed of what lists do to the odds


def stays(people: int, seed: int) -> dict[str, Any]:
    """`owner` is 0 for those who came back, so that a table is judged as that of a census is."""
    rng, tastes = np.random.default_rng(seed + 99), np.random.default_rng(_TASTES)
    told: dict[str, Any] = {}
    for name, size in LISTS.items():
        shares = np.arange(1, size + 1) ** -0.8
        told[name] = rng.choice(size, people, p=shares / shares.sum())
    told["ward"] = np.where(rng.random(people) < 0.6, told["diagnosis"] % 11, told["ward"])
    ill = rng.normal(0, 1, people) + 0.5 * told["triage"] - 0.6
    told["old"] = np.clip(np.where(rng.random(people) < 0.3, 4, 62) + rng.normal(0, 17, people), 0, 100).round()
    told["days"] = np.clip(rng.lognormal(1.0 + 0.5 * ill, 0.9), 0, 365).round()
    told["visits"] = np.clip(rng.negative_binomial(1, 0.25, people) + (ill > 1) * rng.integers(0, 9, people), 0, 60)
    told["bill"] = np.clip(told["days"] * rng.gamma(3, 180, people) + 150, 0, 50_000).round(-2)
    odds = -2.4 + 0.9 * np.cos((told["old"] - 8) / 13) + 0.35 * np.log1p(told["days"]) + 0.12 * told["visits"]
    for name, strong in (("ward", 0.5), ("diagnosis", 0.6), ("payer", 0.3), ("area", 0.1)):
        odds = odds + tastes.normal(0, strong, LISTS[name])[told[name]]
    odds += 0.7 * ((told["triage"] > 2) == (told["gender"] == 0)) - 0.3 * (told["bill"] > 9_000)
    told["owner"] = rng.random(people) >= 1 / (1 + np.exp(-odds))
    return {name: column.astype(np.int64) for name, column in told.items()}
