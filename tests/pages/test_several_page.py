"""Averages of several columns at once on Ask without a browser: the ways before anything is spent, the answer on its
own ranges, files, comparisons, links, and What-if."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import pandas as pd
import pytest
from helpers_declare import ROOT
from helpers_page import plain

import dpengine as dp
from dpengine.accountant.loss import Bounded, Gaussian
from dpengine.core.errors import AllowanceError
from dpengine.core.printed import percent_up
from dpengine.messages import say
from dpengine.messages.language import speaking
from dpengine.planning import whatif
from dpengine.released import compare
from ui.ask.answer import strips_html
from ui.ledger import report
from ui.parts import exports
from ui.shell import state
from ui.whatif.settings import USUAL
from ui.words.wording import headline, range_words

BOTH = ["age", "monthly_income"]


def ask(**told: str) -> Any:
    from streamlit.testing.v1 import AppTest

    app = AppTest.from_file(str(ROOT / "ui" / "main.py"), default_timeout=60)
    app.switch_page("../pages/ask.py")
    for name, value in ({"table": "town", "q": "vector_mean", "epsilon": "0.1"} | told).items():
        app.query_params[name] = value
    app.run()
    app.session_state["ask-ways"] = True  # somebody opens it: else they are not worked out
    app.run()
    assert not app.exception
    return app


def text(app: Any) -> str:
    told = " ".join(plain("\n".join(part.proto.body for part in app.get("html"))).split())
    return told.replace(" :", ":")


def town() -> dp.Table:
    return state.workspace().table("town", visitor="local")


@pytest.mark.long
@pytest.mark.usefixtures("shared")
def test_the_page_shows_every_way_for_the_price_now_and_takes_the_best() -> None:
    table = town()
    usual = table.query("vector_mean", columns=BOTH, epsilon="0.1")
    found, taken = table.ways(usual), table.cheapest(usual)
    assert found is not None and found.here == 2 and found.cornered
    told = text(ask(columns=json.dumps(BOTH)))
    for way in found.each:
        assert f"{say(f'ways.{way.name}')}: ±{percent_up(way.errors[2])}" in told
    assert say("ways.taken", way=say(f"ways.{taken.noise}")) in told and say("ways.same_length") in told
    errors = {way.name: way.errors for way in found.each}
    assert min(errors, key=lambda name: errors[name][2]) == taken.noise == "gaussian"
    for width in (2, 5, 20):  # the same order whatever the number of columns, and as the theorems say
        assert errors["ordinary"][width] >= errors["strong"][width] > errors["gaussian"][width]
    assert errors["ordinary"][20] / errors["ordinary"][5] > Fraction(7, 2)
    assert errors["strong"][20] / errors["strong"][5] < Fraction(3)
    assert table.meter().used == 0 and table.ways(table.query("mean", column="age", epsilon="0.1")) is None


@pytest.mark.long
@pytest.mark.usefixtures("shared")
def test_a_shorter_row_needs_less_noise_by_its_length_alone() -> None:
    table = town()
    whole, short = (
        table.ways(table.query("vector_mean", columns=BOTH, epsilon="0.1", norm=norm)) for norm in ("1", "0.5")
    )
    assert whole is not None and short is not None and not short.cornered
    for one, other in zip(whole.each, short.each, strict=True):
        times = other.errors[10] / one.errors[10]
        alone = one.name in ("ordinary", "strong")  # a step of the lattice is all that cutting adds there
        assert abs(times - 1) < Fraction(1, 100) if alone else Fraction(45, 100) < times < Fraction(7, 10)
    told = text(ask(columns=json.dumps(BOTH), norm="0.5"))
    assert say("ways.same_length") not in told and "rows farther than 50 % of the way" in told
    with speaking("sl"):
        told = text(ask(columns=json.dumps(BOTH), norm="0.5", lang="sl"))
        assert "več kot 50 % poti do kota" in told and "stolpec za stolpcem" in told


@pytest.mark.long
@pytest.mark.usefixtures("shared")
def test_bad_input_is_said_at_the_form_and_nothing_is_lost() -> None:
    app = ask(columns=json.dumps(["age", "district", "age"]), norm="3")
    assert say("vector.norm", least=5) in text(app)
    field = next(one for one in app.text_input if one.key.startswith("ask-norm"))
    assert field.value == "300"
    field.set_value("60").run()
    assert not app.exception and "within ±" in text(app) and "0.6" in app.query_params["norm"]
    assert "district" not in str(app.query_params["columns"])
    next(one for one in app.multiselect if one.key.startswith("ask-several")).set_value([]).run()
    assert not app.exception and say("vector.columns") in text(app)
    assert town().meter().used == 0


@pytest.mark.usefixtures("shared")
def test_an_answer_has_a_figure_for_every_column_in_its_own_unit() -> None:
    frame = pd.DataFrame({"year": ["1999", "2011"] * 300, "pay": ["100", "300"] * 300})
    schema = dp.Schema({"year": dp.Number(1950, 2020, missing=1950), "pay": dp.Number(0, 400, missing=0, measure="€")})
    state.workspace().add_table("years", frame, schema=schema, unit=dp.Unit.rows(), budget=dp.Budget("1", "0.000001"))
    table = state.workspace().table("years", visitor="local")
    answer = table.ask(table.query("vector_mean", columns=["year", "pay"], epsilon="0.2", noise="gaussian"))
    assert list(answer.value) == ["year", "pay"] and isinstance(answer.query.loss(), Gaussian)
    first = headline(answer)  # 2,005 would be no year
    assert first.startswith("year: about 20") and "; pay: " in first and "€ (" in first
    assert "2 ranges" in range_words(answer)
    names, rows = exports.answer_rows(answer)
    told = [dict(zip(names, row, strict=True)) for row in rows]
    assert [(row["column"], row["unit"], row["epsilon"]) for row in told] == [("year", "", ""), ("pay", "€", "")]
    drawn = strips_html(answer)
    assert (
        drawn.count('role="img"') == 2 and "in a range from 1950 to 2020" in drawn and report.picture(answer) == drawn
    )
    assert answer.receipt["claim"]["promise"]["columns"] == ["year", "pay"]
    assert table.recall(answer.query)[-1].value == answer.value


@pytest.mark.usefixtures("shared")
def test_a_column_is_compared_with_itself_and_with_no_other() -> None:
    table = town()
    several = table.ask(table.query("vector_mean", columns=BOTH, epsilon="0.1", noise="l2_laplace"))
    alone = table.ask(table.query("mean", column="age", epsilon="0.1"))
    assert isinstance(several.query.loss(), Bounded)

    def figures(answer: dp.Answer, place: int) -> list[compare.Comparable]:
        told = answer.query, answer.value, answer.interval, answer.raw
        return compare.figures(*told, place, answer.request_id, "town")

    age, income = figures(several, 1)
    [other] = figures(alone, 2)
    assert compare.compare([age, other]).pairs[0].difference.holds_zero
    with pytest.raises(AllowanceError, match="from different columns"):
        compare.compare([age, income])


def test_what_if_answers_how_many_people_several_averages_need() -> None:
    given = USUAL | {"q": "vector_mean", "k": "1"}
    sides = [whatif.solve(whatif.read(given | {"columns": columns})) for columns in ("2", "10")]
    few, many = (whatif.at_error(side, side.promise.amount_of(Fraction(2), side.query)).people for side in sides)
    assert few is not None and many is not None and 3 * few < many
    with pytest.raises(AllowanceError):
        whatif.read(given | {"columns": "21"})


@pytest.mark.every(9)
@pytest.mark.usefixtures("shared")
@pytest.mark.parametrize("lang", ["en", "sl"])
@pytest.mark.parametrize("source", [{"from": "typed"}, {"column": "age"}], ids=["typed", "table"])
def test_what_if_is_drawn_for_several_averages(source: dict[str, str], lang: str) -> None:
    from streamlit.testing.v1 import AppTest

    app = AppTest.from_file(str(ROOT / "ui" / "main.py"), default_timeout=60)
    app.switch_page("../pages/whatif.py")
    for name, value in ({"table": "town", "q": "vector_mean", "columns": "5", "lang": lang, "k": "2"} | source).items():
        app.query_params[name] = value
    app.run()
    told = text(app)
    assert not app.exception and say("page.trouble") not in told
    assert ("Each answer" if lang == "en" else "Vsak odgovor") in told and "±" in told
    assert "(0 ±" not in told  # columns that are made up have no names
