"""The bundled sample tables: made-up people, so nothing about them is private. Their budgets are for practice."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from dpengine.budget import Budget
from dpengine.schema import Category, Number, Schema
from dpengine.unit import Unit

_DATA = Path(__file__).resolve().parent.parent / "data"
_STATES = (
    "AL AR AZ CA CO CT DE FL GA IA ID IL IN KS KY LA MA MD ME MI MN MO MS MT NC ND NE NH NJ NM NV NY OH OK OR PA RI "
    "SC SD TN TX UT VA VT WA WI WV WY"
).split()


@dataclass(frozen=True)
class Sample:
    name: str
    path: Path
    schema: Schema
    budget: Budget
    unit: Unit = field(default_factory=Unit.rows)


_TOWN = Schema(
    {
        "monthly_income": Number(0, 12_000, step=10, shape="skewed"),
        "age": Number(0, 120, step=1),
        "district": Category(
            ["Harbour", "Old Town", "Mill", "Station", "Meadow", "Hill", "West End", "Lakeside", "Orchard", "Quarry",
             "Garden", "Bridge"], unknown="Bridge", missing="Bridge",
        ),
        "way_to_work": Category(
            ["car", "bus", "bicycle", "train", "on foot", "works at home"], unknown="works at home",
            missing="works at home",
        ),
        "has_car": Category(["yes", "no"], unknown="no", missing="no"),
    }
)

_RESIDENTS = Schema(
    {
        "salary": Number(1504, 4500, step=1, shape="even"),
        "height": Number("1.00", "2.50", step="0.01"),
        "gender": Category(["F", "M"], unknown="F", missing="F"),
        "state": Category(_STATES, unknown="WY", missing="WY"),
    }
)

SAMPLES: MappingProxyType[str, Sample] = MappingProxyType(
    {
        "town": Sample("town", _DATA / "town.csv", _TOWN, Budget("1", "1e-6")),
        "residents": Sample("residents", _DATA / "residents.csv", _RESIDENTS, Budget("1", "1e-6")),
    }
)
