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
from dpengine.messages import plain
from dpengine.messages.numbers import local, to_figures
from ui.learn.lesson import Given, Lesson, Setting, View, words
from ui.pictures import picture
from ui.pictures.picture import Column
from ui.pictures.svg import Axis
from ui.shell.language import written

NUMBER = 8
FEW = 21  # different losses
tell = words(NUMBER)


def view(given: Given) -> View:
    settings = Settings(int(given["questions"]), Fraction(given["epsilon"]))
    found = demo.figures(settings)
    few = found.simple - found.exact < 0.01 * found.simple
    facts = {
        "questions": settings.questions,
        "epsilon": settings.epsilon,
        "simple": _three(found.simple),
        "exact": _three(found.exact),
        "lecture": _three(found.lecture),
        "middle": _three(found.middle),
        "width": _three(found.width),
        "right": percent(1 - found.misled),
        "guessed": percent(found.guessed),
    }
    return View(
        f'<div class="beside narrow">{_answer(settings)}{_bells(found, few)}</div>',
        tell("one.single" if settings.questions == 1 else "one.few" if few else "one", **facts),
        tell("two.sure" if found.guessed > 0.995 else "two", **facts),
        tell("theorem", **facts),
        tell("source"),
        tell("relation"),
        demo.lemmas(settings),
    )


def beside(view: View) -> None:
    """The two lemmas behind strong composition, and what they bound, exactly."""
    found: demo.Lemmas = view.data
    figures = (("coin", found.coin), ("laplace", found.laplace), ("bound", found.bound))
    rows = "".join(
        f'<tr><th scope="row" dir="auto">{escape(tell(f"lemma.{name}"))}</th>'
        f'<td class="number">{to_figures(float(value), 3)}</td></tr>'
        for name, value in figures
    )
    small = tell("lemma.tail", above=_small_chance(found.above), delta=_small_chance(found.delta))
    words = [tell("lemma.three"), small, tell("lemma.four")]
    told = "".join(f"<p{written()}>{escape(line)}</p>" for line in words)
    head = f'<tr><td></td><th scope="col" class="number" dir="auto">{escape(tell("lemma.head"))}</th></tr>'
    title = escape(tell("lemma.title"))
    region = f'class="scroll" role="region" tabindex="0" aria-label="{title}"'
    table = f'<div {region}><table class="plain">{head}{rows}</table></div>'
    st.html(f"<p{written()}><b>{title}</b></p>{told}{table}")


def _small_chance(value: float) -> str:
    return power_of_ten(Fraction(value)) if value > 1e-300 else "0"


def _three(value: float) -> str:
    """To three figures."""
    return local(f"{value:,.0f}") if value >= 100 else to_figures(value, 3)


def _answer(settings: Settings) -> str:
    """One answer under each table: the bells begin nearly on top of one another."""
    values, first, second = demo.answers(float(settings.epsilon), 4)
    places = [Column(str(value), pair) for value, pair in zip(values, zip(first, second, strict=True), strict=True)]
    head = f'<p class="head">{escape(tell("answer.title"))}</p>'
    names = tell("first", value=demo.FIRST), tell("second", value=demo.SECOND)
    return f"<div>{head}{picture.columns(places, tell('alt.answer'), names)}</div>"


def _bells(found: Figures, few: bool) -> str:
    """The law of what all answers say together, under either table, on an axis as wide as the worst case."""
    step = found.losses[1] - found.losses[0]
    axis = Axis(-found.simple - step / 2, found.simple + step / 2, 0, 100, False)
    tall = float(max(found.first.max(), found.second.max()))
    areas = _areas(found, axis, tall)
    marks = [(found.simple, "worst", tell("mark.worst", simple=_three(found.simple)))]
    if not few:
        marks.append((found.exact, "exact", tell("mark.exact", exact=_three(found.exact))))
    lines = "".join(
        f'<b class="{kind}{" end" if at > 0.1 * found.simple else ""}" style="left:{axis.place(at):.2f}%">'
        f"<span>{escape(words)}</span></b>"
        for at, kind, words in marks
    )
    ticks = "".join(
        f'<span style="left:{axis.place(tick):.2f}%">{escape(plain(float(f"{tick:.10g}")).replace("-", "−"))}</span>'
        for tick in axis.ticks()
    )
    sides = "".join(f"<span>{escape(tell(side))}</span>" for side in ("side.second", "side.first"))
    head = f'<p class="head">{escape(tell("bells.title"))}</p>'
    alt = tell("alt.bells", guessed=percent(found.guessed), simple=_three(found.simple), exact=_three(found.exact))
    under = f'<div class="ticks">{ticks}</div><div class="sides">{sides}</div>'
    return picture.figure(f'{head}<div class="law">{areas}{lines}</div>{under}', alt, "bells")


def _areas(found: Figures, axis: Axis, tall: float) -> str:
    """The two bells, one through the other; a few bars stand side by side."""
    sides = ((-0.4, 0.0), (0.0, 0.4)) if len(found.losses) <= FEW else ((-0.5, 0.5),) * 2
    drawn = ""
    for world, (law, side) in enumerate(zip((found.first, found.second), sides, strict=True)):
        drawn += f'<i class="p{world}" style="clip-path:polygon({_outline(found.losses, law, axis, tall, side)})"></i>'
    return drawn


def _outline(losses: Floats, law: Floats, axis: Axis, tall: float, side: tuple[float, float]) -> str:
    """Of one bar for each loss; what is too low to be seen is left out."""
    step = float(losses[1] - losses[0])
    points: list[tuple[float, float]] = []
    for loss, chance in zip(losses.tolist(), law.tolist(), strict=True):
        height = 74 * chance / tall
        left, right = (axis.place(loss + end * step) for end in side)
        points += [(left, 0), (left, height), (right, height), (right, 0)] if height >= 0.05 else []
    return ",".join(f"{x:.2f}% {100 - height:.2f}%" for x, height in points)


def _small() -> str:
    found = demo.figures(Settings(100, Fraction(1, 10)))
    areas = _areas(found, Axis(-found.simple / 2, found.simple / 2, 0, 100, False), float(found.first.max()))
    return f'<div class="picture bells"><div class="law">{areas}</div></div>'


LESSON = Lesson(
    NUMBER,
    (
        Setting("questions", tuple(str(one) for one in demo.QUESTIONS), "100"),
        Setting("epsilon", tuple(text_of(one) for one in demo.EPSILONS), "0.05", "choice", more=True),
    ),
    view,
    _small(),
    beside=beside,
)
