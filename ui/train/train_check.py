"""How well a model fits its table, measured at a price of its own: how often right or how far off, and calibration."""

from __future__ import annotations

from datetime import date
from fractions import Fraction
from html import escape
from typing import Any

import streamlit as st

import dpengine as dp
from dpengine.core.printed import chance, percent_left, two_figures
from dpengine.core.strict_json import read_strict
from dpengine.declared.date_column import Date
from dpengine.declared.schema import Category
from dpengine.mechanisms.models.of_models import OfModel
from dpengine.messages import called, say
from dpengine.population.session_validity import USELESS
from dpengine.population.validity import flattery
from dpengine.statistics.features import Model
from ui.ask import answer as answers
from ui.ask import spend
from ui.parts import answer_notes, history, job
from ui.pictures import charts
from ui.shell import frame
from ui.shell.language import day_format
from ui.shell.state import workspace
from ui.words import gloss, prices
from ui.words.figures import bare, printed, printed_range, rounded
from ui.words.markup import unmarked

# Fields for a made-up person: a declared value, or one on the declared grid.


def typed(text: str | None) -> dict[str, Any]:
    try:
        told = read_strict(text or "")
    except ValueError:
        return {}
    return told if isinstance(told, dict) else {}


MANY = 6  # fields: more stand in two columns


def beside(many: int) -> list[Any]:
    """A place for each of so many fields, row by row; on a phone they stand below each other in the same order."""
    if many <= MANY:
        return [st.container() for _ in range(many)]
    places: list[Any] = []
    while len(places) < many:
        places += st.columns(2)
    return places[:many]


