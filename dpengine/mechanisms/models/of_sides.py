"""The base of trainings that predict yes or no: which labels are on which side."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from dpengine.core.errors import AllowanceError
from dpengine.core.types import JsonObject
from dpengine.declared.facts import Facts
from dpengine.mechanisms.card import Parameter
from dpengine.mechanisms.models.of_gradients import SHARED, OfGradients
from dpengine.mechanisms.models.of_models import read_labels
from dpengine.mechanisms.query import Fields
from dpengine.messages import say
from dpengine.statistics.features import Layout

OF_SIDES = (
    Parameter("target", "column.target.category", required=True),
    Parameter("positive", "labels"),
    Parameter("negative", "labels"),
    Parameter("features", "columns.features", required=True),
    *SHARED,
)


@dataclass(frozen=True, kw_only=True)
class OfSides(OfGradients):
    sharp: ClassVar[bool] = False

    positive: tuple[str, ...]
    negative: tuple[str, ...]

    @classmethod
    def read(cls, facts: Facts, given: JsonObject) -> Fields:
        fields = super().read(facts, given)
        goal = facts.schema.category(fields["target"])
        if len(goal.values) < 2:
            raise AllowanceError("train.target_one", column=fields["target"])
        positive = read_labels(goal, given.get("positive"))
        if not positive:
            positive = ("yes",) if "yes" in goal.values else goal.values[:1]
        negative = read_labels(goal, given.get("negative"))
        if not negative:
            negative = tuple(value for value in goal.values if value not in positive)
        if not negative or set(positive) & set(negative):
            raise AllowanceError("train.sides")
        return fields | {"positive": positive, "negative": negative}

    def own_json(self) -> JsonObject:
        return super().own_json() | {"positive": list(self.positive), "negative": list(self.negative)}

    def sentence(self) -> str:
        words = {"target": self.target, "positive": list(self.positive), "columns": list(self.features)}
        return say(f"sentence.{self.card.key}", **words)

    @property
    def nominal(self) -> bool:
        """Also if a row may be on neither side: such rows are left out, and their number is private."""
        return super().nominal or len({*self.layout.yes, *self.layout.no}) < self.layout.goal.size

    @cached_property
    def layout(self) -> Layout:
        goal = self.facts.schema.category(self.target)
        yes, no = (tuple(goal.code(label) for label in side) for side in (self.positive, self.negative))
        return Layout(self.features, self._columns, self.target, goal, yes, no, self.sharp)
