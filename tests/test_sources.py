"""docs/sources.md: every statement of the sources has a page, a file and a test, and each of them exists."""

from __future__ import annotations

import re
from pathlib import Path

from ui.shell import nav

ROOT = Path(__file__).resolve().parent.parent
STATEMENTS = {"S1": 8, "S2": 9, "S3": 12, "S4": 5, "S5": 5}


def rows() -> list[list[str]]:
    """The cells of both tables, without their heads; a bar inside a cell is escaped."""
    text = (ROOT / "docs" / "sources.md").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if re.match(r"\| S\d", line)]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]


def test_all_thirty_nine_statements_are_there_in_order() -> None:
    wanted = [f"{source}.{place}" for source, many in STATEMENTS.items() for place in range(1, many + 1)]
    found = [cells[0] for cells in rows()]
    assert len(wanted) == 39 and found[: len(wanted)] == wanted
    assert len(found) >= len(wanted) + 14 and {*found} == {*wanted}  # and the overlooked ones belong to them


def test_every_page_file_and_test_exists() -> None:
    for row, statement, pages, file, test in rows():
        assert statement and {*pages.split(", ")} <= {*nav.NAMES}, (row, pages)
        assert (ROOT / file).is_file(), (row, file)
        path, name = test.split("::")
        assert f"\ndef {name}(" in (ROOT / path).read_text(encoding="utf-8"), (row, test)


def test_a_row_without_its_test_would_be_seen() -> None:
    assert "\ndef test_nothing(" not in (ROOT / "tests" / "test_contract.py").read_text(encoding="utf-8")
