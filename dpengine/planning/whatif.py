"""What if: four numbers, any three of which determine the last, from public facts alone. No table is needed or used.

    allowance (ε, δ) · people n · questions k · the accuracy of each answer

The question is the real one: its own `promise` and `loss`, and the filter's own rule, so every number is the one Ask
would show. With e the ε of one question,

    k fits           the filter admits k releases of loss(e);
    the wish holds   promise(n, e) ≤ wish.

A promise never grows with e or with n, and a price never falls with e. So bisection finds the most e that k questions
may take (`solve`), and for a wished accuracy the least e, the least allowance for k and the least n (`at_error`).

**Questions.** A question says on its card that public sizes are enough for it (`asked_on` has “whatif”), and its
parameters say which: a range of numbers, the length of a list, how many columns, options, features or questions of a
session. They declare a made-up table, and the question is built on it as its own page would build it. For every other
question one sentence says why not.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, lru_cache, partial
from typing import TypeVar

import numpy as np

from dpengine.accountant import compositions, filter, how_many_fit
from dpengine.accountant.costs import cost
from dpengine.accountant.filter import MOST_EPSILON as MOST_ALLOWANCE
from dpengine.accountant.filter import Budget, Rule, Totals
from dpengine.accountant.history import History
from dpengine.asking.answers import round_up_two
from dpengine.core.amounts import LEAST_EPSILON, MOST_EPSILON
from dpengine.core.errors import AllowanceError
from dpengine.core.exact import ceiling, exp_decimal, first_true, read_typed, up
from dpengine.core.remembered import largest, remembered
from dpengine.declared.facts import Facts
from dpengine.declared.schema import Category, Column, ItemSet, Number, Schema
from dpengine.declared.unit import Unit, read_relation
from dpengine.mechanisms import asked_on, catalogue
from dpengine.mechanisms.card import Parameter
from dpengine.mechanisms.choices.median import Median
from dpengine.mechanisms.choices.noisy_argmax import MOST_OPTIONS
from dpengine.mechanisms.least_epsilon import least_epsilon
from dpengine.mechanisms.models.excess import COORDINATE
from dpengine.mechanisms.models.of_gradients import OfGradients
from dpengine.mechanisms.promises import Promise
from dpengine.mechanisms.query import AnyQuery
from dpengine.mechanisms.session.adaptive_session import AdaptiveSession
from dpengine.mechanisms.sums.vector_mean import MOST_COLUMNS, VectorMean
from dpengine.mechanisms.synthetic.of_class import MOST_COLUMNS as MOST_LISTS
from dpengine.mechanisms.synthetic.of_class import OfClass
from dpengine.messages import known, say
from dpengine.messages.language import stored
from dpengine.noise.coins import SystemCoins
from dpengine.planning import lecture_curves
from dpengine.population import people_needed, session_validity
from dpengine.population.noise_for_k import MOST_ANSWERS, MOST_PEOPLE
from dpengine.population.validity import Width, split
from dpengine.statistics.counts import Distribution
from dpengine.statistics.features import MOST_WIDE

STEPS = 12  # points for each power of ten on a log axis
MOST_IMAGINED = 10_000  # people in a simulation
MOST_TYPED_PEOPLE = 10**12
GRAIN = 10**6  # ε is found to a millionth
Value = TypeVar("Value", int, Fraction)


@dataclass(frozen=True)
class Setting:
    """A question, an allowance, and how many such questions the allowance must pay for. Once the setting is solved,
    `query` is at the ε that each of the questions may take."""

    query: AnyQuery
    budget: Budget
    questions: int

    @cached_property
    def promise(self) -> Promise:
        return self.query.promise()

    @property
    def useful(self) -> bool:
        return self.promise.amount <= self.query.coarse()

    @property
    def people(self) -> int:
        return self.query.facts.about


def _used(rule: Rule, query: AnyQuery, questions: int) -> Fraction:
    paid = cost(query.loss(), rule.alpha)
    epsilon = None if paid.epsilon is None else questions * paid.epsilon
    return filter.used(rule, Totals(epsilon, questions * paid.renyi, questions * paid.delta))


def read(given: Mapping[str, str], facts: Facts | None = None) -> Setting:
    """The setting that texts from a URL or a form describe. `facts`: of the open table; if None, the texts describe a
    table too."""
    key = given["q"]
    if key not in offered():
        raise AllowanceError("query.unknown", key=key[:60], keys=list(offered()))
    people = read_whole_field(given["n"], "people", MOST_TYPED_PEOPLE)
    questions = read_whole_field(given["k"], "questions", how_many_fit.MOST)
    allowance = read_number_field(given["e"], say("whatif.field.epsilon"))
    if not 0 < allowance <= MOST_ALLOWANCE:
        raise AllowanceError("whatif.epsilon_range", most=MOST_ALLOWANCE)
    budget = Budget(allowance, read_number_field(given["d"], "δ"))
    return Setting(question(about_question(given, people, facts), key, given, budget), budget, questions)


@remembered(512)
def solve(setting: Setting) -> Setting:
    """The setting with its question at the largest ε that each question may take. Refused if even the least ε is too
    much, in one sentence with how many questions the allowance would pay for."""
    query, budget, rule = setting.query, setting.budget, setting.budget.rule()
    epsilon = most_each(rule, query, setting.questions)
    if epsilon is None:
        most = how_many_fit.fitting(rule, query.asked_at(LEAST_EPSILON).loss())
        raise AllowanceError("whatif.too_many", epsilon=budget.epsilon, most=most)
    return replace(setting, query=query.asked_at(epsilon))


@dataclass(frozen=True)
class AtError:
    """What an accepted error allows or takes, each number with the setting's other numbers; None if nothing is
    enough."""

    questions: int
    people: int | None  # to two figures, rounded up
    any_size: bool  # the error is the same for any number of people
    epsilon: Fraction | None  # the allowance, to three figures, rounded up


@remembered(512)
def at_error(solved: Setting, wish: Fraction) -> AtError:
    """What the accepted error `wish` allows or takes: how many questions, how many people and which allowance. The
    numbers lie on grids of two and three figures, for a page that is drawn again at every move of a slider."""
    query, rule, each = solved.query, solved.budget.rule(), solved.questions
    guess = query.epsilon * solved.promise.amount / wish if wish else None
    least = least_epsilon(query.asked_at(LEAST_EPSILON), wish, anew=True, near=guess)
    fit = 0 if least is None else how_many_fit.fitting(rule, query.asked_at(least).loss())
    allowance = None
    if least is not None:
        near = solved.budget.epsilon * least / query.epsilon
        allowance = _least_of(THREE_FIGURES, _holding(query.asked_at(least), solved.budget.delta, each), near)

    def enough(people: int) -> bool:
        amount = amount_for(query, people)
        return amount is not None and amount <= wish

    any_size = not depends_on_people(query)
    near_people = Fraction(solved.people) * solved.promise.amount / wish if wish else Fraction(1)
    people = None if any_size else _least_of(TWO_FIGURES, enough, min(ceiling(near_people), MOST_TYPED_PEOPLE))
    return AtError(fit, people, any_size and solved.promise.amount <= wish, allowance)


def comparable(first: Setting, other: Setting) -> bool:
    """Do the promises of the two settings have the same kind and unit, under the same relation?"""
    units = [(solved.promise.kind, solved.promise.unit, solved.query.facts.relation) for solved in (first, other)]
    return units[0] == units[1] and depends_on_people(first.query) == depends_on_people(other.query)


@dataclass(frozen=True)
class AtDelta:
    """How many questions with some error an allowance pays for at one δ."""

    delta: Fraction
    usual: int  # with the usual noise
    noise: str  # the best of the kinds of noise that need a δ; "" if there is none
    with_noise: int


@remembered(256)
def by_delta(solved: Setting, wish: Fraction, deltas: tuple[Fraction, ...]) -> tuple[AtDelta, ...]:
    """What δ does: at each of `deltas`, how many questions with the error `wish` an allowance of the same ε pays for.
    Gaussian noise has no finite ε, so an allowance without δ pays for none of it."""
    query = solved.query.asked_at(LEAST_EPSILON)
    needing = [noise for noise in query.noises if History.of([query.with_noise(noise).loss()]).epsilon is None]
    guess = solved.query.epsilon * solved.promise.amount / wish if wish else None
    ways = {noise: least_epsilon(query.with_noise(noise), wish, anew=True, near=guess) for noise in ("", *needing)}
    losses = {noise: query.with_noise(noise).asked_at(least).loss() for noise, least in ways.items() if least}
    needing = [noise for noise in needing if noise in losses]
    rows = []
    for delta in deltas:
        rule = Rule.make(solved.budget.epsilon, delta)
        fit = {noise: how_many_fit.fitting(rule, loss) for noise, loss in losses.items()}
        best = max(needing, key=lambda noise: fit[noise], default="")
        rows.append(AtDelta(delta, fit.get("", 0), best, fit[best] if best else 0))
    return tuple(rows)


def _holding(query: AnyQuery, delta: Fraction, questions: int) -> Callable[[Fraction], bool]:
    """A function of ε: does the allowance (ε, `delta`) admit this many such questions?"""
    loss = query.loss()
    return lambda epsilon: how_many_fit.holds("filter", Rule.make(epsilon, delta), loss, questions)


def _least_of(values: Sequence[Value], true: Callable[[Value], bool], near: Value) -> Value | None:
    """The least of the rising `values` for which the test `true` holds, and for all later ones; the search begins near
    `near`. None if the test holds for none."""
    start = bisect_left(values, near)
    short = largest(lambda at: at < 0 or not true(values[at]), -1, len(values) - 1, near=lambda: start - 1)
    return values[short + 1] if short + 1 < len(values) else None


TWO_FIGURES = tuple(sorted({figure * 10**power for power in range(11) for figure in range(10, 100)} | {*range(1, 10)}))
THREE_FIGURES = tuple(Fraction(figure, 10**power) for power in (5, 4, 3, 2, 1) for figure in range(100, 1000))


def most_each(rule: Rule, query: AnyQuery, questions: int, accounting: str = "filter") -> Fraction | None:
    """The largest ε (in millionths) that each of `questions` questions may take; None if even the least is too much."""

    def fit(grains: int) -> bool:
        return how_many_fit.holds(accounting, rule, query.asked_at(Fraction(grains, GRAIN)).loss(), questions)

    least = int(LEAST_EPSILON * GRAIN)
    if not fit(least):
        return None
    near = partial(_guess, rule, query, questions) if accounting == "filter" else None
    return Fraction(largest(fit, least, int(MOST_EPSILON * GRAIN), near=near), GRAIN)


def _guess(rule: Rule, query: AnyQuery, questions: int) -> int:
    """Where the search of `most_each` begins, in millionths: the used share grows like ε, or like the square of ε."""
    epsilon = min(max(rule.epsilon / questions, LEAST_EPSILON), MOST_EPSILON)
    for _ in range(4):
        used = _used(rule, query.asked_at(epsilon), questions)
        if not used:
            break
        better = float(epsilon) / math.sqrt(used) if rule.c is not None else float(epsilon / used)
        epsilon = min(max(Fraction(round(better * GRAIN), GRAIN), LEAST_EPSILON), MOST_EPSILON)
    return int(epsilon * GRAIN)


def amount_for(query: AnyQuery, people: int) -> Fraction | None:
    """The promised error with this many people; None if they are too few for the question."""
    try:
        return query.of_size(people).promise().amount
    except AllowanceError:
        return None


def next_true(true: Callable[[int], bool], high: int) -> int | None:
    """The least number from 1 to `high` for which the test `true` holds, and for all larger ones; None if there is
    none."""
    found = first_true(true, 1, high + 1)
    return found if found <= high else None


@remembered(512)
def depends_on_people(query: AnyQuery) -> bool:
    return amount_for(query, 1) != amount_for(query, MOST_TYPED_PEOPLE)


# The question and its made-up table.

MOST_VALUES = 10_000
MOST_ASKS = 10_000
UNNAMED = "range"  # the column of numbers that a person describes by its range
LIST = "values"
_COLUMN = {  # one column of the open table, or its typed size
    "column.number": UNNAMED,
    "column.ordered": UNNAMED,
    "columns.curve": UNNAMED,
    "columns.number": UNNAMED,
    "column.listed": LIST,
    "column.any": LIST,
}
_SIZES = {  # without a single column: always typed
    "columns": ("lists", "values"),
    "options": ("options",),
    "columns.features": ("features",),
    "column.target.number": ("range",),
    "column.target.category": (),
}
_LIMITS = {  # the least and the most of a typed size
    "values": (2, MOST_VALUES),
    "lists": (1, MOST_LISTS),
    "columns": (1, MOST_COLUMNS),
    "options": (2, MOST_OPTIONS),
    "features": (1, MOST_WIDE - 1),
    "asks": (1, MOST_ASKS),
}


def offered() -> tuple[str, ...]:
    """The questions that depend on public sizes only."""
    return asked_on("whatif")


def why_not(key: str) -> str:
    """Why a question is not offered, in one sentence."""
    if key in offered():
        return ""
    card = catalogue[key].card
    code = f"whatif.elsewhere.{'trust' if card.behind else card.asked_on[-1]}"
    return say(code if known(code) else "whatif.elsewhere.other")


def typed(key: str) -> set[str]:
    """The names of the public facts that a form must ask for: “range”, “values”, “share”, and other sizes."""
    needed: set[str] = set()
    for parameter in catalogue[key].card.parameters:
        if parameter.kind in _COLUMN:
            needed.add(_COLUMN[parameter.kind])
        elif parameter.kind == "share":
            needed.add("share")
        elif _counted(parameter):
            needed.add("asks")
        if parameter.kind == "columns.number":  # several alike
            needed.add("columns")
        needed |= {*_SIZES.get(parameter.kind, ())}
    return needed


def sized(key: str) -> bool:
    """Is the question described by sizes alone, even for an open table?"""
    return any(parameter.kind in _SIZES or _counted(parameter) for parameter in catalogue[key].card.parameters)


def _counted(parameter: Parameter) -> bool:
    """Is this parameter a required number, such as how many questions a session has?"""
    return parameter.kind == "number" and parameter.required


def read_number_field(text: str, name: str) -> Fraction:
    """“1,000”, “0.1” or “5 %” from a URL, in English notation."""
    with stored():
        return read_typed(text, name, "%")


def read_whole_field(text: str, field: str, most: int, least: int = 1) -> int:
    name = say(f"whatif.field.{field}")
    value = read_number_field(text, name)
    if value.denominator != 1 or not least <= value <= most:
        raise AllowanceError("whatif.whole", name=name, least=least, most=most)
    return int(value)


def size(given: Mapping[str, str], name: str) -> int:
    least, most = _LIMITS[name]
    return read_whole_field(given[name], name, most, least)


def made_up(given: Mapping[str, str], people: int) -> Facts:
    """The facts of a made-up table. The form's values `given` say its relation, number of people, sizes and range."""
    needed = typed(given["q"])
    ends: tuple[Fraction, ...] = (Fraction(0), Fraction(1), Fraction(1))
    if "range" in needed:
        names = ("low", "high", "step")
        ends = tuple(read_number_field(given[name], say(f"whatif.field.{name}")) for name in names)
    sizes = {name: size(given, name) for name in ("values", "lists", "options", "features") if name in needed}
    labels = sizes.get("options") or sizes.get("values", 2)
    full = given["full"] == "yes" or "features" in needed
    counts = (labels, sizes.get("lists", 0), sizes.get("features", 0))
    return _facts(read_relation(given["relation"]), people, ends, full, counts)


