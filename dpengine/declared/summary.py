"""What one row a person may say about that person's rows: how many, any, sum, mean, least, most, first, last, most
frequent. Each has its own declared range or list; everything is public."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass

from dpengine.core.errors import AllowanceError
from dpengine.core.exact import read_number, text_of
from dpengine.core.types import Json, JsonObject
from dpengine.declared.date_column import Date
from dpengine.declared.dialect import Dialect
from dpengine.declared.schema import Category, Column, Number, Schema
from dpengine.declared.source import Joined, Source
from dpengine.declared.unit import Unit

COUNT, ANY, FREQUENT = "count", "any", "frequent"
OF_NUMBERS = ("sum", "mean", "least", "most")
BY_DAY = ("first", "last")
KINDS = (COUNT, ANY, *OF_NUMBERS, *BY_DAY, FREQUENT)
_ENDS = 10**12


@dataclass(frozen=True)
class Summary:
    """`Summary("count", lower=0, upper=50)`; `Summary("any", "reason", value="injury")`; `Summary("first", "reason",
    by="day")`; `Summary("sum", "cost", lower=0, upper=5000)`. Without `lower` and `upper`, mean, least, most, first and
    last have their column's range. A sum and a count need a range of their own: a person's total now. A count with a
    column counts rows with a value in it: 0 for a person whose only row came from the second of two files."""

    kind: str
    column: str = ""
    lower: Json = None
    upper: Json = None
    step: Json = None
    value: str = ""  # of `any`: the value that at least one row must have
    by: str = ""  # of `first` and `last`: the column of days or numbers that orders a person's rows

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise AllowanceError("summary.kind", kinds=KINDS)
        if self.kind != COUNT and not self.column:
            raise AllowanceError("summary.column", kind=self.kind)
        if self.kind in BY_DAY and not self.by:
            raise AllowanceError("summary.by", kind=self.kind)
        if self.kind in (COUNT, "sum") and (self.lower is None or self.upper is None):
            raise AllowanceError("summary.range", kind=self.kind)

    def declared(self, schema: Schema) -> Column:
        """The summary as a declared column. Refused if the column that it reads cannot give it."""
        if self.kind == COUNT:
            if self.column and not tells_empty(schema[self.column]):
                raise AllowanceError("summary.counted", column=self.column)
            return Number(self.lower, self.upper, 1 if self.step is None else self.step)
        column = schema[self.column]
        if self.kind == ANY:
            if not isinstance(column, Category) or self.value not in column.labels:
                raise AllowanceError("summary.value", column=self.column)
            return Category(["yes", "no"], complete=True, unknown="no")
        if self.kind == FREQUENT:
            if not isinstance(column, Category):
                raise AllowanceError("summary.frequent", column=self.column)
            return column
        if self.kind in BY_DAY:
            schema.ordered(self.by)
            if not isinstance(column, Number | Category | Date):
                raise AllowanceError("summary.frequent", column=self.column)
            return self._ranged(column) if isinstance(column, Number) else column
        return self._ranged(schema.number(self.column))

    def _ranged(self, column: Number) -> Number:
        lower = column.lower if self.lower is None else self.lower
        upper = column.upper if self.upper is None else self.upper
        return Number(lower, upper, column.step if self.step is None else self.step, measure=column.measure)

    def as_json(self) -> JsonObject:
        ends = {name: getattr(self, name) for name in ("lower", "upper", "step")}
        return asdict(self) | {
            name: None if end is None else text_of(read_number(end, name)) for name, end in ends.items()
        }

    def asked(self, schema: Schema) -> list[str]:
        """The columns that the summary reads."""
        return [name for name in dict.fromkeys((self.column, self.by)) if name]


def tells_empty(column: Column) -> bool:
    """Has an empty cell a code that no value has?"""
    if isinstance(column, Category):
        return column.missing not in column.values
    return isinstance(column, Date) or (isinstance(column, Number) and column.missing is None)


def read_summaries(summaries: Mapping[str, Summary], schema: Schema, who: str) -> Schema:
    """The declared columns of a table with one row a person."""
    if not summaries:
        raise AllowanceError("summary.none")
    if who in summaries:
        raise AllowanceError("summary.name", column=who)
    return Schema({name: summary.declared(schema) for name, summary in summaries.items()})


@dataclass(frozen=True)
class PersonRows:
    """A source with one row a person, made of all their rows in `rows`, which stay in their database or lake."""

    rows: Source | Joined
    mark: str  # of those rows: if they have changed since, nothing is made
    schema: Schema
    unit: Unit
    dialect: Dialect
    summaries: Mapping[str, Summary]

    @property
    def inputs(self) -> Schema:
        """The declared columns that the summaries read."""
        return inputs_of(self.summaries, self.schema)

    def kept(self) -> JsonObject:
        given: JsonObject = {"mark": self.mark, "schema": self.schema.as_json(), "unit": self.unit.as_json()}
        summaries = {name: summary.as_json() for name, summary in self.summaries.items()}
        return given | {"dialect": self.dialect.as_json(), "summaries": summaries}

    @staticmethod
    def from_kept(rows: Source | Joined, kept: Json) -> PersonRows:
        summaries = {str(name): Summary(**parts) for name, parts in kept["summaries"].items()}
        declared = Schema.from_json(kept["schema"]), Unit.from_json(kept["unit"]), Dialect.from_json(kept["dialect"])
        return PersonRows(rows, str(kept["mark"]), *declared, summaries)


Staying = Source | Joined | PersonRows  # rows that may stay where they are


def tables_of(source: Staying) -> list[Source]:
    """The tables of a database or lake that a source reads."""
    rows = source.rows if isinstance(source, PersonRows) else source
    return rows.sources if isinstance(rows, Joined) else [rows]


def inputs_of(summaries: Mapping[str, Summary], schema: Schema) -> Schema:
    wanted = dict.fromkeys(name for summary in summaries.values() for name in summary.asked(schema))
    return Schema({name: schema[name] for name in wanted or list(schema.columns)[:1]})
