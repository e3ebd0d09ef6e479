"""A census-like table, made up: fifteen columns with the names of a well-known file, a space before every cell, and “?”
where somebody did not answer."""

from __future__ import annotations

import random

NAMES = (
    "age,workclass,fnlwgt,education,education-num,marital-status,occupation,relationship,race,sex,capital-gain,"
    "capital-loss,hours-per-week,native-country,salary"
)
_WORK = ("Private", "Self-emp-not-inc", "Local-gov", "State-gov", "?")
_SCHOOL = (("HS-grad", 9), ("Some-college", 10), ("Bachelors", 13), ("Masters", 14), ("11th", 7), ("Doctorate", 16))
_MARITAL = ("Married-civ-spouse", "Never-married", "Divorced", "Widowed")
_JOBS = ("Craft-repair", "Sales", "Adm-clerical", "Exec-managerial", "?")
_FAMILY = ("Husband", "Wife", "Own-child", "Not-in-family")
_RACES = ("White", "Black", "Asian-Pac-Islander", "Other")
_LANDS = ("United-States", "Mexico", "Philippines", "Germany", "?")


def census(people: int, seed: int = 7) -> str:
    made = random.Random(seed)
    lines = [NAMES]
    for _ in range(people):
        school, years = made.choice(_SCHOOL)
        rich = made.random() < 0.24
        cells = [
            made.randint(17, 90),
            made.choices(_WORK, (70, 10, 8, 6, 6))[0],
            made.randint(20_000, 500_000),
            school,
            years,
            made.choice(_MARITAL),
            made.choice(_JOBS),
            made.choice(_FAMILY),
            made.choices(_RACES, (85, 10, 4, 1))[0],
            made.choices(("Male", "Female"), (2, 1))[0],
            made.choice((0, 0, 0, 0, 2174, 7688, 99999)),
            made.choice((0, 0, 0, 0, 0, 1902)),
            made.choice((20, 35, 40, 40, 40, 50, 60)),
            made.choices(_LANDS, (90, 3, 2, 2, 3))[0],
            ">50K" if rich else "<=50K",
        ]
        lines.append(", ".join(map(str, cells)))
    return "\n".join(lines) + "\n"
