"""Notes beside the figures of an answer in a file: that a figure says nothing, and how the cells behind it fit."""

from __future__ import annotations

from dpengine.asking.column_fit import Fits
from dpengine.core.json_types import Json
from dpengine.mechanisms.query import AnyQuery
from dpengine.mechanisms.telling import FEW
from dpengine.messages import say


class Notes:
    """Of one answer. What was drawn stands beside a note as it was."""

    def __init__(self, query: AnyQuery, value: Json, interval: Json, fits: Fits) -> None:
        self._query, self._interval, self._fits = query, interval, fits
        self._state = query.state(value, interval)  # looks at every part: once
        self._told: dict[frozenset[str], str] = {}

    def of(self, part: str = "") -> str:
        """Where the answer's state or the part's own range says that it says nothing; and what is known of the cells
        of the columns that this very part is about."""
        state, interval = self._state, self._interval
        if part and isinstance(interval, dict) and self._query.mute(interval.get(part), part):
            state = FEW
        return " ".join(told for told in (say(f"state.{state}") if state else "", self._fit(part)) if told)

    def _fit(self, part: str) -> str:
        about = frozenset(self._query.about(part))
        if about not in self._told:
            self._told[about] = " ".join(self._fits.notes(self._query, part))
        return self._told[about]
