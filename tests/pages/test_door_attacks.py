"""What opens nothing at the door for programs, and spends nothing: tokens of others, forged and revoked ones, links,
forms, pages, and bodies made to break what reads them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from helpers_door import COUNT, AtDoor, at_door

from dpengine.ledger.people_rules import BARRED
from dpengine.storage import tokens
from tests.helpers_people import MINE, OTHER
from ui.api import http
from ui.api.verbs import VERBS, Verb, _is
from ui.shell import gate

WANTED = COUNT | {"request": "one"}
POSTS = ("preview", "read", "ask", "recall", "overview")


@pytest.fixture(scope="module")
def door(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AtDoor]:
    with at_door(tmp_path_factory.mktemp("attacked")) as found:
        yield found
        assert found.charges() == 0, "something was spent"


def test_a_token_of_another_table_finds_no_table(door: AtDoor) -> None:
    """The owner has both tables, and the token one: the other is refused in the words for one that is not there."""
    door.here.give(OTHER, "owner", by="owner of another")
    token = door.token("owner", (OTHER,))
    told = []
    for name in (MINE, "no such"):
        calls = [door.ask(f"{verb}/{name}", token) for verb in ("table", "declaration", "meter")]
        calls += [door.ask(verb, token, WANTED | {"table": name}) for verb in ("ask",)]
        calls += [door.ask(verb, token, COUNT | {"table": name}) for verb in ("preview", "recall")]
        look = {"table": name, "request": "two", "parameters": {"epsilon": "0.01"}}
        calls += [door.ask("overview", token, look)]
        assert {(one.status, one.code) for one in calls} == {(404, "table.unknown")}
        told.append([one.body["sentence"].replace(name, "…") for one in calls])
    assert told[0] == told[1]
    assert [one["name"] for one in door.ask("tables", token).body["tables"]] == [OTHER]


def test_a_token_of_another_person_opens_that_persons_tables_alone(door: AtDoor) -> None:
    token = door.token("analyst of another")
    assert door.ask("ask", token, WANTED).code == "table.unknown"
    assert door.ask(f"meter/{OTHER}", token).status == 200


@pytest.mark.parametrize("forged", ["", "alw_x_y", "Bearer", "x" * 5000, "alw_" + "0" * 12 + "_" + "A" * 43])
def test_a_forged_token_opens_nothing(door: AtDoor, forged: str) -> None:
    for path in ("tables", "catalogue", "openapi.json", "", "nothing", f"meter/{MINE}"):
        said = door.ask(path, forged)
        assert (said.status, said.code) == (401, "door.token") and said.headers["www-authenticate"] == "Bearer"
    assert door.ask("ask", forged, WANTED).status == 401


def test_where_else_a_token_is_shown_it_opens_nothing(door: AtDoor) -> None:
    token = door.token()
    for more in (
        {"headers": {"cookie": f"token={token}; __Host-allowance={token}"}},
        {"headers": {"authorization": f"Basic {token}"}},
        {"headers": {"authorization": token}},
        {"headers": {"x-allowance-person": door.here.person("owner")}},
        {"query": f"token={token}&access_token={token}".encode()},
    ):
        assert door.ask("tables", **more).status == 401


def test_a_revoked_token_and_one_of_who_is_barred_open_nothing(door: AtDoor) -> None:
    face = door.here.face("analyst")
    shown, made = face.new_token("lost")
    assert door.ask("tables", shown).status == 200
    face.revoke_token(made.id)
    assert door.ask("tables", shown).status == 401
    token = door.token("analyst")
    door.here.name("analyst", BARRED)
    assert [door.ask(*call).status for call in (("tables", token), ("ask", token, WANTED))] == [401, 401]
    door.here.name("analyst", BARRED, on=False)
    assert door.ask("tables", token).status == 200
    metrics = door.token("administrator", metrics=True)
    assert door.ask("tables", metrics).status == 401


def test_a_token_whose_last_day_is_over_is_told_so(door: AtDoor, monkeypatch: pytest.MonkeyPatch) -> None:
    shown, made = door.here.face("analyst").new_token("old")
    monkeypatch.setattr(tokens, "_now", lambda: "2999-01-01T00:00:00+00:00")
    reply = door.ask("tables", shown)
    assert reply.status == 401 and f"This token ended on {made.until}" in str(reply.body)
    assert reply.code == "door.token_ended" and reply.headers["www-authenticate"] == "Bearer"


def test_a_link_never_spends(door: AtDoor) -> None:
    token = door.token()
    query = "&".join(f"{name}={json.dumps(value)}" for name, value in WANTED.items()).encode()
    for verb in POSTS:
        for method in ("GET", "HEAD", "PUT", "DELETE", "OPTIONS", "PATCH"):
            said = door.ask(verb, token, method=method, query=query)
            assert said.status == 405 and said.headers["allow"] == "POST", (verb, method)
            assert door.ask(f"{verb}/{MINE}", token, method=method).status == 404


@pytest.mark.parametrize(
    "kind", ["application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "text/plain", "text/json", ""]
)
def test_a_form_cannot_be_posted(door: AtDoor, kind: str) -> None:
    said = door.ask("ask", door.token(), WANTED, headers={"content-type": kind})
    assert (said.status, said.code) == (415, "door.type")


def test_a_page_gets_nothing(door: AtDoor) -> None:
    token = door.token()
    for origin in ("https://data.example.org", "https://elsewhere.example", "null"):
        for call in (("tables", token), ("ask", token, WANTED)):
            assert door.ask(*call, headers={"origin": origin}).code == "door.origin"


BODIES: dict[str, bytes] = {
    "nothing": b"",
    "no object": b"[1]",
    "nan": b'{"wait": NaN}',
    "infinity": b'{"wait": -Infinity}',
    "a number beyond floats": b'{"wait": 1e400}',
    "digits": b'{"wait": ' + b"9" * 4000 + b"}",
    "more digits than Python reads": b'{"wait": ' + b"9" * 10_000 + b"}",
    "nested lists": b"[" * 100_000,
    "nested objects": b'{"parameters": ' + b'{"where": ' * 100 + b"1" + b"}" * 101,
    "a name twice": b'{"table": "a", "table": "b"}',
    "half a sign": b'{"table": "\\ud800"}',
    "no text": b'{"table": "\xff"}',
    "an unknown name for a proto": b'{"__proto__": {}} trailing',
}


@pytest.mark.parametrize("name", list(BODIES))
@pytest.mark.parametrize("verb", ["ask", "preview"])
def test_bodies_made_to_break_things_are_refused(door: AtDoor, name: str, verb: str) -> None:
    said = door.ask(verb, door.token("owner"), BODIES[name])
    assert (said.status, said.code) == (400, "door.json"), said.body


def test_a_large_body_is_not_read(door: AtDoor) -> None:
    token = door.token()
    said = door.ask("ask", token, b" " * (http.MOST_BYTES + 1))
    assert (said.status, said.code) == (413, "door.large")
    told = door.ask("ask", token, b"{}", headers={"content-length": "1" * 30})
    assert (told.status, told.code) == (413, "door.large")


@pytest.mark.parametrize(
    "parameters",
    [
        {"epsilon": 10**39},
        {"epsilon": "1e999999999"},
        {"epsilon": "9" * 1000},
        {"epsilon": "NaN"},
        {"epsilon": "Infinity"},
        {"epsilon": -1},
        {"epsilon": True},
        {"epsilon": [[[[["0.1"]]]]]},
        {"epsilon": "0.1", "where": [["x", ">=", 1e308]]},
        {"epsilon": "0.1", "where": [[["x"]]]},
        {"epsilon": "0.1", "where": {"and": [1]}},
        {"epsilon": "0.1", "self": 1, "key": 2, "facts": {}},
        {"epsilon": "0.1", "where": [["town", "in", ["a"]]], "by": {"column": ["x"], "step": {}}},
        {"epsilon": "0.1", "where": [["town", "in", ["a"]]], "beta": 10**30},
        {"epsilon": "0.1", "where": [["town", "in", ["a"]]], "noise": {"a": 1}},
    ],
)
def test_strange_parameters_are_refused_in_a_sentence(door: AtDoor, parameters: dict[str, Any]) -> None:
    for verb in ("preview", "ask"):
        body = {"table": MINE, "key": "count", "parameters": parameters} | (
            {"request": "strange"} if verb == "ask" else {}
        )
        said = door.ask(verb, door.token("owner"), body)
        assert 400 <= said.status < 500 and set(said.body) == {"code", "sentence"}, (parameters, said.body)


def test_fields_of_another_kind_are_refused(door: AtDoor) -> None:
    token = door.token()
    for change in (
        {"table": 1},
        {"table": None},
        {"key": ["count"]},
        {"parameters": []},
        {"request": 7},
        {"wait": "1"},
        {"wait": True},
        {"wait": None},
        {"request": "x" * 101},
        {"request": "line\nend"},
        {"request": ""},
    ):
        said = door.ask("ask", token, WANTED | change)
        assert 400 <= said.status < 500, (change, said.body)


ODD: tuple[Any, ...] = (None, [], {}, [None], {"a": [None]}, 10**18, -(10**18), 1e308, True, "", "\x00", "9" * 4000)


@pytest.mark.every(3)
@pytest.mark.parametrize("verb", [verb for verb in VERBS if verb.method == "POST"], ids=lambda verb: verb.name)
def test_no_field_of_any_kind_breaks_the_door(door: AtDoor, verb: Verb) -> None:
    usual: dict[str, Any] = {"wait": 0, "anyway": False}
    good = {one.name: WANTED.get(one.name, usual.get(one.name, 0)) for one in verb.fields}
    token, spent = door.token(), door.charges()
    for name in good:
        for odd in ODD:
            if (name == "wait" and _is("number", odd)) or (name == "anyway" and _is("boolean", odd)):
                continue  # a number is clamped, and this is one of the two
            said = door.ask(verb.name, token, good | {name: odd})
            assert 400 <= said.status < 500 and set(said.body) == {"code", "sentence"}, (name, odd, said.body)
    for name in ("where", "epsilon", "column", "self", "key", "table", ""):
        for odd in ODD:
            said = door.ask(verb.name, token, good | {"parameters": {"epsilon": "0.1", name: odd}, "table": "nothing"})
            assert 400 <= said.status < 500, (name, odd, said.body)
            if verb.name == "preview":
                said = door.ask(verb.name, token, good | {"parameters": {"epsilon": "0.1", name: odd}})
                assert said.status < 500, (name, odd, said.body)
    assert door.charges() == spent


def test_on_a_laptop_the_front_door_lets_nobody_to_it() -> None:
    assert gate.is_closed("/api/v1/ask") and gate.is_closed("/metrics")


# From here on something is spent, on a door of their own.


def test_another_persons_job_is_unknown(tmp_path: Path) -> None:
    with at_door(tmp_path) as here:
        token = here.token("owner")
        assert here.ask("ask", token, WANTED).status == 200
        for other in ("analyst", "analyst of another", "administrator", "auditor", "nobody"):
            said = here.ask("job/one", here.token(other))
            assert (said.status, said.code) == (404, "request.unknown")
            assert said.body == here.ask("job/never", here.token(other)).body
        here.here.give(OTHER, "owner", by="owner of another")
        said = here.ask("job/one", here.token("owner", (OTHER,)))
        assert (said.status, said.code) == (404, "request.unknown")  # a token of another table
        assert here.ask("job/one", here.token("owner", (MINE,))).status == 200
        assert here.ask("ask", here.token("analyst"), WANTED).code == "request.reused"
        assert here.charges() == 1


def test_sixty_four_at_once_with_one_request_are_charged_once(tmp_path: Path) -> None:
    with at_door(tmp_path) as here:
        token = here.token()

        async def all_at_once() -> list[Any]:
            return list(await asyncio.gather(*(here.asked("ask", token, WANTED) for _ in range(64))))

        said = asyncio.run(all_at_once())
        assert {one.status for one in said} <= {200, 202}  # 202 on a busy machine: still at work
        said = asyncio.run(all_at_once())
        assert {one.status for one in said} == {200}
        assert len({json.dumps(one.body, sort_keys=True) for one in said}) == 1 and here.charges() == 1


def test_two_questions_at_once_under_one_request_are_not_one_answer(tmp_path: Path) -> None:
    with at_door(tmp_path) as here:
        token = here.token()
        other = WANTED | {"parameters": {"where": [["town", "in", ["b"]]], "epsilon": "0.1"}}

        async def both() -> list[Any]:
            return list(await asyncio.gather(*(here.asked("ask", token, one) for one in (WANTED, other) * 8)))

        said = asyncio.run(both())
        good = [one for one in said if one.status == 200]
        assert len(good) == 8 and len({one.body["answer"]["sentence"] for one in good}) == 1
        assert {one.code for one in said if one.status != 200} == {"request.reused"} and here.charges() == 1
