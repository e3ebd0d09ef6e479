"""The median: the quantile at one half, as a question of its own. Statement and proof: `quantile`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from dpengine.core.types import JsonObject
from dpengine.mechanisms.card import Card
from dpengine.mechanisms.choices.quantile import Quantile
from dpengine.mechanisms.trial import IN_A, Example, Trial
from dpengine.messages import say


@dataclass(frozen=True, kw_only=True)
class Median(Quantile):
    card: ClassVar[Card] = replace(
        Quantile.card,
        key="median",
        order=10,
        own=tuple(parameter for parameter in Quantile.card.own if parameter.name != "share"),
    )
    trial: ClassVar[Trial] = Trial(
        cases={
            "with a range": {"column": "x"},
            "of some": {"column": "x", "with_range": False, "where": IN_A},
            "by group": {"column": "x", "by": "c", "with_range": False},
            "by numbers in steps": {"column": "z", "by": {"column": "x", "step": 2}, "with_range": False},
            "by group with a range": {"column": "z", "by": "d"},
            "of days": {"column": "b", "with_range": False},
            "with its range, jointly": {"column": "x", "noise": "joint"},
            "by group with a range, jointly": {"column": "z", "by": "d", "noise": "joint"},
            "permute-and-flip": {"column": "z", "with_range": False, "noise": "permute_and_flip"},
        },
        example=Example({"column": "visits", "with_range": False}),
        broken_variants=("uncapped", "quarter"),
        covered="test_quantile_keeps_rank_promise_and_range_covers",
    )

    def own_json(self) -> JsonObject:
        return {"column": self.column, "with_range": self.with_range}

    def sentence(self) -> str:
        return say("sentence.median", column=self.column, who=self.whom())
