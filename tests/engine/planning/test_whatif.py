"""Any three of allowance, error, people and questions give the fourth, and the four agree. Exact; nothing random."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import ceil, exp, log

import pytest

from dpengine.__main__ import main
from dpengine.accountant import how_many_fit
from dpengine.accountant.filter import Budget, Rule
from dpengine.accountant.history import History
from dpengine.accountant.loss import Exponential, Pure
from dpengine.core.amounts import LEAST_EPSILON
from dpengine.core.errors import AllowanceError
from dpengine.declared.schema import Number
from dpengine.mechanisms import catalogue
from dpengine.mechanisms.least_epsilon import least_epsilon
from dpengine.mechanisms.query import Query
from dpengine.messages import known, say
from dpengine.messages.language import speaking
from dpengine.noise.laws import Laplace, chance
from dpengine.planning import whatif
from dpengine.planning.whatif import class_people, population_people, training_people
from dpengine.planning.whatif_pictures import LEAD, picture, rank_at, value_at
from dpengine.population.session_validity import outward, rounded

GRAIN = Fraction(1, whatif.GRAIN)
MILLIONTH = Fraction(1, 10**6)
TYPED = {
    "q": "mean",
    "n": "1000",
    "e": "1",
    "d": "1e-6",
    "k": "10",
    "relation": "replace",
    "low": "0",
    "high": "600",
    "step": "1",
    "values": "10",
    "share": "90",
    "columns": "3",
    "lists": "2",
    "options": "5",
    "features": "3",
    "asks": "20",
    "full": "no",
    "beta": "",
}
LARGER = {"small_database": {"n": "1000000", "lists": "1"}}  # else it says nothing
CASES = [(key, relation) for key in sorted(whatif.offered()) for relation in ("add_remove", "replace")]


def given(key: str, relation: str) -> dict[str, str]:
    return TYPED | LARGER.get(key, {}) | {"q": key, "relation": relation, "low": lower_end(key)}


def lower_end(key: str) -> str:
    """0, or 1 for a question that takes no range from 0."""
    from_zero, rules = Number(0, 600), [one.takes for one in catalogue[key].card.parameters if one.takes]
    return "0" if all(rule.holds(from_zero) for rule in rules) else "1"


def solved(key: str, relation: str) -> tuple[whatif.Setting, whatif.Setting]:
    setting = whatif.read(given(key, relation))
    return setting, whatif.solve(setting)


def fit(rule: Rule, query: Query, count: int) -> bool:
    return how_many_fit.holds("filter", rule, query.loss(), count)


def test_the_questions_offered_come_from_the_cards() -> None:
    wanted = {"count", "proportion", "mean", "sum", "median", "quantile", "histogram", "top_item"}
    assert wanted <= set(whatif.offered())
    assert not {"find_declarations", "fit_check"} & set(whatif.offered())
    assert whatif.typed("quantile") == {"range", "share"} and whatif.typed("count") == set()
    assert whatif.typed("histogram") == {"values"}
    assert whatif.typed("small_database") == {"lists", "values"} and whatif.typed("adaptive_session") == {"asks"}
    assert whatif.typed("train_linear") == {"range", "features"} and whatif.sized("train_linear")


@pytest.mark.every(9)
@pytest.mark.parametrize(("key", "relation"), CASES)
def test_the_promise_is_that_of_the_most_each_may_take(key: str, relation: str) -> None:
    setting, found = solved(key, relation)
    rule = setting.budget.rule()
    assert fit(rule, found.query, 10) and not fit(rule, found.query.asked_at(found.query.epsilon + GRAIN), 10)
    assert found.promise == setting.query.asked_at(found.query.epsilon).promise()


@pytest.mark.every(9)
@pytest.mark.parametrize("key", catalogue)
def test_every_question_that_promises_anything_says_how_many_people_or_why_not(key: str) -> None:
    """For each of the catalogue, also those that nobody wrote yet: a number, that any will do, or one sentence."""
    if key not in whatif.offered():
        told = whatif.why_not(key)
        assert told.endswith(".") and "{" not in told
        return
    side = whatif.solve(whatif.read(given(key, "replace") | {"k": "1", "n": "100000"}))
    found = whatif.at_error(side, 2 * side.promise.amount)
    assert found.any_size or (found.people is not None and found.people <= side.people)


def test_a_training_needs_the_people_for_whom_its_usual_steps_promise_the_wish() -> None:
    """Steps and their size follow the number of people, as they do on Train; below what the steps allow, no number of
    people reaches a wish."""
    side = whatif.solve(whatif.read(TYPED | {"q": "train_logistic", "k": "1"}))
    people = whatif.at_error(side, side.promise.amount_of(Fraction(20), side.query)).people
    assert people is not None
    query = side.query.of_size(people)
    fresh = type(query).build(
        replace(query.facts, about=people),
        {
            "target": "values",
            "features": ["number 1", "number 2", "number 3"],
            "epsilon": query.epsilon,
            "region": query.region,  # promises are about one region: it stays while people and ε change
        },
    )
    assert query.promise() == fresh.promise()
    assert query.promise().figure_for(query) <= 20
    assert whatif.at_error(side, side.promise.amount_of(Fraction(1, 2), side.query)).people is None
    steps, enough = training_people(query, side.budget.delta, query.promise().amount) or (0, 0)
    one = query.setting
    assert steps == ceil((one.radius * one.clip / float(query.promise().amount)) ** 2) and enough > one.width


def test_the_theorem_of_small_databases_keeps_its_epsilon() -> None:
    """n ≥ (4/(αε))·ln(|D|^m/β): half of ε takes twice the people, which the source's last line loses."""
    query = whatif.solve(whatif.read(TYPED | {"q": "small_database", "k": "1", "n": "100000"})).query
    rows, people = class_people(query, Fraction(1, 10))
    assert rows == ceil(2 * log(2 * query.many) * 100) and query.many == 120 and query.domain == 100
    assert people == ceil(40 / float(query.epsilon) * (rows * log(100) + log(20)))
    assert class_people(query.asked_at(query.epsilon / 2), Fraction(1, 10))[1] in (2 * people - 1, 2 * people)


