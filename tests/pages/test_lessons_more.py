"""What lessons 6 to 10 say is true: by brute force, by the engine's own laws, and on all their settings."""

from __future__ import annotations

import itertools
import math
from decimal import Decimal
from fractions import Fraction as F

import numpy as np
import pytest
from helpers_lessons import view
from helpers_page import html_of, open_page

import dpengine as dp
from demos.lessons import bells, dice, edges, film
from dpengine.audit.exact import losses
from dpengine.core.amounts import BETA
from dpengine.core.exact import decimal_of, exp_decimal
from dpengine.core.printed import percent
from dpengine.declared.facts import Facts
from dpengine.messages import say
from dpengine.noise import laws
from dpengine.statistics.need import Spread
from dpengine.storage.samples import SAMPLES

# --- 6, the loaded die ------------------------------------------------------------------------------------------------


def test_the_die_is_the_engines_median_with_the_lectures_cap() -> None:
    """The engine's score goes on above 0: the middle weighs more, and the wrong faces as much as on the die."""
    people = sum(dice.PEOPLE)
    facts = Facts("people", dp.Schema({"minutes": dp.Number(0, 60, step=5)}), dp.Unit.rows(), "replace", people)
    query = dp.catalogue["median"].build(facts, {"column": "minutes", "epsilon": "0.7", "with_range": False})
    held = [face for face, count in enumerate(dice.PEOPLE) if count]
    spread = Spread(np.array(held), np.array([dice.PEOPLE[face] for face in held]))
    law = query.law(spread)
    assert isinstance(law, laws.Independent) and isinstance(law.parts[0], laws.Finite)
    theirs = law.parts[0].chances
    die = dice.law_of(dice.PEOPLE, F(7, 20))
    middle = dice.figures(dice.Settings(F(7, 10))).best
    wrong = [face for face in range(len(die)) if face != middle]
    assert theirs[middle] > die[middle]
    for face in wrong:
        assert abs(theirs[face] / theirs[wrong[0]] - die[face] / die[wrong[0]]) < Decimal("1e-20")


def tables(people: int, faces: int) -> list[tuple[int, ...]]:
    return [table for table in itertools.product(range(people + 1), repeat=faces) if sum(table) == people]


def test_one_person_moves_the_capped_score_by_one_and_the_plain_one_by_two() -> None:
    every = [table for people in (2, 4, 6) for table in tables(people, 4)]
    assert max(dice.moves(table, dice.capped) for table in every) == 1
    assert max(dice.moves(table, dice.plain) for table in every) == 2
    assert all(any(dice.capped(table, face) == 0 for face in range(4)) for table in every)
    assert not all(any(dice.plain(table, face) == 0 for face in range(4)) for table in every)
    assert [dice.capped(dice.REPEATED, face) for face in (0, 1)] == [0, -10]
    assert dice.plain(dice.REPEATED, 0) == -10  # the true median, and yet marked down


@pytest.mark.every(9)
@pytest.mark.parametrize("epsilon", dice.EPSILONS, ids=str)
def test_the_die_keeps_its_two_promises(epsilon: F) -> None:
    found = dice.figures(dice.Settings(epsilon, 0))
    assert 1 < found.worst <= found.most == math.exp(epsilon)
    assert found.within >= 0.95 and sum(found.chances) == pytest.approx(1)
    assert found.last is None and sum(found.counts) == 0
    assert dice.FACES[found.best] == 25 and sum(dice.PEOPLE[:5]) <= 20 <= sum(dice.PEOPLE[:6])


def test_a_die_with_the_wrong_score_or_rate_is_caught() -> None:
    """Twice the rate, or the plain score taken for one of Δ = 1, breaks e^ε on some small table."""
    every = tables(4, 4)
    assert max(dice.worst_ratio(table, F(1, 2)) for table in every) <= math.e
    assert max(dice.worst_ratio(table, F(11, 10)) for table in every) > math.e
    assert max(dice.worst_ratio(table, F(1, 2), dice.plain) for table in every) > math.e


