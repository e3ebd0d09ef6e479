"""Bounds on how many sequences lie in a wide band, computed in floats.

Statement   The numbers w of `bands` over M!, v(M) = w(M)/M!, follow v′(M) = Σ_P v(P)·r^(M−P)/(M−P)!: sums of products
            of positive numbers, so nothing cancels. Every number is a float in [1/2, 1) and an exponent of its own, so
            nothing overflows or vanishes.
Error       u = 2^−53. A term of the kernel, d factors r/i, is off by at most 2d roundings; a product adds one; a sum of
            k terms at most k, and terms below 2^−1000 of the largest, told no farther apart, less than one. So a step
            multiplies the truth by a number within (1+u)^±N, N = 2d + k + 3, and all of them together within
            (1+u)^±ΣN; 2u·ΣN < 2^−30 is checked, and W lies within that part of v(m)·m!.
Use         Bounds are all that is needed to choose a layer, but for draws that fall between them (`layered_choice`);
            then, and for the sequence itself, `bands` counts exactly. In a band of k integers a step takes k² float
            operations, not k² products of long integers.
"""

from __future__ import annotations

from math import factorial, frexp

import numpy as np
from numpy.typing import NDArray

from dpengine.core.arrays import Integers
from dpengine.mechanisms.curves import bands
from dpengine.mechanisms.curves.bands import Reached

Floats = NDArray[np.float64]
WIDE = 12  # narrower bands are counted exactly, which is as fast
SLACK = 30  # bits that the bounds agree in
_NEVER = -(2**40)  # the exponent that stands for 0


def between(held: Reached, grid: int, points: int, band: int) -> tuple[int, int]:
    """Integers below and above W(t); equal where it is counted exactly."""
    steps = bands.strides(held, grid, points, band)
    if max(run.high - run.low for run in steps) < WIDE:
        exact = bands.last_of(bands.along(steps, points))
        return exact, exact
    low, roundings = 0, 0
    parts, powers = np.array([0.5]), np.array([1], dtype=np.int64)
    for run in steps:
        start = max(run.low, low)
        if start > run.high:
            return 0, 0
        away = np.arange(start, run.high + 1)[:, None] - np.arange(low, low + len(parts))[None, :]
        kernel, exponents = _kernel(run.cells, run.high - low)
        inside = np.maximum(away, 0)
        products = np.where(away >= 0, parts * kernel[inside], 0.0)
        heights = np.where(products > 0, powers + exponents[inside], _NEVER)
        top = heights.max(axis=1)
        sums = np.ldexp(products, np.maximum(heights - top[:, None], -1_060)).sum(axis=1)
        roundings += 2 * (run.high - low) + len(parts) + 3
        parts, raised = np.frexp(sums)
        low, powers = start, np.where(parts > 0, top + raised, _NEVER)
        if not parts.any():
            return 0, 0
    if roundings >= 2 ** (52 - SLACK):
        raise AssertionError("so many roundings are beyond the bound")
    return _around(float(parts[-1]), int(powers[-1]), factorial(points))


def _kernel(cells: int, most: int) -> tuple[Floats, Integers]:
    """r^d/d! for d up to `most`, as floats and exponents."""
    parts, powers = np.empty(most + 1), np.empty(most + 1, dtype=np.int64)
    part, power = 0.5, 1
    for d in range(most + 1):
        if d:
            part, raised = frexp(part * cells / d)
            power += raised
        parts[d], powers[d] = part, power
    return parts, powers


def _around(part: float, power: int, times: int) -> tuple[int, int]:
    """Integers around part·2^power·times, a part in 2^SLACK to each side."""
    exact = int(part * 2**53) * times  # a float below 1 has 53 bits
    shift = power - 53 - SLACK
    low, high = exact * (2**SLACK - 1), exact * (2**SLACK + 1)
    return (low << shift, high << shift) if shift >= 0 else (low >> -shift, -(-high >> -shift))
