"""Workspaces that earlier versions made, kept as they left them, open with this one: every answer, session, receipt,
published file, seal and link. `make.py` made them; an archive is never made anew, or it would prove nothing."""

from __future__ import annotations

import json
import re
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
from helpers_page import html_of, open_page, plain

import dpengine as dp
from dpengine.commands import verify
from dpengine.workspace import Workspace
from ui.answers.answers import PER_PAGE as CARDS
from ui.ledger.ledger_view import PER_PAGE

KEPT = Path(__file__).resolve().parent
BEFORE_THE_ROOMS, BEFORE_SELF_DESCRIBING = "c41361a", "21607a7"
UNITS_AND_RELATIONS = ["rows replace", "rows add_remove", "several replace", "several add_remove"]
UNDER_OTHER_TABLES = ["declared anew", "first name", "forgotten", "raised", "sealed", "second name"]
ANSWER_IN_LINK = ("answer", "published", "made", "trained", "session")


@dataclass(frozen=True)
class Kept:
    folder: Path
    home: Workspace
    expected: dict[str, Any]

    def answer(self, request: str) -> dp.Answer:
        entry = self.home.ledger.find(request)
        assert entry is not None
        answer = self.home.answer_of(entry)
        assert answer is not None
        return answer


def unpack(commit: str, scratch: Path) -> Kept:
    with tarfile.open(KEPT / f"{commit}.tar.xz") as packed:
        packed.extractall(scratch, filter="data")
    folder = scratch / "workspace"
    return Kept(folder, dp.open_workspace(folder), json.loads((scratch / "expected.json").read_text()))


@pytest.fixture(scope="module", params=[BEFORE_THE_ROOMS, BEFORE_SELF_DESCRIBING])
def kept(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kept]:
    opened = unpack(request.param, tmp_path_factory.mktemp(request.param))
    yield opened
    opened.home.close()


def test_every_kind_of_question_is_kept(kept: Kept) -> None:
    keys = {answer["key"] for answer in kept.expected["answers"].values()}
    assert len(keys) == 29 and keys <= set(dp.catalogue)
    assert {record.name for record in kept.home.tables()} == {*UNITS_AND_RELATIONS, *UNDER_OTHER_TABLES}