def model_field(name: str, column: dp.Number | Date | Category, now: Any, key: str) -> Any:
    name = unmarked(name)
    if isinstance(column, Category):
        labels = list(column.labels)
        return str(st.selectbox(name, labels, labels.index(now) if now in labels else 0, called, key=key))
    if isinstance(column, Date):
        first, last = column.first, column.last
        try:
            picked = min(max(date.fromisoformat(str(now)), first), last)
        except ValueError:
            picked = date.fromisoformat(column.value(column.size // 2))
        return st.date_input(name, picked, first, last, key=key, format=day_format()).isoformat()
    try:
        code = column.code(now) if now is not None else column.size // 2
    except dp.AllowanceError:
        code = column.size // 2
    kind: type[int] | type[float] = int if column.step.denominator == column.lower.denominator == 1 else float
    ends = kind(column.lower), kind(column.upper)
    return st.number_input(name, *ends, kind(column.value(code)), kind(column.step), key=key)


PLACE = "train-check"


def show(table: dp.Table, model: Model) -> None:
    st.html(f"<h2>{escape(say('train_page.check'))}</h2>")
    request = st.query_params.get("checked")
    asked = workspace().job(request) if request else None
    if asked is not None and not asked.over:
        job.wait(asked.request_id)
        return
    if asked is not None:
        job.renew(asked.request_id)
        frame.show_price(table, None)  # drawn again: its charge may have come after the meter
        if asked.answer is None:
            job.refused(str(asked.error or say("job.unknown")))
    before = [one for one in table.checks() if _of(one, model)]
    now = next((one for one in before if one.request_id == request), before[0] if before else None)
    if now is None:
        st.html(f'<p class="muted">{escape(say("train_page.check_lead"))}</p>')
    else:
        _told(table, now)
    if table.closed:
        return
    with st.expander(say("train_page.check_again")) if now else st.container():
        _form(table, model)
    if before:
        st.html(f'<p class="muted">{escape(say("train_page.check_before"))} {_links(table, before)}</p>')


def _of(one: dp.Answer, model: Model) -> bool:
    return isinstance(one.query, OfModel) and one.query.model == model


def _links(table: dp.Table, before: list[dp.Answer]) -> str:
    found = ((history.answer_address(table.name, one.request_id), one.receipt["charge"]["hash"]) for one in before)
    return " · ".join(history.receipt_link(*one) for one in found)


def _form(table: dp.Table, model: Model) -> None:
    try:

        def at(epsilon: str) -> dp.Query:
            return table.query("check_model", model=model.as_json(), epsilon=epsilon)

        found = table.opening(at("1"))
        spend.start_from(table, spend.opens_at(found), PLACE)
        query = at(spend.choose(table, at, PLACE))
    except dp.AllowanceError as complaint:  # a table declared anew since then
        job.hint(str(complaint))
        return
    price = table.preview(query, checked=True)
    told = f"<p>{escape(say('spend.accept'))} <b>{escape(price.promise.words(query))}</b></p>"
    told += answer_notes.cut_note(query) + spend.least_html(table, found)
    if not price.useful:
        told += f'<p class="warn">{gloss.text(spend.noise_words(table, query, price))}</p>'
    st.html(told)
    label = say("train_page.check_button", share=prices.takes(table, price.share))
    job.ask_button(label, table, query, "train-check-go", not price.admissible, "secondary", "checked")
    if not price.admissible:
        left = table.meter().unused
        job.refused(say("ask.too_much", left=percent_left(left)) if left else say("ask.nothing_left"))


def _told(table: dp.Table, found: dp.Answer) -> None:
    """How good it is, in a sentence; then the calibration curve: predicted against true."""
    query = found.query
    assert isinstance(query, OfModel)
    first, listed = query.labels()[0], query.model.layout.listed
    low, high = found.interval[first]
    facts = {"value": printed(query, found.value[first], (low, high), first), "chance": chance(query.beta)}
    facts |= dict(zip(("low", "high"), printed_range(query, low, high, first), strict=True))
    facts |= {} if listed else {"target": query.model.layout.target}
    told = say("train_page.right" if listed else "train_page.off", **facts).replace(" %", "\u00a0%")
    words = flattery_words(table, found)
    beside = "" if found.raw is None else f"{query.beside(found.raw)} {query.finds(found.raw)}".strip()
    lead = f'<p class="lead"><b>{escape(told)}</b></p>' + (f"<p>{escape(beside)}</p>" if beside else "")
    st.html(f'{lead}<p class="muted">{escape(words)}</p>{answer_notes.cut_note(query)}')
    _curve(found, query)
    with st.expander(say("answer.figures")):
        st.html(answers.bars_table(found))


def flattery_words(table: dp.Table, found: dp.Answer) -> str:
    """By how much the model may look too good. What was released before the check may have led to the model: all of it
    counts, the training too."""
    query = found.query
    assert isinstance(query, OfModel)
    flattered = Fraction(1)
    if query.model.layout.listed and query.everybody:
        flattered = flattery(table.released(found.receipt["charge"]["seq"]), query.facts.relation)
    if flattered >= USELESS:
        return say("check_model.flattery_none")
    return say("check_model.flattery", points=two_figures(flattered * 100))


def _curve(found: dp.Answer, query: OfModel) -> None:
    layout, (low, high) = query.model.layout, map(float, query.said)
    wide = high - low
    labels = query.labels()[-query.parts :]
    drawn, band = [], []
    for place, label in enumerate(labels):
        if query.mute(found.interval[label], label):
            continue
        middle = low + (place + 0.5) * wide / query.parts
        added = 0.0 if layout.listed else middle  # of a number, what is told is how far it is off
        drawn.append((middle, added + found.value[label]))
        band.append((added + found.interval[label][0], added + found.interval[label][1]))
    if not drawn:
        st.html(f'<p class="muted">{escape(say("train_page.curve_none"))}</p>')
        return
    alone = drawn[0] if len(drawn) == 1 else None  # a line of one point is drawn as a dot
    lines = [charts.Line(say("train_page.curve_is"), drawn, alone, "left", band=tuple(band))]
    if query.calibrated:
        ideal = charts.Line(say("train_page.curve_right"), [(low, low), (high, high)], None, "muted", "dash")
        lines.insert(0, ideal)
    alt = "; ".join(f"{bare(x)}: {rounded(y, *ends)}" for (x, y), ends in zip(drawn, band, strict=True))
    code = "train_page.curve_lead" if query.calibrated else "train_page.curve_lead_score"
    lead = say(code, chance=chance(query.beta), known=len(drawn), parts=query.parts)
    st.html(f"<h3>{escape(say('train_page.curve'))}</h3><p class='muted'>{escape(lead)}</p>")
    unit = "%" if layout.listed else layout.target
    axes = say("train_page.axis.said", unit=unit), say("train_page.axis.is", unit=unit)
    if not query.calibrated:
        yes = [layout.goal.labels[code] for code in layout.yes] if isinstance(layout.goal, Category) else []
        axes = say("train_page.axis.score"), say("train_page.axis.share", yes=yes)
    charts.curves(
        lines,
        *axes,
        alt,
        "train-curve",
        340,
        even=True,
    )
