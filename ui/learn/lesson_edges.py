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
text = words(NUMBER)


def view(given: Given) -> View:
    result = demo.figures(demo.Settings(int(given["richest"]), int(given["again"])))
    (one, other), differ = result.automatic, result.automatic[0].ends != result.automatic[1].ends
    guess = {"guess": percent(result.declared_guess), "most": percent(result.most), "epsilon": demo.EPSILON}
    scaled = "\n".join(text("rescaled", **vars(demo.rescaled(unit))) for unit in demo.UNITS)
    first = text("one.differ" if differ else "one.same", end=one.ends[1], other=other.ends[1])
    theorem = "\n".join((text("theorem", **guess), text("rescaling"), scaled))
    return View(_picture(result), first, text("two", **guess), theorem, text("source"), text("relation"))


def _picture(result: Figures) -> str:
    rows = (
        (text("automatic"), result.automatic, result.automatic_guess),
        (text("declared", low=DECLARED[0], high=DECLARED[1]), result.declared, result.declared_guess),
    )
    return "".join(_row(title, pair, guess) for title, pair, guess in rows)


def _row(title: str, pair: tuple[Bars, Bars], guess: float) -> str:
    verdict = escape(text("guess", guess=percent(guess)))
    certain = " certain" if guess == 1 else ""
    names = (text("with"), text("without"))
    differ, full = pair[0].ends != pair[1].ends, max(*pair[0].heights, *pair[1].heights)
    both = "".join(_chart(name, bars, differ, full) for name, bars in zip(names, pair, strict=True))
    head = f'<p class="head"><b>{escape(title)}</b> <span class="guess{certain}">{verdict}</span></p>'
    return f'{head}<div class="beside edges">{both}</div>'


def _chart(name: str, bars: Bars, differ: bool, full: int) -> str:
    """HTML: noisy bars, and below them the ends of the axis, sized by what these ends may reveal. A negative bar has no
    height."""
    places = [Column("", (max(height, 0),)) for height in bars.heights]
    low, high = (plain(end) for end in bars.ends)
    leak = ' class="leak"' if differ else ""
    ends = f'<div class="ends"><b>{low}</b><span>{escape(name)}</span><b{leak}>{high}</b></div>'
    alt = text("alt", name=name, low=low, high=high)
    return f"<div>{picture.columns(places, alt, full=full)}{ends}</div>"


def _small() -> str:
    bars = picture.columns([Column("", (height,)) for height in (9, 4, 1, 0, 0, 0, 0, 1)], "", full=9, small=True)
    return f'<div>{bars}<div class="ends"><b></b><b class="leak">{plain(50_000)}</b></div></div>'


LESSON = Lesson(NUMBER, (Setting("richest", tuple(map(str, demo.RICHEST)), "50000"), AGAIN), view, _small)
