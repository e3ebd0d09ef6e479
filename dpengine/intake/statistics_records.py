"""The rows of a statistics file (SPSS, Stata, SAS) as columns of text, and the code book that the file holds.

Cells are codes, as they are stored; the labels of a list stay in the code book, where a person agrees with them. Single
values that SPSS calls missing stay in the cells and become codes of the declaration; whole ranges of missing values are
read as empty cells, by the file's own rule, cell by cell. Days are stored as numbers that begin on 14 October 1582
(SPSS, in seconds) or on 1 January 1960 (Stata, in days or milliseconds; SAS, in days or seconds). They are converted
here: the library fails for a whole file if one day lies beyond the year 9999. Such a cell is empty. Runs in a process
of its own (file_process.py).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import date, timedelta
from pathlib import Path

import numpy as np
import pyarrow as pa

from dpengine.core.errors import AllowanceError, refusing
from dpengine.core.types import Arrow, JsonObject
from dpengine.declared.dialect import MOST_COLUMNS, Dialect, check_names
from dpengine.declared.schema import LONGEST_NAME, LONGEST_VALUE
from dpengine.declared.spelling import trimmed, visible

CELLS_AT_ONCE = 2 * 10**6
MOST_LABELS = 5_000  # of one column; a longer list is brought as a file
_LOCKED = b"ENCRYPTEDSAV"
_SPSS_BEGINS, _BEGINS = np.datetime64("1582-10-14", "s"), np.datetime64("1960-01-01", "s")
_FIRST, _LAST = np.datetime64("0001-01-01", "s"), np.datetime64("9999-12-31T23:59:59", "s")
_DAY = 86_400

# How each program's format of a number says that it is a day, a moment or a time of day.
_SPSS = {
    "date": re.compile(r"(A|E|S|J)?DATE\d|MOYR|QYR|WKYR"),
    "moment": re.compile(r"DATETIME|YMDHMS"),
    "time": re.compile(r"(D|M)?TIME\d"),
}
_SAS = {
    "moment": re.compile(r"DATETIME|DATEAMPM|DTDATE|[EB]8601DT|NLDATM|IS8601DT"),
    "date": re.compile(
        r"DATE|DDMMYY|MMDDYY|YYMMDD|YYMM|MMYY|MONYY|YYMON|WEEKDAT|WORDDAT|JULIAN|[EB]8601DA|NLDATE|IS8601DA|YYQ|EURDFD"
    ),
    "time": re.compile(r"TIME|HHMM|TOD|[EB]8601TM|NLTIM|IS8601TM"),
}


def describe(path: Path, dialect: Dialect) -> JsonObject:
    """The column names and the code book; no row is read."""
    meta = _read(path, metadataonly=True)[1]
    names = _names(meta, dialect)
    columns = zip(names, meta.column_names, strict=True)
    return {"names": names, "book": {name: _coded(meta, variable, path) for name, variable in columns}}


def read_rows(path: Path, dialect: Dialect) -> tuple[list[str], Iterator[tuple[list[Arrow], float]]]:
    meta = _read(path, metadataonly=True)[1]
    variables = list(meta.column_names)
    names = _names(meta, dialect)
    columns = [_reader(meta, variable, path, dialect) for variable in variables]
    at_once = max(CELLS_AT_ONCE // max(len(variables), 1), 1_000)

    def batches() -> Iterator[tuple[list[Arrow], float]]:
        done, total = 0, int(meta.number_rows or 0)
        while True:
            cells = _read(path, row_offset=done, row_limit=at_once)[0]
            rows = len(cells[variables[0]])
            if rows:
                yield (
                    [reader(cells[name]) for name, reader in zip(variables, columns, strict=True)],
                    (min((done + rows) / total, 1.0) if total else 0.5),
                )
            done += rows
            if rows < at_once:
                return

    return names, batches()


def _read(path: Path, **more: Arrow) -> tuple[dict[str, Arrow], Arrow]:
    """The cells as arrays, and what the file says about them. Every error of the library becomes one refusal."""
    import pyreadstat

    kind = path.suffix.lower()
    with refusing("load.unreadable", OSError), open(path, "rb") as file:
        head = file.read(64)
    if not head:
        raise AllowanceError("load.empty")
    if _LOCKED in head:
        raise AllowanceError("load.statistics_locked")
    readers: dict[str, Arrow] = {
        ".dta": pyreadstat.read_dta,
        ".sas7bdat": pyreadstat.read_sas7bdat,
        ".xpt": pyreadstat.read_xport,
    }
    given = {"disable_datetime_conversion": True, "output_format": "dict"} | more
    if kind in (".sav", ".zsav"):
        given["user_missing"] = True
    try:
        cells, meta = readers.get(kind, pyreadstat.read_sav)(str(path), **given)
    except MemoryError:
        raise
    except Exception:  # it may quote a cell
        raise AllowanceError("load.statistics_unreadable") from None
    if not meta.column_names:
        raise AllowanceError("load.empty")
    return dict(cells), meta


def _names(meta: Arrow, dialect: Dialect) -> list[str]:
    """The variables' names or, if so declared, their labels. A label that two variables have, or that is another's
    name, is followed by the variable's name; without a label the name stands."""
    variables = [str(name) for name in meta.column_names]
    if len(variables) > MOST_COLUMNS:
        raise AllowanceError("load.many_columns", most=MOST_COLUMNS)
    if not dialect.labels:
        return check_names(variables)
    labels = [_label(meta, variable) for variable in variables]
    return check_names([
        label if label and labels.count(label) == 1 and label not in variables
        else f"{label} ({variable})" if label
        else variable
        for label, variable in zip(labels, variables, strict=True)
    ])  # fmt: skip


