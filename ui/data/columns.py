"""The screen of columns: a line for each column, filled in from its name, and one open card at a time.

A guess from a column's name waits until the person recognises a sample cell. Sample cells come from public lists;
nothing here has seen the file. A click goes through a callback, and a card that a click changes gets fresh widgets.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import date
from decimal import Decimal
from functools import partial
from html import escape
from typing import Any

import streamlit as st

from dpengine.core.errors import AllowanceError
from dpengine.core.exact import as_typed, read_number, text_of
from dpengine.declared import spelling
from dpengine.declared.date_column import ORDERS
from dpengine.declared.dialect import Dialect
from dpengine.declared.schema import LONGEST_MEASURE, MOST_CODES, MOST_LISTED, Column, Number, round_step
from dpengine.declared.spelling import MISSING, normal
from dpengine.declared.unit import read_relation
from dpengine.intake import foreign
from dpengine.messages import plain, say
from dpengine.messages.numbers import local
from ui.data import draft as drafts
from ui.data import people, presets, price, reuse
from ui.data.draft import KEPT, KINDS, OUT, UNKNOWN, Card, Draft, column_of, listed, numbers_like, numbers_of
from ui.data.presets import LISTS, RANGES, YES_NO, Candidate
from ui.data.source import is_typed
from ui.data.wizard import DOT, complain, forward, heading, kept, onwards, problem, reconsider, tried
from ui.parts import job
from ui.parts.fields import details, kept_number, number_key, whole_number
from ui.shell import scroll
from ui.shell.frame import hint, paragraph
from ui.shell.incoming import here
from ui.shell.language import day_format
from ui.shell.state import held, workspace
from ui.shell.style import sheet
from ui.words.markup import bullets, first_names, p, unmarked

# --- a list of values: a usual one, typed or pasted, or from a public file, which stays on the server

LARGEST = 30 * 2**20
MOST_PICKED = 1_000  # values in a picker; from a longer list the person types one
SHOWN = 5  # values of a list from a file


def read_list(data: bytes) -> tuple[str, ...]:
    """The values in a file: one per line, with or without quotes. Empty lines are left out, and repeated values
    (ignoring case)."""
    if len(data) > LARGEST:
        raise AllowanceError("data.list.large", most=LARGEST // 2**20)
    encoding = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        raise AllowanceError("data.list.encoding") from None
    if "\0" in text:
        raise AllowanceError("data.list.encoding")
    found: dict[str, str] = {}
    for line in text.splitlines():
        bare = line.strip().rstrip(",;").strip()
        if len(bare) > 1 and bare[0] == bare[-1] == '"':
            bare = bare[1:-1].replace('""', '"').strip()
        if bare:
            found.setdefault(normal(bare), bare)
    if len(found) > MOST_LISTED:
        raise AllowanceError("data.list.many", most=MOST_LISTED)
    if len(found) < 2:
        raise AllowanceError("data.list.few")
    return tuple(found.values())


def choose_values(card: Card, at: str) -> None:
    """Draw the choice of a list: the usual lists on the left, the values on the right."""
    if card.brought:
        summary = say("data.list.brought", values=len(card.brought), source=card.source, first=card.brought[:SHOWN])
        paragraph(summary, "")
        card.public = st.checkbox(say("data.list.public"), key=kept(f"{at}-public-{card.uploads}", card.public))
        st.button(say("data.list.drop"), key=f"{at}-drop", on_click=_drop, args=(card,))
        _beside_values(card, at)
        return
    left, right = st.columns([1, 1], gap="medium")
    with right:
        code = "data.card.values_help" if card.kind == "list" else "data.card.values_help_items"
        words: Any = {"help": say(code), "placeholder": say("data.card.values_example")}
        key = kept(f"{at}-listed", card.listed)
        words |= {"on_change": _own, "args": (card, at)}
        card.listed = str(st.text_area(say("data.card.values"), key=key, height=170, **words))
        if card.kind != "items" and card.spellings:  # spellings that count besides those in the list
            many = len(spelling.spelling_places(card.spellings, card.values, ""))
            if many > len(card.values):
                paragraph(say("data.card.spelled", many=many))
        _file(card, at)
    with left:
        _usual(st, "list", list(LISTS), kept(f"{at}-preset", _same(card.listed)), _take, card, at)
        _beside_values(card, at)


def _beside_values(card: Card, at: str) -> None:
    if card.kind == "items":

        def words(sign: str | None) -> str:
            return say(f"data.sign.{_SEPARATORS[sign]}") if sign in _SEPARATORS else say("words.quoted", text=sign)

        options = list(dict.fromkeys([*_SEPARATORS, card.separator]))
        key = kept(f"{at}-separator", card.separator)
        card.separator = st.selectbox(say("data.card.separator"), options, format_func=words, key=key)
        label, key = say("data.card.at_most"), kept(f"{at}-at-most", card.at_most)
        notes: Any = {"help": say("data.card.at_most_help"), "placeholder": say("data.card.at_most_none")}
        card.at_most = whole_number(label, MOST_EACH, key, **notes)
        paragraph(say("data.card.items_means"))
    else:
        other_values(card, at, list(dict.fromkeys(card.values)))


def _usual(where: Any, part: str, options: list[str], key: str, take: Callable[..., None], card: Card, at: str) -> None:
    """Draw a picker of usual lists, ranges or days. `take` puts the picked one onto the card."""
    label, own = say(f"data.card.usual_{part}"), say("data.card.own")
    words = _days_words if part == "days" else lambda preset: say(f"data.{part}.{preset}")
    where.selectbox(label, options, None, words, key=key, placeholder=own, on_change=take, args=(card, at))


def _file(card: Card, at: str) -> None:
    with st.expander(say("data.list.title")):
        given = here.picker(say("data.list.file"), key=f"{at}-file-{card.uploads}")
        if given is None:
            return
        try:
            values = read_list(here.content(given, LARGEST))
        except AllowanceError as complaint:
            problem(str(complaint))
            return
        here.release(given)
        card.uploads += 1  # a fresh uploader, so the server drops its copy
        shown = "".join(sign for sign in str(given.name) if sign.isprintable())[-80:]
        card.brought, card.source, card.public = values, shown, False
        st.rerun()


def _drop(card: Card) -> None:
    card.brought, card.source, card.public = (), "", False


def other_values(card: Card, at: str, values: list[str]) -> None:
    """Draw the choice of what cells outside the list count as: a value of their own or, if the list is complete, a
    listed value."""

    def complete() -> None:
        card.complete = True  # the answer covers empty cells, too

    key, words = kept(f"{at}-closed", card.closed), {False: say("data.card.open"), True: say("data.card.closed")}
    label = say("data.card.others")
    card.closed = bool(st.radio(label, [*words], key=key, format_func=words.__getitem__, on_change=complete))
    if not card.closed or not values:
        return
    if len(values) > MOST_PICKED:
        card.goes_to = st.text_input(say("data.card.goes_to"), key=kept(f"{at}-goes-typed", card.goes_to)).strip()
        return
    key = f"{at}-goes-to"
    if st.session_state.get(key) not in values:  # new, or the list changed
        st.session_state[key] = card.goes_to if card.goes_to in values else values[0]
    card.goes_to = st.selectbox(say("data.card.goes_to"), values, key=key, help=say("data.card.goes_to_help"))


def _same(text: str) -> str | None:
    """The key of the usual list with exactly this text; None if there is none."""
    return next((key for key, usual in LISTS.items() if text.strip() == usual.text), None)


def _own(card: Card, at: str) -> None:
    """After a change of the typed list: mark the usual list that it equals, and drop the usual spellings if most values
    have others."""
    if not held(f"{at}-listed"):
        return
    text = st.session_state[f"{at}-listed"] or ""
    st.session_state[f"{at}-preset"] = _same(text)
    values = listed(text)[0]
    if 2 * sum(bool(spelling.spellings(card.spellings or MISSING, value)) for value in values) < len(values):
        card.spellings = MISSING


def _take(card: Card, at: str) -> None:
    if not held(f"{at}-preset"):
        return
    card.take_list(st.session_state[f"{at}-preset"])
    card.agree()
    st.session_state[f"{at}-listed"] = card.listed


# --- what a card asks, by kind

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
    _usual(wide, "range", list(RANGES), kept(f"{at}-range", same_range(card)), _take_range, card, at)
    for where, part in zip(narrow, _PARTS, strict=True):
        label, now = say(f"data.card.{part}"), getattr(card, part)
        options = {"help": say("data.card.step_help")} if part == "step" else {}
        now = kept_number(label, now, f"{at}-{part}", where, on_change=_own_range, args=(card, at), **options)
        setattr(card, part, now)
    label, key = say("data.card.measure"), kept(f"{at}-measure", card.measure)
    measure = last.text_input(label, key=key, max_chars=LONGEST_MEASURE, placeholder="€, kg, min")
    card.measure = measure.strip()
    above = st.container()
    if finer := str(st.session_state.get(f"{at}-finer") or ""):
        label = say("data.card.finer", step=local(finer))
        above.button(label, key=f"{at}-finer-take", type="tertiary", on_click=_take_step, args=(at, finer))
    label, key = say("data.card.codes"), kept(f"{at}-codes", card.codes)
    card.codes = str(st.session_state[key] or "").strip()  # as typed, or the usual ones of the range above
    card.propose_codes()
    st.session_state[key] = card.codes
    words: Any = {"placeholder": say("data.card.codes_example"), "help": say("data.card.codes_help", most=MOST_CODES)}
    card.codes = st.text_input(label, key=key, max_chars=drafts.LONGEST, width=260, **words).strip()
    if (found := drafts.codes_reached(card.lower, card.upper, card.codes, card.usual)) is not None:
        above.html(p(say("data.card.codes_hint", code=str(found)), "warn", "status"))
    treated = {False: say("data.card.left_out"), True: say("data.card.filled")}
    words = {"help": say("data.card.missing_help"), "format_func": treated.__getitem__, "horizontal": True}
    key = kept(f"{at}-filled", card.filled)
    card.filled = bool(st.radio(say("data.card.missing"), [*treated], key=key, **words))
    if card.filled:
        card.stand_in = kept_number(say("data.card.stand_in"), card.stand_in, f"{at}-stand-in", width=260)


def _own_range(card: Card, at: str) -> None:
    """After a change of a typed range: mark the usual range that it equals. An empty step is filled in with the usual
    step; after a narrower range, a finer usual step is filled in or offered."""
    fields = [number_key(f"{at}-{part}") for part in _PARTS]
    if not held(*fields):
        return
    lower, upper, step = (as_typed(st.session_state[key] or "") for key in fields)
    before, now = usual_step(card.lower, card.upper), usual_step(lower, upper)
    finer = _finer(now, step) if before and _finer(now, before) else ""
    if not step.strip() or (finer and step == card.step == before):
        step, finer = now, ""
        st.session_state[number_key(f"{at}-step")] = local(step)
    elif (lower, upper) == (card.lower, card.upper):  # the step itself was typed
        finer = ""
    st.session_state[f"{at}-finer"] = finer
    st.session_state[f"{at}-range"] = same_range(replace(card, lower=lower, upper=upper, step=step))


def _finer(step: str, other: str) -> str:
    """`step` if it is finer than `other`, else empty."""
    try:
        return step if read_number(step, "") < read_number(other, "") else ""
    except AllowanceError:
        return ""


def _take_step(at: str, step: str) -> None:
    st.session_state[number_key(f"{at}-step")] = local(step)
    st.session_state[f"{at}-finer"] = ""


def usual_step(lower: str, upper: str) -> str:
    """The usual rounding step between these limits; empty unless both are numbers and the lower one is smaller."""
    try:
        width = read_number(upper, "") - read_number(lower, "")
    except AllowanceError:
        return ""
    return text_of(round_step(width)) if width > 0 else ""


def same_range(card: Card) -> str | None:
    """The usual range with the limits and step on the card; None if there is none. If several have them, only the one
    that the person took."""
    typed = (card.lower, card.upper, card.step)
    found = [key for key, usual in RANGES.items() if (usual.lower, usual.upper, usual.step) == typed]
    return card.usual if card.usual in found else found[0] if len(found) == 1 else None


def _take_range(card: Card, at: str) -> None:
    if not held(f"{at}-range"):
        return
    card.take_range(st.session_state[f"{at}-range"])
    card.agree()
    for part in _PARTS:
        st.session_state[number_key(f"{at}-{part}")] = local(getattr(card, part))
    st.session_state[f"{at}-measure"] = card.measure


def days(card: Card, at: str) -> None:
    wide, *narrow = st.columns([2.2, 1.5, 1.5], vertical_alignment="bottom")
    _usual(wide, "days", list(presets.DAYS), kept(f"{at}-days", _same_days(card)), _take_days, card, at)
    for where, part in zip(narrow, ("first", "last"), strict=True):
        now = getattr(card, part)
        key = kept(f"{at}-{part}", date.fromisoformat(now) if now else None)
        limits: dict[str, Any] = {"format": day_format(), "on_change": _own_days, "args": (at,)}
        given = where.date_input(say(f"data.card.{part}"), None, _EARLIEST, _LATEST, key=key, **limits)
        setattr(card, part, given.isoformat() if given else "")
    words: Any = {"help": say("data.card.order_help"), "format_func": lambda order: say(f"data.order.{order}")}
    key = kept(f"{at}-order", card.order)
    card.order = st.radio(say("data.card.order"), list(ORDERS), None, key=key, horizontal=True, **words)


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
    first, last = (day.isoformat() if day else "" for day in ends)
    st.session_state[f"{at}-days"] = _same_days(Card(first=first, last=last))


def _take_days(card: Card, at: str) -> None:
    if not held(f"{at}-days"):
        return
    card.take_days(st.session_state[f"{at}-days"])
    card.agree()
    for part in ("first", "last"):
        now = getattr(card, part)
        st.session_state[f"{at}-{part}"] = date.fromisoformat(now) if now else None


def yes_no(card: Card, at: str) -> None:
    yes, no = (spelling.spellings(YES_NO.table, value)[:8] for value in ("yes", "no"))
    paragraph(say("data.card.yes_no", yes=yes, no=no))
    other_values(card, at, ["yes", "no"])


ASK = {"number": number, "date": days, "list": choose_values, "items": choose_values, "yes_no": yes_no}


# --- one column on one line: its name, what it holds, the error of answers, its state


def at(draft: Draft, name: str) -> str:
    """The beginning of the keys of a column's widgets."""
    return f"{draft.mark}-{draft.names.index(name)}"


