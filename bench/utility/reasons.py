"""Why ours is behind in a row of bench/results-utility.md, where it is: words for the file, by part and case."""

from __future__ import annotations

REASONS: tuple[tuple[str, str, str], ...] = ()  # part, how the case begins, why


def why(part: str, case: str) -> str:
    return next((words for of, begins, words in REASONS if of == part and case.startswith(begins)), "")
