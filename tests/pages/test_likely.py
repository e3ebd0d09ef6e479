"""A left-out column offers its three likely readings: from its name alone, and often enough on strangers' schemas."""

from __future__ import annotations

from typing import Any

import pytest

from dpengine.messages.language import speaking
from ui.data import columns, presets
from ui.data.draft import Draft, column_of
from ui.data.presets import LIKELY, LISTS, RANGES

# Columns of files that others published or that schools use, with what their documentation says is in them: a kind, or
# a range. Nobody tuned the rules on these; lists that only their owner knows (a job, a district) are not counted.
SCHEMAS: dict[str, dict[str, Any]] = {
    "a school's marks": {"Mark": (1, 5), "Q7b": "list", "Yr": (2015, 2026), "Abs": (0, 93), "Pts": (0, 100)},
    "Cortez and Silva 2008, pupils": {
        "age": (15, 22),
        "sex": "list",
        "Medu": (0, 4),
        "Fedu": (0, 4),
        "traveltime": (1, 4),
        "studytime": (1, 4),
        "failures": (0, 4),
        "schoolsup": "yes_no",
        "famsup": "yes_no",
        "paid": "yes_no",
        "activities": "yes_no",
        "internet": "yes_no",
        "romantic": "yes_no",
        "famrel": (1, 5),
        "freetime": (1, 5),
        "goout": (1, 5),
        "Dalc": (1, 5),
        "Walc": (1, 5),
        "health": (1, 5),
        "absences": (0, 93),
        "G1": (0, 20),
        "G3": (0, 20),
    },
    "passengers of a ship": {
        "Survived": "yes_no",
        "Pclass": (1, 3),
        "Sex": "list",
        "Age": (0, 80),
        "SibSp": (0, 8),
        "Parch": (0, 6),
        "Fare": (0, 513),
    },
    "Moro 2014, bank": {
        "age": (18, 95),
        "marital": "list",
        "education": "list",
        "default": "yes_no",
        "balance": (0, 10_000),
        "housing": "yes_no",
        "loan": "yes_no",
        "month": "list",
        "duration": (0, 240),
        "campaign": (1, 63),
    },
}
# Ten offices, and what they keep: invented before the rules for their words were written. Names, codes and remarks
# (“out”) are not to be declared.
OFFICES: dict[str, dict[str, Any]] = {
    "school marks": {
        "Pupil": "out",
        "Mark": (1, 5),
        "Subj": "list",
        "Cl": "list",
        "Q7b": "list",
        "Yr": (2015, 2026),
        "Abs": (0, 120),
        "Tchr": "list",
        "Sem": "list",
        "Resit": "yes_no",
        "HmwkDone": "yes_no",
    },
    "lab": {
        "SampleID": "out",
        "Analyte": "list",
        "Result_mmol": (0, 50),
        "Flag": "yes_no",
        "Instr": "list",
        "RunDate": "date",
        "Dilution": (0, 100),
        "Hb_g_dl": (0, 25),
        "CRP": (0, 500),
        "Fasting": "yes_no",
        "Operator": "list",
    },
    "payroll": {
        "EmpNo": "out",
        "Dept": "list",
        "Grade": (1, 15),
        "BasePay": (0, 10000),
        "OT_hrs": (0, 100),
        "Bonus": (0, 10000),
        "StartDt": "date",
        "FTE": (0, 1),
        "PayGrp": "list",
        "UnionMember": "yes_no",
        "SickDays": (0, 200),
        "Mgr": "out",
    },
    "museum visitors": {
        "VisitDate": "date",
        "TicketType": "list",
        "Party": (1, 20),
        "Origin": "list",
        "AudioGuide": "yes_no",
        "StayMin": (0, 240),
        "SpendShop": (0, 500),
        "Enjoyed": (1, 5),
        "WouldReturn": "yes_no",
        "AgeBand": "list",
        "HeardFrom": "list",
    },
    "sport club": {
        "MemberNo": "out",
        "Joined": "date",
        "DOB": "date",
        "Team": "list",
        "Position": "list",
        "Goals": (0, 60),
        "Matches": (0, 60),
        "FeesPaid": "yes_no",
        "HeightCm": (50, 230),
        "RestHR": (40, 120),
        "Injured": "yes_no",
        "Belt": "list",
    },
    "logistics": {
        "Consignment": "out",
        "Depot": "list",
        "Driver": "out",
        "Parcels": (0, 300),
        "GrossKg": (0, 2000),
        "DelayMin": (0, 240),
        "Late": "yes_no",
        "Route": "list",
        "Km": (0, 500),
        "PickedUp": "date",
        "Fragile": "yes_no",
        "Rating": (1, 5),
    },
    "farm": {
        "Holding": "out",
        "Crop": "list",
        "Ha": (0, 500),
        "YieldT": (0, 100),
        "Cattle": (0, 500),
        "Organic": "yes_no",
        "SoilPH": (3, 10),
        "Irrigated": "yes_no",
        "Subsidy": (0, 100000),
        "SownOn": "date",
        "Workers": (0, 50),
        "Tractors": (0, 20),
    },
    "survey en": {
        "resp": "out",
        "hhsize": (1, 20),
        "tenure": "list",
        "earn_wk": (0, 5000),
        "yrs_sch": (0, 25),
        "b_place": "list",
        "lang_home": "list",
        "commute_m": (0, 240),
        "veh": (0, 10),
        "broadband": "yes_no",
        "hlth": (1, 5),
        "wrk_sect": "list",
        "sx": "list",
        "age_yrs": (0, 110),
        "kids_u18": (0, 12),
        "region": "list",
    },
    "klinika sl": {
        "Št. kartoteke": "out",
        "Datum obiska": "date",
        "Oddelek": "list",
        "Zdravnik": "out",
        "Sist. tlak": (40, 260),
        "Glukoza": (0, 40),
        "Čas čakanja": (0, 240),
        "Diagnoza": "list",
        "Napotnica": "yes_no",
        "Stopnja bolečine": (0, 10),
        "Doplačilo": (0, 1000),
        "Krvna skupina": "list",
        "Kontrola": "yes_no",
    },
    "trgovina sl": {
        "Račun": "out",
        "Poslovalnica": "list",
        "Blagajna": "list",
        "Znesek z DDV": (0, 10000),
        "Popust": (0, 100),
        "Kosov": (0, 200),
        "Plačilo": "list",
        "Ura": (0, 24),
        "Kartica zvestobe": "yes_no",
        "Vračilo": "yes_no",
        "Datum nakupa": "date",
    },
}
# Five more offices with shortened names, written down before the rules for their words.
SHORTENED: dict[str, dict[str, Any]] = {
    "housing association": {
        "tenancy_type": "list",
        "rent_pw": (0, 2_000),
        "arrears_gbp": (0, 20_000),
        "hh_net_inc_pa": (0, 150_000),
        "ben_status": "list",
        "yr_moved_in": (1950, 2026),
        "svc_chg_mth": (0, 1_000),
        "main_occup": "list",
        "bedrms": (0, 10),
        "ethnic_grp": "list",
    },
    "animal clinic": {
        "species": "list",
        "sx": "list",
        "wt_kg": (0, 120),
        "neutered": "yes_no",
        "tot_bill_eur": (0, 8_000),
        "dx_kind": "list",
        "ins_pay_out": (0, 8_000),
        "activity_lvl": "list",
        "age_y": (0, 30),
    },
    "charity": {
        "donor_type": "list",
        "gift_amt": (0, 10_000),
        "tot_giv_yr": (0, 20_000),
        "gross_rev_yr": (0, 200_000),
        "pay_method": "list",
        "gift_aid_yn": "yes_no",
        "net_cost_gbp": (0, 10_000),
        "first_gift_yr": (1990, 2026),
        "volunt_hrs_wk": (0, 60),
    },
    "call centre": {
        "contract_kind": "list",
        "gross_sal_y": (0, 150_000),
        "contr_hrs": (0, 60),
        "calls_n": (0, 200),
        "csat": (1, 5),
        "resolved": "yes_no",
        "tenure_yrs": (0, 40),
        "leave_status": "list",
        "bonus_pay_yr": (0, 30_000),
    },
    "travel survey": {
        "main_mode": "list",
        "trip_purp": "list",
        "trip_dist_km": (0, 500),
        "fuel_cost_wk": (0, 500),
        "occupation": "list",
        "house_tenure": "list",
        "licence_held": "yes_no",
        "cars_n": (0, 6),
        "inc_band": "list",
        "trips_pd": (0, 20),
    },
}
# Columns of public repositories, as they stand there: loans, a payroll, people's finances, employments in tax returns.
PUBLISHED: dict[str, dict[str, Any]] = {
    "loans": {
        "loan_amnt": (500, 40_000),
        "int_rate": (0, 40),
        "installment": (0, 2_000),
        "sub_grade": "list",
        "emp_length": "list",
        "home_ownership": "list",
        "annual_inc": (0, 200_000),
        "verification_status": "list",
        "purpose": "list",
        "addr_state": "list",
        "revol_bal": (0, 100_000),
        "revol_util": (0, 100),
        "total_acc": (0, 100),
        "application_type": "list",
    },
    "payroll": {
        "basic_pay": (0, 10_000),
        "overtime_pay": (0, 10_000),
        "net_pay": (0, 10_000),
        "tax_deduction": (0, 10_000),
        "regular_hours": (0, 300),
        "worker_type": "list",
        "total_deduction": (0, 10_000),
    },
    "finances": {
        "gross_income": (0, 200_000),
        "other_income": (0, 100_000),
        "monthly_expenses": (0, 10_000),
        "total_savings": (0, 1_000_000),
        "monthly_debt": (0, 10_000),
    },
    "employments": {
        "work_days": (0, 366),
        "commuting_distance_km": (0, 500),
        "transport_mode": "list",
        "continuing_education_cost": (0, 10_000),
        "homeoffice_days": (0, 366),
        "duration_minutes": (0, 1_000),
    },
}
LEAST = 0.8  # of these columns; the rest is opened as before


