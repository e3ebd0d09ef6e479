"""A model's Python file is run as a stranger would run it, by a Python of its own, with columns, values, a question and
a receipt that are programs. Each would leave a file behind."""

from __future__ import annotations

import csv
import subprocess
import sys
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from dpengine.declared.date_column import Date
from dpengine.declared.dialect import Dialect
from dpengine.declared.schema import Category, Number, yes_no
from dpengine.messages import say
from dpengine.messages.language import speaking
from dpengine.released import model_scripts
from dpengine.statistics.features import LINEAR, Layout, Model

RUN = "open('ran','w')#"
COOKIES = [
    f"x coding: {name} {tail}"
    for name in ("unicode_escape", "raw_unicode_escape", "utf-7", "utf-16", "cp037", "idna", "no-such-coding")
    for tail in (rf"\n{RUN}", rf"\x0a{RUN}", rf"\u000a{RUN}", f"+AAo-{RUN}")
]
BREAKS = [f"x{end}{RUN}" for end in ("\n", "\r", "\r\n", "\x0b", "\x0c", "\x1c", "\x85", "\u2028", "\u2029", "\x00\n")]
QUOTES = [
    f"{quote}{end}{RUN}" for quote in ("'", '"', "'''", '"""', "\\'", '\\"', "\\") for end in ("", "\n", ");", "};")
]
SIGNS = ["\u202e" + RUN, f"\u2066{RUN}\u2069", "\ufeff" + RUN, "\x00" + RUN, "\x1a" + RUN, "\ud800", "{" + RUN + "}"]
NAMES = [*COOKIES, *BREAKS, *QUOTES, *SIGNS]


def model(names: list[str], goal: Number | Category, labels: list[str]) -> Model:
    columns = (*(Number(0, 10) for _ in names[1:]), Category(labels))
    layout = Layout((*names[1:], "list"), columns, names[0], goal, *(((0,), (1,)) if goal.size == 2 else ()))
    return Model(layout, tuple(range(2**20, 2**20 * (layout.width + 1), 2**20)))


def ran(source: str, folder: Path, *arguments: str) -> tuple[bool, str]:
    """Did it leave a file; what it printed."""
    (folder / "model.py").write_bytes(source.encode("utf-8"))
    done = subprocess.run(
        [sys.executable, "-I", "-S", "model.py", *arguments], cwd=folder, capture_output=True, text=True, timeout=500
    )
    return (folder / "ran").exists(), done.stdout if done.returncode == 0 else done.stderr


@pytest.mark.every(3)
@pytest.mark.parametrize("language", ["en", "sl"])
def test_nothing_in_a_name_runs(language: str, tmp_path: Path) -> None:
    """All names in one file, and the worst of them as target, sentence and receipt of files of their own."""
    printable = [name for name in NAMES if name.isprintable()]
    goals = (Number(0, 1, step="0.25"), Category(["yes" + RUN, "no\\n"], "no\\n", "no\\n"))
    with speaking(language):
        files = [(model([name, *NAMES], goal, printable), name) for name in (COOKIES[0], BREAKS[0]) for goal in goals]
        sources = [model_scripts.script_of(one, sentence=name, receipt=name) for one, name in files]
    for (one, _), source in zip(files, sources, strict=True):
        first, *rest = source.encode("utf-8").split(b"\n")
        assert first == b"# -*- coding: utf-8 -*-" and b"coding" not in b"\n".join(rest[:5])
        asked = {name: place % 11 for place, name in enumerate(one.layout.names)} | {"list": printable[3]}
        check = f"\nassert tuple(MODEL['columns']) == {one.layout.names!r}\nprint(predict({asked!r}))\n"
        left, told = ran(source.replace('if __name__ == "__main__":', "if False:") + check, tmp_path)
        assert not left and float(told) == pytest.approx(one.predict(asked), rel=1e-9)


def test_a_file_with_names_in_its_comments_is_caught(tmp_path: Path) -> None:
    """Power: where names stand in the first lines, the same check finds a file left behind."""
    assert any(ran(f"# {name}\n# {name}\nMODEL = 1\n", tmp_path)[0] for name in COOKIES)


def test_rows_from_a_spreadsheet_are_read(tmp_path: Path) -> None:
    """With the mark that spreadsheets put first."""
    one = model(["y", "čas"], Number(0, 1, step="0.25"), ["a", "b"])
    assert one.kind == LINEAR
    for encoding in ("utf-8", "utf-8-sig"):
        with (tmp_path / "rows.csv").open("w", newline="", encoding=encoding) as file:
            csv.writer(file).writerows([["čas", "list"], ["3", "b"]])
        told = ran(model_scripts.script_of(one, "s", "r"), tmp_path, "rows.csv")[1]
        assert float(told) == pytest.approx(one.predict({"čas": 3, "list": "b"}))


def test_cells_of_a_file_are_read_as_the_table_reads_them(tmp_path: Path) -> None:
    """Signs of the dialect, days in their order, other spellings; a row of which nothing can be said gets an empty
    line, and a program whose names have spaces around them is answered too."""
    columns = (Number(0, 5000, step="0.5"), Date("2024-01-01", "2024-12-31", "dmy"), yes_no())
    layout = Layout(("pay", "day", "car"), columns, "goal", Number(0, 1, step="0.25"))
    one = Model(layout, tuple(range(2**20, 2**20 * (layout.width + 1), 2**20)))
    source = model_scripts.script_of(one, "s", "r", Dialect(separator=";", decimal=",", thousands="."))
    cells = ["1.234,5;3. 2. 2024 8:15;TRUE", "\u22127;1/13/2024;", "1e9;31.12.2030;n"]
    cells += [";1.1.2024;yes", "1;2;3;4", "12.3;1.1.2024;1"]
    (tmp_path / "rows.csv").write_text("\n".join(["pay ; day;car", *cells]), encoding="utf-8")
    told = ran(source, tmp_path, "rows.csv")[1].split("\n")
    said = [one.predict({"pay": "1234.5", "day": "2024-02-03", "car": "yes"})]
    said += [one.predict({"pay": 5000, "day": "2024-12-31", "car": "no"})]
    assert [float(told[0]), float(told[2])] == pytest.approx(said) and told[1] == told[3] == told[4] == told[5] == ""
    scored: dict[str, Any] = {"__name__": "scored"}
    exec(source, scored)
    row = {" pay": 1234.5, "day\t": date(2024, 2, 3), "car": True}
    assert scored["predict"](row) == pytest.approx(said[0])
    with pytest.raises(ValueError, match="car"):
        scored["predict"]({"pay": 1, "day": "2024-01-01", "Car": "yes"})


def test_the_comments_hold_no_name() -> None:
    for code in ("scorer.linear", "scorer.logistic", "scorer.use", "scorer.receipt", "scorer.file"):
        assert say(code).isprintable()  # no place for a fact: it would be a KeyError
