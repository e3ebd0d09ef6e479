"""Lesson 2: ask often enough, and the noise is gone, unless somebody counts."""

from __future__ import annotations

from fractions import Fraction

from demos.lessons import averaging as demo
from demos.lessons.averaging import Averaged
from demos.lessons.clinic import ALLOWANCE
from dpengine.core.printed import percent, power_of_ten
from dpengine.messages.numbers import local
from ui.learn.lesson import AGAIN, Given, Lesson, Setting, View, words
from ui.pictures import picture
from ui.pictures.picture import Mark

NUMBER = 2
tell = words(NUMBER)
FEW = 2  # beyond so many allowances a share is told as “times”


def view(given: Given) -> View:
    found = demo.run(demo.Settings(given["way"], int(given["times"]), Fraction(given["epsilon"])))
    times = found.settings.times
    facts = {"mean": _figure(found.mean), "truth": found.truth, "error": _figure(found.error)}
    if found.refused:
        one = tell("one.refused", most=found.most, basic=found.most_basic, times=times)
        two = tell("two.refused", **facts)
    else:
        one = tell("one.once" if times == 1 else "one", times=times, **facts)
        smaller = _figure(times**0.5)
        two = tell("two.once" if times == 1 else "two", smaller=smaller, times=times, added=_share(found.added))
    terms = {"epsilon": ALLOWANCE.epsilon, "delta": power_of_ten(ALLOWANCE.delta), "each": given["epsilon"]}
    return View(
        _picture(found),
        one,
        two,
        tell("theorem", most=found.most, basic=found.most_basic, **terms),
        tell("source"),
        tell("relation"),
    )


def _picture(found: Averaged) -> str:
    truth, reach = found.truth, 5 * demo.spread(found.settings.epsilon)
    marks = [Mark(truth, tell("truth", truth=truth))]
    if found.given > 1:
        marks.append(Mark(found.mean, tell("mean", mean=_figure(found.mean)), "seen"))
    band = (found.mean - found.error, found.mean + found.error)
    dots = picture.strip(
        found.answers,
        (truth - reach, truth + reach),
        tell("alt", given=found.given, truth=truth),
        marks,
        tell("axis"),
        found.given,
        band,
    )
    cap = ALLOWANCE.epsilon
    bars = (
        ("meter.basic", found.added, found.added > cap or (found.refused and found.most == found.most_basic)),
        ("meter.ledger", min(found.spent, cap) if found.settings.way == "ledger" else found.spent, found.refused),
    )
    drawn = "".join(
        picture.meter(float(spent / cap), tell(code, share=_share(spent)), over or spent > cap)
        for code, spent, over in bars
    )
    return dots + picture.figure(drawn, tell("alt.meters", basic=_share(found.added), ledger=_share(found.spent)))


def _share(spent: Fraction) -> str:
    """As a share of the allowance, or as so many allowances."""
    share = spent / ALLOWANCE.epsilon
    return tell("share", share=percent(share)) if share < FEW else tell("shares", times=_figure(float(share)))


def _figure(value: float) -> str:
    return local(f"{value:,.1f}".removesuffix(".0") if value < 1000 else f"{value:,.0f}")


LESSON = Lesson(
    NUMBER,
    (
        Setting("times", tuple(str(times) for times in demo.TIMES), "1"),
        Setting("way", demo.WAYS, "open", "choice"),
        AGAIN,
        Setting("epsilon", ("0.01", "0.05", "0.1", "0.5"), "0.05", "choice", more=True),
    ),
    view,
    picture.strip((-9, -6, -5, -3, -3, -1, 0, 0, 1, 2, 2, 4, 6), (-10, 10), "", [Mark(0, "")], height=70, kind="bare"),
    random=True,
)
