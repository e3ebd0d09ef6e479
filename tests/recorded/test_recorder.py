"""The recorder over the whole catalogue: random schemas, tables, conditions, units and relations, and none of it found.

A seed is drawn anew each time and told with what was found. `make audit` plays for a fixed time and counts.
"""

from __future__ import annotations

import random
import secrets
import time
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from amount import amount
from recorded import made
from recorded.play import Count, loaded, play, played
from recorded.recorder import Recorder
from sections import add_rows

from dpengine.declared.spelling import trimmed
from dpengine.mechanisms import catalogue
from dpengine.noise.coins import SystemCoins
from tests.planted import recorded
from tests.planted.recorded import check_the_recorder_finds_nothing

PAIRS = 1
SECONDS = amount(60, 240)  # of `make audit`
LEAST = amount(9, 20)  # pairs that it plays whatever the time


def test_nothing_is_found_on_random_neighbours() -> None:
    total = Count()
    for _ in range(PAIRS):
        total.add(play(secrets.randbelow(2**31)))
    assert not total.found, "\n".join(total.found)
    assert sum(total.releases.values()) >= 15 * PAIRS and total.calls > 0


@pytest.mark.every(3)
@pytest.mark.parametrize("kind", [made.by_person, made.with_people])
def test_nothing_is_found_where_files_are_joined_or_people_summed_up(
    kind: Callable[[random.Random], made.World],
) -> None:
    """One person's records change, in both files; others' rows do not. Half of the questions: how a table was made is
    nothing to a question, and test_nothing_is_found_on_random_neighbours asks all."""
    total = play(secrets.randbelow(2**31), kind, every=2)
    assert not total.found, "\n".join(total.found)
    assert sum(total.releases.values()) >= 5 and total.calls > 0


@pytest.mark.long
@pytest.mark.timeout(3600)
def test_nothing_is_found_on_many_random_neighbours() -> None:
    total, until = Count(), time.monotonic() + SECONDS
    while total.pairs < LEAST or time.monotonic() < until or set(catalogue) - set(total.releases):
        for kind in (made.world, made.with_people, made.by_person):
            total.add(play(secrets.randbelow(2**31), kind))
    rows = [[f"recorder: {key}", total.releases[key], sum(key in one for one in total.found)] for key in catalogue]
    rows += [
        ["recorder: all questions", sum(total.releases.values()), len(total.found)],
        ["recorder: pairs of neighbouring tables", total.pairs, len(total.found)],
        ["recorder: noise calls compared", total.calls, len(total.found)],
        ["recorder: pieces of answers that were the same", total.told, len(total.found)],
        ["recorder: refusals that were the same", total.refused, len(total.found)],
    ]
    add_rows("outsider", "An outsider's audit", ["what was tried", "how many", "found"], rows)
    assert not total.found, "\n".join(total.found)


def test_its_own_authors_six_kinds_are_planted_and_more() -> None:
    """Caught in tests/test_planted.py, with the right part beside each."""
    assert len(recorded.PLANTED) >= 6
    assert all(planted.check is check_the_recorder_finds_nothing for planted in recorded.PLANTED)


def test_a_world_holds_neighbours() -> None:
    """By the table's own terms: the rows of one person, and none beside."""
    for _ in range(200):
        world = made.world(random.Random(secrets.randbelow(2**31)))
        one, other = (sorted(map(tuple, world.rows(side))) for side in (0, 1))
        where = world.header.index(made.ID) if made.ID in world.header else None
        gone = [row for row in one if one.count(row) > other.count(row)]
        come = [row for row in other if other.count(row) > one.count(row)]
        if where is None:
            assert len(gone) <= 1 and len(come) <= 1
            assert abs(len(one) - len(other)) == (world.relation == "add_remove")
            continue
        assert len({trimmed(row[where]) for row in gone}) <= 1 and len({trimmed(row[where]) for row in come}) <= 1
        people = [len({trimmed(row[where]) for row in rows}) for rows in (one, other)]
        assert abs(people[0] - people[1]) == (world.relation == "add_remove")


def test_every_kind_of_question_is_among_those_asked() -> None:
    asked: set[str] = set()
    for seed in range(30):
        rng = random.Random(seed)
        asked |= {key for key, _ in made.questions(rng, made.world(rng))}
    assert asked == set(catalogue)


def test_a_replay_gives_what_was_drawn() -> None:
    """Every door of the coins: the same outcome on other numbers; another parameter is a finding."""
    few, gaps = np.array([0, 3, 1]), np.array([0, 2, 5])
    ones, bits = np.ones_like(gaps), np.array([True, False, True])
    half = Fraction(1, 2)

    def walk(coins: Recorder, more: int) -> list[object]:
        return [
            coins.laplace([4 + more, 5], Fraction(3)),
            coins.gaussian([more], Fraction(9)),
            coins.wide_gaussian([2**70 + more], Fraction(9)),
            coins.many_laplace(few + more, Fraction(2)).tolist(),
            coins.respond(few % 2, half, 4).tolist(),
            coins.toggle(bits, half).tolist(),
            coins.flip(gaps * (1 + more), half),
            coins.choose(gaps + more, ones, half),
            coins.bits(64),
            coins.words(3).tolist(),
            coins.below(10**9),
            coins.geometric(Fraction(50)),
            coins.many_flips(half, 40).tolist(),
            coins.many_below(9, 20).tolist(),
            coins.order(20).tolist(),
        ]

    first = Recorder()
    told = walk(first, 0)
    again = Recorder(first.events)
    assert walk(again, 5) == told and not again.findings
    third = Recorder(first.events)
    third.laplace([4, 5], Fraction(4))
    assert [finding.kind for finding in third.findings] == ["order"]


def test_blocks_may_lie_elsewhere_on_the_neighbour() -> None:
    """Which blocks a choice has is private; the candidate that was drawn is found again among others."""
    first = Recorder()
    block, offset = first.choose(np.array([0, 1]), np.array([5, 15]), Fraction(1))
    place = block * 5 + offset
    block, offset = Recorder(first.events).choose(np.array([2, 0, 1]), np.array([1, 9, 10]), Fraction(1))
    assert (0, 1, 10)[block] + offset == place


def test_the_doors_that_take_private_numbers_draw_what_they_say() -> None:
    """The noise is that of the finer coins: by their laws elsewhere, here by what cannot fail them."""
    coins = SystemCoins()
    [told] = coins.wide_gaussian([2**80], Fraction(9))
    assert abs(told - 2**80) < 300
    codes = np.array([3, 1, 2] * 50)
    assert coins.respond(codes, Fraction(0), 4).tolist() == codes.tolist()
    assert set(coins.respond(codes, Fraction(1), 4).tolist()) <= {0, 1, 2, 3}
    bits = codes > 1
    assert coins.toggle(bits, Fraction(1)).tolist() == (~bits).tolist()


def test_a_question_that_is_refused_counts_as_refused() -> None:
    world = made.world(random.Random(3))
    with loaded(world) as sides:
        count, query = played(sides, lambda table: table.query("count", epsilon="lots"), "r")
        assert count.refused == 1 and query is None and not count.found
