"""Usual ranges and lists, and which of them a column's *name* suggests. Nothing here ever sees a value.

Names come in many languages and are matched on whole words: "disorders" are no orders, a "depression" is no pression.
Marks on letters do not matter ("plača", "placa"). A word of a rule may say where it must stand: `^` first, `$` last,
`=` alone, `*` at the end of a compound ("Monatsgehalt").
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import pairwise

from ui.data.preset_lists import LISTS


@dataclass(frozen=True)
class Range:
    """A number preset, as a person would type it; `shape` is a public guess for previews."""

    lower: str
    upper: str
    step: str
    shape: str = "bell"


@dataclass(frozen=True)
class Suggestion:
    kind: str | None = None  # yes_no, list, items, number, date; None: the name says nothing
    preset: str | None = None  # a key of RANGES, DAYS or LISTS


RANGES: dict[str, Range] = {
    "age": Range("0", "120", "1"),
    "year": Range("1900", "2030", "1", "even"),
    "percent": Range("0", "100", "1"),
    "score5": Range("1", "5", "1"),
    "score10": Range("0", "10", "1"),
    "money_month": Range("0", "10000", "10", "skewed"),
    "money_year": Range("0", "200000", "100", "skewed"),
    "amount": Range("0", "10000", "10", "skewed"),
    "height_cm": Range("50", "230", "1"),
    "weight_kg": Range("0", "250", "1"),
    "bmi": Range("10", "60", "0.1"),
    "pressure": Range("40", "260", "1"),
    "temperature": Range("-40", "60", "0.5"),
    "people": Range("0", "20", "1", "skewed"),
    "hours_day": Range("0", "24", "0.5"),
    "hours_week": Range("0", "100", "1"),
    "minutes": Range("0", "240", "1", "skewed"),
    "days": Range("0", "366", "1", "skewed"),
    "kilometres": Range("0", "500", "1", "skewed"),
    "area": Range("0", "500", "1", "skewed"),
    "count": Range("0", "100", "1", "skewed"),
}

# Ranges of days, as whole years or months around a public day: today.
DAYS = ("births", "since_2000", "ten_years", "year_now", "year_before", "month_now", "month_before")


def days(preset: str, today: date) -> tuple[date, date]:
    """First and last possible day."""
    year_end = date(today.year, 12, 31)
    if preset == "year_before":
        return date(today.year - 1, 1, 1), date(today.year - 1, 12, 31)
    if preset == "month_before":
        last = today.replace(day=1) - timedelta(days=1)
        return last.replace(day=1), last
    if preset == "month_now":
        later = today.replace(day=28) + timedelta(days=4)
        return today.replace(day=1), later - timedelta(days=later.day)
    first = {"births": 1900, "since_2000": 2000, "ten_years": today.year - 9, "year_now": today.year}[preset]
    return date(first, 1, 1), year_end


_MONEY = (
    "salary salaries income wage wages pay earnings revenue placa dohodek dohodka dohodki prihodek prihodki prejemki "
    "pokojnina *gehalt *lohn *einkommen *verdienst rente salaire revenu revenus salario ingreso ingresos sueldo renta "
    "שכר משכורת הכנסה"
)
_HOURS = "hours hrs ure ur stunden heures horas שעות"
_YEARLY = "year yearly annual annually letni letna letno leto jahr jahrlich jahres annuel annuelle anual שנתי שנתית"
_MONTHLY = "month monthly mesec mesecno mesecna mesecnih monat monatlich mois mes mensual חודש חודשי"
_WEEKLY = "week weekly teden tedensko tedenskih tednu woche wochen semaine semana שבועי שבוע"

# What a name is about, where it is not the thing itself: an age group is no age, and an order's id counts nothing.
# English and German say it last, other languages first.
_LABELS = (
    "id code name type category class group skupina razred kategorija vrsta tip sifra koda ime naziv gruppe klasse "
    "kategorie typ groupe classe categorie nom grupo clase categoria tipo nombre קבוצה קוד שם"
)
_LABELS_LAST = "ids uuid key band bracket level unit currency label text notes comment status opomba enota valuta"

# In this order: the first rule that holds wins. A rule with two groups needs a word of each; one without a preset knows
# that it is a number, and no more.
_NUMBERS: tuple[tuple[str | None, tuple[str, ...]], ...] = (
    (
        "percent",
        (
            "percent percentage pct share$ odstotek odstotki ^delez delez$ prozent prozentsatz *anteil "
            "pourcentage porcentaje אחוז",
        ),
    ),
    ("money_year", (_MONEY, _YEARLY)),
    ("money_month", (_MONEY,)),
    ("age", ("age starost alter lebensalter edad גיל",)),
    ("year", ("year yob birthyear leto letnica jahr jahrgang geburtsjahr annee ano שנה שנת",)),
    ("bmi", ("bmi itm",)),
    ("pressure", ("systolic diastolic sbp dbp sistolicni diastolicni blutdruck",)),
    ("pressure", ("blood krvni arterielle arterial", "pressure tlak pression presion")),
    ("height_cm", ("height =visina grosse korpergrosse taille altura estatura גובה",)),
    ("height_cm", ("visina", "cm telesna")),
    (None, ("weight teza masa gewicht poids peso", "birth porodna rojstna")),  # grams, or ounces
    ("weight_kg", ("weight teza masa *gewicht poids peso משקל",)),
    ("temperature", ("temperature temperatura *temperatur temp",)),
    ("hours_week", (_HOURS, _WEEKLY)),
    (None, (_HOURS, f"{_MONTHLY} {_YEARLY}")),
    ("hours_day", (_HOURS,)),
    ("minutes", ("minutes minut minute minuten minutos דקות",)),
    ("days", ("days dni dnevi tage jours dias ימים",)),
    ("kilometres", ("km kilometres kilometers distance razdalja *entfernung kilometer distancia מרחק",)),
    ("area", ("povrsina m2 *flache surface superficie שטח",)),
    ("score10", ("nps",)),
    ("score5", ("rating ocena satisfaction zadovoljstvo *bewertung *zufriedenheit satisfaccion ציון",)),
    (None, ("score scores points tocke tock",)),  # of five, of a hundred, of 850
    (
        "people",
        (
            "children otroci otrok kinder enfants hijos household gospodinjstvo gospodinjstva haushalt "
            "haushaltsgrosse members clani clanov ילדים",
        ),
    ),
    (
        "amount",
        (
            "amount price cost costs spending znesek cena strosek stroski *betrag *preis *kosten montant prix "
            "importe precio rent najemnina miete loyer סכום מחיר",
        ),
    ),
    ("count", ("count stevilo anzahl visits obiskov orders narocil",)),
    ("count", ("^number ^num ^no", "of")),
)

_BIRTHS = "dob birthday birthdate birth geburtsdatum rojstva rojstni naissance nacimiento לידה"
_DATES = "date *datum timestamp fecha תאריך dob birthday birthdate"
_SETS = (
    "interests hobbies languages skills tags topics symptoms medications allergies films movies genres interesi jeziki "
    "hobiji vescine simptomi zdravila interessen sprachen kenntnisse loisirs langues idiomas aficiones שפות תחביבים"
)
_FLAG_FIRST = "is has had was ima je hat ist tiene"  # a name that starts so is a statement
_ANSWERS = ({"yes", "no"}, {"y", "n"}, {"da", "ne"}, {"ja", "nein"}, {"oui", "non"}, {"si", "no"})
_FLAGS = (
    "smoker$ kadilec$ kadilka$ kadi$ raucher$ fumeur$ fumador$ employed$ zaposlen$ zaposlena$ employe$ empleado$ "
    "member$ clan$ mitglied$ ^consent consent$ ^soglasje soglasje$ active$ aktiven$ aktiv$ insured$ zavarovan$ "
    "vaccinated$ cepljen$ geimpft$ subscribed$ owner$ lastnik$ disabled$ retired$ upokojen$ student$ מעשן$"
)
_LISTED: dict[str, dict[str, str]] = {
    "gender": {
        "en": "gender sex",
        "sl": "spol",
        "de": "geschlecht",
        "fr": "sexe",
        "es": "sexo genero",
        "he": "מין מגדר",
    },
    "weekdays": {"en": "weekday", "sl": "dan", "de": "wochentag", "fr": "jour", "es": "dia", "he": "יום"},
    "months": {"en": "month", "sl": "mesec", "de": "monat", "fr": "mois", "es": "mes", "he": "חודש"},
    "regions": {"sl": "regija"},
    "continents": {"en": "continent"},
    "agreement": {"en": "agreement agree"},
    "sizes": {"en": "=size =velikost shirt majica majice"},
}
_EACH = ("per", "na", "v", "pro", "par", "por")  # payments per month name no month


def fold(name: str) -> list[str]:
    """The words of a name, small and without marks: "MonthlyPlača_neto" is monthly, placa, neto."""
    humps = pairwise(" " + name)
    apart = "".join(f" {sign}" if sign.isupper() and before.islower() else sign for before, sign in humps)
    bare = "".join(sign for sign in unicodedata.normalize("NFKD", apart) if not unicodedata.combining(sign))
    return re.findall(r"[^\W_]+", bare.casefold())


def _holds(words: list[str], any_of: str) -> bool:
    return any(_stands(words, wanted) for wanted in any_of.split())


def _stands(words: list[str], wanted: str) -> bool:
    word = wanted.strip("^$=*")
    if wanted.startswith("*"):
        return any(one.endswith(word) for one in words)
    if wanted.startswith("="):
        return words == [word]
    if wanted.startswith("^"):
        return words[0] == word
    return words[-1] == word if wanted.endswith("$") else word in words


def suggest(name: str) -> Suggestion:
    """What a column of this name is most likely about."""
    words = fold(name)
    if not words:
        return Suggestion("number", "percent") if "%" in name else Suggestion()
    if _holds(words, _DATES):
        return Suggestion("date", "births" if _holds(words, _BIRTHS) else None)
    if words[0] in _FLAG_FIRST.split() or any(both <= {*words} for both in _ANSWERS):
        return Suggestion("yes_no")
    if "%" in name:
        return Suggestion("number", "percent")
    if {words[0], words[-1]} & {*_LABELS.split()} or words[-1] in _LABELS_LAST.split():
        return Suggestion()
    for preset, groups in _NUMBERS:
        if all(_holds(words, group) for group in groups):
            return Suggestion("number", preset)
    named = [word for before, word in pairwise(["", *words]) if before not in _EACH]
    for key, languages in _LISTED.items():
        for language, wanted in languages.items():
            if named and _holds(named, wanted):
                return Suggestion("list", f"{key}_{language}" if f"{key}_{language}" in LISTS else key)
    if _holds(words, _FLAGS):
        return Suggestion("yes_no")
    return Suggestion("items") if _holds(words, _SETS) else Suggestion()
