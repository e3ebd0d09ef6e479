"""Lesson 14: who won the election? Three ways to name the winner in private."""

from __future__ import annotations

from fractions import Fraction
from html import escape

from demos.lessons import election as demo
from demos.lessons.election import CANDIDATES, LEADS, WAYS, Figures
from dpengine.core.exact import text_of
from dpengine.core.printed import percent
from dpengine.messages import say
from ui.learn.lesson import Given, Lesson, Setting, View, words
from ui.pictures import picture
from ui.pictures.picture import Column

NUMBER = 14
text = words(NUMBER)


def view(given: Given) -> View:
    lead, epsilon = int(given["lead"]), Fraction(given["epsilon"])
    result = demo.figures(demo.Settings(lead, epsilon))
    facts: dict[str, object] = {way: percent(result.chances[way][0]) for way in WAYS}
    facts |= {f"{way}_behind": result.behind[way] for way in WAYS}
    one = text("one", lead=lead, epsilon=epsilon, winner=CANDIDATES[0], **facts)
    two, theorem = (text(code, people=demo.PEOPLE, **facts) for code in ("two", "theorem"))
    drawn = f'<div class="beside">{_votes(result)}{_along(lead, epsilon)}</div>'
    return View(drawn, one, two, theorem, say("card.noisy_argmax.theorem"), text("relation", people=demo.PEOPLE))


def _votes(result: Figures) -> str:
    """HTML: how often each candidate is named, by each way of naming."""
    head = f'<p class="head">{escape(text("named.title"))}</p>'
    each = zip(*(result.chances[way] for way in WAYS), strict=True)
    names = (f"{name} ({votes})" for name, votes in zip(CANDIDATES, result.votes, strict=True))
    places = [Column(name, heights) for name, heights in zip(names, each, strict=True)]
    alt = text("alt.named", winner=CANDIDATES[0], **{way: percent(result.chances[way][0]) for way in WAYS})
    return f"<div>{head}{picture.columns(places, alt, tuple(map(text, WAYS)), full=1)}</div>"


def _along(lead: int, epsilon: Fraction) -> str:
    head = f'<p class="head">{escape(text("along.title"))}</p>'
    places = []
    for votes in LEADS:
        chances = demo.figures(demo.Settings(votes, epsilon)).chances
        places.append(Column(str(votes), tuple(chances[way][0] for way in WAYS), votes == lead))
    title = f'<div class="title">{escape(text("axis"))}</div>'
    return f"<div>{head}{picture.columns(places, text('alt.along'), tuple(map(text, WAYS)), full=1)}{title}</div>"


LESSON = Lesson(
    NUMBER,
    (
        Setting("lead", tuple(map(str, LEADS)), "10"),
        Setting("epsilon", tuple(map(text_of, demo.EPSILONS)), "0.2"),
    ),
    view,
    picture.columns(
        [Column("", heights) for heights in ((0.6, 0.45), (0.2, 0.22), (0.1, 0.15))], "", full=1, small=True
    ),
)
