"""Content that comes in again, by whatever door: one allowance, one seal, one number of people."""

from __future__ import annotations

import os
import sqlite3
import unicodedata
from contextlib import closing
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import dpengine as dp
from dpengine.core.errors import AllowanceError
from dpengine.intake import marks
from dpengine.storage import registry
from dpengine.storage.registry import Registry
from dpengine.workspace import Workspace

ROWS = "id,height,town,day\n007,1.50,Kranj,2024-01-05\n008,1.75,Čatež,2024-02-05\n,1.6,NA,2024-02-06\n010,,Ptuj,\n"
SCHEMA = dp.Schema({"height": dp.Number(0, 3, step="0.01")})


def add(home: Workspace, source: Any, name: str, **terms: Any) -> dp.Table:
    usual: dict[str, Any] = {"schema": SCHEMA, "unit": dp.Unit.rows(), "budget": dp.Budget("1", "1e-6")}
    return home.add_table(name, source, **(usual | terms))


def put(home: Workspace, text: str, name: str = "people.csv", encoding: str = "utf-8") -> Path:
    path = home.folder / "files" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode(encoding))
    return path


def refusal(home: Workspace, source: Any, name: str, **terms: Any) -> str:
    with pytest.raises(AllowanceError) as refused:
        add(home, source, name, **terms)
    assert name not in {one.name for one in home.tables()}
    return refused.value.code


def doors(home: Workspace) -> dict[str, tuple[Any, dict[str, Any]]]:
    """The same rows, as many ways as a person may bring them."""
    path = put(home, ROWS)
    lines = ROWS.splitlines()
    cells = [line.split(",") for line in lines]
    turned = "\n".join(",".join(row[::-1]) for row in cells) + "\n"
    shuffled = "\n".join([lines[0], *lines[:0:-1]]) + "\n"
    comma = "\n".join(";".join(cell.replace(".", ",") for cell in row) for row in cells) + "\n"
    frame = pd.read_csv(path)
    frame.to_parquet(home.folder / "files" / "people.parquet")
    cased = frame.rename(columns=str.upper).assign(extra=None)
    typed = pd.read_csv(path, parse_dates=["day"], dtype={"id": str})
    decimal = dp.Dialect(separator=";", decimal=",")
    return {
        "another encoding": (path, {"dialect": dp.Dialect(encoding="windows-1250")}),
        "another quote": (path, {"dialect": dp.Dialect(quote="'")}),
        "columns the other way": (put(home, turned, "turned.csv"), {}),
        "rows in another order": (put(home, shuffled, "shuffled.csv"), {}),
        "written in windows-1250": (
            put(home, ROWS, "old.csv", "windows-1250"),
            {"dialect": dp.Dialect(encoding="windows-1250")},
        ),
        "decimal commas": (put(home, comma, "comma.csv"), {"dialect": decimal}),
        "decimal commas read as text": (put(home, comma + "\n", "again.csv"), {"dialect": dp.Dialect(separator=";")}),
        "blank lines of separators": (put(home, ROWS + ",,,\n , ,,\n", "blank.csv"), {}),
        "a frame": (frame, {}),
        "a frame with another decimal sign": (frame, {"dialect": decimal}),
        "a typed frame": (typed, {}),
        "Parquet": (home.folder / "files" / "people.parquet", {}),
        "renamed, with an empty column": (cased, {"schema": dp.Schema({"HEIGHT": dp.Number(0, 3, step="0.01")})}),
        "quotes that stay in the cells": (
            put(home, ROWS.replace("Kranj", '"Kranj"').replace("Ptuj", "'Ptuj'"), "quoted.csv"),
            {"dialect": dp.Dialect(quote="")},
        ),
        "a folder": (put(home, ROWS, "alone/people.csv").parent, {"dialect": dp.Dialect(quote="")}),
    }


def test_the_same_content_spends_one_allowance_by_every_door(home: Workspace) -> None:
    ways = doors(home)
    first = add(home, put(home, ROWS), "first")
    first.ask(first.query("sum", column="height", epsilon="1"))
    home.seal("first")
    home.forget("first")
    for number, (name, (source, terms)) in enumerate(ways.items()):
        again = add(home, source, f"again {number}", **terms)
        assert again.joined and again.budget.id == first.budget.id and again.closed == "seal", name
        assert again.facts.people == 4, name


