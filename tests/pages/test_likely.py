"""A left-out column offers its three likely readings: from its name alone, and often enough on strangers' schemas."""

from __future__ import annotations

from typing import Any

import pytest

from ui.data import presets
from ui.data.draft import Draft, column_of
from ui.data.presets import LIKELY, LISTS, RANGES

# Columns of files that others published or that schools use, with what their documentation says is in them: a kind, or
# a range. Nobody tuned the rules on these; lists that only their owner knows (a job, a district) are not counted.
SCHEMAS: dict[str, dict[str, Any]] = {
    "a school's marks": {"Mark": (1, 5), "Q7b": "list", "Yr": (2015, 2026), "Abs": (0, 93), "Pts": (0, 100)},
    "Cortez and Silva 2008, pupils": {
        "age": (15, 22),
        "sex": "list",
        "Medu": (0, 4),
        "Fedu": (0, 4),
        "traveltime": (1, 4),
        "studytime": (1, 4),
        "failures": (0, 4),
        "schoolsup": "yes_no",
        "famsup": "yes_no",
        "paid": "yes_no",
        "activities": "yes_no",
        "internet": "yes_no",
        "romantic": "yes_no",
        "famrel": (1, 5),
        "freetime": (1, 5),
        "goout": (1, 5),
        "Dalc": (1, 5),
        "Walc": (1, 5),
        "health": (1, 5),
        "absences": (0, 93),
        "G1": (0, 20),
        "G3": (0, 20),
    },
    "passengers of a ship": {
        "Survived": "yes_no",
        "Pclass": (1, 3),
        "Sex": "list",
        "Age": (0, 80),
        "SibSp": (0, 8),
        "Parch": (0, 6),
        "Fare": (0, 513),
    },
    "Moro 2014, bank": {
        "age": (18, 95),
        "marital": "list",
        "education": "list",
        "default": "yes_no",
        "balance": (0, 10_000),
        "housing": "yes_no",
        "loan": "yes_no",
        "month": "list",
        "duration": (0, 240),
        "campaign": (1, 63),
    },
}
LEAST = 0.8  # of these columns; the rest is opened as before


def offered(name: str) -> tuple[presets.Candidate, ...]:
    return presets.candidates(name) or presets.likely(name)


def fits(reading: presets.Candidate, truth: Any) -> bool:
    """Does this reading hold what the documentation says, and is it not a hundred times as wide?"""
    if isinstance(truth, str):
        return reading.kind == truth
    usual = RANGES.get(reading.preset or "")
    if usual is None:
        return reading.preset == "agreement" and truth == (1, 5)
    low, high = float(usual.lower), float(usual.upper)
    return low <= truth[0] and truth[1] <= high and high - low <= 100 * max(truth[1] - truth[0], 1)


def test_strangers_find_their_column_among_three() -> None:
    columns = [(name, truth) for schema in SCHEMAS.values() for name, truth in schema.items()]
    missed = [name for name, truth in columns if not any(fits(reading, truth) for reading in offered(name))]
    assert len(missed) <= (1 - LEAST) * len(columns), missed
    without = [name for name, truth in columns if not any(fits(one, truth) for one in presets.candidates(name))]
    assert len(without) > len(missed) + 10, "the offers are what helps"


@pytest.mark.parametrize("name", ["Mark", "Q7b", "Cl", "xyz", "Ocena 2", "G1", "Сол", "9", "a" * 300])
def test_there_are_three_and_each_can_be_taken(name: str) -> None:
    found = presets.likely(name)
    assert len(found) == LIKELY == len(set(found))
    for reading in found:
        unnamed = reading.kind in ("list", "number") and reading.preset is None  # its values are still to be named
        assert unnamed or reading.kind == "yes_no" or reading.preset in RANGES or reading.preset in LISTS


@pytest.mark.parametrize("name", ["Name", "Surname", "Opomba", "Remarks", "Pupil no.", "Članska številka", ""])
def test_names_and_remarks_are_offered_nothing(name: str) -> None:
    assert presets.likely(name) == ()


@pytest.mark.parametrize("name", ["Cl", "Mark", "Q7b", "gndr", "mth"])
def test_one_tap_settles_a_left_out_column(name: str) -> None:
    for reading in presets.likely(name):
        draft = Draft(names=["age", name], many="one", relation="replace")
        draft.choose()
        draft.card(name).take(reading)
        if reading.kind in ("list", "number") and reading.preset is None:  # the card opens, for its values
            assert draft.state(name) == "waits" and draft.card(name).kind == reading.kind
            continue
        assert draft.state(name) == "settled" and column_of(draft.card(name), draft.dialect), reading
