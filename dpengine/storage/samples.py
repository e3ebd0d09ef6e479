"""The bundled sample tables: made-up people, so nothing about them is private. Their budgets are for practice."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from dpengine.accountant.filter import Budget
from dpengine.core import places
from dpengine.declared.schema import Category, ItemSet, Number, Schema
from dpengine.declared.unit import Unit

_STATES = (
    "AL AR AZ CA CO CT DE FL GA IA ID IL IN KS KY LA MA MD ME MI MN MO MS MT NC ND NE NH NJ NM NV NY OH OK OR PA RI "
    "SC SD TN TX UT VA VT WA WI WV WY"
).split()
_DISTRICTS = "Harbour|Old Town|Mill|Station|Meadow|Hill|West End|Lakeside|Orchard|Quarry|Garden|Bridge".split("|")


@dataclass(frozen=True)
class Sample:
    name: str
    path: Path
    schema: Schema
    budget: Budget
    unit: Unit = field(default_factory=Unit.rows)


_TOWN = Schema(
    {
        "monthly_income": Number(0, 12_000, step=10),
        "age": Number(0, 120, step=1),
        "district": Category(_DISTRICTS, unknown="Bridge", missing="Bridge"),
        "way_to_work": Category(
            ["car", "bus", "bicycle", "train", "on foot", "works at home"],
            unknown="works at home",
            missing="works at home",
        ),
        "has_car": Category(["yes", "no"], unknown="no", missing="no"),
    }
)

_RESIDENTS = Schema(
    {
        "salary": Number(1504, 4500, step=1),
        "height": Number("1.00", "2.50", step="0.01"),
        "gender": Category(["F", "M"], unknown="F", missing="F"),
        "state": Category(_STATES, unknown="WY", missing="WY"),
    }
)

_FILM_TITLES = (
    "The Paper Lighthouse|Seven Quiet Rivers|Midnight Orchard|A Map of Rain|The Clockmaker's Daughter|"
    "Salt and Thunder|North of Nowhere|The Last Ferry|Velvet Comet|Hollow Summer|Brass Horizon|The Borrowed Moon|"
    "Letters to Vienna|Copper Wolves|The Glass Harvest|Tomorrow's Ashes|Kite Season|The Silent Cartographer|"
    "Amber Street|Winter Parade|The Ninth Passenger|Wild Marble|Gravity's Garden|Echoes of Tin|The Lantern Thief|"
    "Blue Static|Harbour of Dust|Once in Trieste|The Tallest Tree|Paper Tigers Waltz|Ordinary Giants|"
    "The Sleeping Mill|Fourteen Doors|Cinder Boulevard|The Understudy's Secret|Snow on Copper|Distant Cousins|"
    "The Violet Hour Club|Driftwood Kings|Goodnight, Meridian"
).split("|")

_FILMS = Schema(
    {
        "films": ItemSet(_FILM_TITLES, separator="|", at_most=6),
        "age_group": Category(["under 18", "18-29", "30-44", "45-64", "65 and over"], unknown="30-44", missing="30-44"),
    }
)

_VISITS = Schema(
    {
        "cost": Number(0, 500, step=1),
        "month": Number(1, 12, step=1),
        "reason": Category(
            ["check-up", "cough or cold", "back pain", "injury", "vaccination", "skin", "teeth", "other reason"],
            unknown="other reason",
            missing="other reason",
        ),
    }
)

_CLINIC = Schema(
    {
        "blood_pressure": Number(80, 200, step=1),
        "age": Number(18, 90, step=1),
        "diabetes": Category(["yes", "no"], unknown="no", missing="no"),
        "smoker": Category(["yes", "no"], unknown="no", missing="no"),
    }
)

SAMPLES: MappingProxyType[str, Sample] = MappingProxyType(
    {
        "town": Sample("town", places.SAMPLES / "town.csv", _TOWN, Budget("1", "1e-6")),
        "residents": Sample("residents", places.SAMPLES / "residents.csv", _RESIDENTS, Budget("1", "1e-6")),
        "films": Sample("films", places.SAMPLES / "films.csv", _FILMS, Budget("1", "1e-6")),
        "visits": Sample(
            "visits", places.SAMPLES / "visits.csv", _VISITS, Budget("1", "1e-6"), Unit.column("person_id", at_most=4)
        ),
        "clinic": Sample("clinic", places.SAMPLES / "clinic.csv", _CLINIC, Budget("1", "1e-6")),
    }
)
