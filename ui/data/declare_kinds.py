"""What a card asks, by kind: a number's range, a day's range, a list, several from a list, yes or no."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from html import escape

import streamlit as st

from dpengine.core.errors import AllowanceError
from dpengine.core.exact import as_typed, read_number, text_of
from dpengine.declared import spelling
from dpengine.declared.date_column import ORDERS
from dpengine.declared.schema import LONGEST_MEASURE, MOST_CODES, round_step
from dpengine.messages import say
from dpengine.messages.numbers import local
from ui.data import declare_codes, presets
from ui.data.declare import kept
from ui.data.declare_column import Card
from ui.data.declare_lists import choose, others
from ui.data.preset_lists import YES_NO
from ui.data.presets import RANGES
from ui.parts import number_field
from ui.shell.language import day_format
from ui.shell.state import held

_PARTS = ("lower", "upper", "step")
_EARLIEST, _LATEST = date(1000, 1, 1), date(2999, 12, 31)
MOST_EACH = 1_000
_SEPARATORS: dict[str | None, str] = {
    ";": "semicolon",
    ",": "comma",
    "|": "bar",
    "/": "slash",
    " ": "space",
    None: "none",
}


def number(card: Card, at: str) -> None:
    wide, *narrow, last = st.columns([2.2, 1, 1, 1, 1], vertical_alignment="bottom")
    wide.selectbox(
        say("data.card.usual_range"),
        list(RANGES),
        index=None,
        key=kept(f"{at}-range", same_range(card)),
        format_func=lambda one: say(f"data.range.{one}"),
        placeholder=say("data.card.own"),
        on_change=_take_range,
        args=(card, at),
    )
    for where, part in zip(narrow, _PARTS, strict=True):
        label, now = say(f"data.card.{part}"), getattr(card, part)
        told = {"help": say("data.card.step_help")} if part == "step" else {}
        now = number_field.kept(label, now, f"{at}-{part}", where, on_change=_own_range, args=(card, at), **told)
        setattr(card, part, now)
    card.measure = (
        last.text_input(
            say("data.card.measure"),
            key=kept(f"{at}-measure", card.measure),
            max_chars=LONGEST_MEASURE,
            placeholder="€, kg, min",
        )
        or ""
    ).strip()
    above = st.container()
    if finer := str(st.session_state.get(f"{at}-finer") or ""):
        label = say("data.card.finer", step=local(finer))
        above.button(label, key=f"{at}-finer-take", type="tertiary", on_click=_take_step, args=(at, finer))
    card.codes = (
        st.text_input(
            say("data.card.codes"),
            key=kept(f"{at}-codes", card.codes),
            max_chars=declare_codes.LONGEST,
            placeholder=say("data.card.codes_example"),
            help=say("data.card.codes_help", most=MOST_CODES),
            width=260,
        )
        or ""
    ).strip()
    if (found := declare_codes.reached(card.lower, card.upper, card.codes, card.usual)) is not None:
        above.html(f'<p class="warn" role="status">{escape(say("data.card.codes_hint", code=str(found)))}</p>')
    picked = st.radio(
        say("data.card.missing"),
        [False, True],
        key=kept(f"{at}-filled", card.filled),
        horizontal=True,
        format_func=lambda one: say("data.card.filled" if one else "data.card.left_out"),
        help=say("data.card.missing_help"),
    )
    card.filled = bool(picked)
    if card.filled:
        card.stand_in = number_field.kept(say("data.card.stand_in"), card.stand_in, f"{at}-stand-in", width=260)


def _own_range(card: Card, at: str) -> None:
    """The picker says which usual range this is, or that it is none. Who does not say how numbers are rounded sees how
    they would be; a range that becomes narrower takes its usual step along, or offers a finer one."""
    fields = [number_field.key_of(f"{at}-{part}") for part in _PARTS]
    if not held(*fields):
        return
    lower, upper, step = (as_typed(st.session_state[one] or "") for one in fields)
    before, now = usual_step(card.lower, card.upper), usual_step(lower, upper)
    finer = _finer(now, step) if before and _finer(now, before) else ""
    if not step.strip() or (finer and step == card.step == before):
        step, finer = now, ""
        st.session_state[number_field.key_of(f"{at}-step")] = local(step)
    elif (lower, upper) == (card.lower, card.upper):  # the step itself was typed
        finer = ""
    st.session_state[f"{at}-finer"] = finer
    st.session_state[f"{at}-range"] = same_range(replace(card, lower=lower, upper=upper, step=step))


def _finer(one: str, other: str) -> str:
    """The one step, where it is finer than the other."""
    try:
        return one if read_number(one, "") < read_number(other, "") else ""
    except AllowanceError:
        return ""


def _take_step(at: str, step: str) -> None:
    st.session_state[number_field.key_of(f"{at}-step")] = local(step)
    st.session_state[f"{at}-finer"] = ""


def usual_step(lower: str, upper: str) -> str:
    """To what numbers between these limits are usually rounded; nothing while they are no limits."""
    try:
        width = read_number(upper, "") - read_number(lower, "")
    except AllowanceError:
        return ""
    return text_of(round_step(width)) if width > 0 else ""


def same_range(card: Card) -> str | None:
    """Ranges of one width differ by their shape and by what they are of: only the one that was taken, or the only one
    that it can be, gives it a name."""
    typed = (card.lower, card.upper, card.step, card.shape)
    found = [key for key, usual in RANGES.items() if (usual.lower, usual.upper, usual.step, usual.shape) == typed]
    return card.usual if card.usual in found else found[0] if len(found) == 1 else None


def _take_range(card: Card, at: str) -> None:
    if not held(f"{at}-range"):
        return
    card.take_range(st.session_state[f"{at}-range"])
    card.agree()
    for part in _PARTS:
        st.session_state[number_field.key_of(f"{at}-{part}")] = local(getattr(card, part))
    st.session_state[f"{at}-measure"] = card.measure


def days(card: Card, at: str) -> None:
    wide, *narrow = st.columns([2.2, 1.5, 1.5], vertical_alignment="bottom")
    wide.selectbox(
        say("data.card.usual_days"),
        list(presets.DAYS),
        index=None,
        key=kept(f"{at}-days", _same_days(card)),
        format_func=_days_words,
        placeholder=say("data.card.own"),
        on_change=_take_days,
        args=(card, at),
    )
    for where, part in zip(narrow, ("first", "last"), strict=True):
        now = getattr(card, part)
        given = where.date_input(
            say(f"data.card.{part}"),
            None,
            _EARLIEST,
            _LATEST,
            format=day_format(),
            on_change=_own_days,
            args=(at,),
            key=kept(f"{at}-{part}", date.fromisoformat(now) if now else None),
        )
        setattr(card, part, given.isoformat() if given else "")
    card.order = st.radio(
        say("data.card.order"),
        list(ORDERS),
        index=None,
        key=kept(f"{at}-order", card.order),
        horizontal=True,
        format_func=lambda one: say(f"data.order.{one}"),
        help=say("data.card.order_help"),
    )


def _days_words(preset: str) -> str:
    first, last = presets.days(preset, date.today())
    return say(f"data.days.{preset}", first=str(first.year), last=str(last.year), month=f"{first:%Y-%m}")


def _same_days(card: Card) -> str | None:
    today = date.today()
    ends = {key: [day.isoformat() for day in presets.days(key, today)] for key in presets.DAYS}
    return next((key for key, both in ends.items() if both == [card.first, card.last]), None)


def _own_days(at: str) -> None:
    if not held(f"{at}-first", f"{at}-last"):
        return
    ends = [st.session_state[f"{at}-{part}"] for part in ("first", "last")]
    told = [day.isoformat() if day else "" for day in ends]
    st.session_state[f"{at}-days"] = _same_days(Card(first=told[0], last=told[1]))


def _take_days(card: Card, at: str) -> None:
    if not held(f"{at}-days"):
        return
    card.take_days(st.session_state[f"{at}-days"])
    card.agree()
    for part in ("first", "last"):
        now = getattr(card, part)
        st.session_state[f"{at}-{part}"] = date.fromisoformat(now) if now else None


def one_of(card: Card, at: str) -> None:
    choose(card, at, lambda: others(card, at, list(dict.fromkeys(card.values))))


def several(card: Card, at: str) -> None:
    choose(card, at, lambda: _sets(card, at))


def _sets(card: Card, at: str) -> None:
    options = list(_SEPARATORS) + [one for one in [card.separator] if one not in _SEPARATORS]
    card.separator = st.selectbox(
        say("data.card.separator"),
        options,
        key=kept(f"{at}-separator", card.separator),
        format_func=lambda one: (
            say(f"data.sign.{_SEPARATORS[one]}") if one in _SEPARATORS else say("words.quoted", text=one)
        ),
    )
    given = st.number_input(
        say("data.card.at_most"),
        1,
        MOST_EACH,
        None,
        1,
        key=kept(f"{at}-at-most", card.at_most),
        help=say("data.card.at_most_help"),
        placeholder=say("data.card.at_most_none"),
    )
    card.at_most = None if given is None else int(given)
    st.html(f'<p class="muted">{escape(say("data.card.items_means"))}</p>')


def yes_no(card: Card, at: str) -> None:
    yes, no = (spelling.spellings(YES_NO.table, one)[:8] for one in ("yes", "no"))
    told = say("data.card.yes_no", yes=yes, no=no)
    st.html(f'<p class="muted">{escape(told)}</p>')
    others(card, at, ["yes", "no"])


ASK = {"number": number, "date": days, "list": one_of, "items": several, "yes_no": yes_no}
