"""Words that explain themselves, *What is this?* and the guided start."""

from __future__ import annotations

import asyncio
import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from dpengine import messages
from dpengine.messages import say
from dpengine.messages.language import speaking
from dpengine.workspace import Workspace
from ui.shell import nav, tour, web
from ui.words import gloss

ROOT = Path(__file__).resolve().parents[2]
MARKED = re.compile(r'<dfn class="gloss" tabindex="0" aria-description="([^"]*)">([^<]*)</dfn>')


def marks(html: str) -> list[str]:
    return [shown for _, shown in MARKED.findall(html)]


def test_a_word_is_marked_once_and_nothing_else_changes() -> None:
    told = "Noise hides one person; more noise costs less ε, and e^ε is no word. Non-noise is neither."
    html = gloss.text(told)
    assert marks(html) == ["Noise", "ε"]
    assert MARKED.sub(r"\2", html) == told


@pytest.mark.parametrize(
    "safe",
    [
        '<a href="/ledger?noise=1">the ledger</a>',
        '<p class="noise" title="noise">quiet</p>',
        "<h2>Noise</h2>",
        "<code>noise</code>",
        "&noise;",
        "denoised",
        "",
        "ledger-book",
    ],
)
def test_tags_links_headings_and_parts_of_words_stay(safe: str) -> None:
    assert gloss.html(safe) == safe


def test_what_a_person_typed_stays_text() -> None:
    html = gloss.text('<img src=x onerror=alert(1)> "noise"')
    assert "<img" not in html and marks(html) == ["noise"]


@pytest.mark.parametrize("lang", ["en", "sl"])
def test_every_word_is_found_in_every_way_it_is_said(lang: str) -> None:
    with speaking(lang):
        for name in gloss.WORDS:
            ways = messages.CATALOGUES[lang].get(f"gloss.{name}.seen", "")
            for way in filter(None, ways.split("|")):
                (found,) = MARKED.findall(gloss.text(f"… {way.replace('*', 'a')}."))
                assert found == (say(f"gloss.{name}.means").replace("'", "&#x27;"), way.replace("*", "a"))


def test_hebrew_is_not_explained_in_english() -> None:
    with speaking("he"):
        assert gloss.text("ε") == "ε"


def test_the_glossary_is_complete() -> None:
    written = {code.split(".")[1] for code in messages.own("en") if re.fullmatch(r"gloss\.\w+\.means", code)}
    assert written == set(gloss.WORDS)
    assert {word for words in tour.WORDS.values() for word in words} <= written
    assert all(messages.known(f"about.{page}") for page in nav.NAMES)


def test_the_figures_in_a_definition_are_right() -> None:
    for lang in ("en", "sl"):
        with speaking(lang):
            told = say("gloss.epsilon.means")
            for epsilon in (0.1, 1):
                factor = messages.plain(round(math.exp(epsilon), 1))
                assert re.search(rf"{re.escape(factor)}(?: times for|‑krat pri) ε = {messages.plain(epsilon)}\b", told)


# --- the guided start -------------------------------------------------------------------------------------------------


@pytest.fixture
def app(home: Workspace) -> AppTest:
    return AppTest.from_file(str(ROOT / "ui" / "main.py"), default_timeout=60)


def page_text(app: AppTest) -> str:
    return " ".join(str(getattr(element.proto, "body", "")) for element in app.main if element.type == "html")


def test_a_first_visit_is_offered_it_and_may_skip_and_find_it_again(app: AppTest) -> None:
    app.run()
    assert 'class="tour"' not in page_text(app)
    app.button(key="tour-offer").click().run()
    assert say("tour.start.do").split("”")[1] in page_text(app) and 'src="?tour=on' in page_text(app)
    app.button(key="tour-skip").click().run()
    assert 'class="tour"' not in page_text(app) and 'src="?tour=off' in page_text(app)
    assert "tour-offer" not in {button.key for button in app.button}
    app.button(key="tour-again").click().run()
    assert 'class="tour"' in page_text(app)
    app.button(key="tour-skip").click().run()
    app.query_params["tour"] = "on"  # as the link on any other page says
    app.run()
    assert 'class="tour"' in page_text(app) and "tour" not in app.query_params
    for page, code in (("ask", "tour.ask.do"), ("answers", "tour.answers.do")):
        app.switch_page(f"../pages/{page}.py").run()
        assert say(code).split(".")[0].split("“")[0] in page_text(app)
    app.button(key="tour-finish").click().run()
    assert 'class="tour"' not in page_text(app)


@pytest.mark.long
def test_other_pages_have_no_card(app: AppTest) -> None:
    app.session_state["tour"] = "on"
    app.run()
    for page in sorted({*nav.NAMES} - {*tour.STEPS} - {"start"})[:2]:
        app.switch_page(f"../pages/{page}.py").run()
        assert 'class="tour"' not in page_text(app)


# --- what a browser remembers, and in which language a page is --------------------------------------------------------


def fetched(query: str = "", **headers: str) -> tuple[Mapping[bytes, list[bytes]], bytes, list[bytes]]:
    """A page through the front door: its headers, its body, and the names of the headers that arrived behind it."""
    sent: list[Any] = []
    arrived: list[bytes] = []

    async def page(scope: Any, receive: Any, send: Any) -> None:
        arrived.extend(name for name, _ in scope["headers"])
        kind = [(b"content-type", b"text/html"), (b"etag", b"1"), (b"content-length", b"22")]
        await send({"type": "http.response.start", "status": 200, "headers": kind})
        await send({"type": "http.response.body", "body": b'<html lang="en"></html>'})

    async def send(message: Any) -> None:
        sent.append(message)

    given = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    given.append((b"host", b"localhost:8501"))
    scope = {"type": "http", "path": "/", "headers": given, "query_string": query.encode(), "server": ("::1", 8501)}
    asyncio.run(web.FrontDoor(page)(scope, None, send))  # type: ignore[arg-type]
    found: dict[bytes, list[bytes]] = {}
    for name, value in sent[0]["headers"]:
        found.setdefault(name, []).append(value)
    return found, sent[1]["body"], arrived


@pytest.mark.parametrize(
    ("query", "headers", "lang"),
    [
        ("", {}, "en"),
        ("lang=sl", {}, "sl"),
        ("lang=he", {}, "en"),  # lessons alone are in Hebrew
        ("lang=%3Cscript%3E", {}, "en"),
        ("", {"cookie": "allowance_language=sl"}, "sl"),
        ("lang=en", {"cookie": "allowance_language=sl"}, "en"),
        ("", {"accept_language": "sl-SI,en;q=0.5"}, "sl"),
        ("", {"accept_language": "de,sl;q=0.5"}, "en"),
    ],
)
def test_a_page_says_its_language(query: str, headers: dict[str, str], lang: str) -> None:
    told, body, arrived = fetched(query, if_none_match="1", **headers)
    assert body == f'<html lang="{lang}"></html>'.encode()
    assert (b"if-none-match" in arrived) == (b"etag" in told) == (lang == "en")  # no page of another language is kept


def test_only_what_can_be_chosen_is_remembered() -> None:
    assert any(b"allowance_tour=off" in cookie for cookie in fetched("tour=off")[0][b"set-cookie"])
    for query in ("tour=%3Cscript%3E", "tour=", "turn=7"):
        assert not any(b"tour" in cookie for cookie in fetched(query)[0][b"set-cookie"])
