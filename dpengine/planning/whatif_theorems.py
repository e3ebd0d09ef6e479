"""What the theorems themselves say about the number of people, beside the question's own promise: in one sentence each.

    training          lecture 10: an excess of RG/√T takes T = (RG/excess)² steps and n ≥ d·√(T·ln(1/δ))/ε people
    synthetic tables  lecture 3: m = 2·ln(2|C|)/α² rows are within α/2 of every question of C (Hoeffding), and
                      n ≥ (4/(αε))·ln(|D|^m/β) finds such rows but for β (the source drops the 1/ε in its last line)
    sessions          how far answers are from the population: `session_validity` at this noise, with rounded answers
                      where they can be had; `people_needed` at the noise that suits the population best

All are functions of public numbers; none is used to charge or refuse anything.
"""

from __future__ import annotations

import math
from fractions import Fraction

from dpengine.accountant import zcdp
from dpengine.asking.answers import round_up_two
from dpengine.core.errors import AllowanceError
from dpengine.mechanisms.models.of_gradients import OfGradients
from dpengine.mechanisms.session.adaptive_session import AdaptiveSession
from dpengine.mechanisms.synthetic.of_class import OfClass
from dpengine.messages import say
from dpengine.planning.whatif import Solved, next_true
from dpengine.population import people_needed, session_validity
from dpengine.population.noise_for_k import MOST_ANSWERS, MOST_PEOPLE
from dpengine.population.validity import Width, split

ALL = 100


def theorems(found: Solved) -> list[str]:
    """For the error that is promised."""
    query = found.query
    if isinstance(query, OfGradients):
        return _training(query, found.budget.delta)
    if isinstance(query, OfClass):
        return _class(query)
    if isinstance(query, AdaptiveSession):
        return _session(query)
    return []


def training_people(query: OfGradients, delta: Fraction, risk: Fraction) -> tuple[int, int] | None:
    """The lecture's T for this excess, and its n; None without δ."""
    epsilon = zcdp.epsilon_of([query.loss()], delta) if delta > 0 else None
    if epsilon is None or risk <= 0:
        return None
    steps = math.ceil((query.reach * float(query.clip) / float(risk)) ** 2)
    return steps, math.ceil(query.width * math.sqrt(steps * math.log(1 / delta)) / float(epsilon))


def _training(query: OfGradients, delta: Fraction) -> list[str]:
    found = training_people(query, delta, query.promise().risk)
    if found is None:
        return []
    steps, people = found
    return [say("whatif.theorem.lecture_training", steps=steps, people=_about(people))]


def class_people(query: OfClass, alpha: Fraction) -> tuple[int, int]:
    """The theorem's m for an error of α, and its n."""
    rows = math.ceil(2 * math.log(2 * query.many) / float(alpha) ** 2)
    chosen = rows * math.log(query.domain) + math.log(1 / query.beta)
    return rows, math.ceil(4 / float(alpha * query.epsilon) * chosen)


def _class(query: OfClass) -> list[str]:
    told = [say("whatif.theorem.class_size", many=query.many)]
    alpha = query.promise().amount / ALL
    if 0 < alpha < 1:
        rows, people = class_people(query, alpha)
        told.append(say("whatif.theorem.small_database", many=query.many, rows=rows, people=_about(people)))
    return told


def population_people(query: AdaptiveSession, width: Fraction) -> tuple[int, str] | None:
    """How many people this session needs, at its own ε, for every answer to be so near to the population; and by which
    bound. None where no number is enough."""

    def best(people: int) -> Width:
        return session_validity.outward(session_validity.rounded(query.of_size(people)))[0]

    people = next_true(lambda n: best(n).claimed and best(n).width <= width, MOST_PEOPLE)
    return None if people is None else (people, best(people).theorem)


def _session(query: AdaptiveSession) -> list[str]:
    width = query.promise().amount / ALL
    if not 0 < width < 1 or query.questions > MOST_ANSWERS:
        return []
    found = population_people(query, width)
    if found is None:
        return [say("whatif.theorem.population_none")]
    people, theorem = found
    name = "description" if theorem == "description" else "other"
    told = [say("whatif.theorem.population", people=_about(people), theorem=say(f"whatif.bound.{name}"))]
    try:
        planned = people_needed.least_people(query.questions, width, query.beta)
    except AllowanceError:
        return told
    parts = next_true(lambda n: split(n, query.questions, query.beta).width <= width, MOST_PEOPLE)
    if planned is not None and parts is not None:
        told.append(say("whatif.theorem.best_noise", people=_about(planned), parts=_about(parts)))
    return told


def _about(people: int) -> int:
    return round_up_two(Fraction(people))
