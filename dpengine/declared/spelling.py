"""When two spellings count as the same.

**Ids and column names**, in Python and in SQL. White space of every kind is cut off at both ends (tabs, no-break
spaces, byte order marks and zero-width spaces too), letters are composed (Unicode NFC), NUL signs are dropped. Upper
and lower case differ, and so does anything inside.

**Values of usual lists**: sexes, countries, months, schooling, yes and no. A table of spellings is a text file beside
this one. Each line holds one value and its spellings between upright bars: English first, Slovene second (empty if the
same), then all others. A declared value in a line stands for the whole line: a column that lists "ženska" also accepts
"F", "female" and "Frau" for it. A cell's value is a public function of the cell, the declared values and the table's
name; so a released table of spellings never changes, and a better one gets a new number.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from dpengine.core.errors import AllowanceError
from dpengine.messages import hidden

# All of Python's str.isspace, and four signs that show nothing.
SPACES = (
    "\t\n\v\f\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\u180e\u200b\u2060\ufeff"
)


def trimmed(text: str) -> str:
    return unicodedata.normalize("NFC", text.replace("\0", "")).strip(SPACES)


def trimmed_sql(column: str) -> str:
    """`trimmed` as a DuckDB expression. NULs are dropped first, because `nfc_normalize` ends at one."""
    return f"trim(nfc_normalize(replace({column}, chr(0), '')), '{SPACES}')"


def normal(text: str) -> str:
    """The form in which listed values and cells are compared: small letters, no spaces around."""
    return text.strip().lower()


def visible(text: str) -> bool:
    """Does a name or a listed value hold only visible characters? A name may have several lines."""
    return text.isprintable() or not any(hidden(sign) for sign in text if sign not in "\t\r\n")


FOLDER = Path(__file__).parent / "spellings"
MISSING = "missing-1"  # what files write where there is no answer; part of every other table
_NAME = re.compile(r"[a-z_]+-[0-9]+")


@lru_cache(maxsize=64)
def spelling_lines(name: str) -> tuple[tuple[str, ...], ...]:
    """For each value of the table its spellings, in the table's order."""
    path = FOLDER / f"{name}.txt"
    if not _NAME.fullmatch(name) or not path.is_file():
        raise AllowanceError("schema.unreadable")
    return tuple(tuple(line.split("|")) for line in path.read_text(encoding="utf-8").splitlines())


def spelling_values(name: str, language: str) -> tuple[str, ...]:
    return tuple((line[1] if language == "sl" else "") or line[0] for line in spelling_lines(name))


def spellings(name: str, value: str) -> tuple[str, ...]:
    """All spellings of a value; empty if the table does not hold it."""
    matching = (line for line in spelling_lines(name) if normal(value) in map(normal, line))
    return tuple(spelling for spelling in next(matching, ()) if spelling)


@lru_cache(maxsize=64)
def _variants(name: str) -> tuple[dict[str, int], int]:
    """The line number of each spelling, also with hyphens for spaces and without accents; and the number of the last
    line, which spells a missing answer. A spelling in two lines belongs to the first."""
    line_of: dict[str, int] = {}
    table = [*spelling_lines(name), *(spelling_lines(MISSING) if name != MISSING else ())]
    for change in (normal, _hyphens, _bare, lambda text: _hyphens(_bare(text))):
        for place, line in enumerate(table):
            for spelling in filter(None, line):
                line_of.setdefault(change(spelling), place)
    return line_of, len(table) - 1


def _hyphens(text: str) -> str:
    return re.sub(r"[ ,]+", "-", normal(text))


def _bare(text: str) -> str:
    return "".join(sign for sign in unicodedata.normalize("NFKD", normal(text)) if not unicodedata.combining(sign))


def spelling_places(name: str, labels: Sequence[str], missing: str) -> dict[str, int]:
    """For each spelling of a declared value, the place of its label. `missing`: the label for no answer."""
    line_of, none = _variants(name)
    of_line: dict[int, int] = {}
    for place, label in enumerate(labels):
        line = line_of.get(normal(label))
        if line is not None:
            of_line.setdefault(line, place)
    if missing in labels:
        of_line[none] = list(labels).index(missing)
    return {spelling: of_line[line] for spelling, line in line_of.items() if line in of_line}
