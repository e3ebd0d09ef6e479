"""More than an answer: what can be made of a table where a figure is too little."""

from __future__ import annotations

from ui.publish import more
from ui.shell.state import current_table

more.show(current_table())
