"""Frozen, exact descriptions of a privacy loss: what a mechanism claims and the ledger stores.

An event says *what kind* of loss it is; the accountants say what it costs. No event holds a float.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from dpengine.core.errors import AllowanceError
from dpengine.core.types import JsonObject


@dataclass(frozen=True)
class Pure:
    """ε-DP and nothing more is known: |log-ratio| ≤ ε. Discrete Laplace with Δ=1 is exactly this."""

    epsilon: Fraction


@dataclass(frozen=True)
class Exponential:
    """ε-bounded range: over outputs, the log-ratio lies in an interval of length ε. Exponential mechanism."""

    epsilon: Fraction


@dataclass(frozen=True)
class Gaussian:
    """ρ-zCDP with no finite ε: discrete Gaussian, ρ = Σ δ²/(2σ²)."""

    rho: Fraction


@dataclass(frozen=True)
class Bounded:
    """ε-DP and ρ-zCDP of the same release: Laplace noise on a vector, ε by the ℓ1 and ρ by the ℓ2 sensitivity."""

    epsilon: Fraction
    rho: Fraction


@dataclass(frozen=True)
class Approximate:
    """(ε, δ)-DP and nothing more is known."""

    epsilon: Fraction
    delta: Fraction


@dataclass(frozen=True)
class Together:
    """Independent parts released together: each part's loss adds."""

    parts: tuple[Loss, ...]


@dataclass(frozen=True)
class Repeated:
    """The same event `times` times, as the answers of a session: short for `Together` of that many copies."""

    part: Loss
    times: int


Simple = Pure | Exponential | Gaussian | Bounded | Approximate
Loss = Simple | Together | Repeated

_KINDS: dict[str, type[Simple]] = {
    kind.__name__.lower(): kind for kind in (Pure, Exponential, Gaussian, Bounded, Approximate)
}


def simple_events(loss: Loss) -> tuple[tuple[Simple, int], ...]:
    """The simple events in a loss, each with its multiplicity."""
    if isinstance(loss, Together):
        return tuple(simple for inner in loss.parts for simple in simple_events(inner))
    if isinstance(loss, Repeated):
        if isinstance(loss.times, bool) or not isinstance(loss.times, int) or loss.times < 1:
            raise AllowanceError("loss.range")
        return tuple((part, times * loss.times) for part, times in simple_events(loss.part))
    return ((loss, 1),)


def loss_as_json(loss: Loss) -> JsonObject:
    if isinstance(loss, Together):
        return {"kind": "together", "parts": [loss_as_json(part) for part in loss.parts]}
    if isinstance(loss, Repeated):
        return {"kind": "repeated", "part": loss_as_json(loss.part), "times": loss.times}
    kind = next(name for name, cls in _KINDS.items() if isinstance(loss, cls))
    return {"kind": kind} | {name: str(value) for name, value in vars(loss).items()}


def loss_from_json(data: JsonObject) -> Loss:
    fields = dict(data)
    kind = fields.pop("kind", None)
    if kind == "together":
        return Together(tuple(loss_from_json(part) for part in fields["parts"]))
    if kind == "repeated":
        return Repeated(loss_from_json(fields["part"]), fields["times"])
    if kind not in _KINDS:
        raise AllowanceError("loss.unknown")
    return _KINDS[kind](**{name: Fraction(value) for name, value in fields.items()})
