"""What a planted error is, when it counts as caught, and the table of all of them.

A twin is *caught* when the same check, in the same run, says nothing about the right part and says the expected words
about the twin: power and false alarm are both shown. A check that complains of everything, or of something else,
catches nothing.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dpengine.audit.report import FOLDER

Check = Callable[[Any], None]

SECTION = FOLDER / "planted.json"
COLUMNS = ["planted error", "what is wrong", "caught by", "caught also by"]

CAUGHT, ESCAPED, FALSE_ALARM, OTHER_WORDS = "caught", "ESCAPED", "FALSE ALARM", "OTHER WORDS"
BROKE = "the check broke:"


@dataclass(frozen=True, eq=False)
class Planted:
    """`right` and `wrong` are what `check` is put to; `says` is among the words of its complaint."""

    name: str
    what: str
    check: Check
    says: str
    right: Any
    wrong: Any
    also: tuple[tuple[Check, str], ...] = field(default=())  # further checks, each with its words
    long: bool = False  # too long for `make test`
    long_also: tuple[tuple[Check, str], ...] = field(default=())  # further ones that are too long for it


@dataclass(frozen=True)
class Verdict:
    planted: Planted
    word: str
    also: tuple[str, ...] = ()
    said: str = ""

    @property
    def caught(self) -> bool:
        return self.word == CAUGHT

    def row(self) -> list[str]:
        return [
            self.planted.name,
            self.planted.what,
            name_of(self.planted.check) if self.caught else f"{self.word}: {name_of(self.planted.check)}",
            ", ".join(self.also),
        ]


def name_of(check: Check) -> str:
    return str(getattr(check, "__name__", check))


def complaint(check: Check, subject: Any) -> str | None:
    """What the check has to say, if anything."""
    try:
        check(subject)
    except AssertionError as error:
        return str(error) or "a bare assertion"
    except Exception as error:  # no complaint of the check's own: told, and never taken for a catch
        return f"{BROKE} {error!r}"
    return None


_of_right: dict[tuple[int, int], str | None] = {}  # the same right part stands beside several twins


def _about_right(check: Check, planted: Planted) -> str | None:
    key = id(check), id(planted.right)
    if key not in _of_right:
        _of_right[key] = complaint(check, planted.right)
    return _of_right[key]


def _judged(check: Check, says: str, planted: Planted) -> tuple[str, str]:
    alarm = _about_right(check, planted)
    if alarm is not None:
        return FALSE_ALARM, alarm
    said = complaint(check, planted.wrong)
    if said is None:
        return ESCAPED, ""
    return (CAUGHT if says in said and not said.startswith(BROKE) else OTHER_WORDS), said


def judge(planted: Planted, thorough: bool = False) -> Verdict:
    """A further check that does not catch its twin is an escape too: the table may not claim more than happened."""
    word, said = _judged(planted.check, planted.says, planted)
    further = planted.also + (planted.long_also if thorough else ())
    for check, says in further:
        other, told = _judged(check, says, planted)
        if other != CAUGHT:
            return Verdict(planted, other, said=f"{name_of(check)}: {told}")
    return Verdict(planted, word, tuple(name_of(check) for check, _ in further), said)


def section(verdicts: Iterable[Verdict]) -> dict[str, Any]:
    return {"title": "Planted errors", "columns": COLUMNS, "rows": [verdict.row() for verdict in verdicts]}


def write(verdicts: Iterable[Verdict], path: Path = SECTION) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(section(verdicts), ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