def _label(meta: Arrow, variable: str) -> str:
    label = trimmed(" ".join(str(meta.column_names_to_labels.get(variable) or "").split()))
    return label if len(label) <= LONGEST_NAME - len(variable) - 3 and visible(label) else ""


def _kind(meta: Arrow, variable: str, path: Path) -> str:
    """The variable's kind: "text", "number", or the unit in which it counts time."""
    if str(meta.readstat_variable_types.get(variable)) == "string":
        return "text"
    form = str(meta.original_variable_types.get(variable) or "").upper()
    if path.suffix.lower() == ".dta":
        found = re.match(r"%-?(T[CDWMQHY]|D)", form)
        return f"stata {'TD' if found[1] == 'D' else found[1]}" if found else "number"
    kinds = _SPSS if path.suffix.lower() in (".sav", ".zsav") else _SAS
    program = "spss" if kinds is _SPSS else "sas"
    return next((f"{program} {kind}" for kind, known in kinds.items() if known.match(form)), "number")


def _missing(meta: Arrow, variable: str) -> tuple[list[Arrow], list[tuple[float, float]]]:
    """The single values and the ranges that the file declares missing."""
    ranges = (getattr(meta, "missing_ranges", None) or {}).get(variable, [])
    single = [part["lo"] for part in ranges if part["lo"] == part["hi"]]
    return single, [(float(part["lo"]), float(part["hi"])) for part in ranges if part["lo"] != part["hi"]]


def _coded(meta: Arrow, variable: str, path: Path) -> JsonObject:
    """A variable's entry in the code book, with the file's own labels and codes."""
    kind = _kind(meta, variable, path)
    single, ranges = _missing(meta, variable)
    labels = meta.variable_value_labels.get(variable, {})
    written = [(_code(code), " ".join(str(label).split())[:LONGEST_VALUE]) for code, label in labels.items()]
    values = [(code, label) for code, label in written if code and label and visible(label)]
    empty = {code for code, _ in values if any(low <= _number(code) <= high for low, high in ranges)}
    if kind != "text":  # a letter for a kind of missing (Stata's .a) is read as empty too
        empty |= {code for code, _ in values if _number(code) != _number(code)}
    return {
        "name": variable,
        "label": _label(meta, variable),
        "kind": kind if kind in ("text", "number") else "date" if "time" not in kind else "text",
        "values": [list(pair) for pair in values if pair[0] not in empty][:MOST_LABELS],
        "missing": [_code(value) for value in single],
        "ranges": bool(ranges),
        "scale": str((meta.variable_measure or {}).get(variable)) == "scale",
    }


