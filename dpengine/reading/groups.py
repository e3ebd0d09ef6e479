"""The groups that a typed text asks for: “by region”, “per month”, “in steps of 10 years”, “men vs women”."""

from __future__ import annotations

from bisect import bisect_left
from fractions import Fraction

from dpengine.core.exact import text_of
from dpengine.core.types import Json
from dpengine.declared.date_column import Date
from dpengine.declared.schema import Category, ItemSet, Number, round_step
from dpengine.reading.comparisons import Comparisons
from dpengine.reading.cutting import name_words, stems_of
from dpengine.reading.lexicon import yes_no
from dpengine.reading.sentence import FEW
from dpengine.reading.words import IN_LIFE, MEASURES, bare, stem

_PERIODICAL = {
    "en": ("monthly", "yearly", "annual", "annually", "quarterly"),
    "sl": ("mesečni", "mesečno", "letni", "letno", "četrtletni", "četrtletno"),
}
_DONE = "paid sent made given taken done brought run seen sold bought".split()
_EDGES = 10  # about as many groups of a number


class Groups(Comparisons):
    def _by(self) -> None:
        at = 0
        while at < len(self.marks):
            found = self._group(at + 1) if self.free(at, "by") else None
            if found is not None and not self._no_group(at, *found):
                end, groups = found
                self.by += groups
                named = self.free(at - 1, "col") and self.column_at(at - 1) == groups[0]  # “gear by type”
                self.take("by", range(at - 1 if named else at, end + 1))
                at = end
            elif self.free(at, "by year") and not self.dates and (group := self._one_group(at + 1, None)):
                self.by += group[1]  # “po letih izkušenj”
                self.take("by", range(at, group[0] + 1))
                at = group[0]
            elif self.free(at, "by year") and (self.dates or self._small_year()):
                small = self._small_year()
                small = (
                    None if small and self.dates and self.lang == "sl" and not self.named_for(small, "leto") else small
                )
                self.by.append(self._ref(small) if small else {"column": self._named_date(), "by": "year"})
                self.marks[at].take("by")
            elif (
                self.has(at, "which")
                and self.has(at + 1, "period")
                and self.dates
                and self._typed_kinds() in ({"top_item"}, {"median"}, {"count"})
                and (self._typed_kinds() != {"median"} or not self._names_number())
            ):
                usual = self._typed_kinds() == {"median"}  # “in what month do people usually join”
                for mark in self.marks if usual else ():
                    mark.roles |= {"kind": "top_item"} if mark.roles.get("kind") == "median" else {}
                    mark.take("by") if mark.roles.get("col") and not mark.used else None
                period = self.marks[at + 1].roles["period"]
                self.by.append({"column": self._named_date(), "by": "month_of_year" if period == "month" else period})
                self.take("by", (at + 1,))  # “in which year did most animals arrive”
            elif self.dates and self._busiest(at):
                period = self.marks[at + 1].roles.get("period", "weekday")
                self.by.append({"column": self._named_date(), "by": "month_of_year" if period == "month" else period})
                self.take("by", (at + 1,))  # “busiest month”, “which day is busiest”
            elif self.free(at, "among") and self.has(at + 2, "band") and self.column_at(at + 1, (Number,)):
                end, groups = self._one_group(at + 1, None) or (at, [])  # “items in value classes”
                self.by += groups
                self.take("by", range(at, end + 1))
            elif self.free(at, "compare") and not self._between_values(at) and not self._helps(at):
                self.compare = True
            at += 1
        if not self.by:
            self._periodical()
        if not self.by:
            self._implied_groups()

    def _busiest(self, at: int) -> bool:
        """Does a word for a time follow “busiest”, or “day” a “which”?"""
        top = self.role(at, "kind") == "top_item" or (self.has(at, "which") and "top_item" in self._typed_kinds())
        day = self.said(at + 1) in ("day", "dan") if at + 1 < len(self.marks) else False
        later = self.has(at + 1, "period") and self.role(at, "kind") == "top_item"
        return top and (day or later) and self._typed_kinds() <= {"top_item", "count"} and not self._names_number()

    def _names_number(self) -> bool:
        return any(self.column_at(at, (Number,)) for at in range(len(self.marks)))

    def _helps(self, at: int) -> bool:
        """“how much do customers from abroad spend”: a helping verb, and no comparison."""
        asking = self.said(at - 1).split(" ")[-1] in ("how", "much", "many", "what", "when", "where", "often", "long")
        return self.lang == "en" and self.said(at) in ("do", "does") and asking

    def _between_values(self, at: int) -> bool:
        """“na Rudniku ali v Šmartnem”: an “or”, and no question."""
        return self.has(at, "or") and all(
            any(self.has(near, "val", "number", "num") for near in places)
            for places in (range(max(at - 2, 0), at), range(at + 1, at + 3))
        )

    def _periodical(self) -> None:
        """“monthly revenue” is one by month; “monthly wages” are not, if the date is one in a person's life."""
        adjectives = self.stems(*_PERIODICAL[self.lang])
        if self.kinds:
            return  # “80th percentile monthly fee”
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
        if "variance" in self._typed_kinds() and name in self.numbers and not self._other_number(str(name)):
            return True  # “kako zelo se razlikujejo po številu akcij”
        if (
            self.said(at) == "na"
            and bool(self.stems(str(name)) & self.called)
            and self.words(end).endswith(("i", "u"))
            and end == at + 1
        ):
            self.take("rows", range(at + 1, end + 1))
            return True  # “na tržnici od leta 2015”, in a table of it
        if self.has(at + 1, "which") and "top_item" in self._typed_kinds():
            return True  # “na katerem pomolu je največ plovil” asks for the pier
        if self.said(at) in ("na", "per", "each", "every", "vsak", "vsako") and self._rate_of_name(at, end, str(name)):
            self.take("rate", range(at, end + 1))
            return True  # “hours a week” of `hrs_week`, “per month” of `monthly_pay`
        each = self.said(at) in ("na", "per") and self.has(at + 1, "period")
        if each and self.marks[at + 1].roles["period"] == "year" and self._typed_kinds() & {"mean", "median"}:
            named = any(self.column_at(place, (Date,)) for place in range(len(self.marks)) if place != at + 1)
            if not named:  # “koliko ur na leto povprečno trenirajo”: a rate
                self.take("rate", range(at, end + 1))
                return True
        if self.lang == "sl" and self.said(at) in ("po", "na") and self._value_after(end, str(name)):
            return True  # “po odpustu v dom starejših”, “na pomolu B”
        if self.said(at) == "by" and yes_no(self.declared(str(name))) and self.words(end).endswith("ers"):
            return True  # “raised by first-timers”
        done = at > 0 and (self.said(at - 1).endswith("ed") or self.said(at - 1) in _DONE)
        if self.said(at) == "by" and done and yes_no(self.declared(str(name))):
            return True  # “not paid by insurance”
        if self.said(at) == "na" and yes_no(self.declared(str(name))):
            return True  # “priklop na elektriko”
        partly = self.said(at) == "na" and self.is_a(str(name), Category) and end == at + 1
        if partly and self.weight_at(end) < 2.5 and self._in_several(str(name)):
            return True  # “strošek na prijavo”, of `način prijave`
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
        whose = self.has(at - 1, "rows") and self.weight_at(at - 1) <= 1.5
        return (
            bool(name in self.numbers and self.column_at(at - 1) == name and not self.marks[at - 1].used) and not whose
        )

    def _rate_of_name(self, at: int, end: int, name: str) -> bool:
        """Does another word name a number whose own name has the words after “per”?"""
        words = {token.stem for place in range(at + 1, end + 1) for token in self._tokens_of(place)}
        periods = {self.role(place, "period") for place in range(at + 1, end + 1)} - {None}
        for place in range(len(self.marks)):
            other = self.column_at(place, (Number,)) if not at <= place <= end and self.free(place, "col") else None
            if other is None or other in self.dates:
                continue
            named = stems_of(name_words(other), self.lang)
            meant = {self.known.phrases.get((word,), {}).get("period") for word in named}
            if (words & set(named) if other == name else words <= set(named)) or (
                name in self.dates and periods & meant
            ):
                return True
        return False

    def _other_number(self, name: str) -> bool:
        """Is a number named well besides this one?"""
        named = {self.column_at(at, (Number,)) for at in range(len(self.marks)) if self.weight_at(at) > 1}
        return bool(named - {None, name})

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
            and not self._of_kind(at)
        ):
            at += 1
        unknown = (
            0 <= at < len(self.marks)
            and not self.marks[at].roles
            and not self._decades(at)
            and self.weight_at(at + 1) >= 1
        )
        at = at + 1 if unknown and self.column_at(at + 1, (Category, Number)) else at  # “po znamki copat”
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
            if kind := self._of_kind(at):
                return at, [kind]
            at += 1
        if not 0 <= at < len(self.marks):
            return None
        if self._decades(at) or (self.has(at, "band") and not self.has(at, "col")):
            step = (
                Fraction(10) if not self.has(at, "band") else step
            )  # “po desetletju gradnje”, “po razredih kilometrov”
            at = self.past(at + 1, 1, ["stop"], ["col", "by"])
            number = self.column_at(at, (Number,)) or self._of_this_unit(at)
            if not number or step is not None:
                return (at, [self._ref(number, step)]) if number else None
        mark, name = self.marks[at], self.column_at(at) or self._of_this_unit(at)
        period = mark.roles.get("period") if not self._listed_period(at) else None
        part = name is not None and self.covered.get(name, 2) < 2  # “per month”, beside `experience_months`
        if period and (name is None or self.weight_at(at) < 2 or (part and self.dates and self._in_several(name))):
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
        dated = name in self.dates and self.has(at + 1, "period")  # “by start year”
        if name is None or (
            not dated
            and self.has(at, "rows")
            and (name in self.dates or (self.weight_at(at) <= 1 and self.covered[name] < 2))
            and not (self.said(at - 1) == "by" and self.is_a(name, Category) and not self.said(at).endswith("s"))
        ):
            return None
        declared = self.declared(name)
        end = at
        for near in (at + 1, at + 2, at + 3, at + 4):
            amount = self._amount(near)
            if amount is not None and self.has(near + 1, "unit", "period", "band"):
                step = amount
                end = near + 1 if self.has(near - 1, "by") else end  # “po kilah medu, po 5 kg”
            if self.has(near, "band"):
                end = near
        while self.column_at(end + 1) == name and not self.marks[end + 1].used:  # “by product category”
            end += 1
        if isinstance(declared, Number):
            tail = self.tokens[self.marks[at].last + 1 :]
            if any(token.stem.startswith("desetletn") for token in tail):
                step, end = Fraction(10), len(self.marks) - 1
            if self._measure(name) == "months" and self.said(end + 1) in ("in years", "v letih"):
                step, end = Fraction(12), end + 1
            return end, [self._ref(name, step)]
        if isinstance(declared, Date):
            first = self._tokens_of(at)[0]
            if (
                not dated
                and "rows" in self.known.phrases.get((first.stem,), {})
                and bare(first.text) not in bare(name_words(name)).split()
            ):
                return None  # “per order on average” is no date
            period = next(
                (self.marks[near].roles["period"] for near in (at - 1, at + 1) if self.has(near, "period")), "month"
            )
            return end + (dated and end == at), [{"column": name, "by": period}]
        if isinstance(declared, ItemSet):
            return None
        return end, [self._ref(name, step)]

    def _decades(self, at: int) -> bool:
        return self.said(at).startswith(("desetletj", "decade"))

    def _of_this_unit(self, at: int) -> str | None:
        """“po kilometrih”: the one column that is measured in them."""
        unit = self.role(at, "unit") if self.role(at, "unit") in MEASURES else ""
        names = self._of_unit(unit) if unit else []
        return names[0] if len(names) == 1 else None

    def _of_kind(self, at: int) -> str | None:
        """“po vrsti in tržnici”: the one list whose name has a word that says little, and no other word follows."""
        word = self._tokens_of(at)[0].stem
        if word not in self.stems("vrsta", "tip", "type", "kind", "size", "velikost", "status"):
            return None
        if self.has(at + 1, "col", "val") or (self.has(at + 2, "col") and not self.has(at + 1, "and")):
            return None
        thing = self.column_at(at - 2, (Category,)) if self.has(at - 1, "by") else None
        if thing is not None and not yes_no(self.declared(thing)):
            return thing  # “gear by type” is by gear
        names = [name for name in self.schema.of_kind(Category) if word in stems_of(name_words(name), self.lang)]
        return names[0] if len(names) == 1 else None

    def _in_several(self, name: str | None) -> bool:
        return len(stems_of(name_words(name or ""), self.lang)) > 1

    def _named_date(self) -> str:
        named = [name for place in range(len(self.marks)) if (name := self.column_at(place, (Date,)))]
        if not named and len(self.dates) > 1:
            self.guessed = True
        return named[0] if named else self.dates[0]

    def _ref(self, name: str, step: Fraction | None = None) -> Json:
        column = self.schema.columns[name]
        if not isinstance(column, Number):
            return name
        if step is None or (step / column.step).denominator != 1 or step <= 0:
            step = self._usual_step(name, column)
        return {"column": name, "step": text_of(step)}

    def _usual_step(self, name: str, column: Number) -> Fraction:
        if column.size <= FEW:
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
        numbers = [(at, name) for at, name in named if self.is_a(name, Number) and self.weight_at(at) >= 2]
        if self.compare and not lists and len({name for _, name in numbers}) == 2:
            verbs = [at for at in self.all_free("compare") if self._tokens_of(at)[0].stem in self._affecting()]
            if verbs and numbers[0][0] < verbs[0] < numbers[-1][0]:  # “does crew size affect the days on site”
                self.by.append(self._ref(numbers[0][1]))
                self.take("by", [verbs[0], *(at for at, name in numbers if name == numbers[0][1])])
            return
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

    def _affecting(self) -> set[str]:
        return self.stems("affect", "affects", "influence", "impact", "vpliva", "vplivajo")

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
