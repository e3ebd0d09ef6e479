"""`python -m dpengine audit`: every question × relation × unit, the ledger, and what long runs left in build/audit.

`--write` puts the figures into docs/audit.md between two marks; with `--only KEY` only the lines of one question, with
`--sections` only what is in build/audit, so that one long test can be run and its section written. The page does not
say when it was made, so a rerun changes figures only. Exit code 1 if an exact loss or a proven bound is above its
claim.
"""

from __future__ import annotations

import argparse
import math
import multiprocessing
import sys
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np

from dpengine.accountant.filter import Rule
from dpengine.audit import people_game, sections
from dpengine.audit.empirical import FAILURE, lower_chance, upper_chance
from dpengine.audit.ledger_game import BUDGET, RULE, audit_plays, exact_game
from dpengine.audit.lines import AuditLine, audited, figure, spots
from dpengine.audit.sections import Section, table
from dpengine.core.errors import AllowanceError
from dpengine.core.exact import text_of
from dpengine.mechanisms import catalogue
from dpengine.messages import say

FIGURES = sections.ROOT / "docs" / "audit.md"
BEGIN, END = "<!-- audit:begin -->", "<!-- audit:end -->"
DRAWS, PLAYS = 10_000, 400
SHORT_DRAWS, SHORT_PLAYS = 1_000, 0
LEAST_DRAWS = 100
_COUNTED = ("questions", "ledger")  # the tables whose lines the verdict counts
_TOGETHER = 2  # processes
_TOLD = 10  # lines between two messages about progress


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m dpengine audit", description=say("audit.about"))
    parser.add_argument("--draws", type=int, help=say("audit.draws"))
    parser.add_argument("--plays", type=int, help=say("audit.plays"))
    parser.add_argument("--short", action="store_true", help=say("audit.short"))
    parser.add_argument("--write", action="store_true", help=say("audit.write"))
    parser.add_argument("--only", metavar="KEY", help=say("audit.only"))
    parser.add_argument("--sections", action="store_true", help=say("audit.sections"))
    given = parser.parse_args(arguments)
    draws = given.draws if given.draws is not None else SHORT_DRAWS if given.short else DRAWS
    plays = given.plays if given.plays is not None else SHORT_PLAYS if given.short else PLAYS
    if draws < LEAST_DRAWS or plays < 0:
        raise AllowanceError("audit.draws_range", least=LEAST_DRAWS)
    if given.only is not None and given.only not in catalogue:
        raise AllowanceError("query.unknown", key=given.only[:60], keys=list(catalogue))
    if given.write:
        _parts(FIGURES)  # fails before an hour's work, not after
    if given.only is not None:
        return _only(given.only, draws, given.write)
    if given.sections:
        return _sections(given.write)
    with ProcessPoolExecutor(_TOGETHER, multiprocessing.get_context("spawn")) as pool:
        game = pool.submit(ledger_section, plays)
        lines = []
        for line in pool.map(partial(audited, draws=draws), wanted := spots()):
            lines.append(line)
            if len(lines) % _TOLD == 0:  # it takes minutes
                print(say("audit.progress", done=len(lines), all=len(wanted)), file=sys.stderr, flush=True)
        ledger, above = game.result()
    above = [*(line.spot.key for line in lines if not line.kept), *above]
    parts = [(questions_section(lines), _questions_note(draws)), (ledger, _ledger_note(plays))]
    parts += [(section, "") for section in sections.read()]
    code = "audit.above" if above else "audit.kept"
    verdict = say(code, lines=len(lines) + len(ledger.rows), names=above)
    for section, note in parts:
        print("\n".join(["", section.title, *([note] if note else []), "", *section.as_text()]))
    print(f"\n{verdict}")
    if given.write:
        write(FIGURES, markdown(parts, verdict))
        print(say("audit.written"))
    return 1 if above else 0


def _only(key: str, draws: int, wanted: bool) -> int:
    """The lines of one question: shown, and written in place of the old ones."""
    if wanted:
        _questions_on(FIGURES, draws)  # fails before anything is drawn
    lines = [audited(spot, draws) for spot in spots() if spot.key == key]
    section = questions_section(lines)
    above = [line.spot.key for line in lines if not line.kept]
    print("\n".join([section.title, _questions_note(draws), "", *section.as_text()]))
    print(f"\n{say('audit.above' if above else 'audit.kept', lines=len(lines), names=above)}")
    if wanted:
        write_only(FIGURES, key, section, draws, not above)
        print(say("audit.written"))
    return 1 if above else 0


def _sections(wanted: bool) -> int:
    """What long runs left in build/audit: shown, and written line by line in place of the old."""
    found = sections.read()
    for section in found:
        print("\n".join([section.title, "", *section.as_text(), ""]))
        if wanted:
            write_section(FIGURES, section)
    if wanted and found:
        print(say("audit.written"))
    return 0


def write_section(path: Path, section: Section) -> None:
    """Put a section's lines into its table on the page: one with the same first cell is replaced, others stay where
    they are, new ones come last. A table whose columns have changed is replaced whole; a section that the page does not
    have comes after all others."""
    lines = _parts(path)[1].strip("\n").split("\n")
    first, last = _table(lines, section.title)
    fresh = section.as_markdown()
    if first == last:
        write(path, [*lines, "", f"### {section.title}", "", *fresh])
        return
    if _cells(lines[first]) != _cells(fresh[0]):
        write(path, [*lines[:first], *fresh, *lines[last:]])
        return
    by_name = {_cells(row)[0]: row for row in fresh[2:]}
    kept = [by_name.pop(_cells(row)[0], row) for row in lines[first + 2 : last]]
    write(path, [*lines[: first + 2], *kept, *by_name.values(), *lines[last:]])


