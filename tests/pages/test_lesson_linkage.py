"""What the lesson on linkage claims, computed again in another way; its noise is the engine's."""

from __future__ import annotations

import inspect
from collections import Counter
from fractions import Fraction as F
from math import sqrt
from typing import Any

import pytest
from helpers_lessons import Quiet, view

from demos.lessons.linkage import DETAILS, Settings, cinema, match, match_ratings, run, shown, town


def slowly(detail: str) -> tuple[int, int]:
    """Patient by patient against every voter; and how many names are right."""
    place = town()
    named = right = 0
    for who, secret in zip(place.patients, place.diagnoses, strict=True):
        wanted = shown(place.people[who], detail)
        fits = [voter for voter in place.roll if shown(place.people[voter], detail) == wanted]
        named += len(fits) == 1
        holds = dict(zip(place.patients, place.diagnoses, strict=True))
        right += len(fits) == 1 and holds.get(fits[0]) == secret
    return named, right


@pytest.mark.long
@pytest.mark.every(9)
@pytest.mark.parametrize("detail", ["day", "year", "decade"])
def test_patients_are_found_again_as_a_slow_search_finds_them(detail: str) -> None:
    found = run(Settings(detail=detail))
    assert (found.named, found.right) == slowly(detail) and found.rows == 300


def test_the_less_of_a_date_is_left_the_fewer_are_found() -> None:
    found = [run(Settings(detail=detail)).right for detail in DETAILS]
    assert found == sorted(found, reverse=True) and found[0] == 277 and found[-1] == 0
    assert "finds 277 on a roll of 2,188 voters" in view(13).one and "277 of these names are right" in view(13).two


@pytest.mark.long
def test_the_more_is_posted_the_more_are_found() -> None:
    found = [run(Settings("films", known=known)) for known in (1, 4, 8)]
    assert [one.right for one in found] == sorted(one.right for one in found) and found[0].named == 0
    assert found[-1].right >= 180 and found[-1].right == found[-1].named, "strangers are not named"


@pytest.mark.long
def test_the_matchers_get_what_an_attacker_has_and_no_more() -> None:
    assert list(inspect.signature(match).parameters) == ["rows", "roll", "detail"]
    assert list(inspect.signature(match_ratings).parameters) == ["posts", "table"]
    place = cinema()
    turned = tuple(reversed(place.table))  # the order of rows says nothing
    first, second = match_ratings(place.posts, place.table), match_ratings(place.posts, turned)
    assert {name: len(turned) - 1 - at for name, at in second.items()} == first


@pytest.mark.long
def test_the_release_carries_the_engine_s_noise() -> None:
    coins = Quiet()
    bars = run(Settings(way="private", epsilon=F(1)), coins).bars
    assert coins.scales == [F(2)] and bars == tuple(Counter(town().diagnoses)[at] for at in range(6))
    coins = Quiet()
    run(Settings("films", "private", epsilon=F(1)), coins)
    assert coins.scales == [F(28) / F(1, 2), F(2) / F(1, 2)], "28 of the films' bars can move; half of ε for each"


@pytest.mark.long
@pytest.mark.every(3)
@pytest.mark.parametrize("given", [{"detail": "year"}, {"story": "films", "known": 3}])
def test_from_a_private_release_names_are_right_as_if_drawn_by_lot(given: dict[str, Any]) -> None:
    """Over many releases: within six deviations, and what the share of people who could be named differs by."""
    found = [run(Settings(way="private", **given)) for _ in range(12)]
    right, lot = sum(one.right for one in found), sum(one.by_lot for one in found)
    assert abs(right - lot) < 6 * sqrt(lot) + lot / 2
    table = run(Settings(**given))
    right, lot = 12 * table.right, 12 * table.by_lot
    assert abs(right - lot) > 6 * sqrt(lot) + lot / 2, "of the table itself it is seen"
