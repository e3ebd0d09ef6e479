"""`make shots`: a picture of every page and every lesson in every look and language, and a sheet to look at them all.

The pictures are build/shots/<language>-<look>-<view>.png, the sheet is build/shots/index.html. axe-core reads each page
as it is pictured and with everything unfolded; what it finds is printed. What is bought (`views.BUYING`) and how a
file is declared (`declare`) are pictured if they are named.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from html import escape
from pathlib import Path
from typing import Any

from browser import views
from browser.steps import LIMIT, SHOTS, go, shot
from browser.test_axe import opened, violations
from conftest import CHROMIUM_FLAGS, NO_CHROMIUM, serving
from playwright.sync_api import sync_playwright

from dpengine.messages import MEANT
from dpengine.messages.language import LANGUAGES, STORED

Taken = dict[str, dict[tuple[str, str], Path]]  # by view, then by language and look

STYLE = """body { font: 15px sans-serif; margin: 2rem; background: #eceae4; } section { margin: 0 0 2rem; }
div { display: flex; gap: 1rem; overflow-x: auto; align-items: flex-start; } figure { margin: 0; flex: none; }
img { display: block; height: 26rem; border: 1px solid #bbb; background: #fff; } h2 { margin: 0 0 .4rem; }"""


def main(wanted: list[str]) -> int:
    """All of it, or the languages, looks and views that are named."""
    chromium = shutil.which("chromium")
    if chromium is None:
        print(f"No pictures: {NO_CHROMIUM}", file=sys.stderr)
        return 1
    taken: Taken = {}
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as home, sync_playwright() as playwright:
        with serving(Path(home), Path(home) / "said.log") as server:
            browser = playwright.chromium.launch(executable_path=chromium, args=CHROMIUM_FLAGS)
            for lang in _some(LANGUAGES, wanted):
                for look in _some(tuple(views.LOOKS), wanted):
                    for name, picture in _through(browser, server.url, lang, look, wanted).items():
                        taken.setdefault(name, {})[lang, look] = picture
                    print(f"{lang}, {look}: {time.monotonic() - began:.0f} s so far")
            browser.close()
    if not taken:
        print(f"No pictures: name languages, looks ({', '.join(views.LOOKS)}) or views.", file=sys.stderr)
        return 1
    (SHOTS / "index.html").write_text(_sheet(taken), encoding="utf-8")
    print(f"{sum(map(len, taken.values()))} pictures; open {SHOTS / 'index.html'}")
    return 0


def _some(all_of_them: tuple[str, ...], wanted: list[str]) -> tuple[str, ...]:
    return tuple(one for one in all_of_them if one in wanted) or all_of_them


def _through(browser: Any, url: str, lang: str, look: str, wanted: list[str]) -> dict[str, Path]:
    """One visitor with this look and language sees everything: first as new, then after asking."""
    options = {"viewport": {"width": 1280, "height": 900}, "reduced_motion": "reduce", "locale": "en-GB"}
    context = browser.new_context(base_url=url, **(options | views.LOOKS[look]))
    context.set_default_timeout(LIMIT)
    page = context.new_page()
    taken: dict[str, Path] = {}

    def picture(name: str, unfold: bool = True) -> None:
        state = f"{lang}-{look}-{name}"
        taken[name] = shot(page, state, always=True)
        wrong = violations(page)
        if unfold:
            opened(page)
            wrong += [f"(unfolded) {line}" for line in violations(page) if line not in wrong]
        print(*(f"{state}: {line}" for line in wrong), sep="\n", end="\n" if wrong else "", flush=True)

    def take(addresses: dict[str, str]) -> None:
        for name, address in addresses.items():
            if not _named(wanted) or name in wanted:
                go(page, address + ("&" if "?" in address else "?") + f"lang={lang}")
                picture(name)

    def named(*names: str) -> bool:
        return everywhere and bool({*names} & {*wanted})

    everywhere = MEANT[lang] == MEANT[STORED]
    take((views.pages() | views.closely() if everywhere else {}) | views.each_lesson() | views.choices())
    if (everywhere and not _named(wanted)) or named("first-answer", "ask-answer", *views.after_asking()):
        take(views.use(page, lang) | views.after_asking())
    if named("look-group", "report", *views.BUYING):
        take(views.buy(page, lang))
    if named("declare"):
        for name in views.declare(page, lang):
            picture(name, unfold=False)
    context.close()
    return taken


def _named(wanted: list[str]) -> bool:
    """Whether views were named, not languages and looks alone."""
    return bool({*wanted} - {*LANGUAGES} - {*views.LOOKS})


def _sheet(taken: Taken) -> str:
    parts = []
    for name, pictures in taken.items():
        figures = "".join(
            f'<figure><a href="{escape(picture.name)}"><img loading="lazy" alt="" src="{escape(picture.name)}"></a>'
            f"<figcaption>{escape(lang)}, {escape(look)}</figcaption></figure>"
            for (lang, look), picture in pictures.items()
        )
        parts.append(f"<section><h2>{escape(name)}</h2><div>{figures}</div></section>")
    head = f'<meta charset="utf-8"><title>Allowance</title><style>{STYLE}</style>'
    return f'<!doctype html><html lang="en">{head}{"".join(parts)}</html>'


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
