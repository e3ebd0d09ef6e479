"""One reader of what is typed as a number: in the marks of the language spoken, the other's where they can only be
meant so, and a sentence where two numbers may be meant."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpengine.core.errors import AllowanceError
from dpengine.core.exact import LONGEST_NUMBER, Unread, as_typed, read_number, read_typed, text_of
from dpengine.messages.language import LANGUAGES, speaking
from dpengine.messages.numbers import local

ROOT = Path(__file__).resolve().parents[3]
EITHER = {
    "25": "25",
    "0.5": "1/2",
    "0,5": "1/2",
    "0,125": "1/8",
    "1,234.5": "2469/2",
    "1.234,5": "2469/2",
    "1 000": "1000",
    "1.234.567": "1234567",
    "1,234,567": "1234567",
    "1234,5": "2469/2",
    "1'000'000": "1000000",
    " −3 ": "-3",
    "+3": "3",
    "1e-6": "1/1000000",
    "1,5e-6": "3/2000000",
    ",5": "1/2",
    "12,3456": "7716/625",
    "٠,٥": "1/2",
}
NEITHER = ("", "x", "1,23.4", "1.2.3", "--1", "1 2", "1_000", "1,000,00", "½", "NaN", "1e999", "9" * 41, ".", "1 0")


@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_number_that_can_be_meant_in_one_way_is_read_in_every_language(lang: str) -> None:
    with speaking(lang):
        assert {text: read_typed(text, "n") for text in EITHER} == {text: Fraction(n) for text, n in EITHER.items()}
        for text in NEITHER:
            with pytest.raises(AllowanceError, match=r"^number\.unreadable$|0[.,]5"):
                read_typed(text, "n")


@pytest.mark.parametrize(("lang", "thousands", "decimal"), [("en", ",", "."), ("he", ",", "."), ("sl", ".", ",")])
def test_marks_are_those_of_the_language(lang: str, thousands: str, decimal: str) -> None:
    with speaking(lang):
        assert read_typed(f"25{thousands}000", "n") == 25_000 and read_typed(f"1{thousands}125", "n") == 1_125
        assert read_typed(f"1{decimal}125", "n") == Fraction(9, 8) and read_typed(f"12{decimal}5 %", "n", "%") == 12.5


@pytest.mark.parametrize(
    ("lang", "typed", "told"),
    [
        ("en", "25.000", "The error can be read in two ways. Type 25,000 or 25."),
        ("en", "1.500", "The error can be read in two ways. Type 1,500 or 1.5."),
        ("sl", "25,000", "The error je mogoče razumeti na dva načina. Vpišite 25.000 ali 25."),
        ("sl", "1,500", "The error je mogoče razumeti na dva načina. Vpišite 1.500 ali 1,5."),
    ],
)
def test_what_may_be_meant_in_two_ways_is_not_guessed(lang: str, typed: str, told: str) -> None:
    with speaking(lang):
        with pytest.raises(AllowanceError) as refusal:
            read_typed(typed, "The error")
        assert str(refusal.value) == told
        kept = as_typed(typed)
        assert isinstance(kept, Unread)
        with pytest.raises(AllowanceError) as later:  # where the number is needed
            read_number(kept, "The error")
        assert str(later.value) == told
        for way in re.findall(r"[\d.,]*\d", told):  # what it says to type can be typed
            read_typed(way, "")


@settings(deadline=None, max_examples=300)
@given(st.decimals(-(10**12), 10**12, places=4, allow_nan=False), st.sampled_from(LANGUAGES))
def test_what_a_field_shows_is_read_as_the_same_number(number: object, lang: str) -> None:
    exact = Fraction(str(number))
    with speaking(lang):
        for shown in (text_of(exact), f"{number:,}"):
            shown = local(shown.rstrip("0").rstrip(".") if "." in shown else shown)
            assert read_typed(shown, "") == exact and as_typed(shown) == text_of(exact)


@settings(deadline=None, max_examples=300)
@given(st.text(alphabet="0123456789.,- e%'x", max_size=LONGEST_NUMBER + 5), st.sampled_from(LANGUAGES))
def test_whatever_is_typed_is_a_number_or_a_sentence(text: str, lang: str) -> None:
    with speaking(lang):
        kept = as_typed(text, "%")
        try:
            wanted = read_typed(text, "n", "%")
        except AllowanceError as refusal:
            assert str(refusal) and (not text.strip() or isinstance(kept, Unread))
        else:
            assert read_number(kept, "n") == wanted and not isinstance(kept, Unread)


def test_marks_mean_the_same_between_digits_of_any_script() -> None:
    for digits in ("25,000", "２５,０００", "٢٥,٠٠٠", "२५,०००"):
        assert as_typed(digits) == "25000"
        with speaking("sl"), pytest.raises(AllowanceError, match="25"):
            read_typed(digits, "The error")


def test_zeros_before_a_number_do_not_move_its_mark() -> None:
    for text in ("012,345", "00,500", "001,000"):
        with pytest.raises(AllowanceError):
            read_typed(text, "The error")
        with speaking("sl"), pytest.raises(AllowanceError):
            read_typed(text.replace(",", "."), "The error")
    assert read_typed("0,345", "") == Fraction("0.345") and read_typed("007", "") == 7


@pytest.mark.parametrize("text", ["5" + " " * 40 + "abc", "1" + " 000" * 14, "5" + " " * 39 + ";7"])
def test_what_is_too_long_is_not_read_by_its_beginning(text: str) -> None:
    kept = as_typed(text)
    assert isinstance(kept, Unread) and len(kept) == LONGEST_NUMBER + 1
    for later in (kept, f" {kept}".strip()):  # also where only its letters are left, as in an address
        with pytest.raises(AllowanceError):
            read_number(later, "")


def test_nothing_else_reads_what_is_typed() -> None:
    """No page turns marks by itself."""
    own = re.compile(r"""\.replace\(["'][,.]["'], ["'][.,]["']\)""")
    found = [
        str(path)
        for folder in ("ui", "pages", "demos")
        for path in (ROOT / folder).rglob("*.py")
        if own.search(path.read_text(encoding="utf-8"))
    ]
    assert not found
