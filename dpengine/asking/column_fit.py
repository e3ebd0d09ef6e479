"""Do the cells of a column fit its declaration? What paid checks say, and what follows for a question.

A check counts as long as the column's declaration is unchanged. The bundled tables fit by construction. Everything here
comes from the ledger: public facts and released figures.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from fractions import Fraction

from dpengine.asking.answers import Answer, query_of, round_up_two
from dpengine.core.exact import text_of
from dpengine.core.printed import chance, percent
from dpengine.core.remembered import remembered
from dpengine.core.types import Figures, JsonObject
from dpengine.declared.cell_kinds import bars
from dpengine.declared.conditions import FIT_OP
from dpengine.declared.date_column import Date
from dpengine.declared.facts import Facts
from dpengine.declared.id_names import naming_people, numbering_people, surely_numbers_people
from dpengine.declared.schema import Category, Column, ItemSet, Number
from dpengine.declared.unit import Unit
from dpengine.ledger.ledger import Entry, Ledger
from dpengine.ledger.rows import Outcome
from dpengine.mechanisms import catalogue
from dpengine.mechanisms.answer_state import FAR
from dpengine.mechanisms.counts.fit_checks import (
    GATE,
    GOOD,
    QUIET,
    UNSURE,
    CellShare,
    ColumnFound,
    FitChecks,
    percent_above,
)
from dpengine.mechanisms.cuts import figure
from dpengine.mechanisms.query import AnyQuery
from dpengine.messages import called, say
from dpengine.messages.numbers import day

MADE, UNCHECKED = "made", "unchecked"  # beside GOOD, MOSTLY_NOT, SOME_NOT and UNSURE
MOST_CHECKS = 200  # the newest checks that are read
MOST_NAMED = 5  # columns in a sentence
_MORE_THAN_FEW = 12
FEW_FIT = Fraction(1, 20)  # of the cells: where fewer fit, nothing is asked about them alone
ENDS = ("value", "low", "high")


@dataclass(frozen=True)
class ColumnFit:
    """What the checks say about a column as declared now: MADE, UNCHECKED, GOOD, MOSTLY_NOT, SOME_NOT or UNSURE."""

    column: str
    declared: Column
    state: str
    found: ColumnFound | None = None

    @property
    def checked(self) -> bool:
        return self.state != UNCHECKED

    @property
    def doubted(self) -> bool:
        """Are questions about the column refused?"""
        return self.found is not None and self.found.doubted

    @property
    def fits(self) -> bool:
        """Is the column made to fit, or checked with nothing found against it?"""
        return self.state in (MADE, GOOD) and not self.doubted and not self.in_part

    @property
    def codes(self) -> dict[Fraction, CellShare]:
        """The usual codes for “unknown” that some cells certainly hold."""
        return {} if self.found is None else {code: share for code, share in self.found.codes.items() if share.low > 0}

    @property
    def in_part(self) -> bool:
        """Do some cells certainly not fit, or hold a usual code for “unknown”, but too few to refuse a question?"""
        found = self.found
        return found is not None and not (found.doubted or found.quiet) and (found.misfit.low > 0 or bool(self.codes))

    @property
    def rough(self) -> bool:
        """Did the check find no misfits, although it could have missed a small share of them?"""
        return self.found is not None and not (self.doubted or self.in_part or self.found.quiet)

    @property
    def may_hide(self) -> bool:
        """Was the check so rough that it may have missed as many misfits as would refuse a question?"""
        return self.rough and self.hidden >= GATE

    @property
    def one_side(self) -> str:
        """“above” or “below” if cells certainly lie beyond that end of the declared range and hardly any beyond the
        other end; else ""."""
        parts = {} if self.found is None else self.found.parts
        for side, other in (("above", "below"), ("below", "above")):
            if side in parts and parts[side].low > 0 >= parts[other].low and parts[other].high < parts[side].value:
                return side
        return ""

    @property
    def zeros(self) -> CellShare | None:
        """The share of cells that are exactly 0, if that share is certainly at least a tenth; else None."""
        found = None if self.found is None else self.found.zeros
        return found if found is not None and found.low >= GATE else None

    @property
    def unknown(self) -> Fraction | None:
        """About which share of cells holds no value, if that share is certainly at least a tenth; else None."""
        if self.found is None or isinstance(self.declared, ItemSet) or _fills(self.declared):
            return None
        return self.found.empty if self.found.empty >= max(GATE, self.found.sees / 2) else None

    def moves(self, query: AnyQuery) -> str:
        """“higher” or “lower”: where the truth lies, compared with the answer, because cells beyond the declared range
        count as its end. "" if the side is not known, as when cells also hold a code."""
        if self.codes or not query.rises or query.answer_column != self.column or not (self.doubted or self.in_part):
            return ""
        if any(self.column in condition.columns() for condition in query.conditions()):
            return ""
        return {"above": "higher", "below": "lower", "": ""}[self.one_side]

    @property
    def named_code(self) -> Fraction | None:
        """The code for “unknown” that `reason` names; None if `reason` names cells that do not fit, or if nothing was
        found."""
        if self.found is None:
            return None
        if self.found.doubted_codes and self.found.misfit.low < self.found.codes[self.found.doubted_codes[0]].low:
            return self.found.doubted_codes[0]
        if self.found.misfit.low <= 0 and self.codes:
            return max(self.codes, key=lambda code: self.codes[code].value)
        return None

    def reason(self, query: AnyQuery | None = None) -> str:
        """Sentences on what is wrong with the column: a code, or the commonest kind of misfit; what such cells count
        as; and, with a `query`, on which side of its answer the truth lies. "" for an unchecked column."""
        if self.found is None:
            return ""
        if (code := self.named_code) is not None:
            share = self.found.codes[code].span()
            return say("fit.reason.code", column=self.column, share=share, code=text_of(code))
        parts = self.found.parts
        kind = max(parts, key=lambda name: parts[name].value)
        kind = kind if parts[kind].low > 0 else "some"  # else noise would name it
        share, ends = self.found.misfit.span(), declared_ends(self.declared)
        reason = say(f"fit.reason.{kind}", column=self.column, share=share, **ends)
        unread = kind in ("unreadable", "word") and getattr(self.declared, "missing", None) is None
        if isinstance(self.declared, Category) and kind == "unlisted":
            reason += " " + say("fit.reason.counted_as", label=called(self.declared.unknown))
        elif isinstance(self.declared, ItemSet) or unread:
            reason += " " + say("fit.reason.left_out")
        side = "" if query is None else self.moves(query)
        return f"{reason} {say(f'fit.reason.{side}')}" if side else reason

    def note(self, query: AnyQuery | None = None) -> str:
        """The note about this column beside an answer; "" if nothing is wrong."""
        if self.state == UNCHECKED:
            return say("fit.note.unchecked", column=self.column)
        if self.found is None or self.found.quiet:
            return ""
        if self.doubted or self.in_part:
            return say("fit.note.careful", reason=self.reason(query))
        return self.words()

    def spared_note(self) -> str:
        """The note about this column beside an answer that leaves out the column's misfits."""
        note = say("fit.note.spared", column=self.column, share=self.fitting_share())
        side = self.one_side
        return f"{note} {say(f'fit.note.spared_{side}', **declared_ends(self.declared))}" if side else note

    def words(self) -> str:
        """The check's result as one line."""
        if self.found is None:
            return ""
        if self.doubted or self.in_part:
            return self.reason()
        code = "unsure" if self.state == UNSURE else "fits" if self.found.quiet else "fits_rough"
        if code == "fits_rough" and isinstance(self.declared, Number):
            code = "fits_rough_codes" if self._looked_for else "fits_rough_range"
        facts = {"column": self.column, "most": percent_above(self.hidden), "codes": self._looked_for}
        return say(f"fit.found.{code}", **facts, **declared_ends(self.declared))

    @property
    def _looked_for(self) -> list[str]:
        """The usual codes for “unknown” that lie in the declared range and that the check looked for, as text."""
        codes = [bar.number for bar in bars(self.column, self.declared) if bar.name == "code"]
        return [figure(text_of(code)) for code in codes if code is not None]

    @property
    def hidden(self) -> Fraction:
        """The largest share of cells that may not fit, although the check found none; 1 for an unchecked column."""
        if self.found is None:
            return Fraction(1)
        return max(self.found.misfit.high, self.found.sees) if self.rough else self.found.misfit.high

    @property
    def fitting(self) -> Fraction:
        """The estimated share of cells that fit and hold no doubted code; 1 for an unchecked column."""
        if self.found is None:
            return Fraction(1)
        codes = sum((self.found.codes[code].value for code in self.found.doubted_codes), Fraction(0))
        return max(1 - self.found.misfit.value - codes, Fraction(0))

    @property
    def hardly_fits(self) -> bool:
        """Do so few cells fit that a question about only the fitting cells is refused too?"""
        return self.doubted and self.fitting < FEW_FIT

    def fitting_share(self) -> str:
        """The range of the share that fits, as text: “51–57 %”."""
        if self.found is None:
            return ""
        doubted = [self.found.misfit, *(self.found.codes[code] for code in self.found.doubted_codes)]
        ends = (max(1 - sum(getattr(part, end) for part in doubted), Fraction(0)) for end in ("high", "low"))
        return CellShare(self.fitting, *ends).span()

    def clause(self) -> list[object]:
        """A condition that only fitting cells without a frequent code meet."""
        codes = () if self.found is None else self.found.doubted_codes
        return [self.column, FIT_OP, [text_of(code) for code in codes]]


