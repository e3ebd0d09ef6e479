"""Lesson 10: the bars are noisy; is the axis?"""

from __future__ import annotations

from html import escape

from demos.lessons import edges as demo
from demos.lessons.edges import DECLARED, Bars, Figures
from dpengine.core.printed import percent
from dpengine.messages import plain
from ui.learn.lesson import AGAIN, Given, Lesson, Setting, View, words
from ui.pictures import picture
from ui.pictures.picture import Column

NUMBER = 10
tell = words(NUMBER)


def view(given: Given) -> View:
    found = demo.figures(demo.Settings(int(given["richest"]), int(given["again"])))
    (one, other), differ = found.automatic, found.automatic[0].ends != found.automatic[1].ends
    guess = {"guess": percent(found.declared_guess), "most": percent(found.most), "epsilon": demo.EPSILON}
    scaled = "\n".join(tell("rescaled", **vars(demo.rescaled(unit))) for unit in demo.UNITS)
    return View(
        _picture(found),
        tell("one.differ" if differ else "one.same", end=one.ends[1], other=other.ends[1]),
        tell("two", **guess),
        "\n".join((tell("theorem", **guess), tell("rescaling"), scaled)),
        tell("source"),
        tell("relation"),
    )


def _picture(found: Figures) -> str:
    rows = (
        (tell("automatic"), found.automatic, found.automatic_guess),
        (tell("declared", low=DECLARED[0], high=DECLARED[1]), found.declared, found.declared_guess),
    )
    return "".join(_row(title, pair, guess) for title, pair, guess in rows)


def _row(title: str, pair: tuple[Bars, Bars], guess: float) -> str:
    told = escape(tell("told", guess=percent(guess)))
    certain = " certain" if guess == 1 else ""
    names = (tell("with"), tell("without"))
    differ, full = pair[0].ends != pair[1].ends, max(*pair[0].heights, *pair[1].heights)
    both = "".join(_one(name, bars, differ, full) for name, bars in zip(names, pair, strict=True))
    head = f'<p class="head"><b>{escape(title)}</b> <span class="told{certain}">{told}</span></p>'
    return f'{head}<div class="beside edges">{both}</div>'


def _one(name: str, bars: Bars, differ: bool, full: int) -> str:
    """Noisy bars, and under them the two ends of the axis as large as what they may give away. A bar that noise took
    below nought has no height."""
    places = [Column("", (max(height, 0),)) for height in bars.heights]
    low, high = (plain(end) for end in bars.ends)
    leak = ' class="leak"' if differ else ""
    ends = f'<div class="ends"><b>{low}</b><span>{escape(name)}</span><b{leak}>{high}</b></div>'
    alt = tell("alt", name=name, low=low, high=high)
    return f"<div>{picture.columns(places, alt, full=full)}{ends}</div>"


def _small() -> str:
    bars = picture.columns([Column("", (height,)) for height in (9, 4, 1, 0, 0, 0, 0, 1)], "", full=9, small=True)
    return f'<div>{bars}<div class="ends"><b></b><b class="leak">{plain(50_000)}</b></div></div>'


LESSON = Lesson(
    NUMBER,
    (Setting("richest", tuple(str(one) for one in demo.RICHEST), "50000"), AGAIN),
    view,
    _small,
)
