"""The contract every mechanism obeys: public facts → loss and promise → statistic → draw → answer.

A query is a frozen dataclass built from public facts and parameters; it validates itself at birth. Everything
up to `draw` is a function of public facts: forms, prices and promises touch no data. `draw` is the only random
step, a pure function of the statistic and the coins; `finish` is post-processing.
"""

from __future__ import annotations

import hashlib
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar, Generic, Self, TypeVar

from dpengine.accountant.loss import Loss, Together
from dpengine.core.amounts import BETA, read_beta, read_epsilon
from dpengine.core.canonical import canonical
from dpengine.core.errors import AllowanceError
from dpengine.core.exact import text_of
from dpengine.core.json_types import Ends, Figures, Json, JsonObject
from dpengine.declared.conditions import EVERYONE, Predicate, Row, read_predicate
from dpengine.declared.facts import Facts
from dpengine.declared.grouped import Grouped, Ref, base, ref_json
from dpengine.declared.read_group import coarser, read_ref
from dpengine.declared.unit import Unit
from dpengine.mechanisms.answered import Answered
from dpengine.mechanisms.cuts import Cut, of_question
from dpengine.mechanisms.trial import Trial
from dpengine.messages import say
from dpengine.noise.coins import Coins
from dpengine.noise.laws import Law
from dpengine.statistics.need import AnyNeed
from dpengine.statistics.raw_needs import RawNeed

Statistic = TypeVar("Statistic")  # what is read of the data
Raw = TypeVar("Raw")  # what is drawn
Fields = JsonObject  # what a question is made with, by name
Told = Callable[[int, int], None]  # so many of so many


@dataclass(frozen=True)
class Sensitivity:
    """How much one person can change the integer vector `Query.measured`, in the named norm."""

    norm: str  # "l1", "linf", or "l2sq": then the bound is on the squared ℓ2 norm
    bound: int
    attained: bool = True  # False: it is claimed for more statistics than the first, which need not reach it


@dataclass(frozen=True)
class Released:
    """An answer in plain Python: a number, a label, or a mapping from label to number; the interval has its shape."""

    value: Json
    interval: Json = None

    def as_json(self) -> JsonObject:
        return {"value": self.value, "interval": self.interval}


@dataclass(frozen=True)
class ReleaseTools:
    """What a release works with once it is charged."""

    read: Callable[[AnyNeed | RawNeed], Any]
    coins: Coins
    progress: Told  # both numbers are public
    stopped: Callable[[], bool]  # has somebody asked it to end after the step under way?
    file: Path  # where a published table is written


