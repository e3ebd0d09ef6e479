"""A trained model: what it says in plain words, what it would say of somebody, how it got there, and its files."""

from __future__ import annotations

import json
from html import escape
from typing import Any

import streamlit as st

import dpengine as dp
from dpengine.core.printed import chance, percent
from dpengine.mechanisms.models.of_gradients import OfGradients
from dpengine.messages import say
from dpengine.released import model_scripts
from dpengine.statistics.features import WEIGHT_BITS, Model
from ui.parts import answer as answers
from ui.parts import counted, fitting
from ui.pictures import charts
from ui.train import score_file, train_check, train_field, train_words
from ui.words.figures import bare
from ui.words.wording import range_words

MOST_LINES = 8  # weights drawn; more cannot be told apart
_COLOURS = ("left", "take", "spent", "muted")
_DASHES = ("solid", "solid", "dash", "dot", "dot", "dot", "longdash", "dashdot")


def show(table: dp.Table, found: dp.Answer) -> None:
    query = found.query
    assert isinstance(query, OfGradients) and found.path is not None
    model = query.model(found.path.weights)
    of = say("answer.of", sentence=found.sentence, table=table.name)
    told, effect = train_words.headline(found)
    hidden = effect.interval is not None and not effect.clear  # then the noise has no headline
    first = say("train_page.hidden") if hidden else told
    lines = [f'<p class="question">{escape(of)}</p><p class="together">{escape(first)}</p>']
    lines.append(f'<p class="lead">{escape(_sure(found, effect, told))}</p>{fitting.html(found)}{counted.html(query)}')
    if found.path.stopped:
        stopped = say("train_page.stopped", done=found.path.steps, total=found.path.of)
        lines.append(f'<p class="warn" role="status">{escape(stopped)}</p>')
    if query.diverges:
        lines.append(f'<p class="warn" role="status">{escape(say("train_page.diverged"))}</p>')
    st.html("".join(lines))
    left, right = st.columns([6, 5], gap="medium")
    with left, st.container(key="card-train-says"):
        st.html(_card(found))
    with right, st.container(key="card-train-try"):
        _try(table, found, model)
    score_file.show(table, found, model)
    with st.container(key="card-train-check"):
        train_check.show(table, model)
    with st.container(key="card-train-path"):
        _path(found, query)
    with st.container(key="card-train-take"):
        _take(table, found, model)
    answers.receipt(found, "trained")
    st.button(say("train_page.another"), key="train-another", on_click=_leave)


def _leave() -> None:
    for name in ("trained", "with", "checked"):
        st.query_params.pop(name, None)


def _sure(found: dp.Answer, effect: train_words.Effect, strongest: str) -> str:
    """How far the noise may have carried the headline; and that it is no cause."""
    query = found.query
    assert isinstance(query, OfGradients)
    reason = query.interval_reason()
    if reason is not None or effect.interval is None:
        told = say(reason) if reason is not None else ""
    elif effect.clear:
        told = say("train_page.clear", chance=chance(query.beta))
    else:
        told = say("train_page.unclear", sentence=strongest)
    return f"{told} {say('train_page.no_cause')}".strip()


def _card(found: dp.Answer) -> str:
    """The model as a score card."""
    query: Any = found.query
    title = say("train_page.card.title")
    told = "number" if not query.layout.listed else "score" if query.layout.sharp else "list"
    lead = say(f"train_page.card.lead_{told}", **_goal(query))
    names = ("when", "times" if told == "list" else "adds", *(["range"] if found.interval else []))
    kinds = ("", "number", "number")
    head = "".join(
        f'<th class="{kind}">{escape(say(f"train_page.card.{name}"))}</th>'
        for name, kind in zip(names, kinds, strict=False)
    )
    body = ""
    for cells in train_words.rows(found):
        body += (
            "<tr>"
            + "".join(
                f'<td class="{kind}">{escape(cell)}</td>' for cell, kind, _ in zip(cells, kinds, names, strict=False)
            )
            + "</tr>"
        )
    note = ""
    if found.interval:
        note = f'<p class="muted">{escape(say("train_page.card.ranges", chance=chance(query.beta)))}</p>'
    elif reason := query.interval_reason():
        note = f'<p class="muted">{escape(say(reason))}</p>'
    worth = range_words(found)
    return (
        f"<h2>{escape(title)}</h2><p class='muted'>{escape(lead)}</p>"
        f'<div class="scroll tall" tabindex="0" role="region" aria-label="{escape(title)}">'
        f'<table class="plain"><tr>{head}</tr>{body}</table></div>'
        f'{note}<p class="muted">{escape(worth)}</p>{_STYLE}'
    )


