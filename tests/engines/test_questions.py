"""Questions from the preview to the receipt where the table lies elsewhere: laws, coverage, a session, a first look, a
training, and what is refused before anything is charged."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import psycopg
import pytest
from battery import POSSIBLE_ROWS, allowed_failures, build, check_samples_against_law
from engines.elsewhere import Elsewhere
from engines.postgres_server import PostgresServer
from engines.tables import Made, in_parquet, in_postgres, same

import dpengine as dp
from dpengine.audit.world import CASES, SCHEMA
from dpengine.core.errors import AllowanceError
from dpengine.noise.coins import SystemCoins
from dpengine.statistics.engines import PostgresRows
from dpengine.statistics.engines.duck import DuckEngine
from dpengine.statistics.engines.postgres import PostgresEngine
from dpengine.statistics.engines.spark import SparkEngine
from tests.test_contract import exact_answer, holds

ENGINES = ("postgres", "spark")
every_engine = pytest.mark.parametrize("engine", ENGINES)
PEOPLE = 300
SURE = dp.Category(["yes", "no"], unknown="no", missing="no")
COLUMNS = dp.Schema(
    {
        "age": dp.Number(0, 100),
        "town": dp.Category(["A", "B", "C"]),
        "likes": dp.ItemSet(["tea", "milk", "rum"], at_most=2),
        "sure": SURE,
    }
)


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Elsewhere]:
    opened = Elsewhere(tmp_path / "var")
    yield opened
    opened.close()


def brought(
    home: Elsewhere, engine: str, postgres: PostgresServer, spark: SparkEngine, relation: str = "replace"
) -> dp.Table:
    """People with one to three rows each, of which two count."""
    rng = np.random.default_rng()
    who = np.repeat(np.arange(PEOPLE), rng.integers(1, 4, PEOPLE))
    frame = pd.DataFrame(
        {
            "who": who,
            "age": rng.integers(0, 120, len(who)),
            "town": rng.choice(["A", "B", "C", "elsewhere"], len(who)),
            "likes": rng.choice(["", "tea", "tea;rum", "milk;rum;tea"], len(who)),
            "sure": rng.choice(["yes", "no"], len(who)),
        }
    )
    table = home.add_table(
        "people",
        frame,
        schema=COLUMNS,
        unit=dp.Unit.column("who", at_most=2),
        relation=relation,
        about_rows=PEOPLE if relation == "add_remove" else None,
        budget=dp.Budget("100", "1e-6"),
    )
    if engine == "postgres":
        home.to_postgres(table, postgres)
    else:
        home.engine._spark = spark
        home.to_spark(table)
    return table


ASKED: list[tuple[str, dict[str, Any]]] = [
    ("count", {"where": [["age", ">=", 30], ["likes", "has", ["tea"]]]}),
    ("histogram", {"column": "likes"}),
    ("crosstab", {"columns": ["town", "sure"]}),
    ("mean", {"column": "age", "by": "town"}),
    ("median", {"column": "age"}),
    ("cdf", {"column": "age"}),
    ("vector_mean", {"columns": ["age"]}),
    ("small_database", {"columns": ["town", "sure"], "size": 2}),
    ("fit_check", {"column": "town"}),
    ("overview", {"against": ["sure"]}),
]


@pytest.mark.parametrize(
    ("engine", "relation"),
    [
        ("postgres", "replace"),
        ("postgres", "add_remove"),
        ("spark", "replace"),
        pytest.param("spark", "add_remove", marks=pytest.mark.long),
    ],
)
def test_what_an_engine_says_is_what_the_file_says(
    engine: str, relation: str, home: Elsewhere, postgres: PostgresServer, spark: SparkEngine
) -> None:
    """Every question is answered, and its statistic is that of DuckDB over the file: sets and several rows included."""
    table = brought(home, engine, postgres, spark, relation)
    record = home.record("people")
    for key, given in ASKED:
        query = table.query(key, epsilon="1", **given)
        found = home.read(query.need(), record, table.schema)
        assert same(found, DuckEngine().read(query.need(), home.at_home(table), table.schema)), key
        answer = table.ask(query, f"request-{key}")
        assert answer.value is not None and table.ask(query, f"request-{key}").value == answer.value
    assert len(list(home.ledger.charges(limit=-1))) == len(ASKED)


@pytest.mark.every(5)  # four of the sixteen; noise is drawn here, whichever engine counted
@every_engine
@pytest.mark.parametrize(
    "key", ["count", "histogram", "mean", "quantile", "noisy_argmax", "cdf_tree", "overview", "shuffle_count"]
)
def test_draws_follow_the_law_and_ranges_hold(
    key: str, engine: str, postgres: PostgresServer, spark: SparkEngine, tmp_path: Path
) -> None:
    """One question of each family, from the statistic that the engine computed: false alarms at most 1e-6 each."""
    rng = np.random.default_rng()
    rows = [dict(POSSIBLE_ROWS[place]) | {"person": at} for at, place in enumerate(rng.integers(0, 8, 100))]
    for row in rows:
        row.update({f"kind {name}": row.get(f"kind {name}", 0) for name in SCHEMA.columns})
    made = Made(SCHEMA, rows, rows)
    if engine == "postgres":
        url = postgres.database()
        with psycopg.connect(url) as connection:
            where: Any = in_postgres(made, connection, url, "t")
        engines: Any = PostgresEngine()
    else:
        where, engines = in_parquet(made, tmp_path / "t.parquet"), spark
    asked = next(given for of, given in CASES if of == key)
    query = build(key, asked | {"beta": "0.2"}, "replace", "0.5", about=100)
    value = engines.read(query.need(), where, SCHEMA)
    engines.let_go()
    assert same(value, query.need().of(rows))
    if query.law(value) is not None:
        check_samples_against_law(query, value, draws=1_000)
    if query.trial.covered:
        return  # its ranges have a test of their own, on the same statistic
    coins, truth, draws = SystemCoins(), exact_answer(query, rows), 200
    missed = 0
    for _ in range(draws):
        interval = query.finish(query.draw(value, coins)).interval
        held = interval if isinstance(interval, dict) else {"": interval}
        missed += any(not holds(part, truth[label]) for label, part in held.items())
    assert missed <= allowed_failures(draws, 0.2)


@every_engine
def test_a_session_is_asked_where_the_table_lies(
    engine: str, home: Elsewhere, postgres: PostgresServer, spark: SparkEngine
) -> None:
    table = brought(home, engine, postgres, spark)
    session = table.open_session(table.query("adaptive_session", questions=3, epsilon="5"))
    asks = [{"share": [["town", "in", ["A"]]]}, {"average": "age"}, {"share": [["age", ">", 50], ["sure", "=", "yes"]]}]
    told = [session.ask(ask, f"step-{at}") for at, ask in enumerate(asks)]
    assert [taken.state for taken in told] == ["done"] * 3 and session.ask(asks[0], "step-0").value == told[0].value


def test_a_training_takes_its_steps_on_spark(home: Elsewhere, postgres: PostgresServer, spark: SparkEngine) -> None:
    table = brought(home, "spark", postgres, spark)
    query = table.query("train_logistic", target="sure", features=["age", "town"], epsilon="1", steps=3)
    assert table.ask(query).value is not None


REFUSED: list[tuple[str, str, dict[str, Any]]] = [
    ("engine.no_training", "train_logistic", {"target": "sure", "features": ["age"]}),
    ("engine.no_training", "train_linear", {"target": "age", "features": ["town"]}),
    ("engine.raw_stays", "find_declarations", {"numbers": ["age"]}),
    ("engine.raw_stays", "find_declarations", {"lists": ["town"]}),
]


@every_engine
def test_what_an_engine_cannot_do_is_refused_before_the_charge(
    engine: str, home: Elsewhere, postgres: PostgresServer, spark: SparkEngine
) -> None:
    """Asked, in the background, in a plan: nothing is charged, the sentence says what and how else."""
    table = brought(home, engine, postgres, spark)
    frame = pd.DataFrame({"town": ["A", "B"] * 50})
    one_row = home.add_table(
        "rows",
        frame,
        schema=dp.Schema({"town": dp.Category(["A", "B"])}),
        unit=dp.Unit.rows(),
        budget=dp.Budget("10", "1e-6"),
    )
    home.addresses["rows"] = home.addresses["people"]
    asked = [(code, table.query(key, epsilon="1", **given)) for code, key, given in REFUSED]
    asked.append(("engine.rows_stay", one_row.query("publish_table", columns=["town"], epsilon="1")))
    for code, query in asked:
        if code == "engine.no_training" and engine == "spark":
            continue
        whose = one_row if code == "engine.rows_stay" else table
        fine = whose.query("count", where=[["town", "in", ["A"]]], epsilon="1")
        for ask in (
            lambda: whose.ask(query),  # noqa: B023
            lambda: whose.submit(query),  # noqa: B023
            lambda: whose.submit_plan([fine, query], "plan"),  # noqa: B023
        ):
            with pytest.raises(AllowanceError) as refused:
                ask()
            assert refused.value.code == code and "add the table with its rows copied here" in str(refused.value)
    assert not list(home.ledger.charges(limit=-1))


def test_a_database_that_is_away_costs_nothing_and_says_no_password(
    home: Elsewhere, postgres: PostgresServer, spark: SparkEngine, caplog: pytest.LogCaptureFixture
) -> None:
    """A wrong password, a closed port, a table that vanished or may not be read."""
    table = brought(home, "postgres", postgres, spark)
    there = home.addresses["people"]
    assert isinstance(there, PostgresRows)
    query = table.query("count", where=[["age", ">", 3]], epsilon="1")
    wrong = postgres.url(password="canary-7421")
    with psycopg.connect(there.connection) as connection:
        connection.execute("CREATE ROLE nobody LOGIN PASSWORD 'canary-7421'")
    barred = re.sub("//.*@", "//nobody:canary-7421@", there.connection)
    closed = "postgresql://me:canary-7421@127.0.0.1:1/x"
    for address in (
        PostgresRows("coded", "t", wrong),
        PostgresRows("coded", "gone", there.connection),
        PostgresRows("coded", "t", barred),
        PostgresRows("coded", "t", closed),
    ):
        home.addresses["people"] = address
        with pytest.raises(AllowanceError) as refused:
            table.ask(query)
        assert refused.value.code == "engine.away" and refused.value.__cause__ is None
        assert "canary" not in str(refused.value) + repr(refused.value) + caplog.text + repr(address)
    assert not list(home.ledger.charges(limit=-1))
    home.addresses["people"] = there
    assert table.ask(query).value is not None


def test_the_database_is_asked_for_aggregates_alone(
    home: Elsewhere, postgres: PostgresServer, spark: SparkEngine
) -> None:
    """By its own log, in which every statement stands: each reads the table into counts or sums, in a transaction that
    reads only, and none names a person."""
    table = brought(home, "postgres", postgres, spark)
    before = len(postgres.log.read_text())
    for key, given in ASKED:
        table.ask(table.query(key, epsilon="1", **given))
    said = postgres.log.read_text()[before:]
    statements = re.findall(r"(?:statement|execute [^:]*): (.*?)(?=\n\S|\Z)", said, flags=re.S)
    read = [text for text in statements if '"coded"."t' in text]
    assert len(read) >= 2 * len(ASKED) and len([text for text in statements if "READ ONLY" in text]) >= len(ASKED)
    for text in read:
        assert "LIMIT 0" in text or re.search(r"\b(COUNT|SUM)\(", text), text
        assert not re.search(r"\b(INSERT|UPDATE|DELETE|CREATE|COPY)\b", text)
    assert "elsewhere" not in said  # a value of a cell
