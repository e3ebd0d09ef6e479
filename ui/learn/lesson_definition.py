"""Lesson 4: the definition as two worlds that must look alike."""

from __future__ import annotations

from fractions import Fraction

from demos.lessons import definition as demo
from demos.lessons.definition import Checked
from dpengine.core.exact import exp_decimal
from dpengine.messages import plain
from ui.learn.lesson import Given, Lesson, Setting, View, words
from ui.learn.lesson_coin import checked_facts, decimals
from ui.pictures import picture
from ui.pictures.picture import Column

NUMBER = 4
text = words(NUMBER)
ROWS, PEOPLE = 8, 3
SHARES = tuple(f"{place / 20:g}" for place in range(21))


def view(given: Given) -> View:
    epsilon, delta = Fraction(given["epsilon"]), Fraction(given["delta"])
    if given["kind"] == "bars":
        result = demo.bars(Fraction(given["a"]), Fraction(given["b"]), epsilon, delta)
    else:
        result = demo.count(Fraction(given["noise"]), epsilon, delta)
    facts = checked_facts(result)
    one = text("one" if result.worst else "one.same", **facts)
    two = text("two.same" if not result.worst else "two.holds" if result.holds else "two.breaks", **facts)
    theorem = text("theorem", **facts)
    if given["kind"] == "bars":
        more, less = max(result.first[0], result.second[0]), min(result.first[0], result.second[0])
        limit = Fraction(exp_decimal(epsilon)) * less + delta
        shown = {"more": decimals(more), "less": decimals(less), "limit": decimals(limit)}
        theorem += " " + text("theorem.yes", **shown, epsilon=facts["epsilon"], delta=facts["delta"])
    theorem += " " + text("theorem.one_row", **needed_words())
    return View(_picture(given["kind"], result), one, two, theorem, text("source"), text("relation"))


def needed_words() -> dict[str, str]:
    """Numbers as text: how many comparisons decide whether a mechanism is private, for all tables of three people in a
    small world."""
    counted = demo.needed(ROWS, PEOPLE)
    facts = {"rows": ROWS, "people": PEOPLE, "pairs": counted.pairs, "tables": counted.tables, "events": counted.events}
    return {name: plain(value) for name, value in facts.items()}


def _picture(kind: str, result: Checked) -> str:
    few = kind == "bars"
    labels = [text("yes"), text("no")] if few else [str(place) for place in range(demo.LOW, demo.HIGH + 1)]
    if not few:
        labels = [label if place % 5 == 0 else "" for place, label in enumerate(labels)]
    pairs = zip(labels, result.first, result.second, strict=True)
    places = [
        Column(label, (float(p), float(q)), place in result.worst, (decimals(p), decimals(q)) if few else ())
        for place, (label, p, q) in enumerate(pairs)
    ]
    names = (text("world.first"), text("world.second"))
    drawn = picture.columns(places, text(f"alt.{kind}"), names, text("worst"), 1 if few else 0)
    words = text("verdict.holds" if result.holds else "verdict.breaks", **checked_facts(result))
    return drawn + picture.verdict(result.holds, words)


def _shown(given: Given) -> tuple[str, ...]:
    return ("kind", *(("a", "b") if given["kind"] == "bars" else ("noise",)), "epsilon", "delta")


def _small() -> str:
    result = demo.count(Fraction("0.5"), Fraction("0.1"), Fraction(0))
    pairs = zip(result.first, result.second, strict=True)
    places = [Column("", (float(p), float(q)), place in result.worst) for place, (p, q) in enumerate(pairs)]
    return picture.columns(places[4:18], "", small=True)


LESSON = Lesson(
    NUMBER,
    (
        Setting("kind", ("bars", "count"), "bars", "choice"),
        Setting("a", SHARES, "0.9"),
        Setting("b", SHARES, "0.8"),
        Setting("noise", ("0.1", "0.2", "0.3", "0.5", "0.7", "1", "1.5", "2"), "0.5"),
        Setting("epsilon", ("0", "0.05", "0.1", "0.2", "0.3", "0.5", "0.7", "1", "1.5", "2", "3"), "0.05"),
        Setting("delta", ("0", "0.01", "0.02", "0.05", "0.1", "0.2", "0.3", "0.5"), "0.05"),
    ),
    view,
    _small(),
    _shown,
)
