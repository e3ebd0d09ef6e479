"""Lesson 11: whom do you trust?"""

from __future__ import annotations

from fractions import Fraction
from html import escape
from math import sqrt

from demos.lessons import trust as demo
from dpengine.core.printed import power_of_ten, three_figures
from dpengine.messages import plain
from dpengine.messages.numbers import to_figures
from dpengine.noise import binomial
from ui.learn.lesson import Given, Lesson, Setting, View, words
from ui.pictures import picture
from ui.pictures.trust_pictures import bars, pile

NUMBER = 11
tell = words(NUMBER)


def view(given: Given) -> View:
    people = int(given["people"])
    found = demo.errors(demo.Settings(people))
    told = {model: plain(round(found[model])) for model in demo.SHOWN}
    p = binomial.least_chance(people, demo.EPSILON, demo.DELTA)
    assert p is not None
    stages = demo.play()
    return View(
        _errors(found, told) + _pile(stages.pile),
        tell("one", people=people, **told),
        tell("two", local=told["local"], times=plain(round(found["local"] / found["central"]))),
        _theorem(people, p),
        tell("source"),
        tell("relation"),
    )


def _theorem(people: int, p: Fraction) -> str:
    lecture = binomial.lecture_chance(people, demo.EPSILON, demo.DELTA)
    facts = {"p": _short(p), "lecture": _short(lecture), "small": demo.CHANCE, "delta": power_of_ten(demo.DELTA)}
    return tell("theorem", epsilon=demo.EPSILON, deviation=to_figures(sqrt(people * p * (1 - p)), 3), **facts)


def _short(p: Fraction) -> str:
    return power_of_ten(p) if p < Fraction(1, 1000) else three_figures(Fraction(f"{float(p):.3g}"))


def _errors(found: dict[str, float], told: dict[str, str]) -> str:
    rows = [(tell(model), found[model], tell("error", error=told[model])) for model in demo.SHOWN]
    head = f'<p class="head" dir="auto"><b>{escape(tell("bars"))}</b></p>'
    return head + picture.figure(bars(rows), tell("alt.bars", **told), "trusted")


def _pile(messages: tuple[int, ...]) -> str:
    head = f'<p class="head" dir="auto"><b>{escape(tell("pile"))}</b></p>'
    return head + picture.figure(pile(messages), tell("alt.pile", ones=sum(messages)), "piled")


LESSON = Lesson(
    NUMBER,
    (Setting("people", tuple(str(one) for one in demo.PEOPLE), "10000"),),
    view,
    "<div>" + bars([("", 3.0, ""), ("", 12.0, ""), ("", 100.0, "")]) + "</div>",
    random=True,
)
