"""A model read off a first look: its quality beside guessing, the effects with error bands, predictions for a made-up
person, a check at its own price, and its files. Nothing else here reads the table or spends."""

from __future__ import annotations

import json
from collections.abc import Sequence
from html import escape
from typing import Any

import streamlit as st

import dpengine as dp
from dpengine.core.printed import chance, percent
from dpengine.declared.date_column import Date
from dpengine.declared.schema import Category
from dpengine.messages import called, say
from dpengine.messages.numbers import local
from dpengine.released.look import Look
from dpengine.released.model_scripts import shapes_script
from dpengine.released.shapes import Effect, Shapes, predictable, sources
from ui.ask import answer as answers
from ui.board import board_figures
from ui.parts import fields, job
from ui.pictures import named_bars
from ui.pictures.named_bars import NamedBar
from ui.shell import nav
from ui.shell.state import workspace
from ui.train import score_file, train_check, train_state
from ui.words import model_words, prices
from ui.words.figures import bare, rounded_range

ACROSS = 2
ENDS = 0.05  # of the scale of a chance
SAYS = 0.02  # a column whose strongest effect is a smaller share of the largest says little
_LEAVE = ("shapes", "with", "target", "positive", "features", "checked")


def show(table: dp.Table, answer: dp.Answer) -> None:
    look = board_figures.look_of(answer)
    took = prices.took(table, workspace().ledger.find(answer.request_id))
    st.html(f"<p class='lead'>{escape(say('shapes_page.lead', share=took))}</p>")
    model = _chosen(look)
    if model is None:
        st.html(f'<p class="warn" role="status">{escape(say("shapes_page.none"))}</p>')
    else:
        _show_quality(answer, model)
        _pictures(answer, model)
        left, right = st.columns([6, 5], gap="medium")
        with left, st.container(key="card-shapes-all"):
            _figures(answer, model)
        with right, st.container(key="card-train-try"):
            _try(answer, model)
        score_file.show(table, answer, model)
        if (whole := model.checkable()) is not None:
            with st.container(key="card-train-check"):
                train_check.show(table, whole)
        with st.container(key="card-train-take"):
            _take(table, answer, model)
    where = {"table": table.name, "look": answer.request_id}
    st.page_link(nav.page("board"), label=say("shapes_page.board"), query_params=where)
    answers.receipt(answer, "shapes")
    st.button(say("train_page.another"), key="train-another", on_click=nav.forget, args=_LEAVE)


