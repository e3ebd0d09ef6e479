"""One column's card: which kind it is, what can be in it, as typed; and the engine's column it means, and back.

Plain and complete without Streamlit. What cannot be used is refused in the engine's own sentence.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import date
from fractions import Fraction
from functools import lru_cache

import dpengine as dp
from dpengine.core.errors import AllowanceError
from dpengine.core.exact import read_number, read_typed, text_of
from dpengine.declared.dialect import Dialect
from dpengine.declared.schema import Category, Column, ItemSet, Number, round_step
from dpengine.declared.spelling import MISSING, normal, spellings
from dpengine.intake.postgres import SET_SEPARATOR
from dpengine.mechanisms.choices.drafted import Drafted
from dpengine.messages import say
from dpengine.messages.language import stored
from ui.data import declare_codes, presets
from ui.data.preset_lists import LISTS, YES_NO
from ui.data.presets import Candidate

KINDS = ("number", "date", "list", "items", "yes_no")
UNKNOWN = "unknown"  # to be found later, out of the allowance: left out until then
OUT = "out"  # left out
KEPT = "kept"  # as it is declared now, where a card cannot say the same
MOST_TYPED = 2_000  # values of a list in a text field; longer ones come as a file, and never go to the browser
FINEST = 2**20  # steps in a range that was bought


@dataclass
class Card:
    """Numbers, days and lists are kept as typed."""

    kind: str | None = None  # one of KINDS, UNKNOWN, OUT or KEPT
    lower: str = ""
    upper: str = ""
    step: str = ""
    shape: str = "bell"
    filled: bool = False  # missing numbers count as …
    stand_in: str = ""  # … this one
    first: str = ""  # days in ISO writing
    last: str = ""
    order: str | None = None
    listed: str = ""
    brought: tuple[str, ...] = ()  # a list from a file, in place of `listed` …
    source: str = ""  # … of this name …
    public: bool = False  # … said to be public
    closed: bool = False  # cells outside the list are counted as a listed value …
    goes_to: str = ""  # … this one, or the first
    complete: bool = True  # … and the list is said to be complete: empty cells do not fit either
    separator: str | None = ";"  # between the items of a cell; None: one item in a cell
    at_most: int | None = None
    spellings: str = ""  # a table of usual spellings that count too
    measure: str = ""  # what a number is counted in
    codes: str = ""  # numbers that mean “unknown”, as the file writes them
    candidates: tuple[Candidate, ...] = ()  # readings that the name allows
    guess: tuple[object, ...] | None = None  # as filled in from the name; settled by a yes, or by saying otherwise
    kept: Column | None = None
    uploads: int = 0  # of lists, so that each uploader is a fresh one
    usual: str | None = None  # the usual range it was taken from, or that its name suggests

    @staticmethod
    def for_name(name: str, beside: Sequence[str] = ()) -> Card:
        """Prefilled from the column's name and the names `beside` it, and from nothing else. It waits for a yes;
        without an idea it is left out."""
        idea, likely = presets.suggest(name), presets.candidates(name, beside)
        if idea.preset in presets.EDITION and not likely:  # another's list of that name may hold anything
            idea = presets.Suggestion()
        card = Card(kind=idea.kind or OUT, candidates=likely, spellings=MISSING)
        card.measure = presets.measure(name, idea.preset)
        if card.candidates:
            card._filled(card.candidates[0])
            card.order = card.order if len(card.candidates) == 1 else None
        elif idea.kind == "number":
            card.take_range(idea.preset)
        card.guess = card.said() if idea.kind else None
        return card

    def typed(self, category: str, labels: Sequence[str]) -> None:
        """What a database declares of the column's type is known, not guessed: truth values, or an enumerated list, and
        no cell holds anything else. That is the table's declaration, and nothing of its rows."""
        if len(labels) > 1:
            self.kind, self.candidates, self.guess = "list", (), None
            self.take_values(list(labels), say("data.source.as_enumerated"))
        elif category == "B":
            self.kind, self.candidates, self.guess = "yes_no", (), None
        elif category == "A":
            self.separator = SET_SEPARATOR
            if self.kind != "items":
                self.kind, self.candidates, self.guess = OUT, (), None
        elif category == "D":  # its days are read with the year first
            self.candidates = tuple(one for one in self.candidates if one.order in (None, "ymd")) or self.candidates

    def said(self) -> tuple[object, ...]:
        """All that it says of the column."""
        return tuple(getattr(self, one.name) for one in fields(self) if one.name not in _BESIDE)

    @property
    def waits_for_yes(self) -> bool:
        return self.guess is not None and self.said() == self.guess

    def agree(self) -> None:
        """The person said that the guess is right."""
        self.guess = None

    def take(self, one: Candidate) -> None:
        """The person recognised a cell of it."""
        self._filled(one)
        self.agree()

    def _filled(self, one: Candidate) -> None:
        self.kind = one.kind
        if one.kind == "number":
            self.take_range(one.preset)
        elif one.kind == "date":
            self.take_days(one.preset)
            self.order = one.order
        elif one.kind == "list":
            self.take_list(one.preset)

    @staticmethod
    def of(column: Column, dialect: Dialect, name: str = "") -> Card:
        """The card that says what is declared now of a column of this name."""
        card = _said(column, dialect)
        card.usual = presets.suggest(name).preset
        try:
            if _same(column_of(card, dialect), column):
                return card
        except AllowanceError:
            pass
        return Card(kind=KEPT, kept=column)

    def take_range(self, preset: str | None) -> None:
        if preset in presets.RANGES:
            usual = presets.RANGES[preset]
            self.lower, self.upper, self.step, self.shape = usual.lower, usual.upper, usual.step, usual.shape
            self.usual = preset
            if usual.measure or self.measure in _MEASURES:  # a currency stays with a sum of money
                self.measure = usual.measure

    def take_bounds(self, lower: float, upper: float) -> None:
        """A range that was bought: its ends are 0 or powers of two."""
        low, high = read_number(lower, "lower"), read_number(upper, "upper")
        step = max(round_step(high - low), (high - low) / FINEST)
        self.kind, self.lower, self.upper, self.step = "number", text_of(low), text_of(high), text_of(step)

    def take_found(self, found: Drafted, source: str) -> None:
        """What was bought about it. Whether day or month comes first nobody has said."""
        if found.ends is None:
            self.kind = "list"
            values = [value for value, _ in found.values]
            said = [value for value in values if not spellings(MISSING, value)]  # “?” is no answer, here as elsewhere
            self.take_values(said if len(said) > 1 else values, source)
        elif found.kind == "date":
            self.kind, (self.first, self.last) = "date", found.ends
        else:
            self.take_bounds(*found.ends)

    def take_days(self, preset: str | None) -> None:
        if preset in presets.DAYS:
            first, last = presets.days(preset, date.today())
            self.first, self.last = first.isoformat(), last.isoformat()

    def take_list(self, preset: str | None) -> None:
        if preset in LISTS:
            self.listed, self.spellings = LISTS[preset].text, LISTS[preset].table

    def take_values(self, values: list[str], source: str) -> None:
        """A list from elsewhere that is public by now: to be edited where a text field can hold it."""
        text = "\n".join(values)
        if len(values) <= MOST_TYPED and listed(text) == (values, {}):
            self.listed, self.brought, self.source, self.public = text, (), "", False
        else:
            self.listed, self.brought, self.source, self.public = "", tuple(values), source, True

    @property
    def values(self) -> list[str]:
        """What the list holds, however it came."""
        return list(self.brought) if self.brought else listed(self.listed)[0]

    @property
    def blank(self) -> bool:
        """Nothing to complain about yet."""
        if self.kind == "number":
            return not all(part.strip() for part in (self.lower, self.upper, self.step)) or (
                self.filled and not self.stand_in.strip()
            )
        if self.kind == "date":
            return not (self.first and self.last and self.order)
        if self.kind in ("list", "items"):
            return not self.listed.strip() and not self.brought
        return self.kind is None


