"""Usual ranges and lists, and which of them a column's *name* suggests. Nothing here sees a value.

Names come in many languages. Rules match whole words: "disorders" are not orders, "depression" is not "pression".
Accents do not matter ("plača", "placa"). A word of a rule may fix its place: `^` first, `$` last,
`=` alone (several words with `_` between them), `*` at the end of a compound ("Monatsgehalt").
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from itertools import pairwise

from dpengine.declared import id_names, spelling
from dpengine.messages.language import LANGUAGES, current

# Usual lists of values. The engine's tables (dpengine/declared/spellings) hold the accepted spellings; here are the
# lines a card starts with and the sample cells. All are public and never come from an uploaded file.


@dataclass(frozen=True)
class UsualList:
    table: str
    like: tuple[str, ...]  # cells a person may recognise
    lines: int | None = None  # how many of the table's values; None: all
    also: tuple[str, ...] = ()  # spellings of one value, to show that a person's own would count
    short: dict[str, tuple[str, ...]] = field(default_factory=dict)  # how a language shortens them in a cell

    @property
    def values(self) -> tuple[str, ...]:
        """The list's values in the reader's language."""
        return spelling.spelling_values(self.table, current())[: self.lines]

    @property
    def samples(self) -> tuple[str, ...]:
        """Cells that a person may recognise, first the short ones of the reader's language."""
        return self._in_own_words(self.like)

    @property
    def spelled(self) -> tuple[str, ...]:
        """Some accepted spellings, first those of the reader's language."""
        return self._in_own_words(self.also)

    def _in_own_words(self, cells: Sequence[str]) -> tuple[str, ...]:
        """These cells without the words of other languages, after the short ones of the reader's language."""
        every = ([word.casefold() for word in spelling.spelling_values(self.table, lang)] for lang in LANGUAGES)
        foreign = {word for words in every for word in words} - {word.casefold() for word in self.values}
        own = (cell for cell in cells if cell.casefold().replace("-", " ") not in foreign)
        return tuple(dict.fromkeys((*self.short.get(current(), ()), *own)))

    @property
    def text(self) -> str:
        return "\n".join(self.values)


LISTS: dict[str, UsualList] = {
    "sex": UsualList(
        "sex-1",
        ("Male", "moški"),
        2,
        ("Male", "moški"),
        {"en": ("M", "F"), "sl": ("m", "ž"), "he": ("M", "F")},
    ),
    "countries": UsualList("countries-1", ("Slovenia", "Slovenija", "SVN"), None, ("United-States", "USA", "ZDA")),
    "schooling": UsualList("schooling-1", ("secondary", "srednja šola")),
    "schooling_us": UsualList("schooling_us-1", ("HS-grad", "Masters")),
    "marital": UsualList("marital-1", ("married", "poročen")),
    "marital_us": UsualList("marital_us-1", ("Married-civ-spouse",)),
    "employment": UsualList("employment-1", ("employed", "zaposlen")),
    "work_us": UsualList("work_us-1", ("Private", "Self-emp-inc")),
    "occupation_us": UsualList("occupation_us-1", ("Craft-repair", "Sales")),
    "family_us": UsualList("family_us-1", ("Husband", "Own-child")),
    "race_us": UsualList("race_us-1", ("Black", "Other")),
    "bracket_us": UsualList("bracket_us-1", (">50K",)),
    "months": UsualList("months-1", ("January", "januar", "01")),
    "weekdays": UsualList("weekdays-1", ("Monday", "ponedeljek")),
    "regions_sl": UsualList("regions_sl-1", ("gorenjska", "savinjska")),
    "continents": UsualList("continents-1", ("Europe", "Evropa")),
    "agreement": UsualList("agreement-1", ("agree", "strinjam se", "4")),
    "sizes": UsualList("sizes-1", ("M", "XL")),
}
_YES_NO = ("yes", "no", "da", "ne", "1", "0")
YES_NO = UsualList("yes_no-1", _YES_NO, also=_YES_NO, short={"sl": ("da", "ne")})


@dataclass(frozen=True)
class Range:
    """A usual range, as typed. `like` is a cell that a person may recognise, `measure` is the unit of the numbers."""

    lower: str
    upper: str
    step: str
    like: str
    measure: str = ""


@dataclass(frozen=True)
class Suggestion:
    kind: str | None = None  # yes_no, list, items, number, date; None: the name says nothing
    preset: str | None = None  # a key of RANGES, DAYS or LISTS


@dataclass(frozen=True)
class Candidate:
    """One reading of a column, with sample cells that a person may recognise."""

    kind: str
    preset: str | None
    like: tuple[str, ...]
    order: str | None = None  # of a date
    ends: tuple[str, str] | None = None  # of a scale, which a file labels only in part
    lines: str = ""  # a list by the file's own labels


