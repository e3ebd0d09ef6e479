"""Practice tables, their columns and values are read in the page's language; what is stored, and a person's own names,
stay as they are written."""

from __future__ import annotations

import json

import pandas as pd
import pytest
from helpers_declare import Page
from helpers_page import html_of, open_page, plain

import dpengine as dp
from dpengine.mechanisms.trial import CLUB
from dpengine.messages import CATALOGUES, Automatic, called, of_practice
from dpengine.messages.language import speaking
from dpengine.storage.samples import SAMPLES
from ui.check import audit


@pytest.mark.parametrize("name", list(SAMPLES))
def test_every_name_and_value_of_a_practice_table_has_slovene_words(name: str) -> None:
    schema, words = SAMPLES[name].schema, CATALOGUES["sl"]
    labels = {label for column in schema.columns.values() for label in getattr(column, "labels", ())}
    written = {label for label in labels if not isinstance(label, Automatic)}
    if name == "residents":
        written -= {*schema.category("state").labels}  # postal codes are the same everywhere
    assert not [one for one in (*schema.columns, *written) if f"practice.{name}.{one}" not in words]
    with speaking("sl"), of_practice(name):
        told = [called(one) for one in (*schema.columns, *sorted(written))]
    assert len(told) == len({*told}) or name == "films", "no two names read alike"


def test_the_tables_of_the_check_are_told_in_slovene_too() -> None:
    words = [*CLUB.columns, *(label for column in CLUB.columns.values() for label in getattr(column, "labels", ()))]
    assert not [one for one in words if f"practice.{audit.CLUB}.{one}" not in CATALOGUES["sl"]]
    example = audit.example_of(audit.clean({"q": "histogram"}))
    with speaking("sl"), of_practice(audit.CLUB):
        told = plain(audit.tables_html(example))
    assert "kraj" in told and "Sever" in told and "town" not in told and "North" not in told
    with speaking("en"), of_practice(audit.CLUB):
        assert "town" in plain(audit.tables_html(example))


@pytest.mark.long
def test_pages_say_it_and_answers_keep_the_stored_words(shared: dp.Workspace) -> None:
    table = shared.table("town", visitor="local")
    answer = table.ask(table.query("histogram", column="way_to_work", epsilon="0.1"))
    told = plain(html_of(open_page("ask", table="town", answer=answer.request_id, lang="sl")))
    assert "pot na delo" in told and "kolo" in told and "dela doma" in told
    assert "way_to_work" not in told and "bicycle" not in told
    assert "way_to_work" in json.dumps(answer.receipt) and "bicycle" in answer.value
    english = plain(html_of(open_page("ask", table="town", answer=answer.request_id)))
    assert "way_to_work" in english and "pot na delo" not in english
    cards = plain(html_of(open_page("tables", lang="sl")))
    assert "mesečni dohodek" in cards and "krvni tlak" in cards and "blood_pressure" not in cards


@pytest.mark.long
def test_names_of_a_persons_own_table_are_never_translated(home: dp.Workspace) -> None:
    frame = pd.DataFrame({"age": [30, 40] * 200, "district": ["Mill", "Hill"] * 200})
    schema = dp.Schema({"age": dp.Number(0, 120), "district": dp.Category(["Mill", "Hill"])})
    home.add_table("town hall", frame, schema=schema, unit=dp.Unit.rows(), budget=dp.Budget("2", "1e-6"))
    open_page("ask", table="town", lang="sl")
    told = plain(html_of(open_page("data", table="town hall", lang="sl")))
    assert "district" in told and "Mill" in told and "četrt" not in told and "Mlin" not in told
    cards = plain(html_of(open_page("tables", lang="sl")))
    assert "2 stolpca: age, district" in cards and "četrt" in cards, "each card has its own words"


@pytest.mark.usefixtures("shared")
def test_a_new_file_keeps_its_names_while_a_practice_table_is_in_view() -> None:
    with speaking("sl"):
        page = Page().upload("age,district\n33,Mill\n")
        assert "district" in page.text and "četrt" not in page.text
