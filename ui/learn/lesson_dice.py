"""Lesson 6: a loaded die chooses in private."""

from __future__ import annotations

from fractions import Fraction
from html import escape

from demos.lessons import dice as demo
from demos.lessons.dice import FACES, PEOPLE, Figures
from dpengine.core.exact import text_of
from dpengine.core.printed import percent
from dpengine.messages import say
from dpengine.messages.numbers import to_figures
from ui.learn.lesson import Given, Lesson, Setting, View, numbers, words
from ui.pictures import picture
from ui.pictures.picture import Column

NUMBER = 6
NAMED = 0.045  # a narrower face has no room for its number
text = words(NUMBER)


def view(given: Given) -> View:
    settings = demo.Settings(Fraction(given["epsilon"]), int(given["rolls"]))
    result = demo.figures(settings)
    people, most = sum(PEOPLE), to_figures(result.most, 3)
    share, count = result.chances[result.best], result.counts[result.best]
    chance = percent(share) if share < 0.99 else f"{100 * share:.1f} %"
    facts = {"middle": FACES[result.best], "chance": chance, "count": count, "rolls": settings.rolls}
    shared = {"promised": result.promised, "people": people, "most": most}
    worst_gap = max(result.gaps)
    bounds = {"within": percent(result.within), "worst": to_figures(result.worst, 3), "epsilon": settings.epsilon}
    moved = {"capped": demo.moves(PEOPLE, demo.capped), "plain": demo.moves(PEOPLE, demo.plain)}
    repeated = {"many": demo.REPEATED[0], "all": sum(demo.REPEATED), "down": -demo.plain(demo.REPEATED, 0)}
    theorem = text("theorem", **shared, **bounds, **moved, **repeated)
    one = text("one.rolled" if settings.rolls else "one.none", **facts)
    two = text("two" if result.promised < worst_gap else "two.nothing", **shared)
    return View(_picture(result, settings.rolls), one, two, theorem, say("card.median.theorem"), text("relation"))


def _picture(result: Figures, rolls: int) -> str:
    die = picture.figure(_die(result), text("alt.die", faces=len(FACES), middle=FACES[result.best]), "die")
    if not rolls:
        return die + _columns(result, ())
    return die + _columns(result, tuple(count / rolls for count in result.counts))


def _die(result: Figures) -> str:
    """HTML: the faces side by side, as wide as their chances; an arrow marks the last roll."""
    faces = ""
    for place, (face, chance) in enumerate(zip(FACES, result.chances, strict=True)):
        best = ' class="best"' if place == result.best else ""
        faces += f'<i{best} style="flex-grow:{chance:.6f}">{face if chance > NAMED else ""}</i>'
    last = ""
    if result.last is not None:
        side = " end" if result.last > 0.6 else ""
        last = f'<b class="last{side}" style="left:{100 * result.last:.2f}%"><span>{escape(text("last"))}</span></b>'
    return f'<div class="faces">{faces}{last}</div>'


def _columns(result: Figures, shares: tuple[float, ...]) -> str:
    places = [
        Column(str(face), (chance, *shares[place : place + 1]))
        for place, (face, chance) in enumerate(zip(FACES, result.chances, strict=True))
    ]
    names = (text("law"), text("rolled")) if shares else (text("law"),)
    full = max(*result.chances, *shares, 0.2)
    title = f'<div class="title">{escape(text("axis"))}</div>'
    return picture.columns(places, text("alt.columns"), names, full=full) + title


LESSON = Lesson(
    NUMBER,
    (
        Setting("epsilon", tuple(map(text_of, demo.EPSILONS)), "1"),
        Setting("rolls", numbers(0, demo.MOST_ROLLS, demo.EACH_TIME), "0", "again"),
    ),
    view,
    '<div class="picture die"><div class="faces"><i style="flex-grow:.1"></i><i style="flex-grow:.2"></i>'
    '<i class="best" style="flex-grow:.5"></i><i style="flex-grow:.15"></i><i style="flex-grow:.05"></i></div></div>',
)
