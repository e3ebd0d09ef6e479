"""Finding values: which can appear depends on the data, so its δ is the largest over small tables, exactly.

`dpengine.audit.exact` holds the laws on the values of two tables and their hockey-stick divergence.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from decimal import Decimal
from itertools import combinations_with_replacement, product

from dpengine.accountant.costs import cost
from dpengine.audit import exact
from dpengine.mechanisms.choices.find_declarations import FindDeclarations
from dpengine.noise.laws import renyi


def hockey_stick(one: Counter[str], other: Counter[str], query: FindDeclarations) -> float:
    """Σ (P − e^ε·Q)₊ over everything that can be released; at most 10^-20 above it."""
    laws = exact.laws_of(query, (tuple(sorted(one.items())),), (tuple(sorted(other.items())),))
    return float(exact.hockey_stick(*laws, query.epsilon).high)


def people(rows: int) -> list[Counter[str]]:
    """Every person with at most so many rows over three values."""
    return [Counter(one) for size in range(rows + 1) for one in combinations_with_replacement("abc", size)]


def small_tables(query: FindDeclarations) -> Iterator[tuple[Counter[str], Counter[str]]]:
    """Neighbouring tables, each pair in both directions: around the threshold, and with hardly anybody."""
    around, everyone = max(query.threshold, 2), people(query.facts.unit.at_most)
    rests = [Counter(), Counter(a=1), Counter(a=1, b=2), Counter(a=around - 1, b=around), Counter(a=around + 2)]
    alone = query.facts.relation == "add_remove"
    pairs = [(Counter[str](), one) for one in everyone] if alone else list(product(everyone, repeat=2))
    for (one, other), rest in product(pairs, rests):
        yield rest + one, rest + other
        yield rest + other, rest + one


def check_found_values(query: FindDeclarations) -> float:
    """With Laplace noise no neighbours are told apart with a weight above the δ charged; returns the largest."""
    delta = float(cost(query.loss(), exact.ORDER).delta)
    worst = max(hockey_stick(one, other, query) for one, other in small_tables(query))
    assert worst <= delta * (1 + 1e-9), f"neighbours differ by more than e^ε more often than δ: {worst:.3g}"
    return worst


def small_lists(query: FindDeclarations) -> Iterator[tuple[Counter[str], Counter[str]]]:
    """Neighbouring lists, each pair in both directions: around the threshold, and with hardly anybody."""
    rows, around = query.rows, query.threshold
    everyone = [Counter(one) for size in range(rows + 1) for one in combinations_with_replacement("abc", size)]
    rests = [Counter(), Counter(a=1, b=2), Counter(a=around - 1, b=around), Counter(a=around + 2)]
    alone = query.facts.relation == "add_remove"
    pairs = [(Counter[str](), one) for one in everyone] if alone else list(product(everyone, repeat=2))
    for (one, other), rest in product(pairs, rests):
        yield rest + one, rest + other
        yield rest + other, rest + one


def check_found_lists(query: FindDeclarations) -> float:
    """Values that only one table holds show with a chance of at most δ; given that none does, the Rényi divergence of
    what is left is within the claim. Returns the largest such chance."""
    claimed, worst = cost(query.loss(), exact.ORDER), 0.0
    for one, other in small_lists(query):
        laws = exact.laws_of(query, (tuple(sorted(one.items())),), (tuple(sorted(other.items())),))
        names = sorted(one.keys() | other.keys())
        alone = [1 - law.chances["hidden"] for name, law in zip(names, laws[0].parts, strict=True) if not other[name]]
        worst = max(worst, float(sum(alone, Decimal(0))))
        parts = zip(names, *(law.parts for law in laws), strict=True)
        kept = sum(renyi(a, b, float(exact.ORDER)) for name, a, b in parts if one[name] and other[name])
        assert kept <= float(claimed.renyi) * (1 + 1e-9), f"Rényi {kept:.4g} above {float(claimed.renyi):.4g}"
    assert worst <= float(query.delta), f"a value that one person brings shows with chance {worst:.3g}"
    return worst
