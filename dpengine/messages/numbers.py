"""Numbers, days and counted words as each language writes them. Numbers are printed in English and converted here."""

from __future__ import annotations

import re
from datetime import date
from decimal import Decimal, InvalidOperation
from math import isfinite

from dpengine.messages.language import current

MOST_DIGITS = (-12, 18)  # powers of ten between which a number is written out
MARKS = {"sl": ".,"}  # between thousands, before decimals
_ENGLISH = ",."
_COUNTED = re.compile(r"\{(\w+)\|([^{}]*)\}")
_FIGURE = re.compile(r"[+−-]?[\d.,]*\d")
_PERCENT = re.compile(r"(?<=\d) %")


def marks() -> str:
    return MARKS.get(current(), _ENGLISH)


def local(figure: str) -> str:
    """A figure printed in English, as the reader writes it: 1,234.5 is 1.234,5 in Slovene."""
    return figure.translate(str.maketrans(_ENGLISH, marks()))


def to_figures(value: float, many: int) -> str:
    """A number to so many figures as a person writes it: 180 and not 1.8e+02; one with very many digits as 1.8 · 10²⁰."""
    if not isfinite(value):
        return "∞" if value > 0 else "−∞" if value < 0 else "–"
    number = Decimal(f"{value:.{many - 1}e}").normalize()
    if number and not MOST_DIGITS[0] <= number.adjusted() <= MOST_DIGITS[1]:
        return scientific(number)
    return local(f"{number:,f}")


def scientific(number: Decimal) -> str:
    """A number as 10⁻⁶ or 9 · 10⁻⁷."""
    power = str(number.adjusted()).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    leading = number.scaleb(-number.adjusted()).normalize()
    return f"10{power}" if leading == 1 else f"{local(f'{leading:f}')} · 10{power}"


def kept_together(sentence: str) -> str:
    """In Slovene no line begins with “%”: a no-break space stands before it."""
    return _PERCENT.sub("\u00a0%", sentence) if current() == "sl" else sentence


def english(figure: str) -> str:
    """The inverse of `local`."""
    return figure.translate(str.maketrans(marks(), _ENGLISH))


def setting(text: str) -> str:
    """A number as a URL holds it, for a reader: 1000 as 1,000, 0.5 as 0,5 in Slovene; other words as they are."""
    if text.isascii() and text.isdecimal():
        return local(f"{int(text):,}")
    return local(text) if re.fullmatch(r"\d+\.\d+", text) else text


def ungrouped(figure: str) -> str:
    """Without the marks between thousands, as for years."""
    return figure.replace(marks()[0], "")


def read(figure: str) -> Decimal:
    """What `local` made of a figure."""
    return Decimal(english(figure).replace(",", "").replace("−", "-"))


def day(iso: str) -> str:
    """2026-11-15, in Slovene 15. 11. 2026; what is no day stays as it is."""
    if current() != "sl":
        return iso
    try:
        parsed = date.fromisoformat(iso)
    except ValueError:
        return iso
    return f"{parsed.day}. {parsed.month}. {parsed.year}"


def forms(template: str, facts: dict[str, str]) -> str:
    """Puts the counted words in: `{n|row|rows}`, in Slovene `{n|vrstica|vrstici|vrstice|vrstic}`."""

    def chosen(match: re.Match[str]) -> str:
        words = match[2].split("|")
        return words[min(_form(facts[match[1]]), len(words) - 1)]

    return _COUNTED.sub(chosen, template)


def names(template: str) -> set[str]:
    """The facts a sentence needs."""
    return set(re.findall(r"\{(\w+)[|}]", template))


def _form(text: str) -> int:
    """Which form of a counted word to use. English: one, or the rest. Slovene, by the last two digits: one, two, three
    and four (and decimals), or the rest. In “60 people” the first number counts."""
    figure = _FIGURE.search(text)
    try:
        value = read(figure[0]) if figure else None
    except InvalidOperation:
        value = None
    last = 3 if current() == "sl" else 1
    if value is None:
        return last
    if current() != "sl":
        return 0 if abs(value) == 1 else 1
    if figure and marks()[1] in figure[0]:
        return 2
    return {1: 0, 2: 1, 3: 2, 4: 2}.get(int(abs(value)) % 100, last)