# No sample cell is in the first row of a well-known table (such as the census of 1994): a guess from names that shows
# the person's own first row would look as if the rows had been read.
RANGES: dict[str, Range] = {
    "age": Range("0", "120", "1", "47"),
    "year": Range("1900", "2030", "1", "1987"),
    "percent": Range("0", "100", "1", "85", measure="%"),
    "score5": Range("1", "5", "1", "4"),
    "score10": Range("0", "10", "1", "8"),
    "score20": Range("0", "20", "1", "14"),
    "money_month": Range("0", "10000", "10", "2500"),
    "money_year": Range("0", "200000", "100", "34000"),
    "gain": Range("0", "100000", "100", "1500"),
    "amount": Range("0", "10000", "10", "49.90"),
    "height_m": Range("0.5", "2.5", "0.01", "1.73", measure="m"),
    "height_cm": Range("50", "230", "1", "173", measure="cm"),
    "weight_kg": Range("0", "250", "1", "72", measure="kg"),
    "bmi": Range("10", "60", "0.1", "24.2"),
    "pressure": Range("40", "260", "1", "120", measure="mmHg"),
    "body_temp": Range("34", "43", "0.1", "37.2", measure="°C"),
    "temperature": Range("-40", "60", "0.5", "21.5", measure="°C"),
    "people": Range("0", "20", "1", "2"),
    "school_years": Range("0", "25", "1", "11"),
    "hours_day": Range("0", "24", "0.5", "7.5", measure="h"),
    "hours_week": Range("0", "100", "1", "35", measure="h"),
    "minutes": Range("0", "240", "1", "35", "min"),
    "days": Range("0", "366", "1", "12"),
    "kilometres": Range("0", "500", "1", "18", "km"),
    "area": Range("0", "500", "1", "64", "m²"),
    "count": Range("0", "100", "1", "3"),
    "small": Range("0", "50", "0.1", "4.2"),
    "fraction": Range("0", "1", "0.01", "0.35"),
}
# No cell of these is below 0. A change, a balance, a delay or a degree may be.
NEVER_NEGATIVE = (
    "age year score5 score10 score20 money_month money_year height_m height_cm weight_kg bmi pressure body_temp people "
    "school_years hours_day hours_week kilometres area count"
).split()
# Readings that share a name: the person picks one by its sample cells.
OTHERWISE: dict[str, tuple[str, ...]] = {
    "money_month": ("money_month", "money_year", "bracket_us"),
    "money_year": ("money_year", "bracket_us"),
    "height_cm": ("height_cm", "height_m"),
    "score5": ("score5", "score10"),
    "hours_day": ("hours_day", "hours_week"),
    "temperature": ("temperature", "body_temp"),
    "marital": ("marital", "marital_us"),
    "schooling": ("schooling", "school_years", "schooling_us"),
    "sizes": ("sizes", "people"),
}
# Lists and column names of one census. If several of these names come together, the other columns are read as that
# census writes them. A single name proves nothing.
EDITION = ("schooling_us", "marital_us", "bracket_us", "work_us", "occupation_us", "family_us", "race_us")
_CENSUS = "=workclass =work_class =fnlwgt =education_num =capital_gain =capital_loss =native_country =hours_per_week"
SEVERAL = 3
# Names found only in tables about patients: beside them a temperature is a body temperature.
_CLINICAL = (
    "patient patients pacient pacienta bolnik bolnika paciente kartoteka kartoteke mrn diagnosis diagnoza diagnose "
    "kzz patnr icd10 systolic diastolic sbp dbp sistolicni diastolicni blutdruck pulse pulz puls spo2"
)
WRITTEN = {"dmy": "31.12.1999", "ymd": "1999-12-31", "mdy": "12/31/1999"}  # one day, in each order
_DAY_FIRST = ("sl",)  # languages in which nobody writes the month first
_CURRENCIES = {"eur": "€", "euro": "€", "euros": "€", "evro": "€", "evrov": "€", "usd": "$", "gbp": "£", "chf": "CHF"}
_SIGNS = "€$£"

# Ranges of days, as whole years or months around a public day: today.
DAYS = ("year_before", "year_now", "two_years", "ten_years", "since_2000", "births", "month_now", "month_before")


def days(preset: str, today: date) -> tuple[date, date]:
    """The first and the last possible day of a usual range of days."""
    year_end = date(today.year, 12, 31)
    if preset == "year_before":
        return date(today.year - 1, 1, 1), date(today.year - 1, 12, 31)
    if preset == "two_years":
        return date(today.year - 2, 1, 1), date(today.year - 1, 12, 31)
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
_TEMPERATURE = "temperature temperatura *temperatur temp"
_HOURS = "hours hrs ure ur stunden heures horas שעות"
_YEAR = "year leto jahr annee ano שנה שנת"
_RECENT = "last this past previous lansko letosnje preteklo prejsnje letztes voriges derniere pasado anterior שעברה"
_YEARLY = (
    "year yearly yr pa annual annually letni letna letno leto jahr jahrlich jahres annuel annuelle anual שנתי שנתית"
)
_MONTHLY = "month monthly mesec mesecno mesecna mesecnih monat monatlich mois mes mensual חודש חודשי"
_WEEKLY = "week weekly wk wkly teden tedensko tedenskih tednu woche wochen semaine semana שבועי שבוע"

