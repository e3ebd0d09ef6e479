"""How accurate an answer will be, before anything is asked; and links to a question.

The picture shows the width of the error bar, from public facts alone. It is grey, with bars of one length, no names, no
axis and no figures of the table, so that nobody takes it for a result. Plain boxes: Streamlit removes drawings from
its HTML.
"""

from __future__ import annotations

import json
from fractions import Fraction
from html import escape

import streamlit as st

import dpengine as dp
from dpengine.core.printed import two_figures
from dpengine.mechanisms.card import CURVES
from dpengine.mechanisms.promises import Within
from dpengine.messages import say
from dpengine.planning.alternatives import curve_alternative
from dpengine.planning.both_ranges import BothRanges, both_ranges
from ui.ask import averages, form_state, trusted
from ui.parts import job
from ui.shell import nav
from ui.shell.frame import paragraph
from ui.shell.language import in_address
from ui.words import gloss
from ui.words.markup import p
from ui.words.wording import from_zero

MOST_BARS = 5
_BAR = 50.0  # percent of the picture
_SIDE = 15  # percent of the picture, left free beside a range
_ENDS = (f"left:{_SIDE}%;transform:translateX(-50%)", f"right:{_SIDE}%;transform:translateX(50%)")


def error_bars(many: int, share: float, alt: str) -> str:
    """HTML: bars of one length, each with an error bar that reaches `share` of the bar's length to either side."""
    return _picture(_bar(share) * min(many, MOST_BARS), alt)


def error_ranges(many: int, ends: tuple[str, str], alt: str) -> str:
    """HTML: figures on an axis of their own. Each has an error bar over most of the picture, whose ends are named
    above."""
    placed = zip(_ENDS, ends, strict=True)
    labels = "".join(f"<span style='position:absolute;{place}'>{escape(end)}</span>" for place, end in placed)
    labels = f"<div style='position:relative;height:1.6em;color:var(--muted)'>{labels}</div>"
    return _picture(labels + _range() * min(many, MOST_BARS), alt)


def error_line(share: float, alt: str) -> str:
    """HTML: a rising line in a band that reaches `share` of half the picture's height to either side."""
    reach = min(share, 1.0) * 50
    band = f"<div style='position:absolute;inset:0;background:var(--line);clip-path:{_slope(reach)}'></div>"
    middle = f"<div style='position:absolute;inset:0;background:var(--muted);clip-path:{_slope(0.8)}'></div>"
    return _picture(f"<div style='position:relative;height:150px'>{band}{middle}</div>", alt)


def _slope(reach: float) -> str:
    """CSS for a band from low left to high right, `reach` percent to either side."""
    return f"polygon(0 {80 - reach:.1f}%, 100% {20 - reach:.1f}%, 100% {20 + reach:.1f}%, 0 {80 + reach:.1f}%)"


def _range() -> str:
    place = f"position:absolute;left:{_SIDE}%;right:{_SIDE}%"
    return (
        "<div style='position:relative;height:24px;margin:2px 0 10px'>"
        f"<div style='{place};height:100%;background:var(--line);opacity:.6'></div>"
        f"<div style='{place};top:11px;height:0;border-top:2.5px solid var(--muted)'></div>"
        f"<div style='{place};top:4px;height:16px;border:solid var(--muted);border-width:0 2.5px'></div></div>"
    )


def _bar(share: float) -> str:
    low, high = _BAR - share * _BAR, _BAR + share * _BAR
    ends = ""
    if low >= 0:  # one that runs out of the picture has no end there
        ends += "border-left:2.5px solid var(--muted);"
    if high <= 100:
        ends += "border-right:2.5px solid var(--muted);"
    left, wide = max(low, 0.0), min(high, 100.0) - max(low, 0.0)
    place = f"position:absolute;left:{left:.2f}%;width:{wide:.2f}%"
    return (
        "<div style='position:relative;height:24px;margin:10px 0'>"
        f"<div style='position:absolute;left:0;width:{_BAR}%;height:100%;background:var(--line);opacity:.6;"
        "border:1px dashed var(--muted)'></div>"
        f"<div style='{place};top:11px;height:0;border-top:2.5px solid var(--muted)'></div>"
        f"<div style='{place};top:4px;height:16px;{ends}'></div></div>"
    )


def _picture(drawn: str, alt: str) -> str:
    return f'<div class="error-bar" role="img" aria-label="{escape(alt)}" style="max-width:30rem">{drawn}</div>'


def heading(query: dp.Query | None) -> None:
    """Draw the title of the preview, and a sentence that the preview is no answer."""
    title, lead = "preview.title", "preview.lead"
    if query is None:
        lead = "preview.none"
    elif query.answer_kind == "label":
        title, lead = "preview.title_name", "preview.lead_name"
    st.html(f'<p><b>{escape(say(title))}</b></p><p class="muted">{gloss.text(say(lead))}</p>')