_CAME = "declare-came"
LINES_SHOWN = 2  # cells on a line; the open card has all
PENCIL = ":material/edit:"  # in place of a word that would stand on every line; its label is read aloud
_COMMA = str.maketrans(".", ",")


def cells(reading: Candidate, dialect: Dialect) -> list[str]:
    """The sample cells of a reading, written as this file writes its cells."""
    decimal = reading.kind == "number" and dialect.decimal == ","
    return [like.translate(_COMMA) if decimal else like for like in reading.like]


# --- what a click does


def fresh_line(draft: Draft, name: str) -> None:
    """Forget the widgets of a column's line, so that they are drawn anew from the card."""
    start = f"{at(draft, name)}-"
    for key in [key for key in st.session_state if str(key).startswith(start)]:
        del st.session_state[key]


def open_card(draft: Draft, name: str | None) -> None:
    draft.opened, draft.pressed = name, False
    if name is not None:
        draft.remember(name)


def come_to(draft: Draft, name: str) -> None:
    """Open the card of a column that the visitor came for, in view."""
    open_card(draft, name)
    st.session_state[_CAME] = name


def use(draft: Draft, name: str) -> None:
    """Stop leaving a column out, and open its card in view. Its contents are unknown until they are declared or
    bought."""
    come_to(draft, name)
    draft.card(name).kind = UNKNOWN
    fresh_line(draft, name)


