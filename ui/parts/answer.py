"""An answer as a sentence, a picture and a receipt."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from html import escape
from typing import Any

import streamlit as st

import dpengine as dp
from dpengine.accountant import filter
from dpengine.accountant.costs import cost
from dpengine.mechanisms.card import WHOLE, AnswerKind
from dpengine.mechanisms.telling import FEW
from dpengine.messages import plain, say
from ui.parts import counted, curve_answer, density, exports, fitting, grouped_answer, odds
from ui.pictures import charts, many
from ui.pictures.strips import Strip, html_of
from ui.shell import nav, steer
from ui.shell.state import workspace
from ui.words import gloss
from ui.words.figures import cut, figure, limits, printed_range
from ui.words.wording import axis, headline, range_words, released_words, with_measure

# Answers that are no figure are read on a page of their own; the address names them.
READ_ON: dict[AnswerKind, tuple[str, str]] = {
    "file": ("publish", "published"),
    "table": ("synthetic", "made"),
    "model": ("train", "trained"),
    "board": ("board", "look"),
}


def show(answer: dp.Answer, key: str = "answer", ways: Callable[[], None] | None = None) -> None:
    """`ways` draws what helps, between the finding and its picture."""
    table = answer.receipt["table"]
    if answer.query.card.answer == "session":
        of = say("answer.of", sentence=answer.sentence, table=table)
        st.html(f'<p class="question">{escape(of)}</p>{counted.html(answer.query)}')
        where = {"table": table, "session": answer.request_id}
        st.page_link(nav.page("session"), label=say("session.open"), query_params=where)
        return
    meaning = protects("answer.meaning", answer.query)
    lead = f'<p class="lead">{escape(range_words(answer))} {escape(meaning)}</p>{fitting.html(answer, linked=True)}'
    st.html(
        f'<p class="question arrived" tabindex="-1">'
        f"{escape(say('answer.of', sentence=answer.sentence, table=table))}</p>"
        f"{counted.finding(answer, lead, linked=True)}"
    )
    steer.arrived(answer.request_id)
    if ways is not None:
        ways()
    if answer.query.answer_kind in READ_ON:
        read_on(answer)
    else:
        with st.container(key=f"card-{key}"):
            picture(answer, key)
    receipt(answer, key)


def protects(code: str, query: dp.Query) -> str:
    """What the promise protects: a person's row, or all rows of a person who may have several."""
    most = query.facts.unit.at_most
    return say(f"{code}.{query.facts.relation}{'_each' if most > 1 else ''}", most=most)


def read_on(answer: dp.Answer) -> None:
    """Links to the page that an answer is read on; of a first look that was bought for a model, to the model first."""
    page, name = READ_ON[answer.query.answer_kind]
    where = {"table": answer.receipt["table"]}
    if target := answer.query.predicts:
        model = where | {"shapes": answer.request_id, "target": target}
        st.page_link(nav.page("train"), label=say("train_page.open"), query_params=model)
    st.page_link(nav.page(page), label=say(f"{page}_page.open"), query_params=where | {name: answer.request_id})


def picture(answer: dp.Answer, key: str) -> None:
    if answer.value == {} or speechless(answer):
        _explained(answer, key)
    else:
        _PICTURES.get(answer.query.answer_kind, _charted)(answer, key)


def _explained(answer: dp.Answer, key: str) -> None:
    st.html(f'<p class="lead">{escape(answer.query.card.plain)}</p>')


def _named(answer: dp.Answer, key: str) -> None:
    st.html(f'<p class="lead">{escape(released_words(answer))}</p>')


def _curve(answer: dp.Answer, key: str) -> None:
    curve_answer.show(answer, key)
    figures(answer, key)


def _charted(answer: dp.Answer, key: str) -> None:
    title = axis(answer.query)
    if answer.query.own_scales:
        st.html(strips_html(answer))
    elif isinstance(answer.value, dict):
        grouped_answer.show(answer, bars_alt(answer), key)
        figures(answer, key)
    elif isinstance(answer.value, str):  # a day
        st.html(f'<p class="lead">{escape(range_words(answer))}</p>')
    else:
        alt = f"{headline(answer)}. {range_words(answer)}"
        value, interval = cut(answer.query, answer.value, answer.interval)
        ends = None if answer.interval is None else printed_range(answer.query, *answer.interval)
        charts.point(value, interval, title, alt, f"chart-{key}", limits(answer.query), ends)


def strips_html(answer: dp.Answer) -> str:
    """A figure for each of several columns, on the declared range of its own."""
    query, names, strips = answer.query, answer.query.shown(), []
    for part, value in answer.value.items():
        low, high = answer.interval[part]
        at, (first, last) = cut(query, value, (low, high), part)
        ends = query.limits(part) or (first, last)
        lower, upper = (printed_range(query, end, end, part)[0] for end in ends)
        wide = float(ends[1] - ends[0]) or 1.0
        low_at, mark_at, high_at = ((float(one) - float(ends[0])) / wide for one in (first, at, last))
        told = printed_range(query, low, high, part)
        name, figure_told = names.get(part, part), figure(answer, part)
        name = with_measure(name, query.measure_of(part))
        places, mute = (low_at, mark_at, high_at), query.mute((low, high), part)
        note = " ".join(fitting.notes(answer, part))
        strips.append(Strip(name, figure_told, *told, lower, upper, places, mute, note))
    return html_of(strips)


