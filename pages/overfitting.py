"""Why asking many questions fools you: a demonstration on a table of coin flips."""

from __future__ import annotations

from ui import overfitting

overfitting.show()
