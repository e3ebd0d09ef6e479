"""A visitor without a browser: Streamlit's own messages over a WebSocket. It runs pages, moves sliders, presses buttons
and reruns fragments that ask for it, and says how long each took: from sending to “the script has finished”.
"""

from __future__ import annotations

import asyncio
import os
import time
import urllib.request
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from statistics import quantiles
from typing import Any

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ClientState_pb2 import ClientState, ContextInfo
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState, WidgetStates
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import WebSocketException

PATIENCE = 120.0
_DONE = (ForwardMsg.FINISHED_SUCCESSFULLY, ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY)


@dataclass
class Widget:
    kind: str
    proto: Any
    fragment: str


@dataclass
class Visitor:
    base: str
    widgets: dict[str, Widget] = field(default_factory=dict)
    states: dict[str, WidgetState] = field(default_factory=dict)
    again: dict[str, float] = field(default_factory=dict)  # seconds between runs, by fragment
    html: list[str] = field(default_factory=list)  # of the last run
    pages: dict[str, str] = field(default_factory=dict)
    bytes: int = 0

    async def come(self) -> None:
        """Fetch the page as a browser does, for its cookies, and open the socket."""
        cookies = await asyncio.to_thread(_cookies, self.base)
        self._ended = asyncio.Event()
        self._socket: ClientConnection = await connect(
            self.base.replace("http", "ws", 1) + "/_stcore/stream",
            additional_headers={"Cookie": cookies},
            subprotocols=["streamlit"],
            max_size=None,
            proxy=None,
            open_timeout=PATIENCE,
            ping_interval=None,
        )
        self._listening = asyncio.create_task(self._listen())
        self._listening.add_done_callback(lambda _: self._ended.set())  # nobody waits for what cannot come

    async def leave(self) -> None:
        self._listening.cancel()
        with suppress(asyncio.CancelledError, WebSocketException):
            await self._listening
        await self._socket.close()

    async def open(self, page: str, query: str = "") -> float:
        """A page by its name in the address."""
        self.widgets, self.states, self.again, self._query = {}, {}, {}, query
        known = self.pages.get(page, "")
        self._page = known
        return await self._run(ClientState(query_string=query, page_script_hash=known, page_name="" if known else page))

    async def move(self, part: str, value: str) -> float:
        """The slider whose key has this part, to one of its options."""
        name, widget = self.find("slider", part)
        state = WidgetState(id=name)
        state.string_array_value.data.append(value)
        self.states[name] = state
        return await self._run(self._state(widget.fragment))

    async def choose(self, part: str, place: int) -> float:
        """One of the options of the list whose key has this part."""
        name, widget = self.find("selectbox", part)
        self.states[name] = WidgetState(id=name, string_value=widget.proto.options[place])
        return await self._run(self._state(widget.fragment))

    async def type(self, part: str, value: str) -> None:
        name, _ = self.find("text_input", part)
        self.states[name] = WidgetState(id=name, string_value=value)

    async def enter(self, part: str, value: str) -> float:
        """Type, and leave the field."""
        await self.type(part, value)
        return await self._run(self._state(self.find("text_input", part)[1].fragment))

    async def set(self, part: str, value: float) -> float:
        """The field for a number whose key has this part."""
        name, widget = self.find("number_input", part)
        self.states[name] = WidgetState(id=name, double_value=value)
        return await self._run(self._state(widget.fragment))

    async def unfold(self, part: str, is_open: bool = True) -> float:
        """Open what is folded under the title whose key has this part, or close it."""
        name, widget = self.find("expandable", part)
        self.states[name] = WidgetState(id=name, bool_value=is_open)
        return await self._run(self._state(widget.fragment))

    async def press(self, part: str) -> float:
        name, widget = self.find("button", part)
        self.states[name] = WidgetState(id=name, trigger_value=True)
        state = self._state(widget.fragment)
        del self.states[name]
        return await self._run(state)

    async def rerun(self, fragment: str) -> float:
        state = self._state(fragment)
        state.is_auto_rerun = True
        return await self._run(state)

    def shows(self, kind: str, part: str) -> bool:
        return any(widget.kind == kind and part in name for name, widget in self.widgets.items())

    def find(self, kind: str, part: str) -> tuple[str, Widget]:
        for name, widget in self.widgets.items():
            if widget.kind == kind and part in name:
                return name, widget
        raise LookupError(f"no {kind} with {part}: {sorted(self.widgets)}")

    def _state(self, fragment: str) -> ClientState:
        states = WidgetStates(widgets=list(self.states.values()))
        return ClientState(
            query_string=self._query, page_script_hash=self._page, fragment_id=fragment, widget_states=states
        )

    @property
    def query(self) -> str:
        """What the address says beside the page."""
        return self._query

    async def _run(self, state: ClientState) -> float:
        state.context_info.CopyFrom(
            ContextInfo(timezone="UTC", timezone_offset=0, locale="en-GB", url=self.base, color_scheme="light")
        )
        if not state.fragment_id:
            self.again = {}
        self.html = []
        self._ended.clear()
        begun = time.perf_counter()
        await self._socket.send(BackMsg(rerun_script=state).SerializeToString())
        await asyncio.wait_for(self._ended.wait(), PATIENCE)
        if self._listening.done():
            raise ConnectionError("the server has closed the connection")
        return time.perf_counter() - begun

    async def _listen(self) -> None:
        async for raw in self._socket:
            assert isinstance(raw, bytes)
            self.bytes += len(raw)
            message = ForwardMsg.FromString(raw)
            kind = message.WhichOneof("type")
            if kind == "delta":
                self._take(message.delta)
            elif kind == "new_session" and not message.metadata.run.fragment_ids:
                self.again, self.html, self.widgets = {}, [], {}  # the whole page runs anew, whoever asked for it
            elif kind == "new_session":  # a part of it does
                stale = set(message.metadata.run.fragment_ids)
                self.widgets = {name: one for name, one in self.widgets.items() if one.fragment not in stale}
            elif kind == "auto_rerun":
                self.again[message.auto_rerun.fragment_id] = message.auto_rerun.interval
            elif kind == "stop_auto_rerun":
                for gone in message.stop_auto_rerun.fragment_ids:
                    self.again.pop(gone, None)
            elif kind == "navigation":
                self.pages = {page.url_pathname: page.page_script_hash for page in message.navigation.app_pages}
                self._page = message.navigation.page_script_hash
            elif kind == "page_info_changed":
                self._query = message.page_info_changed.query_string
            elif kind == "script_finished" and message.script_finished in _DONE:
                if message.script_finished == ForwardMsg.FINISHED_SUCCESSFULLY:  # a browser forgets what is gone
                    self.states = {name: one for name, one in self.states.items() if name in self.widgets}
                self._ended.set()

    def _take(self, delta: Any) -> None:
        if delta.WhichOneof("type") == "new_element":
            element = delta.new_element
        elif delta.WhichOneof("type") == "add_block" and delta.add_block.WhichOneof("type"):
            element = delta.add_block
        else:
            return
        kind = str(element.WhichOneof("type"))
        proto = getattr(element, kind)
        if kind == "html":
            self.html.append(proto.body)
        if getattr(proto, "id", ""):
            self.widgets[proto.id] = Widget(kind, proto, delta.fragment_id)
            if getattr(proto, "set_value", False):
                self._follow(kind, proto)

    def _follow(self, kind: str, proto: Any) -> None:
        """The page has put another value into a field: a browser sends that from now on, and one that went on sending
        its own would seem to change the question with every click."""
        state = WidgetState(id=proto.id)
        if kind == "slider":
            state.string_array_value.data.extend(proto.raw_value)
        elif kind in ("selectbox", "text_input"):
            state.string_value = proto.raw_value if kind == "selectbox" else proto.value
        else:
            return
        self.states[proto.id] = state


def _cookies(base: str) -> str:
    ask = urllib.request.build_opener(urllib.request.ProxyHandler({})).open
    with ask(f"{base}/", timeout=PATIENCE) as answer:
        made = answer.headers.get_all("set-cookie") or []
    return "; ".join(one.split(";")[0] for one in made)


def worked(server: int) -> float:
    """Seconds of processor time a process has used: what no other work on the machine changes much."""
    fields = Path(f"/proc/{server}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def line_of(name: str, found: list[float]) -> str:
    """A row of a table of times."""
    if len(found) < 2:
        return f"| {name} | {len(found)} | | | |"
    cuts = quantiles(found, n=20, method="inclusive")
    return f"| {name} | {len(found)} | {cuts[9]:.2f} s | {cuts[-1]:.2f} s | {max(found):.2f} s |"
