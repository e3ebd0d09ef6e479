"""Laplace noise for k statistical queries, beside the Gaussian noise of `noise_for_k`: bounds must hold for both."""

from __future__ import annotations

from fractions import Fraction

from dpengine.accountant import filter
from dpengine.accountant.compositions import advanced_each
from dpengine.accountant.costs import cost
from dpengine.accountant.filter import Rule, Totals
from dpengine.accountant.loss import Pure
from dpengine.core.errors import AllowanceError
from dpengine.core.exact import PICO, ceiling
from dpengine.core.remembered import largest
from dpengine.population.noise_for_k import LAPLACE, Calibration


def lecture(people: int, answers: int, epsilon: Fraction, delta: Fraction) -> Calibration:
    """The lecture's noise (its corollary 5): scale 1/γ with γ = ε/√(8k·ln(1/δ))."""
    return Calibration(LAPLACE, people, answers, 1, 1 / advanced_each(epsilon, delta, answers))


def laplace(people: int, answers: int, rule: Rule, totals: Totals = Totals.NOTHING) -> Calibration:
    """The least Laplace noise with which the rule admits this many answers after `totals`."""

    def admitted(pico: int) -> bool:
        return filter.fits(rule, totals, cost(Pure(Fraction(pico, PICO)), rule.alpha), answers) >= answers

    most = largest(lambda pico: pico == 0 or admitted(pico), 0, ceiling(rule.epsilon * PICO))
    if most == 0:
        raise AllowanceError("validity.no_room", answers=answers)
    return Calibration(LAPLACE, people, answers, 1, 1 / Fraction(most, PICO))