@dataclass(frozen=True)
class Check:
    """A paid check: what it found about each column, and how each column was declared then."""

    bounds: JsonObject
    found: dict[str, ColumnFound]
    repeated: dict[str, tuple[int, int, int]]  # ids that repeat: bounds on the different values, and the rows
    ids: tuple[str, ...]
    unit: JsonObject
    crowded: CellShare | None  # of people with more rows than count
    request: str
    seq: int


@dataclass(frozen=True)
class Fits:
    """All paid checks of one table, newest first."""

    checks: tuple[Check, ...]
    made: bool = False  # a bundled table, which fits by construction

    def of(self, name: str, declared: Column) -> ColumnFit:
        """What the checks say about one column: the newest clear result; if none is clear, the newest result."""
        if self.made:
            return ColumnFit(name, declared, MADE)
        own = [(check.found[name], check.bounds[name]) for check in self.checks if name in check.found]
        results = [result for found, bounds in own if (result := _as_declared_now(found, bounds, declared))]
        conclusive = [result for result in results if result.state != UNSURE] or results
        newest = next(iter(conclusive), None)
        return ColumnFit(name, declared, UNCHECKED if newest is None else newest.state, newest)

    def all_of(self, columns: Iterable[tuple[str, Column]]) -> list[ColumnFit]:
        return [self.of(name, column) for name, column in columns]

    def answer(self, check: AnyQuery, unit: Unit) -> bool:
        """Do the paid checks already say all that the check `check` would ask?"""
        asked = check.parameters()
        known = all(self.of(name, check.facts.schema[name]).checked for name in asked["columns"])
        return known and all(name in self.ids or self.crowded(unit) is not None for name in asked.get("ids") or ())

    def about(self, query: AnyQuery, part: str = "") -> list[ColumnFit]:
        """What the checks say about each column that the answer is about; with `part`, only about the columns of that
        part."""
        columns, about = query.facts.schema.columns, query.about(part)
        return self.all_of((name, column) for name, column in columns.items() if name in about)

    def doubted(self, query: AnyQuery, part: str = "") -> list[ColumnFit]:
        """The doubted columns for which a question is refused. A column of which the question counts only fitting cells
        is among them only if hardly any cells fit."""
        spared = query.where.fitting()
        found = [fit for fit in self.about(query, part) if fit.doubted]
        return [fit for fit in found if fit.column not in spared or fit.hardly_fits]

    @property
    def repeated(self) -> dict[str, tuple[int, int, int]]:
        """The columns that look like ids and whose values repeat, by each column's newest check: the least and the most
        different values, and about how many rows."""
        repeated: dict[str, tuple[int, int, int]] = {}
        for check in reversed(self.checks):
            repeated = {name: counts for name, counts in repeated.items() if name not in check.ids} | check.repeated
        return repeated

    def crowded(self, unit: Unit) -> CellShare | None:
        """The share of people with more rows than count, by the newest check under this unit; None if no check counted
        them."""
        declared = unit.as_json()
        return next((check.crowded for check in self.checks if check.crowded and check.unit == declared), None)

    def row_notes(self, query: AnyQuery) -> list[str]:
        """Prominent notes if rows belong to people in another way than declared."""
        unit = query.facts.unit
        if self.made or (not query.to_check() and not query.gated):
            return []
        if unit == Unit.rows():
            first = list(self.repeated.items())[:1]
            return [say("fit.note.repeated", column=name, low=low, high=high, rows=n) for name, (low, high, n) in first]
        if unit.person or (most := query.most_rows) is None:
            return []
        share = self.crowded(unit)
        if share is None:
            return [say("fit.note.rows_unchecked", most=most)]
        if share.high < QUIET:
            return []
        if share.low < QUIET:
            return [say("fit.note.maybe_crowded", share=percent_above(share.high), most=most)]
        return [say("fit.note.crowded", share=share.span(), most=most)]

    def cut_rows(self, query: AnyQuery) -> int | None:
        """How many rows of a person count, for the headline; None unless a tenth of people or more may have more
        rows."""
        share, many = self.crowded(query.facts.unit), bool(self.row_notes(query))
        return query.most_rows if many and (share is None or share.high >= GATE) else None

    @property
    def ids(self) -> set[str]:
        """The columns whose different values some check counted."""
        return {name for check in self.checks for name in check.ids}

    def notes(self, query: AnyQuery, part: str = "") -> list[str]:
        """All notes beside an answer, or beside one part of it: on rows of one person; on each column that does not
        fit; one note for all columns checked only roughly, and one for all unchecked columns."""
        fits, notes = self.about(query, part), [*([] if part else self.row_notes(query)), *self.doubts(query, part)]
        whole = [fit for fit in fits if fit.column not in query.where.fitting()]
        for fit in whole:
            if fit.zeros is not None and fit.column in query.valued():
                notes.append(say("fit.note.zeros", column=fit.column, share=fit.zeros.span()))
        notes += self.unknown_notes(query, part)
        return [*notes, *filter(None, (rough_words(whole), unchecked_words(fits)))]

    def unknown_notes(self, query: AnyQuery, part: str = "") -> list[str]:
        """Notes on columns in the question's conditions of which many cells hold no value: people without a value count
        in the total."""
        asked = set[str]().union(*(condition.columns() for condition in query.conditions()))
        fits = [fit for fit in self.about(query, part) if fit.column in asked.difference(query.where.fitting())]
        unknown = [(fit.column, fit.unknown) for fit in fits if fit.unknown is not None]
        return [say("fit.note.unknown", column=name, share=percent(share)) for name, share in unknown]

    def doubts(self, query: AnyQuery, part: str = "") -> list[str]:
        """A note for each column of the question that is doubted or has some misfits. Where the question leaves out a
        doubted column's misfits, the note says so."""
        spared, notes = query.where.fitting(), []
        for fit in self.about(query, part):
            if fit.column in spared:
                notes += [fit.spared_note()] if fit.doubted else []
            elif fit.doubted or fit.in_part:
                notes.append(fit.note(query))
        return notes

    def between(self, query: AnyQuery) -> list[ColumnFit]:
        """The columns with a prominent note: unchecked, doubted, checked roughly, or with few misfits."""
        others = [fit for fit in self.about(query) if fit.column not in query.where.fitting()]
        return [fit for fit in others if fit.doubted or fit.in_part or fit.rough or not fit.checked]

    def in_short(self, query: AnyQuery) -> str:
        """The doubts in a few words, for a line that links to the answer."""
        return " ".join([*self.row_notes(query), *self.doubts(query), *self.unknown_notes(query)])


