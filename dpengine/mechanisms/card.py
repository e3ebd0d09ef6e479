"""What a question says about itself before anything is built: its form and its card."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dpengine.declared.unit import RELATIONS, Relation
from dpengine.messages import say


@dataclass(frozen=True)
class Parameter:
    """One field of a form. `kind` says which picker draws it; the words are in the catalogue."""

    name: str
    kind: str  # column.number, .ordered, .category, .listed (or sets), .any, .file, share, bins, where, epsilon, …
    default: Any = None
    required: bool = False

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
    parameters: tuple[Parameter, ...]
    picture: str  # number, bars, point or label: how the answer is drawn
    states: tuple[str, ...]  # those of `telling` in which its answer says nothing
    trust: str = "central"
    relations: tuple[Relation, ...] = RELATIONS
    several: bool = True  # may a person have several rows?
    caveats: tuple[str, ...] = ()

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
