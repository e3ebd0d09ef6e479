"""A person brings a table that stays in its database, in a browser: first look, question, plan. What the database was
asked is in its own log."""

from __future__ import annotations

import re
from typing import Any

import pytest
from browser.journeys import ask, ask_link, choose
from browser.steps import TEST_LIMIT, go, settled, shot
from browser.test_data import Bringing
from engines.postgres_server import PostgresServer
from engines.source_steps import PASSWORD, prepared, run

import dpengine as dp

PEOPLE = 3_000


@pytest.mark.timeout(TEST_LIMIT)
def test_a_table_in_a_database_is_brought_looked_at_asked_and_planned(
    page: Any, server: Any, server_log: Any, postgres: PostgresServer
) -> None:
    address = prepared(postgres.database())
    run(
        address,
        "CREATE TYPE ward AS ENUM ('surgery', 'maternity', 'children')",
        "CREATE TABLE stays AS SELECT 20 + n % 60 AS age, n % 4 = 0 AS smoker,"
        f" (ARRAY['surgery', 'maternity', 'children'])[1 + n % 3]::ward AS ward FROM generate_series(1, {PEOPLE}) n",
        "CREATE SCHEMA allowance",
        "GRANT CREATE, USAGE ON SCHEMA allowance TO ana",
    )
    database = address.rpartition("/")[2]
    bringing = Bringing(page, "database", "form", "names", "cards")
    page.get_by_text("A PostgreSQL table").click()
    for key, value in (("address", f"postgresql://ana@127.0.0.1:{postgres.port}/{database}"), ("table", "stays")):
        page.locator(f".st-key-declare-source-{key} input").fill(value)
    page.locator(".st-key-declare-source-password input").fill(PASSWORD)
    bringing.tick("Its rows may not leave the database")
    bringing.look("form")
    page.locator(".st-key-declare-source-go button").click()
    page.get_by_role("heading", name="Are these the columns?").wait_for()
    page.get_by_text("Its rows stay where they are").wait_for()
    bringing.look("names")
    bringing.press("Yes, go on", "Can one person have several rows?", "unit")
    bringing.pick("one row each").pick("only the details")
    bringing.press("Go on", "What can be in the columns?", "cards")
    bringing.agree()
    bringing.press("Go on", "How careful", "care")
    page.locator(".st-key-declare-next-care button").click()
    page.locator(".st-key-card-first").wait_for()
    settled(page)
    shot(page, "data-database-done")
    start = postgres.log.stat().st_size

    go(page, "/board?table=stays")
    page.locator(".st-key-board-go button").first.click()
    page.get_by_text("everything here is now free").wait_for()
    settled(page)
    ask(page, ask_link("stays", "mean", column="age", epsilon="0.1"))
    go(page, ask_link("stays", "count", where=[["smoker", "in", ["yes"]]], epsilon="0.1"))
    page.get_by_role("button", name="Add to the plan").first.click()
    page.get_by_role("link", name="In the plan: 1 question").click()
    page.get_by_role("button", name="Run the plan").click()
    page.get_by_role("heading", name="The plan was run").wait_for()

    table = dp.open_workspace(server.home).table("stays")
    assert table.facts.people == PEOPLE and {entry.charge.claim["key"] for entry in table.history()} == {
        "fit_checks",
        "overview",
        "mean",
        "count",
    }
    asked = postgres.log.read_bytes()[start:].decode()
    statements = re.findall(r"(?:statement|execute [^:]*): (.*?)(?=\n\d{4}-|\Z)", asked, re.DOTALL)
    catalogue = "FROM pg_catalog.pg_class c JOIN"  # whether the coded table is still the one that was made
    told = [
        one
        for one in statements
        if catalogue not in one and not re.match(r"(BEGIN|COMMIT|ROLLBACK|SET|SELECT FROM|SELECT\s*$)", one)
    ]
    assert len(told) >= 3
    for one in told:  # sums and counts over codes; no statement reads the table itself
        assert re.search(r"\b(sum|count)\(", one, re.IGNORECASE) and "stays" not in one and "COPY" not in one, one
    assert PASSWORD not in asked + server_log.read_text() + page.content()


@pytest.mark.long  # a second journey; alone in `make audit`
@pytest.mark.timeout(TEST_LIMIT)
def test_visits_and_people_of_one_database_become_one_table_there(
    page: Any, server: Any, server_log: Any, postgres: PostgresServer
) -> None:
    """The second table by its name; nothing of a row on the screen, and no row leaves the database."""
    address = prepared(postgres.database())
    run(
        address,
        "CREATE TABLE treatments AS SELECT 'p' || n % 400 AS patient, n % 90 AS cost"
        f" FROM generate_series(1, {PEOPLE}) n",
        "CREATE TABLE people AS SELECT 'p' || n AS id, 20 + n % 60 AS age FROM generate_series(1, 500) n",
        "CREATE SCHEMA allowance",
        "GRANT CREATE, USAGE ON SCHEMA allowance TO ana",
    )
    database = address.rpartition("/")[2]
    bringing = Bringing(page, "two-tables", "names", "unit", "cards")
    page.get_by_text("A PostgreSQL table").click()
    for key, value in (("address", f"postgresql://ana@127.0.0.1:{postgres.port}/{database}"), ("table", "treatments")):
        page.locator(f".st-key-declare-source-{key} input").fill(value)
    page.locator(".st-key-declare-source-password input").fill(PASSWORD)
    bringing.tick("Its rows may not leave the database")
    page.locator(".st-key-declare-source-go button").click()
    page.get_by_role("heading", name="Are these the columns?").wait_for()
    bringing.press("Yes, go on", "Can one person have several rows?", "unit").pick("not sure")
    choose(page, page.locator(".st-key-declare-who input"), "patient")
    second = page.locator('[data-testid="stExpander"]', has_text="in a second table").first
    second.locator("summary").click()
    for named, answer in (("persons", "persons"), ("people", "gets these columns of people")):
        second.locator(".st-key-declare-beside-name input").fill(named)
        second.locator(".st-key-declare-beside-go button").click()
        page.get_by_text(answer).first.wait_for()
        settled(page)
        shot(page, f"data-two-tables-{named}")
    bringing.fill("Another number", "9").pick("only the details").look("unit")
    start = postgres.log.stat().st_size
    bringing.press("Go on", "What can be in the columns?", "cards")
    bringing.agree()
    page.locator(".st-key-declare-add-now button").click()
    page.get_by_role("heading", name="is ready").wait_for()
    settled(page)
    shot(page, "data-two-tables-done")
    table = dp.open_workspace(server.home).table("treatments")
    assert table.facts.people == 501 and {"cost", "age"} <= {*table.schema.columns}  # p0 has visits alone
    ask(page, ask_link("treatments", "mean", column="age", epsilon="1"))
    shot(page, "data-two-tables-asked")
    asked = postgres.log.read_bytes()[start:].decode()
    assert "TO STDOUT" not in asked and "CURSOR" not in asked  # as rows would be read out
    assert PASSWORD not in asked + server_log.read_text()
