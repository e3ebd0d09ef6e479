"""A typed question becomes questions of the catalogue: “median income of women by region”.

Deterministic and local. The reader searches public facts alone: the words of the kinds of questions, the declared names
of columns and values, numbers and dates. It reads no row and no ledger, stores nothing, and spends nothing.

How a text is read: it is cut into words; a misspelt word becomes the nearest known one; the longest known phrases are
marked with everything they may mean; then dates, comparisons, groups, conditions, the kind of question and its column
are settled in this order, each from what the earlier steps left. Words that nothing used are returned as `unread`: a
reading never hides what it did not understand.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from calendar import monthrange
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date
from fractions import Fraction
from itertools import pairwise, product

from dpengine.core.errors import AllowanceError
from dpengine.core.exact import text_of
from dpengine.core.types import Json, JsonObject
from dpengine.declared.date_column import Date
from dpengine.declared.facts import Facts
from dpengine.declared.schema import Category, ItemSet, Number, Schema, round_step
from dpengine.mechanisms import catalogue
from dpengine.messages import called, say
from dpengine.messages.language import current
from dpengine.reading.cutting import TIMES, TypedWord, cut_words, name_words, stems_of, with_numbers
from dpengine.reading.lexicon import (
    COUNTED,
    MarkedWords,
    lexicon_of,
    marked,
    none_label,
    numbered,
    spell,
    women_apart,
    yes_no,
)
from dpengine.reading.words import (
    GENERIC,
    IN_LIFE,
    LANGUAGES,
    MEASURES,
    PLACES,
    SCALES,
    bare,
    roots,
    stem,
)

LONGEST = 300  # characters of a typed question
USUAL = "0.1"  # ε with which a reading is checked
MOST_READINGS = 3
MOST_COMPLETIONS = 6
_MOST_WORDS = 60
_LONG = 20  # words
# Roles of words that say something by themselves: unread, they are named
_MEANING = frozenset("col val number num kind month day ord top bottom percentile life study".split())
# Words that join and fill. Unread, they are passed over
_HARMLESS = frozenset(
    "stop rows and or among have with to which own only by daysign versus band below share part".split()
)
_SILENT = frozenset("stop to and or number per cent unit".split())  # none of these makes a question
_PERIODICAL = {
    "en": ("monthly", "yearly", "annual", "annually", "quarterly"),
    "sl": ("mesečni", "mesečno", "letni", "letno", "četrtletni", "četrtletno"),
}
_ASKING = "is are was were do does did ali so je who kdo imajo ima have has".split()  # of a question that contrasts
_OTHERS = ("od ostalih", "od drugih", "than others", "than the others", "than the rest", "kot ostali", "kot drugi")
_EACH = ("per", "each", "for each", "every", "for every", "in each", "in every", "by each", "glede na", "za vsak")
_SEPARATELY = "posebej loceno separately respectively each vsak vsakega vsake vsakih posamezno posamic".split()
_SINCE = ("before", "after", "until", "till", "since", "pred", "po", "do")
_FOR = ("for", "among", "pri")
SPANS = frozenset((*TIMES, *(unit for pair in SCALES for unit in pair)))  # units that may be turned into others
_OLD_OR_NEW = frozenset("old new star stara stare stari starih staro nov nova nove novi novih novo".split())
_FEW = 12  # values of a number that are groups by themselves
_EDGES = 10  # about as many groups of a number
MOST_GROUPS = 200  # values of a number of which the commonest is sought one by one


class NotUnderstood(AllowanceError):
    """The text has no reading, several, or words that were not understood. `readings` are at most three, best first."""

    def __init__(self, code: str, readings: Sequence[Meaning] = (), /, **facts: object) -> None:
        super().__init__(code, **facts)
        self.readings = tuple(readings)


@dataclass(frozen=True)
class Meaning:
    """A question that the text may mean, without its price."""

    key: str
    given: JsonObject  # as in `table.query`
    sentence: str  # in the reader's language
    unread: tuple[str, ...] = ()  # words that were not understood, as typed
    guessed: bool = False  # the text leaves open what the reading chose


@dataclass
class _Bound:
    """A comparison with a number."""

    first: int  # places among the marks
    last: int
    op: str
    values: list[Fraction]
    unit: str = ""
    aged: bool = False
    lasting: bool = False  # longer, shorter


@dataclass
class _Cond:
    place: int
    column: str
    op: str
    operand: Json
    labels: list[str] = field(default_factory=list)
    negated: bool = False
    people: bool = False  # it only says of whom: “adults”


def _months(year: int, first: int, last: int) -> tuple[date, date]:
    """The first and the last day of a span of months."""
    return date(year, first, 1), date(year, last, monthrange(year, last)[1])


class _Parse:
    """One text over one table, in one language."""

    def __init__(self, text: str, schema: Schema, lang: str, table: str = "") -> None:
        self.schema, self.lang = schema, lang
        self.known = lexicon_of(schema, lang)
        self.tokens = with_numbers(cut_words(text, lang)[:_MOST_WORDS], lang)
        called = set(stems_of(name_words(table), lang))
        for at, token in enumerate(self.tokens if lang == "sl" else ()):  # as it is spoken; a kolk is a hip too
            if bare(token.text) in ("kolko", "kulk", "kok") or (at == 0 and bare(token.text) == "kolk"):
                token.stem = stem("koliko", lang)
        if lang == "sl":
            apart = [part for token in self.tokens for part in women_apart(token, self.known, called)]
            self.tokens = [part for token in apart for part in numbered(token, self.known)]
        spell(self.tokens, self.known, lang, called)
        self.marks = marked(self.tokens, self.known)
        for mark in self.marks:
            if mark.first == mark.last and self.tokens[mark.first].stem in called and self._part_of_values(mark):
                del mark.roles["val"]  # “kurilne naprave” are the rows, and no kurilno olje
            if mark.first == mark.last and self.tokens[mark.first].stem in called and not mark.roles.keys() - {"col"}:
                senses = [(1 if weight < 2.5 else weight, name) for weight, name in mark.roles.get("col", ())]
                mark.roles |= {"rows": True} | ({"col": senses} if senses else {})  # what the table is called
            if mark.roles.get("kind") == "top_item" and self.is_a(self._exact(mark), Category):
                del mark.roles["kind"]  # a column that is called mode
        for at in range(1, len(self.marks)):
            if "col" in self.marks[at].roles and self.said(at - 1) in ("na", "za", "per"):  # “za stran” are no pages
                senses = self.marks[at].roles["col"]
                self.marks[at].roles["col"] = [sense for sense in senses if sense[0] != COUNTED] or senses
            if self._noun_left_out(at):
                self.marks[at].roles = {"stop": True}
        self.conds: list[_Cond] = []
        self.by: list[Json] = []
        self.kinds: list[str] = []
        self.shares: list[str] = []
        self.guessed = False
        self.compare = False
        self.contrasted = False
        self.asked_unit = ""
        self.other_columns: list[str] = []
        self.doubted: _Cond | None = None  # the condition that may be about one of them
        self.dates = schema.of_kind(Date)
        self.numbers = schema.of_kind(Number)
        typed = {token.stem for token in self.tokens}
        self.covered = {name: len(typed & set(stems_of(name_words(name), lang))) for name in schema.columns}

    def _part_of_values(self, mark: MarkedWords) -> bool:
        """Is one word only a part of the values that it may mean?"""
        word = self.tokens[mark.first].stem
        values = [stems_of(name_words(value), self.lang) for _, _, value in mark.roles.get("val", ())]
        return bool(values) and all(word in value and len(value) > 1 for value in values)

    def _noun_left_out(self, at: int) -> bool:
        """“temperatura dimnih plinov”, of a column `temp_dimnih`: the noun that its name leaves out."""
        name = self._exact(self.marks[at - 1]) if at and self.lang == "sl" else ""
        last = name_words(name).split(" ")[-1]
        adjective = last.endswith(("nih", "skih", "nega", "skega")) and self.words(at - 1).lower().endswith(
            last.lower()
        )
        return adjective and self.words(at).lower().endswith(("ov", "ev") if last.endswith("ih") else ("a",))

    @staticmethod
    def _exact(mark: MarkedWords) -> str:
        return next((name for weight, name in mark.roles.get("col", ()) if weight >= 3), "")

    # Small helpers

    def has(self, place: int, *roles: str) -> bool:
        return 0 <= place < len(self.marks) and not self.marks[place].roles.keys().isdisjoint(roles)

    def take(self, role: str, places: Iterable[int]) -> None:
        for at in places:
            self.marks[at].take(role)

    def free(self, place: int, role: str) -> bool:
        return self.has(place, role) and not self.marks[place].used

    def role(self, place: int, role: str) -> Json:
        """What a mark means in this role; None if it has no such meaning."""
        return self.marks[place].roles.get(role) if 0 <= place < len(self.marks) else None

    def all_free(self, role: str) -> list[int]:
        return [at for at in range(len(self.marks)) if self.free(at, role)]

    def past(self, place: int, step: int, over: Sequence[str], but: Sequence[str]) -> int:
        """The first place, going forth or back, that is not to be passed over."""
        while self.has(place, *over) and not self.has(place, *but):
            place += step
        return place

    def words(self, place: int) -> str:
        return " ".join(token.text for token in self._tokens_of(place))

    def said(self, place: int) -> str:
        """Its words without capitals and accents."""
        return bare(self.words(place))

    def stems(self, *words: str) -> set[str]:
        return {stem(word, self.lang) for word in words}

    def named_for(self, column: str, *words: str) -> bool:
        """Has the column's name one of these words?"""
        return not self.stems(*words).isdisjoint(stems_of(name_words(column), self.lang))

    def column_at(self, place: int, kinds: tuple[type, ...] = ()) -> str | None:
        """The column that a mark means; of several, the one that it names best."""
        if not self.has(place, "col"):
            return None
        senses = sorted(self.marks[place].roles["col"], key=self._rank)
        best = [name for weight, name in senses if not kinds or self.is_a(name, *kinds)]
        return best[0] if best else None

    def _rank(self, sense: tuple[float, str]) -> tuple[float, int]:
        """How well a mark names a column, and how many words of its name are in the text: “score … in reading”."""
        return -sense[0], -self.covered.get(sense[1], 0)

    def rivals(self, place: int, name: str) -> list[str]:
        """Other columns of the same kind that a mark means just as well."""
        senses = self.marks[place].roles.get("col", ())
        ranks = {self._rank(sense) for sense in senses if sense[1] == name}
        others = [sense[1] for sense in senses if sense[1] != name and self._rank(sense) in ranks]
        return [other for other in others if type(self.declared(other)) is type(self.declared(name))]

    def is_a(self, name: str | None, *kinds: type) -> bool:
        return isinstance(self.declared(name or ""), kinds)

    def number(self, name: str | None) -> Number | None:
        column = self.schema.columns.get(name or "")
        return column if isinstance(column, Number) else None

    def declared(self, name: str) -> object:
        return self.schema.columns.get(self.known.lookups.get(name[1:], name) if name.startswith("\0") else name)

    def weight_at(self, place: int) -> float:
        return max((sense[0] for sense in self.role(place, "col") or ()), default=0)

    def like(self, word: str) -> list[str]:
        """The number columns whose name has a word of the same class."""
        senses = self.known.phrases.get((stem(word, self.lang),), {}).get("col", ())
        names = [name for _, name in sorted(senses, key=lambda sense: -sense[0])]
        return [name for name in names if self.is_a(name, Number)]

    @property
    def ages(self) -> list[str]:
        return self.like("age" if self.lang == "en" else "starost")

    # The steps

    def run(self) -> None:
        self._letters()
        self._rates()
        self._named_times()
        self._days()
        self._percents()
        self._bounds()
        self._lives()
        self._by()
        asked_by = bool(self.by)
        self._values()
        self._yes_columns()
        self._contrast(asked_by)
        self._some()
        if self.by:
            self.take("compare", [at for at in self.all_free("compare") if not self.has(at, "or")])

    def _letters(self) -> None:
        """“blood group 0”, “v razredu A ali B”: a value of one sign, right after the words for its column."""
        column = ""
        for at, mark in enumerate(self.marks):
            senses = [sense for sense in mark.roles.get("letter", ()) if sense[1] == column]
            if senses:
                mark.roles = {"val": senses}
            elif not self.has(at, "or", "and") or self.has(at, "col"):
                lists = self.schema.of_kind(Category, ItemSet) if self.has(at, "band") else ()
                said = [name for name in lists if self.named_for(name, self.words(at))]
                column = self.column_at(at, (Category, ItemSet)) or column * self.has(at, "band") or "".join(said[:1])

    def _rates(self) -> None:
        """“deferral rate” is about who was deferred: a yes or no made from the same word."""
        for at in self.all_free("period"):
            if at and self.said(at - 1) in ("a", "per", "na") and self.weight_at(at) <= 1:
                self.marks[at].roles.pop("col", None)  # “na mesec” is no age in months
        for at in range(len(self.marks) if self.lang == "en" else 0):
            if self.said(at + 1) != "rate" if at + 1 < len(self.marks) else True:
                continue
            made = set(roots(self._tokens_of(at)[-1].stem, self.lang)) - {""}
            chosen = [
                name
                for name, column in self.schema.columns.items()
                if yes_no(column)
                and any(made & set(roots(word, self.lang)) for word in stems_of(name_words(name), self.lang))
            ]
            if len(chosen) == 1:
                self.marks[at].roles = {"col": [(3, chosen[0])]}

    def _named_times(self) -> None:
        """“settlement time” is the days to settle, and not what was settled."""
        words = self.stems("time", "times", "duration", "čas", "trajanje", "doba")
        for at in range(len(self.marks)):
            near = at - 1 if self.lang == "en" else at + 1
            if (
                self.has(at, "col", "val", "kind")
                or self._tokens_of(at)[0].stem not in words
                or not self.has(near, "col")
            ):
                continue
            timed = [sense for sense in self.marks[near].roles["col"] if sense[1] in self._of_time()]
            if timed:
                self.marks[near].roles = {"col": timed}
                self.marks[at].take("target")

    def _days(self) -> None:
        """Dates and spans of time become conditions on a date column, or on a number of years."""
        spans: list[tuple[int, int, date, date]] = []
        place = 0
        while place < len(self.marks):
            found = self._span(place)
            spans += [] if found is None else [(place, *found)]
            place = (place if found is None else found[0]) + 1
        skip = -1
        months = {low.year for first, last, low, _ in spans if self._year(last) is None and not self._decade(first)}
        for number, (first, last, low, high) in enumerate(spans):
            if first <= skip:
                continue
            if self._year(first) in months and self.dates and not self._decade(first):  # said by the months already
                self.marks[first].take("when")
                continue
            before = self.past(first - 1, -1, ["stop"], ["daysign", "between", "before", "by"])
            edge = before
            while self.has(edge, "edge", "stop", "daysign") and not self._directed(edge) and edge > first - 5:
                edge -= 1
            ends = [self.role(at, "edge") for at in range(edge, first) if self.has(at, "edge")]
            if self._directed(edge) and ends:
                low, high = (low, low) if ends[0] == "start" else (high, high)  # “since the start of 2024”
                before = edge
            sign = self.role(before, "daysign")
            bare_year = first == last and self._year(first) is not None
            year_number = (
                self._year_column() if bare_year or (low.year % 10 == 0 and high.year == low.year + 9) else None
            )
            dated = self.has(last + 1, "after") or self.column_at(before, (Date,))  # “planted 2020 or later”
            if bare_year and (not (sign or dated or self.has(before, "between")) or self._no_year(last)):
                continue
            if not self.dates and year_number is None:
                continue
            numeric = year_number is not None and self._no_date(low.year, year_number, before)
            joined = number + 1 < len(spans) and spans[number + 1][0] - last <= 3
            second = spans[number + 1] if joined and self._only(last + 1, spans[number + 1][0] - 1, "to") else None
            if joined and second is None and self._only(last + 1, spans[number + 1][0] - 1, "or"):
                second = spans[number + 1] if (spans[number + 1][2] - high).days == 1 else None  # “in 2001 or 2002”
            if bare_year and self.has(before, "before") and sign is None:
                continue
            column = str(year_number) if numeric else self._date_column(before, last)
            operand: Json
            follows = second is not None and (second[2] - high).days == 1  # “in 2001 and 2002”
            if second is not None and (
                self.has(before, "between") or sign in (">=", None) or (sign == "=" and follows)
            ):
                op, operand = "between", [low.isoformat(), second[3].isoformat()]
                skip, last = second[1], second[1]
            elif self.has(last + 1, "after") and sign in ("=", None):  # “in 2020 or later”
                op = self.marks[last + 1].roles["after"]
                operand = (low if op == ">=" else high).isoformat()
                last += 1
            elif sign == "<" and low == high and self._only(max(before, 0), first - 1, "edge"):
                op, operand = "<=", low.isoformat()  # “before the end of March”
            elif self._decade(first) and self.said(before) in ("from", "iz", "od"):
                op, operand = "between", [low.isoformat(), high.isoformat()]  # “lifts from the 1980s”
            elif sign in (">=", "<"):
                op, operand = sign, low.isoformat()
            elif sign in (">", "<="):
                op, operand = sign, high.isoformat()
            else:
                op, operand = "between", [low.isoformat(), high.isoformat()]
            if numeric:
                years = [int(day[:4]) for day in ([operand] if isinstance(operand, str) else operand)]
                op, operand = (
                    ("=", years[0]) if len(set(years)) < len(years) else (op, years if years[1:] else years[0])
                )
                near = range(max(before - 2, 0), min(last + 3, len(self.marks)))
                self.take("when", [at for at in near if self.free(at, "col") and self._is_year(at, column)])
            self.conds.append(_Cond(first, column, op, operand))
            self.take("when", range(max(before, 0) if sign or self.has(before, "between") else first, last + 1))

    def _is_year(self, at: int, name: str) -> bool:
        return any(sense[1] == name for sense in self.marks[at].roles.get("col", ()))

    def _no_date(self, year: int, name: str, before: int) -> bool:
        """Is a year one of a number of years, as `year of birth`? Its name is near, or no date is declared so."""
        column = self.number(name)
        if column is None or not self.dates:
            return column is not None
        near = [at for at in range(max(before - 2, 0), min(before + 4, len(self.marks))) if self._is_year(at, name)]
        dates = [date for name in self.dates if isinstance(date := self.schema.columns[name], Date)]
        return bool(near) or (
            column.lower <= year <= column.upper and not any(day.first.year <= year <= day.last.year for day in dates)
        )

    def _directed(self, at: int) -> bool:
        """Does a word say before or after a day?"""
        return self.role(at, "daysign") not in (None, "=")

    def _no_year(self, at: int) -> bool:
        """“between 2000 and 3000 euros” are no years."""
        end = at + 2 if self.has(at + 1, "to") and self.has(at + 2, "number") else at
        return self.role(end + 1, "unit") == "money" or (end > at and self._year(end) is None)

    def _span(self, place: int) -> tuple[int, date, date] | None:
        """A day, month, quarter or year that starts at a mark: its last mark, first and last day."""
        mark = self.marks[place]
        if "day" in mark.roles:
            return place, mark.roles["day"], mark.roles["day"]
        month = mark.roles.get("month")
        if month and (year := self._year(place + 1)):
            return place + 1, *_months(year, month, month)
        if month and self.has(place + 1, "number") and (year := self._year(place + 2)):
            return self._one_day(place + 2, year, month, self.marks[place + 1].roles["number"])
        if month and not self.has(place + 1, "number") and (year := self._later_year(place)):  # “June to August 2024”
            return place, *_months(year, month, month)
        begun = "number" in mark.roles and self.has(place + 1, "month") and not self.has(place + 2, "number")
        if begun and (year := self._later_year(place + 1)):  # “between 1 June and 31 August 2024”
            return self._one_day(place + 1, year, self.marks[place + 1].roles["month"], mark.roles["number"])
        if "number" in mark.roles and self.has(place + 1, "month") and (year := self._year(place + 2)):
            return self._one_day(place + 2, year, self.marks[place + 1].roles["month"], mark.roles["number"])
        if (short := re.fullmatch("q([1-4])", self.said(place).replace(" ", ""))) and (year := self._year(place + 1)):
            return place + 1, *_months(year, 3 * int(short[1]) - 2, 3 * int(short[1]))  # Q1 2024
        quarter = mark.roles.get("ord") or self._last_part(place)
        quarter = quarter or (text_of(mark.roles["number"]) if "ordinal" in mark.roles else None)
        if quarter and self.role(place + 1, "period") == "quarter":
            at, year = self._year_after(place + 1, "stop", "daysign")
            if year and quarter in "1234":
                return at, *_months(year, 3 * int(quarter) - 2, 3 * int(quarter))
        half = self.has(place + 1, "half") or self.role(place + 1, "part") == "0.5"
        if quarter in ("1", "2") and half:  # “the first half of 2024”
            at, year = self._year_after(place + 1, "stop", "daysign", "period")
            if year:
                return at, *_months(year, 6 * int(quarter) - 5, 6 * int(quarter))
        if decade := self._decade(place):
            return place + 1, date(decade, 1, 1), date(decade + 9, 12, 31)
        if year := self._year(place):
            return place, date(year, 1, 1), date(year, 12, 31)
        if month and (year := self._only_year()) and not self.has(place + 1, "number"):
            return place, *_months(year, month, month)
        if "number" in mark.roles and self.has(place + 1, "month") and (year := self._only_year()):
            return self._one_day(place + 1, year, self.marks[place + 1].roles["month"], mark.roles["number"])
        return None

    def _decade(self, place: int) -> int | None:
        """The first year of “the 1990s”, “v devetdesetih letih”."""
        number = self.role(place, "number")
        after = self.said(place + 1) if place + 1 < len(self.marks) else ""
        if number is None or number % 10:
            return None
        if after == "s" and (year := self._year(place)):
            return year
        lasting = self.lang == "en" or (self.said(place - 1) in ("v", "iz", "od") and "ih" in self.words(place) + after)
        if 10 <= number <= 90 and lasting and after in ("s", "letih", "let"):
            past = (
                number >= 30 and not self.has(place - 1, "before") and (after != "let" or self.said(place - 1) == "iz")
            )
            return int(number) + 1900 if past else None
        return None

    def _last_part(self, place: int) -> str | None:
        """“the last quarter of 2024” is the fourth."""
        if not self.has(place, "last"):
            return None
        return "4" if self.role(place + 1, "period") == "quarter" else "2"

    def _year_after(self, place: int, *over: str) -> tuple[int, int | None]:
        """The year after a mark and some words, or the only one of the table; and the last mark that says so."""
        at = place + 1
        while self.has(at, *over) and not self._year(at):
            at += 1
        year = self._year(at)
        return (at, year) if year else (place, self._only_year())

    def _only_year(self) -> int | None:
        """The year of all dates, if the declaration holds but one."""
        columns = [self.schema.columns[name] for name in self.dates]
        years = {day.year for column in columns if isinstance(column, Date) for day in (column.first, column.last)}
        if len(years) > 1:  # “in 2024, from June to August”
            years = {year for place in range(len(self.marks)) if (year := self._year(place))}
        return years.pop() if len(years) == 1 else None

    def _later_year(self, place: int) -> int | None:
        """The year of the end of a span whose beginning names none."""
        if not self.has(place + 1, "to"):
            return None
        for month, year in ((place + 2, place + 3), (place + 3, place + 4)):
            if self.has(month, "month") and (found := self._year(year)):
                return found
        return None

    def _one_day(self, last: int, year: int, month: int, day: Fraction) -> tuple[int, date, date] | None:
        try:
            found = date(year, month, int(day))
        except ValueError:
            return None
        return last, found, found

    def _year(self, place: int) -> int | None:
        if (number := self.role(place, "number")) is None:
            return None
        plain = re.fullmatch(r"\d{4}", self.tokens[self.marks[place].first].text)
        return int(number) if plain and 1900 <= number <= 2100 else None

    def _only(self, first: int, last: int, role: str) -> bool:
        return any(self.has(at, role) for at in range(first, last + 1))

    def _year_column(self) -> str | None:
        return next((name for name in self.numbers if (column := self.number(name)) and column.years), None)

    def _date_column(self, before: int, last: int) -> str:
        for at in sorted(range(len(self.marks)), key=lambda at: min(abs(at - before), abs(at - last))):
            if (name := self.column_at(at, (Date,))) and self.column_at(at) == name:
                self.marks[at].take("date")
                return name
        self.guessed = self.guessed or len(self.dates) > 1
        return self.dates[0]

    def _percents(self) -> None:
        """Percentiles: “90th percentile”, “top 10 %”, “9 out of 10”."""
        for at in range(len(self.marks)):
            if self.free(at, "share"):
                shares = self.marks[at].roles["share"].split()
                if len(shares) == 1 and self.has(at - 1, "and") and self._first_or_lower(at - 2):
                    self._share(text_of(1 - Fraction(shares[0])), at - 2)  # “prvi in tretji kvartil”
                    self.marks[at - 1].take("share")
                for share in shares:
                    self._share(share, at)
            elif (self.free(at, "top") or self.free(at, "bottom")) and (part := self._fraction(at + 1)):
                self._share(text_of(1 - part if self.has(at, "top") else part), at)
                self.marks[at + 1].take("share")
            elif self.free(at, "percentile"):
                self.marks[at].take("percentile")
                back = at - 1
                while back >= 0 and (self.has(back, "number") or self.has(back, "and", "to")):
                    if self.has(back, "number"):
                        self._share(text_of(self.marks[back].roles["number"] / 100), back)
                    else:
                        self.marks[back].take("and")
                    back -= 1
                self.kinds.append("quantile")
            elif self.free(at, "part") and self._take_below():
                self._share(self.marks[at].roles["part"], at)
            elif self.free(at, "number") and self.has(at + 1, "per cent"):
                self._percent(at)
            elif self._of_ten(at):
                share = self._counted(self.marks[at])
                whole = next(self.marks[place] for place in range(at + 1, at + 4) if self._ten(place))
                total = self._counted(whole)
                if 0 < share < total:
                    self._share(text_of(share / total), at)
                    self.take("share", range(at, self.marks.index(whole) + 1))
                    self._take_below()
        self.shares.reverse() if len(self.shares) > 1 and self.shares[0] > self.shares[-1] else None

    def _first_or_lower(self, at: int) -> bool:
        first = self.role(at, "ord") == "1" or (self.has(at, "ordinal") and self.role(at, "number") == 1)
        return (first or self.has(at, "bottom")) and not self.marks[at].used

    def _fraction(self, at: int) -> Fraction | None:
        """“quarter”, “tenth”: a part of all."""
        words = {"quarter": 4, "fifth": 5, "tenth": 10, "cetrtin": 4, "petin": 5, "desetin": 10}
        if not 0 <= at < len(self.marks) or self.marks[at].used:
            return None
        whole = words.get(self._tokens_of(at)[0].stem)
        return Fraction(1, whole) if whole else None

    @staticmethod
    def _counted(mark: MarkedWords) -> Fraction:
        return Fraction(mark.roles["number" if "number" in mark.roles else "num"])

    def _ten(self, at: int) -> bool:
        return self.has(at, "number", "num") and self._counted(self.marks[at]) in (10, 100)

    def _of_ten(self, at: int) -> bool:
        """“9 out of 10”, “devet od desetih”."""
        if not self.has(at, "number", "num") or self.marks[at].used:
            return False
        joint = " ".join(token.text.lower() for token in self.tokens[self.marks[at].last + 1 :][:2])
        steps = (2, 3) if joint == "out of" else (2,) if joint.startswith("od ") else ()
        return any(self._ten(at + step) for step in steps)

    def _percent(self, at: int) -> None:
        number = self.marks[at].roles["number"] / 100
        if self.has(at - 1, "before") and any(
            self._measure(self.column_at(near, (Number,)) or "") == "%" for near in range(max(at - 4, 0), at - 1)
        ):
            return self.marks[at + 1].take("per cent")  # “losses over 20 %”
        before = self.past(at - 1, -1, ["stop"], ["top", "bottom"])
        side = next((side for side in ("top", "bottom") if self.has(before, side)), "")
        open_ended = self._open_comparison()
        if open_ended is not None and not side:
            side = "top" if self.role(open_ended, "before") in (">", ">=") else "bottom"
            before = open_ended
        units = self._how_many_units()
        if not 0 < number < 1 or not (side or self._take_below() or units):
            return
        if open_ended is not None:
            self.take("share", [open_ended, *self.all_free("only")])
        self._share(text_of(1 - number if side == "top" else number), at)
        self.take(side, [before] if side else [])
        self.marks[at + 1].take("per cent")

    def _open_comparison(self) -> int | None:
        """“what do only 5 % exceed”: a comparison without a number."""
        for at in self.all_free("before"):
            amounts = [near for near in (at + 1, at + 2) if self.has(near, "number", "num")]
            if not self.has(at, "below") and all(self.has(near + 1, "per cent") for near in amounts):
                return at
        return None

    def _how_many_units(self) -> bool:
        """“In how many days do 90 % arrive?”"""
        for first, second in pairwise(self.marks):
            counted = first.roles.get("kind") in ("count", "sum")
            if counted and second.roles.get("unit", "points") != "points":
                first.take("kind")
                second.take("unit")
                self.asked_unit = second.roles["unit"]
                return True
        return False

    def _take_below(self) -> bool:
        first = self.all_free("below")[:1]
        self.take("below", first)
        return bool(first)

    def _share(self, share: str, at: int) -> None:
        self.shares.append(share)
        self.marks[at].take("share")
        self.kinds.append("quantile")

    def _amount(self, at: int) -> Fraction | None:
        if not self.has(at, "number", "num") or self.marks[at].used:
            return None
        return self._counted(self.marks[at])

    def _bounds(self) -> None:
        at = 0
        while at < len(self.marks):
            if (bound := self._bound(at)) is not None:
                self._settle(bound)
            at = (at if bound is None else bound.last) + 1
        for place in range(len(self.marks)):  # “third year”, “rating 5”, “no overtime”
            self._equal(place)

    @property
    def ages_asked(self) -> bool:
        """Is the question about an age, or a span of years?"""
        taken = {self.column_at(at) for at, mark in enumerate(self.marks) if mark.took == "target"}
        taken |= {cond.column for cond in self.conds} | {str(name) for name in self.by}
        spans = any(self.has(at, "unit", "period") and self.marks[at].used for at in range(len(self.marks)))
        return spans or not taken.isdisjoint(self.ages)

    def _lives(self) -> None:
        """“adults”, “children under 10”, “freshmen”: people by their age or year."""
        aged = [cond for cond in self.conds if cond.column in self.ages]
        for at, mark in enumerate(self.marks):
            named = (self.has(at, "col") and self.weight_at(at) >= 1) or "val" in mark.roles
            if mark.used or named or self._negated(at) is not None:
                continue
            if "life" in mark.roles and self.ages:
                rule = mark.roles["life"]
                if aged:
                    mark.take("life")
                elif rule:
                    op, number = rule.split()
                    self.conds.append(_Cond(at, self.ages[0], op, number, people=True))
                    mark.take("bound")
            elif "gratis" in mark.roles and (price := self._price()):
                self.conds.append(_Cond(at, price, "=", "0"))
                near = [place for place in (at - 1, at + 1) if self.free(place, "col")]
                self.take("bound", [at, *(place for place in near if self.column_at(place) == price)])
            elif "alone" in mark.roles and (homes := self._companies()):
                self.conds.append(_Cond(at, homes[0], "=", "1"))
                mark.take("bound")
            elif "foreign" in mark.roles and (home := self._home()):
                self.conds.append(_Cond(at, *home[:1], "", None, [home[1]], True))
                mark.take("val")
            elif "study" in mark.roles and (year := self._small_year()):
                self.conds.append(_Cond(at, year, "=", mark.roles["study"], people=True))
                mark.take("bound")

    def _home(self) -> tuple[str, str] | None:
        """The column and the value of the country from which Slovene speaks of foreigners."""
        for name in self.schema.of_kind(Category):
            column = self.schema.columns[name]
            for value in column.values if isinstance(column, Category) else ():
                if bare(value) in ("slovenija", "slovenia"):
                    return name, value
        return None

    def _companies(self) -> list[str]:
        """The columns that say how many people live or work together."""
        words = ("household", "team", "crew", "party") if self.lang == "en" else ("gospodinjstvo", "ekipa", "skupina")
        return [name for word in words for name in self.like(word) if self._within(name, [Fraction(1)])]

    def _price(self) -> str | None:
        """The one column that says what a row costs and may be 0."""
        named = self.like("price" if self.lang == "en" else "cena") or self.like(
            "fee" if self.lang == "en" else "taksa"
        )
        paid = named or self._of_unit("money")
        free = [name for name in dict.fromkeys(paid) if self._within(name, [Fraction(0)])]
        return free[0] if len(free) == 1 else None

    def _bound(self, at: int) -> _Bound | None:
        first = self._amount(at)
        if first is None or (
            "num" in self.marks[at].roles
            and "number" not in self.marks[at].roles
            and not self.has(at - 1, "before", "between")
            and not self.has(at + 1, "unit", "to", "after")
        ):
            return None
        end = at + 1
        if self.has(end, "unit") and not self.has(end, "to"):
            end += 1
        second = self._amount(end + 1) if self.has(end, "to") else None
        if second is not None and (large := self._large(end + 1)) and first < second / large and first < large:
            first *= large  # “between two and three thousand”
        if second is not None and second > first and (not self.has(end, "and") or self.has(at - 1, "between")):
            start = at - 1 if self.has(at - 1, "between") and not self.has(at - 1, "col") else at
            aged = self.has(at - 1, "col") and self.column_at(at - 1) in self.ages
            return self._with_unit(_Bound(start, end + 1, "between", [first, second], aged=aged))
        after = at + 1
        while self.has(after, "unit") and not self.has(after, "after"):
            after += 1
        if self.has(at - 1, "before") and not self.marks[at - 1].used:
            start, last, sign, op = at - 1, at, at - 1, self.marks[at - 1].roles["before"]
        elif self.has(after, "after"):
            start, last, sign, op = at, after, after, self.marks[after].roles["after"]
        elif self.free(at - 2, "before") and self.column_at(at - 1, (Number,)):  # “below age 30”
            start, last, sign, op = at - 2, at, at - 2, self.marks[at - 2].roles["before"]
        elif op_apart := self._apart(at):
            start, last, sign, op = at - 3, at, at - 3, op_apart
        elif self._in_time(at):
            start, last, sign, op = at - 1, at, at - 1, "<="
        else:
            return None
        if self.free(start - 1, "not") and self.said(start - 1) in ("not", "ne", "ni", "niso") and sign == start:
            start, op = start - 1, {">": "<=", ">=": "<", "<": ">=", "<=": ">"}.get(op, "")
            if not op:
                return None
        aged = any(word in self.said(sign) for word in ("older", "younger", "starejs", "mlajs"))
        lasting = any(word in self.said(sign) for word in ("longer", "shorter", "dalj", "dlje", "krajs"))
        return self._with_unit(_Bound(start, last, op, [first], aged=aged, lasting=lasting))

    def _apart(self, at: int) -> str:
        """“a greater weight than 10”: a comparison around the name of its column."""
        if at < 3 or not self.column_at(at - 2, (Number,)) or self.marks[at - 3].used or self.marks[at - 1].used:
            return ""
        phrase = (self._tokens_of(at - 3)[-1].stem, self._tokens_of(at - 1)[0].stem)
        return str(self.known.phrases.get(phrase, {}).get("before", ""))

    def _in_time(self, at: int) -> bool:
        """“closed in 30 days”, “rešeno v dveh tednih”."""
        within = at > 0 and bare(self.words(at - 1)) in ("in", "v") and not self.marks[at - 1].used
        spans = ("minutes", "hours", "days", "weeks", "months")
        return within and self.has(at + 1, "unit") and self.marks[at + 1].roles["unit"] in spans

    def _large(self, at: int) -> int:
        """A thousand, if the number here was typed as so many thousands; 0 otherwise."""
        many = {"thousand": 1_000, "tisoc": 1_000, "hundred": 100, "million": 1_000_000}
        return many.get(self.said(at).split()[-1], 0) if " " in self.words(at) else 0

    def _with_unit(self, bound: _Bound) -> _Bound:
        for at in range(bound.first, bound.last + 2):
            if self.has(at, "unit") and not self.has(at, "number"):
                bound.unit = self.marks[at].roles["unit"]
                bound.last = max(bound.last, at) if self.weight_at(at) < 2 else bound.last
        return bound

    def _settle(self, bound: _Bound) -> None:
        already = self.other_columns
        column, near = self._bounded(bound)
        if column is None:
            return
        values, declared = bound.values, self.schema.columns[column]
        if isinstance(declared, Number):
            factor = self._factor(bound.unit, column, declared)
            units = LANGUAGES[self.lang].units.get(bound.unit, "").split("|")
            counted = self.named_for(column, *units) or stem(declared.measure, self.lang) in self.stems(*units)
            if bound.unit in ("weeks", "months") and factor == 1 and not counted:
                return  # nobody said what the column counts
            values = [value * factor for value in values]
        operand: Json = [text_of(value) for value in values] if bound.op == "between" else text_of(values[0])
        self.conds.append(_Cond(bound.first, column, bound.op, operand))
        if self.other_columns and not already:
            self.doubted = self.conds[-1]
        self.take("bound", [*range(bound.first, bound.last + 1), *([] if near is None else [near])])
        self._rest_of_name(bound.first, bound.last, column)
        verb = self.past(bound.first - 1, -1, ["stop"], ["col"])  # “settled within 14 days”
        if verb >= 0 and self.free(verb, "col") and self._is_year(verb, column) and self.column_at(verb) != column:
            self.marks[verb].take("bound")

    def _rest_of_name(self, first: int, last: int, name: str) -> None:
        """“a mark of 5 in Slovene”: the other words of the column's name, near its comparison."""
        words = set(stems_of(name_words(name), self.lang))
        said = {token.stem for mark in self.marks if mark.used for token in self.tokens[mark.first : mark.last + 1]}
        if not words & said:
            return
        for at in range(max(first - 3, 0), min(last + 4, len(self.marks))):
            if (
                self.free(at, "col")
                and self.column_at(at) == name
                and {t.stem for t in self._tokens_of(at)} <= words - said
            ):
                self.marks[at].take("bound")

    def _factor(self, unit: str, name: str, column: Number) -> Fraction | int:
        """How many of what the column counts are one of this unit: an hour has 60 minutes, a week 7 days."""
        measure = bare(column.measure)
        if unit == "years" and (measure.startswith(("month", "mesec")) or self.named_for(name, "months", "meseci")):
            return 12
        if (times := SCALES.get((unit, measure))) is not None:
            return times
        days = measure in ("d", "days", "dni") or self.named_for(name, "days", "dnevi", "dni", "nights", "nočitve")
        if measure.startswith("min"):
            return {"hours": 60, "days": 1_440}.get(unit, 1)
        if measure in ("h", "hours", "ur", "ure"):
            return {"days": 24}.get(unit, 1)
        return {"weeks": 7, "months": 30}.get(unit, 1) if days else 1

    def _bounded(self, bound: _Bound) -> tuple[str | None, int | None]:
        """The column that a comparison is about, and the mark that names it."""
        after = self.past(bound.last + 1, 1, ["stop", "unit"], ["col", "among", "have", "by", "not", "and", "or"])
        english = self.has(after, "stop") and self.lang == "en" and self.words(after) in ("of", "to")
        if english and self.has(after + 1, "col"):
            after += 1
        before = bound.first - 1
        skipped = 0
        over = ("stop", "have", "rows") if bound.unit not in ("", "years") else ("stop", "have")
        while (self.has(before, *over) and not self.has(before, "col")) and skipped < 4:
            before, skipped = before - 1, skipped + 1
        close = [at for at in (before, after) if self.column_at(at, (Number,)) and not self.marks[at].used]
        inside = [at for at in range(bound.first, bound.last + 1) if self.column_at(at, (Number,))]
        close = [at for at in close if self._number_first(at) and self._may_reach(at, bound)]
        if bound.lasting:
            inside, close = (
                [at for at in marks if self.column_at(at, (Number,)) not in self.ages] for marks in (inside, close)
            )
        if bound.unit and (fitting := self._of_unit(bound.unit)):
            elsewhere = [at for at in close if self.column_at(at, (Number,)) not in fitting]
            close = [at for at in close if at not in elsewhere or not self._measured(at, bound.unit)]
        if before not in close and after in close and self.weight_at(after) <= 1 and self._aged_people(bound, before):
            return self.ages[0], None  # “what do women under 30 earn”
        weakly = all(self.weight_at(at) < self.weight_at(inside[0]) for at in close) if inside else False
        if weakly and self.column_at(inside[0]):
            return self.column_at(inside[0], (Number,)), inside[0]
        if not close and self._says_mean(before) and (name := self._averaged()):
            return name, before
        if bound.aged and not self.ages:
            return None, None
        passed = [at for at in range(before + 1, bound.first) if self.has(at, "rows")]
        people = bool(passed) and not bound.unit and self._aged_people(bound, passed[-1])
        if before in close and self.column_at(before) in self.ages:
            people = False  # “the age of people over 50”
        if before in close and (people or (self.ages and skipped and self.said(bound.first - 1) in _FOR)):
            close.remove(before)  # “average cost for under 18s”, “average income of people over 50”
        if self.ages and (bound.aged or (bound.unit == "years" and not close and not bound.lasting)):
            at = next((at for at in [*inside, *close] if self.column_at(at, (Number,)) in self.ages), None)
            return self.ages[0], at
        if close:
            best = max(close, key=lambda at: (self.weight_at(at), at == before))
            if skipped > 1 and after in close:  # the nearer one
                best = after
            elif before in close and self.weight_at(before) >= 1:
                best = before if not (after in close and self.weight_at(after) > self.weight_at(before)) else after
            name = self.column_at(best, (Number,))
            self._or_else([other for other in self.rivals(best, name or "") if other in self.numbers])
            return name, best
        spoken = [name for name in self._spoken_of(self._sign_of(bound)) if self._within(name, bound.values)]
        if not bound.aged and len(spoken) == 1 and (not bound.unit or spoken[0] in self._of_unit(bound.unit)):
            return spoken[0], None  # “taller than 20 m”
        small = self._small_year()
        if small and self._says_years(before) and self._within(small, bound.values):
            return small, before  # “from years 10 to 12”
        by_unit = self._of_unit(bound.unit) if bound.unit else []
        if bound.lasting and not set(by_unit) - set(self.ages):  # “stay longer than half a year” is no age
            by_unit = [name for name in self._of_time() if name not in self.ages]
            months = self._of_unit("months") if bound.unit == "years" else []
            by_unit = [name for name in months if name not in self.ages] or by_unit
        if by_unit:
            self._or_else(by_unit[1:])
            return by_unit[0], None
        if self._aged_people(bound, before):
            return self.ages[0], None
        if bound.unit in MEASURES:
            return None, None  # “below 2.5 kg” is about no number of days
        wide = [name for name in self.numbers if self._within(name, bound.values)]
        named = [at for at in self.all_free("col") if self.column_at(at) in wide]
        if named and not bound.unit:
            at = min(named, key=lambda at: min(abs(at - bound.first), abs(at - bound.last)))
            self._or_else([name for name in self.numbers if name != self.column_at(at) and name in wide])
            return self.column_at(at), at if self._other_target() else None
        money = [name for name in self._of_unit("money") if name in wide]
        wide = list(dict.fromkeys([*money, *wide]))
        if wide:  # no word says which: if several may be meant, the others are offered too
            self._or_else(wide[1:])
            return wide[0], None
        return None, None

    def _sign_of(self, bound: _Bound) -> str:
        signs = [at for at in range(bound.first, bound.last + 1) if self.has(at, "before", "after")]
        return self.said(signs[0]).removeprefix("or ").removeprefix("ali ") if signs else ""

    def _or_else(self, names: list[str]) -> None:
        """Other columns that a comparison may be about."""
        self.guessed = self.guessed or bool(names)
        self.other_columns = self.other_columns or [name for name in names if name in self.numbers]

    def _aged_people(self, bound: _Bound, before: int) -> bool:
        """“women over 50”: an age, unless the words before are about things (“orders over 50”)."""
        things = self.stems(*LANGUAGES[self.lang].things.split("|"))
        if not self.ages or bound.unit or not self._within(self.ages[0], bound.values):
            return False
        return not (0 <= before < len(self.marks) and any(token.stem in things for token in self._tokens_of(before)))

    def _may_reach(self, at: int, bound: _Bound) -> bool:
        """Is a column named well, or its range wide enough for this comparison?"""
        name = self.column_at(at, (Number,)) or ""
        return self.weight_at(at) >= 2 or bound.unit in SPANS or self._within(name, bound.values)

    def _measured(self, at: int, unit: str) -> bool:
        """Is the column at a mark measured in something else than this unit?"""
        column = self.number(self.column_at(at, (Number,)))
        return column is not None and (bool(column.measure) or unit in ("money", "years", "minutes", *MEASURES))

    def _says_mean(self, at: int) -> bool:
        """“How many have an average over 9?”: the mean is no kind here if another one is typed."""
        return self.role(at, "kind") == "mean" and len(self._typed_kinds()) > 1

    def _averaged(self) -> str | None:
        words = ("average", "mean", "povprečna", "povprečje")
        names = [name for name in self.numbers if self.named_for(name, *words)]
        return names[0] if len(names) == 1 else None

    def _other_target(self) -> bool:
        """May the question do without a column as its subject?"""
        kinds = self._typed_kinds()
        return bool(kinds) and kinds <= {"count", "proportion"}

    def _number_first(self, at: int) -> bool:
        """Does this mark mean a number before anything else?"""
        name = self.column_at(at)
        return name is not None and (self.is_a(name, Number) or self.weight_at(at) < 2)

    def _within(self, name: str, values: list[Fraction]) -> bool:
        column = self.number(name)
        return column is not None and all(column.lower <= value <= column.upper for value in values)

    def _of_unit(self, unit: str) -> list[str]:
        named = {
            "years": ("year", "years", "age", "service", "seniority", "leta", "let", "starost", "delovna", "staž"),
            "money": ("income", "cost", "amount", "price", "dohodek", "strošek", "znesek", "cena"),
            "minutes": ("waiting", "minutes", "čakalna", "minute"),
            "hours": ("hours", "waiting", "ure", "čakalna"),
            "days": ("days", "dnevi", "dni", "nights", "nočitve"),
            "weeks": ("weeks", "days", "tedni", "dnevi", "dni", "nights", "nočitve"),
            "months": ("months", "meseci"),
            "points": ("points", "rating", "household", "točke", "ocena", "gospodinjstva"),
            "times": ("times", "often", "visits", "pogostost", "obiski"),
        }.get(unit, tuple(MEASURES.get(unit, unit).split("|")))
        scaled = [smaller for larger, smaller in SCALES if larger == unit]
        signs = {
            "money": ("€", "$", "eur", "usd", "£"),
            "minutes": ("min",),
            "hours": ("h", "hour", "ur", "min"),
            "days": ("d", "days", "dni"),
            "weeks": ("weeks", "d", "days", "dni"),
        } | {unit: (unit, *MEASURES[unit].split("|"), *scaled) for unit in MEASURES}
        measured = [name for name in self.numbers if self._measure(name) in signs.get(unit, ())]
        return list(dict.fromkeys([*measured, *(name for name in self.numbers if self.named_for(name, *named))]))

    def _equal(self, at: int) -> None:
        mark = self.marks[at]
        if mark.used:
            return
        exact = mark.roles.get("number", Fraction(mark.roles["ord"]) if "ord" in mark.roles else None)
        if exact is None and "num" in mark.roles and self.said(at) not in ("an", "en"):
            exact = Fraction(mark.roles["num"])
        if "ord" in mark.roles and mark.roles["ord"] == "1" and self.has(at + 1, "number", "num"):
            exact = None  # the first three
        if exact is not None:
            hyphen = self.has(at + 1, "to") and self.words(at + 1) == "-"  # “second-year”
            of = at - 2 if at > 1 and self.words(at - 1).lower() == "of" else at - 1  # “a household of one”
            listed = (
                at + 3 if self.has(at + 1, "and", "or", "to") and self.has(at + 2, "number", "num", "ord") else at + 1
            )
            back = of
            while back > at - 4 and self.has(back, "stop") and not self.has(back, "col", "by", "not", "number"):
                back -= 1
            back = of if self.has(at + 1, "per cent", "unit", "band") else back
            for near in (at + 2,) if hyphen else tuple(dict.fromkeys((listed, at + 1, of, back))):
                name = self.column_at(near, (Number,))
                if name is None and (self.has(near, "period", "unit") or self._says_year(near)):
                    name = self._small_year() if mark.roles.get("ord") or "number" in mark.roles else None
                if name and not self.marks[near].used and self._within(name, [exact]):
                    if self._pair(at, near, name, exact):
                        return
                    op, after = "=", max(at, near) + 1
                    if self.has(after, "after"):
                        op = self.marks[after].roles["after"]
                        self.marks[after].take("after")
                    op = "<=" if self._first_ones(at, name) else op
                    lead = min(at, near) - 1
                    if op == "=" and self.said(lead) in _SINCE and self.free(lead, "daysign"):  # “before week 37”
                        op = self.marks[lead].roles["daysign"]
                        self.marks[lead].take("bound")
                    self.conds.append(_Cond(at, name, op, text_of(exact)))
                    self.take("bound", (at, near))
                    self._rest_of_name(min(at, near), max(at, near), name)
                    return
        if "not" in mark.roles and (none := self._none_of(at)) is not None:
            self.conds.append(_Cond(at, self.column_at(none) or "", "=", "0"))
            again = self._negated(at)  # “ni imelo niti ene nadure”
            self.take("bound", [at, *([] if again is None else [again]), *range(at + 1, none + 1)])

    def _first_ones(self, at: int, name: str) -> bool:
        """“the first three grades”, “v prvih treh razredih”."""
        column = self.schema.columns[name]
        if not self.has(at - 1, "ord") or self.marks[at - 1].roles["ord"] != "1" or self.marks[at - 1].used:
            return False
        if not isinstance(column, Number) or column.lower not in (0, 1):
            return False
        self.marks[at - 1].take("bound")
        return True

    def _none_of(self, at: int) -> int | None:
        """The number that a denial says is 0: “no overtime”, “never took a sick day”, “ne plačujejo članarine”."""
        for near in range(at + 1, min(at + 6, len(self.marks))):
            column = self.number(self.column_at(near))
            named = self.weight_at(near) > 1 or (near == at + 1 and not self.has(near, "stop"))
            if column is not None and not self.marks[near].used and named:
                clear = not any(self._amount(place) for place in range(at + 1, near))
                return near if column.lower <= 0 <= column.upper and clear else None
            loose = (self.column_at(near) is not None and self.weight_at(near) <= 1) or self.has(
                near, "stop", "have", "with", "unit", "not", "num", "number", "none"
            )
            grouping = self.has(near, "by") and self.said(near) != "na"
            if not loose or grouping or self.has(near, "val", "kind", "rows", "and", "or", "before"):
                return None
        return None

    def _pair(self, at: int, near: int, name: str, first: Fraction) -> bool:
        """“a score of nine or ten”, “3. in 4. letnik”: two neighbouring numbers."""
        for other, joint in ((at + 2, at + 1), (at - 2, at - 1)):
            amount = self._amount(other)
            if amount is None and self.has(other, "ord") and not self.marks[other].used:
                amount = Fraction(self.marks[other].roles["ord"])
            column = self.number(name)
            if amount is None or not self.has(joint, "or", "and") or column is None:
                continue
            if abs(amount - first) == max(column.step, 1) and self._within(name, [amount]):
                low, high = sorted((amount, first))
                self.conds.append(_Cond(at, name, "between", [text_of(low), text_of(high)]))
                self.take("bound", (at, near, other, joint))
                return True
        return False

    def _says_year(self, at: int) -> bool:
        """“in year 2”, “v letu 2”: of study, perhaps."""
        if not self.has(at, "daysign") or self.marks[at].used:
            return False
        return self._tokens_of(at)[-1].stem in {stem(word, self.lang) for word in ("year", "leto")}

    def _says_years(self, at: int) -> bool:
        return 0 <= at < len(self.marks) and self._tokens_of(at)[-1].stem in self.stems(
            "year", "leto", "razred", "letnik"
        )

    def _small_year(self) -> str | None:
        """The column with few numbers whose name says year, such as a year of study; None if there is none."""
        small = (name for name in self.numbers if self.schema.columns[name].size <= _FEW)
        return next((name for name in small if self.named_for(name, "year", "leto", "letnik")), None)

    def _by(self) -> None:
        at = 0
        while at < len(self.marks):
            found = self._group(at + 1) if self.free(at, "by") else None
            if found is not None and not self._no_group(at, *found):
                end, groups = found
                self.by += groups
                self.take("by", range(at, end + 1))
                at = end
            elif self.free(at, "by year") and not self.dates and (group := self._one_group(at + 1, None)):
                self.by += group[1]  # “po letih izkušenj”
                self.take("by", range(at, group[0] + 1))
                at = group[0]
            elif self.free(at, "by year") and (self.dates or self._small_year()):
                small = self._small_year()
                self.by.append(self._ref(small) if small else {"column": self._named_date(), "by": "year"})
                self.marks[at].take("by")
            elif (
                self.has(at, "which")
                and self.has(at + 1, "period")
                and self.dates
                and self._typed_kinds() == {"top_item"}
            ):
                self.by.append({"column": self._named_date(), "by": self.marks[at + 1].roles["period"]})
                self.take("by", (at + 1,))  # “in which year did most animals arrive”
            elif self.free(at, "compare"):
                self.compare = True
            at += 1
        if not self.by:
            self._periodical()
        if not self.by:
            self._implied_groups()

    def _periodical(self) -> None:
        """“monthly revenue” is one by month; “monthly wages” are not, if the date is one in a person's life."""
        adjectives = self.stems(*_PERIODICAL[self.lang])
        for at in self.all_free("period") if self.dates else ():
            if self.tokens[self.marks[at].first].stem not in adjectives or self._listed_period(at):
                continue
            if self._typed_kinds() - {"sum", "count", "histogram"} or self._amount(at - 1) is not None:
                continue
            if not self._life_date(self._named_date()):
                self.by.append({"column": self._named_date(), "by": self.marks[at].roles["period"]})
                self.marks[at].take("by")

    def _listed_period(self, at: int) -> bool:
        """“annual members” are a value of a list."""
        return self.has(at, "val") and self.tokens[self.marks[at].first].stem in {
            stem(word, self.lang) for word in _PERIODICAL[self.lang]
        }

    def _life_date(self, name: str) -> bool:
        """Is a date one in a person's life rather than the day of what a row records?"""
        return self.named_for(name, *IN_LIFE)

    def _no_group(self, at: int, end: int, groups: list[Json]) -> bool:
        """“by customers over 70” is a condition, “točke na izpitu” one column, “na bolniški” no group."""
        name = groups[0]["column"] if isinstance(groups[0], dict) else groups[0]
        if len(groups) > 1:
            return False
        if self.lang == "sl" and self.said(at) in ("po", "na") and self._value_after(end, str(name)):
            return True  # “po odpustu v dom starejših”, “na pomolu B”
        if self.said(at) == "by" and yes_no(self.declared(str(name))) and self.words(end).endswith("ers"):
            return True  # “raised by first-timers”
        if self.said(at) == "na" and yes_no(self.declared(str(name))):
            return True  # “priklop na elektriko”
        if self.said(at) in ("na", "per", "each", "every") and self.has(at + 1, "period") and self._bounds_end(at - 1):
            self.take("rate", range(at, end + 1))
            return True  # “več kot pet tisoč evrov na leto”
        often = self.said(at) in ("each", "every", "vsak", "vsako", "za vsak")
        if often and self._life_date(str(name)) and self.has(at + 1, "period"):  # “koliko gre vsak mesec za plače”
            self.take("rate", range(at, end + 1))
            return True
        timed = isinstance(groups[0], dict) and "by" in groups[0]  # “by month in 2025” is both
        near = [cond for cond in self.conds if cond.column == name and 0 < cond.place - end <= 2 and not timed]
        if near or (isinstance(groups[0], dict) and "step" in groups[0] and self.said(at) == "na"):
            self.take("bound", range(at + 1, end + 1) if near else ())
            return True
        return bool(name in self.numbers and self.column_at(at - 1) == name and not self.marks[at - 1].used)

    def _bounds_end(self, at: int) -> bool:
        return 0 <= at < len(self.marks) and self.marks[at].took == "bound" and self.has(at, "unit", "number")

    def _value_after(self, end: int, name: str) -> bool:
        near = self.marks[end + 1 : end + 3]
        senses = [sense for mark in near for role in ("val", "letter") for sense in mark.roles.get(role, ())]
        return any(column == name for _, column, _ in senses)

    def _group(self, at: int) -> tuple[int, list[Json]] | None:
        start = at
        while (
            (
                self.has(at, "stop", "rows", "daysign")
                or (self.has(at, "kind") and self.marks[at].roles["kind"] == "count")
            )
            and not self.has(at, "col", "period", "band")
            and at < start + 3
        ):
            at += 1
        unknown = 0 <= at < len(self.marks) and not self.marks[at].roles and self.weight_at(at + 1) >= 1
        at = at + 1 if unknown and self.column_at(at + 1, (Category,)) else at  # “po znamki copat”
        step = None
        if (amount := self._amount(at)) is not None and self.has(at + 1, "period", "unit", "band", "col"):
            step, at = amount, at + 1
        first = self._one_group(at, step)
        if first is None:
            return None
        end, groups = first
        while self.has(end + 1, "and") and (more := self._one_group(end + 2, None)) is not None:
            end, groups = more[0], [*groups, *more[1]]
        return end, groups

    def _one_group(self, at: int, step: Fraction | None) -> tuple[int, list[Json]] | None:
        while self.has(at, "stop") and not self.has(at, "col", "period", "band"):
            at += 1
        if not 0 <= at < len(self.marks):
            return None
        mark, name = self.marks[at], self.column_at(at)
        period = mark.roles.get("period") if not self._listed_period(at) else None
        if period and (name is None or self.weight_at(at) < 2):
            small = self._small_year() if period == "year" else None
            if small is not None:
                return at, [self._ref(small, step)]
            if self.dates and not (self.has(at - 1, "by") and self.words(at - 1).lower() == "na" and period != "year"):
                end, column = at, self._named_date()
                for near in (at + 1, at + 2):
                    if (named := self.column_at(near, (Date,))) and self.weight_at(near) >= 1:
                        end, column = near, named
                        period = "month_of_year" if period == "month" else period
                        break
                return end, [{"column": column, "by": period}]
        if name is None or (
            self.has(at, "rows") and (name in self.dates or (self.weight_at(at) <= 1 and self.covered[name] < 2))
        ):
            return None
        declared = self.declared(name)
        end = at
        for near in (at + 1, at + 2, at + 3, at + 4):
            amount = self._amount(near)
            if amount is not None and self.has(near + 1, "unit", "period", "band"):
                step = amount
            if self.has(near, "band"):
                end = near
        while self.column_at(end + 1) == name and not self.marks[end + 1].used:  # “by product category”
            end += 1
        if isinstance(declared, Number):
            tail = self.tokens[self.marks[at].last + 1 :]
            if any(token.stem.startswith("desetletn") for token in tail):
                step, end = Fraction(10), len(self.marks) - 1
            return end, [self._ref(name, step)]
        if isinstance(declared, Date):
            first = self._tokens_of(at)[0]
            if (
                "rows" in self.known.phrases.get((first.stem,), {})
                and bare(first.text) not in bare(name_words(name)).split()
            ):
                return None  # “per order on average” is no date
            period = next(
                (self.marks[near].roles["period"] for near in (at - 1, at + 1) if self.has(near, "period")), "month"
            )
            return end, [{"column": name, "by": period}]
        if isinstance(declared, ItemSet):
            return None
        return end, [self._ref(name, step)]

    def _named_date(self) -> str:
        named = [name for place in range(len(self.marks)) if (name := self.column_at(place, (Date,)))]
        if not named and len(self.dates) > 1:
            self.guessed = True
        return named[0] if named else self.dates[0]

    def _ref(self, name: str, step: Fraction | None = None) -> Json:
        if name.startswith("\0"):
            return {"column": self.known.lookups[name[1:]], "by": name[1:]}
        column = self.schema.columns[name]
        if not isinstance(column, Number):
            return name
        if step is None or (step / column.step).denominator != 1 or step <= 0:
            step = self._usual_step(name, column)
        return {"column": name, "step": text_of(step)}

    def _usual_step(self, name: str, column: Number) -> Fraction:
        if column.size <= _FEW:
            return column.step
        width = column.upper - column.lower
        if name in self.ages and width <= 150 and column.step == 1:
            return Fraction(10)
        steps = sorted(column.step * base * 10**power for power in range(8) for base in (1, 2, 5))
        return steps[min(bisect_left(steps, width / _EDGES), len(steps) - 1)] or round_step(width)

    def _implied_groups(self) -> None:
        """Groups that a comparison implies: “men vs women”, “does education affect income?”"""
        named = [(at, name) for at in range(len(self.marks)) if self._names(at) and (name := self.column_at(at))]
        lists = [(at, name) for at, name in named if self.is_a(name, Category) and self._no_rows(at)]
        lists = [(at, name) for at, name in lists if not self.compare or not self._with_value(at, name)]
        if not lists or not any(self.is_a(name, Number) for _, name in named):
            return
        at, name = lists[0]
        if self.compare:
            self.by.append(self._ref(name))
            self.marks[at].take("by")
        elif self.all_free("versus"):
            self.by.append(self._ref(name))
            self._take_denied([place for place, other in named if other == name])
        else:  # “smokers and non-smokers”
            for at, name in lists:
                word = self.tokens[self.marks[at].last].stem
                later = [p for p, same in lists if same == name and p > at and self._tokens_of(p)[-1].stem == word]
                if later and yes_no(self.declared(name)):
                    self.by.append(name)
                    self.marks[at].take("by")
                    self._take_denied(later)
                    return

    def _no_rows(self, at: int) -> bool:
        """Does a mark name a column more than what the rows are?"""
        return not self.has(at, "rows") or self.weight_at(at) > 1

    def _with_value(self, at: int, name: str) -> bool:
        """“in the Coast region”: a column beside one of its values."""
        near = [self.marks[place] for place in range(max(at - 2, 0), min(at + 3, len(self.marks))) if place != at]
        return any(column == name for mark in near for _, column, _ in mark.roles.get("val", ()))

    def _take_denied(self, places: list[int]) -> None:
        """Take groups, each with the word that denies it."""
        self.take("by", [*places, *(at - 1 for at in places if self.has(at - 1, "not"))])

    def _names(self, at: int) -> bool:
        """Does a free mark name a column rather than a value?"""
        values = [sense[0] for sense in self.marks[at].roles.get("val", ())]
        return self.free(at, "col") and self.weight_at(at) > max(values, default=0)

    def _negated(self, at: int, column: str = "") -> int | None:
        """The mark that denies this one. Words for its column may stand between: “not paid by card”."""
        unknown = 0
        for near in range(at - 1, max(at - 5, -1), -1):
            if self.has(near, "not") and not (self.marks[near].used and self.marks[near].took != "not"):
                return near
            if column and self.column_at(near) == column:
                continue
            if not self.marks[near].roles and not unknown and column:  # “ne kurijo z oljem”
                unknown += 1
                continue
            if self.has(near, "col", "val", "kind", "or") or not self.has(near, "stop", "among", "have", "rows", "to"):
                return None
        return None

    def _values(self) -> None:
        """Values of lists become conditions."""
        for at in range(len(self.marks)):
            mark = self.marks[at]
            if mark.used or "val" not in mark.roles:
                continue
            best = max(weight for weight, _, _ in mark.roles["val"])
            if at == 1 and self.said(0) in ("how", "kako") and not self.kinds and not self._typed_kinds():
                mark.roles = {"col": [(3, mark.roles["val"][0][1])]}  # “how satisfied are …”
                continue
            senses = [(name, value) for weight, name, value in mark.roles["val"] if weight == best]
            if self.has(at, "col") and (self.weight_at(at) > best or self._had(at)):
                continue
            if "more" in mark.roles and self._compares(at, senses[0][0]):
                continue
            if ("not" in mark.roles or "none" in mark.roles) and not any(
                self.column_at(near) == senses[0][0] for near in (at + 1, at + 2)
            ):
                continue
            near_names = {self.column_at(near) for near in range(at - 2, at + 3)}
            name, value = next(((n, v) for n, v in senses if n in near_names), senses[0])
            if len(senses) > 1 and name not in near_names:
                self.guessed = True
            denial = self._negated(at, name)
            if denial is None:
                denial = self._denied_too(at, name)
                denial = self._denied_after(at, name) if denial is None else denial
            elif self._part_of_another(name, value):  # “not satisfied”: and the very satisfied?
                denial = None
            if denial is not None:
                self._deny(denial)
            mark.take("val")
            self._add_value(at, name, value, denial is not None)
            for near in (at - 2, at - 1, at + 1, at + 2):  # “permanent contract”, “in the Eye clinic”
                if self.column_at(near) == name and not self.marks[near].used:
                    self.marks[near].take("val")
        self._same_column()

    def _deny(self, at: int) -> None:
        """Take a denial; Slovene denies twice: “ki ne uporabljajo nobenega orodja”."""
        self.marks[at].take("not")
        again = [near for near in range(max(at - 4, 0), at) if self.free(near, "not")]
        if self.lang == "sl" and again and self.said(at).startswith(("nob", "nit", "nik", "nih")):
            self.marks[again[-1]].take("not")

    def _compares(self, at: int, name: str) -> bool:
        """“is income higher for …”: no higher education, unless its column is named."""
        near = [self.column_at(place) for place in (at - 2, at - 1, at + 1, at + 2)]
        return name not in near and any(self.is_a(other, Number) for other in near)

    def _part_of_another(self, name: str, value: str) -> bool:
        """Do the words of another value hold those of this one?"""
        declared = self.declared(name)
        others = declared.values if isinstance(declared, Category) else ()
        return any(f" {bare(value)} " in f" {bare(other)} " for other in others if other != value)

    def _denied_too(self, at: int, name: str) -> int | None:
        """“without asthma or diabetes” denies both."""
        near = at - 1
        while self.has(near, "stop", "or", "and", "among") and not self.has(near, "have", "val"):
            if self.has(near, "with") and not self.has(near, "stop"):
                break
            near -= 1
        joined = any(self.has(place, "or", "and") for place in range(near + 1, at))
        denied = [cond for cond in self.conds if cond.negated and cond.column == name]
        values = self.marks[near].roles.get("val", ()) if near >= 0 and self.marks[near].took == "val" else ()
        for cond in denied if joined else ():
            if any(value in cond.labels for _, column, value in values if column == name):
                return next((place for place in range(near, -1, -1) if self.marks[place].took == "not"), None)
        return None

    def _denied_after(self, at: int, name: str) -> int | None:
        """“where a pump was not used”, at the end of the text and of a list with several values a row."""
        near = self.past(at + 1, 1, ["stop", "have"], ["not", "val", "and", "or", "which"])
        used = ("used", "needed", "involved", "present", "required", "included", "uporabljen", "potreben", "prisoten")
        after = [place for place in (near + 1, near + 2) if self.has(place, "stop")]
        last = {token.stem for place in after for token in self._tokens_of(place)}
        fitting = self.free(near, "not") and near >= len(self.marks) - 3 and self.is_a(name, ItemSet)
        return near if fitting and last & self.stems(*used) else None

    def _had(self, at: int) -> bool:
        """“car owners”, “without a car”: a yes or no, although another column lists the same word as a value."""
        if not yes_no(self.declared(self.column_at(at) or "")):
            return False
        before = any(self.has(near, "with", "not", "own") for near in (at - 1, at - 2))
        return before or self.has(at + 1, "own")

    def _add_value(self, at: int, name: str, value: str, negated: bool) -> None:
        several = isinstance(self.schema.columns[name], ItemSet)
        alike = [cond for cond in self.conds if cond.column == name and cond.labels and cond.negated == negated]
        for cond in alike:
            if not several or self._only(cond.place, at - 1, "or"):
                cond.labels.append(value)
                return
        self.conds.append(_Cond(at, name, "", None, [value], negated))

    def _same_column(self) -> None:
        """All values of a list are groups, not a condition; so are values that are compared."""
        for cond in [cond for cond in self.conds if len(cond.labels) > 1 and not cond.negated]:
            column = self.schema.columns[cond.column]
            if not isinstance(column, Category):
                continue
            every = set(cond.labels) >= set(column.values)
            if self.by and not (every and self._typed_kinds() == {"count"}):
                continue  # but for “how many men and women in each region”
            versus = any("versus" in mark.roles for mark in self.marks) or (self.compare and self.has(0, "compare"))
            if every:
                self.conds.remove(cond)
            if every or versus:
                self.by.append(cond.column)

    def _yes_columns(self) -> None:
        """“smokers”, “without a car”, “no scholarship”, “with a scholarship”."""
        named = self.all_free("col")
        plain_columns = [at for at in named if self.is_a(self.column_at(at), Category)]
        joined = len(plain_columns) == 2 and self._only(plain_columns[0] + 1, plain_columns[1] - 1, "and")
        if joined and len(named) == 2 and not self.conds and not self._typed_kinds() - {"crosstab"}:
            return  # two columns beside each other: a cross table
        if "crosstab" in self._typed_kinds() and len(plain_columns) + len(self.by) > 1:
            return
        for at in named:
            name = self.column_at(at) or ""
            declared = self.declared(name)
            denial = self._negated(at)
            if denial is None and yes_no(declared):
                denial = self._not_so(at)
            if self.has(at, "rows") and self.weight_at(at) <= 1:
                continue  # “sprejemi”, although one column says which were urgent
            if (already := self._said_already(at)) is not None:
                self.marks[at].take("bound")  # “inspected since May” has a date, and nothing is said of passed
                turned = {">=": "<", "<": ">=", ">": "<=", "<=": ">"}.get(already.op if already.column else "")
                if denial is not None and turned:  # “not inspected since May”
                    already.op = turned
                    self._deny(denial)
                continue
            if yes_no(declared) and not self.by and (without := self._and_without(at)):
                self.by.append(name)  # “with breakfast and without”
                self.take("by", [at, *without])
                continue
            if yes_no(declared) and name in self.by:  # “compare renewed and not renewed loans”
                self.take("by", [at, *([] if denial is None else [denial])])
                continue
            if (pair := yes_no(declared)) and isinstance(declared, Category):
                if denial is None and "histogram" in self._typed_kinds() and len(named) == 1:
                    continue  # the question is about this column itself: its distribution
                label = pair[0] if denial is None else pair[1]
                if any(cond.column == name for cond in self.conds):
                    self.marks[at].take("val")
                    continue
                self.conds.append(_Cond(at, name, "", None, [label]))
            elif (none := none_label(declared)) and isinstance(declared, Category):
                if denial is not None:
                    labels = [none]
                elif (
                    self.has(at - 1, "with")
                    or self.has(at - 2, "with")
                    or self.said(at - 1) == "ki"
                    or self._happened(at)
                ):
                    labels = [value for value in declared.values if value != none]
                else:
                    continue
                self.conds.append(_Cond(at, name, "", None, labels))
            else:
                continue
            self.marks[at].take("val")
            if denial is not None:
                self._deny(denial)

    def _said_already(self, at: int) -> _Cond | None:
        """The condition or groups beside a mark about another column that it names just as well."""
        weights: dict[str, float] = {}
        for weight, name in self.marks[at].roles["col"]:
            weights[name] = max(weight, weights.get(name, 0))
        grouped = [_Cond(at, "", "", group["column"]) for group in self.by if isinstance(group, dict)]
        for cond in [*(cond for cond in self.conds if abs(cond.place - at) <= 4), *grouped]:
            name = cond.column or cond.operand
            if name != self.column_at(at) and weights.get(name, 0) >= self.weight_at(at):
                return cond
        return None

    def _happened(self, at: int) -> bool:
        """“injured runners”, “poškodovanih”: a participle says that there was something."""
        ending = "[^e]ed" if self.lang == "en" else "(?:an|en)(?:a|e|i|ih|im|imi)?"
        return self.weight_at(at) >= 1 and re.search(f"{ending}$", self.said(at)) is not None

    def _not_so(self, at: int) -> int | None:
        """“where pets are not allowed”: a denial after a yes or no, with at most one more word."""
        near = self.past(at + 1, 1, ["stop", "have"], ["not", "val", "col", "and", "or", "which"])
        after = [place for place in range(near + 1, len(self.marks)) if not self.has(place, "stop")]
        return near if self.free(near, "not") and len(after) <= 1 and not self.has(near + 1, "among") else None

    def _and_without(self, at: int) -> list[int]:
        """The words that name the others too: “with a car and without one”, “s kartico in brez nje”."""
        if not self.has(at + 1, "and", "or", "versus", "to") or not self.has(at + 2, "not"):
            return []
        if self.column_at(at + 3) == self.column_at(at):
            return [at + 1, at + 2, at + 3]
        if self.has(at + 3, "col", "val", "number", "num") and not self.has(at + 3, "stop"):
            return []
        return [at + 1, at + 2]

    def _some(self) -> None:
        """“share of loans with a late fee”: a number that is not 0."""
        kinds = self._typed_kinds()
        if not kinds or kinds - {"count", "proportion"}:
            return
        for at in self.all_free("col"):
            name = self.column_at(at)
            column = self.number(name)
            said = at - 1 if not self.has(at - 1, "stop") or self.has(at - 1, "with") else at - 2
            if column is None or self.weight_at(at) < 2 or name in self._ratings():
                continue
            if column.lower == 0 and self.has(said, "with") and not any(cond.column == name for cond in self.conds):
                self.conds.append(_Cond(at, str(name), ">", "0"))
                self.marks[at].take("bound")

    def _contrast(self, asked_by: bool) -> None:
        """“Is the score higher with a guide than without?”: what is contrasted becomes the groups."""
        asked = bool(self.marks) and self.said(0).partition(" ")[0] in _ASKING
        words = ("than", "kot", "kakor", *_OTHERS)
        than = [at for at, mark in enumerate(self.marks) if self.said(at) in words and not mark.used]
        more = [at for at in range(len(self.marks)) if self.free(at, "more") or (self.free(at, "before") and asked)]
        labelled = [cond for cond in self.conds if cond.labels]
        if not more or not (asked or than) or not labelled:
            if self.by and (asked or than):
                self.take("compare", more)
                self.contrasted = bool(more)
            return
        if self.by:  # “do scholars do better? grades by scholarship”
            grouped = [cond for cond in labelled if cond.column in self.by]
            self.conds = [cond for cond in self.conds if not asked_by or cond not in grouped]
            self.take("compare", [*more, *than] if grouped else ())
            return
        several = [cond for cond in labelled if len(cond.labels) > 1 and not cond.negated]
        stated = [cond for cond in labelled if yes_no(self.declared(cond.column))]
        chosen = (several or stated or labelled)[-1]
        declared = self.declared(chosen.column)
        if not isinstance(declared, Category):
            return
        self.by.append(chosen.column)
        if chosen not in several:
            self.conds = [cond for cond in self.conds if cond.column != chosen.column]
        self.take("compare", [*more, *than, *(self.all_free("not") if than else [])])
        self.contrasted = True

    def _typed_kinds(self) -> set[str]:
        return {mark.roles["kind"] for mark in self.marks if "kind" in mark.roles and not mark.used}

    # The question

    def reading(self) -> list[tuple[str, JsonObject]]:
        """The possible questions, best first."""
        kinds = [*self.kinds]
        inside: list[str] = []
        self._kinds_that_are_names()
        for mark in self.marks:
            if "kind" in mark.roles and not mark.used:
                kinds.append(mark.roles["kind"])
            elif mark.roles.get("col") and not (mark.used and mark.took == "by"):
                tokens = self.tokens[mark.first : mark.last + 1] if mark.last > mark.first else []
                parts = [self.known.phrases.get((token.stem,), {}).get("kind") for token in tokens]
                inside += [part for part in parts if part in ("mean", "median", "sum")]
        targets = [(at, name) for at in self.all_free("col") if (name := self.column_at(at)) is not None]
        targets = [(at, name) for at, name in targets if not (self.has(at, "rows") and name in self.dates)]
        shadowed = [at for at, name in targets if self.weight_at(at) <= 1 and self._shadowed(at, name, targets)]
        loose, targets = targets, [found for found in targets if found[0] not in shadowed]
        if not targets and (self.contrasted or set(kinds) & {"top_item", "mean", "median", "quantile", "variance"}):
            targets = self._unshadowed(loose, kinds)
        numbers = [(at, name) for at, name in targets if self.is_a(name, Number)]
        lists = [(at, name) for at, name in targets if self.is_a(name, Category, ItemSet)]
        if "top_item" in kinds and not numbers and not lists:
            lists = self._asked_place()
        if not numbers and any(self.has(at - 1, "which") for at, _ in lists):
            numbers = self._compared([at for at in range(len(self.marks)) if self.has(at, "top", "bottom")])
        days = [(at, name) for at, name in targets if self.is_a(name, Date)]
        if not numbers and "quantile" in kinds:  # “the fastest 10 %”
            numbers = self._compared(
                [at for at, mark in enumerate(self.marks) if mark.took in ("top", "bottom", "share")]
            )
        key = self._kind(kinds, numbers, lists)
        if key is None and any(self.marks[at].last > self.marks[at].first for at in self.all_free("money")):
            key = "count"  # “koliko denarja”
        if key in (None, "sum", "count") and not numbers and (taken := self._takings(key)):
            key, numbers = "sum", taken
        if key is None and numbers and self._asks_how_different():
            key = "variance"
        paid = self._of_unit("money")
        said = [at for at in range(len(self.marks)) if self.free(at, "takings") and not self.has(at, "col", "val")]
        earning = key is None or (key == "count" and self.lang == "sl" and not self._counts_things())
        if earning and numbers and said and all(name in paid for _, name in numbers):
            key = "sum"  # “ticket income in August”
            self.take("target", said)
        if key in (None, "count", "proportion", "sum", "mean", "top_item"):
            timed = self.all_free("when")  # “when do people visit”, “visits over time”
            events = [found for found in days if self.weight_at(found[0]) < 3 and not timed]
            if self.conds or self.by or key is not None:  # “calls outside the North district”
                self.take("rows", [at for at, _ in events])
                days = [found for found in days if found not in events]
        for at, mark in enumerate(self.marks):
            if "kind" in mark.roles and not mark.used and not self._other_kind(at, key):
                mark.take("kind")
        where = [self._row(cond) for cond in self.conds]
        doubted = self._row(self.doubted) if self.doubted is not None and self.doubted in self.conds else None
        if key in (None, "top_item") and (ranked := self._ranked(numbers, lists, where)):
            return ranked
        if not numbers and (named := self._unnamed(key)):
            numbers = named
        if not numbers and self.contrasted and key is None:
            numbers = self._compared()
        if not numbers and self.asked_unit:
            first = next((at for at, mark in enumerate(self.marks) if mark.used), 0)
            numbers, days = [(first, name) for name in self._of_unit(self.asked_unit)[:1]], []
        if any(name in self._of_time() for _, name in numbers):
            self.take("target", self.all_free("long"))
        if key is None:
            asked = self._loosely(self._without_kind(numbers, lists, days, where, inside))
        else:
            asked = self._loosely(self._with_kind(key, numbers, lists, days, where))
        asked = self._either_end(self._both_groups(asked))
        if asked and self.by and not {"by", "columns"} & asked[0][1].keys() and asked[0][0] != "top_item":
            for mark in self.marks:  # groups that this question cannot have
                mark.used = mark.used and mark.took != "by"
        if asked:
            self._take_units(asked[0][1])
        if asked and asked[0][0] == "count":  # “do girls read better”: better at what?
            for mark in self.marks:
                mark.used = mark.used and not (mark.took == "compare" and mark.roles.keys() & {"more", "before"})
        return asked if doubted is None else self._doubts(asked, doubted)

    def _asks_how_different(self) -> bool:
        """“kako se razlikujejo dohodki?”: among themselves, if no groups are named or it is said to be within them."""
        differ = self.stems("differ", "razlikuje", "razlikujejo")
        within = [at for at in range(len(self.marks)) if self.said(at).split(" ")[0] in ("znotraj", "within")]
        said = [at for at in range(len(self.marks)) if self._tokens_of(at)[0].stem in differ]
        asked = bool(self.marks) and self.said(0).split(" ")[0] in ("how", "kako")
        if not asked or not said or self.all_free("versus") or (self.by and not within):
            return False
        self.take("kind", said)
        return True

    def _kinds_that_are_names(self) -> None:
        """“sum of breakdowns”: a kind that a column is called too, beside another one."""
        typed = [at for at, mark in enumerate(self.marks) if "kind" in mark.roles and not mark.used]
        named = [at for at in typed if self.weight_at(at) >= (1 if self.contrasted else 1.5)]
        for at in named if len(typed) > len(named) or self.contrasted else ():
            del self.marks[at].roles["kind"]

    def _take_units(self, given: JsonObject) -> None:
        """“average capacity in kilos”: the unit in which the column is declared."""
        column = given.get("column")
        for at in self.all_free("unit"):
            if (
                isinstance(column, str)
                and column in self._of_unit(self.marks[at].roles["unit"])
                and self._measure(column)
            ):
                self.marks[at].take("target")

    def _either_end(self, asked: list[tuple[str, JsonObject]]) -> list[tuple[str, JsonObject]]:
        """“the worst tenth of the waiting times”: the longest, or the shortest?"""
        words = ("worst", "best", "najslab", "najbolj")
        said = [at for at, mark in enumerate(self.marks) if mark.took in ("share", "top", "bottom")]
        if not asked or asked[0][0] != "quantile" or not any(self.said(at).startswith(words) for at in said):
            return asked
        key, given = asked[0]
        if given["column"] in self._ratings() or not isinstance(given["share"], str):
            return asked
        self.guessed = True
        return [asked[0], (key, {**given, "share": text_of(1 - Fraction(given["share"]))}), *asked[1:]]

    def _both_groups(self, asked: list[tuple[str, JsonObject]]) -> list[tuple[str, JsonObject]]:
        """“the average wait in Berlin and Lisbon”: of both together, or of each?"""
        both = [cond for cond in self.conds if len(cond.labels) > 1 and not cond.negated]
        joint = ("and", "in", "ter", "&")
        figure = asked and asked[0][0] in ("mean", "median") and not self.by
        if not figure or not both or not any(self.said(at) in joint for at in range(both[0].place, len(self.marks))):
            return asked
        if not self.is_a(both[0].column, Category):
            return asked
        key, given = asked[0]
        apart = (key, {**given, "by": both[0].column})
        each = [at for at in range(len(self.marks)) if self.said(at) in _SEPARATELY and not self.marks[at].used]
        if each:  # “…, vsakih posebej”
            self.take("by", each)
            return [apart]
        self.guessed = True
        return [asked[0], apart, *asked[1:]]

    def _asked_place(self) -> list[tuple[int, str]]:
        """“where do most of them come from”, “kje imamo največ …”: the one list of places without a condition."""
        at = next((at for at in range(len(self.marks)) if self.said(at).split(" ")[0] in ("where", "kje", "kod")), None)
        taken = {cond.column for cond in self.conds}
        names = [name for name in self.schema.of_kind(Category) if name not in taken and self.named_for(name, *PLACES)]
        return [(at, names[0])] if at is not None and len(names) == 1 else []

    def _compared(self, places: Iterable[int] = ()) -> list[tuple[int, str]]:
        """“are tours by plane dearer?”: what a comparing word is about, if no column is named."""
        for at in places or (at for at, mark in enumerate(self.marks) if mark.took == "compare"):
            if names := self._spoken_of(self.said(at)):
                self.guessed = self.guessed or len(names) > 1
                return [(at, names[0])]
        return []

    def _spoken_of(self, word: str) -> list[str]:
        """The columns that a comparing word is about: heavier is a weight."""
        if word:
            for beginnings, names in (
                (
                    ("draz", "najdraz", "cenej", "najcenej", "more exp", "most exp", "dear", "cheap", "costl"),
                    self._of_unit("money"),
                ),
                (("starej", "mlajs", "najstarej", "najmlajs", "old", "young"), self.ages),
                (
                    (
                        "dalj",
                        "dlje",
                        "krajs",
                        "longer",
                        "shorter",
                        "longest",
                        "shortest",
                        "hitrej",
                        "najhitrej",
                        "pocasnajpocas",
                        "fast",
                        "slow",
                        "quick",
                    ),
                    self._of_time(),
                ),
                (
                    ("tezj", "lazj", "najtezj", "najlazj", "heav", "light"),
                    self.like("weight" if self.lang == "en" else "teža"),
                ),
                (("visj", "najvisj", "tall", "high"), self.like("height" if self.lang == "en" else "višina")),
            ):
                if word.startswith(beginnings) and names:
                    return names
        return []

    def _loosely(self, asked: list[tuple[str, JsonObject]]) -> list[tuple[str, JsonObject]]:
        """“the price of a horse” may not be the cost of feed: other columns are offered too."""
        name = asked[0][1].get("column") if asked else None
        if name not in self.numbers:
            return asked
        marks = [at for at, mark in enumerate(self.marks) if mark.took == "target" and self.column_at(at) == name]
        if marks and (others := [other for other in self.rivals(marks[0], name) if other in self.numbers]):
            self.guessed = True  # “the score”, and there are two
            return [asked[0], *((asked[0][0], {**asked[0][1], "column": other}) for other in others), *asked[1:]]
        if self.guessed:
            return asked
        generic = self.stems(*GENERIC)
        telling = [word for word in stems_of(name_words(name), self.lang) if word not in generic and len(word) > 1]
        typed = {token.stem for token in self.tokens}
        if not marks or len(telling) < 2 or typed & set(telling) or any(self.weight_at(at) > 1 for at in marks):
            return asked
        self.guessed = True
        key, given = asked[0]
        return [*asked, *((key, {**given, "column": other}) for other in self.numbers if other != name)]

    def _ranked(self, numbers: list[Json], lists: list[Json], where: list[Json]) -> list[tuple[str, JsonObject]]:
        """“which department has the most overtime”, “which region has the highest income”: the number by the list."""
        categories = [(at, name) for at, name in lists if self.is_a(name, Category)]
        asked = [found for found in categories if any(self.has(found[0] - step, "which") for step in (1, 2))]
        places = range(len(self.marks))
        said = [at for at in places if self.role(at, "kind") == "top_item" or self.has(at, "top", "bottom")]
        if self.by or not numbers or not asked or not said:
            return []
        name = self._take_best(numbers)
        self._take(asked, asked[0][1])
        self.take("kind", said)
        self.guessed = True
        if "mean" in self._typed_kinds():  # “which maker has the most breakdowns on average”
            self.guessed = False
            self.take("kind", [at for at in self.all_free("kind") if self.role(at, "kind") == "mean"])
            return [("mean", self._asked(where, column=name, by=self._plain_ref(asked[0][1])))]
        most = any(self.said(at) in ("most", "najvec") for at in said) and name not in self._ratings()
        given = self._asked(where, column=name, by=self._plain_ref(asked[0][1]))
        return [(key, given) for key in (("sum", "mean", "median") if most else ("mean", "median"))]

    def _counts_things(self) -> bool:
        """“how many books did we sell”: no money."""
        for at, mark in enumerate(self.marks):
            if mark.roles.get("kind") == "count":
                near = at + 1
                while self.has(near, "stop") and not self.has(near, "val", "rows", "col", "takings"):
                    near += 1
                return self.has(near, "val", "rows", "col") or bare(self.words(at)).startswith("how many")
        return False

    def _takings(self, key: str | None) -> list[tuple[int, str]]:
        """“income from cargo bikes”, “koliko smo prodali”: the sum of the money, if no column is named."""
        if (key == "count" and self.lang == "en") or self._counts_things():
            return []
        for at in range(len(self.marks)):
            if self.free(at, "takings") and not self.has(at, "val") and (names := self._of_unit("money")):
                self.marks[at].take("target")
                self.guessed = self.guessed or len(names) > 1
                return [(at, name) for name in names]
        return []

    def _unnamed(self, key: str | None) -> list[tuple[int, str]]:
        """A number that is asked for without its name: “how long do people stay”, “koliko denarja dobijo”."""
        for at in range(len(self.marks)):
            if self.free(at, "money"):
                names = self._of_unit("money")
            elif self.free(at, "long") or (key == "count" and self._asks_for(at, TIMES)):
                names = self._of_time()
            elif key in ("count", "median", "mean") and self._asks_for(at, ("money", *MEASURES)):
                names = self._of_unit(self.marks[at].roles["unit"])
            else:
                continue
            bounded = {cond.column for cond in self.conds}
            if names and key is None and bounded & set(names) and self.marks[at].last == self.marks[at].first:
                self.marks[at].take("bound")  # “who stayed less than an hour”
                continue
            if names:
                self.marks[at].take("target")
                self.guessed = self.guessed or len(names) > 1
                return [(at, name) for name in names]
        return []

    def _asks_for(self, at: int, units: Container[str]) -> bool:
        """“koliko evrov smo dobili”: how many of a unit."""
        return self.free(at, "unit") and self.role(at, "unit") in units and self.has(at - 1, "kind")

    def _of_time(self) -> list[str]:
        """The columns that measure a span of time, those with a unit first; no ages and no years of service."""
        measured = [name for name in self.numbers if self._measure(name) in ("min", "h", "d", "s", "ur", "dni", "days")]
        counted = [name for unit in ("minutes", "hours", "days") for name in self._of_unit(unit)]
        return list(dict.fromkeys([*measured, *counted]))

    def _measure(self, name: str) -> str:
        column = self.number(name)
        return "" if column is None else bare(column.measure)

    def _doubts(self, asked: list[tuple[str, JsonObject]], doubted: list[Json]) -> list[tuple[str, JsonObject]]:
        """The first question, and the same one with the other columns that a comparison may be about."""
        found = asked[:1]
        for name in self.other_columns:
            for key, given in asked[:1]:
                changed: JsonObject = {
                    part: [[name, *row[1:]] if row == doubted else row for row in given[part]]
                    for part in ("where", "of")
                    if part in given
                }
                found.append((key, {**given, **changed}))
        return [*found, *asked[1:]]

    def _other_kind(self, at: int, key: str | None) -> bool:
        """A kind that the question is not: another figure was asked for too, or the word means something else."""
        kind = self.marks[at].roles["kind"]
        if kind == key:
            return False
        if key is None:
            return bool(kind == "top_item")
        if kind == "top_item" and self.said(at) not in ("most", "najvec"):  # “the biggest households”
            return key in ("mean", "median", "sum", "quantile", "variance", "iqr")
        return kind in ("median", "mean", "variance", "iqr") or any(token.mended for token in self._tokens_of(at))

    def _shadowed(self, at: int, name: str, targets: list[tuple[int, str]]) -> bool:
        """A loose synonym beside a word that names another column."""
        better = [other for place, other in targets if other != name and self.weight_at(place) > 1]
        if self.has(at, "unit") and not better:
            return False
        asked = any(bare(token.text) in ("how", "kako", "koliko") for token in self.tokens)
        if asked and name in self.ages and not self.has(at, "rows"):
            return False  # “koliko so običajno stari kupci”
        numbers = any(self.is_a(other, Number) for other in better)
        return self.has(at, "rows", "stop", "unit") or (numbers and self.is_a(name, Number))

    def _unshadowed(self, loose: list[tuple[int, str]], kinds: list[str]) -> list[tuple[int, str]]:
        """Words for the rows that are all that names a column: “najpogostejša vloga”, “the average booking”."""
        wanted = (Category, ItemSet) if "top_item" in kinds else (Number,)
        found = [
            (at, self.column_at(at, wanted) or "")
            for at, _ in loose
            if self.column_at(at, wanted) and len(self._tokens_of(at)[0].stem) > 3
        ]
        return [(at, name) for at, name in found if name not in self.ages and name == self.column_at(at)]

    def _kind(self, kinds: list[str], numbers: list[Json], lists: list[Json]) -> str | None:
        found = set(kinds)
        for key in ("quantile", "iqr", "variance", "crosstab", "proportion", "cdf_tree", "density"):
            if key in found:
                return key
        others = found - {"top_item", "histogram", "median", "mean", "sum", "count"}
        if others:
            return sorted(others, key=kinds.index)[0]
        if "top_item" in found and (lists or self.by) and (not numbers or self._which(lists, numbers)):
            return "top_item"
        if found == {"top_item"} and any(self.has(at - 1, "which") and self.weight_at(at) >= 3 for at, _ in numbers):
            return "top_item"  # “what year group do most projects come from”
        named = max((self.weight_at(at) for at, _ in numbers), default=1)
        if named >= 1 and "top_item" in found and found <= {"top_item", "count"} and self._most_common():
            return "top_item"
        for key in ("histogram", "median", "mean"):
            if key in found:
                return key
        if "sum" in found and (numbers or "count" not in found):
            return "sum"
        return "count" if "count" in found else None

    def _which(self, lists: list[Json], numbers: list[Json]) -> bool:
        """“which equipment do crews use most”: the list is named, the number only touched."""
        named = any(self.has(at - 1, "which") and self.weight_at(at) >= 3 for at, _ in lists)
        return named and all(self.weight_at(at) < 2.5 for at, _ in numbers)

    def _most_common(self) -> bool:
        """Does a word ask for the commonest value, and not only for the biggest or most?"""
        asked = [self.said(at) for at in range(len(self.marks)) if self.has(at, "kind")]
        return any(word not in ("most", "najvec", "top", "biggest", "largest", "main", "najvecji") for word in asked)

    def _row(self, cond: _Cond) -> list[Json]:
        if not cond.labels:
            return [cond.column, cond.op, cond.operand]
        labels = list(dict.fromkeys(cond.labels))
        if isinstance(self.schema.columns[cond.column], ItemSet):
            return [cond.column, "has none of" if cond.negated else "has", labels]
        return [cond.column, "not in" if cond.negated else "in", labels]

    def _asked(self, where: list[Json], **given: Json) -> JsonObject:
        return {**given, **({"where": where} if where else {})}

    def _grouped(self, parameters: Container[str] = ("by",)) -> JsonObject:
        return {"by": self.by[0]} if self.by and "by" in parameters else {}

    def _take(self, targets: list[tuple[int, str]], name: str) -> None:
        self.take("target", [at for at, other in targets if other == name])

    def _take_beside(self, name: str) -> None:
        """“mesečnih strani”, of `str_mesec`: the other words of its name, right before or after it."""
        words = {root for word in stems_of(name_words(name), self.lang) for root in roots(word, self.lang)}
        taken = [at for at, mark in enumerate(self.marks) if mark.took == "target" and self.column_at(at) == name]
        for near in (near for at in taken for near in (at - 1, at + 1, at + 2) if 0 <= near < len(self.marks)):
            mark = self.marks[near]
            beside = words & set(roots(self._tokens_of(near)[-1].stem, self.lang))
            if beside and not mark.used and not mark.roles.keys() & {"kind", "val", "by", "number"}:
                mark.take("target")

    def _take_best(self, targets: list[tuple[int, str]]) -> str:
        """Take the column that the words name best."""
        name = max(targets, key=lambda found: self.weight_at(found[0]))[1]
        self._take(targets, name)
        self._take_beside(name)
        return name

    def _without_kind(
        self, numbers: list[Json], lists: list[Json], days: list[Json], where: list[Json], inside: list[str]
    ) -> list[tuple[str, JsonObject]]:
        if numbers:
            name = self._take_best(numbers)
            given = self._asked(where, column=name, **self._grouped())
            if inside:
                return [(inside[0], given)]
            self.guessed = True
            timed = self.by and isinstance(self.by[0], dict) and self.by[0].get("by") in LANGUAGES[self.lang].periods
            adds = timed and name in self._of_unit("money") and not self._life_date(self.by[0]["column"])
            whole = {"vse", "vsa", "ves", "vsi", "cel", "all", "whole", "entire", "vs"}
            asks = any(bare(token.text) in ("koliko", "much") for token in self.tokens)
            adds = adds or (asks and any(bare(token.text) in whole for token in self.tokens))  # “koliko stane vsa krma”
            kinds = ("sum", "mean", "median") if adds else ("median", "mean")  # “sales per month”
            figures = [(key, given) for key in kinds]
            if where and self._plain_people(numbers):
                return [("count", self._asked(where, **self._grouped())), *figures]
            return figures
        if len(lists) + len(self.by) > 1 and len(lists) < 3:
            names = [*(name for _, name in lists), *self.by]
            self.take("target", [at for at, _ in lists])
            return self._crosstab(where, [self._plain_ref(name) for name in names])
        if lists and not self.by and where and self._plain_people(lists):  # “pupils who go to chess”
            self._take(lists, lists[0][1])
            self.guessed = True
            bars = ("histogram", self._asked(where, column=self._plain_ref(lists[0][1])))
            return [("count", self._asked(where)), bars]
        if lists and not self.by:
            self._take(lists, lists[0][1])
            return [("histogram", self._asked(where, column=self._plain_ref(lists[0][1])))]
        if days and not self.by:
            self._take(days, days[0][1])
            period = next((mark for mark in self.marks if "period" in mark.roles and not mark.used), None)
            if period is not None:
                period.take("period")
            rule = period.roles["period"] if period is not None else "month"
            return [("histogram", self._asked(where, column={"column": days[0][1], "by": rule}))]
        if len(self.by) > 1:
            return self._crosstab(where, self.by)
        if where or self.by:
            named = [at for at, mark in enumerate(self.marks) if mark.took == "val" and self._topic(at)]
            topic = len(self.conds) == 1 and any(
                self.weight_at(at) >= 3 and self.column_at(at) == self.conds[0].column for at in named
            )
            topic = topic and bool(yes_no(self.declared(self.conds[0].column)))  # “student housing by programme”
            if self.by and where and (topic or self.contrasted):  # “are remote workers more satisfied”
                self.guessed = True
                share = ("proportion", {"of": where, **self._grouped()})
                return [share, ("count", self._asked(where, **self._grouped()))]
            return [("count", self._asked(where, **self._grouped()))]
        return []

    def _crosstab(self, where: list[Json], columns: list[Json]) -> list[tuple[str, JsonObject]]:
        self.by = []
        return [("crosstab", self._asked(where, columns=columns))]

    def _topic(self, at: int) -> bool:
        """“student housing by programme”, “helmet use by membership”: what the text begins with, and not people."""
        if any(not self.has(before, "stop") for before in range(at)):
            return False
        used = ("use", "usage", "ownership", "uptake", "raba", "uporaba", "lastništvo")
        mark, after = self.marks[at], [token.stem for token in self.tokens[self.marks[at].last + 1 :][:1]]
        return mark.last > mark.first or bool(set(after) & self.stems(*used))

    def _plain_people(self, numbers: list[Json]) -> bool:
        """“boys who train football”: people are named, no figure is asked for, and a verb only touches a number."""
        asked = ("what", "how", "kaj", "kako", "koliko", "kaksen", "kaksna", "kaksno", "kaksni", "kaksne", "kolik")
        if any(bare(token.text) in asked or bare(token.text).startswith("kolik") for token in self.tokens):
            return False
        if any(mark.took == "target" and "long" in mark.roles for mark in self.marks):
            return False
        counted = {stem(word, self.lang) for word in ("number", "count", "število", "količina")}
        touched = [
            at > 0
            and (
                self.weight_at(at) <= 1
                or (self.weight_at(at) < 3 and bool(counted & set(stems_of(name_words(name), self.lang))))
            )
            for at, name in numbers
        ]
        return self.has(0, "rows", "val", "life") and all(touched)

    def _plain_ref(self, name: Json) -> Json:
        return self._ref(name) if isinstance(name, str) else name

    def _with_kind(
        self, key: str, numbers: list[Json], lists: list[Json], days: list[Json], where: list[Json]
    ) -> list[tuple[str, JsonObject]]:
        parameters = {parameter.name: parameter for parameter in catalogue[key].card.parameters}
        if key == "proportion":
            return self._proportion(lists)
        if numbers and self._all_or_each(key):
            self.guessed = True  # each of them, or all together?
            given = self._asked(where, column=self._take_best(numbers), **self._grouped())
            self.take("target", self.all_free("money"))
            order = ("median", "mean", "sum") if self._rate() else ("sum", "mean", "median")
            return [(found, given) for found in order]
        if key == "count" and (name := self._added(numbers)):
            self.guessed = True
            self._take(numbers, name)
            given = self._asked(where, column=name, **self._grouped())
            return [("sum", given), ("mean", given), ("median", given)]
        if key == "count" and numbers and self._how_much(numbers):
            return self._without_kind(numbers, lists, days, where, [])
        if key == "count":
            if len(self.by) > 1:
                return self._crosstab(where, self.by)
            if self.by and any(found[1] == self.by[0] for found in lists):
                self._take(lists, self.by[0])  # “all countries and how many singers in each country”
                lists = [found for found in lists if found[1] != self.by[0]]
            if len(lists) == 1 and not numbers and (self.by or not where):
                return self._without_kind([], lists, [], where, [])
            return [(key, self._asked(where, **self._grouped()))]
        if "columns" in parameters:
            kind = (Number,) if parameters["columns"].kind != "columns" else (Category, Date)
            found = [*numbers] if kind == (Number,) else [*lists, *days]
            names: list[Json] = list(dict.fromkeys(name for _, name in found))
            self.take("target", [at for at, _ in found])
            names = [name if kind == (Number,) else self._plain_ref(name) for name in names] + self.by
            self.by = []
            return [(key, self._asked(where, columns=names))] if names else []
        takes = parameters["column"].kind if "column" in parameters else ""
        fitting = {
            "column.number": numbers,
            "column.ordered": [*numbers, *days],
            "column.listed": lists,
            "column.category": lists,
            "column.any": [*numbers, *lists, *days],
        }.get(takes, [])
        extra: JsonObject = (
            {"share": self.shares if len(self.shares) > 1 else (self.shares or ["0.9"])[0]} if key == "quantile" else {}
        )
        if key == "top_item":
            extra = self._how_many(lists[0][0] if lists else None)
            if numbers and not lists:  # “the most frequent team size”
                name = self._take_best(numbers)
                column = self.schema.columns[name]
                whole = isinstance(column, Number) and column.size <= MOST_GROUPS
                step = column.step if isinstance(column, Number) and whole else None
                return [(key, self._asked(where, column=self._ref(name, step), **extra))]
        if (
            not fitting
            and takes in ("column.listed", "column.any", "column.ordered", "column.category")
            and (self.by and "by" not in parameters)
        ):
            grouped, self.by = self.by[0], self.by[1:]
            return [(key, self._asked(where, column=grouped, **extra))]
        if not fitting and takes == "column.listed":
            taken = {cond.column for cond in self.conds}
            loose = {name for mark in self.marks for _, name in mark.roles.get("col", ()) if not mark.used}
            others = [name for name in self.schema.of_kind(Category, ItemSet) if name not in taken]
            open_lists = [name for name in others if not yes_no(self.declared(name))]
            self.guessed = True
            open_lists.sort(key=lambda name: name not in loose)
            return [(key, self._asked(where, column=name, **extra)) for name in open_lists]
        if not fitting:
            wide = [name for name in self.numbers if takes in ("column.number", "column.ordered", "column.any")]
            self.guessed = True
            return [(key, self._asked(where, column=name, **extra, **self._grouped(parameters))) for name in wide]
        chosen = max(fitting, key=lambda found: self.weight_at(found[0]))
        self._take(fitting, chosen[1])
        if "by" not in parameters and key == "histogram" and self.by and self.is_a(chosen[1], Category):
            return self._crosstab(where, [self._plain_ref(chosen[1]), *self.by])
        rest = [found for found in lists if found[1] != chosen[1] and not self.marks[found[0]].used]
        named_first = len(rest) == 1 and (self.has(rest[0][0] - 1, "which") or rest[0][0] < chosen[0])
        if "by" in parameters and not self.by and named_first and not self._limited(rest[0][0]):
            self.by.append(self._plain_ref(rest[0][1]))
            self._take(rest, rest[0][1])
            if self.has(rest[0][0] - 1, "which"):  # “which field has the highest average score”
                self.take("kind", [*self.all_free("top"), *self.all_free("bottom")])
        column: Json = chosen[1]
        if self.is_a(chosen[1], Date) and takes == "column.any":
            column = {"column": chosen[1], "by": "month"}
        elif takes != "column.ordered" and str(column).startswith("\0"):
            column = self._plain_ref(column)
        return [(key, self._asked(where, column=column, **extra, **self._grouped(parameters)))]

    def _limited(self, at: int) -> bool:
        """“huts above 2000 m: average rating” is about some of the rows."""
        return at + 1 < len(self.marks) and self.marks[at + 1].took == "bound"

    def _how_many(self, target: int | None = None) -> JsonObject:
        """“top 3”, “3 commonest diagnoses”, “tri mesta z največ naročili”"""
        named = [at for at, mark in enumerate(self.marks) if mark.took == "kind"]
        back = [] if target is None else [target - 1, self.past(target - 1, -1, ["stop"], ["number", "num"])]
        for at in [*(at + 1 for at in named), *(at - 1 for at in named), *back]:
            amount = self._amount(at)
            if amount is not None and amount.denominator == 1 and amount > 0:
                self.marks[at].take("number")
                return {"how_many": int(amount)}
        return {}

    def _added(self, numbers: list[Json]) -> str | None:
        """“how many passengers”, “koliko poškodb”: a column that counts things, right after the words that ask."""
        for at, name in numbers:
            column = self.number(name)
            whole = column and column.step == 1 and not column.measure and column.lower in (0, 1)
            if not whole or self.weight_at(at) < 1.5 or name in self._ratings():
                continue
            near = at - 1
            if self.has(near, "rows") and not self.has(near, "col") and self.has(near, "stop"):
                continue  # “how many people donated”
            while self.has(near, "stop", "rows", "have") and (
                not self.has(near, "kind", "col") or self.column_at(near) == name
            ):
                near -= 1
            if near >= 0 and self.marks[near].took == "kind":
                return str(name)
        return None

    def _ratings(self) -> list[str]:
        """Ages, marks and the like: numbers that nobody adds up."""
        words = {"en": ("age", "points", "grade", "rating", "year"), "sl": ("starost", "točke", "ocena", "letnik")}
        return [name for word in words[self.lang] for name in self.like(word)]

    def _all_or_each(self, key: str) -> bool:
        """“how much money do they get”, “koliko evrov smo dobili”: in total, or each?"""
        asked = [self.words(at).lower() for at in self._kind_marks()]
        money = any(mark.took == "target" and mark.roles.keys() & {"money", "unit"} for mark in self.marks)
        money = money or any(self._asks_for(at, MEASURES) for at in range(len(self.marks)))
        said = any("money" in mark.roles for mark in self.marks)
        return (key == "sum" and asked == ["how much"]) or (key == "count" and (money or said))

    def _rate(self) -> bool:
        """“a month”, “na mesec”, “per person”: of each one. The words are taken."""
        each = ("a", "an", "per", "na", "vsak", "vsako", "every", "each")
        periods = [at for at in self.all_free("period") if at and self.said(at - 1) in each]
        rates = [*self.all_free("rate"), *periods]
        self.take("rate", rates)
        return bool(rates)

    def _kind_marks(self) -> list[int]:
        return [at for at, mark in enumerate(self.marks) if mark.took == "kind"]

    def _how_much(self, numbers: list[Json]) -> bool:
        """“koliko zaslužijo ženske”: not how many."""
        return any(at - 1 == first and self.lang == "sl" for first in self._kind_marks() for at, _ in numbers)

    def _proportion(self, lists: list[Json]) -> list[tuple[str, JsonObject]]:
        """Which conditions say what is counted (`of`), and which of whom (`where`)."""
        if not self.conds:
            if self.by[:1] and not self.by[1:]:  # “percentage of calls by shift”
                groups, self.by = self.by[0], []
                return [("histogram", {"column": groups})]
            if lists and not self.by:
                self._take(lists, lists[0][1])
                self.guessed = True
                bars = ("histogram", {"column": self._plain_ref(lists[0][1])})
                none = none_label(self.declared(lists[0][1]))
                some = {"of": [[lists[0][1], "not in", [none]]]}  # “what share uses a sleep aid”
                return [("proportion", some), bars] if none else [bars]
            return []
        asked = [found for found in lists if self.is_a(found[1], Category) and self.has(found[0] - 1, "which")]
        if (
            asked
            and not self.by
            and any(
                self.free(at, "top") or self.free(at, "bottom") or self._asks_most(at) for at in range(len(self.marks))
            )
        ):
            self.by.append(self._plain_ref(asked[0][1]))  # “which state has the highest approval rate”
            self._take(lists, asked[0][1])
            most = [at for at in range(len(self.marks)) if self._asks_most(at)]
            self.take("kind", [*self.all_free("top"), *self.all_free("bottom"), *most])
        ordered = sorted(self.conds, key=lambda cond: cond.place)
        people = [cond for cond in ordered if cond.people]
        if 0 < len(people) < len(ordered) and ordered[0].people:
            of, rest, clear = [cond for cond in ordered if not cond.people], people, len(ordered) == 2
        else:
            of, rest, clear = self._split(ordered)
        ways = [(of, rest)]
        if not clear:
            self.guessed = True
            ways += [(rest, of), (ordered, [])]
        rows = [(list(map(self._row, of)), list(map(self._row, rest))) for of, rest in ways]
        return [("proportion", self._asked(where, of=of, **self._grouped())) for of, where in rows]

    def _asks_most(self, at: int) -> bool:
        return self.role(at, "kind") == "top_item"

    def _split(self, conds: list[_Cond]) -> tuple[list[_Cond], list[_Cond], bool]:
        """What is counted, of whom, and whether the words say so."""
        if len({cond.column for cond in conds}) == 1:
            return conds, [], True
        asked = [at for at, mark in enumerate(self.marks) if mark.took == "kind" and mark.roles["kind"] == "proportion"]
        before = [cond for cond in conds if asked and cond.place < asked[0]]
        plain = asked and not self._in_question(asked[0])
        rate = plain and any(cond.labels and cond.place == asked[0] - 1 for cond in before)  # “unemployment rate in …”
        if 0 < len(before) < len(conds) and not rate:  # “of the visits in 2025, what share …”
            return [cond for cond in conds if cond not in before], before, True
        first = conds[0].place
        if asked and not plain and len(conds) > 1 and self._whole_first(asked[0], conds):
            return conds[1:], conds[:1], True  # “what fraction of the men run in Nike”
        described = (
            yes_no(self.declared(conds[0].column)) and self.has(first + 1, "rows") and not self.has(first, "rows")
        )
        if asked and described and first - asked[-1] <= 2 and len(conds) == 2:  # “delež odpovedanih izletov z vlakom”
            return conds[:1], conds[1:], False

        def free(at: int) -> bool:
            return self.marks[at].took != "bound"

        strong = self.stems("among", "amongst", "within", "med", "izmed", "pri")
        stated = [cond for cond in conds[1:] if yes_no(self.declared(cond.column))]
        verb = bool(asked and not plain and stated and conds[0].labels and not yes_no(self.declared(conds[0].column)))
        cues: tuple[tuple[Callable[[int], bool], bool], ...] = (  # and whether what is counted comes after it
            (lambda at: free(at) and any(token.stem in strong for token in self._tokens_of(at)), False),
            (lambda at: self._says(at, "have") or self._without(at), True),
            (lambda at: free(at) and self.has(at, "among") and not verb, False),  # “what share of X passed in 2024”
        )
        for (cue, after), cut in product(cues, range(1, len(conds))):
            if any(map(cue, range(conds[cut - 1].place + 1, conds[cut].place + 1))):
                return (conds[cut:], conds[:cut], True) if after else (conds[:cut], conds[cut:], True)
        said = [cond for cond in conds[1:] if yes_no(self.declared(cond.column))]
        if said and not yes_no(self.declared(conds[0].column)):  # “the share of clothes that … return”
            return said, [cond for cond in conds if cond not in said], False
        if conds[0].column in self.ages and conds[1].column not in self.ages:  # “what share of under-30s pay cash”
            return conds[1:], conds[:1], False
        if len(conds) == 2 and conds[0].labels and not conds[1].labels and conds[1].place - first <= 1:
            return conds, [], False  # “share of tickets solved within a day”
        if asked and not plain and len(conds) == 2:  # “what percentage of women walk”
            return conds[1:], conds[:1], False
        return conds[:1], conds[1:], False

    def _in_question(self, at: int) -> bool:
        """“what share …”, “kolikšen delež …”: and not “the share of …”."""
        asking = ("what", "kaksn", "kaksen", "koliksn", "koliksen")
        return any(
            bare(token.text).startswith(asking) for token in self._tokens_of(max(at - 1, 0)) + self._tokens_of(at)
        )

    def _whole_first(self, asked: int, conds: list[_Cond]) -> bool:
        """Is the first condition of whom, with a verb between it and the rest: “kakšen delež kmetij izvaja …”?"""
        first, second = conds[0], conds[1]
        strong = {"among", "amongst", "within", "med", "izmed", "pri", "in", "v", "na"}
        before = {self.said(at) for at in range(first.place + 1, second.place)}
        if self.lang == "en":
            return self.said(asked + 1) == "of the" or (
                self.said(asked + 1) == "of" and self.said(asked + 2) == "the" and not before & {"among", "within"}
            )
        verb = any(not self.marks[at].roles or self.has(at, "have") for at in range(first.place + 1, second.place))
        return verb and not before & strong

    def _without(self, at: int) -> bool:
        return any(bare(token.text) in ("without", "brez") for token in self._tokens_of(at))

    def _says(self, at: int, role: str) -> bool:
        """Has the mark this role, or one of its words: “ima avto” is a column, and says “has”."""
        return self.has(at, role) or any(
            role in self.known.phrases.get((token.stem,), {}) for token in self._tokens_of(at)
        )

    def _tokens_of(self, at: int) -> list[TypedWord]:
        return self.tokens[self.marks[at].first : self.marks[at].last + 1]

    def _parts_conditions(self, at: int) -> bool:
        """An “or” between conditions on different columns, or between comparisons: no question can say that."""
        conditions = ("val", "bound", "when", "life")
        left = next((mark for mark in reversed(self.marks[:at]) if mark.used), None)
        right = next((mark for mark in self.marks[at + 1 :] if mark.used), None)
        if left is None or right is None or left.took not in conditions or right.took not in conditions:
            return False
        return not (self._columns_of(left) & self._columns_of(right)) or "bound" in (left.took, right.took)

    def _columns_of(self, mark: MarkedWords) -> set[str]:
        return {sense[1] for role in ("val", "col") for sense in mark.roles.get(role, ())}

    def unread(self) -> tuple[str, ...]:
        """The words that no step used."""
        left = []
        held = {label.lower() for cond in self.conds for label in cond.labels}
        for at, mark in enumerate(self.marks):
            if mark.used or self.words(at).lower() in held:  # “students: yes”, read as Student is yes
                continue
            near = [place for place in (at - 1, at + 1, at + 2, at + 3) if self.has(place, "val", "when", "col")]
            compared = [cond.column for cond in self.conds if not cond.labels and cond.column in self.dates]
            small = mark.roles.keys() - _MEANING
            if (
                (self.said(at) in _OLD_OR_NEW and not self.ages_asked)
                or mark.roles.get("kind") == "top_item"
                or ("by" in mark.roles and self.said(at) in _EACH)
                or ("only" in mark.roles and not any(self.marks[place].used for place in near))
                or (
                    self.lang == "sl" and mark.roles.keys() == {"rows", "col"} and self.said(at - 1) == "v"
                )  # v rejništvu
                or ("or" in mark.roles and self._parts_conditions(at))
                or ("versus" in mark.roles and len(compared) > len(set(compared)))
                or (self.words(at).lower() == "nor" and not any(later.took == "val" for later in self.marks[at + 1 :]))
            ):
                left.append(self.words(at))
            elif not small or ("number" in mark.roles) or ("val" in mark.roles and not small & {"stop", "not"}):
                left += [self.words(at)] if any(sign.isalnum() for sign in self.words(at)) else []
            elif (
                "more" in mark.roles and self.said(at) not in ("than", "kot", "more", "vec")
            ) or not small & _HARMLESS:
                left.append(self.words(at))
        return tuple(dict.fromkeys(left))


