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
text = words(NUMBER)
LABELLED = 4  # the most answers with chances printed above the bars


def view(given: Given) -> View:
    times, flip = int(given["times"]), Fraction(given["flip"])
    result = demo.coin(times, flip, Fraction(given["epsilon"]), Fraction(given["delta"]))
    facts = checked_facts(result)
    one = text("one" if result.worst else "one.same", times=times, flip=local(given["flip"]), **facts)
    two = text("two.same" if not result.worst else "two.holds" if result.holds else "two.breaks", **facts)
    once = checked_facts(demo.coin(1, flip, result.epsilon, result.delta))
    facts |= {"flip": local(given["flip"]), "once_likelier": once["likelier"], "once_limit": once["limit"]}
    return View(_picture(result), one, two, text("theorem", **facts), text("source"), text("relation"))


def checked_facts(result: Checked) -> dict[str, str]:
    """The numbers of the comparison as printed: four places, or more if rounding would contradict the verdict."""
    names = ("likelier", "rarer", "limit", "least", "epsilon", "delta")
    values = {name: getattr(result, name) for name in names} | {"factor": Fraction(exp_decimal(result.epsilon))}
    for places in range(4, 20):
        facts = {name: _places(value, places) for name, value in values.items()}
        broken = [Fraction(facts["likelier"]) > Fraction(facts["limit"]), Fraction(facts["least"]) > result.delta]
        if broken == [not result.holds] * 2:
            break
    return {name: local(figure) for name, figure in facts.items()}


def decimals(value: Fraction) -> str:
    return local(_places(value, 4))


def _places(value: Fraction, places: int) -> str:
    return f"{float(value):.{places}f}".rstrip("0").rstrip(".")


def _picture(result: Checked) -> str:
    times = len(result.first) - 1
    places = [
        Column(
            text("said", said=answer, times=times) if times <= LABELLED else str(answer),
            (float(yes), float(no)),
            answer in result.worst,
            (decimals(yes), decimals(no)) if times <= LABELLED else (),
        )
        for answer, (yes, no) in enumerate(zip(result.first, result.second, strict=True))
    ]
    drawn = picture.columns(places, text("alt", times=times), (text("world.yes"), text("world.no")), text("worst"), 1)
    words = text("verdict.holds" if result.holds else "verdict.breaks", **checked_facts(result))
    return drawn + picture.verdict(result.holds, words)


def _small() -> str:
    """HTML: the chances of two answers for a true yes and a true no, as in the thesis."""
    result = demo.coin(2, Fraction("0.286"), Fraction("0.1"), Fraction("0.4"))
    pairs = zip(result.first, result.second, strict=True)
    places = [Column("", (float(yes), float(no)), answer in result.worst) for answer, (yes, no) in enumerate(pairs)]
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
