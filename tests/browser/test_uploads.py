"""A real server and files: none from a page that asks for none, whatever is sent; one from a page that does, on the
disk and not in memory; and gone when its visitor is."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from browser.journeys import until
from browser.steps import go, settled
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

BIG = 60 * 2**20
SEND = """async ([session, size, times]) => {
    const token = (document.cookie.match(/_streamlit_xsrf=([^;]+)/) || [])[1] || '';
    const told = [];
    for (let time = 0; time < times; time++) {
        const form = new FormData();
        form.append('file', new Blob([new Uint8Array(size)]), 'big.csv');
        try {
            const answer = await fetch(`/_stcore/upload_file/${session}/${crypto.randomUUID()}`, {
                method: 'PUT', body: form, headers: {'X-Xsrftoken': token},
            });
            told.push(answer.status);
        } catch (error) { told.push('cut off'); }
    }
    return [token !== '', told];
}"""


def memory(process: Any) -> int:
    """Bytes of memory that a process has in use."""
    status = Path(f"/proc/{process.pid}/status").read_text()
    found = re.search(r"VmRSS:\s+(\d+) kB", status)
    assert found is not None
    return int(found[1]) * 1024


def at_rest(process: Any) -> None:
    """Once the server has imported what first questions need, which it does behind the first page: no thread of it runs
    or waits for a processor or a disk, for two seconds on end, twice what it waits before it begins."""
    calm = 0
    while calm < 40:
        states = [
            path.read_text().rpartition(")")[2].split()[0] for path in Path(f"/proc/{process.pid}/task").glob("*/stat")
        ]
        calm = calm + 1 if set(states) <= {"S", "I"} else 0
        time.sleep(0.05)


def uploads(home: Path) -> list[int]:
    return sorted(path.stat().st_size for path in (home / "tmp").glob("upload-*"))


def bring(page: Any, file: Any) -> None:
    page.locator('input[type="file"]').first.set_input_files(file)
    page.get_by_role("heading", name="Can one person").first.wait_for()  # it is read without doubt
    settled(page)


@pytest.mark.long  # tests/pages/test_incoming.py has the same rules, without a server
def test_files_come_in_only_where_asked_for_and_go_with_their_visitor(
    open_page: Callable[..., Any], own_server: Callable[..., Any], tmp_path: Path, server_log: Path
) -> None:
    table = tmp_path / "people.csv"
    line = b"Ana,Bled,31\n"
    table.write_bytes(b"name,town,age\n" + line * (3 * BIG // len(line)))
    third = tmp_path / "third.csv"
    third.write_bytes(b"name,town,age\n" + line * (BIG // len(line)))
    with own_server(tmp_path / "home", server_log, "--server.disconnectedSessionTTL=1") as server:
        page, sessions = open_page(), list[str]()

        def listen(payload: Any) -> None:
            told = ForwardMsg.FromString(payload)
            if told.WhichOneof("type") == "new_session":
                sessions.append(told.new_session.initialize.session_id)

        page.on("websocket", lambda socket: socket.on("framereceived", listen))
        go(page, f"{server.url}/ask")
        at_rest(server.process)
        before = memory(server.process)
        known, told = page.evaluate(SEND, [sessions[-1], BIG, 2])
        assert known and set(told) <= {403, "cut off"}, told
        assert not uploads(server.home) and memory(server.process) < before + BIG
        go(page, f"{server.url}/data")  # now there is an uploader; what it did not announce is still refused
        earlier = open_page()  # reading a first file imports libraries and fills their buffers, once
        go(earlier, f"{server.url}/data")
        bring(earlier, third)
        earlier.context.close()
        assert until(lambda: not uploads(server.home))
        at_rest(server.process)
        before = memory(server.process)
        assert set(page.evaluate(SEND, [sessions[-1], BIG, 1])[1]) <= {403, "cut off"}
        bring(page, table)
        assert uploads(server.home) == [table.stat().st_size]
        # Blocks that are read ahead take about as much of it whatever a file's size: this one is thrice the bound.
        assert memory(server.process) < before + BIG
        page.context.close()
        assert until(lambda: not uploads(server.home))
