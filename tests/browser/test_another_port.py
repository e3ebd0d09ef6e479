"""A page on another port of this machine opens the app's socket, with the visitor's cookies, and presses a button that
spends. From the app's own address the same messages do spend: the attack is a real one."""

from __future__ import annotations

import base64
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from browser.journeys import until
from browser.steps import go
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState, WidgetStates

PRESS = """async (url) => {
    const socket = new WebSocket(url, ['streamlit']);
    socket.binaryType = 'arraybuffer';
    const bytes = (text) => Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0));
    const text = (buffer) => btoa(Array.from(new Uint8Array(buffer), (one) => String.fromCharCode(one)).join(''));
    let last = Promise.resolve();
    return await new Promise((done) => {
        setTimeout(() => done('waited'), 60000);
        socket.onopen = async () => socket.send(bytes(await window.heard('')));
        socket.onclose = () => done('shut out');
        socket.onmessage = (message) => {
            last = last.then(async () => {
                const next = await window.heard(text(message.data));
                if (next === 'pressed') done(next); else if (next) socket.send(bytes(next));
            });
        };
    });
}"""
BUTTON = "Ask — "
ASKING = {"page_name": "ask", "query_string": "table=town&q=median&column=monthly_income&epsilon=0.1"}


class Quiet(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<!doctype html><title>another page</title>")

    def log_message(self, *_: Any) -> None:
        pass


class Attacker:
    """What the page says next: it opens a question on Ask, finds the button and presses it."""

    def heard(self, message: str) -> str:
        if not message:
            self.state, self.button, self.sent = ClientState(**ASKING), "", False
            return self._said(self.state)
        told = ForwardMsg.FromString(base64.b64decode(message))
        kind = told.WhichOneof("type")
        if kind == "navigation":
            self.state.page_script_hash = told.navigation.page_script_hash
        if kind == "delta" and told.delta.new_element.button.label.startswith(BUTTON):
            self.button, self.state.fragment_id = told.delta.new_element.button.id, told.delta.fragment_id
        if kind != "script_finished" or not self.button:
            return ""
        if self.sent:
            return "pressed"
        self.sent = True
        states = WidgetStates(widgets=[WidgetState(id=self.button, trigger_value=True)])
        self.state.widget_states.CopyFrom(states)
        return self._said(self.state)

    def _said(self, state: ClientState) -> str:
        return base64.b64encode(BackMsg(rerun_script=state).SerializeToString()).decode()


@pytest.fixture
def elsewhere() -> Iterator[int]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Quiet) as other:
        thread = threading.Thread(target=other.serve_forever)
        thread.start()
        yield other.server_address[1]
        other.shutdown()
        thread.join()


def charges(home: Path) -> int:
    with closing(sqlite3.connect(f"{(home / 'ledger.sqlite').as_uri()}?mode=ro", uri=True)) as rows:  # never made here
        return int(rows.execute("SELECT count(*) FROM entries WHERE kind = 'charge'").fetchone()[0])


def test_a_page_on_another_port_of_this_machine_spends_nothing(page: Any, server: Any, elsewhere: int) -> None:
    go(page, "/ask?table=town")  # the first page may be drawn before there is a ledger
    spent = charges(server.home)
    page.expose_function("heard", Attacker().heard)
    socket = server.url.replace("http", "ws") + "/_stcore/stream"
    for name in ("127.0.0.1", "localhost"):
        page.goto(f"http://{name}:{elsewhere}/")
        for asked in (socket, socket.replace("127.0.0.1", "localhost")):
            assert page.evaluate(PRESS, asked) == "shut out"
    assert charges(server.home) == spent
    page.goto(server.url + "/_stcore/health")
    assert page.evaluate(PRESS, socket) == "pressed"
    assert until(lambda: charges(server.home) > spent)  # a worker charges it
    assert charges(server.home) == spent + 1
