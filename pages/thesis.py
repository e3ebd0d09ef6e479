"""The tables of the thesis on publishing, computed and drawn again."""

from __future__ import annotations

from ui.publish import thesis

thesis.show()
