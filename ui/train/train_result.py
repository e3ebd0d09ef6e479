"""A trained model: in plain words, for a made-up person, its path, and its files."""

from __future__ import annotations

import json
from dataclasses import dataclass
from fractions import Fraction
from html import escape
from math import exp
from typing import Any

import streamlit as st

import dpengine as dp
from dpengine.core.printed import chance, percent
from dpengine.declared.date_column import Date
from dpengine.declared.schema import Category, Number
from dpengine.mechanisms.models.of_gradients import OfGradients
from dpengine.messages import plain, say
from dpengine.released.model_scripts import linear_script
from dpengine.statistics.features import CONSTANT, WEIGHT_BITS, Model
from ui.ask import answer as answers
from ui.parts import answer_notes
from ui.pictures import charts
from ui.shell import nav
from ui.train import score_file, train_check
from ui.words.figures import bare, rounded, rounded_range
from ui.words.wording import range_words

# --- in plain words: each column's effect on the prediction, in its own unit, and how sure it is

Interval = tuple[float, float]
WIDE_ODDS = 10.0  # the ends of such a range of log-odds differ by a factor of more than 20,000


@dataclass(frozen=True)
class Effect:
    """The effect of changing one column, all else equal: on the prediction, or for yes and no on the log-odds or
    score."""

    column: str
    value: float
    interval: Interval | None
    reach: float  # the largest possible effect
    by: str = ""  # for a number: this much more of it
    label: str = ""  # for a list: this value …
    base: str = ""  # … rather than this one

    @property
    def clear(self) -> bool:
        """Is it more than noise? False if the range is unknown."""
        return self.interval is not None and not self.interval[0] <= 0 <= self.interval[1]


def step_of(column: Number | Date) -> Fraction:
    """A round, imaginable change: about a tenth of the range."""
    width = column.diameter
    best = Fraction(1)
    power = Fraction(10) ** (len(str(int(width))) + 1)
    while power > width / 10**4:
        for digit in (5, 2, 1):
            if digit * power <= width / 7:
                return max(digit * power, getattr(column, "step", best))
        power /= 10
    return width


def _by(column: Number | Date, step: Fraction) -> str:
    return say("train_page.days", days=step) if isinstance(column, Date) else plain(step)


def effects(answer: dp.Answer) -> list[Effect]:
    """One effect for each number and date, one for each list: the two values that differ most."""
    query = answer.query
    assert isinstance(query, OfGradients)
    each = []
    for name in query.features:
        column = query.facts.schema[name]
        if isinstance(column, Category):
            each.append(_widest(answer, name, column))
        else:
            assert isinstance(column, Number | Date)
            step = step_of(column)
            reach = abs(answer.value[name]) * float(column.diameter)
            each.append(Effect(name, *_times(answer, name, float(step)), reach, by=_by(column, step)))
    return each


def _times(answer: dp.Answer, label: str, factor: float) -> tuple[float, Interval | None]:
    interval = answer.interval and tuple(end * factor for end in answer.interval[label])
    return answer.value[label] * factor, interval or None


def _widest(answer: dp.Answer, name: str, column: Category) -> Effect:
    each = {label: answer.value[f"{name} = {label}"] for label in column.values}
    low, high = min(each, key=each.__getitem__), max(each, key=each.__getitem__)
    value, interval = each[high] - each[low], None
    if answer.interval:
        (least_a, most_a), (least_b, most_b) = (answer.interval[f"{name} = {label}"] for label in (high, low))
        interval = least_a - most_b, most_a - least_b
    return Effect(name, value, interval, abs(value), label=high, base=low)


def headline(answer: dp.Answer) -> tuple[str, Effect]:
    """The strongest effect as a sentence; effects clear of the noise go first."""
    strongest = max(effects(answer), key=lambda effect: (effect.clear, effect.reach))
    return sentence(answer, strongest), strongest


def sentence(answer: dp.Answer, effect: Effect) -> str:
    """“For every 10 more of age, monthly_income is about 120 higher, all else equal.”"""
    query: Any = answer.query
    kind = "by" if effect.by else "value"
    facts: dict[str, Any] = {"column": effect.column, "by": effect.by, "label": effect.label, "base": effect.base}
    facts = {name: fact for name, fact in facts.items() if fact}
    if not query.layout.listed:
        away = "higher" if effect.value >= 0 else "lower"
        return say(f"train_page.says.{kind}.{away}", amount=_amount(effect), target=query.target, **facts)
    yes = list(query.positive)
    if query.layout.sharp:
        away = "score_higher" if effect.value >= 0 else "score_lower"
        return say(f"train_page.says.{kind}.{away}", amount=_amount(effect), yes=yes, target=query.target, **facts)
    return say(f"train_page.says.{kind}.odds", times=_odds(effect.value), yes=yes, target=query.target, **facts)


