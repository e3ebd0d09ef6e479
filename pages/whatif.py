"""What-if: ε, error, people, questions; any three give the fourth, before anything is spent."""

from __future__ import annotations

from ui.shell.state import current_table
from ui.whatif import whatif

whatif.show(current_table())