@pytest.mark.long
def test_a_wished_error_of_a_small_database_names_the_lecture_s_people_and_says_when_ours_are_fewer() -> None:
    """S1.7 with its unbounded m, beside this program's own promise for the same wish."""
    side = whatif.solve(
        whatif.read(TYPED | {"q": "small_database", "k": "1", "n": "1000000", "lists": "1", "values": "3", "e": "0.5"})
    )
    codes = set()
    for wish in (Fraction(20), Fraction(10), Fraction(5), Fraction(1)):
        told = whatif.theorems(side, wish)
        alpha, epsilon = float(wish) / 100, float(side.query.epsilon)
        rows = ceil(2 * log(2 * side.query.many) / alpha**2)
        people = ceil(4 / (alpha * epsilon) * (rows * log(side.query.domain) + log(20)))
        assert class_people(side.query, wish / 100) == (rows, people)
        assert f"m = {rows:,} rows" in told[1] and f"about {whatif._about(people):,} people" in told[1]
        ours = whatif.at_error(side, wish).people
        codes.add("none" if ours is None else "fewer" if ours < people else "more")
        assert (ours is None) == ("No number of people" in told[2])
        assert ours is None or (f"{ours:,} people" in told[2] and ("needs fewer" in told[2]) == (ours < people))
    assert {"fewer", "none"} <= codes


@pytest.mark.long
def test_a_session_says_how_many_people_the_population_takes() -> None:
    """Rounded answers are the bound for few questions; for one person fewer it does not hold."""
    query = whatif.solve(whatif.read(TYPED | {"q": "adaptive_session", "k": "1", "asks": "3"})).query
    found = population_people(query, Fraction(2, 100))
    assert found is not None and found[1] == "description" and 10_000 < found[0] < 60_000
    widths = [outward(rounded(query.of_size(people)))[0].width for people in (found[0] - 1, found[0])]
    assert widths[1] <= Fraction(2, 100) < widths[0]


def test_round_and_round_gives_the_same_four_numbers() -> None:
    first = solved("mean", "replace")[1]
    again = whatif.at_error(first, first.promise.amount)
    assert (again.people, again.questions, again.epsilon) == (1000, 10, 1)


def test_numbers_are_read_as_people_write_them() -> None:
    told = ["1,000", "1 000", "12,345.5", "0,1", " 5 % ", "1e-6"]
    assert [whatif.read_number_field(text, "n") for text in told] == [
        1000,
        1000,
        Fraction("12345.5"),
        Fraction("0.1"),
        5,
        MILLIONTH,
    ]