# Words that change what a name is about: an age group is not an age, and an order's id is not a count.
# English and German put them last, other languages first.
_LABELS = (
    "id code name type category class group skupina razred kategorija vrsta tip sifra koda ime naziv gruppe klasse "
    "kategorie typ groupe classe categorie nom grupo clase categoria tipo nombre קבוצה קוד שם"
)
_LABELS_LAST = (
    "ids uuid key band bracket level lvl unit currency label text notes comment status opomba enota valuta method mode "
    "reason purpose activity tenure nacin razlog namen dejavnost"
)

# Among those, words for sorts: the column is a list that only its owner knows.
_SORTS = (
    "type kind category class group band bracket level lvl status unit currency method mode reason purpose activity "
    "tenure occupation occup nacin razlog namen dejavnost skupina razred kategorija vrsta tip status "
    "enota valuta gruppe klasse kategorie typ groupe classe categorie grupo clase categoria tipo קבוצה"
)

_MAIN = ("main", "glavni", "glavna", "usual")  # as in “main diagnosis”: one of some

# The first rule that holds wins; it needs a word of each of its groups, which + separates. One without a preset only
# says that the column is a number.
_NUMBERS: tuple[tuple[str | None, str], ...] = (
    ("percent", "percent percentage pct share$ odstotek odstotki ^delez delez$ prozent prozentsatz *anteil "
                "pourcentage porcentaje אחוז"),
    ("school_years", "education schooling school izobrazba solanje solanja sole + num years let leta"),
    ("gain", "capital cap + gain gains loss losses"),
    ("money_year", f"{_MONEY} + {_YEARLY}"),
    ("money_month", _MONEY),
    ("age", "age starost alter lebensalter edad גיל"),
    ("age", "years yrs + old$"),
    ("year", f"{_YEAR} yob birthyear letnica =letnik godina godiste jahrgang geburtsjahr"),
    ("bmi", "bmi itm"),
    ("pressure", "systolic diastolic sbp dbp sistolicni diastolicni blutdruck"),
    ("pressure", "sist sis syst sys diast dia rr zgornji spodnji + pressure tlak druck"),
    ("pressure", "rr + sist sis syst sys diast dia sistolicni diastolicni"),
    ("pressure", "blood krvni arterielle arterial + pressure tlak pression presion"),
    ("height_cm", "height =visina grosse korpergrosse taille altura estatura גובה"),
    ("height_cm", "visina + cm telesna"),
    (None, "weight teza masa gewicht poids peso + birth porodna rojstna"),  # grams, or ounces
    (None, "weight weights utez + record sample sampling survey final statistical design zapisa vzorca"),
    ("weight_kg", "weight teza tezina masa *gewicht poids peso משקל"),
    ("body_temp", f"body telesna corporelle corporal {_CLINICAL} + {_TEMPERATURE}"),
    ("body_temp", "*korpertemperatur"),
    ("temperature", _TEMPERATURE),
    ("hours_week", f"{_HOURS} + {_WEEKLY}"),
    (None, f"{_HOURS} + {_MONTHLY} {_YEARLY}"),
    ("hours_day", _HOURS),
    ("minutes", "minutes mins minut minute minuten minutos דקות"),
    ("minutes", "wait waiting duration cakalna cakalni cakanje cekanje trajanje doba wartezeit dauer attente duree "
                "espera + min mins"),
    ("days", "days dni dnevi dana tage jours dias ימים"),
    ("kilometres", "km kilometres kilometers distance razdalja *entfernung kilometer distancia מרחק"),
    ("area", "povrsina m2 *flache surface superficie שטח"),
    ("score10", "nps"),
    ("score5", "rating ocena satisfaction zadovoljstvo *bewertung *zufriedenheit satisfaccion ציון"),
    (None, "score scores points tocke tock"),  # of five, of a hundred, of 850
    ("people", "bedrooms bathrooms spalnice schlafzimmer dormitorios"),
    ("people", "household hh gospodinjstvo gospodinjstva haushalt + size people persons members velikost osebe oseb "
               "stevilo number count grosse"),
    ("people", "children otroci otrok kinder enfants hijos haushaltsgrosse members clani clanov ילדים"),
    ("amount", "amount price cost costs spending doplacilo znesek iznos cijena cena strosek stroski *betrag *preis "
               "*kosten montant prix importe precio rent najemnina miete loyer סכום מחיר"),
    ("count", "count stevilo anzahl visits obiskov orders narocil"),
    ("small", "krvni + sladkor"),
    ("count", "^number ^num ^no + of"),
)  # fmt: skip

