"""How well a model fits its table, measured at its own price: accuracy or error, and calibration."""

from __future__ import annotations

from datetime import date
from fractions import Fraction
from html import escape
from typing import Any

import streamlit as st

import dpengine as dp
from dpengine.core.printed import chance, two_figures
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

# --- fields for a made-up person: a declared value, or one on the declared grid


def typed(text: str | None) -> dict[str, Any]:
    try:
        value = read_strict(text or "")
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


MANY = 6  # with more fields than this, use two columns


def beside(many: int) -> list[Any]:
    """A place for each field, row by row; on a phone they keep this order."""
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
        frame.show_price(table, None)  # again: the charge may have come after the meter
        if asked.answer is None:
            job.refused(str(asked.error or say("job.unknown")))
    before = [check for check in table.checks() if isinstance(check.query, OfModel) and check.query.model == model]
    now = next((check for check in before if check.request_id == request), before[0] if before else None)
    if now is None:
        st.html(f'<p class="muted">{escape(say("train_page.check_lead"))}</p>')
    else:
        _show_check(table, now)
    if table.closed:
        return
    with st.expander(say("train_page.check_again")) if now else st.container():
        _form(table, model)
    if before:
        st.html(f'<p class="muted">{escape(say("train_page.check_before"))} {_links(table, before)}</p>')


def _links(table: dp.Table, checks: list[dp.Answer]) -> str:
    return " · ".join(
        history.receipt_link(history.address_of(table.name, check.request_id), check.receipt["charge"]["hash"])
        for check in checks
    )


def _form(table: dp.Table, model: Model) -> None:
    try:

        def at(epsilon: str) -> dp.Query:
            return table.query("check_model", model=model.as_json(), epsilon=epsilon)

        opening = table.opening(at("1"))
        spend.start_from(table, spend.opens_at(opening), PLACE)
        query = at(spend.choose(table, at, PLACE))
    except dp.AllowanceError as error:  # the table was declared anew since then
        job.hint(str(error))
        return
    price = table.preview(query, checked=True)
    html = f"<p>{escape(say('spend.accept'))} <b>{escape(price.promise.words(query))}</b></p>"
    html += answer_notes.cut_note(query) + spend.least_html(table, opening)
    if not price.useful:
        html += f'<p class="warn">{gloss.text(spend.noise_words(table, query, price))}</p>'
    st.html(html)
    label = say("train_page.check_button", share=prices.takes(table, price.share))
    job.ask_button(label, table, query, "train-check-go", not price.admissible, "secondary", "checked")
    if not price.admissible:
        job.too_much(table)


def _show_check(table: dp.Table, answer: dp.Answer) -> None:
    """The model's quality in a sentence, and the calibration curve: predicted against true."""
    query = answer.query
    assert isinstance(query, OfModel)
    first, listed = query.labels()[0], query.model.layout.listed
    low, high = answer.interval[first]
    facts = {"value": printed(query, answer.value[first], (low, high), first), "chance": chance(query.beta)}
    facts |= dict(zip(("low", "high"), printed_range(query, low, high, first), strict=True))
    facts |= {} if listed else {"target": query.model.layout.target}
    sentence = say("train_page.right" if listed else "train_page.off", **facts).replace(" %", "\u00a0%")
    words = flattery_words(table, answer)
    beside = "" if answer.raw is None else f"{query.beside(answer.raw)} {query.finds(answer.raw)}".strip()
    lead = f'<p class="lead"><b>{escape(sentence)}</b></p>' + (f"<p>{escape(beside)}</p>" if beside else "")
    st.html(f'{lead}<p class="muted">{escape(words)}</p>{answer_notes.cut_note(query)}')
    _curve(answer, query)
    with st.expander(say("answer.figures")):
        st.html(answers.bars_table(answer))


def flattery_words(table: dp.Table, answer: dp.Answer) -> str:
    """By how much the model may look too good. Every release before the check counts, the training too, because it may
    have led to the model."""
    query = answer.query
    assert isinstance(query, OfModel)
    flattered = Fraction(1)
    if query.model.layout.listed and query.everybody:
        flattered = flattery(table.released(answer.receipt["charge"]["seq"]), query.facts.relation)
    if flattered >= USELESS:
        return say("check_model.flattery_none")
    return say("check_model.flattery", points=two_figures(flattered * 100))


def _curve(answer: dp.Answer, query: OfModel) -> None:
    layout, (low, high) = query.model.layout, map(float, query.said)
    wide = high - low
    labels = query.labels()[-query.parts :]
    drawn, band = [], []
    for place, label in enumerate(labels):
        if query.mute(answer.interval[label], label):
            continue
        middle = low + (place + 0.5) * wide / query.parts
        added = 0.0 if layout.listed else middle  # for a number, the answer is the error
        drawn.append((middle, added + answer.value[label]))
        band.append((added + answer.interval[label][0], added + answer.interval[label][1]))
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
    charts.curves(lines, *axes, alt, "train-curve", 340, even=True)
