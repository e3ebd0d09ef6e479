"""What a column check finds, by the number of people and by its price: `python -m bench.checks` writes
bench/results-checks.md.

One column of ages declared from 0 to 120, a new allowance of (1, 10⁻⁶), replace-one and add/remove. For each price: how
often a clean column would be refused, how often a code in a fifth of the cells is found, and the least share of a code
that is found 95 times in 100 (it is refused: the lower end of its range is at least a tenth). Rates of 400 draws, the
least share of 200 for each that was tried.
"""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

from bench.measure import must
from dpengine.accountant.filter import Rule, Totals
from dpengine.declared.facts import Facts
from dpengine.declared.schema import Number, Schema
from dpengine.declared.unit import Unit
from dpengine.mechanisms.counts.fit_checks import FitChecks
from dpengine.noise.coins import SystemCoins
from dpengine.planning.opening import at_share

PEOPLE = (300, 1_000, 2_000, 10_000)
PRICES = ("0.005", "0.0199", "0.05")
DRAWS = 400
CODE = Fraction(99)
TARGET = Path(__file__).parent / "results-checks.md"


def check(people: int, price: str, relation: str) -> FitChecks | None:
    facts = Facts("t", Schema({"age": Number(0, 120)}), Unit.rows(), relation, people, ("age",))  # type: ignore[arg-type]
    query = FitChecks.build(facts, {"epsilon": "1", "noise": "gaussian"})
    found = at_share(query, Fraction(price), Rule.make(Fraction(1), Fraction("1e-6")), Totals.NOTHING)
    return found if isinstance(found, FitChecks) else None


def found(query: FitChecks, share: Fraction, draws: int = DRAWS) -> tuple[int, int]:
    """In how many of so many checks the column is doubted, and the code is, where this share of the cells holds it."""
    people, own, coins = query.facts.about, query.bars_of("age"), SystemCoins()
    coded = int(people * share)
    counts = tuple(
        coded if bar.number == CODE and bar.name == "code" else people - coded if bar.name == "fits" else 0
        for bar in own
    )
    told = [query.found(query.draw(counts, coins))["age"] for _ in range(draws)]
    return sum(one.doubted for one in told), sum(CODE in one.doubted_codes for one in told)


def least(query: FitChecks) -> Fraction | None:
    """The least share, in whole hundredths, of a code that is found 95 times in 100."""
    low, high = 10, 101
    while low < high:
        middle = (low + high) // 2
        good = middle <= 100 and found(query, Fraction(middle, 100), 200)[1] >= 190
        low, high = (low, middle) if good else (middle + 1, high)
    return Fraction(low, 100) if low <= 100 else None


def main() -> None:
    lines = [
        "# What a column check finds",
        "",
        f"`python -m bench.checks`. {__doc__.split(chr(10), 2)[2].strip()}" if __doc__ else "",
        "",
        "| people | relation | price | clean refused | 20 % a code: found | least share found 95 times in 100 |",
        "|---:|---|---:|---:|---:|---:|",
    ]
    for people in PEOPLE:
        for relation in ("replace", "add_remove"):
            for price in PRICES:
                query = check(people, price, relation)
                must(query is not None, f"No check of {people} people fits into {price} of the allowance.")
                assert query is not None
                clean, _ = found(query, Fraction(0))
                _, coded = found(query, Fraction(1, 5))
                share = least(query)
                told = "none" if share is None else f"{int(share * 100)} %"
                rates = f"{clean / DRAWS:.2%} | {coded / DRAWS:.1%} | {told}"
                lines.append(f"| {people:,} | {relation} | {float(price):.2%} | {rates} |")
                print(lines[-1], flush=True)
    must(len(lines) == 6 + 2 * len(PEOPLE) * len(PRICES), "Not every line was measured.")
    TARGET.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
