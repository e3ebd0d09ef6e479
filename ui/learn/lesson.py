"""What a lesson is made of. A lesson is data: its settings, and a function from them to a picture and its words.

To add one: `demos/lessons/<name>.py` computes, `ui/lesson_<name>.py` holds `LESSON`, its words stand in the catalogue
under `lesson.<n>.…`, and `NAMES` in `ui/learn/lessons.py` gives it its number and its place.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import streamlit as st

from dpengine.messages import say

Given = Mapping[str, str]  # the settings as they stand in the address


@dataclass(frozen=True)
class Setting:
    """One thing that can be changed, and everything it can be: so nothing else in an address is ever used.

    Its label is `lesson.<n>.set.<name>`; a choice is told as `lesson.<n>.set.<name>.<choice>` if there is such a
    sentence, else as it is. `kind`: a *slider*, a *choice* between few, a *switch* (no, yes), or *again*, a button that
    moves on to the next choice and starts anew after the last.
    """

    name: str
    choices: tuple[str, ...]
    usual: str
    kind: str = "slider"
    more: bool = False  # not the one thing to do: it stands behind “More settings”


@dataclass(frozen=True)
class View:
    """What one setting of a lesson shows. Kept in a cache that all visitors share: made-up people and public samples
    only. `picture` is HTML with everything in it escaped (`ui/pictures/picture.py`); the rest is plain text."""

    picture: str
    one: str
    two: str
    theorem: str
    source: str
    relation: str
    data: Any = None  # for a lesson that draws its picture itself


def _html(view: View) -> None:
    st.html(view.picture)


@dataclass(frozen=True)
class Lesson:
    number: int
    settings: tuple[Setting, ...]
    view: Callable[[Given], View]
    small: str | Callable[[], str]  # the picture on its card, HTML; made for each reader where a figure stands in it
    shown: Callable[[Given], tuple[str, ...]] | None = None  # which settings matter now; all where it is not given
    random: bool = False  # True: people in a room see draws of their own
    draw: Callable[[View], None] = _html
    beside: Callable[[View], None] | None = None  # what stands under the theorem, for those who open it

    @property
    def title(self) -> str:
        return say(f"lesson.{self.number}.title")

    def matters(self, given: Given) -> tuple[Setting, ...]:
        names = {one.name for one in self.settings} if self.shown is None else self.shown(given)
        return tuple(one for one in self.settings if one.name in names)

    def clean(self, arriving: Given) -> dict[str, str]:
        """Nothing in a URL is trusted: what cannot be chosen becomes the default."""
        told = {one.name: arriving.get(one.name, one.usual) for one in self.settings}
        return {one.name: told[one.name] if told[one.name] in one.choices else one.usual for one in self.settings}


def words(number: int) -> Callable[..., str]:
    """The sentences of one lesson: `tell("one", people=7)`."""

    def tell(code: str, /, **facts: Any) -> str:
        return say(f"lesson.{number}.{code}", **facts)

    return tell


def numbers(first: int, last: int, step: int = 1) -> tuple[str, ...]:
    return tuple(str(number) for number in range(first, last + 1, step))


AGAIN = Setting("again", numbers(1, 99), "1", "again")
