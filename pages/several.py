"""Several: many questions for one price, decided now or asked one after another."""

from __future__ import annotations

from ui.several import several
from ui.shell.state import current_table

several.show(current_table())
