"""The contract every mechanism obeys: public facts → loss and promise → statistic → draw → answer.

A query is a frozen dataclass, built and validated from public facts and parameters. Everything up to `draw` is a
function of public facts: forms, prices and promises use no data. `draw` is the only random step, a pure function of the
statistic and the coins. `finish` is post-processing.
"""

from __future__ import annotations

import hashlib
from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from functools import wraps
from pathlib import Path
from typing import Any, ClassVar, Generic, Self, TypeVar

from dpengine.accountant import costs
from dpengine.accountant.loss import Loss, Together
from dpengine.core.amounts import BETA, read_beta, read_epsilon
from dpengine.core.errors import AllowanceError
from dpengine.core.exact import text_of
from dpengine.core.strict_json import canonical
from dpengine.core.types import Ends, Figures, Json, JsonObject
from dpengine.declared.conditions import EVERYONE, Predicate, Row, combined, read_predicate, who
from dpengine.declared.facts import Facts
from dpengine.declared.grouped import Grouped, Ref, base, ref_json
from dpengine.declared.read_group import coarser, read_ref
from dpengine.declared.schema import Category, ItemSet, extra_labels
from dpengine.declared.unit import Unit
from dpengine.mechanisms.cuts import Cut, of_question
from dpengine.mechanisms.noise import NoiseKind
from dpengine.mechanisms.promises import Answered, Promise
from dpengine.mechanisms.trial import Trial
from dpengine.messages import say, shown
from dpengine.noise.coins import Coins
from dpengine.noise.laws import Law
from dpengine.statistics.need import AnyNeed
from dpengine.statistics.raw_needs import RawNeed

T = TypeVar("T")
Statistic = TypeVar("Statistic")  # computed on the data
Raw = TypeVar("Raw")  # drawn from the statistic with noise
Fields = JsonObject  # the fields of a question, by name
Bounds = tuple[int, int | None]  # on a number; None if there is no known upper bound
Progress = Callable[[int, int], None]  # called with (done, total); both numbers are public


def read_names(given: Json) -> tuple[str, ...] | None:
    """A name, or several different names, from a form; None if it holds anything else."""
    names = (given,) if isinstance(given, str) else given
    if not isinstance(names, (list, tuple)) or not all(isinstance(name, str) for name in names):
        return None
    return tuple(names) if len(set(names)) == len(names) else None


def read_column(given: JsonObject, declared: Callable[[str], object]) -> str:
    """The column that a form names. `declared` finds it in the schema, and refuses another kind of column."""
    name = str(given["column"])
    declared(name)
    return name


def given_json(value: Json) -> Json:
    """The value of a question's field, as JSON for the form."""
    if isinstance(value, Fraction):
        return text_of(value)
    if isinstance(value, tuple):
        return [given_json(part) for part in value]
    return value.as_json() if isinstance(value, Grouped | Predicate) else value


def _once(method: Callable[[Any], T]) -> Callable[[Any], T]:
    """Cache the method's result on the question, because it depends on the question's fields alone."""
    name = f"_{method.__qualname__}"

    @wraps(method)
    def kept(self: Any) -> T:
        if name not in self.__dict__:
            self.__dict__[name] = method(self)
        value: T = self.__dict__[name]
        return value

    return kept


@dataclass(frozen=True)
class Sensitivity:
    """The most that one person changes the integer vector `Query.measured`, in the named norm."""

    norm: str  # "l1", "linf", or "l2sq": then the bound is on the squared ℓ2 norm
    bound: int
    attained: bool = True  # False: the first step, or a small table, may stay below this bound


@dataclass(frozen=True)
class Released:
    """An answer: a number, a label, or a mapping from label to number. The interval has the same shape."""

    value: Json
    interval: Json = None

    def as_json(self) -> JsonObject:
        return {"value": self.value, "interval": self.interval}


@dataclass(frozen=True)
class ReleaseTools:
    """What a release may use once it is charged."""

    read: Callable[[AnyNeed | RawNeed], Any]
    coins: Coins
    progress: Progress  # both numbers are public
    stopped: Callable[[], bool]  # has somebody asked it to end after the current step?
    file: Callable[[], Path]  # where a published table is written


