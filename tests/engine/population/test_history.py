"""What was released before counts: the shift by it against brute force, the ledger's own count of it, the attack that
chooses a question from earlier answers, and what an answer of a session then claims."""

from __future__ import annotations

import math
import secrets
from collections.abc import Iterator
from contextlib import closing
from fractions import Fraction
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest
from battery import FALSE_ALARM, facts

import dpengine as dp
from dpengine.accountant.history import History, Past
from dpengine.accountant.loss import Approximate, Bounded, Exponential, Gaussian, Pure, Repeated, Together
from dpengine.ledger import ledger
from dpengine.mechanisms.session.adaptive_session import AdaptiveSession
from dpengine.population.session_validity import MAIN, USELESS, claimed, noise_of, outward, rounded
from dpengine.population.validity import ORDERS, SHIFT_SHARE, _order, counted, flattery, shift
from dpengine.workspace import Workspace
from tests.planted.populations import (
    ASKED,
    ATTACKS,
    bars,
    check_a_claim_counts_what_was_released,
    chosen_from_bars,
    counts_the_past,
    looks_at_the_session_alone,
    one_question,
)

F = Fraction
Channel = npt.NDArray[np.float64]  # a row for each value of a person, a column for each answer
BETA = F(1, 20)
RESERVE = F(1, 10**7)


# --- the formulas -----------------------------------------------------------------------------------------------------


def moved(prior: Channel, channel: Channel) -> tuple[Channel, Channel]:
    """For each answer its chance, and how far it moves what is known of a person, as total variation."""
    joint = prior[:, None] * channel
    chances = joint.sum(axis=0)
    return chances, 0.5 * np.abs(joint / chances - prior[:, None]).sum(axis=0)


def beyond(channel: Channel, epsilon: float) -> float:
    """The least δ for which the channel is (ε, δ)-DP: over all pairs of values."""
    return max(float(np.maximum(one - math.exp(epsilon) * other, 0).sum()) for one in channel for other in channel)


def channels() -> Iterator[tuple[Channel, Channel]]:
    random = np.random.default_rng(secrets.randbits(64))
    for _ in range(300):
        values, answers = random.integers(2, 6), random.integers(2, 7)
        spread = 10 ** random.uniform(-1, 1)
        yield random.dirichlet(np.ones(values)), random.dirichlet(np.full(answers, spread), size=values) + 1e-12


def test_a_pure_release_moves_no_person_by_more_than_its_formula() -> None:
    """Every channel of a handful of values: tanh(e/4) holds for each answer, and a channel of two values attains it."""
    for prior, channel in channels():
        e = max(float(np.log(channel.max(axis=0) / channel.min(axis=0)).max()), 1e-9)
        assert moved(prior, channel)[1].max() <= math.tanh(e / 4) + 1e-9
        assert float(shift(Past.of([Pure(F(e))]), BETA)) <= math.tanh(e / 4) * (1 + 1e-6)
    for e in (0.05, 0.5, 2.0):
        keep = math.exp(e) / (1 + math.exp(e))
        low = 1 / (1 + math.exp(e / 2))  # the prior that moves furthest
        _, far = moved(np.array([low, 1 - low]), np.array([[keep, 1 - keep], [1 - keep, keep]]))
        assert far.max() == pytest.approx(math.tanh(e / 4))


def test_what_lies_beyond_epsilon_moves_by_no_more_than_delta_on_average() -> None:
    """E(TV − tanh(ε/4))₊ ≤ δ(ε) for every channel and ε; without the quarter replaced by an eighth it is not so."""
    broken = 0
    for prior, channel in channels():
        chances, far = moved(prior, channel / channel.sum(axis=1, keepdims=True))
        for epsilon in (0.0, 0.1, 0.4, 1.0, 2.5):
            delta = beyond(channel, epsilon)
            assert float((chances * np.maximum(far - math.tanh(epsilon / 4), 0)).sum()) <= delta + 1e-9
            broken += float((chances * np.maximum(far - math.tanh(epsilon / 16), 0)).sum()) > delta + 1e-9
    assert broken, "the check has power"