def take(draft: Draft, name: str, reading: Candidate) -> None:
    """Take a reading for a column, because the person recognised its sample cell. The card opens if something is still
    missing."""
    draft.remember(name)
    draft.card(name).take(reading)
    fresh_line(draft, name)
    if draft.state(name) == "waits":
        open_card(draft, name)
    elif draft.opened == name:
        open_card(draft, None)


def agree(draft: Draft, names: list[str]) -> None:
    for name in names:
        draft.remember(name)
        draft.card(name).take(draft.card(name).candidates[0])
        fresh_line(draft, name)


def leave(draft: Draft, names: list[str]) -> None:
    """Leave these columns out. Their guesses stay on the cards, for later."""
    for name in names:
        draft.remember(name)
        draft.card(name).kind = OUT
        draft.card(name).agree()
        fresh_line(draft, name)


def undo(draft: Draft, name: str) -> None:
    draft.undo(name)
    fresh_line(draft, name)


def _settle(draft: Draft, name: str) -> None:
    """Accept the open card and open the next unsettled one."""
    draft.card(name).agree()
    draft.pressed = True
    if draft.state(name) not in ("waits", "guess"):
        draft.choose()
        open_card(draft, next((other for other in draft.waiting if not draft.card(other).candidates), None))


def line(draft: Draft, name: str, yes: bool = True) -> None:
    """Draw a column's line. Without `yes` a guess with a single reading has no button here: one button below confirms
    all such guesses."""
    card, state, key = draft.card(name), draft.state(name), at(draft, name)
    with st.container(key=f"line-{draft.names.index(name)}", horizontal=True, vertical_alignment="center", gap="small"):
        asks = state == "guess" and bool(card.candidates)
        st.html(_line_html(draft, name, state, asks))
        if asks:
            several = len(card.candidates) > 1
            for place, reading in enumerate(card.candidates if several or yes else ()):
                label = _like(reading, draft.dialect) if several else say("data.line.yes")
                st.button(label, key=f"{key}-like-{place}", on_click=take, args=(draft, name, reading))
        if draft.can_undo(name) and not asks:
            st.button(say("data.line.undo"), key=f"{key}-undo", type="tertiary", on_click=undo, args=(draft, name))
        label = say(f"data.line.open_{'guess' if asks else state}")
        opens = use if state == OUT else open_card
        icon = None if state in (OUT, "waits") else PENCIL
        st.button(label, key=f"{key}-open", type="tertiary", icon=icon, on_click=opens, args=(draft, name))


