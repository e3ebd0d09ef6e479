"""The sample tables are what their generator makes, and what the pages say about them."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path
from statistics import fmean, median, pstdev

import pytest

from data.make_samples import AGE_GROUPS, DISTRICT_SIZES, FILMS, REASONS, STATE_SIZES, WAYS, write_samples
from dpengine.declared.unit import Unit
from dpengine.storage.samples import SAMPLES
from dpengine.workspace import Workspace

DATA = Path(__file__).resolve().parents[3] / "data"
CONTIGUOUS_STATES = set(
    "AL AZ AR CA CO CT DE FL GA ID IL IN IA KS KY LA ME MD MA MI MN MS MO MT NE NV NH NJ NM NY NC ND OH OK OR PA RI SC "
    "SD TN TX UT VT VA WA WV WI WY".split()
)


def rows(name: str) -> list[dict[str, str]]:
    with (DATA / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def town() -> list[dict[str, str]]:
    return rows("town.csv")


@pytest.fixture(scope="module")
def residents() -> list[dict[str, str]]:
    return rows("residents.csv")


@pytest.mark.long
def test_make_samples_writes_the_same_bytes_again(tmp_path: Path) -> None:
    write_samples(tmp_path)
    names = [sample.path.name for sample in SAMPLES.values()]
    assert sorted(names) == sorted(path.name for path in tmp_path.iterdir())
    for name in names:
        assert (tmp_path / name).read_bytes() == (DATA / name).read_bytes(), f"{name}: run `make samples`"


def test_town_is_small_and_has_40_000_people_in_plain_columns(town: list[dict[str, str]]) -> None:
    assert len(town) == 40_000
    assert list(town[0]) == ["age", "monthly_income", "district", "way_to_work", "has_car"]
    assert (DATA / "town.csv").stat().st_size < 1_600_000


def test_town_stays_inside_its_declared_ranges(town: list[dict[str, str]]) -> None:
    ages = [int(row["age"]) for row in town]
    incomes = [int(row["monthly_income"]) for row in town]
    assert min(ages) == 18 and max(ages) == 90
    assert min(incomes) >= 0 and max(incomes) <= 12_000 and all(income % 10 == 0 for income in incomes)
    assert Counter(row["district"] for row in town) == DISTRICT_SIZES
    assert len(DISTRICT_SIZES) == 12
    assert {row["way_to_work"] for row in town} == set(WAYS)
    assert {row["has_car"] for row in town} == {"yes", "no"}


@pytest.mark.long
def test_town_has_something_to_find(town: list[dict[str, str]]) -> None:
    incomes = [int(row["monthly_income"]) for row in town]
    assert abs(median(incomes) - 2480) <= 10
    assert fmean(incomes) > 1.1 * median(incomes), "incomes are skewed"

    (first, most), (second, runner_up), *_ = Counter(row["way_to_work"] for row in town).most_common()
    assert (first, second) == ("car", "bus")
    assert 0.6 * most < runner_up < 0.75 * most, "a clear winner, and a runner-up worth doubting"

    by_district = [
        median(int(row["monthly_income"]) for row in town if row["district"] == district) for district in DISTRICT_SIZES
    ]
    assert max(by_district) > 1.5 * min(by_district)

    with_car = [int(row["monthly_income"]) for row in town if row["has_car"] == "yes"]
    assert median(with_car) > median(incomes)


def test_residents_have_1_000_people_in_48_states(residents: list[dict[str, str]]) -> None:
    assert len(residents) == 1_000
    assert list(residents[0]) == ["gender", "height", "salary", "state"]
    states = Counter(row["state"] for row in residents)
    assert states == STATE_SIZES and set(states) == CONTIGUOUS_STATES
    assert states.most_common(5) == [("TX", 114), ("CA", 102), ("NY", 63), ("FL", 62), ("PA", 46)]
    assert states.most_common(6)[5][1] < 46


def test_residents_have_the_declared_heights_and_salaries(residents: list[dict[str, str]]) -> None:
    assert {row["gender"] for row in residents} == {"F", "M"}
    salaries = [int(row["salary"]) for row in residents]
    assert (min(salaries), max(salaries)) == (1504, 4500)
    assert abs(fmean(salaries) - 3002) < 100
    heights = [float(row["height"]) for row in residents]
    assert all(len(row["height"].partition(".")[2]) == 2 for row in residents)
    assert abs(fmean(heights) - 1.74) < 0.02 and abs(pstdev(heights) - 0.14) < 0.015


def test_films_have_a_clear_winner_among_40() -> None:
    people = rows("films.csv")
    assert len(people) == 3_000 and list(people[0]) == ["age_group", "films"]
    assert Counter(row["age_group"] for row in people) == AGE_GROUPS
    sets = [[title for title in row["films"].split("|") if title] for row in people]
    assert all(len(set(one)) == len(one) for one in sets) and min(map(len, sets)) == 0 and max(map(len, sets)) > 6
    liked = Counter(title for one in sets for title in one)
    assert len(FILMS) == 40 and set(liked) == set(FILMS) == set(SAMPLES["films"].schema.listed("films").labels)
    (first, most), (_, second), *_ = liked.most_common()
    assert first == "The Paper Lighthouse" and 1.3 * second < most and min(liked.values()) > 50


def test_visits_have_one_to_six_rows_for_each_of_2_500_people() -> None:
    visits = rows("visits.csv")
    assert list(visits[0]) == ["person_id", "month", "reason", "cost"]
    each = Counter(row["person_id"] for row in visits)
    assert len(each) == 2_500 and set(each.values()) == {1, 2, 3, 4, 5, 6}
    assert {int(row["month"]) for row in visits} == set(range(1, 13))
    assert {row["reason"] for row in visits} == set(REASONS)
    assert all(0 <= int(row["cost"]) <= 500 for row in visits) and len(REASONS) == 8
    assert SAMPLES["visits"].unit == Unit.column("person_id", at_most=4)


def test_clinic_has_1_200_people_with_something_to_find() -> None:
    people = rows("clinic.csv")
    assert len(people) == 1_200 and list(people[0]) == ["age", "diabetes", "smoker", "blood_pressure"]
    assert all(18 <= int(row["age"]) <= 90 and 80 <= int(row["blood_pressure"]) <= 200 for row in people)
    assert {row["smoker"] for row in people} == {row["diabetes"] for row in people} == {"yes", "no"}
    ages = {told: fmean(int(row["age"]) for row in people if row["diabetes"] == told) for told in ("yes", "no")}
    pressures = {told: fmean(int(row["blood_pressure"]) for row in people if row["diabetes"] == told) for told in ages}
    assert ages["yes"] > ages["no"] + 8 and pressures["yes"] > pressures["no"] + 8


@pytest.mark.long
def test_the_samples_answer_questions(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path / "var")
    try:
        films, visits, clinic = (workspace.table(name) for name in ("films", "visits", "clinic"))
        assert [table.facts.people for table in (films, visits, clinic)] == [3_000, 2_500, 1_200]
        assert films.ask(films.query("top_item", column="films", epsilon="0.3")).value == "The Paper Lighthouse"
        liked = films.ask(films.query("histogram", column="films", epsilon="0.5")).value
        assert list(liked) == list(FILMS)
        visits.ask(visits.query("mean", column="cost", by="reason", epsilon="0.5"))
        visits.ask(visits.query("count", people=True, where=[["reason", "in", ["injury"]]], epsilon="0.2"))
        clinic.ask(clinic.query("median", column="blood_pressure", where=[["smoker", "in", ["yes"]]], epsilon="0.5"))
    finally:
        workspace.close()
