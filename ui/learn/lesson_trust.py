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
from ui.pictures.picture import bars, pile

NUMBER = 11
text = words(NUMBER)


def view(given: Given) -> View:
    people = int(given["people"])
    result = demo.errors(demo.Settings(people))
    counts = {model: plain(round(result[model])) for model in demo.SHOWN}
    p = binomial.least_chance(people, demo.EPSILON, demo.DELTA)
    assert p is not None
    stages = demo.play()
    one = text("one", people=people, **counts)
    two = text("two", local=counts["local"], times=plain(round(result["local"] / result["central"])))
    drawn = _errors(result, counts) + _pile(stages.pile)
    return View(drawn, one, two, _theorem(people, p), text("source"), text("relation"))


def _theorem(people: int, p: Fraction) -> str:
    lecture = binomial.lecture_chance(people, demo.EPSILON, demo.DELTA)
    facts = {"p": _short(p), "lecture": _short(lecture), "small": demo.CHANCE, "delta": power_of_ten(demo.DELTA)}
    return text("theorem", epsilon=demo.EPSILON, deviation=to_figures(sqrt(people * p * (1 - p)), 3), **facts)


def _short(p: Fraction) -> str:
    return power_of_ten(p) if p < Fraction(1, 1000) else three_figures(Fraction(f"{float(p):.3g}"))


def _errors(result: dict[str, float], counts: dict[str, str]) -> str:
    rows = [(text(model), result[model], text("error", error=counts[model])) for model in demo.SHOWN]
    head = f'<p class="head" dir="auto"><b>{escape(text("bars"))}</b></p>'
    return head + picture.figure(bars(rows), text("alt.bars", **counts), "trusted")


def _pile(messages: tuple[int, ...]) -> str:
    head = f'<p class="head" dir="auto"><b>{escape(text("pile"))}</b></p>'
    return head + picture.figure(pile(messages), text("alt.pile", ones=sum(messages)), "piled")


LESSON = Lesson(
    NUMBER,
    (Setting("people", tuple(map(str, demo.PEOPLE)), "10000"),),
    view,
    "<div>" + bars([("", 3.0, ""), ("", 12.0, ""), ("", 100.0, "")]) + "</div>",
    random=True,
)
