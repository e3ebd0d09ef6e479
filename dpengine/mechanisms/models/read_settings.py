"""The settings of a training that few people need, from the JSON of a form."""

from __future__ import annotations

from fractions import Fraction

from dpengine.core.errors import AllowanceError
from dpengine.core.exact import read_number
from dpengine.core.json_types import JsonObject
from dpengine.mechanisms.models.excess import CALIBRATIONS, ITERATES
from dpengine.mechanisms.query import Fields

MOST_STEPS = 1_000
MOST_RADIUS = MOST_CLIP = 64  # sums of 2^31 rows stay below 2^62
MOST_RATE = 1_000
MOST_LATTICE = 24
GRAIN = 10**6


def read_settings(given: JsonObject, regions: tuple[str, ...]) -> Fields:
    """Those that were given; the others have defaults from public facts."""
    told = {name: part for name, part in given.items() if part not in (None, "")}
    fields: Fields = {}
    for name, known in (("calibration", CALIBRATIONS), ("region", regions), ("iterate", ITERATES)):
        if name in told:
            if told[name] not in known:
                raise AllowanceError(f"train.{name}", known=list(known))
            fields[name] = told[name]
    for name, most in (("steps", MOST_STEPS), ("lattice", MOST_LATTICE)):
        if name in told:
            amount = read_number(told[name], name)
            if amount.denominator != 1 or not 1 <= amount <= most:
                raise AllowanceError(f"train.{name}", most=most)
            fields[name] = int(amount)
    for name, highest in (("rate", MOST_RATE), ("radius", MOST_RADIUS), ("clip", MOST_CLIP)):
        if name in told:
            amount = read_number(told[name], name)
            if not Fraction(1, GRAIN) <= amount <= highest or (amount * GRAIN).denominator != 1:
                raise AllowanceError(f"train.{name}", most=highest)
            fields[name] = amount
    return fields
