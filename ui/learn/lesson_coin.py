"""Lesson 3: a coin that protects you once gives you away twice."""

from __future__ import annotations

from fractions import Fraction

from demos.lessons import definition as demo
from demos.lessons.definition import Checked
from dpengine.core.exact import exp_decimal
from dpengine.messages.numbers import local
from ui.learn.lesson import Given, Lesson, Setting, View, numbers, words
from ui.pictures import picture
from ui.pictures.picture import Column

NUMBER = 3
tell = words(NUMBER)
TOLD = 4  # chances stand above the bars while there is room for them


def view(given: Given) -> View:
    times, flip = int(given["times"]), Fraction(given["flip"])
    found = demo.coin(times, flip, Fraction(given["epsilon"]), Fraction(given["delta"]))
    facts = checked_facts(found)
    one = tell("one" if found.worst else "one.same", times=times, flip=local(given["flip"]), **facts)
    two = tell("two.same" if not found.worst else "two.holds" if found.holds else "two.breaks", **facts)
    once = checked_facts(demo.coin(1, flip, found.epsilon, found.delta))
    return View(
        _picture(found),
        one,
        two,
        tell("theorem", flip=local(given["flip"]), once_likelier=once["likelier"], once_limit=once["limit"], **facts),
        tell("source"),
        tell("relation"),
    )


def checked_facts(found: Checked) -> dict[str, str]:
    """The figures of a promise as they are told: to four places, or to as many as it takes that what is printed does
    not contradict what was decided."""
    values = {
        "likelier": found.likelier,
        "rarer": found.rarer,
        "limit": found.limit,
        "least": found.least,
        "epsilon": found.epsilon,
        "delta": found.delta,
        "factor": Fraction(exp_decimal(found.epsilon)),
    }
    for places in range(4, 20):
        facts = {name: _places(value, places) for name, value in values.items()}
        broken = [Fraction(facts["likelier"]) > Fraction(facts["limit"]), Fraction(facts["least"]) > found.delta]
        if broken == [not found.holds] * 2:
            break
    return {name: local(figure) for name, figure in facts.items()}


def told(value: Fraction) -> str:
    return local(_places(value, 4))


def _places(value: Fraction, places: int) -> str:
    return f"{float(value):.{places}f}".rstrip("0").rstrip(".")


def _picture(found: Checked) -> str:
    times = len(found.first) - 1
    places = [
        Column(
            tell("said", said=said, times=times) if times <= TOLD else str(said),
            (float(yes), float(no)),
            said in found.worst,
            (told(yes), told(no)) if times <= TOLD else (),
        )
        for said, (yes, no) in enumerate(zip(found.first, found.second, strict=True))
    ]
    drawn = picture.columns(places, tell("alt", times=times), (tell("world.yes"), tell("world.no")), tell("worst"), 1)
    words = tell("verdict.holds" if found.holds else "verdict.breaks", **checked_facts(found))
    return drawn + picture.verdict(found.holds, words)


def _small() -> str:
    """Two answers where the truth is yes and where it is no, as the thesis turns them over."""
    found = demo.coin(2, Fraction("0.286"), Fraction("0.1"), Fraction("0.4"))
    pairs = zip(found.first, found.second, strict=True)
    places = [Column("", (float(yes), float(no)), said in found.worst) for said, (yes, no) in enumerate(pairs)]
    return picture.columns(places, "", small=True)


LESSON = Lesson(
    NUMBER,
    (
        Setting("times", numbers(1, 10), "1"),
        Setting("flip", ("0.05", "0.1", "0.2", "0.286", "0.3", "0.4", "0.5"), "0.286", more=True),
        Setting("epsilon", ("0", "0.1", "0.5", "1", "2", "3"), "0.1", more=True),
        Setting("delta", ("0", "0.01", "0.1", "0.2", "0.4", "0.6"), "0.4", more=True),
    ),
    view,
    _small(),
)
