"""How much noise k statistical queries need: a query maps a row to [0, 1], and its average over n people is wanted.

**Setting.** A row's value lies on a public grid 0, 1/s, …, 1, so a query's sum is an integer between 0 and ns and one
person moves it by at most s (replace-one, and add/remove too). Integer noise is added to the sum; the answer is the
sum over ns, clamped to [0, 1], which is post-processing and never moves it away from the truth.

**Tight.** The least noise that the budget rule admits k times (`accountant/filter.py`): discrete Gaussian of variance
s²/(2ρ) with the largest ρ its Rényi clause allows. It may be asked adaptively, and among other questions: the rule is a
filter. A session (`mechanisms/session`) also offers Laplace noise and the lecture's.

**α** here is for the noise that is drawn, discrete and scaled: Pr[some |Z_j| > reach] ≤ k·Pr[|Z| > reach] ≤ β.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from dpengine.accountant.filter import Rule, Totals
from dpengine.accountant.loss import Gaussian, Loss, Pure, Together
from dpengine.core.amounts import BETA
from dpengine.core.errors import AllowanceError
from dpengine.core.exact import down, up
from dpengine.noise import tails

if TYPE_CHECKING:
    from dpengine.noise.coins import Coins

MOST_PEOPLE = 10**12
MOST_ANSWERS = 10**6
MOST_STEPS = 10**6
LAPLACE, GAUSSIAN = "laplace", "gaussian"


@dataclass(frozen=True)
class Calibration:
    """The noise for k answers, the loss of each answer, and how far each may lie from the table's own value."""

    kind: str  # LAPLACE or GAUSSIAN
    people: int
    answers: int
    steps: int  # a row's value is a multiple of 1/steps
    amount: Fraction  # of the noise on the sum, in steps: the scale of the Laplace law, the variance of the Gaussian
    beta: Fraction = BETA

    def __post_init__(self) -> None:
        check(self.people, self.answers, self.beta, self.steps)
        if self.kind not in (LAPLACE, GAUSSIAN) or self.amount <= 0:
            raise AllowanceError("validity.noise")

    @property
    def each(self) -> Pure | Gaussian:
        if self.kind == LAPLACE:
            return Pure(self.steps / self.amount)
        return Gaussian(self.steps**2 / (2 * self.amount))

    @property
    def whole(self) -> Loss:
        """The loss of all answers, to be charged at once."""
        loss = self.each
        return Together((loss,) * self.answers) if isinstance(loss, Pure) else Gaussian(self.answers * loss.rho)

    def reach(self, beta: Fraction) -> int:
        """How many steps no answer's noise exceeds, except with probability β: by a union bound over the answers."""
        tail = tails.laplace_reach if self.kind == LAPLACE else tails.gaussian_reach
        return tail(self.amount, beta / self.answers)

    def alpha_at(self, beta: Fraction) -> Fraction:
        return min(Fraction(1), Fraction(self.reach(beta), self.people * self.steps))

    @property
    def alpha(self) -> Fraction:
        """How far all answers may be from the table's own averages, except with probability β."""
        return self.alpha_at(self.beta)

    def draw(self, coins: Coins, sums: Sequence[int]) -> list[Fraction]:
        """Noisy answers to queries with these sums over the rows, in steps. The caller has already charged them."""
        noisy = coins.laplace(sums, self.amount) if self.kind == LAPLACE else coins.gaussian(sums, self.amount)
        most = self.people * self.steps
        return [Fraction(min(max(value, 0), most), most) for value in noisy]


def gaussian(
    people: int, answers: int, rule: Rule, beta: Fraction = BETA, steps: int = 1, totals: Totals = Totals.NOTHING
) -> Calibration:
    """The least discrete Gaussian noise with which the rule admits this many answers after `totals`."""
    check(people, answers, beta, steps)
    if rule.alpha is None or rule.c is None:
        raise AllowanceError("budget.needs_delta")
    room = down((rule.epsilon - rule.c - totals.renyi) / answers)  # of αρ, which the ledger rounds up to 10^-12
    if room <= 0 or totals.delta > rule.delta_reserve:
        raise AllowanceError("validity.no_room", answers=answers)
    amount = up(steps**2 * rule.alpha / (2 * room), 10**6)
    return Calibration(GAUSSIAN, people, answers, steps, amount, beta)


def rule_of(epsilon: Fraction, delta: Fraction) -> Rule:
    """The rule of a budget for such answers alone. No answer has a δ of its own, so there is no δ reserve."""
    return Rule.make(epsilon, delta, slack_share=Fraction(1))


def check(people: int, answers: int, beta: Fraction, steps: int = 1) -> None:
    limits = {"people": (people, MOST_PEOPLE), "answers": (answers, MOST_ANSWERS), "steps": (steps, MOST_STEPS)}
    for name, (value, most) in limits.items():
        if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
            raise AllowanceError(f"validity.{name}", most=most)
    if not 0 < beta < 1:
        raise AllowanceError("validity.beta")
