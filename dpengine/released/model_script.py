"""A trained model as a Python file that needs nothing but Python: it can be passed on, or run over a CSV file.

The file holds coefficients in the units of the columns, and reads names and cells as the table was read
(`script_reader`). It agrees with `Model.predict`.
"""

from __future__ import annotations

from dpengine.core.exact import text_of
from dpengine.core.json_types import JsonObject
from dpengine.declared.date_column import Date
from dpengine.declared.dialect import Dialect
from dpengine.declared.schema import Category, normal
from dpengine.released import script_reader
from dpengine.statistics.features import CONSTANT, Model


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
        else:
            missing = None if isinstance(column, Date) else column.missing
            empty = None if missing is None else text_of(missing)
            columns[name] = {"each": coefficients[name], "empty": empty} | script_reader.ends_of(column)
    data = {"kind": model.kind, "target": layout.target, "constant": coefficients[CONSTANT], "columns": columns}
    if isinstance(layout.goal, Category):
        data["yes"] = [layout.goal.labels[code] for code in layout.yes]
    return data


def source(model: Model, sentence: str, receipt: str, dialect: Dialect | None = None) -> str:
    """The file's text; `dialect` says how the table's own file is written."""
    head, about = [f"scorer.{model.kind}", "scorer.receipt"], {"question": sentence, "charge": receipt}
    return script_reader.file(head, about, parts(model), dialect or Dialect(), _CODE)


_CODE = """

def predict(row):
    row = _needed(row)
    total = MODEL["constant"]
    for name, column in MODEL["columns"].items():
        total += _add(name, row[name], column)
    if MODEL["kind"] != "logistic":
        return total
    return 1 / (1 + math.exp(-max(min(total, 40.0), -40.0)))


def _add(name, cell, column):
    if "values" in column:
        return _listed(cell, column)
    code = _code(cell, column)
    if code is None and column["empty"] is None:
        raise ValueError(SAYS["empty"] + " " + name)
    if "first" in column:
        return column["each"] * code
    lower, step = Fraction(column["lower"]), Fraction(column["step"])
    value = Fraction(column["empty"]) if code is None else lower + code * step
    return column["each"] * float(value)
"""
