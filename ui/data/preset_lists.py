"""Usual lists of values, as the page offers them: each a table of spellings, of which a cell may hold any.

Which words stand for a value is data of the engine (dpengine/declared/spellings); here stands which lines a card begins
with, and the cells by which a person recognises the list. They are public, and never come from a file.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from dpengine.declared import spelling
from dpengine.messages.language import current


@dataclass(frozen=True)
class UsualList:
    table: str
    like: tuple[str, ...]  # cells a person may recognise
    lines: int | None = None  # so many of the table's values; None: all
    also: tuple[str, ...] = ()  # spellings of one value, to show that a person's own would count
    short: dict[str, tuple[str, ...]] = field(default_factory=dict)  # how a language shortens them in a cell

    @property
    def values(self) -> tuple[str, ...]:
        """As the reader's language calls them."""
        return spelling.spelling_values(self.table, current())[: self.lines]

    @property
    def samples(self) -> tuple[str, ...]:
        """Cells a person may recognise, the short ones of the reader's language first."""
        return tuple(dict.fromkeys((*self.short.get(current(), ()), *self.like)))

    @property
    def spelled(self) -> tuple[str, ...]:
        """Some spellings that count, those of the reader's language first; none where nobody would look for another."""
        return tuple(dict.fromkeys((*self.short.get(current(), ()), *self.also)))

    @property
    def text(self) -> str:
        return "\n".join(self.values)


LISTS: dict[str, UsualList] = {
    "sex": UsualList(
        "sex-1",
        ("Male", "moški"),
        2,
        ("Male", "moški"),
        {"en": ("M", "F"), "sl": ("m", "ž"), "he": ("M", "F")},
    ),
    "countries": UsualList("countries-1", ("Slovenia", "Slovenija", "SVN"), None, ("United-States", "USA", "ZDA")),
    "schooling": UsualList("schooling-1", ("secondary", "srednja šola")),
    "schooling_us": UsualList("schooling_us-1", ("HS-grad", "Masters")),
    "marital": UsualList("marital-1", ("married", "poročen")),
    "marital_us": UsualList("marital_us-1", ("Married-civ-spouse",)),
    "employment": UsualList("employment-1", ("employed", "zaposlen")),
    "work_us": UsualList("work_us-1", ("Private", "Self-emp-inc")),
    "occupation_us": UsualList("occupation_us-1", ("Craft-repair", "Sales")),
    "family_us": UsualList("family_us-1", ("Husband", "Own-child")),
    "race_us": UsualList("race_us-1", ("Black", "Other")),
    "bracket_us": UsualList("bracket_us-1", (">50K",)),
    "months": UsualList("months-1", ("January", "januar", "01")),
    "weekdays": UsualList("weekdays-1", ("Monday", "ponedeljek", "Mon")),
    "regions_sl": UsualList("regions_sl-1", ("gorenjska", "savinjska")),
    "continents": UsualList("continents-1", ("Europe", "Evropa")),
    "agreement": UsualList("agreement-1", ("agree", "strinjam se", "4")),
    "sizes": UsualList("sizes-1", ("M", "XL")),
}
_YES_NO = ("yes", "no", "da", "ne", "1", "0")
YES_NO = UsualList("yes_no-1", _YES_NO, also=_YES_NO, short={"sl": ("da", "ne")})
