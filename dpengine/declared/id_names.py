"""Columns that by their names identify people. Column names are public; nothing here reads a cell."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from itertools import pairwise

from dpengine.declared.facts import Facts
from dpengine.declared.schema import Category, ItemSet

MOST_IDS = 3

# One person, as a name may call them.
PERSON = (
    "patient pacient pacienta pacientka pacientke pacijent pacijenta paciente bolnik bolnika bolnica bolnice person"
    " oseba osebe osoba osobe personne persona client klient klienta cliente stranka stranke customer kupec kupca kunde"
    " user uporabnik uporabnika usuario member clan clana clanica clanice mitglied student studenta studentka studentke"
    " dijak dijaka dijakinja dijakinje ucenec ucenca ucenka ucenke pupil learner candidate kandidat kandidata applicant"
    " schuler employee zaposleni zaposlenega delavec delavca mitarbeiter participant subject udelezenec udelezenca"
    " respondent borrower bralec bralca reader household gospodinjstvo insured zavarovanec zavarovanca citizen"
    " passenger potnik potnika subscriber narocnik narocnika tenant donor voter kartoteka kartoteke karton kartona"
).split()
_SHORT = {"pac": "pacient", "pat": "patient", "cust": "customer", "upor": "uporabnik", "stud": "student"}
# What is numbered for each person, if a word for a number stands beside it.
_OWN = (
    "nhs vpisna clanska studentska dijaska uporabniska osebna zavarovalna davcna maticna roll personnel personal"
    " payroll membership enrolment enrollment registration passport tax insurance chart record medical"
).split()
_MAYBE_OWN = "register staff card kartica kartice evidencna account policy hospital".split()  # or of a till, a ward …
NUMBERED = (
    "id ids uuid key code number num no nr st stevilka sifra sif koda oznaka nummer numero ref reference kzz emso ssn"
).split()
_PLAIN_NUMBER = "id number num no nr st stevilka ref reference".split()  # a medical code is a diagnosis
_ALONE = (
    "id ids uuid guid emso kzz ssn mrn patid pid userid customerid clientid studentid memberid email e_mail"
    " email_address e_mail_address id_number id_no phone phone_number phone_no telephone mobile_number telefon"
    " telefonska_stevilka ime_in_priimek priimek_in_ime full_name"
).split()
_MAYBE_ALONE = ("name",)
_GLUED = re.compile(
    "(pat|patient|person|personal|kunde|klient|client|customer|user|member|mitglied|mitarbeiter|employee|student|pupil|"
    "schuler|versichert|pac|pacient|uporabnik|stranka|ucenec|dijak)(en|n|s|er)*(id|nr|no|num|nummer|number|code|st)"
)


def id_like(facts: Facts) -> list[str]:
    """Columns of the file, declared or not, that seem to identify people. First the one that the owner named; then
    those with a name that numbers people; then those named after people (“Member”) unless declared as a list."""
    names = facts.header or tuple(facts.schema.columns)
    listed = {name for name, column in facts.schema.columns.items() if isinstance(column, Category | ItemSet)}
    sure = [*([facts.whose] if facts.whose in names else []), *numbering_people(names)]
    named = (name for name in naming_people(names) if name not in listed)
    return [*dict.fromkeys([*sure, *named])][:MOST_IDS]


def numbering_people(names: Iterable[str]) -> list[str]:
    """The names that number or identify people: “Pupil no.”, “Št. kartoteke”, “E-mail”, “Card no.”."""
    return [name for name in names if _numbers(name, maybe=True)][:MOST_IDS]


def surely_numbers_people(name: str) -> bool:
    """Does this name certainly number people? Not “Card no.” or “Name”, which may be about something else."""
    return _numbers(name, maybe=False)


@lru_cache(maxsize=4096)
def _numbers(name: str, maybe: bool) -> bool:
    words = [word for word in (_whole(name) if maybe else _folded(name)) if word != "s"]  # pupil's
    whole, own = "_".join(words), [*_OWN, *(_MAYBE_OWN if maybe else ())]
    if whole in _ALONE or (maybe and whole in _MAYBE_ALONE) or glued(words):
        return True
    return any(
        (first in PERSON and then in NUMBERED)
        or (first in NUMBERED and then in PERSON)
        or (first in own and then in _PLAIN_NUMBER)
        or (first in _PLAIN_NUMBER and then in own)
        for first, then in pairwise(words)
    )


def glued(words: list[str]) -> bool:
    """Is the name one word for a person and a number, such as PatNr, patientid or Kundennummer?"""
    return _GLUED.fullmatch("".join(words)) is not None


def naming_people(names: Iterable[str]) -> list[str]:
    """The names that are a word for a person: “Member”, “Patient”. Such a column may hold ids, or yes and no."""
    numbered = set(numbering_people(names := list(names)))
    return [name for name in names if name not in numbered and len(words := _folded(name)) == 1 and words[0] in PERSON]


def _whole(name: str) -> list[str]:
    """The words of a name; usual short words, and those that a full stop cuts short (“Šif. udel.”), as the words that
    they begin."""
    cut = {word for part in re.findall(r"\w{3,}(?=\.)", name) for word in _folded(part)}
    begun = {word: next((one for one in (*NUMBERED, *PERSON) if one.startswith(word)), word) for word in cut}
    return [(begun | _SHORT).get(word, word) for word in _folded(name)]


@lru_cache(maxsize=4096)
def _folded(name: str) -> tuple[str, ...]:
    """The words of a name in small letters without accents; PatNr is two words."""
    parted = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)
    plain = "".join(
        letter for letter in unicodedata.normalize("NFKD", parted.lower()) if not unicodedata.combining(letter)
    )
    return tuple(re.findall(r"[a-z]+", plain))