def show(query: dp.Query) -> None:
    """Draw the preview: grey ranges for numbers, grey bars for counts, a grey band for a curve; no error bar for a
    name."""
    promise, many, written = query.promise(), max(len(query.labels()), 1), False
    share = float(promise.amount / (4 * query.coarse()))
    error = promise.short(query)
    if query.answer_kind in (*CURVES, "density"):
        words = say("preview.band", promise=error)
        picture = error_line(share, words)
    elif query.answer_kind == "label":
        words = say("preview.name" if query.names_ordered else "preview.names", promise=error)
        picture = ""
    else:
        words = say("preview.one" if many == 1 else "preview.several", promise=error, many=many)
        ends = promise.ends(query) if many == 1 or not from_zero(query) else None
        picture = error_bars(many, share, words) if ends is None else error_ranges(many, ends, words)
        written = many == 1 and ends is not None  # then its ends say it all
    more = many - MOST_BARS if query.answer_kind not in (*CURVES, "density", "label") else 0
    rest = p(say("preview.more", more=more), "muted") if more > 0 else ""
    lead = "" if written else p(words, "lead")
    st.html(f"{picture}{rest}{lead}")


def show_both(table: dp.Table, query: dp.Query) -> None:
    """For a random sample, say how wide the range for the larger group will be, and whether more ε would narrow it, or
    that earlier answers leave no such range. Before the first answer also draw a link: questions asked together keep a
    range each."""
    found = table.both_ranges(query)
    if found is not None:
        paragraph(both_words(query, found), "muted both")
        if not found.after:  # the last moment to say so
            paragraph(say("sample.first"), "both")
            st.page_link(nav.page("several"), label=say("sample.together"), query_params={"table": table.name})
    elif table.facts.sample and both_ranges(query) is not None:  # earlier answers took it
        paragraph(say("sample.lost"), "warn both")


def both_words(query: dp.Query, found: BothRanges) -> str:
    percent = query.answer_kind in ("count", "share")
    here, everyone, least = (two_figures(Fraction(width)) for width in (found.here, found.everyone, found.least))
    many = len(query.labels()) if query.answer_kind == "count" else 1
    supposed = "preview_shares" if many > 2 else "preview_share" if percent else "preview"
    words = say(f"sample.{supposed}", people=found.people, many=many, here=here, all=everyone)
    code = "before" if found.after else "crossing" if found.pointless else "not_crossing"
    return f"{words} {say(f'sample.{code}', least=least)}"


def opening(table: dp.Table, query: dp.Query) -> dict[str, str]:
    """A question at its opening price, as URL parameters of Ask; at its own price if nothing useful can be asked."""
    found = table.opening(query)
    return preview_link(table, query if found is None else found.query)


def preview_link(table: dp.Table, query: dp.Query) -> dict[str, str]:
    """A question with its price, as URL parameters of Ask."""
    return {"table": table.name, "q": query.card.key} | job.as_texts(form_state.whole(query))


def unpriced(table: dp.Table, query: dp.Query) -> dict[str, str]:
    """A question without a price, as URL parameters of Ask: the form chooses the price."""
    return {name: value for name, value in preview_link(table, query).items() if name != "epsilon"}


def back(table: dp.Table, query: dp.Query) -> dict[str, str]:
    """The URL parameter by which a column's card leads back: the question with its price, or the session; empty without
    either."""
    if form_state.STATE in query.card.asked_on and not query.card.behind:
        question = {name: value for name, value in preview_link(table, query).items() if name != "table"}
    elif session := st.query_params.get("session"):
        question = {"session": session}
    else:
        return {}
    return {"then": json.dumps(question, ensure_ascii=False)}


def came_from() -> dict[str, str]:
    """The question or the session that the visitor will go back to: URL parameters of Ask or of the session."""
    given = job.read_address(st.query_params.get("then"))
    return {name: value for name, value in given.items() if isinstance(value, str)} if isinstance(given, dict) else {}


def come_back(table: str) -> None:
    """Open the question or session of `came_from`; nothing if there is none."""
    then = came_from()
    page = "ask" if form_state.opens(then.get("q")) else "several" if "session" in then else ""
    if page:
        st.switch_page(nav.page(page), query_params=then | {"table": table} | in_address())


# Which noise an answer gets: the most accurate one for the share of the allowance that the question takes now.


def details(table: dp.Table, query: dp.Query, usual: dp.Query) -> None:
    """Draw what is asked, how wide the error bar will be, and who adds which noise."""
    paragraph(usual.card.plain)
    heading(query)
    show(query)
    averages.note(table, usual, query)
    trusted.choose(table, usual)
    if query.noise:
        now, before = query.promise().short(query), usual.promise().short(usual)
        paragraph(say(f"noise.{query.noise}.chosen", now=now, usual=before))


# Beside a curve: the other question that gives it, which of the two is expected to be more accurate, and a link.


def curve_alternative_note(table: dp.Table, query: dp.Query) -> None:
    other = curve_alternative(query)
    if other is None:
        return
    own, its = (Within(off, 1, query.beta, off).alpha_words(query) for off in (other.own, other.its))
    code = "equal" if other.own == other.its else "better" if other.own < other.its else "worse"
    note = say(f"rival.{code}", own=own, its=its, title=other.query.card.title)
    if code == "worse" and other.loses_values:
        note += " " + say("rival.column")
    paragraph(note, role="note")
    st.page_link(nav.page("ask"), label=say("rival.link"), query_params=preview_link(table, other.query))