def offered(name: str) -> tuple[presets.Candidate, ...]:
    return presets.candidates(name) or presets.likely(name)


def fits(reading: presets.Candidate, truth: Any) -> bool:
    """Does this reading hold what the documentation says, and is it not a hundred times as wide?"""
    if isinstance(truth, str):
        return reading.kind == truth
    usual = RANGES.get(reading.preset or "")
    if usual is None:
        return reading.preset == "agreement" and truth == (1, 5)
    low, high = float(usual.lower), float(usual.upper)
    return low <= truth[0] and truth[1] <= high and high - low <= 100 * max(truth[1] - truth[0], 1)


def test_names_of_a_census_and_of_a_clinic_offer_what_they_hold() -> None:
    usual = {
        "AGEX": "age",
        "SEXM": "sex",
        "MSTAT": "marital",
        "EDU_ISCED": "schooling",
        "Let": "age",
        "Sladk_krvi": "small",
    }
    for name, preset in usual.items():
        assert any(reading.preset == preset for reading in presets.likely(name)), name
    assert presets.id_columns(["ID_pac", "Oddelek", "Let"]) == ["ID_pac"]  # offered, but not surely a person
    assert presets.sure_id_column(["ID_pac", "Oddelek", "Let"]) is None


def test_strangers_find_their_column_among_three() -> None:
    columns = [(name, truth) for schema in SCHEMAS.values() for name, truth in schema.items()]
    missed = [name for name, truth in columns if not any(fits(reading, truth) for reading in offered(name))]
    assert len(missed) <= (1 - LEAST) * len(columns), missed
    without = [name for name, truth in columns if not any(fits(one, truth) for one in presets.candidates(name))]
    assert len(without) > len(missed) + 10, "the offers are what helps"


