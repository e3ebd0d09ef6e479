"""Wrong twins of Gaussian noise on means, sums and spreads, and of a spread without its count."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from battery import check_law_against_loss, check_sensitivity

from dpengine.mechanisms.sums.mean import Mean
from dpengine.mechanisms.sums.sum import Sum
from dpengine.mechanisms.sums.variance import Variance, _longest
from tests.planted.registry import Planted
from tests.planted.wrong_questions import made

MEAN: dict[str, Any] = {"column": "x", "noise": "gaussian"}
SHARED: dict[str, Any] = {"column": "x", "noise": "shared"}
SUMS: dict[str, Any] = {"column": "z", "by": "c", "noise": "gaussian"}
SPREAD: dict[str, Any] = {"column": "z"}


class CountForNothing(Mean):
    """The count drawn three times as exactly as its price is for."""

    @property
    def added(self) -> Any:
        of_n, of_s = super().added
        return of_n.thinner(3), of_s


class OneGroupMoves(Sum):
    """As if a person who leaves one group did not enter another."""

    def sensitivity(self) -> Any:
        right = super().sensitivity()
        return replace(right, bound=self._largest**2)


class WeightForgotten(Variance):
    """The sum is weighed 6 : 5, and what a person changes is that of 1 : 1."""

    def sensitivity(self) -> Any:
        return replace(super().sensitivity(), bound=5 * _longest(self.half, 1, 1))


class SharedByEveryone(Mean):
    """Two sums at the price of one row that comes or goes, where a row is replaced."""

    @property
    def shareable(self) -> bool:
        return self.known is None

    def sensitivity(self) -> Any:
        return replace(super().sensitivity(), bound=2 * self.width)


PLANTED = [
    Planted(
        "two shared sums at the price of one side",
        "A replaced row changes each of two shared sums by the whole width; the noise is for one that comes or goes.",
        check_sensitivity,
        "moves it by",
        made(Mean, SHARED, "add_remove"),
        made(SharedByEveryone, SHARED),
        also=((check_law_against_loss, "exceeds"),),
    ),
    Planted(
        "a Gaussian mean whose count costs nothing",
        "The count of a mean has a third of the noise that its price is for.",
        check_law_against_loss,
        "Rényi",
        made(Mean, MEAN),
        made(CountForNothing, MEAN),
    ),
    Planted(
        "Gaussian sums as if one group moved",
        "A person who goes from one group to another changes two sums.",
        check_sensitivity,
        "moves it by",
        made(Sum, SUMS),
        made(OneGroupMoves, SUMS),
        also=((check_law_against_loss, "Rényi"),),
    ),
    Planted(
        "a spread whose weight is forgotten",
        "What a person changes is counted before the sum is weighed.",
        check_sensitivity,
        "moves it by",
        made(Variance, SPREAD),
        made(WeightForgotten, SPREAD),
        also=((check_law_against_loss, "exceeds"),),
    ),
]