def untouched(draft: Draft, name: str) -> bool:
    """Was the column left out from the start, so that the page needs only its name?"""
    return draft.step == "cards" and draft.state(name) == OUT and not draft.can_undo(name)


def left_out(draft: Draft, names: list[str]) -> None:
    """Draw the columns that are left out. Each has its three likely readings, one tap away; its name opens its card."""
    with st.container(key="lines-out", gap=None):
        paragraph(say("data.cards.left_out"))
        for name in names:
            key, place = at(draft, name), draft.names.index(name)
            with st.container(key=f"out-{place}", horizontal=True, vertical_alignment="center", gap="small"):
                st.button(unmarked(name), key=f"{key}-open", type="tertiary", on_click=use, args=(draft, name))
                for number, reading in enumerate({in_short(one): one for one in presets.likely(name)}.values()):
                    given = (draft, name, reading)
                    st.button(in_short(reading), key=f"{key}-likely-{number}", on_click=take, args=given)


def _like(reading: Candidate, dialect: Dialect) -> str:
    """The label of a reading: a sample cell, or a few of the file's labels; a number with its range, as “4 (1–5)”."""
    cell = unmarked(plain(cells(reading, dialect)[: LINES_SHOWN if reading.lines else 1]))
    return f"{cell} ({in_short(reading)})" if reading.kind == "number" else cell


