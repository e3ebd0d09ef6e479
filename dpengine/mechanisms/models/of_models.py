"""The base of checks of a trained model: they read the model, its public bins, and the number of rows to divide by.

The model was released, so it is public and part of the question: its columns, their declarations, integer weights on
the lattice of `features.py`. It must fit this table's present schema. Its prediction for a row is a function of that
row's codes, so counts and clipped sums over rows have the usual sensitivity.

A model checked on the rows it was trained on looks better than it is. The ranges are about the table;
`validity.flattery` bounds how much worse it may be for the population, after everything released before.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from dpengine.core.errors import AllowanceError, refusing
from dpengine.core.exact import read_number
from dpengine.core.strict_json import read_strict
from dpengine.core.types import Ends, Figures, Json, JsonObject
from dpengine.declared.conditions import who
from dpengine.declared.date_column import Date
from dpengine.declared.facts import Facts
from dpengine.declared.schema import Category, Number
from dpengine.mechanisms.answer_state import FEW
from dpengine.mechanisms.card import WHERE, Card, Parameter
from dpengine.mechanisms.query import Averaged, Fields
from dpengine.messages import say
from dpengine.messages.language import stored
from dpengine.statistics.features import LINEAR, LOGISTIC, SHAPES, Model, Weights, model_from_json

BALL, BOX = REGIONS = ("ball", "box")  # of weights
MARGINS = "margins"  # of_margins.py
USUAL_PARTS = 10
MOST_PARTS = 20
MOST_WEIGHT = 2**40  # a margin stays below 2^63, with as many columns as a model may have
EXACT_DRAWS = 20  # the exact law bounds a sum of up to this many draws; Chernoff's bound a longer one


def projected(there: Sequence[float], edge: int, region: str) -> Weights:
    """The nearest point of the ball or the box of size `edge`, on the lattice of weights."""
    if region == BOX:
        return tuple(max(min(int(weight), edge), -edge) for weight in there)
    norm = math.hypot(*there)
    shrink = edge / norm if norm > edge else 1.0
    shrunk = tuple(int(weight * shrink) for weight in there)
    while sum(weight * weight for weight in shrunk) > edge * edge:  # beyond the edge by a float's error
        shrunk = tuple(weight - (weight > 0) + (weight < 0) for weight in shrunk)
    return shrunk


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
    """The labels on one side, or a refusal if one is not declared."""
    if given in (None, ""):
        return ()
    given = [given] if isinstance(given, str) else given
    if not isinstance(given, (list, tuple)) or not all(isinstance(label, str) for label in given):
        raise AllowanceError("train.sides")
    with refusing("train.sides", KeyError):
        codes = sorted({goal.code(label) for label in given})
    return tuple(goal.labels[code] for code in codes)


@dataclass(frozen=True, kw_only=True)
class OfModel(Averaged[tuple[int, ...]]):
    card: ClassVar[Card] = Card(
        key="check_model",
        asked_on=("train",),
        order=720,
        answer="check",
        states=(FEW,),
        caveats=("same", "rows", "first", "cut"),
        own=(
            Parameter("model", "model", required=True),
            Parameter("parts", "number", default=USUAL_PARTS),
            Parameter("most_error", "number"),
            Parameter("error_steps", "number"),
            WHERE,
        ),
    )

    plans_people = True

    model: Model
    parts: int = USUAL_PARTS

    @classmethod
    def read(cls, facts: Facts, given: JsonObject) -> Fields:
        return {"model": read_model(given["model"], facts), "parts": _parts(given.get("parts"))}

    def own_json(self) -> JsonObject:
        return {"model": self.model.as_json(), "parts": self.parts}

    def sentence(self) -> str:
        layout, rows = self.model.layout, self.facts.said_rows
        words = {"target": layout.target, "columns": list(layout.names), "who": who(self.where, rows=rows)}
        kind = self.model.kind if self.model.kind != SHAPES else LOGISTIC if layout.listed else LINEAR
        return say(f"sentence.check_model.{kind}", **words)

    @property
    def columns(self) -> tuple[str, ...]:
        return *self.model.layout.names, self.model.layout.target

    @property
    def answer_column(self) -> str:
        return self.model.layout.target

    @property
    def known(self) -> int | None:
        """The number of rows that count, if it is public; for yes and no, only if every row is on a side."""
        goal, sides = self.model.layout.goal, {*self.model.layout.yes, *self.model.layout.no}
        if isinstance(goal, Category) and len(sides) < goal.size:
            return None
        return self.facts.countable(self.where, *self.model.layout.needed)

    @property
    def everybody(self) -> bool:
        """Does every person count, with one row? Then the first figure of yes and no is a mean over all people."""
        return replace(self, facts=replace(self.facts, relation="replace")).known is not None

    def valued(self) -> set[str]:
        """Lists, and columns that need a value. A model of cells has cells for numbers and days outside their range."""
        layout = self.model.layout
        lists = zip(layout.names, layout.columns, strict=True)
        return {*layout.needed, *(name for name, column in lists if isinstance(column, Category))}

    def used(self) -> set[str]:
        """All columns: a stored model cannot be read without their bounds."""
        return super().used() | set(self.columns)

    def about(self, part: str = "") -> set[str]:
        return super().used()

    def state(self, value: Json, interval: Json) -> str:
        """The first figure decides, because it has the promise."""
        first = self.labels()[0]
        return FEW if self.mute(interval[first], first) else ""

    def beside(self, raw: Figures) -> str:
        """The score of guessing without a model, and whether the model surely does better: up to two sentences."""
        return ""

    def guessing(self, raw: Figures) -> str:
        """The score of guessing without a model, in a few words, beside the first figure; empty if there is none."""
        return ""

    def finds(self, raw: Figures) -> str:
        """Its recall and precision, from the draw; nothing if they are too uncertain."""
        return ""

    @property
    @abstractmethod
    def said(self) -> Ends:
        """The range of the model's predictions; the bins divide it."""

    @property
    def calibrated(self) -> bool:
        """Does the model predict the same quantity that the check measures, so that the two should be equal?"""
        return True

    @abstractmethod
    def spans(self) -> list[str]:
        """The names of the parts, in the reader's language."""

    def labels(self) -> list[str]:
        with stored():
            return self.spans()

    def shown(self) -> dict[str, str]:
        return dict(zip(self.labels(), self.spans(), strict=True))


