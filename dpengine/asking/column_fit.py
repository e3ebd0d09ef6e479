"""What is known of whether the cells of a column are as declared: from what was paid to check it, and nothing else.

A check counts for a column while the column is declared as it was when it was checked; declared anew, it is unchecked
again. Tables that came with this program are made to fit. All of it is read from the ledger: public facts and released
answers.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from dpengine.core.json_types import Ends, Json, JsonObject
from dpengine.core.printed import percent
from dpengine.declared.date_column import Date
from dpengine.declared.schema import Category, Column, ItemSet
from dpengine.declared.unit import Unit
from dpengine.ledger.ledger import Entry, Ledger
from dpengine.mechanisms.counts.fit_check import FitCheck
from dpengine.mechanisms.counts.fit_checks import FITS, UNSURE, FitChecks, verdict
from dpengine.mechanisms.query import AnyQuery
from dpengine.messages import say

MADE, UNCHECKED = "made", "unchecked"  # beside FITS, MOSTLY_NOT and UNSURE
MOST_CHECKS = 200  # the newest of each kind


@dataclass(frozen=True)
class ColumnFit:
    """`state` is MADE, UNCHECKED, FITS, MOSTLY_NOT or UNSURE; `share` of the cells do not fit, about, and at most
    `most` of them: where that follows from what is public."""

    column: str
    state: str
    share: Fraction | None = None
    most: Fraction | None = None

    @property
    def checked(self) -> bool:
        return self.state != UNCHECKED

    def note(self) -> str:
        """What an answer about the column says of it; nothing where it fits."""
        if self.state == UNCHECKED:
            return say("fit.note.unchecked", column=self.column)
        if self.state in (MADE, FITS):
            return ""
        return self._told("fit.note")

    def words(self) -> str:
        """What a check found, as a line of its own."""
        return self._told("fit.found")

    def _told(self, code: str) -> str:
        """Where a person may have several rows nobody knows how many cells there are: no share is told."""
        if self.share is None or self.most is None:
            return say(f"{code}.{self.state}_rows", column=self.column)
        told = self.most if self.state == FITS else self.share
        return say(f"{code}.{self.state}", column=self.column, share=percent(Fraction(round(told * 100), 100)))


@dataclass(frozen=True)
class Check:
    """A paid check: what was declared, and the figure and range of each column, or of all of them together (`None`)."""

    bounds: JsonObject
    figures: dict[str | None, tuple[int, Ends]]
    about: int
    at_most: int

    def of(self, column: str) -> ColumnFit | None:
        figure = self.figures.get(column)
        together = self.figures.get(None)
        if figure is None and together is not None and self._verdict(together[1]) == FITS:
            figure = together  # where all rows but a few fit everywhere, they fit here
        if figure is None:
            return None
        value, ends = figure
        one_row = self.at_most == 1
        share, most = (_share(number, self.about) if one_row else None for number in (value, ends[1]))
        return ColumnFit(column, self._verdict(ends), share, most)

    def _verdict(self, ends: Ends) -> str:
        return verdict(ends, self.about, self.about * self.at_most)


@dataclass(frozen=True)
class Fits:
    """What was paid to know of one table, newest first."""

    checks: tuple[Check, ...]
    made: bool = False  # by us, to fit

    def of(self, name: str, declared: Column) -> ColumnFit:
        """The newest check that was sure, else the newest."""
        if self.made:
            return ColumnFit(name, MADE)
        told = declared.as_json()
        found = [fit for check in self.checks if check.bounds.get(name) == told and (fit := check.of(name)) is not None]
        sure = [fit for fit in found if fit.state != UNSURE]
        return (sure or found or [ColumnFit(name, UNCHECKED)])[0]

    def all_of(self, columns: Iterable[tuple[str, Column]]) -> list[ColumnFit]:
        return [self.of(name, column) for name, column in columns]

    def notes(self, query: AnyQuery) -> list[str]:
        """What an answer says of the columns it is about: those nobody checked in one sentence, then each that does not
        fit."""
        columns = query.facts.schema.columns
        names = [
            name for name in columns if name in query.valued().union(*(one.columns() for one in query.conditions()))
        ]
        fits = self.all_of((name, columns[name]) for name in names)
        unchecked = [fit.column for fit in fits if not fit.checked]
        told = [note for fit in fits if fit.checked and (note := fit.note())]
        if len(unchecked) > 1:
            return [*told, say("fit.note.unchecked_several", columns=unchecked)]
        return told + [say("fit.note.unchecked", column=name) for name in unchecked]


def fits_of(ledger: Ledger, budget: str, table: str, made: bool) -> Fits:
    if made:
        return Fits((), made=True)
    keys = (FitCheck.card.key, FitChecks.card.key)
    entries = [entry for key in keys for entry in ledger.charges(budget, table, key=key, limit=MOST_CHECKS)]
    newest = sorted(entries, key=lambda entry: entry.charge.seq, reverse=True)
    return Fits(tuple(_check(entry) for entry in newest if entry.outcome and entry.outcome.kind == "answer"))


def _check(entry: Entry) -> Check:
    assert entry.outcome is not None
    claim, value, interval = entry.charge.claim, entry.outcome.body["value"], entry.outcome.body["interval"]
    figures: dict[str | None, tuple[int, Ends]] = (
        {name: (value[name], _ends(interval[name])) for name in value}
        if isinstance(value, dict)
        else {claim["parameters"].get("column"): (value, _ends(interval))}
    )
    return Check(claim.get("bounds", {}), figures, claim["about"], Unit.from_json(claim["unit"]).at_most)


def slip(column: Column) -> str:
    """What may have gone wrong where most cells do not fit, guessed from the declaration alone."""
    if isinstance(column, Category | ItemSet):
        codes = all(str(value).strip().isdigit() for value in column.values)
        kind = "set" if isinstance(column, ItemSet) else "codes" if codes else "list"
    elif isinstance(column, Date):
        kind = "date"
    else:
        kind = "number"
    return say(f"fit.slip.{kind}")


def _ends(stored: Json) -> Ends:
    low, high = stored
    return low, high


def _share(rows: int, about: int) -> Fraction:
    return min(max(Fraction(rows, about), Fraction(0)), Fraction(1))
