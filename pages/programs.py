"""Programs: the tokens by which a person's own programs ask for them."""

from __future__ import annotations

from ui.people import programs

programs.show()