def far(counts: tuple[int, ...], chances: tuple[float, ...]) -> bool:
    """Some face off by more than Hoeffding allows with chance 10^-7 over all faces, two sides."""
    rolls = sum(counts)
    most = math.sqrt(math.log(2 * len(counts) / 1e-7) / (2 * rolls))
    return any(abs(count / rolls - chance) > most for count, chance in zip(counts, chances, strict=True))


def test_rolls_follow_the_law() -> None:
    """False alarms below 10^-7; a die loaded half as much is rejected."""
    seed = int(np.random.default_rng().integers(10**6))
    found = dice.figures(dice.Settings(F(1), dice.MOST_ROLLS, seed))
    assert sum(found.counts) == dice.MOST_ROLLS and not far(found.counts, found.chances)
    assert far(found.counts, dice.figures(dice.Settings(F(1, 2), 0)).chances)  # 0.73 against 0.48, with 0.1 allowed


def test_more_rolls_keep_those_before() -> None:
    first, second = (dice.figures(dice.Settings(F(1), rolls)) for rolls in (100, 200))
    assert sum(second.counts) == 200 and all(a <= b for a, b in zip(first.counts, second.counts, strict=True))


# --- 7, the popular film ----------------------------------------------------------------------------------------------

SIZES = range(film.LEAST_SIZE, film.MOST_SIZE + 1)


@pytest.mark.parametrize("size", SIZES)
def test_there_are_such_people(size: int) -> None:
    bars = film.counts(size)
    held = film.deal(bars, film.PEOPLE)
    assert {len(films) for films in held} == {size}
    assert bars == tuple(sum(one in films for films in held) for one in range(len(film.FILMS)))
    assert len(set(film.FILMS)) == len(film.FILMS) == len(bars)


def test_the_sets_do_not_change_the_choice_and_do_change_the_bars() -> None:
    found = [film.figures(film.Settings(size)) for size in SIZES]
    assert len({one.chosen for one in found}) == 1 and 0.9 < found[0].chosen < 1
    assert [one.moved for one in found] == [min(2 * size, 20) for size in SIZES]
    assert all(a.bars > b.bars and a.reach < b.reach for a, b in itertools.pairwise(found[:10]))
    assert found[0].bars > 0.9 and found[9].bars < 0.15


@pytest.mark.parametrize("size", [1, 3, 18])
def test_the_engine_says_the_same_of_sets(size: int) -> None:
    column = dp.ItemSet(list(film.FILMS), separator="|", at_most=size)
    facts = Facts("people", dp.Schema({"films": column}), dp.Unit.rows(), "replace", film.PEOPLE)
    given = {"column": "films", "epsilon": "1"}
    choice, bars = (dp.catalogue[key].build(facts, given) for key in ("top_item", "histogram"))
    law, found = choice.law(film.counts(size)), film.figures(film.Settings(size))
    assert isinstance(law, laws.Finite) and float(law.chances[0,]) == pytest.approx(found.chosen)
    assert choice.sensitivity().bound == 1 and choice.promise().gap == found.behind
    assert bars.sensitivity().bound == found.moved and bars.promise().alpha == found.reach


def test_two_sets_disagree_on_so_many_films() -> None:
    for size in range(1, 5):
        sets = [set(one) for many in range(size + 1) for one in itertools.combinations(range(5), many)]
        assert max(len(one ^ other) for one in sets for other in sets) == film.changed(size, 5)


def test_the_highest_bar_by_enumeration() -> None:
    gaps, scale = (0, 1, 3), F(3, 2)
    chances = {z: float(laws.chance(laws.Laplace(0, scale), z)) for z in range(-40, 41)}
    slow = 0.0
    for z in itertools.product(range(-22, 23), repeat=3):
        heights = [noise - gap for noise, gap in zip(z, gaps, strict=True)]
        if heights[0] == max(heights):
            slow += math.prod(chances[one] for one in z) / heights.count(heights[0])
    assert film.highest(scale, gaps) == pytest.approx(slow, abs=1e-5)


def test_the_films_are_those_of_the_sample() -> None:
    assert set(film.FILMS) <= set(SAMPLES["films"].schema["films"].values)


