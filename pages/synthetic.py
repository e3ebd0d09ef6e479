"""Synthetic: made-up rows that give nearly the same answers to a whole list of questions as the table."""

from __future__ import annotations

from ui.shell.state import current_table
from ui.synthetic import synthetic

synthetic.show(current_table())
