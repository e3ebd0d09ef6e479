"""A figure read off a first look, with its range."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Figure:
    label: str
    value: float
    low: float | None  # None: estimated, without a promise
    high: float | None
    how: str = "measured"
