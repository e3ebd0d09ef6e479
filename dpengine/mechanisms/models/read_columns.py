"""Reading what a training is asked about: the columns it may look at, and which labels are on which side."""

from __future__ import annotations

from dpengine.core.errors import AllowanceError
from dpengine.core.json_types import Json, JsonObject
from dpengine.declared.date_column import Date
from dpengine.declared.facts import Facts
from dpengine.declared.schema import Category, Number


def read_features(facts: Facts, given: JsonObject) -> tuple[str, ...]:
    names = given["features"]
    names = [names] if isinstance(names, str) else names
    if not isinstance(names, (list, tuple)) or not names or not all(isinstance(name, str) for name in names):
        raise AllowanceError("train.features")
    if len(set(names)) < len(names):
        raise AllowanceError("train.features_twice")
    for name in names:
        column = facts.schema[name]
        if not isinstance(column, (Number, Date, Category)):
            raise AllowanceError("train.feature_kind", column=name)
        if column.size < 2 or (isinstance(column, Category) and len(column.values) < 2):
            raise AllowanceError("train.feature_one", column=name)
    return tuple(names)


def read_labels(goal: Category, given: Json) -> tuple[str, ...]:
    """Labels on one side, as they are declared; refused where one is not."""
    if given in (None, ""):
        return ()
    given = [given] if isinstance(given, str) else given
    if not isinstance(given, (list, tuple)) or not all(isinstance(label, str) for label in given):
        raise AllowanceError("train.sides")
    try:
        codes = sorted({goal.code(label) for label in given})
    except KeyError:
        raise AllowanceError("train.sides") from None
    return tuple(goal.labels[code] for code in codes)
