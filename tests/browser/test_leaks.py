"""Canaries in a table that a person brings are looked for in all that a browser is sent and all that the server writes;
and names that are more than names stay text."""

from __future__ import annotations

import os
import re
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from browser.journeys import download, first_asked, kind
from browser.steps import go, settled, shot
from browser.test_data import Bringing, csv_file
from leaks import exits, hostile, stage, tally
from leaks.canaries import Scan

import dpengine as dp

# Elements that a name has become.
_MADE = """(mark) => [
    ...document.querySelectorAll(`${mark}, [onerror], [onload], a[href^="javascript"], img[src="x"]`),
    ...[...document.querySelectorAll('strong, em, code, .katex')].filter(one => one.textContent.includes(mark)),
].map(one => one.outerHTML)"""
PEOPLE = 40_000  # rows enough for a file that the web server does not keep in memory


class Watch:
    """Everything that passes between a page and the server."""

    def __init__(self, page: Any, scan: Scan) -> None:
        self.scan, self.page, self.dialogs, self.elsewhere, self.frames = scan, page, [], [], 0
        self.bodies: list[Any] = []
        page.on("websocket", self._socket)
        page.on("response", lambda answer: self.bodies.append(answer))
        page.on("console", lambda said: scan.look("console of the browser", said.text))
        page.on("dialog", lambda dialog: (self.dialogs.append(dialog.message), dialog.dismiss()))
        page.on("request", self._asked)

    def _socket(self, socket: Any) -> None:
        socket.on("framereceived", lambda data: self._frame("frames to the browser", data))
        socket.on("framesent", lambda data: self._frame("frames from the browser", data))

    def _frame(self, exit: str, data: Any) -> None:
        self.frames += 1
        self.scan.look(exit, data)

    def _asked(self, request: Any) -> None:
        self.scan.look("addresses asked", request.url)
        if not request.url.startswith(("http://127.0.0.1", "http://localhost", "ws://127.0.0.1", "data:", "blob:")):
            self.elsewhere.append(request.url)

    def look(self, place: str) -> None:
        """The page as it stands."""
        self.scan.look("page in the browser", self.page.content(), place)
        self.scan.look("addresses", f"{self.page.url} {self.page.title()}", place)
        for answer in self.bodies:
            self.scan.look("headers", repr(answer.headers), place)
            saved = "attachment" in answer.headers.get("content-disposition", "")  # kept by no page: `taken` reads it
            fetched = answer.request.method == "GET" and answer.status == 200
            if fetched and not saved and "/static/" not in answer.url:
                self.scan.look("answers of the server", answer.body(), answer.url)
        self.bodies.clear()


class Open:
    """Which files a process opens that have no name, while something is under way."""

    def __init__(self, pid: int) -> None:
        self.seen: set[str] = set()
        self._pid, self._stop = pid, threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def _run(self) -> None:
        while not self._stop.is_set():
            for link in Path(f"/proc/{self._pid}/fd").iterdir():
                try:
                    self.seen.add(os.readlink(link))
                except OSError:
                    continue
            time.sleep(0.001)

    def __enter__(self) -> Open:
        self._thread.start()
        return self

    def __exit__(self, *_: Any) -> None:
        self._stop.set()
        self._thread.join()

    def nameless(self) -> set[str]:
        return {name for name in self.seen if name.startswith("/") and "(deleted)" in name and "/dev/" not in name}


def taken(page: Any, label: str) -> bytes:
    came = download(page, page.get_by_role("button", name=label).first)
    return bytes(came.path().read_bytes()) + str(came.suggested_filename).encode()