@pytest.mark.parametrize("rho", [F(1, 10**5), F(24, 10**5), F(1, 1000), F(15, 1000)])
def test_the_shift_of_gaussian_noise_against_its_law(rho: F) -> None:
    """One number of a person with noise of this ρ, summed over all answers: the mean excess that each order counts with
    is right, and the shift is exceeded with a chance below β. It is at most eight times what is typical."""
    sigma = 1 / math.sqrt(2 * rho)
    grid = np.arange(-math.ceil(12 * sigma), math.ceil(12 * sigma) + 2)
    channel = np.array([np.exp(-((grid - x) ** 2) / (2 * sigma**2)) for x in (0, 1)])
    channel /= channel.sum(axis=1, keepdims=True)
    chances, far = moved(np.array([0.5, 0.5]), channel)
    for order in ORDERS:
        alpha, toll, delta = _order(order, BETA / len(ORDERS))
        over = np.maximum(far - math.tanh(float(alpha * rho + toll) / 4), 0)
        assert float((chances * over).sum()) <= delta
    told = float(shift(Past.of([Gaussian(rho)]), BETA))
    assert float(chances[far > told].sum()) <= BETA
    assert told <= 8 * float((chances * far).sum()) or rho < ORDERS[0]


def test_the_shift_takes_the_least_of_all_ways_to_count() -> None:
    few, many = Past.of([Pure(F(1, 20))]), Past.of([Repeated(Pure(F(1, 20_000)), 1000)])
    bell = Past.of([Gaussian(F(24, 10**5))])
    assert few.pure == many.pure and shift(many, BETA) < shift(few, BETA) / 2
    both = few.joined(bell)
    assert shift(bell, BETA) < shift(both, BETA) <= shift(bell, BETA) + shift(few, BETA) + F(1, 1000)
    assert shift(Past.NOTHING, BETA) == 0
    growing = [float(shift(Past.of([Gaussian(F(step, 10**5))]), BETA, RESERVE)) for step in range(1, 4000, 37)]
    assert growing == sorted(growing)
    secret = shift(few, BETA, relation="add_remove")
    assert float(secret) == pytest.approx(math.tanh(0.05 / 2))
    with_delta = Past.of([Approximate(F(1, 20), F(1, 10**8))])
    assert shift(with_delta, BETA, RESERVE) > shift(few, BETA) and shift(with_delta, BETA, RESERVE, "add_remove") == 1
    assert shift(bell, BETA, F(1, 100)) > shift(bell, BETA, RESERVE)


def test_figures_of_the_shift() -> None:
    """In points, at the share of β = .05 that sessions give it: ρ of about 1, 5 and 50 % of (1, 1e-6)."""
    share = F(1, 20) * MAIN * SHIFT_SHARE
    for rho, told in ((F(24, 10**5), 2.1), (F(125, 10**5), 4.85), (F(12, 1000), 15.1)):
        assert 100 * float(shift(Past.of([Gaussian(rho)]), share, RESERVE)) == pytest.approx(told, abs=0.06)


def test_a_past_counts_every_kind_of_loss() -> None:
    losses = [
        Pure(F(1, 10)),
        Exponential(F(1, 10)),
        Gaussian(F(1, 1000)),
        Bounded(F(1, 10), F(1, 10**4)),
        Approximate(F(1, 10), F(1, 10**7)),
        Repeated(Together((Pure(F(1, 100)), Gaussian(F(1, 10**5)))), 3),
    ]
    past, sums = Past.of(losses), History.of(losses)
    assert past.pure == F(4, 10) + F(3, 100) and past.bell == F(1, 1000) + F(3, 10**5)
    assert (past.rho, past.delta) == (sums.rho, sums.delta)
    known = Past.of_sums(sums)
    assert known.bell == past.rho and known.rho == past.rho and known.delta == past.delta
    assert Past.of_sums(History.of(losses[:2])) == Past.of(losses[:2])


# --- the attack -------------------------------------------------------------------------------------------------------