def _parts(given: Json) -> int:
    wanted = read_number(USUAL_PARTS if given in (None, "") else given, say("param.parts.label"))
    if wanted.denominator != 1 or wanted % 2 or not 2 <= wanted <= MOST_PARTS:
        raise AllowanceError("check_model.parts", most=MOST_PARTS)
    return int(wanted)


def read_model(given: Json, facts: Facts) -> Model:
    """A model that fits this table's declaration, from JSON or its text, or a refusal in one sentence."""
    if given in (None, ""):
        raise AllowanceError("query.missing", name=say("param.model.label"))
    if isinstance(given, str):
        with refusing("check_model.model", ValueError):
            given = read_strict(given)
    weights = given.get("weights") if isinstance(given, Mapping) else None
    if not isinstance(weights, (list, tuple)):
        raise AllowanceError("check_model.model")
    if not all(type(weight) is int and abs(weight) <= MOST_WEIGHT for weight in weights):
        raise AllowanceError("check_model.weights")
    with refusing("check_model.model", AllowanceError, AttributeError):
        model = model_from_json(given)
    _fits(model, given, facts)
    return model


def _fits(model: Model, given: Mapping[str, Json], facts: Facts) -> None:
    layout = model.layout
    declared = dict(zip((*layout.names, layout.target), (*layout.columns, layout.goal), strict=True))
    if not 0 < len(layout.names) < len(declared) or layout.width > layout.wide_most or given.get("kind") != model.kind:
        raise AllowanceError("check_model.model")
    for name, column in declared.items():
        if facts.schema.columns.get(name) != column:
            raise AllowanceError("check_model.other", column=name[:60])
    if not isinstance(layout.goal, Number | Category):
        raise AllowanceError("check_model.model")
    sides = (*layout.yes, *layout.no)
    listed = isinstance(layout.goal, Category)
    held = all(type(code) is int and 0 <= code < layout.goal.size for code in sides)
    if not held or len({*sides}) < len(sides) or listed != bool(layout.yes and layout.no):
        raise AllowanceError("check_model.sides", column=layout.target[:60])