# The ends of a scale in a name, as in “life_sat_0_10”.
_SCALES: dict[tuple[str, ...], str] = {
    ("0", "10"): "score10",
    ("1", "10"): "score10",
    ("1", "5"): "score5",
    ("0", "20"): "score20",
}
_SCALES |= {("0", "100"): "count"}
_ITEM = re.compile(r"q|item|v|frage|vpr|part|section|chapter")  # “q 1 5” is question 1.5

# The unit in a name, as in "Čakal (min)", if no rule holds.
_MEASURED = re.compile(r".*[(\[]\s*(\S+?)\.?\s*[)\]]\s*")
_MEASURES = {
    "minutes": "min mins minutes minut minuten",
    "amount": "€ eur euro $ usd £ gbp chf",
    "pressure": "mmhg",
    "temperature": "°c ºc",
    "area": "m² m2",
}

_BIRTHS = "dob roj birthday birthdate birth geburtsdatum rojstva rojstni naissance nacimiento לידה"
_DATES = "on$ dt$ dne$ dat date *datum timestamp fecha תאריך dob birthday birthdate"
_DAY = "dan day tag jour dia יום"
_FIRST = "first last prvi zadnji erster letzter premier dernier primer ultimo"  # “last day of work”
_WEEK = "week tednu tedna teden woche semaine semana"
_MONTH = "month mesecu meseca mesec monats monat mois mes"
_YEARS_DAY = "year letu leta jahres jahr annee ano"
_COUNTED_DAYS = (  # “day of stay” is the third or the tenth
    "stay treatment illness therapy hospitalisation hospitalization cycle pregnancy trial study bolezni zdravljenja "
    "hospitalizacije terapije lezanja bivanja cikla nosecnosti poskusa"
)
_SETS = (
    "interests hobbies languages skills tags topics symptoms medications allergies films movies genres interesi jeziki "
    "hobiji vescine simptomi zdravila interessen sprachen kenntnisse loisirs langues idiomas aficiones שפות תחביבים"
)
_FLAG_FIRST = "is has had was owns ima je hat ist tiene"  # a name that starts so is a statement
_ANSWERS = ({"yes", "no"}, {"y", "n"}, {"da", "ne"}, {"ja", "nein"}, {"oui", "non"}, {"si", "no"})
_FLAGS = (
    "smoker$ kadilec$ kadilka$ kadi$ pusac$ raucher$ fumeur$ fumador$ employed$ zaposlen$ zaposlena$ employe$ "
    "empleado$ member$ clan$ mitglied$ ^consent consent$ ^soglasje soglasje$ active$ aktiven$ aktiv$ insured$ "
    "zavarovan$ vaccinated$ cepljen$ geimpft$ subscribed$ owner$ lastnik$ disabled$ retired$ upokojen$ student$ "
    "referred$ referral$ napotitev$ napoten$ מעשן$"
)
_QUANTITIES = "years yrs months weeks ^number ^num let mesecev tednov jahre monate annees anos"
# Lists by words in any language, as cells may be in any; these before all else: "marital status" is no status.
_LISTED_FIRST: dict[str, str] = {
    "countries": "country countries drzava drzave drzavljanstvo nationality citizenship staat pais ארץ",
    "marital": "marital zakonski familienstand",
    "employment": "employment zaposlitveni =zaposlitev",
    "work_us": "=workclass =work_class",
}
_LISTED: dict[str, str] = {
    "sex": "gender sex spol geschlecht sexe sexo genero מין מגדר",
    "schooling": "education izobrazba schooling bildung schulbildung ausbildung formation educacion השכלה",
    "weekdays": "weekday wochentag",
    "months": "month mesec monat mois mes חודש",
    "regions_sl": "regija",
    "continents": "continent celina kontinent",
    "agreement": "agreement agree",
    "sizes": "=size =velikost shirt majica majice",
    "occupation_us": "=occupation",
    "family_us": "=relationship",
    "race_us": "=race",
}
_NUMBER_OF = "no nr num number st stevilka nummer"
_RECORDS = "case record file card form questionnaire ref serial receipt invoice karton kartona kartoteke spisa racuna"
# A word for a person, or for that person's number; also for several people.
PERSON = " ".join(
    [*id_names.PERSON, "patients emso ssn kartica kartice mrn kzz nhs vpisna maticna patienten versicherten kunden"]
)
_HOW_MANY = "num cnt count st"  # “št. zdravil”
_EACH = ("per", "na", "v", "pro", "par", "por", "a", "each", "every")  # payments per month name no month


