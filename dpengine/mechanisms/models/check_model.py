"""How good a trained model is on this table: one question, of a model of yes and no (`check_chances`) or of a number
(`check_errors`), whichever it is given."""

from __future__ import annotations

from typing import Any, Self, cast

from dpengine.declared.facts import Facts
from dpengine.mechanisms.models.check_chances import CheckChances
from dpengine.mechanisms.models.check_errors import CheckErrors
from dpengine.mechanisms.models.of_models import OfModel, read_model
from dpengine.statistics.features import LINEAR


class CheckModel(OfModel):
    """What the catalogue holds; questions are of one of the two kinds."""

    noises = CheckChances.noises

    @classmethod
    def build(cls, facts: Facts, parameters: dict[str, Any]) -> Self:
        kind = CheckErrors if read_model(parameters.get("model"), facts).kind == LINEAR else CheckChances
        return cast(Self, kind.build(facts, parameters))