# --- 8, the two bells -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", bells.EPSILONS, ids=str)
def test_an_answer_speaks_by_epsilon_to_one_side(epsilon: F) -> None:
    first, second = (laws.Laplace(value, 1 / epsilon) for value in (bells.FIRST, bells.SECOND))
    right = Decimal(0)
    for answer in range(bells.FIRST - 30, bells.SECOND + 31):
        loss = (laws.chance(first, answer) / laws.chance(second, answer)).ln()
        assert float(loss) == pytest.approx(float(epsilon) * (1 if answer <= bells.FIRST else -1))
    right = 1 - laws.above(first, bells.FIRST)
    assert float(right) == pytest.approx(1 - bells.figures(bells.Settings(1, epsilon)).misled)


@pytest.mark.parametrize("epsilon", bells.EPSILONS, ids=str)
def test_the_expected_loss_is_exact_and_far_below_the_lemma(epsilon: F) -> None:
    """Of the engine's own laws, atom by atom; of continuous noise by a fine sum; and 2ε² bounds both."""
    found, e = bells.lemmas(bells.Settings(100, epsilon)), float(epsilon)
    noise = tuple(laws.Laplace(value, 1 / epsilon) for value in (bells.FIRST, bells.SECOND))
    odds = exp_decimal(epsilon)
    coin = tuple(laws.Finite({0: p, 1: 1 - p}) for p in (odds / (1 + odds), 1 / (1 + odds)))
    for pair in (noise, coin):
        law = losses(*pair)
        mean = sum((loss * p for loss, p in law.atoms.items()), Decimal(0))
        assert abs(mean - found.coin) < Decimal("1e-20") and not law.infinite
    cells = np.linspace(0, 1, 20_001)[:-1] + 1 / 40_000  # between 19 and 20
    between = float(np.mean(0.5 * e * np.exp(-e * cells) * e * (1 - 2 * cells)))
    assert float(found.laplace) == pytest.approx(0.5 * e - 0.5 * math.exp(-e) * e + between, rel=1e-6)
    assert found.laplace < found.coin <= decimal_of(epsilon**2 / 2) < decimal_of(found.bound)
    assert found.bound == 2 * epsilon**2


def test_no_private_pair_is_expected_to_lose_more() -> None:
    """Pairs of laws on four outcomes whose chances differ by e^ε at most: none loses more than the lying coin."""
    e, drawn = 0.7, np.random.default_rng()
    most, seen = float(bells.expected_coin(F(7, 10))), []
    while len(seen) < 300:
        second = drawn.dirichlet(np.ones(4))
        first = second * np.exp(drawn.uniform(-e, e, 4))
        first /= first.sum()
        ratios = np.log(first / second)
        if np.abs(ratios).max() <= e:
            seen.append(float(first @ ratios))
    assert max(seen) <= most + 1e-12
    broken = np.array([0.9, 0.1]), np.array([0.3, 0.7])  # ln 3 > 0.7: the check can fail
    assert float(broken[0] @ np.log(broken[0] / broken[1])) > most


@pytest.mark.parametrize("k", [1, 100, 1000])
def test_lemma_three_is_kept_with_room(k: int) -> None:
    for epsilon in bells.EPSILONS:
        found = bells.lemmas(bells.Settings(k, epsilon))
        assert found.delta <= found.above <= bells.DELTA


@pytest.mark.usefixtures("shared")
def test_the_lemmas_stand_under_the_theorem_of_strong_composition() -> None:
    page = html_of(open_page("lessons", lesson="bells", epsilon="0.1", questions="100"))
    assert "Lemma 3." in page and "Lemma 4." in page and "0.005" in page and "0.02" in page


def test_bells_are_the_convolution_of_single_answers() -> None:
    k, epsilon = 9, 0.3
    p = 1 / (1 + math.exp(-epsilon))
    slow = np.ones(1)
    for _ in range(k):
        slow = np.convolve(slow, [1 - p, p])
    losses, chances = bells.total(k, epsilon)
    assert chances == pytest.approx(slow) and losses == pytest.approx([(2 * b - k) * epsilon for b in range(k + 1)])
    found = bells.figures(bells.Settings(10, F(1, 2)))
    assert found.guessed == pytest.approx(0.5 + np.abs(found.first - found.second).sum() / 4)
    assert found.middle == pytest.approx(found.losses @ found.first)
    assert found.width == pytest.approx(math.sqrt((found.losses - found.middle) ** 2 @ found.first))