def test_the_chain_is_whole_and_every_receipt_holds(
    kept: Kept, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert kept.home.verify_ledger().ok
    receipts = [answer["receipt"] for answer in kept.expected["answers"].values()]
    receipts += [step["receipt"] for steps in kept.expected["steps"].values() for step in steps]
    lines = tmp_path / "receipts.jsonl"
    lines.write_text("".join(json.dumps(receipt) + "\n" for receipt in receipts))
    assert verify.main([str(lines), str(kept.folder / "ledger.sqlite")]) == 0
    assert len(capsys.readouterr().out.splitlines()) == len(receipts)


def test_every_answer_is_read_as_it_was_given(kept: Kept) -> None:
    for request, before in kept.expected["answers"].items():
        now = kept.answer(request)
        told = json.loads(json.dumps([now.value, now.interval]))
        if now.told_anew:  # better, from the same noisy counts: every cell, and narrower where it is known less well
            widths = [sum(high - low for low, high in one.values()) for one in (told[1], before["interval"])]
            assert told[1].keys() == before["interval"].keys() and widths[0] <= widths[1], request
        else:
            assert told == [before["value"], before["interval"]], request
        assert json.loads(json.dumps(now.receipt)) == before["receipt"], request
        assert now.query.card.key == before["key"] and now.query.sentence() and now.promise.amount >= 0


def test_a_question_asked_then_is_the_same_question_now(kept: Kept) -> None:
    """Its digest, by which an answer already paid for is found, and the loss that was charged."""
    for name in UNITS_AND_RELATIONS:
        table = kept.home.table(name)
        for request, before in kept.expected["answers"].items():
            claim = before["receipt"]["claim"]
            if before["table"] == name:
                query = table.query(claim["key"], **claim["parameters"])
                assert query.digest() == claim["digest"], request
                assert table.last_asked(query) is not None
                assert request in {answer.request_id for answer in table.recall(query)} or "session" in claim["key"]


def test_meters_stand_where_they_stood(kept: Kept) -> None:
    for name, (spent, charges) in kept.expected["meters"].items():
        meter = kept.home.table(name).meter()
        killed = name == "raised"  # one more, whose program was killed before it was written down here
        assert meter.charges == charges + killed
        assert killed or str(meter.spent_epsilon) == spent
    assert kept.home.closed() == kept.expected["closed"] == {"sealed": "seal", "forgotten": "forget"}


def test_what_was_lost_is_told_as_lost(kept: Kept) -> None:
    assert kept.home.job("failed").state == "failed"
    assert kept.home.job("killed").state == "interrupted"


def test_closed_tables_take_no_question_and_open_ones_do(kept: Kept) -> None:
    for name in ("sealed", "forgotten"):
        table = kept.home.table(name)
        with pytest.raises(dp.AllowanceError):
            table.ask(table.query("count", where=[["x", ">", 1]], epsilon="0.1"))
    for name in [*UNITS_AND_RELATIONS, "declared anew", "second name"]:
        table = kept.home.table(name)
        assert table.ask(table.query("count", where=[["x", ">", 2]], epsilon="0.01")).value is not None


def test_a_session_goes_on_where_it_was(kept: Kept) -> None:
    table = kept.home.table("rows replace")
    for request, steps in kept.expected["steps"].items():
        _, ended, taken = table.session(request).look()
        read = [{"id": one.step, "state": one.state, "value": one.value, "receipt": one.receipt} for one in taken]
        assert json.loads(json.dumps(read[: len(steps)])) == steps and ended == (request == "ended early")
    halfway = table.session("half way")
    assert halfway.ask({"average": "x"}, "third").index == 3
    assert halfway.look()[0].asked == 3
    with pytest.raises(dp.AllowanceError):
        table.session("ended early").ask({"average": "x"}, "late")


def test_a_plan_is_found_again(kept: Kept) -> None:
    assert [state for _, state in kept.home.table("rows replace").run("a plan").rows] == ["done", "done"]


def test_published_synthetic_and_trained_are_read(kept: Kept) -> None:
    table = kept.home.table("rows replace")
    publications = table.publications()
    assert len(publications) == 6 and len(table.syntheses()) == 4 and len(table.trainings()) == 7
    for answer in publications:
        assert table.published(answer).table().num_rows == answer.value["rows"] == 60
    for answer in table.syntheses():
        assert table.synthetic(answer).table().num_rows == table.synthetic(answer).rows
    assert table.looks(table.query("count", where=[["c", "in", ["a"]]], epsilon="0.2"))


def test_it_can_be_declared_anew_and_brought_again(kept: Kept) -> None:
    table = kept.home.table("raised")
    again = table.revise(dp.Schema({"x": dp.Number(0, 8), "c": dp.Category(["a", "b", "z"])}))
    assert again.budget.id == table.budget.id
    assert kept.answer("raised count").value == kept.expected["answers"]["raised count"]["value"]


# --- the pages --------------------------------------------------------------------------------------------------------


older_alone = pytest.mark.parametrize("kept", [BEFORE_THE_ROOMS], indirect=True)


@pytest.fixture
def shown(kept: Kept, monkeypatch: pytest.MonkeyPatch) -> Kept:
    monkeypatch.setenv("ALLOWANCE_HOME", str(kept.folder))
    monkeypatch.setattr("ui.shell.state.visitor", lambda: "local")
    return kept


@older_alone
@pytest.mark.parametrize("name", [*UNITS_AND_RELATIONS, *UNDER_OTHER_TABLES])
def test_the_ledger_lists_every_old_answer(shown: Kept, name: str) -> None:
    charges = shown.home.table(name).meter().charges
    pages = [open_page("ledger", table=name, page=str(1 + page)) for page in range(-(-charges // PER_PAGE))]
    told = "\n".join(html_of(page) for page in pages)
    hashes = [one["receipt"]["charge"]["hash"] for one in shown.expected["answers"].values() if one["table"] == name]
    assert hashes and all(f"<code>{hashed[:8]}</code>" in told for hashed in hashes)
    links = [unescape(link) for link in re.findall(r'href="([a-z]+\?[^"]+)"', told)]
    assert {link for link in shown.expected["links"][name] if not link.startswith("plan")} <= set(links)


@older_alone
def test_the_answers_page_shows_every_old_answer(shown: Kept, name: str = "rows replace") -> None:
    charges = shown.home.table(name).meter().charges
    pages = [open_page("answers", table=name, page=str(1 + page)) for page in range(-(-charges // CARDS))]
    told = "\n".join(html_of(page) for page in pages)
    hashes = [one["receipt"]["charge"]["hash"] for one in shown.expected["answers"].values() if one["table"] == name]
    assert hashes and all(f"<code>{hashed[:8]}</code>" in told for hashed in hashes)


def opened(link: str) -> tuple[dict[str, str], str]:
    """What a link shows, and where it points to."""
    parts = urlsplit(link)
    address = dict(parse_qsl(parts.query))
    return address, plain(html_of(open_page(parts.path, **address)))


def check_link(shown: Kept, link: str) -> None:
    address, told = opened(link)
    request = next((address[name] for name in ANSWER_IN_LINK if name in address), None)
    if request in shown.expected["answers"] and "session" not in address:
        assert shown.expected["answers"][request]["receipt"]["charge"]["hash"][:8] in told, link
    else:
        assert address["table"] in told, link


def one_of_each(links: list[str]) -> list[str]:
    """The first link to each kind of question."""
    first: dict[str, str] = {}
    for link in links:
        address = dict(parse_qsl(urlsplit(link).query))
        request = next((address[name] for name in ANSWER_IN_LINK if name in address), link)
        first.setdefault(re.sub(r"\d+", "", request), link)
    return list(first.values())


@older_alone
def test_a_link_to_an_answer_of_each_kind_shows_it(shown: Kept) -> None:
    for link in one_of_each(shown.expected["links"]["rows replace"]):
        check_link(shown, link)


@older_alone
@pytest.mark.long
@pytest.mark.parametrize("name", [*UNITS_AND_RELATIONS, *UNDER_OTHER_TABLES, "forms"])
def test_every_link_shows_what_it_pointed_to(shown: Kept, name: str) -> None:
    for link in shown.expected["links"][name]:
        check_link(shown, link)