def rough_words(fits: Iterable[ColumnFit]) -> str:
    """One sentence for all columns that were checked only roughly; "" if there are none."""
    rough = [fit for fit in fits if fit.rough]
    if len(rough) < 2:
        return "".join(fit.words() for fit in rough)
    most = max(fit.hidden for fit in rough)
    return say("fit.note.fits_rough_several", columns=[fit.column for fit in rough], most=percent_above(most))


def unchecked_words(fits: Iterable[ColumnFit]) -> str:
    """One sentence for all unchecked columns; "" if there are none."""
    names = [fit.column for fit in fits if not fit.checked]
    if len(names) > MOST_NAMED + 1:
        first = say("data.list", labels=names[:MOST_NAMED], more=len(names) - MOST_NAMED)
        return say("fit.note.unchecked_several", columns=first)
    if len(names) > 1:
        return say("fit.note.unchecked_several", columns=names)
    return "".join(say("fit.note.unchecked", column=name) for name in names)


WELL_MADE = Fits((), made=True)


def fits_of(ledger: Ledger, budget: str, table: str, made: bool) -> Fits:
    if made:
        return WELL_MADE
    entries = ledger.charges(budget, table, key=FitChecks.card.key, limit=MOST_CHECKS)
    checks = (_check(_Paid(entry.answer.hash, entry, entry.answer)) for entry in entries if entry.answer)
    return Fits(tuple(check for check in checks if check is not None))