@lru_cache(maxsize=64)
def _facts(relation: str, people: int, ends: tuple[Fraction, ...], full: bool, counts: tuple[int, int, int]) -> Facts:
    labels, lists, features = counts
    names = [str(place) for place in range(1, labels + 1)]
    lower, upper, step = ends
    columns: dict[str, Column] = {
        UNNAMED: Number(lower, upper, step=step, missing=lower if full else None),
        LIST: Category(names, unknown=names[0], missing=names[0]),
    }
    columns |= {f"list {place}": columns[LIST] for place in range(1, lists + 1)}
    columns |= {f"number {place}": Number(0, 1, missing=0) for place in range(1, features + 1)}
    return Facts("", Schema(columns), Unit.rows(), read_relation(relation), people)


def question(facts: Facts, key: str, given: Mapping[str, str], budget: Budget) -> AnyQuery:
    """The question that the form's values `given` describe, at a placeholder ε. If the question needs a condition, it
    gets any: no promise depends on the condition."""
    parameters: dict[str, object] = {"epsilon": LEAST_EPSILON, "beta": given.get("beta")}
    for parameter in catalogue[key].card.parameters:
        parameters |= _given(facts, parameter, given, budget)
    kinds = {parameter.kind for parameter in catalogue[key].card.parameters}
    if "bins" in kinds and isinstance(facts.schema.columns.get(str(parameters["column"])), Number):
        parameters["bins"] = size(given, "values")
    if "where" in kinds and not kinds & {"of", *_COLUMN, *_SIZES}:
        parameters["where"] = _some(facts.schema)
    beta = parameters["beta"]
    parameters["beta"] = read_number_field(str(beta), say("whatif.field.beta")) if beta not in (None, "") else None
    query = catalogue[key].build(facts, parameters)
    return query.of_width(size(given, "columns")) if isinstance(query, VectorMean) else query


