"""How many questions of one kind fit into a budget, under every accountant.

`filter` is the rule that this program charges by: it also holds when questions are chosen adaptively.
`basic`, `lecture` and `zcdp` use the whole δ for a plan *fixed in advance* (basic composition holds for any).

    python -m dpengine fits --epsilon 1 --delta 1e-6 --each 0.01 0.05 0.1
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from fractions import Fraction
from functools import partial

from dpengine.accountant import filter
from dpengine.accountant.compositions import EPSILON_OF
from dpengine.accountant.costs import cost
from dpengine.accountant.filter import Budget, Rule, Totals
from dpengine.accountant.history import History
from dpengine.accountant.loss import Exponential, Loss, Pure
from dpengine.core.amounts import read_epsilon
from dpengine.core.exact import text_of
from dpengine.core.remembered import largest
from dpengine.messages import say

ACCOUNTINGS = (*EPSILON_OF, "filter")
MOST = 10**6  # questions: nobody asks more


def holds(accounting: str, rule: Rule, loss: Loss, count: int) -> bool:
    """Does this accountant admit `count` releases of this loss under the budget?"""
    if accounting == "filter":
        return filter.fits(rule, Totals.NOTHING, cost(loss, rule.alpha), count) >= count
    epsilon = EPSILON_OF[accounting](_times(History.of([loss]), count), rule.delta)
    return epsilon is not None and epsilon <= rule.epsilon


def how_many(rule: Rule, loss: Loss) -> dict[str, int]:
    """For each accountant, how many releases of this loss it admits under the budget, at most MOST."""
    return {name: largest(partial(holds, name, rule, loss), 0, MOST) for name in ACCOUNTINGS}


def fitting(rule: Rule, loss: Loss) -> int:
    """How many releases of this loss the budget's own rule admits, at most MOST."""
    return filter.fits(rule, Totals.NOTHING, cost(loss, rule.alpha), MOST)


def _times(entry: History, count: int) -> History:
    """The sums of `count` entries with the same loss. Sums are rounded once per entry, so multiplying them is exact."""
    epsilon, squares = (None if amount is None else count * amount for amount in (entry.epsilon, entry.squares))
    return History(count, epsilon, squares, count * entry.rho, count * entry.delta)


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m dpengine fits", description=say("fits.about"))
    parser.add_argument("--epsilon", default="1", help=say("fits.epsilon"))
    parser.add_argument("--delta", default="1e-6", help=say("fits.delta"))
    parser.add_argument("--each", nargs="+", default=["0.01", "0.05", "0.1"], help=say("fits.each"))
    given = parser.parse_args(arguments)
    print("\n".join(lines(Budget(given.epsilon, given.delta), [read_epsilon(epsilon) for epsilon in given.each])))
    return 0


def lines(budget: Budget, sizes: Sequence[Fraction]) -> list[str]:
    """The table as text: a row for each accounting, a column for each size of question."""
    all_slack = Rule.make(budget.epsilon, budget.delta, slack_share=Fraction(1))
    rows = [(say(f"fits.{name}"), [how_many(all_slack, Pure(size))[name] for size in sizes]) for name in EPSILON_OF]
    for words, rule in (("fits.filter_all", all_slack), ("fits.filter", budget.rule())):
        for kind in (Pure, Exponential):
            counts = [how_many(rule, kind(size))["filter"] for size in sizes]
            rows.append((say(f"{words}_{kind.__name__.lower()}"), counts))
    head = (say("fits.head"), [text_of(size) for size in sizes])
    printed = [head, *((words, [str(count) for count in counts]) for words, counts in rows)]
    wide = max(len(words) for words, _ in printed)
    table = [f"{words:<{wide}}" + "".join(f"{cell:>9}" for cell in cells) for words, cells in printed]
    return [say("fits.title", epsilon=text_of(budget.epsilon), delta=text_of(budget.delta)), "", *table]
