"""Before anything is asked the page shows how wide the error bar will be, and nothing that looks like a result."""

from __future__ import annotations

import re
from typing import Any

import pytest
from battery import case_name
from helpers_page import open_page, pictures

import dpengine as dp
from dpengine.audit.world import CASES, build
from dpengine.declared.facts import Facts
from dpengine.mechanisms import asked_on
from dpengine.messages.language import speaking
from ui.ask import preview

ASKED = [case for case in CASES if case[0] in asked_on("ask")]


def drawn(monkeypatch: pytest.MonkeyPatch, query: dp.Query) -> str:
    said: list[str] = []
    monkeypatch.setattr(preview.st, "html", said.append)
    preview.show(query)
    return "".join(said)


@pytest.mark.every(3)
@pytest.mark.parametrize("case", ASKED, ids=case_name)
def test_no_name_and_no_figure_of_the_table_is_in_the_picture(
    case: tuple[str, dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    query = build(*case, "replace", "1", about=1000)
    for lang in ("en", "sl"):
        with speaking(lang):
            picture, _, words = drawn(monkeypatch, query).partition("<p")
            ends = query.promise().ends(query) or ()
            written = [*ends] if ends and not words else [query.promise().short(query)]
            assert all(one in f"{words}{picture}".replace("&#x27;", "'") for one in written)
        texts = {text.strip() for text in re.findall(r">([^<]*)<", picture)} - {""}
        assert texts <= {*ends}, "the picture says something else than how wide it is"
        assert "<svg" not in picture, "Streamlit would take it out"


def test_no_listed_value_is_on_the_page_before_it_is_asked(shared: dp.Workspace) -> None:
    """“Mill” is a district of the town; the words around the picture are those of the promise."""
    app = open_page("ask", table="town", q="histogram", column="district", epsilon="0.1")
    (picture,) = [one.proto.body for one in app.get("html") if "error-bar" in one.proto.body]
    labels = shared.table("town").schema.category("district").labels
    assert "Mill" in labels
    assert not [label for label in labels if re.search(rf"\b{re.escape(label)}\b", picture)]
    assert not pictures(app)


def test_the_error_bar_is_as_wide_as_the_promise() -> None:
    """Twice the promise is twice as wide; what runs out of the picture has no end in it."""

    def width(share: float) -> float:
        found = re.search(r"width:([\d.]+)%;top", preview.error_bars(1, share, ""))
        assert found
        return float(found[1])

    assert width(0.2) == pytest.approx(2 * width(0.1))
    assert preview.error_bars(1, 0.2, "").count("2.5px") == 3
    assert preview.error_bars(1, 5.0, "").count("2.5px") == 1 and width(5.0) == 100
    assert preview.error_bars(300, 0.2, "").count("dashed") == preview.MOST_BARS


def test_a_bar_over_a_wide_range_does_not_look_exact_and_a_name_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """As the answer is drawn: on an axis of its own size, with how far it reaches written at its ends."""
    schema = dp.Schema({"gain": dp.Number(0, 100_000, measure="$"), "job": dp.Category(["clerk", "cook"])})
    facts = Facts("people", schema, dp.Unit.rows(), "replace", 30_000, ("gain", "job"))
    mean = dp.catalogue["mean"].build(facts, {"column": "gain", "epsilon": "0.05"})
    picture = drawn(monkeypatch, mean)
    low, high = mean.promise().ends(mean) or ("", "")
    assert low.startswith("−") and high.startswith("+") and low[1:] == high[1:] and low.endswith("$")
    assert low in picture and high in picture and picture.count("left:15%") == 4, "and it fills the picture"
    groups = drawn(monkeypatch, dp.catalogue["mean"].build(facts, {"column": "gain", "by": "job", "epsilon": "0.05"}))
    assert groups.count("left:15%") == 3 * 4 + 1 and "dashed" not in groups
    for lang in ("en", "sl"):
        with speaking(lang):
            name = drawn(monkeypatch, dp.catalogue["top_item"].build(facts, {"column": "job", "epsilon": "0.05"}))
            assert "error-bar" not in name and "<p" in name


def test_at_mostly_noise_each_lever_is_a_link_that_sets_the_form(shared: dp.Workspace) -> None:
    app = open_page("ask", table="town", q="sum", column="monthly_income", by="district", epsilon="0.005")
    table = shared.table("town")
    levers = table.levers(table.cheapest(table.query("sum", column="monthly_income", by="district", epsilon="0.005")))
    assert levers
    told = [link.proto for link in app.get("page_link")]
    dearer = [one for one in levers if one.kind == "spend"]
    for one in dearer:
        wanted = f"epsilon={preview.preview_link(table, one.query)['epsilon']}"
        assert [link for link in told if wanted in link.query_string], "more of the allowance is one click away"
