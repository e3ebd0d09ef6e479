"""Bringing a table without a browser: what names suggest, what typed text means, and every way a file can be wrong."""

from __future__ import annotations

import io
import os
import re
import stat
import time
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import dpengine as dp
from dpengine.accountant.filter import usual_delta
from dpengine.accountant.how_many_fit import how_many
from dpengine.accountant.loss import Pure
from dpengine.core.errors import AllowanceError
from dpengine.declared.dialect import Dialect, suggest
from dpengine.intake.inspect import names_of, survey
from dpengine.intake.load import load
from dpengine.messages import known
from dpengine.messages.language import LANGUAGES, speaking
from ui.data import presets, price
from ui.data.draft import CARE, Card, listed, table_name, typed
from ui.data.draft import column_of as column
from ui.data.presets import LISTS
from ui.data.source import unmarked
from ui.shell import incoming as uploads

ROOT = Path(__file__).resolve().parents[2]
FILES = ROOT / "tests" / "files"
CANARY = "zebra7421"
SPRING = dp.Date("2024-03-01", "2024-05-31", "dmy")
LIKES = dp.ItemSet(["tea", "coffee", "milk"], ";")
POINT = Dialect()


# --- what a name suggests


@pytest.mark.parametrize(
    ("name", "kind", "preset"),
    [
        ("age", "number", "age"),
        ("Age (years)", "number", "age"),
        ("Starost", "number", "age"),
        ("Alter", "number", "age"),
        ("גיל", "number", "age"),
        ("birth_year", "number", "year"),
        ("Leto rojstva", "number", "year"),
        ("MonthlyIncome", "number", "money_month"),
        ("Mesečna plača", "number", "money_month"),
        ("Monatsgehalt", "number", "money_month"),
        ("annual salary", "number", "money_year"),
        ("letna plača", "number", "money_year"),
        ("Körpergröße", "number", "height_cm"),
        ("Višina (cm)", "number", "height_cm"),
        ("poids", "number", "weight_kg"),
        ("share %", "number", "percent"),
        ("%", "number", "percent"),
        ("satisfaction_score", "number", "score5"),
        ("hours per week", "number", "hours_week"),
        ("Število otrok", "number", "people"),
        ("has_car", "yes_no", None),
        ("Kadilec", "yes_no", None),
        ("gender", "list", "sex"),
        ("Spol", "list", "sex"),
        ("Geschlecht", "list", "sex"),
        ("weekday", "list", "weekdays"),
        ("Datum vpisa", "date", "ten_years"),
        ("date of birth", "date", "births"),
        ("dob", "date", "births"),
        ("datum rojstva", "date", "births"),
        ("hobbies", "items", None),
        ("Jeziki", "items", None),
        ("mesec", "list", "months"),
        ("average", None, None),
        ("alternative", None, None),
        ("id", None, None),
        ("notes", None, None),
        ("", None, None),
        ("'; DROP TABLE", None, None),
    ],
)
def test_a_name_suggests(name: str, kind: str | None, preset: str | None) -> None:
    assert (presets.suggest(name).kind, presets.suggest(name).preset) == (kind, preset)


def test_every_preset_is_sound_and_has_words() -> None:
    for key, usual in presets.RANGES.items():
        card = Card(kind="number", lower=usual.lower, upper=usual.upper, step=usual.step)
        assert isinstance(column(card, POINT), dp.Number) and known(f"data.range.{key}")
    for key, one in LISTS.items():
        card = Card(kind="list")
        card.take_list(key)
        assert isinstance(column(card, POINT), dp.Category) and known(f"data.list.{key}") and one.like
    assert all(known(f"data.care.{care}_{part}") for care in CARE for part in ("label", "means"))


def test_every_suggestion_names_a_preset() -> None:
    for preset, _ in presets._NUMBERS:
        assert preset is None or preset in presets.RANGES
    for key, words in (presets._LISTED | presets._LISTED_FIRST).items():
        for word in words.split():
            assert presets.suggest(word.strip("=")) == presets.Suggestion("list", key) and key in LISTS
    for preset, others in presets.OTHERWISE.items():
        assert others[0] == preset and all(one in presets.RANGES or one in LISTS for one in others)


# --- what typed text means


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("10000", "10000"),
        ("10,000", "10000"),
        ("10 000", "10000"),
        ("1,234,567.5", "1234567.5"),
        ("0.5", "0.5"),
        ("0,5", "0.5"),
        ("0,500", "0.5"),
        ("−3", "-3"),
        ("1.234,5", "1234.5"),
        ("2.5", "2.5"),
        ("1'000", "1000"),
        (" 7 ", "7"),
    ],
)
def test_a_number_of_a_card_means_the_same_in_every_language(text: str, meant: str) -> None:
    """tests/engine/core/test_typed.py has more; whatever the file's own marks are, people type those of their
    language."""
    for lang in LANGUAGES:
        with speaking(lang):
            assert typed(text, "Lowest") == Fraction(meant)


