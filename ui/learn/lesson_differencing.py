"""Lesson 1: two harmless questions give one person away."""

from __future__ import annotations

import math
from fractions import Fraction
from html import escape

from demos.lessons import differencing as demo
from demos.lessons.clinic import ALLOWANCE
from demos.lessons.differencing import Attack
from dpengine.core.printed import percent
from dpengine.messages import plain, say
from dpengine.messages.numbers import local
from ui.learn.lesson import AGAIN, Given, Lesson, Setting, View, numbers, words
from ui.pictures import picture
from ui.pictures.picture import Column

NUMBER = 1
tell = words(NUMBER)


def view(given: Given) -> View:
    settings = demo.Settings(given["way"], int(given["person"]), Fraction(given["epsilon"]), int(given["pairs"]))
    found = demo.run(settings)
    one, two = _said(found)
    most = _above(demo.most(ALLOWANCE.epsilon, ALLOWANCE.delta))
    return View(
        _picture(found),
        one,
        two,
        tell("theorem", epsilon=ALLOWANCE.epsilon, most=most),
        say("card.count.theorem"),
        tell("relation"),
    )


def _said(found: Attack) -> tuple[str, str]:
    person, way = found.settings.person, found.settings.way
    if way == "exact":
        first, second = found.exact
        one = tell("one.exact", below=person - 1, person=person, first=first, second=second)
        return one, tell("two.exact.yes" if found.difference else "two.exact.no", difference=found.difference)
    chances = {"right": local(f"{100 * found.right:.1f}"), "most": _above(found.most)}
    if way == "noise":
        return tell("one.noise", difference=_signed(found.mean)), tell("two.noise", **chances)
    asked = 2 * len(found.pairs)
    share = percent(found.used)
    one = tell("one.refused" if found.refused else "one.ledger", asked=asked, share=share, mean=_signed(found.mean))
    return one, tell("two.ledger", **chances)


def _picture(found: Attack) -> str:
    person, way = found.settings.person, found.settings.way
    first, second = found.exact if way == "exact" else found.pairs[-1]
    boxes = (
        ("", tell("box.question", edge=person - 1), plain(first)),
        ("", tell("box.question", edge=person), plain(second)),
        ("out", tell("box.difference"), _signed(second - first)),
    )
    told = "".join(f'<div class="{kind}"><span>{escape(label)}</span><b>{out}</b></div>' for kind, label, out in boxes)
    sums = picture.figure(f'<div class="sum">{told}</div>', tell("alt.sum", first=first, second=second))
    if way == "exact":
        return sums
    law = _worlds(found)
    return sums + law if way == "noise" else _asked(found) + law


def _worlds(found: Attack) -> str:
    """Where the difference can fall if he has it and if not: the nearest step to what was seen is shaded."""
    seen = min(range(len(found.worlds)), key=lambda place: abs(found.worlds[place][0] - found.mean))
    every = max(1, len(found.worlds) // 8)
    middle = len(found.worlds) // 2
    places = [
        Column(_signed(round(at)) if (place - middle) % every == 0 else "", (without, with_it), place == seen)
        for place, (at, without, with_it) in enumerate(found.worlds)
    ]
    return picture.columns(places, tell("alt.worlds"), (tell("world.without"), tell("world.with")), tell("seen"))


def _asked(found: Attack) -> str:
    """The differences one after the other, those refused in red, and the practice ledger's meter."""
    chips = "".join(f"<span>{_signed(second - first)}</span>" for first, second in found.pairs)
    chips += f'<span class="no">{escape(tell("no"))}</span>' * (found.settings.pairs - len(found.pairs))
    bar = picture.meter(float(found.used), tell("meter", share=percent(found.used)), found.refused)
    drawn = f'<p>{escape(tell("chips"))}</p><div class="chips">{chips}</div>{bar}'
    return picture.figure(drawn, tell("alt.asked", asked=2 * len(found.pairs)))


def _small() -> str:
    boxes = (("", demo.count(163)), ("", demo.count(162)), ("out", demo.count(163) - demo.count(162)))
    return '<div class="sum">' + "".join(f'<div class="{kind}"><b>{out}</b></div>' for kind, out in boxes) + "</div>"


def _above(chance: float) -> str:
    """So many in 100, rounded up: it is said that nobody passes it."""
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
