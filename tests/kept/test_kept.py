"""The workspaces of 1.0, kept as that version left them, open with this one: every answer, session, receipt, published
file, seal, declaration and link. And what this version writes still has the shape that docs/formats states.

make.py made them. Until 1.0 is released they may be made anew (docs/formats.md says how); from then on never."""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
from helpers_page import html_of, open_page
from helpers_page import plain as read
from streamlit.testing.v1 import AppTest

import dpengine as dp
from dpengine.asking.answers import RECEIPT
from dpengine.commands import head, move, verify
from dpengine.ledger.people_rules import KINDS
from dpengine.ledger.rows import ACTS, OUTCOMES, STEP_OUTCOMES
from dpengine.workspace import Workspace
from tests.kept import formats, links, make
from ui.shell import workshop_state

KEPT = Path(__file__).resolve().parent
NEWEST = "1.0"
UNITS_AND_RELATIONS = ["rows replace", "rows add_remove", "several replace", "several add_remove"]
CLOSED = {"sealed": "seal", "forgotten": "forget", "people": "joined"}
IN_LINK = ("answer", "published", "made", "trained", "session")
NAMING = {*IN_LINK, "look", "run", "q"}
FIRST = {"count", "median"}  # questions that may stand in an empty form
EVERY_ROW = {"budget", "charge", *OUTCOMES, *ACTS, "recovered", "step", *STEP_OUTCOMES, "ended", "list", *KINDS}


@contextmanager
def unpacked(version: str) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as scratch, tarfile.open(KEPT / f"{version}.tar.xz") as packed:
        packed.extractall(scratch, filter="data")
        yield Path(scratch)


@dataclass(frozen=True)
class Kept:
    scratch: Path
    home: Workspace
    expected: dict[str, Any]

    @property
    def folder(self) -> Path:
        return self.scratch / "own"

    def answer(self, request: str) -> dp.Answer:
        entry = self.home.ledger.find(request)
        assert entry is not None
        answer = self.home.answer_of(entry)
        assert answer is not None
        return answer


@pytest.fixture(scope="module", name="kept")
def kept_workspace() -> Iterator[Kept]:
    with unpacked(NEWEST) as scratch:
        home = dp.open_workspace(scratch / "own")
        yield Kept(scratch, home, json.loads((scratch / "expected.json").read_text(encoding="utf-8")))
        home.close()


def test_every_kind_of_question_and_of_row_is_kept(kept: Kept) -> None:
    assert {answer["key"] for answer in kept.expected["answers"].values()} == set(dp.catalogue)
    assert set(json.loads((formats.FOLDER / "rows.json").read_text(encoding="utf-8"))) == EVERY_ROW


def test_the_formats_are_as_they_were_written_down(kept: Kept) -> None:
    """For ever: a reader of another program relies on them. docs/formats.md says what may be added, and how."""
    for name, text in formats.texts(kept.scratch).items():
        assert (formats.FOLDER / name).read_text(encoding="utf-8") == text, name


def test_what_is_written_now_has_the_same_shape(tmp_path: Path) -> None:
    frozen = {
        name: json.loads((formats.FOLDER / f"{name}.json").read_text(encoding="utf-8"))
        for name in ("rows", "receipt", "declaration", "model")
    }
    home = dp.open_workspace(tmp_path / "own")
    try:
        table = make.add(home, "rows replace", 1)
        make.sessions(home, table)
        make.to_download(table)
        make.owner(home)
        make.joined(home)
        receipts = [answer.receipt for answer in (home.answer_of(entry) for entry in home.ledger.charges()) if answer]
        assert len(receipts) >= 15 and {receipt["receipt"] for receipt in receipts} == {RECEIPT}
        assert not [why for receipt in receipts if (why := formats.misfit(frozen["receipt"]["answer"], receipt))]
        steps = [one.receipt for one in table.session("half way").look()[2]]
        assert steps and not [why for step in steps if (why := formats.misfit(frozen["receipt"]["step"], step))]
        assert not formats.misfit(frozen["declaration"], table.declaration().as_json())
        for model in (models := make.models(home)).values():
            assert not formats.misfit(
                frozen["model"]["trained" if "coefficients" in model else "of a first look"], model
            )
        assert len(models) >= 2
        path = home.ledger.path
    finally:
        home.close()
    make.fill_served(tmp_path / "served")
    rows = [*formats.rows_of(path), *formats.rows_of(tmp_path / "served" / "var" / "ledger.sqlite")]
    assert {kind for kind, _ in rows} == EVERY_ROW
    assert not [why for kind, row in rows if (why := formats.misfit(frozen["rows"][kind], row, kind))]