def fold(name: str) -> list[str]:
    """The words of a name, small and without marks: "MonthlyPlača_neto" is monthly, placa, neto."""
    humps = pairwise(" " + name)
    apart = "".join(f" {sign}" if sign.isupper() and before.islower() else sign for before, sign in humps)
    bare = "".join(sign for sign in unicodedata.normalize("NFKD", apart) if not unicodedata.combining(sign))
    return re.findall(r"[^\W_]+", bare.casefold())


# What the label of a number says if it stands for no answer.
_UNANSWERED = re.compile(
    r"refus(ed|al)|(don t|dont|do not) know|dk|not (asked|applicable|stated|ascertained|available)|inapplicable"
    r"|no (answer|response)|missing|skipped|unknown|ne vem|(brez|ni) odgovora|ne zeli odgovoriti|zavrnil|zavrnila"
    r"|zavrnitev|zavraca|ni vprasan[ao]?|ni bilo vprasano|manjka|neznano|weiss nicht|keine angabe"
)


def unanswered(label: str) -> bool:
    """Does a label say that there is no answer?"""
    return _UNANSWERED.fullmatch(" ".join(fold(label.partition("(")[0]))) is not None


def holds(words: list[str], any_of: str) -> bool:
    return any(_stands(words, wanted) for wanted in any_of.split())


def _stands(words: list[str], wanted: str) -> bool:
    word = wanted.strip("^$=*")
    if wanted.startswith("*"):
        return any(part.endswith(word) for part in words)
    if wanted.startswith("="):
        return words == word.split("_")
    if wanted.startswith("^"):
        return words[:1] == [word]
    return words[-1:] == [word] if wanted.endswith("$") else word in words


def suggest(name: str) -> Suggestion:
    """What a column of this name is most likely about; an empty suggestion if the name says nothing."""
    words = fold(name)
    if not words:
        return Suggestion("number", "percent") if "%" in name else Suggestion()
    if holds(words, _DATES):
        return Suggestion("date", "births" if holds(words, _BIRTHS) else "ten_years")
    if words[0] in _FLAG_FIRST.split() or any(both <= {*words} for both in _ANSWERS):
        return Suggestion("yes_no")
    if "%" in name:
        return Suggestion("number", "percent")
    for key, wanted in _LISTED_FIRST.items():
        if holds(words, wanted):
            return Suggestion("list", key)
    if {words[0], words[-1]} & {*_LABELS.split()} or words[-1] in _LABELS_LAST.split():
        return Suggestion()
    if (day := _day(words)) is not None:
        return day
    if (scale := _SCALES.get(tuple(words[-2:]))) is not None and len(words) > 2 and not _ITEM.fullmatch(words[-3]):
        return Suggestion("number", scale)
    if (
        len(words) > 1
        and words[0] in _HOW_MANY.split()
        and not _of_a_record(words)
        and not id_names.numbering_people([name])
    ):
        return Suggestion("number", "count")  # whatever it counts: money, years, children
    named = [word for before, word in pairwise(["", *words]) if before not in _EACH]
    for preset, wanted in _NUMBERS:
        other = {*words} & {*_RECENT.split()} or {*words} - {*named} & {*_YEAR.split()}
        if preset == "year" and (other or any(map(str.isdigit, words))):
            continue  # what was spent last year, or is drunk a year, or stands under “year 2023”, is no year
        if all(holds(words, group) for group in wanted.split(" + ")):
            return Suggestion("number", preset)
    if (unit := _MEASURED.fullmatch(name)) is not None:
        for preset, signs in _MEASURES.items():
            if unit[1].casefold() in signs.split():
                return Suggestion("number", preset)
    for key, wanted in _LISTED.items():
        if named and holds(named, wanted):
            return Suggestion("list", key)
    if holds(words, _QUANTITIES):
        return Suggestion("number")  # “years employed” is no yes and no
    if holds(words, _FLAGS) and not (len(words) == 1 and words[0] in PERSON.split()):
        return Suggestion("yes_no")  # “member” alone may as well number the members
    return Suggestion("items") if holds(words, _SETS) else Suggestion()


def _day(words: list[str]) -> Suggestion | None:
    """What a name that begins with a day is about. “Day of admission” and “dan obiska” are dates, “day of week” and
    “dan v tednu” are weekdays; other days are counted. None if the name begins otherwise, or numbers the day."""
    first = holds(words[:1], _FIRST)
    about = words[1 + first :]
    if not holds(words[first : 1 + first], _DAY) or any(map(str.isdigit, about)):
        return None
    if not about:
        return Suggestion("date", "ten_years") if first else Suggestion("list", "weekdays")
    if holds(about, _WEEK):
        return Suggestion("list", "weekdays")
    if holds(about, f"{_YEARS_DAY} {_COUNTED_DAYS}") and not first:
        return Suggestion("number", "days")
    if holds(about, _MONTH):
        return Suggestion("number")
    return Suggestion("date", "births" if holds(about, _BIRTHS) else "ten_years")


