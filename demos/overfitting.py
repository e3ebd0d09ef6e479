"""How asking many questions leads an analyst to overfit, and what private answers do about it.

The table is pure noise: people with hundreds of yes/no features and a yes/no outcome, all of them coin flips. An
automatic analyst asks of every feature for how many people it equals the label, puts those first that look most
related, lets the first m of them vote on the label, each in the direction it leaned, and asks how often the vote is
right. All are statistical queries, and the later ones depend on earlier answers.

*Exact answers.* The vote of all is right for about Φ(√(2·features/(π·people))) of the people in the table: 71 % where
there are half as many features as people. On new people it is a coin flip. *Private answers* (discrete Gaussian noise,
the least that (ε, δ) admits for all the questions) tell too little of the table to build such a vote. That does not
make them exact. With few people their noise is wide, by default up to 40 points, so a report may be as far off by noise
as an exact one is by overfitting. But each says how far it may be off, and the truth on new people lies within that.

    python -m demos.overfitting --people 1000 --features 500 --seed 1

The seed gives the table and the new people; the noise comes from the coins that releases use, so it is new each time.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from dpengine.accountant.filter import usual_delta
from dpengine.core.errors import AllowanceError
from dpengine.core.exact import read_number, text_of
from dpengine.messages import say
from dpengine.messages.numbers import local
from dpengine.noise.coins import SystemCoins
from dpengine.population import noise_for_k, validity
from dpengine.population.noise_for_k import Calibration
from dpengine.population.people_needed import points_above
from dpengine.population.validity import Width

LEAST_PEOPLE, MOST_PEOPLE = 200, 20_000
LEAST_FEATURES, MOST_FEATURES = 5, 10_000
MOST_CELLS = 50_000_000
LEAST_EPSILON, MOST_EPSILON = Fraction(1, 10), Fraction(10)
MOST_SEED = 10**6

Table = npt.NDArray[np.uint8]  # a row for each feature, a column for each person: does the feature equal the label?
Answers = Callable[[list[int]], list[float]]  # sums over the people become averages


@dataclass(frozen=True)
class Settings:
    people: int = 1000
    features: int = 500
    epsilon: Fraction = Fraction(1)
    seed: int = 1

    def __post_init__(self) -> None:
        _within("people", self.people, LEAST_PEOPLE, MOST_PEOPLE)
        _within("features", self.features, LEAST_FEATURES, MOST_FEATURES)
        _within("seed", self.seed, 0, MOST_SEED)
        if self.people * self.features > MOST_CELLS:
            raise AllowanceError("overfitting.cells", most=MOST_CELLS)
        if not LEAST_EPSILON <= self.epsilon <= MOST_EPSILON:
            raise AllowanceError("overfitting.epsilon", least=LEAST_EPSILON, most=MOST_EPSILON)

    @property
    def votes(self) -> tuple[int, ...]:
        """The numbers of voting features that are tried, from one to all; odd numbers avoid ties."""
        most = self.features - (self.features + 1) % 2
        steps = (round(most ** (step / 11)) for step in range(12))
        return tuple(sorted({step - (step + 1) % 2 for step in steps}))

    @property
    def questions(self) -> int:
        return self.features + len(self.votes)


@dataclass(frozen=True)
class Outcome:
    """The share of people for whom the vote is right, by the number of voting features."""

    settings: Settings
    votes: tuple[int, ...]
    exact: tuple[float, ...]  # as reported by an exact answer about the table
    fresh: tuple[float, ...]  # the same votes on as many new people
    private: tuple[float, ...]  # as reported by private answers to an analyst who got only private answers
    private_fresh: tuple[float, ...]
    noise: Calibration
    width: Width  # of every private answer, to the truth about all people

    @property
    def gap(self) -> float:
        """How far the exact answers overestimate the share of right votes, when all features vote."""
        return self.exact[-1] - self.fresh[-1]

    @property
    def inside(self) -> int:
        """The number of private reports that are as near to the truth on new people as noise allows."""
        pairs = zip(self.private, self.private_fresh, strict=True)
        return sum(abs(reported - fresh) <= self.noise.alpha for reported, fresh in pairs)


def run(settings: Settings) -> Outcome:
    rng = np.random.default_rng(settings.seed)
    table, others = (_table(settings, rng) for _ in range(2))
    noise, width = promised(settings)
    coins = SystemCoins()
    exact, votes = analyse(settings, table, lambda sums: [value / settings.people for value in sums])
    private, private_votes = analyse(settings, table, lambda sums: [float(noisy) for noisy in noise.draw(coins, sums)])
    fresh, private_fresh = (
        tuple(value / settings.people for value in _right(settings, others, *voted)) for voted in (votes, private_votes)
    )
    return Outcome(settings, settings.votes, exact, fresh, private, private_fresh, noise, width)


def promised(settings: Settings) -> tuple[Calibration, Width]:
    """The noise of each private answer, and how far that answer may be from the truth about all people, whoever
    asks."""
    rule = noise_for_k.rule_of(settings.epsilon, usual_delta(settings.people))
    noise = noise_for_k.gaussian(settings.people, settings.questions, rule)
    return noise, validity.stated(noise)


def analyse(settings: Settings, table: Table, answers: Answers) -> tuple[tuple[float, ...], tuple[Any, Any]]:
    """What the automatic analyst reports, who sees only answers: the share of right votes for each number of features;
    then the order of the features, and which of them vote the other way round."""
    leaning = np.array(answers(table.sum(axis=1, dtype=np.int64).tolist())) - 0.5
    order = np.argsort(-np.abs(leaning), kind="stable")
    against = leaning < 0
    reported = answers(_right(settings, table, order, against))
    return tuple(reported), (order, against)


def _right(settings: Settings, table: Table, order: Any, against: Any) -> list[int]:
    """The number of people for whom each vote equals the label."""
    in_favour, before, right = np.zeros(settings.people, dtype=np.int64), 0, []
    for count in settings.votes:
        added = order[before:count]
        turned = added[against[added]]
        in_favour += table[added[~against[added]]].sum(axis=0, dtype=np.int64)
        in_favour += len(turned) - table[turned].sum(axis=0, dtype=np.int64)
        right.append(int((2 * in_favour > count).sum()))
        before = count
    return right


def _table(settings: Settings, rng: np.random.Generator) -> Table:
    cells = settings.people * (settings.features + 1)
    bits = np.unpackbits(np.frombuffer(rng.bytes(cells // 8 + 1), dtype=np.uint8), count=cells)
    features, label = np.split(bits.reshape(settings.features + 1, settings.people), [settings.features])
    return np.equal(features, label).astype(np.uint8)


def _within(name: str, value: int, least: int, most: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise AllowanceError(f"overfitting.{name}", least=least, most=most)


def lines(outcome: Outcome) -> list[str]:
    """The lines that the command prints."""
    settings, noise = outcome.settings, outcome.noise
    named = ("votes", "exact", "fresh", "private", "private_fresh")
    head = tuple(say(f"overfitting.print.{name}") for name in named)
    rows = [
        (f"{votes:,}", *(f"{100 * value:.1f} %" for value in values))
        for votes, *values in zip(
            outcome.votes, outcome.exact, outcome.fresh, outcome.private, outcome.private_fresh, strict=True
        )
    ]
    wide = [max(len(row[place]) for row in (head, *rows)) for place in range(len(head))]
    table = ["  ".join(f"{cell:>{size}}" for cell, size in zip(row, wide, strict=True)) for row in (head, *rows)]
    facts = {"people": settings.people, "features": settings.features, "questions": settings.questions}
    return [
        say("overfitting.print.title", **facts),
        "",
        *table,
        "",
        say("overfitting.print.gap", gap=points(outcome.gap)),
        say(
            "overfitting.print.private_gap",
            gap=points(abs(outcome.private[-1] - outcome.private_fresh[-1])),
            alpha=points_above(noise.alpha),
            inside=outcome.inside,
            all=len(outcome.votes),
        ),
        say(
            "overfitting.print.margin",
            epsilon=text_of(settings.epsilon),
            delta=text_of(usual_delta(settings.people)),
            alpha=points_above(noise.alpha),
            width=points_above(outcome.width.width),
        ),
    ]


def points(share: float) -> str:
    """A share as text in percentage points, to a tenth."""
    return local(f"{100 * share:.1f}".replace("-", "−"))


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m demos.overfitting", description=say("overfitting.about"))
    for name, usual in (("people", "1000"), ("features", "500"), ("epsilon", "1"), ("seed", "1")):
        parser.add_argument(f"--{name}", default=usual, help=say(f"overfitting.option.{name}"))
    given = parser.parse_args(arguments)
    try:
        print("\n".join(lines(run(read(vars(given))))))
    except AllowanceError as error:
        parser.error(str(error))
    return 0


def read(given: dict[str, Any]) -> Settings:
    """The settings on the command line: whole numbers, and an ε."""
    whole = {name: read_number(given[name], name) for name in ("people", "features", "seed")}
    for name, value in whole.items():
        if value.denominator != 1:
            raise AllowanceError("number.unreadable", name=name)
    return Settings(**{name: int(value) for name, value in whole.items()}, epsilon=read_number(given["epsilon"], "ε"))


if __name__ == "__main__":
    raise SystemExit(main())
