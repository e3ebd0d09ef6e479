"""The made-up clinic of lessons 1 and 2, and a practice allowance that exists only on the screen."""

from __future__ import annotations

from demos.lessons.patients import patients
from dpengine.accountant.filter import Budget
from dpengine.declared.facts import Facts
from dpengine.declared.schema import Category, Number, Schema
from dpengine.declared.unit import Unit

ALLOWANCE = Budget("1", "1e-6")
SCHEMA = Schema(
    {
        "blood_pressure": Number(80, 200, step=1),
        "age": Number(18, 90, step=1),
        "diabetes": Category(["yes", "no"], unknown="no", missing="no"),
        "smoker": Category(["yes", "no"], unknown="no", missing="no"),
    }
)


def facts() -> Facts:
    """The public facts about the table, as the bundled sample declares it."""
    return Facts("clinic", SCHEMA, Unit.rows(), "replace", len(patients()))