def kind_fits(reading: presets.Candidate, truth: Any) -> bool:
    """A number whose range is still to be typed is the right kind of a number."""
    return (reading.kind == "number" and reading.preset is None and not isinstance(truth, str)) or fits(reading, truth)


def test_nine_in_ten_columns_of_ten_offices_are_guessed_or_offered_and_hardly_any_is_guessed_wrong() -> None:
    columns = [(name, truth, [*schema]) for schema in OFFICES.values() for name, truth in schema.items()]
    guesses = [(name, truth, presets.candidates(name, beside)) for name, truth, beside in columns]
    assert len(columns) > 100
    wrong = [name for name, truth, found in guesses if found and not any(fits(one, truth) for one in found)]
    wanted = [(name, truth, found) for name, truth, found in guesses if truth != "out"]
    missed = [name for name, truth, found in wanted if not any(kind_fits(one, truth) for one in found or offered(name))]
    assert len(wrong) <= 2 and len(missed) <= len(wanted) / 10, (wrong, missed)


@pytest.mark.parametrize(("schemas", "first"), [(SHORTENED, 0.8), (PUBLISHED, 0.6)], ids=["shortened", "published"])
def test_of_short_names_the_first_offer_mostly_fits_and_of_three_nine_in_ten(schemas: Any, first: float) -> None:
    columns = [(name, truth, [*schema]) for schema in schemas.values() for name, truth in schema.items()]
    found = [(truth, presets.candidates(name, beside) or presets.likely(name)) for name, truth, beside in columns]
    assert sum(kind_fits(readings[0], truth) for truth, readings in found) >= first * len(columns)
    assert sum(any(kind_fits(one, truth) for one in readings) for truth, readings in found) >= 0.9 * len(columns)


