"""Synthetic: made-up rows that answer a whole list of questions about as the table does."""

from __future__ import annotations

from ui.shell.state import current_table
from ui.synthetic import synthetic

synthetic.show(current_table())
