"""The front door: a page of another origin gets nothing, no other site's name leads here, nobody outside is asked about
it, and what no page asks for is shut."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

import dpengine as dp
from ui.shell import gate
from ui.shell.web import FrontDoor
from ui.shell.widget_words import PATH, Words
from ui.workshop import invite

AT = ("127.0.0.1", 8501)
Headers = list[tuple[bytes, bytes]]


def headers(host: str | None = "localhost:8501", origin: str | None = None, **more: str) -> Headers:
    told = {"host": host, "origin": origin, **more}
    return [(name.replace("_", "-").encode(), value.encode()) for name, value in told.items() if value is not None]


def through(
    kind: str,
    given: Headers,
    path: str = "/_stcore/stream",
    server: Any = AT,
    answer: Headers | None = None,
    query: bytes = b"",
) -> tuple[bool, list[dict[str, Any]]]:
    """Was the app behind the door reached, and what was sent?"""
    reached, sent = [], []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        reached.append(scope)
        await send({"type": "http.response.start", "status": 200, "headers": answer or []})

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {"type": kind, "path": path, "headers": given, "query_string": query, "server": server, "scheme": "http"}
    asyncio.run(FrontDoor(app)(scope, None, send))  # type: ignore[arg-type]
    return bool(reached), sent


def refused(kind: str, given: Headers, **more: Any) -> bool:
    reached, sent = through(kind, given, **more)
    if not reached:
        assert sent[0].get("status") == 403 if kind == "http" else sent[0]["type"] == "websocket.close"
    return not reached


@pytest.mark.parametrize("kind", ["http", "websocket"])
def test_only_our_own_pages_come_through(kind: str) -> None:
    for host in ("localhost:8501", "127.0.0.1:8501", "[::1]:8501"):
        assert not refused(kind, headers(host)) and not refused(kind, headers(host, f"http://{host}"))
    for origin in (
        "http://localhost:8639",  # another port of this machine
        "http://localhost",
        "https://localhost:8501",
        "http://127.0.0.1:8501",  # whoever listens there is not who was asked
        "https://elsewhere.example",
        "http://localhost:8501.elsewhere.example",
        "http://localhost:8501@elsewhere.example",
        "http://elsewhere.example@localhost:8501",
        "http://localhost:8501/",
        "http://[",
        "null",
        "",
    ):
        assert refused(kind, headers(origin=origin)), origin
    assert refused(kind, [*headers(origin="http://localhost:8501"), (b"Origin", b"http://localhost:8639")])


@pytest.mark.parametrize("kind", ["http", "websocket"])
def test_no_other_name_leads_here(kind: str) -> None:
    """DNS rebinding: the site's own name, pointed at this machine. Nor does anybody's word for a proxy help."""
    for host in ("elsewhere.example:8501", "localhost:8639", "localhost", "localhost.:8501", "x@[::1]:8501", "", None):
        assert refused(kind, headers(host)), host
        assert refused(kind, headers(host, f"http://{host}")), host
        assert refused(kind, headers(host, f"http://{host}", x_forwarded_host="localhost:8501")), host
    forwarded = {"x_forwarded_host": "data.example", "x_forwarded_proto": "https", "forwarded": "host=data.example"}
    assert refused(kind, headers(origin="https://data.example", **forwarded))
    assert refused(kind, [*headers(), (b"Host", b"elsewhere.example")])
    if kind == "http":  # a person may have typed it
        assert b"ALLOWANCE_ORIGIN" in through(kind, headers("pc.lan:8501"), path="/")[1][1]["body"]


def test_a_proxy_says_once_what_it_is_called(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(gate.ORIGIN, "https://data.example")
    for host in ("data.example", "data.example:443"):
        assert not refused("websocket", headers(host, "https://data.example"))
    for host, origin in (
        ("data.example", "http://data.example"),
        ("data.example", "https://data.example:8443"),
        ("data.example", "http://localhost:8501"),  # a page on the visitor's own machine
        ("data.example:8501", "https://data.example"),
        ("localhost:8501", "https://data.example"),
    ):
        assert refused("websocket", headers(host, origin)), (host, origin)
    assert not refused("websocket", headers(origin="http://localhost:8501"))  # on the machine itself
    page: Headers = [(b"content-type", b"text/html")]
    assert b"Secure" in _cookie(through("http", headers("data.example"), path="/", answer=page)[1])
    assert b"Secure" not in _cookie(through("http", headers(), path="/", answer=page)[1])


def _cookie(sent: list[dict[str, Any]]) -> bytes:
    [cookie] = [bytes(value) for name, value in sent[0]["headers"] if name == b"set-cookie"]
    return cookie


@pytest.mark.parametrize("told", ["data.example", "ftp://data.example", "https://data.example/x", "https://a b"])
def test_an_address_that_is_none_is_one_sentence(monkeypatch: pytest.MonkeyPatch, told: str) -> None:
    monkeypatch.setenv(gate.ORIGIN, told)
    with pytest.raises(dp.AllowanceError) as refusal:
        FrontDoor(None)  # type: ignore[arg-type]
    assert refusal.value.code == "gate.origin"


def test_a_workshop_answers_on_the_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the connection came in, by its number; and under the name that the invitation was printed with."""
    network = ("192.168.1.5", 8501)
    assert not refused("websocket", headers("192.168.1.5:8501", "http://192.168.1.5:8501"), server=network)
    assert refused("websocket", headers("192.168.1.5:8501", "http://192.168.1.5:8600"), server=network)
    assert refused("websocket", headers("pc.lan:8501", "http://pc.lan:8501"), server=network)
    given: dict[str, Any] = {}

    class Started:
        def __init__(self, *_: Any, env: dict[str, str], **__: Any) -> None:
            given.update(env)

        def wait(self) -> int:
            return 0

    monkeypatch.setattr(invite.subprocess, "Popen", Started)
    monkeypatch.setattr(invite.signal, "signal", lambda *_: None)
    assert invite.serve("pc.lan", 8501) == 0
    monkeypatch.setenv(gate.ORIGIN, given[gate.ORIGIN])
    assert not refused("websocket", headers("pc.lan:8501", "http://pc.lan:8501"), server=network)


