"""Writes the sample tables, town.csv, residents.csv, films.csv, visits.csv and clinic.csv: `make samples`.

The people are made up. The seed is public and fixed, so anyone can make the same files again, byte for byte; it has
nothing to do with the noise in answers, which has no seed. Every draw goes through Random.random(), the one method
whose sequence Python promises to keep across versions.
"""

from __future__ import annotations

import csv
import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from random import Random
from statistics import NormalDist

SEED = 20261115

# --- town: 40,000 people ----------------------------------------------------------------------------------------------

DISTRICT_SIZES = {
    "Harbour": 3100,
    "Old Town": 5600,
    "Mill": 5000,
    "Station": 6200,
    "Meadow": 4400,
    "Hill": 3900,
    "West End": 3500,
    "Lakeside": 1700,
    "Orchard": 1100,
    "Quarry": 700,
    "Garden": 2600,
    "Bridge": 2200,
}
DISTRICT_INCOME = {
    "Harbour": 1.04,
    "Old Town": 1.00,
    "Mill": 0.84,
    "Station": 0.89,
    "Meadow": 0.96,
    "Hill": 1.22,
    "West End": 1.10,
    "Lakeside": 1.38,
    "Orchard": 1.06,
    "Quarry": 0.77,
    "Garden": 1.15,
    "Bridge": 0.93,
}
WAYS = ("car", "bus", "bicycle", "train", "on foot", "works at home")
WAYS_WITH_CAR = (0.59, 0.13, 0.10, 0.05, 0.05, 0.08)
WAYS_WITHOUT_CAR = (0.02, 0.46, 0.20, 0.13, 0.12, 0.07)
WAYS_NEARBY = {  # what a district makes likelier
    "Station": {"train": 2.2},
    "Bridge": {"train": 1.4},
    "Old Town": {"on foot": 2.0, "bicycle": 1.3},
    "Harbour": {"on foot": 1.6},
    "Mill": {"bus": 1.3},
    "Quarry": {"car": 1.4},
    "Orchard": {"car": 1.5, "works at home": 1.3},
    "Lakeside": {"works at home": 1.6},
}
TYPICAL_INCOME = 2800  # set so that the median of the whole town is 2,480
INCOME_TOP, INCOME_STEP = 12_000, 10


def town(rng: Random) -> list[tuple[int, int, str, str, str]]:
    """age, monthly_income, district, way_to_work, has_car. Who no longer works says how they used to get there."""
    rows = []
    for district in _shuffled(rng, DISTRICT_SIZES):
        age = _age(rng)
        income = _income(rng, age, district)
        has_car = rng.random() < _chance_of_car(age, income, district)
        weights = WAYS_WITH_CAR if has_car else WAYS_WITHOUT_CAR
        nearby = WAYS_NEARBY.get(district, {})
        way = _pick(rng, WAYS, [weight * nearby.get(name, 1.0) for name, weight in zip(WAYS, weights, strict=True)])
        rows.append((age, income, district, way, "yes" if has_car else "no"))
    return rows


def _age(rng: Random) -> int:
    """18 to 90, thinning out with the years."""
    while True:
        age = 18 + int(73 * rng.random())
        if rng.random() < 1 / (1 + math.exp((age - 72) / 7)):
            return age


def _income(rng: Random, age: int, district: str) -> int:
    """Skewed like incomes are: most people near the middle, a long tail above, a few with next to nothing."""
    if rng.random() < 0.025:
        income = 400 * rng.random()
    else:
        career = 0.62 + 0.50 * math.exp(-(((age - 48) / 20) ** 2)) if age < 67 else 0.74
        level = TYPICAL_INCOME * DISTRICT_INCOME[district] * career
        income = level * math.exp(0.46 * _normal(rng))
    return min(max(INCOME_STEP * round(income / INCOME_STEP), 0), INCOME_TOP)


def _chance_of_car(age: int, income: int, district: str) -> float:
    score = 0.15 + 0.00042 * (income - 2000) + (0.5 if 30 <= age < 70 else -0.6)
    score += {"Orchard": 1.2, "Quarry": 0.9, "Lakeside": 0.6, "Old Town": -0.7, "Station": -0.5}.get(district, 0.2)
    return 1 / (1 + math.exp(-score))


