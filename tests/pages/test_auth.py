"""The sign-in middleware: without a pass it serves only the provider's sign-in and the health check, and nothing that
somebody forges, copies or picks up opens more."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import pytest
from helpers_auth import ADDRESS, ANA, BOR, SECRET, Door, cookies, location, status
from itsdangerous import URLSafeSerializer

from ui.auth import middleware, passes
from ui.auth.config import Proxy
from ui.shell import gate, incoming, person


@pytest.fixture
def door(tmp_path: Path) -> Door:
    return Door(tmp_path)


# --- before signing in


@pytest.mark.parametrize("path", ["/", "/ask", "/ledger", "/tables", "/start", "/data"])
def test_a_page_leads_to_the_provider(door: Door, path: str) -> None:
    answer = door.ask(path)
    assert not answer[0] and status(answer) == 303 and location(answer).startswith("https://id.example.org/")
    [cookie] = cookies(answer)
    assert all(part in cookie for part in ("HttpOnly", "Secure", "SameSite=Lax", "Max-Age=600"))


@pytest.mark.parametrize(
    "path",
    [
        "/static/js/main.js",
        "/media/0123456789abcdef0123.csv",
        "/_stcore/host-config",
        "/_stcore/upload_file/s/f",
        "/_stcore/health/../metrics",
        "/_stcore/metrics",
        "/allowance-words.js",
    ],
)
def test_nothing_else_is_served(door: Door, path: str) -> None:
    answer = door.ask(path, headers={"accept": "*/*"})
    assert not answer[0] and status(answer) == 401
    assert not door.ask(path, method="PUT")[0]


def test_no_socket_is_opened(door: Door) -> None:
    reached, sent = door.ask("/_stcore/stream", kind="websocket")
    assert not reached and [one["type"] for one in sent] == ["websocket.close"]


def test_the_health_check_is_answered(door: Door) -> None:
    assert door.ask("/_stcore/health", headers={"host": "localhost:8501"})[0]
    assert not door.ask("/_stcore/health", kind="websocket")[0]


@pytest.mark.parametrize("path", ["/api/v1", "/api/v1/ask", "/metrics"])
def test_doors_that_are_not_there_are_shut(door: Door, path: str) -> None:
    for cookie in ("", door.signed_in()):
        answer = door.ask(path, cookie)
        assert not answer[0] and status(answer) == 404


def test_the_whole_origin_counts(door: Door) -> None:
    cookie = door.signed_in()
    assert door.ask("/", cookie, headers={"origin": ADDRESS})[0]
    for headers in (
        {"host": "localhost:8501"},  # the machine itself: people come by the one address
        {"host": "elsewhere.example"},
        {"origin": "https://elsewhere.example"},
        {"origin": "http://data.example.org"},
        {"origin": "https://data.example.org:8443"},
    ):
        answer = door.ask("/", cookie, headers=headers)
        assert not answer[0] and status(answer) == 403, headers
        assert not door.ask("/_stcore/stream", cookie, kind="websocket", headers=headers)[0]


# --- signing in


def test_a_deep_link_survives_and_leads_nowhere_else(door: Door) -> None:
    door.ask("/ask", query_string=b"table=visits&lang=sl")
    answer = door.ask("/oauth2callback", query_string=b"code=1&state=2")
    assert location(answer) == f"{ADDRESS}/ask?table=visits&lang=sl"
    given = next(one for one in cookies(answer) if one.startswith("__Host-allowance="))
    assert all(part in given for part in ("Secure", "HttpOnly", "SameSite=Lax", "Path=/", f"Max-Age={8 * 3600}"))
    assert door.ask("/ask", given.split(";")[0])[0]
    for path in ("//elsewhere.example/x", "/\\elsewhere.example", "///elsewhere.example", "/\r\nset-cookie: a=b"):
        door.ask(path)
        led = location(door.ask("/oauth2callback"))
        assert led.startswith(f"{ADDRESS}/") and led[len(ADDRESS) + 1] not in "/\\" and "\n" not in led, path


def test_who_it_is_is_told_to_the_app_and_cannot_be_written_by_a_browser(door: Door) -> None:
    forged = {person.HEADER: BOR}
    reached, _ = door.ask("/", door.signed_in(), headers=forged)
    assert [value for name, value in reached[0]["headers"] if name == person.HEADER.encode()] == [ANA.encode()]
    assert reached[0][middleware.PERSON] == ANA
    assert not door.ask("/", headers=forged)[0]
    twice = [(b"X-Allowance-Person", BOR.encode())]
    reached, _ = door.ask("/_stcore/health", twice=twice)
    assert all(name.lower() != person.HEADER.encode() for name, _ in reached[0]["headers"])


def test_every_cookie_is_for_encrypted_connections(door: Door) -> None:
    _, sent = door.ask("/", door.signed_in())
    assert dict(sent[0]["headers"])[b"Set-Cookie"].endswith(b"; Secure")


# --- forged, expired and copied passes


def forgeries(door: Door) -> dict[str, Callable[[], str]]:
    good = door.signed_in()
    name, _, value = good.partition("=")
    body, _, seal = value.rpartition(".")
    mark = passes.Passes(SECRET, door.passes._folder.parent, 8, True)._read(ANA)
    until = int(time.time()) + 3600

    def signed(told: object, secret: str = SECRET, salt: str = "allowance pass") -> str:
        return f"{name}={URLSafeSerializer(secret, salt=salt).dumps(told)}"

    return {
        "another key": lambda: signed([ANA, until, mark], secret="x" * 40),
        "another use of the key": lambda: signed([ANA, until, mark], salt="allowance way"),
        "another body": lambda: f"{name}={URLSafeSerializer('x').dumps([BOR, until, mark]).rpartition('.')[0]}.{seal}",
        "no seal": lambda: f"{name}={body}",
        "expired": lambda: signed([ANA, int(time.time()) - 1, mark]),
        "another mark": lambda: signed([ANA, until, "0" * 32]),
        "somebody else with this mark": lambda: signed([BOR, until, mark]),
        "a place": lambda: signed(["../" + ANA, until, mark]),
        "no list": lambda: signed({"person": ANA}),
        "the plain name": lambda: f"allowance={value}",  # any host beside ours could set that
    }


@pytest.mark.parametrize("how", range(10))
def test_a_forged_pass_opens_nothing(door: Door, how: int) -> None:
    name, make = list(forgeries(door).items())[how]
    assert door.ask("/", door.signed_in())[0]
    cookie = make()
    assert not door.ask("/", cookie)[0], name
    assert not door.ask("/_stcore/stream", cookie, kind="websocket")[0], name


def test_a_pass_lives_eight_hours(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    cookie, now = door.signed_in(), time.time()
    monkeypatch.setattr(passes.time, "time", lambda: now + 8 * 3600 - 5)
    assert door.ask("/", cookie)[0]
    monkeypatch.setattr(passes.time, "time", lambda: now + 8 * 3600 + 1)
    assert not door.ask("/", cookie)[0]


def test_a_copied_pass_dies_with_signing_out(door: Door, tmp_path: Path) -> None:
    copy, other = door.signed_in(), door.signed_in(BOR)
    elsewhere = Door(tmp_path)  # another process over the same workspace
    assert elsewhere.ask("/", copy)[0]
    answer = door.ask("/sign-out", copy, headers={"sec-fetch-site": "same-origin"})
    assert status(answer) == 200 and any(one.startswith("__Host-allowance=;") for one in cookies(answer))
    for one in (door, elsewhere):
        assert not one.ask("/", copy)[0] and one.ask("/", other)[0]
    assert elsewhere.ask("/", door.signed_in())[0]  # and may come back


def test_a_link_from_elsewhere_does_not_sign_out(door: Door) -> None:
    cookie = door.signed_in()
    answer = door.ask("/sign-out", cookie, headers={"sec-fetch-site": "cross-site"})
    assert b"<form" in answer[1][1]["body"] and door.ask("/", cookie)[0]
    for mode in ("no-cors", "cors", "websocket", "nested-navigate"):  # a picture on a page of ours
        door.ask("/sign-out", cookie, headers={"sec-fetch-site": "same-origin", "sec-fetch-mode": mode})
        assert door.ask("/", cookie)[0], mode
    door.ask("/sign-out", cookie, method="POST", headers={"origin": ADDRESS})
    assert not door.ask("/", cookie)[0]


def test_marks_are_their_users_alone(door: Door, tmp_path: Path) -> None:
    door.signed_in()
    place = tmp_path / passes.FOLDER / ANA
    assert place.stat().st_mode & 0o077 == 0 and place.parent.stat().st_mode & 0o077 == 0
    assert [one.name for one in place.parent.iterdir()] == [ANA]
    place.write_text("")  # damaged: passes are worth nothing, and one can sign in again
    assert door.ask("/", door.signed_in())[0]


# --- sockets that are open


def talk(door: Door, cookie: str, then: Callable[[], None]) -> list[dict[str, Any]]:
    """A socket on which two messages come, with something happening in between; what was sent over it."""
    sent: list[dict[str, Any]] = []
    come = iter([{"type": "websocket.connect"}, {"type": "websocket.receive", "bytes": b"click"}])

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        message = next(come, None)
        if message is None:
            await asyncio.sleep(3600)
        if message and message["type"] == "websocket.receive":
            then()
        return message

    async def run() -> None:
        try:
            await asyncio.wait_for(door.auth(door.scope("websocket", "/_stcore/stream", cookie), receive, send), 60)
        except TimeoutError:
            pytest.fail("the socket stayed open")

    asyncio.run(run())
    return sent


@pytest.mark.parametrize("why", ["signed out", "expired", "right withdrawn", "barred"])
def test_an_open_socket_hears_and_says_nothing_more(door: Door, monkeypatch: pytest.MonkeyPatch, why: str) -> None:
    cookie, now = door.signed_in(), time.time()
    monkeypatch.setattr(person, "_sessions", {"theirs": ANA})
    door.says = [{"type": "websocket.send", "bytes": b"an answer"}]

    def happen() -> None:
        if why == "signed out":
            door.passes.take_back(ANA)
        elif why == "expired":
            monkeypatch.setattr(passes.time, "time", lambda: now + 9 * 3600)
        elif why == "barred":
            door.people.admitted = False
        else:
            door.people.right = False

    sent = talk(door, cookie, happen)
    assert [one["type"] for one in door.heard] == ["websocket.connect", "websocket.disconnect"]  # never the click
    assert [one["type"] for one in sent] == ["websocket.send", "websocket.close"]
    assert not person.owns(ANA, "theirs")  # what it showed is not taken up again
    assert not door.ask("/", cookie)[0]  # and whoever comes back signs in anew


def test_a_silent_socket_is_closed_too(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(middleware, "_CHECK_EVERY", 0.01)
    cookie, sent = door.signed_in(), []

    async def send(message: Any) -> None:
        sent.append(message["type"])

    async def receive() -> Any:
        door.passes.take_back(ANA)
        await asyncio.sleep(3600)

    scope = door.scope("websocket", "/_stcore/stream", cookie)
    asyncio.run(asyncio.wait_for(door.auth(scope, receive, send), 60))
    assert sent == ["websocket.close"]


def test_whoever_never_had_a_right_may_practise(door: Door) -> None:
    door.people.right = False
    assert door.ask("/_stcore/stream", door.signed_in(), kind="websocket")[0]


def test_whoever_is_barred_is_shown_out(door: Door) -> None:
    cookie = door.signed_in()
    door.people.admitted = False
    answer = door.ask("/ask", cookie)
    assert not answer[0] and status(answer) == 403
    door.ask("/_stcore/stream", cookie, kind="websocket")
    assert [one["type"] for one in door.heard] == ["websocket.disconnect"]


# --- what is another person's


def test_a_session_is_its_persons(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(person, "_sessions", {"theirs": ANA})
    ana, bor = door.signed_in(), door.signed_in(BOR)
    upload = {"method": "PUT"}
    assert door.ask("/_stcore/upload_file/theirs/f", ana, **upload)[0]
    assert not door.ask("/_stcore/upload_file/theirs/f", bor, **upload)[0]
    named = {"sec-websocket-protocol": "streamlit, xsrf, theirs"}
    for cookie, kept in ((ana, True), (bor, False)):
        door.heard.clear()
        reached, _ = door.ask("/_stcore/stream", cookie, kind="websocket", headers=named)
        assert (b"theirs" in dict(reached[0]["headers"])[b"sec-websocket-protocol"]) == kept


CROOKED = (
    "/x/_stcore/upload_file/theirs/f",
    "/_stcore/_stcore/upload_file/theirs/f",
    "/_stcore//upload_file/theirs/f",
    "/_stcore/upload_file//theirs/f",
    "/_stcore/upload_file/theirs/f/",
    "/_stcore/upload_file/mine/../theirs/f",
    "/_stcore/upload_file/mine/_stcore/upload_file/theirs/f",
    "/x/../_stcore/upload_file/theirs/f",
    "/media/_stcore/upload_file/theirs/f",
    "/_stcore/upload_file/theirs/f\n",
    "//_stcore/upload_file/theirs/f",
    "/_stcore/upload_file/theirs/f",
)


@pytest.mark.parametrize("base", ["", "folder"])
@pytest.mark.parametrize("method", ["DELETE", "PUT"])
def test_no_address_leads_around_whose_upload_it_is(
    door: Door, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method: str, base: str
) -> None:
    monkeypatch.setattr(person, "_sessions", {"theirs": ANA, "mine": BOR})
    monkeypatch.setattr(gate, "folder", lambda: f"{base}/" if base else "")
    files, behind = incoming.Incoming(), door.auth.app
    kept = tmp_path / "upload-0123456789abcdef.csv"

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await files.through(behind, scope, receive, send)

    door.auth.app = app
    for path in CROOKED:
        for front in ("", "/folder", "/folder/folder"):
            kept.write_text("rows")
            files._files = {("theirs", "f"): incoming._File("theirs", ANA, kept)}
            files.announce("theirs", ["g"])
            for name in ("f", "g"):
                reached, _ = door.ask(front + path.replace("/f", f"/{name}"), door.signed_in(BOR), method=method)
                assert not reached, (front, path)
            assert kept.exists() and "g" in files._addresses["theirs"], (front, path)
    assert door.ask(f"/{base}/_stcore/upload_file/theirs/f", door.signed_in(), method="DELETE")[0]
    assert not kept.exists()


# --- a proxy says who it is


@pytest.fixture
def behind(tmp_path: Path) -> Door:
    sources = (ip_network("10.0.0.9"), ip_network("fd00::/64"))
    return Door(tmp_path, Proxy("x-remote-user", "x-remote-name", "", sources, "proxy", ""))


def test_the_proxy_is_believed_and_nobody_else(behind: Door) -> None:
    told = {"x-remote-user": "ana", "x-remote-name": "Ana Novak"}
    for client in (("10.0.0.9", 1), ("::ffff:10.0.0.9", 1), ("fd00::7", 1)):
        reached, _ = behind.ask("/", headers=told, client=client)
        assert reached[0][middleware.PERSON] == ANA, client
    assert behind.people.told == [("proxy", "ana", "Ana Novak", "")]
    for client in (("10.0.0.8", 1), ("127.0.0.1", 1), ("::1", 1), None, ("testclient", 1)):
        for kind in ("http", "websocket"):
            reached, sent = behind.ask("/", headers=told, client=client, kind=kind)
            assert not reached and (kind == "websocket" or sent[0]["status"] == 403), client
            behind.heard.clear()


def test_a_header_that_is_missing_empty_or_twice_is_nobody(behind: Door) -> None:
    for headers, twice in (
        ({}, []),
        ({"x-remote-user": " "}, []),
        ({"x-remote-user": "ana"}, [(b"X-Remote-User", b"bor")]),
        ({"x-remote-user": "a\x01na"}, []),
        ({"x-remote-user": "a" * 256}, []),
    ):
        assert not behind.ask("/", headers=headers, twice=twice)[0]
    assert not behind.ask("/", behind.signed_in())[0]  # a pass is no word of the proxy


def test_a_socket_behind_a_proxy_ends_too(behind: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    now, sent = time.time(), []
    monkeypatch.setattr(middleware, "_CHECK_EVERY", 0.01)

    async def send(message: Any) -> None:
        sent.append(message["type"])

    async def receive() -> Any:
        monkeypatch.setattr(passes.time, "time", lambda: now + 9 * 3600)
        await asyncio.sleep(3600)

    scope = behind.scope("websocket", "/_stcore/stream", headers={"x-remote-user": "ana"})
    asyncio.run(asyncio.wait_for(behind.auth(scope, receive, send), 60))
    assert sent == ["websocket.close"]
