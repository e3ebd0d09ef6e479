"""Items of sets in a first look: how many people hold each, and which share of everyone that is. Free.

Claim       the numbers of people are among the cells that are all within their reach but for β/2. A share of a public
            number of people has the same range, divided. Where the number of people is secret, x − s·X is within its
            reach for the true share s, X being the noisy number of people with noise of its own; this sum is one of
            those listed (`look_ranges`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from dpengine.core.errors import AllowanceError
from dpengine.mechanisms.marginals.overview import Overview
from dpengine.released.figure import Figure
from dpengine.released.look_ranges import ratio_ends


def bars(query: Overview, raw: Sequence[int], column: str) -> list[Figure]:
    held = next(one for one in query.held if one.column == column)
    reach = query.reach_of_held(held)
    counts = [max(count, 0) for count in query.held_counts(raw)[column]]
    told = zip(query.item_labels(column), counts, strict=True)
    return [Figure(label, count, max(count - reach, 0.0), count + reach) for label, count in told]


def shares(query: Overview, raw: Sequence[int], log: float, column: str) -> list[Figure]:
    """Of all people, those who hold each item; `log` says how sure the listed sums are."""
    counts = query.held_counts(raw)
    over, under = np.array(counts[column], dtype=np.float64), float(counts[""][0])
    held = {one.column: float(noise) for one, noise in query.noise_of_held.items()}
    if "" not in held:
        reach = query.reach_of_held(next(one for one in query.held if one.column == column))
        low, high = (over - reach) / under, (over + reach) / under
    else:
        told = over / max(under, 1.0)
        off, shared = held[column] + told**2 * held[""], -told * held[""]
        low, high = ratio_ends(over, under, off, shared, held[""], log)
    low, high = np.nan_to_num(np.clip(low, 0, 1), nan=0.0), np.nan_to_num(np.clip(high, 0, 1), nan=1.0)
    middle = np.clip(over / under if under > 0 else np.full(len(over), 0.5), low, high)
    return [
        Figure(label, float(value), float(least), float(most))
        for label, value, least, most in zip(query.item_labels(column), middle, low, high, strict=True)
    ]


def share(
    query: Overview,
    raw: Sequence[int],
    log: float,
    column: str,
    condition: Mapping[str, Sequence[str]],
    among: Mapping[str, Sequence[str]] | None,
) -> Figure:
    """Of one item; nothing else was counted of sets."""
    labels = condition[column]
    if len(condition) > 1 or among or len(labels) != 1:
        raise AllowanceError("look.items", column=column)
    if labels[0] not in query.item_labels(column):
        raise AllowanceError("look.label", column=column)
    return shares(query, raw, log, column)[query.item_labels(column).index(labels[0])]
