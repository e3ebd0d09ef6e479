"""Compares the draws with the claim: a recorded release and its replay on a neighbour (`recorder`).

    order      the same statistics are computed, and the same noise is drawn with the same parameters, in the same order
    answer     the answers are the same, byte for byte
    charge     nothing is computed or drawn before its charge is in the ledger
    loss       the recorded change of each noised number, over its noise, summed over all calls, is within the claim: in
               ε, in Rényi divergence at an order, or in δ at the claimed ε
    moved      no statistic moves by more than its claimed sensitivity

**Losses of one call.** Additive noise: Σ|d|/s for Laplace, Σd²/(2σ²) for Gaussian. A choice by e^(−rate·gap), and
permute-and-flip: rate times the spread of the changes of the gaps, because a common change cancels (McKenna and Sheldon
2020). The largest of noisy numbers: the spread of their changes over s, since a winner by z still wins when its own
noise grows by the others' greatest gain less its own. Randomised response: ln(truth/other) for each changed row.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction

import numpy as np
from recorded.recorder import RecordedEvent, RecordedFinding, RecordedRun, is_whole

from dpengine.accountant import renyi as rules
from dpengine.accountant.costs import Cost, cost
from dpengine.accountant.loss import loss_from_json
from dpengine.audit.exact import ORDER, claimed_at, hockey_stick, laws_of
from dpengine.core.exact import decimal_of
from dpengine.core.types import Integers
from dpengine.mechanisms.publish.of_rows import OfRows
from dpengine.mechanisms.query import AnyQuery
from dpengine.noise.laws import Finite, Independent, Laplace, Law, max_divergence, renyi

_SLACK = 1e-9  # rounding of floats compared with a claim


@dataclass
class Measured:
    """The loss of the recorded calls of a pair, and their number."""

    epsilon: Decimal = Decimal(0)
    renyi: float = 0.0
    laws: list[tuple[Law, Law]] = field(default_factory=list)  # of the calls, if δ is claimed
    calls: int = 0


def compare(
    query: AnyQuery, first: RecordedRun, second: RecordedRun, order: Fraction = ORDER
) -> tuple[list[RecordedFinding], Measured]:
    """All faults of a recorded release and its replay on a neighbour, and their privacy loss."""
    findings = [*first.recorder.findings, *second.recorder.findings]
    events, replayed = first.recorder.events, second.recorder.events
    if len(events) != len(replayed):
        findings.append(RecordedFinding("order", f"{len(replayed)} calls", f"{len(events)}"))
    findings += [
        RecordedFinding("answer", f"{name} differs")
        for name, revealed in first.revealed.items()
        if revealed != second.revealed.get(name)
    ]
    assert first.answer is not None
    loss = loss_from_json(first.answer.receipt["loss"])  # as charged, not as the question states it
    claimed, measured = cost(loss, order), Measured()
    if any(finding.kind == "order" for finding in findings):
        return findings, measured  # different calls cannot be compared
    for before, after in zip(events, replayed, strict=True):
        _add(measured, query, before, after, order, bool(claimed.delta))
    findings += _above(measured, claimed, order, *claimed_at(loss))
    findings += _moved(query, events, replayed)
    return findings, measured


def _above(
    measured: Measured, claimed: Cost, order: Fraction, at: Fraction, most: Fraction
) -> Iterator[RecordedFinding]:
    """`most` is the δ claimed at the ε `at`."""
    if claimed.delta:
        law, other = (Independent(tuple(pair[side] for pair in measured.laws)) for side in (0, 1))
        for ways in ((law, other), (other, law)):
            lost = hockey_stick(*ways, at).low
            if lost > decimal_of(most):
                yield RecordedFinding("loss", f"δ = {float(lost):.3g}", f"{float(most):.3g}")
        return
    if claimed.epsilon is not None and measured.epsilon > decimal_of(claimed.epsilon) * (1 + Decimal("1e-20")):
        yield RecordedFinding("loss", f"ε = {float(measured.epsilon):.6g}", f"{float(claimed.epsilon):.6g}")
    if measured.renyi > float(claimed.renyi) * (1 + _SLACK) + _SLACK:
        yield RecordedFinding("loss", f"Rényi of order {order} = {measured.renyi:.6g}", f"{float(claimed.renyi):.6g}")


def _moved(
    query: AnyQuery, events: Sequence[RecordedEvent], replayed: Sequence[RecordedEvent]
) -> Iterator[RecordedFinding]:
    """Checks the first statistic of a question that measures a vector of public length."""
    reads = [pair for pair in zip(events, replayed, strict=True) if pair[0].kind == "read"]
    if not reads or is_whole(query) or isinstance(query, OfRows) or repr((query.need(),)) != reads[0][0].public:
        return
    before, after = (query.measured(event.private) for event in reads[0])
    if len(before) != len(after):
        yield RecordedFinding("moved", "a vector of another length")
        return
    moves = [abs(a - b) for a, b in zip(before, after, strict=True)]
    claimed = query.sensitivity()
    norms = {"l1": sum(moves), "linf": max(moves, default=0), "l2sq": sum(move * move for move in moves)}
    if norms[claimed.norm] > claimed.bound:
        yield RecordedFinding("moved", str(norms[claimed.norm]), f"{claimed.norm} {claimed.bound}")


def _add(
    measured: Measured, query: AnyQuery, before: RecordedEvent, after: RecordedEvent, order: Fraction, delta: bool
) -> None:
    """Add the loss of one call between the two tables to the sum."""
    if before.kind == "read" or before.private is None:
        return
    measured.calls += 1
    if before.kind == "whole":
        pair = laws_of(query, before.private, after.private)
        measured.laws.append(pair)
        if not delta:
            measured.epsilon += max(max_divergence(*pair), max_divergence(*pair[::-1]))
            measured.renyi += max(renyi(*pair, float(order)), renyi(*pair[::-1], float(order)))
        return
    epsilon, curve = _of_call(before, after, order)
    measured.epsilon += epsilon
    measured.renyi += curve
    if delta:
        measured.laws += _laws_of_rows(before, after)


def _of_call(before: RecordedEvent, after: RecordedEvent, order: Fraction) -> tuple[Decimal, float]:
    """ε and the Rényi divergence, each an upper bound on the loss of this call on this pair."""
    if before.kind in ("choose", "flip"):
        spread = before.numbers[0] * _spread(before.private, after.private)
        curve = rules.of_bounded_range if before.kind == "choose" else rules.of_pure
        return decimal_of(spread), float(curve(spread, order))
    moves = [int(b) - int(a) for a, b in zip(before.private, after.private, strict=True)]
    size = before.numbers[0]
    if before.kind == "laplace":
        if size <= 0:
            return (Decimal("Infinity"), math.inf) if any(moves) else (Decimal(0), 0.0)
        return decimal_of(sum(map(abs, moves)) / size), sum(_renyi_of_laplace(move, size, order) for move in moves)
    if before.kind == "gaussian":
        rho = sum(move * move for move in moves) / (2 * size)
        return Decimal("Infinity") if rho else Decimal(0), float(order * rho)
    pairs = _laws_of_rows(before, after)
    epsilon = sum((max_divergence(*pair) for pair in pairs), Decimal(0))
    return epsilon, sum(renyi(*pair, float(order)) for pair in pairs)


def _laws_of_rows(before: RecordedEvent, after: RecordedEvent) -> list[tuple[Law, Law]]:
    """The laws of the numbers that differ, each with its noise."""
    changed = [(int(a), int(b)) for a, b in zip(before.private, after.private, strict=True) if a != b]
    if before.kind == "laplace":
        return [(Laplace(a, before.numbers[0]), Laplace(b, before.numbers[0])) for a, b in changed]
    if before.kind not in ("respond", "toggle"):
        raise ValueError("δ is not claimed of this kind of call")
    size = before.numbers[1] if before.kind == "respond" else 2
    other_chance = before.numbers[0] / size if before.kind == "respond" else before.numbers[0]

    def law(code: int) -> Finite:
        truth, rest = decimal_of(1 - (size - 1) * other_chance), decimal_of(other_chance)
        return Finite({place: truth if place == code else rest for place in range(size)})

    return [(law(a), law(b)) for a, b in changed]


def _spread(before: tuple[Integers, Integers], after: tuple[Integers, Integers]) -> int:
    """The spread of the changes of the candidates' gaps; candidates are identified by their place."""
    edges = [np.cumsum(sizes) for _, sizes in (before, after)]
    ends = np.unique(np.concatenate(edges))
    changes = [
        int(after[0][np.searchsorted(edges[1], end, side="left")]) - int(before[0][np.searchsorted(edges[0], end)])
        for end in ends[ends > 0]
    ]
    return max(changes) - min(changes)


def _renyi_of_laplace(move: int, scale: Fraction, order: Fraction) -> float:
    """The Rényi divergence of discrete Laplace noise from the same noise moved, by three geometric sums."""
    d, s, a = abs(move), float(scale), float(order)
    if d == 0:
        return 0.0
    away = -math.expm1(-1 / s)  # 1 − r
    sides = 1.0 / away + math.exp(-(2 * d * (a - 1) + d) / s) / away
    steep = (2 * a - 1) / s
    between = math.exp(-steep) * math.expm1(-steep * (d - 1)) / math.expm1(-steep) if d > 1 else 0.0
    return d / s + math.log(math.tanh(1 / (2 * s)) * (sides + between)) / (a - 1)
