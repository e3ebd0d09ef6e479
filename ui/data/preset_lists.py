"""Usual lists of values, one per line, as the page offers them; other spellings stand after " = ".

They are data, not sentences: a list must be written as the file writes it, whatever language the page speaks.
"""

from __future__ import annotations


def _lines(*values: str) -> str:
    return "\n".join(values)


LISTS: dict[str, str] = {
    "gender_en": _lines("female = f, w, woman", "male = m, man"),
    "gender_sl": _lines("ženska = ž, ženski, f", "moški = m"),
    "gender_de": _lines("weiblich = w, Frau, f", "männlich = m, Mann", "divers = d"),
    "gender_fr": _lines("femme = f, féminin", "homme = h, m, masculin"),
    "gender_es": _lines("mujer = f, femenino", "hombre = h, m, masculino"),
    "gender_he": _lines("נקבה = נ, אישה", "זכר = ז, גבר"),
    "weekdays_en": _lines(
        "Monday = Mon",
        "Tuesday = Tue",
        "Wednesday = Wed",
        "Thursday = Thu",
        "Friday = Fri",
        "Saturday = Sat",
        "Sunday = Sun",
    ),
    "weekdays_sl": _lines(
        "ponedeljek = pon",
        "torek = tor",
        "sreda = sre",
        "četrtek = čet",
        "petek = pet",
        "sobota = sob",
        "nedelja = ned",
    ),
    "weekdays_de": _lines(
        "Montag = Mo",
        "Dienstag = Di",
        "Mittwoch = Mi",
        "Donnerstag = Do",
        "Freitag = Fr",
        "Samstag = Sa, Sonnabend",
        "Sonntag = So",
    ),
    "weekdays_fr": _lines("lundi", "mardi", "mercredi", "jeudi", "vendredi", "samedi", "dimanche"),
    "weekdays_es": _lines("lunes", "martes", "miércoles", "jueves", "viernes", "sábado", "domingo"),
    "months_en": _lines(
        "January = Jan, 1, 01",
        "February = Feb, 2, 02",
        "March = Mar, 3, 03",
        "April = Apr, 4, 04",
        "May = 5, 05",
        "June = Jun, 6, 06",
        "July = Jul, 7, 07",
        "August = Aug, 8, 08",
        "September = Sep, 9, 09",
        "October = Oct, 10",
        "November = Nov, 11",
        "December = Dec, 12",
    ),
    "months_sl": _lines(
        "januar = 1, 01",
        "februar = 2, 02",
        "marec = 3, 03",
        "april = 4, 04",
        "maj = 5, 05",
        "junij = 6, 06",
        "julij = 7, 07",
        "avgust = 8, 08",
        "september = 9, 09",
        "oktober = 10",
        "november = 11",
        "december = 12",
    ),
    "months_de": _lines(
        "Januar = 1, 01",
        "Februar = 2, 02",
        "März = 3, 03",
        "April = 4, 04",
        "Mai = 5, 05",
        "Juni = 6, 06",
        "Juli = 7, 07",
        "August = 8, 08",
        "September = 9, 09",
        "Oktober = 10",
        "November = 11",
        "Dezember = 12",
    ),
    "regions_sl": _lines(
        "pomurska",
        "podravska",
        "koroška",
        "savinjska",
        "zasavska",
        "posavska",
        "jugovzhodna Slovenija",
        "osrednjeslovenska",
        "gorenjska",
        "primorsko-notranjska",
        "goriška",
        "obalno-kraška",
    ),
    "continents": _lines("Africa", "Antarctica", "Asia", "Europe", "North America", "Oceania", "South America"),
    "agreement": _lines(
        "strongly disagree = 1", "disagree = 2", "neither = 3, neutral", "agree = 4", "strongly agree = 5"
    ),
    "sizes": _lines("XS", "S", "M", "L", "XL", "XXL"),
}

# Yes and no as files write them; `normal` in the engine takes capitals and outer spaces away first.
YES = ("y", "true", "t", "1", "x", "da", "ja", "j", "oui", "sí", "si", "sim", "tak", "ano", "ναι", "כן")
NO = ("n", "false", "f", "0", "ne", "nein", "non", "não", "nao", "nie", "όχι", "לא")
