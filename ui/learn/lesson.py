"""The parts of a lesson: its settings, and a function from them to a picture and its text.

To add one, `demos/lessons/<name>.py` computes, `ui/learn/lesson_<name>.py` holds `LESSON`, the catalogue holds its text
under `lesson.<n>.…`, and `NAMES` in `ui/learn/lessons.py` gives it its number and place.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import streamlit as st

from dpengine.messages import say

Given = Mapping[str, str]  # the settings in the address


@dataclass(frozen=True)
class Setting:
    """One control with all its choices; no other value in an address is ever used.

    The label of a setting is `lesson.<n>.set.<name>`. A choice shows `lesson.<n>.set.<name>.<choice>` if that sentence
    exists, else the choice itself. `kind`: a *slider*, a *choice*, a *switch* (no, yes), or *again*, a button that
    steps through the choices in a circle."""

    name: str
    choices: tuple[str, ...]
    usual: str
    kind: str = "slider"
    more: bool = False  # hidden behind “More settings”


@dataclass(frozen=True)
class View:
    """What a lesson shows under one setting. All visitors share the cache of views, so a view holds made-up people and
    public samples only. `picture` is escaped HTML (`ui/pictures/picture.py`); the rest is plain text."""

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
    small: str | Callable[[], str]  # the card's picture as HTML; a function if it contains localized numbers
    shown: Callable[[Given], tuple[str, ...]] | None = None  # the settings that matter now; None: all
    random: bool = False  # each person in a room sees different draws
    draw: Callable[[View], None] = _html
    beside: Callable[[View], None] | None = None  # content below the theorem

    @property
    def title(self) -> str:
        return say(f"lesson.{self.number}.title")

    def matters(self, given: Given) -> tuple[Setting, ...]:
        names = {setting.name for setting in self.settings} if self.shown is None else self.shown(given)
        return tuple(setting for setting in self.settings if setting.name in names)

    def clean(self, arriving: Given) -> dict[str, str]:
        """The settings in an address, with defaults in place of values that cannot be chosen; nothing in a URL is
        trusted."""
        return {
            setting.name: value if (value := arriving.get(setting.name)) in setting.choices else setting.usual
            for setting in self.settings
        }


def words(number: int) -> Callable[..., str]:
    """A function that gives the sentences of a lesson: `text("one", people=7)`."""

    def text(code: str, /, **facts: Any) -> str:
        return say(f"lesson.{number}.{code}", **facts)

    return text


def numbers(first: int, last: int, step: int = 1) -> tuple[str, ...]:
    return tuple(str(number) for number in range(first, last + 1, step))


AGAIN = Setting("again", numbers(1, 99), "1", "again")
