"""What if: four numbers of which any three determine the fourth, from public facts alone. No table is needed or used.

    allowance (ε, δ) · people n · questions k · the accuracy of each answer

The question is the real one: its own `promise` and `loss`, and the filter's own rule, so every number is the one Ask
would show. With e the ε of one question,

    k fits           the filter admits k releases of loss(e);
    the wish holds   promise(n, e) ≤ wish.

A promise never grows with e or with n, and a price never falls with e, so each of the four is found by bisection: the
most e that k questions may take, the least e that keeps a wish, the least allowance for k, the least n for a wish.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from dpengine.accountant import filter, how_many_fit
from dpengine.accountant.budget import MOST_EPSILON as MOST_ALLOWANCE
from dpengine.accountant.budget import Budget
from dpengine.accountant.costs import cost
from dpengine.accountant.filter import Rule, Totals
from dpengine.accountant.history import History
from dpengine.asking.answers import round_up_two
from dpengine.core.amounts import LEAST_EPSILON, MOST_EPSILON
from dpengine.core.errors import AllowanceError
from dpengine.core.exact import ceiling, up
from dpengine.declared.facts import Facts
from dpengine.mechanisms.least_epsilon import least_epsilon
from dpengine.mechanisms.promises import Promise
from dpengine.mechanisms.query import AnyQuery
from dpengine.messages import say
from dpengine.planning.whatif_asked import UNNAMED, about, number, offered, question, whole

FIND = ("promise", "epsilon", "people", "questions")
MOST_PEOPLE = 10**12
PLACEHOLDER = 10**6  # people, while their number is sought
GRAIN = 10**6  # ε is found to a millionth


@dataclass(frozen=True)
class Setting:
    """Three of the four numbers and a question; the fourth, named by `find`, holds a placeholder."""

    find: str
    query: AnyQuery
    budget: Budget
    questions: int
    wish: Fraction
    of_all: bool = False  # the wish is a share of all people, and the promise a number of them


@dataclass(frozen=True)
class Solved:
    """All four. `query` is one of the questions, at its own ε and number of people."""

    find: str
    query: AnyQuery
    budget: Budget
    questions: int
    any_size: bool = False  # the promise is the same for any number of people

    @property
    def promise(self) -> Promise:
        return self.query.promise()

    @property
    def useful(self) -> bool:
        return self.promise.amount <= self.query.coarse()

    @property
    def people(self) -> int:
        return self.query.facts.about

    def used(self, questions: int) -> Fraction:
        """The share of a fresh allowance that this many of these questions take."""
        rule = self.budget.rule()
        paid = cost(self.query.loss(), rule.alpha)
        epsilon = None if paid.epsilon is None else questions * paid.epsilon
        return filter.used(rule, Totals(epsilon, questions * paid.renyi, questions * paid.delta))


# --- reading what was typed -------------------------------------------------------------------------------------------


def read(given: Mapping[str, str], facts: Facts | None = None) -> Setting:
    """From texts, as a URL or a form holds them; `facts` are those of an open table, or None: then they are typed
    too. A wish typed with “%” where the error is a number of people is a share of all of them."""
    key, find = given["q"], given["find"]
    if key not in offered() or find not in FIND:
        raise AllowanceError("query.unknown", key=key[:60], keys=list(offered()))
    people = PLACEHOLDER if find == "people" else whole(given["n"], "people", MOST_PEOPLE)
    questions = 1 if find == "questions" else whole(given["k"], "questions", how_many_fit.MOST)
    allowance = Fraction(1) if find == "epsilon" else number(given["e"], say("whatif.field.epsilon"))
    if not 0 < allowance <= MOST_ALLOWANCE:
        raise AllowanceError("whatif.epsilon_range", most=MOST_ALLOWANCE)
    budget = Budget(allowance, number(given["d"], "δ"))
    query = question(about(given, people, facts), key, given, budget)
    wish, of_all = Fraction(0), False
    if find != "promise":
        wish = number(given["x"], say("whatif.field.promise"))
        if wish < 0:
            raise AllowanceError("whatif.wish_range")
        promise = query.promise()
        of_all = promise.whole and given["x"].strip().endswith("%")
        wish = wish / 100 if of_all else promise.amount_of(wish, query)
        if of_all and find != "people":
            wish, of_all = wish * people, False
    return Setting(find, query, budget, questions, wish, of_all)


# --- solving ----------------------------------------------------------------------------------------------------------


def solve(setting: Setting) -> Solved:
    """The fourth number; refused in one sentence, with what would be needed, where there is none."""
    query, budget, questions = setting.query, setting.budget, setting.questions
    if setting.find == "epsilon":
        least = least_epsilon(query, setting.wish, anew=True)
        if least is None:
            raise _out_of_reach(query.asked_at(MOST_EPSILON), MOST_EPSILON, setting.wish)
        allowance = least_allowance(query.asked_at(least), budget.delta, questions)
        if allowance is None:
            raise AllowanceError("whatif.beyond", most=MOST_ALLOWANCE)
        return Solved("epsilon", query.asked_at(least), Budget(allowance, budget.delta), questions)
    rule = budget.rule()
    if setting.find == "questions":
        best = most_each(rule, query, 1) or LEAST_EPSILON
        least = least_epsilon(query, setting.wish, best, anew=True)
        if least is None:
            raise _out_of_reach(query.asked_at(best), budget.epsilon, setting.wish)
        fitting = how_many_fit.how_many(rule, query.asked_at(least).loss())["filter"]
        return Solved("questions", query.asked_at(least), budget, fitting)
    epsilon = most_each(rule, query, questions)
    if epsilon is None:
        most = how_many_fit.how_many(rule, query.asked_at(LEAST_EPSILON).loss())["filter"]
        raise AllowanceError("whatif.too_many", epsilon=budget.epsilon, most=most)
    query = query.asked_at(epsilon)
    if setting.find == "promise":
        return Solved("promise", query, budget, questions)
    any_size = not depends_on_people(query)
    if setting.of_all:
        people, any_size = least_people(query, setting.wish, of_all=True), False
    else:
        people = least_people(query, setting.wish)
    if people is None:
        raise _unreached(query, setting, any_size)
    if any_size:  # then the number of people from which the answer says something
        people = next_true(lambda n: with_people(query, n).coarse() >= query.promise().amount, MOST_PEOPLE) or 1
    return Solved("people", with_people(query, people), budget, questions, any_size)


def most_each(rule: Rule, query: AnyQuery, questions: int, accounting: str = "filter") -> Fraction | None:
    """The largest ε (in millionths) that each of `questions` questions may take; None if even the least is too much."""

    def fit(grains: int) -> bool:
        return how_many_fit.holds(accounting, rule, query.asked_at(Fraction(grains, GRAIN)).loss(), questions)

    least = int(LEAST_EPSILON * GRAIN)
    return Fraction(how_many_fit.largest(fit, least, int(MOST_EPSILON * GRAIN)), GRAIN) if fit(least) else None


def least_allowance(query: AnyQuery, delta: Fraction, questions: int) -> Fraction | None:
    """The least allowance (in millionths of ε) into which this question fits `questions` times; None above the largest.

    Basic composition allows it, where there is a finite ε, so it is at most the sum of their ε.
    """
    loss, most = query.loss(), int(MOST_ALLOWANCE * GRAIN)
    alone = History.of([loss]).epsilon
    high = most if alone is None else min(ceiling(alone * questions * GRAIN), most)
    millionths = next_true(lambda grains: how_many_fit.holds("filter", _rule(grains, delta), loss, questions), high)
    return None if millionths is None else Fraction(millionths, GRAIN)


def _rule(grains: int, delta: Fraction) -> Rule:
    return Rule.make(Fraction(grains, GRAIN), delta)


def least_people(query: AnyQuery, wish: Fraction, of_all: bool = False) -> int | None:
    """A number of people for whom the answer is as accurate as wished, while for one fewer it is not; None if no number
    is enough. Promises fall with the people but for steps of a whole person, so it is the least, or next to it."""

    def enough(people: int) -> bool:
        amount = amount_for(query, people)
        return amount is not None and (amount / people if of_all else amount) <= wish

    return next_true(enough, MOST_PEOPLE)


def amount_for(query: AnyQuery, people: int) -> Fraction | None:
    """The size of the promise for so many people; None where they are too few to ask it of."""
    try:
        return with_people(query, people).promise().amount
    except AllowanceError:
        return None


def next_true(true: Callable[[int], bool], high: int) -> int | None:
    """The least number from 1 to `high` for which `true` holds, if it stays true from there on; None if there is
    none."""
    if not true(high):
        return None
    return 1 + how_many_fit.largest(lambda n: n == 0 or not true(n), 0, high - 1)


def depends_on_people(query: AnyQuery) -> bool:
    return amount_for(query, 1) != amount_for(query, MOST_PEOPLE)


def with_people(query: AnyQuery, people: int) -> AnyQuery:
    """The same question of a table of another size."""
    return query.of_size(people)


def _unreached(query: AnyQuery, setting: Setting, any_size: bool) -> AllowanceError:
    """The refusal where no number of people is enough: because the promise has a limit of its own, such as a number of
    steps; because it is the same at any size; or because the allowance is too small."""
    best = with_people(query, MOST_PEOPLE).asked_at(MOST_EPSILON)
    if not setting.of_all and best.promise().amount > setting.wish:
        return AllowanceError("whatif.people_limit", limit=best.promise().unnamed(UNNAMED).size_for(best))
    return _no_help(query, setting) if any_size else AllowanceError("whatif.people_far")


def _no_help(query: AnyQuery, setting: Setting) -> AllowanceError:
    """The refusal where no number of people is enough: it says which allowance would be, and how many questions fit."""
    least = least_epsilon(query, setting.wish, anew=True)
    if least is None:
        return AllowanceError("whatif.people_no_help")
    allowance = least_allowance(query.asked_at(least), setting.budget.delta, setting.questions)
    fit = how_many_fit.how_many(setting.budget.rule(), query.asked_at(least).loss())["filter"]
    if allowance is None:
        return AllowanceError("whatif.people_no_help")
    code = "whatif.people_but_questions" if fit else "whatif.people_but_epsilon"
    return AllowanceError(code, needed=float(up(allowance, 100)), fit=fit)


def _out_of_reach(best: AnyQuery, epsilon: Fraction, wish: Fraction) -> AllowanceError:
    """The refusal where even the whole allowance for one question is not enough: it says what would be."""
    people = least_people(best, wish) if depends_on_people(best) else None
    least = least_epsilon(best, wish, anew=True)
    facts = {"epsilon": epsilon, "people": best.facts.about}
    if people is not None:
        return AllowanceError("whatif.need_people", needed=round_up_two(Fraction(people)), **facts)
    if least is not None:
        return AllowanceError("whatif.need_epsilon", needed=float(least), **facts)
    return AllowanceError("whatif.need_less", **facts)
