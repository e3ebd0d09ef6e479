"""A typed text over one table: its words, what each may mean, and which are used."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from dpengine.core.types import Json
from dpengine.declared.date_column import Date
from dpengine.declared.schema import Category, Number, Schema
from dpengine.reading.cutting import TIMES, TypedWord, cut_words, name_words, plain_words, stems_of, with_numbers
from dpengine.reading.lexicon import (
    COUNTED,
    SAID_ALIKE,
    MarkedWords,
    alike_to,
    joined,
    lexicon_of,
    marked,
    measureless,
    numbered,
    spell,
    women_apart,
)
from dpengine.reading.measures import measured
from dpengine.reading.words import LANGUAGES, MEASURES, MONEY, SCALES, bare, roots, stem

_MOST_WORDS = 60
_TIMED = frozenset(
    "min minut minutes h hr hrs hour hours ur d day days dni s sec seconds sek sekund week weeks tednov".split()
)
_SORTS = ("type", "kind", "categor", "sort", "vrst", "tip", "kategorij")
FEW = 12  # values of a number that are groups by themselves


@dataclass
class Condition:
    place: int
    column: str
    op: str
    operand: Json
    labels: list[str] = field(default_factory=list)
    negated: bool = False
    people: bool = False  # it only says of whom: “adults”


class Sentence:
    def __init__(self, text: str, schema: Schema, lang: str, table: str = "") -> None:
        schema = measured(schema)
        self.schema, self.lang = schema, lang
        self.known = lexicon_of(schema, lang)
        self.tokens = with_numbers(cut_words(text, lang)[:_MOST_WORDS], lang)
        for at, token in enumerate(self.tokens[1:] if lang == "en" else (), 1):
            before = bare(self.tokens[at - 1].text)
            if bare(token.text) == "then" and (before in ("more", "less", "worse") or before.endswith("er")):
                token.text, token.stem = "than", stem("than", lang)  # “open more then 30 days”
        self.called = called = set(stems_of(name_words(table), lang))
        for at, token in enumerate(self.tokens if lang == "sl" else ()):  # as it is spoken; a kolk is a hip too
            if bare(token.text) in ("kolko", "kulk", "kok") or (at == 0 and bare(token.text) == "kolk"):
                token.stem = stem("koliko", lang)
        if lang == "sl":
            apart = [part for token in self.tokens for part in women_apart(token, self.known, called)]
            self.tokens = [part for token in apart for part in numbered(token, self.known)]
        self.tokens = joined(self.tokens, self.known, lang)
        spell(self.tokens, self.known, lang, called)
        self.marks = marked(self.tokens, self.known)
        rows_alike = alike_to(called, lang)
        for mark in self.marks:
            if mark.first == mark.last and self.tokens[mark.first].stem in called and self._part_of_values(mark):
                del mark.roles["val"]  # “kurilne naprave” are the rows, and no kurilno olje
            elif mark.first == mark.last and self.tokens[mark.first].stem in called and "val" in mark.roles:
                named = [sense for sense in mark.roles["val"] if sense[0] > 2]
                mark.roles = {role: data for role, data in mark.roles.items() if role != "val"}
                mark.roles |= {"val": named} if named else {"rows": True}  # “psi” of a table of dogs are not the males
            elif mark.first == mark.last and self.tokens[mark.first].stem in rows_alike and "val" in mark.roles:
                named = [sense for sense in mark.roles["val"] if sense[0] != SAID_ALIKE]
                mark.roles = {role: data for role, data in mark.roles.items() if role != "val"}
                mark.roles |= {"val": named} if named else {"rows": True}
            if mark.first == mark.last and self.tokens[mark.first].stem in called and not mark.roles.keys() - {"col"}:
                senses = [
                    (1 if weight < 2.5 or self._with_unit_in_name(name) else weight, name)
                    for weight, name in mark.roles.get("col", ())
                ]
                mark.roles |= {"rows": True} | ({"col": senses} if senses else {})  # what the table is called
            if mark.roles.get("kind") == "top_item" and self.is_a(self._exact(mark), Category):
                del mark.roles["kind"]  # a column that is called mode
        for at in range(len(self.marks)):
            if self._only_a_pronoun(at):
                del self.marks[at].roles["val"]
            if self._events(at):
                self.marks[at].roles = {"rows": True}
            if self.role(at, "unit") == "times" and (
                self.said(at) != "time" or self.has(at - 1, "ord", "number", "num")
            ):
                self.marks[at].roles.pop("col", None)  # “5 times a week”, “the first time” are no spans of time
        for at in range(len(self.marks) - 1):
            sort, thing = (at + 1, at) if lang == "en" else (at, at + 1)
            if self.said(sort).startswith(_SORTS) and self.has(sort, "stop") and self.has(thing, "rows"):
                named = [(2.5, name) for _, name in self.role(thing, "col") or () if self.is_a(name, Category)]
                self.marks[thing].roles = (
                    {"col": named} if named else self.marks[thing].roles
                )  # “item type” of Item_cat
        for at in range(1, len(self.marks)):
            if "col" in self.marks[at].roles and self.said(at - 1) in ("na", "za", "per"):  # “za stran” are no pages
                senses = self.marks[at].roles["col"]
                self.marks[at].roles["col"] = [sense for sense in senses if sense[0] != COUNTED] or senses
            if self._noun_left_out(at):
                self.marks[at].roles = {"stop": True}
            if self.said(at) in ("x", "×") and self.has(at - 1, "col") and self.has(at + 1, "col"):
                for near in (at - 1, at + 1):  # “gradivo x enota”: both are columns
                    best = max(self.marks[near].roles["col"])
                    self.marks[near].roles = {"col": [(3, best[1])]}
        self.conds: list[Condition] = []
        self.by: list[Json] = []
        self.kinds: list[str] = []
        self.shares: list[str] = []
        self.guessed = False
        self.compare = False
        self.contrasted = False
        self.asked_unit = ""
        self.other_columns: list[str] = []
        self.doubted: Condition | None = None  # the condition that may be about one of them
        self.partly: list[Condition] = []  # where only one of the value's several words was typed
        self.dates = schema.of_kind(Date)
        self.numbers = schema.of_kind(Number)
        typed = {token.stem for token in self.tokens}
        self.covered = {name: len(typed & set(stems_of(name_words(name), lang))) for name in schema.columns}

    def _with_unit_in_name(self, name: str) -> bool:
        """`parcel_kg`: in a table of parcels, these are the rows and no weight."""
        return len(plain_words(name).split(" ")) == 2 and measureless(name, self.declared(name)) != ""

    def _events(self, at: int) -> bool:
        """“arrivals per month”, of a date `arrived`, although a list is called `arr_mode`."""
        senses = self.marks[at].roles.get("col", ())
        if self.lang != "en" or not senses or not self.said(at).endswith("s") or max(senses)[0] > 2:
            return False
        made = set(roots(self._tokens_of(at)[0].stem, self.lang)) - {""}
        dated = {
            root
            for name in self.schema.of_kind(Date)
            for word in stems_of(name_words(name), self.lang)
            for root in roots(word, self.lang)
        }
        return bool(made & dated) and self.is_a(max(senses)[1], Category)

    def _only_a_pronoun(self, at: int) -> bool:
        """“how it was paid”, of a list with IT: a small word in small letters."""
        values = [value for *_, value in self.marks[at].roles.get("val", ())]
        small = self.has(at, "stop") and self.words(at).islower() and all(map(str.isupper, values))
        return bool(values) and small and not (at and self.said(at - 1) in ("in", "from", "for", "v", "iz", "za"))

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
        return " ".join(token.text for token in self._tokens_of(place)) if 0 <= place < len(self.marks) else ""

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
        return self.schema.columns.get(name)

    def weight_at(self, place: int) -> float:
        return max((sense[0] for sense in self.role(place, "col") or ()), default=0)

    def like(self, word: str) -> list[str]:
        """The number columns whose name has a word of the same class."""
        senses = self.known.phrases.get((stem(word, self.lang),), {}).get("col", ())
        names = [name for _, name in sorted(senses, key=lambda sense: -sense[0])]
        return [name for name in names if self.is_a(name, Number)]

    def like_lists(self, word: str) -> list[str]:
        """The lists whose name has a word of the same class."""
        senses = self.known.phrases.get((stem(word, self.lang),), {}).get("col", ())
        return list(dict.fromkeys(name for _, name in senses if self.is_a(name, Category)))

    @property
    def ages(self) -> list[str]:
        return self.like("age" if self.lang == "en" else "starost")

    def _only(self, first: int, last: int, role: str) -> bool:
        return any(self.has(at, role) for at in range(first, last + 1))

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
            "seconds": ("seconds", "sekunde"),
            "minutes": ("waiting", "minutes", "čakalna", "minute"),
            "hours": ("hours", "waiting", "ure", "čakalna"),
            "days": ("days", "dnevi", "dni", "nights", "nočitve"),
            "weeks": ("weeks", "days", "tedni", "dnevi", "dni", "nights", "nočitve"),
            "months": ("months", "meseci"),
            "points": (
                *("points", "rating", "household", "team", "crew", "party", "persons", "people", "occupants", "guests"),
                *("točke", "ocena", "gospodinjstva", "ekipe", "skupine", "oseb", "članov"),
            ),
            "times": ("times", "often", "attempts", "tries", "visits", "pogostost", "poskusi", "poskusov", "obiski"),
        }.get(unit, tuple(MEASURES.get(unit, unit).split("|")))
        scaled = [smaller for larger, smaller in SCALES if larger == unit]
        signs = {
            "money": MONEY,
            "seconds": ("s", "sec", "sek", "seconds", "sekund"),
            "minutes": ("min", "s"),
            "hours": ("h", "hour", "ur", "min"),
            "days": ("d", "days", "dni"),
            "weeks": ("weeks", "d", "days", "dni"),
        } | {unit: (unit, *MEASURES[unit].split("|"), *scaled) for unit in MEASURES}
        said = {bare(word) for words in LANGUAGES.values() for word in words.units.get(unit, "").split("|")} - {""}
        measured = [
            name for name in self.numbers if self._measure(name) in signs.get(unit, ()) or self._measure(name) in said
        ]
        generally = tuple(word for word in said if len(word) > 1) if unit in TIMES[:-1] else ()
        others = [name for name in self.numbers if self.named_for(name, *named, *generally)]
        whole = self.stems("total", "skupaj", "skupni", "skup") if unit == "money" else set()
        found = list(dict.fromkeys([*measured, *others]))
        return sorted(found, key=lambda name: whole.isdisjoint(stems_of(name_words(name), self.lang)))

    def _small_year(self) -> str | None:
        """The column with few numbers whose name says year, such as a year of study; None if there is none."""
        small = (name for name in self.numbers if self.schema.columns[name].size <= FEW)
        return next((name for name in small if self.named_for(name, "year", "leto", "letnik")), None)

    def _names(self, at: int) -> bool:
        """Does a free mark name a column rather than a value?"""
        values = [sense[0] for sense in self.marks[at].roles.get("val", ())]
        return self.free(at, "col") and self.weight_at(at) > max(values, default=0)

    def _negated(self, at: int, column: str = "") -> int | None:
        """The mark that denies this one. Words for its column may stand between: “not paid by card”."""
        unknown = 0
        for near in range(at - 1, max(at - 5, -1), -1):
            if near + 1 < at and self.has(near, "not") and self._prefix(near):
                return None  # “nerešeni primeri na komunali”: the first part of another word
            if self.has(near, "not") and not (self.marks[near].used and self.marks[near].took != "not"):
                return near
            if column and self.column_at(near) == column:
                continue
            participle = self.has(near, "col") and self.weight_at(near) <= 1 and near == at - 1
            if column and participle and not self.has(near, "val", "kind", "or"):
                continue  # “ni bilo rojenih vaginalno”
            if self.has(near - 1, "not") and self.said(near - 1) in ("brez", "without") and not self.marks[near].roles:
                return None  # “without a lift in Celje”
            if not self.marks[near].roles and not unknown and column:  # “ne kurijo z oljem”
                unknown += 1
                continue
            if self.has(near, "col", "val", "kind", "or") or not self.has(near, "stop", "among", "have", "rows", "to"):
                return None
        return None

    def _prefix(self, at: int) -> bool:
        """Is a denial only the first part of the word after it?"""
        return at + 1 < len(self.marks) and self._tokens_of(at)[0].text == self._tokens_of(at + 1)[0].text

    def _superlative(self, at: int) -> int:
        """Where “the highest …” stands right after a list: “country with the highest income”; -1 if it does not."""
        near = self.past(at + 1, 1, ["stop", "have", "with"], ["top", "bottom"])
        joined = any(self.has(place, "with") for place in range(at + 1, near))
        return near if joined and self.has(near, "top", "bottom") and not self.marks[near].used else -1

    def _typed_kinds(self) -> set[str]:
        return {mark.roles["kind"] for mark in self.marks if "kind" in mark.roles and not mark.used}

    def _of_time(self) -> list[str]:
        """The columns that measure a span of time, those with a unit first; no ages and no years of service."""
        measured = [name for name in self.numbers if self._measure(name) in _TIMED]
        counted = [name for unit in ("minutes", "hours", "days") for name in self._of_unit(unit)]
        return list(dict.fromkeys([*measured, *counted]))

    def _measure(self, name: str) -> str:
        column = self.number(name)
        if column is not None and not column.measure and "%" in name:
            return "%"
        return "" if column is None else bare(column.measure)

    def _ratings(self) -> list[str]:
        """Ages, marks and the like: numbers that nobody adds up."""
        words = {"en": ("age", "points", "grade", "rating", "year"), "sl": ("starost", "točke", "ocena", "letnik")}
        return [name for word in words[self.lang] for name in self.like(word)]

    def _tokens_of(self, at: int) -> list[TypedWord]:
        return self.tokens[self.marks[at].first : self.marks[at].last + 1]
