"""A model that was read off a first look, as a Python file that needs nothing but Python.

Cells are read as the table was read: numbers are rounded to the declared grid and clamped to its ends, days clamped,
values not listed count as the list says. It agrees with `Shapes.predict`.
"""

from __future__ import annotations

from dpengine.core.exact import text_of
from dpengine.core.json_types import JsonObject
from dpengine.declared.date_column import Date
from dpengine.declared.grouped import Grouped
from dpengine.declared.schema import Category, Number, normal
from dpengine.messages import say
from dpengine.released.model_script import literal
from dpengine.released.shapes import Shapes

_CODING = "# -*- coding: utf-8 -*-"  # in the first line, so that Python does not look for it in the second


def parts(model: Shapes) -> JsonObject:
    columns = {name: _column(model, name) for name in model.columns}
    data: JsonObject = {"target": model.target, "average": model.average, "columns": columns}
    if model.listed:
        return data | {"yes": list(model.yes), "least": 0.0, "most": 1.0}
    goal = model.look.query.facts.schema.number(model.target)
    return data | {"least": float(goal.lower), "most": float(goal.upper)}


def _column(model: Shapes, name: str) -> JsonObject:
    place, query = model.look.place(name), model.look.query
    ref, axis, column = query.columns[place], query.axes[place], query.facts.schema[name]
    adds = [effect.value for effect in model.effects(name)]
    if isinstance(column, Category):
        group = ref.of if isinstance(ref, Grouped) else int
        values = {spelling: adds[group(code)] for spelling, code in column.spelled().items()}
        return {
            "values": values,
            "other": values[normal(column.unknown)],
            "empty": values[normal(column.missing)],
        }
    assert isinstance(ref, Grouped) and isinstance(column, Number | Date)
    told: JsonObject = {"adds": adds, "empty": axis.listed if axis.absent else None}
    if not axis.absent and isinstance(column, Number) and column.missing is not None:
        told["empty"] = ref.of(column.code(column.missing))
    runs: JsonObject = {"starts": list(ref.starts), "places": list(ref.places)}
    runs["monday"] = None if ref.starts else ref.monday
    if isinstance(column, Date):
        return told | runs | {"first": column.first.isoformat(), "last": column.last.isoformat()}
    return told | runs | {end: text_of(getattr(column, end)) for end in ("lower", "upper", "step")}


def source(model: Shapes, sentence: str, receipt: str) -> str:
    """The file's text; comments hold nothing that a person typed."""
    head = "".join(f"# {say(f'shapes_page.{line}')}\n" for line in ("script", "script_from"))
    head += f"# {say('scorer.use')}\n"
    about = {"question": sentence, "charge": receipt}
    named = "".join(f"{name} = {literal(value)}\n" for name, value in (("ABOUT", about), ("MODEL", parts(model))))
    return f"{_CODING}\n{head}\n{_IMPORTS}\n{named}{_CODE}"


_IMPORTS = """import csv
import sys
from bisect import bisect_right
from datetime import date
from fractions import Fraction
"""

_CODE = """

def predict(row):
    total = MODEL["average"]
    for name, column in MODEL["columns"].items():
        total += _add(name, str("" if row.get(name) is None else row[name]).strip(), column)
    return min(max(total, MODEL["least"]), MODEL["most"])


def _add(name, cell, column):
    if "values" in column:
        return column["values"].get(cell.lower(), column["other"]) if cell else column["empty"]
    if not cell:
        if column["empty"] is None:
            raise ValueError(f"{name!r} is empty")
        return column["adds"][column["empty"]]
    if "first" in column:
        first, last = (date.fromisoformat(column[end]).toordinal() for end in ("first", "last"))
        code = min(max(date.fromisoformat(cell).toordinal(), first), last) - first
    else:
        lower, upper, step = (Fraction(column[end]) for end in ("lower", "upper", "step"))
        code = int((min(max(lower + round((Fraction(cell) - lower) / step) * step, lower), upper) - lower) / step)
    if column["monday"] is not None:
        return column["adds"][(code - column["monday"]) % 7]
    return column["adds"][column["places"][bisect_right(column["starts"], code) - 1]]


if __name__ == "__main__":
    with open(sys.argv[1], newline="", encoding="utf-8-sig") as file:
        for row in csv.DictReader(file):
            print(predict(row))
"""
