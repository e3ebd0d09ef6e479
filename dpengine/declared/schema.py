"""Columns as metric spaces with public bounds. Everything here is declared; nothing is read off the data.

A cell becomes a *code*: a Number its index on the public grid, a Category its place in the declared list, an ItemSet
the places of all its items.
Cleaning is one public rule that covers every cell: numbers out of range are clamped, unknown values go to the declared
label for unknowns, a missing Number has no code (the row is left out of questions about that column).
A promised error is stated relative to the declared bounds. Declaring wider bounds makes the same error look smaller
without improving anything, so a promise is only as good as the bounds.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from itertools import islice
from typing import overload

from dpengine.core.errors import AllowanceError
from dpengine.core.json_types import Json, JsonObject
from dpengine.declared import usual_spellings
from dpengine.declared.date_column import Date
from dpengine.declared.grouped import Grouped, Ref
from dpengine.declared.item_set import LONGEST_VALUE as LONGEST_VALUE
from dpengine.declared.item_set import MOST_LISTED as MOST_LISTED
from dpengine.declared.item_set import Code as Code
from dpengine.declared.item_set import ItemSet as ItemSet
from dpengine.declared.number_column import LONGEST_MEASURE as LONGEST_MEASURE
from dpengine.declared.number_column import MOST_STEPS as MOST_STEPS
from dpengine.declared.number_column import Number as Number
from dpengine.declared.number_column import round_step as round_step
from dpengine.declared.spelling import normal as normal
from dpengine.declared.spelling import visible as visible
from dpengine.messages import AUTOMATIC, CATALOGUES, Automatic

MISSING = -1  # the code of a missing Number
MOST_VALUES = 10**6
LONGEST_NAME = 200


@dataclass(frozen=True)
class Category:
    """One value of a declared list. `unknown` and `missing` say what other and empty cells count as: a listed value,
    or a label of their own, which then is one more public value.

    A `complete` list has no such labels: every other cell counts as one fixed listed value (the first unless `unknown`
    names one), silently, so an answer never shows whether there was one. The checks of what fits still count it, and
    empty cells too."""

    values: tuple[str, ...]
    unknown: str
    missing: str
    aliases: tuple[tuple[str, str], ...]  # other spellings: ("1", "yes")
    spellings: str  # the table of usual_spellings whose other spellings are accepted too; "": none
    complete: bool  # declared to hold every value that occurs
    labels: tuple[str, ...] = field(compare=False)
    _places: dict[str, Code] = field(compare=False, repr=False)

    def __init__(
        self,
        values: Json,
        unknown: str | None = None,
        missing: str | None = None,
        aliases: Json = (),
        spellings: str = "",
        complete: bool = False,
    ) -> None:
        if isinstance(values, str):
            raise AllowanceError("schema.unreadable")
        values = tuple(islice(values, MOST_VALUES + 1))
        if len(values) > MOST_VALUES:
            raise AllowanceError("category.many", most=MOST_VALUES)
        if not all(isinstance(value, (str, int)) for value in values):
            raise AllowanceError("schema.unreadable")
        listed = tuple(str(value).strip() for value in values)
        seen: dict[str, str] = {}
        for value in listed:
            if not value:
                raise AllowanceError("category.blank")
            if len(value) > LONGEST_VALUE:
                raise AllowanceError("category.long", most=LONGEST_VALUE)
            if normal(value) in seen:
                raise AllowanceError("category.twice", value=value)
            seen[normal(value)] = value
        if not isinstance(complete, bool):
            raise AllowanceError("schema.unreadable")
        if complete and listed:
            unknown = listed[0] if unknown is None else unknown
            missing = unknown if missing is None else missing
            if not {normal(str(unknown)), normal(str(missing))} <= seen.keys():
                raise AllowanceError("category.complete")
        unknown = "other" if unknown is None else unknown
        missing = "no answer" if missing is None else missing
        labels = list(listed)
        for extra in (unknown, missing):
            if not isinstance(extra, str) or not extra.strip():
                raise AllowanceError("category.closed_unknown")
            if normal(extra) not in seen:
                seen[normal(extra)] = extra.strip()
                labels.append(extra.strip())
        if not listed:
            raise AllowanceError("category.few", least=1)
        if len(labels) < 2:
            raise AllowanceError("category.few", least=2)
        pairs = aliases.items() if isinstance(aliases, dict) else aliases
        spelled = tuple((normal(str(other)), str(value)) for other, value in pairs)
        if any(value not in labels for _, value in spelled) or not isinstance(spellings, str):
            raise AllowanceError("schema.unreadable")
        if spellings:
            usual_spellings.lines(spellings)  # refuses a table that does not exist
        labels = _marked(labels, listed)
        object.__setattr__(self, "values", tuple(labels[: len(listed)]))
        label_of = {normal(label): label for label in labels}
        object.__setattr__(self, "unknown", label_of[normal(unknown)])
        object.__setattr__(self, "missing", label_of[normal(missing)])
        object.__setattr__(self, "aliases", spelled)
        object.__setattr__(self, "spellings", spellings)
        object.__setattr__(self, "complete", complete)
        object.__setattr__(self, "labels", tuple(labels))
        object.__setattr__(self, "_places", {normal(label): place for place, label in enumerate(labels)})

    @property
    def size(self) -> int:
        return len(self.labels)

    @property
    def diameter(self) -> Fraction:
        return Fraction(1)

    @property
    def kappa(self) -> Fraction:
        return Fraction(1)

    @property
    def points(self) -> int:
        return self.size

    def value(self, code: Code) -> str:
        return self.labels[code]

    def code(self, value: Json) -> Code:
        """The index of a listed value; for public values typed into a form."""
        return self._places[normal(str(value))]

    def spelled(self) -> dict[str, Code]:
        """The code of every accepted spelling: the labels first, then the aliases, then those of the usual table."""
        return self._spelled(self.missing)

    def fitting(self) -> set[str]:
        """Every spelling that fits the declaration: no answer is one, unless the list is said to be complete."""
        return set(self._spelled("")) if self.complete else {"", *self.spelled()}

    def _spelled(self, missing: str) -> dict[str, Code]:
        places = dict(self._places)
        for other, label in self.aliases:
            places.setdefault(other, self.labels.index(label))
        if self.spellings:
            places = usual_spellings.places(self.spellings, self.labels, missing) | places
        return places

    def as_json(self) -> JsonObject:
        data: JsonObject = {"kind": "category", "values": list(self.values)}
        data |= {"unknown": self.unknown, "missing": self.missing}
        if self.aliases:
            data["aliases"] = [list(pair) for pair in self.aliases]
        data |= {"spellings": self.spellings} if self.spellings else {}
        return data | ({"complete": True} if self.complete else {})


def _marked(labels: list[str], listed: tuple[str, ...]) -> list[str]:
    """The labels, with those marked that nobody wrote: told in the reader's language. None where another label is what
    a language calls one of them, because then two would read the same."""
    made = {label for label in labels if label in AUTOMATIC and label not in listed}
    made |= set(listed) if set(listed) == {"yes", "no"} else set()
    called = {normal(catalogue[AUTOMATIC[label]]) for label in made for catalogue in CATALOGUES.values()}
    if any(normal(label) in called for label in labels if label not in made):
        return labels
    return [Automatic(label) if label in made else label for label in labels]


def extra_labels(column: object) -> list[str]:
    """The labels that are no listed values: for cells outside the list, and for empty ones."""
    if not isinstance(column, Category):
        return []
    return [label for label in column.labels if label not in column.values]


def yes_no(unknown: str = "other", missing: str = "no answer") -> Category:
    """Yes or no, in the spellings that files use."""
    spellings = {"y": "yes", "true": "yes", "1": "yes", "t": "yes", "n": "no", "false": "no", "0": "no", "f": "no"}
    return Category(["yes", "no"], unknown=unknown, missing=missing, aliases=spellings)


Ordered = Number | Date
Column = Ordered | Category | ItemSet


@dataclass(frozen=True)
class Schema:
    """The declared columns, in order. Columns of the file that are not declared are left out."""

    columns: dict[str, Column]
    never: tuple[Json, ...] = ()  # combinations that cannot be (`public_rules`)
    lookups: dict[str, tuple[str, Json]] = field(default_factory=dict)  # a name: the column, and its groups

    def __hash__(self) -> int:
        """By the names alone: lists of values can be long, and equal schemas have equal names."""
        return hash(tuple(self.columns))

    def __post_init__(self) -> None:
        object.__setattr__(self, "never", tuple(self.never))
        if not self.columns:
            raise AllowanceError("schema.empty")
        for name, column in self.columns.items():
            if not isinstance(name, str) or not name.strip():
                raise AllowanceError("column.name_blank")
            if len(name) > LONGEST_NAME:
                raise AllowanceError("column.name_long", most=LONGEST_NAME)
            if not isinstance(column, (Number, Date, Category, ItemSet)):
                raise AllowanceError("schema.unreadable")

    def __getitem__(self, name: str) -> Column:
        if not isinstance(name, str) or name not in self.columns:
            raise AllowanceError("column.unknown", column=str(name)[:LONGEST_NAME], columns=list(self.columns))
        return self.columns[name]

    def number(self, name: str) -> Number:
        column = self[name]
        if not isinstance(column, Number):
            raise AllowanceError("column.wrong_kind", column=name, wanted="a number column")
        return column

    def ordered(self, name: str) -> Ordered:
        """A column with an order: numbers or dates."""
        column = self[name]
        return column if isinstance(column, Date) else self.number(name)

    @overload
    def category(self, name: str) -> Category: ...
    @overload
    def category(self, name: Ref) -> Category | Grouped: ...
    def category(self, name: Ref) -> Category | Grouped:
        """A column of whose declared values a row holds one at most; or one told in groups, which are its values."""
        if isinstance(name, Grouped):
            return name
        column = self[name]
        if not isinstance(column, Category):
            raise AllowanceError("column.wrong_kind", column=name, wanted="a column with a list of values")
        return column

    def listed(self, name: Ref) -> Category | Grouped | ItemSet:
        """A column with declared values, of which a row holds one (Category) or any number (ItemSet)."""
        column = self.columns.get(name) if isinstance(name, str) else None
        return column if isinstance(column, ItemSet) else self.category(name)

    def of_kind(self, *kinds: type[Column]) -> list[str]:
        return [name for name, column in self.columns.items() if isinstance(column, kinds)]

    def check_signs(self) -> None:
        """Refuses names and values that show nothing."""
        for name, column in self.columns.items():
            if not visible(name):
                raise AllowanceError("column.name_signs", column=name)
            labels = column.labels if isinstance(column, Category | ItemSet) else ()
            for value in labels:
                if not visible(value):
                    raise AllowanceError("category.signs", value=value)

    def as_json(self) -> JsonObject:
        data: JsonObject = {"columns": [[name, column.as_json()] for name, column in self.columns.items()]}
        data |= {"never": list(self.never)} if self.never else {}
        return data | ({"lookups": {name: list(one) for name, one in self.lookups.items()}} if self.lookups else {})

    @staticmethod
    def from_json(data: JsonObject) -> Schema:
        try:
            columns = {name: _column(dict(column)) for name, column in data["columns"]}
            lookups = {name: (column, groups) for name, (column, groups) in data.get("lookups", {}).items()}
            return Schema(columns, tuple(data.get("never", ())), lookups)
        except (KeyError, TypeError, ValueError):
            raise AllowanceError("schema.unreadable") from None


def _column(data: JsonObject) -> Column:
    kinds: dict[str, type[Column]] = {"number": Number, "date": Date, "category": Category, "items": ItemSet}
    return kinds[data.pop("kind")](**data)
