"""docs/sources.md: every statement of the sources has a page, a file and a test, and each of them exists."""

from __future__ import annotations

from broken_sources import BROKEN, ROOT
from broken_sources import rows as named

from ui.shell import nav

STATEMENTS = {"S1": 8, "S2": 9, "S3": 12, "S4": 5, "S5": 5}


def rows() -> list[list[str]]:
    return list(named().values())


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


def test_every_row_has_an_error_to_plant_and_its_place_is_still_there() -> None:
    """`python -m tests.broken_sources` plants them, and expects the row's test to fail."""
    assert {*BROKEN} == {*named()}
    for row, (file, old, new) in BROKEN.items():
        assert old in (ROOT / file).read_text(encoding="utf-8") and old != new, row
