"""Ask about people, not rows: on the page of a table with several rows a person."""

from __future__ import annotations

from typing import Any

import pytest
from helpers_declare import Page

import dpengine as dp
from dpengine.messages import say
from dpengine.messages.language import speaking

ROWS = "who,cost,way\n" + "".join(
    f"p{place % 30},{place % 40},{'bus' if place % 3 else 'car'}\n" for place in range(200)
)


@pytest.mark.parametrize("lang", [pytest.param("en", marks=pytest.mark.long), "sl"])
def test_one_row_a_person_is_made_with_a_few_clicks(lang: str, shared: dp.Workspace, tmp_path: Any) -> None:
    name = f"trips {lang}"
    (tmp_path / "a.csv").write_text(ROWS.replace("p", f"{lang}"), encoding="utf-8")
    schema = dp.Schema({"cost": dp.Number(0, 40), "way": dp.Category(["bus", "car"])})
    given: dict[str, Any] = {"schema": schema, "unit": dp.Unit.column("who", 3), "budget": dp.Budget("5", "1e-6")}
    shared.add_table(name, tmp_path / "a.csv", **given)
    page = Page(name, lang)
    page.app.query_params["table"] = name
    page.run()
    with speaking(lang):
        visits, mean = say("data.person.count"), say("data.person.mean", column="cost")
        total, without = say("data.person.sum", column="cost"), say("data.person.sum_none", column="cost")
        assert say("data.person.lead", table=name) in page.text
    next(one for one in page.app.multiselect if one.key == f"person-pick-{name}").set_value([total])
    assert without not in page.text and without in page.run().text
    next(one for one in page.app.multiselect if one.key == f"person-pick-{name}").set_value([visits, mean])
    page.run()
    assert next(one for one in page.app.button if one.key == "person-do").disabled  # the range of a total is missing
    with speaking(lang):
        counted = say("data.person.counted", column="cost")
        assert say("data.person.least_one", every=visits, counted=counted) in page.text
    page.set(f"person-upper-{name}-{visits}", 50).click("person-do")
    if f"person-task-{name}" in page.app.session_state:
        assert page.app.session_state[f"person-task-{name}"].wait(60)
        page.run()
    made = next(record.name for record in shared.tables() if record.name.startswith(name + ","))
    people = shared.table(made)
    assert people.facts.unit.person and people.facts.people == 30
    assert people.budget.id == shared.table(name).budget.id and list(people.schema.columns) == [visits, mean]
    page.app.query_params["table"] = made
    page.run()
    with speaking(lang):
        titles = [one.label for one in page.app.expander]
        assert say("data.protect.title_more", each=1) not in titles  # it has one row a person, whatever anybody says
