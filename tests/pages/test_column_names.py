"""What a column's name suggests, on the names of files as people have them. A wrong guess is worse than none."""

from __future__ import annotations

import pytest

import dpengine as dp
from dpengine.declared import spelling
from dpengine.declared.dialect import Dialect
from dpengine.messages.language import speaking
from ui.data import presets
from ui.data.columns import same_range
from ui.data.draft import Card

NOTHING = ""
NAMES = {
    # the Adult census file
    "age": "number age",
    "workclass": "list work_us",
    "fnlwgt": NOTHING,
    "education": "list schooling",
    "education-num": "number school_years",
    "marital-status": "list marital",
    "occupation": "list occupation_us",
    "relationship": "list family_us",
    "race": "list race_us",
    "sex": "list sex",
    "capital-gain": "number gain",
    "capital-loss": "number gain",
    "hours-per-week": "number hours_week",
    "native-country": "list countries",
    "income": "number money_month",
    # a clinic
    "patient_id": NOTHING,
    "visit_date": "date ten_years",
    "dob": "date births",
    "DateOfBirth": "date births",
    "place_of_birth": NOTHING,
    "diagnosis": NOTHING,
    "icd10_code": NOTHING,
    "systolic_bp": "number pressure",
    "Blood pressure": "number pressure",
    "tyre_pressure": NOTHING,
    "height_cm": "number height_cm",
    "work_class": "list work_us",
    "cap_gain": "number gain",
    "school_years": "number school_years",
    "Št. kartoteke": NOTHING,
    "weight_kg": "number weight_kg",
    "birth_weight": "number",
    "BMI": "number bmi",
    "body_temperature": "number body_temp",
    "body_temp": "number body_temp",
    "Telesna temperatura": "number body_temp",
    "temp_pacienta": "number body_temp",
    "Körpertemperatur": "number body_temp",
    "temperature": "number temperature",
    "room_temp": "number temperature",
    "blood_type": NOTHING,
    "current_smoker": "yes_no",
    "smoker_status": NOTHING,
    "disorders": NOTHING,
    "depression": NOTHING,
    "expression_level": NOTHING,
    "medications": "items",
    "allergies": "items",
    "n_visits": "number count",
    "age_group": NOTHING,
    "length_of_stay_days": "number days",
    "consent": "yes_no",
    "apgar_score": "number",
    "operating_theatre": NOTHING,
    "is_pregnant": "yes_no",
    "vaccinated (yes/no)": "yes_no",
    # a firm, a school, a shop
    "student_id": NOTHING,
    "member_since": NOTHING,
    "member": NOTHING,
    "union member": "yes_no",
    "spent last year": NOTHING,
    "visits per year": "number count",
    "poraba na leto": NOTHING,
    "poraba lansko leto": NOTHING,
    "leto 2023": NOTHING,
    "year_2021": NOTHING,
    "active": "yes_no",
    "inactive_reason": NOTHING,
    "owner_name": NOTHING,
    "annual_income": "number money_year",
    "income_bracket": NOTHING,
    "pay": "number money_month",
    "share_price": "number amount",
    "market_share": "number percent",
    "discount": NOTHING,
    "depreciation": NOTHING,
    "imported": NOTHING,
    "genre": NOTHING,
    "gender": "list sex",
    "credit_score": "number",
    "customer_rating": "number score5",
    "number_of_employees": "number count",
    "phone_number": NOTHING,
    "hours_per_month": "number",
    "hours_per_day": "number hours_day",
    "payments_per_month": NOTHING,
    "birth_month": "list months",
    "company_size": NOTHING,
    "size": "list sizes",
    "household_id": NOTHING,
    "household_size": "number people",
    "remembered": NOTHING,
    "nombre": NOTHING,
    "unit_price": "number amount",
    "candidate": NOTHING,
    "updated_by": NOTHING,
    "country_code": "list countries",
    # Slovene
    "starost": "number age",
    "starostna skupina": NOTHING,
    "spol": "list sex",
    "Spol otroka": "list sex",
    "leto rojstva": "number year",
    "kraj rojstva": NOTHING,
    "država rojstva": "list countries",
    "datum rojstva": "date births",
    "datum obiska": "date ten_years",
    "mesečna plača (bruto)": "number money_month",
    "letni dohodek": "number money_year",
    "vrsta dohodka": NOTHING,
    "višina": "number height_cm",
    "telesna višina": "number height_cm",
    "višina računa": NOTHING,
    "teža": "number weight_kg",
    "krvni tlak": "number pressure",
    "zračni tlak": NOTHING,
    "število obiskov": "number count",
    "število otrok": "number people",
    "velikost gospodinjstva": "number people",
    "hišna številka": NOTHING,
    "ur na teden": "number hours_week",
    "delovnih ur v tednu": "number hours_week",
    "kadilec (da/ne)": "yes_no",
    "ima avto": "yes_no",
    "zdravila": "items",
    "regija": "list regions_sl",
    "mesec": "list months",
    "obisk na mesec": NOTHING,
    "ocena": "number score5",
    "delež": "number percent",
    "znesek": "number amount",
    "izobrazba": "list schooling",
    "poklic": NOTHING,
    "občina": NOTHING,
    "diagnoza": NOTHING,
    "ime": NOTHING,
    "šifra bolnika": NOTHING,
    "soglasje za obdelavo": "yes_no",
    "zaposlitveni status": "list employment",
    "Čakal (min)": "number minutes",
    "Saldo [EUR]": "number amount",
    "Hb (g/l)": NOTHING,
    "Letnik": "number year",
    "Letnik študija": NOTHING,
}


