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
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

from dpengine.accountant import filter, how_many_fit
from dpengine.accountant.budget import MOST_EPSILON as MOST_ALLOWANCE
from dpengine.accountant.budget import Budget
from dpengine.accountant.costs import cost
from dpengine.accountant.filter import Rule, Totals
from dpengine.asking.answers import round_up_two
from dpengine.core.amounts import LEAST_EPSILON, MOST_EPSILON
from dpengine.core.errors import AllowanceError
from dpengine.core.exact import ceiling, read_typed, up
from dpengine.declared.facts import Facts
from dpengine.declared.schema import Category, ItemSet, Number, Schema
from dpengine.declared.unit import Unit, read_relation
from dpengine.mechanisms import asked_on, catalogue
from dpengine.mechanisms.least_epsilon import least_epsilon
from dpengine.mechanisms.promises import Promise
from dpengine.mechanisms.query import AnyQuery
from dpengine.mechanisms.sums.vector_mean import MOST_COLUMNS, VectorMean
from dpengine.messages import say
from dpengine.messages.language import stored

FIND = ("promise", "epsilon", "people", "questions")
MOST_PEOPLE = 10**12
MOST_VALUES = 10_000
GRAIN = 10**6  # ε is found to a millionth
UNNAMED = "range"  # the column of numbers that a person describes by its range
COLUMNS = "columns.number"  # several columns alike, of which their number is typed too
_TYPED = {  # what a person types in place of a column, and the column it becomes
    "column.number": UNNAMED,
    "column.ordered": UNNAMED,
    "column.listed": "values",
    "column.any": "values",
    COLUMNS: UNNAMED,
}


def offered() -> tuple[str, ...]:
    """The questions about people for which only a column's public size matters. Curves are left to the page Ask."""
    return asked_on("whatif")


def typed(key: str) -> set[str]:
    """Which public facts a person must type for a question: “range”, “values”, “share”, “columns”."""
    kinds = {parameter.kind for parameter in catalogue[key].card.parameters}
    several = {"columns"} if COLUMNS in kinds else set()
    return {_TYPED[kind] for kind in kinds & _TYPED.keys()} | kinds & {"share"} | several


@dataclass(frozen=True)
class Setting:
    """Three of the four numbers and a question; the fourth, named by `find`, holds a placeholder."""

    find: str
    query: AnyQuery
    budget: Budget
    questions: int
    wish: Fraction


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


def number(text: str, name: str) -> Fraction:
    """Reads “1,000”, “0.1” and “5 %” as a URL holds them: in English notation."""
    with stored():
        return read_typed(text, name, "%")


def whole(text: str, field: str, most: int, least: int = 1) -> int:
    name = say(f"whatif.field.{field}")
    value = number(text, name)
    if value.denominator != 1 or not least <= value <= most:
        raise AllowanceError("whatif.whole", name=name, least=least, most=most)
    return int(value)


def read(given: Mapping[str, str], facts: Facts | None = None) -> Setting:
    """From texts, as a URL or a form holds them; `facts` are those of an open table, or None: then they are typed
    too."""
    key, find = given["q"], given["find"]
    if key not in offered() or find not in FIND:
        raise AllowanceError("query.unknown", key=key[:60], keys=list(offered()))
    people = 1 if find == "people" else whole(given["n"], "people", MOST_PEOPLE)
    questions = 1 if find == "questions" else whole(given["k"], "questions", how_many_fit.MOST)
    allowance = Fraction(1) if find == "epsilon" else number(given["e"], say("whatif.field.epsilon"))
    if not 0 < allowance <= MOST_ALLOWANCE:
        raise AllowanceError("whatif.epsilon_range", most=MOST_ALLOWANCE)
    budget = Budget(allowance, number(given["d"], "δ"))
    about = made_up(given, people) if facts is None else replace(facts, about=people)
    query = question(about, key, given)
    wish = Fraction(0)
    if find != "promise":
        wish = number(given["x"], say("whatif.field.promise"))
        if wish < 0:
            raise AllowanceError("whatif.wish_range")
        wish = query.promise().amount_of(wish)
    return Setting(find, query, budget, questions, wish)


