"""The Lessons page: an overview, and each lesson on one screen with one task. The address holds every setting.

A slider reruns only the lesson's fragment. Views are cached by their settings for all visitors.
"""

from __future__ import annotations

import secrets
from functools import cache
from html import escape
from importlib import import_module
from typing import Any
from urllib.parse import urlencode

import streamlit as st

from dpengine.messages import known, language, say
from dpengine.messages.numbers import setting
from ui.learn.lesson import Given, Lesson, Setting, View
from ui.shell import frame
from ui.shell.language import IN_ADDRESS, address, in_address, written
from ui.shell.style import sheet
from ui.words import gloss

# In teaching order, by the number in the catalogue (`lesson.<number>.…`): the name in the address and in the module
# `ui.learn.lesson_<name>`. Readers see a lesson's position in this list.
NAMES: dict[int, str] = {
    13: "linkage",
    1: "differencing",
    2: "averaging",
    3: "coin",
    4: "definition",
    5: "median",
    6: "dice",
    7: "film",
    8: "bells",
    9: "overfitting",
    10: "edges",
    11: "trust",
    12: "descent",
    14: "election",
    15: "rows",
}
STATE = "lessons"
HANDS = 8  # different draws of one picture among the people in a room


@cache
def lesson(number: int) -> Lesson:
    module_lesson: Lesson = import_module(f"ui.learn.lesson_{NAMES[number]}").LESSON
    return module_lesson


def show() -> None:
    frame.replace_meter(say("lessons.meter"))
    st.html(sheet("learn/lessons"))
    named = st.query_params.get("lesson")
    number = next((number for number, name in NAMES.items() if name == named), None)
    if number is None:
        overview()
    else:
        show_lesson(number)


def overview() -> None:
    lead = say("lessons.lead")
    st.html(f'<h1{written()}>{escape(say("lessons.title"))}</h1><p class="lead"{written()}>{escape(lead)}</p>')
    with st.container(gap="small"):
        first, *others = NAMES
        with st.container(key=f"card-lesson-{first}"):  # a wide first card: why this is needed
            picture, words = st.columns([3, 2], gap="large", vertical_alignment="center")
            with picture:
                _small(first)
            with words:
                _line(first)
                _to(first, _named(first), f"lesson-open-{first}", primary=True)
        for number, place in zip(others, frame.in_rows(len(others), 3), strict=True):
            with place, st.container(key=f"card-lesson-{number}", height="stretch"):
                _small(number)
                _line(number)
                _to(number, _named(number), f"lesson-open-{number}")


def _small(number: int) -> None:
    small = lesson(number).small
    st.html(f'<div class="lesson-small" aria-hidden="true">{small() if callable(small) else small}</div>')


def _line(number: int) -> None:
    st.html(f'<p class="lesson-line"{written()}>{escape(say(f"lesson.{number}.line"))}</p>')


def _named(number: int) -> str:
    return say("lessons.named", number=position(number), title=lesson(number).title)


def position(number: int) -> int:
    """The number of a lesson as readers see it, counted from 1."""
    return 1 + list(NAMES).index(number)


def lesson_query(number: int, **settings: str) -> dict[str, str]:
    return {"lesson": NAMES[number]} | settings


def show_lesson(number: int) -> None:
    _arrive(number)
    where = say("lessons.place", number=position(number), all=len(NAMES))
    st.html(f'<p class="crumb"{written()}>{escape(where)}</p><h1{written()}>{escape(lesson(number).title)}</h1>')
    with st.container(key=f"card-one-{number}"):
        _screen(number)
    with st.container(key="lesson-steps", horizontal=True):
        order, at = [0, *NAMES, 0], position(number)
        before, after = order[at - 1], order[at + 1]
        if before:
            _to(before, say("lessons.back"), "lesson-back")
        _to(0, say("lessons.all"), "lesson-all")
        if after:
            _to(after, say("lessons.next", title=lesson(after).title), "lesson-next", primary=True)


def _to(number: int, label: str, key: str, primary: bool = False) -> None:
    """Draw a button to another lesson: Streamlit does not change the address for a link to the current page."""
    wide: Any = "stretch" if key.startswith("lesson-open") else "content"
    kind: Any = "primary" if primary else "secondary"
    st.button(label, key=key, type=kind, width=wide, on_click=_go, args=(number,))


