"""First look: all columns at once, paid for once, and then a board to look at as often as one likes."""

from __future__ import annotations

from ui.board import board
from ui.shell.state import current_table

board.show(current_table())
