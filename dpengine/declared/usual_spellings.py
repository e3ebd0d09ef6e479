"""How files everywhere spell the values of usual lists: sexes, countries, months, schooling, yes and no.

A table is a text file beside this one: a line for each value, its spellings between upright bars, in English first, in
Slovene second (or nothing, where Slovene says the same), then as anybody writes them. A declared value that stands in
a line stands for the whole line: a column that lists "ženska" takes "F", "female" and "Frau" for it too. Which cell
counts as what is a public function of the cell, the declared values and the table's name; a table that was given out is
never changed, a better one has a new number.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from dpengine.core.errors import AllowanceError
from dpengine.declared.spelling import normal

FOLDER = Path(__file__).parent / "spellings"
MISSING = "missing-1"  # what files write where there is no answer; part of every other table
_NAME = re.compile(r"[a-z_]+-[0-9]+")


@lru_cache(maxsize=64)
def lines(name: str) -> tuple[tuple[str, ...], ...]:
    """The spellings of each value, as the table has them."""
    path = FOLDER / f"{name}.txt"
    if not _NAME.fullmatch(name) or not path.is_file():
        raise AllowanceError("schema.unreadable")
    return tuple(tuple(line.split("|")) for line in path.read_text(encoding="utf-8").splitlines())


def values(name: str, language: str) -> tuple[str, ...]:
    """The values of a table as a language calls them."""
    return tuple((line[1] if language == "sl" else "") or line[0] for line in lines(name))


def spellings(name: str, value: str) -> tuple[str, ...]:
    """Everything that stands for a value; nothing, where the table does not know it."""
    found = (line for line in lines(name) if normal(value) in map(normal, line))
    return tuple(one for one in next(found, ()) if one)


@lru_cache(maxsize=64)
def _variants(name: str) -> tuple[dict[str, int], int]:
    """Every spelling, also with hyphens for spaces and without marks on letters, by its line; what two lines could
    claim is the first one's. The marks of a missing answer come last, and their line's number after all."""
    found: dict[str, int] = {}
    table = [*lines(name), *(lines(MISSING) if name != MISSING else ())]
    for change in (normal, _hyphens, _bare, lambda text: _hyphens(_bare(text))):
        for place, line in enumerate(table):
            for one in filter(None, line):
                found.setdefault(change(one), place)
    return found, len(table) - 1


def _hyphens(text: str) -> str:
    return re.sub(r"[ ,]+", "-", normal(text))


def _bare(text: str) -> str:
    return "".join(sign for sign in unicodedata.normalize("NFKD", normal(text)) if not unicodedata.combining(sign))


def places(name: str, labels: Sequence[str], missing: str) -> dict[str, int]:
    """For every spelling, the place of the label it stands for; spellings of what is not declared are not among them.
    `missing` is the label of no answer, whatever it is called."""
    found, none = _variants(name)
    of_line: dict[int, int] = {}
    for place, label in enumerate(labels):
        line = found.get(normal(label))
        if line is not None:
            of_line.setdefault(line, place)
    if missing in labels:
        of_line[none] = list(labels).index(missing)
    return {spelling: of_line[line] for spelling, line in found.items() if line in of_line}
