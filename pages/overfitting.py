"""An old address of the lesson on asking many questions."""

from __future__ import annotations

from ui.learn import lesson_overfitting

lesson_overfitting.moved()
