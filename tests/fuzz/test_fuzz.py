"""Random files, schemas, questions, links and forms: no traceback, no value of the data in any text, no charge without
a row, and refusals that are the same for two tables with the same public facts.

`make test` tries some, `make audit` thousands (with `AUDIT=all` 20,000), and counts them. What fails is shrunk and
printed by Hypothesis.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from amount import amount
from fuzz import bench, grown
from fuzz.bench import REFUSED, TRIED, Two, looked, refused, rows_of
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from leaks import exits
from sections import add_rows

import dpengine as dp
from dpengine.asking.answers import promise_as_json
from dpengine.asking.sessions import refuse_unusable_session
from dpengine.declared.dialect import Dialect
from dpengine.declared.schema import Schema
from dpengine.intake import inspect
from dpengine.mechanisms import catalogue
from dpengine.messages.language import LANGUAGES, speaking
from dpengine.workspace import Workspace

# How many of each: in `make test`, and in `make audit`.
FILES, SCHEMAS, QUESTIONS = (6, amount(600, 4_000)), (8, amount(3_000, 10_000)), (8, amount(1_000, 5_000))
LINKS, FORMS = (3, amount(100, 600)), (2, amount(40, 400))
QUIET = list(HealthCheck)
SECRET, SCAN = bench.secret()


def tried(many: int) -> settings:
    return settings(max_examples=many, deadline=None, database=None, suppress_health_check=QUIET)


@pytest.fixture(scope="module")
def two() -> Iterator[Two]:
    with bench.folder() as home:
        held = Two(home, ["canary rows", "canary secret", "canary people"])
        yield held
        held.close()


# Files


def try_file(file: grown.File) -> None:
    """Both files of a pair, each brought into a workspace of its own."""
    told = []
    with bench.folder() as home:
        for side, data in enumerate((file.data, file.neighbour)):
            place = home / f"side {side}"
            place.mkdir()
            path = place / f"table{file.suffix}"
            path.write_bytes(data)
            told.append(brought(place, path, file))
    assert told[0] == told[1], "two tables that differ in one cell are told apart"
    TRIED["files"] += 1


def brought(place: Path, path: Path, file: grown.File) -> list[Any]:
    """Everything that is said about a file on its way in."""
    dialect, said = refused(lambda: Dialect(**file.dialect), SCAN)
    suggested, other = refused(lambda: _suggest(path), SCAN)
    names, unnamed = refused(lambda: inspect.names_of(path, dialect or Dialect()), SCAN)
    _, uncounted = refused(lambda: inspect.survey(path, dialect or Dialect(), file.bad_records), SCAN)
    seen = [said, suggested, other, names, unnamed, uncounted]
    workspace = Workspace(place / "var")
    try:
        about = {"about_rows": 9} if file.relation == "add_remove" else {}

        def add() -> dp.Table:
            unit = dp.Unit.rows() if file.unit[0] is None else dp.Unit.column(*file.unit)
            return workspace.add_table(
                "t",
                path,
                schema=Schema(file.columns),
                unit=unit,
                relation=file.relation,
                budget=dp.Budget(),
                dialect=dialect,
                bad_records=file.bad_records,
                **about,
            )

        table, refusal = refused(add, SCAN)
        seen.append(refusal)
        if table is None:
            REFUSED["files"] += place.name == "side 0"  # the other is refused alike
            assert not workspace.tables() and not list((workspace.folder / "tables").iterdir()), "something stayed"
        else:
            seen += [repr(table.facts), repr(table.suggestions()), repr(table.meter())]
            assert rows_of(workspace, table) == 0
        looked(SCAN, "a file on its way in", repr(seen))
    finally:
        workspace.close()
    return seen


def _suggest(path: Path) -> Any:
    from dpengine.declared.dialect import suggest

    return suggest(path)


# Schemas


def try_schema(data: Any) -> None:
    schema, _ = refused(lambda: Schema.from_json(data), SCAN)
    if schema is None:
        REFUSED["schemas"] += 1
    else:
        assert Schema.from_json(schema.as_json()) == schema, "a schema is not what it says of itself"
        refused(schema.check_signs, SCAN)
        for column in schema.columns.values():
            assert column.size >= 1
    TRIED["schemas"] += 1


# Questions


def try_question(two: Two, asked: tuple[str, dict[str, Any]], place: int, really: bool) -> None:
    key, given = asked
    seen: list[list[str]] = []
    for side in two.sides:
        table = side.tables[place]
        before = rows_of(side.workspace, table)
        query, refusal = refused(lambda table=table: table.query(key, **given), two.scan)  # type: ignore[misc]
        told = [refusal]
        if query is not None:
            told += shown(two, table, query)
            if really and not key.startswith("train"):
                answer, refusal = refused(lambda table=table, query=query: table.ask(query), two.scan)  # type: ignore[misc]
                told.append(refusal)
                assert rows_of(side.workspace, table) == before + (answer is not None), "a charge without an answer"
                before += answer is not None
        assert rows_of(side.workspace, table) == before, "a look was charged"
        looked(two.scan, "questions", *told)
        seen.append(told)
    REFUSED["questions"] += bool(seen[0][0])
    TRIED["questions"] += 1
    assert seen[0] == seen[1], "two tables are told apart by a refusal or a preview"


def shown(two: Two, table: dp.Table, query: dp.Query) -> list[str]:
    """What is said of a question before it is paid for."""
    again = catalogue[query.card.key].build(table.facts, query.parameters())
    assert again.digest() == query.digest(), "a question is not what it says of itself"

    def all_of_it() -> list[str]:
        refuse_unusable_session(query)
        price = table.preview(query)
        assert all(not isinstance(part, float) or math.isfinite(part) for part in vars(price).values())
        return [query.sentence(), query.theorem, repr(price), repr(promise_as_json(query.promise())), query.digest()]

    told, refusal = refused(all_of_it, two.scan)
    return [refusal, *(told or [])]


# Links and forms


def page_of(name: str, address: dict[str, str]) -> Any:
    from streamlit.testing.v1 import AppTest

    app = AppTest.from_file(str(Path(__file__).resolve().parents[2] / "ui" / "main.py"), default_timeout=120)
    for key, value in address.items():
        app.query_params[key] = value
    app.run() if name == "start" else app.switch_page(f"../pages/{name}.py").run()
    return app


def seen_on(two: Two, app: Any, name: str) -> None:
    assert not app.exception, [one.value for one in app.exception]
    before = len(two.scan.findings)
    exits.page(two.scan, app, name)
    assert len(two.scan.findings) == before, two.scan.findings[before:]


def try_link(two: Two, link: tuple[str, dict[str, str]], place: int) -> None:
    side = two.sides[0]
    table = side.tables[place]
    before = rows_of(side.workspace, table)
    page, address = link
    seen_on(two, page_of(page, {"table": table.name} | address), page)
    assert rows_of(side.workspace, table) == before, "a link was charged"
    TRIED["links"] += 1


def try_form(two: Two, link: tuple[str, dict[str, str]], place: int, touched: list[tuple[int, Any]]) -> None:
    """A page, and values typed or picked one after the other; whatever is pressed, what is spent has its row."""
    side = two.sides[0]
    table = side.tables[place]
    before = rows_of(side.workspace, table)
    app = page_of(link[0], {"table": table.name} | link[1])
    for number, wish in touched:
        touch(app, number, wish)
        seen_on(two, app, link[0])
    assert rows_of(side.workspace, table) == before, "filling in a form was charged"
    TRIED["forms"] += 1


def pick(widget: Any, label: Any) -> None:
    """The option that reads so, or several. AppTest would put a label through the widget's `format_func` once more, and
    miss it: this widget, for this run, takes labels as they are."""
    widget.__class__ = type("Picked", (type(widget),), {"format_func": property(lambda _: str)})
    widget.set_value(label)


def touch(app: Any, number: int, wish: Any) -> None:
    kinds = ("text_input", "selectbox", "number_input", "checkbox", "toggle", "multiselect", "radio", "text_area")
    widgets = [one for kind in kinds for one in app.get(kind) if not one.disabled]
    if not widgets:
        return
    widget = widgets[number % len(widgets)]
    kind = widget.type
    if kind in ("text_input", "text_area"):
        widget.set_value(str(wish).encode("utf-8", "replace").decode().replace("\0", ""))
    elif kind in ("selectbox", "radio") and widget.options:
        pick(widget, widget.options[number // 7 % len(widget.options)])
    elif kind == "number_input":
        low, high = widget.min, widget.max
        widget.set_value(low if low is not None and number % 2 else high if high is not None else number)
    elif kind in ("checkbox", "toggle"):
        widget.set_value(not widget.value)
    elif kind == "multiselect" and widget.options:
        pick(widget, widget.options[: number // 7 % 3])
    with speaking(next((lang for lang in LANGUAGES if lang in app.query_params.get("lang", [])), "en")):
        app.run()  # the options that nobody touched are read aloud here, in the language of their page


# The tests


def runs(many: int) -> dict[str, Any]:
    """One function for each kind, with so many examples."""

    @tried(many)
    @given(grown.files(SECRET))
    def of_files(file: grown.File) -> None:
        try_file(file)

    @tried(many)
    @given(grown.schemas)
    def of_schemas(data: Any) -> None:
        try_schema(data)

    return {"files": of_files, "schemas": of_schemas}


def with_two(two: Two, many: int) -> dict[str, Any]:
    places = st.integers(0, 2)

    @tried(many)
    @given(grown.questions(), places, st.integers(0, 11))
    def of_questions(asked: tuple[str, dict[str, Any]], place: int, really: int) -> None:
        try_question(two, asked, place, really == 0)

    @tried(many)
    @given(grown.links(), places)
    def of_links(link: tuple[str, dict[str, str]], place: int) -> None:
        try_link(two, link, place)

    @tried(many)
    @given(grown.links(), places, st.lists(st.tuples(st.integers(0, 400), grown.scalars), min_size=1, max_size=3))
    def of_forms(link: tuple[str, dict[str, str]], place: int, touched: list[tuple[int, Any]]) -> None:
        try_form(two, link, place, touched)

    return {"questions": of_questions, "links": of_links, "forms": of_forms}


@pytest.fixture
def at_home(two: Two, monkeypatch: pytest.MonkeyPatch) -> Two:
    monkeypatch.setenv("ALLOWANCE_HOME", str(two.sides[0].workspace.folder))
    monkeypatch.setattr("ui.shell.state.visitor", lambda: "local")
    return two


def noted(kind: str) -> None:
    """What was tried, for the report; a test that found something has ended before."""
    rows: list[list[object]] = [[f"fuzz: {kind}", TRIED[kind], 0]]
    if REFUSED[kind]:
        rows.append([f"fuzz: {kind}, of which refused in one sentence", REFUSED[kind], 0])
    add_rows("outsider", "An outsider's audit", ["what was tried", "how many", "found"], rows)


def test_files() -> None:
    runs(FILES[0])["files"]()


def test_schemas() -> None:
    runs(SCHEMAS[0])["schemas"]()


def test_questions(two: Two) -> None:
    with_two(two, QUESTIONS[0])["questions"]()


def test_links(at_home: Two) -> None:
    with_two(at_home, LINKS[0])["links"]()


def test_forms(at_home: Two) -> None:
    with_two(at_home, FORMS[0])["forms"]()


@pytest.mark.long
@pytest.mark.timeout(3600)
@pytest.mark.parametrize(("kind", "many"), [("files", FILES[1]), ("schemas", SCHEMAS[1])])
def test_many_files_and_schemas(kind: str, many: int) -> None:
    runs(many)[kind]()
    noted(kind)


@pytest.mark.long
@pytest.mark.timeout(3600)
@pytest.mark.parametrize(("kind", "many"), [("questions", QUESTIONS[1]), ("links", LINKS[1]), ("forms", FORMS[1])])
def test_many_questions_links_and_forms(kind: str, many: int, at_home: Two) -> None:
    with_two(at_home, many)[kind]()
    noted(kind)


# It can fail


def test_a_traceback_a_value_a_charge_and_a_difference_are_caught(two: Two, monkeypatch: pytest.MonkeyPatch) -> None:
    """Power: each thing that an example is held to, broken once."""
    asked = ("count", {"where": [["far", ">", 3]], "epsilon": "0.01"})
    try_question(two, asked, 0, True)
    whole = bench.AllowanceError
    core = two.sides[0].canaries[0].core

    def quoting(*_: Any, **__: Any) -> Any:
        raise whole("table.unknown", name=core)

    def broken(*_: Any, **__: Any) -> Any:
        raise ValueError("a traceback")

    def free(self: Any, query: Any, request_id: Any = None) -> Any:
        return "an answer"

    def of_its_own(self: Any, query: Any) -> Any:
        raise whole("table.unknown", name=str(self._workspace.folder)[-8:])

    for name, act, error, words in (
        ("query", quoting, AssertionError, "id of a person"),
        ("query", broken, ValueError, "a traceback"),
        ("ask", free, AssertionError, "without"),
        ("preview", of_its_own, AssertionError, "told apart"),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(dp.Table, name, act)
            with pytest.raises(error, match=words):
                try_question(two, asked, 0, True)
    with monkeypatch.context() as patch:
        patch.setattr(Schema, "from_json", staticmethod(broken))
        with pytest.raises(ValueError, match="a traceback"):
            try_schema({"columns": []})


def test_they_are_twenty_thousand_in_all() -> None:
    assert sum(many for _, many in (FILES, SCHEMAS, QUESTIONS, LINKS, FORMS)) >= 20_000
