"""The door for programs: the verbs of the Python face over HTTP, each by a token, with exact numbers as texts."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from helpers_door import COUNT, AtDoor, at_door

import dpengine as dp
from dpengine.asking.receipts import check
from dpengine.messages import say
from dpengine.people.limiter import RATES, Limiter
from tests.helpers_people import MINE, OTHER
from ui.api.app import ApiApp
from ui.api.http import MOST_BYTES
from ui.api.verbs import MOST_WAIT


@pytest.fixture
def door(tmp_path: Path) -> Iterator[AtDoor]:
    with at_door(tmp_path) as found:
        yield found


def test_a_program_asks_like_a_person(door: AtDoor) -> None:
    token = door.token(tables=(MINE,))
    assert {one["key"] for one in door.ask("catalogue", token).body["questions"]} == set(dp.catalogue)
    assert [one["name"] for one in door.ask("tables", token).body["tables"]] == [MINE]
    described = door.ask(f"table/{MINE}", token).body
    assert set(described["columns"]) == {"x", "town"} and described["people"] == 40
    seen = door.ask("preview", token, COUNT).body
    assert seen["admissible"] is True and 0 < Fraction(seen["share"]) < 1 and seen["promise"]["kind"]
    assert door.charges() == 0
    asked = door.ask("ask", token, COUNT | {"request": "one"})
    assert asked.status == 200 and asked.body["state"] == "done"
    answer = asked.body["answer"]
    assert isinstance(answer["value"], int) and len(answer["interval"]) == 2 and answer["table"] == MINE
    [finding] = check([answer["receipt"]], here_rows(door))
    assert finding.ok, finding.sentence
    assert answer["receipt"]["actor"] == door.here.person("analyst")
    meters = door.ask(f"meter/{MINE}", token).body
    assert meters["table"]["charges"] == 1 and Fraction(meters["table"]["used"]) == Fraction(seen["share"])
    assert Fraction(meters["yours"]["used"]) == 2 * Fraction(seen["own_share"])  # of half the allowance
    assert door.ask("recall", token, COUNT).body["answers"] == [answer]
    assert door.ask("job/one", token).body["answer"] == answer


def here_rows(door: AtDoor) -> Any:
    return door.here.workspace.ledger.export_rows()


def test_a_request_is_asked_once(door: AtDoor) -> None:
    token, wanted = door.token(), COUNT | {"request": "one"}
    first, again = (door.ask("ask", token, wanted).body for _ in range(2))
    assert first == again and door.charges() == 1
    other = door.ask("ask", token, wanted | {"parameters": {"epsilon": "0.2", "where": [["town", "in", ["a"]]]}})
    assert (other.status, other.code) == (409, "request.reused") and door.charges() == 1
    assert door.ask("job/one", token).body["answer"] == first["answer"]
    missing = door.ask("ask", token, COUNT)
    assert (missing.status, missing.code) == (400, "door.field")


def test_who_does_not_wait_gets_the_address_of_the_job(door: AtDoor) -> None:
    token = door.token()
    asked = door.ask("ask", token, COUNT | {"request": "a b", "wait": 0})
    assert asked.status in (200, 202)
    if asked.status == 202:
        assert asked.headers["location"] == "/api/v1/job/a%20b"
    door.here.workspace.jobs.of(door.here.person("analyst")).wait("a b", 60)
    assert door.ask("job/a b", token).body["state"] == "done"


def test_a_first_look_tells_its_bars(door: AtDoor) -> None:
    token = door.token()
    wanted = {"table": MINE, "request": "look", "parameters": {"epsilon": "0.05"}}
    looked = door.ask("overview", token, wanted).body
    assert looked.get("state") == "done", looked
    assert {column: len(bars) for column, bars in looked["look"].items()} == {"x": 6, "town": 2}
    assert all(bar["low"] <= bar["value"] <= bar["high"] for bars in looked["look"].values() for bar in bars)
    assert door.ask("overview", token, wanted).body == looked and door.charges() == 1


def test_a_program_reads_beside_an_answer_what_a_page_says(door: AtDoor) -> None:
    """With 40 people no check is bought: a page says that nobody has checked, and a program was told nothing."""
    token = door.token()
    answer = door.ask("ask", token, COUNT | {"request": "one"}).body["answer"]
    assert answer["notes"] == [say("fit.note.unchecked", column="town")]
    looked = door.ask("overview", token, {"table": MINE, "request": "look", "parameters": {"epsilon": "0.05"}}).body
    assert looked["answer"]["notes"] == [say("fit.note.unchecked_several", columns=["x", "town"])]
    owner = door.here.face("owner").table(MINE)
    owner.revise(dp.Schema({"x": owner.schema["x"], "town": dp.Category(["a", "c"])}))
    again = door.ask("job/one", token).body["answer"]["notes"]
    assert say("since.list", column="town") in again


def test_refusals_are_one_sentence_and_its_code_in_the_programs_language(door: AtDoor) -> None:
    token = door.token()
    for lang, words in (
        ("sl-SI, en;q=0.5", "Tabele"),
        ("de, en;q=0.8, sl;q=0.2", "There is no"),
        ("he", "There is no"),
    ):
        said = door.ask("meter/nothing", token, headers={"accept-language": lang})
        assert said.status == 404 and set(said.body) == {"code", "sentence"} and said.code == "table.unknown"
        assert said.body["sentence"].startswith(words)
    dear = COUNT | {"request": "dear", "parameters": COUNT["parameters"] | {"epsilon": "5"}}
    said = door.ask("ask", token, dear)
    assert said.status in (403, 422) and door.charges() == 0 and "spent" in said.body["sentence"]
    cheap = door.ask("ask", token, COUNT | {"request": "dear"})  # nothing was asked under that id
    assert cheap.status == 200
    assert door.ask("preview", token, COUNT | {"key": "nothing"}).code == "query.unknown"
    assert door.ask("preview", token, COUNT | {"more": 1}).code == "door.unknown"
    assert door.ask("nothing", token).code == "door.path"


def test_a_sample_is_for_everybody(door: AtDoor) -> None:
    token = door.token("nobody")
    assert "town" in [one["name"] for one in door.ask("tables", token).body["tables"]]
    assert door.ask("meter/town", token).body["table"]["charges"] == 0
    assert OTHER not in [one["name"] for one in door.ask("tables", token).body["tables"]]


def test_what_fails_here_is_told_without_its_words(door: AtDoor, monkeypatch: pytest.MonkeyPatch, caplog: Any) -> None:
    def broken(*_: object) -> Any:
        raise ValueError("the value 4711 of a private row")

    monkeypatch.setattr(type(door.here.workspace), "record", broken)
    said = door.ask("preview", door.token(), COUNT)
    assert (said.status, said.code) == (500, "door.failed")
    assert "4711" not in str(said.body) + caplog.text and "ValueError" in caplog.text


def test_each_person_has_a_rate_of_their_own(tmp_path: Path) -> None:
    now = [0.0]
    limits = Limiter({"request": (1.0, 3), "preview": (0.5, 2)}, clock=lambda: now[0])
    with at_door(tmp_path, limits) as door:
        tokens = [door.token() for _ in range(2)]  # two of one person
        other = door.token("owner")
        for place in range(3):
            assert door.ask("catalogue", tokens[place % 2]).status == 200
        slow = door.ask("catalogue", tokens[0])
        assert (slow.status, slow.code, slow.headers["retry-after"]) == (429, "door.slow", "1")
        assert door.ask("catalogue", other).status == 200  # from the same address
        now[0] += 60
        assert [door.ask("preview", tokens[0], COUNT).status for _ in range(3)] == [200, 200, 429]
        assert door.ask("catalogue", tokens[0]).status == 429


def test_on_a_laptop_there_is_no_door(tmp_path: Path) -> None:
    workspace = dp.Workspace(tmp_path / "var")
    try:
        shown, _ = workspace.token_book.make("p-" + "a" * 32, "x")
        said = AtDoor(None, ApiApp(lambda: workspace)).ask("tables", shown)  # type: ignore[arg-type]
        assert said.status == 401
    finally:
        workspace.close()


def test_no_address_returns_rows(tmp_path: Path) -> None:
    """A table that was published lies on the server; what is told of it is how it was made."""
    with at_door(tmp_path) as door:
        wanted = {
            "table": "town",
            "key": "publish_table",
            "parameters": {"columns": ["age", "district"], "epsilon": "1"},
        }
        said = door.ask("ask", door.token("nobody"), wanted | {"request": "file", "wait": 30})
        assert said.status == 200 and said.body["state"] == "done", said.body
        told = said.body["answer"]
        assert len(json.dumps(told["value"])) < 2000 and told["interval"] is None


def test_the_docs_name_the_rates_that_are_kept() -> None:
    text = " ".join((Path(__file__).parents[2] / "docs" / "serving.md").read_text(encoding="utf-8").split())
    (requests, burst), (questions, most) = RATES["request"], RATES["preview"]
    assert (
        f"{requests:.0f} requests a second ({burst} at once) and {questions:.0f} questions or previews ({most} at once)"
        in text
    )
    assert f"at most {MOST_BYTES // 1024} KB" in text and f"at most {MOST_WAIT}" in text


def test_a_socket_is_closed(door: AtDoor) -> None:
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message["type"])

    asyncio.run(door.door({"type": "websocket", "path": "/api/v1/ask", "headers": []}, None, send))
    assert sent == ["websocket.close"]
