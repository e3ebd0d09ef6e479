"""Small trainings, built and walked."""

from __future__ import annotations

from typing import Any

import pytest
from battery import build

from dpengine.declared.unit import RELATIONS, Unit
from dpengine.mechanisms.models.of_gradients import OfGradients
from dpengine.mechanisms.stepwise import Path as Walk

KINDS: dict[str, dict[str, Any]] = {
    "train_linear": {"target": "z", "features": ["x"]},
    "train_logistic": {"target": "c", "features": ["x"]},
    "train_hinge": {"target": "c", "features": ["x"]},
}
every_kind = pytest.mark.parametrize("key", sorted(KINDS))
every_smooth_kind = pytest.mark.parametrize("key", ["train_linear", "train_logistic"])
every_relation = pytest.mark.parametrize("relation", RELATIONS)


def made(key: str, relation: str = "replace", unit: Unit | None = None, epsilon: str = "1", **given: Any) -> Any:
    about = given.pop("about", 10)
    found = build(key, KINDS[key] | given, relation, epsilon, about=about, unit=unit)
    assert isinstance(found, OfGradients)
    return found


def walked(query: OfGradients, rows: Any, coins: Any) -> Walk:
    return query.descend(lambda need: need.of(rows), coins, lambda *_: None, lambda: False)