def test_a_moved_workspace_and_a_file_of_heads_have_the_form_that_is_stated(tmp_path: Path) -> None:
    """docs/formats.md states both in words."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "ledger.sqlite").write_bytes(b"rows")
    move._pack(tmp_path / "folder", tmp_path / "moved", (7, "ab"))
    with zipfile.ZipFile(tmp_path / "moved") as packed:
        assert packed.namelist() == ["ledger.sqlite", "allowance.json"]
        listed = {"head": "ab", "files": {"ledger.sqlite": hashlib.sha256(b"rows").hexdigest()}}
        assert json.loads(packed.read("allowance.json")) == listed
    digest = "0f" * 32
    (tmp_path / "heads").write_text(f"2026-11-19T09:00:00+00:00 7 {digest}\n", encoding="ascii")
    assert head.read(tmp_path / "heads") == [(7, digest)]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00 7 " + digest, head.line_of(7, digest))


def test_settings_and_drafts_are_those_that_are_stated(tmp_path: Path) -> None:
    told, root = (formats.FOLDER.parent / "formats.md").read_text(encoding="utf-8"), KEPT.parents[1]
    files = [
        root / "app.py",
        *(file for room in ("allowance", "dpengine", "ui") for file in root.glob(f"{room}/**/*.py")),
    ]
    named = {name for file in files for name in re.findall(r'"(ALLOWANCE_\w+)"', file.read_text(encoding="utf-8"))}
    ours = {workshop_state.CODE, workshop_state.ADDRESS}  # from our own command to the app that it starts
    assert named - ours == set(re.findall(r"`(ALLOWANCE_\w+)`", told))
    with closing(dp.open_workspace(tmp_path)) as home:
        table = make.add(home, "small", 1, schema=make.SMALL)
        table.keep_draft("mean", {"column": "x"})
        table.keep_plan("[]", 5)
        assert home.draft_of("small", table.actor) == {"key": "mean", "given": {"column": "x"}, "plan": "[]", "keep": 5}
    assert all(f"`{name}`" in told for name in ("drafts", "key", "given", "plan", "keep"))


@pytest.mark.long
def test_the_commands_that_make_all_this_start_from_the_root() -> None:
    """With nothing of the tests on the path."""
    code = "import tests.kept.make, tests.kept.formats"
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    subprocess.run([sys.executable, "-c", code], cwd=KEPT.parents[1], env=clean, check=True)


def test_a_changed_shape_is_seen() -> None:
    shape = formats.one_shape([{"a": 1, "b": {"c": [1, "x"]}}, {"a": 2}])
    assert shape == {"a": "integer", "b?": {"c": ["integer | string"]}}
    fine = {"a": 3, "b": {"c": ["y"]}}
    assert formats.misfit(shape, fine) == ""
    for wrong in (
        {},
        {"a": "1"},
        {"a": 1, "more": 2},
        {"a": 1, "b": {"c": [None]}},
        {"a": 1, "b": {}},
        {"a": 1, "b": 3},
    ):
        assert formats.misfit(shape, wrong), wrong


def test_the_chain_is_whole_and_every_receipt_holds(
    kept: Kept, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert kept.home.verify_ledger().ok
    receipts = [answer["receipt"] for answer in kept.expected["answers"].values()]
    steps = [step for steps in kept.expected["steps"].values() for step in steps if step["state"] == "done"]
    receipts += [step["receipt"] for step in steps]
    lines = tmp_path / "receipts.jsonl"
    lines.write_text("".join(json.dumps(receipt) + "\n" for receipt in receipts), encoding="utf-8")
    assert verify.main([str(lines), str(kept.folder / "ledger.sqlite")]) == 0
    said = capsys.readouterr().out.splitlines()
    assert len(said) == len(receipts) and not [line for line in said if "not recomputed" in line]


def test_the_served_workspace_opens_and_its_chain_is_whole(kept: Kept, tmp_path: Path) -> None:
    shutil.copytree(kept.scratch / "served" / "var", tmp_path / "var")
    home = dp.open_workspace(tmp_path / "var")
    try:
        assert home.verify_ledger().ok and home.ledger.served
        assert len(home.people()) == 7 and home.ledger.find("of a grant") is not None
    finally:
        home.close()


def test_every_answer_is_read_as_it_was_given(kept: Kept) -> None:
    for request, before in kept.expected["answers"].items():
        now = kept.answer(request)
        given = make.plain([now.value, now.interval, now.population, now.receipt])
        assert given == [before["value"], before["interval"], before["population"], before["receipt"]], request
        assert now.query.card.key == before["key"] and now.query.sentence() and now.promise.amount >= 0


def test_a_question_asked_then_is_the_same_question_now(kept: Kept) -> None:
    """Its digest, by which an answer already paid for is found."""
    for name in UNITS_AND_RELATIONS:
        table = kept.home.table(name)
        for request, before in kept.expected["answers"].items():
            claim = before["receipt"]["claim"]
            if before["table"] == name:
                query = table.query(claim["key"], **claim["parameters"])
                assert query.digest() == claim["digest"] and table.last_asked(query) is not None, request


def test_meters_stand_where_they_stood(kept: Kept) -> None:
    for name, (spent, charges) in kept.expected["meters"].items():
        meter = kept.home.table(name).meter()
        killed = name == "raised"  # one more, whose program was killed before it was written down here
        assert meter.charges == charges + killed
        assert killed or str(meter.spent_epsilon) == spent
    assert kept.home.closed() == kept.expected["closed"] == CLOSED
    assert kept.home.job("failed").state == "failed" and kept.home.job("killed").state == "interrupted"


def test_a_declaration_is_read_and_written_the_same(kept: Kept) -> None:
    for name, before in kept.expected["declarations"].items():
        again = dp.Declaration.read(json.dumps(before))
        assert make.plain(again.as_json()) == before
        assert make.plain(kept.home.table(name).declaration().as_json()) == before


def test_published_synthetic_and_trained_are_read(kept: Kept) -> None:
    table = kept.home.table("rows replace")
    publications, syntheses = table.publications(), table.syntheses()
    assert publications and syntheses and table.trainings()
    for answer in publications:
        assert table.published(answer).table().num_rows == answer.value["rows"] == make.PEOPLE
    for answer in syntheses:
        assert table.synthetic(answer).table().num_rows == table.synthetic(answer).rows


def alike(now: Any, before: Any) -> bool:
    """The same, with floats up to a billionth: a model is fitted in floats, whose last digits differ between
    processors."""
    if isinstance(now, dict) and isinstance(before, dict):
        return now.keys() == before.keys() and all(alike(now[name], before[name]) for name in now)
    if isinstance(now, list) and isinstance(before, list):
        return len(now) == len(before) and all(map(alike, now, before))
    if isinstance(now, float) and isinstance(before, float):
        return math.isclose(now, before, rel_tol=1e-9, abs_tol=1e-12)
    return type(now) is type(before) and now == before


def test_downloaded_models_are_written_the_same_and_can_still_be_checked(kept: Kept) -> None:
    before, table = kept.expected["models"], kept.home.table("rows replace")
    assert alike(make.models(kept.home), before)
    trained = {answer.request_id: answer for answer in table.trainings(-1)}
    assert len(trained) >= 9 and len(before) > len(trained)
    for request in trained:
        assert table.query("check_model", model=before[request]["model"], epsilon="0.1").card.key == "check_model"


def test_work_goes_on_where_it_was(tmp_path: Path) -> None:
    """On a copy: open tables take questions, closed ones refuse, a session goes on, a table is declared anew."""
    with unpacked(NEWEST) as scratch:
        home = dp.open_workspace(scratch / "own")
        try:
            for name in ("sealed", "forgotten"):
                table = home.table(name)
                with pytest.raises(dp.AllowanceError):
                    table.ask(table.query("count", where=[["x", ">", 1]], epsilon="0.1"))
            for name in (*UNITS_AND_RELATIONS, "declared anew", "second name", "protected"):
                table = home.table(name)
                assert table.ask(table.query("count", where=[["x", ">", 2]], epsilon="0.01")).value is not None
            half_way = home.table("rows replace").session("half way")
            assert half_way.ask({"share": [["c", "in", ["b"]]]}, "fourth").index == 4
            with pytest.raises(dp.AllowanceError):
                home.table("rows replace").session("ended early").ask({"average": "z"}, "late")
            before = home.table("raised")
            again = before.revise(dp.Schema({"x": dp.Number(0, 8), "c": dp.Category(["a", "b", "z"])}))
            assert again.budget.id == before.budget.id and home.verify_ledger().ok
        finally:
            home.close()


# --- links ------------------------------------------------------------------------------------------------------------


@pytest.fixture
def shown(kept: Kept, monkeypatch: pytest.MonkeyPatch) -> Kept:
    monkeypatch.setenv("ALLOWANCE_HOME", str(kept.folder))
    monkeypatch.setattr("ui.shell.state.visitor", lambda: "local")
    monkeypatch.setattr("ui.parts.fields.WHEN_OPENED", False)
    return kept


def drawn(page: AppTest) -> tuple[str, list[object]]:
    """What a page says, and what its pickers hold."""
    return html_of(page), [picker.value for picker in page.selectbox]


def check_link(shown: Kept, link: str) -> None:
    """It shows the answer it named, or is about its table; and another name shows something else. That one comes first,
    since a question that was opened is offered again."""
    parts = urlsplit(link)
    address = dict(parse_qsl(parts.query))
    names = {name for name, value in address.items() if value not in FIRST}
    others = [drawn(open_page(parts.path, **address | {name: "-"})) for name in sorted(NAMING & names)]
    page = open_page(parts.path, **address)
    seen = read(html_of(page))
    assert drawn(page) not in others, link
    request = next((address[name] for name in IN_LINK if name in address), None)
    if request in shown.expected["answers"] and "session" not in address:
        assert shown.answer(request).query.sentence().split(",")[0][:40] in seen, link
    else:
        assert address["table"] in seen, link


def one_of_each(links: list[str]) -> list[str]:
    """The first link to each kind of page and question."""
    first: dict[str, str] = {}
    for link in links:
        parts = urlsplit(link)
        address = dict(parse_qsl(parts.query))
        request = next((address[name] for name in IN_LINK if name in address), address.get("q", ""))
        first.setdefault(parts.path + re.sub(r"\d+", "", request), link)
    return list(first.values())


def test_every_parameter_that_a_page_reads_is_written_down() -> None:
    """A new one goes into `links.READ`, docs/formats.md and, by `python -m tests.kept.formats`, into links.json."""
    assert links.read_in_all() == {
        file: set().union(*map(links.listed, pages.values())) for file, pages in links.READ.items()
    }
    told = (formats.FOLDER.parent / "formats.md").read_text(encoding="utf-8")
    for pages in links.READ.values():
        for page, names in pages.items():
            (line,) = (line for line in told.splitlines() if line.startswith(f"| {page} |"))
            assert not [name for name in links.listed(names, of=True) if f"`{name}`" not in line], page


def test_a_parameter_that_is_read_in_any_way_is_seen(tmp_path: Path) -> None:
    code = """