# --- residents: 1,000 people ------------------------------------------------------------------------------------------

STATE_SIZES = {
    "TX": 114,
    "CA": 102,
    "NY": 63,
    "FL": 62,
    "PA": 46,
    "IL": 38,
    "OH": 35,
    "GA": 33,
    "NC": 32,
    "MI": 30,
    "NJ": 28,
    "VA": 26,
    "WA": 23,
    "AZ": 22,
    "TN": 21,
    "MA": 21,
    "IN": 20,
    "MO": 18,
    "MD": 18,
    "WI": 17,
    "CO": 17,
    "MN": 17,
    "SC": 15,
    "AL": 15,
    "LA": 13,
    "KY": 13,
    "OR": 13,
    "OK": 12,
    "CT": 11,
    "UT": 10,
    "IA": 10,
    "NV": 10,
    "AR": 9,
    "MS": 9,
    "KS": 9,
    "NM": 6,
    "NE": 6,
    "ID": 6,
    "WV": 5,
    "NH": 4,
    "ME": 4,
    "RI": 3,
    "MT": 3,
    "DE": 3,
    "SD": 2,
    "ND": 2,
    "VT": 2,
    "WY": 2,
}
SALARY_FROM, SALARY_TO = 1504, 4500


def residents(rng: Random) -> list[tuple[str, str, int, str]]:
    """gender, height in metres, salary, state. The salaries at both ends of the range occur."""
    rows = []
    for state in _shuffled(rng, STATE_SIZES):
        gender = "F" if rng.random() < 0.5 else "M"
        height = 1.74 + 0.14 * _normal(rng)
        salary = SALARY_FROM + int((SALARY_TO - SALARY_FROM + 1) * rng.random())
        rows.append((gender, f"{height:.2f}", salary, state))
    for place, salary in ((271, SALARY_FROM), (828, SALARY_TO)):
        gender, height_text, _, state = rows[place]
        rows[place] = (gender, height_text, salary, state)
    return rows


# --- films: 3,000 people and what they like ---------------------------------------------------------------------------

FILMS = (
    "The Paper Lighthouse",
    "Seven Quiet Rivers",
    "Midnight Orchard",
    "A Map of Rain",
    "The Clockmaker's Daughter",
    "Salt and Thunder",
    "North of Nowhere",
    "The Last Ferry",
    "Velvet Comet",
    "Hollow Summer",
    "Brass Horizon",
    "The Borrowed Moon",
    "Letters to Vienna",
    "Copper Wolves",
    "The Glass Harvest",
    "Tomorrow's Ashes",
    "Kite Season",
    "The Silent Cartographer",
    "Amber Street",
    "Winter Parade",
    "The Ninth Passenger",
    "Wild Marble",
    "Gravity's Garden",
    "Echoes of Tin",
    "The Lantern Thief",
    "Blue Static",
    "Harbour of Dust",
    "Once in Trieste",
    "The Tallest Tree",
    "Paper Tigers Waltz",
    "Ordinary Giants",
    "The Sleeping Mill",
    "Fourteen Doors",
    "Cinder Boulevard",
    "The Understudy's Secret",
    "Snow on Copper",
    "Distant Cousins",
    "The Violet Hour Club",
    "Driftwood Kings",
    "Goodnight, Meridian",
)
AGE_GROUPS = {"under 18": 330, "18-29": 720, "30-44": 810, "45-64": 760, "65 and over": 380}
MOST_LIKED = 0.42  # the share of people who like the first film; the next ones fall off like 1 / rank


def films(rng: Random) -> list[tuple[str, str]]:
    """age_group, liked films with a | between them, in no order; a few people like none."""
    rows = []
    for age in _shuffled(rng, AGE_GROUPS):
        keen = 0.5 + rng.random()
        young = age in ("under 18", "18-29")
        liked = []
        for place, title in enumerate(FILMS):
            taste = 1.25 if (place % 2 == 0) == young else 0.75
            chance = min(0.95, MOST_LIKED * keen * (taste if place else 1.0) / (1 + place) ** 0.7)
            if rng.random() < chance:
                liked.append((rng.random(), title))
        rows.append((age, "|".join(title for _, title in sorted(liked))))
    return rows


