"""A model's predictions for the rows of an uploaded file.

Only the model and the uploaded file are read, never a table: it costs nothing. Names and cells are read as the table's
were (`encode`), so it agrees with the model's own `predict` and with its Python file. A row without a number or day
that the model needs gets no prediction.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow as pa

from dpengine.core.errors import AllowanceError
from dpengine.core.types import Arrow, Floats, Integers, JsonObject
from dpengine.declared.date_column import Date
from dpengine.declared.dialect import Dialect, check_names, suggest
from dpengine.declared.schema import MISSING, Category, Number
from dpengine.declared.spelling import normal
from dpengine.intake.csv_records import Batches, read_csv
from dpengine.intake.encode import coder_of
from dpengine.intake.foreign import is_foreign, read_foreign
from dpengine.intake.inspect import is_parquet
from dpengine.released import model_scripts
from dpengine.released.shapes import Shapes
from dpengine.statistics.features import LOGISTIC, Model

MOST_ROWS = 200_000
NAMED = 6  # columns that are missing
_FARTHEST = 40.0  # log-odds

Adds = Callable[[Integers], Floats]


@dataclass(frozen=True)
class Scored:
    names: list[str]
    cells: list[Arrow]  # as they were written
    said: Floats  # the prediction for each row; NaN where there is none

    @property
    def without(self) -> int:
        return int(np.isnan(self.said).sum())


def score(path: Path, model: Shapes | Model, dialect: Dialect) -> Scored:
    """The model's prediction for each row of a file. `dialect`: that of the table; if the file is in another, its first
    line decides."""
    parts, columns = _parts(model)
    names, batches, how = _opened(path, columns, dialect)
    places = {name: names.index(name) for name in columns}
    coders = {name: coder_of(column, how) for name, column in columns.items()}
    adds = {name: _adds(parts["columns"][name], column) for name, column in columns.items()}
    held: list[list[Arrow]] = [[] for _ in names]
    scores: list[Floats] = []
    rows = 0
    for cells, _ in batches:
        rows += len(cells[0])
        if rows > MOST_ROWS:
            raise AllowanceError("scoring.rows", most=MOST_ROWS)
        total = np.full(len(cells[0]), float(parts["constant"] if "constant" in parts else parts["average"]))
        for name, place in places.items():
            codes = coders[name](pa.chunked_array([cells[place]]))
            total = total + adds[name](codes.to_numpy(zero_copy_only=False).astype(np.int64))
        scores.append(_predictions(parts, total))
        for at, part in enumerate(cells):
            held[at].append(part)
    if not rows:
        raise AllowanceError("load.no_rows")
    return Scored(names, [pa.chunked_array(part, pa.string()) for part in held], np.concatenate(scores))


def _parts(model: Shapes | Model) -> tuple[JsonObject, dict[str, Number | Date | Category]]:
    """The model as the data of its Python file, and the declared columns that it needs."""
    if isinstance(model, Shapes):
        schema = model.look.query.facts.schema
        return model_scripts.shapes_parts(model), {name: schema[name] for name in model.columns}  # type: ignore[misc]
    layout = model.layout
    return model_scripts.linear_parts(model), dict(zip(layout.names, layout.columns, strict=True))


def _opened(path: Path, columns: Mapping[str, object], dialect: Dialect) -> tuple[list[str], Batches, Dialect]:
    if is_parquet(path):
        raise AllowanceError("scoring.kind")
    if is_foreign(path):
        own = Dialect()
        names, batches = read_foreign(path, own)
        return _with_all(names, columns), batches, own
    for own in (replace(dialect, sheet=""), suggest(path)):
        try:
            names, batches = read_csv(path, own, "refuse")
            return _with_all(names, columns), batches, own
        except AllowanceError as fault:
            refusal = fault
    raise refusal


def _with_all(given: list[str], columns: Mapping[str, object]) -> list[str]:
    names = check_names(given)
    absent = [name for name in columns if name not in names]
    if absent:
        raise AllowanceError("scoring.absent", columns=absent[:NAMED], many=len(absent))
    return names


def _adds(part: JsonObject, column: Number | Date | Category) -> Adds:
    """A function that returns, for each code of a column, what it adds to the prediction; NaN for a cell without the
    value that the model needs."""
    if isinstance(column, Category):
        listed = np.array([part["values"][normal(label)] for label in column.labels])
        return lambda codes: listed[codes]
    if "each" in part:
        start, step = (0.0, 1.0) if isinstance(column, Date) else (float(column.lower), float(column.step))
        return lambda codes: np.where(codes == MISSING, np.nan, part["each"] * (start + codes * step))
    effects = np.array([*part["adds"], np.nan])
    empty = len(effects) - 1 if part["empty"] is None else int(part["empty"])
    starts, places = np.array(part["starts"], dtype=np.int64), np.array(part["places"], dtype=np.int64)

    def groups(codes: Integers) -> Floats:
        if part["monday"] is not None:
            cells = (codes - int(part["monday"])) % 7
        else:
            cells = places[np.searchsorted(starts, np.maximum(codes, 0), side="right") - 1]
        return effects[np.where(codes == MISSING, empty, cells)]

    return groups


def _predictions(parts: JsonObject, total: Floats) -> Floats:
    if parts.get("kind") == LOGISTIC:
        return 1 / (1 + np.exp(-np.clip(total, -_FARTHEST, _FARTHEST)))
    return np.clip(total, parts["least"], parts["most"]) if "least" in parts else total
