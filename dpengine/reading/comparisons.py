"""Comparisons with numbers in a typed text: which column they are about, and in what unit."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

from dpengine.core.exact import text_of
from dpengine.core.types import Json
from dpengine.declared.schema import Category, Number
from dpengine.reading.cutting import TIMES, name_words, stems_of
from dpengine.reading.lexicon import yes_no
from dpengine.reading.percentiles import Percentiles
from dpengine.reading.sentence import Condition
from dpengine.reading.words import LANGUAGES, MEASURES, SCALES, bare, stem

_NUMBERS_OF_PEOPLE = "twos threes fours fives sixes sevens eights nines tens".split()  # the under fives
_CHILDREN = ("kid", "child", "otro", "mladi", "young", "youth", "teen")
_SINCE = ("before", "after", "until", "till", "since", "pred", "po", "do")
_RELATIVE = ("that", "which", "who", "ki")
_FOR = ("for", "among", "pri")
_ONE_OF = ("second", "minute", "hour", "day", "week", "month", "year", "night", "kg", "mile", "point", "star")
SPANS = frozenset((*TIMES, *(unit for pair in SCALES for unit in pair)))  # units that may be turned into others


@dataclass
class Bound:
    """A comparison with a number."""

    first: int  # places among the marks
    last: int
    op: str
    values: list[Fraction]
    unit: str = ""
    aged: bool = False
    lasting: bool = False  # longer, shorter


_BAND = re.compile(r"(\D*)(\d+)\s*(?:(?:-|–|to|do)\s*(\d+))?(.*)")
_BELOW, _ABOVE = ("under", "below", "<", "do", "pod", "up to", "manj"), ("over", "above", ">", "nad", "od", "več")


def _band(value: str) -> tuple[int, int] | None:
    """The whole numbers of a value such as “30–44”, “under 30” and “60+”."""
    found = _BAND.fullmatch(value.lower().strip())
    if found is None or (not found[3] and not (found[1].strip() or found[4].strip())):
        return None
    low = int(found[2])
    if found[3]:
        return low, int(found[3])
    words = f"{found[1]} {found[4]}"
    if any(word in words for word in ("+", "and over", "or over", "or more", "and older", "in več", "ali več")):
        return low, 10**6
    if found[1].strip().startswith(_BELOW):
        return 0, low - found[1].strip().startswith(("under", "below", "<", "pod", "manj"))
    return (low + found[1].strip().startswith(_ABOVE), 10**6) if found[1].strip().startswith(_ABOVE) else None


def _covered(bands: dict[str, tuple[int, int]], bound: Bound) -> list[str]:
    """The values that a comparison covers; none if it cuts one apart. “Over 60” is the band 60+."""
    first, last = bound.values[0], bound.values[-1]
    low = first if bound.op in (">", ">=", "between", "=") else Fraction(0)
    high = last if bound.op in ("<", "<=", "between", "=") else Fraction(10**6)
    inside = [value for value, (start, end) in bands.items() if low <= start and end <= high]
    high += bound.op in ("<=", "between", "=")
    low -= bound.op in (">=", "between", "=")
    cut = [value for value, (start, end) in bands.items() if value not in inside and start < high and end > low]
    return inside if inside and not cut and len(inside) < len(bands) else []


class Comparisons(Percentiles):
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
            if self.ages and (age := self._tens(at)):  # “women in their thirties”
                self.conds.append(Condition(at, self.ages[0], "between", [text_of(age), text_of(age + 9)], people=True))
                self.take("bound", (at, at + 1))
            elif "life" in mark.roles and self.ages:
                rule = mark.roles["life"]
                if aged:
                    mark.take("life")
                elif not rule and self._young() and self.said(at).startswith(_CHILDREN):
                    mark.take("rows")  # a table of children alone
                elif rule:
                    op, number = rule.split()
                    self.conds.append(Condition(at, self.ages[0], op, number, people=True))
                    mark.take("bound")
            elif "gratis" in mark.roles and (free := self._free_of(at)):
                self.conds.append(Condition(at, free, "=", "0"))
                self.take("bound", (at - 1, at))
            elif "gratis" in mark.roles and (price := self._price()):
                self.conds.append(Condition(at, price, "=", "0"))
                near = [place for place in (at - 1, at + 1) if self.free(place, "col")]
                self.take("bound", [at, *(place for place in near if self.column_at(place) == price)])
            elif "alone" in mark.roles and (homes := self._companies()):
                self.conds.append(Condition(at, homes[0], "=", "1"))
                mark.take("bound")
            elif "graded" in mark.roles and (rated := [one for one in self._ratings() if one not in self.ages]):
                self.conds.append(Condition(at, rated[0], "=", mark.roles["graded"]))
                mark.take("bound")
            elif "foreign" in mark.roles and (home := self._home()):
                self.conds.append(Condition(at, *home[:1], "", None, [home[1]], True))
                mark.take("val")
            elif "study" in mark.roles and (year := self._small_year()):
                self.conds.append(Condition(at, year, "=", mark.roles["study"], people=True))
                mark.take("bound")

    def _young(self) -> bool:
        """Does the column of ages end before people are grown up?"""
        column = self.number(self.ages[0])
        return column is not None and column.upper <= (228 if self._measure(self.ages[0]) == "months" else 19)

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
        named = [name for word in words for name in self.like(word)] or [
            name for name in self.numbers if self.named_for(name, "occupants", "persons", "oseb")
        ]
        return [name for name in named if self._within(name, [Fraction(1)])]

    def _free_of(self, at: int) -> str | None:
        """“error-free shifts”: a number of things, right before “free”, that is 0."""
        name = self.column_at(at - 1, (Number,)) if at and self.free(at - 1, "col") else None
        column = self.number(name)
        counts = column is not None and column.lower == 0 and column.step == 1 and not column.measure
        return name if self.lang == "en" and counts and self.words(at).lower() == "free" else None

    def _price(self) -> str | None:
        """The one column that says what a row costs and may be 0."""
        named = self.like("price" if self.lang == "en" else "cena") or self.like(
            "fee" if self.lang == "en" else "taksa"
        )
        paid = named or self._of_unit("money")
        free = [name for name in dict.fromkeys(paid) if self._within(name, [Fraction(0)])]
        return free[0] if len(free) == 1 else None

    def _bound(self, at: int) -> Bound | None:
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
        filled = end + 1 if self.said(end) == "pa" and self.has(end + 1, "to") else end  # “od 20 pa do 50”
        end = filled
        up_to = self.said(end) in ("up to", "do vkljucno") and self.has(at - 1, "between")
        second = self._amount(end + 1) if self.has(end, "to") or up_to else None
        if second is not None and (large := self._large(end + 1)) and first < second / large and first < large:
            first *= large  # “between two and three thousand”
        if second is not None and second > first and (not self.has(end, "and") or self.has(at - 1, "between")):
            start = at - 1 if self.has(at - 1, "between") and not self.has(at - 1, "col") else at
            aged = self.has(at - 1, "col") and self.column_at(at - 1) in self.ages
            return self._with_unit(Bound(start, end + 1, "between", [first, second], aged=aged))
        after = at + 1
        while self.has(after, "unit") and not self.has(after, "after"):
            after += 1
        if self.has(at - 1, "before") and not self.marks[at - 1].used:
            start, last, sign, op = at - 1, at, at - 1, self.marks[at - 1].roles["before"]
        elif self.has(after, "after"):
            start, last, sign, op = at, after, after, self.marks[after].roles["after"]
        elif self.free(at - 2, "before") and self.column_at(at - 1, (Number,)):  # “below age 30”
            start, last, sign, op = at - 2, at, at - 2, self.marks[at - 2].roles["before"]
        elif (sign_apart := self._over_the_age_of(at)) is not None:
            start, last, sign, op = sign_apart, at, sign_apart, self.marks[sign_apart].roles["before"]
        elif op_apart := self._apart(at):
            start, last, sign, op = at - 3, at, at - 3, op_apart
        elif (
            self.has(at - 2, "before") and not self.marks[at - 2].used and self._in_time(at)
        ):  # “prej kot v 15 minutah”
            start, last, sign, op = at - 2, at, at - 2, self.marks[at - 2].roles["before"]
        elif self._in_time(at):
            start, last, sign, op = at - 1, at, at - 1, "<="
        else:
            return None
        if self.free(start - 1, "not") and self.said(start - 1) in ("not", "ne", "ni", "niso") and sign == start:
            start, op = start - 1, {">": "<=", ">=": "<", "<": ">=", "<=": ">"}.get(op, "")
            if not op:
                return None
        aged = any(word in self.said(sign) for word in ("older", "younger", "starejs", "mlajs"))
        plural = self.said(at) in _NUMBERS_OF_PEOPLE or self.words(at + 1) == "s"  # the under fives, the over-65s
        aged = aged or (plural and not self.has(at + 1, "unit"))
        lasting = any(word in self.said(sign) for word in ("longer", "shorter", "dalj", "dlje", "krajs"))
        return self._with_unit(Bound(start, last, op, [first], aged=aged, lasting=lasting))

    def _over_the_age_of(self, at: int) -> int | None:
        """“over the age of 60”: the place of the comparison before a column's name."""
        named = self.past(at - 1, -1, ["stop"], ["col", "before", "not"])
        if named == at - 1 or not self.free(named, "col") or not self.column_at(named, (Number,)):
            return None
        sign = self.past(named - 1, -1, ["stop"], ["col", "before", "not"])
        return sign if sign >= 0 and self.free(sign, "before") else None

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
        if self.has(at, "ord") and self.said(at).endswith(("i", "a", "em", "ega")):
            return False  # “v peti minuti”
        return within and self.has(at + 1, "unit") and self.marks[at + 1].roles["unit"] in spans

    def _large(self, at: int) -> int:
        """A thousand, if the number here was typed as so many thousands; 0 otherwise."""
        many = {"thousand": 1_000, "tisoc": 1_000, "hundred": 100, "million": 1_000_000}
        return many.get(self.said(at).split()[-1], 0) if " " in self.words(at) else 0

    def _with_unit(self, bound: Bound) -> Bound:
        for at in range(bound.first, bound.last + 2):
            if self.has(at, "per cent") and self._of_unit("%"):
                bound.unit, bound.last = "%", max(bound.last, at)
            elif self.has(at, "unit") and not self.has(at, "number"):
                bound.unit = self.marks[at].roles["unit"]
                bound.last = max(bound.last, at) if self.weight_at(at) < 2 else bound.last
        return bound

    def _settle(self, bound: Bound) -> None:
        if self._in_bands(bound):
            return
        already = self.other_columns
        column, near = self._bounded(bound)
        if column is None:
            return
        values, declared = bound.values, self.schema.columns[column]
        if isinstance(declared, Number):
            factor = self._factor(bound.unit or "years" * bound.aged, column, declared)
            units = LANGUAGES[self.lang].units.get(bound.unit, "").split("|")
            counted = self.named_for(column, *units) or stem(declared.measure, self.lang) in self.stems(*units)
            if bound.unit in ("weeks", "months") and factor == 1 and not counted:
                return  # nobody said what the column counts
            values = [value * factor for value in values]
            if bound.aged and declared.years:  # “mlajši od letnika 2000” came later
                bound.op = {">": "<", ">=": "<=", "<": ">", "<=": ">="}.get(bound.op, bound.op)
            if near is None and not any(declared.lower <= value <= declared.upper for value in values):
                return  # “over 40 years old” is about no year of installation
        operand: Json = [text_of(value) for value in values] if bound.op == "between" else text_of(values[0])
        if any(cond.column == column and cond.op == bound.op != "between" for cond in self.conds):
            return  # “customers older than 60 with a car older than 15 years”
        self.conds.append(Condition(bound.first, column, bound.op, operand))
        if self.other_columns and not already:
            self.doubted = self.conds[-1]
        self.take("bound", [*range(bound.first, bound.last + 1), *([] if near is None else [near])])
        self._rest_of_name(bound.first, bound.last, column)
        verb = self.past(bound.first - 1, -1, ["stop"], ["col"])  # “settled within 14 days”
        if near is not None and near < bound.first and self.weight_at(near) <= 1 and self.said(near - 1) in _RELATIVE:
            verb = near - 2  # “decisions that took longer than a month”
        loose = self.column_at(verb) != column or self.weight_at(verb) <= 1 or near is not None
        if verb >= 0 and self.free(verb, "col") and self._is_year(verb, column) and loose:
            self.marks[verb].take("bound")

    def _in_bands(self, bound: Bound) -> bool:
        """“people under 30”, of a list of ages “under 30, 30-44, 45+”: the values that the comparison covers."""
        lists = self.like_lists("age" if self.lang == "en" else "starost")
        near = [at for at in (bound.first - 1, bound.first) if at >= 0 and self.column_at(at, (Category,)) in lists]
        if self.ages or not (bound.aged or bound.unit == "years" or near):
            return False
        for name in lists:
            column = self.schema.columns[name]
            bands = {value: band for value in getattr(column, "values", ()) if (band := _band(value)) is not None}
            covered = _covered(bands, bound) if len(bands) > 1 else []
            if covered:
                self.conds.append(Condition(bound.first, name, "", None, covered))
                self.take("bound", [*near, *range(bound.first, bound.last + 1)])
                return True
        return bool(near)  # no list says it

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
        if measure in ("s", "sec", "sek", "seconds", "sekund"):
            return {"minutes": 60, "hours": 3_600}.get(unit, 1)
        if measure.startswith("min"):
            return {"hours": 60, "days": 1_440}.get(unit, 1)
        if measure in ("h", "hours", "ur", "ure"):
            return {"days": 24}.get(unit, 1)
        return {"weeks": 7, "months": 30}.get(unit, 1) if days else 1

    def _bounded(self, bound: Bound) -> tuple[str | None, int | None]:
        """The column that a comparison is about, and the mark that names it."""
        if (sized := self._sized(bound)) is not None:
            return sized, bound.first - 2 if self.free(bound.first - 2, "col") else None
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
            close = [
                at
                for at in close
                if at not in elsewhere or not self._measured(at, bound.unit) or self._converts(at, bound.unit)
            ]
        if after == bound.last + 1 and (counted := self._counts(after)):
            return counted, after  # “več kot 20 reševalcev”, of `st_resevalcev`
        if before not in close and after in close and self.weight_at(after) <= 1 and self._aged_people(bound, before):
            return self.ages[0], None  # “what do women under 30 earn”
        weakly = all(self.weight_at(at) < self.weight_at(inside[0]) for at in close) if inside else False
        if weakly and self.column_at(inside[0]):
            return self.column_at(inside[0], (Number,)), inside[0]
        if not close and self._says_mean(before) and (name := self._averaged()):
            return name, before
        if bound.aged and not self.ages:  # “matico, starejšo od 2 let”, of `matica_let`
            lived = [at for at in close if self._measure(self.column_at(at, (Number,)) or "") in ("years", "months")]
            return (self.column_at(lived[0], (Number,)), lived[0]) if lived else (None, None)
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
        plain = [name for name in self.numbers if not self._measure(name)]
        wide = [name for name in (plain if bound.unit in TIMES else self.numbers) if self._within(name, bound.values)]
        named = [at for at in self.all_free("col") if self.column_at(at) in wide]
        if named and not bound.unit:
            at = min(named, key=lambda at: min(abs(at - bound.first), abs(at - bound.last)))
            self._or_else([name for name in self.numbers if name != self.column_at(at) and name in wide])
            return self.column_at(at), at if self._other_target() else None
        money = [name for name in self._of_unit("money") if name in wide and bound.unit not in TIMES]
        wide = list(dict.fromkeys([*money, *wide]))
        if wide:  # no word says which: if several may be meant, the others are offered too
            self._or_else(wide[1:])
            return wide[0], None
        return None, None

    def _sized(self, bound: Bound) -> str | None:
        """For “groups of 5+” or “households of 3 to 4”: the column with the number of people in each; or None."""
        of = bound.first - 1
        if self.said(of) != "of" or not self.said(of - 1).startswith(
            ("group", "part", "famil", "household", "team", "crew")
        ):
            return None
        names = [
            *self._companies(),
            *(name for name in self.numbers if self.named_for(name, "size", "people", "guests")),
        ]
        names = [name for name in names if self._within(name, bound.values)]
        return names[0] if names else None

    def _counts(self, at: int) -> str | None:
        """The column that counts what a mark names, although the rows are called so too."""
        if not self.free(at, "rows") or not self.has(at, "col"):
            return None
        words = self.stems("number", "count", "število")
        names = [name for _, name in self.marks[at].roles["col"] if self.is_a(name, Number)]
        named = [name for name in names if words & set(stems_of(name_words(name), self.lang))]
        return named[0] if len(named) == 1 else None

    def _converts(self, at: int, unit: str) -> bool:
        """“waited over two years”, of `waiting_months`: the unit may be turned into the column's own."""
        name = self.column_at(at, (Number,)) or ""
        column = self.number(name)
        return column is not None and self._factor(unit, name, column) != 1

    def _sign_of(self, bound: Bound) -> str:
        signs = [at for at in range(bound.first, bound.last + 1) if self.has(at, "before", "after")]
        return self.said(signs[0]).removeprefix("or ").removeprefix("ali ") if signs else ""

    def _or_else(self, names: list[str]) -> None:
        """Other columns that a comparison may be about."""
        self.guessed = self.guessed or bool(names)
        self.other_columns = self.other_columns or [name for name in names if name in self.numbers]

    def _aged_people(self, bound: Bound, before: int) -> bool:
        """“women over 50”: an age, unless the words before are about things (“orders over 50”)."""
        things = self.stems(*LANGUAGES[self.lang].things.split("|"))
        if not self.ages or bound.unit or not self._within(self.ages[0], bound.values):
            return False
        return not (0 <= before < len(self.marks) and any(token.stem in things for token in self._tokens_of(before)))

    def _may_reach(self, at: int, bound: Bound) -> bool:
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

    def _equal(self, at: int) -> None:
        mark = self.marks[at]
        if mark.used or (self.ages and self._tens(at)):
            return
        exact = mark.roles.get("number", Fraction(mark.roles["ord"]) if "ord" in mark.roles else None)
        single = self.has(at - 1, "only") or self.said(at + 1).startswith("sam")  # “z enim samim izdelkom”
        if exact is None and "num" in mark.roles and (self.said(at) not in ("an", "en") or single):
            exact = Fraction(mark.roles["num"])
        if "ord" in mark.roles and mark.roles["ord"] == "1" and self.has(at + 1, "number", "num"):
            exact = None  # the first three
        if exact is not None:
            hyphen = self.has(at + 1, "to") and self.words(at + 1) == "-" and self.has(at + 2, "col", "period", "unit")
            of = at - 2 if at > 1 and self.words(at - 1).lower() == "of" else at - 1  # “a household of one”
            listed = (  # and a hyphen is in “second-year”
                at + 3 if self.has(at + 1, "and", "or", "to") and self.has(at + 2, "number", "num", "ord") else at + 1
            )
            back = of
            while back > at - 4 and self.has(back, "stop") and not self.has(back, "col", "by", "not", "number"):
                back -= 1
            listed = at + 2 if self.said(at + 1).startswith("sam") else listed
            back = of if self.has(at + 1, "per cent", "unit", "band") else back
            for near in (at + 2,) if hyphen else tuple(dict.fromkeys((listed, at + 1, of, back))):
                name = self.column_at(near, (Number,))
                if name is None and (self.has(near, "period", "unit") or self._says_year(near)):
                    name = self._small_year() if mark.roles.get("ord") or "number" in mark.roles else None
                    often = self._of_unit("times") if self.role(near, "unit") == "times" else []
                    name = often[0] if len(often) == 1 else name  # “failed the first time”
                    name = name or self._lasting(at, near)
                if name and not self.marks[near].used and self._within(name, [exact]):
                    if self._pair(at, near, name, exact):
                        return
                    op, after = "=", max(at, near) + 1
                    if self.has(after, "after"):
                        op = self.marks[after].roles["after"]
                        self.marks[after].take("after")
                    op = "<=" if self._first_ones(at, name) else op
                    lead = min(at, near) - 1
                    if self.said(lead) == "po" and any(self.said(place) == "po" for place in range(lead)):
                        return  # “po kilah medu, po 5 kg”
                    if op == "=" and self.said(lead) in _SINCE and self.free(lead, "daysign"):  # “before week 37”
                        op = self.marks[lead].roles["daysign"]
                        self.marks[lead].take("bound")
                    self.conds.append(Condition(at, name, op, text_of(exact)))
                    self.take("bound", (at, near))
                    self._rest_of_name(min(at, near), max(at, near), name)
                    return
        spent = [at - 1] if "none" in mark.roles and self.said(at) in ("nothing", "nic") else []
        if spent and (free := self.column_at(spent[0], (Number,))) and self._within(free, [Fraction(0)]):
            self.conds.append(Condition(at, free, "=", "0"))  # “spent nothing”
            self.take("bound", [*spent, at])
            return self._rest_of_name(at, at, free)
        if "not" in mark.roles and self._not_since(at):
            return
        if "not" in mark.roles and (seldom := self._never(at)):
            self.conds.append(Condition(at, seldom, "=", "0"))
            return mark.take("bound")
        if "not" in mark.roles and (none := self._none_of(at)) is not None:
            name = self.column_at(none, (Number,)) or ""
            if not any(cond.column == name and cond.operand == "0" for cond in self.conds):  # “ne plača nič”
                self.conds.append(Condition(at, name, "=", "0"))
            again = self._negated(at)  # “ni imelo niti ene nadure”
            self.take("bound", [at, *([] if again is None else [again]), *range(at + 1, none + 1)])

    def _lasting(self, at: int, unit: int) -> str | None:
        """“dvodnevne poti”, “two-day trips”: the column in which a row lasts so long."""
        adjective = self._prefix(at) or (self.lang == "en" and self.has(unit, "unit") and self.role(at, "number") != 1)
        if (
            unit != at + 1
            or not adjective
            or self.has(at + 2, "band")
            or (self.lang == "en" and self.said(unit) not in _ONE_OF)
        ):
            return None
        beside = [self.column_at(near, (Number,)) for near in (at + 2, at - 1)]
        names = self._of_unit(self.role(unit, "unit") or "")
        return next((name for name in beside if name in names), names[0] if names else None)

    def _never(self, at: int) -> str | None:
        """“how many never come”: the one column that says how often, if nothing else follows that is read."""
        often = [name for name in self._of_unit("times") if self._within(name, [Fraction(0)])]
        after = range(at + 1, len(self.marks))
        plain = not any(self.has(place, "col", "val", "number", "num", "with") for place in after)
        return often[0] if self.said(at) in ("never", "nikoli") and plain and len(often) == 1 else None

    def _not_since(self, at: int) -> bool:
        """“who have not donated since 2023” donated before; but “not inspected since May” names the date itself."""
        said = [
            near
            for near in range(at + 1, min(at + 6, len(self.marks)))
            if self.said(near) in ("since", "od", "od leta")
        ]
        dated = [cond for cond in self.conds if cond.column in self.dates and cond.op == ">=" and cond.place > at]
        named = [near for near in range(at + 1, said[0]) if self.has(near, "col")] if said else []
        about = {*self.numbers, *(cond.column for cond in dated)}
        if not dated or not named or any(self.column_at(near) not in about for near in named):
            return False
        dated[0].op = "<"
        self.take("bound", [at, *named])
        return True

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
            if yes_no(self.declared(self.column_at(near) or "")) and "col" in self.marks[near].roles:
                return None  # “kdo še ni plačal članarine”: a column says who paid
            column = self.number(self.column_at(near))
            if column is not None and self.said(near + 1) == "by":
                return None
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
                self.conds.append(Condition(at, name, "between", [text_of(low), text_of(high)]))
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
                        "najdalj",
                        "najkrajs",
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
                (
                    ("furth", "farth", "near", "close", "najdlje", "najblizj", "oddalj"),
                    self.like("distance" if self.lang == "en" else "razdalja") or self._of_unit("km"),
                ),
                (("visj", "najvisj", "tall", "high"), self.like("height" if self.lang == "en" else "višina")),
                (
                    ("hot", "warm", "cold", "cool", "toplej", "hladn", "najtoplej", "najhladn"),
                    self._of_unit("degrees"),
                ),
                (
                    ("bigger", "larger", "smaller", "biggest", "largest", "smallest", "vecj", "manjs", "najvecj"),
                    self.like("surface" if self.lang == "en" else "površina"),
                ),
                (
                    ("better", "worse", "happi", "boljs", "bolje", "slabs", "zadovolj", "najboljs", "najslabs"),
                    [name for name in self._ratings() if name not in self.ages],
                ),
            ):
                if word.startswith(beginnings) and names:
                    return names
        return []