def _given(facts: Facts, parameter: Parameter, given: Mapping[str, str], budget: Budget) -> dict[str, object]:
    """The value of one parameter from the form, by name; an empty dict where the default will do."""
    kind, name = parameter.kind, parameter.name
    if kind in _COLUMN:
        column = given.get("column") or _COLUMN[kind]
        return {name: [column] if kind.startswith("columns") else column}
    if kind == "share":
        return {name: read_number_field(given["share"], say("whatif.field.share")) / 100}
    if kind == "of":
        return {name: _some(facts.schema)}
    if kind in ("people", "switch"):
        return {name: parameter.default}
    if kind == "columns":
        return {name: [f"list {place}" for place in range(1, size(given, "lists") + 1)]}
    if kind == "options":
        return {name: [[[LIST, "in", [label]]] for label in facts.schema.category(LIST).values]}
    if kind == "columns.features":
        return {name: [f"number {place}" for place in range(1, size(given, "features") + 1)]}
    if kind.startswith("column.target"):
        return {name: UNNAMED if kind.endswith("number") else LIST}
    if kind == "descent.calibration" and not budget.delta:
        return {name: COORDINATE}  # the only one that needs no δ
    return {name: size(given, "asks")} if _counted(parameter) else {}


def _some(schema: Schema) -> list[list[object]]:
    """Some condition: on the first column with a list, else on the first column."""
    lists = [*schema.of_kind(Category), *schema.of_kind(ItemSet)]
    name = lists[0] if lists else next(iter(schema.columns))
    column = schema[name]
    if isinstance(column, (Category, ItemSet)):
        return [[name, "in" if isinstance(column, Category) else "has", [column.value(0)]]]
    return [[name, ">=", column.value(column.size // 2)]]


def about_question(given: Mapping[str, str], people: int, facts: Facts | None) -> Facts:
    """The facts of the table in question: of the open table at this size, or of a made-up table with the open table's
    relation."""
    if facts is None:
        return made_up(given, people)
    if sized(given["q"]):
        return made_up({**given, "relation": facts.relation}, people)
    return replace(facts, about=people)


# The curves of the page. Only `two_medians` draws noise, on a made-up table.


def _around(middle: Fraction, least: Fraction, most: Fraction, decades: int, grain: int) -> list[Fraction]:
    """Even steps on a log axis around `middle`, which is one of them."""
    steps = range(-decades * STEPS // 2, decades * STEPS // 2 + 1)
    values = {Fraction(round(float(middle) * 10 ** (step / STEPS) * grain), grain) for step in steps} | {middle}
    return sorted(value for value in values if least <= value <= most)


def along_epsilon(query: AnyQuery) -> list[tuple[Fraction, Fraction]]:
    """Points for a picture: the ε of one question, and its error."""
    epsilons = _around(query.epsilon, LEAST_EPSILON, MOST_EPSILON, 3, GRAIN)
    return [(epsilon, _figure(query.asked_at(epsilon))) for epsilon in epsilons]


def _figure(query: AnyQuery) -> Fraction:
    return query.promise().figure_for(query)


def along_people(query: AnyQuery) -> list[tuple[Fraction, Fraction]]:
    """Points for a picture: the number of people, and the error. An error that does not depend on the people is taken
    relative to the possible range."""
    sizes = _around(Fraction(query.facts.about), Fraction(1), Fraction(MOST_TYPED_PEOPLE), 4, 1)
    enough = [int(people) for people in sizes if amount_for(query, int(people)) is not None]
    return [(Fraction(people), at_people(query.of_size(people))) for people in enough]


def at_people(query: AnyQuery) -> Fraction:
    """The error of one point of `along_people`."""
    promise = query.promise()
    return _figure(query) if depends_on_people(query) else promise.amount / query.coarse() * 25


def along_questions(rule: Rule, query: AnyQuery, accounting: str, most: int = 1000) -> list[tuple[int, Fraction]]:
    """Points for a picture: k, and the error of each of k answers under one allowance; up to the k where no ε is small
    enough."""
    counts = sorted({round(10 ** (step / 4)) for step in range(4 * len(str(most)) - 3)})
    epsilons = [(count, most_each(rule, query, count, accounting)) for count in counts if count <= most]
    return [(count, _figure(query.asked_at(epsilon))) for count, epsilon in epsilons if epsilon is not None]


def suspicion(prior: Fraction, epsilon: Fraction) -> Fraction:
    """The largest probability that a suspicion of `prior` can grow to: odds grow by at most e^ε. Rounded up."""
    odds = Fraction(exp_decimal(epsilon)) * prior
    return min(up(odds / (1 - prior + odds), 10**9), Fraction(1))


def two_medians(query: Median, shape: str, times: int) -> tuple[float, list[float], list[float]]:
    """The true median of made-up people; answers by noise added to it, and by the exponential mechanism.

    One person can move a median from one end of the range to the other (its global sensitivity is the whole range), so
    noise added to it must be that large; choosing a grid point by rank does not need that. Same ε, one answer each.
    """
    people = min(query.facts.about, MOST_IMAGINED)
    point = replace(query, with_range=False, facts=replace(query.facts, about=people))
    column = query.facts.schema.number(query.column)
    spread = Distribution(query.column, column.size).imagine(people, shape)
    middle = int(spread.codes[np.searchsorted(np.cumsum(spread.counts), (people + 1) // 2)])
    coins = SystemCoins()
    scale = Fraction(column.size - 1) / query.epsilon
    noisy = coins.laplace([middle] * times, scale)
    chosen = [point.draw(spread, coins)[0] for _ in range(times)]
    ends = (0, column.size - 1)  # an answer outside the range becomes its end
    values = [[float(column.value(min(max(code, ends[0]), ends[1]))) for code in codes] for codes in (noisy, chosen)]
    return float(column.value(middle)), values[0], values[1]


# The theorems beside a promise.

ALL = 100


def theorems(solved: Setting, wish: Fraction | None = None) -> list[str]:
    """What the theorems say about the number of people for the promised error, or for a wished one, in one sentence
    each. Functions of public numbers; none is used to charge or refuse anything.

        training          lecture 10: an excess of RG/√T takes T = (RG/excess)² steps and n ≥ d·√(T·ln(1/δ))/ε people
        synthetic tables  lecture 3: m = 2·ln(2|C|)/α² rows are within α/2 of every question of C (Hoeffding), and
                          n ≥ (4/(αε))·ln(|D|^m/β) finds such rows except with probability β (the source drops the 1/ε
                          in its last line)
        sessions          how far answers are from the population: `session_validity` at this noise, with rounded
                          answers where possible; `people_needed` at the noise that suits the population best
    """
    query = solved.query
    if isinstance(query, OfGradients):
        needed = training_people(query, solved.budget.delta, query.promise().risk)
        if needed is None:
            return []
        return [say("whatif.theorem.lecture_training", steps=needed[0], people=_about(needed[1]))]
    if isinstance(query, OfClass):
        return _class(solved, wish)
    if isinstance(query, AdaptiveSession):
        return _session(query)
    return []


def training_people(query: OfGradients, delta: Fraction, risk: Fraction) -> tuple[int, int] | None:
    """The lecture's T for this excess, and the lecture's n for this T; None without δ."""
    epsilon = compositions.zcdp_epsilon([query.loss()], delta) if delta > 0 else None
    if epsilon is None or risk <= 0:
        return None
    steps = math.ceil((query.reach * float(query.clip) / float(risk)) ** 2)
    return steps, math.ceil(query.width * math.sqrt(steps * math.log(1 / delta)) / float(epsilon))


def class_people(query: OfClass, alpha: Fraction) -> tuple[int, int]:
    """The theorem's m for an error of α, and the theorem's n for this m; here m has no upper limit."""
    rows = lecture_curves.class_rows(query.many, float(alpha))
    return rows, lecture_curves.class_people(
        query.many, query.domain, float(query.epsilon), float(query.beta), float(alpha)
    )


def _class(solved: Setting, wish: Fraction | None) -> list[str]:
    query = solved.query
    assert isinstance(query, OfClass)
    sentences = [say("whatif.theorem.class_size", many=query.many)]
    amount = solved.promise.amount if wish is None else wish
    if 0 < amount < ALL:
        rows, people = class_people(query, amount / ALL)
        sentences.append(say("whatif.theorem.small_database", many=query.many, rows=rows, people=_about(people)))
        ours = at_error(solved, amount).people
        code = "none" if ours is None else "fewer" if ours < people else "more"
        sentences.append(say(f"whatif.theorem.small_database_{code}", people=ours or 0))
    return sentences


def population_people(query: AdaptiveSession, width: Fraction) -> tuple[int, str] | None:
    """How many people this session needs, at its own ε, for every answer to be this close to the population; and the
    name of the bound that shows it. None if no number of people is enough."""

    def best(people: int) -> Width:
        return session_validity.outward(session_validity.rounded(query.of_size(people)))[0]

    people = next_true(lambda n: best(n).claimed and best(n).width <= width, MOST_PEOPLE)
    return None if people is None else (people, best(people).theorem)


def _session(query: AdaptiveSession) -> list[str]:
    width = query.promise().amount / ALL
    if not 0 < width < 1 or query.questions > MOST_ANSWERS:
        return []
    needed = population_people(query, width)
    if needed is None:
        return [say("whatif.theorem.population_none")]
    people, theorem = needed
    name = "description" if theorem == "description" else "other"
    sentences = [say("whatif.theorem.population", people=_about(people), theorem=say(f"whatif.bound.{name}"))]
    try:
        planned = people_needed.least_people(query.questions, width, query.beta)
    except AllowanceError:
        return sentences
    parts = next_true(lambda n: split(n, query.questions, query.beta).width <= width, MOST_PEOPLE)
    if planned is not None and parts is not None:
        sentences.append(say("whatif.theorem.best_noise", people=_about(planned), parts=_about(parts)))
    return sentences


def _about(people: int) -> int:
    return round_up_two(Fraction(people))
