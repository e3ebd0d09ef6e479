"""Basic composition (Dwork, McSherry, Nissim, Smith 2006): the ε add up and the δ add up.

**Theorem.** Releases that are (ε_i, δ_i)-DP are together (Σε_i, Σδ_i)-DP. Adaptive choice of the releases is allowed.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from dpengine.accountant.history import History, history_of
from dpengine.accountant.loss import Loss


def epsilon_of(entries: History | Sequence[Loss], delta: Fraction) -> Fraction | None:
    """ε of the whole history at `delta`; None where a Gaussian is in it, or where its own δ exceed `delta`."""
    history = history_of(entries)
    return history.epsilon if history.delta <= delta else None