def test_a_question_chosen_from_earlier_answers_is_covered() -> None:
    """85 % of the allowance on the bars of a column of 8,000 values, then one question chosen from them: at most 5
    false claims in 100 of 200. The claim of the session alone is false nearly every time."""
    check_a_claim_counts_what_was_released(counts_the_past)
    with pytest.raises(AssertionError, match="false after other releases"):
        check_a_claim_counts_what_was_released(looks_at_the_session_alone)
    past = Past.of([bars().loss()])
    alone = looks_at_the_session_alone(one_question(past), past)
    assert sum(off > alone for off in chosen_from_bars()) > 0.95 * ATTACKS


def test_the_attack_raises_a_false_alarm_once_in_a_million_at_most() -> None:
    """Given the bars, what is off beyond the shift is a mean of martingale steps and Laplace noise. By Chernoff a claim
    is false with a chance below 1 in 250, and then more than 10 of 200 are with one far below the limit."""
    past = Past.of([bars().loss()])
    query = one_question(past)
    spare = counts_the_past(query, past) - math.tanh(0.85 / 4) - 1 / (2 * query.rounded)  # type: ignore[operator]
    keep = math.exp(-float(query.each))

    def chance(t: float) -> float:
        noise = (1 - keep) ** 2 / ((1 - keep * math.exp(t)) * (1 - keep * math.exp(-t)))
        return 2 * noise * math.exp(ASKED * t**2 / 8 - ASKED * t * spare)

    false = min(chance(0.99 * float(query.each) * step / 100) for step in range(1, 100))
    assert false < 1 / 250
    most = ATTACKS // 20
    more = sum(
        math.comb(ATTACKS, many) * false**many * (1 - false) ** (ATTACKS - many) for many in range(most + 1, ATTACKS)
    )
    assert more < FALSE_ALARM


@pytest.mark.parametrize("rho", [F(1, 1000), F(5, 1000)])
def test_rows_published_with_gaussian_noise_stay_within_the_shift(rho: F) -> None:
    """Every row of 400,000 coins, with noise of this ρ; the question is about those that look like ones. What is off
    has a mean of 0.28·√ρ, at least 0.0088, and a deviation below 0.0008. The bound is 1.4·√ρ or more, 30 deviations
    above; one for a four-hundredth of ρ is at least 6 below: a false alarm has a chance below 1e-8."""
    random, people = np.random.default_rng(secrets.randbits(64)), 400_000
    coins = random.integers(0, 2, people)
    told = coins + random.normal(0, 1 / math.sqrt(2 * rho), people)
    off = float(np.mean((told > 0.5) == (coins == 1))) - 0.5
    assert float(shift(Past.of([Gaussian(rho / 400)]), F(9, 10))) < off <= float(shift(Past.of([Gaussian(rho)]), BETA))


# --- a session --------------------------------------------------------------------------------------------------------


def session(people: int, questions: int, relation: str = "replace", **given: object) -> AdaptiveSession:
    return AdaptiveSession.build(facts(relation, about=people), {"epsilon": "1", "questions": questions} | given)


CHECK = Past.of([Gaussian(F(24, 10**5))])  # about 1 % of (1, 1e-6), as a check of the columns takes


def test_a_small_past_leaves_a_claim_of_use() -> None:
    for people, questions, most in ((40_000, 1, 0.032), (40_000, 20, 0.067), (10**6, 20, 0.031), (2_000, 3, 0.1)):
        query = rounded(session(people, questions), CHECK, RESERVE)
        found, alone = claimed(query, CHECK, RESERVE, questions), claimed(query, Past.NOTHING, RESERVE, questions)
        assert query.rounded and found is not None and alone is not None and found.theorem == "history"
        assert alone.width < found.width < most


def test_bounds_of_this_session_alone_are_claimed_only_where_nothing_was_released() -> None:
    for query in (session(10**5, 50), rounded(session(10**5, 3)), session(10**5, 50, calibration="gaussian")):
        after = {one.theorem: one.claimed for one in outward(query, CHECK, RESERVE)}
        assert {name for name, yes in after.items() if yes} <= {"history", "counted"}
        fresh = {one.theorem for one in outward(query) if one.claimed}
        assert {"information", "jung", "counted", "split"} <= fresh and "history" not in fresh


