"""A model as a Python file that needs nothing but Python: it can be passed on, or run over a CSV file.

It reads a CSV file as the table itself was read (`csv_records`, `encode`). Column names are trimmed as the table's
were, cells are read in the table's own signs, values by all their spellings; numbers go to the nearest point of the
declared grid, clamped; text that is no number or no day is missing, and so is a code for “unknown”. A file without a
column that the model needs is refused in one sentence, and nothing is guessed. A row without a prediction gets an empty
line, and their number is printed at the end.
"""

from __future__ import annotations

from pprint import pformat

from dpengine.core.exact import text_of
from dpengine.core.types import Json, JsonObject
from dpengine.declared.date_column import Date
from dpengine.declared.dialect import Dialect
from dpengine.declared.grouped import Grouped
from dpengine.declared.schema import Category, Number
from dpengine.declared.spelling import SPACES, normal
from dpengine.messages import say
from dpengine.released.shapes import Shapes
from dpengine.statistics.features import CONSTANT, Model

WIDE = 100
CODING = "# -*- coding: utf-8 -*-"  # in the first line, so that Python does not look for it in the second
_MESSAGES = ("use", "absent", "twice", "broken", "empty", "without")


def literal(value: Json) -> str:
    return pformat(value, width=WIDE, sort_dicts=False)


def ends_of(column: Number | Date) -> JsonObject:
    """What a script needs to read the column's cells: the ends of its range, its step and codes or order of days."""
    if isinstance(column, Date):
        return {"first": column.first.isoformat(), "last": column.last.isoformat(), "order": column.order}
    ends: JsonObject = {end: text_of(getattr(column, end)) for end in ("lower", "upper", "step")}
    return ends | ({"codes": [text_of(code) for code in column.codes]} if column.codes else {})


def file(head: list[str], about: JsonObject, model: JsonObject, dialect: Dialect, code: str) -> str:
    """The script's whole text. Its first line fixes the encoding. Comments hold nothing that a person typed. Names that
    people chose occur only as literals, below the lines in which Python and editors look for settings."""
    comments = "".join(f"# {say(line)}\n" for line in (*head, "scorer.use", "scorer.file"))
    how = {part: value for part, value in dialect.as_json().items() if part != "sheet"}
    sentences = {part: say(f"scorer.{part}") for part in _MESSAGES}
    named = "".join(
        f"{name} = {literal(value)}\n"
        for name, value in (("ABOUT", about), ("HOW", how), ("MODEL", model), ("SAYS", sentences))
    )
    return f"{CODING}\n{comments}\n{_IMPORTS}\n{named}SPACES = {SPACES!a}\n{code}{_READER}"


_IMPORTS = """import csv
import math
import re
import sys
import unicodedata
from bisect import bisect_right
from datetime import date
from decimal import Decimal
from fractions import Fraction
"""