@dataclass(frozen=True)
class _Paid:
    """A charge and its answer, compared by the hash of the answer's row, which covers every row before it."""

    hash: str
    entry: Entry = field(compare=False)
    outcome: Outcome = field(compare=False)


@remembered(256)
def _check(paid: _Paid) -> Check | None:
    """What a paid check found; None if the answer cannot be read. Cached: a page reads a check some twenty times, and a
    released answer never changes."""
    entry = paid.entry
    query, raw = query_of(entry.charge), paid.outcome.body.get("raw")
    if not isinstance(query, FitChecks) or raw is None or len(raw) != query.numbers:  # with another list of codes
        return None
    drawn, charge, unit = tuple(raw), entry.charge, query.facts.unit.as_json()
    bounds, found, repeated = charge.claim.get("bounds", {}), query.found(drawn), _sure(query, drawn)
    return Check(bounds, found, repeated, query.ids, unit, query.crowded(drawn), charge.request, charge.seq)


def _sure(query: FitChecks, drawn: Figures) -> dict[str, tuple[int, int, int]]:
    """The id columns whose values certainly repeat, as in `Fits.repeated`. A column that by its name may hold something
    else, such as yes and no, must certainly have more than a few different values; a column that the owner named always
    counts."""
    found, counted = query.repeated(drawn), query.different(drawn)
    guessed = {*numbering_people(found), *naming_people(found)}
    many = {name for name in found if surely_numbers_people(name) or counted[name][1] >= _MORE_THAN_FEW}
    return {name: bounds for name, bounds in found.items() if name not in guessed or name in many}


