"""One screen of a lesson."""

from __future__ import annotations

from ui.learn import lessons
from ui.learn.lesson import View


def view(number: int, **given: str) -> View:
    lesson = lessons.lesson(number)
    return lesson.view(lesson.clean(given))
