"""Publish: columns of a table made fit to be given away, every row changed at random by itself."""

from __future__ import annotations

from ui.publish import publish
from ui.shell.state import current_table

publish.show(current_table())
