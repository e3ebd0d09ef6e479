"""Check it yourself: every question, and broken ones, on two made-up tables."""

from __future__ import annotations

from ui.check import audit

audit.show()