import streamlit as st
one, two, gone = st.query_params.get("a"), st.query_params["b"], st.query_params.pop("c", "")
three = "d" in st.query_params and any(name in st.query_params for name in "ef")
st.query_params["g"] = picked("h", [], str, "")
st.pagination(3, key="i", bind="query-params")
"""
    (tmp_path / "page.py").write_text(code, encoding="utf-8")
    assert links.read_by(tmp_path / "page.py") == {*"abcdghi", "{name}"}
    (tmp_path / "page.py").write_text("given = dict(st.query_params)\n", encoding="utf-8")
    assert links.read_by(tmp_path / "page.py") == {"{all}"}


def test_links_open(shown: Kept) -> None:
    """One to each page and for each thing that a link names; every kind of question in a long test."""
    by_page: dict[str, str] = {}
    for link in [*shown.expected["links"]["rows replace"], *shown.expected["links"]["forms"]]:
        address = dict(parse_qsl(urlsplit(link).query))
        if address.get("q") not in FIRST:
            by_page.setdefault(f"{urlsplit(link).path} {sorted(NAMING & address.keys())}", link)
    named = {name for link in by_page.values() for name, _ in parse_qsl(urlsplit(link).query)}
    assert len(by_page) >= 10 and named >= NAMING
    for link in by_page.values():
        check_link(shown, link)


@pytest.mark.long
@pytest.mark.parametrize("name", ["rows replace", "several add_remove", "forms"])
def test_a_link_to_each_kind_of_question_opens(shown: Kept, name: str) -> None:
    for link in one_of_each(shown.expected["links"][name]):
        check_link(shown, link)
