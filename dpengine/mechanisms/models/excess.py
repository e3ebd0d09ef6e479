"""Bounds, with all constants, on how far a model trained with noise is from the best one, before anything is spent.

L is the average loss over n rows, convex, with (sub)gradients of norm at most G and Hessian at most β (1 for half the
squared error, 1/4 for the log-loss; clipping a residual makes it Huber's loss, to which the same applies; ∞ for the
hinge loss, which has a corner: then bounds that need β do not apply). w₁ = 0, the best w* of the region has norm at
most R, and step t moves against ∇L(w_t) + ξ_t, E[ξ_t] = 0, E‖ξ_t‖² = V, then projects.

**Lecture** (its theorem, with the noise in it). ‖w_{t+1} − w*‖² ≤ ‖w_t − w*‖² − 2η⟨∇L + ξ, w_t − w*⟩ + η²‖∇L + ξ‖²;
the noise is independent of w_t, so summing over t, for the average of the w_t:

    E[L(ŵ)] − L(w*) ≤ R²/(2ηT) + (η/2)(G² + V)        = R·√((G²+V)/T) at η = R/√(T(G²+V)); RG/√T without noise.

The released model is the average of w₂ … w_{T+1}, because w₁ = 0 has learned nothing: the sum of one more step, without
its first term, has (T+1)/T times (η/2)(G² + V).

**Smooth.** The same with L(w_{t+1}) ≤ L(w_t) + ⟨∇L, w_{t+1} − w_t⟩ + (β/2)‖w_{t+1} − w_t‖² in place of G: what is
left of the noise is ⟨ξ, w_t − w_{t+1}⟩ − (1/η − β)‖w_{t+1} − w_t‖²/2 + a term of mean 0 ≤ ηV/(2(1−ηβ)), so for η <
1/β and the average of w₂ … w_{T+1}:

    E[L(ŵ)] − L(w*) ≤ R²/(2ηT) + ηV/(2(1−ηβ))          = βR²/(2T) + R·√(V/T) at 1/η = β + √(VT)/R.

**Second half** of the iterates. E‖w_t − w*‖² ≤ R² + tη²V for η ≤ 2/β (a gradient step is nonexpansive), so either
bound holds with T/2 for T and R² + Tη²V/2 for R². For any η, and with a corner, the lecture's inequality itself says
E‖w_t − w*‖² ≤ R² + tη²(G² + V), so its bound holds with that.

**Anywhere.** L is G-Lipschitz and the region 2R wide: 2RG, whatever the steps do.

**Last iterate.** R²/(2ηT) + (η/2)(G² + V)(2 + ln T) (Shamir and Zhang 2013; with a constant step Orabona 2020). Let S_k
be the mean of E[L] over the last k+1 iterates and g = (η/2)(G² + V). The lecture's sum from w_{T−k} on, with w_{T−k} in
place of w*, says E[L(w_{T−k})] ≥ S_k − g; so k·S_{k−1} = (k+1)·S_k − E[L(w_{T−k})] ≤ k·S_k + g,
S_0 ≤ S_{T−1} + g·H_{T−1}, and S_{T−1} is the lecture's average.

The smallest bound that applies is shown. V = d·variance/n². All of it is arithmetic on public numbers, in floats: it
promises an average, and no charge is admitted or refused because of it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

GAUSSIAN, L2_LAPLACE, COORDINATE = CALIBRATIONS = ("gaussian", "l2_laplace", "coordinate")
AVERAGE, TAIL, LAST = ITERATES = ("average", "tail", "last")


@dataclass(frozen=True)
class TrainingSetting:
    """The public numbers of a training."""

    people: int  # n, public or declared
    width: int  # d
    radius: float  # R: of the region, in the Euclidean norm
    clip: float  # G
    smooth: float  # β; infinite if the loss has a corner
    sides: int  # what one person changes: 1 under add/remove, 2 under replace-one, times rows per person
    share: float  # the largest coordinate of a row: a coordinate of a gradient is at most G times it
    epsilon: float
    steps: int
    calibration: str = GAUSSIAN
    iterate: str = AVERAGE
    part: float = 1.0  # the share of ρ for the steps
    stretch: float = 1.0  # the factor of squared noise in another norm (of_margins.py)

    @property
    def shaped(self) -> bool:
        """Do steps follow the noisy shape of the data (of_margins.py)? Then the noise is Gaussian."""
        return self.stretch != 1

    @property
    def each(self) -> float:
        """V divided by the number of steps; V is proportional to it."""
        worst = self.sides * self.clip / (self.epsilon * self.people) * math.sqrt(self.stretch / self.part)
        if self.calibration == GAUSSIAN:
            return self.width * worst**2
        if self.calibration == L2_LAPLACE:
            return 2 * self.width * worst**2
        return 2 * (self.width * worst * self.share) ** 2

    @property
    def noise(self) -> float:
        """V: the expected squared length of a step's noise."""
        return self.steps * self.each


