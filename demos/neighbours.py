"""Two made-up tables that differ in one person, and a small example of every question in the catalogue.

The club has six people. Ana is the only one on Mill Lane and, except for choices, which she decides, the only one from
West. She wrote 60 visits although at most 6 count. Under *replace* the other table has another Ana; under *add_remove*
it has none. If a person may have two rows, both of Ana's are equal: the worst case. The tables hold no real person, so
all of them may be shown.
"""

from __future__ import annotations

from dataclasses import dataclass

from dpengine.declared.cell_kinds import ABOVE, FITS
from dpengine.declared.conditions import Row
from dpengine.declared.facts import Facts
from dpengine.declared.unit import Relation, Unit
from dpengine.mechanisms import catalogue
from dpengine.mechanisms.query import AnyQuery
from dpengine.mechanisms.trial import CLUB
from dpengine.mechanisms.trial import Example as Asked

SCHEMA = CLUB
HEADER = (*SCHEMA.columns, "street", "spent")
UNITS = {"one": Unit.rows(), "two": Unit.column("name", at_most=2)}
ANA = "Ana"
Table = tuple[Row, ...]


def _row(name: str, town: str, member: str, visits: int, street: str, spent: str) -> Row:
    """One row as written and as the engine codes it: visits above the declared range are clipped."""
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
        "fee": 4 if street == "Mill Lane" else visits % 3,  # codes: Ana pays the most
        "sports": SPORTS[street],
        "kind visits": ABOVE if visits > most else FITS,
    }


SPORTS = {"Mill Lane": (0, 1, 2), "High Street": ()}  # Ana does all of them, the others none
_TOWNS = ("North", "North", "South", "South", "North")


def _others(*visits: int, towns: tuple[str, ...] = _TOWNS) -> Table:
    names = ("Bo", "Cleo", "Dan", "Eve", "Finn")
    members, spent = ("yes", "no", "no", "yes", "no"), ("12", "9", "14", "11", "15")
    columns = zip(names, towns, members, visits, spent, strict=True)
    return tuple(_row(name, town, member, many, "High Street", paid) for name, town, member, many, paid in columns)


_OTHERS = {
    "usual": _others(1, 1, 1, 2, 6),
    "alike": _others(1, 1, 1, 1, 1),  # beside these, Ana moves the upper quarter most
    "even": _others(1, 1, 1, 2, 6, towns=("North", "North", "South", "West", "West")),  # beside these, Ana decides
}
WITH = _row(ANA, "West", "yes", 60, "Mill Lane", "4000")
INSTEAD = {
    "far": _row(ANA, "North", "no", 0, "High Street", "10"),
    "near": _row(ANA, "North", "no", 2, "High Street", "10"),  # a spread moves most in the middle, not at the far end
}


# One question of every kind, about West or visits, so that Ana matters to all; some also with their other noise.
QUESTION_OF = {name: key for key, found in catalogue.items() for name in (key, *found.trial.with_noise)}
EXAMPLES: dict[str, Asked] = {
    name: catalogue[key].trial.with_noise.get(name, catalogue[key].trial.example) for name, key in QUESTION_OF.items()
}


def tables(name: str, relation: Relation, unit: str) -> tuple[Table, Table]:
    """The two neighbouring tables: one has Ana, the other has another Ana or none."""
    others, instead = _OTHERS[EXAMPLES[name].others], INSTEAD[EXAMPLES[name].instead]
    rows = UNITS[unit].at_most
    return others + (WITH,) * rows, others + ((instead,) * rows if relation == "replace" else ())


def settings(key: str) -> tuple[tuple[Relation, str], ...]:
    """The pairs of relation and unit that a question allows; some questions need one row per person."""
    card = catalogue[QUESTION_OF[key]].card
    units = [unit for unit in UNITS if card.several or UNITS[unit] == Unit.rows()]
    return tuple((relation, unit) for relation in card.relations for unit in units)


@dataclass(frozen=True)
class Example:
    """A question with its settings, as asked of the two tables."""

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
    def query(self) -> AnyQuery:
        facts = Facts("club", SCHEMA, UNITS[self.unit], self.relation, len(_OTHERS["usual"]) + 1, HEADER)
        return catalogue[QUESTION_OF[self.key]].build(facts, {"epsilon": self.epsilon} | dict(EXAMPLES[self.key].given))