@pytest.mark.long
@pytest.mark.parametrize("epsilon", bells.EPSILONS, ids=str)
def test_the_three_marks_stand_in_order(epsilon: F) -> None:
    for k in (1, 10, 100, 1000):
        found = bells.figures(bells.Settings(k, epsilon))
        assert 0 <= found.exact <= found.simple + 1e-12 and found.exact <= found.lecture
        assert bells.slack(k, float(epsilon), found.exact) <= bells.DELTA
        assert bells.slack(k, float(epsilon), found.exact - 1e-6) > bells.DELTA or found.exact == 0
        assert found.first.sum() == pytest.approx(1) and 0.5 < found.guessed <= 1


@pytest.mark.long
def test_four_times_the_questions_leak_twice_as_much() -> None:
    small = [bells.composed(k, 0.01) for k in (100, 400, 1600)]
    assert all(1.9 < b / a < 2.2 for a, b in itertools.pairwise(small))


@pytest.mark.long
@pytest.mark.parametrize("epsilon", bells.EPSILONS, ids=str)
def test_the_exact_mark_is_what_dp_accounting_finds(epsilon: F) -> None:
    from dpengine.accountant import pld
    from dpengine.accountant.loss import Pure

    for k in (1, 10, 100, 1000):
        theirs = pld.epsilon_of([Pure(epsilon)] * k, F(1, 10**6))
        assert theirs is not None
        assert float(theirs) == pytest.approx(bells.composed(k, float(epsilon)), rel=0.02, abs=2e-3)


# --- 10, the axis -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("richest", edges.RICHEST)
def test_an_axis_from_the_data_tells_for_certain_and_a_declared_one_does_not(richest: int) -> None:
    found = edges.figures(edges.Settings(richest))
    one, other = found.automatic
    assert (found.automatic_guess == 1) == (one.ends != other.ends) == (richest > max(edges.OTHERS))
    assert other.ends == (min(edges.OTHERS), max(edges.OTHERS))
    assert one.ends[1] == max(richest, max(edges.OTHERS))
    assert {bars.ends for bars in found.declared} == {edges.DECLARED}
    assert 0.5 <= found.declared_guess <= found.most < 0.74
    assert (found.declared_guess == 0.5) == (richest == edges.ORDINARY)


def test_the_best_guess_by_enumeration() -> None:
    """Two bars, each moved by one; whoever tells by the more likely table is right so often, and by e^ε no more."""
    law = laws.Laplace(0, 2 / edges.EPSILON)
    chances = [float(laws.chance(law, z)) for z in range(-61, 62)]
    right = sum(
        max(chances[a] * chances[b], chances[a - 1] * chances[b + 1]) / 2 for a in range(1, 122) for b in range(1, 122)
    )
    told = edges.best_guess((edges.DECLARED, (3, 5)), (edges.DECLARED, (4, 4)))
    assert told == pytest.approx(right, abs=1e-6)
    assert edges.best_guess((edges.DECLARED, (3, 5)), (edges.DECLARED, (3, 5))) == 0.5
    assert edges.best_guess(((0, 10), (3, 5)), ((0, 11), (3, 5))) == 1
    moved = laws.Independent((law, law)), laws.Independent((laws.Laplace(1, law.scale), laws.Laplace(-1, law.scale)))
    assert float(laws.max_divergence(*moved)) == pytest.approx(float(edges.EPSILON))


def test_noise_is_what_it_says() -> None:
    """Means of 20,000 draws: |Z| has mean about 1.98, spread below 2.1; false alarms far below 10^-6, half the noise is
    rejected."""
    rng = np.random.default_rng()
    drawn = np.array([edges.noisy((0,) * edges.BARS, rng) for _ in range(2000)])
    scale = float(2 / edges.EPSILON)
    mean = 1 / math.sinh(1 / scale)
    assert abs(np.abs(drawn).mean() - mean) < 0.1 < mean / 4
    assert abs(drawn.mean()) < 0.15


