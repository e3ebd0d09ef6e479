"""Every planted error is caught by its check, the list is whole, and the registry itself can fail.

`make test` runs those that are quick; `make audit` and `python -m tests.planted` run all of them and write the table.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from dpengine.audit.report import ROOT
from dpengine.noise.coins import SystemCoins
from tests.planted import registry
from tests.planted.checks import (
    check_noise_keeps_large_numbers,
    check_selection_takes_the_same_draws,
)
from tests.planted.ground import choose
from tests.planted.listed import PLANTED
from tests.planted.registry import CAUGHT, ESCAPED, FALSE_ALARM, OTHER_WORDS, Planted, judge, section, write

BY_NAME = {planted.name: planted for planted in PLANTED}
QUICK = sorted(name for name, planted in BY_NAME.items() if not planted.long)

NAMED = (  # what the project says it has planted, word for word
    "half noise",
    "Δ one too small",
    "the wrong relation's Δ",
    "one bin un-noised",
    "data-dependent bins",
    "only non-empty bars shown",
    "un-capped median score",
    "a joint draw with Δ = 1",
    "float noise",
    "un-clipped sums",
    "32-bit overflow",
    "a sum with rounding errors",
    "spend after answer",
    "refund on failure",
    "PLD used as a filter",
    "a re-optimised Rényi order",
    "lookup before the lock",
    "a plain-hash fingerprint",
    "depth counted twice",
    "depth of a joint draw counted twice",
    "a sniffing loader",
    "ragged rows dropped",
    "file-order choice of a person's rows",
    "noise seeded from the query",
    "un-noised group count as denominator",
    "default bounds read from the data",
    "a threshold without δ",
    "an interval from the true value",
    "cached answer reused for another where",
    "error message with a value",
    "a selection whose draws depend on the scores",
    "remeasure at naive β each look",
    "session step drawn before it is burned",
    "cap raised with α chosen anew",
    "a category list made from the data",
    "the lecture's coin accepted because p < 1",
    "one sum's coin for two sums",
    "one coin shared by all people",
    "an analyser that gets unshuffled messages",
    "the source's reversed sign",
    "suggestions from values",
    "budget of an edited dialect copy",
    "deleting instead of chaining ledger rows",
    "the continuous scale on the grid",
    "rows published in their order",
    "a file written before its charge",
    "gradients rounded to the nearest",
    "a replaced row counted once",
    "a coordinate without noise",
    "one step paid for all",
    "a preconditioner from un-noised moments",
    "a table's size used as if it were public",
    "a domain taken from the data",
    "one spend, two draws",
    "a cell that is no number",
    "noise that vanishes at a parameter",
    "rows beyond those that count",
    "a fingerprint that depends on the dialect",
    "a seal that is not transitive",
    "a survey that counts",
    "an un-noised total of a first look",
    "residuals of noisy cells",
    "columns that appear where somebody is",
    "a replaced row at right angles",
    "a face that caches rights",
    "a grant checked outside the transaction",
    "a grant counted over everybody's rows",
    "a verify that skips grants",
)


@pytest.mark.parametrize("name", QUICK)
def test_a_planted_error_is_caught(name: str) -> None:
    verdict = judge(BY_NAME[name])
    assert verdict.caught, f"{verdict.word}: {verdict.said}"


@pytest.mark.long
def test_all_of_them_from_the_command_line() -> None:
    """As an outsider runs them: every one caught, and the table written."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-m", "tests.planted"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1"},
        check=False,
    )
    assert done.returncode == 0 and f"{len(PLANTED)} of {len(PLANTED)}" in done.stdout, done.stdout + done.stderr
    written = json.loads(registry.SECTION.read_text(encoding="utf-8"))
    assert [row[0] for row in written["rows"]] == [planted.name for planted in PLANTED]


def test_the_list_is_whole() -> None:
    assert len(BY_NAME) == len(PLANTED), "two planted errors share a name"
    assert not set(NAMED) - set(BY_NAME)
    for planted in PLANTED:
        assert planted.what.endswith(".") and planted.says and planted.wrong is not planted.right
        assert registry.name_of(planted.check).startswith("check_")


# The registry can fail


def check_even(number: int) -> None:
    assert number % 2 == 0, f"{number} is odd"


ODD = Planted("odd", "An odd number.", check_even, "is odd", 2, 3)


def test_a_twin_that_is_right_is_reported_as_escaped() -> None:
    """Also of every planted error of a quick check: with the right part in the twin's place it must escape."""
    assert judge(ODD).word == CAUGHT
    assert judge(replace(ODD, wrong=4)).word == ESCAPED
    for name in ("half noise", "refund on failure", "a sniffing loader", "costs rounded down"):
        verdict = judge(replace(BY_NAME[name], wrong=BY_NAME[name].right, also=()))
        assert verdict.word == ESCAPED and not verdict.caught


def test_a_check_that_complains_of_everything_catches_nothing() -> None:
    assert judge(replace(ODD, right=5, wrong=7)).word == FALSE_ALARM
    assert judge(replace(ODD, says="prime")).word == OTHER_WORDS
    assert judge(replace(ODD, says="not", wrong="three")).word == OTHER_WORDS, "a check that breaks has caught nothing"


def test_a_further_check_that_misses_is_an_escape() -> None:
    def check_positive(number: int) -> None:
        assert number > 0, "not positive"

    assert judge(replace(ODD, also=((check_positive, "not positive"),))).word == ESCAPED
    caught = judge(replace(ODD, wrong=-3, also=((check_positive, "not positive"),)))
    assert caught.also == ("check_positive",)
    assert caught.row() == ["odd", "An odd number.", "check_even", "check_positive"]


def test_an_escape_is_told_in_the_table(tmp_path: Path) -> None:
    write([judge(ODD), judge(replace(ODD, name="even", wrong=4))], tmp_path / "build" / "planted.json")
    told = json.loads((tmp_path / "build" / "planted.json").read_text(encoding="utf-8"))
    assert told == section([judge(ODD), judge(replace(ODD, name="even", wrong=4))])
    assert told["title"] == "Planted errors" and {len(row) for row in told["rows"]} == {len(told["columns"])}
    assert [row[2] for row in told["rows"]] == ["check_even", "ESCAPED: check_even"]


def test_both_selections_take_the_same_draws() -> None:
    check_selection_takes_the_same_draws(choose)  # flipping: tests/planted/ground.py
    check_noise_keeps_large_numbers(SystemCoins())
