"""Lesson 7: however many films you like, you move each by one."""

from __future__ import annotations

from html import escape

from demos.lessons import film as demo
from demos.lessons.film import FILMS, LEAST_SIZE, MOST_SIZE, Figures
from dpengine.core.printed import percent
from dpengine.messages import say
from ui.learn.lesson import Given, Lesson, Setting, View, numbers, words
from ui.pictures import picture
from ui.pictures.picture import Column

NUMBER = 7
SHOWN = 6  # films with their bars
tell = words(NUMBER)


def view(given: Given) -> View:
    size = int(given["size"])
    every = {one: demo.figures(demo.Settings(one)) for one in range(LEAST_SIZE, MOST_SIZE + 1)}
    found = every[size]
    facts = {
        "chosen": percent(found.chosen),
        "bars": percent(found.bars),
        "moved": found.moved,
        "reach": found.reach,
        "size": size,
        "most": MOST_SIZE,
        "films": len(FILMS),
        "behind": found.behind,
        "epsilon": demo.EPSILON,
    }
    return View(
        f'<div class="beside">{_bars(found)}{_along(size, every)}</div>',
        tell("one", **facts),
        tell("two", **facts),
        tell("theorem", **facts),
        say("card.top_item.theorem"),
        tell("relation"),
    )


def _bars(found: Figures) -> str:
    """The favourite and those behind it, each with what the noise of a published bar would do to it."""
    low, high = min(found.counts[SHOWN - 1] - found.reach, 0), found.counts[0] + found.reach

    def at(value: float) -> float:
        return 100 * (value - low) / (high - low)

    rows = ""
    for name, count in zip(FILMS[:SHOWN], found.counts, strict=False):
        best = " best" if count == found.counts[0] else ""
        bar = f'<i style="left:{at(0):.2f}%;width:{at(count) - at(0):.2f}%"></i>'
        ends = at(count - found.reach), at(count + found.reach)
        whisker = f'<u style="left:{ends[0]:.2f}%;width:{ends[1] - ends[0]:.2f}%"></u>'
        rows += f'<div class="film{best}"><span>{escape(name)}</span><div>{bar}{whisker}</div></div>'
    rest = escape(tell("rest", rest=len(FILMS) - SHOWN))
    head = f'<p class="head">{escape(tell("bars.title"))}</p>'
    alt = tell("alt.bars", best=FILMS[0], count=found.counts[0], reach=found.reach)
    return picture.figure(f'{head}{rows}<p class="rest">{rest}</p>', alt, "films")


def _along(size: int, every: dict[int, Figures]) -> str:
    head = f'<p class="head">{escape(tell("along.title"))}</p>'
    places = [Column(str(one), (found.chosen, found.bars), one == size) for one, found in every.items()]
    title = f'<div class="title">{escape(tell("axis"))}</div>'
    drawn = picture.columns(places, tell("alt.along"), (tell("choice"), tell("highest")), full=1)
    return f"<div>{head}{drawn}{title}</div>"


LESSON = Lesson(
    NUMBER,
    (Setting("size", numbers(LEAST_SIZE, MOST_SIZE), "3"),),
    view,
    picture.columns([Column("", pair) for pair in ((0.95, 0.94), (0.95, 0.43), (0.95, 0.22))], "", full=1, small=True),
)
