"""Wrong twins of the check of a model: errors that are not cut, bins that follow the data, rows taken for people."""

from __future__ import annotations

from dataclasses import replace
from statistics import median
from typing import Any

from battery import SEVERAL, check_law_against_loss, check_sensitivity

from dpengine.mechanisms.models.check_model import CheckChances, CheckErrors
from dpengine.mechanisms.query import Sensitivity
from dpengine.mechanisms.trial import HALF, WORLD, model
from dpengine.statistics.model_needs import HitsByMargin
from tests.planted.registry import Planted
from tests.planted.wrong_questions import made

ERRORS: dict[str, Any] = {"parts": 2, "error_steps": 2, "model": model(WORLD, "z", "c", (), (), 0, -HALF, HALF)}
CHANCES: dict[str, Any] = {"parts": 2, "model": model(WORLD, "c", "x", (0,), (1,), 0, HALF)}


class NotCut(CheckErrors):
    """A row far off adds all of its error."""

    def need(self) -> Any:
        return replace(super().need(), most=10**6)


class FollowingBins(HitsByMargin):
    """Two bins with as many rows in each: one row moves the edge, and with it others."""

    def of(self, rows: Any) -> tuple[int, ...]:
        said = [margin for row in rows if (margin := self.layout.margin(row, self.weights)) is not None]
        edge = int(median(said)) if said else 0
        return HitsByMargin(self.layout, self.weights, (edge,), self.where).of(rows)


class EvenBins(CheckChances):
    def need(self) -> Any:
        return FollowingBins(**vars(super().need()))


class OneRowEachChecked(CheckErrors):
    def sensitivity(self) -> Sensitivity:
        return Sensitivity("l1", super().sensitivity().bound // self.facts.unit.at_most)


law, sensitivity = (check_law_against_loss, "exceeds"), (check_sensitivity, "moves it by")

PLANTED = [
    Planted(
        "a model's errors not cut",
        "A row that the model gets very wrong adds more than the bound to the sums.",
        *sensitivity,
        made(CheckErrors, ERRORS),
        made(NotCut, ERRORS),
        also=(law,),
    ),
    Planted(
        "a model's bins from the data",
        "The curve of a model has as many rows in each of its parts.",
        *sensitivity,
        made(CheckChances, CHANCES),
        made(EvenBins, CHANCES),
        also=(law,),
    ),
    Planted(
        "a model checked by rows",
        "The check of a model forgets that a person may have two rows.",
        *sensitivity,
        made(CheckErrors, ERRORS, unit=SEVERAL),
        made(OneRowEachChecked, ERRORS, unit=SEVERAL),
        also=(law,),
    ),
]