TOLD = (
    "name,member,height,day\nNova  Gorica,True,1.50,2024-01-05\n"
    "Škofja Loka - center,False,1.7,2024-02-05\nBled,True,2,\n"
)
REWRITTEN = {
    "booleans as 0 and 1": TOLD.replace("True", "1").replace("False", "0"),
    "booleans as 0.0 and 1.0": TOLD.replace("True", "1.0").replace("False", "0.0"),
    "booleans as R writes them": TOLD.replace("True", "TRUE").replace("False", "FALSE"),
    "booleans as Postgres writes them": TOLD.replace("True", "t").replace("False", "f"),
    "booleans as words": TOLD.replace("True", "Yes").replace("False", "no"),
    "a no-break space inside a cell": TOLD.replace("Nova  Gorica", "Nova\u00a0Gorica"),
    "thin and narrow spaces": TOLD.replace("Škofja Loka", "Škofja\u2009Loka").replace("  ", "\u202f"),
    "one space for two": TOLD.replace("  ", " "),
    "a tab inside a cell": TOLD.replace("Škofja Loka", "Škofja\tLoka"),
    "a sign that shows nothing": TOLD.replace("Bled", "Bl\u200bed").replace("Loka", "Lo\u00adka"),
    "a long dash": TOLD.replace(" - ", " – "),
    "typographic quotes": TOLD.replace("Bled", "“Bled”"),
    "trailing zeros": TOLD.replace("1.7", "1.700").replace(",2,", ",2.00,"),
    "midnight behind a day": TOLD.replace("-05\n", "-05 00:00:00\n"),
    "letters that are composed": unicodedata.normalize("NFD", TOLD),
}


def test_a_file_that_a_tool_has_rewritten_spends_the_same_allowance(home: Workspace) -> None:
    first = add(home, put(home, TOLD), "first")
    for how, rows in REWRITTEN.items():
        assert rows != TOLD, how
        again = add(home, put(home, rows, "again.csv"), how)
        assert again.joined and again.budget.id == first.budget.id, how


def test_a_column_of_truths_as_a_frame_or_parquet_holds_it(home: Workspace) -> None:
    first = add(home, put(home, TOLD), "first")
    frame = pd.read_csv(put(home, TOLD))
    assert frame["member"].dtype == bool
    frame.assign(member=frame["member"].astype(int)).to_parquet(home.folder / "files" / "whole.parquet")
    frame.to_parquet(home.folder / "files" / "truths.parquet")
    for place, source in enumerate(
        [frame, home.folder / "files" / "whole.parquet", home.folder / "files" / "truths.parquet"]
    ):
        assert add(home, source, f"again {place}").budget.id == first.budget.id, place


def test_other_content_has_an_allowance_of_its_own(home: Workspace) -> None:
    """What is taken for the same is no more than that."""
    add(home, put(home, TOLD), "first")
    others = [("True", "maybe"), ("Bled", "Bledd"), ("Nova  Gorica", "Nova, Gorica"), ("False", "True"), ("1.7", "1.8")]
    for place, (before, after) in enumerate(others):
        text = TOLD.replace(before, f'"{after}"')
        assert not add(home, put(home, text, f"{place}.csv"), f"other {place}").joined, before


def test_a_moment_is_one_however_a_tool_writes_it(home: Workspace) -> None:
    """Frames, Parquet and text write what stands in a column of times each in their own way."""
    texts = ["2024-01-05 10:30:00", "2024-01-06 00:00:00", "2024-01-06 11:00:07"]
    frame = pd.DataFrame({"at": pd.to_datetime(texts), "height": [1.1, 1.2, 1.3]})
    first = add(home, frame, "first")
    files = home.folder / "files"
    frame.to_csv(files / "times.csv", index=False)
    frame.to_parquet(files / "times.parquet")
    zoned = frame.assign(at=frame["at"].dt.tz_localize("UTC"))
    zoned.to_csv(files / "zoned.csv", index=False)
    short = frame.assign(at=["2024-01-05T10:30Z", "2024-01-06", "2024-01-06T11:00:07.000Z"])
    coarse = frame.assign(at=frame["at"].astype("datetime64[s]"))
    ways = [files / "times.csv", files / "times.parquet", files / "zoned.csv", zoned, short, coarse]
    for number, source in enumerate(ways):
        assert add(home, source, f"again {number}").budget.id == first.budget.id, number
    later = frame.assign(at=frame["at"] + pd.Timedelta(seconds=1))
    assert not add(home, later, "other times").joined


