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
text = words(NUMBER)


def view(given: Given) -> View:
    size = int(given["size"])
    every = {count: demo.figures(demo.Settings(count)) for count in range(LEAST_SIZE, MOST_SIZE + 1)}
    result = every[size]
    facts = {"size": size, "most": MOST_SIZE, "films": len(FILMS), "epsilon": demo.EPSILON, "moved": result.moved}
    facts |= {"chosen": percent(result.chosen), "bars": percent(result.bars)}
    facts |= {"reach": result.reach, "behind": result.behind}
    drawn = f'<div class="beside">{_bars(result)}{_along(size, every)}</div>'
    one, two, theorem = (text(code, **facts) for code in ("one", "two", "theorem"))
    return View(drawn, one, two, theorem, say("card.top_item.theorem"), text("relation"))


def _title(film: str) -> str:
    return say(f"practice.films.{film}")


def _bars(result: Figures) -> str:
    """HTML: the favourite and the next films, each with the noise of a published bar."""
    low, high = min(result.counts[SHOWN - 1] - result.reach, 0), result.counts[0] + result.reach

    def at(value: float) -> float:
        return 100 * (value - low) / (high - low)

    rows = ""
    for name, count in zip(FILMS[:SHOWN], result.counts, strict=False):
        best = " best" if count == result.counts[0] else ""
        bar = f'<i style="left:{at(0):.2f}%;width:{at(count) - at(0):.2f}%"></i>'
        ends = at(count - result.reach), at(count + result.reach)
        whisker = f'<u style="left:{ends[0]:.2f}%;width:{ends[1] - ends[0]:.2f}%"></u>'
        rows += f'<div class="film{best}"><span>{escape(_title(name))}</span><div>{bar}{whisker}</div></div>'
    rest = escape(text("rest", rest=len(FILMS) - SHOWN))
    head = f'<p class="head">{escape(text("bars.title"))}</p>'
    alt = text("alt.bars", best=_title(FILMS[0]), count=result.counts[0], reach=result.reach)
    return picture.figure(f'{head}{rows}<p class="rest">{rest}</p>', alt, "films")


def _along(size: int, every: dict[int, Figures]) -> str:
    head = f'<p class="head">{escape(text("along.title"))}</p>'
    places = [Column(str(count), (result.chosen, result.bars), count == size) for count, result in every.items()]
    title = f'<div class="title">{escape(text("axis"))}</div>'
    drawn = picture.columns(places, text("alt.along"), (text("choice"), text("highest")), full=1)
    return f"<div>{head}{drawn}{title}</div>"


LESSON = Lesson(
    NUMBER,
    (Setting("size", numbers(LEAST_SIZE, MOST_SIZE), "3"),),
    view,
    picture.columns([Column("", pair) for pair in ((0.95, 0.94), (0.95, 0.43), (0.95, 0.22))], "", full=1, small=True),
)
