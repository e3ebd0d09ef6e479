"""Check it yourself: every question, and broken ones, on two made-up tables; and a declared column of one's own."""

from __future__ import annotations

from ui.check import audit
from ui.shell.state import current_table

audit.show(current_table())