@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        ({"d": "1"}, "budget.delta_range"),
        ({"d": "-1e-6"}, "budget.delta_range"),
        ({"d": "small"}, "number.unreadable"),
        ({"e": "0"}, "whatif.epsilon_range"),
        ({"e": "101"}, "whatif.epsilon_range"),
        ({"e": "nan"}, "number.unreadable"),
        ({"n": "0"}, "whatif.whole"),
        ({"n": "2.5"}, "whatif.whole"),
        ({"n": "many"}, "number.unreadable"),
        ({"k": "0"}, "whatif.whole"),
        ({"beta": "0"}, "beta.range"),
        ({"beta": "1"}, "beta.range"),
        ({"beta": "-3"}, "beta.range"),
        ({"low": "9", "high": "1"}, "number.reversed"),
        ({"step": "7"}, "number.step"),
        ({"relation": "cousins"}, "relation.unknown"),
        ({"q": "find_declarations"}, "query.unknown"),
        ({"q": "quantile", "share": "100"}, "share.range"),
        ({"q": "top_item", "values": "1"}, "whatif.whole"),
        ({"k": "1000000", "e": "0.1"}, "whatif.too_many"),
    ],
)
def test_what_cannot_be_used_is_refused_in_one_sentence(wrong: dict[str, str], code: str) -> None:
    with pytest.raises(AllowanceError) as refused:
        whatif.solve(whatif.read(TYPED | wrong))
    assert refused.value.code == code and known(code)
    assert "{" not in str(refused.value) and "\n" not in str(refused.value)


def test_without_delta_spends_add_up() -> None:
    found = whatif.solve(whatif.read(TYPED | {"q": "count", "d": "0"}))
    assert found.query.epsilon == Fraction(1, 10)
    assert how_many_fit.how_many(found.budget.rule(), Pure(Fraction(1, 100))) == {
        "basic": 100,
        "lecture": 0,
        "zcdp": 0,
        "filter": 100,
    }


ALL_SLACK = Rule.make(Fraction(1), MILLIONTH, slack_share=Fraction(1))
NUMBERS = {"basic": (100, 20, 10), "lecture": (317, 12, 3), "zcdp": (487, 19, 4), "filter": (490, 22, 10)}


def test_as_many_fit_as_the_tests_of_each_rule_say() -> None:
    sizes = [Fraction("0.01"), Fraction("0.05"), Fraction("0.1")]
    for name, counts in NUMBERS.items():
        assert tuple(how_many_fit.how_many(ALL_SLACK, Pure(size))[name] for size in sizes) == counts
    for rule, counts in ((ALL_SLACK, (1948, 77, 19)), (Budget("1", "1e-6").rule(), (1930, 77, 19))):
        assert tuple(how_many_fit.how_many(rule, Exponential(size))["filter"] for size in sizes) == counts


def test_so_many_entries_at_once_are_so_many_one_by_one() -> None:
    loss = whatif.read(TYPED | {"q": "median"}).query.asked_at(Fraction(1, 7)).loss()
    assert how_many_fit._times(History.of([loss]), 7) == History.of([loss] * 7)


def test_the_command_prints_the_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fits"]) == 0
    rows = [line.split()[-3:] for line in capsys.readouterr().out.splitlines()[2:]]
    assert rows == [
        ["0.01", "0.05", "0.1"],
        ["100", "20", "10"],
        ["317", "12", "3"],
        ["487", "19", "4"],
        ["490", "22", "10"],
        ["1948", "77", "19"],
        ["486", "22", "10"],
        ["1930", "77", "19"],
    ]
    assert main(["fits", "--delta", "1"]) == 2 and main([]) == 2
    assert "δ must be at least 0" in capsys.readouterr().err


