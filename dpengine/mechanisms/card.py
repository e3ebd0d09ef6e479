"""What a question says about itself before one is built: the fields of its form, and its card."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from dpengine.declared.unit import RELATIONS, Relation
from dpengine.messages import say

# What kind of thing an answer is. Its limits, unit, words and chart follow from this.
AnswerKind = Literal[
    "count",  # a number of people or rows, or several
    "share",  # of people or rows, in percent
    "place",  # on a column: an average, a median
    "distance",  # on a column: how far values are apart
    "amount",  # in a column's unit, whatever its range: a total
    "label",  # a name, or several in order
    "curve",  # numbers along a column that never fall
    "column",  # made-up values of a column, shown as their cumulative curve
    "density",  # a smooth curve over a column, or a map over two
    "range",  # two ends in a column of the file
    "declarations",  # ranges and lists of several columns of the file
    "check",  # how good a model is, in several figures
    "table",  # made-up rows
    "file",  # published rows
    "model",
    "session",  # answers that are asked for one by one
    "board",  # counts of many columns and pairs of columns, to look at without paying more
]
WHOLE: tuple[AnswerKind, ...] = ("table", "file", "model", "board")  # no figure: each has a page of its own
CURVES: tuple[AnswerKind, ...] = ("curve", "column")
ON_COLUMN: tuple[AnswerKind, ...] = ("place", "distance", "amount")  # in the unit of one column
FIGURES: tuple[AnswerKind, ...] = ("count", "share", *ON_COLUMN)  # numbers that may be compared with each other
ADDED: tuple[AnswerKind, ...] = ("count", "amount")  # numbers that add up
ALL = Fraction(100)  # every share, in percent


@dataclass(frozen=True)
class Parameter:
    """One field of a form. `kind` says which picker draws it; the words are in the catalogue."""

    name: str
    kind: str  # column.number, .ordered, .category, .listed (or sets), .any, .file, share, bins, where, epsilon, …
    default: Any = None
    required: bool = False
    above: str = ""  # shown only where the field of this name is above 1
    words: str = ""  # selects other words around the field than the usual ones: form.of.<words>, form.for.<words>

    def around(self, code: str) -> str:
        """What the form says beside this field."""
        return say(f"{code}.{self.words}" if self.words else code)

    @property
    def label(self) -> str:
        return say(f"param.{self.name}.label")

    @property
    def help(self) -> str:
        return say(f"param.{self.name}.help")


@dataclass(frozen=True)
class Card:
    """What a person reads about a question before asking it."""

    key: str
    version: int
    asked_on: tuple[str, ...]  # the pages that ask it: ask, whatif, data, session, publish, synthetic, train, trust
    order: int  # its place among the questions of a page, in the audit's report and in the catalogue
    parameters: tuple[Parameter, ...]
    answer: AnswerKind
    states: tuple[str, ...]  # the reasons of `telling` for which its answer may say nothing
    trust: str = "central"
    relations: tuple[Relation, ...] = RELATIONS
    several: bool = True  # may a person have several rows?
    caveats: tuple[str, ...] = ()

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