def made_up(given: Mapping[str, str], people: int) -> Facts:
    """The facts of a made-up table with one number and one list, of which only the sizes are known."""
    needed = typed(given["q"])
    ends = (Fraction(0), Fraction(1), Fraction(1))
    if "range" in needed:
        lower, upper, step = (number(given[name], say(f"whatif.field.{name}")) for name in ("low", "high", "step"))
        ends = (lower, upper, step)
    values = whole(given["values"], "values", MOST_VALUES, 2) if "values" in needed else 2
    return _facts(read_relation(given["relation"]), people, ends, given["full"] == "yes", values)


@lru_cache(maxsize=64)
def _facts(relation: str, people: int, ends: tuple[Fraction, ...], full: bool, values: int) -> Facts:
    names = [str(place) for place in range(1, values + 1)]
    lower, upper, step = ends
    schema = Schema(
        {
            "range": Number(lower, upper, step=step, missing=lower if full else None),
            "values": Category(names, unknown=names[0], missing=names[0]),
        }
    )
    return Facts("", schema, Unit.rows(), read_relation(relation), people)


def question(facts: Facts, key: str, given: Mapping[str, str]) -> AnyQuery:
    """The real question, at a placeholder ε. If it needs a condition, any will do: no promise depends on it."""
    parameters: dict[str, object] = {"epsilon": LEAST_EPSILON, "beta": given.get("beta")}
    kinds = {parameter.kind: parameter for parameter in catalogue[key].card.parameters}
    for kind, parameter in kinds.items():
        if kind in _TYPED:
            column = given.get("column") or _TYPED[kind]
            parameters |= {"columns": [column]} if kind == COLUMNS else {"column": column}
        elif kind == "share":
            parameters["share"] = number(given["share"], say("whatif.field.share")) / 100
        elif kind == "of":
            parameters["of"] = _some(facts.schema)
        elif kind in ("people", "switch"):
            parameters[parameter.name] = parameter.default
    if "bins" in kinds and isinstance(facts.schema.columns.get(str(parameters["column"])), Number):
        parameters["bins"] = whole(given["values"], "values", MOST_VALUES, 2)
    if "of" not in kinds and not kinds.keys() & _TYPED.keys():
        parameters["where"] = _some(facts.schema)
    beta = parameters["beta"]
    parameters["beta"] = number(str(beta), say("whatif.field.beta")) if beta not in (None, "") else None
    query = catalogue[key].build(facts, parameters)
    return query.of_width(whole(given["columns"], "columns", MOST_COLUMNS)) if isinstance(query, VectorMean) else query


