"""A table's declaration as one readable file, to be kept and brought again with next year's table.

It holds public facts alone: the columns with their ranges and lists, who a person is, what is protected, how the file
is written. No row, no count, no budget. The file is JSON in the words of CSVW (W3C, *Metadata Vocabulary for Tabular
Data*, 2015) where they fit, so that other programs understand columns, ranges and the file's dialect; the part
`allowance` is exact and is the one that is read again.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field

from dpengine.core.errors import AllowanceError
from dpengine.core.exact import text_of
from dpengine.core.types import Json, JsonObject
from dpengine.declared.date_column import Date
from dpengine.declared.dialect import Dialect
from dpengine.declared.schema import Category, Column, ItemSet, Number, Schema
from dpengine.declared.spelling import normal
from dpengine.declared.unit import Relation, Unit, read_relation

LONGEST = 20_000_000  # characters of a file
_CONTEXT = "http://www.w3.org/ns/csvw"
_VERSION = 1


@dataclass(frozen=True)
class Differences:
    """How a file's columns differ from a declaration's; only names."""

    absent: tuple[str, ...] = ()  # declared, and not in the file
    fresh: tuple[str, ...] = ()  # in the file, and unknown to the declaration
    renamed: tuple[tuple[str, str], ...] = ()  # declared as, and written in the file as
    who: str = ""  # the column that says who a row belongs to, if the file lacks it

    def __bool__(self) -> bool:
        return bool(self.absent or self.fresh or self.renamed or self.who)


@dataclass(frozen=True)
class Declaration:
    """What is declared about a table. `terms()` gives it as parameters of `Workspace.add_table`."""

    schema: Schema
    unit: Unit
    relation: Relation
    dialect: Dialect = field(default_factory=Dialect)
    header: tuple[str, ...] = ()  # all columns of its file, declared or not
    title: str = ""
    whose: str = ""  # for one row each: the column that tells people apart, if it was named

    def terms(self) -> JsonObject:
        """Parameters for `workspace.add_table(name, file, **declaration.terms(), budget=…)`."""
        terms: JsonObject = {"schema": self.schema, "unit": self.unit, "relation": self.relation}
        return terms | {"dialect": self.dialect, "whose": self.whose}

    def fitted(self, names: Sequence[str]) -> tuple[Declaration, Differences]:
        """This declaration for a file with these columns, and how they differ. Names that differ only in capitals and
        spaces are the same. Columns that the file lacks are dropped; new ones must still be declared."""
        exact, loose = set(names), {normal(name): name for name in reversed(names)}

        def found(name: str) -> str | None:
            return name if name in exact else loose.get(normal(name))

        here = {name: other for name in self.schema.columns if (other := found(name)) is not None}
        who = self.unit.id_column
        its = found(who) if who is not None else None
        known = {normal(name) for name in (*self.header, *self.schema.columns, *([who] if who else []))}
        differences = Differences(
            absent=tuple(name for name in self.schema.columns if name not in here),
            fresh=tuple(name for name in names if normal(name) not in known),
            renamed=tuple((name, other) for name, other in here.items() if name != other),
            who=who if who is not None and its is None else "",
        )
        if not here:
            raise AllowanceError("declaration.other", columns=list(self.schema.columns)[:6])
        columns = {other: self.schema.columns[name] for name, other in here.items()}
        whole = not differences.absent and not differences.renamed
        schema = Schema(columns, self.schema.never) if whole else Schema(columns)
        unit = self.unit if who is None or its is None else Unit.column(its, self.unit.at_most)
        whose = (found(self.whose) if self.whose else None) or ""
        return Declaration(schema, unit, self.relation, self.dialect, tuple(names), self.title, whose), differences

    def as_json(self) -> JsonObject:
        return {
            "@context": _CONTEXT,
            "dc:title": self.title,
            "dialect": _csvw_dialect(self.dialect),
            "tableSchema": {"columns": [_csvw(name, column) for name, column in self.schema.columns.items()]},
            "allowance": {
                "version": _VERSION,
                "unit": self.unit.as_json(),
                **({"whose": self.whose} if self.whose else {}),
                "relation": self.relation,
                "header": list(self.header),
                "dialect": self.dialect.as_json(),
                "schema": self.schema.as_json(),
            },
        }

    def text(self) -> str:
        return json.dumps(self.as_json(), ensure_ascii=False, indent=1) + "\n"

    @staticmethod
    def read(text: str | bytes) -> Declaration:
        """The declaration in a file that `text` wrote. It is checked as if a person had typed it."""
        if len(text) > LONGEST:
            raise AllowanceError("declaration.unreadable")
        try:
            data = json.loads(text.decode("utf-8-sig") if isinstance(text, bytes) else text)
            own = data["allowance"]
            if own["version"] != _VERSION:
                raise AllowanceError("declaration.newer")
            header = tuple(str(name) for name in own["header"])
            return Declaration(
                Schema.from_json(own["schema"]),
                Unit.from_json(own["unit"]),
                read_relation(own["relation"]),
                Dialect.from_json(own["dialect"]),
                header,
                str(data.get("dc:title", ""))[:80],
                str(own.get("whose", "")),
            )
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            refusal = AllowanceError("declaration.unreadable")
        raise refusal  # not inside: the error before it quotes the file, which may be another one


def _csvw_dialect(dialect: Dialect) -> JsonObject:
    """The dialect in CSVW's words. CSVW knows one encoding for a file; if each line may have its own, it says UTF-8."""
    encoding = "utf-8" if " or " in dialect.encoding else dialect.encoding
    return {"delimiter": dialect.separator, "quoteChar": dialect.quote or None, "encoding": encoding, "header": True}


def _csvw(name: str, column: Column) -> JsonObject:
    """A column in CSVW's words."""
    entry: JsonObject = {"name": name, "titles": name, "datatype": _datatype(column)}
    if isinstance(column, Number) and column.codes:
        entry["null"] = ["", *(text_of(code) for code in column.codes)]
    if isinstance(column, ItemSet) and column.separator:
        entry["separator"] = column.separator
    return entry


def _datatype(column: Column) -> Json:
    if isinstance(column, Number):
        base = "integer" if column.step.denominator == 1 and column.lower.denominator == 1 else "decimal"
        return {"base": base, "minimum": text_of(column.lower), "maximum": text_of(column.upper)}
    if isinstance(column, Date):
        return {"base": "date", "minimum": column.first.isoformat(), "maximum": column.last.isoformat()}
    return {"base": "string", "dc:description": "; ".join(column.values)} if isinstance(column, Category) else "string"
