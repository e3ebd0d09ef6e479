"""Every language says what it is meant to say; no word on a page comes from anywhere else."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from fractions import Fraction
from html import unescape
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
import streamlit as st
from helpers_page import open_page
from streamlit.testing.v1 import AppTest

import dpengine as dp
from demos.lessons import election, linkage, trust
from dpengine import messages
from dpengine.asking.exports import sentence_of
from dpengine.core.printed import percent
from dpengine.messages import numbers, plain, say
from dpengine.messages.language import LANGUAGES, carried, current, speaking, stored
from dpengine.storage.samples import SAMPLES
from ui.learn.lessons import NAMES
from ui.shell import language
from ui.whatif.settings import PRESETS
from ui.words.figures import rounded_range

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted({path.stem for path in (ROOT / "pages").glob("*.py")})
LESSONS = [f"lessons {name}" for name in NAMES.values()]
AGAIN = [*(pytest.param(view, marks=pytest.mark.long) for view in [*PAGES, *LESSONS[:-1]]), LESSONS[-1]]
TRAINED = "train trained"  # the page with a model on it
OTHER = {"answers ledger": ("answers", {"view": "ledger"}), "several after": ("several", {"view": "after"})}
VIEWS = [*PAGES, *OTHER, TRAINED, *(pytest.param(view, marks=pytest.mark.long) for view in LESSONS)]


def english(lang: str) -> dict[str, str]:
    return {code: words for area in messages.MEANT[lang] for code, words in messages._part("en", area).items()}


@pytest.mark.parametrize("lang", LANGUAGES[1:])
def test_a_language_says_everything_it_is_meant_to_say(lang: str) -> None:
    wanted, found = english(lang).keys(), messages.own(lang).keys()
    assert not sorted(wanted - found), f"to translate into {lang}"
    assert not sorted(found - wanted), f"{lang} still has sentences that are gone"


@pytest.mark.parametrize("lang", LANGUAGES[1:])
def test_a_translation_uses_the_same_facts(lang: str) -> None:
    wanted = english(lang)
    other = {
        code: numbers.names(words) ^ numbers.names(wanted[code])
        for code, words in messages.own(lang).items()
        if numbers.names(words) != numbers.names(wanted[code])
    }
    assert not other


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_sentence_can_be_filled_and_keeps_its_marks(lang: str) -> None:
    wanted = english(lang)
    with speaking(lang):
        for code, words in messages.own(lang).items():
            told = say(code, **dict.fromkeys(numbers.names(words), 2))
            assert "{" not in told, code
            tags = re.findall(r"</?\w+>", words)
            assert sorted(tags) == sorted(re.findall(r"</?\w+>", wanted[code])), code
            assert words.startswith(" ") == wanted[code].startswith(" "), code
            assert words.endswith(" ") == wanted[code].endswith(" "), code


@pytest.mark.parametrize(
    ("lang", "count", "told"),
    [
        ("en", 1, "1 row"),
        ("en", 0, "0 rows"),
        ("en", 2, "2 rows"),
        ("en", 1_001, "1,001 rows"),
        ("en", 1.5, "1.5 rows"),
        ("sl", 1, "1 vrstica"),
        ("sl", 2, "2 vrstici"),
        ("sl", 4, "4 vrstice"),
        ("sl", 5, "5 vrstic"),
        ("sl", 0, "0 vrstic"),
        ("sl", 11, "11 vrstic"),
        ("sl", 101, "101 vrstica"),
        ("sl", 1_002, "1.002 vrstici"),
        ("sl", 1.5, "1,5 vrstice"),
        ("sl", "60 in x", "60 in x vrstic"),
        ("sl", "?", "? vrstic"),
    ],
)
def test_counted_words(lang: str, count: Any, told: str) -> None:
    forms = {"en": "{n} {n|row|rows}", "sl": "{n} {n|vrstica|vrstici|vrstice|vrstic}"}[lang]
    with speaking(lang):
        facts = {"n": plain(count)}
        assert numbers.forms(forms, facts).format_map(facts) == told


def test_figures_follow_the_language() -> None:
    assert (plain(1234567), plain(Fraction(5, 2)), percent(0.004)) == ("1,234,567", "2.5", "0.4 %")
    with speaking("sl"):
        assert (plain(1234567), plain(Fraction(5, 2)), percent(0.004)) == ("1.234.567", "2,5", "0,4 %")
        assert say("answer.about_percent", value="12,5").endswith("12,5\u00a0%"), "no line begins with a percent sign"
        assert rounded_range(25173, 25293) == ("25.173", "25.293") and numbers.ungrouped(plain(1984)) == "1984"
        assert numbers.day("2026-11-05") == "5. 11. 2026" and numbers.day("Mill") == "Mill"
        assert numbers.english("10.000,5") == "10,000.5"
    assert numbers.day("2026-11-05") == "2026-11-05" and numbers.english("10,000") == "10,000"


def test_work_handed_over_keeps_its_language() -> None:
    with speaking("sl"):
        work = carried(current)
        with stored():
            assert current() == "en"
    assert current() == "en" and work() == "sl"


QUESTIONS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("median", {"column": "monthly_income"}),
    ("histogram", {"column": "monthly_income"}),
    ("quantile", {"column": "age", "share": ["0.025", "0.5"]}),
    ("noisy_argmax", {"options": [[["district", "in", ["Mill"]]], [["has_car", "in", ["yes"]]]]}),
    ("count", {"where": [["age", "between", [30, 40]]]}),
)


def test_what_is_stored_is_the_same_in_every_language(tmp_path: Path) -> None:
    """Claims, names of bars and receipts are English; the reader gets them in their own language."""
    table = dp.open_workspace(tmp_path).table("town")
    for key, given in QUESTIONS:
        query = table.query(key, **given, epsilon="0.05")
        with speaking("sl"):
            answer = table.ask(query)
            seen, local = sentence_of(table.history(1)[0].charge), query.sentence()
        claim = answer.receipt["claim"]
        assert claim["sentence"] == query.sentence() and seen == local
        assert claim["theorem"] == query.theorem
        if isinstance(answer.value, dict):
            assert list(answer.value) == query.labels()
        if key == "noisy_argmax":
            assert answer.value in query.names()
        assert table.answer_of(table.history(1)[0]).value == answer.value
    assert dp.open_workspace(tmp_path).verify_ledger().ok


# --- no literals ------------------------------------------------------------------------------------------------------

BARE = ("percent.tiny",)  # it stands where a figure does
WRAPPED = re.compile(r"⟦[^⟦⟧]*⟧")


@pytest.fixture
def wrapped(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What pages keep between runs in this language was said by other tests in other words, and the other way round."""
    told = {code: words if code in BARE else f"⟦{words}⟧" for code, words in messages.CATALOGUES["en"].items()}
    monkeypatch.setattr(messages, "CATALOGUES", MappingProxyType({**messages.CATALOGUES, "sl": told}))
    st.cache_data.clear()
    yield
    st.cache_data.clear()


