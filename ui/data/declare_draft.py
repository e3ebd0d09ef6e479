"""What a person has said so far about the table they bring. Plain, kept in the session, complete without Streamlit.

`schema`, `unit` and `budget` turn the answers into what the engine takes; what cannot be used is refused there, in the
engine's own sentence.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import dpengine as dp
from dpengine.accountant.budget import usual_delta
from dpengine.core.errors import AllowanceError
from dpengine.core.exact import text_of
from dpengine.declared.dialect import Dialect
from dpengine.declared.id_names import numbering_people
from dpengine.declared.schema import Column
from dpengine.intake.postgres import SourceColumn
from dpengine.messages import say
from ui.data.declare_column import OUT, UNKNOWN, Card, column_of

STEPS = ("file", "names", "unit", "cards", "care")  # then "done"
# Where being in the table is no secret nobody need say how many people there are, and nobody counts them before the
# table is added: prices are told for these.
USUAL_SIZES = (1_000, 10_000)
CARE = {"careful": "0.5", "usual": "1", "loose": "3"}
MOST_SHOWN = 80  # characters of a file name

# How a file writes a number: decimal sign and thousands sign at once, told by an example.
NUMBERS: dict[str, tuple[str, str]] = {
    "1,234.5": (".", ","),
    "1.234,5": (",", "."),
    "1 234.5": (".", " "),
    "1 234,5": (",", " "),
    "1'234.5": (".", "'"),
}


@dataclass
class Added:
    """The table as it was added."""

    name: str
    joined: bool
    there: str = "done"  # or where it came from: "copied" from a database, or "stayed" in it


@dataclass
class Draft:
    mark: str = "declare"  # what its widgets' keys begin with: two drafts never share one
    step: str = "file"
    path: Path | None = None  # the uploaded file on the server
    file: str = ""  # its name, for people
    source: dp.Source | None = None  # in place of a file: a table in a database …
    asked: dp.Source | None = None  # … one whose columns are to be looked at …
    types: dict[str, SourceColumn] = field(default_factory=dict)  # … what the database declares of its columns …
    earlier: list[str] = field(default_factory=list)  # … and the tables here that came from the same place
    new_people: bool = False  # of its people the owner says that they are not in those
    uploads: int = 0
    dialect: Dialect = field(default_factory=Dialect)
    spelled: bool = False  # the person said how letters are written, or their language does
    names: list[str] = field(default_factory=list)
    bad_records: str = "refuse"
    many: str | None = None  # "one" row per person, or "more"
    each_own: bool = False  # of a column that seems to number people: no number comes twice
    who: str | None = None  # then this column says whose a row is …
    each: int | None = None  # … and so many of a person's rows count: never a default, because it cuts
    relation: str | None = None
    about: int | None = None  # how many people, by the owner's word: nobody counts before the table is added
    chosen: list[str] = field(default_factory=list)  # the columns that are not left out
    cards: dict[str, Card] = field(default_factory=dict)
    opened: str | None = None  # the column that is being described
    checked: dict[str, Column] = field(default_factory=dict)  # as it was when a paid check could tell something
    before: dict[str, list[Card]] = field(default_factory=dict)  # what each card said earlier, to undo
    care: str | None = None
    suggested: str | None = None  # what `care` was set to, as long as the person leaves it there
    epsilon: str = ""  # typed under "more"; empty: what `care` says
    delta: str = ""
    shares: str = ""  # the table whose allowance it joins, because the same people are in both
    name: str = ""
    complaint: AllowanceError | None = None  # about the step it is shown on
    pressed: bool = False  # "go on" was tried on this step, so gaps are told too
    again: bool = False  # a fault of form was mended with one click: read on without another
    task: Any = None  # see declare_task
    added: Added | None = None

    @property
    def begun(self) -> bool:
        """Is there a table to describe?"""
        return self.path is not None or self.source is not None

    def let_go_source(self) -> None:
        self.source, self.types, self.earlier, self.new_people = None, {}, [], False

    @property
    def sizes(self) -> tuple[int, ...]:
        """What prices on the way are told for: the number of people that was said, else several."""
        return (self.about,) if self.about else USUAL_SIZES

    @property
    def people(self) -> int:
        """The least of them."""
        return self.sizes[0]

    @property
    def usual_delta(self) -> Fraction:
        return usual_delta(self.people)

    def card(self, name: str) -> Card:
        if name not in self.cards:
            self.cards[name] = Card.for_name(name, self.names)
            if name in self.types:
                self.cards[name].typed(self.types[name].category, self.types[name].labels)
        return self.cards[name]

    @property
    def unknown(self) -> list[str]:
        """Chosen columns of which nobody could say what they hold: left out until it is bought."""
        return [name for name in self.chosen if self.card(name).kind == UNKNOWN]

    @property
    def offered(self) -> list[str]:
        """The columns that can be asked about: not the one that says who is who."""
        return [name for name in self.names if self.many != "more" or name != self.who]

    def choose(self) -> None:
        """What is left out is said on the cards."""
        self.chosen = [name for name in self.offered if self.card(name).kind != OUT]

    def state(self, name: str) -> str:
        """Of a column: left out, to be found, a guess that waits for a yes, not yet complete, or settled."""
        card = self.card(name)
        if card.kind in (OUT, UNKNOWN):
            return str(card.kind)
        if card.waits_for_yes:
            return "guess"
        try:
            column_of(card, self.dialect)
        except AllowanceError:
            return "waits"
        return "settled"

    @property
    def waiting(self) -> list[str]:
        """Columns that cannot be registered as they are."""
        return [name for name in self.chosen if self.state(name) in ("guess", "waits")]

    def remember(self, name: str) -> None:
        """Before a card is changed at once."""
        kept = self.before.setdefault(name, [])
        if not kept or kept[-1] != self.card(name):
            kept.append(replace(self.card(name)))

    def can_undo(self, name: str) -> bool:
        return any(one != self.card(name) for one in self.before.get(name, []))

    def undo(self, name: str) -> None:
        """What the card said before its last change."""
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
    if draft.many is None:
        raise AllowanceError("unit.missing")
    if draft.many == "one":
        if not draft.each_own and (found := numbering_people(draft.names)):
            raise AllowanceError("unit.sure", column=found[0])
        return dp.Unit.rows()
    if draft.who is None:
        raise AllowanceError("unit.column")
    if draft.each is None:
        raise AllowanceError("unit.each")
    return dp.Unit.column(draft.who, draft.each)


def relation(draft: Draft) -> str:
    if draft.relation is None:
        raise AllowanceError("data.relation.missing")
    if draft.relation == "add_remove" and draft.about is None:
        raise AllowanceError("facts.rows_needed")
    return draft.relation


def schema(draft: Draft) -> dp.Schema:
    guesses = [name for name in draft.chosen if draft.state(name) == "guess"]
    if guesses:
        raise AllowanceError("data.cards.pending", waits=len(guesses))
    known = [name for name in draft.chosen if name not in draft.unknown]
    return dp.Schema({name: column_of(draft.card(name), draft.dialect) for name in known})


def likely(draft: Draft) -> dp.Schema | None:
    """What is said of the columns so far, or suggested by their names; None where nothing is."""
    found = {}
    for name in draft.offered:
        try:
            found[name] = column_of(draft.card(name), draft.dialect)
        except AllowanceError:
            continue
    return dp.Schema(found) if found else None


def budget(draft: Draft) -> dp.Budget:
    epsilon = draft.epsilon.strip() or CARE.get(draft.care or "", "")
    if not epsilon:
        raise AllowanceError("data.care.missing")
    delta = draft.delta.strip() or text_of(draft.usual_delta)
    return dp.Budget(epsilon, delta)


def allowance(draft: Draft) -> dp.Budget:
    """What was chosen, else what is usual: prices are told with it."""
    try:
        return budget(draft)
    except AllowanceError:
        return dp.Budget(CARE["usual"], draft.usual_delta)


def table_name(file: str, taken: list[str]) -> str:
    """A free name from a file's: its stem, tidied up."""
    stem = re.sub(r"\.(csv|tsv|txt|parquet|xlsx)$", "", file, flags=re.IGNORECASE)
    tidy = " ".join("".join(sign if sign.isprintable() else " " for sign in stem).split())[:60].strip() or "table"
    name, number = tidy, 2
    while name in taken:
        name, number = f"{tidy} {number}", number + 1
    return name


def taken_name(draft: Draft, taken: list[str]) -> str:
    """The name that the file would have given, where another table has it and this one got a number instead."""
    plain_name = table_name(draft.file, [])
    return plain_name if plain_name in taken and draft.name == table_name(draft.file, taken) else ""


def numbers_like(example: str) -> str:
    """Most files write no sign between thousands: those stand beside the two usual examples, wherever one is told."""
    bare = {"1,234.5": "1234.5", "1.234,5": "1234,5"}.get(example, "")
    return say("data.names.numbers_or", bare=bare, example=example) if bare else example


def numbers_of(dialect: Dialect) -> str:
    """The example that tells this dialect's numbers."""
    for example, signs in NUMBERS.items():
        if signs == (dialect.decimal, dialect.thousands):
            return example
    return "1,234.5" if dialect.decimal == "." else "1.234,5"
