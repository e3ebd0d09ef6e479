"""How good a trained model is on this table: one question, of a model of yes and no (`check_chances`) or of a number
(`check_errors`), whichever it is given."""

from __future__ import annotations

from typing import ClassVar, Self, cast

from dpengine.core.json_types import JsonObject
from dpengine.declared.facts import Facts
from dpengine.mechanisms.models.check_chances import CheckChances
from dpengine.mechanisms.models.check_errors import CheckErrors
from dpengine.mechanisms.models.of_models import OfModel, read_model
from dpengine.mechanisms.trial import CLUB, HALF, WORLD, Example, Trial, model, shapes


class CheckModel(OfModel):
    """The entry in the catalogue; `build` returns a question of one of the two kinds."""

    trial: ClassVar[Trial] = Trial(
        cases={
            "of yes and no": {"parts": 2, "model": model(WORLD, "c", "x", (0,), (1,), 0, HALF)},
            "of yes and no, by a score": {
                "parts": 2,
                "model": model(WORLD, "c", "z", (0,), (1,), 0, -HALF) | {"kind": "hinge"},
            },
            "of yes and no, Gaussian": {
                "parts": 2,
                "model": model(WORLD, "d", "z", (0,), (1,), 0, HALF),
                "noise": "gaussian",
            },
            "of yes and no, by cells": {"parts": 2, "model": shapes(WORLD, "c", "d", (0,), (1,), 0, 2**24, 2**22)},
            "of yes and no, by groups": {
                "parts": 2,
                "model": shapes(WORLD, "c", {"column": "x", "step": 2}, (0,), (1,), 2**22, 2**23, 0, -(2**22), 2**23),
            },
            "of a number, by cells": {
                "parts": 2,
                "error_steps": 2,
                "model": shapes(WORLD, "z", "d", (), (), 0, -(2**23), 2**23),
            },
            "of a number": {"parts": 2, "error_steps": 2, "model": model(WORLD, "z", "c", (), (), 0, -HALF, HALF)},
        },
        example=Example({"parts": 2, "model": model(CLUB, "member", "visits", (0,), (1,), 0, 2**24)}),
        twins=("half", "small"),
        covered="test_a_first_figure_keeps_its_promise",
    )
    noises = CheckChances.noises

    @classmethod
    def build(cls, facts: Facts, parameters: JsonObject) -> Self:
        kind = CheckChances if read_model(parameters.get("model"), facts).layout.listed else CheckErrors
        return cast(Self, kind.build(facts, parameters))
