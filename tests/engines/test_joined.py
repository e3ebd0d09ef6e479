"""Two tables joined, and one row a person, made where the rows stay, in Postgres and in a lake: equal to pandas."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from amount import amount
from engine.intake.test_join_files import by_pandas, files
from engines.postgres_server import PostgresServer
from engines.source_steps import PASSWORD, prepared, run, source

import dpengine as dp
from dpengine.core.errors import AllowanceError
from dpengine.declared.source import Source
from dpengine.storage import sources
from dpengine.workspace import Workspace

PAIRS = pytest.mark.parametrize("pairs", [0, pytest.param(amount(4, 20), marks=pytest.mark.long)], ids=["few", "many"])
Rows = list[dict[str, Any]]
Codes = list[tuple[Any, ...]]
SCHEMA = dp.Schema(
    {
        "cost": dp.Number(0, 9),
        "sex": dp.Category(["a", "b"]),
        "sex 2": dp.Category(["f", "m"]),
        "age": dp.Number(0, 9),
    }
)
VISITS = dp.Schema(
    {
        "cost": dp.Number("-2.5", 50, "0.5"),
        "way": dp.Category(["bus", "car", "tram"]),
        "day": dp.Date("2024-01-01", "2024-12-31", "ymd"),
    }
)
SUMMARIES = {
    "visits": dp.Summary("count", lower=0, upper=5),
    "ways told": dp.Summary("count", "way", lower=0, upper=9),
    "by bus": dp.Summary("any", "way", value="bus"),
    "paid": dp.Summary("sum", "cost", lower=-10, upper=100, step="0.5"),
    "mean": dp.Summary("mean", "cost", step="0.1"),
    "least": dp.Summary("least", "cost"),
    "most": dp.Summary("most", "cost"),
    "first way": dp.Summary("first", "way", by="day"),
    "last cost": dp.Summary("last", "cost", by="day"),
    "last day": dp.Summary("last", "day", by="cost"),
    "usual": dp.Summary("frequent", "way"),
}


class Place:
    """Puts rows somewhere, and reads the codes that were made of them there."""

    few: int  # random pairs of tables that `make test-engines` tries there: a lake takes ten seconds for each

    def put(self, name: str, rows: Rows, columns: list[str]) -> Source:
        raise NotImplementedError

    def codes(self, home: Workspace, name: str) -> Codes:
        raise NotImplementedError


class InPostgres(Place):
    few = 2

    def __init__(self, address: str) -> None:
        self.address = address

    def put(self, name: str, rows: Rows, columns: list[str]) -> Source:
        listed = ", ".join(f'"{column}" text' for column in columns)
        run(self.address, f"DROP TABLE IF EXISTS {name}", f"CREATE TABLE {name} ({listed})")
        with psycopg.connect(self.address) as connection, connection.cursor() as cursor:
            with cursor.copy(f"COPY public.{name} FROM STDIN") as copy:  # type: ignore[arg-type]
                for row in rows:
                    copy.write_row([row[column] for column in columns])
        return Source(source(self.address, name).shown, name, password=PASSWORD, in_place=True)

    def codes(self, home: Workspace, name: str) -> Codes:
        record = home.record(name)
        table = sources.coded_name(home.folder / "tables" / record.folder, record.version)
        names = ", ".join(f"c{at}" for at, _ in enumerate(record.schema["columns"]))
        with psycopg.connect(self.address) as connection:
            return connection.execute(f"SELECT person, {names} FROM allowance.{table}").fetchall()  # type: ignore[arg-type]


class InLake(Place):
    few = 1

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def put(self, name: str, rows: Rows, columns: list[str]) -> Source:
        table = pa.table({column: pa.array([row[column] for row in rows], pa.string()) for column in columns})
        pq.write_table(table, self.folder / f"{name}.parquet")
        return Source("spark", path=str(self.folder / f"{name}.parquet"))

    def codes(self, home: Workspace, name: str) -> Codes:
        record = home.record(name)
        coded = home.folder / "tables" / record.folder / f"coded-{record.version}.parquet"
        names = ["person", *(f"c{at}" for at, _ in enumerate(record.schema["columns"]))]
        return [tuple(row[column] for column in names) for row in pq.read_table(coded).to_pylist()]


@contextmanager
def opened(folder: Path) -> Iterator[Workspace]:
    with closing(Workspace(folder)) as workspace:
        yield workspace


@pytest.fixture(params=["postgres", "spark"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    if request.param == "spark":
        request.getfixturevalue("spark")
        (tmp_path / "lake").mkdir()
        return InLake(tmp_path / "lake")
    server: PostgresServer = request.getfixturevalue("postgres")
    address = prepared(server.database())
    run(address, "CREATE SCHEMA allowance", "GRANT CREATE, USAGE ON SCHEMA allowance TO ana")
    return InPostgres(address)


def add(home: Workspace, given: object, name: str, **terms: Any) -> dp.Table:
    usual: dict[str, Any] = {"schema": SCHEMA, "unit": dp.Unit.column("patient", 9), "budget": dp.Budget("9", "1e-6")}
    return home.add_table(name, given, **(usual | {"relation": "add_remove", "about_rows": 9} | terms))


def told(schema: dp.Schema, codes: Codes) -> Counter[tuple[Any, ...]]:
    return Counter(tuple(row[1:]) for row in codes)


def of_pandas(rows: Counter[tuple[str, ...]]) -> Counter[tuple[Any, ...]]:
    """The codes of joined texts: patient, cost, sex, sex 2, age."""
    lists = {
        name: dict(zip(column.values, range(9), strict=False))
        for name, column in SCHEMA.columns.items()
        if isinstance(column, dp.Category)
    }
    missing = {name: SCHEMA.category(name).labels.index(SCHEMA.category(name).missing) for name in lists}
    found: Counter[tuple[Any, ...]] = Counter()
    for (_, cost, sex, second, age), many in rows.items():
        cells = [int(cost) if cost else -1, lists["sex"].get(sex, missing["sex"])]
        cells += [lists["sex 2"].get(second, missing["sex 2"]), int(age) if age else -1]
        found[tuple(cells)] += many
    return found


@PAIRS
def test_tables_are_joined_where_they_are(place: Place, tmp_path: Path, pairs: int) -> None:
    """Each pair in a workspace of its own: small files are equal now and then, and would be known."""
    chance = random.SystemRandom()
    for number in range(pairs or place.few):
        everybody = number % 2 == 0
        events, people = files(chance)
        visits = place.put(f"visits_{number}", events, ["patient", "cost", "sex"])
        known = place.put(f"people_{number}", people, ["id", "sex", "age"])
        pair = dp.Joined(visits, known, ("patient", "id"), everybody=everybody)
        with opened(tmp_path / f"var {number}") as home:
            add(home, pair, "both")
            assert told(SCHEMA, place.codes(home, "both")) == of_pandas(by_pandas(events, people, everybody))
            left = list((home.folder / "tables" / home.record("both").folder).iterdir())
            assert not [path for path in left if path.name.startswith("raw") or path.name.endswith(".beside")]


def some_visits(chance: random.Random) -> Rows:
    ways = ["bus", "car", "tram", "", "boat"]
    return [
        {
            "patient": chance.choice([f"p{person}", f" p{person}"]),
            "cost": chance.choice(
                ["", "x", *(str(Fraction(half, 2) if half % 2 == 0 else half / 2) for half in range(-5, 100))]
            ),
            "way": chance.choice(ways),
            "day": f"2024-{chance.randint(1, 12):02}-{chance.randint(1, 28):02}",
        }
        for person in range(chance.randint(1, 8))
        for _ in range(chance.choice([1, 2, 3, 9]))
    ]


@PAIRS
def test_one_row_a_person_is_made_there_as_from_a_file(place: Place, tmp_path: Path, pairs: int) -> None:
    """The same codes as from a file, which test_person_rows compares with pandas; then asked and declared anew."""
    chance = random.SystemRandom()
    columns = ["patient", "cost", "way", "day"]
    terms: dict[str, Any] = {"schema": VISITS, "unit": dp.Unit.column("patient", 2)}
    with opened(tmp_path / "var") as home, opened(tmp_path / "here") as here:
        for number in range(pairs or place.few):
            rows = some_visits(chance)
            add(home, place.put("visits_of", rows, columns), f"visits {number}", **terms, new_people=True)
            made = home.one_row_a_person(f"visits {number}", f"people {number}", SUMMARIES)
            add(here, pd.DataFrame(rows)[columns], f"visits {number}", **terms)
            here.one_row_a_person(f"visits {number}", f"people {number}", SUMMARIES)
            record = here.record(f"people {number}")
            kept = pq.read_table(here.folder / "tables" / record.folder / "coded-1.parquet").to_pylist()
            wanted = Counter(tuple(row[f"c{at}"] for at, _ in enumerate(SUMMARIES)) for row in kept)
            assert told(made.schema, place.codes(home, f"people {number}")) == wanted
            assert made.budget.id == home.record(f"visits {number}").budget and made.facts.unit.person
        made.ask(made.query("mean", column="paid", epsilon="1"))
        narrower = dp.Schema({**made.schema.columns, "paid": dp.Number(0, 20, "0.5")})
        home.revise(made.name, narrower)
        assert len(place.codes(home, made.name)) == sum(wanted.values())
        assert not home.has_source(made.name) and home.has_source(f"visits {number}")


@pytest.mark.parametrize("place", ["postgres", pytest.param("spark", marks=pytest.mark.long)], indirect=True)
def test_joined_tables_become_one_row_a_person_too(place: Place, tmp_path: Path) -> None:
    chance = random.SystemRandom()
    events, people = files(chance)
    pair = dp.Joined(
        place.put("visits_of", events, ["patient", "cost", "sex"]),
        place.put("people_of", people, ["id", "sex", "age"]),
        ("patient", "id"),
    )
    with opened(tmp_path / "var") as home:
        both = add(home, pair, "both")
        made = home.one_row_a_person(
            "both", "each", {"age": dp.Summary("most", "age"), "n": dp.Summary("count", lower=0, upper=9)}
        )
        ids = {row[0] for row in by_pandas(events, people)}
        assert len(place.codes(home, "each")) == len(ids)
        home.revise("both", dp.Schema({"age": dp.Number(0, 50)}))
        assert len(place.codes(home, "both")) == sum(by_pandas(events, people).values())
        alone = add(
            home,
            place.put("visits_of", events, ["patient", "cost", "sex"]),
            "alone",
            schema=dp.Schema({"cost": dp.Number(0, 9)}),
        )
        assert alone.joined and alone.budget.id == both.budget.id == made.budget.id
        place.put("visits_of", [*events, {"patient": "new", "cost": "1", "sex": "a"}], ["patient", "cost", "sex"])
        with pytest.raises(AllowanceError) as refusal:
            home.one_row_a_person("both", "later", {"n": dp.Summary("count", lower=0, upper=9)})
        assert refusal.value.code == "source.moved_on"
        assert {record.name for record in home.tables()} == {"both", "each", "alone"}


def changed(rows: Rows, column: str, others: Rows) -> Rows:
    """One person's records are replaced by others."""
    return [row for row in rows if row[column].strip() != "p1"] + [row | {column: "p1"} for row in others]


