"""What lessons 1 to 5 claim, computed again in another way; and their screens print what was decided."""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction as F
from itertools import chain, combinations, product
from pathlib import Path
from typing import Any

import pytest
from helpers_ledger import ask, opened
from helpers_lessons import Quiet

from demos.lessons import averaging, clinic, definition, differencing, median, patients
from dpengine.accountant import how_many_fit
from dpengine.accountant.loss import Loss, Pure
from dpengine.core.errors import BudgetExceeded
from dpengine.noise import laws
from dpengine.storage.samples import SAMPLES
from ui.learn import lesson_averaging, lesson_coin, lesson_definition, lesson_differencing, lesson_median, lessons


def charges(folder: Path, loss: Loss, wanted: int) -> int:
    """How many such questions a real ledger charges before it refuses."""
    with opened(folder, clinic.ALLOWANCE.rule()) as ledger:
        for asked in range(wanted):
            try:
                ledger.reserve(**ask(f"request-{asked}", loss=loss))
            except BudgetExceeded:
                return asked
    return wanted


# --- 1 the differencing attack ----------------------------------------------------------------------------------------


def test_the_clinic_is_the_bundled_one() -> None:
    sample = SAMPLES["clinic"]
    assert sample.schema == clinic.SCHEMA and sample.budget == clinic.ALLOWANCE and sample.path == patients.CLINIC


@pytest.mark.parametrize("person", differencing.PERSONS)
def test_two_exact_counts_tell_one_diagnosis(person: int) -> None:
    (alone,) = [one for one in patients.patients() if one.pressure == person]
    found = differencing.run(differencing.Settings(person=person))
    assert found.difference == alone.diabetes and not found.pairs
    view = lesson_differencing.view(lesson_differencing.LESSON.clean({"person": str(person)}))
    said = view.two
    assert "ε = 1 that is 73.2 in 100" in view.theorem  # e/(1 + e) = 0.73106, rounded up
    assert ("has diabetes" if alone.diabetes else "has no diabetes") in said


def test_the_practice_ledger_stops_where_a_real_one_does(tmp_path: Path) -> None:
    for epsilon in ("0.05", "0.1", "0.25", "0.5"):
        found = differencing.run(differencing.Settings("ledger", 163, F(epsilon), differencing.MOST_PAIRS))
        loss = differencing.question(found.settings, 163).loss()
        (folder := tmp_path / epsilon).mkdir()
        asked = charges(folder, loss, 2 * differencing.MOST_PAIRS)
        assert found.refused and len(found.pairs) == asked // 2 and found.spent <= clinic.ALLOWANCE.epsilon


def test_how_often_a_guess_is_right() -> None:
    """By the exact laws, convolved one by one; and nobody's guess passes the bound."""
    for epsilon, pairs in ((F(1, 2), 1), (F(1, 2), 2), (F(1), 3)):
        noise = {z: laws.chance(laws.Laplace(0, 1 / epsilon), z) for z in range(-60, 61)}
        total = {0: Decimal(1)}
        for _ in range(2 * pairs):
            after: dict[int, Decimal] = {}
            for (s, p), (z, q) in product(total.items(), noise.items()):
                if abs(s + z) <= 60:
                    after[s + z] = after.get(s + z, Decimal(0)) + p * q
            total = after
        slow = sum(p * (1 if 2 * s < pairs else Decimal("0.5") if 2 * s == pairs else 0) for s, p in total.items())
        assert differencing.right(1 / epsilon, pairs) == pytest.approx(float(slow), abs=1e-9)
        assert 0.5 < float(slow) <= differencing.most(2 * pairs * epsilon, F(0)) < 1
        for at, without, with_it in differencing.worlds(1 / epsilon, pairs):
            if pairs == 1 and epsilon == F(1, 2):  # steps of one there
                assert without == pytest.approx(float(total[round(at)]), abs=1e-9)
                assert with_it == pytest.approx(float(total[round(at) - 1]), abs=1e-9)


def test_private_answers_are_the_count_mechanism_s() -> None:
    coins = Quiet()
    found = differencing.run(differencing.Settings("ledger", 163, F(1, 10), 3), coins)
    assert found.pairs == (found.exact,) * 3 and set(coins.scales) == {F(10)} and found.mean == found.difference
    averaged = averaging.run(averaging.Settings("open", 50, F(1, 20)), coins := Quiet())
    assert averaged.mean == averaged.truth and coins.scales == [F(20)]


# --- 2 the averaging attack -------------------------------------------------------------------------------------------


