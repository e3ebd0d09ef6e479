"""Columns that by their names identify people. Column names are public; nothing here reads a cell."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from dpengine.declared.facts import Facts
from dpengine.declared.schema import Category, ItemSet

MOST_IDS = 3

_PERSON = (
    "patient pacient pacientka bolnik person oseba client klient stranka customer kupec kunde user uporabnik member"
    " clan clanica student dijak ucenec ucenka pupil schuler employee zaposleni delavec mitarbeiter participant"
    " udelezenec respondent borrower bralec reader household gospodinjstvo insured zavarovanec citizen"
    " kartoteka kartoteke karton kartona chart record medical"
).split()
_NUMBERED = "id ids uuid key code number num no nr st stevilka sifra koda oznaka nummer numero".split()
_ALONE = "id ids uuid guid emso kzz ssn mrn patid pid userid customerid clientid studentid memberid".split()
_GLUED = re.compile(
    "(pat|patient|person|personal|kunde|klient|client|customer|user|member|mitglied|mitarbeiter|employee|student|pupil|"
    "schuler|versichert|pac|pacient|uporabnik|stranka|ucenec|dijak)(en|n|s|er)*(id|nr|no|num|nummer|number|code|st)"
)


def id_like(facts: Facts) -> list[str]:
    """Columns of the file, declared or not, that by their names number people, or name them (“Member”) unless they are
    declared as a list."""
    names = facts.header or tuple(facts.schema.columns)
    listed = {name for name, column in facts.schema.columns.items() if isinstance(column, Category | ItemSet)}
    sure = numbering_people(names)
    return [*sure, *(name for name in naming_people(names) if name not in listed)][:MOST_IDS]


def numbering_people(names: Iterable[str]) -> list[str]:
    """Names that number people: “Pupil no.”, “Št. kartoteke”."""
    ids = []
    for name in names:
        words = _folded(name)
        numbered = any(word in _NUMBERED for word in words) and any(word in _PERSON for word in words)
        if numbered or (len(words) == 1 and words[0] in _ALONE) or _GLUED.fullmatch("".join(words)):
            ids.append(name)
    return ids[:MOST_IDS]


def naming_people(names: Iterable[str]) -> list[str]:
    """Names that are one word for a person: “Member”, “Patient”. Such a column may hold ids, or yes and no."""
    numbered = set(numbering_people(names := list(names)))
    return [name for name in names if name not in numbered and len(words := _folded(name)) == 1 and words[0] in _PERSON]


def _folded(name: str) -> list[str]:
    """The words of a name, in small plain letters; PatNr is two."""
    parted = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)
    plain = "".join(
        letter for letter in unicodedata.normalize("NFKD", parted.lower()) if not unicodedata.combining(letter)
    )
    return re.findall(r"[a-z]+", plain)
