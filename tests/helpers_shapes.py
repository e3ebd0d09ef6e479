"""A made-up table of a few columns, a first look at it, and the model that is read off."""

from __future__ import annotations

from typing import Any

import numpy as np

import dpengine as dp
from dpengine.declared.facts import Facts
from dpengine.mechanisms.marginals.overview import Overview
from dpengine.noise.coins import SystemCoins
from dpengine.planning import training
from dpengine.released.shapes import LookWithModels
from dpengine.statistics.counts import flag_name

PEOPLE = 3_000
SCHEMA = dp.Schema(
    {
        "age": dp.Number(0, 59, missing=0),
        "sex": dp.Category(["f", "m"], "m", "m"),
        "town": dp.Category(["a", "b", "c"], "c", "c"),
        "pay": dp.Number(0, 100, missing=0),
        "car": dp.Category(["yes", "no"], "no", "no"),
    }
)
TARGET, COLUMNS = "car", ("age", "sex", "town")


def asked(relation: str = "replace", epsilon: str = "3", people: int = PEOPLE, **given: Any) -> Overview:
    facts = Facts("made up", SCHEMA, dp.Unit.rows(), relation, people)  # type: ignore[arg-type]
    wanted = training.look_for_model(SCHEMA, TARGET, COLUMNS) | given
    query = dp.catalogue["overview"].build(facts, wanted | {"epsilon": epsilon})
    assert isinstance(query, Overview)
    return query


def people(many: int = PEOPLE, seed: int = 5) -> dict[str, Any]:
    """Codes of made-up people: of the old, and of the women in town a, more have a car; pay rises with age."""
    draw = np.random.default_rng(seed)
    age, sex, town = (draw.integers(0, size, many) for size in (60, 2, 3))
    chance = 0.15 + 0.5 * (age >= 30) + 0.2 * (sex == 0)
    pay = np.clip(age + draw.integers(0, 20, many), 0, 100)
    return {"age": age, "sex": sex, "town": town, "pay": pay, "car": (draw.random(many) >= chance).astype(np.int64)}


def counted(query: Overview, codes: dict[str, Any]) -> Any:
    fits = {flag_name(name): np.zeros(len(codes["car"]), dtype=np.int64) for name in codes}
    need: Any = query.need()
    return need.summed(need.added([codes | fits], {name: name for name in codes}))


def looked(query: Overview, codes: dict[str, Any]) -> LookWithModels:
    return LookWithModels(query, query.draw(counted(query, codes), SystemCoins()))
