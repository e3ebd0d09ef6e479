"""Lesson 1: two harmless questions give one person away."""

from __future__ import annotations

import math
from fractions import Fraction
from html import escape

from demos.lessons import differencing as demo
from demos.lessons.clinic import ALLOWANCE
from demos.lessons.differencing import Attack
from demos.lessons.patients import with_diabetes
from dpengine.core.printed import percent
from dpengine.messages import plain, say
from dpengine.messages.numbers import local
from ui.learn.lesson import AGAIN, Given, Lesson, Setting, View, numbers, words
from ui.pictures import picture
from ui.pictures.picture import Column

NUMBER = 1
text = words(NUMBER)


def view(given: Given) -> View:
    settings = demo.Settings(given["way"], int(given["person"]), Fraction(given["epsilon"]), int(given["pairs"]))
    result = demo.run(settings)
    one, two = _sentences(result)
    most = _above(demo.most(ALLOWANCE.epsilon, ALLOWANCE.delta))
    theorem = text("theorem", epsilon=ALLOWANCE.epsilon, most=most)
    return View(_picture(result), one, two, theorem, say("card.count.theorem"), text("relation"))


def _sentences(result: Attack) -> tuple[str, str]:
    person, way = result.settings.person, result.settings.way
    if way == "exact":
        first, second = result.exact
        one = text("one.exact", below=person - 1, person=person, first=first, second=second)
        return one, text("two.exact.yes" if result.difference else "two.exact.no", difference=result.difference)
    chances = {"right": local(f"{100 * result.right:.1f}"), "most": _above(result.most)}
    if way == "noise":
        return text("one.noise", difference=_signed(result.mean)), text("two.noise", **chances)
    asked = 2 * len(result.pairs)
    share = percent(result.used)
    one = text("one.refused" if result.refused else "one.ledger", asked=asked, share=share, mean=_signed(result.mean))
    return one, text("two.ledger", **chances)


def _picture(result: Attack) -> str:
    person, way = result.settings.person, result.settings.way
    first, second = result.exact if way == "exact" else result.pairs[-1]
    boxes = (
        ("", text("box.question", edge=person - 1), plain(first)),
        ("", text("box.question", edge=person), plain(second)),
        ("out", text("box.difference"), _signed(second - first)),
    )
    sums = picture.figure(picture.boxes(boxes), text("alt.sum", first=first, second=second))
    if way == "exact":
        return sums
    law = _worlds(result)
    return sums + law if way == "noise" else _asked(result) + law


def _worlds(result: Attack) -> str:
    """HTML: the difference's distribution with and without the illness; the step nearest to the seen difference is
    shaded."""
    seen = min(range(len(result.worlds)), key=lambda place: abs(result.worlds[place][0] - result.mean))
    every = max(1, len(result.worlds) // 8)
    middle = len(result.worlds) // 2
    places = [
        Column(_signed(round(at)) if (place - middle) % every == 0 else "", (without, with_it), place == seen)
        for place, (at, without, with_it) in enumerate(result.worlds)
    ]
    return picture.columns(places, text("alt.worlds"), (text("world.without"), text("world.with")), text("seen"))


def _asked(result: Attack) -> str:
    """HTML: the differences in order, refused ones in red, and the practice ledger's meter."""
    chips = "".join(f"<span>{_signed(second - first)}</span>" for first, second in result.pairs)
    chips += f'<span class="no">{escape(text("no"))}</span>' * (result.settings.pairs - len(result.pairs))
    bar = picture.meter(float(result.used), text("meter", share=percent(result.used)), result.refused)
    drawn = f'<p>{escape(text("chips"))}</p><div class="chips">{chips}</div>{bar}'
    return picture.figure(drawn, text("alt.asked", asked=2 * len(result.pairs)))


def _small() -> str:
    first, second = with_diabetes(163), with_diabetes(162)
    return picture.boxes([("", "", str(first)), ("", "", str(second)), ("out", "", str(first - second))])


def _above(chance: float) -> str:
    """A chance as people in 100, rounded up, because the chance is an upper bound."""
    return local(f"{math.ceil(1000 * chance) / 10:.1f}")


def _signed(value: float) -> str:
    return local(f"{value:,.1f}".removesuffix(".0").replace("-", "−"))


def _shown(given: Given) -> tuple[str, ...]:
    return {
        "exact": ("way", "person"),
        "noise": ("way", "person", "epsilon", "again"),
        "ledger": ("way", "person", "epsilon", "pairs"),
    }[given["way"]]


LESSON = Lesson(
    NUMBER,
    (
        Setting("way", demo.WAYS, "exact", "choice"),
        Setting("pairs", numbers(1, demo.MOST_PAIRS), "1"),
        AGAIN,
        Setting("person", tuple(str(person) for person in demo.PERSONS), "163", "choice", more=True),
        Setting("epsilon", ("0.05", "0.1", "0.25", "0.5"), "0.1", "choice", more=True),
    ),
    view,
    _small(),
    _shown,
    random=True,
)
