"""Numbers as a person reads them, and files a spreadsheet opens: rounded on the safe side, and never a formula."""

from __future__ import annotations

import csv
import io
import math
import re
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as some

import dpengine as dp
from dpengine.core.printed import percent, power_of_ten, three_figures
from dpengine.declared.facts import Facts
from dpengine.mechanisms.promises import Rank
from dpengine.messages import plain
from dpengine.messages.language import speaking
from dpengine.messages.numbers import to_figures
from ui.ask.answer import bars_alt, bars_table
from ui.ledger.report import picture
from ui.parts.exports import as_csv, safe
from ui.words.figures import bare, pictured, rounded, rounded_range
from ui.words.wording import axis, from_zero, headline, in_short, range_words, wider_words

ROOT = Path(__file__).resolve().parents[2]
whole = some.integers(-(10**15), 10**15)
on_a_grid = some.decimals(-(10**9), 10**9, places=4).map(float)
any_float = some.floats(-1e15, 1e15, allow_subnormal=False)
values = whole | on_a_grid | any_float


def read(printed: str) -> Decimal:
    return Decimal(printed.replace(",", "").replace("−", "-"))


def exact(value: float) -> Decimal:
    return Decimal(str(value))


@pytest.mark.long
@given(values, values)
def test_a_printed_range_contains_the_range(one: float, other: float) -> None:
    low, high = sorted((one, other))
    assume(low < high)
    below, above = map(read, rounded_range(low, high))
    assert below <= exact(low) and exact(high) <= above
    assert above - below <= (exact(high) - exact(low)) * 2  # and does not give the precision away


@pytest.mark.long
@given(values, values, some.floats(0, 1))
def test_the_figure_lies_in_its_printed_range(one: float, other: float, share: float) -> None:
    low, high = sorted((one, other))
    assume(low < high)
    value = min(max(low + (high - low) * share, low), high)
    below, above = map(read, rounded_range(low, high))
    assert below <= read(rounded(value, low, high)) <= above


@pytest.mark.parametrize(
    ("low", "high", "printed"),
    [
        (30685, 60335, ("30,000", "61,000")),
        (2431, 2528, ("2,431", "2,528")),
        (2431, 3528, ("2,430", "3,530")),
        (1.61, 1.68, ("1.61", "1.68")),
        (1.6, 2.4, ("1.6", "2.4")),
        (-3, 3, ("−3", "3")),
        (-0.4, 0.4, ("−0.4", "0.4")),
        (-0.04, 30, ("−1", "30")),
        (0.123456, 0.345678, ("0.12", "0.35")),
        (7, 7, ("7", "7")),
        (0, 0, ("0", "0")),
    ],
)
def test_ranges_are_printed_to_what_the_noise_supports(low: float, high: float, printed: tuple[str, str]) -> None:
    assert rounded_range(low, high) == printed


def test_no_figure_is_minus_nothing() -> None:
    assert rounded(-0.4, -30, 30) == "0"
    assert rounded_range(-90, -0.001)[1] == "0"
    assert rounded(45510, 30685, 60335) == "46,000"
    assert rounded(4245, -10580, 19070) == "4,000"
    assert (bare(1234.5), bare(-0.12345), bare(0)) == ("1,234", "−0.123", "0")
    assert rounded(5, 5, 5) == "5"


@pytest.mark.parametrize(
    ("share", "printed"),
    [
        (0, "0 %"),
        (1, "100 %"),
        (Fraction(1, 10), "10 %"),
        (Fraction(5, 100), "5 %"),
        (Fraction(4, 1000), "0.4 %"),
        (Fraction(996, 10_000), "10 %"),
        (Fraction(1, 10**5), "below 0.1 %"),
        (Fraction(3, 2), "150 %"),
        (Fraction(9_996, 10_000), "99.9 %"),
        (Fraction(996, 1_000), "99.6 %"),
        (Fraction(99_001, 100_000), "99 %"),
    ],
)
def test_shares(share: Fraction | float, printed: str) -> None:
    assert percent(share) == printed


