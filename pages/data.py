"""Data: bring a table, say what is public about it, and go on to Ask."""

from __future__ import annotations

from ui import declare, declare_cards, declare_care, declare_file, declare_people

declare.show(
    {
        "file": declare_file.choose,
        "names": declare_file.names,
        "unit": declare_people.rows,
        "relation": declare_people.secret,
        "columns": declare_cards.choose,
        "cards": declare_cards.describe,
        "care": declare_care.budget,
        "done": declare_care.done,
    }
)
