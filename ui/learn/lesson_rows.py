"""Lesson 15: a row may be a picture or a curve."""

from __future__ import annotations

from fractions import Fraction
from html import escape

from demos.lessons import rows as demo
from demos.lessons.rows import EPSILONS, FACE, HOURS, KINDS, MOST, NOISES, Figures
from dpengine.messages import say
from dpengine.messages.numbers import to_figures
from ui.learn.lesson import AGAIN, Given, Lesson, Setting, View, numbers, words
from ui.pictures import picture
from ui.pictures.picture import Column

NUMBER = 15
text = words(NUMBER)


def view(given: Given) -> View:
    kind, noise, points = given["kind"], given["noise"], int(given["points"])
    epsilon = Fraction(given["epsilon"])
    result = demo.run(demo.Settings(kind, epsilon, noise, points))
    facts = {"epsilon": epsilon, "scale": to_figures(result.scale, 2), "points": points, "hours": HOURS, "most": MOST}
    facts["pixels"] = len(demo.PIXELS)
    one = text(f"one.{kind}", **facts)
    if kind == "picture":
        drawn, two = _pictures(result), text("two.picture", **facts)
    else:
        drawn, two = _curve(result), text(f"two.{'broken' if result.delta else noise}", **facts)
        drawn += picture.verdict(not result.delta, text("verdict.broken" if result.delta else "verdict.kept", **facts))
    return View(drawn, one, two, text("theorem", **facts), say("card.publish_number.theorem"), text("relation"))


def _pictures(result: Figures) -> str:
    sides = ((text("true"), result.truth), (text("published"), result.published))
    drawn = "".join(f'<div><p class="head">{escape(name)}</p>{_pixels(values)}</div>' for name, values in sides)
    return picture.figure(f'<div class="beside">{drawn}</div>', text("alt.picture"))


def _pixels(values: tuple[float, ...], small: bool = False) -> str:
    cells = "".join(
        f'<i style="background:var(--ink);opacity:{min(max(value, 0.0), 1.0):.2f};aspect-ratio:1"></i>'
        for value in values
    )
    wide = "6rem" if small else "14rem"
    return f'<div style="display:grid;grid-template-columns:repeat({len(FACE)},1fr);max-width:{wide}">{cells}</div>'


def _curve(result: Figures) -> str:
    heights = zip(result.truth, result.published, strict=True)
    places = [
        Column(str(hour) if hour % 6 == 0 else "", (true, min(max(published, 0.0), float(MOST))))
        for hour, (true, published) in enumerate(heights)
    ]
    title = f'<div class="title">{escape(text("axis"))}</div>'
    names = (text("true"), text("published"))
    return picture.columns(places, text("alt.curve"), names, full=float(MOST)) + title


LESSON = Lesson(
    NUMBER,
    (
        Setting("kind", KINDS, "picture", "choice"),
        Setting("noise", NOISES, "own", "choice"),
        Setting("points", numbers(1, HOURS), "1"),
        Setting("epsilon", EPSILONS, "10"),
        AGAIN,
    ),
    view,
    _pixels(tuple(map(float, demo.PIXELS)), small=True),
    shown=lambda given: ("kind", *(() if given["kind"] == "picture" else ("noise", "points")), "epsilon", "again"),
    random=True,
)
