"""People: who has signed in and which roles they have, for an administrator."""

from __future__ import annotations

from ui.people import people

people.show()
