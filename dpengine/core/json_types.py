"""Types for what is stored in a ledger, a registry or a receipt, or comes from a form: checked where it is read."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

Json = Any  # None, a truth value, a number, a text, or a list or object of those
JsonObject = dict[str, Any]
Ends = tuple[Any, Any]  # of a range: numbers, or days as ISO writes them
Figure = int | Fraction  # what was drawn, or the mean of several draws
Figures = tuple[Figure, ...]