def _as_declared_now(found: ColumnFound, before: JsonObject, declared: Column) -> ColumnFound | None:
    """What a check found about a column, read under its present declaration `declared`; None if the old result says
    nothing about that. If codes in the range, or the usual words for “unknown”, were declared since, they now count as
    empty, and the check knows how many there are."""
    now = declared.as_json()
    if before == now:
        return found
    named = [code for code in now.get("codes", []) if code not in before.get("codes", [])]
    since = {part for part in {*before, *now} if before.get(part) != now.get(part)}
    if not since <= {"codes", "words"} or not {*before.get("codes", [])} <= {*now.get("codes", [])}:
        return None
    codes = {Fraction(code) for code in named}
    inside = isinstance(declared, Number) and all(declared.lower <= code <= declared.upper for code in codes)
    if named and not inside:  # outside the range they were counted with all other numbers there
        return None
    left = {code: share for code, share in found.codes.items() if code not in codes}
    empty = found.empty + sum((share.value for code, share in found.codes.items() if code in codes), Fraction(0))
    zeros = found.zeros
    if zeros is not None and Fraction(0) in codes:
        empty, zeros = empty + (zeros.value if Fraction(0) not in found.codes else 0), None
    if "words" not in since:
        return replace(found, codes=left, zeros=zeros, empty=empty)
    empty += found.parts["word"].value if "word" in found.parts else 0
    parts = {name: share for name, share in found.parts.items() if name != "word"}
    value, low, high = (sum((getattr(part, end) for part in parts.values()), Fraction(0)) for end in ENDS)
    misfit = CellShare(value, min(low, Fraction(1)), min(high, Fraction(1)))
    return replace(found, codes=left, zeros=zeros, parts=parts, misfit=misfit, empty=empty)


def _fills(declared: Column) -> bool:
    """Do empty cells of this column count as one of its values?"""
    missing = getattr(declared, "missing", None)
    return missing in declared.values if isinstance(declared, Category) else missing is not None


def only_fitting(query: AnyQuery, doubted: Iterable[ColumnFit]) -> AnyQuery | None:
    """The same question about only the cells that fit; None if hardly any cells fit, or if the question takes no
    condition."""
    doubted = list(doubted)
    if any(fit.hardly_fits for fit in doubted):
        return None
    where = [*query.where.as_json(), *(fit.clause() for fit in doubted)]
    return type(query).built(query.facts, query.parameters() | {"where": where})


