"""The ledger's game played by several people at once, each through a grant of their own.

They talk: every next question, whose it is and how large, may depend on all answers so far, and each asks as long as
their own grant and the table's cap let them. Every admission is decided by a real ledger file in which people sign in.
What the best of all such strategies is worth must not exceed δ: one budget pays for all of them, whatever the grants
add up to. Were each person's grant a budget of its own, the same game would be worth more (`apart`).
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path

from dpengine.accountant.filter import Rule, spent
from dpengine.accountant.loss import Pure, Repeated
from dpengine.audit.game import Counts, Game
from dpengine.core.errors import BudgetExceeded
from dpengine.ledger.ledger import Ledger
from dpengine.ledger.people_rows import ADMINISTRATOR, OPERATOR, OWNER

RULE = Rule.make(Fraction(1), Fraction(1, 10**6), slack_share=Fraction(1))
SIZES = (Fraction(1, 10), Fraction(1, 10), Fraction(1, 5))  # of the questions of each of three people
SHARES = (Fraction(3, 5), Fraction(3, 5), Fraction(4, 5))  # which add up to twice the allowance


@dataclass(frozen=True)
class PlayedTogether:
    """What the best strategy is worth, and how many sets of questions the file admitted and refused, and to whom."""

    worth: float
    admitted: int
    refused_by_cap: int
    refused_by_grant: int


def game_of_people(
    folder: Path, rule: Rule = RULE, sizes: Sequence[Fraction] = SIZES, shares: Sequence[Fraction] = SHARES
) -> PlayedTogether:
    refused = {"budget.exceeded": 0, "people.exceeded": 0}
    people = [_person(place) for place in range(len(sizes))]
    owner = _person(len(sizes))
    ledger = Ledger(folder / "ledger.sqlite")
    try:
        ledger.name_role(_person(len(sizes) + 1), ADMINISTRATOR, OPERATOR)
        ledger.name_role(owner, OWNER, OPERATOR)

        @cache
        def reading(counts: Counts) -> float | None:
            """The meter after these questions of each person; None where the file refused them."""
            budget = "game-" + "-".join(map(str, counts))
            ledger.create_budget(budget, rule, "private", owner, budget)
            ledger.hand_over(budget, budget, owner, owner)
            for person, share in zip(people, shares, strict=True):
                ledger.grant(budget, budget, person, share, owner)
            try:
                for person, size, many in zip(people, sizes, counts, strict=True):
                    if many:
                        ledger.reserve(
                            budget=budget,
                            table=budget,
                            actor=person,
                            request=f"{budget}.{person}",
                            claim={"key": "count", "digest": budget},
                            loss=Repeated(Pure(size), many),
                            worker="auditor",
                        )
            except BudgetExceeded as refusal:
                refused[refusal.code] += 1
                return None
            return float(spent(rule, ledger.standing(budget).totals))

        game = Game(tuple(sizes), lambda counts: reading(counts) is not None)
        at_cap, at_meter = game.worth(lambda _: float(rule.epsilon)), game.worth(lambda one: reading(one) or 0.0)
        admitted = sum(map(len, game.layers))
        return PlayedTogether(max(at_cap, at_meter), admitted, refused["budget.exceeded"], refused["people.exceeded"])
    finally:
        ledger.close()


def apart(most: Callable[[int], int], rule: Rule = RULE, sizes: Sequence[Fraction] = SIZES) -> float:
    """What the game would be worth at the cap if each person had a tally of their own, of at most so many questions."""
    game = Game(tuple(sizes), lambda counts: all(many <= most(place) for place, many in enumerate(counts)))
    return game.worth(lambda _: float(rule.epsilon))


def _person(place: int) -> str:
    return f"p-{place:032x}"


def in_memory() -> tempfile.TemporaryDirectory[str]:
    """A folder in memory if possible: each set of questions is several commits."""
    memory = Path("/dev/shm")
    return tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None)
