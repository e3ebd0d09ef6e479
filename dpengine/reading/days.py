"""Days, months and spans of time in a typed text become conditions."""

from __future__ import annotations

import re
from calendar import monthrange
from datetime import date
from fractions import Fraction

from dpengine.core.exact import text_of
from dpengine.core.types import Json
from dpengine.declared.date_column import Date
from dpengine.declared.schema import Category, ItemSet, Number
from dpengine.reading.cutting import name_words, stems_of
from dpengine.reading.lexicon import yes_no
from dpengine.reading.sentence import Condition, Sentence
from dpengine.reading.words import roots


def _months(year: int, first: int, last: int) -> tuple[date, date]:
    """The first and the last day of a span of months."""
    return date(year, first, 1), date(year, last, monthrange(year, last)[1])


class Days(Sentence):
    def _letters(self) -> None:
        """“blood group 0”, “v razredu A ali B”: a value of one sign, right after the words for its column."""
        column = ""
        for at, mark in enumerate(self.marks):
            senses = [sense for sense in mark.roles.get("letter", ()) if sense[1] == column]
            named = self.column_at(at + 1, (Category, ItemSet)) if self.has(at, "letter") else None
            senses = senses or [sense for sense in mark.roles.get("letter", ()) if sense[1] == named]  # “v b oddelku”
            if not senses and at and self._capital(at) and len({sense[1] for sense in mark.roles["letter"]}) == 1:
                senses = mark.roles["letter"]  # “kandidati za C in D”
            if senses:
                mark.roles = {"val": senses}
            elif not self.has(at, "or", "and") or self.has(at, "col"):
                lists = self.schema.of_kind(Category, ItemSet) if self.has(at, "band") else ()
                said = [name for name in lists if self.named_for(name, self.words(at))]
                column = self.column_at(at, (Category, ItemSet)) or column * self.has(at, "band") or "".join(said[:1])

    def _capital(self, at: int) -> bool:
        """A value of one sign, typed as a capital letter among small ones."""
        sign = self.words(at)
        plain = any(token.text.islower() for token in self.tokens) and not self.has(at - 1, "number")
        return self.has(at, "letter") and sign.isupper() and plain and (self.lang, sign) != ("en", "I")

    def _rates(self) -> None:
        """“deferral rate” is about who was deferred: a yes or no made from the same word."""
        for at in self.all_free("period"):
            if at and self.said(at - 1) in ("a", "per", "na") and self.weight_at(at) <= 1:
                self.marks[at].roles.pop("col", None)  # “na mesec” is no age in months
        for at in range(len(self.marks) if self.lang == "en" else 0):
            if self.said(at + 1) != "rate" if at + 1 < len(self.marks) else True:
                continue
            made = {root.replace("ll", "l") for root in roots(self._tokens_of(at)[-1].stem, self.lang)} - {""}
            chosen = [
                name
                for name, column in self.schema.columns.items()
                if yes_no(column)
                and any(
                    made & {root.replace("ll", "l") for root in roots(word, self.lang)}
                    for word in stems_of(name_words(name), self.lang)
                )
            ]
            if len(chosen) == 1:
                self.marks[at].roles = {"col": [(3, chosen[0])]}
                self.marks[at + 1].roles = {"kind": "proportion"}  # and no `rate per night`

    def _named_times(self) -> None:
        """“settlement time” is the days to settle, and not what was settled; so is “how long until it is settled”."""
        for at in range(1, len(self.marks)):
            if self.has(at - 1, "long") and self.said(at) in ("until", "till", "before", "dokler"):
                for mark in self.marks[at + 1 :]:
                    timed = [sense for sense in mark.roles.get("col", ()) if sense[1] in self._of_time()]
                    mark.roles = {"col": timed} if timed else mark.roles
                self.marks[at].take("target")
        words = self.stems("time", "times", "duration", "čas", "trajanje", "doba")
        for at in range(len(self.marks)):
            near = at - 1 if self.lang == "en" else at + 1
            if (
                self.has(at, "val", "kind")
                or self.weight_at(at) > 1
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
            said = [at for at in range(edge, first) if self.has(at, "edge")]
            ends = [self.role(at, "edge") for at in said if not self.said(at).endswith(("ed", "ing", "s"))]
            if self._directed(edge) and ends:
                low, high = (low, low) if ends[0] == "start" else (high, high)  # “since the start of 2024”
                before = edge
            sign = self.role(before, "daysign")
            bare_year = first == last and self._year(first) is not None
            year_number = (
                self._year_column() if bare_year or (low.year % 10 == 0 and high.year == low.year + 9) else None
            )
            named = bare_year and self.column_at(before, (Number,))
            if named and self.has(last + 1, "after") and self._within(str(named), [Fraction(low.year)]):
                continue  # “players rated 2000+”
            dated = self.has(last + 1, "after") or bool(self.column_at(before, (Date,)))  # “planted 2020 or later”
            dated = dated or (first == len(self.marks) - 1 and self._of_all_dates(low.year))  # “monthly visits 2025”
            compared = first > 0 and (self.has(first - 1, "versus") or self.has(last + 1, "versus"))
            dated = dated or (compared and self._of_all_dates(low.year))
            if bare_year and (not (sign or dated or self.has(before, "between")) or self._no_year(last)):
                continue
            if not self.dates and year_number is None:
                continue
            numeric = year_number is not None and self._no_date(low.year, year_number, before)
            joined = number + 1 < len(spans) and spans[number + 1][0] - last <= 3
            second = spans[number + 1] if joined and self._only(last + 1, spans[number + 1][0] - 1, "to") else None
            versus = joined and self._only(last + 1, spans[number + 1][0] - 1, "versus")
            if versus and bare_year and not numeric and (spans[number + 1][2] - high).days == 1:  # “2024 vs 2025”
                second = spans[number + 1]
            if joined and second is None and self._only(last + 1, spans[number + 1][0] - 1, "or"):
                second = spans[number + 1] if (spans[number + 1][2] - high).days == 1 else None  # “in 2001 or 2002”
            if bare_year and self.has(before, "before") and sign is None:
                continue
            column = str(year_number) if numeric else self._date_column(before, last)
            operand: Json
            follows = second is not None and (second[2] - high).days == 1  # “in 2001 and 2002”
            if second is not None and (
                versus
                or self.has(before, "between")
                or self.said(last + 1) in ("-", "–")
                or sign in (">=", None)
                or (sign == "=" and follows)
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
            self.conds.append(Condition(first, column, op, operand))
            either = second is not None and bare_year and self.has(second[0] - 1, "or", "daysign")
            more = versus or any("more" in mark.roles for mark in self.marks)
            if (either or versus) and follows and not numeric and more:
                self.by.append({"column": column, "by": "year"})  # “were more people rescued in 2024 or in 2025”
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

    def _season(self, place: int) -> tuple[int, date, date] | None:
        """“summer 2024”, “winter 2024/25 (dec-feb)”."""
        first = self.role(place, "season")
        if first is None:
            return None
        at, year = self._year_after(place, "stop", "daysign", "period")
        if not year:
            return None
        if first == 12:
            at = at + 1 if self.role(at + 1, "number") == (year + 1) % 100 and at > place else at
            end = date(year + 1, 2, monthrange(year + 1, 2)[1])
            self.guessed = self.guessed or self.role(at, "number") == year  # of the year before, perhaps
            low = date(year, 12, 1)
        else:
            low, end = _months(year, first, first + 2)
        named = at + 1
        while self.has(named, "month", "to", "and", "or") and not self._year(named):
            named += 1
        months = [self.marks[near].roles["month"] for near in range(at + 1, named) if self.has(near, "month")]
        inside = {(first + step - 1) % 12 + 1 for step in range(3)}
        return (named - 1 if months and set(months) <= inside else at), low, end

    def _month_list(self, place: int) -> tuple[int, date, date] | None:
        """“June, July and August 2024”: months that follow each other."""
        months, at = [self.role(place, "month")], place
        while True:
            step = (
                1
                if self.has(at + 1, "month")
                else 2
                if self.has(at + 1, "and", "or") and self.has(at + 2, "month")
                else 0
            )
            if not step or months[0] is None:
                break
            at += step
            months.append(self.role(at, "month"))
        if len(months) < 2 or months != list(range(months[0], months[0] + len(months))):
            return None
        end, year = self._year_after(at, "stop", "daysign")
        return (end, *_months(year, months[0], months[-1])) if year else None

    def _span(self, place: int) -> tuple[int, date, date] | None:
        """A day, month, quarter or year that starts at a mark: its last mark, first and last day."""
        if found := self._season(place) or self._month_list(place):
            return found
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
        joint = self.has(place + 1, "to") and self.has(place + 2, "number") and self.has(place + 3, "month")
        if joint and "number" in mark.roles and (year := self._year(place + 4) or self._only_year()):
            return self._one_day(
                place, year, self.marks[place + 3].roles["month"], mark.roles["number"]
            )  # 10 to 20 June
        if month and (year := self._short_year(place + 1)):
            return place + 1, *_months(year, month, month)  # Aug 24
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

    def _tens(self, place: int) -> Fraction | None:
        """30 of “in their thirties”: an age, and no years."""
        number = self.role(place, "number")
        theirs = place > 0 and self.said(place - 1) in ("their", "his", "her")
        followed = theirs and place + 1 < len(self.marks) and self.said(place + 1) == "s"
        return number if followed and number is not None and 20 <= number <= 90 and number % 10 == 0 else None

    def _decade(self, place: int) -> int | None:
        """The first year of “the 1990s”, “v devetdesetih letih”."""
        number = self.role(place, "number")
        after = self.said(place + 1) if place + 1 < len(self.marks) else ""
        if number is None or number % 10 or self._tens(place):
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

    def _of_all_dates(self, year: int) -> bool:
        """Is it a year of the one column of dates, and no other number that the table declares?"""
        dates = [column for name in self.dates if isinstance(column := self.schema.columns[name], Date)]
        return len(dates) == 1 and dates[0].first.year <= year <= dates[0].last.year

    def _short_year(self, place: int) -> int | None:
        """24 of “Aug 24”: a year, if the dates are of several years and one of them is 2024."""
        if (number := self.role(place, "number")) is None or self._only_year() is not None:
            return None
        dates = [column for name in self.dates if isinstance(column := self.schema.columns[name], Date)]
        plain = re.fullmatch(r"\d{2}", self.tokens[self.marks[place].first].text)
        year = 2000 + int(number)
        return year if plain and any(day.first.year <= year <= day.last.year for day in dates) else None

    def _year_column(self) -> str | None:
        return next((name for name in self.numbers if (column := self.number(name)) and column.years), None)

    def _date_column(self, before: int, last: int) -> str:
        for at in sorted(range(len(self.marks)), key=lambda at: min(abs(at - before), abs(at - last))):
            if (name := self.column_at(at, (Date,))) and self.column_at(at) == name:
                self.marks[at].take("date")
                return name
        self.guessed = self.guessed or len(self.dates) > 1
        return self.dates[0]