def test_a_past_that_is_too_large_leaves_nothing_and_no_rounding() -> None:
    large = Past.of([Pure(F(2))])
    query = rounded(session(40_000, 3), large, RESERVE)
    assert query.rounded is None and claimed(query, large, RESERVE, 1) is None
    assert outward(query, large, RESERVE)[0].width >= USELESS


def test_what_comes_between_counts_with_the_session_s_own_answers() -> None:
    """A tenth of β, the union over all questions, and everything before the question in the shift."""
    query = rounded(session(10**6, 5, epsilon="0.1"))
    found = claimed(query, Past.NOTHING, RESERVE, 3, others=CHECK)
    assert found is not None and found.theorem == "counted"
    seen = CHECK.plus(Repeated(Pure(F(1, 50)), 2))
    same = counted(noise_of(query), seen, RESERVE, query.beta * (1 - MAIN), 5)
    assert found.width == same.width + F(2, 10**6) + query.half_cell
    first = claimed(query, Past.NOTHING, RESERVE, 1, others=CHECK)
    assert first is not None and first.width < found.width
    chosen = session(10**6, 200)
    assert outward(chosen)[0].theorem in ("counted", "information")
    assert claimed(chosen, Past.NOTHING, RESERVE, 7, choices=1) is not None


def test_a_choice_before_counts_by_its_outcomes() -> None:
    query = rounded(session(10**6, 3))
    query = AdaptiveSession.build(query.facts, {"epsilon": "1", "questions": 3, "rounded": 10})
    one, other = (claimed(query, Past.NOTHING, RESERVE, 3, choices=many) for many in (0, 2))
    assert one is not None and other is not None and one.theorem == "description" and one.width < other.width


# --- the ledger, and answers ------------------------------------------------------------------------------------------

AGES = pd.DataFrame({"age": list(range(100)) * 40})
SCHEMA = dp.Schema({"age": dp.Number(0, 100, step=1)})
YOUNG = {"share": [["age", "<", 50]]}


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Workspace]:
    with closing(dp.open_workspace(tmp_path)) as space:
        yield space


def people(home: Workspace, name: str = "people", **given: object) -> dp.Table:
    given = {"unit": dp.Unit.rows(), "budget": dp.Budget("2", "1e-6")} | given
    return home.add_table(name, AGES, schema=SCHEMA, **given)  # type: ignore[arg-type]


def test_an_answer_carries_the_range_that_is_claimed(home: Workspace) -> None:
    table = people(home)
    session = table.open_session(table.session_for(3, F(1, 4)))
    first = session.ask(YOUNG, "a")
    assert first.population is not None and first.interval is not None
    low, high = first.population
    assert 0 <= low <= first.interval[0] and first.interval[1] <= high <= 100 and high - low < 12
    average = session.ask({"average": "age"}, "b")
    assert average.population is not None and 0 <= average.population[0] < average.value < average.population[1] <= 100
    assert session.ask({"largest": [YOUNG["share"], [["age", ">", 60]]]}, "c").population is None
    assert [one.population for one in session.look()[2]] == [first.population, average.population, None]
    assert [one.population for one in session.look(1)[2]] == [None]


def test_what_was_released_before_widens_it_or_leaves_none(home: Workspace) -> None:
    table = people(home)
    fresh = table.open_session(table.session_for(1, F(1, 20)), "fresh").ask(YOUNG, "a").population
    small = table.open_session(table.session_for(1, F(1, 20)), "small").ask(YOUNG, "a").population
    assert fresh is not None and small is not None
    assert small[1] - small[0] > fresh[1] - fresh[0]
    table.ask(table.query("histogram", column="age", epsilon="1"))
    later = table.open_session(table.session_for(1, F(1, 100)), "later")
    assert later.query.rounded is None and later.ask(YOUNG, "a").population is None
    assert table.session("fresh").look()[2][0].population == fresh, "what came after changes nothing"


