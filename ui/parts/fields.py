"""Form fields: numbers in the reader's language, pickers inside a sentence, and what ε means in odds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from decimal import ROUND_CEILING, Decimal
from fractions import Fraction
from html import escape
from typing import Any

import streamlit as st

from dpengine.core.errors import AllowanceError
from dpengine.core.exact import as_typed, ceiling, decimal_of, read_number, up
from dpengine.core.printed import power_of_ten
from dpengine.messages import say
from dpengine.messages.language import STORED, current
from dpengine.messages.numbers import local
from dpengine.planning.whatif import suspicion
from ui.shell.style import sheet
from ui.words import gloss

WHEN_OPENED = True  # False: what is folded is drawn at once, for tests that read all of a page


@contextmanager
def details(title: str, key: str, expanded: bool = False) -> Iterator[bool]:
    """An expander; yields whether to draw its content. The content is not drawn before somebody opens the expander,
    because browsers are slow with it. After that the content stays drawn, even when the expander is closed, so that
    fields keep their values. The expander opens when `expanded` turns true."""
    drawn, before = f"{key}-drawn", f"{key}-expanded"
    if expanded and not (key in st.session_state and st.session_state.get(before)):
        st.session_state[key] = True
    st.session_state[before] = expanded
    box = st.expander(title, key=key, on_change="rerun")
    if box.open:
        st.session_state[drawn] = True
    with box:
        yield bool(st.session_state.get(drawn)) or not WHEN_OPENED


@contextmanager
def popped(title: str, key: str) -> Iterator[bool]:
    """A button that opens a small window; yields whether to draw the window's content, which is only while the window
    is open."""
    with st.popover(title, key=key, on_change="rerun") as window:
        yield bool(window.open) or not WHEN_OPENED


def whole_number(label: str, most: int, key: str, least: int = 1, **options: Any) -> int | None:
    """Draw a field for a whole number, and return the number; None while the field is empty."""
    given = st.number_input(label, least, most, None, 1, key=key, **options)
    return None if given is None else int(given)


def whole_inside(value: Any, least: int, most: int, usual: int) -> int:
    """The whole number in a link, or the nearest one from `least` to `most`; the usual number if the text is no
    number."""
    try:
        return min(max(int(value), least), most)
    except (TypeError, ValueError, OverflowError):
        return usual


def choose(code: str, options: Sequence[str], now: str, key: str, words: str = "", **more: Any) -> str:
    """Draw a few options side by side, and return the picked one. `code` is the label's key; `words`, or else `code`,
    begins the keys of the options' words."""
    more = {"format_func": lambda option: say(f"{words or code}.{option}")} | more
    return str(st.segmented_control(say(code), options, default=now, required=True, key=key, **more) or now)


def number_key(key: str) -> str:
    """The key of a field in this language, because another language writes the same number differently."""
    return key if current() == STORED else f"{key}-{current()}"


def number_field(label: str, text: str, key: str, where: Any = st, unit: str = "", **options: Any) -> str:
    """Draw a field for a number, and return the typed text in English notation. The engine refuses what it cannot
    read."""
    typed = where.text_input(label, local(text), key=number_key(key), **options)
    return _kept(text, as_typed(str(typed or ""), unit))


def _kept(text: str, found: str) -> str:
    """The typed text `found`, or the earlier `text` if both are the same number: so an address keeps a notation such as
    1e-8."""
    try:
        return text if read_number(text, "") == read_number(found, "") else found
    except AllowanceError:
        return found


def kept_number(label: str, text: str, key: str, where: Any = st, **options: Any) -> str:
    """Draw a number field whose value a callback may replace, and return the typed text in English notation. A callback
    writes text in the reader's notation (`local`) into the session under the `number_key` of the field."""
    st.session_state.setdefault(number_key(key), local(text))
    return as_typed(str(where.text_input(label, key=number_key(key), **options) or ""))


def number_fields(label: str, texts: list[str], key: str, unit: str = "", **options: Any) -> list[str]:
    """Draw one field for several numbers, separated by semicolons, or by a comma and a space. Returns the texts."""
    typed = str(st.text_input(label, "; ".join(map(local, texts)), key=number_key(key), **options) or "")
    parts = typed.split(";" if ";" in typed else ", ")
    return [as_typed(part, unit) for part in parts if part.strip()]


