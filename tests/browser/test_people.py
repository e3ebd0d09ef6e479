"""An organisation in chromium: two owners, three analysts, an auditor and an administrator. A share is granted, used,
used up, asked for, approved and used again; somebody is removed in the middle of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from browser.journeys import none_tells_people_apart, picked
from browser.steps import settled, shot
from files.make_census import census
from helpers_serving import PEOPLE, office

import dpengine as dp
from dpengine.messages import say

SCHEMA = dp.Schema({"age": dp.Number(0, 100), "city": dp.Category(["Ljubljana", "Maribor"])})
TABLE = "surgery"
ASK = f"/ask?table={TABLE}&q=mean&column=age&lang=en&epsilon="


def rows() -> pd.DataFrame:
    return pd.DataFrame([{"age": n % 90, "city": "Ljubljana" if n % 3 else "Maribor"} for n in range(2000)])


def named(page: Any, person: str, role: str) -> None:
    card = page.locator('[class*="st-key-card-person-"]', has_text=person)
    card.get_by_role("button", name="Change").click()
    page.get_by_test_id("stPopoverBody").get_by_text(role, exact=True).click()
    page.get_by_text(f"Done for {person},").wait_for()
    page.keyboard.press("Escape")
    settled(page)


@pytest.mark.long
def test_a_share_from_grant_to_removal(open_page: Callable[..., Any], tmp_path: Path, server_log: Path) -> None:
    with office(tmp_path, server_log) as here:
        pages = {who: here.signed_in(open_page(), who, "/tables?lang=en") for who in PEOPLE}
        root, ana, bor, cene, dana = (pages[who] for who in ("root", "ana", "bor", "cene", "dana"))
        root.goto(f"{here.address}/people?lang=en")
        settled(root)
        for person, role in (("Ana Novak", "Owner"), ("Bor Kos", "Owner"), ("Vid Revizor", "Auditor")):
            named(root, person, role)
        shot(root, "people")
        space = dp.open_workspace(here.server.home)
        ids = {one.name: one.id for one in space.people()}
        assert [one.email for one in space.people() if one.name == "Dana Hribar"] == [""]  # not verified

        # an owner brings a file through the porter; the table itself is brought by the same verb, as a notebook would
        ana.goto(f"{here.address}/data?lang=en")
        settled(ana)
        ana.get_by_test_id("stFileUploaderDropzoneInput").set_input_files(
            {"name": "x.csv", "mimeType": "text/csv", "buffer": b"age,city\n1,Ljubljana\n2,Maribor\n"}
        )
        ana.get_by_text("x.csv").first.wait_for()
        terms: dict[str, Any] = {"schema": SCHEMA, "unit": dp.Unit.rows(), "relation": "replace"}
        space.as_person(ids["Ana Novak"]).add_table(TABLE, rows(), budget=dp.Budget("1", "1e-6"), **terms)

        # granted to one; nobody else sees that there is such a table
        ana.goto(f"{here.address}/data?table={TABLE}&lang=en")
        settled(ana)
        who = ana.locator(f".st-key-give-who-{TABLE} input")
        who.click()
        who.fill("Cene")
        ana.get_by_role("option", name="Cene Zupan").click()
        settled(ana)
        ana.get_by_label("Share, in percent", exact=True).fill("10 %")
        ana.get_by_role("button", name="Give", exact=True).click()
        ana.get_by_text("Cene Zupan may now ask this table.").wait_for()
        for page in (bor, dana):
            page.goto(f"{here.address}/tables?lang=en")
            settled(page)
            assert not page.get_by_text(TABLE).count()
            page.goto(f"{here.address}{ASK}0.05")
            settled(page)
            assert picked(page) == "town" and TABLE not in page.inner_text(".st-key-meter")

        # asked, refused beyond the share, asked for more
        cene.goto(f"{here.address}{ASK}0.05")
        settled(cene)
        assert space.ledger.standing(space.record(TABLE).budget).charges == 0  # the link itself spends nothing
        cene.get_by_role("button", name="Ask — takes").click()
        cene.locator(".headline").wait_for()
        cene.goto(f"{here.address}{ASK}0.3")
        settled(cene)
        cene.get_by_text("is left; this takes").wait_for()
        shot(cene, "own-share-short")
        assert cene.locator(".st-key-ask-go button").is_disabled()
        cene.locator(".st-key-card-spend").get_by_role("link", name="Ask for more").click()
        settled(cene)
        cene.get_by_label("Share you need, in percent").fill("60")
        cene.get_by_label("What for").fill("the yearly report")
        cene.get_by_role("button", name="Ask for more").click()
        cene.get_by_text("Your request was sent.").wait_for()

        # approved by the owner, and asked again
        ana.goto(f"{here.address}/data?table={TABLE}&lang=en")
        settled(ana)
        ana.get_by_text("Cene Zupan asks for 60 % of the allowance in all").wait_for()
        shot(ana, "a-wish-waits")
        ana.get_by_role("button", name="Approve", exact=True).click()
        ana.get_by_text("Approved.").wait_for()
        cene.goto(f"{here.address}{ASK}0.3")
        settled(cene)
        cene.get_by_role("button", name="Pay for another answer").click()  # the first one was less exact
        cene.locator(".st-key-ask-go-sure [data-testid=stBaseButton-primary]").click()
        cene.wait_for_url("**answer=**")
        cene.get_by_text("Asked 2 times").wait_for()
        settled(cene)
        charges = 3  # two answers, and the check of the column that came with the first
        assert space.ledger.standing(space.record(TABLE).budget).charges == charges

        # the auditor reads all of it
        vid = pages["vid"]
        vid.goto(f"{here.address}/accounts?lang=en")
        settled(vid)
        vid.get_by_text("Cene Zupan asked for 60 % of the allowance").wait_for()
        vid.get_by_role("button", name="Check every row").click()
        vid.get_by_text("✓").wait_for()
        shot(vid, "accounts")

        # removed in the middle: the open page is closed, and after signing in anew the table is not there
        cene.goto(f"{here.address}{ASK}0.1")
        settled(cene)
        space.as_person(ids["Ana Novak"]).grant(TABLE, ids["Cene Zupan"], 0)
        cene.get_by_role("button", name="cene", exact=True).click()
        settled(cene)
        assert picked(cene) == "town"
        assert space.ledger.standing(space.record(TABLE).budget).charges == charges


@pytest.mark.long
def test_an_owner_brings_a_file_through_the_pages(
    open_page: Callable[..., Any], tmp_path: Path, server_log: Path
) -> None:
    with office(tmp_path, server_log) as here:
        root, ana = (here.signed_in(open_page(), who, "/tables?lang=en") for who in ("root", "ana"))
        root.goto(f"{here.address}/people?lang=en")
        settled(root)
        named(root, "Ana Novak", "Owner")
        ana.goto(f"{here.address}/data?lang=en")
        settled(ana)
        ana.get_by_test_id("stFileUploaderDropzoneInput").set_input_files(
            {"name": "people.csv", "mimeType": "text/csv", "buffer": census(500).encode()}
        )

        def on(code: str, **facts: str) -> None:
            ana.get_by_role("heading", name=say(code, **facts)).wait_for()
            settled(ana)

        def press(code: str) -> None:
            ana.get_by_role("button", name=say(code), exact=True).click()
            settled(ana)

        on("data.unit.title")
        for choice in ("data.unit.one_label", "data.relation.replace_label"):
            ana.locator('[data-testid="stRadio"] [role="radiogroup"] label').filter(has_text=say(choice)).first.click()
            settled(ana)
        none_tells_people_apart(ana)
        press("data.next")
        on("data.cards.title")
        press("data.cards.agree_add")
        on("data.done.title", table="people")
        shot(ana, "owner-brought")
        space = dp.open_workspace(here.server.home)
        assert [name for name, _ in space.names()] == ["people"]
        assert not list(Path(here.server.home).glob("**/upload-*"))  # the copy is gone
