"""Types for what is stored in a ledger, a registry or a receipt, or comes from a form: checked where it is read."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

Json = Any  # None, a truth value, a number, a text, or a list or object of those
JsonObject = dict[str, Any]
Ends = tuple[Any, Any]  # of a range: numbers, or days as ISO writes them
Figure = int | Fraction  # what was drawn, or the mean of several draws
Figures = tuple[Figure, ...]


# Names for numpy arrays.

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bits = npt.NDArray[np.bool_]
Arrow = Any  # an array, a table or a type of pyarrow, which has no type hints
