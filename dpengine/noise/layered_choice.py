"""The exponential mechanism over a set too large to list, by layers.

Statement   Let W(t) be the number of candidates with gap at most t, 0 ≤ t ≤ most, W(most) = all. If a layer t is
            drawn with chance ∝ W(t)·(e^(−rate·t) − e^(−rate·(t+1))) and then one of the W(t) candidates uniformly,
            each candidate of gap s has chance ∝ Σ_(t≥s) (e^(−rate·t) − e^(−rate·(t+1))) = e^(−rate·s) (the last layer
            reaches to infinity).
Draw        W rises, so on a segment [a, b) it is at most B ≥ W(b−1). A segment is drawn with chance ∝ B·Σ over it, a
            layer in it from the truncated geometric law (a geometric variable modulo b−a; in the last segment, cut off
            at its end), and it is kept with chance W(t)/B, exactly. Kept layers have the law above, whatever the
            segments and their bounds.
Numbers     Integers decide whether a layer is kept: bounds on W(t), and W(t) itself if they leave it open. The weight
            of a segment lies between two decimals, every operation rounded outwards; we draw bits, and add digits,
            until the point surely falls into one segment.
Work        segments are split where the bounds are farthest apart, until a layer is kept at least every fourth time.
            The running time depends on the data.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from functools import cache
from math import inf, log

from dpengine.noise.coins import Coins

DIGITS = 50
ROUGH = 20  # digits of a number that only decides the amount of work
KEPT = 4  # on average at least one of this many drawn layers is kept
_BITS = 128
_FAR = 50  # segments that weigh e^−50 of the rest are not split

Bounds = tuple[Decimal, Decimal]


@dataclass(frozen=True)
class Segment:
    first: int
    end: int  # not in it
    least: int  # at most W(first)
    most: int  # at least W(end − 1)


Between = Callable[[int], tuple[int, int]]


def draw_layer(
    between: Between, ways: Callable[[int], int], known: int, most: int, everything: int, rate: Fraction, coins: Coins
) -> int:
    """A layer; W(t) lies `between` two integers and is `ways(t)`. `known` has W > 0, `everything` = W(most)."""
    seen: dict[int, tuple[int, int]] = {most: (everything, everything)}

    def at(layer: int) -> tuple[int, int]:
        if layer not in seen:
            seen[layer] = between(layer)
        return seen[layer]

    parts = _split(at, known, most, rate)
    while True:
        part = parts[_pick(parts, most, rate, coins)]
        layer = _within(part, coins.geometric(1 / rate), most)
        height = coins.below(part.most)
        if height < part.least or height < at(layer)[0]:
            return layer
        if height < at(layer)[1] and height < ways(layer):
            return layer


def _within(part: Segment, away: int, most: int) -> int:
    """A layer of the segment from a geometric variable, Pr[t] ∝ e^(−rate·t) − e^(−rate·(t+1)); the last to infinity."""
    width = part.end - part.first
    return part.first + (min(away, width - 1) if part.end > most else away % width)


def _segment(first: int, end: int, before: int, last: tuple[int, int]) -> Segment:
    """With `before` ≤ W(first) and W(end − 1) between the two of `last`."""
    return Segment(first, end, last[0] if end - first == 1 else before, last[1])


def _split(at: Between, known: int, most: int, rate: Fraction) -> list[Segment]:
    """Segments that cover all layers. Any segments are correct: they only decide the amount of work."""
    parts: list[Segment] = []
    layer, start, least = min(known, most), 0, 0
    weighs = _ln(at(layer)[1], rate, layer)
    while layer < most and _ln(at(most)[1], rate, start) >= weighs - _FAR:  # else even all later layers weigh nothing
        parts.append(_segment(start, layer + 1, least, at(layer)))
        weighs = max(weighs, _ln(at(layer)[1], rate, layer))
        start, least, layer = layer + 1, at(layer)[0], 2 * layer + 1
    parts.append(_segment(start, most + 1, least, at(most)))
    rough = [_roughly(part, most, rate) for part in parts]
    context, _ = _contexts(ROUGH)
    while True:
        low, high = Decimal(0), Decimal(0)
        for least_weight, most_weight in rough:
            low, high = context.add(low, least_weight), context.add(high, most_weight)
        place = max(range(len(parts)), key=lambda at_place: context.subtract(rough[at_place][1], rough[at_place][0]))
        part = parts[place]
        if high <= context.multiply(low, Decimal(KEPT)) or part.end - part.first == 1:
            return parts
        # Counting takes longer for later layers, so split a segment that begins near 0 near its beginning.
        middle = min((part.first + part.end) // 2, 2 * part.first + 1)
        inner = at(middle - 1)
        parts[place : place + 1] = [
            _segment(part.first, middle, part.least, inner),
            _segment(middle, part.end, inner[0], at(part.end - 1)),
        ]
        rough[place : place + 1] = [_roughly(half, most, rate) for half in parts[place : place + 2]]


def _ln(count: int, rate: Fraction, layer: int) -> float:
    """About ln(count·e^(−rate·layer)): it only guides the search."""
    return log(count) - float(rate) * layer if count else -inf


def _roughly(part: Segment, most: int, rate: Fraction) -> Bounds:
    """Bounds on the weight of a segment, whatever W is inside it."""
    return _weighed(part, part.least, part.most, most, rate, ROUGH)


def _weighed(part: Segment, fewest: int, greatest: int, most: int, rate: Fraction, digits: int) -> Bounds:
    """Bounds on W·(e^(−rate·first) − e^(−rate·end)) for W from `fewest` to `greatest`."""
    down, up = _contexts(digits)
    low, high = _interval(part, most, rate, digits)
    return down.multiply(down.create_decimal(fewest), low), up.multiply(up.create_decimal(greatest), high)


def _interval(part: Segment, most: int, rate: Fraction, digits: int) -> Bounds:
    """Bounds on e^(−rate·first) − e^(−rate·end), with 0 for the second power in the last segment."""
    down, up = _contexts(digits)
    before = _power(rate * part.first, digits)
    after = (Decimal(0), Decimal(0)) if part.end > most else _power(rate * part.end, digits)
    return max(down.subtract(before[0], after[1]), Decimal(0)), up.subtract(before[1], after[0])


def _power(exponent: Fraction, digits: int) -> Bounds:
    """Bounds on e^(−exponent). By its specification `exp` is correctly rounded to the nearest, so one place outwards
    from it lies beyond the truth; so does the quotient, by the rounding of its context."""
    down, up = _contexts(digits)
    top, bottom = Decimal(-exponent.numerator), Decimal(exponent.denominator)
    lower, upper = down.divide(top, bottom), up.divide(top, bottom)
    low = down.exp(lower)
    high = low if lower == upper else up.exp(upper)
    return max(down.next_minus(low), Decimal(0)), min(up.next_plus(high), Decimal(1))


@cache
def _contexts(digits: int) -> tuple[Context, Context]:
    """A context that rounds down and one that rounds up."""
    down, up = (
        Context(prec=digits, rounding=rounding, Emin=MIN_EMIN, Emax=MAX_EMAX, traps=[])
        for rounding in (ROUND_FLOOR, ROUND_CEILING)
    )
    return down, up


def _pick(parts: Sequence[Segment], most: int, rate: Fraction, coins: Coins) -> int:
    """A segment with probability exactly ∝ its upper weight: the one that holds a uniform point of [0, total).

    The point lies in [x, x+1]·total/2^width for the drawn bits x. It surely is in segment i if its least value is at
    least the upper bound on the weight before i, and its largest value at most the lower bound on the weight up to and
    with i. The first segment begins at 0 and the last ends at the total, whatever the bounds.
    """
    if len(parts) == 1:
        return 0
    point, width, digits = 0, 0, DIGITS
    while True:
        point, width = point << _BITS | coins.bits(_BITS), width + _BITS
        down, up = _contexts(digits)
        reached: list[Bounds] = [(Decimal(0), Decimal(0))]
        for part in parts:
            low, high = _weighed(part, part.most, part.most, most, rate, digits)
            reached.append((down.add(reached[-1][0], low), up.add(reached[-1][1], high)))
        scale = Decimal(1 << width)
        from_ = down.divide(down.multiply(down.create_decimal(point), reached[-1][0]), scale)
        to = up.divide(up.multiply(up.create_decimal(point + 1), reached[-1][1]), scale)
        for place in range(len(parts)):
            begins = place == 0 or reached[place][1] <= from_
            ends = place + 1 == len(parts) or to <= reached[place + 1][0]
            if begins and ends:
                return place
        digits *= 2