def test_what_a_wrong_quote_left_in_cells_makes_no_new_content(home: Workspace) -> None:
    path = put(home, 'town,height\n"Kranj",1.5\n"Ptuj ""O\'Hara""",1.6\n')
    first = add(home, path, "first", dialect=dp.Dialect(quote="'"))
    assert add(home, pd.read_csv(path), "a frame").budget.id == first.budget.id
    assert add(home, path, "read rightly").budget.id == first.budget.id


@pytest.mark.parametrize("last", ["", "z"])
def test_a_refusal_does_not_tell_that_the_last_cell_is_empty(home: Workspace, last: str) -> None:
    """Read with another separator the one column is two, where an empty line is no row at all."""
    path = put(home, f"a_b\nx\ny\n{last}\n")
    first = add(home, path, "first", schema=dp.Schema({"a_b": dp.Category(["x"])}))
    assert first.facts.people == 3
    otherwise = {"schema": dp.Schema({"a": dp.Category(["x"])}), "dialect": dp.Dialect(separator="_")}
    assert refusal(home, path, "again", bad_records="empty", **otherwise) == "content.read_otherwise"


def test_a_file_of_a_folder_and_a_folder_with_a_file_are_known(home: Workspace) -> None:
    other = "id,height,town,day\n011,1.8,Celje,2024-03-01\n"
    folder = put(home, ROWS, "months/a.csv").parent
    put(home, other, "months/b.csv")
    first = add(home, folder, "months")
    assert add(home, folder / "b.csv", "one").budget.id == first.budget.id
    written = put(home, "\ufeff" + other.replace(",", ";"), "b.csv")
    assert add(home, written, "written", dialect=dp.Dialect(separator=";")).budget.id == first.budget.id
    put(home, "id,height,town,day\n012,1.9,Piran,\n", "months/c.csv")
    assert add(home, folder, "longer").budget.id == first.budget.id
    stranger = add(home, put(home, "height,x\n1,1\n2,2\n"), "stranger")
    assert not stranger.joined
    put(home, "id,height,town,day\n1,1,x,y\n", "both/a.csv")
    both = put(home, other, "both/b.csv").parent
    add(home, put(home, "id,height,town,day\n1,1,x,y\n", "single.csv"), "single")
    assert refusal(home, both, "both") == "budget.several"


@pytest.mark.long
def test_each_file_of_a_folder_is_recognised_alone(home: Workspace) -> None:
    for number in range(40):
        path = put(home, f"id,height\n{number},1.5\n{number}x,1.7\n", f"many/{number}.csv")
    first = add(home, path.parent, "first")
    for number in (0, 17, 39):
        written = put(home, f"height,id\n1.70,{number}X\n1.50,{number}\n", f"single {number}.csv")
        assert add(home, written, f"one {number}").budget.id == first.budget.id
    assert add(home, path.parent, "again").budget.id == first.budget.id


def test_content_tells_one_number_of_people(home: Workspace) -> None:
    text = "who,height,town\n" + "".join(f"{n % 7},1.5,{n % 3}\n" for n in range(20))
    path = put(home, text)
    first = add(home, path, "first", unit=dp.Unit.column("who", 3))
    assert first.facts.people == 7
    for terms in (
        {"unit": dp.Unit.column("town", 3)},
        {"unit": dp.Unit.column("who", 2)},
        {"unit": dp.Unit.rows()},
        {"unit": dp.Unit.column("who", 3), "relation": "add_remove", "about_rows": 9},
    ):
        assert refusal(home, path, "again", **terms) == "budget.other_terms"
    whose = {"unit": dp.Unit.column("who", 3)}
    for dialect in (dp.Dialect(quote="'"), dp.Dialect(encoding="windows-1252"), dp.Dialect(line_breaks=True)):
        assert refusal(home, path, "again", dialect=dialect, **whose) == "content.read_otherwise"
    folder = put(home, text, "more/a.csv").parent
    put(home, "who,height,town\n3,1.5,1\n", "more/b.csv")  # is 3 among them?
    assert refusal(home, folder, "more", **whose) == "content.part_known"
    assert add(home, path, "again", **whose).facts.people == 7


def test_a_seal_goes_through_a_table_between(home: Workspace) -> None:
    path = put(home, "x,town;z\n1,A;q\n2,B;r\n")
    semicolon = dp.Dialect(separator=";")
    category = dp.Schema({"z": dp.Category(["q", "r"])})
    add(home, path, "a", schema=dp.Schema({"x": dp.Number(0, 9)}))
    add(home, path, "b", schema=category, dialect=semicolon)
    written = put(home, "z;x,town\nr;2,B\nq;1,A\n", "c.csv")
    add(home, written, "c", schema=category, dialect=semicolon)
    shared = add(home, put(home, "z\nq\n", "d.csv"), "d", schema=category, budget=home.table("a").budget.id)
    home.seal("a")
    assert home.closed() == dict.fromkeys("abc", "seal") and shared.closed is None
    assert add(home, written, "e", schema=category, dialect=semicolon).closed == "seal"