def risk(setting: TrainingSetting, rate: float, noise: float | None = None) -> float:
    """The least of the bounds that apply, at this step size."""
    variance = setting.noise if noise is None else noise
    start, steps = setting.radius**2, float(setting.steps)
    bounds = [2 * setting.radius * setting.clip]
    if setting.iterate == LAST:
        last = start / (2 * rate * steps) + rate / 2 * (setting.clip**2 + variance) * (2 + math.log(steps))
        return min(*bounds, last)
    if setting.iterate == TAIL and setting.steps > 1:
        spread = variance if rate * setting.smooth <= 2 else setting.clip**2 + variance
        start, steps = start + steps * rate**2 * spread / 2, steps / 2
    bounds.append(start / (2 * rate * steps) + rate / 2 * (setting.clip**2 + variance) * (1 + 1 / steps))
    room = 1 - rate * setting.smooth
    if room > 0 or (room == 0 and not variance):
        bounds.append(start / (2 * rate * steps) + (rate * variance / (2 * room) if variance else 0.0))
    return min(bounds)


def best_rate(setting: TrainingSetting) -> float:
    """The step size with the least bound: the lecture's or the smooth one's."""
    lecture = setting.radius / math.sqrt(setting.steps * (setting.clip**2 + setting.noise))
    if math.isinf(setting.smooth):
        return lecture
    smooth = 1 / (setting.smooth + math.sqrt(setting.noise * setting.steps) / setting.radius)
    return min((lecture, smooth), key=lambda rate: risk(setting, rate))


def enough_steps(setting: TrainingSetting) -> int:
    """The number of steps from which on the noise limits the bound: βR²/T falls below R·√(V/T) or, if the loss has a
    corner, G² below V, which is the lecture's choice of T."""
    if math.isinf(setting.smooth):
        return math.ceil(setting.clip**2 / setting.each)
    return math.ceil(setting.radius * setting.smooth / math.sqrt(setting.each))


def plain(setting: TrainingSetting) -> float:
    """The bound without noise, at its own best step size."""
    bare = replace(setting, epsilon=math.inf)
    return risk(bare, best_rate(bare))


def limit(setting: TrainingSetting) -> float:
    """RG/√T: the lecture's bound without noise."""
    return setting.radius * setting.clip / math.sqrt(setting.steps)


def along_steps(setting: TrainingSetting, steps: Sequence[int]) -> dict[str, list[tuple[float, float]]]:
    """The bound against the number of steps, for every calibration, and without noise."""
    return _along([(float(many), replace(setting, steps=many)) for many in steps])


def along_epsilon(setting: TrainingSetting, epsilons: Sequence[float]) -> dict[str, list[tuple[float, float]]]:
    """The bound against ε. With larger ε the noise of the shape shrinks, and so does λ."""
    return _along([(epsilon, _at(setting, epsilon)) for epsilon in epsilons])


def _at(setting: TrainingSetting, epsilon: float) -> TrainingSetting:
    stretch = setting.stretch * epsilon / setting.epsilon if setting.shaped else setting.stretch
    return replace(setting, epsilon=epsilon, stretch=stretch)


def _along(settings: Sequence[tuple[float, TrainingSetting]]) -> dict[str, list[tuple[float, float]]]:
    curves: dict[str, list[tuple[float, float]]] = {}
    for name in CALIBRATIONS if not settings[0][1].shaped else (GAUSSIAN,):
        of_calibration = [(x, replace(setting, calibration=name)) for x, setting in settings]
        curves[name] = [(x, risk(setting, best_rate(setting))) for x, setting in of_calibration]
    curves["plain"] = [(x, plain(setting)) for x, setting in settings]
    curves["limit"] = [(x, limit(setting)) for x, setting in settings]
    return curves
