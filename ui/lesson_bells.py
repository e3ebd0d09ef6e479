"""Lesson 8: do a hundred questions leak a hundred times as much?"""

from __future__ import annotations

from fractions import Fraction
from html import escape

from demos.lessons import bells as demo
from demos.lessons.bells import Figures, Floats, Settings
from dpengine.exact import text_of
from dpengine.messages import plain
from ui import picture
from ui.lesson import Given, Lesson, Setting, View, words
from ui.picture import Column
from ui.svg import Axis
from ui.wording import percent

NUMBER = 8
tell = words(NUMBER)


def view(given: Given) -> View:
    settings = Settings(int(given["questions"]), Fraction(given["epsilon"]))
    found = demo.figures(settings)
    few = found.simple - found.exact < 0.01 * found.simple
    facts = {
        "questions": settings.questions, "epsilon": settings.epsilon, "simple": _three(found.simple),
        "exact": _three(found.exact), "lecture": _three(found.lecture), "middle": _three(found.middle),
        "width": _three(found.width), "right": percent(1 - found.misled), "guessed": percent(found.guessed),
    }  # fmt: skip
    return View(
        f'<div class="beside narrow">{_answer(settings)}{_bells(found, few)}</div>',
        tell("one.few" if few else "one", **facts),
        tell("two", **facts),
        tell("theorem", **facts),
        tell("source"),
        tell("relation"),
    )


def _three(value: float) -> str:
    """To three figures."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _answer(settings: Settings) -> str:
    """One answer under each table: the bells begin nearly on top of one another."""
    values, first, second = demo.answers(float(settings.epsilon), 7)
    places = [
        Column(str(value) if value in (demo.FIRST, demo.SECOND) else "", (one, other))
        for value, one, other in zip(values, first, second, strict=True)
    ]
    head = f'<p class="head">{escape(tell("answer.title"))}</p>'
    names = tell("first", value=demo.FIRST), tell("second", value=demo.SECOND)
    return f'<div>{head}{picture.columns(places, tell("alt.answer"), names)}</div>'


def _bells(found: Figures, few: bool) -> str:
    """The law of what all answers say together, under either table, on an axis as wide as the worst case."""
    step = found.losses[1] - found.losses[0]
    axis = Axis(-found.simple - step / 2, found.simple + step / 2, 0, 100, False)
    tall = float(max(found.first.max(), found.second.max()))
    areas = "".join(
        f'<path class="p{world}" d="{_area(found.losses, law, axis, float(step), tall)}"/>'
        for world, law in enumerate((found.first, found.second))
    )
    marks = [(found.simple, "worst", tell("mark.worst", simple=_three(found.simple)))]
    if not few:
        marks.append((found.exact, "exact", tell("mark.exact", exact=_three(found.exact))))
    lines = "".join(
        f'<b class="{kind}{" end" if at > 0.1 * found.simple else ""}" style="left:{axis.place(at):.2f}%">'
        f"<span>{escape(words)}</span></b>"
        for at, kind, words in marks
    )
    ticks = "".join(
        f'<span style="left:{axis.place(tick):.2f}%">{escape(plain(float(f"{tick:.10g}")))}</span>'
        for tick in axis.ticks()
    )
    svg = f'<svg viewBox="0 0 100 100" preserveAspectRatio="none">{areas}</svg>'
    sides = "".join(f"<span>{escape(tell(side))}</span>" for side in ("side.second", "side.first"))
    head = f'<p class="head">{escape(tell("bells.title"))}</p>'
    alt = tell("alt.bells", guessed=percent(found.guessed), simple=_three(found.simple), exact=_three(found.exact))
    under = f'<div class="ticks">{ticks}</div><div class="sides">{sides}</div>'
    return picture.figure(f'{head}<div class="law">{svg}{lines}</div>{under}', alt, "bells")


def _area(losses: Floats, law: Floats, axis: Axis, step: float, tall: float) -> str:
    """Steps, one for each loss; what is too low to be seen is left out."""
    drawn = ""
    for loss, chance in zip(losses.tolist(), law.tolist(), strict=True):
        height = 86 * chance / tall
        if height >= 0.05:
            left, right = axis.place(loss - step / 2), axis.place(loss + step / 2)
            drawn += f"M{left:.2f} 100V{100 - height:.2f}H{right:.2f}V100Z"
    return drawn


LESSON = Lesson(
    NUMBER,
    (
        Setting("questions", tuple(str(one) for one in demo.QUESTIONS), "100"),
        Setting("epsilon", tuple(text_of(one) for one in demo.EPSILONS), "0.05", "choice", more=True),
    ),
    view,
    '<div class="picture bells"><div class="law"><svg viewBox="0 0 100 100" preserveAspectRatio="none">'
    '<path class="p1" d="M15 100C30 100 32 20 42 20S54 100 69 100Z"/>'
    '<path class="p0" d="M31 100C46 100 48 20 58 20S70 100 85 100Z"/></svg></div></div>',
)
