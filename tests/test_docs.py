"""What the docs point to is there: pages, headings, files, modules, targets of make."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")] + sorted(
    (ROOT / "docs").glob("*.md")
)
# Files are named from the root, from the engine or from a room of it.
BEGINS = ("", "dpengine", "dpengine/mechanisms", "dpengine/statistics", "docs")
NOT_HERE = {"dpengine/mechanisms/sums/geometric_mean.py", "/etc/allowance/serve.toml"}  # written by the reader
NO_MODULE = {"pip", "venv", "pytest", "streamlit"}  # of others
_HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)
_TARGET = re.compile(r"^([a-z][a-z-]*):", re.MULTILINE)


def anchors(text: str) -> set[str]:
    headings = (heading.strip().lower() for heading in _HEADING.findall(text))
    return {re.sub(r"[^\w\- ]", "", heading).replace(" ", "-") for heading in headings}


def missing(page: Path, text: str) -> list[str]:
    found = []
    for link in re.findall(r"\]\((?!http)([^)\s]+)\)", text):
        path, _, heading = link.partition("#")
        target = (page.parent / path) if path else page
        known = anchors(target.read_text(encoding="utf-8")) if target.suffix == ".md" and target.exists() else {heading}
        if not target.exists() or (heading and heading not in known):
            found.append(link)
    for name in re.findall(r"`([\w./-]+/[\w.-]+\.(?:py|md|toml|json|sql|txt))`", text):
        if name not in NOT_HERE and not any((ROOT / begin / name).exists() for begin in BEGINS):
            found.append(name)
    for name in set(re.findall(r"python -m ([\w.]+\w)", text)) - NO_MODULE:
        place = ROOT / name.replace(".", "/")
        if not place.with_suffix(".py").exists() and not (place / "__main__.py").exists():
            found.append(f"python -m {name}")
    targets = set(_TARGET.findall((ROOT / "Makefile").read_text(encoding="utf-8")))
    commands = re.findall(r"(?:^|`)make ([a-z][a-z-]*)", text, re.MULTILINE)
    return found + [f"make {name}" for name in commands if name not in targets]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_what_a_page_points_to_is_there(page: Path) -> None:
    assert missing(page, page.read_text(encoding="utf-8")) == []


def test_what_is_not_there_is_seen() -> None:
    wrong = ["gone.md", "privacy.md#gone", "dpengine/gone.py", "python -m bench.gone", "make gone"]
    text = "[a](gone.md) [b](privacy.md#gone) [c](privacy.md#mechanisms) `dpengine/gone.py` `dpengine/table.py`\n"
    text += "`python -m bench.gone` and `python -m bench.checks`\nmake gone\n"
    assert missing(ROOT / "docs" / "x.md", text) == wrong
