"""Synthetic: made-up rows that answer a whole list of questions about as the table does."""

from __future__ import annotations

from ui import synthetic
from ui.state import current_table

synthetic.show(current_table())
