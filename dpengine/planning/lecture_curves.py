"""Pictures of the lectures' statements, from public numbers alone: how an error grows with the size of a class, the
number of questions, of values, and of columns. None is used to charge or to refuse anything, so floats are enough.

**Class** (lecture 3, S1.7). A database of m = 2·ln(2|C|)/α² rows is within α/2 of every question of C, and
n ≥ (4/(αε))·ln(|D|^m/β) people are enough to choose one within α. Solved for α it grows with ln|C|, while |C| answers
one by one share ε: α = |C|·ln(|C|/β)/(εn) where costs add up, and ln(|C|/β)·√(8|C|·ln(1/δ))/(εn) by Corollary 5 of
lecture 6, which counts where ε ≤ 2·ln(1/δ).

**Population** (lecture 6, Theorem 9 with 10ε and its Ω taken as 1). k answers with noise Lap(1/(γn)) are (ε, δ)-stable,
γ = ε/√(8k·ln(1/δ)), within α = ln(2k/β)/(γn) of the table but for β/2 and within α + 10ε of the population but for β,
δ = βε/(2k). The least over ε is 2·√(10A), A = ln(2k/β)·√(8k·ln(1/δ))/n: of the order k^¼/√n, below 1 for k up to about
n². A part of the people for each question: √(k·ln(2k/β)/(2n)), below 1 for k up to about n.

**Values** (lecture 8). The first solution has |D| noisy sums that can err, the second at most n: a value that nobody
holds is reported as 0. So the first error grows with ln|D| for ever, and the second stops at |D| = n.

**Columns** (lecture 10). Rows of length at most 1 in d columns, replace-one. Standard deviation of the noise of one
mean: each column at ε/d (ordinary), 2√2·d/(εn); d uses composed within ρ (strong), √2·2·√(d/2ρ)/n; one draw by the
length of a row, √2·2/(√(2ρ)·n); Gaussian, 2/(√(2ρ)·n). ρ is the zCDP of (ε, δ): (√(ε + ln(1/δ)) − √ln(1/δ))².

**Weights** (lecture 10, its first way). The exponential mechanism over a grid of weights, step h in a ball of radius R
and dimension d: the nearest point costs at most G·h·√d/2; the score Σ ℓ(0, x) − ℓ(w, x) changes by sides·G·R, so the
expected excess is at most G·h√d/2 + (2·sides·GR/(εn))·(ln|R| + 1), |R| ≤ (2R/h + 1)^d. ε-DP with δ = 0, an error of the
order d/(εn), and a running time of |R|.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from dpengine.core.exact import ceiling
from dpengine.mechanisms.models.excess import COORDINATE, GAUSSIAN, TrainingSetting, best_rate, risk
from dpengine.noise import binomial
from dpengine.population import people_needed
from dpengine.population.noise_for_k import MOST_ANSWERS
from dpengine.population.validity import split

Points = list[tuple[float, float]]
Curves = dict[str, Points]
LONGEST = 10**6  # points that a computer tries in a few seconds


def decades(low: int, high: int, each: int = 4) -> list[int]:
    """Whole numbers on a log axis, both ends among them."""
    steps = range(each * math.ceil(math.log10(high / low)) + 1)
    return sorted({*(min(round(low * 10 ** (step / each)), high) for step in steps), high})


# --- lecture 3: one database, or one answer after the other


def class_rows(many: int, alpha: float) -> int:
    """The theorem's m: a database of that many rows can be within α/2 of every query of a class of this size."""
    return math.ceil(2 * math.log(2 * many) / alpha**2)


def class_people(many: int, domain: int, epsilon: float, beta: float, alpha: float) -> int:
    """The theorem's n: that many people are enough for an error of α, with m rows."""
    chosen = class_rows(many, alpha) * math.log(domain) + math.log(1 / beta)
    return math.ceil(4 / (alpha * epsilon) * chosen)


def class_error(people: int, many: int, domain: int, epsilon: float, beta: float) -> float:
    """The least α that the theorem gives for this many people; 1 says nothing."""
    low, high = 1e-9, 1.0
    for _ in range(60):
        middle = math.sqrt(low * high)
        low, high = (low, middle) if class_people(many, domain, epsilon, beta, middle) <= people else (middle, high)
    return high


def along_class(people: int, domain: int, epsilon: float, delta: float, beta: float, most: int) -> Curves:
    """The error against the size |C| of the class: of all answers from one small database, and of |C| answers one by
    one."""
    curves: Curves = {"small": [], "added": [], "strong": []}
    for many in decades(10, most):
        curves["small"].append((many, class_error(people, many, domain, epsilon, beta)))
        each = math.log(many / beta) / (epsilon * people)
        curves["added"].append((many, min(many * each, 1.0)))
        if 0 < delta < 1 and epsilon <= 2 * math.log(1 / delta):
            curves["strong"].append((many, min(math.sqrt(8 * many * math.log(1 / delta)) * each, 1.0)))
    return curves


# --- lecture 6: up to how many questions private answers stay ahead of splitting the people