def test_a_seal_reaches_what_is_joined_to_it_afterwards(home: Workspace) -> None:
    first = add(home, put(home, "x,height\n1,1\n2,2\n", "both/a.csv"), "a")
    add(home, put(home, "x,height\n3,3\n", "both/b.csv"), "b", budget=first.budget.id)
    home.seal("a")
    assert home.closed() == {"a": "seal"}
    add(home, home.folder / "files" / "both", "both")
    assert home.closed() == dict.fromkeys(("a", "b", "both"), "seal")


def test_a_seal_reaches_the_same_content_on_another_budget(home: Workspace) -> None:
    """However it came there: nothing opens a second budget for known content."""
    frame = pd.read_csv(put(home, ROWS))
    add(home, put(home, ROWS), "a")
    kept = _marks_put_away(home)
    assert not add(home, frame, "b").joined
    with closing(sqlite3.connect(home.folder / "registry.sqlite")) as rows:
        rows.executemany("INSERT INTO marks VALUES (?, ?)", kept)
        rows.commit()
    home.seal("a")
    assert home.closed() == dict.fromkeys("ab", "seal")


def _marks_put_away(home: Workspace) -> list[tuple[str, str]]:
    with closing(sqlite3.connect(home.folder / "registry.sqlite")) as rows:
        kept = rows.execute("SELECT mark, name FROM marks").fetchall()
        rows.execute("DELETE FROM marks")
        rows.execute("INSERT INTO marks VALUES (?, 'a')", [f"{registry.ROWS}x"])
        rows.commit()
    return kept


def test_an_edited_copy_has_an_allowance_of_its_own(home: Workspace) -> None:
    """What privacy.md says is not recognised, so that the check above is not passed by taking all for the same."""
    add(home, put(home, ROWS), "first")
    for number, text in enumerate((ROWS.replace("1.75", "1.76"), ROWS.rsplit("\n", 2)[0] + "\n", ROWS + "9,1,x,y\n")):
        assert not add(home, put(home, text, f"{number}.csv"), f"copy {number}").joined


def test_what_takes_a_files_place_is_neither_read_nor_marked(home: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    path, other = put(home, ROWS), put(home, "id,height,town,day\n1,1,x,y\n", "other.csv")
    spare = put(home, ROWS, "spare.csv")
    before = marks._copied

    def replaced(file: Path, *given: Any) -> None:
        before(file, *given)
        if file == path and other.exists():
            os.replace(other, path)

    monkeypatch.setattr(marks, "_copied", replaced)
    first = add(home, path, "first")
    assert first.facts.people == 4 and path.read_text().count("\n") == 2
    assert add(home, spare, "spare").budget.id == first.budget.id
    assert not add(home, path, "in its place").joined


def test_one_person_is_one_however_the_id_is_written(home: Workspace) -> None:
    ids = ["Ana", " Ana", "\tAna", "\ufeffAna", "Ana\u00a0", "Ana\u2003", "Ana\u200b", "Ana\0"]
    frame = pd.DataFrame({"who": [*ids, "Zoe\u0308", "Zo\u00eb", "ana"], "height": [1.0] * 11})
    table = add(home, frame, "first", unit=dp.Unit.column("who", 1))
    assert table.facts.people == 3  # Ana, Zoë and ana


def test_names_are_trimmed_and_told_apart_after_that(home: Workspace) -> None:
    table = add(home, put(home, " id,\theight\u00a0\n1,2\n"), "first")
    assert table.facts.header == ("id", "height")
    assert refusal(home, put(home, "height,\u00a0height\n1,2\n"), "twice") == "load.name_twice"


@pytest.mark.long
def test_a_folder_of_very_many_files_is_known_by_any_of_them(tmp_path: Path) -> None:
    """More marks than a statement of SQLite may have values."""
    known, many = Registry(tmp_path / "registry.sqlite"), [f"part:{place}" for place in range(300_000)]
    with known.transaction() as rows:
        known.mark(rows, "people", many[-1:])
        assert known.of_content(rows, many) == [] and known.marks_of(rows, ["people", *many]) == {many[-1]}
    known.close()
