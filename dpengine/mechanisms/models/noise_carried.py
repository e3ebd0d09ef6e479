"""How far the result of a training with noise can be from that of the same training without noise.

Let w_t be the iterates and w'_t those of the same descent without noise and without
rounding, D_t = w_t − w'_t. L is convex with Hessian between 0 and β, so ∇L(w) − ∇L(w') = H(w − w') with 0 ≼ H ≼ β
(the mean of the Hessian on the segment), and ‖I − ηH‖ ≤ 1 where ηβ ≤ 2. Projection is nonexpansive: Π(a) − Π(b) =
P(a − b), ‖P‖ ≤ 1. So

    D_{t+1} = P_t(A_t D_t − ηZ_t/n) + e_t,     ‖A_t‖, ‖P_t‖ ≤ 1,   A_t known before Z_t is drawn,   ‖e_t‖ ≤ e,

e_t from rounding. Let D° follow this without the e_t: ‖D_T − D°_T‖ ≤ Te. Gaussian: with s = ησ/n the noise is
s²-subgaussian in every direction, so for 0 < 2λs² < 1 (write e^(λ‖v‖²) as a mean of e^(√(2λ)⟨g,v⟩) over standard
normal g)

    E[e^(λ‖D°_{t+1}‖²) | past] ≤ E[e^(λ‖A_tD°_t − ηZ_t/n‖²) | past] ≤ (1 − 2λs²)^(−d/2) · e^(λ'‖D°_t‖²),
    1/λ' = 1/λ − 2s²;

T times: E[e^(λ‖D°_T‖²)] ≤ (1 − 2λs²T)^(−d/2), the bound of a χ² law with d degrees, times s²T. Hence ‖D°_T‖² ≤ s²T·q
except with chance (q/d)^(d/2)·e^((d−q)/2) = β. Averages of iterates obey it too, as e^(λ‖·‖²) is convex. Laplace
noise has no such moment: there E‖D°_T‖² ≤ T·d·variance·η²/n² and Markov's inequality. A coefficient is a linear form
c of the weights: |c·D| ≤ ‖c‖·‖D‖, for all of them at once. No assumption about the data, the region or clipping;
only ηβ ≤ 2 and that n is at least the number of rows, which is public under replace-one. It is about the noise:
nothing is said of people who are not in the table. ∎
"""

from __future__ import annotations

import math


def farthest(noise: float, rate: float, people: int, width: int, rows: int, steps: int) -> float:
    """In units of the weights' lattice, as `rate` is: where the sum of squared noise of a step counts as `noise`."""
    # Cutting a residual and a coordinate takes less than two units of each row; cutting a weight less than one.
    rounding = math.sqrt(width) * (rate * 2 * rows + 2)
    return math.sqrt(noise * (rate / people) ** 2 * steps) * (1 + 1e-9) + steps * rounding


def gaussian_square(variance: float, degrees: int, beta: float) -> float:
    return variance * spread(degrees, beta)


def laplace_square(scale: float, degrees: int, beta: float) -> float:
    """The variance of discrete Laplace noise is below 2b²."""
    return 2 * scale**2 * degrees / beta


def spread(degrees: int, beta: float) -> float:
    """The least q ≥ d with (q/d)^(d/2)·e^((d−q)/2) ≤ β, from above."""
    low, high = 1.0, 2.0  # q/d

    def over(ratio: float) -> bool:
        return degrees / 2 * (math.log(ratio) + 1 - ratio) > math.log(beta)

    while over(high):
        high *= 2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if over(middle) else (low, middle)
    return high * degrees
