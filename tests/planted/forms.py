"""Wrong twins of what is shown before anything is paid for: defaults, lists, suggestions and previews from the data."""

from __future__ import annotations

import csv
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import dpengine as dp
from dpengine.core.errors import AllowanceError
from dpengine.declared.dialect import Dialect, suggest
from dpengine.intake.inspect import names_of, survey
from dpengine.noise.coins import SystemCoins
from dpengine.workspace import Workspace
from tests.planted.registry import Planted
from ui.data import presets
from ui.data.presets import LISTS

Tell = Callable[[Path], Any]

HEADER = "age,income,town"
EVERYBODY = ["34,1500,Brno", "51,2500,Brno", "19,,Olomouc", "77,900,Praha", "45,4000,Praha"]
ONE_PERSON = ["46,2000,Praha", "119,9999999,Zlín", "-5,1e300,Brno", "x;y;z,|,'"]
SCHEMA = dp.Schema(
    {"age": dp.Number(0, 120), "income": dp.Number(0, 10_000, step=10), "town": dp.Category(["Brno", "Praha", "Zlín"])}
)


@contextmanager
def _written(rows: list[str]) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "people.csv"
        path.write_text("\n".join([HEADER, *rows]) + "\n", encoding="utf-8")
        yield path


def _told(tell: Tell, rows: list[str]) -> str:
    with _written(rows) as path:
        return repr(tell(path))


def check_forms_follow_public_facts(tell: Tell) -> None:
    """Another person's row, of whatever cells, changes nothing that a form proposes."""
    told = {_told(tell, [*EVERYBODY, one]) for one in ONE_PERSON}
    assert len(told) == 1, "what a form proposes depends on the rows"


def check_forms_do_not_tell_who_is_there(tell: Tell) -> None:
    """Under add/remove one row more changes nothing that is shown for free."""
    assert _told(tell, EVERYBODY) == _told(tell, [*EVERYBODY, ONE_PERSON[0]]), "the number of rows is told"


def check_previews_need_no_rows(preview: Callable[[dp.Table, dp.Query], Any]) -> None:
    """What a question would look like is drawn after the table's rows are gone."""
    with _written(EVERYBODY) as path, _table(path) as table:
        for file in (table._workspace.folder / "tables").rglob("*.parquet"):
            file.unlink()
        try:
            preview(table, table.query("histogram", column="town", epsilon="0.1"))
        except AllowanceError:
            raise AssertionError("a preview reads the rows") from None


@contextmanager
def _table(path: Path, **terms: Any) -> Iterator[dp.Table]:
    usual: dict[str, Any] = {"schema": SCHEMA, "unit": dp.Unit.rows(), "budget": dp.Budget("3", "1e-6")}
    with closing(Workspace(path.parent / "var")) as home:
        yield home.add_table("people", path, **(usual | terms))


# What a column may hold


def from_names(path: Path) -> Any:
    """As the Data page proposes it: dialect and kinds from the first line."""
    dialect = suggest(path)
    found = {name: presets.suggest(name) for name in names_of(path, dialect)}
    usual = {name: presets.RANGES.get(one.preset or "") or LISTS.get(one.preset or "") for name, one in found.items()}
    return dialect, found, usual


def _cells(path: Path) -> list[tuple[str, ...]]:
    with open(path, encoding="utf-8") as file:
        return list(zip(*list(csv.reader(file))[1:], strict=True))


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0


def bounds_from_the_rows(path: Path) -> Any:
    return [(min(map(_number, cells)), max(map(_number, cells))) for cells in _cells(path)[:2]]


def list_from_the_rows(path: Path) -> Any:
    return sorted(set(_cells(path)[2]))


# What to ask, and how large the table is


def suggested(path: Path) -> Any:
    with _table(path) as table:
        return [query.describe() for query in table.suggestions()]


def suggested_by_the_rows(path: Path) -> Any:
    """“How many live in …”, of the town where most do."""
    return [{"key": "count", "parameters": {"where": [["town", "in", Counter(_cells(path)[2]).most_common(1)[0][:1]]]}}]


def _shown(path: Path, people: int) -> Any:
    with _table(path, relation="add_remove", about_rows=people) as table:
        query = table.query("mean", column="age", epsilon="0.5")
        told = replace(table.preview(query), promise=query.promise())
        return table.facts, told, [one.describe() for one in table.suggestions()], table.meter()


def as_many_as_declared(path: Path) -> Any:
    return _shown(path, 6)


def as_many_as_there_are(path: Path) -> Any:
    return _shown(path, len(_cells(path)[0]))


def surveyed(path: Path) -> Any:
    """A look at the file, before anything is declared."""
    return survey(path, Dialect())


def surveyed_by_counting(path: Path) -> Any:
    """How many different values each column has: as many people as there are, once somebody names it."""
    return [len(set(cells)) for cells in _cells(path)]


def by_public_facts(table: dp.Table, query: dp.Query) -> Any:
    return table.preview(query)


def on_the_table_itself(table: dp.Table, query: dp.Query) -> Any:
    statistic = table._workspace.read(query.need(), table._record, table.schema)
    return query.release(statistic, SystemCoins())


form = check_forms_follow_public_facts

PLANTED = [
    Planted(
        "default bounds read from the data",
        "A column's range is filled in with its least and greatest value.",
        form,
        "depends on the rows",
        from_names,
        bounds_from_the_rows,
    ),
    Planted(
        "a category list made from the data",
        "The list of towns is those that occur.",
        form,
        "depends on the rows",
        from_names,
        list_from_the_rows,
    ),
    Planted(
        "suggestions from values",
        "The question offered first names the commonest town.",
        form,
        "depends on the rows",
        suggested,
        suggested_by_the_rows,
    ),
    Planted(
        "the number of rows told under add/remove",
        "Promises are computed for the true number of people.",
        check_forms_do_not_tell_who_is_there,
        "number of rows",
        as_many_as_declared,
        as_many_as_there_are,
    ),
    Planted(
        "a survey that counts",
        "Before a table is added the page says how many people a column tells apart.",
        form,
        "depends on the rows",
        surveyed,
        surveyed_by_counting,
    ),
    Planted(
        "a preview from the data",
        "What answers could look like is drawn on the table itself, free.",
        check_previews_need_no_rows,
        "reads the rows",
        by_public_facts,
        on_the_table_itself,
    ),
]
