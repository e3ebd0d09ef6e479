"""What is known about whether the cells of a column are as declared: from paid checks, and nothing else.

A check counts for a column as long as its declaration is unchanged; once declared anew, the column is unchecked again.
The tables that come with this program fit by construction. All of it is read from the ledger: public facts and released
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

MADE, UNCHECKED = "made", "unchecked"  # beside FITS, MOSTLY_NOT, SOME_NOT and UNSURE
MOST_CHECKS = 200  # the newest of each kind


@dataclass(frozen=True)
class ColumnFit:
    """`state` is MADE, UNCHECKED, FITS, MOSTLY_NOT, SOME_NOT or UNSURE. About `share` of the cells do not fit, and at
    most `most` of them, where that follows from public facts."""

    column: str
    state: str
    share: Fraction | None = None
    most: Fraction | None = None

    @property
    def checked(self) -> bool:
        return self.state != UNCHECKED

    def note(self) -> str:
        """The note about the column beside an answer; empty where it fits."""
        if self.state == UNCHECKED:
            return say("fit.note.unchecked", column=self.column)
        if self.state in (MADE, FITS):
            return ""
        return self._told("fit.note")

    def words(self) -> str:
        """The result of a check, as a line of its own."""
        return self._told("fit.found")

    def _told(self, code: str) -> str:
        """No share is shown where a person may have several rows: then the number of cells is not public."""
        if self.share is None or self.most is None:
            return say(f"{code}.{self.state}_rows", column=self.column)
        share = self.most if self.state == FITS else self.share
        return say(f"{code}.{self.state}", column=self.column, share=percent(Fraction(round(share * 100), 100)))


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
            figure = together  # if all but a few rows fit in every column, they fit in this one
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
    """The paid checks of one table, newest first."""

    checks: tuple[Check, ...]
    made: bool = False  # a bundled table, which fits by construction

    def of(self, name: str, declared: Column) -> ColumnFit:
        """The result of the newest conclusive check, else of the newest."""
        if self.made:
            return ColumnFit(name, MADE)
        bounds = declared.as_json()
        checks = (check for check in self.checks if check.bounds.get(name) == bounds)
        fits = [fit for check in checks if (fit := check.of(name)) is not None]
        sure = [fit for fit in fits if fit.state != UNSURE]
        return (sure or fits or [ColumnFit(name, UNCHECKED)])[0]

    def all_of(self, columns: Iterable[tuple[str, Column]]) -> list[ColumnFit]:
        return [self.of(name, column) for name, column in columns]

    def notes(self, query: AnyQuery, part: str = "") -> list[str]:
        """Notes on the columns an answer, or a part of it, is about: one for each that does not fit, and one for all
        unchecked ones."""
        columns, about = query.facts.schema.columns, query.about(part)
        names = [name for name in columns if name in about]
        fits = self.all_of((name, columns[name]) for name in names)
        unchecked = [fit.column for fit in fits if not fit.checked]
        notes = [note for fit in fits if fit.checked and (note := fit.note())]
        if len(unchecked) > 1:
            return [*notes, say("fit.note.unchecked_several", columns=unchecked)]
        return notes + [say("fit.note.unchecked", column=name) for name in unchecked]


WELL_MADE = Fits((), made=True)


def fits_of(ledger: Ledger, budget: str, table: str, made: bool) -> Fits:
    if made:
        return WELL_MADE
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