def test_what_no_page_asks_for_is_shut() -> None:
    for path in (
        "/_stcore/metrics",
        "/_stcore/script-health-check",
        "/_stcore/agent/interact",
        "/_stcore/agent/mcp",
        "/_stcore/bidi-components/x/y.js",
        "/component/x/index.html",
        "/auth/login",
        "/oauth2callback",
        "/app/static/x",
    ):
        assert refused("http", headers(), path=path), path
    for path in ("/", "/ask", "/_stcore/health", "/_stcore/host-config", "/static/js/a.js", "/media/a.csv"):
        assert not refused("http", headers(), path=path), path


def test_answers_to_take_along_are_kept_by_no_cache() -> None:
    public = [(b"Cache-Control", b"public"), (b"content-type", b"text/csv")]
    for path, kept in (("/media/a.csv", [b"no-store"]), ("/static/media/font.woff2", [b"public"])):
        _, sent = through("http", headers(), path=path, answer=list(public))
        assert [value for name, value in sent[0]["headers"] if name.lower() == b"cache-control"] == kept


@pytest.mark.parametrize(("path", "named"), [("/ledger", True), ("/media/0123.html", False)])
def test_what_is_taken_along_is_sent_as_it_was_written(path: str, named: bool) -> None:
    """Our pages name a script of ours; a report that lies in somebody's downloads must name none."""
    written, sent = b"<!doctype html><html><head><title>A report</title></head></html>", []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        kind = [(b"content-type", b"text/html; charset=utf-8"), (b"content-length", str(len(written)).encode())]
        await send({"type": "http.response.start", "status": 200, "headers": kind})
        await send({"type": "http.response.body", "body": written})

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {"type": "http", "path": path, "headers": headers(accept="text/html")}
    asyncio.run(Words(app)(scope, None, send))  # type: ignore[arg-type]
    body = sent[-1]["body"]
    assert (PATH.encode() in body, body == written) == (named, not named)


def test_the_name_of_start_opens_start() -> None:
    """Start is what opens without a name; whoever types its name finds it, with what else the address says."""
    for path in ("/start", "/start/"):
        reached, sent = through("http", headers(), path=path)
        assert not reached and sent[0]["status"] == 307, path
        assert dict(sent[0]["headers"])[b"location"] == (b"./" if path == "/start" else b"../")
    reached, sent = through("http", headers(), path="/start", query=b"lang=sl")
    assert dict(sent[0]["headers"])[b"location"] == b"./?lang=sl"
    assert not refused("http", headers(), path="/starting") and not refused("websocket", headers(), path="/start")
