"""Lesson 2: enough repetitions average the noise away, unless somebody counts them."""

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
text = words(NUMBER)
FEW = 2  # above this many allowances a share reads as “times”


def view(given: Given) -> View:
    result = demo.run(demo.Settings(given["way"], int(given["times"]), Fraction(given["epsilon"])))
    times = result.settings.times
    facts = {"mean": _figure(result.mean), "truth": result.truth, "error": _figure(result.error)}
    if result.refused:
        one = text("one.refused", most=result.most, basic=result.most_basic, times=times)
        two = text("two.refused", **facts)
    else:
        one = text("one.once" if times == 1 else "one", times=times, **facts)
        smaller = _figure(times**0.5)
        two = text("two.once" if times == 1 else "two", smaller=smaller, times=times, added=_share(result.added))
    terms = {"epsilon": ALLOWANCE.epsilon, "delta": power_of_ten(ALLOWANCE.delta), "each": given["epsilon"]}
    theorem = text("theorem", most=result.most, basic=result.most_basic, **terms)
    return View(_picture(result), one, two, theorem, text("source"), text("relation"))


def _picture(result: Averaged) -> str:
    truth, reach = result.truth, 5 * demo.spread(result.settings.epsilon)
    marks = [Mark(truth, text("truth", truth=truth))]
    if result.given > 1:
        marks.append(Mark(result.mean, text("mean", mean=_figure(result.mean)), "seen"))
    band = (result.mean - result.error, result.mean + result.error)
    span, alt = (truth - reach, truth + reach), text("alt", given=result.given, truth=truth)
    dots = picture.strip(result.answers, span, alt, marks, text("axis"), result.given, band)
    cap = ALLOWANCE.epsilon
    bars = (
        ("meter.basic", result.added, result.added > cap or (result.refused and result.most == result.most_basic)),
        ("meter.ledger", min(result.spent, cap) if result.settings.way == "ledger" else result.spent, result.refused),
    )
    drawn = "".join(
        picture.meter(float(spent / cap), text(code, share=_share(spent)), over or spent > cap)
        for code, spent, over in bars
    )
    return dots + picture.figure(drawn, text("alt.meters", basic=_share(result.added), ledger=_share(result.spent)))


def _share(spent: Fraction) -> str:
    """What was spent, in words: a share of the allowance, or from a few allowances on their number."""
    share = spent / ALLOWANCE.epsilon
    return text("share", share=percent(share)) if share < FEW else text("shares", times=_figure(float(share)))


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
