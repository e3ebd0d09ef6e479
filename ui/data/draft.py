"""What a person has declared so far about a table to add: a `Draft`, with a `Card` for each column.

The draft is kept in the session, and works without Streamlit. Everything here is typed by a person or guessed from
column names, and so public; nothing has seen a cell. `column_of`, `schema`, `unit` and `budget` turn the answers into
the engine's objects. The engine refuses what it cannot use, in its own sentence.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import date
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Any

import dpengine as dp
from dpengine.accountant.filter import usual_delta
from dpengine.core.exact import read_number, read_typed, text_of
from dpengine.declared.declaration import Differences
from dpengine.declared.id_names import numbering_people
from dpengine.declared.schema import MOST_CODES, Category, Column, ItemSet, Number, round_step
from dpengine.declared.spelling import MISSING, normal, spellings
from dpengine.intake.foreign import CodedColumn
from dpengine.intake.inspect import SUFFIXES
from dpengine.intake.postgres import SET_SEPARATOR, SourceColumn
from dpengine.mechanisms.choices.find_declarations import Drafted
from dpengine.messages import say
from dpengine.messages.language import stored
from dpengine.messages.numbers import local
from dpengine.statistics.raw_cells import number_reader
from ui.data import presets
from ui.data.presets import LISTS, RANGES, WRITTEN, YES_NO, Candidate

# --- numbers that mean “unknown”, such as 999

LONGEST = 200  # characters of the field
WIDENED = 3  # times a usual range
ABOVE = (99_999, 9_999, 999, 99)  # what files write for “unknown”, beyond what can be
BELOW = (-99, -9, -1)
BELOW_ZERO = (-1, -9, -99, -999)
NINES = 2  # numbers of nines that are proposed on each side of a range
ROUND = Fraction(49, 50)  # 99 is far from 0–50, as 100 would be
_AMBIGUOUS = re.compile(r"\d[,\s]+\d")


def read_codes(text: str, dialect: dp.Dialect) -> list[Fraction]:
    """Numbers as the file writes them, separated by semicolons or commas. Refuses a text that could be one number or
    several; a semicolon makes it clear."""
    name, text = say("data.card.codes"), text.strip()
    if ";" in text:
        parts = text.split(";")
    else:
        parts = text.split(",")
        if _AMBIGUOUS.search(re.sub(r",\s", ";", text)) and _is_single(text, dialect):
            several = re.sub(r"[,\s]+", "; ", text)
            raise dp.AllowanceError("number.ambiguous", name=name, one=several, other=f"{text};")
    return [_read_code(part, dialect, name) for part in parts if part.strip()]


def _read_code(part: str, dialect: dp.Dialect, name: str) -> Fraction:
    """The number in a text: read as a cell of the file, else as somebody typed it; refused if it could be two
    numbers."""
    number = number_reader(dialect)(part)
    if number != "nan":
        return read_number(number, name)
    with stored():
        return read_typed(part, name)


def _is_single(text: str, dialect: dp.Dialect) -> bool:
    try:
        _read_code(text, dialect, "")
    except dp.AllowanceError as refusal:
        return refusal.code == "number.ambiguous"
    return True


def written_codes(codes: Iterable[Fraction], dialect: dp.Dialect) -> str:
    """Numbers as a text that `read_codes` reads back."""
    texts = [text_of(code).replace(".", dialect.decimal) for code in codes]
    return "; ".join(texts) + (";" if len(texts) == 1 and "," in texts[0] else "")


def code_words(words: str, codes: Iterable[Fraction], code: str) -> str:
    """The words of a range, followed by the column's numbers for “unknown”, without a thousands sign."""
    texts = [local(text_of(number)) for number in codes]
    return say(code, words=words, codes=texts, many=len(texts)) if texts else words


