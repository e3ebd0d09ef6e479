"""Usual lists match every spelling at once; old declarations stay as they are; a table that was given out stays too."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pandas as pd
import pytest

import dpengine as dp
from dpengine.core.errors import AllowanceError
from dpengine.declared import spelling as usual
from dpengine.declared.dialect import Dialect
from dpengine.declared.schema import Category, Schema
from dpengine.declared.spelling import normal
from dpengine.statistics.raw_cells import kind_of
from dpengine.workspace import Workspace

TABLES = sorted(path.stem for path in usual.FOLDER.glob("*.txt"))
# What each table makes of every spelling. A table that was given out is never changed: add one with a new number.
GIVEN_OUT: dict[str, str] = {
    "agreement-1": "43f47e6ee2c56cb7",
    "bracket_us-1": "94ebee22bce11ff8",
    "continents-1": "98fb71fa56889e4c",
    "countries-1": "8df84a96c8b69631",
    "employment-1": "d46e99c4a108f756",
    "family_us-1": "299a01208098309e",
    "marital-1": "fc1fb8c40f09efca",
    "marital_us-1": "3be257fe1bbca6fe",
    "missing-1": "fabf32c8a6c30e8f",
    "months-1": "61a678c7a72c4fa8",
    "occupation_us-1": "044a192f9ca5472b",
    "race_us-1": "e2235affd21b3918",
    "regions_sl-1": "8875a9ef4a65facc",
    "schooling-1": "6acb0e3333994ef8",
    "schooling_us-1": "ae857499dab08e5f",
    "sex-1": "434d91beca86caa2",
    "sizes-1": "b7d80d01bdf1c8f4",
    "weekdays-1": "2657fac5e64959d3",
    "work_us-1": "252d596c0f10608a",
    "yes_no-1": "de4409d8ce270b41",
}


@pytest.mark.every(9)
@pytest.mark.parametrize("name", TABLES)
def test_a_table_is_sound(name: str) -> None:
    seen: dict[str, int] = {}
    for place, line in enumerate(usual.spelling_lines(name)):
        assert line[0] and len({*map(normal, line)} - {""}) >= 1
        for one in filter(None, line):
            assert seen.setdefault(normal(one), place) == place, f"{one} stands in two lines"
    for language in ("en", "sl"):
        labels = usual.spelling_values(name, language)
        column = Category(labels, unknown="else", missing="nothing", spellings=name if name != usual.MISSING else "")
        for place, line in enumerate(usual.spelling_lines(name) if name != usual.MISSING else ()):
            assert {column.spelled()[normal(one)] for one in line if one} == {place}


def test_a_table_that_was_given_out_stays() -> None:
    told = {
        name: json.dumps(sorted(usual.spelling_places(name, usual.spelling_values(name, "en"), "no answer").items()))
        for name in TABLES
    }
    assert {name: hashlib.sha256(text.encode()).hexdigest()[:16] for name, text in told.items()} == GIVEN_OUT


@pytest.mark.parametrize(
    ("table", "labels", "cells", "meant"),
    [
        ("sex-1", ("female", "male"), [" Male", "moški", "Ž", "F", "žena", "?", "zebra"], [1, 1, 0, 0, 0, 3, 2]),
        ("sex-1", ("ženska", "moški"), ["Female", "m", "Mann", "NA", "divers"], [0, 1, 1, 3, 2]),
        ("countries-1", ("Slovenia", "Croatia"), ["SVN", "si", "Slovenija", "Hrvaska", "HR"], [0, 0, 0, 1, 1]),
        ("months-1", ("January", "maj"), ["01", "Januar", "janvier", "5", "May"], [0, 0, 0, 1, 1]),
        ("yes_no-1", ("yes", "no"), ["DA", "ja", "1", "x", "Nein", "0", "нет"], [0, 0, 0, 0, 1, 1, 1]),
        ("missing-1", ("bus", "car"), ["bus", "?", "N/A", "-"], [0, 3, 3, 3]),
    ],
)
def test_a_cell_equal_to_any_spelling_counts(
    table: str, labels: tuple[str, ...], cells: list[str], meant: list[int]
) -> None:
    column = Category(labels, spellings=table)
    known, unknown = column.spelled(), column.labels.index(column.unknown)
    assert [known.get(normal(cell), unknown) for cell in cells] == meant


def test_every_country_of_a_census_is_known_with_hyphens_and_codes() -> None:
    column = Category(usual.spelling_values("countries-1", "en"), spellings="countries-1")
    known = column.spelled()
    for cell in ("United-States", "USA", "Puerto-Rico", "El-Salvador", "Viet-Nam", "Holand-Netherlands", "Hong", "DEU"):
        assert column.labels[known[normal(cell)]] not in ("other", "no answer"), cell
    assert len(column.values) >= 249 and len(known) > 1_000
    for language in ("en", "sl"):
        assert len({*map(normal, usual.spelling_values("countries-1", language))}) == len(column.values)


def test_what_is_listed_and_what_is_said_come_first() -> None:
    column = Category(["f", "x"], aliases={"female": "x"}, spellings="sex-1")
    assert [column.spelled()[one] for one in ("f", "female", "woman", "x")] == [0, 1, 0, 1]
    closed = Category(["yes", "no"], unknown="no", missing="no", spellings="yes_no-1")
    assert closed.labels == ("yes", "no") and closed.spelled()["?"] == 1


def test_an_old_declaration_is_written_as_it_was() -> None:
    old = Category(["a", "b"], aliases={"1": "a"})
    assert old.as_json() == {
        "kind": "category",
        "values": ["a", "b"],
        "unknown": "other",
        "missing": "no answer",
        "aliases": [["1", "a"]],
    }
    assert "measure" not in dp.Number(0, 10).as_json() and old.spelled() == {
        "a": 0,
        "b": 1,
        "other": 2,
        "no answer": 3,
        "1": 0,
    }
    schema = Schema({"sex": Category(["female", "male"], spellings="sex-1"), "pay": dp.Number(0, 10, measure=" € ")})
    again = Schema.from_json(json.loads(json.dumps(schema.as_json())))
    assert again == schema and again.number("pay").measure == "€"


@pytest.mark.parametrize("name", ["nobody-1", "../sex-1", "sex", 7])
def test_a_table_that_is_not_there_is_refused(name: object) -> None:
    with pytest.raises(AllowanceError) as refusal:
        Category(["a", "b"], spellings=name)  # type: ignore[arg-type]
    assert refusal.value.code == "schema.unreadable"


@pytest.mark.parametrize("measure", ["x" * 21, "a\u202eb"])
def test_a_measure_is_a_short_word(measure: str) -> None:
    with pytest.raises(AllowanceError) as refusal:
        dp.Number(0, 10, measure=measure)
    assert refusal.value.code == "number.measure"


def test_all_languages_are_counted_together(tmp_path: Path) -> None:
    cells = [" Male", "moški", "M", "Female", "ženska", "Ž", "?", "", "zebra"]
    column = Category(["female", "male"], spellings="sex-1")
    workspace = Workspace(tmp_path / "var")
    table = workspace.add_table(
        "people",
        pd.DataFrame({"sex": cells * 400}),
        schema=dp.Schema({"sex": column}),
        unit=dp.Unit.rows(),
        budget=dp.Budget("20", "1e-6"),
    )
    value = table.ask(table.query("histogram", column="sex", epsilon="10")).value
    workspace.close()
    assert [round(count / 400) for count in value.values()] == [3, 3, 1, 2]
    kind = kind_of("c", column, Dialect())
    assert [cell for cell in cells if kind(cell) < 0] == ["zebra"]


def test_countries_are_found_as_files_write_them_and_their_source_is_named() -> None:
    """The names are CLDR's or our own; the licence of CLDR stands beside the list."""
    column = Category(usual.spelling_values("countries-1", "en"), spellings="countries-1").spelled()
    written = {
        "Slovenia": "Slovenija|SVN|SI|Republic of Slovenia|SLO",
        "Iran": "Iran, Islamic Republic of|Islamic Republic of Iran|IRN",
        "South Korea": "Republic of Korea|Korea, Rep.|KOR",
        "Democratic Republic of the Congo": "COD|DRC|Zaire|Congo - Kinshasa",
        "Trinidad and Tobago": "Trinadad&Tobago|Trinidad & Tobago",
        "United States": "USA|United-States|U.S.|ZDA",
        "Austria": "Österreich|Osterreich",
        "Namibia": "NAM|Namibija",
        "United Kingdom": "England|Scotland|Wales|Northern Ireland|UK",
        "Colombia": "Columbia|COL",
    }
    places = {value: place for place, value in enumerate(usual.spelling_values("countries-1", "en"))}
    for value, several in written.items():
        assert {column[normal(one)] for one in several.split("|")} == {places[value]}, value
    assert column["na"] not in places.values()  # no answer, and not Namibia
    told = (usual.FOLDER / "README.md").read_text(encoding="utf-8")
    assert "Unicode-3.0" in told and "tools/countries.py" in told and "Copyright © 2004-2025 Unicode, Inc." in told
