"""A bench that did not do what it times fails, with a sentence; and each builds the questions that it asks."""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from helpers_page import open_page

import dpengine as dp
from bench import __main__ as everything
from bench import large, marginals, measure, pages, people, whatif, words, workshop
from bench.tasks import CONTENDERS, TASKS
from dpengine.messages import say


@pytest.mark.long
def test_an_office_in_which_nobody_asked_is_not_met(tmp_path: Path) -> None:
    """It once said “met” of 0 questions."""
    workspace = dp.open_workspace(tmp_path)
    for place in range(people.TABLES):
        schema, budget = dp.Schema({"x": dp.Number(0, 9)}), dp.Budget("1", "1e-6")
        rows = pd.DataFrame({"x": [place, 1]})
        workspace.add_table(f"office{place}", rows, schema=schema, unit=dp.Unit.rows(), budget=budget)
    office = people.Office(str(tmp_path), 0)
    for step in people.STEPS:
        office.times[step] += [0.01] * 5
    given = argparse.Namespace(people=2, seconds=1.0, think=1.0, leave=0.0)
    for good in (False, True):
        if good:
            table = workspace.table("office0")
            requests = [f"r{place}" for place in range(5)]
            for request in requests:
                table.ask(table.query("mean", column="x", epsilon="0.01"), request)
            office.seen = dict.fromkeys(requests, people._ANSWER)
        told, met = people._report(office, given, ("",) * 5, 0.1, 0)
        found, whole = people.checked(office)
        assert met == whole == good
        assert ("nothing was asked" in told and "NOBODY GOT AN ANSWER" in found) == (not good)


def test_a_class_that_got_no_answers_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    @contextmanager
    def served(code: str) -> Iterator[tuple[str, int]]:
        yield "", 0

    times = defaultdict(list, {step: [0.1, 0.1] for step in workshop.STEPS})
    dots = 1

    async def nobody(*_: Any) -> tuple[Any, int, float]:
        return times, dots, 0.0

    monkeypatch.setattr(workshop, "_served", served)
    monkeypatch.setattr(workshop, "_class", nobody)
    monkeypatch.setattr(workshop, "worked", lambda _: 0.0)
    monkeypatch.setattr("sys.argv", ["bench.workshop", "--visitors", "2", "--settle", "0"])
    with pytest.raises(SystemExit, match="2 visitors asked and 1 answers came"):
        workshop.main()
    dots = 2
    assert workshop.main() == 0
    times[workshop.STEPS[-1]] = []
    with pytest.raises(SystemExit, match="never taken"):
        workshop.main()


@pytest.mark.long
@pytest.mark.usefixtures("home")
def test_a_page_that_could_not_be_drawn_is_not_timed() -> None:
    app = open_page("thesis")
    assert measure.drawn(app, "thesis")
    pages._open(app, "thesis")
    failed = SimpleNamespace(proto=SimpleNamespace(body=f'<p class="meter">{say("page.failed")}</p>'))
    broken: Any = SimpleNamespace(exception=None, get=lambda kind: [failed])
    with pytest.raises(SystemExit, match="could not be drawn"):
        measure.drawn(broken, "thesis")


def test_a_first_look_can_be_built_for_both_relations() -> None:
    for relation in (marginals.ADD_REMOVE, marginals.REPLACE):
        assert set(marginals.question(relation).sets) == set(marginals.PARTS)


def test_what_of_ours_was_not_measured_is_named() -> None:
    fine = {"tasks": {task: {"median": 1.0} for task in TASKS}}
    results: dict[str, Any] = {
        "times": {key: {"100000": fine} for key in CONTENDERS},
        "publishing": {"ours": {"rows": 1}},
        "page": {},
    }
    assert everything.unmeasured(results) == []
    results["times"]["diffprivlib_peer"] = {"100000": {"failed": everything.NO_PEERS}}
    results["times"]["opendp_context"] = {"100000": {"tasks": {"mean": {"failed": f"{everything.NOT_RUN} (12 s)"}}}}
    assert everything.unmeasured(results) == [], "others need not be installed, and need not take for ever"
    results["times"]["ours"] = {"100000": {"tasks": fine["tasks"] | {"mean": {"failed": "KeyError: x"}}}}
    results["page"] = {"failed": "there is no chromium in PATH"}
    assert everything.unmeasured(results) == ["Allowance at 100,000 rows", "the Start page"]
    results["times"]["ours"] = {"100000": {"tasks": {}}}
    assert "Allowance at 100,000 rows" in everything.unmeasured(results)


