"""Lesson 9: why asking many questions fools you, on a table of coin flips."""

from __future__ import annotations

import math

from demos import overfitting as demo
from demos.overfitting import Outcome, points
from dpengine.accountant.filter import usual_delta
from dpengine.core.exact import ceiling
from dpengine.core.printed import percent, power_of_ten
from dpengine.messages import say
from dpengine.population import people_needed
from ui.learn.lesson import Given, Lesson, Setting, View, numbers, words
from ui.parts import exports
from ui.pictures import charts, picture
from ui.pictures.picture import Column
from ui.shell.frame import paragraph

NUMBER = 9
_LINES = {"exact": ("take", "solid"), "fresh": ("spent", "dash"), "private": ("left", "solid")}
text = words(NUMBER)


def view(given: Given) -> View:
    result = demo.run(demo.read(dict(given)))
    settings = result.settings
    compared = people_needed.comparison(settings.people, settings.questions, yes_no=True)
    simulated = say("overfitting.simulated", seed=settings.seed)
    exact, fresh, private, after = (
        percent(round(shares[-1], 2)) for shares in (result.exact, result.fresh, result.private, result.private_fresh)
    )
    fooled = abs(result.private[-1] - 0.5) > float(result.noise.alpha)
    code = "overfitting.fooled" if fooled else "overfitting.private"
    second = say(code, private=private, alpha=ceiling(100 * result.noise.alpha), fresh=after)
    one, two = say("overfitting.exact", exact=exact, fresh=fresh), second
    theorem = "\n".join((_terms(result), _proof(result), compared, simulated))
    return View("", one, two, theorem, text("source"), text("relation"), result)


def _terms(result: Outcome) -> str:
    settings, noise = result.settings, result.noise
    return say(
        "overfitting.terms",
        questions=settings.questions,
        epsilon=settings.epsilon,
        delta=power_of_ten(usual_delta(settings.people)),
        alpha=people_needed.points_above(noise.alpha),
        sigma=points(math.sqrt(float(noise.amount)) / settings.people),
    )


def _proof(result: Outcome) -> str:
    width = result.width
    code = "overfitting.proof" if width.width < 0.5 else "overfitting.proof_empty"
    return say(code, width=people_needed.points_above(width.width), theorem=width.theorem)


def draw(view: View) -> None:
    result: Outcome = view.data
    paragraph(say("overfitting.how", questions=result.settings.questions))
    alpha = float(result.noise.alpha)
    lines = []
    for name, (colour, dash) in _LINES.items():
        shares = zip(map(float, result.votes), getattr(result, name), strict=True)
        margin = alpha if name == "private" else 0
        lines.append(charts.Line(say(f"overfitting.line.{name}"), list(shares), None, colour, dash, margin))
    ends = (
        max(0.0, min(0.4, min(result.private) - alpha - 0.02)),
        min(1.0, max(0.75, max(result.private) + alpha + 0.02, max(result.exact) + 0.02)),
    )
    alt = say(
        "overfitting.alt", exact=percent(round(result.exact[-1], 2)), private=percent(round(result.private[-1], 2))
    )
    charts.curves(
        lines, say("overfitting.axis.votes"), say("overfitting.axis.right"), alt, "overfitting-chart", 400, shares=ends
    )


def beside(view: View) -> None:
    result: Outcome = view.data
    header = [say("overfitting.print.votes"), *(say(f"overfitting.line.{name}") for name in _LINES)]
    rows = zip(result.votes, *(getattr(result, name) for name in _LINES), strict=True)
    exports.offer(say("overfitting.csv"), exports.as_csv(header, rows), "many-questions.csv", "overfitting-csv")


LESSON = Lesson(
    NUMBER,
    (
        Setting("features", ("5", "25", "100", "250", "500", "1000", "2500"), "1000"),
        Setting("seed", numbers(1, 99), "1", "again"),
        Setting("epsilon", ("0.5", "1", "3", "10"), "1", "choice", more=True),
        Setting("people", ("1000", "2000", "5000"), "5000", "choice", more=True),
    ),
    view,
    picture.columns([Column("", pair) for pair in ((0.52, 0.5), (0.6, 0.5), (0.71, 0.5))], "", full=0.75, small=True),
    draw=draw,
    beside=beside,
)