def readings(text: str, facts: Facts) -> list[Meaning]:
    """At most three questions that the text may mean, best first; none if it has no reading."""
    return _either(text, facts)[0]


def _either(text: str, facts: Facts) -> tuple[list[Meaning], AllowanceError | None]:
    """In the reader's language; in the other one if that understands every word and this one does not."""
    lang = current() if current() in LANGUAGES else "en"
    found, refusal = _read(text, facts, lang)
    if not found or found[0].unread:
        other, _ = _read(text, facts, next(name for name in LANGUAGES if name != lang), every=True)
        if other and not other[0].unread:
            return other, None
    return found, refusal


def _read(text: str, facts: Facts, lang: str, every: bool = False) -> tuple[list[Meaning], AllowanceError | None]:
    """The readings, and why the first question that cannot be asked of this table cannot. `every`: of a text without
    an unknown word, or none."""
    parse = _Parse(text[:LONGEST], facts.schema, lang, facts.table)
    if all(mark.roles.keys() <= _SILENT for mark in parse.marks):
        return [], None  # nothing in it is known
    unknown = sum(not mark.roles for mark in parse.marks)
    if (every and unknown) or (len(parse.marks) >= _LONG and 2 * unknown > len(parse.marks)):
        return [], None  # a long text of which most is unknown is no question
    parse.run()
    asked = parse.reading()
    unread = parse.unread()
    if parse.by[1:]:
        unread += tuple(str(ref["column"] if isinstance(ref, dict) else ref) for ref in parse.by[1:])
    found: list[Meaning] = []
    refusal: AllowanceError | None = None
    for key, given in asked:
        try:
            query = catalogue[key].build(facts, {"epsilon": USUAL, **given})
        except AllowanceError as refused:
            refusal = refusal or refused
            continue
        found.append(Meaning(key, given, query.sentence(), unread, parse.guessed))
    return found[:MOST_READINGS], refusal


