"""What is found of columns shaped like a census, bought together and one by one: `python -m bench.finding`.

30,000 made-up people, replace-one, allowance (1, 10⁻⁶); δ of all lists together a tenth of the reserve. Means over
draws.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np

from bench.data import zipf_shares
from dpengine.accountant import filter
from dpengine.accountant.costs import cost
from dpengine.accountant.filter import Budget, Rule, Totals
from dpengine.core.types import JsonObject
from dpengine.declared.facts import Facts
from dpengine.declared.schema import Number, Schema
from dpengine.declared.unit import Unit
from dpengine.mechanisms import catalogue
from dpengine.mechanisms.query import AnyQuery
from dpengine.noise.coins import SystemCoins
from dpengine.statistics.raw_cells import BANDS, band
from dpengine.statistics.raw_needs import OfOne

PEOPLE, DRAWS, GRAIN, RANGES = 30_000, 40, 10**4, 5_000
SHARES = (Fraction(5, 100), Fraction(10, 100))
Counts = dict[str, int]


def rounded(shares: list[float]) -> Counts:
    counts = [int(PEOPLE * share / sum(shares)) for share in shares]
    counts[0] += PEOPLE - sum(counts)
    return {f"v{place}": count for place, count in enumerate(counts)}


# As a census has them: many values held by few, one that most hold.
LISTS: dict[str, Counts] = {
    "schooling": rounded([32, 22, 17, 5.5, 4.2, 3.6, 3.3, 2.8, 2, 1.8, 1.6, 1.3, 1.3, 1, 0.5, 0.2]),
    "country": rounded([89.6, 2, *(float(share) * 8.4 for share in zipf_shares(40))]),
    "work": rounded([70, 7.8, 6.4, 5.6, 4, 3.4, 2.9, 0.04, 0.02]),
}


def gains() -> tuple[int, ...]:
    """Nothing for 92 in 100; a few thousand for most of the others, and 99,999 for one in two hundred."""
    source = np.random.default_rng(7)
    numbers = np.where(source.random(PEOPLE) < 0.92, 0, np.exp(source.normal(8.6, 0.8, PEOPLE)).astype(int))
    numbers[:150] = 99_999
    counts = [0] * BANDS
    for number in numbers.tolist():
        counts[band(str(number)) or 0] += 1
    return tuple(counts)


def at_share(rule: Rule, query: AnyQuery, share: Fraction) -> AnyQuery:
    """The largest ε (in ten-thousandths) that takes at most this share of a fresh allowance."""
    low, high = 1, 2 * GRAIN
    while low < high:
        middle = (low + high + 1) // 2
        paid = cost(query.at(Fraction(middle, GRAIN)).loss(), rule.alpha)
        fits = filter.share(rule, Totals.NOTHING, paid) <= share
        low, high = (middle, high) if fits else (low, middle - 1)
    return query.at(Fraction(low, GRAIN))


def found_of(told: JsonObject, name: str, counts: Counts) -> tuple[int, float]:
    """How many values of a list were found, and which share of the people hold them."""
    found = [value for value in counts if f"{name}{value}" in told]
    return len(found), sum(counts[value] for value in found) / PEOPLE


def main() -> None:
    rule = Budget("1", "1e-6").rule()
    reserve = rule.delta_reserve / 10
    header = (*LISTS, "gain")
    facts = Facts("census", Schema({"-": Number(0, 1)}), Unit.rows(), "replace", PEOPLE, header)
    coins = SystemCoins()
    statistic: dict[str, OfOne] = {name: tuple(sorted(counts.items())) for name, counts in LISTS.items()}
    statistic["gain"] = gains()

    def build(key: str, **given: object) -> AnyQuery:
        return catalogue[key].build(facts, {"epsilon": "1", **given})

    for share in SHARES:
        together = at_share(rule, build("find_declarations", numbers=["gain"], lists=list(LISTS), delta=reserve), share)
        print(f"\n{float(share):.0%} of the allowance, together: ε = {float(together.epsilon)}; ", end="")
        print(f"values of {together.least_held}, outside a range {together.outside('number')}")  # type: ignore[attr-defined]
        value = tuple(statistic[name] for name, _ in together.asked)  # type: ignore[attr-defined]
        answers = [together.release(value, coins).value for _ in range(DRAWS)]
        singles = {
            name: at_share(
                rule, build("find_declarations", lists=[name], noise="laplace", delta=reserve / len(LISTS)), share / 4
            )
            for name in LISTS
        }
        for name, counts in LISTS.items():
            ours = [found_of(told, f"{name}: ", counts) for told in answers]
            alone = [
                found_of(singles[name].release((statistic[name],), coins).value, f"{name}: ", counts)
                for _ in range(DRAWS)
            ]
            large = [value for value, count in counts.items() if count > PEOPLE / 100]
            kept = np.mean([sum(f"{name}: {value}" in told for value in large) for told in answers])
            print(f"  {name:10} of {len(counts):2} values: {_mean(ours)}; one by one: {_mean(alone)}")
            print(f"  {'':10} of {len(large)} that more than 1 % hold: {kept:.1f} together")
        ends = [(told.get("gain: From"), told.get("gain: To")) for told in answers]
        single = at_share(rule, build("find_declarations", numbers=["gain"], noise="laplace"), share / 4)
        other = [single.release((statistic["gain"],), coins).value for _ in range(DRAWS)]
        alone = [(one.get("gain: From"), one.get("gain: To")) for one in other]
        print(f"  gain       {_usual(ends)}; one by one: {_usual(alone)}")
    at_a_tenth(build, statistic, reserve)


def at_a_tenth(build: Callable[..., AnyQuery], statistic: dict[str, OfOne], reserve: Fraction) -> None:
    """At ε 0.1: is every value found that one in a hundred people hold?"""
    coins = SystemCoins()
    print("\nε = 0.1, values that 1 in 100 hold")
    for lists in ([name] for name in LISTS), (list(LISTS),):
        for names in lists:
            query = build("find_declarations", lists=names, delta=reserve, epsilon="0.1")
            value = tuple(statistic[name] for name in names)
            answers = [query.release(value, coins).value for _ in range(DRAWS)]
            large = [f"{name}: {one}" for name in names for one, count in LISTS[name].items() if count >= PEOPLE / 100]
            missed = sum(one not in told for told in answers for one in large)
            print(f"  {', '.join(names)}: surely those of {query.least_held}; ", end="")  # type: ignore[attr-defined]
            print(f"missed {missed} of {len(large) * DRAWS}")


def _mean(found: list[tuple[int, float]]) -> str:
    return f"{np.mean([one for one, _ in found]):.1f} found, {np.mean([share for _, share in found]):.1%} of people"


def _usual(ends: list[tuple[object, object]]) -> str:
    most = max(set(ends), key=ends.count)
    return f"{most[0]} to {most[1]} in {ends.count(most)} of {len(ends)}"


if __name__ == "__main__":
    main()
