"""A synthetic table: download it, and ask it anything, free."""

from __future__ import annotations

import json
from html import escape
from itertools import combinations
from typing import Any

import streamlit as st

import dpengine as dp
from dpengine.core.printed import chance
from dpengine.mechanisms.answer_state import fills
from dpengine.messages import say
from dpengine.released.synthetic import ClassShare, Synthetic
from ui.ask import answer as answers
from ui.parts import answer_notes, conditions, job
from ui.pictures import charts, many
from ui.publish.publish_result import MOST_SHOWN, picked
from ui.shell import nav
from ui.synthetic.take_rows import take_away
from ui.words.figures import bare, rounded, rounded_range
from ui.words.markup import html_table
from ui.words.wording import headline, range_words


def show(table: dp.Table, answer: dp.Answer) -> None:
    rows = table.synthetic(answer)
    assert isinstance(rows, Synthetic)
    of = say("answer.of", sentence=answer.sentence, table=table.name)
    st.html(
        f'<p class="question">{escape(of)}</p><p class="headline">{escape(headline(answer))}</p>'
        f'<p class="lead">{escape(range_words(answer))}</p>'
        f"{answer_notes.fit_notes(answer)}{answer_notes.cut_note(answer.query)}"
    )
    with st.container(key="card-synthetic-rows"):
        take_away(answer, rows.table)
    with st.container(key="card-synthetic-free"):
        _ask(rows)
    answers.receipt(answer, "synthetic")
    st.button(say("synthetic_page.another"), key="synthetic-another", on_click=nav.forget, args=("made", "of", "if"))


def _ask(fitted: Synthetic) -> None:
    title, why = say("publish_page.free"), say("synthetic_page.free_why")
    st.html(f"<h2>{escape(title)}</h2><p class='muted'>{escape(why)}</p>")
    columns = fitted.query.columns
    groups: dict[str, tuple[str, ...]] = {name: (name,) for name in columns}
    pairs = {f"{first} × {other}": (first, other) for first, other in combinations(columns, 2)}
    groups |= {name: pair for name, pair in pairs.items() if name not in groups}
    condition = "?" * (1 + max((len(name) for name in groups if set(name) == {"?"}), default=0))  # not a column's name

    def words(name: str) -> str:
        return say("synthetic_page.of_condition") if name == condition else name

    of = picked("of", [*groups, condition], words, say("synthetic_page.of"), "synthetic")
    if of == condition:
        _condition(fitted)
    else:
        _shares(fitted, fitted.marginal(groups[of]), of)


def _condition(fitted: Synthetic) -> None:
    """The share of the rows that meet a condition; the address keeps it."""
    schema = dp.Schema({name: fitted.query.facts.schema[name] for name in fitted.query.columns})
    known = job.read_address(st.query_params.get("if"))
    lists = conditions.Lists(fitted.query.facts.table, schema)
    rows = conditions.conditions(lists, known if isinstance(known, list) else [], "made")
    if not rows:
        return
    try:
        share = fitted.share(rows)
    except dp.AllowanceError as refusal:
        st.html(f'<p class="warn" role="status">{escape(str(refusal))}</p>')
        return
    st.query_params["if"] = json.dumps(rows, ensure_ascii=False)
    sentence = say("answer.about_percent", value=_points(share))
    st.html(f'<p class="together">{escape(sentence)}</p><p class="lead">{escape(_promise(fitted, share))}</p>')


def _promise(fitted: Synthetic, share: ClassShare) -> str:
    if share.interval is None:
        return say("synthetic_page.no_promise")
    if fills(*share.interval, 0, 100):
        return say("synthetic_page.nothing")
    low, high = rounded_range(*share.interval)
    return say("answer.between", low=low, high=high, chance=chance(fitted.query.beta)) + _guess(fitted)


def _guess(fitted: Synthetic) -> str:
    nominal = fitted.query.promise().nominal
    return " " + say("synthetic_page.nominal", people=fitted.query.facts.about) if nominal else ""


def _points(share: ClassShare) -> str:
    return bare(share.value) if share.interval is None else rounded(share.value, *share.interval)


def _shares(fitted: Synthetic, shares: dict[str, ClassShare], name: str) -> None:
    """Bars with the promised error, if any, and the numbers."""
    promise = fitted.query.promise()
    promised = all(share.width is not None for share in shares.values())
    sentence = say("synthetic_page.no_promise")
    if promised:
        sentence = say("synthetic_page.shares", alpha=promise.alpha_words(), chance=chance(promise.beta))
        sentence += _guess(fitted)
    st.html(f'<p class="lead">{escape(sentence)}</p>')
    first = dict(list(shares.items())[:MOST_SHOWN])
    if len(shares) > MOST_SHOWN:
        st.html(f'<p class="muted">{escape(say("synthetic_page.first", shown=MOST_SHOWN, many=len(shares)))}</p>')
    values: dict[str, Any] = {label: share.value for label, share in first.items()}
    ranges = {label: share.interval for label, share in first.items() if share.interval is not None}
    alt = "; ".join(f"{label}: {_points(share)} %" for label, share in first.items())
    words = (say("chart.percent"), alt, f"synthetic-{name}")
    if promised:
        charts.ranges(values, ranges, *words)
    else:
        charts.bars(values, None, *words)
    with st.expander(say("answer.figures")):
        st.html(_table({label: shares[label] for label in many.page(shares, f"synthetic-page-{name}")}))


def _table(shares: dict[str, ClassShare]) -> str:
    titles = ("answer.column.label", "publish_page.column.share", "answer.column.range")
    rows = []
    for label, share in shares.items():
        ends = "–" if share.interval is None else " – ".join(rounded_range(*share.interval))
        rows.append((label, f"{_points(share)} %", ends))
    return html_table([*map(say, titles)], rows)
