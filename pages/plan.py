"""Plan: several questions priced together, made to fit, and run in one go."""

from __future__ import annotations

from ui.plan import plan
from ui.shell.state import current_table

plan.show(current_table())