@PAIRS
def test_one_persons_records_change_that_persons_rows_alone(place: Place, tmp_path: Path, pairs: int) -> None:
    chance = random.SystemRandom()
    for number in range(pairs or place.few):
        (events, people), (others, strangers) = files(chance), files(chance)
        found = []
        for side in (0, 1):
            mine = events, people
            if side:
                mine = changed(events, "patient", others), changed(people, "id", strangers[:1])
            pair = dp.Joined(
                place.put(f"visits_{number}_{side}", mine[0], ["patient", "cost", "sex"]),
                place.put(f"people_{number}_{side}", mine[1], ["id", "sex", "age"]),
                ("patient", "id"),
            )
            with opened(tmp_path / f"var {number} {side}") as home:
                add(home, pair, "both")
                codes = place.codes(home, "both")
            of_p1 = of_pandas(Counter({row: n for row, n in by_pandas(*mine).items() if row[0] == "p1"}))
            found.append(told(SCHEMA, codes) - of_p1)
        assert found[0] == found[1]


def test_tables_of_two_places_are_not_joined(place: Place) -> None:
    one = place.put("visits_of", [{"patient": "a"}], ["patient"])
    with pytest.raises(AllowanceError) as refusal:
        dp.Joined(one, "people.csv", ("patient", "id"))
    assert refusal.value.code == "joined.files"
