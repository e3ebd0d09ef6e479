"""Lists of very many values: every page opens under a limit of memory, sends little, and works as much as there are
values, not more."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pandas as pd
import pytest
from helpers_many import PAGES
from helpers_page import html_of

import dpengine as dp
from dpengine.mechanisms.counts.histogram import Histogram
from dpengine.mechanisms.sums.mean import Mean
from ui.ask import answer as answers
from ui.ledger import report
from ui.parts import exports
from ui.pictures import charts, many

MEGABYTES = 6_000  # of addresses: half of them are libraries and what they reserve
MOST_SENT = 1 << 20  # bytes of one page


def opened(folder: Path, values: int, pages: int) -> None:
    """A page that needs more than there is dies with its process."""
    helper = Path(__file__).resolve().parents[1] / "helpers_many.py"
    command = [sys.executable, helper, folder, str(values), str(MEGABYTES), str(pages)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=3_600)
    assert done.returncode == 0, done.stderr[-2_000:]
    told = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(told) == pages
    assert not [one for one in told if one[2] > MOST_SENT or one[3] > many.MOST_DRAWN]


@pytest.mark.long
def test_five_thousand_values(tmp_path: Path) -> None:
    opened(tmp_path, 5_000, 3)


@pytest.mark.long
@pytest.mark.timeout(3_700)
@pytest.mark.parametrize("values", [5_000, 100_000])
def test_every_page(values: int, tmp_path: Path) -> None:
    opened(tmp_path, values, len(PAGES))


def test_labels_stay_apart_and_short() -> None:
    """Without a tail that grows with the place."""
    names = [f"v {place}" for place in range(150)] + [f"{'x' * 40} {place}" for place in range(50)]
    told = charts._labels(names)
    assert len(set(told)) == len(names) and sum(map(len, told)) < 100 * len(names)


def test_what_is_drawn_is_decided_by_order_or_by_released_figures() -> None:
    values = {f"v {place:04}": place * 7919 % 1_000 for place in range(1_000)}
    largest = many.drawn(values, largest=True)
    assert largest == sorted(largest) and {values[label] for label in largest} == set(range(800, 1_000))
    assert many.drawn(values, largest=False) == list(values)[:200]
    assert many.drawn(dict(list(values.items())[:200]), largest=True) == list(values)[:200]
    assert many.drawn({"none": None} | values, largest=True) == largest  # a bar that says nothing is none of them


@pytest.fixture(name="table")
def wide_table(home: dp.Workspace) -> dp.Table:
    values = [f"v {place:04}" for place in range(1_000)]
    frame = pd.DataFrame({"C": values, "few": ["a", "b"] * 500, "pay": ["50"] * 1_000})
    schema = dp.Schema({"C": dp.Category(values), "few": dp.Category(["a", "b"]), "pay": dp.Number(0, 100)})
    terms = {"schema": schema, "unit": dp.Unit.rows(), "budget": dp.Budget("50", "1e-6")}
    return home.add_table("wide", frame, **terms)


@pytest.mark.long
@pytest.mark.parametrize(
    ("kind", "key", "given"), [(Histogram, "histogram", "column"), (Mean, "mean", "by")], ids=["bars", "means"]
)
def test_a_wide_answer_works_out_its_promise_as_often_as_a_narrow_one(
    kind: type[dp.Query], key: str, given: str, table: dp.Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In its figures, in the report, and in its file."""
    calls: Counter[str] = Counter()
    promise = kind.promise
    column = {"column": "pay"} if given == "by" else {}
    asked = {name: table.ask(table.query(key, epsilon="1", **column, **{given: name})) for name in ("few", "C")}
    monkeypatch.setattr(kind, "promise", lambda self: calls.update([self.labels()[0]]) or promise(self))
    for answer in asked.values():
        answers.bars_table(answer)
        report.picture(answer)
        exports.answer_csv(answer)
    assert calls["a"] <= 2 and calls["v 0000"] <= 2
    silent = kind.mute
    monkeypatch.setattr(kind, "mute", lambda self, *given: calls.update(["asked"]) or silent(self, *given))
    exports.answer_csv(asked["C"])
    assert calls["asked"] <= 2 * len(asked["C"].value)  # once for all of it, once for each part


@pytest.mark.long
def test_the_figures_come_a_page_at_a_time_and_all_in_the_file(table: dp.Table) -> None:
    from leaks import walk

    answer = table.ask(table.query("histogram", column="C", epsilon="1"))
    app = walk.opened("ask", {"table": "wide", "answer": answer.request_id})
    assert "may be zero" in html_of(app) and "The 200 largest of 1,002" not in html_of(app)
    app.toggle(key="none-answer").set_value(True).run()
    assert "The 200 largest of 1,002" in html_of(app)
    assert "v 0199</td>" in html_of(app) and "v 0200</td>" not in html_of(app)
    app.number_input("page-answer").set_value(2).run()
    assert "v 0200</td>" in html_of(app) and "v 0199</td>" not in html_of(app)
    written = exports.answer_csv(answer)
    assert len(list(csv.reader(io.StringIO(written, newline="")))) == 1_003
    told = report.html(table, (1, "0" * 64), "2026-01-02T03:04:05+00:00")
    assert "the first 200 of 1,002" in told and len(told) < 200_000
