"""What a person has said so far about the table they bring. Plain, kept in the session, complete without Streamlit.

`schema`, `unit` and `budget` turn the answers into what the engine takes; what cannot be used is refused there, in the
engine's own sentence.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import dpengine as dp
from dpengine.budget import usual_delta
from dpengine.dialect import Dialect
from dpengine.errors import AllowanceError
from dpengine.exact import read_number, text_of
from dpengine.messages import say
from dpengine.schema import Column, normal
from dpengine.survey import people_of
from ui import presets
from ui.preset_lists import LISTS, NO, YES

STEPS = ("file", "names", "unit", "relation", "columns", "cards", "care")  # then "done"
CARE = {"careful": "0.5", "usual": "1", "loose": "3"}
MOST_SHOWN = 80  # characters of a file name

# How a file writes a number: decimal sign and thousands sign at once, told by an example.
NUMBERS: dict[str, tuple[str, str]] = {
    "1,234.5": (".", ","), "1.234,5": (",", "."), "1 234.5": (".", " "), "1 234,5": (",", " "), "1'234.5": (".", "'"),
}  # fmt: skip


@dataclass
class Card:
    """One column: which kind it is, and what can be in it. Numbers and lists are kept as typed."""

    kind: str | None = None  # yes_no, list, number
    lower: str = ""
    upper: str = ""
    step: str = ""
    shape: str = "bell"
    listed: str = ""
    closed: bool = False  # cells outside the list are counted as a listed value …
    goes_to: str = ""  # … this one
    suggested: bool = False
    date: bool = False

    @staticmethod
    def for_name(name: str) -> Card:
        """Prefilled from the column's name, and from nothing else."""
        idea = presets.suggest(name)
        card = Card(kind=idea.kind, suggested=idea.kind is not None, date=idea.date)
        if idea.kind == "number":
            card.take_range(idea.preset)
        if idea.kind == "list":
            card.take_list(idea.preset)
        return card

    def take_range(self, preset: str | None) -> None:
        if preset in presets.RANGES:
            usual = presets.RANGES[preset]
            self.lower, self.upper, self.step, self.shape = usual.lower, usual.upper, usual.step, usual.shape

    def take_list(self, preset: str | None) -> None:
        if preset in LISTS:
            self.listed = LISTS[preset]

    @property
    def blank(self) -> bool:
        """Nothing to complain about yet."""
        if self.kind == "number":
            return not (self.lower.strip() and self.upper.strip() and self.step.strip())
        return self.kind is None or (self.kind == "list" and not self.listed.strip())


@dataclass
class Added:
    """The table as it was added."""

    name: str
    joined: bool


@dataclass
class Draft:
    step: str = "file"
    path: Path | None = None  # the uploaded file on the server
    file: str = ""  # its name, for people
    uploads: int = 0
    dialect: Dialect = field(default_factory=Dialect)
    names: list[str] = field(default_factory=list)
    bad_records: str = "refuse"
    rows: int | None = None  # public only under "replace"
    many: str | None = None  # "one" row per person, or "more"
    who: str | None = None  # then this column says whose a row is …
    each: int = 3  # … and so many of a person's rows count
    ids: dict[str, int] = field(default_factory=dict)  # people by id column, once counted; public only under "replace"
    relation: str | None = None
    about: int | None = None
    chosen: list[str] = field(default_factory=list)
    cards: dict[str, Card] = field(default_factory=dict)
    care: str | None = None
    epsilon: str = ""  # typed under "more"; empty: what `care` says
    delta: str = ""
    name: str = ""
    complaint: AllowanceError | None = None  # about the step it is shown on
    pressed: bool = False  # "go on" was tried on this step, so gaps are told too
    again: bool = False  # a fault of form was mended with one click: read on without another
    task: Any = None  # see declare_task
    added: Added | None = None

    @property
    def people(self) -> int | None:
        """How many, as far as the public knows."""
        if self.relation != "replace":
            return self.about
        return self.rows if self.many != "more" or self.who is None else self.ids.get(self.who)

    @property
    def usual_delta(self) -> Fraction:
        return usual_delta(self.people or 1)

    def card(self, name: str) -> Card:
        return self.cards.setdefault(name, Card.for_name(name))

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
        return dp.Unit.rows()
    if draft.who is None:
        raise AllowanceError("unit.column")
    return dp.Unit.column(draft.who, draft.each)


