"""Lesson 5: one person can move a median across the whole range."""

from __future__ import annotations

from fractions import Fraction
from html import escape

from demos.lessons import median as demo
from demos.lessons.median import Compared
from dpengine.messages import say
from ui.learn.lesson import AGAIN, Given, Lesson, Setting, View, words
from ui.pictures import picture
from ui.pictures.picture import Mark
from ui.shell.language import written

NUMBER = 5
text = words(NUMBER)


def view(given: Given) -> View:
    compared = demo.run(demo.Settings(Fraction(given["epsilon"]), int(given["people"]), given["shape"]))
    before, after = demo.medians()
    near = {"noisy": compared.near(compared.noisy), "chosen": compared.near(compared.chosen), "all": demo.ANSWERS}
    one, two = text("one", before=before, after=after), text("two", **near)
    theorem = text("theorem", people=compared.settings.people, low=demo.LOW, high=demo.HIGH)
    return View(_seven() + _strips(compared), one, two, theorem, say("card.median.theorem"), text("relation"))


def _seven(words: bool = True) -> str:
    """HTML: seven people twice, one of them changed; a ring marks the median. Without `words`, for the lesson's
    card."""
    changed, middle = demo.changed(), len(demo.BEFORE) // 2
    rows = ""
    for code, people, result in zip(("before", "after"), (demo.BEFORE, demo.AFTER), demo.medians(), strict=True):
        row = ""
        for place, value in enumerate(people):
            kinds = [f"v{value}"] + ["middle"] * (place == middle) + ["changed"] * (place == changed)
            row += f'<i class="{" ".join(kinds)}">{value}</i>'
        if words:
            name, shown = escape(text(f"seven.{code}")), escape(text("seven.median", median=result))
            row = f"<span>{name}</span>{row}<b>{shown}</b>"
        rows += f"<div>{row}</div>"
    if not words:
        return picture.figure(f'<div class="seven">{rows}</div>', "")
    before, after = demo.medians()
    return picture.figure(f'<div class="seven">{rows}</div>', text("alt.seven", before=before, after=after))


def _strips(compared: Compared) -> str:
    pad = (demo.HIGH - demo.LOW) * 0.02
    span = (demo.LOW - pad, demo.HIGH + pad)
    marks = [Mark(compared.truth, text("truth", truth=compared.truth))]
    drawn = ""
    for code, answers, kind in (("noisy", compared.noisy, "plain-dots"), ("chosen", compared.chosen, "")):
        near = {"near": compared.near(answers), "all": demo.ANSWERS}
        title = f'<p class="caption"{written()}>{escape(text(f"strip.{code}"))}</p>'
        drawn += title + picture.strip(answers, span, text(f"alt.{code}", **near), marks, height=95, kind=kind)
    return drawn


LESSON = Lesson(
    NUMBER,
    (
        Setting("epsilon", ("0.05", "0.1", "0.2", "0.5", "1", "2", "3"), "0.5"),
        AGAIN,
        Setting("people", ("100", "1000", "10000"), "1000", "choice", more=True),
        Setting("shape", demo.SHAPES, "skewed", "choice", more=True),
    ),
    view,
    _seven(words=False),
    random=True,
)
