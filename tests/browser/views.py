"""Every page and every lesson as an address, and the looks they are seen in: for what is checked or drawn of all."""

from __future__ import annotations

from typing import Any

from browser.journeys import ask, ask_link, first_answer
from browser.steps import go

from ui.learn import lessons
from ui.shell import nav

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