_MEASURES = {usual.measure for usual in presets.RANGES.values()}
_BESIDE = ("candidates", "guess", "kept", "uploads", "usual")


def _same(one: Column, other: Column) -> bool:
    """Do both mean the same? In which order other spellings are told does not matter."""
    if isinstance(one, Category) and isinstance(other, Category):
        return one.labels == other.labels and _parts(one) == _parts(other)
    return one == other


def _parts(column: Category) -> tuple[object, ...]:
    return column.values, column.unknown, column.missing, dict(column.aliases), column.spellings, column.complete


def _said(column: Column, dialect: Dialect) -> Card:
    """What a card could say of a column; `Card.of` checks whether it does."""
    if isinstance(column, Number):
        lower, upper, step = map(text_of, (column.lower, column.upper, column.step))
        stand_in = "" if column.missing is None else text_of(column.missing)
        card = Card("number", lower, upper, step, column.shape, column.missing is not None, stand_in)
        card.measure, card.codes = column.measure, declare_codes.written(column.codes, dialect)
        return card
    if isinstance(column, dp.Date):
        return Card("date", first=column.first.isoformat(), last=column.last.isoformat(), order=column.order)
    if isinstance(column, ItemSet):
        card = Card("items", separator=column.separator, at_most=column.at_most)
        card.take_values(list(column.values), say("data.card.as_declared"))
        return card
    closed = column.unknown == column.missing and column.unknown in column.values
    card = Card("list", closed=closed, goes_to=column.unknown if closed else "", complete=column.complete or not closed)
    card.spellings = column.spellings
    if column.values == ("yes", "no") and not column.aliases and column.spellings == YES_NO.table:
        card.kind = "yes_no"
    elif column.aliases:
        others = {value: [other for other, of in column.aliases if of == value] for value in column.values}
        card.listed = "\n".join(" = ".join([value, *filter(None, [", ".join(others[value])])]) for value in others)
    else:
        card.take_values(list(column.values), say("data.card.as_declared"))
    return card


