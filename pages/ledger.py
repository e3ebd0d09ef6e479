"""Ledger: where the allowance went, whether the record is whole, and a copy to take away."""

from __future__ import annotations

from ui.ledger import ledger_view
from ui.shell.state import current_table

ledger_view.show(current_table())