def test_what_comes_between_a_session_s_questions_counts(home: Workspace) -> None:
    """Another question, and an answer of another session that was reserved before."""
    table = people(home)
    other = table.open_session(table.query("adaptive_session", questions=5, epsilon="0.02"), "other")
    session = table.open_session(table.session_for(3, F(1, 10)), "s")
    before = session.ask(YOUNG, "a")
    assert session.others_from is None
    told = other.ask(YOUNG, "x")
    after = session.ask(YOUNG, "b")
    assert session.others_from is not None and told.seq < session.others_from < after.seq
    assert before.population is not None
    table.ask(table.query("histogram", column="age", epsilon="1"))
    assert session.ask(YOUNG, "c").population is None
    assert table.session("s").look()[2][0].population == before.population


def test_releases_of_a_table_that_shares_the_budget_count(home: Workspace) -> None:
    one = people(home)
    other = home.add_table(
        "others", AGES + 0.5, schema=dp.Schema({"age": dp.Number(0, 101)}), unit=dp.Unit.rows(), budget=one.budget.id
    )
    assert one.released() == Past.NOTHING
    answer = other.ask(other.query("mean", column="age", epsilon="0.2"))
    assert one.released() == Past.of([answer.query.loss()]) == other.released()
    assert one.released(answer.receipt["charge"]["seq"]) == Past.NOTHING
    assert one.open_session(one.session_for(1, F(1, 20))).past == one.released(home.ledger.head()[0] - 1)


def test_of_many_charges_the_running_sums_are_counted(home: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    table = people(home)
    losses = [table.ask(table.query("mean", column="age", epsilon="0.01")).query.loss() for _ in range(4)]
    by_one = table.released()
    assert by_one == Past.of(losses)
    monkeypatch.setattr(ledger, "_MOST_COUNTED", 3)
    table.ask(table.query("count", where=YOUNG["share"], epsilon="0.01"))
    sums = table.released()
    assert sums.pure >= by_one.pure and sums.rho >= by_one.rho


@pytest.mark.parametrize("given", [{"relation": "add_remove", "about_rows": 4_000}, {"unit": dp.Unit.column("who", 2)}])
def test_nothing_is_claimed_where_the_number_of_people_is_secret_or_a_row_is_no_person(
    home: Workspace, given: dict[str, object]
) -> None:
    frame = AGES.assign(who=[f"p{place // 2}" for place in range(len(AGES))])
    given = {"unit": dp.Unit.rows(), "budget": dp.Budget("2", "1e-6")} | given
    table = home.add_table("people", frame, schema=SCHEMA, **given)  # type: ignore[arg-type]
    query = table.session_for(2, F(1, 4))
    assert query.rounded is None
    assert table.open_session(query).ask(YOUNG, "a").population is None


# --- how much a model flatters itself ---------------------------------------------------------------------------------


def test_a_model_picked_from_earlier_answers_flatters_itself_by_more_than_its_training() -> None:
    """Bars of 4,000 values by a coin of each person; the model says for each value the side with the taller bar. Its
    share of right answers is above the population's ½ by about 0.06: by more than the 0.01 of a training of ρ = 0.0002,
    and by less than the 0.17 that counts the bars too. The mean over 20 runs of 2,000 people has a deviation below
    0.003, so a false alarm is one of 15 deviations."""
    random, people, values, epsilon = np.random.default_rng(secrets.randbits(64)), 2_000, 4_000, 0.5
    training, gaps = Gaussian(F(2, 10**4)), []
    for _ in range(20):
        value, coin = random.integers(0, values, people), random.integers(0, 2, people)
        cells = np.bincount(2 * value + coin, minlength=2 * values).reshape(values, 2)
        keep = math.exp(-epsilon / 2)
        noise = random.geometric(1 - keep, cells.shape) - random.geometric(1 - keep, cells.shape)
        says = (cells + noise).argmax(axis=1)
        gaps.append(float(np.mean(says[value] == coin)) - 0.5)
    gap = float(np.mean(gaps))
    assert (
        float(flattery(Past.of([training]), "replace"))
        < gap
        <= float(flattery(Past.of([Together((Pure(F(1, 4)), Pure(F(1, 4)))), training]), "replace"))
    )
