"""A loss for one row, told for a person with several: against the exact laws of every question in the catalogue, and
wrong twins of the formulas, which the same checks must catch. Nothing is drawn, so nothing can be a false alarm."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from functools import partial
from itertools import combinations_with_replacement, pairwise
from typing import Any

import pytest
from battery import case_name

from dpengine.accountant import renyi
from dpengine.accountant.costs import cost
from dpengine.accountant.group import for_group
from dpengine.accountant.history import History
from dpengine.accountant.loss import Approximate, Bounded, Exponential, Gaussian, Loss, Pure, Repeated, Together
from dpengine.audit.exact import ORDER, claimed_at, hockey_stick, laws_of
from dpengine.audit.world import CASES, POSSIBLE_ROWS, build, key_of
from dpengine.core.errors import AllowanceError
from dpengine.core.exact import decimal_of
from dpengine.mechanisms.query import AnyQuery
from dpengine.noise.laws import Laplace, Normal, max_divergence
from dpengine.noise.laws import renyi as renyi_of_laws
from tests.helpers_ledger import code_of

Group = Callable[[Loss, int], Loss]
ROWS = tuple(POSSIBLE_ROWS[place] for place in (0, 2, 3, 5, 6, 7))
REPLACE_ALONE = ("publish", "local", "shuffle")  # questions that have no add/remove form
SLACK = Decimal("1e-20")


def _tables(relation: str, size: int) -> Iterator[tuple[tuple[Any, ...], tuple[Any, ...]]]:
    """Tables that differ in up to `size` rows of one person, beside one other row."""
    bundles = list(combinations_with_replacement(ROWS, size))
    rest = (ROWS[1],)
    for one in bundles:
        if relation == "add_remove":
            yield rest, rest + one
            yield rest + one, rest
        else:
            yield from ((rest + one, rest + other) for other in bundles[:: size - 1] if other is not one)


def check_a_person_is_within_the_claim(query: AnyQuery, size: int, group: Group, most: int = 60) -> float:
    """No two tables that differ in `size` rows of a person are farther apart than the loss for a person says. Returns
    how near the nearest comes."""
    loss = group(query.loss(), size)
    claimed, (at, delta) = cost(loss, ORDER), claimed_at(loss)
    seen: set[Any] = set()
    known: dict[Any, Any] = {}
    near = 0.0
    for pair in _tables(query.facts.relation, size):
        one, other = (query.need().of(table) for table in pair)
        if (keys := (key_of(one), key_of(other))) in seen:
            continue
        seen.add(keys)
        first, second = laws_of(query, one, other, known)
        if claimed.delta:
            found = hockey_stick(first, second, at).high
            assert found <= decimal_of(delta) + SLACK, "a person's δ exceeds the claim"
            near = max(near, float(found) / float(delta))
        else:
            apart = max_divergence(first, second)
            assert claimed.epsilon is None or apart <= decimal_of(claimed.epsilon) + SLACK, "a person's ε exceeds it"
            curve = renyi_of_laws(first, second, float(ORDER))
            assert curve <= float(claimed.renyi) + 1e-11, "a person's Rényi loss exceeds the claim"
            near = max(near, curve / float(claimed.renyi))
        if len(seen) >= most:
            break
    return near


PAIRS = ((2, 15),)  # of tables at most, for a person with two rows
MORE = ((2, 60), (3, 15))


@pytest.mark.every(5)
@pytest.mark.parametrize("pairs", [PAIRS, pytest.param(MORE, marks=pytest.mark.long)], ids=["few", "more"])
@pytest.mark.parametrize("case", CASES, ids=case_name)
def test_every_question_of_the_catalogue_keeps_what_is_said_of_a_person(
    case: Any, pairs: tuple[tuple[int, int], ...]
) -> None:
    key, parameters = case
    for relation in ("replace", "add_remove"):
        if relation == "add_remove" and key.startswith(REPLACE_ALONE):
            continue
        for size, most in pairs:
            query = build(key, parameters, relation, about=size + 1)
            check_a_person_is_within_the_claim(query, size, for_group, most)


def once(loss: Loss, size: int) -> Loss:
    """M instead of M² for ρ."""
    return Gaussian(size * loss.rho) if isinstance(loss, Gaussian) else for_group(loss, size)


def same_delta(loss: Loss, size: int) -> Loss:
    """The factor of δ left out."""
    return Approximate(size * loss.epsilon, loss.delta) if isinstance(loss, Approximate) else for_group(loss, size)


def one_row(loss: Loss, size: int) -> Loss:
    return loss


def part_by_part(loss: Loss, size: int) -> Loss:
    """A δ of the whole taken for a part of its own."""
    return Together(tuple(for_group(part, size) for part in loss.parts)) if isinstance(loss, Together) else loss


def check_a_bell_moved_by_all_rows(group: Group) -> None:
    for size in (2, 3, 7):
        claimed = cost(group(Gaussian(Fraction(1, 20)), size), ORDER)
        apart = renyi_of_laws(Normal(0, Fraction(10)), Normal(size, Fraction(10)), float(ORDER))
        assert apart <= float(claimed.renyi), "the bells are farther apart"


def check_the_worst_chain_of_approximate_links(group: Group) -> None:
    """Coins p_M = 0 and p_{i−1} = e^ε·p_i + δ: each link is exactly (ε, δ), and the ends need the whole sum."""
    epsilon, delta = Fraction(1, 5), Fraction(1, 10**5)
    for size in (2, 3, 7):
        coins = [0.0]
        for _ in range(size):
            coins.append(math.exp(epsilon) * coins[-1] + float(delta))
        for low, high in pairwise(coins):  # each link keeps it in both directions
            assert 1 - low <= math.exp(epsilon) * (1 - high) + float(delta)
        claimed = cost(group(Approximate(epsilon, delta), size), ORDER)
        assert claimed.epsilon is not None
        assert coins[-1] <= float(claimed.delta) * (1 + 1e-12), "the ends need more δ"
        assert float(claimed.delta) <= coins[-1] * (1 + 1e-9), "more δ than needed"


def check_a_value_of_many_rows_passes_a_threshold(group: Group) -> None:
    """A noisy count above T is shown: a value that only one row has is shown with chance δ. All M rows of a person may
    have it, and then it is shown far more often than M times as often."""
    variance, threshold, size = Fraction(25), 24, 5
    weights = [math.exp(-z * z / (2 * float(variance))) for z in range(-200, 201)]

    def shown(count: int) -> float:
        return math.fsum(weights[200 + z] for z in range(threshold - count + 1, 201)) / math.fsum(weights)

    delta = Fraction(shown(1))
    loss = group(Together((Gaussian(1 / (2 * variance)), Approximate(Fraction(0), delta))), size)
    allowed = cost(loss, ORDER).delta  # without the person it is never shown: that is no matter of ε or ρ
    assert shown(size) <= float(allowed), "a person's value is shown too often"


@pytest.mark.parametrize(
    ("check", "wrong", "says"),
    [
        (check_a_bell_moved_by_all_rows, once, "farther"),
        (check_a_bell_moved_by_all_rows, one_row, "farther"),
        (check_the_worst_chain_of_approximate_links, same_delta, "more δ"),
        (check_the_worst_chain_of_approximate_links, one_row, "more δ"),
        (check_a_value_of_many_rows_passes_a_threshold, part_by_part, "too often"),
    ],
)
def test_a_wrong_formula_is_caught(check: Callable[[Group], None], wrong: Group, says: str) -> None:
    check(for_group)
    with pytest.raises(AssertionError, match=says):
        check(wrong)


def test_a_wrong_factor_is_caught_on_the_questions_themselves() -> None:
    for name in ("count", "histogram", "mean"):
        for case in (case for case in CASES if case[0] == name):
            with pytest.raises(AssertionError, match="a person's"):
                check_a_person_is_within_the_claim(build(*case, "add_remove"), 2, one_row)


def test_laplace_and_the_exponential_mechanism_attain_it() -> None:
    scale = Fraction(10)
    for size in (2, 7):
        pure = for_group(Pure(1 / scale), size)
        assert max_divergence(Laplace(0, scale), Laplace(size, scale)) == decimal_of(size / scale)
        assert cost(pure, None).epsilon == size / scale
    assert for_group(Exponential(Fraction(1, 3)), 3) == Exponential(Fraction(1))
    assert for_group(Bounded(Fraction(1, 3), Fraction(1, 9)), 3) == Bounded(Fraction(1), Fraction(1))


def test_what_a_part_costs_grows_at_least_as_fast_as_its_size() -> None:
    """f(k)/k does not fall: what the proof for several parts needs of each curve."""
    curves: list[Callable[[Fraction], Fraction]] = []
    for alpha in (Fraction("1.001"), Fraction(2), ORDER, Fraction("21.985"), Fraction(1000)):
        curves += [partial(renyi.of_pure, alpha=alpha), partial(renyi.of_bounded_range, alpha=alpha)]
    curves.append(renyi.zcdp_of_pure)
    for curve in curves:
        sizes = [Fraction(place, 40) for place in range(1, 400)]
        shares = [curve(size) / size for size in sizes]
        assert all(later >= before - Fraction(1, 10**30) for before, later in pairwise(shares))


def test_no_sum_falls_whatever_the_loss() -> None:
    """For more rows, every cost and every running sum is at least what it was."""
    tenth, small = Fraction(1, 10), Fraction(1, 10**8)
    losses: list[Loss] = [
        Pure(tenth),
        Exponential(tenth),
        Gaussian(tenth),
        Bounded(tenth, tenth / 30),
        Approximate(tenth, small),
        Approximate(Fraction(0), small),
        Repeated(Pure(tenth), 5),
        Together((Pure(tenth), Exponential(tenth))),
        Together((Gaussian(tenth), Repeated(Exponential(tenth), 4))),
        Together((Approximate(tenth, small), Pure(tenth))),
        Together((Gaussian(tenth / 50), Repeated(Exponential(tenth), 2), Approximate(Fraction(0), small))),
    ]
    for loss in losses:
        assert for_group(loss, 1) == loss
        for size in (2, 7, 1000):
            before, after = cost(loss, ORDER), cost(for_group(loss, size), ORDER)
            assert (before.epsilon is None) == (after.epsilon is None)
            assert before.epsilon is None or after.epsilon is None or after.epsilon >= size * before.epsilon
            assert after.renyi >= before.renyi and 1 >= after.delta >= before.delta
            sums = [History.of([one]) for one in (loss, for_group(loss, size))]
            assert sums[1].rho >= sums[0].rho and sums[1].delta >= sums[0].delta


def test_what_is_no_loss_or_no_number_of_rows_is_refused() -> None:
    for size in (0, -1, 1.5):
        assert code_of(lambda size=size: for_group(Pure(Fraction(1)), size)) == "loss.range"
    with pytest.raises(AllowanceError):
        for_group(Pure(Fraction(-1)), 2)
    with pytest.raises(AllowanceError):
        for_group("twice", 2)  # type: ignore[arg-type]


def test_the_factors_are_not_larger_than_needed() -> None:
    """A count, with either noise: some two tables come within a tenth of the claim."""
    found = [check_a_person_is_within_the_claim(build(*case, "add_remove"), 2, for_group) for case in CASES[:12]]
    assert sum(near > 0.9 for near in found) >= 3