def words_outside(text: str) -> str:
    """What is left when every sentence, mark-up, style and address is taken out."""
    text = re.sub(r"<(style|script|code)>.*?</\1>", " ", text, flags=re.DOTALL)
    attributes = " ".join(re.findall(r'(?:aria-label|aria-description|alt|title)="([^"]*)"', text))
    text = unescape(re.sub(r"<[^>]*>", " ", text) + " " + attributes)
    while WRAPPED.search(text):
        text = WRAPPED.sub(" ", text)
    return text


def texts(app: AppTest) -> Iterator[str]:
    """Everything an element of the page tells a person."""
    for element in app.main:
        proto = getattr(element, "proto", None)
        for name in ("body", "label", "help", "placeholder", "alt"):
            told = getattr(proto, name, "")
            if isinstance(told, str):
                yield told
        if element.type in ("popover", "expander"):
            yield str(getattr(proto, element.type, proto).label)
        yield from (option for option in getattr(proto, "options", ()) if isinstance(option, str))
        if spec := getattr(proto, "spec", ""):
            yield from _drawn(json.loads(spec))


def _drawn(part: Any) -> Iterator[str]:
    """The words in a picture."""
    if isinstance(part, dict):
        for name, inner in part.items():
            if name in ("text", "ticktext", "name"):
                yield from ([inner] if isinstance(inner, str) else [one for one in inner if isinstance(one, str)])
            yield from _drawn(inner)
    elif isinstance(part, list):
        for inner in part:
            yield from _drawn(inner)


