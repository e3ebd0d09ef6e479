"""Shares, chances and sizes of error as a person reads them, in the reader's language; rounded to the safe side."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from decimal import ROUND_CEILING, Decimal
from fractions import Fraction

from dpengine.core.exact import decimal_of, text_of
from dpengine.messages import plain, say
from dpengine.messages.numbers import local, scientific


def percent(share: Fraction | float) -> str:
    """A share as text: 12 %, 0.4 %, below 0.1 %. Only the whole prints as 100 %. A share just below the whole is cut to
    a tenth (99.96 % becomes 99.9 %), so that the meter shows small prices."""
    value = float(share) * 100
    if 0 < value < 0.1:
        return say("percent.tiny")
    nearly = 99 < value < 100
    if nearly:
        value = int(value * 10) / 10
    whole = value == int(value) or (value >= 10 and not nearly)
    text = f"{value:.0f}" if whole else f"{value:.1f}".rstrip("0").rstrip(".")
    return f"{local(text)} %"


def _tenths(left: Fraction) -> int:
    """What is left of an allowance, in tenths of a percent, as the meter shows it: 1000 only if everything is left."""
    return 1000 if left >= 1 else min(max(round(left * 1000), 0), 999)


def _in_tenths(tenths: int, share: Fraction) -> str:
    if not tenths and share > 0:
        return say("percent.tiny")
    return f"{local(f'{tenths / 10:.1f}'.removesuffix('.0'))} %"


def percent_left(left: Fraction) -> str:
    return _in_tenths(_tenths(left), left)


def percent_taken(left: Fraction, share: Fraction) -> str:
    """The price of a question as text: exactly the difference between the meter's readings before and after it."""
    return _in_tenths(_tenths(left) - _tenths(left - share), share)


def percents(shares: Sequence[Fraction], left: Fraction = Fraction(1)) -> list[str]:
    """Rising prices as `percent_taken` writes them. Prices that would read alike get two digits (and may still read
    alike)."""
    texts = [percent_taken(left, share) for share in shares]
    alike = {text for text, times in Counter(texts).items() if times > 1}
    return [_fine(share) if text in alike else text for text, share in zip(texts, shares, strict=True)]


def _fine(share: Fraction) -> str:
    """A small share as text, to two digits."""
    exact = decimal_of(share * 100)
    text = f"{exact.quantize(Decimal(1).scaleb(exact.adjusted() - 1)).normalize():f}"
    return f"{local(text)} %"


def percent_up(share: Fraction) -> str:
    """A size of error in percent, to two figures and never below the truth."""
    return two_figures(share * 100) + " %"


def points(share: Fraction) -> str:
    return say("amount.percent", alpha=two_figures(share * 100))


def two_figures(size: Fraction, rounding: str = ROUND_CEILING) -> str:
    """A size of error to two digits, rounded up. For a lower bound, which no method can beat, pass another rounding."""
    if not size:
        return plain(size)
    exact = decimal_of(size)
    return local(f"{exact.quantize(Decimal(1).scaleb(exact.adjusted() - 1), rounding=rounding):,f}")


def three_figures(epsilon: Fraction) -> str:
    """An ε as text in a sentence: exact if the exact text is short, else to three figures."""
    return local(text_of(epsilon) if epsilon.denominator <= 1000 else text_of(Fraction(f"{float(epsilon):.3g}")))


def power_of_ten(value: Fraction) -> str:
    """A small δ as text: 10⁻⁶ or 9 · 10⁻⁷, to three figures and never below the truth; from 0.001 on as a plain
    decimal."""
    if value <= 0:
        return "0"
    number = decimal_of(value)
    if number >= Decimal("0.001"):
        return plain(float(value))
    return scientific(number.quantize(Decimal(1).scaleb(number.adjusted() - 2), rounding=ROUND_CEILING))


def chance(beta: Fraction) -> str:
    """As text, how many times in 100 a statement holds that fails with probability β."""
    return plain(float(1 - beta) * 100)


def measured(figure: str, measure: str) -> str:
    """A figure with its unit: 2,500 €, 72 kg."""
    return f"{figure}\u00a0{measure}" if measure else figure