@pytest.mark.parametrize(
    ("delta", "printed"),
    [
        ("0", "0"),
        ("1e-6", "10⁻⁶"),
        ("9e-7", "9 · 10⁻⁷"),
        ("1.5e-12", "1.5 · 10⁻¹²"),
        ("9.9999e-7", "10⁻⁶"),
        ("0.05", "0.05"),
        ("0.001", "0.001"),
    ],
)
def test_small_deltas(delta: str, printed: str) -> None:
    assert power_of_ten(Fraction(delta)) == printed


@given(some.fractions(min_value=Fraction(1, 10**30), max_value=Fraction(1, 1001)))
def test_a_small_delta_is_never_told_smaller_than_it_is(delta: Fraction) -> None:
    figures, _, power = power_of_ten(delta).rpartition("10")
    told = Fraction(figures.rstrip(" ·") or "1") * Fraction(10) ** int(power.translate(_UPRIGHT))
    assert delta <= told <= delta * Fraction(101, 100)


_UPRIGHT = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")


@pytest.mark.parametrize("cell", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1"])
def test_a_formula_is_written_as_text(cell: str) -> None:
    assert safe(cell).startswith("'") and safe(cell).replace("'", "") == cell.replace("'", "")


@pytest.mark.parametrize("cell", [-1, -1.5, 0, None, True, "a=b", "Mill", "", "2026-11-15", "ε"])
def test_other_cells_stay_as_they_are(cell: object) -> None:
    assert safe(cell) is cell


@given(some.lists(some.lists(some.text(max_size=8), min_size=3, max_size=3), max_size=5))
def test_a_csv_file_is_read_back_cell_by_cell(rows: list[list[str]]) -> None:
    # csv writes a lone carriage return inside quotes; a reader in newline="" mode gives it back.
    assume(not any("\0" in cell for row in rows for cell in row))
    written = as_csv(["=head", "b", "c"], rows)
    found = list(csv.reader(io.StringIO(written.removeprefix("\ufeff"), newline="")))
    assert found == [["'=head", "b", "c"], *([safe(cell) for cell in row] for row in rows)]
    assert not any(cell[:1] in tuple("=+-@\t\r\n") and cell for row in found for cell in row)


@pytest.mark.parametrize(
    ("column", "about", "between"),
    [
        (dp.Number(1900, 2030), "About 1984", "The exact answer, counted as declared, is between 1980 and 1988,"),
        (dp.Number(0, 9_000), "About 1,984", "The exact answer, counted as declared, is between 1,980 and 1,988,"),
    ],
    ids=["years", "amounts"],
)
def test_years_stand_without_a_comma(column: dp.Number, about: str, between: str) -> None:
    facts = Facts("people", dp.Schema({"column": column}), dp.Unit.rows(), "replace", 1_000)
    given = {"column": "column", "epsilon": "1", "where": [["column", ">=", 1984]]}
    query = dp.catalogue["mean"].build(facts, given)
    answer = dp.Answer(1984, (1980, 1988), query.promise(), {}, query, "request", "now")
    assert headline(answer) == about and range_words(answer).startswith(between)
    assert "column is at least 1984" in query.sentence()


def _answer(key: str, value: object, interval: object, **given: object) -> dp.Answer:
    schema = dp.Schema({"pay": dp.Number(1_024, 8_192), "town": dp.Category(["a", "b"])})
    query = dp.catalogue[key].build(Facts("people", schema, dp.Unit.rows(), "replace", 1_000), {"epsilon": "1"} | given)
    return dp.Answer(value, interval, query.promise(), {}, query, "request", "now")


def test_a_range_that_is_wider_than_expected_says_what_was_expected() -> None:
    facts = Facts("people", dp.Schema({"pay": dp.Number(0, 8_000)}), dp.Unit.rows(), "add_remove", 5_000)
    query = dp.catalogue["mean"].build(facts, {"epsilon": "1", "column": "pay"})
    promise = query.promise()
    half = float(promise.alpha)
    for times, said in ((0.5, False), (1.1, False), (1.3, True)):
        interval = 4_000 - times * half, 4_000 + times * half
        told = wider_words(dp.Answer(4_000, interval, promise, {}, query, "request", "now"))
        assert (
            bool(told) == said
            and ("about 5,000 people" in told) == said
            and ("spread" in told) == (said and promise.spread)
        )
    share = dp.catalogue["proportion"].build(facts, {"epsilon": "1", "of": [["pay", ">", 9]]})
    told = wider_words(dp.Answer(50, (10, 90), share.promise(), {}, share, "request", "now"))
    assert "about 5,000 people" in told and "spread" not in told, "a share has no values to spread"
    counted = _answer("count", 500, (100, 900), where=[["town", "=", "a"]])
    assert not wider_words(counted), "a count supposes no number of people"


def test_a_range_is_never_told_beyond_what_is_possible() -> None:
    mean = _answer("mean", 7_900, (5_100, 8_190), column="pay")
    assert (
        range_words(mean).startswith("The exact answer, counted as declared, is between 5,100 and 8,192,")
        and in_short(mean) == "7,900 (5,100 – 8,192)"
    )
    edge = _answer("mean", 8_191.7, (8_100.2, 8_191.9), column="pay")
    assert in_short(edge) == "8,192 (8,100 – 8,192)"
    count = _answer("count", -10, (-40, 20), where=[["town", "in", ["a"]]])
    assert headline(count) == "At most 20 people" and in_short(count) == "0 (0 – 20)"
    impossible = _answer("count", -30, (-40, -20), where=[["town", "in", ["a"]]])
    assert in_short(impossible) == "0 (0 – 10)"  # unlucky noise: holds no less often than it did
    share = _answer("proportion", 26.2, (22.6, 29.8), of=[["town", "in", ["a"]]])
    assert in_short(share) == "26.2 % (22.6 – 29.8 %)"
    spread = _answer("variance", 300, (250, 350), column="pay")
    assert in_short(spread) == "300 (250 – 350)"  # not lifted to the column's own least value


def test_a_figure_whose_range_holds_everything_is_not_shown_as_one() -> None:
    whole, some_of_it = (1_024.0, 8_192.0), (1_024.0, 7_400.0)
    alone = _answer("mean", 8_192.0, whole, column="pay", where=[["town", "in", ["a"]]])
    assert headline(alone) == in_short(alone) == "Too few to tell"
    assert "from 1,024 to 8,192" in range_words(alone)
    both = _answer("mean", {"a": 2_548.377, "b": 8_192.0}, {"a": some_of_it, "b": whole}, column="pay", by="town")
    told = bars_table(both)
    assert "Too few to tell" in told and "8,192.0" not in told and "2,548" not in told and "9,000" not in told
    assert pictured(both.query, both.value, both.interval)[0] == {"a": 2_548.377, "b": None}
    assert bars_alt(both).endswith("b: Too few to tell") and headline(both) == "a: about 2,500 (1,024 – 7,400)"
    assert range_words(both).endswith(" Too few to tell: b.")
    assert "Too few to tell" in picture(both)


AWAY = "at most {} people in {} away from "
MIDDLE = f"{AWAY}the middle"


@pytest.mark.parametrize(
    ("key", "given", "share", "told"),
    [
        ("median", {}, "0.05", MIDDLE.format("5", "100")),
        ("median", {}, "0.0451", MIDDLE.format("5", "100")),
        ("median", {}, "0.004", MIDDLE.format("4", "1,000")),
        ("quantile", {"share": "0.9"}, "0.2", f"{AWAY.format('20', '100')}place 90"),
        ("median", {}, "0.53", "anywhere in the range: no accuracy is promised"),
        ("quantile", {"share": ["0.1", "0.9"]}, "0.2", "at most 20 % of people away from the true place"),
    ],
)
def test_a_place_is_told_among_so_many_people(key: str, given: dict[str, object], share: str, told: str) -> None:
    query = _answer(key, 1, None, column="pay", **given).query
    promise = Rank(Fraction(1), Fraction(share), Fraction(1, 20), Fraction(0))
    assert promise.words(query).partition(", 95 times in 100")[0] == told


def test_rows_are_called_rows_where_a_person_has_several() -> None:
    schema = dp.Schema({"town": dp.Category(["a", "b"]), "likes": dp.ItemSet(["x", "y"], at_most=1)})
    several = Facts("people", schema, dp.Unit.column("id", at_most=3), "replace", 1_000)
    asked = {"where": [["town", "in", ["a"]]], "epsilon": "1"}
    rows, people = (dp.catalogue["count"].build(several, asked | {"people": people}) for people in (False, True))
    assert rows.sentence() == "The number of rows (at most 3 of each person) where town is a" and axis(rows) == "rows"
    assert "rows" in rows.promise().words(rows) and "people" in people.promise().words(people)
    assert people.sentence() == "The number of people where town is a" and axis(people) == "people"
    bars, sets = (
        dp.catalogue["histogram"].build(several, {"column": name, "epsilon": "1"}) for name in ("town", "likes")
    )
    assert bars.sentence() == "The number of rows by town, for rows (at most 3 of each person)"
    assert axis(bars) == "rows" and from_zero(bars)
    assert sets.sentence() == "The number of people by likes, for everyone" and axis(sets) == "people"
    fits = dp.catalogue["fit_check"].build(several, {"epsilon": "1"})
    answer = dp.Answer(-10, (-40, 20), fits.promise(), {}, fits, "request", "now")
    assert (
        headline(answer) == "At most 20 rows" and range_words(answer) == "At most 20 rows do not fit, 95 times in 100."
    )


def test_the_weights_of_a_model_are_no_people() -> None:
    """In the report they are drawn with their ranges, not as bars of people."""
    given = {"target": "pay", "features": ["age"], "epsilon": "1"}
    schema = dp.Schema({"pay": dp.Number(0, 1_000), "age": dp.Number(0, 100)})
    query = dp.catalogue["train_linear"].build(Facts("t", schema, dp.Unit.rows(), "replace", 1_000), given)
    assert axis(query) == "weight" and not from_zero(query)


@pytest.mark.parametrize(
    ("value", "many", "told", "in_slovene"),
    [
        (180.4, 2, "180", "180"),
        (99_999.7, 3, "100,000", "100.000"),
        (1_234_567.0, 3, "1,230,000", "1.230.000"),
        (0.000012345, 2, "0.000012", "0,000012"),
        (0.5, 3, "0.5", "0,5"),
        (0.0, 3, "0", "0"),
        (1.23e30, 3, "1.23 · 10³⁰", "1,23 · 10³⁰"),
        (1e-30, 3, "10⁻³⁰", "10⁻³⁰"),
        (math.inf, 3, "∞", "∞"),
    ],
)
def test_a_number_for_a_person_is_written_out(value: float, many: int, told: str, in_slovene: str) -> None:
    assert to_figures(value, many) == told
    with speaking("sl"):
        assert to_figures(value, many) == in_slovene


@pytest.mark.parametrize("power", range(-20, 25))
def test_no_figure_is_told_as_a_computer_writes_it(power: int) -> None:
    """“1.8e+02 times as far off” stood on a page."""
    for value in (1.8234 * 10.0**power, -(10.0**power)):
        for told in (plain(value), bare(value), to_figures(value, 2), three_figures(Fraction(value))):
            assert not re.search(r"\de[+-]?\d", told), told


def test_no_sentence_is_given_a_figure_in_a_computers_notation() -> None:
    """Formats that turn to an exponent are for what is read again, never for words: they stand in no call of `say`, and
    are not handed to `local` as they are."""
    shown = [file for place in ("ui", "pages") for file in (ROOT / place).rglob("*.py")]
    shown += [*(ROOT / "dpengine" / "mechanisms").rglob("*.py"), ROOT / "dpengine" / "core" / "printed.py"]
    turning = re.compile(r"""(?<!Fraction\()(?<!float\()f["'][^"']*\{[^{}"']*:[,.\d]*g\}""")
    lines = ((file, line.strip()) for file in shown for line in file.read_text().splitlines())
    found = [f"{file.name}: {line}" for file, line in lines if turning.search(line) and "SHARES =" not in line]
    assert found == []