@pytest.mark.long
@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="looks into /proc")
def test_no_canary_reaches_a_browser_or_the_disk(browser: Any, own_server: Callable[..., Any], tmp_path: Path) -> None:
    home, temporary, log = tmp_path / "home", tmp_path / "temporary", tmp_path / "server.log"
    temporary.mkdir()
    found = stage.canaries()
    scan = Scan(found)
    content = stage.written(tmp_path / "people.csv", stage.rows(found, PEOPLE)).read_bytes()
    assert len(content) > 2 * 2**20
    with own_server(home, log, "--logger.level=debug", TMPDIR=str(temporary)) as server:
        context = browser.new_context(base_url=server.url, locale="en-GB", accept_downloads=True)
        page = context.new_page()
        watch = Watch(page, scan)
        bringing = Bringing(page, "canaries")
        ragged = content.splitlines()[0] + b"\n" + content.splitlines()[-1] + b",more\n"
        bringing.upload(csv_file("ragged.csv", ragged), "Are these the columns?", "names")
        page.get_by_role("button", name="Yes, go on", exact=True).click()
        page.locator(".refused").first.wait_for()
        watch.look("refused")
        page.get_by_role("button", name="Start over").first.click()
        page.get_by_role("heading", name="Are these").wait_for(state="detached")
        settled(page)
        with Open(server.process.pid) as files:
            bringing.upload(csv_file("people.csv", content), "Are these the columns?", "names")
        bringing.press("Yes, go on", "Can one person have several rows?", "unit")
        bringing.pick("one row each").pick("only the details")
        bringing.press("Go on", "What can be in the columns?", "cards")
        age = [one.inner_text() for one in page.locator(".line > b").all()].index("age")
        assert page.locator(f".st-key-line-{age} .guess").count() == 1
        bringing.agree()
        bringing.press("Go on", "How careful?", "care").pick("Usual").press("Add the table", "is ready", "done")
        watch.look("added")
        first_asked(page, "age")
        watch.look("answered")
        for address in (
            "/answers?view=ledger",
            "/several?view=after",
            "/several",
            "/whatif?from=table",
            "/data",
            "/data?change=1",
            "/",
        ):
            go(page, address + ("&" if "?" in address else "?") + urlencode({"table": "people"}))
            watch.look(address)
        go(page, "/answers?view=ledger&table=people")
        for label in ("Report to read (HTML)", "Answers (CSV)", "Ledger (CSV)"):
            if page.get_by_role("button", name=label).count():
                scan.look("downloads", taken(page, label), label)
        upload = page.locator(".st-key-receipt-file input[type=file]")
        upload.set_input_files(csv_file("people.csv", content[: 10**6]))  # the wrong file
        page.locator(".st-key-card-receipt [role=alert]").wait_for()
        settled(page)
        watch.look("wrong receipt")
        context.close()
    assert watch.frames > 50 and not watch.elsewhere
    assert any(name.startswith(str(home / "tmp" / "upload-")) for name in files.seen)  # the watch sees the file arrive
    outside = {name for name in files.nameless() if not name.startswith(str(home))}
    assert not outside, outside
    scan.look("log of the server at debug level", log.read_bytes())
    exits.folder(scan, temporary, "temporary files")
    for path in (home / "tmp").glob("upload-*"):
        path.unlink()  # the one that was refused waits for a day; it is the table itself
    exits.files(scan, home)
    tally.tell(scan, "browser and server")
    assert not scan.findings


@pytest.mark.long
def test_hostile_names_stay_text_in_a_browser(browser: Any, own_server: Callable[..., Any], tmp_path: Path) -> None:
    home = tmp_path / "home"
    workspace = dp.open_workspace(home)
    budget = dp.Budget("50", "1e-5")
    table = workspace.add_table(
        hostile.TABLE, hostile.frame(), schema=hostile.schema(), unit=dp.Unit.rows(), budget=budget
    )
    lists = table.schema.of_kind(dp.Category)
    bars = table.query("histogram", column=lists[0], epsilon="1")
    values = table.query("find_declarations", lists=[f"free {hostile.HTML}"], epsilon="2", delta="1e-7")
    answers = [table.ask(query) for query in (bars, values)]
    seen = 0
    with own_server(home, tmp_path / "server.log") as server:
        context = browser.new_context(base_url=server.url, locale="en-GB")
        page = context.new_page()
        watch = Watch(page, Scan([]))
        for place, (address, given) in enumerate(
            [
                ("/ask", {"answer": answers[0].request_id}),
                ("/ask", {"answer": answers[1].request_id}),
                ("/ask", {"q": "mean", "column": hostile.SIGNS, "by": lists[1]}),
                ("/data", {}),
                ("/data", {"change": "1"}),
                ("/answers?view=ledger", {}),
                ("/several?view=after", {}),
                ("/several", {}),
                ("/whatif", {"from": "table"}),
            ]
        ):
            go(page, f"{address}?{urlencode({'table': hostile.TABLE} | given)}")
            kind(page)
            made = page.evaluate(_MADE, hostile.MARK)
            assert not made, (address, made)
            seen += hostile.MARK in page.locator("body").inner_text()
            shot(page, f"hostile-{place}")
        context.close()
    assert seen == 9 and not watch.dialogs
    assert not [url for url in watch.elsewhere if re.match("https?://", url)]