def in_short(reading: Candidate) -> str:
    """A reading in a few signs, such as “1–5”, “yes/no”, “M, F”, “Monday…” or “list…”."""
    if reading.kind == "yes_no":
        return say("data.kind.yes_no")
    if (usual := presets.RANGES.get(reading.preset or "")) is not None:
        grouped = "" if int(float(usual.lower)) >= 1_000 else ","  # years have no thousands sign
        lower, upper = (local(f"{Decimal(end):{grouped}f}") for end in (usual.lower, usual.upper))
        return unmarked(f"{lower}–{upper} {usual.measure}".strip())
    if reading.ends is not None:
        return unmarked("–".join(map(local, reading.ends)))
    if not reading.like:
        return say(f"data.line.{reading.kind}")
    words = LISTS.get(reading.preset or "")
    if words is not None and len(words.values) == 2:  # both fit
        return ", ".join(map(unmarked, words.samples[:2]))
    return f"{unmarked(reading.like[0])}…"


def _line_html(draft: Draft, name: str, state: str, asks: bool) -> str:
    card = draft.card(name)
    words, off = say(f"data.line.{state}_means"), ""
    if state == "settled" or asks:
        try:
            column = column_of(card, draft.dialect)
            words = price.short_words(column)
            if not asks:
                off = _off(draft, name, column)
        except AllowanceError:
            pass
    shown = escape(words)
    if asks and len(card.candidates) == 1:
        column = column_of(card, draft.dialect)
        spelled = price.also(column)  # so nobody opens the card because the file spells values differently
        like = f"{plain(spelled)} …" if spelled else plain(cells(card.candidates[0], draft.dialect)[:LINES_SHOWN])
        off = _off(draft, name, column, alone=False) if isinstance(column, Number) else ""
        brief = price.briefly(column)
        whole = not spelled and price.all_shown(column)  # the line shows all its cells already
        pieces = [
            f"<b>{escape(brief if whole else like)}</b>",
            "" if whole else escape(brief),
            f'<span class="off">{off}</span>' if off else "",
        ]
        shown = DOT.join(filter(None, pieces))
    elif asks and card.kind == "date":
        column = column_of(replace(card, order=card.candidates[0].order), draft.dialect)  # any order has the same days
        shown = escape(say("data.line.which_day", days=price.short_words(column)))
    elif asks:
        shown = escape(say("data.line.which"))
    if asks:
        return f'<div class="line {state} asks"><b>{escape(name)}</b><span class="says">{shown}</span></div>'
    kind = say(f"data.kind.{card.kind}") if state in ("settled", "guess", "waits") else ""
    parts = f'<b>{escape(name)}</b><span class="what">{escape(kind)}</span><span class="says">{shown}</span>'
    tag = escape(say(f"data.state.{state}"))
    return f'<div class="line {state}">{parts}<span class="off">{off}</span><span class="tag">{tag}</span></div>'


def _off(draft: Draft, name: str, column: Column, alone: bool = True) -> str:
    """HTML: how far off the first answer about the column will be, with a warning if that exceeds a usual value and no
    paid check covers the range. Empty until the number of people is stated, on which the error depends, and if not
    `alone` also where there is nothing to warn of."""
    if len(draft.sizes) > 1:
        return ""
    facts = drafts.unit(draft), read_relation(draft.relation), draft.sizes, drafts.allowance(draft)
    usual = presets.RANGES.get(draft.card(name).usual or "")
    checked = draft.checked.get(name) == column
    wide = "" if usual is None or checked else price.too_wide(column, usual, *facts)
    if not (wide or alone):
        return ""
    warned = f' <span class="wide" role="status">{escape(wide)}</span>' if wide else ""
    return escape(price.short(column, *facts)) + warned


def card_of(draft: Draft, name: str) -> None:
    card, key = draft.card(name), at(draft, name)
    with st.container(key=f"open-{draft.names.index(name)}"):
        came = st.session_state.pop(_CAME, None) == name
        st.html(f'<h2 class="arrived" tabindex="-1">{escape(name)}</h2>' if came else f"<h2>{escape(name)}</h2>")
        if came:
            scroll.show()
        if card.candidates:
            # A button for each reading of the name, with sample cells.
            paragraph(say("data.card.which"))
            with st.container(horizontal=True, gap="small"):
                for place, reading in enumerate(card.candidates):
                    label = unmarked(plain(cells(reading, draft.dialect)))
                    st.button(label, key=f"{key}-like-{place}", on_click=take, args=(draft, name, reading))
        card.kind = st.segmented_control(
            say("data.card.kind"),
            [*KINDS, *([KEPT] if card.kept else []), UNKNOWN, OUT],
            key=kept(f"{key}-kind", card.kind),
            format_func=lambda kind: say(f"data.kind.{kind}"),
            required=True,
        )
        if card.kind in (UNKNOWN, OUT):
            below = card.kind == UNKNOWN and draft.step == "change"
            paragraph(say("data.card.unknown_below" if below else f"data.card.{card.kind}"), "price")
        else:
            if card.kind in ("number", "date"):
                paragraph(say("data.card.limits"))
            if card.kind in ASK:
                ASK[card.kind](card, key)
            _worth(draft, name)
        with st.container(horizontal=True, gap="small"):
            done = say("data.card.right" if card.kind not in (UNKNOWN, OUT) else "data.card.close")
            right = st.button(done, key=f"{key}-right", type="primary")
            if draft.can_undo(name):
                st.button(say("data.line.undo"), key=f"{key}-undo", on_click=undo, args=(draft, name))
        if right:  # no callback: what the click itself sent from a field is on the card only now
            _settle(draft, name)
            st.rerun()


