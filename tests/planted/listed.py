"""All planted errors, in the order of the table."""

from __future__ import annotations

from tests.planted import (
    accounts,
    choices,
    curves,
    densities,
    doors,
    files,
    forms,
    ground,
    homes,
    honesty,
    ledgers,
    modelled,
    overviews,
    populations,
    published,
    questions,
    recorded,
    synthetics,
    told,
    trained,
    trusts,
    twinned,
    vectors,
    witnessed,
)
from tests.planted.registry import Planted

PARTS = (
    questions,
    twinned,
    published,
    synthetics,
    choices,
    trusts,
    honesty,
    trained,
    modelled,
    curves,
    densities,
    vectors,
    overviews,
    told,
    ground,
    accounts,
    ledgers,
    homes,
    populations,
    files,
    forms,
    recorded,
    witnessed,
    doors,
)
PLANTED: list[Planted] = [planted for part in PARTS for planted in part.PLANTED]