_READER = r'''

def _trimmed(name):
    return unicodedata.normalize("NFC", str(name).replace("\0", "")).strip(SPACES)


def _needed(row):
    columns = MODEL["columns"]
    if all(name in row for name in columns):
        return row
    trimmed = {_trimmed(name): cell for name, cell in row.items()}
    _refuse([name for name in columns if name not in row and _trimmed(name) not in trimmed])
    return {name: row[name] if name in row else trimmed[_trimmed(name)] for name in columns}


def _refuse(absent):
    if absent:
        raise ValueError(SAYS["absent"] + " " + ", ".join(absent))


def _text(cell):
    return "" if cell is None or cell != cell else str(cell).strip()


def _listed(cell, column):
    text = _text(cell).lower()
    return column["values"].get(text, column["other"]) if text else column["empty"]


def _code(cell, column):
    return _day(_text(cell), column) if "first" in column else _step(cell, column)


def _step(cell, column):
    """The place on the declared grid; None where there is no number, or one that stands for none."""
    text = _text(cell).replace("\u2212", "-")
    lower, upper, step = (Fraction(column[end]) for end in ("lower", "upper", "step"))
    last = int((upper - lower) / step)
    endless = re.fullmatch("([+-]?)(?:inf|infinity|\u221e)", text, re.IGNORECASE)
    if endless:
        return 0 if endless[1] == "-" else last
    decimal, signs = (HOW["decimal"], SIGNS) if isinstance(cell, str) else (".", "")
    if len(text) > 400 or not _grammar(decimal, signs).fullmatch(text):
        return None
    number = Decimal("".join(sign for sign in text if sign not in signs).replace(decimal, "."))
    if any(Fraction(number) == Fraction(none) for none in column.get("codes", ())):
        return None
    return min(max(round((Fraction(number) - lower) / step), 0), last)


def _grammar(decimal, signs):
    if (decimal, signs) not in GRAMMARS:
        point, whole = re.escape(decimal), r"\d+"
        if signs:
            sign = "[" + re.escape(signs) + "]"
            whole = r"(?:\d{1,3}(?:" + sign + r"\d{2,3})*" + sign + r"\d{3}|\d+)"
        number = r"[+-]?(?:" + whole + "(?:" + point + r"\d*)?|" + point + r"\d+)(?:[eE][+-]?\d{1,3})?"
        GRAMMARS[decimal, signs] = re.compile(number, re.ASCII)
    return GRAMMARS[decimal, signs]


def _day(text, column):
    """Days from the first one; None where there is no day."""
    found = YEAR_FIRST.fullmatch(text) if len(text) <= 60 else None
    if found:
        year, month, day = found[1], found[3], found[4]
    else:
        found = YEAR_LAST.fullmatch(text) if len(text) <= 60 and column["order"] != "ymd" else None
        if not found:
            return None
        year, day, month = found[4], found[1], found[3]
        if column["order"] == "mdy":
            day, month = month, day
    first, last = (date.fromisoformat(column[end]).toordinal() for end in ("first", "last"))
    try:
        return min(max(date(int(year), int(month), int(day)).toordinal(), first), last) - first
    except ValueError:
        return None


GRAMMARS = {}
SIGNS = {" ": " \u00a0\u2009\u202f", "'": "'\u2019"}.get(HOW["thousands"], HOW["thousands"])
TIME = r"(?:(?:T| +)\d{1,2}[:.]\d{2}(?:[:.]\d{2}(?:[.,]\d{1,9})?)?(?: ?[AaPp][Mm])?(?: ?(?:Z|UTC|[+-]\d{2}:?\d{2}))?)?"
YEAR_FIRST = re.compile(r"(\d{4})([./-]) ?(\d{1,2})\2 ?(\d{1,2})" + TIME, re.ASCII)
YEAR_LAST = re.compile(r"(\d{1,2})([./-]) ?(\d{1,2})\2 ?(\d{4})" + TIME, re.ASCII)


def _records(file):
    """The cells of each line; None where its quotes do not fit together."""
    how = {"delimiter": HOW["separator"], "strict": True}
    how.update({"quotechar": HOW["quote"]} if HOW["quote"] else {"quoting": csv.QUOTE_NONE})
    if HOW["line_breaks"]:
        yield from csv.reader(file, **how)
        return
    for line in file:
        try:
            yield next(csv.reader([line], **how), [])
        except csv.Error:
            yield None


def _rows(file):
    """A dictionary for each row; None for a line that has other cells than the first."""
    records = _records(file)
    names = [_trimmed(name) for name in next(records, None) or []]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(SAYS["twice"] + " " + ", ".join(twice))
    _refuse([name for name in MODEL["columns"] if _trimmed(name) not in names])
    wide, blank = len(names) > 1, 0
    for cells in records:
        if wide and cells == []:
            blank += 1  # nobody's row, unless another one follows
            continue
        if wide and cells and len(cells) == len(names):
            if not any(cell.strip(" \t\"'" + HOW["separator"]) for cell in cells):
                continue
        yield from [None] * blank
        blank = 0
        cells = [""] if cells == [] else cells
        yield dict(zip(names, cells)) if cells is not None and len(cells) == len(names) else None


def _prediction(row):
    try:
        return "" if row is None else predict(row)
    except ValueError:
        return ""


def main(path):
    without = 0
    encoding = "utf-8-sig" if HOW["encoding"] == "utf-8" else HOW["encoding"]
    try:
        with open(path, newline="", encoding=encoding) as file:
            for row in _rows(file):
                prediction = _prediction(row)
                without += prediction == ""
                print(prediction)
    except (UnicodeError, csv.Error):
        sys.exit(SAYS["broken"])
    except (OSError, ValueError) as fault:
        sys.exit(str(fault))
    if without:
        print(SAYS["without"], without, file=sys.stderr)


if __name__ == "__main__":
    main(sys.argv[1]) if len(sys.argv) == 2 else sys.exit(SAYS["use"])
'''


def linear_parts(model: Model) -> JsonObject:
    """A trained model as plain data, with coefficients in the units of the columns."""
    layout, coefficients = model.layout, model.coefficients()
    columns: JsonObject = {}
    for name, column in zip(layout.names, layout.columns, strict=True):
        if isinstance(column, Category):
            spelled = column.spelled().items()
            values = {spelling: coefficients[f"{name} = {column.labels[code]}"] for spelling, code in spelled}
            other, none = values[normal(column.unknown)], values[normal(column.missing)]
            columns[name] = {"values": values, "other": other, "empty": none}
        else:
            missing = None if isinstance(column, Date) else column.missing
            empty = None if missing is None else text_of(missing)
            columns[name] = {"each": coefficients[name], "empty": empty} | ends_of(column)
    data = {"kind": model.kind, "target": layout.target, "constant": coefficients[CONSTANT], "columns": columns}
    if isinstance(layout.goal, Category):
        data["yes"] = [layout.goal.labels[code] for code in layout.yes]
    return data


_LINEAR_CODE = """

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


def shapes_parts(model: Shapes) -> JsonObject:
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
        return {"values": values, "other": values[normal(column.unknown)], "empty": values[normal(column.missing)]}
    assert isinstance(ref, Grouped) and isinstance(column, Number | Date)
    data: JsonObject = {"adds": adds, "empty": axis.listed if axis.absent else None}
    if not axis.absent and isinstance(column, Number) and column.missing is not None:
        data["empty"] = ref.of(column.code(column.missing))
    runs: JsonObject = {"starts": list(ref.starts), "places": list(ref.places)}
    runs["monday"] = None if ref.starts else ref.monday
    return data | runs | ends_of(column)


def script_of(model: Model | Shapes, sentence: str, receipt: str, dialect: Dialect | None = None) -> str:
    """A trained model, or a model from a first look, as a Python file that needs nothing but Python. Its predictions
    agree with the model's `predict`. `dialect` is that of the table's own file."""
    about, how = {"question": sentence, "charge": receipt}, dialect or Dialect()
    if isinstance(model, Shapes):
        return file(["shapes_page.script", "shapes_page.script_from"], about, shapes_parts(model), how, _SHAPES_CODE)
    return file([f"scorer.{model.kind}", "scorer.receipt"], about, linear_parts(model), how, _LINEAR_CODE)


_SHAPES_CODE = """

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
