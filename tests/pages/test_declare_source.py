"""A table in a database on the Data page: its form, its columns by what the database declares, and its password in no
field, link or page."""

from __future__ import annotations

import pytest
from helpers_declare import Page
from helpers_source import ADDRESS, PASSWORD, pretend

from dpengine.intake.postgres import Described, SourceColumn
from dpengine.workspace import Workspace
from ui.auth import config
from ui.data import source as sources

ROWS = "".join(f"{n},{n % 90},true,fine,a|b\n" for n in range(40))
COLUMNS = (
    SourceColumn("id", "integer", "N"),
    SourceColumn("age", "integer", "N"),
    SourceColumn("member", "boolean", "B"),
    SourceColumn("feeling", "mood", "E", ("sad", "fine")),
    SourceColumn("things", "text[]", "A"),
)


def fill(page: Page, address: str = ADDRESS, table: str = "visits", password: str = PASSWORD) -> Page:
    page.app.session_state["declare-source-open"] = True
    page.run()
    for key, value in (("address", address), ("table", table), ("password", password)):
        page.app.text_input(key=f"declare-source-{key}").set_value(value)
    page.app.button(key="declare-source-go").click()
    page.run()
    assert PASSWORD not in page.everything and PASSWORD not in str(dict(page.app.query_params))
    return page


def test_a_table_in_a_database_is_described_and_added(home: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    database = pretend(monkeypatch, ROWS, *COLUMNS)
    page = fill(Page(), ADDRESS.replace("ana@", f"ana:{PASSWORD}@"), password="")
    assert page.draft.step == "names" and "boolean" in page.text and "mood" in page.text
    assert database.read[0].password == PASSWORD
    page.app.button(key="declare-next-names").click()
    page.run()
    draft = page.draft
    assert draft.step == "unit"
    assert draft.card("member").kind == "yes_no" and draft.state("member") == "settled"
    assert draft.card("feeling").values == ["sad", "fine"] and draft.state("feeling") == "settled"
    assert draft.card("things").separator == "|"
    draft.many, draft.each_own, draft.relation, draft.step = "one", True, "replace", "care"
    draft.choose()
    for name in draft.chosen:
        draft.card(name).agree()
    page.run()
    page.app.button(key="declare-next-care").click()
    page.run()
    assert page.draft.step == "done" and page.draft.source is None and home.has_source(page.draft.added.name)  # type: ignore[union-attr]


@pytest.mark.long
def test_a_refusal_is_told_beside_the_form(home: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    database = pretend(monkeypatch, ROWS, *COLUMNS)
    page = fill(Page(), address="db.example.org")
    assert len(page.refusals) == 1 and "postgresql://name@host/database" in page.refusals[0] and not database.read
    database.refuses = "source.refused"
    fill(page)
    assert len(page.refusals) == 1 and "did not accept" in page.refusals[0] and page.draft.step == "file"
    assert page.app.text_input(key="declare-source-address").value == "postgresql://ana@db.example.org:5432/care"
    assert page.app.text_input(key="declare-source-password").value == ""
    database.refuses = ""
    assert fill(page).draft.step == "names"


def test_a_password_in_the_address_goes_with_a_complaint_too(home: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    database = pretend(monkeypatch, ROWS, *COLUMNS)
    page = fill(Page(), address=ADDRESS.replace("ana@", f"ana:{PASSWORD}@"), table="", password="")
    assert len(page.refusals) == 1 and not database.read
    assert page.app.text_input(key="declare-source-address").value == ADDRESS
    assert PASSWORD not in str(page.app.session_state)


@pytest.mark.long
def test_an_earlier_state_is_named_and_newer_rows_come_with_one_click(
    home: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    import dpengine as dp

    database = pretend(monkeypatch, ROWS, *COLUMNS)
    schema = dp.Schema({"age": dp.Number(0, 120)})
    source = dp.Source(ADDRESS, "visits", password=PASSWORD)
    home.add_table("ward", source, schema=schema, unit=dp.Unit.rows(), budget=dp.Budget("1", "1e-6"))
    page = fill(Page())
    assert "ward came from there before" in page.text and page.app.checkbox(key="declare-new-people").value is False
    database.rows += "99,7,true,sad,\n"
    shown = Page("ward")
    shown.app.query_params["table"] = "ward"
    shown.run()
    shown.app.button(key="newer-do").click()
    shown.app.run()
    shown.app.run()
    assert [one.name for one in home.tables()] == ["ward", "ward 2"]
    assert home.record("ward 2").budget == home.record("ward").budget


def test_a_lake_is_offered_where_spark_is_and_described_by_its_schema(
    home: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = Page().run()
    page.app.session_state["declare-lake-open"] = True
    assert "declare-lake-what" not in {one.key for one in page.run().app.text_input} or home.reads_lakes
    monkeypatch.setattr("dpengine.storage.sources.find_spec", lambda name: name)
    asked: list[object] = []

    def describe(source: object, spill: object) -> Described:
        asked.append(source)
        return Described((SourceColumn("age", "bigint", "N"),), (("spark table", "care", "visits"),))

    monkeypatch.setattr("dpengine.intake.in_spark.describe_lake", describe)
    page = Page()
    page.run()
    for what, spark, told in (
        ("", "", "Name either"),
        ("/data/*.parquet", "yarn", "not the address of a Spark"),
        ("care.visits", "", ""),
    ):
        page.app.session_state["declare-lake-open"] = True
        page.run()
        page.app.text_input(key="declare-lake-what").set_value(what)
        page.app.text_input(key="declare-lake-spark").set_value(spark)
        page.app.button(key="declare-lake-go").click()
        page.run()
        assert len(page.refusals) == (1 if told else 0) and all(told in one for one in page.refusals)
    assert page.draft.step == "names" and "bigint" in page.text
    assert [(one.spark, one.table) for one in asked] == [("local[2]", "care.visits")]  # type: ignore[attr-defined]


def test_a_served_app_names_its_databases(tmp_path: pytest.TempPathFactory) -> None:
    assert all(config._HOST.fullmatch(one) for one in ("db.example.org", "10.0.0.7:5433", "[::1]:5432"))
    assert not any(config._HOST.fullmatch(one) for one in ("", "*", "db example", "postgresql://db", "db:port"))


def test_a_second_table_of_the_same_database_is_joined(home: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its name is enough: the same role describes it, and the screen lists its columns."""
    database = pretend(monkeypatch, ROWS, *COLUMNS)
    page = fill(Page())
    page.app.button(key="declare-next-names").click()
    page.run()
    page.set("declare-unit", "more").set("declare-who", "id")
    page.app.text_input(key="declare-beside-name").set_value("care.people")
    page.app.button(key="declare-beside-go").click()
    page.run()
    second = page.draft.second
    assert second is not None and second.who == "id" and second.source is not None
    assert database.read[-1].table == "care.people" and database.read[-1].password == PASSWORD
    assert page.draft.names[5:] == ["age 2", "member 2", "feeling 2", "things 2"]
    assert page.draft.card("feeling 2").values == ["sad", "fine"]
    pair = sources.joined(page.draft)
    assert pair.on == ("id", "id") and [source.table for source in pair.sources] == ["visits", "care.people"]
    page.click("declare-second-remove")
    assert page.draft.second is None and page.draft.names == [column.name for column in COLUMNS]
    page.app.text_input(key="declare-beside-name").set_value("a.b.c.d")
    page.app.button(key="declare-beside-go").click()
    page.run()
    assert len(page.refusals) == 1 and page.draft.second is None and PASSWORD not in page.everything