@dataclass(frozen=True, kw_only=True)
class Query(Answered, Generic[Statistic, Raw]):
    """One question with all its parameters. Subclasses add their own fields and read like their theorem."""

    trial: ClassVar[Trial]  # a class that has one of its own is in the catalogue

    epsilon: Fraction
    where: Predicate = EVERYONE
    noise: str = ""  # one of `noises`, "" for the usual one

    declares: ClassVar[str] = ""  # “range” or “list”: what of a declaration its answer may become
    noises: ClassVar[tuple[str, ...]] = ()  # other noise that this question can be answered with

    @classmethod
    def build(cls, facts: Facts, parameters: JsonObject) -> Self:
        """From public facts and the JSON of a form; refuses in one sentence what it cannot use."""
        given = dict(parameters)
        known = {parameter.name for parameter in cls.card.parameters} | {"beta"} | ({"noise"} if cls.noises else set())
        strange = sorted(given.keys() - known)
        if strange:
            raise AllowanceError("query.parameter", name=strange[0][:60], names=sorted(known))
        for parameter in cls.card.parameters:
            if parameter.required and given.get(parameter.name) in (None, ""):
                raise AllowanceError("query.missing", name=parameter.label)
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
    @abstractmethod
    def read(cls, facts: Facts, given: JsonObject) -> Fields:
        """This question's own fields from the rest of the form."""

    @classmethod
    def known_of_everyone(cls, facts: Facts) -> bool:
        """Is the answer public already where no condition is set?"""
        return False

    @abstractmethod
    def own_json(self) -> JsonObject:
        """The inverse of `read`."""

    @abstractmethod
    def sentence(self) -> str:
        """The question as words, the same in form, answer, history and receipt."""

    @abstractmethod
    def need(self) -> AnyNeed | RawNeed: ...

    @abstractmethod
    def measured(self, value: Statistic) -> tuple[int, ...]:
        """The integer vector whose change `sensitivity` bounds (counts, or the candidates' scores)."""

    @abstractmethod
    def sensitivity(self) -> Sensitivity: ...

    @abstractmethod
    def loss(self) -> Loss: ...

    def promised_before(self) -> list[JsonObject]:  # as earlier versions wrote it, so that their receipts hold
        return []

    @abstractmethod
    def coarse(self) -> Fraction:
        """A promise above this says little: a quarter of what the question can show, from public facts."""

    @abstractmethod
    def draw(self, value: Statistic, coins: Coins) -> Raw: ...

    def drawn(self, value: Statistic, coins: Coins, told: Told) -> Raw:
        """`draw`, by a question that takes long enough to tell how far it has come; both numbers are public."""
        return self.draw(value, coins)

    @abstractmethod
    def law(self, value: Statistic) -> Law | None:
        """The exact law of `draw`."""

    def truth(self, rows: Sequence[Row]) -> Json:
        """The plain answer over coded rows of a made-up table, all of which count, as one group: a number, a pair
        between which every number is right, or one by label. The tests hold the ranges of drawn answers against it;
        a question that has none names a test of its own (`Trial.covered`)."""
        raise NotImplementedError

    @abstractmethod
    def finish(self, raw: Raw) -> Released: ...

    def valued(self) -> set[str]:
        """The declared columns whose values enter the answer."""
        single: list[Ref | None] = [getattr(self, "column", None), self.by]
        return {base(name) for name in [*single, *getattr(self, "columns", ())] if name is not None}

    def conditions(self) -> tuple[Predicate, ...]:  # whatever decides which rows count, or for what
        return self.where, getattr(self, "of", EVERYONE)

    def used(self) -> set[str]:
        """The columns a question speaks of: their public bounds go into its receipt."""
        return self.valued().union(*(one.columns() for one in self.conditions()))

    def cuts(self) -> tuple[Cut, ...]:
        """What of the file does not count as it stands there, by declaration: told wherever the answer is read."""
        return of_question(self.facts, self.need(), self.valued(), self.conditions())

    def labels(self) -> list[str]:
        """The public names of an answer's parts, in the declared order; none for a single number or label."""
        return [] if self.by is None else list(self.facts.schema.category(self.by).labels)

    def cells(self) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """For a file with a column for each: what the parts are told apart by, and the cells of each label in turn."""
        return ("label",), [(label,) for label in self.labels()]

    def shown(self) -> dict[str, str]:
        """Stored names of parts, which are English, as the reader writes them; those that stay are left out."""
        return self.by.shown() if isinstance(self.by, Grouped) else {}

    def listed(self, value: JsonObject) -> list[str]:
        """The names of an answer's parts as a person sees them: in the declared order, or by rank."""
        return self.labels() or sorted(value, key=value.__getitem__)

    @property
    def groups(self) -> int:
        """How many answers `by` asks for."""
        return 1 if self.by is None else self.facts.schema.category(self.by).size

    def fewer(self) -> list[tuple[str, JsonObject]]:
        """The same with fewer groups, as keys and parameters: coarser ones, or none at all."""
        if self.by is None:
            return []
        given = self.parameters()
        whole = {name: part for name, part in given.items() if name != "by"}
        steps = coarser(self.by, self.facts.schema) if isinstance(self.by, Grouped) else []
        return [*((self.card.key, given | {"by": step}) for step in steps), (self.card.key, whole)]

    def for_each(self, epsilon: Fraction) -> Fraction:
        """What each group may spend. Groups are disjoint: one person is in one of them under add/remove, but under
        replace-one may leave one and enter another, so two groups pay."""
        return epsilon / 2 if self.by is not None and self.facts.relation == "replace" else epsilon

    def of_groups(self, part: Loss) -> Loss:
        """The loss of all groups from that of one, which was given `for_each` of ε."""
        return Together((part, part)) if self.by is not None and self.facts.relation == "replace" else part

    def told(self, each: list[Ends]) -> Released:
        """One (value, interval) as it is; one for each group, by label."""
        if self.by is None:
            return Released(*each[0])
        pairs = dict(zip(self.labels(), each, strict=True))
        return Released({name: one[0] for name, one in pairs.items()}, {name: one[1] for name, one in pairs.items()})

    def first_statistic(self, read: Callable[[AnyNeed | RawNeed], Statistic]) -> Statistic | None:
        """What is read before the draw."""
        return read(self.need())

    def carry(self, value: Statistic, tools: ReleaseTools) -> JsonObject:
        """Draw, and say what the ledger keeps of it."""
        return self.stored(self.drawn(value, tools.coins, tools.progress))

    def stored(self, raw: Raw) -> JsonObject:
        return self.finish(raw).as_json()

    def release(self, value: Statistic, coins: Coins) -> Released:
        return self.finish(self.draw(value, coins))

    def parameters(self) -> JsonObject:
        """The form's JSON, from which `build` makes this very query again."""
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

    def digest(self, without_epsilon: bool = False) -> str:
        """A name for this very question, from public facts only, whatever noise it is answered with."""
        told = self.describe()
        told["parameters"].pop("noise", None)
        if without_epsilon:
            told["parameters"].pop("epsilon")
        return hashlib.sha256(canonical(told).encode()).hexdigest()

    def at(self, epsilon: Fraction) -> Self:
        return replace(self, epsilon=epsilon)

    def with_noise(self, noise: str) -> Self:
        return replace(self, noise=noise)

    @property
    def theorem(self) -> str:
        """Why it is private, for the noise it is answered with."""
        return say(f"noise.{self.noise}.theorem") if self.noise else self.card.theorem


AnyQuery = Query[Any, Any]


@dataclass(frozen=True, kw_only=True)
class Averaged(Query[Statistic, Figures]):
    """A question whose `draw` adds noise to integers: several draws are worth their mean, and the ledger keeps
    them."""

    @abstractmethod
    def around(self, raw: Figures, looks: int) -> Released:
        """What the mean of `repeated_answers` independent draws says, with a range that holds except with chance β."""

    def finish(self, raw: Figures) -> Released:
        return self.around(raw, 1)

    def stored(self, raw: Figures) -> JsonObject:
        """The draw itself is what the charge paid for, so it may be kept too."""
        return super().stored(raw) | {"raw": list(raw)}
