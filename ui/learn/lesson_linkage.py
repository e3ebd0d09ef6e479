"""Without names, and found again: a hospital table meets a voter roll, a film table meets public ratings."""

from __future__ import annotations

import math
from fractions import Fraction
from html import escape

from demos.lessons import linkage as demo
from demos.lessons.differencing import most
from demos.lessons.linkage import Example, Found
from dpengine.messages import plain
from dpengine.messages.numbers import local
from ui.learn.lesson import AGAIN, Given, Lesson, Setting, View, numbers, words
from ui.pictures import picture
from ui.pictures.picture import Column

NUMBER = 13
tell = words(NUMBER)


def view(given: Given) -> View:
    settings = demo.Settings(
        given["story"], given["way"], given["detail"], int(given["known"]), Fraction(given["epsilon"])
    )
    found = demo.run(settings)
    facts = {"named": found.named, "rows": found.rows, "right": found.right, "lot": local(f"{found.by_lot:.1f}")}
    one = tell(f"one.{settings.story}.{settings.way}", names=found.names, **facts)
    two = tell(f"two.{settings.story}.table" if settings.way == "table" else "two.private", **facts)
    chance = local(f"{math.ceil(1000 * most(settings.epsilon, Fraction(0))) / 10:.1f}")  # nobody passes it
    theorem = tell("theorem", epsilon=settings.epsilon, most=chance)
    return View(_picture(found), one, two, theorem, tell("source"), tell("relation"))


def _picture(found: Found) -> str:
    story, way = found.settings.story, found.settings.way
    boxes = (
        ("", tell(f"box.rows.{way}"), found.rows),
        ("", tell("box.named"), found.named),
        ("out", tell("box.right"), found.right),
    )
    told = "".join(
        f'<div class="{kind}"><span dir="auto">{escape(label)}</span><b>{plain(out)}</b></div>'
        for kind, label, out in boxes
    )
    alt = tell("alt.sum", rows=found.rows, named=found.named, right=found.right)
    sums = picture.figure(f'<div class="sum">{told}</div>', alt)
    if way == "private":
        return _bars(found) + sums
    return (_examples(found) if story == "hospital" else "") + sums


def _bars(found: Found) -> str:
    """All that is released: noisy bars. (Of the films' own bars the secret is shown.)"""
    names = [_secret(found.settings.story, at) for at in range(len(found.bars))]
    places = [Column(name, (max(bar, 0),), told=(plain(bar),)) for name, bar in zip(names, found.bars, strict=True)]
    head = f'<p class="head" dir="auto"><b>{escape(tell("release"))}</b></p>'
    return head + picture.columns(places, tell("alt.bars"), small=False)


def _secret(story: str, at: int) -> str:
    return tell(f"diagnosis.{demo.DIAGNOSES[at]}") if story == "hospital" else tell("secret", name=demo.SECRETS[at])


def _examples(found: Found) -> str:
    """A few rows as they stand in the table, and the names that the matcher puts to them."""
    rows = "".join(_example(one, found.settings.detail) for one in found.examples)
    heads = [tell(f"column.{name}") for name in ("sex", "birth", "postcode", "diagnosis", "name")]
    head = "".join(f'<th scope="col" dir="auto">{escape(one)}</th>' for one in heads)
    table = f'<table class="plain linked"><tr>{head}</tr>{rows}</table>'
    return f'<div class="scroll" role="region" tabindex="0" aria-label="{escape(tell("examples"))}">{table}</div>'


def _example(one: Example, detail: str) -> str:
    sex, birth, postcode = demo.shown(one.row.person, detail)
    cells = (tell(f"sex.{sex}"), birth, str(postcode), _secret("hospital", one.row.secret))
    told = "".join(f'<td dir="auto">{escape(cell)}</td>' for cell in cells)
    name = f'<td class="found"><b>{escape(one.name)}</b></td>' if one.name else "<td>?</td>"
    return f"<tr>{told}{name}</tr>"


def _small() -> str:
    found = demo.run(demo.Settings())
    boxes = (("", found.rows), ("out", found.right))
    return '<div class="sum">' + "".join(f'<div class="{kind}"><b>{out}</b></div>' for kind, out in boxes) + "</div>"


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