def candidates(name: str, beside: Sequence[str] = ()) -> tuple[Candidate, ...]:
    """Possible readings of a column by its name, the likeliest first. `beside`: the other columns' names."""
    idea = suggest(name)
    if idea.kind == "date":
        return _dates(idea.preset)
    if idea.kind == "yes_no":
        return (_reading("yes_no"),)
    if idea.preset is None:
        return ()
    readings = OTHERWISE.get(idea.preset, (idea.preset,))
    census = sum(holds(fold(other), _CENSUS) for other in {*beside, name}) >= SEVERAL
    if idea.preset in EDITION and not census:
        return ()
    words = fold(name)
    if words in map(str.split, _DAY.split()):  # “day” alone
        return _reading("weekdays"), *_dates("ten_years")
    measured = tuple(preset for preset in readings if preset in RANGES and RANGES[preset].measure in words)
    if measured:  # the name has the unit
        readings = measured
    if "body_temp" in readings and any(holds(fold(other), _CLINICAL) for other in beside if other != name):
        readings = ("body_temp",)
    if len(readings) > 1:  # the census has its own lists, other files the usual ones
        readings = tuple(preset for preset in readings if (preset in EDITION) == census) or readings
    return tuple(map(_reading, readings))


def _dates(preset: str | None) -> tuple[Candidate, ...]:
    if current() in _DAY_FIRST:  # a day with the year first is read either way
        return (Candidate("date", preset, (WRITTEN["dmy"], WRITTEN["ymd"]), "dmy"),)
    return tuple(Candidate("date", preset, (like,), order) for order, like in WRITTEN.items())