@pytest.mark.usefixtures("home")
def test_a_slider_that_changes_nothing_is_not_timed() -> None:
    app = open_page("whatif", **{"from": "typed", "q": "count"})
    assert 0 < whatif.moved(app, "e2", "0.2") < 10
    with pytest.raises(SystemExit, match="what it showed before"):
        whatif.moved(app, "e2", "0.2")


def test_pages_that_nobody_opened_are_no_result() -> None:
    seen = {pages.EMPTY: 0.1, "ask": 0.12}
    slow = seen | {"ask": 0.2}
    for given, wanted in (
        ((slow, seen, slow, {"ask": [0.5]}), ""),
        ((seen, slow, seen, {"ask": [0.5]}), "more than 1.5 times"),
        ((seen, seen, seen, {"ask": [0.5, 2.5]}), "more than 2 s"),
    ):
        lines, bad = pages.report(*given)
        assert bad == bool(wanted) and lines["ask"].endswith(f" | {wanted} |")
    empty = {pages.EMPTY: 0.1}
    for broken in ((seen, {}, {}), (seen, seen, empty)):
        with pytest.raises(SystemExit):
            pages.report(*broken, {"ask": [0.5]})
    for work, four in (({}, {}), (empty, {}), (seen, {}), (seen, {"ask": []})):
        with pytest.raises(SystemExit):
            pages.report(work, work, work, four)


def test_words_that_nobody_read_are_no_result(capsys: pytest.CaptureFixture[str]) -> None:
    read = [words.Screen(name, "two words", "and two more") for name in words.SCREENS]
    assert words.told({"en": read, "sl": read}) == 0 and " 14" in capsys.readouterr().out  # four screens, 3½ words each
    for sl in ([], read[:-1], [*read[:-1], words.Screen("done", "", "")]):
        with pytest.raises(SystemExit, match="not gone to its end"):
            words.told({"en": read, "sl": sl})
    long = [*read[:-1], words.Screen("done", "word " * words.GOAL, "")]
    assert words.told({"en": read, "sl": long}) == 1


def test_large_tables_name_every_target_that_is_missed() -> None:
    fast = {"ours": 0.01, "plain": 0.1, "ratio": 0.1, "first": 0.02, "larger": 0.01, "smaller": 0.01}
    intake = {"parquet": 1.0, "DuckDB's copy as text": 1.0, "csv": 1.0, "DuckDB's csv to parquet": 1.0}
    one: dict[str, Any] = {"rows": 10, "columns": 3, "everyone": dict.fromkeys(large.KINDS, fast)}
    one |= {name: {"mean": fast} for name in large.CONDITIONS}
    quick, long = {"fixed": 1.0, "draw": 30.0}, {"fixed": 9.0, "draw": 1.0}
    one |= {"milliseconds of the processor": dict.fromkeys(large.KINDS, quick)}
    one |= {"intake": intake | {"parquet ratio": 1.0, "csv ratio": 1.0}}
    ten = {"rows": 100, "columns": 2, "everyone": dict.fromkeys(large.KINDS, fast), "intake": intake}
    big = {"bytes": 2 * 10**9, "load": 50.0, "before_mb": 100.0, "peak_mb": 200.0}
    told = {"mean, everyone": {"one": 0.01, "other": 0.01, "chance": 0.5}}
    met = large.verdicts(one, ten, big, told)
    assert all(line.endswith("| yes |") for line in met)
    slow = {"ours": 0.2, "plain": 0.1, "ratio": 2.0, "first": 0.2, "larger": 0.2, "smaller": 0.1}
    missed = large.verdicts(
        one
        | {"everyone": one["everyone"] | {"mean": slow}, "intake": one["intake"] | {"csv ratio": 3.5}}
        | {name: {"mean": slow} for name in large.CONDITIONS}
        | {"milliseconds of the processor": one["milliseconds of the processor"] | {"mean": long}},
        ten | {"everyone": ten["everyone"] | {"median": slow}},
        big | {"load": 61.0},
        {"mean, everyone": {"one": 0.01, "other": 0.02, "chance": 1e-9}},
    )
    kept = [line for line in missed if line.endswith("| yes |")]
    assert len(missed) == len(met) and kept == [line for line in met if "parquet" in line]
    assert "mean: 2.00 ×" in missed[0] and "500 MB" in large.page(one, ten, big, told)


def test_times_that_differ_are_told_apart_and_like_ones_are_not() -> None:
    """A false alarm has a chance of 10⁻⁶; a shift of one deviation in 200 turns is missed with less than that."""
    random = np.random.default_rng()
    one, other = random.normal(0, 1, 200), random.normal(0, 1, 200)
    assert large.compared(one, other)["chance"] > 1e-6
    assert large.compared(one, other + 1.2)["chance"] < 1e-6