def understood(text: str, facts: Facts) -> Meaning:
    """The one question that a text means, or an error with its readings."""
    found, refusal = _either(text, facts)
    if not found:
        raise refusal or NotUnderstood("read.nothing")
    first = found[0]
    offered = say("read.or").join(say("read.quoted", text=reading.sentence) for reading in found)
    if first.unread:
        unread = ", ".join(say("read.quoted", text=word) for word in first.unread)
        raise NotUnderstood("read.unread", found, words=unread, readings=offered)
    if first.guessed and len(found) > 1:
        raise NotUnderstood("read.several", found, readings=offered)
    return first


# Completion


def example(schema: Schema) -> str:
    """A question about the first columns, as a person may type it; "" for a table without any that suits."""
    words = LANGUAGES[current() if current() in LANGUAGES else "en"]
    numbers, lists = schema.of_kind(Number), schema.of_kind(Category)
    text = words.kinds["mean" if numbers else "count"].split("|")[0]
    if numbers:
        text = say("box.example_of", kind=text, column=name_words(called(numbers[0])))
    return say("box.example_by", text=text, column=name_words(called(lists[0]))) if lists else text


def vocabulary(schema: Schema) -> list[str]:
    """Every phrase that `completions` may offer. Public facts alone."""
    return list(lexicon_of(schema, current() if current() in LANGUAGES else "en").written)


def completions(text: str, schema: Schema) -> list[str]:
    """The text with its last word completed, at most six ways. Public facts alone."""
    known = lexicon_of(schema, current() if current() in LANGUAGES else "en")
    offered = list(zip(known.written, known.bared, strict=True))
    return list(dict.fromkeys(_completed(text[:LONGEST], offered)))[:MOST_COMPLETIONS]


def _completed(text: str, offered: list[tuple[str, str]]) -> Iterator[str]:
    starts = [match.start() for match in re.finditer(r"(?<!\S)\S", text)]
    if not text.strip() or text[-1:].isspace():
        return
    for start in starts[-3:]:  # the longest run of typed words that begins a phrase
        begun = bare(text[start:])
        matching = [phrase for phrase, plain in offered if plain.startswith(begun) and plain != begun]
        matching += [phrase for phrase, plain in offered if f" {begun}" in plain]
        yield from (text[:start] + phrase for phrase in matching)
        if matching:
            return
