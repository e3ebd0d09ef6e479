"""Types for JSON from a ledger, a registry, a receipt or a form (checked where it is read), and for numpy arrays."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

Json = Any  # None, a truth value, a number, a text, or a list or object of those
JsonObject = dict[str, Any]
Ends = tuple[Any, Any]  # of a range: numbers, or days as ISO writes them
Figure = int | Fraction  # a draw, or the mean of several draws
Figures = tuple[Figure, ...]
Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Bits = npt.NDArray[np.bool_]
Arrow = Any  # an array, a table or a type of pyarrow, which has no type hints