def count_people(draft: Draft) -> None:
    """Where an id column says who is who, the number of people is that of its different values."""
    if draft.many == "more" and draft.who is not None and draft.who not in draft.ids and draft.path is not None:
        draft.ids[draft.who] = people_of(draft.path, draft.dialect, draft.who, draft.bad_records)


def relation(draft: Draft) -> str:
    if draft.relation is None:
        raise AllowanceError("data.relation.missing")
    if draft.relation == "add_remove" and draft.about is None:
        raise AllowanceError("facts.rows_needed")
    return draft.relation


def schema(draft: Draft) -> dp.Schema:
    return dp.Schema({name: column(draft.card(name), draft.dialect) for name in draft.chosen})


def column(card: Card, dialect: Dialect) -> Column:
    """One card as the engine's column."""
    if card.kind == "number":
        lower, upper, step = (
            typed(getattr(card, part), say(f"data.card.{part}"), dialect) for part in ("lower", "upper", "step")
        )
        return dp.Number(lower, upper, step, card.shape)
    if card.kind == "yes_no":
        values: list[str] = ["yes", "no"]
        spellings = dict.fromkeys(YES, "yes") | dict.fromkeys(NO, "no")
    elif card.kind == "list":
        values, spellings = listed(card.listed)
        if len(values) < 2:
            raise AllowanceError("category.few", least=2)
    else:
        raise AllowanceError("data.card.kind_missing")
    if card.closed:
        if card.goes_to not in values:
            raise AllowanceError("data.card.goes_to_missing")
        return dp.Category(values, unknown=card.goes_to, missing=card.goes_to, aliases=spellings)
    return dp.Category(values, aliases=spellings)


def listed(text: str) -> tuple[list[str], dict[str, str]]:
    """A pasted list: one value per line, else separated by semicolons, else by commas. On a line, " = " tells other
    spellings. Returns the values and, for each other spelling, its value."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if len(lines) == 1:
        sign = ";" if ";" in lines[0] else "," if " = " not in lines[0] else "\n"
        lines = [part.strip() for part in lines[0].split(sign) if part.strip()]
    values: list[str] = []
    spellings: dict[str, str] = {}
    for line in lines:
        value, _, others = line.rstrip(",;").partition(" = ")
        values.append(value.strip())
        for other in re.split(r"[,;]", others):
            if other.strip():
                spellings[other.strip()] = value.strip()
    own = {normal(value) for value in values}
    return values, {other: value for other, value in spellings.items() if normal(other) not in own}


def typed(text: str, name: str, dialect: Dialect) -> Fraction:
    """A number as people type it: 10,000 and 10 000 are ten thousand; 0,5 is a half; in a file that writes decimals
    with a comma, 10.000 is ten thousand too."""
    bare = re.sub(r"(?<=\d)[\s\u00a0\u202f'’](?=\d)", "", text.strip()).replace("−", "-")
    grouped = r"[+-]?[1-9]\d{0,2}(?:\%s\d{3})+(?:\%s\d+)?"
    if re.fullmatch(grouped % (",", "."), bare):
        bare = bare.replace(",", "")
    elif dialect.decimal == "," and re.fullmatch(grouped % (".", ","), bare):
        bare = bare.replace(".", "").replace(",", ".")
    else:
        bare = bare.replace(",", ".")
    return read_number(bare, name)


def budget(draft: Draft) -> dp.Budget:
    epsilon = draft.epsilon.strip() or CARE.get(draft.care or "", "")
    if not epsilon:
        raise AllowanceError("data.care.missing")
    delta = draft.delta.strip() or text_of(draft.usual_delta)
    return dp.Budget(epsilon.replace(",", "."), delta.replace(",", "."))


def table_name(file: str, taken: list[str]) -> str:
    """A free name from a file's: its stem, tidied up."""
    stem = re.sub(r"\.(csv|tsv|txt|parquet)$", "", file, flags=re.IGNORECASE)
    tidy = " ".join("".join(sign if sign.isprintable() else " " for sign in stem).split())[:60].strip() or "table"
    name, number = tidy, 2
    while name in taken:
        name, number = f"{tidy} {number}", number + 1
    return name


def numbers_of(dialect: Dialect) -> str:
    """The example that tells this dialect's numbers."""
    for example, signs in NUMBERS.items():
        if signs == (dialect.decimal, dialect.thousands):
            return example
    return "1,234.5" if dialect.decimal == "." else "1.234,5"