def test_a_year_behind_a_sum_is_the_time_that_it_is_for() -> None:
    presets_of = {name: [one.preset or one.kind for one in presets.likely(name)] for name in ("net_inc_yr", "Yr")}
    assert presets_of == {"net_inc_yr": ["money_year", "amount", "number"], "Yr": ["year", "school_years", "age"]}


@pytest.mark.parametrize(("lang", "shown"), [("en", ["M, F", "yes/no", "list…"]), ("sl", ["m, ž", "da/ne", "seznam…"])])
def test_both_of_two_values_are_shown(lang: str, shown: list[str]) -> None:
    with speaking(lang):
        assert [columns.in_short(one) for one in presets.likely("sx")] == shown


@pytest.mark.parametrize("name", ["Mark", "Q7b", "Cl", "xyz", "Ocena 2", "G1", "Сол", "9", "a" * 300])
def test_there_are_three_and_each_can_be_taken(name: str) -> None:
    found = presets.likely(name)
    assert len(found) == LIKELY == len(set(found))
    for reading in found:
        unnamed = reading.kind in ("list", "number") and reading.preset is None  # its values are still to be named
        assert unnamed or reading.kind == "yes_no" or reading.preset in RANGES or reading.preset in LISTS


@pytest.mark.parametrize(
    ("name", "first"), [("visit_day", "date"), ("day", "date"), ("days", "number"), ("born", "number")]
)
def test_a_day_may_be_a_date_and_days_are_counted(name: str, first: str) -> None:
    assert presets.likely(name)[0].kind == first


@pytest.mark.parametrize("name", ["Name", "Surname", "Opomba", "Remarks", "Pupil no.", "Članska številka", ""])
def test_names_and_remarks_are_offered_nothing(name: str) -> None:
    assert presets.likely(name) == ()


@pytest.mark.parametrize("name", ["Cl", "Mark", "Q7b", "gndr", "mth"])
def test_one_tap_settles_a_left_out_column(name: str) -> None:
    for reading in presets.likely(name):
        draft = Draft(names=["age", name], many="one", relation="replace")
        draft.choose()
        draft.card(name).take(reading)
        if reading.kind in ("list", "number") and reading.preset is None:  # the card opens, for its values
            assert draft.state(name) == "waits" and draft.card(name).kind == reading.kind
            continue
        assert draft.state(name) == "settled" and column_of(draft.card(name), draft.dialect), reading


def test_a_word_for_a_number_alone_may_tell_people_apart() -> None:
    assert all(map(presets.numbers_a_record, ("ref", "No.", "Case no", "reference number")))
    assert not any(map(presets.numbers_a_record, ("parish", "form", "card", "tenure", "")))
