"""Numbers that mean “unknown”, such as 999: said on a column's card, and from then on they count as empty cells."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from helpers_declare import Page
from helpers_page import html_of, open_page, plain

import dpengine as dp
from dpengine.core.errors import AllowanceError
from dpengine.declared.dialect import Dialect
from dpengine.intake.foreign import CodedColumn
from dpengine.messages import say
from dpengine.messages.language import speaking
from ui.data import draft as codes
from ui.data.draft import Card, column_of
from ui.data.price import briefly, short_words
from ui.data.table_page import words
from ui.parts import answer_notes

POINT, COMMA = Dialect(thousands=","), Dialect(separator=";", decimal=",", thousands=".")


@pytest.mark.parametrize(
    ("text", "dialect", "found"),
    [
        ("", POINT, []),
        (" 999 ", POINT, [999]),
        ("998; 999", POINT, [998, 999]),
        ("998, 999", POINT, [998, 999]),
        ("998, 999", COMMA, [998, 999]),
        ("-1,-9", POINT, [-1, -9]),
        ("-9, 99,", POINT, [-9, 99]),
        ("1,2,3", POINT, [1, 2, 3]),
        ("9,999;", POINT, [9999]),
        ("9.999;", COMMA, [9999]),
        ("9.999", POINT, [Fraction("9.999")]),
        ("99,9;", COMMA, [Fraction("99.9")]),
        ("99,9; -1", COMMA, [Fraction("99.9"), -1]),
        ("99,9;", Dialect(), [Fraction("99.9")]),  # a spreadsheet, and a person who writes so
        ("−9", POINT, [-9]),
    ],
)
def test_they_are_read_as_the_file_writes_numbers(text: str, dialect: Dialect, found: list[Any]) -> None:
    assert codes.read_codes(text, dialect) == found
    assert codes.read_codes(codes.written_codes(found, dialect), dialect) == found
    with speaking("sl"):
        assert codes.read_codes(text, dialect) == found, "in whichever language the page is read"


@pytest.mark.parametrize("text", ["998,999", "9,999", "99,9", "997,998,999", "998 999", "9 999"])
@pytest.mark.parametrize("dialect", [POINT, COMMA, Dialect(thousands=" ")])
def test_what_may_be_one_number_or_several_is_not_guessed(text: str, dialect: Dialect) -> None:
    try:
        found = codes.read_codes(text, dialect)
    except AllowanceError as refused:
        assert refused.code in ("number.ambiguous", "number.unreadable")
    else:
        assert len(found) == text.count(",") + 1 > 2  # 997,998,999 is no number of a file with a decimal comma
    with pytest.raises(AllowanceError) as no_number:
        codes.read_codes("unknown", dialect)
    assert no_number.value.code == "number.unreadable"


@pytest.mark.parametrize("dialect", [POINT, COMMA], ids=["point", "comma"])
@pytest.mark.parametrize("held", [[999], ["99.9"], [-1, "0.5", 9999]])
def test_a_card_says_them_and_comes_back(held: list[Any], dialect: Dialect) -> None:
    column = dp.Number(0, 260, codes=held)
    card = Card.of(column, dialect)
    assert card.kind == "number" and column_of(card, dialect) == column
    card.codes = "1; 2; 3; 4; 5; 6; 7; 8; 9; 10; 11"
    with pytest.raises(AllowanceError) as refused:
        column_of(card, dialect)
    assert refused.value.code == "number.codes"


def test_they_stand_in_the_column_s_line_and_among_the_table_s_facts() -> None:
    column = dp.Number(0, 260, missing=3, measure="mmHg", codes=[999])
    assert short_words(column) == briefly(column) == "0–260\xa0mmHg; 999 means “unknown”"
    assert "; 999 counts as an empty cell; empty cells count as 3" in words(column)
    several = dp.Number(0, 260, codes=[998, 9999])
    assert short_words(several).endswith("; 998, 9999 mean “unknown”")
    with speaking("sl"):
        assert short_words(several).endswith("; 998, 9999 pomenita »ni znano«")
    assert "unknown" not in short_words(dp.Number(0, 260))


@pytest.mark.parametrize(
    ("lower", "upper", "typed", "usual", "found"),
    [
        ("0", "1000", "", "pressure", 999),
        ("0", "999", "", "pressure", 999),
        ("0", "10000", "", "pressure", 9999),
        ("0", "100000", "", "age", 99999),
        ("-99", "300", "", "age", -99),
        ("-9", "400", "", "age", -9),
        ("0", "1000", "999", "pressure", None),  # said already
        ("0", "1000", "-999", "pressure", 999),
        ("0", "600", "", "pressure", None),  # wide, but it reaches none
        ("0", "260", "", "pressure", None),
        ("-1", "120", "", "age", None),  # hardly wider
        ("0", "1000", "", None, None),  # nobody knows what is usual
        ("", "1000", "", "age", None),
    ],
)
def test_a_range_widened_to_such_a_number_is_answered_with_a_hint(
    lower: str, upper: str, typed: str, usual: str | None, found: int | None
) -> None:
    assert codes.codes_reached(lower, upper, typed, usual) == found


@pytest.mark.parametrize(
    ("lower", "upper", "usual", "proposed"),
    [
        ("0", "100", None, "999; 9999; -99; -999"),
        ("0", "100", "hours_week", "999; 9999; -1; -9; -99; -999"),
        ("0", "50", None, "99; 999; -99; -999"),  # nobody is twice as far away as the farthest that can be
        ("0", "60", "age", "999; 9999; -1; -9; -99; -999"),  # somebody of 99 is merely older
        ("0", "990", None, "9999; 99999; -999; -9999"),
        ("0", "150000", "amount", "999999; 9999999; -999999; -9999999"),  # −999 may have been paid back
        ("-40", "60", "temperature", "999; 9999; -999; -9999"),
        ("0", "40", "temperature", "99; 999; -99; -999"),  # −1 and −9 are real degrees
        ("-5", "5", "score5", "99; 999; -99; -999"),  # here somebody says that they can be
        ("1900", "2030", "year", "9999; 99999; -1; -9; -99; -999"),
        ("0", "1", "fraction", "99; 999; -99; -999"),
        ("5", "5", None, ""),
        ("", "100", None, ""),
    ],
)
def test_the_usual_codes_that_cannot_be_real_are_proposed(
    lower: str, upper: str, usual: str | None, proposed: str
) -> None:
    assert codes.usual_codes(lower, upper, usual) == proposed


def test_codes_that_a_declaration_or_a_file_names_stay() -> None:
    declared = Card.of(dp.Number(0, 100), POINT, "hours")
    declared.take_range("age")
    assert declared.codes == ""
    card = Card.for_name("hrs_usual")
    card.coded(CodedColumn("hrs_usual", "", "number", (), ("77",)), POINT)
    card.take_range("age")
    assert card.codes == "77"
    bought = Card()
    bought.take_bounds(0, 64)
    bought.propose_codes()
    assert bought.codes == "", "a bought range leaves out real cells too"
    named = Card.for_name("pay")
    assert named.codes
    named.take_bounds(256, 4096)
    assert named.codes == "", "also where the column's name had proposed some"


@pytest.mark.usefixtures("shared")
def test_999_beyond_a_usual_range_counts_as_no_value_though_nobody_typed_it() -> None:
    """2 % of 8,000 cells hold 999, the others 35 on average; 999 as 100 would add 1.3. At ε = 0.9 noise moves the mean
    by 0.4 with a chance below 1e-12 (a range of 100 over 8,000 people: e^(−0.9·0.4·8000/100))."""
    page = Page().upload("hrs_usual,weight_kg\n" + ("34,60\n36,70\n" * 49 + "999,60\n999,70\n") * 80).to("cards")
    page.click("declare-0-like-1")
    assert page.draft.card("hrs_usual").codes == "999; 9999; -1; -9; -99; -999"
    assert "999" not in plain(page.text), "the line stays short"
    page.click("declare-1-open").set("declare-1-upper", "1000")
    assert page.draft.card("weight_kg").codes == "9999; 99999; -1; -9; -99; -999", "they follow the range"
    page.set("declare-1-codes", "").set("declare-1-upper", "200")
    assert page.draft.card("weight_kg").codes == "", "emptied it stays empty"
    table = page.click("declare-1-right").finish("button")
    assert table.schema.number("weight_kg").codes == () and len(table.schema.number("hrs_usual").codes) == 6
    query = table.query("mean", column="hrs_usual", epsilon="0.9")
    assert "999 and other codes in hrs_usual count as no value" in answer_notes.cut_words(query)
    assert abs(table.ask(query).value - 35) < 0.4


@pytest.mark.long
@pytest.mark.usefixtures("shared")
def test_a_mean_without_the_999s_is_near_the_truth() -> None:
    """4,600 cells hold 133 on average, 400 hold 999. At ε = 0.5 the noise moves the mean by 5 or more with a chance
    below 1e-9 (a range of 220 over 4,600 people: e^(−0.5·5·4600/220) < 1e-20); 999 as 260 would move it by 10."""
    page = Page().upload("sbp,sex\n" + "132,m\n134,f\n" * 2_300 + "999,f\n999,m\n" * 200).to("cards")
    page.set("declare-0-codes", "").set("declare-0-upper", "1000")
    hint = "If 999 means “unknown”, keep the range and write 999 below."
    assert hint in page.text
    page.set("declare-0-codes", "999")
    assert hint not in page.text
    page.set("declare-0-codes", "998,999")
    assert "can be read in two ways" in plain(page.text), "told on the card"
    page.set("declare-0-codes", "999").set("declare-0-upper", "260").set("declare-0-lower", "40")
    page.click("declare-0-right")
    assert "40–260\xa0mmHg; 999 means “unknown”" in plain(page.text)
    table = page.finish("pressure")
    assert table.schema.number("sbp") == dp.Number(40, 260, measure="mmHg", codes=[999])
    answer = table.ask(table.query("mean", column="sbp", epsilon="0.5"))
    assert abs(answer.value - 133) < 5
    assert "999 in sbp counts as no value" in plain(
        html_of(open_page("ask", table="pressure", answer=answer.request_id))
    )
    assert "999 counts as an empty cell" in plain(html_of(open_page("data", table="pressure")))
    check = table.ask(table.query("fit_checks", epsilon="0.3"))
    assert check.value["sbp"] < 100, "400 cells that fit: noise of 100 has a chance below 1e-6"
    assert table.fit_of("sbp").checked and not table.fit_of("sbp").doubted
    again = table.revise(dp.Schema({"sbp": dp.Number(40, 260, measure="mmHg", codes=[998, 999])}))
    assert not again.fit_of("sbp").checked, "declared anew it is unchecked"


@pytest.mark.long
@pytest.mark.usefixtures("shared")
def test_where_a_check_finds_a_part_that_does_not_fit_the_card_takes_the_number() -> None:
    """400 of 5,000 cells are 999, at ε = 0.3: that the noise hides them has a chance below 1e-9."""
    page = Page().upload("sbp,sex\n" + "131,m\n135,f\n" * 2_300 + "999,f\n999,m\n" * 200).to("cards")
    table = page.set("declare-0-codes", "").finish("not said yet")
    table.ask(table.query("fit_checks", epsilon="0.3"))
    shown = open_page("data", table="not said yet", check="1")
    assert "name it when you declare the column again" in plain(html_of(shown))
    button = next(one for one in shown.button if one.key == "fit-again-sbp")
    assert button.help == say("data.fit.again_help")
    shown = button.click().run()
    (field,) = [one for one in shown.text_input if one.label == say("data.card.codes")]
    field.set_value("999").run()
    assert "999" in str(shown.session_state["changes"]["not said yet"][1].card("sbp").codes)