def test_errors_grow_with_the_root_of_the_questions_and_not_with_their_number() -> None:
    query = whatif.read(TYPED | {"q": "count"}).query
    rule = Budget("1", "1e-6").rule()
    by = {name: dict(whatif.along_questions(rule, query, name)) for name in how_many_fit.ACCOUNTINGS}
    growth = {name: float(curve[1000] / curve[100]) for name, curve in by.items()}
    assert growth["basic"] == pytest.approx(10, rel=0.01)
    for name in ("lecture", "zcdp", "filter"):
        assert growth[name] == pytest.approx(10**0.5, rel=0.03)
    assert all(by["filter"][count] <= by["basic"][count] for count in by["basic"])
    assert by["lecture"][10] > by["basic"][10] and by["lecture"][1000] < by["basic"][1000]


@pytest.mark.every(27)
@pytest.mark.parametrize(("key", "relation"), CASES)
def test_curves_pass_through_the_setting_and_fall(key: str, relation: str) -> None:
    found = solved(key, relation)[1]
    for curve, place, here in (
        (whatif.along_epsilon(found.query), found.query.epsilon, found.promise.figure_for(found.query)),
        (whatif.along_people(found.query), Fraction(found.people), whatif.at_people(found.query)),
    ):
        assert dict(curve)[place] == here
        errors = [error for _, error in curve]
        assert errors == sorted(errors, reverse=True) and errors[0] > errors[-1]


@pytest.mark.parametrize("epsilon", ["0.1", "1", "3"])
def test_no_answer_raises_a_suspicion_further_and_some_answer_that_far(epsilon: str) -> None:
    """Against the exact law of a count on two neighbouring tables, over every answer from −60 to 60."""
    prior, spend = Fraction(1, 10), Fraction(epsilon)
    one, other = Laplace(1, 1 / spend), Laplace(0, 1 / spend)
    after = [
        float(prior) * float(chance(one, z)) / (0.1 * float(chance(one, z)) + 0.9 * float(chance(other, z)))
        for z in range(-60, 61)
    ]
    limit = float(whatif.suspicion(prior, spend))
    assert max(after) <= limit * (1 + 1e-12) and max(after) == pytest.approx(limit, rel=1e-6)
    assert limit == pytest.approx(exp(float(spend)) * 0.1 / (0.9 + exp(float(spend)) * 0.1))


def test_a_suspicion_stays_between_what_it_was_and_certainty() -> None:
    for prior in (Fraction(0), Fraction(1, 100), Fraction(1, 2), Fraction(1)):
        told: list[Fraction] = [whatif.suspicion(prior, Fraction(spend)) for spend in (1, 3, 100)]
        assert prior <= told[0] <= told[1] <= told[2] <= 1


def test_next_true_finds_the_first() -> None:
    found = [whatif.next_true(lambda n, first=first: n >= first, 9) for first in (1, 5, 9, 10)]  # type: ignore[misc]
    assert found == [1, 5, 9, None]


@pytest.mark.parametrize("language", ["en", "sl"])
def test_what_the_theorems_assume_and_leave_out_is_said(language: str) -> None:
    """Lecture 6 fixes k and ε, not the questions."""
    wanted = {
        "en": ("depends on earlier answers", "number k and each ε"),
        "sl": ("odvisno od prejšnjih odgovorov", "število vprašanj k in vsak ε"),
    }[language]
    with speaking(language):
        lecture = say("whatif.way_means.lecture")
        assert wanted[0] in lecture and wanted[1] in lecture
        assert wanted[0] in say("whatif.way_means.zcdp")


# --- two settings side by side


