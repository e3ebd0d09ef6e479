"""Columns as metric spaces with public bounds. Everything here is declared; nothing is read off the data.

A cell becomes a *code*: a Number its index on the public grid, a Category its place in the declared list, an ItemSet
the places of all its items.
Cleaning is one public rule for every cell: numbers out of range are clamped, unknown values get the declared label for
unknowns, a missing Number has no code (the row is left out of questions about that column).
A promised error is relative to the declared bounds. Wider bounds make the same error look smaller without improving
anything, so a promise is only as good as the bounds.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from inspect import signature
from itertools import islice
from typing import ClassVar, overload

from dpengine.core.errors import AllowanceError, refusing
from dpengine.core.exact import read_number, text_of
from dpengine.core.types import Json, JsonObject
from dpengine.declared import spelling
from dpengine.declared.date_column import Date
from dpengine.declared.grouped import Grouped, Ref
from dpengine.declared.spelling import normal, visible
from dpengine.messages import AUTOMATIC, Automatic, named_in_any_language

MOST_LISTED = 10**5
LONGEST_SEPARATOR = 10
LONGEST_VALUE = 200

MOST_STEPS = 10**7
MOST_CODES = 10
LONGEST_MEASURE = 20
MISSING = -1  # the code of a missing Number
MOST_VALUES = 10**6
LONGEST_NAME = 200

Code = int


@dataclass(frozen=True)
class ItemSet:
    """A set of values from a declared list. `separator` is between the items of a cell (None: one item per cell). A
    repeated item counts once, an item outside the list is dropped, an empty cell is the empty set. A person with
    several rows has the union over *all* of them, however many count elsewhere. `at_most` is for histograms only: of a
    larger set, that many items count there."""

    values: tuple[str, ...]
    separator: str | None
    at_most: int | None
    _places: dict[str, Code] = field(compare=False, repr=False)
    kappa: ClassVar[Fraction] = Fraction(1)

    def __init__(self, values: Json, separator: str | None = "|", at_most: int | None = None) -> None:
        if isinstance(values, str) or not all(isinstance(value, (str, int)) for value in values):
            raise AllowanceError("schema.unreadable")
        listed = tuple(str(value).strip() for value in values)
        if not 2 <= len(listed) <= MOST_LISTED:
            raise AllowanceError("items.many", most=MOST_LISTED)
        if separator is not None and not (isinstance(separator, str) and 1 <= len(separator) <= LONGEST_SEPARATOR):
            raise AllowanceError("items.separator", most=LONGEST_SEPARATOR)
        places: dict[str, Code] = {}
        for place, value in enumerate(listed):
            if not value:
                raise AllowanceError("items.blank")
            if len(value) > LONGEST_VALUE:
                raise AllowanceError("category.long", most=LONGEST_VALUE)
            if separator is not None and separator in value:
                raise AllowanceError("items.inside", value=value, separator=separator)
            if places.setdefault(normal(value), place) != place:
                raise AllowanceError("category.twice", value=value)
        if at_most is not None and (type(at_most) is not int or not 1 <= at_most <= len(listed)):
            raise AllowanceError("items.at_most", most=len(listed))
        parts = {"values": listed, "separator": separator, "at_most": at_most, "_places": places}
        for name, part in parts.items():
            object.__setattr__(self, name, part)

    @property
    def labels(self) -> tuple[str, ...]:
        return self.values

    @property
    def size(self) -> int:
        return len(self.values)

    @property
    def points(self) -> int:
        """The number of different sets: D = 2^H, with H items (thesis, Ex. 3.1)."""
        return 1 << self.size

    @property
    def diameter(self) -> Fraction:
        """The largest distance of two sets; their distance is the number of items that only one of them holds."""
        return Fraction(self.size)

    def value(self, code: Code) -> str:
        return self.values[code]

    def code(self, value: Json) -> Code:
        """The place of the listed item that a person typed."""
        return self._places[normal(str(value))]

    def codes(self, cell: str) -> list[Code]:
        """The places of the items that a cell holds, in the declared order."""
        items = cell.split(self.separator) if self.separator else [cell]
        return sorted({self._places[item] for item in map(normal, items) if item in self._places})

    def as_json(self) -> JsonObject:
        return {"kind": "items", "values": list(self.values), "separator": self.separator, "at_most": self.at_most}


@dataclass(frozen=True)
class Number:
    """A number on the public grid lower, lower+step, …, upper. **Codes** are up to ten numbers that mean “unknown”,
    such as 999, inside the range or outside it. A person declares them; they are never derived from cells. A cell that
    equals one exactly, however it is written (999, 999.0, 9.99e2), counts as empty everywhere. A cell's code depends on
    that cell and the public declaration alone. So neighbouring tables stay neighbours once coded, and no sensitivity
    and no loss changes."""

    lower: Fraction
    upper: Fraction
    step: Fraction
    missing: Fraction | None  # the substitute for a missing value; None: the row is left out
    measure: str  # the unit of measurement: €, kg, min; public, and shown in answers
    codes: tuple[Fraction, ...]  # in order
    words: bool  # do the usual words for “unknown” (?, n/a, neznano) count as empty cells, and so fit?

    def __init__(
        self,
        lower: object,
        upper: object,
        step: object = 1,
        missing: object = None,
        measure: str = "",
        codes: Json = (),
        words: bool = False,
    ) -> None:
        low, high = read_number(lower, "lower"), read_number(upper, "upper")
        grain = read_number(step, "step")
        if not low < high:
            raise AllowanceError("number.reversed")
        if grain <= 0 or ((high - low) / grain).denominator != 1:
            raise AllowanceError("number.step", suggestion=text_of(round_step(high - low)))
        if (high - low) / grain >= MOST_STEPS:
            raise AllowanceError("number.grid", most=MOST_STEPS)
        if not isinstance(words, bool):
            raise AllowanceError("schema.unreadable")
        filled = None if missing is None else read_number(missing, "missing")
        if filled is not None and not low <= filled <= high:
            raise AllowanceError("number.missing_outside")
        if not isinstance(measure, str) or len(measure.strip()) > LONGEST_MEASURE or not visible(measure):
            raise AllowanceError("number.measure", most=LONGEST_MEASURE)
        parts: JsonObject = {"lower": low, "upper": high, "step": grain, "missing": filled}
        parts |= {"measure": " ".join(measure.split()), "codes": _codes(codes), "words": words}
        for name, value in parts.items():
            object.__setattr__(self, name, value)

    @cached_property
    def size(self) -> int:
        return int((self.upper - self.lower) / self.step) + 1

    @property
    def complete(self) -> bool:
        """Has every row a value, by declaration?"""
        return self.missing is not None

    @property
    def years(self) -> bool:
        """Does the range look like years? They are written without a thousands sign."""
        whole = self.step.denominator == 1 and self.lower.denominator == 1
        return whole and self.lower >= 1000 and self.upper < 3000

    @property
    def ends(self) -> tuple[Fraction, Fraction]:
        return self.lower, self.upper

    @property
    def diameter(self) -> Fraction:
        return self.upper - self.lower

    @property
    def kappa(self) -> Fraction:
        """κ: the smallest distance of two different values. Lower bounds for published rows and their grid use it
        (`noise.row_noise`, `mechanisms.publish`)."""
        return self.step

    @property
    def points(self) -> int:
        """|D|: the number of values that a cell can have."""
        return self.size

    @cached_property
    def _whole(self) -> tuple[int, int] | None:
        """The lower bound and the step if both are whole, else None."""
        whole = self.lower.denominator == 1 and self.step.denominator == 1
        return (int(self.lower), int(self.step)) if whole else None

    def value(self, code: Code) -> int | float:
        if self._whole is not None and isinstance(code, int):  # arithmetic of fractions takes twenty times as long
            return self._whole[0] + code * self._whole[1]
        exact = self.lower + code * self.step
        return int(exact) if exact.denominator == 1 else float(exact)

    def code(self, value: Json) -> Code:
        """The code of a number that a person typed: the nearest grid point, clamped into the range."""
        return min(max(round(self.place(value)), 0), self.size - 1)

    def place(self, value: Json, name: str = "value") -> Fraction:
        """The position of a public number, counted in steps from the lower bound; it may be outside the range."""
        return (read_number(value, name) - self.lower) / self.step

    def text(self, code: Code) -> str:
        return str(self.value(code)) if self._whole is not None else text_of(self.lower + code * self.step)

    def as_json(self) -> JsonObject:
        grid = {name: text_of(getattr(self, name)) for name in ("lower", "upper", "step")}
        data: JsonObject = {"kind": "number", **grid}
        data |= {} if self.missing is None else {"missing": text_of(self.missing)}
        data |= {"measure": self.measure} if self.measure else {}
        data |= {"codes": [text_of(code) for code in self.codes]} if self.codes else {}
        return data | ({"words": True} if self.words else {})


def _codes(given: Json) -> tuple[Fraction, ...]:
    """The codes, each once, in order. A number without a finite decimal is refused, since no cell can hold it."""
    if not isinstance(given, (list, tuple, set, frozenset)):
        raise AllowanceError("schema.unreadable")
    if len(given) > MOST_CODES:
        raise AllowanceError("number.codes", most=MOST_CODES)
    read = (read_number(text_of(read_number(code, "codes")), "codes") for code in given)
    return tuple(sorted({*read}))


def round_step(width: Fraction) -> Fraction:
    """A default step: the largest power of ten, up to a hundredth of the width, that divides it; else a thousandth."""
    step = Fraction(10) ** 12
    while step > width / 100 or (width / step).denominator != 1:
        step /= 10
        if step < Fraction(1, 10**6):
            return width / 1000
    return step


@dataclass(frozen=True)
class Category:
    """One value of a declared list. Other cells count as `unknown`, empty ones as `missing`: each is a listed value, or
    a label of its own, which is then one more public value. A `complete` list has no such labels: every other cell
    silently counts as one listed value (the first unless `unknown` names one), so an answer never shows whether there
    was one. Checks still count such cells, and empty ones too."""

    values: tuple[str, ...]
    unknown: str
    missing: str
    aliases: tuple[tuple[str, str], ...]  # other spellings: ("1", "yes")
    spellings: str  # the name of a table of usual spellings to accept too; "": none
    complete: bool  # declared to hold every value that occurs
    labels: tuple[str, ...] = field(compare=False)
    _places: dict[str, Code] = field(compare=False, repr=False)
    diameter: ClassVar[Fraction] = Fraction(1)
    kappa: ClassVar[Fraction] = Fraction(1)

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
            spelling.spelling_lines(spellings)  # refuses a table that does not exist
        labels = _marked(labels, listed)
        places = {normal(label): place for place, label in enumerate(labels)}
        parts: JsonObject = {"values": tuple(labels[: len(listed)]), "labels": tuple(labels), "_places": places}
        parts |= {"unknown": labels[places[normal(unknown)]], "missing": labels[places[normal(missing)]]}
        parts |= {"aliases": spelled, "spellings": spellings, "complete": complete}
        for name, part in parts.items():
            object.__setattr__(self, name, part)

    @property
    def size(self) -> int:
        return len(self.labels)

    @property
    def points(self) -> int:
        return self.size

    def value(self, code: Code) -> str:
        return self.labels[code]

    def code(self, value: Json) -> Code:
        """The place of the listed value that a person typed."""
        return self._places[normal(str(value))]

    def spelled(self) -> dict[str, Code]:
        """The code of every accepted spelling: of the labels first, then the aliases, then the usual table."""
        return self._spelled(self.missing)

    def fitting(self) -> set[str]:
        """Every spelling that fits the declaration. An empty cell fits unless the list is complete."""
        return set(self._spelled("")) if self.complete else {"", *self.spelled()}

    def _spelled(self, missing: str) -> dict[str, Code]:
        places = dict(self._places)
        for other, label in self.aliases:
            places.setdefault(other, self.labels.index(label))
        if self.spellings:
            places = spelling.spelling_places(self.spellings, self.labels, missing) | places
        return places

    def as_json(self) -> JsonObject:
        data: JsonObject = {"kind": "category", "values": list(self.values)}
        data |= {"unknown": self.unknown, "missing": self.missing}
        if self.aliases:
            data["aliases"] = [list(pair) for pair in self.aliases]
        data |= {"spellings": self.spellings} if self.spellings else {}
        return data | ({"complete": True} if self.complete else {})


def _marked(labels: list[str], listed: tuple[str, ...]) -> list[str]:
    """The labels, with the automatic ones marked for translation; none is marked if a declared value equals its name in
    some language, since the two would read the same."""
    automatic = {label for label in labels if label in AUTOMATIC and label not in listed}
    automatic |= set(listed) if set(listed) == {"yes", "no"} else set()
    called = {normal(name) for label in automatic for name in named_in_any_language(label)}
    if any(normal(label) in called for label in labels if label not in automatic):
        return labels
    return [Automatic(label) if label in automatic else label for label in labels]


def extra_labels(column: object) -> list[str]:
    """The labels that the list adds for other cells and for empty ones."""
    if not isinstance(column, Category):
        return []
    values = set(column.values)  # a list may have 100,000
    return [label for label in column.labels if label not in values]


def yes_no(unknown: str = "other", missing: str = "no answer") -> Category:
    """A Category of yes and no, with the spellings that files use."""
    spellings = {"y": "yes", "true": "yes", "1": "yes", "t": "yes", "n": "no", "false": "no", "0": "no", "f": "no"}
    return Category(["yes", "no"], unknown=unknown, missing=missing, aliases=spellings)


Ordered = Number | Date
Column = Ordered | Category | ItemSet


@dataclass(frozen=True)
class Schema:
    """The declared columns, in order. Columns of the file that are not declared are left out."""

    columns: dict[str, Column]
    never: tuple[Json, ...] = ()  # combinations that cannot be (`public_rules`)

    def __hash__(self) -> int:
        """A hash of the names alone: lists of values can be long, and equal schemas have equal names."""
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
        column = self[name]
        return column if isinstance(column, Date) else self.number(name)

    @overload
    def category(self, name: str) -> Category: ...
    @overload
    def category(self, name: Ref) -> Category | Grouped: ...
    def category(self, name: Ref) -> Category | Grouped:
        """The declared list, or the grouped column with its groups as values. Refused for any other column."""
        if isinstance(name, Grouped):
            return name
        column = self[name]
        if not isinstance(column, Category):
            raise AllowanceError("column.wrong_kind", column=name, wanted="a column with a list of values")
        return column

    def listed(self, name: Ref) -> Category | Grouped | ItemSet:
        """The declared list of this name: a row holds one value (Category) or any number (ItemSet). Else refused."""
        column = self.columns.get(name) if isinstance(name, str) else None
        return column if isinstance(column, ItemSet) else self.category(name)

    def of_kind(self, *kinds: type[Column]) -> list[str]:
        return [name for name, column in self.columns.items() if isinstance(column, kinds)]

    def check_signs(self) -> None:
        """Refuse names and values that show nothing on a page."""
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
        return data

    @staticmethod
    def from_json(data: JsonObject) -> Schema:
        with refusing("schema.unreadable", KeyError, TypeError, ValueError, AttributeError):
            _refuse_unknown(data, Schema)
            columns = {name: _column(dict(column)) for name, column in data["columns"]}
            return Schema(columns, tuple(data.get("never", ())))


def _column(data: JsonObject) -> Column:
    kind = _KINDS[data.pop("kind")]
    _refuse_unknown(data, kind)
    return kind(**data)


_KINDS: dict[str, type[Column]] = {"number": Number, "date": Date, "category": Category, "items": ItemSet}
_KEYS = {kind.__name__: {*signature(kind).parameters} for kind in (Schema, *_KINDS.values())}


def _refuse_unknown(data: JsonObject, kind: type[Schema | Column]) -> None:
    """What a declaration says is never skipped: it may be what protects people."""
    for name in sorted(data.keys() - _KEYS[kind.__name__]):
        raise AllowanceError("schema.unknown_key", key=name[:LONGEST_NAME])
