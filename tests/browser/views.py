"""Every page and every lesson as an address, and the looks they are seen in: for what is checked or drawn of all."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from typing import Any

from browser.journeys import ask, ask_link, first_answer
from browser.steps import go, settled
from browser.test_data_lines import Clicking
from files.make_census import census

from ui.learn import lessons
from ui.shell import nav
from ui.whatif.settings import SECTIONS

LOOKS: dict[str, dict[str, Any]] = {
    "light": {},
    "dark": {"color_scheme": "dark"},
    "phone": {"viewport": {"width": 390, "height": 844}, "has_touch": True},
}
QUESTION = ask_link("town", "histogram", column="district", epsilon="0.1")
MANY = ask_link("town", "median", column="monthly_income", where=[["has_car", "in", ["yes"]]], epsilon="0.05")


def pages() -> dict[str, str]:
    """As they are for a new visitor."""
    named = {name: f"/{name}" for name in nav.NAMES[1:]}
    views = {"data-table": "/data?table=town", "ledger": "/answers?view=ledger", "session": "/several?view=after"}
    return {"start": "/"} | named | views


def each_lesson() -> dict[str, str]:
    return {"lessons": "/lessons"} | {
        f"lesson-{lessons.position(number):02}": f"/lessons?lesson={name}" for number, name in lessons.NAMES.items()
    }


def choices() -> dict[str, str]:
    """Each lesson's other choices."""
    addresses = {}
    for number, name in lessons.NAMES.items():
        lesson = lessons.lesson(number)
        for setting in lesson.matters(lesson.clean({})):
            if setting.kind in ("choice", "switch") and not setting.more:
                for choice in setting.choices:
                    if choice != setting.usual:
                        view = f"lesson-{lessons.position(number):02}-{setting.name}-{choice}"
                        addresses[view] = f"/lessons?lesson={name}&{setting.name}={choice}"
    return addresses


def closely() -> dict[str, str]:
    """What What-if shows from close by."""
    return {f"whatif-{section}": f"/whatif?see={section}" for section in SECTIONS[1:]}


def after_asking() -> dict[str, str]:
    """What looks different once something was asked (`use` asks it)."""
    used = {
        "ask-before": MANY,
        "ledger-used": "/answers?view=ledger",
        "answers-used": "/answers",
        "several-used": "/several?table=town",
        "session-used": "/several?view=after",
    }
    return used | {"tables-used": "/tables"}


def use(page: Any, lang: str = "en") -> dict[str, str]:
    """A visitor tries the town from Start and asks one more question; the addresses of both answers."""
    go(page, f"/?lang={lang}")
    first_answer(page)
    first = page.url
    ask(page, QUESTION)
    return {"first-answer": first, "ask-answer": page.url}


BUYING = {
    "look": '/board?table=town&against=["has_car"]&epsilon=0.08',
    "published": "/publish?table=town&columns=%5B%22monthly_income%22%2C%20%22way_to_work%22%5D&epsilon=0.1",
    "made": "/synthetic?table=town&columns=%5B%22has_car%22%2C%20%22way_to_work%22%5D&epsilon=0.1",
    "trained": "/train?table=clinic&target=blood_pressure&share=75&steps=10",
}


def buy(page: Any, lang: str = "en") -> dict[str, str]:
    """A visitor buys one of each thing that is more than an answer; the addresses of what came."""
    bought = {}
    for place, address in BUYING.items():
        go(page, f"{address}&lang={lang}")
        page.locator('[class*="-go-"] button[data-testid="stBaseButton-primary"]').first.click()
        page.wait_for_url(re.compile(f"[?&]{place}="))
        page.locator('[class*="-another"] button').first.wait_for()
        settled(page)
        bought[place] = page.url
    group = bought["look"] + "&by=has_car&group=yes"
    return bought | {"look-group": group, "report": "/answers?table=town&view=report"}


def declare(page: Any, lang: str = "en") -> Iterator[str]:
    """A visitor brings a file of their own; each screen as it stands."""
    seed = random.randrange(10**6)  # the same rows a second time would be a table that is known already
    clicking = Clicking(page, lang, f"people {seed}").bring(census(2_000, seed))
    yield "declare-people"
    clicking.pick("data.unit.one_label").pick("data.relation.replace_label")
    yield "declare-answered"
    clicking.press("data.next").on("data.cards.title")
    yield "declare-columns"
    clicking.press("data.cards.agree_add").on("data.done.title", table=clicking.name)
    yield "declare-done"
    go(page, f"/data?table={clicking.name}&lang={lang}")
    yield "declare-table"