def write_only(path: Path, key: str, section: Section, draws: int, kept: bool) -> None:
    """Replace only this question's lines in the table of questions: under the columns that the page has, after the
    question that comes before it in the catalogue."""
    lines, first, last = _questions_on(path, draws)
    columns, rows = _cells(lines[first]), lines[first + 2 : last]
    by_column = [dict(zip(section.columns, row, strict=True)) for row in section.rows]
    fresh = table("", columns, [[row.get(column, "") for column in columns] for row in by_column]).as_markdown()[2:]
    others = [row for row in rows if _cells(row)[0] != key]
    order = list(catalogue)[: list(catalogue).index(key)]
    before = {question: place for place, row in enumerate(others) for question in order if _cells(row)[0] == question}
    place = next((before[question] + 1 for question in reversed(order) if question in before), 0)
    many = sum(last - first - 2 for first, last in (_table(lines, say(f"audit.{name}.title")) for name in _COUNTED))
    verdict = lines[0]
    if not kept or verdict == say("audit.kept", lines=many):  # an earlier alarm stays
        many += len(fresh) + len(others) - len(rows)
        verdict = say("audit.kept" if kept else "audit.above", lines=many, names=[key])
    write(path, [verdict, *lines[1 : first + 2], *others[:place], *fresh, *others[place:], *lines[last:]])


def _questions_on(path: Path, draws: int) -> tuple[list[str], int, int]:
    """The lines of the page between the marks, and where its table of questions begins and ends."""
    lines = _parts(path)[1].strip("\n").split("\n")
    first, last = _table(lines, say("audit.questions.title"))
    if first == last or say("audit.drawn", draws=draws) not in lines[first - 2]:
        raise AllowanceError("audit.other_draws", draws=draws)
    return lines, first, last


def _table(lines: Sequence[str], title: str) -> tuple[int, int]:
    """Where the table under a title begins, and where it ends."""
    at = lines.index(f"### {title}") if f"### {title}" in lines else len(lines)
    first = next((place for place in range(at, len(lines)) if lines[place].startswith("|")), len(lines))
    return first, next((place for place in range(first, len(lines)) if not lines[place].startswith("|")), len(lines))


def _cells(row: str) -> list[str]:
    return [cell.strip() for cell in row.strip("|").split(" | ")]


def questions_section(lines: Iterable[AuditLine]) -> Section:
    columns = say("audit.questions.columns").split(";")
    return table(say("audit.questions.title"), columns, [line.row() for line in lines])


def ledger_section(plays: int) -> tuple[Section, list[str]]:
    """The exact game and the plays, and the names of those that are above the allowance."""
    worth, sets = exact_game()
    rows = [(say("audit.ledger.exact", sets=sets), _allowance(RULE), say("audit.ledger.worth", worth=f"{worth:.2e}"))]
    above = [say("audit.ledger.title")] if worth > RULE.delta else []
    with people_game.in_memory() as folder:
        together = people_game.game_of_people(Path(folder))
    told = say("audit.ledger.people", people=len(people_game.SIZES), sets=together.admitted)
    rows.append((told, _allowance(people_game.RULE), say("audit.ledger.worth", worth=f"{together.worth:.2e}")))
    above += [told] if together.worth > people_game.RULE.delta else []
    rule = BUDGET.rule()
    for name, evidence in audit_plays(plays) if plays > 1 else []:
        rows.append(
            (say(f"audit.strategy.{name}"), _allowance(rule), say("audit.ledger.bound", bound=figure(evidence.epsilon)))
        )
        if evidence.epsilon > rule.epsilon:
            above.append(say(f"audit.strategy.{name}"))
    return table(say("audit.ledger.title"), say("audit.ledger.columns").split(";"), rows), above


def most_shown(draws: int) -> float:
    """The largest bound that this many draws can give: for an event that is certain on one table and never on the
    other."""
    tested = draws - draws // 2
    low = lower_chance(np.array([tested]), tested, FAILURE / 2)[0]
    return math.log(float(low) / float(upper_chance(np.array([0]), tested, FAILURE / 2)[0]))


def markdown(parts: Sequence[tuple[Section, str]], verdict: str) -> list[str]:
    """The text between the two marks."""
    lines = [verdict]
    for section, note in parts:
        lines += ["", f"### {section.title}", "", *([note, ""] if note else []), *section.as_markdown()]
    return lines


def write(path: Path, lines: Sequence[str]) -> None:
    before, _, after = _parts(path)
    path.write_text("\n".join([f"{before}{BEGIN}", *lines, f"{END}{after}"]), encoding="utf-8")


def _parts(path: Path) -> tuple[str, str, str]:
    """The text before the figures, the figures, and the text after them."""
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    before, begin, rest = text.partition(BEGIN)
    figures, end, after = rest.partition(END)
    if not begin or not end:
        raise AllowanceError("audit.nowhere", begin=BEGIN, end=END)
    return before, figures, after


def _questions_note(draws: int) -> str:
    return say("audit.questions.note", draws=draws, failure=str(FAILURE), most=figure(most_shown(draws)))


def _ledger_note(plays: int) -> str:
    if plays < 2:
        return say("audit.ledger.note")
    facts = {"plays": plays, "failure": str(FAILURE), "most": figure(most_shown(plays))}
    return f"{say('audit.ledger.note')} {say('audit.ledger.note_plays', **facts)}"


def _allowance(rule: Rule) -> str:
    return say("audit.ledger.allowance", epsilon=text_of(rule.epsilon), delta=f"{float(rule.delta):.0e}")