def _amount(effect: Effect) -> str:
    """Without its sign, to the places that its range supports, but never rounded to nothing."""
    if effect.interval is not None:
        text = rounded(abs(effect.value), abs(effect.value) - _half(effect), abs(effect.value) + _half(effect))
        if any(digit in text for digit in "123456789"):
            return text
    return bare(abs(effect.value))


def _half(effect: Effect) -> float:
    return (effect.interval[1] - effect.interval[0]) / 2 if effect.interval else 0.0


def _odds(value: float) -> str:
    return bare(exp(max(min(value, 40.0), -40.0)))


def word_rows(answer: dp.Answer) -> list[tuple[str, str, str]]:
    """A score card: the condition, what it adds or multiplies the odds by, and the range."""
    query: Any = answer.query
    rows = []
    for label in answer.value:
        column = query.facts.schema[label] if label in query.features else None
        factor, when = 1.0, label
        if label == CONSTANT:
            when = say("train_page.card.begin")
        elif isinstance(column, Number | Date):
            step = step_of(column)
            factor, when = float(step), say("train_page.card.by", by=_by(column, step), column=label)
        value, interval = _times(answer, label, factor)
        rows.append((when, *_cells(query, value, interval, label == CONSTANT)))
    return rows


def _cells(query: Any, value: float, interval: Interval | None, first: bool) -> tuple[str, str]:
    """A range wider than everything possible is no range."""
    wide = WIDE_ODDS if query.layout.listed else 2 * float(query.facts.schema[query.target].diameter)
    nothing = interval is not None and interval[1] - interval[0] >= wide
    amount, spread = _figures(query, value, interval, first)
    return amount, say("train_page.card.anything") if nothing else spread


def _figures(query: Any, value: float, interval: Interval | None, first: bool) -> tuple[str, str]:
    if not query.layout.listed or query.layout.sharp:
        amount = bare(value)  # in full, because the reader calculates with it
        spread = " – ".join(rounded_range(*interval)) if interval else ""
        return amount if first or value < 0 else f"+{amount}", spread
    spread = " – ".join(_odds(end) for end in interval) if interval else ""
    return _odds(value) if first else f"× {_odds(value)}", spread


MOST_LINES = 8  # weights drawn; more cannot be distinguished
_COLOURS = ("left", "take", "spent", "muted")
_DASHES = ("solid", "solid", "dash", "dot", "dot", "dot", "longdash", "dashdot")


def show(table: dp.Table, answer: dp.Answer) -> None:
    query = answer.query
    assert isinstance(query, OfGradients) and answer.path is not None
    model = query.model(answer.path.weights)
    of = say("answer.of", sentence=answer.sentence, table=table.name)
    sentence_shown, effect = headline(answer)
    hidden = effect.interval is not None and not effect.clear  # no headline for noise
    first = say("train_page.hidden") if hidden else sentence_shown
    lines = [
        f'<p class="question">{escape(of)}</p><p class="together">{escape(first)}</p>',
        f'<p class="lead">{escape(_sure(answer, effect, sentence_shown))}</p>',
        f"{answer_notes.fit_notes(answer)}{answer_notes.cut_note(query)}",
    ]
    if answer.path.stopped:
        stopped = say("train_page.stopped", done=answer.path.steps, total=answer.path.of)
        lines.append(f'<p class="warn" role="status">{escape(stopped)}</p>')
    if query.diverges:
        lines.append(f'<p class="warn" role="status">{escape(say("train_page.diverged"))}</p>')
    st.html("".join(lines))
    left, right = st.columns([6, 5], gap="medium")
    with left, st.container(key="card-train-says"):
        st.html(_card(answer))
    with right, st.container(key="card-train-try"):
        _try(table, answer, model)
    score_file.show(table, answer, model)
    with st.container(key="card-train-check"):
        train_check.show(table, model)
    with st.container(key="card-train-path"):
        _path(answer, query)
    with st.container(key="card-train-take"):
        _take(table, answer, model)
    answers.receipt(answer, "trained")
    back = ("trained", "with", "checked")
    st.button(say("train_page.another"), key="train-another", on_click=nav.forget, args=back)


def _sure(answer: dp.Answer, effect: Effect, strongest: str) -> str:
    """How far the noise may have moved the headline; and that it shows no cause."""
    query: Any = answer.query
    reason = query.interval_reason()
    if reason is not None or effect.interval is None:
        message = say(reason) if reason is not None else ""
    elif effect.clear:
        message = say("train_page.clear", chance=chance(query.beta))
    else:
        message = say("train_page.unclear", sentence=strongest)
    return f"{message} {say('train_page.no_cause')}".strip()


