"""How long a page takes: `python -m bench.pages`, or of some pages: `python -m bench.pages ask tables`.

A visitor with a table of 30,000 people and a few answers goes from page to page.

Three figures stand against the same frame with nothing in it, each the best of several, since other work on the
machine only adds. *Opened*: by its address in chromium, until all of it is drawn and quiet, which is the last change of
anything on the page, or the end of the last long task of its scripts, before a third of a second without either; no
page may take more than 1.5 times the empty one. Each, the empty one too, is opened in a tab that shows nothing, so that
no figure holds the taking down of the page before it. *Clicked*: the same after a click on a link in the app. Streamlit
itself is there already, so the empty page is a head and a meter, and the ratio says how much more a page holds than
that: it is printed and has no limit. *Work*: the server's processor time for one run of the script.
*Four people* work at once on one server: each opens every page in an order of their own, again and again, without a
pause. No page may take more than two seconds, from the click until its script has ended.

With Ask, also what clicks on it cost a server, and the first question of a new table: bench/clicks.py.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import os
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Iterable
from typing import Any
from unittest.mock import patch
from urllib.parse import urlencode

from bench import clicks
from bench.measure import drawn, must
from bench.tasks import ROOT

TIMES = 5
MOST = 1.5  # times the work on an empty page
LIMIT = 2.0  # seconds, with four people
PEOPLE = 30_000
AT_ONCE, ROUNDS = 4, 3
EMPTY = "empty"
VIEWS = {"ledger": ("answers", {"view": "ledger"}), "session": ("several", {"view": "after"})}  # second views of a page
NO_TABLE = ("start", "lessons", "thesis")
ASKED: tuple[tuple[str, dict[str, Any]], ...] = (
    ("median", {"column": "age", "epsilon": "0.05"}),
    ("mean", {"column": "hours", "epsilon": "0.05"}),
    ("histogram", {"column": "schooling", "epsilon": "0.05"}),
    ("count", {"where": [["age", ">=", 65]], "epsilon": "0.05"}),
    ("overview", {"against": ["schooling"], "epsilon": "0.1"}),  # the page of first looks shows its board
)

_WATCH = """
let last = 0;
const moved = end => { last = Math.max(last, end); };
new MutationObserver(() => moved(performance.now())).observe(
    document, {subtree: true, childList: true, attributes: true, characterData: true});
new PerformanceObserver(list => { for (const one of list.getEntries()) moved(one.startTime + one.duration); }).observe(
    {type: "longtask", buffered: true});
window.drawn = (since, left = () => true) => new Promise((resolve, reject) => {
    const look = () => {
        const app = document.querySelector("[data-testid=stApp]"), now = performance.now();
        const over = app && app.getAttribute("data-test-script-state") === "notRunning" && left();
        const all = over && document.querySelector(".meter") && [...document.images].every(one => one.complete);
        if (!all) moved(now);
        if (all && now - last > 333) resolve(last - since);
        else if (now - since > 60000) reject(new Error("the page was never drawn"));
        else setTimeout(look, 10);
    };
    look();
});
const place = () => [...document.querySelectorAll("[aria-current=page]")].map(one => one.innerText).join();
window.clicked = name => {
    const link = [...document.querySelectorAll(".st-key-links a")].find(one => one.innerText.trim() === name);
    const before = place();
    let ran = false;  // of a short run the browser may see the end alone
    new MutationObserver(() => { ran = true; }).observe(
        document.querySelector("[data-testid=stApp]"), {attributeFilter: ["data-test-script-state"]});
    const began = performance.now();
    link.click();
    return window.drawn(began, () => !document.querySelector(".st-key-links") && (ran || place() !== before));
};
"""


def main() -> int:
    """One line for each page; 1 where any took longer than it may."""
    parser = argparse.ArgumentParser(prog="bench.pages", description=__doc__)
    parser.add_argument("pages", nargs="*", help="names of pages; without any, all")
    parser.add_argument("--write", action="store_true", help="put their lines into bench/results-pages.md")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["ALLOWANCE_HOME"] = folder
        sys.path.insert(0, str(ROOT))
        table = _declare(folder)
        names = given.pages or names_of_pages()
        work = measure(names)
        table.close()
        opened, clicked = in_browser(folder, names)
        together = asyncio.run(_together(folder, names))
        costs = asyncio.run(clicks.measure(folder)) if "ask" in names else {}
    lines, bad = report(work, opened, clicked, together)
    told, over = clicks.report(costs)
    print("\n".join([*lines.values(), *told]))
    if given.write:
        _write(lines, told)
    return int(bad or over)


def names_of_pages() -> list[str]:
    from ui.shell import nav

    left_out = ("wall", "people", "accounts", "programs")  # of a workshop, or of a server where people sign in
    return [name for name in (*nav.NAMES, *VIEWS) if name not in left_out]


Seconds = dict[str, float]  # by page


def report(
    work: Seconds, opened: Seconds, clicked: Seconds, together: dict[str, list[float]]
) -> tuple[dict[str, str], bool]:
    """What was measured, by page; and whether any took longer than it may. Pages that nobody opened are no result."""
    must(work.get(EMPTY) and len(work) > 1, "no page was timed")
    must(opened.keys() == work.keys() == clicked.keys(), "not every page was opened in a browser")
    must(
        together.keys() == work.keys() - {EMPTY} and all(together.values()), "not every page was opened by four people"
    )
    bad, lines = False, {}
    for name in work:
        found = [(one[name] * 1000, one[name] / one[EMPTY]) for one in (opened, clicked, work)]
        cells = [f"{figure:.0f} ms, {ratio:.1f} x" for figure, ratio in found]
        worst = max(together.get(name, [0.0]))
        much = [f"more than {MOST} times"] * (found[0][1] > MOST) + [f"more than {LIMIT:g} s"] * (worst > LIMIT)
        bad = bad or bool(much)
        cells += [f"{worst:.2f} s" if worst else "", ", ".join(much)]
        lines[name] = f"| {' | '.join([name, *cells])} |"
    return lines, bad


_HEAD = """# How long a page takes