# What an unclear name may stand for, the likeliest first: words or beginnings of words, and readings. A person picks
# one by what its cells look like, so a wrong one only stands there in vain. A list and a number are still to be named.
_SHORT: tuple[tuple[str, tuple[str, ...]], ...] = (
    (r"q\d+\w*|item\d*|v\d+\w*|frage\d*|vpr\d*|likert\w*", ("agreement", "score5", "yes_no")),
    (r"\w*(hh|fam|party|group|crew)_?si?ze?|party|size|velikost|rooms?|beds?|sob[ae]?|postelj\w*",
     ("people", "count", "list")),
    (r"m(ar)?ks?|rat(e|ing)s?|stars?|satisf\w*|quality|zadovolj\w*|ocen\w*|not[ae]\w*",
     ("score5", "score10", "percent")),
    (r"grades?|grd|gr|h(ea)?lth\w*|zdravje|stopnja|bolecin\w*|pain|level|enjoy\w*|happ\w*|trust\w*|conf(id)?\w*|"
     r"stress\w*|difficult\w*", ("score5", "score10", "list")),
    (r"sc(ore)?s?|pts?|points?|tock\w*|tests?|exam\w*|g\d|index", ("percent", "score10", "score20")),
    (r"p(er)?ct|share|popust\w*|discount\w*|moisture|humid\w*|vlag\w*|purity", ("percent", "fraction", "number")),
    (r"fte|ratio|prob\w*|fraction|delez", ("fraction", "percent", "number")),
    (r"yrs|years", ("school_years", "year", "age")),
    (r"y(ea)?r|jahr\w*|let[oa]\w*|since|earliest|latest", ("year", "school_years", "age")),
    (r"exp(erience)?|tenure|staz", ("school_years", "list", "number")),
    (r"age\w?|yob|dob", ("age", "year", "percent")),
    (r"let", ("age", "school_years", "year")),
    (r"gross|net|rev|bills?|charges?|chg|savings?|deduct\w*|bal|amnt|"
     r"amt|amount|\w*cost\w*|pric\w*|fare\w*|fees?|paid|pay\w*|sum|val(ue)?|balance|znesek|cen[ae]|sal(ary)?|"
     r"(\w{3,})?inc(ome)?|wages?\w?\d*|eur|usd|gbp|chf|earn\w*|bonus\w*|spen[dt]\w*|(\w{3,})?exp|expen[ds]\w*|rent|najem\w*|"
     r"budget\w*|subsid\w*|subvenc\w*|revenue|prihod\w*|premium|debts?|tax(es)?|tips?|donat\w*|sales?|turnover|"
     r"salar\w*|installments?|limit", ("amount", "money_year", "number")),
    (r"n|no|num\w*|nr|cnt|count\w*|qty|tot(al)?|st|stev\w*|sib\w*|par(ents?|ch)?|kids?|child\w*|absen\w*|abs|fail\w*|"
     r"visits?|vehs?|vehicl\w*|cars?|kosov|workers?", ("people", "count", "days")),
    (r"min(ute)?s?|dur\w*|wait\w*|cak\w*|trajanje|delay\w*|zamud\w*|commut\w*|travel\w*",
     ("minutes", "hours_day", "days")),
    (r"time\w*|cas", ("minutes", "days", "number")),
    (r"hrs?|hours?|ot|overtime|nadure", ("hours_day", "hours_week", "number")),
    (r"hours\w{1,2}", ("hours_week", "number", "hours_day")),
    (r"ur[ae]?|hour", ("hours_day", "minutes", "list")),
    (r"day|dan|tag", ("ten_years", "days", "weekdays")),
    (r"born|rojen\w*", ("year", "births", "list")),
    (r"ds?|days|los|stay\w*|dni", ("days", "count", "hours_day")),
    (r"ht|hgt|height\w*|cm", ("height_cm", "height_m", "number")),
    (r"\w?wt|w(ei)?gh?t\w*|kg|mass|tons?|tonnes?|yield\w*|pridel\w*", ("weight_kg", "number", "percent")),
    (r"bp|sbp|dbp|sys|dia|press\w*|hr|pulse\w*", ("pressure", "count", "number")),
    (r"mmol|mg|ug|ng|dl|ml|iu|glu\w*|sladk\w*|chol\w*|holest\w*|hdl|ldl|hb|hba1c|crp|creat\w*|ferrit\w*|ph|dos(e|age)s?|dil\w*|conc\w*|"
     r"izvid\w*|vrednost|result\w*", ("small", "percent", "number")),
    (r"t(emp)?|tmp|temperat\w*", ("body_temp", "temperature", "number")),
    (r"dist\w*|km|m|met(re|er)s?|miles?", ("kilometres", "minutes", "number")),
    (r"ha|acres?|hectares?|sqm|m2|area\w*|arable", ("area", "amount", "number")),
    (r"is(?!ced)\w*|has\w*|flag\w*|\w*sup|yn|ind|default|activities", ("yes_no", "score5", "list")),
    (r"sx|sex\w?|gndr|gen(der)?|mf", ("sex", "yes_no", "list")),
    (r"cntry|ctry|nat\w*|land", ("countries", "continents", "list")),
    (r"mon(th)?s?|mth|mesec", ("months", "count", "days")),
    (r"dow|wday|weekday\w*", ("weekdays", "list", "number")),
    (r"edu\w*|\w*edu|isced\w*|school\w*|izob\w*", ("schooling", "school_years", "list")),
    (r"mar\w*|ms|m_?stat\w*|civil", ("marital", "yes_no", "list")),
    (r"smok\w*|drink\w*|kadi\w*|disab\w*|born\w*|invalid\w*", ("yes_no", "list", "number")),
    (r"job\w*|\w*job|work\w*|emp\w*|occ\w*", ("employment", "yes_no", "list")),
)  # fmt: skip
# The form of the last word: “Goals” and “Parcels” are counted, “Injured” and “Fasting” are so or not, “Joined” may also
# be a day. English only: elsewhere a plural looks otherwise.
_FORMS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (
        r"(?!isced)\w{2,}[^e]ed|\w{3,}ing|\w{3,}[ai]ble|\w*(done|paid|sent|sold|left|won|lost|held|kept|met|made)",
        ("yes_no", "ten_years", "list"),
    ),
    (r"(?!species|series)\w{3,}[^suio]s", ("count", "number", "list")),
)
_ANY = ("list", "yes_no", "number")
# The last word of “net_inc_yr”, if the others name a sum, is the time that it is for.
_YEARS = ("yr", "y", "year", "pa")
_PERIODS = (*_YEARS, "mth", "month", "mo", "pm", "wk", "week", "pw", "day", "pd")
_TOTALS = {"tot", "total", "sum", "avg"}
_TEXTS = {*"surname lastname firstname remark remarks comment comments text description opis email mail phone".split()}
LIKELY = 3


def likely(name: str) -> tuple[Candidate, ...]:
    """The three likeliest readings of a column whose name alone settles nothing; none for names of people, codes and
    remarks."""
    words = fold(name)
    if not words or id_names.numbering_people([name]) or {words[0], words[-1]} & _TEXTS or _of_a_record(words):
        return ()
    sorts = {words[0], words[-1]} & {*_SORTS.split()} or words[0] in _MAIN  # as in “ticket type” and “age band”
    found: list[str] = ["list"] if sorts and not holds(words, _QUANTITIES) else []  # “tenure_yrs” is a number
    if not found and ({words[0], words[-1]} & {*_LABELS.split()} or words[-1] in _LABELS_LAST.split()):
        return ()
    if suggest(name).kind == "number":  # of no usual range
        found += [usual for usual in _stems(words) if usual in RANGES][: LIKELY - 1]
        found += ["number", "count"]
    return tuple(_reading(usual) for usual in list(dict.fromkeys((*found, *_stems(words), *_ANY)))[:LIKELY])


def _of_a_record(words: Sequence[str]) -> bool:
    """Do these words name a record's own number, as in “case_no”? Such a number measures nothing."""
    return bool({words[0], words[-1]} & {*_NUMBER_OF.split()}) and bool({*words} & {*_RECORDS.split()})