def usual_codes(lower: str, upper: str, usual: str | None) -> str:
    """The codes that a card proposes: numbers that files use for “unknown” and that cannot be real in this range. Only
    the typed range and the column's usual range decide.

    These are numbers of two and more nines, with either sign, that lie beyond the range by as much as it is wide and
    as it reaches from 0 (99 for 0–50, 999 for 0–100, 9999 for 0–990): `NINES` on each side. For a quantity that is
    never negative −1, −9, −99 and −999 take the place of those below, as no cell below 0 is real there."""
    try:
        low, high = read_number(lower, ""), read_number(upper, "")
    except dp.AllowanceError:
        return ""
    if not low < high:
        return ""
    margin = max(high - low, abs(low), abs(high)) * ROUND
    nines = [10**digits - 1 for digits in range(2, len(str(int(margin))) + 2 + NINES)]
    above = [code for code in nines if code - high >= margin][:NINES]
    below = [-code for code in nines if low + code >= margin][:NINES]
    if usual in presets.NEVER_NEGATIVE and low >= 0:
        below = list(BELOW_ZERO)
    return "; ".join(map(str, [*above, *below]))


def unusual_codes(column: Number) -> tuple[Fraction, ...]:
    """The codes to name on a column's line: none if they are the ones that a card proposes."""
    ends = text_of(column.lower), text_of(column.upper)
    usual = [usual_codes(*ends, kind) for kind in (None, presets.NEVER_NEGATIVE[0])]
    return () if {*column.codes} in [{*map(Fraction, codes.split("; "))} for codes in usual] else column.codes


def codes_reached(lower: str, upper: str, codes: str, usual: str | None) -> int | None:
    """The number for “unknown” that the range was probably widened for; None if there is none. The range is then far
    wider than usual and reaches a number that files often use. Only the typed range and the column's name decide."""
    if usual not in RANGES:
        return None
    try:
        low, high = read_number(lower, ""), read_number(upper, "")
        least, most = (read_number(end, "") for end in (RANGES[usual].lower, RANGES[usual].upper))
    except dp.AllowanceError:
        return None
    if high - low < WIDENED * (most - least):
        return None
    reached = [code for code in ABOVE if most < code <= high] + [code for code in BELOW if low <= code < least]
    return next((code for code in reached if not re.search(rf"(?<![\d-]){code}(?!\d)", codes)), None)


# --- the card of one column

KINDS = ("number", "date", "list", "items", "yes_no")
UNKNOWN = "unknown"  # left out until its contents are bought
OUT = "out"  # left out
KEPT = "kept"  # as declared now, if a card cannot express it
MOST_TYPED = 2_000  # values in a text field; longer lists come as a file and never go to the browser
FINEST = 2**20  # steps in a bought range