@dataclass(frozen=True, kw_only=True)
class Query(Answered, Generic[Statistic, Raw]):
    """One question with all its parameters. Subclasses add their own fields."""

    trial: ClassVar[Trial]  # a class that states its own is in the catalogue

    epsilon: Fraction
    where: Predicate = EVERYONE
    noise: str = ""  # one of `noises`, "" for the usual one

    of_people: ClassVar[bool] = True  # False: says nothing about people, so the owners of rows do not matter
    rises: ClassVar[bool] = False  # True: every greater cell of its column makes the answer greater
    declares: ClassVar[bool] = False  # True: its answer drafts declarations
    row_wise: ClassVar[bool] = False  # True: releases every row by itself, so tables of one row decide its privacy
    takes_long: ClassVar[bool] = False  # True: may take minutes, and other questions must not wait for it
    several_ways: ClassVar[bool] = False  # True: several averages that can be drawn in several ways
    accepts: ClassVar[tuple[type[NoiseKind], ...]] = ()  # the kinds of noise, the usual one first; () if there is one
    noises: ClassVar[tuple[str, ...]] = ()  # the names of the others
    typical: ClassVar[str] = ""  # the question for what is typical, if people may take this one for it

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls.noises = tuple(kind.name for kind in cls.accepts[1:])
        cls.__hash__ = Query.__hash__  # type: ignore[method-assign]
        for name in ("loss", "promise"):
            if name in cls.__dict__:
                setattr(cls, name, _once(cls.__dict__[name]))

    def __hash__(self) -> int:
        """Computed once: a page looks for the price of the same question many times."""
        known: int | None = self.__dict__.get("_hash")
        if known is None:
            known = hash(tuple(getattr(self, field.name) for field in fields(self) if field.compare))
            self.__dict__["_hash"] = known
        return known

    def __getstate__(self) -> dict[str, object]:
        """Pickle without the cached hash, because hashes differ between processes."""
        return {name: value for name, value in self.__dict__.items() if name != "_hash"}

    @classmethod
    def asked_now(cls, given: JsonObject, facts: Facts) -> JsonObject:
        """Fill in defaults that depend on the table."""
        return given

    @classmethod
    def build(cls, facts: Facts, parameters: JsonObject) -> Self:
        """Build the query from public facts and the JSON of a form, or refuse in one sentence."""
        given = dict(parameters)
        known = {parameter.name for parameter in cls.card.parameters} | {"beta"} | ({"noise"} if cls.noises else set())
        strange = sorted(given.keys() - known)
        if strange:
            raise AllowanceError("query.parameter", name=strange[0][:60], names=sorted(known))
        for parameter in cls.card.parameters:
            if parameter.required and given.get(parameter.name) in (None, ""):
                raise AllowanceError("query.missing", name=parameter.label)
            if parameter.takes is not None:
                parameter.takes.check(str(given[parameter.name]), facts.schema)
        if facts.relation not in cls.card.relations:
            raise AllowanceError("query.relation", title=cls.card.title)
        if facts.unit != Unit.rows() and not cls.card.several:
            raise AllowanceError("query.several", title=cls.card.title)
        given_by = given.pop("by", None)
        by = None if given_by in (None, "") else read_ref(given_by, facts.schema)
        if by is not None:
            facts.schema.category(by)
        fields: Fields = {
            "facts": facts,
            "by": by,
            "epsilon": read_epsilon(given.pop("epsilon", None)),
            "where": read_predicate(given.pop("where", None), facts.schema),
            "beta": read_beta(given.pop("beta", None)),
            "noise": str(given.pop("noise", None) or ""),
        }
        if fields["noise"] not in ("", *cls.noises):
            raise AllowanceError("query.noise", noises=list(cls.noises))
        return cls(**fields, **cls.read(facts, given))

    @classmethod
    def built(cls, facts: Facts, parameters: JsonObject) -> Self | None:
        """`build`, or None where it refuses."""
        try:
            return cls.build(facts, parameters)
        except AllowanceError:
            return None

    @classmethod
    def read(cls, facts: Facts, given: JsonObject) -> Fields:
        """This question's own fields from the rest of the form."""
        return {}

    @classmethod
    def known_of_everyone(cls, facts: Facts) -> bool:
        """Without a condition, is the answer already public?"""
        return False

    def own_json(self) -> JsonObject:
        """The inverse of `read`: this question's own fields, without those that have their default value."""
        own = [field for field in fields(self) if field.name not in _SHARED]
        values = {field.name: (getattr(self, field.name), field.default) for field in own}
        return {name: given_json(value) for name, (value, usual) in values.items() if value != usual}

    @abstractmethod
    def sentence(self) -> str:
        """The question in words, the same in form, answer, history and receipt."""

    def whom(self, of: bool = False) -> str:
        """Who counts, as words inside `sentence`; `of`: after “the number of”."""
        return who(self.where, self.by, self.facts.said_rows if self.counts_rows else None, of)

    @abstractmethod
    def need(self) -> AnyNeed | RawNeed: ...

    def needs(self) -> tuple[AnyNeed | RawNeed, ...]:
        """One need of each kind that it reads. An engine that cannot compute one of them refuses before the charge."""
        return (self.need(),)

    @abstractmethod
    def measured(self, value: Statistic) -> tuple[int, ...]:
        """The integer vector that `sensitivity` is about (counts, or the candidates' scores)."""

    @abstractmethod
    def sensitivity(self) -> Sensitivity: ...

    @abstractmethod
    def loss(self) -> Loss: ...

    def cost(self, alpha: Fraction | None) -> costs.Cost:
        """The cost of the loss under a budget of order `alpha`. It is cached, because a page compares many prices."""
        known: tuple[Fraction | None, costs.Cost] | None = self.__dict__.get("_cost")
        if known is None or known[0] != alpha:
            known = alpha, costs.cost(self.loss(), alpha)
            self.__dict__["_cost"] = known
        return known[1]

    @abstractmethod
    def draw(self, value: Statistic, coins: Coins) -> Raw: ...

    def drawn(self, value: Statistic, coins: Coins, progress: Progress) -> Raw:
        """`draw`, which reports progress if the question takes long."""
        return self.draw(value, coins)

    @abstractmethod
    def law(self, value: Statistic) -> Law | None:
        """The exact law of `draw`; None if it cannot be listed."""

    def population(self, answer: Released, raw: Figures, beta: Fraction, moved: Fraction = Fraction(0)) -> Json:
        """If the people are a random sample: a range that holds the figure of the larger group except with probability
        β, as (low, high) or by label. None if nothing can be claimed. A count becomes a share of that group in percent,
        a sum the average of a person. `moved` bounds the effect of earlier releases (`sampling`). Free
        post-processing."""
        return None

    @property
    def speaks_of_all(self) -> bool:
        """Does `population` give a range, if nothing was released before this question?"""
        return False

    @property
    def of_known_people(self) -> bool:
        """Would `population` claim more if the number of people were public?"""
        return False

    def supposed_draw(self) -> tuple[int, ...] | None:
        """A made-up draw without noise, to preview `population`: the table has the declared size, equal shares, and
        values spread evenly over their range. None if there is no such preview."""
        return None

    def truth(self, rows: Sequence[Row]) -> Json:
        """The true answer for the coded rows of a made-up table, without groups: a number, the ends of an interval of
        correct numbers, or one of these by label. Tests check that the ranges of drawn answers contain it. A question
        without `truth` names its own test (`Trial.covered`)."""
        raise NotImplementedError

    @abstractmethod
    def finish(self, raw: Raw) -> Released: ...

    def valued(self) -> set[str]:
        single: list[Ref | None] = [getattr(self, "column", None), self.by]
        return {base(name) for name in [*single, *getattr(self, "columns", ())] if name is not None}

    def conditions(self) -> tuple[Predicate, ...]:
        """All conditions of the question: who counts (`where`), and what is counted among them (`of`)."""
        return self.where, getattr(self, "of", EVERYONE)

    def used(self) -> set[str]:
        """The columns that it uses: their public bounds go into the receipt."""
        return self.valued().union(*(condition.columns() for condition in self.conditions()))

    def about(self, part: str = "") -> set[str]:
        """The declared columns that a part of the answer depends on."""
        return self.used()

    def to_check(self) -> set[str]:
        """The declared columns that must be checked before it is asked."""
        return self.about()

    @property
    def gated(self) -> bool:
        """Does a doubtful check of a column refuse the question? If not, each part of its answer states the doubt."""
        return self.of_people

    def cuts(self) -> tuple[Cut, ...]:
        """How the declaration changes the file's cells before they count; shown beside the answer."""
        return of_question(self.facts, self.need(), self.valued(), self.conditions())

    @property
    def most_rows(self) -> int | None:
        """The limit on rows per person, if the answer leaves out rows beyond it."""
        return next((int(dict(cut.facts)["most"]) for cut in self.cuts() if cut.code == "cut.rows"), None)

    def labels(self) -> list[str]:
        """The public names of the answer's parts, in the declared order; none for a single number or label."""
        return [] if self.by is None else list(self.facts.schema.category(self.by).labels)

    def cells(self) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """For an exported file: the columns that identify the parts, and the cells of each part in order."""
        return ("label",), [(label,) for label in self.labels()]

    def crossed(self) -> list[tuple[str, dict[str, str]]]:
        """For parts that combine columns: each column's name, and its stored values with the words a reader sees."""
        return []

    def shown(self) -> dict[str, str]:
        """The stored (English) names of parts in the reader's language; names that stay the same are omitted."""
        return {} if self.by is None else self.named(self.by)

    def named(self, column: Ref) -> dict[str, str]:
        """`shown` for the values of a column."""
        if isinstance(column, Grouped):
            return column.shown()
        declared = self.facts.schema[column]
        return shown(declared.labels) if isinstance(declared, Category | ItemSet) else {}

    def shown_together(self, columns: Sequence[Ref]) -> dict[str, str]:
        """`shown` for parts that combine the values of several columns."""
        names = [self.named(column) for column in columns]
        labels = [self.facts.schema.category(column).labels for column in columns]
        words = [[known.get(label, label) for label in own] for known, own in zip(names, labels, strict=True)]
        return dict(zip(combined(labels), combined(words), strict=True)) if any(names) else {}

    def leftovers(self) -> list[str]:
        """Stored names of the parts for unlisted values and empty cells, which a reader may want to hide."""
        return [] if self.by is None else extra_labels(self.facts.schema.category(self.by))

    def unlisted(self, part: str) -> str:
        """The cells an unlisted part stands for: "rest" (unlisted), "missing" (empty) or "both"; else ""."""
        column = self.named_by()
        if not isinstance(column, Category) or part not in (column.unknown, column.missing):
            return ""  # nearly every part of a long list
        if part not in extra_labels(column):
            return ""
        return "both" if column.unknown == column.missing else "rest" if part == column.unknown else "missing"

    def named_by(self) -> object:
        """The column that names the answer's parts, if there is one."""
        return None if self.by is None else self.facts.schema.category(self.by)

    def row_bounds(self, raw: Figures) -> Bounds | None:
        """Bounds on the table's row count, from the draw alone. They hold together with all ranges of the answer except
        with probability β. None if the answer does not bound it."""
        return None

    def people_bounds(self, raw: Figures) -> Bounds | None:
        """Bounds on the number of people: each has at least one row, and at most as many as count."""
        rows = self.row_bounds(raw)
        return None if rows is None else (-(-rows[0] // self.facts.unit.at_most), rows[1])

    def listed(self, value: JsonObject) -> list[str]:
        """The names of the parts in reading order: as declared, or by rank."""
        return self.labels() or sorted(value, key=value.__getitem__)

    @property
    def groups(self) -> int:
        """The number of groups."""
        return 1 if self.by is None else self.facts.schema.category(self.by).size

    def fewer(self) -> list[tuple[str, JsonObject]]:
        """The same question with coarser groups or none, as keys and parameters."""
        if self.by is None:
            return []
        given = self.parameters()
        whole = {name: part for name, part in given.items() if name != "by"}
        steps = coarser(self.by, self.facts.schema) if isinstance(self.by, Grouped) else []
        return [*((self.card.key, given | {"by": step}) for step in steps), (self.card.key, whole)]

    def for_each(self, epsilon: Fraction) -> Fraction:
        """The ε of each group. Groups are disjoint: under add/remove a row is in one of them; under replace-one it may
        leave one and enter another, so that two groups change."""
        return epsilon / 2 if self.by is not None and self.facts.relation == "replace" else epsilon

    def of_groups(self, part: Loss) -> Loss:
        """The loss of all groups together, from the loss of one group at `for_each` of ε."""
        return Together((part, part)) if self.by is not None and self.facts.relation == "replace" else part

    @property
    def parts_apart(self) -> bool:
        """Does each part of the loss belong to an independent draw? Otherwise the parts bound only the Rényi curve of a
        person's change, and no privacy loss distribution follows from them."""
        return True

    def released(self, answers: list[Ends]) -> Released:
        """The answer for everyone, or one for each group by label."""
        return Released(*answers[0]) if self.by is None else self.by_label(answers)

    def by_label(self, answers: Iterable[Ends]) -> Released:
        """One (value, interval) for each of `labels`."""
        pairs = dict(zip(self.labels(), answers, strict=True))
        values, intervals = ({name: pair[place] for name, pair in pairs.items()} for place in (0, 1))
        return Released(values, intervals)

    def first_statistic(self, read: Callable[[AnyNeed | RawNeed], Statistic]) -> Statistic | None:
        """The statistic read before the draw."""
        return read(self.need())

    def draw_body(self, value: Statistic, tools: ReleaseTools) -> JsonObject:
        """Draw, and return what the ledger stores."""
        return self.stored(self.drawn(value, tools.coins, tools.progress))

    def stored(self, raw: Raw) -> JsonObject:
        return self.finish(raw).as_json()

    def release(self, value: Statistic, coins: Coins) -> Released:
        return self.finish(self.draw(value, coins))

    def parameters(self) -> JsonObject:
        """The form's JSON, from which `build` makes an equal query."""
        given: JsonObject = {"epsilon": text_of(self.epsilon)} | self.own_json()
        if self.by is not None:
            given["by"] = ref_json(self.by)
        if self.where.rows:
            given["where"] = self.where.as_json()
        if self.beta != BETA:
            given["beta"] = text_of(self.beta)
        if self.noise:
            given["noise"] = self.noise
        return given

    def describe(self) -> JsonObject:
        return {"key": self.card.key, "version": self.card.version, "parameters": self.parameters()}

    def digest(self) -> str:
        """A hash of public facts that identifies this question, whatever its noise."""
        description = self.describe()
        description["parameters"].pop("noise", None)
        return hashlib.sha256(canonical(description).encode()).hexdigest()

    def at(self, epsilon: Fraction) -> Self:
        return self if epsilon == self.epsilon else replace(self, epsilon=epsilon)

    def asked_at(self, epsilon: Fraction) -> Self:
        """The question at this ε; settings that the form chose, not the person, are chosen anew."""
        return self.at(epsilon)

    def of_size(self, people: int) -> Self:
        """The same question, declared for a table of about `people` people."""
        return replace(self, facts=replace(self.facts, about=people))

    @property
    def conditional(self) -> bool:
        return not self.where.everyone

    def promise_of(self, people: int) -> Promise:
        return self.of_size(people).promise()

    def expected(self) -> Fraction | float:
        """The error by which noises of equal price are compared: the promised one, or a question's better estimate."""
        return self.promise().amount

    def with_noise(self, noise: str) -> Self:
        return self if noise == self.noise else replace(self, noise=noise)

    @property
    def theorem(self) -> str:
        """The theorem behind its privacy guarantee, with the chosen noise."""
        return say(f"noise.{self.noise}.theorem") if self.noise else self.card.theorem


_SHARED = {field.name for field in fields(Query)}
AnyQuery = Query[Any, Any]


@dataclass(frozen=True, kw_only=True)
class Averaged(Query[Statistic, Figures]):
    """A question that adds noise to integers: several draws can be averaged, so the ledger stores them."""

    @abstractmethod
    def from_mean(self, raw: Figures, draws: int) -> Released:
        """The answer from the mean of `draws` independent draws, with a range that fails with probability at most β."""

    def finish(self, raw: Figures) -> Released:
        return self.from_mean(raw, 1)

    def stored(self, raw: Figures) -> JsonObject:
        """The charge covers the drawn numbers themselves, so they are stored too."""
        return super().stored(raw) | {"raw": list(raw)}