def _worth(draft: Draft, name: str) -> None:
    card = draft.card(name)
    try:
        column = column_of(card, draft.dialect)
    except AllowanceError as complaint:
        if not card.blank or draft.pressed:
            problem(str(complaint))
        return
    facts = drafts.unit(draft), read_relation(draft.relation), draft.sizes, drafts.allowance(draft)
    paragraph(price.of_column(column, *facts), "price")


# --- a code book pasted from a spreadsheet fills many columns: each row has a column, a value and its label
#
# Tabs, semicolons or commas separate cells. A row of headings is skipped; a blank column name (as merged cells paste)
# repeats the last one. A preview comes first, and each column can be undone.

LONGEST = 1_000_000  # characters
_HEADINGS = "column columns variable field name attribute stolpec spremenljivka polje ime spalte variable_name".split()
CODES_SHOWN = 4


@dataclass
class Codebook:
    columns: dict[str, str] = field(default_factory=dict)  # by column, its list as a card takes it
    strangers: list[str] = field(default_factory=list)  # columns that the file does not have
    odd: list[str] = field(default_factory=list)  # columns with values that a list cannot hold


def read_codebook(text: str, names: list[str]) -> Codebook:
    """A pasted code book, read for the columns of these names."""
    if len(text) > LONGEST:
        raise AllowanceError("data.codebook.long", most=LONGEST)
    found, known = Codebook(), {normal(name): name for name in reversed(names)}
    values: dict[str, dict[str, list[str]]] = {}
    column = ""
    for place, row in enumerate(_rows(text)):
        first = row[0] or column
        if place == 0 and normal(first) in _HEADINGS and normal(first) not in known:
            continue
        if not first or len(row) < 2 or not row[1]:
            raise AllowanceError("data.codebook.form")
        column = first
        label = row[2] if len(row) > 2 and row[2] else row[1]
        values.setdefault(column, {}).setdefault(label, []).append(row[1])
    if not values:
        raise AllowanceError("data.codebook.form")
    for column, labels in values.items():
        if normal(column) not in known:
            found.strangers.append(column)
            continue
        listing = _listed(labels)
        if listing is None:
            found.odd.append(column)
        else:
            found.columns[known[normal(column)]] = listing
    return found


def _rows(text: str) -> list[list[str]]:
    rows = [line for line in text.splitlines() if line.strip()]
    sign = next((sign for sign in "\t;" if sum(sign in line for line in rows) * 2 > len(rows)), ",")
    try:
        return [[cell.strip() for cell in row] for row in csv.reader(io.StringIO("\n".join(rows)), delimiter=sign)]
    except csv.Error:
        raise AllowanceError("data.codebook.form") from None


def _listed(labels: dict[str, list[str]]) -> str | None:
    """The labels as lines of a list, each with its codes; None if a card would read these lines differently."""
    codes = {code: label for label, given in labels.items() for code in given if normal(code) != normal(label)}
    lines = []
    for label, given in labels.items():
        others = [code for code in given if normal(code) != normal(label)]
        lines.append(" = ".join([label, ", ".join(others)]) if others else label)
    text = "\n".join(lines)
    try:
        if len(lines) < 2 or listed(text) != (list(labels), codes):
            return None
        column_of(Card("list", listed=text), Dialect())
    except AllowanceError:
        return None
    return text


def offer_codebook(draft: Draft) -> None:
    with details(say("data.codebook.title"), f"{draft.mark}-codebook-open") as opened:
        if not opened:
            return
        key = f"{draft.mark}-codebook"
        _bring_book(draft, key)
        paragraph(say("data.codebook.lead"))
        text = st.text_area(say("data.codebook.label"), key=key, height=150, placeholder=say("data.codebook.example"))
        if not (text or "").strip():
            return
        try:
            found = read_codebook(text, draft.offered)
        except AllowanceError as complaint:
            problem(str(complaint))
            return
        _preview(found)
        cards = {
            name: Card("list", listed=listing, spellings=MISSING, candidates=draft.card(name).candidates)
            for name, listing in found.columns.items()
        }
        _fill_button(draft, cards, key, f"{key}-fill")