Written by `python -m bench.pages --write`, a few pages at a time. Beside each figure: how many times that of an empty
page with the same frame, measured in turns with it. *Opened*: by its address in chromium, in a tab that shows nothing
(the empty page too, so that no figure holds the taking down of the page before it), until it is drawn and quiet.
*Clicked*: the same after a click in the app, where the empty page is a head and a meter. *Work*: the server's processor
time for one run. *Four people*: the slowest of all times that one of four opened it, all working at once without a
pause, until its script has ended. Opened, no page may take more than 1.5 times the empty one; with four people, none
more than 2 s. Each few pages stand against the empty page measured with them, so milliseconds differ between batches.

| page | opened | clicked | work | four people | too long |
|---|---|---|---|---|---|
"""


def _write(lines: dict[str, str], told: list[str]) -> None:
    """These lines, and those of the other pages as they were; what clicks on Ask cost, if that was `told` anew."""
    path = ROOT / "bench" / "results-pages.md"
    kept = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    kept, old = (
        (kept[: kept.index(clicks.TITLE)], kept[kept.index(clicks.TITLE) :]) if clicks.TITLE in kept else (kept, [])
    )
    before = {line.split(" | ")[0].removeprefix("| "): line for line in kept if line.startswith("| ")}
    every = before | lines
    order = [name for name in (EMPTY, *names_of_pages()) if name in every]
    parts = [*(every[name] for name in order), "", *(clicks.text(told) if told else old)]
    path.write_text(_HEAD + "\n".join(parts).rstrip() + "\n", encoding="utf-8")


def in_browser(folder: str, names: Iterable[str]) -> tuple[Seconds, Seconds]:
    """By page: the least seconds until it is drawn, opened by its address and clicked in the app."""
    from playwright.sync_api import sync_playwright

    from bench.page import FLAGS, _served

    opened, clicked = dict[str, list[float]](), dict[str, list[float]]()
    with _served("app.py", folder, "bench.frame_app") as base, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        tab = browser.new_page(viewport={"width": 1280, "height": 800})
        tab.add_init_script(_WATCH)
        for turn in range(TIMES + 1):
            for name in (EMPTY, *names):
                page, address = addresses()[name]
                tab.goto("about:blank")
                tab.wait_for_timeout(300)  # the page before is taken down
                tab.goto(f"{base}/{'' if page == 'start' else page}?{urlencode(address)}")
                by_address = tab.evaluate("() => window.drawn(0)")
                tab.goto(f"{base}/thesis?links=1")
                tab.locator(".st-key-links a").last.wait_for()
                tab.evaluate("() => window.drawn(0)")
                tab.wait_for_timeout(300)
                by_click = tab.evaluate("name => window.clicked(name)", name)
                if turn:  # the first time somebody opens a page it is imported
                    opened.setdefault(name, []).append(by_address / 1000)
                    clicked.setdefault(name, []).append(by_click / 1000)
        browser.close()
    return {name: min(times) for name, times in opened.items()}, {name: min(times) for name, times in clicked.items()}


def measure(names: Iterable[str]) -> Seconds:
    """By page: the least processor time of several changes to it, in seconds; first of the frame alone."""
    from streamlit.testing.v1 import AppTest

    from ui.shell import speed

    app = AppTest.from_file(str(ROOT / "ui" / "main.py"), default_timeout=300)
    app.query_params["table"] = "census"
    app.run()
    speed.settle(again=True)
    with patch("ui.publish.more.show", lambda table: None):
        found = {EMPTY: _best(app, "more")}
    return found | {name: _best(app, name) for name in names}


def _best(app: Any, name: str) -> float:
    times = []
    for _ in range(TIMES):
        _open(app, "thesis" if name != "thesis" else "lessons")
        gc.collect()
        began = time.process_time()
        _open(app, name)
        times.append(time.process_time() - began)
    return min(times)


def _open(app: Any, name: str) -> None:
    page, address = _address(name)
    for key in list(app.query_params):
        del app.query_params[key]
    for key, value in address.items():
        app.query_params[key] = value
    app.switch_page(str(ROOT / "pages" / f"{page}.py")).run()
    drawn(app, name)


def _address(name: str) -> tuple[str, dict[str, str]]:
    page, address = VIEWS.get(name, (name, {}))
    return page, address | ({} if page in NO_TABLE else {"table": "census"})


def addresses() -> dict[str, tuple[str, dict[str, str]]]:
    return {name: _address(name) for name in names_of_pages()} | {EMPTY: ("more", {"table": "census", EMPTY: "1"})}


async def _together(folder: str, names: list[str]) -> dict[str, list[float]]:
    """By page: the seconds of each time that one of four people opened it."""
    from bench.page import _served

    found: dict[str, list[float]] = {name: [] for name in names}
    with _served("app.py", folder) as base:
        await asyncio.gather(*(_person(base, names, place, found) for place in range(AT_ONCE)))
    return found


async def _person(base: str, names: list[str], place: int, found: dict[str, list[float]]) -> None:
    from bench.sockets import Visitor

    visitor, order = Visitor(base), random.Random(place)
    await visitor.come()
    await visitor.open("")  # what is imported once is not what a page takes
    for turn in range(ROUNDS):
        for name in order.sample(names, len(names)):
            page, address = _address(name)
            took = await visitor.open("" if page == "start" else page, urlencode(address))
            must(any('class="meter"' in part for part in visitor.html), f"{name}: the page could not be drawn")
            if turn:  # the first time somebody opens a page it is imported
                found[name].append(took)
    await visitor.leave()


def _declare(folder: str) -> Any:
    """A workspace with a census-like table, and what was asked of it."""
    import numpy as np
    import pandas as pd

    import dpengine as dp

    draw = np.random.default_rng(1)  # made-up people: nothing here is private
    levels = ["primary", "secondary", "vocational", "bachelor", "master", "doctor"]
    numbers = {f"amount_{place}": draw.integers(0, 1000, PEOPLE) for place in range(12)}
    rows = {"age": draw.integers(17, 90, PEOPLE), "hours": draw.integers(0, 80, PEOPLE), **numbers}
    rows["schooling"] = draw.choice(levels, PEOPLE)
    columns: dict[str, Any] = {name: dp.Number(0, 1000, step=1) for name in numbers}
    columns |= {"age": dp.Number(0, 100, step=1), "hours": dp.Number(0, 100, step=1)}
    columns["schooling"] = dp.Category(levels, unknown="primary", missing="primary")
    home = dp.open_workspace(folder)
    declared: dict[str, Any] = {"schema": dp.Schema(columns), "unit": dp.Unit.rows(), "budget": dp.Budget("1", "1e-6")}
    frame = pd.DataFrame(rows)
    for name in clicks.NEW_TABLES:
        home.add_table(name, frame, **declared)
    table = home.add_table(clicks.TABLE, frame, **declared)
    for key, parameters in ASKED:
        table.ask(table.query(key, **parameters))
    return home


if __name__ == "__main__":
    sys.exit(main())
