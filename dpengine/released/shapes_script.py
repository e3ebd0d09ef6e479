"""A model that was read off a first look, as a Python file that needs nothing but Python.

Names and cells are read as the table was read (`script_reader`). It agrees with `Shapes.predict`.
"""

from __future__ import annotations

from dpengine.core.json_types import JsonObject
from dpengine.declared.date_column import Date
from dpengine.declared.dialect import Dialect
from dpengine.declared.grouped import Grouped
from dpengine.declared.schema import Category, Number, normal
from dpengine.released import script_reader
from dpengine.released.shapes import Shapes


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
    return told | runs | script_reader.ends_of(column)


def source(model: Shapes, sentence: str, receipt: str, dialect: Dialect | None = None) -> str:
    """The file's text; `dialect` says how the table's own file is written."""
    head, about = ["shapes_page.script", "shapes_page.script_from"], {"question": sentence, "charge": receipt}
    return script_reader.file(head, about, parts(model), dialect or Dialect(), _CODE)


_CODE = """

def predict(row):
    row = _needed(row)
    total = MODEL["average"]
    for name, column in MODEL["columns"].items():
        total += _add(name, row[name], column)
    return min(max(total, MODEL["least"]), MODEL["most"])


def _add(name, cell, column):
    if "values" in column:
        return _listed(cell, column)
    code = _code(cell, column)
    if code is None:
        if column["empty"] is None:
            raise ValueError(SAYS["empty"] + " " + name)
        return column["adds"][column["empty"]]
    if column["monday"] is not None:
        return column["adds"][(code - column["monday"]) % 7]
    return column["adds"][column["places"][bisect_right(column["starts"], code) - 1]]
"""