def test_the_averages_are_counted_as_the_rule_and_plain_adding_up_do(tmp_path: Path) -> None:
    rule = clinic.ALLOWANCE.rule()
    for epsilon in ("0.01", "0.05", "0.1", "0.5"):
        many = how_many_fit.how_many(rule, Pure(F(epsilon)))
        found = averaging.run(averaging.Settings("ledger", averaging.TIMES[-1], F(epsilon)))
        assert (found.most, found.most_basic) == (many["filter"], many["basic"])
        assert found.given == found.most and found.refused and found.spent <= 1
    assert charges(tmp_path, averaging.question(F(1, 20)).loss(), 50) == 22
    free = averaging.run(averaging.Settings("open", 500, F(1, 20)))
    assert free.given == 500 and free.added == 25 and free.spent > 1
    told = lesson_averaging.view(lesson_averaging.LESSON.clean({"times": "200", "way": "ledger"}))
    assert "answers 22 and refuses the rest; plain adding up would answer 20" in told.one
    assert told.picture.count('class="pale"') == 178


def test_the_error_of_a_mean_is_its_standard_deviation() -> None:
    law = laws.Laplace(0, F(2))
    variance = sum(float(laws.chance(law, z)) * z * z for z in range(-120, 121))
    assert averaging.spread(F(1, 2)) == pytest.approx(variance**0.5, rel=1e-9)
    few, many = (averaging.run(averaging.Settings("open", times)).error for times in (1, 100))
    assert few / many == pytest.approx(10)


def test_the_mean_of_many_answers_comes_to_the_truth() -> None:
    """500 answers: sub-exponential tails keep the mean within 10 of its standard deviations, far below 10^-6."""
    found = averaging.run(averaging.Settings("open", 500, F(1, 10)))
    assert abs(found.mean - found.truth) < 10 * found.error < 10


# --- 3 and 4 the definition -------------------------------------------------------------------------------------------


