"""What is known about whether the cells of a column are as declared: from paid checks, and from first looks that were
paid for; and from lists that were found by paying.

A check counts for a column as long as its declaration is unchanged; once declared anew, the column is unchecked again.
A first look counts a number or a day that does not fit as a check does. Of a list it counts all cells outside the list
together, those too that are spelled like the label they are told under, which fit: so it shows that a list fits, and
where it does not show that, the note says what was counted. A list of values that were found is no guess either: each
of them stands in enough cells; where it is known how many cells hold something else, that decides. The tables that
come with this program fit by construction.
All of it is read from the ledger: public facts and released answers.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction

from dpengine.asking.claimed import query_of
from dpengine.core.exact import read_number
from dpengine.core.json_types import Ends, Json, JsonObject
from dpengine.core.printed import percent
from dpengine.declared.date_column import Date
from dpengine.declared.grouped import base
from dpengine.declared.schema import Category, Column, ItemSet, Number, extra_labels
from dpengine.declared.spelling import normal
from dpengine.declared.unit import Unit
from dpengine.ledger.ledger import Entry, Ledger
from dpengine.mechanisms.choices.find_declarations import FindDeclarations
from dpengine.mechanisms.choices.find_values import FindValues
from dpengine.mechanisms.counts.fit_check import FitCheck
from dpengine.mechanisms.counts.fit_checks import FITS, SOME_NOT, UNSURE, FitChecks, in_part, rough, verdict
from dpengine.mechanisms.marginals.overview import Overview
from dpengine.mechanisms.marginals.wanted import DOES_NOT_FIT
from dpengine.mechanisms.query import AnyQuery
from dpengine.messages import called, plain, say
from dpengine.messages.language import stored

MADE, UNCHECKED, FOUND = "made", "unchecked", "found"  # beside FITS, MOSTLY_NOT, SOME_NOT and UNSURE
MOST_CHECKS = 200  # the newest of each kind
MOST_LOOKS = 20


@dataclass(frozen=True)
class ColumnFit:
    """`state` is MADE, UNCHECKED, FOUND, FITS, MOSTLY_NOT, SOME_NOT or UNSURE. About `share` of the cells do not fit,
    and at most `most` of them, where that follows from public facts. Unchecked, so many were told under the label
    `other`."""

    column: str
    state: str
    share: Fraction | None = None
    most: Fraction | None = None
    other: str = ""
    rough: bool = False  # known only within more than a tenth of the people
    in_part: bool = False  # it fits, but for a part that is told …
    least: Fraction | None = None  # … and is at least this share

    @property
    def checked(self) -> bool:
        return self.state != UNCHECKED

    def note(self) -> str:
        """The note about the column beside an answer; empty where it fits, as far as that is known well."""
        if self.state == UNCHECKED and self.share is not None:
            share = percent(Fraction(round(self.share * 100), 100))
            return say("fit.note.unchecked_other", column=self.column, share=share, label=called(self.other))
        if self.state == UNCHECKED:
            return say("fit.note.unchecked", column=self.column)
        if self.in_part:
            return self._in_part("fit.note.fits_part")
        if self.state == FITS and self.rough:
            return say("fit.note.fits_rough", column=self.column)
        if self.state in (MADE, FITS, FOUND):
            return ""
        return self._told("fit.note")

    def words(self) -> str:
        """The result of a check, as a line of its own."""
        if self.in_part:
            return self._in_part("fit.found.fits_part")
        if self.rough and self.state == FITS:
            return say("fit.found.fits_rough", column=self.column)
        return self._told("fit.found")

    def _in_part(self, code: str) -> str:
        if self.share is None:
            return say(f"{code}_rows", column=self.column)
        told = {"share": self.share, "least": self.least or Fraction(0), "most": self.most or self.share}
        shares = {name: percent(Fraction(round(share * 100), 100)) for name, share in told.items()}
        return say(code, column=self.column, **shares)

    def _told(self, code: str) -> str:
        """No share is shown where a person may have several rows: then the number of cells is not public."""
        if self.share is None or self.most is None:
            return say(f"{code}.{self.state}_rows", column=self.column)
        share = self.most if self.state == FITS else self.share
        return say(f"{code}.{self.state}", column=self.column, share=percent(Fraction(round(share * 100), 100)))


@dataclass(frozen=True)
class Check:
    """A paid check: what was declared, and the figure and range of each column, or of all of them together (`None`).
    `others` are columns whose figure may hold cells that fit: those spelled like this label."""

    bounds: JsonObject
    figures: dict[str | None, tuple[int, Ends]]
    about: int
    at_most: int
    others: dict[str, str] = field(default_factory=dict)
    rows: tuple[int, int] | None = None  # at least and at most, where the declared number is shown to be far off

    def of(self, column: str) -> ColumnFit | None:
        figure = self.figures.get(column)
        together = self.figures.get(None)
        if figure is None and together is not None and self._verdict(together[1]) == FITS:
            figure = together  # if all but a few rows fit in every column, they fit in this one
        if figure is None:
            return None
        value, ends = figure
        one_row = self.at_most == 1
        cells = sum(self.rows) // 2 if self.rows else self.about
        share, least, most = (_share(number, cells) if one_row else None for number in (value, *ends))
        state, other = self._verdict(ends), self.others.get(column, "")
        part = state == FITS and in_part(value, ends, cells)
        return (
            ColumnFit(column, UNCHECKED, share, most, other)
            if other and state != FITS
            else ColumnFit(column, state, share, most, "", rough(ends, self.about), part, least)
        )

    def _verdict(self, ends: Ends) -> str:
        return verdict(ends, *(self.rows or (self.about, self.about * self.at_most)))


@dataclass(frozen=True)
class FoundList:
    """Values of a column that were found by paying; and, where that is known, between which ends the rows lie that hold
    something else."""

    column: str
    values: frozenset[str]
    about: int
    other: Ends | None = None

    def of(self, name: str, declared: Column) -> ColumnFit | None:
        """A list of nothing but found values was looked up in the cells themselves."""
        if name != self.column or not isinstance(declared, Category):
            return None
        if not {normal(value) for value in declared.values} <= self.values:
            return None
        return ColumnFit(name, FOUND if self.other is None else verdict(self.other, self.about, self.about))


@dataclass(frozen=True)
class Fits:
    """The paid checks of one table, newest first; and the lists that were found."""

    checks: tuple[Check, ...]
    made: bool = False  # a bundled table, which fits by construction
    lists: tuple[FoundList, ...] = ()

    def of(self, name: str, declared: Column) -> ColumnFit:
        """The result of the newest conclusive check, else of the newest, else what a first look tells."""
        if self.made:
            return ColumnFit(name, MADE)
        bounds = declared.as_json()
        checks = (check for check in self.checks if check.bounds.get(name) == bounds)
        fits = [fit for check in checks if (fit := check.of(name)) is not None]
        checked = [fit for fit in fits if fit.checked]
        sure = [fit for fit in checked if fit.state != UNSURE]
        found = [fit for one in self.lists if (fit := one.of(name, declared)) is not None]
        return (sure or found or checked or fits or [ColumnFit(name, UNCHECKED)])[0]

    def all_of(self, columns: Iterable[tuple[str, Column]]) -> list[ColumnFit]:
        return [self.of(name, column) for name, column in columns]

    def notes(self, query: AnyQuery, part: str = "") -> list[str]:
        """Notes on the columns an answer, or a part of it, is about: one for each that does not fit, one for all that
        were checked only roughly, and one for all unchecked ones."""
        fits, notes = self._about(query, part), self.doubts(query, part)
        left_out = self._left_out(query, part).items()
        notes += [say("fit.note.left_out", column=name, upper=upper) for name, upper in left_out]
        unchecked = [fit.column for fit in fits if not fit.checked and fit.share is None]
        rough = [fit.column for fit in fits if _only_rough(fit)]
        for code, names in (("fits_rough", rough), ("unchecked", unchecked)):
            if len(names) > 1:
                notes.append(say(f"fit.note.{code}_several", columns=names))
            else:
                notes += [say(f"fit.note.{code}", column=name) for name in names]
        return notes

    def doubts(self, query: AnyQuery, part: str = "") -> list[str]:
        """What paid checks, or a first look, say against the columns of a question; and what helps, unless its own
        condition leaves such cells out already."""
        fits = self._against(query, part)
        helps = [slip(query.facts.schema[name], in_part=True) for name in self.coded(query, part)]
        return [*(fit.note() for fit in fits), *self._widened(query, part), *helps]

    def in_short(self, query: AnyQuery) -> str:
        """The same of paid checks alone, on a line that leads to the answer."""
        told = [fit.note() for fit in self._against(query, "") if fit.checked]
        return " ".join([*told, *self._widened(query, "")])

    def _widened(self, query: AnyQuery, part: str) -> list[str]:
        """Numbers whose range was declared wider after a check had found some of them outside: then codes for “unknown”
        count as what they say, and no check can tell. Not where codes were declared, or are left out."""
        told = []
        for fit in self._about(query, part):
            column = query.facts.schema[fit.column]
            if not isinstance(column, Number) or column.codes or query.where.leaves_out(fit.column, column.size - 1):
                continue
            for check in self.checks:
                before, found = _range(check.bounds.get(fit.column)), check.of(fit.column)
                if before is None or found is None or not _in_part(found) or not _wider(column, *before):
                    continue
                ends = {"lower": plain(before[0]), "upper": plain(before[1])}
                told.append(say("fit.note.widened", column=fit.column, **ends))
                break
        return told

    def _against(self, query: AnyQuery, part: str) -> list[ColumnFit]:
        left_out = self._left_out(query, part)
        fits = [fit for fit in self._about(query, part) if fit.column not in left_out and not _only_rough(fit)]
        return [fit for fit in fits if (fit.checked or fit.share is not None) and fit.note()]

    def coded(self, query: AnyQuery, part: str = "") -> list[str]:
        """Columns of numbers of a question some cells of which lie beyond the range, as codes for “unknown” do, and
        count as its end: those alone whose end the question's condition does not leave out."""
        left_out = self._left_out(query, part)
        return [name for name in self._with_a_part(query, part) if name not in left_out]

    def _left_out(self, query: AnyQuery, part: str) -> dict[str, str]:
        """The others, each with the end of its range."""
        columns = self._with_a_part(query, part).items()
        return {name: plain(one.upper) for name, one in columns if query.where.leaves_out(name, one.size - 1)}

    def _with_a_part(self, query: AnyQuery, part: str) -> dict[str, Number]:
        found = {fit.column: query.facts.schema[fit.column] for fit in self._about(query, part) if _in_part(fit)}
        return {name: column for name, column in found.items() if isinstance(column, Number)}

    def _about(self, query: AnyQuery, part: str) -> list[ColumnFit]:
        columns, about = query.facts.schema.columns, query.about(part)
        return self.all_of((name, column) for name, column in columns.items() if name in about)