@dataclass
class Card:
    """What is declared about one column so far. Numbers, days and lists are kept as typed."""

    kind: str | None = None  # one of KINDS, UNKNOWN, OUT or KEPT
    lower: str = ""
    upper: str = ""
    step: str = ""
    filled: bool = False  # missing numbers count as …
    stand_in: str = ""  # … this one
    first: str = ""  # days in ISO writing
    last: str = ""
    order: str | None = None
    listed: str = ""
    brought: tuple[str, ...] = ()  # a list from a file, in place of `listed` …
    source: str = ""  # … of this name …
    public: bool = False  # … declared to be public
    closed: bool = False  # cells outside the list are counted as a listed value …
    goes_to: str = ""  # … this one, or the first
    complete: bool = True  # … and the list is declared complete: empty cells do not fit either
    separator: str | None = ";"  # between the items of a cell; None: one item in a cell
    at_most: int | None = None
    spellings: str = ""  # a table of usual spellings that count too
    measure: str = ""  # what a number is counted in
    codes: str = ""  # numbers that mean “unknown”, as the file writes them
    proposed: str | None = ""  # the usual ones that were filled in; None: a declaration or a file said which
    candidates: tuple[Candidate, ...] = ()  # readings that the name allows
    guess: tuple[object, ...] | None = None  # the content guessed from the name, until confirmed or changed
    kept: Column | None = None
    uploads: int = 0  # of lists: each uploader needs a fresh key
    usual: str | None = None  # the usual range it was taken from, or that its name suggests

    @staticmethod
    def for_name(name: str, beside: Sequence[str] = ()) -> Card:
        """A card filled in from the column's name and the names `beside` it. A guess waits for the person's yes;
        without one the column is left out."""
        idea, likely = presets.suggest(name), presets.candidates(name, beside)
        if idea.preset in presets.EDITION and not likely:  # another's list of that name may hold anything
            idea = presets.Suggestion()
        if not likely and idea.kind == "number":  # of no usual range: its likely ones are offered
            idea = presets.Suggestion()
        card = Card(kind=idea.kind or OUT, candidates=likely, spellings=MISSING)
        card.measure = presets.measure(name, idea.preset)
        if card.candidates:
            card._filled(card.candidates[0])
            card.order = card.order if len(card.candidates) == 1 else None
        card.guess = card.content() if idea.kind else None
        return card

    def typed(self, category: str, labels: Sequence[str]) -> None:
        """Take the column type that a database declares: truth values, an enumerated list, several values, or days. The
        type comes from the table's declaration, not from its rows."""
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
            dates = [reading for reading in self.candidates if reading.kind == "date"]
            if dates and self.kind != "date":  # “day” alone
                self.candidates = tuple(dates)
                self._filled(dates[0])
                self.order = self.order if len(dates) == 1 else None
                self.guess = self.content()
            with_year_first = tuple(reading for reading in self.candidates if reading.order in (None, "ymd"))
            self.candidates = with_year_first or self.candidates

    def coded(self, entry: CodedColumn, dialect: dp.Dialect) -> None:
        """Take what a statistics file says about its own column: labels become a list, missing values become codes. The
        result is a guess that waits for the person's yes. It comes from the file's words, not from its rows."""
        named = [(code, label) for code, label in entry.values if code not in entry.missing]
        number = entry.kind == "number"
        labelled = [pair for pair in named if not (number and presets.unanswered(pair[1]))]
        codes = [code for code in entry.missing if _a_number(code)]
        codes += [code for code, label in named if number and presets.unanswered(label)]
        scale = _scale(labelled) if number else None
        marks = entry.scale and len(named) < MOST_MARKS
        if labelled and len({normal(label) for _, label in named}) > 1 and not marks:
            self.kind, self.spellings, self.brought, self.source = "list", MISSING, (), ""
            self.listed = _labels(named, entry.missing)
            by_labels = Candidate("list", None, tuple(listed(self.listed)[0])[:3], lines=self.listed)
            self.candidates = (by_labels,)
            if scale is not None:  # only a person knows whether numbers between the labelled ones occur
                self.candidates = (scale, by_labels)
                self._take_codes(codes, dialect)
            self.guess = self.content()
            return
        if entry.kind == "date":
            named_days = [reading.preset for reading in self.candidates if reading.kind == "date"]
            like = Candidate("date", next(iter(named_days), "ten_years"), (WRITTEN["ymd"],), "ymd")
            self.kind, self.candidates = "date", (like,)
            self._filled(like)
            self.guess = self.content()
        elif number and self.kind in (OUT, "number"):
            self.kind = "number"
            self._take_codes(codes, dialect)
            self.guess = self.content()

    def _take_codes(self, codes: Sequence[str], dialect: dp.Dialect) -> None:
        """Take the codes that a file names; if it names none, the usual ones stay."""
        if codes:
            self.codes, self.proposed = written_codes(map(Fraction, codes[:MOST_CODES]), dialect), None

    def propose_codes(self) -> None:
        """Fill in the usual codes of the range, unless somebody said which there are or that there are none."""
        if self.codes == self.proposed:
            self.codes = self.proposed = usual_codes(self.lower, self.upper, self.usual)

    def content(self) -> tuple[object, ...]:
        """Every field of the card that describes the column."""
        return tuple(getattr(self, part.name) for part in fields(self) if part.name not in _BESIDE)

    @property
    def waits_for_yes(self) -> bool:
        return self.guess is not None and self.content() == self.guess

    def agree(self) -> None:
        """Confirm the guess on the card."""
        self.guess = None

    def take(self, reading: Candidate) -> None:
        """Fill the card from a reading, because the person recognised its sample cell."""
        self._filled(reading)
        self.agree()

    def _filled(self, reading: Candidate) -> None:
        self.kind = reading.kind
        if reading.ends is not None:
            (self.lower, self.upper), self.step = reading.ends, "1"
            self.propose_codes()
        elif reading.kind == "number":
            self.take_range(reading.preset)
        elif reading.kind == "date":
            self.take_days(reading.preset)
            self.order = reading.order
        elif reading.lines:
            self.listed, self.spellings = reading.lines, MISSING
        elif reading.kind == "list":
            self.take_list(reading.preset)

    @staticmethod
    def of(column: Column, dialect: dp.Dialect, name: str = "") -> Card:
        """The card for a declared column."""
        card = _card_of(column, dialect)
        card.usual = presets.suggest(name).preset
        try:
            if _same(column_of(card, dialect), column):
                return card
        except dp.AllowanceError:
            pass
        return Card(kind=KEPT, kept=column)

    def take_range(self, preset: str | None) -> None:
        if preset in presets.RANGES:
            usual = presets.RANGES[preset]
            self.lower, self.upper, self.step = usual.lower, usual.upper, usual.step
            self.usual = preset
            if usual.measure or self.measure in _MEASURES:  # a currency stays with a sum of money
                self.measure = usual.measure
            self.propose_codes()

    def take_bounds(self, lower: float, upper: float) -> None:
        """Take a bought range: its ends are 0 or powers of two."""
        low, high = read_number(lower, "lower"), read_number(upper, "upper")
        step = max(round_step(high - low), (high - low) / FINEST)
        self.kind, self.lower, self.upper, self.step = "number", text_of(low), text_of(high), text_of(step)
        if self.codes == self.proposed:  # for the range that the name suggests; somebody's own codes stay
            self.codes = ""
        self.proposed = None  # a bought range leaves out a few real cells, which may be large

    def take_found(self, found: Drafted, source: str) -> None:
        """Take a bought declaration. The order of day and month is still unknown."""
        if found.ends is None:
            self.kind = "list"
            values = [value for value, _ in found.values]
            answers = [value for value in values if not spellings(MISSING, value)]  # “?” is no answer
            self.take_values(answers if len(answers) > 1 else values, source)
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
        """Take a public list; it can be edited if it fits a text field."""
        text = "\n".join(values)
        if len(values) <= MOST_TYPED and listed(text) == (values, {}):
            self.listed, self.brought, self.source, self.public = text, (), "", False
        else:
            self.listed, self.brought, self.source, self.public = "", tuple(values), source, True

    @property
    def values(self) -> list[str]:
        """The values of the list, typed or from a file."""
        return list(self.brought) if self.brought else listed(self.listed)[0]

    @property
    def blank(self) -> bool:
        """Is the card still incomplete, so that a complaint would come too early?"""
        if self.kind == "number":
            typed = self.lower, self.upper, self.step, self.stand_in if self.filled else "0"
            return not all(part.strip() for part in typed)
        if self.kind == "date":
            return not (self.first and self.last and self.order)
        if self.kind in ("list", "items"):
            return not self.listed.strip() and not self.brought
        return self.kind is None