def _bring_book(draft: Draft, key: str) -> None:
    """Draw a field for a file with a code book: a sheet about columns, or a statistics file, whose rows are not
    read."""
    waiting, refused = f"{key}-brought", f"{key}-refused"
    given = here.picker(say("data.codebook.file"), key=f"{key}-file-{draft.uploads}")
    if given is not None:
        draft.uploads += 1
        path = None
        try:
            path = here.take(given, workspace().folder / "tmp", LARGEST)
            st.session_state[waiting] = foreign.read_book(path, Dialect())
        except AllowanceError as complaint:
            st.session_state[refused] = str(complaint)
        finally:
            here.forget(path)
        st.rerun()
    if (sentence := st.session_state.pop(refused, "")) != "":
        problem(str(sentence))
    book: list[foreign.CodedColumn] = st.session_state.get(waiting, [])
    if not book:
        return
    cards, strangers = _from_book(draft, book)
    items = [
        say("data.codebook.one", column=name, many=len(values), first=plain(values[:CODES_SHOWN]))
        if (values := listed(card.listed)[0])
        else say("data.codebook.missing", column=name, codes=card.codes)
        for name, card in cards.items()
    ]
    if strangers:
        items.append(say("data.codebook.strangers", columns=strangers[:CODES_SHOWN], many=len(strangers)))
    st.html(bullets(items))
    _fill_button(draft, cards, waiting, f"{key}-take")


def _from_book(draft: Draft, book: list[foreign.CodedColumn]) -> tuple[dict[str, Card], list[str]]:
    """The card of each column that the book says something about, as a guess; and names that the file does not have."""
    known = {normal(name): name for name in reversed(draft.offered)}
    cards, strangers = dict[str, Card](), list[str]()
    for entry in book:
        name = known.get(normal(entry.name)) or known.get(normal(entry.label))
        if name is None:
            strangers.append(entry.name)
        elif entry.values or entry.missing:
            card = Card.for_name(name, draft.names)
            card.coded(entry, draft.dialect)
            if card.waits_for_yes and (card.listed or card.codes):
                cards[name] = card
    return cards, strangers


def _fill_button(draft: Draft, cards: dict[str, Card], place: str, key: str) -> None:
    """Draw a button that fills these cards from a code book, which the session holds under `place`."""
    label = say("data.codebook.fill", many=len(cards))
    st.button(label, key=key, on_click=_fill, args=(draft, cards, place), disabled=not cards, type="primary")


def _fill(draft: Draft, cards: dict[str, Card], place: str) -> None:
    for name, card in cards.items():
        draft.remember(name)
        before = draft.card(name)
        draft.cards[name] = replace(card, uploads=before.uploads, kept=before.kept)
        fresh_line(draft, name)
    draft.opened = None
    st.session_state[place] = ""


def _preview(found: Codebook) -> None:
    items = []
    for name, text in found.columns.items():
        values = listed(text)[0]
        first = plain([*values[:CODES_SHOWN], *(["…"] if len(values) > CODES_SHOWN else [])])
        items.append(say("data.codebook.one", column=name, many=len(values), first=first))
    if found.strangers:
        items.append(say("data.codebook.strangers", columns=found.strangers[:CODES_SHOWN], many=len(found.strangers)))
    if found.odd:
        items.append(say("data.codebook.odd", columns=found.odd[:CODES_SHOWN]))
    st.html(bullets(items))


# --- the screen

MOST_LINES = 40  # on one screen
MOST_NAMED = 8  # columns in a sentence


def describe(draft: Draft) -> None:
    with suppress(AllowanceError):  # no column is known yet
        people.suggest(draft)  # the lines show errors at this allowance
    guessed = any(card.candidates or card.guess for card in map(draft.card, draft.offered))
    lead = "lead_book" if draft.book else "lead" if guessed else "lead_none"
    heading("data.cards", part=lead)
    reuse.show_differences(draft)
    _written(draft)
    shown = cards(draft)
    waits, single, closed = draft.waiting, alike(draft, shown), draft.opened is None
    rest = [name for name in waits if name not in single]
    # One button confirms every guess with a single reading and leaves out those that nobody has settled or touched.
    guesses = all(draft.state(name) == "guess" and not draft.can_undo(name) for name in rest)
    settles = guesses and len(rest) < len(draft.chosen) and (closed or not rest)
    if settles and rest:
        paragraph(say("data.cards.open_left", columns=first_names(rest, MOST_NAMED)))
    else:
        _unnamed(draft, [] if settles else waits)

    def check() -> None:
        if settles:
            agree(draft, single)
            leave(draft, rest)
        settled(draft)

    if not draft.chosen and draft.complaint is None:
        paragraph(say("data.cards.choose"))
    if settles and closed and (adds := people.at_once(draft)):
        _last(draft, check, adds, bool(single))
        return
    if settles and waits:  # for all, and on
        gone = onwards(draft, check, "data.lines.agree_on" if closed else "data.lines.agree_all", first=closed)
    else:
        code = "data.cards.next" if waits else "data.next"
        before = partial(_agree, draft, single) if len(single) > 1 else None
        gone = onwards(draft, check, code, not waits and closed, before, waits=len(waits))
    if gone:
        forward(draft)