def _range(bounds: JsonObject | None) -> Ends | None:
    """The ends of what a check took for a column of numbers."""
    if bounds is None or bounds.get("kind") != "number":
        return None
    return read_number(bounds["lower"], "lower"), read_number(bounds["upper"], "upper")


def _wider(column: Number, lower: Fraction, upper: Fraction) -> bool:
    return column.lower <= lower and upper <= column.upper and column.ends != (lower, upper)


def _in_part(fit: ColumnFit) -> bool:
    """Does a part of its cells not fit, but by no means most?"""
    return fit.in_part or fit.state == SOME_NOT


def _only_rough(fit: ColumnFit) -> bool:
    return fit.state == FITS and fit.rough and not fit.in_part


WELL_MADE = Fits((), made=True)


def fits_of(ledger: Ledger, budget: str, table: str, made: bool) -> Fits:
    if made:
        return WELL_MADE
    kinds = {FitCheck.card.key: MOST_CHECKS, FitChecks.card.key: MOST_CHECKS, Overview.card.key: MOST_LOOKS}
    entries = [one for key, most in kinds.items() for one in ledger.charges(budget, table, key=key, limit=most)]
    newest = sorted(entries, key=lambda entry: entry.charge.seq, reverse=True)
    checks = (_check(entry) for entry in newest if entry.outcome and entry.outcome.kind == "answer")
    lists = [
        one
        for key in (FindDeclarations.card.key, FindValues.card.key)
        for entry in ledger.charges(budget, table, key=key, limit=MOST_LOOKS)
        if entry.outcome and entry.outcome.kind == "answer"
        for one in _lists(entry)
    ]
    return Fits(tuple(check for check in checks if check is not None), lists=tuple(lists))


