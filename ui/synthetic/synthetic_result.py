"""A synthetic table: take it away, and ask of it whatever one likes, free."""

from __future__ import annotations

import json
from html import escape
from itertools import combinations

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
from ui.synthetic.take_rows import take_away
from ui.words.figures import bare, rounded, rounded_range
from ui.words.wording import headline, range_words


def show(table: dp.Table, found: dp.Answer) -> None:
    made = table.synthetic(found)
    assert isinstance(made, Synthetic)
    of = say("answer.of", sentence=found.sentence, table=table.name)
    st.html(
        f'<p class="question">{escape(of)}</p><p class="headline">{escape(headline(found))}</p>'
        f'<p class="lead">{escape(range_words(found))}</p>'
        f"{answer_notes.fit_notes(found)}{answer_notes.cut_note(found.query)}"
    )
    with st.container(key="card-synthetic-rows"):
        take_away(found, made.table)
    with st.container(key="card-synthetic-free"):
        _ask(made)
    answers.receipt(found, "synthetic")
    st.button(say("synthetic_page.another"), key="synthetic-another", on_click=_leave)


def _leave() -> None:
    for name in ("made", "of", "if"):
        st.query_params.pop(name, None)


def _ask(made: Synthetic) -> None:
    title, why = say("publish_page.free"), say("synthetic_page.free_why")
    st.html(f"<h2>{escape(title)}</h2><p class='muted'>{escape(why)}</p>")
    columns = made.query.columns
    groups: dict[str, tuple[str, ...]] = {name: (name,) for name in columns}
    pairs = {f"{one} × {other}": (one, other) for one, other in combinations(columns, 2)}
    groups |= {name: pair for name, pair in pairs.items() if name not in groups}
    condition = "?" * (1 + max((len(name) for name in groups if set(name) == {"?"}), default=0))  # no column's name
    of = picked(
        "of",
        [*groups, condition],
        lambda one: say("synthetic_page.of_condition") if one == condition else one,
        say("synthetic_page.of"),
        "synthetic",
    )
    if of == condition:
        _condition(made)
    else:
        _shares(made, made.marginal(groups[of]), of)


def _condition(made: Synthetic) -> None:
    """The share of the rows that meet a condition; the address keeps it."""
    schema = dp.Schema({name: made.query.facts.schema[name] for name in made.query.columns})
    known = job.read_address(st.query_params.get("if"))
    rows = conditions.conditions(
        conditions.Lists(made.query.facts.table, schema), known if isinstance(known, list) else [], "made"
    )
    if not rows:
        return
    try:
        one = made.share(rows)
    except dp.AllowanceError as refusal:
        st.html(f'<p class="warn" role="status">{escape(str(refusal))}</p>')
        return
    st.query_params["if"] = json.dumps(rows, ensure_ascii=False)
    told = say("answer.about_percent", value=_points(one))
    st.html(f'<p class="together">{escape(told)}</p><p class="lead">{escape(_promise(made, one))}</p>')


def _promise(made: Synthetic, one: ClassShare) -> str:
    if one.interval is None:
        return say("synthetic_page.no_promise")
    if fills(*one.interval, 0, 100):
        return say("synthetic_page.nothing")
    low, high = rounded_range(*one.interval)
    return say("answer.between", low=low, high=high, chance=chance(made.query.beta)) + _guess(made)


def _guess(made: Synthetic) -> str:
    nominal = made.query.promise().nominal
    return " " + say("synthetic_page.nominal", people=made.query.facts.about) if nominal else ""


def _points(one: ClassShare) -> str:
    return bare(one.value) if one.interval is None else rounded(one.value, *one.interval)


def _shares(made: Synthetic, shares: dict[str, ClassShare], name: str) -> None:
    """Bars with the promise's error where there is one, and the figures."""
    promise = made.query.promise()
    promised = all(one.width is not None for one in shares.values())
    told = say("synthetic_page.no_promise")
    if promised:
        told = say("synthetic_page.shares", alpha=promise.alpha_words(), chance=chance(promise.beta)) + _guess(made)
    st.html(f'<p class="lead">{escape(told)}</p>')
    first = dict(list(shares.items())[:MOST_SHOWN])
    if len(shares) > MOST_SHOWN:
        st.html(f'<p class="muted">{escape(say("synthetic_page.first", shown=MOST_SHOWN, many=len(shares)))}</p>')
    ranges = {label: one.interval for label, one in first.items() if one.interval is not None}
    alt = "; ".join(f"{label}: {_points(one)} %" for label, one in first.items())
    told_of = (say("chart.percent"), alt, f"synthetic-{name}")
    if promised:
        charts.ranges({label: one.value for label, one in first.items()}, ranges, *told_of)
    else:
        charts.bars({label: one.value for label, one in first.items()}, None, *told_of)
    with st.expander(say("answer.figures")):
        st.html(_table({label: shares[label] for label in many.page(shares, f"synthetic-page-{name}")}))


def _table(shares: dict[str, ClassShare]) -> str:
    titles = ("answer.column.label", "publish_page.column.share", "answer.column.range")
    head = "".join(f'<th class="{"number" if at else ""}">{escape(say(one))}</th>' for at, one in enumerate(titles))
    body = ""
    for label, one in shares.items():
        ends = "–" if one.interval is None else " – ".join(rounded_range(*one.interval))
        numbers = "".join(f'<td class="number">{escape(cell)}</td>' for cell in (f"{_points(one)} %", ends))
        body += f"<tr><td>{escape(label)}</td>{numbers}</tr>"
    return f'<div class="scroll" tabindex="0"><table class="plain"><tr>{head}</tr>{body}</table></div>'
