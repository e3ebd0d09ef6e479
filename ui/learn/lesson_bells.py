"""Lesson 8: do a hundred questions leak a hundred times as much?"""

from __future__ import annotations

from fractions import Fraction
from html import escape

import streamlit as st

from demos.lessons import bells as demo
from demos.lessons.bells import Figures, Settings
from dpengine.core.exact import text_of
from dpengine.core.printed import percent, power_of_ten
from dpengine.core.types import Floats
from dpengine.messages.numbers import local, to_figures
from ui.learn.lesson import Given, Lesson, Setting, View, words
from ui.pictures import picture
from ui.pictures.picture import Column
from ui.pictures.svg import Axis
from ui.shell.language import written
from ui.words.markup import p

NUMBER = 8
FEW = 21  # different losses
text = words(NUMBER)


def view(given: Given) -> View:
    settings = Settings(int(given["questions"]), Fraction(given["epsilon"]))
    result = demo.figures(settings)
    few = result.simple - result.exact < 0.01 * result.simple
    facts: dict[str, object] = {"questions": settings.questions, "epsilon": settings.epsilon}
    facts |= {name: _three(getattr(result, name)) for name in ("simple", "exact", "lecture", "middle", "width")}
    facts |= {"right": percent(1 - result.misled), "guessed": percent(result.guessed)}
    drawn = f'<div class="beside narrow">{_answer(settings)}{_bells(result, few)}</div>'
    one = text("one.single" if settings.questions == 1 else "one.few" if few else "one", **facts)
    two, theorem = text("two.sure" if result.guessed > 0.995 else "two", **facts), text("theorem", **facts)
    return View(drawn, one, two, theorem, text("source"), text("relation"), demo.lemmas(settings))


def beside(view: View) -> None:
    """Draw a table below the theorem: both lemmas behind strong composition, their bound and the exact values."""
    result: demo.Lemmas = view.data
    figures = (("coin", result.coin), ("laplace", result.laplace), ("bound", result.bound))
    rows = "".join(
        f'<tr><th scope="row" dir="auto">{escape(text(f"lemma.{name}"))}</th>'
        f'<td class="number">{to_figures(float(value), 3)}</td></tr>'
        for name, value in figures
    )
    small = text("lemma.tail", above=_small_chance(result.above), delta=_small_chance(result.delta))
    words = [text("lemma.three"), small, text("lemma.four")]
    paragraphs = "".join(f"<p{written()}>{escape(line)}</p>" for line in words)
    head = f'<tr><td></td><th scope="col" class="number" dir="auto">{escape(text("lemma.head"))}</th></tr>'
    title = escape(text("lemma.title"))
    region = f'class="scroll" role="region" tabindex="0" aria-label="{title}"'
    table = f'<div {region}><table class="plain">{head}{rows}</table></div>'
    st.html(f"<p{written()}><b>{title}</b></p>{paragraphs}{table}")


def _small_chance(value: float) -> str:
    return power_of_ten(Fraction(value)) if value > 1e-300 else "0"


def _three(value: float) -> str:
    return local(f"{value:,.0f}") if value >= 100 else to_figures(value, 3)


def _answer(settings: Settings) -> str:
    """HTML: the distribution of one answer under each table, where the two bells nearly coincide."""
    values, first, second = demo.answers(float(settings.epsilon), 4)
    places = [Column(str(value), pair) for value, pair in zip(values, zip(first, second, strict=True), strict=True)]
    head = p(text("answer.title"), "head")
    names = text("first", value=demo.FIRST), text("second", value=demo.SECOND)
    return f"<div>{head}{picture.columns(places, text('alt.answer'), names)}</div>"


def _bells(result: Figures, few: bool) -> str:
    """HTML: the distribution of all answers together under each table, on an axis as wide as the worst case."""
    step = result.losses[1] - result.losses[0]
    axis = Axis(-result.simple - step / 2, result.simple + step / 2, 0, 100, False)
    areas = _areas(result, axis, float(max(result.first.max(), result.second.max())))
    marks = [(result.simple, "worst", text("mark.worst", simple=_three(result.simple)))]
    if not few:
        marks.append((result.exact, "exact", text("mark.exact", exact=_three(result.exact))))
    lines = "".join(
        f'<b class="{kind}{" end" if at > 0.1 * result.simple else ""}" style="left:{axis.place(at):.2f}%">'
        f"<span>{escape(words)}</span></b>"
        for at, kind, words in marks
    )
    sides = "".join(f"<span>{escape(text(side))}</span>" for side in ("side.second", "side.first"))
    head = p(text("bells.title"), "head")
    alt = text("alt.bells", guessed=percent(result.guessed), simple=_three(result.simple), exact=_three(result.exact))
    under = f'{picture.ticks(axis)}<div class="sides">{sides}</div>'
    return picture.figure(f'{head}<div class="law">{areas}{lines}</div>{under}', alt, "bells")


def _areas(result: Figures, axis: Axis, tall: float) -> str:
    """HTML: two overlapping bells; a few bars stand side by side."""
    sides = ((-0.4, 0.0), (0.0, 0.4)) if len(result.losses) <= FEW else ((-0.5, 0.5),) * 2
    drawn = ""
    for world, (law, side) in enumerate(zip((result.first, result.second), sides, strict=True)):
        drawn += f'<i class="p{world}" style="clip-path:polygon({_outline(result.losses, law, axis, tall, side)})"></i>'
    return drawn


def _outline(losses: Floats, law: Floats, axis: Axis, tall: float, side: tuple[float, float]) -> str:
    """The outline of one bell as CSS points: a bar for each loss, without bars too low to see."""
    step = float(losses[1] - losses[0])
    points: list[tuple[float, float]] = []
    for loss, chance in zip(losses.tolist(), law.tolist(), strict=True):
        height = 74 * chance / tall
        left, right = (axis.place(loss + end * step) for end in side)
        points += [(left, 0), (left, height), (right, height), (right, 0)] if height >= 0.05 else []
    return ",".join(f"{x:.2f}% {100 - height:.2f}%" for x, height in points)


def _small() -> str:
    result = demo.figures(Settings(100, Fraction(1, 10)))
    areas = _areas(result, Axis(-result.simple / 2, result.simple / 2, 0, 100, False), float(result.first.max()))
    return f'<div class="picture bells"><div class="law">{areas}</div></div>'


LESSON = Lesson(
    NUMBER,
    (
        Setting("questions", tuple(map(str, demo.QUESTIONS)), "100"),
        Setting("epsilon", tuple(map(text_of, demo.EPSILONS)), "0.05", "choice", more=True),
    ),
    view,
    _small(),
    beside=beside,
)