def test_everybody_is_counted_once() -> None:
    table = (*edges.OTHERS, 10**6)
    for ends in ((1300, 10**6), edges.DECLARED):
        assert sum(edges.counted(table, ends)) == len(table)
    assert edges.counted(table, edges.DECLARED)[-1] == 1  # counted in the last bar, and the axis does not tell


@pytest.mark.parametrize("unit", edges.UNITS)
def test_rescaling_changes_what_epsilon_means(unit: int) -> None:
    found = edges.rescaled(unit)
    width = edges.DECLARED[1] - edges.DECLARED[0]
    far_apart = laws.max_divergence(laws.Laplace(0, F(found.noise)), laws.Laplace(width, F(found.noise)))
    assert float(far_apart) == pytest.approx(found.real) == pytest.approx(unit * found.printed)
    assert found.printed == float(edges.EPSILON)


# --- what the screens say ---------------------------------------------------------------------------------------------


def test_what_is_told_in_words_is_what_is_computed() -> None:
    """Figures that a sentence has as words: forty, 95 times in 100, one in a million."""
    assert sum(dice.PEOPLE) == 40 and dice.EACH_TIME == 100 and F(1, 20) == BETA
    assert "Forty people" in say("lesson.6.do") and "a hundred times" in say("lesson.6.set.rolls")
    assert say("lesson.7.do").startswith(f"{film.PEOPLE} people each like some of {len(film.FILMS)} films")
    assert f"gives {bells.FIRST}, its neighbour {bells.SECOND}" in say("lesson.8.do") and bells.DELTA * 10**6 == 1


@pytest.mark.every(9)
@pytest.mark.parametrize("epsilon", ["0.05", "1", "5"])
@pytest.mark.parametrize("rolls", ["0", "1000"])
def test_the_die_says_its_figures(epsilon: str, rolls: str) -> None:
    found, told = dice.figures(dice.Settings(F(epsilon), int(rolls))), view(6, epsilon=epsilon, rolls=rolls)
    assert "25 minutes" in told.one and f"{100 * found.chances[5]:.0f} %".replace("100", "99.9") in told.one
    assert rolls == "0" or f"came up {found.counts[5]:,} times in 1,000 rolls" in told.one
    assert f"a factor of {found.most:.3g}" in told.two
    assert (f"at most {found.promised} of the 40" in told.two) == (found.promised < max(found.gaps))
    assert "moves by more than 1." in told.theorem and "it would be 2," in told.theorem


@pytest.mark.every(3)
@pytest.mark.parametrize("size", [1, 18])
def test_the_film_says_its_figures(size: int) -> None:
    found, told = film.figures(film.Settings(size)), view(7, size=str(size))
    assert f"the favourite {percent(found.chosen)} of the time" in told.one
    assert f"can change {found.moved} of them" in told.two and f"up to {found.reach} people" in told.two
    assert f"only {percent(found.bars)} of the time" in told.two


@pytest.mark.every(9)
@pytest.mark.parametrize("questions", bells.QUESTIONS)
def test_the_bells_say_their_figures(questions: int) -> None:
    found, told = bells.figures(bells.Settings(questions)), view(8, questions=str(questions))
    assert f"ε = {found.simple:.3g}" in told.one and f"right {percent(found.guessed)} of the time" in told.two
    assert ("some mislead" in told.one) == (found.exact < 0.99 * found.simple)
    assert "some mislead" not in told.one or f"at most ε = {found.exact:.3g}" in told.one
    assert "nearly always right" in view(8, questions="1000", epsilon="1").two


@pytest.mark.parametrize("richest", edges.RICHEST)
def test_the_axis_says_its_figures(richest: int) -> None:
    found, told = edges.figures(edges.Settings(richest)), view(10, richest=str(richest))
    assert ("one look tells" in told.one) == (found.automatic_guess == 1)
    assert found.automatic_guess < 1 or f"ends at {richest:,} or at 5,200" in told.one
    assert f"right {percent(found.declared_guess)} of the time" in told.two and percent(found.most) in told.two
    assert told.theorem.count("printed ε = 1,") == len(edges.UNITS) and "true ε = 1,000" in told.theorem
