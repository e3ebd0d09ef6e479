"""Which columns, by their names alone, say whose a row is, or that one person may have several."""

from __future__ import annotations

import re
from collections.abc import Sequence

from dpengine.declared.id_names import numbering_people
from ui.data.presets import PERSON, fold, holds

_NUMBERED = "id ids uuid key code number no nr st stevilka sifra koda oznaka nummer numero kzz emso ssn"
# Both in one word: PatNr, patientid, Kundennummer.
_GLUED = re.compile(
    "(pat|patient|person|personal|kunde|klient|client|customer|user|member|mitglied|mitarbeiter|employee|student|"
    "schuler|versichert|pac|pacient)(en|n|s|er)*(id|nr|no|num|nummer|number|code)"
)
MOST_WHO = 3


def whose(names: Sequence[str]) -> list[str]:
    """Columns that by their names may say who a row belongs to, the likeliest first."""
    words, sure = {name: fold(name) for name in names}, numbering_people(names)
    people = [name for name in names if holds(words[name] or [""], PERSON) or _glued(words[name])]
    people.sort(key=lambda name: not _numbers_a_person(words[name]))
    numbered = [name for name in names if words[name] and words[name][-1] in ("id", "uuid") and name not in people]
    return [*sure, *(name for name in people or numbered if name not in sure)][:MOST_WHO]


_COMING = (
    "visit visits obisk obiska obiski pregled pregleda termin order orders narocilo narocila racun racuna invoice "
    "payment payments placilo placila transaction appointment besuch bestellung termin visite visita"
)


def coming(names: Sequence[str]) -> list[str]:
    """Columns that by their names are about something that one person may have several of."""
    return [name for name in names if holds(fold(name) or [""], _COMING)]


def surely_whose(names: Sequence[str]) -> str | None:
    """The one column that is named as a person's number, where no other may say who a row belongs to."""
    found = whose(names)
    return found[0] if len(found) == 1 and _numbers_a_person(fold(found[0])) else None


def _numbers_a_person(words: list[str]) -> bool:
    return _glued(words) or (holds(words, PERSON) and holds(words, _NUMBERED))


def _glued(words: list[str]) -> bool:
    return _GLUED.fullmatch("".join(words)) is not None
