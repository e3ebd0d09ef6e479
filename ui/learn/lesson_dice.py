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
NAMED = 0.045  # a narrower face has no room for its figure
tell = words(NUMBER)


def view(given: Given) -> View:
    settings = demo.Settings(Fraction(given["epsilon"]), int(given["rolls"]))
    found = demo.figures(settings)
    people, most = sum(PEOPLE), to_figures(found.most, 3)
    facts = {
        "middle": FACES[found.best],
        "chance": _chance(found.chances[found.best]),
        "count": found.counts[found.best],
        "rolls": settings.rolls,
    }
    told = {"promised": found.promised, "people": people, "most": most}
    worst_gap = max(found.gaps)
    theorem = tell(
        "theorem",
        **told,
        within=percent(found.within),
        worst=to_figures(found.worst, 3),
        epsilon=settings.epsilon,
        capped=demo.moves(PEOPLE, demo.capped),
        plain=demo.moves(PEOPLE, demo.plain),
        many=demo.REPEATED[0],
        all=sum(demo.REPEATED),
        down=-demo.plain(demo.REPEATED, 0),
    )
    return View(
        _picture(found, settings.rolls),
        tell("one.rolled" if settings.rolls else "one.none", **facts),
        tell("two" if found.promised < worst_gap else "two.nothing", **told),
        theorem,
        say("card.median.theorem"),
        tell("relation"),
    )


def _chance(share: float) -> str:
    return percent(share) if share < 0.99 else f"{100 * share:.1f} %"


def _picture(found: Figures, rolls: int) -> str:
    die = picture.figure(_die(found), tell("alt.die", faces=len(FACES), middle=FACES[found.best]), "die")
    if not rolls:
        return die + _columns(found, ())
    return die + _columns(found, tuple(count / rolls for count in found.counts))


def _die(found: Figures) -> str:
    """The faces side by side, as wide as they are likely; an arrow where the last roll landed."""
    faces = ""
    for place, (face, chance) in enumerate(zip(FACES, found.chances, strict=True)):
        best = ' class="best"' if place == found.best else ""
        faces += f'<i{best} style="flex-grow:{chance:.6f}">{face if chance > NAMED else ""}</i>'
    last = ""
    if found.last is not None:
        side = " end" if found.last > 0.6 else ""
        last = f'<b class="last{side}" style="left:{100 * found.last:.2f}%"><span>{escape(tell("last"))}</span></b>'
    return f'<div class="faces">{faces}{last}</div>'


def _columns(found: Figures, shares: tuple[float, ...]) -> str:
    places = [
        Column(str(face), (chance, *shares[place : place + 1]))
        for place, (face, chance) in enumerate(zip(FACES, found.chances, strict=True))
    ]
    names = (tell("law"), tell("rolled")) if shares else (tell("law"),)
    full = max(*found.chances, *shares, 0.2)
    title = f'<div class="title">{escape(tell("axis"))}</div>'
    return picture.columns(places, tell("alt.columns"), names, full=full) + title


LESSON = Lesson(
    NUMBER,
    (
        Setting("epsilon", tuple(text_of(one) for one in demo.EPSILONS), "1"),
        Setting("rolls", numbers(0, demo.MOST_ROLLS, demo.EACH_TIME), "0", "again"),
    ),
    view,
    '<div class="picture die"><div class="faces"><i style="flex-grow:.1"></i><i style="flex-grow:.2"></i>'
    '<i class="best" style="flex-grow:.5"></i><i style="flex-grow:.15"></i><i style="flex-grow:.05"></i></div></div>',
)
