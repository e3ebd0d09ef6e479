"""The thesis's tables: exact columns to the printed digits, random ones inside their ranges, printed ones too."""

from __future__ import annotations

from math import exp

import pytest

from demos.thesis import LISTED, Cell, covers, tables


@pytest.mark.long
def test_tables_2_to_7() -> None:
    """A range is left with chance 10^-4 by a right draw; of 36 of them, all by more than themselves never: so a draw
    outside is drawn again once, and twice outside has chance below 10^-6."""
    found = {table.number: dict(table.rows) for table in tables()}
    again = {table.number: dict(table.rows) for table in tables()}
    assert sorted(found) == [0, 2, 3, 4, 5, 6, 7]
    for number, rows in found.items():
        for name, cells in rows.items():
            for place, cell in enumerate(cells):
                if cell.random:
                    assert cell.printed == "" or covers(cell, cell.printed), (number, name, "the thesis's own draw")
                    assert covers(cell, cell.here) or covers(cell, again[number][name][place].here), (number, name)
                elif cell.printed != "":
                    assert told(cell) == cell.printed, (number, name)


def told(cell: Cell) -> float | str:
    """As many digits as are printed."""
    if isinstance(cell.here, str) or isinstance(cell.printed, str):
        return cell.here
    digits = len(str(cell.printed).partition(".")[2])
    return round(cell.here, digits) if digits else float(int(cell.here + 0.5))


def test_a_range_can_be_left() -> None:
    wrong = Cell(1.0, 2.0, 1.5, 1.9)
    assert not covers(wrong, wrong.here) and not covers(wrong, wrong.printed)


def test_two_values_are_a_bernoulli_variable_with_the_constant_of_the_section() -> None:
    """Section 7.2: p = (1−δ)/(1+e^ε), met exactly by Theorem 5.5 with m = 1."""
    (two,) = [table for table in tables() if table.number == 0]
    for (_, cells), (epsilon, delta) in zip(two.rows, LISTED, strict=True):
        p = (1 - float(delta)) / (1 + exp(float(epsilon)))
        assert cells[0].here == pytest.approx(p) and cells[1].here == pytest.approx(p, rel=1e-4)
