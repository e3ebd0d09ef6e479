"""Lessons: one screen each, one thing to do."""

from __future__ import annotations

from ui.learn import lessons

lessons.show()
