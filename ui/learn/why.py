"""Differencing in three numbers, for the page Start: two harmless counts, and what their difference reveals."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

import streamlit as st

from demos.lessons import patients
from dpengine.messages import plain, say
from dpengine.messages.numbers import local
from ui.shell import nav
from ui.words.markup import p

if TYPE_CHECKING:
    from demos.lessons.differencing import Attack

_SEEN = "why-private"  # this visitor's private answers, until they ask again
_WANTED = "why-wanted"  # a click asked for new private answers


def show() -> None:
    person = patients.PERSON
    if st.session_state.pop(_WANTED, False):
        from demos.lessons import differencing as demo  # with the engine, which the first screen is without

        st.session_state[_SEEN] = demo.run(demo.Settings("noise"))  # the real mechanism; the patients are made up
    drawn: Attack | None = st.session_state.get(_SEEN)
    with st.container(key="card-why"):
        first, second = _exact(person) if drawn is None else drawn.pairs[-1]
        has = say("why.has" if second > first else "why.has_not") if drawn is None else say("why.nobody")
        boxes = (
            ("", say("why.box", edge=person - 1), plain(first)),
            ("", say("why.box", edge=person), plain(second)),
            ("out" if drawn is None else "hidden", say("why.so" if drawn is None else "why.and", person=person), has),
        )
        html = "".join(
            f'<div class="{kind}"><span>{escape(label)}</span><b>{out}</b></div>' for kind, label, out in boxes
        )
        lead = escape(say("why.exact" if drawn is None else "why.private"))
        below = ""
        if drawn is not None:
            below = p(say("why.chances", right=local(f"{100 * drawn.right:.1f}")), "muted")
        st.html(f'<p class="muted">{lead}</p><div class="why">{html}</div>{below}')
        with st.container(horizontal=True, vertical_alignment="center"):
            st.button(say("why.ask" if drawn is None else "why.again"), key="why-ask", on_click=_draw)
            if drawn is not None:
                st.button(say("why.back"), key="why-back", type="tertiary", on_click=_forget)
                from ui.learn import lesson_differencing, lessons

                number = lesson_differencing.NUMBER
                label = say("why.lesson", number=lessons.position(number))
                st.page_link(nav.page("lessons"), label=label, query_params=lessons.lesson_query(number, way="noise"))


def _exact(person: int) -> tuple[int, int]:
    return patients.with_diabetes(person - 1), patients.with_diabetes(person)


def _draw() -> None:
    st.session_state[_WANTED] = True


def _forget() -> None:
    st.session_state.pop(_SEEN, None)
