"""Whom do you trust: one question in the central, the shuffle and the local model."""

from __future__ import annotations

from ui import trust
from ui.state import current_table

trust.show(current_table())