def test_one_row_decides_and_how_many_pairs_that_spares() -> None:
    """Counted by hand: of three different rows and two people, and as the lesson tells it of eight rows and three."""
    tables = list(product(range(3), repeat=2))
    apart = [
        (one, other) for one in tables for other in tables if sum(a != b for a, b in zip(one, other, strict=True)) == 1
    ]
    found = definition.needed(3, 2)
    assert (found.pairs, found.events, found.tables) == (3, 8, len(apart) // 2)
    told = lesson_definition.needed_words()
    assert told == {"rows": "8", "people": "3", "pairs": "28", "events": "256", "tables": "5,376"}
    view = lesson_definition.view(lesson_definition.LESSON.clean({}))
    assert "28 pairs, not 5,376" in view.theorem and "Theorem 4.7" in view.source


def every_event(size: int) -> Any:
    return chain.from_iterable(combinations(range(size), many) for many in range(size + 1))


def worst_of(first: Any, second: Any, epsilon: F) -> float:
    """The least δ by walking over all events, both ways."""
    factor = float(laws.exp_decimal(epsilon))
    return max(
        float(sum(one[x] for x in event)) - factor * float(sum(other[x] for x in event))
        for one, other in ((first, second), (second, first))
        for event in every_event(len(first))
    )


def test_the_coin_is_safe_once_and_broken_twice() -> None:
    promise = (F("0.286"), F("0.1"), F("0.4"))
    once, twice = definition.coin(1, *promise), definition.coin(2, *promise)
    assert once.holds and not twice.holds
    assert twice.likelier == F("0.714") ** 2 and twice.rarer == F("0.286") ** 2 and twice.likelier > twice.limit
    said = lesson_coin.view(lesson_coin.LESSON.clean({"times": "2"}))
    assert "0.5098" in said.one and "0.4904: it is broken" in said.two
    assert "0.7161: it is kept" in lesson_coin.view(lesson_coin.LESSON.clean({})).two


@pytest.mark.parametrize("times", [1, 2, 3])
def test_the_number_of_yes_tells_all_that_the_answers_tell(times: int) -> None:
    """Over all sequences of answers and all events of them, against the law of the number of yes."""
    flip = F(1, 5)
    sequences = list(product((0, 1), repeat=times))
    worlds = [
        [flip ** sum(a != truth for a in one) * (1 - flip) ** sum(a == truth for a in one) for one in sequences]
        for truth in (1, 0)
    ]
    for epsilon in (F(0), F(1, 2), F(2)):
        found = definition.coin(times, flip, epsilon, F(0))
        assert float(found.least) == pytest.approx(max(worst_of(*worlds, epsilon), 0), abs=1e-12)


@pytest.mark.long
def test_the_worst_event_is_the_worst_of_all_events() -> None:
    for noise, epsilon in product((F(1, 5), F(1)), (F(0), F(1, 5), F(1))):
        found = definition.count(noise, epsilon, F(0))
        assert sum(found.first) == pytest.approx(1) and len(found.first) == 22
        few = [(sum(law[:8]), *law[8:14], sum(law[14:])) for law in (found.first, found.second)]  # ratios are the same
        assert float(found.least) == pytest.approx(max(worst_of(*few, epsilon), 0), abs=1e-12)
    for a, b in product(lesson_definition.SHARES[::4], repeat=2):
        found = definition.bars(F(a), F(b), F(1, 10), F(1, 20))
        assert float(found.least) == pytest.approx(max(worst_of(found.first, found.second, F(1, 10)), 0), abs=1e-12)


def test_noise_made_for_an_epsilon_keeps_just_that() -> None:
    for text in lesson_definition.LESSON.settings[3].choices:
        assert definition.count(F(text), F(text), F(0)).holds
        assert not definition.count(F(text), F(text) * F(99, 100), F(0)).holds


def test_nine_and_eight_tenths_are_not_alike_enough() -> None:
    """0.9 > e^0.05·0.8 + 0.05 = 0.891; and “no” is worse: 0.2 against 0.1."""
    found = definition.bars(F("0.9"), F("0.8"), F("0.05"), F("0.05"))
    assert not found.holds and found.worst == {1} and found.turned
    assert (found.likelier, found.rarer) == (F(1, 5), F(1, 10))
    view = lesson_definition.view(lesson_definition.LESSON.clean({}))
    assert "“yes” alone has 0.9, and the promise allows e^0.05 · 0.8 + 0.05 = 0.891." in view.theorem
    assert "it is broken" in view.two and "breaks" in view.picture


@pytest.mark.long
def test_what_is_printed_agrees_with_what_was_decided() -> None:
    both = (lesson_coin.LESSON, lesson_definition.LESSON)
    coin, bars = ({one.name: one.choices for one in lesson.settings} for lesson in both)
    checks = [definition.coin(times, *map(F, given)) for times in (1, 2, 5) for given in promises(coin, "flip")]
    checks += [definition.count(*map(F, given)) for given in promises(bars, "noise")]
    checks += [definition.bars(F(a), F("0.8"), F(e), F(d)) for a, e, d in promises(bars, "a")]
    for check in checks:
        facts = {name: F(text) for name, text in lesson_coin.checked_facts(check).items()}
        assert check.holds == (facts["likelier"] <= facts["limit"]) == (facts["least"] <= check.delta), check


def promises(choices: dict[str, tuple[str, ...]], name: str) -> Any:
    return product(choices[name][::3], choices["epsilon"][::2], choices["delta"][::2])


# --- 5 two medians ----------------------------------------------------------------------------------------------------


def test_one_of_seven_moves_the_median_across_the_range() -> None:
    assert median.medians() == (1, 0) and sum(a != b for a, b in zip(median.BEFORE, median.AFTER, strict=True)) == 1
    assert "from 1 to 0" in lesson_median.view(lesson_median.LESSON.clean({})).one


def test_a_median_by_rank_comes_near_and_noise_does_not() -> None:
    """At ε = ½ and 1,000 people. A noisy answer is near with chance below 0.06 (two sides of 300 at scale 12,000, and
    the clamped ends are not near), so more than 20 of 50 has chance below 10^-12; a chosen one by its exact law."""
    query = median.question(median.Settings())
    found = median.run(median.Settings())
    spread = query.need().imagine(1000, "skewed")
    (law,) = query.law(spread).parts
    column = query.facts.schema.number("pay")
    far = sum(p for code, p in law.chances.items() if abs(float(column.value(code)) - found.truth) > 300)
    assert far < Decimal("1e-6")  # then five of fifty have chance below 50^5·10^-30
    assert found.near(found.noisy) <= 20 and found.near(found.chosen) >= 46
    said = lesson_median.view(lesson_median.LESSON.clean({})).two
    near, all_of_them, chosen, _ = map(int, re.findall(r"\d+", said))
    assert near <= 20 and chosen >= 46 and all_of_them == median.ANSWERS


def test_lessons_are_drawn_anew_where_they_are_random() -> None:
    """Two pictures of 50 noisy answers coincide with a chance far below 10^-6."""
    for number in (2, 5):
        lesson = lessons.lesson(number)
        given = lesson.clean({"times": "50"})
        assert lesson.random and lesson.view(given).picture != lesson.view(given).picture
