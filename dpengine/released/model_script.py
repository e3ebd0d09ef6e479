"""A trained model as a Python file that needs nothing but Python: it can be passed on, or run over a CSV file.

The file holds coefficients in the units of the columns and reads cells as the table was read: numbers are rounded to
the declared grid and clamped to its ends, values not listed count as the list says. It agrees with `Model.predict`.
"""

from __future__ import annotations

from pprint import pformat

from dpengine.core.exact import text_of
from dpengine.core.json_types import JsonObject
from dpengine.declared.date_column import Date
from dpengine.declared.schema import Category, normal
from dpengine.messages import say
from dpengine.statistics.features import CONSTANT, Model

WIDE = 100


def parts(model: Model) -> JsonObject:
    """The model as plain data, coefficients in the units of the columns."""
    layout, coefficients = model.layout, model.coefficients()
    columns: JsonObject = {}
    for name, column in zip(layout.names, layout.columns, strict=True):
        if isinstance(column, Category):
            spelled = column.spelled().items()
            values = {spelling: coefficients[f"{name} = {column.labels[code]}"] for spelling, code in spelled}
            columns[name] = {
                "values": values,
                "other": values[normal(column.unknown)],
                "empty": values[normal(column.missing)],
            }
        elif isinstance(column, Date):
            ends = {"first": column.first.isoformat(), "last": column.last.isoformat()}
            columns[name] = {"each": coefficients[name], "empty": None} | ends
        else:
            grid = {end: text_of(getattr(column, end)) for end in ("lower", "upper", "step")}
            empty = None if column.missing is None else text_of(column.missing)
            columns[name] = {"each": coefficients[name], "empty": empty} | grid
    data = {"kind": model.kind, "target": layout.target, "constant": coefficients[CONSTANT], "columns": columns}
    if isinstance(layout.goal, Category):
        data["yes"] = [layout.goal.labels[code] for code in layout.yes]
    return data


def source(model: Model, sentence: str, receipt: str) -> str:
    """The file's text. Its first line fixes the encoding, comments hold nothing that a person typed, and names that
    people chose occur only as literals, below the lines in which Python and editors look for settings."""
    data = parts(model)
    head = "".join(f"# {say(line)}\n" for line in (f"scorer.{model.kind}", "scorer.use", "scorer.receipt"))
    about = {"question": sentence, "charge": receipt}
    named = "".join(f"{name} = {literal(value)}\n" for name, value in (("ABOUT", about), ("MODEL", data)))
    return f"{_CODING}\n{head}\n{_IMPORTS}\n{named}{_CODE}"


def literal(value: JsonObject) -> str:
    return pformat(value, width=WIDE, sort_dicts=False)


_CODING = "# -*- coding: utf-8 -*-"  # in the first line, so that Python does not look for it in the second

_IMPORTS = """import csv
import math
import sys
from datetime import date
from fractions import Fraction
"""

_CODE = """

def predict(row):
    total = MODEL["constant"]
    for name, column in MODEL["columns"].items():
        total += _add(name, str("" if row.get(name) is None else row[name]).strip(), column)
    if MODEL["kind"] != "logistic":
        return total
    return 1 / (1 + math.exp(-max(min(total, 40.0), -40.0)))


def _add(name, cell, column):
    if "values" in column:
        return column["values"].get(cell.lower(), column["other"]) if cell else column["empty"]
    cell = cell or column["empty"]
    if cell is None:
        raise ValueError(f"{name!r} is empty")
    if "first" in column:
        first, last = (date.fromisoformat(column[end]).toordinal() for end in ("first", "last"))
        return column["each"] * (min(max(date.fromisoformat(cell).toordinal(), first), last) - first)
    lower, upper, step = (Fraction(column[end]) for end in ("lower", "upper", "step"))
    value = lower + round((Fraction(cell) - lower) / step) * step
    return column["each"] * float(min(max(value, lower), upper))


if __name__ == "__main__":
    with open(sys.argv[1], newline="", encoding="utf-8-sig") as file:
        for row in csv.DictReader(file):
            print(predict(row))
"""