def _chosen(look: Look) -> Shapes | None:
    """The target and the columns to predict from, free to change. The address keeps them."""
    offered = predictable(look)
    if not offered:
        return None
    asked = st.query_params
    wanted = asked.get("target", "")
    positive: list[str] = []
    with st.container(key="sentence", horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(say("train_page.predict"), width="content")
        first = wanted if wanted in offered else offered[-1]
        target = fields.pick("train_page.target", offered, first, str, "shapes-target")
        goal = look.query.facts.schema[target]
        if isinstance(goal, Category):
            st.markdown(say("train_page.is"), width="content")
            labels = look.query.cell_labels[look.place(target)]
            asked_positive = asked.get("positive", "")
            usual = asked_positive if asked_positive in labels else model_words.usual_yes(goal)
            usual = usual if usual in labels else labels[0]
            positive = [fields.pick("train_page.value", labels, usual, called, f"shapes-positive-{target}")]
        st.markdown(say("train_page.from"), width="content")
    others = sources(look, target)
    read = job.read_address(asked.get("features"))
    kept = [name for name in others if isinstance(read, list) and name in read]
    columns = train_state.choose_features(others, kept or others, f"shapes-features-{target}")
    chosen = {"target": target, "positive": positive[0] if positive else "", "features": json.dumps(columns)}
    for name, value in chosen.items():
        if value and asked.get(name) != value:
            asked[name] = value
    return Shapes(look, target, positive, columns or others)


# --- how good it is ---------------------------------------------------------------------------------------------------


def _show_quality(answer: dp.Answer, model: Shapes) -> None:
    st.html(f"<h1>{escape(say('shapes_page.result', target=model.target))}</h1>")
    first, verdict = model_words.score(model), model_words.judged(model)
    held = model.held_back()
    html = f'<p class="together">{escape(first)}</p><p class="lead">{escape(verdict)} '
    html += f"{escape(say('train_page.no_cause'))}</p>"
    if held is not None:
        off, blank = (amount(model, part) for part in held)
        html += f'<p class="muted">{escape(say("shapes_page.held", off=off, blank=blank))}</p>'
    st.html(html)


def amount(model: Shapes, size: float) -> str:
    return say("shapes_page.points", points=local(f"{100 * size:.1f}")) if model.listed else bare(size)


# --- pictures ---------------------------------------------------------------------------------------------------------


def _pictures(answer: dp.Answer, model: Shapes) -> None:
    average = bare(100 * model.average) if model.listed else bare(model.average)
    facts = {"average": average, "target": model.target} | ({"yes": list(model.yes)} if model.listed else {})
    lead = say("shapes_page.begin_list" if model.listed else "shapes_page.begin_number", **facts)
    mean = say("shapes_page.bands_mean", target=model.target, chance=chance(answer.query.beta))
    note = mean if model.measured_pairs else say("shapes_page.bands_none")
    st.html(f'<p>{escape(lead)}</p><p class="muted">{escape(note)}</p>')
    shown = {name: bars_of(model, name) for name in model.strongest()}
    sizes = {name: max((abs(bar.value) for bar in bars), default=0.0) for name, bars in shown.items()}
    largest = max(sizes.values(), default=1.0) or 1.0
    ends = [abs(end) for bars in shown.values() for bar in bars for end in (bar.low, bar.high, bar.value) if end]
    widest = min(max(ends, default=1.0), 1.6 * largest)
    telling = [
        name for name, bars in shown.items() if any(not bar.faint for bar in bars) or not model.measured_pairs
    ] or list(shown)[:2]
    _grid(model, {name: shown[name] for name in telling if sizes[name] > SAYS * largest}, widest)
    rest = {name: bars for name, bars in shown.items() if name not in telling or sizes[name] <= SAYS * largest}
    if rest:
        with st.expander(say("shapes_page.more", columns=len(rest))):
            _grid(model, rest, widest)


def _grid(model: Shapes, shown: dict[str, list[NamedBar]], widest: float) -> None:
    names = list(shown)
    for start in range(0, len(names), ACROSS):
        for place, name in zip(st.columns(ACROSS, gap="medium"), names[start : start + ACROSS], strict=False):
            with place, st.container(key=f"card-shape-{model.look.place(name)}"):
                st.html(f"<h2>{escape(name)}</h2>")
                values = "; ".join(f"{bar.name} {bar.label}" for bar in shown[name])
                alt = say("shapes_page.alt", column=name, told=values)
                named_bars.show(shown[name], (-widest, widest), alt, f"shape-{model.look.place(name)}")


def bars_of(model: Shapes, column: str) -> list[NamedBar]:
    """The bars of a column; rare groups are left out."""
    names = model.look.query.cell_names(model.look.place(column))
    bars = [_bar(model, name, effect) for name, effect in zip(names, model.effects(column), strict=True)]
    pairs = zip(bars, model.effects(column), strict=True)
    return [bar for bar, effect in pairs if effect.clear or effect.rows * 1000 >= model.look.rows] or bars


def _bar(model: Shapes, name: str, effect: Effect) -> NamedBar:
    times = 100.0 if model.listed else 1.0
    low, high = (None if end is None else times * end for end in (effect.low, effect.high))
    band = "" if low is None or high is None else " – ".join(rounded_range(low, high))
    colour, unclear = "left" if effect.value >= 0 else "take", low is not None and not effect.clear
    return NamedBar(name, times * effect.value, low, high, signed(times * effect.value), band, colour, unclear)


def signed(value: float) -> str:
    digits = bare(float(f"{value:.2g}"))
    return f"+{digits}" if value > 0 and digits != "0" else digits


def _figures(answer: dp.Answer, model: Shapes) -> None:
    st.html(f"<h2>{escape(say('train_page.card.title'))}</h2>")
    names = ("column", "value", "adds", *(["band"] if model.measured_pairs else []))
    head = "".join(f"<th>{escape(say(f'shapes_page.figure.{name}'))}</th>" for name in names)
    rows = ""
    for column in model.columns:
        for bar in bars_of(model, column):
            cells: Sequence[str] = (column, bar.name, bar.label, bar.band)
            rows += "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells[: len(names)]) + "</tr>"
    title = say("shapes_page.all")
    st.html(
        f'<div class="scroll tall" tabindex="0" role="region" aria-label="{escape(title)}">'
        f'<table class="plain"><tr>{head}</tr>{rows}</table></div>{_STYLE}'
    )


# --- what it would say, and its files ---------------------------------------------------------------------------------


def _try(answer: dp.Answer, model: Shapes) -> None:
    st.html(f"<h2>{escape(say('train_page.try'))}</h2><p class='muted'>{escape(say('train_page.try_lead'))}</p>")
    kept = train_check.typed(st.query_params.get("with"))
    answered = st.container()
    schema, values = model.look.query.facts.schema, {}
    for name, place in zip(model.columns, train_check.beside(len(model.columns)), strict=True):
        column = schema[name]
        assert isinstance(column, dp.Number | Date | Category)
        now = kept.get(name, model.usual_value(name))
        with place:
            values[name] = train_check.model_field(name, column, now, f"shapes-with-{answer.request_id}-{name}")
    text = json.dumps(values, ensure_ascii=False)
    if st.query_params.get("with") != text:
        st.query_params["with"] = text
    prediction: Any = model.predict(values)
    if model.listed:
        words = would(model, prediction)
    else:
        words = say("train_page.would_number", value=bare(prediction), target=model.target)
    text = words.replace(" %", "\u00a0%")
    answered.html(f'<p class="together" role="status">{escape(text)}</p>')


def would(model: Shapes, prediction: float) -> str:
    """Near its ends a chance is not reliable, because a sum of effects may pass them."""
    facts = {"yes": list(model.yes), "target": model.target}
    if ENDS <= prediction <= 1 - ENDS:
        return say("train_page.would_list", share=percent(prediction), **facts)
    return say("shapes_page.would_low" if prediction < ENDS else "shapes_page.would_high", **facts)


def _take(table: dp.Table, answer: dp.Answer, model: Shapes) -> None:
    hashed = answer.receipt["charge"]["hash"]
    st.html(f"<h2>{escape(say('train_page.take'))}</h2><p class='muted'>{escape(say('shapes_page.take_lead'))}</p>")
    about = {"model": model.as_json(), "sentence": answer.sentence, "charge": hashed}
    content = json.dumps(about, ensure_ascii=False, indent=1)
    with st.container(horizontal=True):
        score_file.offer_model(content, shapes_script(model, answer.sentence, hashed, table.dialect), hashed)
    title, good, bad = (say(f"shapes_page.{code}", target=model.target) for code in ("good_title", "good", "bad"))
    st.html(
        f'<p class="muted">{escape(say("train_page.may"))}</p>'
        f"<h2>{escape(title)}</h2><p>{escape(good)}</p><p>{escape(bad)}</p>"
    )


_STYLE = """<style>.scroll.tall { max-height: 36rem; overflow-y: auto; margin-bottom: 0.8rem; }</style>"""
