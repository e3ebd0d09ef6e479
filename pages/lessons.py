"""Lessons: one screen each, one thing to do."""

from __future__ import annotations

from ui import lessons

lessons.show()