def _card(answer: dp.Answer) -> str:
    """The model as a score card."""
    query: Any = answer.query
    title = say("train_page.card.title")
    heads = "number" if not query.layout.listed else "score" if query.layout.sharp else "list"
    lead = say(f"train_page.card.lead_{heads}", **_goal(query))
    names = ("when", "times" if heads == "list" else "adds", *(["range"] if answer.interval else []))
    kinds = ("", "number", "number")
    head = "".join(
        f'<th class="{kind}">{escape(say(f"train_page.card.{name}"))}</th>'
        for name, kind in zip(names, kinds, strict=False)
    )
    body = ""
    for cells in word_rows(answer):
        shown = zip(cells, kinds, names, strict=False)
        body += "<tr>" + "".join(f'<td class="{kind}">{escape(cell)}</td>' for cell, kind, _ in shown) + "</tr>"
    note = ""
    if answer.interval:
        note = f'<p class="muted">{escape(say("train_page.card.ranges", chance=chance(query.beta)))}</p>'
    elif reason := query.interval_reason():
        note = f'<p class="muted">{escape(say(reason))}</p>'
    worth = range_words(answer)
    return (
        f"<h2>{escape(title)}</h2><p class='muted'>{escape(lead)}</p>"
        f'<div class="scroll tall" tabindex="0" role="region" aria-label="{escape(title)}">'
        f'<table class="plain"><tr>{head}</tr>{body}</table></div>'
        f'{note}<p class="muted">{escape(worth)}</p>{_STYLE}'
    )


def _goal(query: Any) -> dict[str, Any]:
    return {"target": query.target} | ({"yes": list(query.positive)} if hasattr(query, "positive") else {})


# --- what it would say ------------------------------------------------------------------------------------------------


def _try(table: dp.Table, answer: dp.Answer, model: Model) -> None:
    st.html(f"<h2>{escape(say('train_page.try'))}</h2><p class='muted'>{escape(say('train_page.try_lead'))}</p>")
    kept = train_check.typed(st.query_params.get("with"))
    values = {
        name: train_check.model_field(name, column, kept.get(name), f"train-with-{answer.request_id}-{name}")
        for name, column in zip(model.layout.names, model.layout.columns, strict=True)
    }
    message = json.dumps(values, ensure_ascii=False)
    if st.query_params.get("with") != message:
        st.query_params["with"] = message
    prediction = model.predict(values)
    query: Any = answer.query
    if not model.layout.listed:
        message = say("train_page.would_number", value=bare(prediction), target=query.target)
    elif model.layout.sharp:
        code = "train_page.would_yes" if prediction >= 0 else "train_page.would_no"
        message = say(code, score=bare(prediction), yes=list(query.positive), target=query.target)
    else:
        message = say("train_page.would_list", share=percent(prediction), yes=list(query.positive), target=query.target)
    message = message.replace(" %", "\u00a0%")
    st.html(f'<p class="together" role="status">{escape(message)}</p>')
    goal = model.layout.goal
    if isinstance(goal, dp.Number) and not goal.lower <= prediction <= goal.upper:
        st.html(f'<p class="muted">{escape(say("train_page.outside", low=goal.lower, high=goal.upper))}</p>')


# --- how it got there -------------------------------------------------------------------------------------------------


def _path(answer: dp.Answer, query: OfGradients) -> None:
    assert answer.path is not None
    names = query.shown()
    size = 2.0**WEIGHT_BITS
    moves = {
        label: [(float(step), point[place] / size) for step, point in answer.path.points]
        for place, label in enumerate(query.labels())
    }
    strongest = sorted(moves, key=lambda label: -abs(moves[label][-1][1]))[:MOST_LINES]
    lines = [
        charts.Line(names.get(label, label), moves[label], None, _COLOURS[place % len(_COLOURS)], _DASHES[place])
        for place, label in enumerate(label for label in moves if label in strongest)
    ]
    lead = say("train_page.path_lead")
    lead += " " + say("train_page.path_some", shown=len(lines)) if len(moves) > len(lines) else ""
    st.html(f"<h2>{escape(say('train_page.path'))}</h2><p class='muted'>{escape(lead)}</p>")
    step, weight, alt = (say(f"train_page.{code}") for code in ("axis.step", "axis.weight", "alt.path"))
    charts.curves(lines, step, weight, alt, "train-path", even=True)


# --- take it away -----------------------------------------------------------------------------------------------------


def _take(table: dp.Table, answer: dp.Answer, model: Model) -> None:
    hashed = answer.receipt["charge"]["hash"]
    st.html(f"<h2>{escape(say('train_page.take'))}</h2><p class='muted'>{escape(say('train_page.take_lead'))}</p>")
    with st.container(horizontal=True):
        script = linear_script(model, answer.sentence, hashed, table.dialect)
        score_file.offer_model(model_json(answer, model), script, hashed)
    st.html(f'<p class="muted">{escape(say("train_page.may"))}</p>')


def model_json(answer: dp.Answer, model: Model) -> str:
    """The exact model, and its coefficients in the columns' units."""
    content = {"model": model.as_json(), "coefficients": answer.value, "intervals": answer.interval}
    content |= {"sentence": answer.sentence, "charge": answer.receipt["charge"]["hash"]}
    return json.dumps(content, ensure_ascii=False, indent=1)


_STYLE = """<style>.scroll.tall { max-height: 36rem; overflow-y: auto; margin-bottom: 0.8rem; }</style>"""