def numbers_a_record(name: str) -> bool:
    """Does the name say a record's own number: “case_no”, or a word for a number alone, such as “ref”?"""
    words = fold(name) or [""]
    return _of_a_record(words) or {*words} <= {*_NUMBER_OF.split(), "ref", "reference", "serial"}


def _stems(words: Sequence[str]) -> list[str]:
    """Readings of a column by the beginnings of the words in its name. The last word counts first: in “loan amount” and
    “gross weight” it says what is measured. A participle (yes or no) comes before all others."""
    if words[-1] in _PERIODS and len(words) > 1:
        of = _stems(words[:-1])
        if of[:1] == ["amount"] or {*words} & _TOTALS:  # a sum of that time, and hardly a calendar year
            of = ["amount", "number"] if of[:1] == ["amount"] else ["number", "amount"]
            return _by_year(words, [*of, "year" if words[-1] in _YEARS else "money_year"])
    form = next((readings for pattern, readings in _FORMS if re.fullmatch(pattern, words[-1])), ())
    last, *others = (
        [usual for pattern, readings in _SHORT if re.fullmatch(pattern, word) for usual in readings]
        for word in (words[-1], *words[:-1])
    )
    if form[:1] == ("yes_no",):
        return [form[0], *last, *form[1:]]
    other = [usual for found in others for usual in found]
    if last or form:
        return _by_year(words, [*last, *form[: LIKELY - len(last)], *other])
    return _by_year(words, [*other[:1], "list", *other[1:]]) if other else []


def _by_year(words: Sequence[str], readings: list[str]) -> list[str]:
    """Money by the year comes first where the name says so."""
    yearly = readings[:1] == ["amount"] and (words[-1] in _YEARS or holds([*words], _YEARLY))
    return ["money_year", *readings] if yearly else readings


def unclear(names: Sequence[str]) -> list[str]:
    """The columns whose names do not say what they hold: one of them may tell people apart."""
    return [name for name in names if not (candidates(name, names) or {*fold(name)} & _TEXTS or suggest(name).kind)]


def _reading(usual: str) -> Candidate:
    if usual == "yes_no":
        return Candidate("yes_no", None, YES_NO.samples)
    if usual in ("list", "number"):
        return Candidate(usual, None, ())
    if usual in DAYS:
        return Candidate("date", usual, ())  # the order of day and month is still to be said
    if usual in RANGES:
        return Candidate("number", usual, (RANGES[usual].like,))
    return Candidate("list", usual, LISTS[usual].samples)


def measure(name: str, preset: str | None) -> str:
    """The unit of a column's numbers, from the column's name or the usual range; empty if neither says it."""
    sign = next((sign for sign in name if sign in _SIGNS), "")
    currency = sign or next((_CURRENCIES[word] for word in fold(name) if word in _CURRENCIES), "")
    return currency or (RANGES[preset].measure if preset in RANGES else "")


# --- columns that identify people by their names, or suggest several rows per person

MOST_WHO = 3
_OF_A_PERSON = (  # “starost člana” is about a member, and numbers nobody
    "age starost alter edad datum date dob rojen rojstva born year leto letnik spol sex gender weight teza height "
    "visina income dohodek salary placa status type tip vrsta town mesto kraj region regija group skupina count stevilo"
)


def id_columns(names: Sequence[str]) -> list[str]:
    """The columns that may identify people, the likeliest first."""
    words, sure = {name: fold(name) for name in names}, id_names.numbering_people(names)
    people = [name for name in names if holds(words[name], PERSON) or id_names.glued(words[name])]
    people = [name for name in people if not holds(words[name], _OF_A_PERSON)]
    people.sort(key=lambda name: not _numbers_a_person(name))
    numbered = [name for name in names if {"id", "uuid"} & {*words[name][:1], *words[name][-1:]} and name not in people]
    return [*sure, *(name for name in people or numbered if name not in sure)][:MOST_WHO]


_EVENTS = (
    "visit visits obisk obiska obiski pregled pregleda termin order orders narocilo narocila racun racuna invoice "
    "payment payments placilo placila transaction appointment besuch bestellung termin visite visita"
)


def event_columns(names: Sequence[str]) -> list[str]:
    """The columns about things a person may have several of, such as visits."""
    return [name for name in names if holds(fold(name), _EVENTS)]


def sure_id_column(names: Sequence[str]) -> str | None:
    """The only column that may identify people, if its name says so clearly; else None."""
    found = id_columns(names)
    return found[0] if len(found) == 1 and _numbers_a_person(found[0]) else None


def _numbers_a_person(name: str) -> bool:
    words = fold(name)
    both = holds(words, PERSON) and holds(words, " ".join(id_names.NUMBERED))
    return id_names.surely_numbers_people(name) or both
