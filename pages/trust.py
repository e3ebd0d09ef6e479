"""Whom do you trust: one question in the central, the shuffle and the local model."""

from __future__ import annotations

from ui.shell.state import current_table
from ui.trust import trust

trust.show(current_table())