# The pickers inside a sentence, and how a link replaces what they hold.

_TURN = "form-round"
ARRIVED = "form-arrived"  # a link brought this question just now


def forget_pickers() -> None:
    """Drop the values of the form's pickers, so that a link's question replaces them. The pickers get new keys, because
    a browser keeps old widget values."""
    st.session_state[_TURN] = st.session_state.get(_TURN, -1) + 1
    st.session_state[ARRIVED] = True
    for key in [key for key in st.session_state if str(key).startswith(("ask-", "where-"))]:
        if not str(key).startswith("ask-table"):
            del st.session_state[key]


def key_end() -> str:
    """The end of the key of a form's widget. It changes when a link or a callback replaces the form, which empties the
    widget. `pick` adds it; for any other widget its caller does."""
    return f"-{st.session_state[_TURN]}" if st.session_state.get(_TURN) else ""


def word(text: str) -> None:
    """Draw the words between two pickers of a sentence."""
    st.html(f'<p class="word">{escape(text)}</p>', width="content")


def pick(label: str, options: list[str], now: str, words: Any, key: str) -> str:
    """Draw a selectbox as wide as the word in it, and return the picked option."""
    key += key_end()
    shown = st.session_state.get(key, now)
    text = words(shown if shown in options else now)
    letters = len(text) + sum(0.7 for letter in text.lower() if letter in "mw")
    look: Any = {"label_visibility": "collapsed", "width": min(max(96, 78 + int(9.2 * letters)), 400)}
    return str(st.selectbox(say(label), options, options.index(now), words, key, **look))


# What ε means, in odds a person can weigh: how far a suspicion can grow after everything was answered.

PRIORS = ("1", "5", "10", "25", "50")
_PRIOR = 10  # in percent: of receipts


def show_odds(epsilon: Fraction, delta: Fraction, relation: str, prior: int) -> None:
    """Draw a suspicion as a hundred dots, before all answers (`prior`, in percent) and after them."""
    most, twice = odds_after(prior, epsilon), odds_after(prior, 2 * epsilon)
    lead = say(f"odds.lead.{relation}", prior=prior, most=most, epsilon=up(epsilon, 1000))
    about = say(f"odds.about.{relation}", twice=twice)  # one row for another is two steps of add/remove
    slip = say("odds.delta", delta=power_of_ten(delta)) if delta else say("odds.no_delta")
    pictures = dots(prior, say("odds.before", share=prior)) + dots(ceiling(most), say("odds.after", share=most))
    st.html(
        f'{ODDS_STYLE}<p class="odds-lead">{gloss.text(lead)}</p><div class="odds">{pictures}</div>'
        f'<p class="muted">{escape(about)}</p><p class="muted">{gloss.text(slip)}</p>'
    )


def odds_after(prior: int, epsilon: Fraction) -> Fraction:
    """The largest suspicion after all answers, in percent, rounded up to three digits; above 90 to more digits, so that
    its distance from 100 has two."""
    exact = suspicion(Fraction(prior, 100), epsilon) * 100
    last = decimal_of(exact).adjusted() - 2
    if 100 - 10 < exact < 100:
        last = min(last, decimal_of(100 - exact).adjusted() - 1)
    return min(Fraction(decimal_of(exact).quantize(Decimal(1).scaleb(last), rounding=ROUND_CEILING)), Fraction(100))


def odds_of_answer(epsilon: Fraction, delta: Fraction, relation: str) -> str:
    """A sentence for the receipt: how one answer can change a suspicion, with ε, δ and the odds."""
    facts = {"prior": _PRIOR, "most": odds_after(_PRIOR, epsilon), "epsilon": up(epsilon, 1000)}
    slip = say("odds.alone_delta", delta=power_of_ten(delta)) if delta else say("odds.no_delta")
    return say(f"odds.alone.{relation}", **facts) + " " + slip


def dots(on: int, caption: str) -> str:
    """HTML: a hundred dots, `on` of them filled."""
    words = escape(caption)
    rows, rest = divmod(on, 10)
    picture = f'<div class="dots" role="img" aria-label="{words}" style="--rows:{rows};--rest:{rest}"></div>'
    return f"<figure>{picture}<figcaption>{words}</figcaption></figure>"


ODDS_STYLE = sheet("parts/odds")
