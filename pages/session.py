"""Session: many questions reserved at once, asked one after the other."""

from __future__ import annotations

from ui.session import session
from ui.shell.state import current_table

session.show(current_table())