def declared_since(claim: JsonObject, facts: Facts) -> list[str]:
    """Sentences on what was declared anew since the question with this claim was charged."""
    sentences, schema, unit = [], facts.schema, facts.unit
    if (before := claim.get("unit", unit.as_json())) != unit.as_json():
        same = before.get("column") == unit.id_column
        sentences.append(say("since.rows" if same else "since.people", column=unit.id_column, most=unit.at_most))
    for name, before in claim.get("bounds", {}).items():
        now = schema.columns[name].as_json() if name in schema.columns else None
        if now is None:
            sentences.append(say("since.gone", column=name))
        elif now != before:
            sentences.append(_changed(name, before, now))
    return sentences


def _changed(name: str, before: JsonObject, now: JsonObject) -> str:
    differ = {part for part in {*before, *now} if before.get(part) != now.get(part)}
    new = [code for code in now.get("codes", []) if code not in before.get("codes", [])]
    if "kind" in differ:
        return say("since.kind", column=name)
    if "codes" in differ and new:
        return say("since.codes", column=name, codes=new)
    if differ & {"lower", "upper", "first", "last"}:
        return say("since.range", column=name)
    if differ & {"values", "aliases", "spellings", "complete", "unknown", "missing"} and now["kind"] != "number":
        return say("since.list", column=name)
    return say("since.other", column=name)


def slip(column: Column) -> str:
    """A sentence that guesses from the declaration alone what went wrong if cells do not fit."""
    if isinstance(column, Category | ItemSet):
        codes = all(str(value).strip().isdigit() for value in column.values)
        kind = "set" if isinstance(column, ItemSet) else "codes" if codes else "list"
    elif isinstance(column, Date):
        kind = "date"
    else:
        kind = "number"
    return say(f"fit.slip.{kind}")


def declared_ends(column: Column) -> dict[str, str]:
    """The two ends of a declared range as text, by name; two empty texts for a list."""
    if isinstance(column, Number | Date):
        write = day if isinstance(column, Date) else figure
        return {"lower": write(column.text(0)), "upper": write(column.text(column.size - 1))}
    return {"lower": "", "upper": ""}


# Does the declared number of people agree with paid answers? Free post-processing.
#
# Where membership is secret nobody counts people when a table is declared: the owner states their number, and every
# promised error assumes it. Some answers imply it (`Query.people_bounds`): a count of everybody, bars of a whole table,
# a first look, a check of the columns. A count under a condition implies a lower bound. A range far from the declared
# number gets a note.


@dataclass(frozen=True)
class ImpliedPeople:
    """How many people an answer implies: from `low` to `high`, or at least `low`. The statement is false with
    probability at most β."""

    declared: int
    low: int
    high: int | None
    beta: Fraction

    @property
    def far(self) -> bool:
        return self.low > (1 + FAR) * self.declared or (self.high is not None and self.high < (1 - FAR) * self.declared)

    @property
    def about(self) -> int:
        """A number to declare instead: the middle of the range, or its only end, rounded up to two figures."""
        return round_up_two(Fraction(self.low if self.high is None else (self.low + self.high) // 2))

    def note(self, place: str) -> str:
        """A sentence for one of three places: beside the answer that shows the number ("far"), beside a promise
        ("planned"), or on the table's own page ("card")."""
        facts = {"declared": self.declared, "low": self.low, "high": self.high, "chance": chance(self.beta)}
        return say(f"people.{place}_least" if self.high is None else f"people.{place}", **facts)


def implied_by(answer: Answer) -> ImpliedPeople | None:
    """How many people an answer implies. None if the answer implies no number, or if the number of people is public."""
    query = answer.query
    if query.facts.people is not None or answer.raw is None:
        return None
    bounds = query.people_bounds(answer.raw)
    return None if bounds is None else ImpliedPeople(query.facts.about, *bounds, query.beta)


def kinds() -> list[str]:
    """The keys of the questions whose answers may imply a number of people."""
    return [key for key, kind in catalogue.items() if kind.row_bounds is not AnyQuery.row_bounds]


def far_off(answers: Iterable[Answer], declared: int) -> ImpliedPeople | None:
    """What the newest of these answers implies that was asked with the declared number and shows that number to be far
    off. Answers that imply both ends come first. None if there is no such answer."""
    implied = (implied_by(answer) for answer in answers if answer.query.facts.about == declared)
    far = [people for people in implied if people is not None and people.far]
    return next((people for people in far if people.high is not None), far[0] if far else None)
