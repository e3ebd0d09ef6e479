"""What long tests leave is written into the audit's page by itself."""

from __future__ import annotations

from pathlib import Path

import pytest
import sections

from dpengine.audit import report


def test_what_one_long_test_left_is_written_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page, folder = tmp_path / "audit.md", tmp_path / "noted"
    old = report.section_table("Planted errors", ["error", "caught by"], [["half", "old"], ["twice", "old"]])
    other = report.section_table("Files of other tools", ["file", "read"], [["a", "yes"]])
    page.write_text(f"a\n{report.BEGIN}\n{report.END}\nz\n", encoding="utf-8")
    report.write(page, report.markdown([(old, "A note."), (other, "")], "3 lines: fine."))
    before = page.read_text(encoding="utf-8").splitlines()
    monkeypatch.setattr(report, "FIGURES", page)
    for module in (sections, report):
        monkeypatch.setattr(module, "FOLDER", folder)
    for error in ("twice", "thrice"):
        sections.add_rows("planted", "Planted errors", ["error", "caught by"], [[error, "new"]])
    sections.add_rows("kills", "Kills", ["when"], [["early"]])
    for _ in range(2):  # the second time in the place of the first
        assert report.main(["--sections", "--write"]) == 0
    after = page.read_text(encoding="utf-8").splitlines()
    place = before.index("| twice | old |")
    assert after[: place + 2] == [*before[:place], "| twice | new |", "| thrice | new |"]
    assert after[place + 2 : place + 8] == before[place + 1 : -2] and after[-2:] == before[-2:]
    assert after[-7:-2] == ["### Kills", "", "| when |", "|---|", "| early |"]
    changed = report.section_table("Planted errors", ["error"], [["one"]])
    report.write_section(page, changed)
    assert "| thrice | new |" not in page.read_text(encoding="utf-8")
