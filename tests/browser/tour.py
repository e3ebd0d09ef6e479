"""`make tour`: the pictures of docs/tour.md, docs/images/tour-<name>.png, each from a walk through the real app.

The walk is a visitor's: the practice town, and a made-up file of their own. What a person sees without scrolling is
the picture. Nothing is checked here; a page that does not come ends the walk.
"""

from __future__ import annotations

import io
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from browser.journeys import ask, ask_link, first_answer
from browser.steps import LIMIT, go, settled
from browser.test_data_lines import Clicking
from conftest import CHROMIUM_FLAGS, NO_CHROMIUM, serving
from files.make_census import census
from PIL import Image
from playwright.sync_api import sync_playwright

IMAGES = Path(__file__).resolve().parents[2] / "docs" / "images"
WIDE, HIGH = 1280, 800


def main() -> int:
    chromium = shutil.which("chromium")
    if chromium is None:
        print(f"No pictures: {NO_CHROMIUM}", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory(prefix="allowance-") as home, sync_playwright() as playwright:
        with serving(Path(home), Path(home) / "said.log") as server:
            browser = playwright.chromium.launch(executable_path=chromium, args=CHROMIUM_FLAGS)
            options = {"viewport": {"width": WIDE, "height": HIGH}, "reduced_motion": "reduce", "locale": "en-GB"}
            context = browser.new_context(base_url=server.url, **options)
            context.set_default_timeout(LIMIT)
            page = context.new_page()
            for name in _walk(page):
                settled(page)
                picture = Image.open(io.BytesIO(page.screenshot(animations="disabled")))
                small = picture.convert("RGB").quantize(64, dither=Image.Dither.NONE)
                small.save(IMAGES / f"tour-{name}.png", optimize=True)
                print(f"docs/images/tour-{name}.png")
            browser.close()
    return 0


def _walk(page: Any) -> Iterator[str]:
    """Goes on with each picture that was taken."""
    go(page, "/")
    yield "start"
    first_answer(page)
    yield "answer"
    go(page, ask_link("town", "median", column="monthly_income", where=[["has_car", "in", ["yes"]]], epsilon="0.05"))
    yield "ask"
    ask(page, ask_link("town", "histogram", column="district", epsilon="0.1"))
    go(page, "/board?table=town")
    page.get_by_role("button", name="Take the first look — takes").click()
    page.get_by_text("everything here is now free").wait_for()
    yield "board"
    go(page, "/several?table=town")
    yield "several"
    go(page, "/answers?table=town")
    yield "answers"
    go(page, "/answers?view=ledger&table=town")
    yield "ledger"
    for place in ("publish", "synthetic", "train", "whatif", "lessons", "audit"):
        go(page, f"/{place}")
        yield place
    clicking = Clicking(page, "en", "my people").bring(census(2_000))
    clicking.pick("data.unit.one_label").pick("data.relation.replace_label")
    yield "people"
    clicking.press("data.next").on("data.cards.title")
    yield "columns"
    clicking.press("data.cards.agree_add").on("data.done.title", table=clicking.name)
    yield "added"
    go(page, "/tables")
    yield "tables"


if __name__ == "__main__":
    sys.exit(main())
