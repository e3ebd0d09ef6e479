"""What is picked stays picked: on every page with pickers, whatever language stands in the address."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from helpers_page import open_page
from streamlit.testing.v1 import AppTest, element_tree

from dpengine import messages
from dpengine.messages.language import LANGUAGES, speaking
from dpengine.workspace import Workspace
from ui.shell import state

KINDS = ("selectbox", "multiselect", "radio", "toggle", "checkbox", "select_slider", "number_input")
PLANNED = '[["median",{"column":"monthly_income","epsilon":"0.1"},"0.02",false]]'
FILE = b"age;town\n20;Ptuj\n30;Celje\n"
PAGES: dict[str, dict[str, str]] = {
    "ask": {},
    "publish": {},
    "synthetic": {},
    "train": {"table": "clinic"},
    "whatif": {},
    "several": {"table": "town", "plan": PLANNED},
    "several after": {"view": "after"},
    "audit": {},
    "lessons": {"lesson": "dice"},
    "data": {},
    "answers ledger": {"view": "ledger"},
}
ASKED = ("mean", "quantile", "histogram", "crosstab", "density", "count", "noisy_argmax", "proportion")
FEW = 2  # of the pickers of a page, in the quick test


class Shown(str):
    """An option as it is shown, which is what a person picks."""


@pytest.fixture(autouse=True)
def picked_as_shown(home: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    for kind in ("Selectbox", "Multiselect", "Radio", "SelectSlider"):
        made = getattr(element_tree, kind).format_func.fget
        told = property(lambda self, made=made: lambda one: one if isinstance(one, Shown) else made(self)(one))
        monkeypatch.setattr(getattr(element_tree, kind), "format_func", told)
    # options are named in this thread too: as the tested session reads its practice table
    monkeypatch.setattr(messages, "_in_view", lambda: next(reversed(state._practised.words.values()), None))


def pickers(app: AppTest) -> Iterator[tuple[tuple[str, str, int], Any]]:
    """What can be picked, by kind, label and which of those with this label; another language is another page."""
    seen: dict[tuple[str, str], int] = {}
    for kind in KINDS:
        for element in app.main.get(kind):
            if element.proto.disabled or str(element.key or "").startswith("language"):
                continue
            place = seen.setdefault((kind, element.label), 0)
            seen[(kind, element.label)] += 1
            yield (kind, element.label, place), element


def another(kind: str, element: Any) -> Any:
    """Something else than it shows now; None where there is nothing else."""
    if kind in ("toggle", "checkbox"):
        return not element.value
    if kind == "number_input":
        step = element.step or 1
        up = element.max is None or element.value + step <= element.max
        return element.value + (step if up else -step)
    options = [Shown(one) for one in element.options]
    shown = told(kind, element)
    if kind == "multiselect":
        return shown[:-1] if len(shown) > 1 else [one for one in options if one not in shown][:1] + shown
    return options[(options.index(shown) + 1 if shown in options else 0) % len(options)] if len(options) > 1 else None


def told(kind: str, element: Any) -> Any:
    """What it shows now."""
    if kind in ("toggle", "checkbox", "number_input"):
        return element.value
    if kind == "multiselect":
        return [Shown(element.format_func(one)) for one in element.value]
    return None if element.value is None else Shown(element.format_func(element.value))


def pick_each(app: AppTest, most: int) -> int:
    """Picks something else in one after another, and sees it there after the run and after one more."""
    tried: set[tuple[str, str, int]] = set()
    while len(tried) < most:
        waiting = [(name, element) for name, element in pickers(app) if name not in tried]
        if not waiting:
            break
        name, element = waiting[0]
        tried.add(name)
        wanted = another(name[0], element)
        if wanted is None:
            continue
        element.set_value(wanted)
        for _ in range(2):
            app.run()
            assert not app.exception
            found = dict(pickers(app)).get(name)
            assert found is not None, f"{name} is gone after something was picked in it"
            assert told(name[0], found) == wanted, f"{name} snapped back from {wanted}"
    return len(tried)


def opened(page: str, **address: str) -> AppTest:
    """The page at this address; of Data, the screen after a file was brought."""
    app = open_page(page.split()[0], **address)
    if page == "data":
        app.file_uploader[0].set_value(("people.csv", FILE, "text/csv"))
        app.run()
    return app


@pytest.mark.long
@pytest.mark.parametrize(
    ("page", "lang"), [("ask", lang) for lang in LANGUAGES] + [(page, "sl") for page in PAGES if page != "ask"]
)
def test_what_is_picked_stays_picked(page: str, lang: str) -> None:
    with speaking(lang):
        assert pick_each(opened(page, **PAGES[page], lang=lang), FEW)


@pytest.mark.long
@pytest.mark.parametrize("lang", ["", *LANGUAGES])
@pytest.mark.parametrize("page", [*PAGES, *(f"ask {key}" for key in ASKED)])
def test_everything_that_is_picked_stays_picked(page: str, lang: str) -> None:
    name, _, key = page.partition(" ") if page not in PAGES else (page, "", "")
    address = PAGES[name] | ({"table": "town", "q": key} if key else {}) | ({"lang": lang} if lang else {})
    with speaking(lang or "en"):
        assert pick_each(opened(name, **address), 60)
