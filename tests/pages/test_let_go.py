"""Whoever left is let go of, also when nobody comes after them."""

from __future__ import annotations

import asyncio

import pytest
from streamlit import runtime
from streamlit.runtime.memory_session_storage import MemorySessionStorage

from ui.shell import speed


def test_sessions_that_are_over_are_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    """Streamlit's own parts are still called what speed.py calls them, and its storage forgets what is over."""
    storage = MemorySessionStorage(ttl_seconds=0)

    class Info:
        class session:
            id = "somebody"

    storage.save(Info)  # type: ignore[arg-type]

    class Manager:
        _session_storage = storage

    class Here:
        _session_mgr = Manager

        def _get_async_objs(self) -> object:
            return self

    async def left() -> int:
        Here.eventloop = asyncio.get_running_loop()  # type: ignore[attr-defined]
        await asyncio.to_thread(speed._let_go)
        await asyncio.sleep(0)
        return len(storage._cache._expirations)  # type: ignore[attr-defined]

    monkeypatch.setattr(speed, "_EVERY", 0.0)
    monkeypatch.setattr(runtime, "get_instance", Here)
    assert asyncio.run(left()) == 0
    from streamlit.runtime.runtime import Runtime
    from streamlit.runtime.websocket_session_manager import WebsocketSessionManager

    assert hasattr(Runtime, "_get_async_objs")
    assert "_session_mgr" in Runtime.__init__.__code__.co_names
    assert "_session_storage" in WebsocketSessionManager.__init__.__code__.co_names