# --- visits: 2,500 people, one to six visits each ---------------------------------------------------------------------

REASONS = {
    "check-up": (0.28, 60),
    "cough or cold": (0.22, 45),
    "back pain": (0.14, 85),
    "injury": (0.10, 160),
    "vaccination": (0.10, 35),
    "skin": (0.07, 70),
    "teeth": (0.06, 140),
    "other reason": (0.03, 90),
}
VISITS_EACH = (0.34, 0.26, 0.17, 0.11, 0.07, 0.05)  # the shares of people with 1, 2, … 6 visits
VISITORS, COST_TOP = 2_500, 500


def visits(rng: Random) -> list[tuple[str, int, str, int]]:
    """person_id, month, reason, cost in euros; a person's visits are spread over the file."""
    rows = []
    for person in range(VISITORS):
        count = int(_pick(rng, "123456", VISITS_EACH))
        for _ in range(count):
            month = 1 + int(12 * rng.random())
            cold = 2.0 if month in (1, 2, 11, 12) else 0.6
            weights = [share * (cold if name == "cough or cold" else 1.0) for name, (share, _) in REASONS.items()]
            reason = _pick(rng, list(REASONS), weights)
            cost = REASONS[reason][1] * math.exp(0.5 * _normal(rng))
            rows.append((rng.random(), (f"P{person + 1:04d}", month, reason, min(round(cost), COST_TOP))))
    return [row for _, row in sorted(rows)]


# --- clinic: 1,200 people ---------------------------------------------------------------------------------------------

PATIENTS, PRESSURE = 1_200, (80, 200)


def clinic(rng: Random) -> list[tuple[int, str, str, int]]:
    """age, diabetes, smoker, blood_pressure; the older, the likelier diabetes and the higher the pressure."""
    rows = []
    for _ in range(PATIENTS):
        age = _age(rng)
        smoker = rng.random() < (0.28 if age < 60 else 0.17)
        diabetes = rng.random() < 1 / (1 + math.exp(-(age - 82) / 16)) + 0.03
        pressure = 104 + 0.36 * age + (6 if smoker else 0) + (9 if diabetes else 0) + 13 * _normal(rng)
        told = min(max(round(pressure), PRESSURE[0]), PRESSURE[1])
        rows.append((age, "yes" if diabetes else "no", "yes" if smoker else "no", told))
    return rows


# --- drawing and writing ----------------------------------------------------------------------------------------------


def _normal(rng: Random) -> float:
    return NormalDist().inv_cdf(rng.random() or 0.5)


def _pick(rng: Random, names: Sequence[str], weights: Sequence[float]) -> str:
    left = rng.random() * sum(weights)
    for name, weight in zip(names, weights, strict=True):
        left -= weight
        if left < 0:
            return name
    return names[-1]


def _shuffled(rng: Random, sizes: Mapping[str, int]) -> list[str]:
    """Each name as often as its size says, in random order."""
    names = [name for name, size in sizes.items() for _ in range(size)]
    return [name for _, name in sorted((rng.random(), name) for name in names)]


def _write(path: Path, header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


def write_samples(folder: Path) -> None:
    _write(folder / "town.csv", ("age", "monthly_income", "district", "way_to_work", "has_car"), town(Random(SEED)))
    _write(folder / "residents.csv", ("gender", "height", "salary", "state"), residents(Random(SEED + 1)))
    _write(folder / "films.csv", ("age_group", "films"), films(Random(SEED + 2)))
    _write(folder / "visits.csv", ("person_id", "month", "reason", "cost"), visits(Random(SEED + 3)))
    _write(folder / "clinic.csv", ("age", "diabetes", "smoker", "blood_pressure"), clinic(Random(SEED + 4)))


if __name__ == "__main__":
    write_samples(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