def _lists(entry: Entry) -> list[FoundList]:
    """What a purchase found of each column that was taken for a list."""
    assert entry.outcome is not None
    query, value, interval = query_of(entry.charge), entry.outcome.body["value"], entry.outcome.body["interval"]
    if isinstance(query, FindValues):
        return [FoundList(query.column, frozenset(normal(one) for one in value), query.facts.about)] if value else []
    if not isinstance(query, FindDeclarations):
        return []  # of an older form
    return [
        FoundList(
            one.column,
            frozenset(normal(value) for value, _ in one.values),
            query.facts.about,
            None if one.other is None else _ends(one.other[1]),
        )
        for one in query.drafts(value, interval)
        if one.values
    ]


def _check(entry: Entry) -> Check | None:
    assert entry.outcome is not None
    claim, value, interval = entry.charge.claim, entry.outcome.body["value"], entry.outcome.body["interval"]
    figures: dict[str | None, tuple[int, Ends]]
    others: dict[str, str] = {}
    if claim["key"] == Overview.card.key:
        look = query_of(entry.charge)
        if not isinstance(look, Overview):
            return None  # of an older form
        bars = _misfit_bars(look)
        figures = {name: (value[bar], _ends(interval[bar])) for name, (bar, _) in bars.items() if bar in value}
        others = {name: label for name, (_, label) in bars.items() if label}
    elif isinstance(value, dict):
        figures = {name: (value[name], _ends(interval[name])) for name in value}
    else:
        figures = {claim["parameters"].get("column"): (value, _ends(interval))}
    at_most = Unit.from_json(claim["unit"]).at_most
    return Check(claim.get("bounds", {}), figures, claim["about"], at_most, others, _rows(entry))