def _address(view: str, answer: str) -> tuple[str, dict[str, str]]:
    """“lessons 3” is the third lesson; Ask shows an answer."""
    if view == TRAINED:
        return "train", {"table": "clinic", "trained": "trained"}
    if view in OTHER:
        return OTHER[view]
    page, _, lesson = view.partition(" ")
    return page, {"lesson": lesson} if lesson else {"answer": answer} if page == "ask" else {}


def opened(page: str, address: Mapping[str, str] = MappingProxyType({}), lang: str = "") -> AppTest:
    return open_page(page, **address, **({"lang": lang} if lang else {}))


@pytest.fixture(scope="module")
def asked(shared: dp.Workspace) -> str:
    """The last of a few things that were asked, so that pages have something to show."""
    table = shared.table("town", visitor="local")
    for key, given in QUESTIONS:
        last = table.ask(table.query(key, **given, epsilon="0.05"))
    session = table.open_session(table.session_for(20, table.meter().unused / 2))
    session.ask({"share": [["district", "in", ["Mill"]]]}, "step 1")
    clinic = shared.table("clinic", visitor="local")
    given = {"target": "blood_pressure", "features": ["age", "smoker"], "steps": 2}
    clinic.ask(clinic.query("train_linear", **given, epsilon="0.05"), "trained")
    return last.request_id


@pytest.fixture
def read_before(shared: dp.Workspace) -> str:
    """Somebody read a lesson in Slovene; its picture is kept for all readers of a language."""
    return next(told for told in texts(opened("lessons", {"lesson": "film"}, lang="sl")) if "najljubši" in told)


@pytest.mark.long
def test_what_was_read_before_is_not_taken_for_words_of_a_page(read_before: str, wrapped: None) -> None:
    assert not [told for told in texts(opened("lessons", {"lesson": "film"}, lang="sl")) if "najljubši" in told]


@pytest.mark.every(9)
@pytest.mark.parametrize("view", VIEWS)
def test_no_page_has_words_of_its_own(view: str, asked: str, shared: dp.Workspace, wrapped: None) -> None:
    """With every sentence of the catalogue in brackets, nothing but names, values and signs stands outside of them."""
    tables = [shared.table(name, visitor="local") for name in SAMPLES]
    columns = {name: column for table in tables for name, column in table.schema.columns.items()}
    named = {*SAMPLES, *columns, *(label for column in columns.values() for label in getattr(column, "labels", ()))}
    named |= {"python", "demos", "thesis"}  # a command is typed the same in every language
    named |= {*trust.NAMES, *election.CANDIDATES, *linkage.FIRST, *linkage.LAST, "South"}  # made-up people and places
    named |= {messages.CATALOGUES["en"][code] for code in BARE}
    named |= {preset.source for preset in PRESETS}  # cited as they were published
    allowed = {word for name in named for word in re.findall(r"[^\W\d]+", name.replace("_", " "))} | {"UTC"}
    app = opened(*_address(view, asked), lang="sl")
    seen = [re.sub(r"\b[0-9a-f]{8,}\b", "", told) for told in texts(app) if told.strip()]  # without fingerprints
    outside = {word for told in seen for word in re.findall(r"[^\W\d_]{2,}", words_outside(told))}
    assert len(seen) > 5 and not sorted(outside - allowed)


@pytest.mark.parametrize("view", AGAIN)
def test_slovene_after_english_is_slovene(view: str, asked: str) -> None:
    """Nothing that is kept between runs holds words of another reader's language."""
    page, address = _address(view, asked)
    english = texts(opened(page, address))
    before = {told for told in english if re.search(r"[a-z]{3} [a-z]", re.sub(r"<[^>]*>", "", told))}
    after = list(texts(opened(page, address, lang="sl")))
    assert before and not [told for told in after if told in before]


def test_a_page_opens_in_the_language_of_its_address(asked: str) -> None:
    assert any("Proračun zasebnosti" in told for told in texts(opened("ask", lang="sl")))
    assert any("Privacy allowance" in told for told in texts(opened("ask", lang="<script>")))


def test_a_browser_says_what_its_visitor_reads() -> None:
    assert [language._ours(told) for told in ("sl-SI", "sl", "he-IL", "de", "", None, 7)] == [
        "sl",
        "sl",
        "he",
        None,
        None,
        None,
        None,
    ]


def test_slovene_has_one_kind_of_quotation_marks_and_dashes() -> None:
    mixed = [code for code, sentence in messages.CATALOGUES["sl"].items() if {*sentence} & {*"„“”—"}]
    assert not mixed
