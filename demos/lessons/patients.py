"""The made-up patients of the clinic. Start counts them before the engine is imported: this file needs none of it."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache

from dpengine.core import places

CLINIC = places.SAMPLES / "clinic.csv"
PERSON = 163  # a blood pressure that only one patient has


@dataclass(frozen=True)
class Patient:
    pressure: int
    diabetes: bool
    smoker: bool


@cache
def patients() -> tuple[Patient, ...]:
    with CLINIC.open(encoding="utf-8", newline="") as file:
        return tuple(
            Patient(int(row["blood_pressure"]), row["diabetes"] == "yes", row["smoker"] == "yes")
            for row in csv.DictReader(file)
        )


def with_diabetes(edge: int) -> int:
    """The true number of patients with diabetes and a pressure of at most `edge`."""
    return sum(patient.pressure <= edge and patient.diabetes for patient in patients())
