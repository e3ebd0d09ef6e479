"""An analyst who tries to be misled: answers stay within α, and what they say of the population."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from battery import POSSIBLE_ROWS, allowed_failures, facts

from dpengine.accountant.history import Past
from dpengine.declared.facts import Facts
from dpengine.mechanisms.session.adaptive_session import AdaptiveSession
from dpengine.mechanisms.session.asks import Average, Share
from dpengine.noise.coins import SystemCoins
from dpengine.population import people_needed
from dpengine.population.session_validity import claimed, noise_of, outward

# An analyst who tries: sample errors stay within α


def attack(asked: AdaptiveSession, rows: list[Any]) -> bool:
    """Each question depends on the last answer; was one farther than α, or the truth outside its range?"""
    state, far, coins = asked.open(), False, SystemCoins()
    ask: dict[str, Any] = {"share": [["x", ">", 0]]}
    while state.left:
        state, part = asked.step(state, ask, lambda need: need.of(rows), coins)
        query = part.query
        assert query.ask is not None and not hasattr(query.ask, "options")
        truth = query._in_unit(query._share(query.measured(query.need().of(rows))[0]))
        error = abs(part.released.value - truth) / float(query.ask.width)  # type: ignore[union-attr]
        low, high = part.released.interval
        far = far or error > float(asked.alpha) + 1e-12 or not low - 1e-9 <= truth <= high + 1e-9
        high = part.released.value > truth
        ask = {"average": "x"} if high else {"share": [["x", ">", 0], ["c", "in", ["a" if high else "b"]]]}
    return far


@pytest.mark.every(9)
@pytest.mark.parametrize("rounded", [None, 8])
@pytest.mark.parametrize("calibration", ["laplace", "gaussian"])
def test_an_adaptive_analyst_gets_answers_within_alpha(calibration: str, rounded: int | None) -> None:
    """β = 0.2, 60 sessions of four questions; false alarm ≤ 1e-6 by the exact binomial tail. With three times the
    noise the promise fails nearly always: the check has power."""
    rows = [POSSIBLE_ROWS[place % len(POSSIBLE_ROWS)] for place in range(1, 161)]
    about: Facts = facts("replace", about=len(rows))
    given = {"questions": 4, "calibration": calibration, "epsilon": "1", "beta": "0.2", "rounded": rounded}
    asked = AdaptiveSession.build(about, given)
    sessions = 60
    assert sum(attack(asked, rows) for _ in range(sessions)) <= allowed_failures(sessions, 0.2)

    class Loud(AdaptiveSession):
        @property
        def alpha(self) -> Fraction:
            return super().alpha / 3

    loud = Loud.build(about, given)
    assert sum(attack(loud, rows) for _ in range(sessions)) > allowed_failures(sessions, 0.2)


# The population


def about(people: int, relation: str, **given: Any) -> AdaptiveSession:
    return AdaptiveSession.build(facts(relation, about=people), {"epsilon": "1", "questions": 50} | given)


@pytest.mark.parametrize("calibration", ["laplace", "gaussian"])
def test_bounds_on_the_population_count_add_remove_twice_and_a_choice_as_what_it_is(calibration: str) -> None:
    asked = about(100_000, "replace", calibration=calibration)
    first, *others = outward(asked)
    assert first.claimed and first.width == min(one.width for one in (first, *others[:-1]) if one.claimed)
    assert others[-1].theorem == "split" and first.width > asked.alpha
    assert noise_of(asked).each.epsilon == asked.each if calibration == "laplace" else True  # type: ignore[union-attr]
    secret = about(100_000, "add_remove", calibration=calibration)
    assert outward(secret)[0].width > first.width + secret.alpha / 2
    assert first.theorem == "counted"  # which a choice does not touch: it needs nothing but the privacy of an answer
    same = [claimed(asked, Past.NOTHING, Fraction(0), 50, choices) for choices in (0, 1)]
    assert same[0] == same[1] == first
    assert claimed(secret, Past.NOTHING, Fraction(0), 50) is None  # how many people there are is not public
    for ask in ({"average": "x"}, {"share": [["x", ">", 0]]}):  # α of every kind of question is covered
        step = asked.asking(ask)
        assert isinstance(step.ask, Average | Share)
        assert step.promise().amount / step.ask.width <= asked.alpha


def test_too_few_people_for_a_population_names_how_many_would_do() -> None:
    few = about(200, "replace", epsilon="5")
    assert outward(few)[0].width >= Fraction(1, 2)
    enough = people_needed.least_people(50, Fraction(1, 10))
    assert enough is not None and enough > 200
    assert people_needed.best(enough, 50).width <= Fraction(1, 10) < people_needed.best(enough - 1, 50).width