# Headers with a day in them, from five kinds of files, written before the rule: a noun in the genitive makes a date.
BOTH = "list weekdays, date ten_years"
DAYS = {
    # a clinic
    "dan obiska": "date ten_years",
    "dan sprejema": "date ten_years",
    "Dan rojstva": "date births",
    "day of admission": "date ten_years",
    "Day of visit": "date ten_years",
    "dan zdravljenja": "number days",
    "day_of_stay": "number days",
    # a school
    "dan_vpisa": "date ten_years",
    "dan izpita": "date ten_years",
    "prvi dan pouka": "date ten_years",
    "day of enrolment": "date ten_years",
    "day of the week": "list weekdays",
    "school day": NOTHING,
    # a shop
    "dan nakupa": "date ten_years",
    "day of purchase": "date ten_years",
    "weekday of delivery": "list weekdays",
    "delovni dan": NOTHING,
    "prihodek na dan": "number money_month, number money_year",
    "orders per day": "number count",
    "dan dostave (v tednu)": "list weekdays",
    # an office
    "dan vloge": "date ten_years",
    "dan smrti": "date ten_years",
    "day of birth": "date births",
    "last day of work": "date ten_years",
    "dan v mesecu": "number",
    "DayOfMonth": "number",
    "dan": BOTH,
    # a farm, a club
    "dan tekme": "date ten_years",
    "dan setve": "date ten_years",
    "dan v tednu": "list weekdays",
    "Dan tedna": "list weekdays",
    "day of year": "number days",
    "day": BOTH,
    "dan 3": NOTHING,
    "day 7": NOTHING,
    "Tag der Aufnahme": "date ten_years",
}


@pytest.mark.parametrize("lang", ["en", "sl"])
def test_a_day_of_something_is_a_date_and_a_day_of_the_week_is_not(lang: str) -> None:
    """“dan obiska” was guessed as “Monday, ponedeljek · 7 values”; its cells were dates."""
    with speaking(lang):
        read = {
            name: ", ".join(dict.fromkeys(f"{one.kind} {one.preset or ''}".strip() for one in presets.candidates(name)))
            or presets.suggest(name).kind
            or NOTHING
            for name in DAYS
        }
    assert read == DAYS


def test_a_guessed_list_shows_cells_in_the_reader_s_language() -> None:
    shown = {}
    for lang in ("en", "sl"):
        with speaking(lang):
            shown[lang] = {name: (*one.samples, *one.spelled) for name, one in presets.LISTS.items()}
    assert shown["sl"]["weekdays"] == ("ponedeljek",) and shown["en"]["weekdays"] == ("Monday",)
    assert "Male" in shown["en"]["sex"] and "moški" in shown["sl"]["sex"]
    for lang, other in (("en", "sl"), ("sl", "en")):
        for name, one in presets.LISTS.items():
            theirs = {word.casefold() for word in spelling.spelling_values(one.table, other)}
            own = {word.casefold() for word in spelling.spelling_values(one.table, lang)}
            assert shown[lang][name] and not {word.casefold() for word in shown[lang][name]} & (theirs - own), name


@pytest.mark.long
@pytest.mark.parametrize(("name", "wanted"), NAMES.items())
def test_a_name_is_read_by_its_whole_words(name: str, wanted: str) -> None:
    found = presets.suggest(name)
    assert " ".join(part for part in (found.kind, found.preset) if part) == wanted


@pytest.mark.parametrize("preset", presets.RANGES)
def test_the_card_calls_a_range_what_was_suggested(preset: str) -> None:
    """Several are from 0 to 100: hours a week are no percentage."""
    card = Card(kind="number")
    card.take_range(preset)
    assert same_range(card) == preset


def test_a_typed_range_is_given_no_name_that_it_may_not_have() -> None:
    assert same_range(Card("number", "0", "120", "1")) == "age"
    assert same_range(Card("number", "0", "100", "1")) is None  # percent, or hours
    assert same_range(Card("number", "0", "99", "1")) is None
    card = Card.for_name("hours-per-week")
    card.upper = "80"
    assert same_range(card) is None


def test_a_declared_column_is_called_what_its_name_says() -> None:
    hours = dp.Number(0, 100, 1)
    assert same_range(Card.of(hours, Dialect(), "hours-per-week")) == "hours_week"
    assert same_range(Card.of(hours, Dialect(), "share %")) == "percent"
    assert same_range(Card.of(hours, Dialect(), "x")) is None


@pytest.mark.parametrize(
    ("beside", "readings"),
    [
        (["station", "day"], ["temperature", "body_temp"]),
        (["patient_id", "ward"], ["body_temp"]),
        (["Št. kartoteke", "Sistolični tlak"], ["body_temp"]),
    ],
)
def test_a_temperature_beside_what_only_patients_have_is_a_body_s_and_else_waits_for_a_cell(
    beside: list[str], readings: list[str]
) -> None:
    found = presets.candidates("temperature", [*beside, "temperature"])
    assert [one.preset for one in found] == readings
    card = Card.for_name("temperature", beside)
    assert card.waits_for_yes and (card.lower == "34") == (len(readings) == 1)
    assert {one.like for one in found} <= {("37.2",), ("21.5",)} and card.measure == "°C"


@pytest.mark.parametrize(
    ("name", "readings"),
    [("height", ["height_cm", "height_m"]), ("Višina (cm)", ["height_cm"]), ("height_m", ["height_m"])],
)
def test_a_name_that_says_what_it_is_counted_in_has_one_reading(name: str, readings: list[str]) -> None:
    assert [one.preset for one in presets.candidates(name)] == readings
