"""Accounts: every account and every act, for an auditor."""

from __future__ import annotations

from ui.people import people

people.show_accounts()