def column_of(card: Card, dialect: Dialect) -> Column:
    """One card as the engine's column."""
    if card.kind == KEPT and card.kept is not None:
        return card.kept
    if card.kind == "number":
        lower, upper, step = (
            typed(getattr(card, part), say(f"data.card.{part}")) for part in ("lower", "upper", "step")
        )
        missing = typed(card.stand_in, say("data.card.stand_in")) if card.filled else None
        codes = declare_codes.read(card.codes, dialect)
        return Number(lower, upper, step, card.shape, missing, card.measure, codes)
    if card.kind == "date":
        if not (card.first and card.last):
            raise AllowanceError("data.card.days_missing")
        if card.order is None:
            raise AllowanceError("data.card.order_missing")
        return dp.Date(card.first, card.last, card.order)
    if card.kind == "yes_no":
        return _category(card, ("yes", "no"), (), YES_NO.table)
    if card.kind not in ("list", "items"):
        raise AllowanceError("data.card.kind_missing")
    if card.brought and not card.public:
        raise AllowanceError("data.list.not_public")
    values, others = (list(card.brought), {}) if card.brought else listed(card.listed)
    if not card.brought and len(values) > MOST_TYPED:
        raise AllowanceError("data.list.long", most=MOST_TYPED)
    if card.kind == "items":
        if others:
            raise AllowanceError("data.card.items_spelled")
        return _items(tuple(values), card.separator, card.at_most)
    if len(values) < 2:
        raise AllowanceError("category.few", least=2)
    return _category(card, tuple(values), tuple(others.items()), card.spellings)


def _category(card: Card, values: tuple[str, ...], aliases: tuple[tuple[str, str], ...], table: str) -> Category:
    if not card.closed:
        listed_other = "other" in {normal(one) for one in (*values, *dict(aliases))}  # is a group of its own
        return _made(values, "not in the list" if listed_other else "other", "no answer", aliases, table)
    counts_as = card.goes_to or values[0]
    if counts_as not in values:
        raise AllowanceError("data.card.goes_to_missing")
    return _made(values, counts_as, counts_as, aliases, table, card.complete)


# A page runs at every click, and 100,000 values take a moment.
@lru_cache(maxsize=100)
def _made(
    values: tuple[str, ...],
    unknown: str,
    missing: str,
    aliases: tuple[tuple[str, str], ...],
    table: str,
    complete: bool = False,
) -> Category:
    return Category(values, unknown=unknown, missing=missing, aliases=aliases, spellings=table, complete=complete)


@lru_cache(maxsize=100)
def _items(values: tuple[str, ...], separator: str | None, at_most: int | None) -> ItemSet:
    return ItemSet(values, separator, at_most)


def listed(text: str) -> tuple[list[str], dict[str, str]]:
    """A pasted list: one value per line, else separated by semicolons, else by commas. On a line, " = " tells other
    spellings. Returns the values and, for each other spelling, its value."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if len(lines) == 1:
        sign = ";" if ";" in lines[0] else "," if " = " not in lines[0] else "\n"
        lines = [part.strip() for part in lines[0].split(sign) if part.strip()]
    values: list[str] = []
    other_of: dict[str, str] = {}
    for line in lines:
        value, _, others = line.rstrip(",;").partition(" = ")
        values.append(value.strip())
        for other in re.split(r"[,;]", others):
            if other.strip():
                other_of[other.strip()] = value.strip()
    own = {normal(value) for value in values}
    return values, {other: value for other, value in other_of.items() if normal(other) not in own}


def typed(text: str, name: str) -> Fraction:
    """A number of a card, which holds it in English marks whatever language it was typed in."""
    with stored():
        return read_typed(text, name)
