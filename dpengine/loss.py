"""Frozen, exact descriptions of a privacy loss: what a mechanism claims and the ledger stores.

An event says *what kind* of loss it is; the accountants say what it costs. None holds a float.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dpengine.errors import AllowanceError


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
class Approximate:
    """(ε, δ)-DP, opaque."""

    epsilon: Fraction
    delta: Fraction


@dataclass(frozen=True)
class Together:
    """Independent parts released together: each part's loss adds."""

    parts: tuple[Loss, ...]


Loss = Pure | Exponential | Gaussian | Approximate | Together

_KINDS: dict[str, type[Pure] | type[Exponential] | type[Gaussian] | type[Approximate]] = {
    "pure": Pure,
    "exponential": Exponential,
    "gaussian": Gaussian,
    "approximate": Approximate,
}


def parts_of(loss: Loss) -> tuple[Pure | Exponential | Gaussian | Approximate, ...]:
    """The simple events a loss is made of."""
    if isinstance(loss, Together):
        return tuple(part for inner in loss.parts for part in parts_of(inner))
    return (loss,)


def loss_as_json(loss: Loss) -> dict[str, Any]:
    if isinstance(loss, Together):
        return {"kind": "together", "parts": [loss_as_json(part) for part in loss.parts]}
    kind = next(name for name, cls in _KINDS.items() if isinstance(loss, cls))
    return {"kind": kind} | {name: str(value) for name, value in vars(loss).items()}


def loss_from_json(data: dict[str, Any]) -> Loss:
    fields = dict(data)
    kind = fields.pop("kind", None)
    if kind == "together":
        return Together(tuple(loss_from_json(part) for part in fields["parts"]))
    if kind not in _KINDS:
        raise AllowanceError("loss.unknown")
    return _KINDS[kind](**{name: Fraction(value) for name, value in fields.items()})