def _found(answer: dp.Answer, key: str) -> None:
    st.html(found_html(answer))
    figures(answer, key)


def found_html(answer: dp.Answer) -> str:
    """Of several columns: what was found of each."""
    query: Any = answer.query
    told = "".join(f"<li>{escape(one.words())}</li>" for one in query.drafts(answer.value, answer.interval))
    return f'<ul class="found">{told}</ul>'


_PICTURES: dict[AnswerKind, Callable[[dp.Answer, str], None]] = {
    "label": _named,
    "range": _explained,
    "declarations": _found,
    "density": density.picture,
    "curve": _curve,
    "column": _curve,
}


def speechless(answer: dp.Answer) -> bool:
    """Does it say nothing at all? Then nothing is drawn; groups that cannot be told apart are still drawn."""
    return answer.query.state(answer.value, answer.interval) == FEW


def bars_alt(answer: dp.Answer) -> str:
    names, (drawn, none) = answer.query.shown(), many.told_from_none(answer)
    told = [f"{names.get(label, label)}: {figure(answer, label)}" for label in drawn[:60]]
    return "; ".join([*told, many.none_words(answer, none)] if none else told)


def figures(answer: dp.Answer, key: str) -> None:
    """All of them, a page at a time."""
    with st.expander(say("answer.figures")):
        st.html(bars_table(answer, many.page(answer.value, f"page-{key}")))


def bars_table(answer: dp.Answer, labels: Iterable[str] | None = None) -> str:
    """The figures of some labels, or of all."""
    rows, names = [], answer.query.shown()
    for label in answer.value if labels is None else labels:
        ends = answer.interval[label] if answer.interval else None
        low, high = printed_range(answer.query, ends[0], ends[1], label) if ends else ("", "")
        told = figure(answer, label)
        kind = "number" if any(sign.isdigit() for sign in told) else "number words"
        rows.append(
            f'<tr><td>{escape(names.get(label, label))}</td><td class="{kind}">{escape(told)}</td>'
            f'<td class="number">{low} – {high}</td></tr>'
        )
    head = (
        f'<tr><th>{escape(say("answer.column.label"))}</th><th class="number">{escape(say("answer.column.value"))}</th>'
        f'<th class="number">{gloss.word("range", say("answer.column.range"))}</th></tr>'
    )
    note = not_adding() if answer.query.answer_kind == "count" and len(answer.value) > 1 else ""
    return f'<div class="scroll" tabindex="0"><table class="plain figures">{head}{"".join(rows)}</table></div>{note}'


def not_adding() -> str:
    """Whoever sums up a table must not think that it is wrong."""
    return f'<p class="muted">{escape(say("answer.not_adding"))}</p>'


def receipt(answer: dp.Answer, key: str) -> None:
    """One visible line, with everything else behind it."""
    short = answer.receipt["charge"]["hash"]
    relation = protects("relation.short", answer.query)
    line = say("receipt.line", hash=short[:8], title=answer.query.card.title, relation=relation)
    st.html(f'<p class="receipt">{gloss.text(line)}</p>')
    with st.expander(say("receipt.open")):
        st.html(
            f'<p class="muted">{escape(say("receipt.plain"))}</p>'
            f'<p class="muted">{escape(say("receipt.value", value=_full(answer)))}</p>'
            f'<p class="muted">{gloss.text(odds_words(answer))}</p>'
            + "".join(f'<p class="muted">{escape(text)}</p>' for text in answer.query.card.caveat_texts)
            + f'<p class="muted">{escape(say("receipt.theorem", theorem=answer.query.theorem))}</p>'
        )
        nav.check_link(q=answer.query.card.key, relation=answer.query.facts.relation)
        with st.container(horizontal=True):
            st.download_button(
                say("receipt.json"),
                lambda: json.dumps(answer.receipt, ensure_ascii=False, indent=1),
                f"receipt-{short[:8]}.json",
                "application/json",
                key=f"receipt-{key}",
                on_click="ignore",
            )
            st.download_button(
                say("receipt.csv"),
                lambda: exports.answer_csv(answer),
                f"answer-{short[:8]}.csv",
                "text/csv",
                key=f"csv-{key}",
                on_click="ignore",
            )
            st.download_button(
                say("receipt.sheet"),
                lambda: exports.answer_sheet(answer),
                f"answer-{short[:8]}.xlsx",
                exports.SHEET,
                key=f"sheet-{key}",
                on_click="ignore",
            )


def odds_words(answer: dp.Answer, rule: filter.Rule | None = None) -> str:
    """ε and δ of this answer by itself under the rule of its budget, and what they can do to a suspicion."""
    rule = rule or workspace().ledger.budget(answer.receipt["budget"]).rule
    epsilon, delta = filter.alone(rule, cost(answer.query.loss(), rule.alpha))
    return odds.of_answer(epsilon, delta, answer.query.facts.relation)


def _full(answer: dp.Answer) -> str:
    if answer.query.answer_kind == "file":
        return say("answer.file_full", sha=answer.value["sha256"])
    if isinstance(answer.value, dict):
        made = answer.query.answer_kind in WHOLE
        return headline(answer) if made else say("answer.bars", bars=len(answer.value))
    if answer.interval is None:
        return plain(answer.value)
    return f"{plain(answer.value)} ({plain(answer.interval[0])} – {plain(answer.interval[1])})"
