"""Answers in several parts: sorted, cut and crossed as the reader wishes; the file has all of it."""

from __future__ import annotations

import pandas as pd
import pytest
from helpers_page import bars, html_of, open_page, pictures, plain

import dpengine as dp
from ui.parts import exports


@pytest.fixture(scope="module")
def table(shared: dp.Workspace) -> dp.Table:
    found = shared.table("town")
    found.ask(found.query("crosstab", columns=["way_to_work", "has_car"], epsilon="0.5"), request_id="crossed")
    found.ask(found.query("histogram", column="district", epsilon="0.5"), request_id="bars")
    return found


@pytest.fixture(scope="module")
def open_lists(shared: dp.Workspace) -> dp.Table:
    frame = pd.DataFrame({"town": ["A", "B", "elsewhere"] * 400, "sex": ["f", "m"] * 600})
    schema = dp.Schema({"town": dp.Category(["A", "B"]), "sex": dp.Category(["f", "m"])})
    found = shared.add_table("lists", frame, schema=schema, unit=dp.Unit.rows(), budget=dp.Budget("5", "1e-6"))
    found.ask(found.query("crosstab", columns=["town", "sex"], epsilon="1"), request_id="open-crossed")
    found.ask(found.query("histogram", column="town", epsilon="1"), request_id="open-bars")
    return found


@pytest.mark.long
def test_a_crosstab_is_a_grid_with_ranges(table: dp.Table) -> None:
    app = open_page("ask", table="town", answer="crossed")
    (grid,) = [one.proto.body for one in app.get("html") if 'class="plain grid"' in one.proto.body]
    ways = table.schema.category("way_to_work").labels
    assert all(f'<th scope="row">{way}</th>' in grid for way in ways)
    assert grid.count("<td") == len(ways) * table.schema.category("has_car").size
    assert grid.count("<small>") >= grid.count("<td") // 2
    assert not pictures(app)


@pytest.mark.long
def test_shares_by_row_and_by_column_cost_nothing(table: dp.Table) -> None:
    used = table.meter().used
    app = open_page("ask", table="town", answer="crossed")
    for choice in ("down", "across"):
        app.button_group(key="figures-answer").set_value(choice).run()
        assert not app.exception
        (grid,) = [one.proto.body for one in app.get("html") if 'class="plain grid"' in one.proto.body]
        assert " %" in plain(grid)
    assert table.meter().used == used


@pytest.mark.long
@pytest.mark.parametrize("request_id", ["open-crossed", "open-bars"])
def test_other_and_no_answer_are_hidden_on_wish_and_the_file_has_all(open_lists: dp.Table, request_id: str) -> None:
    app = open_page("ask", table="lists", answer=request_id)
    assert "Not shown:" not in html_of(app)
    app.toggle(key="hide-answer").set_value(True).run()
    assert not app.exception
    assert "Not shown:" in html_of(app)
    grids = [one.proto.body for one in app.get("html") if 'class="plain grid"' in one.proto.body]
    assert not [grid for grid in grids if ">no answer</th>" in grid or ">other</th>" in grid]


def test_bars_are_sorted_by_size_on_wish(table: dp.Table) -> None:
    app = open_page("ask", table="town", answer="bars")

    def drawn() -> list[float]:
        (picture,) = pictures(app)
        return [length for _, _, length in bars(picture)]

    first = drawn()
    app.toggle(key="largest-answer").set_value(True).run()
    assert not app.exception
    assert sorted(drawn(), reverse=True) == drawn() and sorted(drawn()) == sorted(first)
    assert drawn() != first


@pytest.mark.long
def test_percentiles_of_groups_stand_side_by_side(shared: dp.Workspace) -> None:
    """The headline has one of each group, named in words; nothing offers to sort different percentiles by size."""
    frame = pd.DataFrame({"age": list(range(20, 80)) * 60, "town": ["A", "B", "C", "D"] * 900})
    schema = dp.Schema({"age": dp.Number(0, 100), "town": dp.Category(list("ABCD"), unknown="A", missing="A")})
    found = shared.add_table("grouped", frame, schema=schema, unit=dp.Unit.rows(), budget=dp.Budget("20", "1e-6"))
    query = found.query("quantile", column="age", share=["0.1", "0.5", "0.9"], by="town", epsilon="10")
    found.ask(query, request_id="percentiles")
    app = open_page("ask", table="grouped", answer="percentiles")
    told = plain(html_of(app)).replace("\N{NO-BREAK SPACE}", " ")
    assert "A, 50 %: " in told and "; B, 50 %: " in told and "; C, 50 %: " in told and "A × 50 %" not in told
    assert "largest-answer" not in [toggle.key for toggle in app.toggle]


def test_what_is_left_over_is_told_by_the_question(open_lists: dp.Table) -> None:
    assert open_lists.query("histogram", column="town", epsilon="1").leftovers() == ["other", "no answer"]
    assert open_lists.query("count", by="town", epsilon="1").leftovers() == ["other", "no answer"]
    crossed = open_lists.query("crosstab", columns=["town", "sex"], epsilon="1")
    kept = set(crossed.labels()) - set(crossed.leftovers())
    assert kept == {"A × f", "A × m", "B × f", "B × m"}
    answer = open_lists.ask(crossed)
    assert all(label.split(" × ")[0] in exports.answer_csv(answer) for label in crossed.leftovers())