@st.fragment
def _screen(number: int) -> None:
    chosen = lesson(number)
    given = dict(_kept()["given"][number])
    do = say(f"lesson.{number}.do", **{name: setting(text) for name, text in given.items()})
    st.html(f'<p class="lesson-do"{written()}>{gloss.text(do)}</p>')
    given = _controls(chosen, given, more=False)
    below = st.container()
    with st.container(horizontal=True):
        if any(control.more for control in chosen.matters(given)):
            with st.popover(say("lessons.more")):
                given = _controls(chosen, given, more=True)
        copied = st.popover(say("lessons.copy"))
    _remember(number, given)
    with copied:
        st.html(f"<p{written()}>{escape(say('lessons.copy_help'))}</p>")
        st.code(_address(number, given), language=None)
    # The draw this visitor sees and keeps; neighbours in a room see different noise.
    hand = st.session_state.setdefault("lesson-hand", 1 + secrets.randbelow(HANDS)) if chosen.random else 0
    view = _view(number, language.get(), tuple(given.items()), hand)
    with below:
        chosen.draw(view)
        html = "".join(f'<p class="lesson-say"{written()}>{_kept_together(line)}</p>' for line in (view.one, view.two))
        st.html(f'<div role="status">{gloss.html(html)}</div>')
        with st.expander(say("lessons.theorem")):
            theorem = [escape(line) for line in view.theorem.split("\n")]
            notes = (("lessons.source", view.source), ("lessons.relation", view.relation))
            lines = [*theorem, *(f"<b>{escape(say(code))}</b> {escape(text)}" for code, text in notes)]
            st.html(gloss.html("".join(f"<p{written()}>{line}</p>" for line in lines)))
            if chosen.beside is not None:
                chosen.beside(view)


def _kept_together(line: str) -> str:
    """A line as HTML that does not break inside “50 %” or “ε = 1”."""
    return escape(line).replace(" %", "&nbsp;%").replace("ε = ", "ε&nbsp;=&nbsp;")


def _controls(chosen: Lesson, given: dict[str, str], more: bool) -> dict[str, str]:
    """Draw the controls in order, as an earlier choice may decide which others matter, and return the settings. Sliders
    stand two in a row."""
    places: list[Any] = []
    for control in chosen.settings:
        beside = [other for other in chosen.matters(given) if other.more == more]
        if control not in beside:
            continue
        place = st.container()
        if control.kind == "slider" and not more and sum(other.kind == "slider" for other in beside) > 1:
            places = places or list(st.columns(2))
            place = places.pop(0)
        with place:
            given = given | {control.name: _control(chosen, control, given[control.name])}
    return given


def _control(chosen: Lesson, control: Setting, value: str) -> str:
    label = say(f"lesson.{chosen.number}.set.{control.name}")
    key = f"lesson-{chosen.number}-{control.name}-{_kept()['turn']}"

    def named(choice: str) -> str:
        code = f"lesson.{chosen.number}.set.{control.name}.{choice}"
        return say(code) if known(code) else setting(choice)

    if control.kind == "again":
        st.button(label, key=key, on_click=_toss, args=(chosen.number, control))
        return value
    if control.kind == "choice":
        picked = st.segmented_control(label, control.choices, default=value, required=True, key=key, format_func=named)
        return str(picked or value)
    if control.kind == "switch":
        return control.choices[int(st.toggle(label, value == control.choices[1], key=key))]
    return str(st.select_slider(label, control.choices, value, key=key, format_func=named))


@st.cache_data(max_entries=3000, show_spinner=False)
def _view(number: int, lang: str, given: tuple[tuple[str, str], ...], hand: int) -> View:
    """The computed lesson. All visitors share this cache, by settings and language: the picture stays, and thirty
    people cost little."""
    return lesson(number).view(dict(given))


# --- the address ------------------------------------------------------------------------------------------------------


def _kept() -> dict[str, Any]:
    kept: dict[str, Any] = st.session_state.setdefault(STATE, {"turn": 0, "given": {}, "url": {}, "tossed": False})
    return kept


def _arrive(number: int) -> None:
    """Read the settings of a lesson from the address. Only a full run calls this: a fragment may see an old address."""
    kept = _kept()
    arriving = {name: text for name, text in dict(st.query_params).items() if name != IN_ADDRESS}
    if arriving != kept["url"] or number not in kept["given"]:
        kept["given"][number] = lesson(number).clean(arriving)
        kept["turn"] += 1  # new widgets, because a browser keeps old widget values
        kept["url"] = arriving


def _go(number: int) -> None:
    """Open another lesson, or the overview for 0."""
    address(lesson_query(number) | _kept()["given"].get(number, {}) if number else {}, again=True)


def _remember(number: int, given: Given) -> None:
    kept = _kept()
    if kept["given"][number] == given and not kept["tossed"]:
        return
    kept["given"][number], kept["tossed"] = dict(given), False
    kept["url"] = lesson_query(number) | dict(given)
    address(kept["url"], again=True)


def _toss(number: int, control: Setting) -> None:
    kept = _kept()
    given = kept["given"][number]
    place = (control.choices.index(given[control.name]) + 1) % len(control.choices)
    kept["given"][number], kept["tossed"] = given | {control.name: control.choices[place]}, True


def _address(number: int, given: Given) -> str:
    """The full address of this lesson with these settings, for a slide."""
    here: Any = st.context.url
    return f"{here or '/lessons'}?{urlencode(lesson_query(number) | dict(given) | in_address())}"