MOST_MARKS = 4  # labels on a measured number mark single values, such as 0 = none
LONGEST_SCALE = 100
NO_ANSWER = "no answer"


def _scale(labelled: Sequence[tuple[str, str]]) -> Candidate | None:
    """A reading as numbers, if a few labels leave out whole numbers between them, as in 0 = not at all, 10 = fully;
    else None."""
    if not 1 < len(labelled) < MOST_MARKS or not all(re.fullmatch(r"-?\d+", code) for code, _ in labelled):
        return None
    codes = {int(code) for code, _ in labelled}
    lower, upper = min(codes), max(codes)
    if not len(codes) <= upper - lower <= LONGEST_SCALE:
        return None
    return Candidate("number", None, (str((lower + upper) // 2),), ends=(str(lower), str(upper)))


def _labels(named: Sequence[tuple[str, str]], missing: Sequence[str]) -> str:
    """A list as a person would type it: every label, with its codes as other spellings."""
    lines: dict[str, tuple[str, list[str]]] = {}
    for code, label in named:
        label = re.sub(r"\s=\s", " – ", label)
        lines.setdefault(normal(label), (label, []))[1].append(code)
    if missing:
        lines.setdefault(normal(NO_ANSWER), (NO_ANSWER, []))[1].extend(missing)
    written = []
    for label, codes in lines.values():
        others = ", ".join(code for code in codes if normal(code) != normal(label))
        written.append(f"{label} = {others}" if others else label)
    return "\n".join(written)


def _a_number(code: str) -> bool:
    try:
        Fraction(code)
    except ValueError:
        return False
    return True


_MEASURES = {usual.measure for usual in presets.RANGES.values()}
_BESIDE = ("candidates", "guess", "kept", "uploads", "usual", "proposed")


def _same(column: Column, other: Column) -> bool:
    """Do two columns have the same meaning? The order of other spellings does not matter."""
    if isinstance(column, Category) and isinstance(other, Category):
        return column.labels == other.labels and _parts(column) == _parts(other)
    return column == other


def _parts(column: Category) -> tuple[object, ...]:
    return column.values, column.unknown, column.missing, dict(column.aliases), column.spellings, column.complete


def _card_of(column: Column, dialect: dp.Dialect) -> Card:
    """The card that is closest to a declared column; `Card.of` then checks that both have the same meaning."""
    if isinstance(column, Number):
        lower, upper, step = map(text_of, (column.lower, column.upper, column.step))
        stand_in = "" if column.missing is None else text_of(column.missing)
        card = Card("number", lower, upper, step, column.missing is not None, stand_in)
        card.measure, card.codes, card.proposed = column.measure, written_codes(column.codes, dialect), None
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


def column_of(card: Card, dialect: dp.Dialect) -> Column:
    if card.kind == KEPT and card.kept is not None:
        return card.kept
    if card.kind == "number":
        parts = ("lower", "upper", "step")
        lower, upper, step = (typed(getattr(card, part), say(f"data.card.{part}")) for part in parts)
        missing = typed(card.stand_in, say("data.card.stand_in")) if card.filled else None
        return Number(lower, upper, step, missing, card.measure, read_codes(card.codes, dialect))
    if card.kind == "date":
        if not (card.first and card.last):
            raise dp.AllowanceError("data.card.days_missing")
        if card.order is None:
            raise dp.AllowanceError("data.card.order_missing")
        return dp.Date(card.first, card.last, card.order)
    if card.kind == "yes_no":
        return _category(card, ("yes", "no"), (), YES_NO.table)
    if card.kind not in ("list", "items"):
        raise dp.AllowanceError("data.card.kind_missing")
    if card.brought and not card.public:
        raise dp.AllowanceError("data.list.not_public")
    values, others = (list(card.brought), {}) if card.brought else listed(card.listed)
    if not card.brought and len(values) > MOST_TYPED:
        raise dp.AllowanceError("data.list.long", most=MOST_TYPED)
    if card.kind == "items":
        if others:
            raise dp.AllowanceError("data.card.items_spelled")
        return _cached_items(tuple(values), card.separator, card.at_most)
    if len(values) < 2:
        raise dp.AllowanceError("category.few", least=2)
    return _category(card, tuple(values), tuple(others.items()), card.spellings)


def _category(card: Card, values: tuple[str, ...], aliases: tuple[tuple[str, str], ...], table: str) -> Category:
    if not card.closed:
        listed_other = "other" in {normal(value) for value in (*values, *dict(aliases))}  # is a group of its own
        unknown = "not in the list" if listed_other else "other"
        return _cached_category(values, unknown, "no answer", aliases=aliases, spellings=table)
    counts_as = card.goes_to or values[0]
    if counts_as not in values:
        raise dp.AllowanceError("data.card.goes_to_missing")
    more: dict[str, Any] = {"aliases": aliases, "spellings": table, "complete": card.complete}
    return _cached_category(values, counts_as, counts_as, **more)


# A page runs at every click, and 100,000 values take a moment.
_cached_category = lru_cache(maxsize=100)(Category)
_cached_items = lru_cache(maxsize=100)(ItemSet)


def listed(text: str) -> tuple[list[str], dict[str, str]]:
    """A pasted list: one value per line, else separated by semicolons, else by commas. Other spellings follow " = ".
    Returns the values and, for each other spelling, its value."""
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
    """The number in a text that a card holds. Such a text has English signs, whatever the language."""
    with stored():
        return read_typed(text, name)


# --- the draft

STEPS = ("file", "names", "unit", "cards", "care")  # then "done"
# If membership is no secret, the number of people may be unknown until the table is added. Prices then assume these.
USUAL_SIZES = (1_000, 10_000)
CARE = {"careful": "0.5", "usual": "1", "loose": "3"}
MOST_SHOWN = 80  # characters of a file name

# How a file writes a number: decimal and thousands signs, by example.
NUMBERS: dict[str, tuple[str, str]] = {
    "1,234.5": (".", ","),
    "1.234,5": (",", "."),
    "1 234.5": (".", " "),
    "1 234,5": (",", " "),
    "1'234.5": (".", "'"),
}


@dataclass
class Added:
    name: str
    joined: bool
    there: str = "done"  # or where it came from: "copied" from a database, or "stayed" in it


@dataclass
class Draft:
    mark: str = "declare"  # start of its widgets' keys; unique to a draft
    step: str = "file"
    path: Path | None = None  # the uploaded file on the server
    file: str = ""  # its name, for people
    source: dp.Source | None = None  # in place of a file: a table in a database …
    asked: dp.Source | None = None  # … to be described next …
    types: dict[str, SourceColumn] = field(default_factory=dict)  # … what the database declares of its columns …
    earlier: list[str] = field(default_factory=list)  # … and the tables here that came from the same place
    new_people: bool = False  # the owner declares that its people are not in those
    book: dict[str, CodedColumn] = field(default_factory=dict)  # what a statistics file says about its columns
    own: list[str] = field(default_factory=list)  # the columns of the first file, if a second one is joined
    second: Any = None  # a `source.Second` …
    add_up: bool = False  # … and what both files have spent counts together
    like: str = ""  # declared like this earlier table …
    differs: Differences | None = None  # … and how its columns differ
    uploads: int = 0
    dialect: dp.Dialect = field(default_factory=dp.Dialect)
    spelled: bool = False  # the person chose the encoding, or their language decides it
    names: list[str] = field(default_factory=list)
    bad_records: str = "refuse"
    many: str | None = None  # "one" row per person, or "more"
    each_own: bool = False  # the column that seems to number people has no number twice
    whose: str | None = None  # the column that tells people apart, or "" if none does
    who: str | None = None  # then this column identifies the person …
    each: int | None = None  # … and at most this many rows of a person count. No default: extra rows are dropped
    relation: str | None = None
    about: int | None = None  # number of people that the owner states; nobody counts before the table is added
    sample: str | None = None  # "everyone" or a random "sample"; without an answer nothing is claimed
    chosen: list[str] = field(default_factory=list)  # the columns that are not left out
    cards: dict[str, Card] = field(default_factory=dict)
    opened: str | None = None  # the column that is being described
    checked: dict[str, Column] = field(default_factory=dict)  # columns as declared when a paid check had a result
    before: dict[str, list[Card]] = field(default_factory=dict)  # earlier cards, for undo
    care: str | None = None
    suggested: str | None = None  # the suggested `care`, while the person keeps it
    epsilon: str = ""  # typed under "more"; empty: by `care`
    delta: str = ""
    shares: str = ""  # share this table's allowance: the same people are in both
    name: str = ""
    complaint: dp.AllowanceError | None = None  # about the step it is shown on
    pressed: bool = False  # "go on" was pressed on this step, so gaps are shown too
    again: bool = False  # a one-click repair was made: read the file again at once
    task: Any = None  # a `wizard.Task`
    added: Added | None = None

    @property
    def begun(self) -> bool:
        return self.path is not None or self.source is not None

    def let_go_source(self) -> None:
        self.source, self.types, self.earlier, self.new_people = None, {}, [], False

    @property
    def sizes(self) -> tuple[int, ...]:
        """The table sizes for which prices are shown: the stated number of people, else several usual numbers."""
        return (self.about,) if self.about else USUAL_SIZES

    @property
    def people(self) -> int:
        """The smallest of the table sizes for which prices are shown."""
        return self.sizes[0]

    @property
    def usual_delta(self) -> Fraction:
        return usual_delta(self.people)

    def card(self, name: str) -> Card:
        if name not in self.cards:
            self.cards[name] = Card.for_name(name, self.names)
            if name in self.types:
                self.cards[name].typed(self.types[name].category, self.types[name].labels)
            if name in self.book:
                self.cards[name].coded(self.book[name], self.dialect)
        return self.cards[name]

    @property
    def unknown(self) -> list[str]:
        """The chosen columns with unknown contents. They are left out until their contents are bought."""
        return [name for name in self.chosen if self.card(name).kind == UNKNOWN]

    @property
    def offered(self) -> list[str]:
        """The columns that can be asked about: all but the column that identifies people."""
        return [name for name in self.names if self.many != "more" or name != self.who]

    def choose(self) -> None:
        """Set the chosen columns to every offered column whose card does not leave it out."""
        self.chosen = [name for name in self.offered if self.card(name).kind != OUT]

    def state(self, name: str) -> str:
        """The state of a column: left out, unknown, "guess" (a guess waits for a yes), "waits" (incomplete) or
        "settled"."""
        card = self.card(name)
        if card.kind in (OUT, UNKNOWN):
            return str(card.kind)
        if card.waits_for_yes:
            return "guess"
        try:
            column_of(card, self.dialect)
        except dp.AllowanceError:
            return "waits"
        return "settled"

    @property
    def waiting(self) -> list[str]:
        return [name for name in self.chosen if self.state(name) in ("guess", "waits")]

    def remember(self, name: str) -> None:
        """Store the card's present state, so that the next change can be undone."""
        kept = self.before.setdefault(name, [])
        if not kept or kept[-1] != self.card(name):
            kept.append(replace(self.card(name)))

    def can_undo(self, name: str) -> bool:
        return any(earlier != self.card(name) for earlier in self.before.get(name, []))

    def undo(self, name: str) -> None:
        """Restore the card as it was before its last change; nothing if it was never changed."""
        kept = self.before.get(name, [])
        while kept and kept[-1] == self.card(name):
            kept.pop()
        if kept:
            self.cards[name] = kept.pop()

    def go(self, step: str) -> None:
        self.step, self.complaint, self.pressed = step, None, False

    def back(self) -> None:
        self.go(STEPS[max(STEPS.index(self.step) - 1, 0)])

    def forth(self) -> None:
        self.go(STEPS[STEPS.index(self.step) + 1])


def unit(draft: Draft) -> dp.Unit:
    for missing in _rows_unanswered(draft):
        raise missing
    return dp.Unit.rows() if draft.many == "one" else dp.Unit.column(str(draft.who), draft.each or 1)


def relation(draft: Draft) -> str:
    for missing in _relation_unanswered(draft):
        raise missing
    return str(draft.relation)


def all_unanswered(draft: Draft) -> list[dp.AllowanceError]:
    """All that is still to be said on the screen of people, from the top, if its complaint is about that."""
    found = [*_rows_unanswered(draft), *_relation_unanswered(draft)]
    code = draft.complaint.code if isinstance(draft.complaint, dp.AllowanceError) else ""
    return found if code in {one.code for one in found} else []


def _rows_unanswered(draft: Draft) -> list[dp.AllowanceError]:
    if draft.many is None:
        return [dp.AllowanceError("unit.missing")]
    if draft.many == "one":
        numbering = numbering_people(draft.names) or ([draft.whose] if draft.whose else [])
        if numbering and not draft.each_own and numbering[0] != draft.whose:
            return [dp.AllowanceError("unit.sure", column=numbering[0])]
        unsaid = draft.whose is None and not draft.each_own and presets.unclear(draft.names)
        return [dp.AllowanceError("unit.whose")] if unsaid else []
    missing = {"unit.column": draft.who, "unit.each": draft.each}
    return [dp.AllowanceError(code) for code, said in missing.items() if said is None]


def _relation_unanswered(draft: Draft) -> list[dp.AllowanceError]:
    if draft.relation is None:
        return [dp.AllowanceError("data.relation.missing")]
    unsaid = draft.relation == "add_remove" and draft.about is None
    return [dp.AllowanceError("facts.rows_needed")] if unsaid else []


def schema(draft: Draft) -> dp.Schema:
    guesses = [name for name in draft.chosen if draft.state(name) == "guess"]
    if guesses:
        raise dp.AllowanceError("data.cards.pending", waits=len(guesses))
    known = [name for name in draft.chosen if name not in draft.unknown]
    return dp.Schema({name: column_of(draft.card(name), draft.dialect) for name in known})


def likely(draft: Draft) -> dp.Schema | None:
    """A schema of the columns declared so far or guessed from their names; None if there are no such columns."""
    found = {}
    for name in draft.offered:
        try:
            found[name] = column_of(draft.card(name), draft.dialect)
        except dp.AllowanceError:
            continue
    return dp.Schema(found) if found else None


def budget(draft: Draft) -> dp.Budget:
    epsilon = draft.epsilon.strip() or CARE.get(draft.care or "", "")
    if not epsilon:
        raise dp.AllowanceError("data.care.missing")
    return dp.Budget(epsilon, draft.delta.strip() or text_of(draft.usual_delta))


def allowance(draft: Draft) -> dp.Budget:
    """The chosen allowance, else the usual one. Prices are shown for it."""
    try:
        return budget(draft)
    except dp.AllowanceError:
        return dp.Budget(CARE["usual"], draft.usual_delta)


def table_name(file: str, taken: list[str]) -> str:
    """A table name made from a file's name, and not taken yet."""
    kinds = "|".join(suffix.lstrip(".") for suffix in SUFFIXES)
    stem = re.sub(rf"(\.({kinds}))+$", "", file, flags=re.IGNORECASE)
    tidy = " ".join("".join(sign if sign.isprintable() else " " for sign in stem).split())[:60].strip() or "table"
    name, number = tidy, 2
    while name in taken:
        name, number = f"{tidy} {number}", number + 1
    return name


def taken_name(draft: Draft, taken: list[str]) -> str:
    """The name made from the file's name, if another table has it and this table therefore got a number; else empty."""
    plain_name = table_name(draft.file, [])
    return plain_name if plain_name in taken and draft.name == table_name(draft.file, taken) else ""


def numbers_like(example: str) -> str:
    """An example of how a file writes numbers; the two usual examples also without a thousands sign, as most files have
    none."""
    bare = {"1,234.5": "1234.5", "1.234,5": "1234,5"}.get(example, "")
    return say("data.names.numbers_or", bare=bare, example=example) if bare else example


def numbers_of(dialect: dp.Dialect) -> str:
    """The example of how this dialect writes numbers."""
    usual = "1,234.5" if dialect.decimal == "." else "1.234,5"
    signs = dialect.decimal, dialect.thousands
    return next((example for example, known in NUMBERS.items() if known == signs), usual)