def _written(draft: Draft) -> None:
    """Say how numbers are read if a comma may be a decimal sign: the person may have skipped the screen of names."""
    if draft.path is None or is_typed(draft.path) or draft.dialect.separator == ",":
        return
    with st.container(horizontal=True, vertical_alignment="center", key="lines-written"):
        paragraph(say("data.cards.written", example=numbers_like(numbers_of(draft.dialect))), width="content")
        if st.button(say("data.cards.otherwise"), key=f"{draft.mark}-otherwise", type="tertiary"):
            draft.go("names")
            st.rerun()


def _last(draft: Draft, check: Callable[[], None], adds: str, one_yes: bool) -> None:
    """Draw the end of the page when nothing else must be decided: a button that adds the table with the usual
    allowance, and one that goes on to choose an allowance."""
    if advice := people.scarce(draft, drafts.budget(draft)):
        hint(advice)
    with st.container(key="declare-adds", horizontal=True, vertical_alignment="center", gap="small"):
        paragraph(adds, "price", width="content")
        other = st.button(say("data.cards.care"), key="declare-next-cards", type="tertiary", icon=PENCIL)
    if onwards(draft, check, "data.cards.agree_add" if one_yes else "data.add", key="declare-add-now"):
        draft.opened = None
        people.add(draft)
    if other and tried(draft, check):
        forward(draft)


def _unnamed(draft: Draft, waits: list[str]) -> None:
    """Draw how many columns have unknown contents, and a button that leaves out the unsettled ones."""
    if draft.unknown:
        paragraph(say("data.cards.to_find", many=len(draft.unknown)))
    if waits and len(waits) < len(draft.chosen):
        with st.container(key="lines-wait", horizontal=True, vertical_alignment="center"):
            paragraph(say("data.cards.waiting", many=len(waits), columns=first_names(waits, MOST_NAMED)))
            label = say("data.cards.leave", many=len(waits))
            st.button(label, key=f"{draft.mark}-leave", on_click=leave, args=(draft, waits))


def settled(draft: Draft) -> None:
    """Refuse unless every column that is not left out can be used."""
    draft.choose()
    if not draft.chosen:
        raise AllowanceError("data.cards.none")
    try:
        drafts.schema(draft)
    except AllowanceError as complaint:  # shown at its card
        if complaint.code == "schema.empty":
            raise AllowanceError("data.cards.all_unknown") if draft.unknown else complaint from None
        if complaint.code == "data.cards.pending":
            raise
        waits = draft.waiting
        if waits and draft.opened not in waits:
            draft.opened = waits[0]
        raise AllowanceError("data.cards.mend") from None


def cards(draft: Draft) -> list[str]:
    """Draw the columns of this screen, and return their names."""
    st.html(sheet("data/lines"))
    draft.choose()
    shown = _shown(draft)
    single = alike(draft, shown)
    asked_below = draft.step == "cards" and (len(single) > 1 or len(single) == len(draft.waiting))
    _mended(draft)
    # The first unsettled column, if the complaint is about those: it is shown above that line.
    pending = isinstance(draft.complaint, AllowanceError) and draft.complaint.code == "data.cards.pending"
    first = next(iter(draft.waiting), None) if pending else None
    with st.container(key="card-lines"):
        out = [name for name in shown if name != draft.opened and untouched(draft, name)]
        for name in (name for name in shown if name not in out):
            if name == first:
                complain(draft)
            if name == draft.opened:
                card_of(draft, name)
            else:
                line(draft, name, yes=not (asked_below and name in single))
        if out:
            left_out(draft, out)
    draft.choose()
    offer_codebook(draft)
    _mended(draft)
    if first not in shown:
        complain(draft)
    return shown


def _mended(draft: Draft) -> None:
    reconsider(draft, lambda: settled(draft), "data.cards.", "schema.empty")


def _shown(draft: Draft) -> list[str]:
    """The columns on this screen: all, or a screenful of many."""
    names = draft.offered
    if len(names) <= MOST_LINES:
        return names
    starts, many = range(0, len(names), MOST_LINES), len(names)
    words = {at: say("data.lines.some", first=at + 1, last=min(at + MOST_LINES, many), of=many) for at in starts}
    label, key = say("data.lines.screen"), f"{draft.mark}-screen"
    picked = st.selectbox(label, [*words], format_func=words.__getitem__, key=key, width=320)
    return names[picked : picked + MOST_LINES]


def alike(draft: Draft, shown: list[str]) -> list[str]:
    """The columns whose guess has a single reading. One button confirms all of them, as their lines show the sample
    cells."""
    return [name for name in shown if draft.state(name) == "guess" and len(draft.card(name).candidates) == 1]


def _agree(draft: Draft, single: list[str]) -> None:
    label = say("data.lines.agree", many=len(single))
    kind = job.PRIMARY if draft.opened is None else job.SECONDARY
    st.button(label, key=f"{draft.mark}-agree", type=kind, on_click=agree, args=(draft, single))
