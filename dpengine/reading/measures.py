"""What a number is measured in, where only its name says so: `trip_min`, `Amt_EUR`, `Star_mes`, `days_held`."""

from __future__ import annotations

import re
from dataclasses import replace

from dpengine.core.remembered import remembered
from dpengine.declared.schema import Column, Number, Schema
from dpengine.reading.cutting import plain_words
from dpengine.reading.words import MEASURES, MONEY, bare

# How a unit ends a name, and, of spans of time, how it may begin one
_TIMED = {
    "min": "min|mins|minutes|minut|minute",
    "hours": "h|hr|hrs|hours|ur|ure",
    "s": "sec|secs|seconds|sek|sekund",
    "days": "days|dni|dnevi|dnevov",
    "weeks": "wks|weeks|tednov|tedni",
    "months": "mths|mos|months|mesecev|meseci",
    "years": "yrs|years|let",
    "%": "%|pct|perc|percent|odst",
}
TIMED_UNITS = frozenset(_TIMED) - {"%"}
_UNITS = {word: unit for unit, line in _TIMED.items() for word in line.split("|")}
_UNITS |= {unit: unit for unit in MEASURES if unit not in ("t", "nights", "degrees")} | {"m²": "m2", "miles": "mi"}
_BEGINNING = frozenset(word for word, unit in _UNITS.items() if len(word) > 1 and unit not in ("min", "%", "years"))
_PERIODS = ("yr", "year", "mth", "month", "wk", "week", "day", "mes", "mesec", "leto", "teden", "dan")
_OF_AGE = ("age", "star", "starost", "stara", "traj", "trajanje", "dur", "duration", "tenure", "staz", "wait")
_AGED = {"mth": "months", "mo": "months", "m": "months", "mes": "months", "yr": "years", "y": "years", "l": "years"}


def unit_in(name: str) -> str:
    """The unit that a name ends with, or begins with: hours in `Hrs_wk`. "" if it has none."""
    words = [bare(word) for word in re.split(r"[\s_()\[\]/]+", plain_words(name)) if word]
    paid = [word for word in words if word in MONEY]
    if paid:
        return paid[0]
    if len(words) < 2:
        return ""
    if words[0] in _BEGINNING:
        return _UNITS[words[0]]
    if words[0].startswith("temp"):
        return "degrees"
    if words[-1] in _AGED and words[0].startswith(_OF_AGE):
        return _AGED[words[-1]]
    if words[2:] and words[-1] in _PERIODS and words[-2] in MEASURES:
        return words[-2]  # yield_kwh_yr
    return "" if words[-2] in ("per", "na") else _UNITS.get(words[-1], "")


def ends_in(name: str, measure: str) -> bool:
    """Is the last word of a name its unit?"""
    last = bare(plain_words(name).split(" ")[-1])
    return bool(measure) and (last == measure or _UNITS.get(last) == measure or _AGED.get(last) == measure)


@remembered(200)
def measured(schema: Schema) -> Schema:
    """The schema with these units as if they were declared. Only the reading of texts uses it."""
    columns: dict[str, Column] = {}
    for name, column in schema.columns.items():
        unit = unit_in(name) if isinstance(column, Number) and not column.measure else ""
        columns[name] = replace(column, measure=unit) if unit and isinstance(column, Number) else column
    return replace(schema, columns=columns) if columns != schema.columns else schema
