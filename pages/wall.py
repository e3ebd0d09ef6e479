"""Wall: everyone in a workshop asks the same question once."""

from __future__ import annotations

from ui.workshop import wall

wall.show()