def _rows(entry: Entry) -> tuple[int, int] | None:
    """Where a check of several columns shows that the declared number of people is far off: what it shows instead."""
    assert entry.outcome is not None
    query, raw = query_of(entry.charge), entry.outcome.body.get("raw")
    if not isinstance(query, FitChecks) or raw is None:
        return None
    told = query.counted_in(tuple(raw))
    return None if told == query.counted_in(None) else told


def _misfit_bars(look: Overview) -> dict[str, tuple[str, str]]:
    """Of a column, the bar of cells that do not fit; of a list, of all outside it, and its own label: cells that are
    spelled like this label fit, and are in it too. Empty cells must not be, nor values put together."""
    found = {}
    with stored():
        for ref, axis in zip(look.columns, look.axes, strict=True):
            one, name = look.facts.schema[base(ref)], base(ref)
            if axis.misfit:
                found[name] = f"{ref}: {DOES_NOT_FIT}", ""
            elif ref == name and isinstance(one, Category) and one.unknown in set(extra_labels(one)) - {one.missing}:
                found[name] = f"{ref}: {one.unknown}", one.unknown
    return found


def slip(column: Column, in_part: bool = False) -> str:
    """What may have gone wrong where most cells do not fit, or some, guessed from the declaration alone."""
    if in_part and isinstance(column, Number):
        return say("fit.slip.part", upper=plain(column.upper))
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
