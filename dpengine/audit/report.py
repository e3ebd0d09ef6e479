"""`python -m dpengine audit`: every question × relation × unit, the ledger, and what long runs left in build/audit.

`--write` puts the figures into docs/audit.md between two marks. Nothing there tells when it was run, so a rerun
changes figures alone. Exit code 1 where an exact loss or a proven bound is above its claim.
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
from dpengine.audit import sections
from dpengine.audit.empirical import FAILURE, lower_chance, upper_chance
from dpengine.audit.ledger_game import BUDGET, RULE, audit_plays, exact_game
from dpengine.audit.lines import AuditLine, audited, figure, spots
from dpengine.audit.sections import Section, table
from dpengine.core.errors import AllowanceError
from dpengine.core.exact import text_of
from dpengine.messages import say

FIGURES = sections.ROOT / "docs" / "audit.md"
BEGIN, END = "<!-- audit:begin -->", "<!-- audit:end -->"
DRAWS, PLAYS = 10_000, 400
SHORT_DRAWS, SHORT_PLAYS = 1_000, 0
LEAST_DRAWS = 100
_TOGETHER = 2  # processes
_TOLD = 10  # lines between two words on how far it is


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m dpengine audit", description=say("audit.about"))
    parser.add_argument("--draws", type=int, help=say("audit.draws"))
    parser.add_argument("--plays", type=int, help=say("audit.plays"))
    parser.add_argument("--short", action="store_true", help=say("audit.short"))
    parser.add_argument("--write", action="store_true", help=say("audit.write"))
    given = parser.parse_args(arguments)
    draws = given.draws if given.draws is not None else SHORT_DRAWS if given.short else DRAWS
    plays = given.plays if given.plays is not None else SHORT_PLAYS if given.short else PLAYS
    if draws < LEAST_DRAWS or plays < 0:
        raise AllowanceError("audit.draws_range", least=LEAST_DRAWS)
    if given.write:
        _parts(FIGURES)  # refused before an hour's work, not after
    with ProcessPoolExecutor(_TOGETHER, multiprocessing.get_context("spawn")) as pool:
        game = pool.submit(ledger_section, plays)
        lines = []
        for line in pool.map(partial(audited, draws=draws), wanted := spots()):
            lines.append(line)
            if len(lines) % _TOLD == 0:  # it takes minutes
                print(say("audit.progress", done=len(lines), all=len(wanted)), file=sys.stderr, flush=True)
        ledger, above = game.result()
    above = [*(line.spot.key for line in lines if not line.kept), *above]
    told = [(questions_section(lines), _questions_note(draws)), (ledger, _ledger_note(plays))]
    told += [(section, "") for section in sections.read()]
    code = "audit.above" if above else "audit.kept"
    verdict = say(code, lines=len(lines) + len(ledger.rows), names=above)
    for section, note in told:
        print("\n".join(["", section.title, *([note] if note else []), "", *section.as_text()]))
    print(f"\n{verdict}")
    if given.write:
        write(FIGURES, markdown(told, verdict))
        print(say("audit.written"))
    return 1 if above else 0


def questions_section(lines: Iterable[AuditLine]) -> Section:
    columns = say("audit.questions.columns").split(";")
    return table(say("audit.questions.title"), columns, [line.row() for line in lines])


def ledger_section(plays: int) -> tuple[Section, list[str]]:
    """The exact game and the plays, and those that are above the allowance."""
    worth, sets = exact_game()
    rows = [(say("audit.ledger.exact", sets=sets), _allowance(RULE), say("audit.ledger.worth", worth=f"{worth:.2e}"))]
    above = [say("audit.ledger.title")] if worth > RULE.delta else []
    rule = BUDGET.rule()
    for name, evidence in audit_plays(plays) if plays > 1 else []:
        rows.append(
            (say(f"audit.strategy.{name}"), _allowance(rule), say("audit.ledger.bound", bound=figure(evidence.epsilon)))
        )
        if evidence.epsilon > rule.epsilon:
            above.append(say(f"audit.strategy.{name}"))
    return table(say("audit.ledger.title"), say("audit.ledger.columns").split(";"), rows), above


def most_shown(draws: int) -> float:
    """The bound from so many draws if an event always showed on one table and never on the other."""
    tested = draws - draws // 2
    low = lower_chance(np.array([tested]), tested, FAILURE / 2)[0]
    return math.log(float(low) / float(upper_chance(np.array([0]), tested, FAILURE / 2)[0]))


def markdown(told: Sequence[tuple[Section, str]], verdict: str) -> list[str]:
    """What stands between the two marks."""
    lines = [verdict]
    for section, note in told:
        lines += ["", f"### {section.title}", "", *([note, ""] if note else []), *section.as_markdown()]
    return lines


def write(path: Path, lines: Sequence[str]) -> None:
    before, after = _parts(path)
    path.write_text("\n".join([f"{before}{BEGIN}", *lines, f"{END}{after}"]), encoding="utf-8")


def _parts(path: Path) -> tuple[str, str]:
    """What stands before and after the figures."""
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise AllowanceError("audit.nowhere", begin=BEGIN, end=END)
    return before, after


def _questions_note(draws: int) -> str:
    return say("audit.questions.note", draws=draws, failure=str(FAILURE), most=figure(most_shown(draws)))


def _ledger_note(plays: int) -> str:
    if plays < 2:
        return say("audit.ledger.note")
    facts = {"plays": plays, "failure": str(FAILURE), "most": figure(most_shown(plays))}
    return f"{say('audit.ledger.note')} {say('audit.ledger.note_plays', **facts)}"


def _allowance(rule: Rule) -> str:
    return say("audit.ledger.allowance", epsilon=text_of(rule.epsilon), delta=f"{float(rule.delta):.0e}")
