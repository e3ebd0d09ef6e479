"""Publish: a table that may be given away, with random noise in every row."""

from __future__ import annotations

from ui.publish import publish
from ui.shell.state import current_table

publish.show(current_table())