def _some(schema: Schema) -> list[list[object]]:
    """A condition on the first list, else on the first column."""
    lists = [*schema.of_kind(Category), *schema.of_kind(ItemSet)]
    name = lists[0] if lists else next(iter(schema.columns))
    column = schema[name]
    if isinstance(column, (Category, ItemSet)):
        return [[name, "in" if isinstance(column, Category) else "has", [column.value(0)]]]
    return [[name, ">=", column.value(column.size // 2)]]


# --- solving ----------------------------------------------------------------------------------------------------------


def solve(setting: Setting) -> Solved:
    """The fourth number; refused in one sentence, with what would be needed, where there is none."""
    query, budget, questions = setting.query, setting.budget, setting.questions
    if setting.find == "epsilon":
        least = least_epsilon(query, setting.wish)
        if least is None:
            raise _out_of_reach(query.at(MOST_EPSILON), MOST_EPSILON, setting.wish)
        allowance = least_allowance(query.at(least), budget.delta, questions)
        if allowance is None:
            raise AllowanceError("whatif.beyond", most=MOST_ALLOWANCE)
        return Solved("epsilon", query.at(least), Budget(allowance, budget.delta), questions)
    rule = budget.rule()
    if setting.find == "questions":
        best = most_each(rule, query, 1) or LEAST_EPSILON
        least = least_epsilon(query, setting.wish, best)
        if least is None:
            raise _out_of_reach(query.at(best), budget.epsilon, setting.wish)
        fitting = how_many_fit.how_many(rule, query.at(least).loss())["filter"]
        return Solved("questions", query.at(least), budget, fitting)
    epsilon = most_each(rule, query, questions)
    if epsilon is None:
        most = how_many_fit.how_many(rule, query.at(LEAST_EPSILON).loss())["filter"]
        raise AllowanceError("whatif.too_many", epsilon=budget.epsilon, most=most)
    query = query.at(epsilon)
    if setting.find == "promise":
        return Solved("promise", query, budget, questions)
    people, any_size = least_people(query, setting.wish), not depends_on_people(query)
    if people is None:
        raise _no_help(query, setting) if any_size else AllowanceError("whatif.people_far")
    if any_size:  # then the number of people from which the answer says something
        people = next_true(lambda n: with_people(query, n).coarse() >= query.promise().amount, MOST_PEOPLE) or 1
    return Solved("people", with_people(query, people), budget, questions, any_size)


def most_each(rule: Rule, query: AnyQuery, questions: int, accounting: str = "filter") -> Fraction | None:
    """The largest ε (in millionths) that each of `questions` questions may take; None if even the least is too much."""

    def fit(grains: int) -> bool:
        return how_many_fit.holds(accounting, rule, query.at(Fraction(grains, GRAIN)).loss(), questions)

    least = int(LEAST_EPSILON * GRAIN)
    return Fraction(how_many_fit.largest(fit, least, int(MOST_EPSILON * GRAIN)), GRAIN) if fit(least) else None


def least_allowance(query: AnyQuery, delta: Fraction, questions: int) -> Fraction | None:
    """The least allowance (in millionths of ε) into which this question fits `questions` times.

    Basic composition always allows it, so it is at most the sum of their ε.
    """
    high = ceiling(query.epsilon * questions * GRAIN)
    millionths = (
        next_true(lambda grains: how_many_fit.holds("filter", _rule(grains, delta), query.loss(), questions), high)
        or high
    )
    return Fraction(millionths, GRAIN) if millionths <= MOST_ALLOWANCE * GRAIN else None


def _rule(grains: int, delta: Fraction) -> Rule:
    return Rule.make(Fraction(grains, GRAIN), delta)


def least_people(query: AnyQuery, wish: Fraction) -> int | None:
    """The least number of people for whom the answer is as accurate as wished; None if no number is enough."""
    return next_true(lambda n: with_people(query, n).promise().amount <= wish, MOST_PEOPLE)


def next_true(true: Callable[[int], bool], high: int) -> int | None:
    """The least number from 1 to `high` for which `true` holds, if it stays true from there on; None if there is
    none."""
    if not true(high):
        return None
    return 1 + how_many_fit.largest(lambda n: n == 0 or not true(n), 0, high - 1)


def depends_on_people(query: AnyQuery) -> bool:
    return with_people(query, 1).promise().amount != with_people(query, MOST_PEOPLE).promise().amount


def with_people(query: AnyQuery, people: int) -> AnyQuery:
    """The same question of a table of another size."""
    return replace(query, facts=replace(query.facts, about=people))


def _no_help(query: AnyQuery, setting: Setting) -> AllowanceError:
    """The refusal where no number of people is enough: it says which allowance would be, and how many questions fit."""
    least = least_epsilon(query, setting.wish)
    if least is None:
        return AllowanceError("whatif.people_no_help")
    allowance = least_allowance(query.at(least), setting.budget.delta, setting.questions)
    fit = how_many_fit.how_many(setting.budget.rule(), query.at(least).loss())["filter"]
    if allowance is None:
        return AllowanceError("whatif.people_no_help")
    code = "whatif.people_but_questions" if fit else "whatif.people_but_epsilon"
    return AllowanceError(code, needed=float(up(allowance, 100)), fit=fit)


def _out_of_reach(best: AnyQuery, epsilon: Fraction, wish: Fraction) -> AllowanceError:
    """The refusal where even the whole allowance for one question is not enough: it says what would be."""
    people = least_people(best, wish) if depends_on_people(best) else None
    least = least_epsilon(best, wish)
    facts = {"epsilon": epsilon, "people": best.facts.about}
    if people is not None:
        return AllowanceError("whatif.need_people", needed=round_up_two(Fraction(people)), **facts)
    if least is not None:
        return AllowanceError("whatif.need_epsilon", needed=float(least), **facts)
    return AllowanceError("whatif.need_less", **facts)
