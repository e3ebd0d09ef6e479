"""A kind of question before one is built: the fields of its form, and its card."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from dpengine.core.errors import AllowanceError
from dpengine.declared.schema import Column, Number, Schema
from dpengine.declared.unit import RELATIONS, Relation
from dpengine.messages import say

# The kind of an answer decides its limits, unit, words and chart.
AnswerKind = Literal[
    "count",  # a number of people or rows, or several
    "share",  # of people or rows, in percent
    "place",  # on a column: an average, a median
    "distance",  # on a column: how far apart values are
    "amount",  # in a column's unit but beyond its range: a total
    "label",  # a name, or several in order
    "curve",  # numbers along a column that never decrease
    "column",  # made-up values of a column, shown as their cumulative curve
    "density",  # a smooth curve over a column, or a map over two
    "declarations",  # ranges and lists of several columns of the file
    "check",  # how good a model is, in several figures
    "table",  # made-up rows
    "file",  # published rows
    "model",
    "session",  # answers bought one by one
    "board",  # counts of many columns and pairs of columns, explored without further cost
]
WHOLE: tuple[AnswerKind, ...] = ("table", "file", "model", "board")  # no figures: each kind has its own page
CURVES: tuple[AnswerKind, ...] = ("curve", "column")
ON_COLUMN: tuple[AnswerKind, ...] = ("place", "distance", "amount")  # in the unit of one column
FIGURES: tuple[AnswerKind, ...] = ("count", "share", *ON_COLUMN)  # numbers that may be compared with each other
ADDED: tuple[AnswerKind, ...] = ("count", "amount")  # numbers that add up
ALL = Fraction(100)  # percent


@dataclass(frozen=True)
class Takes:
    """Which declared columns a form's field accepts. The message `column.wanted.<name>` says so in words."""

    name: str
    holds: Callable[[Column], bool]

    def check(self, name: str, schema: Schema) -> None:
        if not self.holds(schema[name]):
            raise AllowanceError("column.wrong_kind", column=name, wanted=say(f"column.wanted.{self.name}"))


ABOVE_ZERO = Takes("above_zero", lambda column: isinstance(column, Number) and column.lower > 0)


@dataclass(frozen=True)
class Parameter:
    """A field of a form. `kind` selects its widget; its words are in the message catalogue."""

    name: str
    kind: str  # column.number, .ordered, .category, .listed (or sets), .any, .file, share, bins, where, epsilon, …
    default: Any = None
    required: bool = False
    if_several: str = ""  # shown only if the field of this name holds more than 1
    takes: Takes | None = None  # None: every column of its kind
    words: str = ""  # other words beside the field than the usual ones: form.of.<words>, form.for.<words>

    def fitting(self, names: list[str], schema: Schema) -> list[str]:
        """The columns among `names` that this field accepts."""
        takes = self.takes
        return names if takes is None else [name for name in names if takes.holds(schema[name])]

    def around(self, code: str) -> str:
        """The form's words beside this field."""
        return say(f"{code}.{self.words}" if self.words else code)

    @property
    def label(self) -> str:
        return say(f"param.{self.name}.label")

    @property
    def help(self) -> str:
        return say(f"param.{self.name}.help")


BY, WHERE = Parameter("by", "by"), Parameter("where", "where")
EPSILON = Parameter("epsilon", "epsilon", required=True)


@dataclass(frozen=True)
class Card:
    """What a person can read about a question before asking it."""

    key: str
    order: int  # sorts questions on a page, in the audit's report and in the catalogue
    own: tuple[Parameter, ...]  # the fields of its form, without ε
    answer: AnswerKind
    states: tuple[str, ...]  # the reasons of `answer_state` why its answer may say nothing
    asked_on: tuple[str, ...] = ("ask", "whatif")  # its pages; also data, several, publish, synthetic, train, board
    version: int = 1
    trust: str = "central"
    behind: str = ""  # a question that it answers in another trust model: its pages offer it there, but do not list it
    relations: tuple[Relation, ...] = RELATIONS
    several: bool = True  # may a person have several rows?
    caveats: tuple[str, ...] = ()

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """The fields of its form; the last one is ε."""
        return *self.own, EPSILON

    @property
    def noun(self) -> str:
        """Its name inside a sentence: “the [spread] of [age]”."""
        return say(f"card.{self.key}.noun")

    @property
    def title(self) -> str:
        return say(f"card.{self.key}.title")

    @property
    def plain(self) -> str:
        return say(f"card.{self.key}.plain")

    @property
    def theorem(self) -> str:
        return say(f"card.{self.key}.theorem")

    @property
    def caveat_texts(self) -> tuple[str, ...]:
        return tuple(say(f"card.{self.key}.caveat.{name}") for name in self.caveats)
