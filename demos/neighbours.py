"""Two made-up tables that differ in one person, and a small example of every question in the catalogue.

The club has six people. Ana is the only one on Mill Lane and, but for choices, where she decides, the only one from
West; she wrote 60 visits where at most 6 count. Under *replace* the other table has another Ana; under *add_remove* it
has none. Where a person may have two rows, both of Ana's are alike: the worst case. Nobody is in these tables, so all
of it may be shown.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dpengine.declared.conditions import Row
from dpengine.declared.facts import Facts
from dpengine.declared.schema import Category, Number, Schema
from dpengine.declared.unit import Relation, Unit
from dpengine.mechanisms import catalogue
from dpengine.mechanisms.query import Query

SCHEMA = Schema(
    {
        "town": Category(["North", "South", "West"], unknown="North", missing="North"),
        "member": Category(["yes", "no"], unknown="no", missing="no"),
        "visits": Number(0, 6, missing=0),
    }
)
HEADER = (*SCHEMA.columns, "street", "spent")
UNITS = {"one": Unit.rows(), "two": Unit.column("name", at_most=2)}
ANA = "Ana"
Table = tuple[Row, ...]


def _row(name: str, town: str, member: str, visits: int, street: str, spent: str) -> Row:
    """One row as it was written and as the engine codes it: more visits than were declared count as the most."""
    most = SCHEMA.number("visits").size - 1
    return {
        "name": name,
        "person": name,
        "street": street,
        "spent": spent,
        "written": visits,
        "town": SCHEMA.category("town").code(town),
        "member": SCHEMA.category("member").code(member),
        "visits": min(visits, most),
        "fault visits": int(visits > most),
    }


_TOWNS = ("North", "North", "South", "South", "North")


def _others(*visits: int, towns: tuple[str, ...] = _TOWNS) -> Table:
    names = ("Bo", "Cleo", "Dan", "Eve", "Finn")
    members, spent = ("yes", "no", "no", "yes", "no"), ("12", "9", "14", "11", "15")
    told = zip(names, towns, members, visits, spent, strict=True)
    return tuple(_row(name, town, member, many, "High Street", paid) for name, town, member, many, paid in told)


OTHERS = _others(1, 1, 1, 2, 6)
ALIKE = _others(1, 1, 1, 1, 1)  # beside whom Ana moves the upper quarter most
EVEN = _others(1, 1, 1, 2, 6, towns=("North", "North", "South", "West", "West"))  # beside whom Ana decides
BESIDE = {"quantile": ALIKE, "top_item": EVEN, "flip": EVEN, "noisy_argmax": EVEN}
WITH = _row(ANA, "West", "yes", 60, "Mill Lane", "4000")
INSTEAD = _row(ANA, "North", "no", 0, "High Street", "10")
NEARER = _row(ANA, "North", "no", 2, "High Street", "10")  # what moves a spread most is not the far end


def tables(key: str, relation: Relation, unit: str) -> tuple[Table, Table]:
    """The two neighbours: Ana as she is, and another Ana or none."""
    others, instead = BESIDE.get(key, OTHERS), NEARER if key in ("variance", "train_logistic") else INSTEAD
    rows = UNITS[unit].at_most
    return others + (WITH,) * rows, others + ((instead,) * rows if relation == "replace" else ())


MODEL = {  # a released model that says: who comes often is a member
    "kind": "logistic",
    "features": [["visits", SCHEMA["visits"].as_json()]],
    "target": ["member", SCHEMA["member"].as_json()],
    "yes": [0],
    "no": [1],
    "bits": 24,
    "weights": [0, 2**24],
}

# One question of every kind, about West or about visits, so that Ana matters to all of them.
WEST: list[Any] = [["town", "in", ["West"]]]
NORTH: list[Any] = [["town", "in", ["North"]]]
EXAMPLES: dict[str, dict[str, Any]] = {
    "count": {"where": WEST},
    "proportion": {"of": WEST},
    "sum": {"column": "visits"},
    "mean": {"column": "visits"},
    "variance": {"column": "visits"},
    "median": {"column": "visits", "with_range": False},
    "quantile": {"column": "visits", "share": "0.75", "with_range": False},
    "histogram": {"column": "town"},
    "crosstab": {"columns": ["town", "member"]},
    "density": {"columns": ["visits"], "resolution": 2, "bandwidth": 3},
    "top_item": {"column": "town"},
    "noisy_argmax": {"options": [WEST, NORTH]},
    "fit_check": {"column": "visits"},
    "find_range": {"column": "spent"},
    "find_values": {"column": "street", "delta": "0.01"},
    "adaptive_session": {"questions": 2, "ask": {"share": WEST}},
    "gaussian": {"where": WEST, "noise": "gaussian"},
    "flip": {"column": "town", "noise": "permute_and_flip"},
    "publish_number": {"columns": ["visits"]},
    "publish_category": {"columns": ["town"]},
    "publish_table": {"columns": ["town", "visits"]},
    "local_count": {"where": WEST},
    "shuffle_count": {"where": WEST, "delta": "0.35"},  # six people hide each other at no smaller δ
    "shuffle_histogram": {"column": "town", "delta": "0.5"},
    "cdf": {"column": "visits", "points": 2},
    "cdf_tree": {"column": "visits"},
    "small_database": {"columns": ["town"], "size": 2},
    "mwem": {"columns": ["town"], "queries": [WEST, NORTH], "rounds": 1},
    "train_linear": {"target": "visits", "features": ["member"], "calibration": "coordinate", "steps": 1, "lattice": 4},
    "train_logistic": {
        "target": "member",
        "features": ["visits"],
        "calibration": "coordinate",
        "steps": 1,
        "lattice": 4,
        "clip": "0.5",
    },
    "check_model": {"parts": 2, "model": MODEL},
}
OTHER_NOISE = {"gaussian": "count", "flip": "top_item"}  # questions with their other noise


def settings(key: str) -> tuple[tuple[Relation, str], ...]:
    """The relations and units of which a question may be asked; some are for one row per person alone."""
    card = catalogue[OTHER_NOISE.get(key, key)].card
    units = [unit for unit in UNITS if card.several or UNITS[unit] == Unit.rows()]
    return tuple((relation, unit) for relation in card.relations for unit in units)


@dataclass(frozen=True)
class Example:
    """A question as it is put to the two tables."""

    key: str
    relation: Relation
    unit: str
    epsilon: str

    def __post_init__(self) -> None:
        if self.key not in EXAMPLES or (self.relation, self.unit) not in settings(self.key):
            raise KeyError("no such example")

    @property
    def tables(self) -> tuple[Table, Table]:
        return tables(self.key, self.relation, self.unit)

    @property
    def query(self) -> Query:
        facts = Facts("club", SCHEMA, UNITS[self.unit], self.relation, len(OTHERS) + 1, HEADER)
        kind = catalogue[OTHER_NOISE.get(self.key, self.key)]
        return kind.build(facts, {"epsilon": self.epsilon} | EXAMPLES[self.key])