@pytest.mark.every(27)
@pytest.mark.parametrize(("key", "relation"), CASES)
@pytest.mark.parametrize("times", [Fraction(1), Fraction(3), Fraction(1, 3)])
def test_an_accepted_error_takes_what_the_exact_search_finds(key: str, relation: str, times: Fraction) -> None:
    """Two and three figures, rounded up; the number of questions exactly."""
    side = whatif.solve(whatif.read(given(key, relation)))
    wish, query, each = times * side.promise.amount, side.query, side.questions
    found = whatif.at_error(side, wish)
    least = least_epsilon(query.asked_at(LEAST_EPSILON), wish, anew=True)
    if least is None:
        assert found.questions == 0 and found.epsilon is None
    else:
        asked = query.asked_at(least)
        assert asked.promise().amount <= wish
        assert least == LEAST_EPSILON or wish < query.asked_at(least - GRAIN).promise().amount
        rule = side.budget.rule()
        most = found.questions == how_many_fit.MOST
        assert fit(rule, asked, found.questions) and (most or not fit(rule, asked, found.questions + 1))
        allowance = least_allowance(asked, side.budget.delta, each)
        assert (found.epsilon is None) == (allowance is None)
        if allowance and found.epsilon:
            below = Budget(allowance - GRAIN, side.budget.delta)
            assert fit(Budget(allowance, side.budget.delta).rule(), asked, each) and not fit(below.rule(), asked, each)
            alone = History.of([asked.loss()]).epsilon
            assert alone is None or allowance <= each * alone  # never dearer than adding up, where that is possible
            assert allowance <= found.epsilon <= max(allowance * Fraction(102, 100), whatif.THREE_FIGURES[0])

    def enough(people: int) -> bool:
        amount = whatif.amount_for(query, people)
        return amount is not None and amount <= wish

    if not whatif.depends_on_people(query):
        assert found.people is None and found.any_size == (query.promise().amount <= wish)
        return
    people = whatif.next_true(enough, whatif.MOST_TYPED_PEOPLE)
    assert not found.any_size and (found.people is None) == (people is None)
    if people and found.people is not None:
        assert enough(found.people) and not (people > 1 and enough(people - 1))
        assert found.people <= people * Fraction(111, 100) + 1


def least_allowance(query: Query, delta: Fraction, questions: int) -> Fraction | None:
    """The least allowance (in millionths of ε) that holds this question so often, sought without a guess."""
    found = whatif.next_true(
        lambda millionths: fit(Rule.make(millionths * GRAIN, delta), query, questions), 100 * whatif.GRAIN
    )
    return None if found is None else found * GRAIN


def test_at_delta_zero_the_costs_add_up_and_no_gaussian_noise_fits() -> None:
    side = whatif.solve(whatif.read(TYPED | {"q": "count", "k": "50"}))
    some, none = whatif.by_delta(side, side.promise.amount, (Fraction(1, 10**6), Fraction(0)))
    least = side.query.epsilon
    assert none.usual >= side.budget.epsilon // least and none.usual < some.usual
    assert none.noise == "gaussian" and none.with_noise == 0 < some.with_noise
    for at, noise, many in ((some, "", some.usual), (some, "gaussian", some.with_noise), (none, "", none.usual)):
        rule, query = Budget("1", at.delta).rule(), side.query.with_noise(noise)
        epsilon = whatif.least_epsilon(query, side.promise.amount, anew=True)
        assert epsilon is not None and fit(rule, query.asked_at(epsilon), many)
        assert not fit(rule, query.asked_at(epsilon), many + 1)


@pytest.mark.every(9)
@pytest.mark.parametrize(("key", "relation"), CASES)
def test_a_picture_holds_the_promise_and_nothing_random(key: str, relation: str) -> None:
    side = whatif.solve(whatif.read(given(key, relation)))
    drawn = picture(side.query)
    assert drawn == picture(side.query)
    ends = list(zip(drawn.low, drawn.truth, drawn.high, strict=True))
    assert ends and all(low <= truth <= high for low, truth, high in ends)
    smaller = picture(side.query.asked_at(side.query.epsilon * 4))
    assert all(
        b - a <= d - c + 1e-9 for a, b, c, d in zip(smaller.low, smaller.high, drawn.low, drawn.high, strict=True)
    )


def test_the_picture_of_a_median_has_the_values_at_the_promised_ranks() -> None:
    query = whatif.solve(whatif.read(TYPED | {"q": "median", "n": "100000"})).query
    share = float(query.promise().share)
    (low,), (high,) = picture(query).low, picture(query).high
    assert rank_at(low / 600) == pytest.approx(0.5 - share) and rank_at(high / 600) == pytest.approx(0.5 + share)
    assert value_at(rank_at(0.3)) == pytest.approx(0.3)


@pytest.mark.parametrize("key", ["noisy_argmax", "top_item"])
def test_the_picture_of_a_choice_has_the_chances_of_its_law(key: str) -> None:
    query = whatif.solve(whatif.read(TYPED | {"q": key, "n": "3000", "values": "5"})).query
    many, lead = 5, 3000 // LEAD
    law = query.law(tuple(1000 - lead * place for place in range(many)))
    assert law is not None
    exact = sorted((float(chance) for chance in law.chances.values()), reverse=True)
    assert [part / 100 for part in picture(query).truth] == pytest.approx(exact)