def _number(code: str) -> float:
    try:
        return float(code)
    except ValueError:
        return float("nan")


def _code(value: Arrow) -> str:
    """A code as text, as its cells are written: 1.0 becomes 1."""
    if isinstance(value, float | np.floating):
        return repr(float(value)).removesuffix(".0")
    return str(value).strip()


# --- cells


def _reader(meta: Arrow, variable: str, path: Path, dialect: Dialect) -> Callable[[Arrow], Arrow]:
    kind, (_, ranges) = _kind(meta, variable, path), _missing(meta, variable)
    if kind == "text":
        return _texts
    if kind == "number":
        return lambda cells: _numbers(cells, ranges, dialect)
    return lambda cells: _times(cells, kind)


def _texts(cells: Arrow) -> Arrow:
    return pa.array([None if value is None or value != value else _plain(value) for value in cells], pa.string())


def _plain(value: Arrow) -> str:
    return str(value).encode("utf-8", "replace").decode("utf-8")


def _floats(cells: Arrow) -> Arrow:
    """The cells as numbers, NaN if missing. A letter for a kind of missing (Stata's .a, SAS's .A) is missing too."""
    try:
        return np.asarray(cells, dtype=np.float64)
    except (TypeError, ValueError):
        return np.array([value if isinstance(value, int | float) else np.nan for value in cells], dtype=np.float64)


def _numbers(cells: Arrow, ranges: list[tuple[float, float]], dialect: Dialect) -> Arrow:
    values = _floats(cells)
    texts = [None if value != value else _code(value) for value in values.tolist()]
    for low, high in ranges:
        for place in np.flatnonzero((values >= low) & (values <= high)):
            texts[place] = None
    if dialect.decimal != ".":
        texts = [None if text is None else text.replace(".", dialect.decimal) for text in texts]
    return pa.array(texts, pa.string())


def _times(cells: Arrow, kind: str) -> Arrow:
    program, unit = kind.split()
    values = _floats(cells)
    if program == "stata" and unit not in ("TD", "TC"):
        return pa.array([_period(value, unit) for value in values.tolist()], pa.string())
    if unit == "time":
        return pa.array([_clock(value) for value in values.tolist()], pa.string())
    seconds = values / 1_000 if unit == "TC" else values * _DAY if unit == "TD" or kind == "sas date" else values
    begins = _SPSS_BEGINS if program == "spss" else _BEGINS
    good = np.isfinite(seconds) & (np.abs(seconds) < 4e11)
    moments = begins + np.where(good, np.floor(np.where(good, seconds, 0)), 0).astype(np.int64)
    good &= (moments >= _FIRST) & (moments <= _LAST)
    moments = np.where(good, moments, begins)
    days, whole = np.datetime_as_string(moments, unit="D"), np.datetime_as_string(moments, unit="s")
    midnight = moments.astype("datetime64[D]").astype("datetime64[s]") == moments
    texts = np.where(midnight | (unit in ("date", "TD")), days, np.char.replace(whole, "T", " "))
    return pa.array([str(text) if fits else None for text, fits in zip(texts, good, strict=True)], pa.string())


def _clock(value: float) -> str | None:
    if value != value or not abs(value) < 1e9:
        return None
    minutes, seconds = divmod(int(value), 60)
    return f"{minutes // 60:02}:{minutes % 60:02}:{seconds:02}"


def _period(value: float, unit: str) -> str | None:
    """The first day of the week, month, quarter, half year or year with this number; Stata counts them from 1960."""
    if value != value or not abs(value) < 10**6:
        return None
    number = int(value)
    if unit == "TY":
        return str(number)
    many = {"TW": 52, "TM": 12, "TQ": 4, "TH": 2}.get(unit)
    if many is None:  # %tC counts leap seconds; which ones is not in the file
        return None
    year, part = 1960 + number // many, number % many
    if not 1 <= year <= 9999:
        return None
    if unit == "TW":
        return (date(year, 1, 1) + timedelta(7 * part)).isoformat()
    return date(year, 1 + part * 12 // many, 1).isoformat()
