"""The exponential mechanism over a set too large to list, by layers.

Statement   Let W(t) be the number of candidates with gap at most t, 0 ≤ t ≤ most, W(most) = all. If a layer t is
            drawn with chance ∝ W(t)·(e^(−rate·t) − e^(−rate·(t+1))) and then one of the W(t) candidates uniformly,
            each candidate of gap s has chance ∝ Σ_(t≥s) (e^(−rate·t) − e^(−rate·(t+1))) = e^(−rate·s) (the last layer
            reaches to infinity).
Draw        W rises, so on a segment [a, b) it lies between W(a) and W(b−1). A segment is drawn with chance ∝ W(b−1)·Σ
            over it, a layer in it from the truncated geometric law (a geometric variable modulo b−a; in the last
            segment, cut off at its end), and it is kept with chance W(t)/W(b−1), exactly. What is kept has the law
            above, whatever the segments were.
Numbers     Segments are weighed between two decimals; bits are drawn until they fall into one of them for certain.
Work        segments are split where the bounds are farthest apart, until a layer is kept at least every other time. How
            long that takes depends on the data.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction

from dpengine.coins import Coins

_ROUGH = 40
_SPARE_DIGITS = 25


@dataclass(frozen=True)
class Segment:
    first: int
    end: int  # not in it
    least: int  # at most W(first)
    most: int  # at least W(end − 1)


def draw_layer(
    ways: Callable[[int], int], known: int, most: int, everything: int, rate: Fraction, coins: Coins
) -> int:
    """A layer; `known` is one with W > 0, `everything` = W(most)."""
    seen: dict[int, int] = {most: everything}

    def at(layer: int) -> int:
        if layer not in seen:
            seen[layer] = ways(layer)
        return seen[layer]

    # Doubling from `known`, until even all candidates together would weigh e^-50 of what was found.
    parts: list[Segment] = []
    layer, start, least, best = known, 0, 0, None
    while layer < most:
        parts.append(Segment(start, layer + 1, least, at(layer)))
        weight = _ln(at(layer)) - rate * layer
        best = weight if best is None else max(best, weight)
        start, least, layer = layer + 1, at(layer), 2 * layer + 1
        if _ln(everything) - rate * start < best - 50:
            break
    parts.append(Segment(start, most + 1, least, everything))
    while True:
        rough = [tuple(_weight(part, count, most, rate, _ROUGH) for count in (part.least, part.most)) for part in parts]
        low, high = (sum((pair[side] for pair in rough), Decimal(0)) for side in (0, 1))
        wide = [place for place, part in enumerate(parts) if part.end - part.first > 1 and part.least < part.most]
        if high <= 2 * low or not wide:
            break
        place = max(wide, key=lambda one: rough[one][1] - rough[one][0])
        part = parts[place]
        # Counting takes longer the farther out: the last segment is not halved but begun.
        middle = min((part.first + part.end) // 2, 2 * part.first + 1)
        parts[place : place + 1] = [
            Segment(part.first, middle, part.least, at(middle - 1)), Segment(middle, part.end, at(middle), part.most),
        ]  # fmt: skip
    while True:
        part = parts[_pick(parts, most, rate, coins)]
        away, width = coins.geometric(1 / rate), part.end - part.first
        layer = part.first + (min(away, width - 1) if part.end > most else away % width)
        if coins.below(part.most) < at(layer):
            return layer


def _ln(count: int) -> Fraction:
    """About ln(count): it only decides where to look."""
    return Fraction(Decimal(count).ln(Context(prec=20))) if count else Fraction(-(10**9))


def _weight(part: Segment, count: int, most: int, rate: Fraction, digits: int) -> Decimal:
    """count·Σ over the segment of (e^(−rate·t) − e^(−rate·(t+1))), to about `digits` digits."""
    context = Context(prec=digits + _SPARE_DIGITS, Emin=-(10**9), Emax=10**9)

    def power(exponent: Fraction) -> Decimal:
        return context.exp(context.divide(Decimal(-exponent.numerator), Decimal(exponent.denominator)))

    before = power(rate * part.first)
    after = Decimal(0) if part.end > most else power(rate * part.end)  # the last layer reaches to infinity
    return context.multiply(Decimal(count), context.subtract(before, after))


def _pick(parts: list[Segment], most: int, rate: Fraction, coins: Coins) -> int:
    """A segment with chance exactly ∝ its upper weight."""
    point, width, digits = 0, 0, _ROUGH
    while True:
        point, width = point << 128 | coins.bits(128), width + 128
        slack = Fraction(1, 10 ** (digits - 2))
        sums, total = [], Fraction(0)
        for part in parts:
            total += Fraction(_weight(part, part.most, most, rate, digits))
            sums.append(total)
        least, greatest = Fraction(point, 2**width), Fraction(point + 1, 2**width)
        below = Fraction(0)
        for place, reached in enumerate(sums):
            share = reached / total
            if below + slack <= least or place == 0:
                last = place + 1 == len(sums)
                if greatest <= share - slack or last:
                    return place
            below = share
        digits *= 2
