"""One line of the report: a question's claim, the exact loss of its law, and a lower bound on the loss from its draws.

A line stands for one kind of claim of one catalogue entry, under one relation and one unit: the variant that comes
closest to its claim, by the exact auditor. Its worst pair of tables is then drawn from, with the system's coins.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from dpengine.accountant.costs import cost
from dpengine.accountant.loss import counted
from dpengine.audit import divergence
from dpengine.audit.divergence import Witnessed
from dpengine.audit.empirical import FAILURE, Evidence, lower_bound
from dpengine.audit.exact import ORDER, SEEN_DELTA, Worst, claimed_at, epsilon_at, laws_of, worst
from dpengine.audit.world import CASES, SEVERAL, build
from dpengine.core.exact import text_of
from dpengine.declared.unit import Unit
from dpengine.mechanisms import catalogue
from dpengine.mechanisms.query import AnyQuery
from dpengine.messages import say
from dpengine.noise.coins import Coins, SystemCoins

UNITS: dict[str, Unit] = {"rows": Unit.rows(), "people": SEVERAL}
_SLACK = 1e-9  # of floats and decimals beside a claim


@dataclass(frozen=True)
class Spot:
    """Identifies a line."""

    key: str
    kind: str  # of the claim: pure, exponential, gaussian, approximate
    relation: str
    unit: str


@dataclass(frozen=True)
class AuditLine:
    spot: Spot
    claimed: float  # ε, at the δ of the evidence
    used: float  # how much of the claim the law uses over the small world, in the currency of the claim: ε, Rényi or δ
    claim_words: str
    exact_words: str
    evidence: Evidence
    witnessed: Witnessed  # of the Rényi divergence, or of δ at the claimed ε where a δ is claimed
    allowed: float  # what is claimed of that

    @property
    def kept(self) -> bool:
        """Neither the law nor the draws are above the claim."""
        within = self.evidence.epsilon <= self.claimed and self.witnessed.amount <= self.allowed
        return self.used <= 1 + _SLACK and within

    def row(self) -> tuple[str, ...]:
        spot = self.spot
        return (
            spot.key,
            say(f"audit.kind.{spot.kind}"),
            say(f"audit.relation.{spot.relation}"),
            say(f"audit.unit.{spot.unit}"),
            self.claim_words,
            self.exact_words,
            figure(self.evidence.epsilon),
            say(
                "audit.witness.delta" if spot.kind == "approximate" else "audit.witness.renyi",
                amount=figure(self.witnessed.amount),
                claimed=figure(self.allowed),
            ),
        )


def spots() -> list[Spot]:
    """Every line of the report, in the order of the catalogue."""
    key_kinds = dict.fromkeys((key, _kind(build(key, given, "replace"))) for key, given in CASES)
    order = list(dict.fromkeys(key for key, _ in CASES))
    kinds = sorted(key_kinds, key=lambda pair: order.index(pair[0]))
    return [
        Spot(key, kind, relation, unit)
        for key, kind in kinds
        for relation in catalogue[key].card.relations
        for unit in UNITS
        if unit == "rows" or catalogue[key].card.several
    ]


def audited(spot: Spot, draws: int, coins: Coins | None = None) -> AuditLine:
    """The line of a spot, with `draws` draws on each table of the worst pair."""
    query, worst_case = max(_variants(spot), key=lambda one: _closeness(*one))
    used, _ = _closeness(query, worst_case)
    claimed, delta, claim_words, exact_words = _told(query, worst_case)
    source = coins or SystemCoins()
    one, other = ([query.draw(value, source) for _ in range(draws)] for value in worst_case.pair)
    bound = lower_bound(one, other, delta, FAILURE)
    return AuditLine(spot, claimed, used, claim_words, exact_words, bound, *witnessed(query, one, other))


def witnessed(query: AnyQuery, one: Sequence[object], other: Sequence[object]) -> tuple[Witnessed, float]:
    """What the draws show in the quantity that is claimed, and the claim: δ at its ε, or a Rényi divergence."""
    claimed = cost(query.loss(), ORDER)
    if claimed.delta:
        epsilon, delta = claimed_at(query.loss())
        return divergence.hockey_stick(one, other, epsilon, FAILURE), float(delta)
    return divergence.renyi(one, other, ORDER, FAILURE), float(claimed.renyi)


def figure(value: float) -> str:
    return f"{value:.3f}" if value >= 0.0005 or value == 0 else f"{value:.2e}"


def _kind(query: AnyQuery) -> str:
    return type(counted(query.loss())[0][0]).__name__.lower()


def _variants(spot: Spot) -> Iterator[tuple[AnyQuery, Worst]]:
    for key, given in CASES:
        if key == spot.key:
            query = build(key, given, spot.relation, unit=UNITS[spot.unit])
            if _kind(query) == spot.kind:
                yield query, worst(query)


def _closeness(query: AnyQuery, worst_case: Worst) -> tuple[float, float]:
    """How much of the claim is used, in the quantity that is claimed; among equals, how far apart the two laws are."""
    claimed, apart = cost(query.loss(), ORDER), round(worst_case.renyi, 9)
    if claimed.delta and worst_case.delta is not None:
        return float(worst_case.delta.high) / float(claimed_at(query.loss())[1]), apart
    if claimed.epsilon is None:
        return round(worst_case.renyi / float(claimed.renyi), 9), apart
    return round(float(worst_case.epsilon) / float(claimed.epsilon), 9), apart


def _told(query: AnyQuery, worst_case: Worst) -> tuple[float, Fraction, str, str]:
    """The claimed ε, the δ it is meant at, and claim and exact loss in words."""
    claimed = cost(query.loss(), ORDER)
    if claimed.epsilon is None:
        most, delta = claimed_at(query.loss())
        exact = epsilon_at(*laws_of(query, *worst_case.pair), delta).high
        part = _closeness(query, worst_case)[0]
        return (
            float(most),
            delta,
            say("audit.claim.gaussian", epsilon=figure(float(most)), delta=text_of(SEEN_DELTA)),
            say(
                "audit.exact.gaussian_delta" if claimed.delta else "audit.exact.gaussian",
                epsilon=figure(float(exact)),
                part=figure(part),
            ),
        )
    epsilon = float(claimed.epsilon)
    if claimed.delta and worst_case.delta is not None:
        return (
            epsilon,
            claimed.delta,
            say("audit.claim.approximate", epsilon=figure(epsilon), delta=f"{float(claimed.delta):.0e}"),
            say("audit.exact.approximate", delta=f"{float(worst_case.delta.high):.2e}"),
        )
    return epsilon, Fraction(0), figure(epsilon), figure(float(worst_case.epsilon))
