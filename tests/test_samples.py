"""The sample tables are what their generator makes, and what the pages say about them."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path
from statistics import fmean, median, pstdev

import pytest

from data.make_samples import DISTRICT_SIZES, STATE_SIZES, WAYS, write_samples

DATA = Path(__file__).resolve().parent.parent / "data"
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


def test_make_samples_writes_the_same_bytes_again(tmp_path: Path) -> None:
    write_samples(tmp_path)
    for name in ("town.csv", "residents.csv"):
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
