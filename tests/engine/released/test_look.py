"""What is read off a first look: every range holds the truth, averages and percentiles too, and whether columns go
together is said only where it is so."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest

import dpengine as dp
from dpengine.core.types import Integers
from dpengine.declared.facts import Facts
from dpengine.mechanisms.marginals.overview import Overview
from dpengine.noise.coins import SystemCoins
from dpengine.released import look_groups
from dpengine.released.look import Figure, Look

PEOPLE = 400
DRAWS = 40
AGES, SIZES = (0, 59), {"sex": 2, "rich": 2, "town": 3}
FALSE_ALARM = 1e-6


def most_misses(beta: float) -> int:
    """So many draws with a range that does not hold happen with probability at most `FALSE_ALARM`."""
    chances = [math.comb(DRAWS, k) * beta**k * (1 - beta) ** (DRAWS - k) for k in range(DRAWS + 1)]
    return next(k for k in range(DRAWS + 1) if sum(chances[k:]) <= FALSE_ALARM)


@pytest.fixture(scope="module", params=["replace", "add_remove"])
def query(request: pytest.FixtureRequest) -> Overview:
    lists = {name: dp.Category([f"v{at}" for at in range(size)], "v0", "v0") for name, size in SIZES.items()}
    schema = dp.Schema(lists | {"age": dp.Number(*AGES, missing=0), "since": dp.Date("2020-01-01", "2020-12-31")})
    facts = Facts("t", schema, dp.Unit.rows(), request.param, PEOPLE)
    made = dp.catalogue["overview"].build(facts, {"against": ["rich"], "epsilon": "2"})
    assert isinstance(made, Overview)
    return made


def people(query: Overview) -> tuple[list[Integers], Integers]:
    """The place of each person on every axis, and their ages."""
    draw = np.random.default_rng(11)  # made-up people
    ages = draw.integers(20, 60, PEOPLE)
    sex = draw.integers(0, 2, PEOPLE)
    rich = (draw.random(PEOPLE) < np.where(sex == 1, 0.9, 0.1)).astype(np.int64)
    codes = {"sex": sex, "rich": rich, "town": draw.integers(0, 3, PEOPLE)}
    places = []
    for axis in query.axes:
        name = axis.ref if isinstance(axis.ref, str) else axis.ref.column
        if isinstance(axis.ref, str):
            places.append(codes[name])
        else:
            own = ages if name == "age" else draw.integers(0, 366, PEOPLE)
            places.append(np.array([axis.ref.of(int(one)) for one in own]))
    return places, ages


def counted(query: Overview, places: list[Integers]) -> list[list[int]]:
    found = []
    for columns in query.largest:
        shape = [query.axes[place].size for place in columns]
        cells = np.zeros(shape, dtype=np.int64)
        np.add.at(cells, tuple(places[place] for place in columns), 1)
        found.append([int(one) for one in cells.ravel()])
    return found


def drawn(query: Overview) -> Iterator[tuple[Look, list[Integers], Integers]]:
    places, ages = people(query)
    value, coins = counted(query, places), SystemCoins()
    for _ in range(DRAWS):
        yield Look(query, query.draw(value, coins)), places, ages


def holds(figure: Figure, truth: float, narrow: float = 1.0) -> bool:
    assert figure.low is not None and figure.high is not None and figure.low <= figure.value <= figure.high
    low = figure.value - (figure.value - figure.low) * narrow
    high = figure.value + (figure.high - figure.value) * narrow
    return low - 1e-9 <= truth <= high + 1e-9


def test_of_everyone_a_share_is_as_exact_as_its_bar_where_the_number_of_people_is_public(query: Overview) -> None:
    look, *_ = next(iter(drawn(query)))
    if not query.layout.known:
        assert query.facts.relation == "add_remove"  # then it is noise over noise
        return
    for column in look.columns:
        reach = look.query.reach((look.place(column),))
        for share in look_groups.of_everyone(look, column):
            assert share.low is not None and share.high is not None
            assert share.high - share.low <= 2 * reach / PEOPLE + 1e-9


def misses(query: Overview, narrow: float = 1.0) -> int:
    """How many draws had a range that does not hold, each `narrow` times as wide as it is stated."""
    return sum(not all(_claims(*one, narrow)) for one in drawn(query))


def _claims(look: Look, places: list[Integers], ages: Integers, narrow: float) -> Iterator[bool]:
    by = look.place("rich")
    for column in look.columns:
        own = places[look.place(column)]
        counts = np.bincount(own, minlength=look.query.axes[look.place(column)].size)
        for cell, (bar, share) in enumerate(zip(look.bars(column), look_groups.of_everyone(look, column), strict=True)):
            yield holds(bar, counts[cell], narrow)
            yield holds(share, counts[cell] / PEOPLE, narrow)
        if column == "rich":
            continue
        for group, label in enumerate(look.query.cell_labels[by]):
            inside = np.bincount(own[places[by] == group], minlength=len(counts))
            crossed, shares = look.cross("rich", column)[group], look_groups.of_group(look, column, {"rich": label})
            for cell in range(len(counts)):
                yield holds(crossed[cell], inside[cell], narrow)
                yield holds(shares[cell], inside[cell] / inside.sum(), narrow)
    for labels in (["v0"], ["v0", "v1"], ["v2", "v1"]):
        inside = np.isin(places[look.place("town")], [int(label[1]) for label in labels])
        rich = places[by] == 1
        yield holds(look.share({"town": labels}), inside.mean(), narrow)
        yield holds(look.share({"town": labels, "rich": ["v1"]}), (inside & rich).mean(), narrow)
        yield holds(look.share({"town": labels}, among={"rich": ["v1"]}), inside[rich].mean(), narrow)
        yield holds(look.share({"rich": ["v1"]}, among={"town": labels}), rich[inside].mean(), narrow)
    for labels in (["v0"], ["v1"], ["v0", "v1"]):
        among = np.isin(places[by], [int(label[1]) for label in labels])
        yield holds(look.mean("age", among={"rich": labels}), float(ages[among].mean()))
    for share in (0.25, 0.75):
        quantile = float(np.quantile(ages, share, method="inverted_cdf"))
        yield holds(look.percentile("age", share), quantile)
    yield holds(look.mean("age"), float(ages.mean()))
    yield holds(look.percentile("age"), float(np.quantile(ages, 0.5, method="inverted_cdf")))


@pytest.mark.every(9)
def test_every_stated_range_covers(query: Overview) -> None:
    assert misses(query) < most_misses(float(query.beta))


@pytest.mark.every(3)
def test_ranges_that_are_too_narrow_are_caught(query: Overview) -> None:
    assert misses(query, 0.25) >= most_misses(float(query.beta))


@pytest.mark.long
@pytest.mark.every(3)
@pytest.mark.parametrize("relation", ["replace", "add_remove"])
def test_a_share_may_be_chosen_after_seeing_everything(relation: str) -> None:
    """Of 300 labels, those that the noise made larger: their share is still in its range. With the reach of a sum that
    was fixed beforehand it never is, however the noise falls: that is the power of the check."""
    labels = [f"v{at}" for at in range(300)]
    schema = dp.Schema({"c": dp.Category(labels, "v0", "v0")})
    facts = Facts("t", schema, dp.Unit.rows(), relation, 30_000)  # type: ignore[arg-type]
    query = dp.catalogue["overview"].build(facts, {"epsilon": "1"})
    assert isinstance(query, Overview)
    value, coins, missed, fixed = [[100] * 300], SystemCoins(), 0, 0
    for _ in range(DRAWS):
        look = Look(query, query.draw(value, coins))
        lifted = look.marginals[(0,)] > 100
        chosen, truth = [label for label, up in zip(labels, lifted, strict=True) if up], float(lifted.mean())
        missed += not holds(look.share({"c": chosen}), truth)
        narrow = look.ranges.ratio((0,), lifted.astype(np.float64), np.ones(300), look.log_of_sums)
        assert narrow is not None
        fixed += narrow[0] > truth
    assert missed < most_misses(float(query.beta)) <= fixed


def test_shares_of_very_many_rows_have_the_range_of_each_by_itself(query: Overview) -> None:
    """The ranges of many shares at once and of one are the same figures, of very many rows too."""
    times, coins = 10**10, SystemCoins()
    value = [[count * times for count in cells] for cells in counted(query, people(query)[0])]
    look = Look(query.of_size(PEOPLE * times), query.draw(value, coins))
    low, high = look_groups.shares(look, "rich", "town")
    for group, label in enumerate(look.query.cell_labels[look.place("rich")]):
        for cell, town in enumerate(look.query.cell_labels[look.place("town")]):
            one = look.share({"town": [town]}, among={"rich": [label]})
            assert one.low is not None and one.high is not None and one.high > one.low
            wide = one.high - one.low
            assert abs(low[group, cell] - one.low) < 0.01 * wide and abs(high[group, cell] - one.high) < 0.01 * wide


def test_labels_that_cannot_be_are_no_share_and_others_are_refused(query: Overview) -> None:
    look = next(drawn(query))[0]
    none = look.share({"town": ["v0"]}, among={"town": ["v1"]})
    assert (none.value, none.low, none.high) == (0.0, 0.0, 0.0)
    for wrong in ({"nobody": ["v0"]}, {"town": ["v9"]}, {"town": []}):
        with pytest.raises(dp.AllowanceError):
            look.share(wrong)
    with pytest.raises(dp.AllowanceError):
        look.mean("age", among={"town": ["v0"], "sex": ["v1"]})
    assert look.mean("age", among={"town": ["v0"]}).how == "estimated"
    assert look.share({"town": ["v0"]}, among={"sex": ["v1"]}).how == "estimated"


@pytest.mark.every(3)
def test_columns_go_together_only_where_they_do(query: Overview) -> None:
    states = [
        (look_groups.together(look, "sex", "rich").state, look_groups.together(look, "town", "rich").state)
        for look, *_ in drawn(query)
    ]
    assert sum(first != "clear" for first, _ in states) < most_misses(float(query.beta))  # far beyond the noise
    assert sum(second == "clear" for _, second in states) < most_misses(float(query.beta))


def test_what_was_not_bought_is_estimated_without_a_range(query: Overview) -> None:
    look = next(drawn(query))[0]
    told = look_groups.of_group(look, "town", {"sex": "v1"})
    assert all(one.low is None and one.how == "estimated" for one in told)
    assert sum(one.value for one in told) == pytest.approx(1)
    assert look_groups.together(look, "sex", "town").state == "estimated"


def test_days_have_a_median_and_no_average(query: Overview) -> None:
    look = next(drawn(query))[0]
    told = look.percentile("since")
    assert told.low is not None and told.low <= told.value
    with pytest.raises(dp.AllowanceError):
        look.mean("since")
    assert Fraction(0) < query.reach((0,))
