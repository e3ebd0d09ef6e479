"""Lesson 13: people found again without names. A hospital table meets a voter roll, a film table public ratings."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache
from html import escape

from demos.lessons import linkage as demo
from demos.lessons.differencing import most
from demos.lessons.linkage import Example, Found
from dpengine.messages import plain
from dpengine.messages.numbers import day, local
from ui.learn.lesson import AGAIN, Given, Lesson, Setting, View, numbers, words
from ui.pictures import picture
from ui.pictures.picture import Column

NUMBER = 13
text = words(NUMBER)


def view(given: Given) -> View:
    settings = demo.Settings(
        given["story"], given["way"], given["detail"], int(given["known"]), Fraction(given["epsilon"])
    )
    result = demo.run(settings)
    facts = {"named": result.named, "rows": result.rows, "right": result.right, "lot": local(f"{result.by_lot:.1f}")}
    one = text(f"one.{settings.story}.{settings.way}", names=result.names, **facts)
    two = text(f"two.{settings.story}.table" if settings.way == "table" else "two.private", **facts)
    chance = local(f"{math.ceil(1000 * most(settings.epsilon, Fraction(0))) / 10:.1f}")  # an upper bound, so round up
    theorem = text("theorem", epsilon=settings.epsilon, most=chance)
    return View(_picture(result), one, two, theorem, text("source"), text("relation"))


def _picture(result: Found) -> str:
    story, way = result.settings.story, result.settings.way
    boxes = (
        ("", text(f"box.rows.{way}"), plain(result.rows)),
        ("", text("box.named"), plain(result.named)),
        ("out", text("box.right"), plain(result.right)),
    )
    alt = text("alt.sum", rows=result.rows, named=result.named, right=result.right)
    sums = picture.figure(picture.boxes(boxes), alt)
    if way == "private":
        return _bars(result) + sums
    return (_examples(result) if story == "hospital" else "") + sums


def _bars(result: Found) -> str:
    """HTML: the noisy bars of the release."""
    names = [_secret(result.settings.story, at) for at in range(len(result.bars))]
    places = [Column(name, (max(bar, 0),), labels=(plain(bar),)) for name, bar in zip(names, result.bars, strict=True)]
    head = f'<p class="head" dir="auto"><b>{escape(text("release"))}</b></p>'
    return head + picture.columns(places, text("alt.bars"), small=False)


def _secret(story: str, at: int) -> str:
    return text(f"diagnosis.{demo.DIAGNOSES[at]}") if story == "hospital" else text("secret", name=demo.SECRETS[at])


def _examples(result: Found) -> str:
    """HTML: a few rows of the table, and the names that the matcher puts to them."""
    rows = "".join(_example(example, result.settings.detail) for example in result.examples)
    heads = [text(f"column.{name}") for name in ("sex", "birth", "postcode", "diagnosis", "name")]
    head = "".join(f'<th scope="col" dir="auto">{escape(title)}</th>' for title in heads)
    table = f'<table class="plain linked"><tr>{head}</tr>{rows}</table>'
    return f'<div class="scroll" role="region" tabindex="0" aria-label="{escape(text("examples"))}">{table}</div>'


def _example(example: Example, detail: str) -> str:
    sex, birth, postcode = demo.shown(example.row.person, detail)
    cells = (text(f"sex.{sex}"), day(birth), str(postcode), _secret("hospital", example.row.secret))
    html = "".join(f'<td dir="auto">{escape(cell)}</td>' for cell in cells)
    name = f'<td class="found"><b>{escape(example.name)}</b></td>' if example.name else "<td>?</td>"
    return f"<tr>{html}{name}</tr>"


@cache
def _usual() -> Found:
    """The result at the default settings, where the table itself is given away and nothing is drawn."""
    return demo.run(demo.Settings())


def _small() -> str:
    result = _usual()
    return picture.boxes([("", "", str(result.rows)), ("out", "", str(result.right))])


def _shown(given: Given) -> tuple[str, ...]:
    own = {"hospital": "detail", "films": "known"}[given["story"]]
    return ("story", "way", own) if given["way"] == "table" else ("story", "way", own, "epsilon", "again")


LESSON = Lesson(
    NUMBER,
    (
        Setting("story", demo.STORIES, "hospital", "choice"),
        Setting("way", demo.WAYS, "table", "choice"),
        Setting("detail", demo.DETAILS[::-1], "day"),
        Setting("known", numbers(1, demo.MOST_KNOWN), "6"),
        AGAIN,
        Setting("epsilon", ("0.1", "0.5", "1", "3"), "1", "choice", more=True),
    ),
    view,
    _small,
    _shown,
    random=True,
)