def _goal(query: Any) -> dict[str, Any]:
    return {"target": query.target} | ({"yes": list(query.positive)} if hasattr(query, "positive") else {})


# --- what it would say ------------------------------------------------------------------------------------------------


def _try(table: dp.Table, found: dp.Answer, model: Model) -> None:
    st.html(f"<h2>{escape(say('train_page.try'))}</h2><p class='muted'>{escape(say('train_page.try_lead'))}</p>")
    kept = train_field.typed(st.query_params.get("with"))
    values = {
        name: train_field.field(name, column, kept.get(name), f"train-with-{found.request_id}-{name}")
        for name, column in zip(model.layout.names, model.layout.columns, strict=True)
    }
    told = json.dumps(values, ensure_ascii=False)
    if st.query_params.get("with") != told:
        st.query_params["with"] = told
    said = model.predict(values)
    query: Any = found.query
    if not model.layout.listed:
        told = say("train_page.would_number", value=bare(said), target=query.target)
    elif model.layout.sharp:
        code = "train_page.would_yes" if said >= 0 else "train_page.would_no"
        told = say(code, score=bare(said), yes=list(query.positive), target=query.target)
    else:
        told = say("train_page.would_list", share=percent(said), yes=list(query.positive), target=query.target)
    told = told.replace(" %", "\u00a0%")
    st.html(f'<p class="together" role="status">{escape(told)}</p>')
    goal = model.layout.goal
    if isinstance(goal, dp.Number) and not goal.lower <= said <= goal.upper:
        st.html(f'<p class="muted">{escape(say("train_page.outside", low=goal.lower, high=goal.upper))}</p>')


# --- how it got there -------------------------------------------------------------------------------------------------


def _path(found: dp.Answer, query: OfGradients) -> None:
    assert found.path is not None
    names = query.shown()
    size = 2.0**WEIGHT_BITS
    moves = {
        label: [(float(step), point[place] / size) for step, point in found.path.points]
        for place, label in enumerate(query.labels())
    }
    strongest = sorted(moves, key=lambda label: -abs(moves[label][-1][1]))[:MOST_LINES]
    lines = [
        charts.Line(
            names.get(label, label),
            moves[label],
            None,
            _COLOURS[place % len(_COLOURS)],
            _DASHES[place],
        )
        for place, label in enumerate(label for label in moves if label in strongest)
    ]
    told = say("train_page.path_lead") + (
        " " + say("train_page.path_some", shown=len(lines)) if len(moves) > len(lines) else ""
    )
    st.html(f"<h2>{escape(say('train_page.path'))}</h2><p class='muted'>{escape(told)}</p>")
    charts.curves(
        lines,
        say("train_page.axis.step"),
        say("train_page.axis.weight"),
        say("train_page.alt.path"),
        "train-path",
        even=True,
    )


# --- take it away -----------------------------------------------------------------------------------------------------


def _take(table: dp.Table, found: dp.Answer, model: Model) -> None:
    hashed = found.receipt["charge"]["hash"]
    st.html(f"<h2>{escape(say('train_page.take'))}</h2><p class='muted'>{escape(say('train_page.take_lead'))}</p>")
    with st.container(horizontal=True):
        st.download_button(
            say("train_page.json"),
            model_json(found, model),
            f"model-{hashed[:8]}.json",
            "application/json",
            key="train-json",
            type="primary",
            on_click="ignore",
        )
        st.download_button(
            say("train_page.python"),
            model_scripts.linear_script(model, found.sentence, hashed, table.dialect),
            f"model_{hashed[:8]}.py",
            "text/x-python",
            key="train-python",
            on_click="ignore",
        )
    st.html(f'<p class="muted">{escape(say("train_page.may"))}</p>')


def model_json(found: dp.Answer, model: Model) -> str:
    """The model exactly, and its coefficients in the units of the columns."""
    told = {"model": model.as_json(), "coefficients": found.value, "intervals": found.interval}
    told |= {"sentence": found.sentence, "charge": found.receipt["charge"]["hash"]}
    return json.dumps(told, ensure_ascii=False, indent=1)


_STYLE = """<style>.scroll.tall { max-height: 36rem; overflow-y: auto; margin-bottom: 0.8rem; }</style>"""
