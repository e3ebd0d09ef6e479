"""All planted errors, in the order of the table."""

from __future__ import annotations

from tests.planted import accounts, densities, files, forms, ground, homes, ledgers, published, questions, trusts
from tests.planted.registry import Planted

PARTS = (questions, published, trusts, densities, ground, accounts, ledgers, homes, files, forms)
PLANTED: list[Planted] = [planted for part in PARTS for planted in part.PLANTED]
