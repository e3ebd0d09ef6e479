"""Answers: everything that was answered about a table, to look at, compare and take away; and the ledger of it."""

from __future__ import annotations

from ui.answers import answers
from ui.shell.state import current_table

answers.show(current_table())