@pytest.mark.parametrize("text", ["", "ten", "1..2", "nan", "inf", "1e999999", "<script>"])
def test_what_is_no_number_is_refused_by_the_name_of_its_field(text: str) -> None:
    with pytest.raises(AllowanceError, match=r"^Lowest must be a plain number"):
        typed(text, "Lowest")


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("a\nb\nc", ["a", "b", "c"]),
        ("a, b, c", ["a", "b", "c"]),
        ("a; b, c; d", ["a", "b, c", "d"]),
        ("a,\n\nb,\n", ["a", "b"]),
        ("a, b\nc", ["a, b", "c"]),
        ("", []),
        ("one", ["one"]),
    ],
)
def test_a_pasted_list(text: str, values: list[str]) -> None:
    assert listed(text) == (values, {})


def test_other_spellings_stand_after_an_equals_sign() -> None:
    assert listed("female = f, woman\nmale = m; man") == (
        ["female", "male"],
        {"f": "female", "woman": "female", "m": "male", "man": "male"},
    )
    assert listed("a = b\nb") == (["a", "b"], {})  # a listed value stays itself


@pytest.mark.parametrize(
    ("card", "code"),
    [
        (Card(), "data.card.kind_missing"),
        (Card(kind="number", lower="5", upper="1", step="1"), "number.reversed"),
        (Card(kind="number", lower="0", upper="10", step="3"), "number.step"),
        (Card(kind="number", lower="0", upper="10", step="0"), "number.step"),
        (Card(kind="number", lower="0", upper="10", step=""), "number.unreadable"),
        (Card(kind="number", lower="0", upper="1e9", step="0.01"), "number.grid"),
        (Card(kind="list", listed="only"), "category.few"),
        (Card(kind="list", listed=""), "category.few"),
        (Card(kind="list", listed="a\nb\nA "), "category.twice"),
        (Card(kind="list", listed="a\nb", closed=True, goes_to="c"), "data.card.goes_to_missing"),
    ],
)
def test_a_card_that_cannot_be_used(card: Card, code: str) -> None:
    with pytest.raises(AllowanceError) as refusal:
        column(card, POINT)
    assert refusal.value.code == code


def test_a_closed_list_has_no_other() -> None:
    made = column(Card(kind="yes_no", closed=True, goes_to="no"), POINT)
    assert isinstance(made, dp.Category) and made.labels == ("yes", "no")
    assert made.spelled()["da"] == 0 and made.spelled()["nein"] == 1
    assert made.complete and made.missing == made.unknown == "no" and not {"", "?"} & made.fitting()


def test_names_for_tables() -> None:
    assert table_name("our people.csv", []) == "our people"
    assert table_name("town.CSV", ["town", "town 2"]) == "town 3"
    assert table_name("../../etc/passwd", []) == "../../etc/passwd"  # a name, never a path
    assert table_name("\u202e\x00.csv", []) == "table"
    assert len(table_name("x" * 500, [])) <= 80


def test_delta_is_small_beside_the_number_of_people() -> None:
    for people in (1, 50, 10**5, 10**5 + 1, 3 * 10**7):
        delta = usual_delta(people)
        assert delta <= Fraction(1, 10**6) and delta * 10 * people <= 1 and str(delta).startswith("1/10")
    assert usual_delta(10**5) == Fraction(1, 10**6)


def test_good_questions_come_from_the_budget_rule() -> None:
    rules = [dp.Budget(epsilon, "1e-6").rule() for epsilon in CARE.values()]
    assert [how_many(rule, Pure(Fraction(1, 10)))["filter"] for rule in rules] == [5, 10, 40]
    schema = dp.Schema({"age": dp.Number(0, 120), "way": dp.Category(["bus", "car"]), "day": SPRING, "likes": LIKES})
    many = [
        price.good_questions(dp.Budget("1", "1e-6"), price.typical(schema, "replace", people))
        for people in (40_000, 1_000, 400, 10)
    ]
    assert many == sorted(many, reverse=True) and many[0] >= 10 > many[2] and many[3] == 0  # a small table holds fewer
    ten_each = price.typical(schema, "replace", 1_000, dp.Unit.column("who", 10))
    assert ten_each.spend != price.typical(schema, "replace", 1_000).spend


