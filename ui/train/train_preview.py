"""A model's expected value, from public facts: three kinds of noise side by side, by steps and spend."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from html import escape
from math import sqrt

import streamlit as st

import dpengine as dp
from dpengine.asking.answers import round_up_two
from dpengine.core.printed import power_of_ten, three_figures, two_figures
from dpengine.mechanisms.models import excess
from dpengine.mechanisms.models.excess import CALIBRATIONS, COORDINATE, L2_LAPLACE, TrainingSetting
from dpengine.mechanisms.models.of_gradients import MOST_STEPS, OfGradients
from dpengine.messages import plain, say
from dpengine.messages.numbers import to_figures
from dpengine.planning.training import StepsOption, lecture_steps
from ui.pictures import charts
from ui.words import gloss

# --- the number of steps: this training's and the lecture's, with their price and promise

_LENGTHS = (("second", 1), ("minute", 60), ("hour", 3600), ("day", 86_400), ("year", 31_557_600))


def steps_html(query: OfGradients, delta: Fraction) -> str:
    lecture = lecture_steps(query, delta)
    if lecture is None:
        return f'<p class="muted">{escape(say("train_page.lecture_no_delta"))}</p>'
    head = _head("which", "steps", "time", "worse")
    body = "".join(_row(query, option) for option in lecture.options)
    facts = {"epsilon": three_figures(lecture.epsilon), "delta": power_of_ten(delta), "width": query.width}
    lines = [say("train_page.lecture_price", people=lecture.people, steps=query.steps, about=query.people, **facts)]
    if not lecture.steps:
        lines.append(say("train_page.lecture_none", people=lecture.for_one))
    elif lecture.steps > MOST_STEPS:
        lines.append(say("train_page.lecture_capped", most=MOST_STEPS))
    lines.append(say("train_page.lecture_estimate"))
    below = "".join(f'<p class="muted">{gloss.text(line)}</p>' for line in lines)
    lead = f'<p class="muted">{escape(say("train_page.lecture_lead"))}</p>'
    return f"{lead}<div class='scroll'><table class='plain noises'><tr>{head}</tr>{body}</table></div>{below}"


def _head(first: str, *numbers: str) -> str:
    titles = "".join(f'<th class="number">{escape(say(f"train_page.column.{name}"))}</th>' for name in numbers)
    return f"<th>{escape(say(f'train_page.column.{first}'))}</th>{titles}"


def _row(query: OfGradients, option: StepsOption) -> str:
    worse = query.promise().at(option.risk).said("train_page.short", query)
    cells = [plain(option.steps), _length(option.seconds), worse]
    numbers = "".join(f'<td class="number">{escape(cell)}</td>' for cell in cells)
    title = escape(say(f"train_page.steps_of.{option.kind}"))
    return f"<tr><td>{f'<b>{title}</b>' if option.kind == 'this' else title}</td>{numbers}</tr>"


def _length(seconds: float) -> str:
    unit, size = next(pair for pair in reversed(_LENGTHS) if seconds >= pair[1] or pair[1] == 1)
    many = round_up_two(Fraction(seconds) / size) if seconds > size else 1
    return say(f"train_page.time.{unit}", many=max(int(many), 1))


STEPS = (1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200, 300, 500, 700, MOST_STEPS)
SPENDS = (0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3, 5, 10, 20)  # times the chosen ε
_DRAWN = {"gaussian": ("left", "solid"), "l2_laplace": ("take", "dash"), "coordinate": ("spent", "dot")}
_WITHOUT = ("muted", "longdash")


def show(query: OfGradients, offers: dict[str, OfGradients | dp.AllowanceError], delta: Fraction) -> None:
    promise = query.promise()
    html = [f"<p><b>{escape(promise.said('train_page.promise', query))}</b></p>"]
    supposed = "train_page.nominal_where" if query.conditional else "train_page.nominal"
    nominal = f"{say(supposed)} " if promise.nominal else ""
    html.append(f'<p class="muted">{escape(nominal + say("train_page.worst_case"))}</p>')
    st.html("".join(html))
    setting, now = query.setting, float(query.epsilon)
    with st.expander(say("train_page.figures")):
        st.html(_noises_html(query, offers))
        st.html(f"<h2>{escape(say('train_page.against_steps'))}</h2>")
        _draw(query, excess.along_steps(setting, sorted({*STEPS, query.steps})), float(query.steps), "steps")
        st.html(steps_html(query, delta))
        st.html(f"<h2>{escape(say('train_page.against_epsilon'))}</h2>")
        _draw(query, excess.along_epsilon(setting, [now * times for times in SPENDS]), now, "epsilon")
        st.html(_figures_html(query))


def _draw(query: OfGradients, curves: dict[str, list[tuple[float, float]]], now: float, axis: str) -> None:
    """Each kind of noise at its best step size; the dot is the chosen kind at the current setting."""
    lines = []
    for name in [noise for noise in CALIBRATIONS if noise in curves]:
        points = [(x, query.goal.error(risk)) for x, risk in curves[name]]
        here = next((point for point in points if point[0] == now), None)
        mark = here if name == query.calibration else None
        lines.append(charts.Line(say(f"train_page.calibration.{name}"), points, mark, *_DRAWN[name]))
    bare = [(x, query.goal.error(risk)) for x, risk in curves["plain"]]
    lines.append(charts.Line(say("train_page.limit"), bare, None, *_WITHOUT))
    alt = say(f"train_page.alt.{axis}")
    charts.curves(lines, say(f"train_page.axis.{axis}"), query.goal.axis(), alt, f"train-{axis}", 320)


def people_of(setting: TrainingSetting) -> float:
    """The number of people who, all pulling one way, move a step as far as its noise does."""
    return sqrt(setting.noise / setting.stretch / setting.width) * setting.people / setting.clip


def _times(setting: TrainingSetting) -> float:
    """The noise weight by weight, divided by the noise of one length, at the same ε and steps."""
    by_weight, by_length = (people_of(replace(setting, calibration=name)) for name in (COORDINATE, L2_LAPLACE))
    return by_weight / by_length


def _noises_html(query: OfGradients, offers: dict[str, OfGradients | dp.AllowanceError]) -> str:
    """What the same spend buys with each kind of noise."""
    head = _head("noise", "scale", "worse")
    rows = ""
    for name in CALIBRATIONS:
        title, offer = escape(say(f"train_page.calibration.{name}")), offers[name]
        if name == query.calibration:
            title = f"<b>{title}</b> · {escape(say('train_page.used'))}"
        cells = f"<td>{title}</td>"
        if isinstance(offer, OfGradients):
            people = say("train_page.scale", people=round_up_two(Fraction(people_of(offer.setting))))
            above = offer.promise().said("train_page.short", offer)
            cells += f'<td class="number">{escape(people)}</td><td class="number">{escape(above)}</td>'
        else:
            cells += f'<td colspan="2" class="muted">{escape(str(offer))}</td>'
        rows += f"<tr>{cells}</tr>"
    title = f"<h2>{escape(say('train_page.noises'))}</h2><p class='muted'>{escape(say('train_page.noises_lead'))}</p>"
    table = f"<table class='plain noises'><tr>{head}</tr>{rows}</table>"
    return f"{title}<div class='scroll' tabindex='0'>{table}</div>{_STYLE}"


def _figures_html(query: OfGradients) -> str:
    """The parameters, for experts."""
    promise, names = query.promise(), ("steps", "radius", "clip", "width", "people", "epsilon")
    parameters = {name: getattr(query, name) for name in names}
    bounds = {name: two_figures(getattr(promise, name)) for name in ("risk", "plain", "limit")}
    lines = [
        *(say(f"train_page.means.{name}", times=to_figures(_times(query.setting), 2)) for name in CALIBRATIONS),
        say("train_page.parameters", rate=two_figures(query.rate), **parameters),
        say("train_page.bounds", **bounds),
        say("receipt.theorem", theorem=query.theorem),
        *query.card.caveat_texts,
    ]
    return "".join(f'<p class="muted">{gloss.text(line)}</p>' for line in lines)


_STYLE = """<style>table.plain.noises th.number { white-space: normal; }</style>"""
