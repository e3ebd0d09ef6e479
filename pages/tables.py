"""Tables: all of them as cards, with what is left of each allowance and what was asked last."""

from __future__ import annotations

from ui.data import tables

tables.show()