def test_a_wider_range_makes_an_average_vaguer() -> None:
    column = dp.Number(0, 10_000, 10)
    told = price.of_column(column, dp.Unit.rows(), "replace", [40_000])
    on_line = price.short(column, dp.Unit.rows(), "replace", (40_000,)).removeprefix("average ")
    assert "1,001 possible values" in told and f"The first average will be within {on_line};" in told
    now, then = (float(one.replace(",", "")) for one in re.findall(r"±([\d,.]+\d)", told))
    assert 1.9 * now <= then <= 2.1 * now
    assert "1900 to 2030" in price.of_column(dp.Number(1900, 2030), dp.Unit.rows(), "replace", [40_000])
    assert "usual allowance" in price.of_column(dp.Number(0, 10_000, 10), dp.Unit.rows(), "replace", [5])
    widest = dp.Number(0, 9_999_998, 1)  # nothing twice as wide is allowed
    assert price.of_column(widest, dp.Unit.rows(), "replace", [40_000])


@pytest.mark.parametrize("text", ["*a* _b_ `c` [d](e) :red[f] :smile: -> <b> $x$", "a\tb", "Ž 1"])
def test_a_name_stands_for_itself_in_a_label(text: str) -> None:
    shown = unmarked(text)
    assert shown.replace("\\", "").replace("\u2060", "") == text.replace("\t", " ")
    assert ":smile:" not in shown and ":red[" not in shown


# --- the file on the server


def test_an_upload_is_its_owners_alone_and_goes(tmp_path: Path) -> None:
    kept = uploads.keep(io.BytesIO(b"a,b\n1,2\n"), 8, tmp_path, 100)
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600 and kept.parent == tmp_path and kept.suffix == ".csv"
    assert uploads.keep(io.BytesIO(b"PAR1...."), 8, tmp_path, 100).suffix == ".parquet"
    uploads.drop(kept)
    uploads.drop(kept)
    assert not kept.exists()
    precious = tmp_path / "ledger.sqlite"
    precious.write_text("x")
    uploads.drop(precious)
    assert precious.exists()


def test_an_empty_or_too_large_upload_is_refused(tmp_path: Path) -> None:
    for data, size, code in ((b"", 0, "load.empty"), (b"x" * 9, 9, "data.file.large")):
        with pytest.raises(AllowanceError) as refusal:
            uploads.keep(io.BytesIO(data), size, tmp_path, 8)
        assert refusal.value.code == code and not list(tmp_path.iterdir())


def test_forgotten_uploads_are_swept_after_a_day(tmp_path: Path) -> None:
    old, new = (uploads.keep(io.BytesIO(b"a\n1\n"), 4, tmp_path, 100) for _ in range(2))
    half, other = tmp_path / f"upload-{16 * 'a'}", tmp_path / "upload-notes.txt"  # a process was killed while unpacking
    for path in (half, other):
        path.write_text("a\n1\n")
    for path in (old, half, other):
        os.utime(path, (time.time() - 90_000,) * 2)
    uploads.sweep(tmp_path)
    assert not old.exists() and not half.exists() and new.exists() and other.exists()


def test_a_survey_refuses_what_loading_refuses(tmp_path: Path) -> None:
    texts = {
        "good": "a,b\n1,2\n3,4\n",
        "ragged": "a,b\n1,2,3\n",
        "no rows": "a,b\n",
        "unclosed": 'a,b\n"1,2\n',
        "quoting": 'a,b\n"1"x,2\n',
        "one column": "a\n\n1\n",
        "broken": 'a,b\n"1\n2",3\n',
        "data": "12,3.5\n1,2\n",
    }
    for name, text in texts.items():
        path = tmp_path / f"{name}.csv"
        path.write_text(text)
        for bad_records in ("refuse", "empty"):
            for dialect in (POINT, replace(POINT, line_breaks=True)):
                surveyed = outcome(partial(survey, path, dialect, bad_records))
                loaded = outcome(partial(load, path, dialect, tmp_path / "raw", b"k" * 32, bad_records=bad_records))
                assert surveyed == (loaded if isinstance(loaded, str) else None), name


def outcome(work: Callable[[], Any]) -> Any:
    try:
        return work()
    except AllowanceError as refusal:
        return refusal.code


def test_a_parquet_file_is_surveyed(tmp_path: Path) -> None:
    path = tmp_path / "people.parquet"
    pd.DataFrame({"age": [1, 2, 3], "way": ["a", None, "b"]}).to_parquet(path)
    assert names_of(path, POINT) == ["age", "way"]
    survey(path, POINT)
    path.write_bytes(b"PAR1 not really")
    with pytest.raises(AllowanceError):
        names_of(path, POINT)


def test_the_stranger_is_what_its_script_makes(tmp_path: Path) -> None:
    from files.make_stranger import CANARY as planted
    from files.make_stranger import write

    write(tmp_path / "again.csv")
    assert (tmp_path / "again.csv").read_bytes() == (FILES / "stranger.csv").read_bytes()
    assert planted in (FILES / "stranger.csv").read_text(encoding="utf-8-sig")
    guess = suggest(FILES / "stranger.csv")
    assert (guess.separator, guess.decimal, guess.encoding) == (";", ",", "utf-8")
    survey(FILES / "stranger.csv", replace(guess, line_breaks=True))
