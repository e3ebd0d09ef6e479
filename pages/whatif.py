"""What-if: ε, error, people, questions; any three give the fourth, before anything is spent."""

from __future__ import annotations

from ui import whatif
from ui.state import current_table

whatif.show(current_table())