def population_error(people: int, questions: int, beta: float) -> float:
    """The lecture's α + 10ε at its best ε, for this many questions; 1 says nothing."""
    epsilon = 0.1
    for _ in range(30):  # δ depends on ε by a logarithm
        ln = math.log(2 * questions / (beta * epsilon))
        near = math.log(2 * questions / beta) * math.sqrt(8 * questions * ln) / people
        epsilon = min(math.sqrt(near / 10), 1.0)
    return min(near / epsilon + 10 * epsilon, 1.0)


def along_questions(people: int, beta: Fraction) -> Curves:
    """The distance from the population, for k questions up to n²: by the lecture, by the best known bound, and with a
    fresh part of the people for each."""
    curves: Curves = {"lecture": [], "best": [], "split": []}
    for questions in decades(1, people**2, 2):
        curves["lecture"].append((questions, population_error(people, questions, float(beta))))
        parts = float(split(people, questions, beta).width) if questions <= MOST_ANSWERS else 1.0
        curves["split"].append((questions, min(parts, 1.0)))
        if questions <= MOST_ANSWERS:
            best = people_needed.planned(people, questions, beta).width
            curves["best"].append((questions, min(float(best), 1.0)))
    return curves


def last_useful(points: Points, width: float) -> int:
    """The most questions whose error stays below this `width`; 0 if there are none."""
    return int(max((questions for questions, error in points if error < width), default=0))


# --- lecture 8: growth with the number of values


def along_values(people: int, epsilon: Fraction, delta: Fraction, beta: Fraction) -> Curves:
    """The error of a shuffled histogram in people, by solution; nothing where the people are too few to hide."""
    chance = binomial.least_chance(people, epsilon, delta, 2)
    curves: Curves = {"first": [], "second": []}
    for size in decades(2, 10**9, 1) if chance is not None else []:
        assert chance is not None
        for name, erring in (("first", size), ("second", min(size, people))):
            low, high = binomial.reach(people, chance, beta / erring)
            middle = people * chance
            off = ceiling(max(middle - low, high - middle))
            if name == "second":
                off = max(off, binomial.rare(people, chance, beta / (2 * erring)) - 1)
            curves[name].append((size, float(off)))
    return curves


# --- lecture 10: growth with the number of columns, and weights from a grid


def zcdp(epsilon: float, delta: float) -> float:
    """The largest ρ for which ρ-zCDP implies (ε, δ)-DP, by Bun and Steinke 2016, Prop. 1.3."""
    ln = math.log(1 / delta)
    return (math.sqrt(epsilon + ln) - math.sqrt(ln)) ** 2


def along_columns(people: int, epsilon: float, delta: float, widths: Sequence[int] = range(2, 201, 2)) -> Curves:
    """The standard deviation of the noise in each of d means, against d, for each way of adding noise."""
    rho = zcdp(epsilon, delta) if delta > 0 else 0.0
    curves: Curves = {"ordinary": [(d, 2 * math.sqrt(2) * d / (epsilon * people)) for d in widths]}
    if rho:
        curves["strong"] = [(d, 2 * math.sqrt(2) * math.sqrt(d / (2 * rho)) / people) for d in widths]
        curves["length"] = [(d, 2 * math.sqrt(2) / math.sqrt(2 * rho) / people) for d in widths]
        curves["gaussian"] = [(d, 2 / math.sqrt(2 * rho) / people) for d in widths]
    return curves


def grid_points(setting: TrainingSetting, step: float) -> float:
    """|R|, bounded by the number of points of the grid with this step in the box around the ball."""
    return (2 * setting.radius / step + 1) ** setting.width


def grid_excess(setting: TrainingSetting, step: float) -> float:
    near = setting.clip * step * math.sqrt(setting.width) / 2
    spread = 2 * setting.sides * setting.clip * setting.radius / (setting.epsilon * setting.people)
    return near + spread * (math.log(grid_points(setting, step)) + 1)


def best_step(setting: TrainingSetting) -> float:
    """The step of the grid for which the bound on the excess is least."""
    steps = [setting.radius * 2 ** (-power / 4) for power in range(120)]
    return min(steps, key=lambda step: grid_excess(setting, step))


def along_weights(setting: TrainingSetting, widths: Sequence[int] = range(1, 11)) -> Curves:
    """The promised excess over the best model against the number of weights: from a grid, and by descent with noise by
    coordinate and Gaussian noise. `few`: from a grid with at most LONGEST points."""
    curves: Curves = {"grid": [], "few": [], COORDINATE: [], GAUSSIAN: []}
    most = 2 * setting.radius * setting.clip  # holds anywhere
    for width in widths:
        here = replace(setting, width=width, share=1.0)
        step = best_step(here)
        curves["grid"].append((width, min(grid_excess(here, step), most)))
        coarse = max(step, 2 * here.radius / (LONGEST ** (1 / width) - 1))
        curves["few"].append((width, min(grid_excess(here, coarse), most)))
        for calibration in (COORDINATE, GAUSSIAN):
            trained = replace(here, calibration=calibration)
            curves[calibration].append((width, risk(trained, best_rate(trained))))
    return curves
