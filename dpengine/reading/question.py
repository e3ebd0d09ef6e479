"""The question that a typed text asks: its kind and its column, and what was left over.

A text is a list of marks: runs of words with all that they may mean, by role (`MarkedWords`). A step that understands a
mark takes it in one of these roles. The example in a docstring is a text that needs the step.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable
from fractions import Fraction

from dpengine.core.exact import text_of
from dpengine.core.types import Json, JsonObject
from dpengine.declared.date_column import Date
from dpengine.declared.schema import Category, ItemSet, Number
from dpengine.mechanisms import catalogue
from dpengine.reading.cutting import TIMES, name_words, stems_of
from dpengine.reading.lexicon import yes_no
from dpengine.reading.proportions import Proportions
from dpengine.reading.sentence import FEW
from dpengine.reading.words import GENERIC, LANGUAGES, MEASURES, MONEY, PLACES, bare, roots, stem, typed_stem

_SEPARATELY = "posebej loceno separately respectively each vsak vsakega vsake vsakih posamezno posamic".split()
_NEW = ("new", "nove", "novi", "novih", "nova", "novo")
_AMOUNTS = MONEY | {"kg", "t", "l", "g", "kwh", "m3", "ha"}
_OFTEN = ("how often", "kako pogosto", "kolikokrat")
_WHERE = ("where", "kje", "kod", "kam")
_DONE = re.compile("(?:an|en|n|t)(?:a|e|i|o|ih|im)?$")  # ends of a Slovene participle
MOST_GROUPS = 200  # values of a number, sought one by one for the commonest


class Question(Proportions):
    """Call `run`, then `reading`: it builds on what the first has taken."""

    def run(self) -> None:
        """Find the conditions and the groups. The order matters."""
        self._letters()
        self._most_done()
        self._rates()
        self._named_times()
        self._days()
        self._percents()
        self._bounds()
        self._lives()
        self._relations()
        self._by()
        asked_by = bool(self.by)
        self._values()
        self._yes_columns()
        self._contrast(asked_by)
        self._both_answers()
        self._some()
        if self.by:
            self.take("compare", [at for at in self.all_free("compare") if not self.has(at, "or")])

    def _versus(self) -> bool:
        return any("versus" in mark.roles for mark in self.marks)

    def _both_answers(self) -> None:
        """“insured vs uninsured”: in groups of yes and no, no row is left out for its answer."""
        if self._versus():
            apart = [cond for cond in self.conds if cond.column in self.by and yes_no(self.declared(cond.column))]
            self.conds = [cond for cond in self.conds if cond not in apart]

    def reading(self) -> list[tuple[str, JsonObject]]:
        """The possible questions as keys of the catalogue with their parameters, best first."""
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
        fixed = {cond.column for cond in self.conds if cond.op == "="}
        bounds = [found for found in targets if found[1] in fixed and not kinds]
        self.take("bound", [at for at, _ in bounds])  # “people who spent nothing at the bar”: no figure of it is asked
        targets = [found for found in targets if found not in bounds]
        if (self.conds or (self.by and "count" in kinds)) and not set(kinds) & {"top_item", "crosstab", "histogram"}:
            named = [found for found in targets if self._calls_the_rows(*found)]
            self.take("rows", [at for at, _ in named])
            targets = [found for found in targets if found not in named]
        shadowed = [at for at, name in targets if self.weight_at(at) <= 1 and self._shadowed(at, name, targets)]
        loose, targets = targets, [found for found in targets if found[0] not in shadowed]
        if not targets and (
            self.contrasted or self.compare or set(kinds) & {"top_item", "mean", "median", "quantile", "variance"}
        ):
            targets = self._unshadowed(loose, kinds)
        elif not targets and "sum" in kinds and "count" not in kinds:  # “total fines” of `fine_eur`
            targets = [(at, name) for at, name in self._unshadowed(loose, kinds) if self._with_unit_in_name(name)]
        numbers = [(at, name) for at, name in targets if self.is_a(name, Number)]
        lists = [(at, name) for at, name in targets if self.is_a(name, Category, ItemSet)]
        if "top_item" in kinds and self._asks_when():  # “v katerem mesecu je največ dela s prijavami”
            lists = [found for found in lists if self.weight_at(found[0]) > 1]
        if "top_item" in kinds and all(self.weight_at(at) <= 1 for at, _ in lists) and (placed := self._asked_place()):
            lists = placed  # “kje je največ panjev”, in a table that has their kinds too
        modes = [at for at, name in numbers if self.has(at - 1, "which") and self.column_at(at, (Category,))]
        if modes and set(kinds) == {"top_item"} and self._most_common():  # “kateri med je najpogostejši”
            lists, numbers = [(at, self.column_at(at, (Category,)) or "") for at in modes], []
        if not numbers and any(self.has(at - 1, "which") for at, _ in lists):
            numbers = self._compared([at for at in range(len(self.marks)) if self.has(at, "top", "bottom")])
        extreme = [at for at in range(len(self.marks)) if self.free(at, "top") or self.free(at, "bottom")]
        if not kinds and not numbers and len(extreme) == 1 and any(self._most_of(at, extreme[0]) for at, _ in lists):
            numbers = self._compared(extreme)  # “najdražji kraj”, “site with the shortest commute”
        elif not kinds and not lists and len(extreme) == 1 and (lists := self._asked_place()):
            numbers = numbers or self._compared(extreme)  # “kje so stanovanja najdražja”
        if "top_item" in kinds and not numbers and any(self.has(at - 1, "which") for at, _ in lists):
            bringing = [at for at in range(len(self.marks)) if self._adds_money(at)]
            numbers = [(bringing[0], name) for name in self._of_unit("money")[:1]] if bringing else []
        days = [(at, name) for at, name in targets if self.is_a(name, Date)]
        if not numbers and "quantile" in kinds:  # “the fastest 10 %”
            numbers = self._compared(
                [at for at, mark in enumerate(self.marks) if mark.took in ("top", "bottom", "share")]
            )
        key = self._kind(kinds, numbers, lists)
        rated = set(self._ratings()) - set(self.ages)
        if key == "sum" and numbers and all(name in rated for _, name in numbers) and self._asks_how(numbers[0][0]):
            key = None  # “how happy are they overall”: nobody adds up ratings
            self.take("kind", [at for at in self.all_free("kind") if self.role(at, "kind") == "sum"])
        if key is None and any(self.marks[at].last > self.marks[at].first for at in self.all_free("money")):
            key = "count"  # “koliko denarja”
        if key in (None, "sum", "count") and not numbers and (taken := self._takings(key)):
            key, numbers = "sum", taken
        if key in (None, "sum") and numbers and self._asks_how_different():
            key = "variance"
        paid = self._of_unit("money")
        said = [at for at in range(len(self.marks)) if self.free(at, "takings") and not self.has(at, "col", "val")]
        compared = bool(self.by) and any("compare" in mark.roles for mark in self.marks)
        earning = (key is None and not compared) or (key == "count" and self.lang == "sl" and not self._counts_things())
        if earning and numbers and said and all(name in paid for _, name in numbers):
            key = "sum"  # “ticket income in August”
            self.take("target", said)
        if key in (None, "count", "proportion", "sum", "mean", "top_item"):
            timed = self.all_free("when")  # “when do people visit”, “visits over time”
            events = [found for found in days if (self.weight_at(found[0]) < 3 or self._on(found)) and not timed]
            if self.conds or self.by or key is not None:  # “calls outside the North district”
                self.take("rows", [at for at, _ in events])
                days = [found for found in days if found not in events]
        for at, mark in enumerate(self.marks):
            if "kind" in mark.roles and not mark.used and not self._other_kind(at, key):
                mark.take("kind" if mark.roles["kind"] == key else "passed")
        where = [self._row(cond) for cond in self.conds]
        doubted = self._row(self.doubted) if self.doubted is not None and self.doubted in self.conds else None
        if key in (None, "top_item") and (ranked := self._ranked(numbers, lists, where)):
            return ranked
        open_numbers: list[str] = []
        if not numbers and (named := self._unnamed(key)):
            numbers, open_numbers = named, [name for _, name in named[1:]]
        if not numbers and self.contrasted and key in (None, "mean", "median"):
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
        asked[1:1] = [
            (asked[0][0], {**asked[0][1], "column": name})
            for name in open_numbers
            if asked and asked[0][1].get("column") not in (None, name)
        ]
        asked = self._either_end(self._both_groups(asked))
        if asked and self.by and not {"by", "columns"} & asked[0][1].keys() and asked[0][0] != "top_item":
            for mark in self.marks:  # groups that this question cannot have
                mark.used = mark.used and mark.took != "by"
        if asked:
            self._take_units(asked[0][1])
        if asked and asked[0][0] == "count":  # “do girls read better”: better at what?
            for mark in self.marks:
                mark.used = mark.used and not (mark.took == "compare" and mark.roles.keys() & {"more", "before"})
        asked = self._perhaps(asked)
        return asked if doubted is None else self._doubts(asked, doubted)

    def _asks_how(self, at: int) -> bool:
        return self.said(0).split(" ")[0] in ("how", "kako") and self.weight_at(at) <= 1.5

    def _on(self, found: tuple[int, str]) -> bool:
        """“rescued on South beach”, of `rescued_on`: the name ends in a word that belongs to what follows."""
        at, name = found
        last = name_words(name).split(" ")[-1]
        following = self.marks[at + 1 :]
        return last in ("on", "at", "in") and bool(following) and following[0].took in ("val", "bound")

    def _calls_the_rows(self, at: int, name: str) -> bool:
        """“jobs done in under an hour”, in a table of garage jobs that has a list called job."""
        stems = stems_of(name_words(name), self.lang)
        plural = self.lang == "sl" or self.words(at).lower() != name_words(name).lower()
        own = len(stems) == 1 and stems[0] in self.called and self.is_a(name, Category)
        return own and plural and not self.has(at - 1, "which", "by")

    def _at_times(self, at: int) -> bool:
        """“visits on weekdays” asks for some of them, and for no groups."""
        return self.said(at - 1).split(" ")[-1] in ("on", "at", "in", "ob", "v")

    def _in_plural(self, at: int, name: str) -> bool:
        """An English list in the plural, right after a value: things, and not their distribution."""
        plural = self.lang == "en" and self.words(at).lower() == f"{name_words(name).lower()}s"
        return plural and at > 0 and self.marks[at - 1].took == "val"

    def _adds_money(self, at: int) -> bool:
        """“which product brings in the most”: a word that adds up money."""
        if self.free(at, "money"):
            return True
        if self.role(at, "kind") != "sum":
            return False
        words = ("revenue", "turnover", "bring", "brought", "take", "promet", "prihod", "izkupic", "iztrz", "zasluz")
        return self.said(at).startswith(words)

    def _perhaps(self, asked: list[tuple[str, JsonObject]]) -> list[tuple[str, JsonObject]]:
        """“houses in town”, and a district is called Old Town: the question without it is offered too."""
        partly = [self._row(cond) for cond in self.partly if cond in self.conds and len(cond.labels) == 1]
        if not asked or not partly:
            return asked
        key, given = asked[0]
        kept: JsonObject = {
            part: [row for row in given[part] if row not in partly] for part in ("where", "of") if part in given
        }
        if not kept or kept.get("of", True) == [] or all(kept[part] == given[part] for part in kept):
            return asked
        self.guessed = True
        rest = {name: part for name, part in {**given, **kept}.items() if part != [] or name not in kept}
        return [asked[0], (key, rest), *asked[1:]]

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
        """“sum of breakdowns”: a word that may be a kind or a column's name is the name here. This holds beside
        another kind, or if groups are contrasted."""
        typed = [at for at, mark in enumerate(self.marks) if "kind" in mark.roles and not mark.used]
        for at in typed if self.contrasted else ():  # “is the error count lower with …”
            if self.role(at, "kind") == "count" and self.column_at(at - 1, (Number,)) and self.weight_at(at - 1) >= 2:
                self.marks[at].roles = {"stop": True}
        typed = [at for at in typed if "kind" in self.marks[at].roles]
        for at in typed:  # “at the bar” is no chart, if a column speaks of a bar
            if self.said(at) in ("bar", "bars", "table") and self.weight_at(at) >= 1.5:
                del self.marks[at].roles["kind"]
        typed = [at for at in typed if "kind" in self.marks[at].roles]
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
        ends = [Fraction(given["share"]), 1 - Fraction(given["share"])]
        if any(self.said(at).startswith(words[::2]) for at in said):
            ends.sort(reverse=True)  # the worst of the waits and prices are the most
        return [*((key, {**given, "share": text_of(share)}) for share in ends), *asked[1:]]

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

    def _asks_when(self) -> bool:
        """Are the groups those of a time, after “which”?"""
        return any(mark.took == "by" and self.has(at - 1, "which") for at, mark in enumerate(self.marks) if at) and (
            isinstance(self.by[0], dict) and "by" in self.by[0] if self.by else False
        )

    def _asked_place(self) -> list[tuple[int, str]]:
        """“where do most of them come from”, “kje imamo največ …”: the one list of places without a condition."""
        at = next((at for at in range(len(self.marks)) if self.said(at).split(" ")[0] in _WHERE), None)
        taken = {cond.column for cond in self.conds}
        names = self._places(taken)
        return [(at, names[0])] if at is not None and len(names) == 1 else []

    def _places(self, taken: Container[str]) -> list[str]:
        """The lists of places without a condition."""
        return [name for name in self.schema.of_kind(Category) if name not in taken and self.named_for(name, *PLACES)]

    def _compared(self, places: Iterable[int] = ()) -> list[tuple[int, str]]:
        """“are tours by plane dearer?”: what a comparing word is about, if no column is named."""
        for at in places or (at for at, mark in enumerate(self.marks) if mark.took == "compare"):
            if names := self._spoken_of(self.said(at)):
                self.guessed = self.guessed or len(names) > 1
                return [(at, names[0])]
        lasting = self.stems("last", "lasts", "lasting", "traja", "trajajo")
        for at in range(len(self.marks)) if self.contrasted and not places else ():
            if self._tokens_of(at)[0].stem in lasting and (names := self._of_time()):
                self.guessed = self.guessed or len(names) > 1
                self.take("compare", self.all_free("more"))
                return [(at, names[0])]  # “ali akcije s helikopterjem trajajo manj časa”
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
        asked = asked or [found for found in categories if self._superlative(found[0]) >= 0]
        asked = asked or [found for found in categories if self.has(found[0] - 1, "top", "bottom")]
        asked = asked or [found for found in categories if self.said(found[0]).split(" ")[0] in _WHERE]
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

    def _most_of(self, at: int, extreme: int) -> bool:
        return at - 1 == extreme or self._superlative(at) == extreme

    def _counts_things(self) -> bool:
        """Does “how many” ask for a number of things, and not for money? “how many books did we sell”"""
        for at, mark in enumerate(self.marks):
            if mark.roles.get("kind") == "count":
                near = at + 1
                while self.has(near, "stop") and not self.has(near, "val", "rows", "col", "takings"):
                    near += 1
                return self.has(near, "val", "rows", "col") or bare(self.words(at)).startswith("how many")
        return False

    def _takings(self, key: str | None) -> list[tuple[int, str]]:
        """“income from cargo bikes”, “koliko smo prodali”: the sum of the money, if no column is named."""
        for at in self.all_free("unit"):
            measured = self._of_unit(self.role(at, "unit")) if self.role(at, "unit") in MEASURES else []
            if measured and self.said(at - 1) in ("in", "v"):  # “how much did we sell in kilograms”
                self.marks[at].take("target")
                return [(at, measured[0])]
        if (key == "count" and self.lang == "en") or self._counts_things() or self.said(0) in ("kdo", "who", "kako"):
            return []
        for at in range(len(self.marks)):
            if self.free(at, "takings") and not self.has(at, "val") and (names := self._amounts()):
                self.marks[at].take("target")
                taken = set(self.like("income" if self.lang == "en" else "prihodek"))
                names = sorted(names, key=lambda name: name not in taken)
                self.guessed = self.guessed or len(names) > 1
                return [(at, name) for name in names[:1] + [other for other in names[1:] if other not in taken]]
        return []

    def _amounts(self) -> list[str]:
        """The columns of money, but for a rate such as `price/night`: its sum is no income."""
        rates = [name for name in self.numbers if "/" in name or self.named_for(name, "per")]
        return [name for name in self._of_unit("money") if name not in rates]

    def _unnamed(self, key: str | None) -> list[tuple[int, str]]:
        """A number that is asked for without its name: “how long do people stay”, “koliko denarja dobijo”."""
        for at in range(len(self.marks)):
            if key == "count" and self.said(at) in _OFTEN and self.has(at, "kind") and not self.has(at + 1, "val"):
                names = [name for name in self._of_unit("times") if name not in {cond.column for cond in self.conds}]
                if len(names) == 1:  # “how often do students come”
                    self.guessed = True
                    return [(at, names[0])]
            if self.free(at, "money"):
                names = self._of_unit("money")
            elif self.free(at, "long") or (key in ("count", "median", "mean") and self._asks_for(at, TIMES)):
                asked = self._of_unit(self.role(at, "unit")) if self.has(at, "unit") else []
                names = list(dict.fromkeys([*(name for name in asked if name in self._of_time()), *self._of_time()]))
                if not names and self.free(at, "long"):  # “kako dolge so”
                    names = self.like("length" if self.lang == "en" else "dolžina")
            elif (key in ("count", "median", "mean") and self._asks_for(at, ("money", *MEASURES))) or (
                key not in (None, "count") and self._unit_alone(at)
            ):
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
                return [(at, name) for name in sorted(names, key=self._unsaid)]
        return []

    def _unit_alone(self, at: int) -> bool:
        measures = self.role(at, "unit") in ("money", *MEASURES, *TIMES)
        return measures and self.free(at, "unit") and not self._amount(at - 1) and not self.has(at, "daysign")

    def _unsaid(self, name: str) -> bool:
        """Does no typed word share its root with the name? “kako dolgo traja” is about `trajanje_min`."""
        said = {root for token in self.tokens for root in roots(token.stem, self.lang) if len(root) > 3}
        return said.isdisjoint(
            root for word in stems_of(name_words(name), self.lang) for root in roots(word, self.lang)
        )

    def _asks_for(self, at: int, units: Container[str]) -> bool:
        """“koliko evrov smo dobili”: how many of a unit."""
        return self.free(at, "unit") and self.role(at, "unit") in units and self.has(at - 1, "kind")

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
        """Was the word at `at` no part of this kind of question? Then it stays unread: it asks for another figure
        too, or means something else."""
        kind = self.marks[at].roles["kind"]
        if kind == key:
            return False
        if key is None:
            return bool(kind == "top_item")
        if kind == "top_item" and self.said(at) not in ("most", "najvec"):  # “the biggest households”
            return key in ("mean", "median", "sum", "quantile", "variance", "iqr")
        return kind in ("median", "mean", "variance", "iqr") or any(token.mended for token in self._tokens_of(at))

    def _shadowed(self, at: int, name: str, targets: list[tuple[int, str]]) -> bool:
        """Is the word at `at` too loose to name a column, because a better word names another one?"""
        better = [other for place, other in targets if other != name and self.weight_at(place) > 1]
        if self.has(at, "unit") and not better and not (self.has(at, "rows") and self.weight_at(at) <= 1):
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
        """Choose one kind of question from the kinds that the text's words may mean; None if there are none."""
        found = set(kinds)
        for key in ("quantile", "iqr", "variance", "crosstab", "proportion", "cdf_tree", "density"):
            if key in found:
                return key
        others = found - {"top_item", "histogram", "median", "mean", "sum", "count"}
        if others:
            return sorted(others, key=kinds.index)[0]
        if "top_item" in found and (lists or self.by) and (not numbers or self._which(lists, numbers)):
            return "top_item"
        if found == {"top_item"} and any(self.has(at - 1, "which") and self.weight_at(at) >= 2 for at, _ in numbers):
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
        """“which equipment do crews use most”: a list is named, and a number column only resembles a word."""
        named = any(self.has(at - 1, "which") and self.weight_at(at) >= 3 for at, _ in lists)
        return named and all(self.weight_at(at) < 2.5 for at, _ in numbers)

    def _most_common(self) -> bool:
        """Does a word ask for the commonest value, and not only for the biggest or most?"""
        asked = [self.said(at) for at in range(len(self.marks)) if self.has(at, "kind")]
        return any(word not in ("most", "najvec", "top", "biggest", "largest", "main", "najvecji") for word in asked)

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

        def named(found: tuple[int, str]) -> tuple[float, bool]:
            words = self._tokens_of(found[0])
            return self.weight_at(found[0]), all(typed_stem(word.text, self.lang) == word.stem for word in words)

        name = max(targets, key=named)[1]
        self._take(targets, name)
        self._take_beside(name)
        return name

    def _without_kind(
        self, numbers: list[Json], lists: list[Json], days: list[Json], where: list[Json], inside: list[str]
    ) -> list[tuple[str, JsonObject]]:
        """The questions if no kind was named. `inside`: kinds that are part of a column's name."""
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
            ours = any(bare(token.text) in ("smo", "we") for token in self.tokens) and self._measure(name) in _AMOUNTS
            adds = adds or (asks and ours and not self.by)  # “koliko medu smo nabrali”
            adds = adds or (asks and any(bare(token.text) in whole for token in self.tokens))  # “koliko stane vsa krma”
            kinds = ("sum", "mean", "median") if adds else ("median", "mean")  # “sales per month”
            figures = [(key, given) for key in kinds]
            fresh = any(self.said(at - 1) in _NEW for at, _ in numbers if at)
            loose = all(self.weight_at(at) < 2 for at, other in numbers if other == name)
            limited = loose and any(cond.column == name and not cond.labels for cond in self.conds)
            limited = (limited or self._rows_first(numbers)) and not self._asks_for_figure()  # “heavy items over 5 kg”
            if (where or self.by) and (
                limited or fresh or (where and self._of_those() and name not in self._of_time())
            ):
                return [("count", self._asked(where, **self._grouped())), *figures]
            if where and self._plain_people(numbers) and not (self.by and self._versus()):
                return [("count", self._asked(where, **self._grouped())), *figures]
            return figures
        if len(lists) + len(self.by) > 1 and len(lists) < 3:
            names = [*(name for _, name in lists), *self.by]
            self.take("target", [at for at, _ in lists])
            return self._list_by_number(where, lists, names) or self._crosstab(
                where, [self._plain_ref(name) for name in names]
            )
        sure = {cond.column for cond in self.conds if len(cond.labels) == 1 and not cond.negated}
        if len(lists) == 1 and not self.by and lists[0][1] in sure and self.is_a(lists[0][1], Category):
            self._take(lists, lists[0][1])  # “seats in the gallery”, of `seat_area`
            return [("count", self._asked(where))]
        if (
            lists and not self.by and where and (self._plain_people(lists) or self._of_those())
        ):  # “pupils who go to chess”
            self._take(lists, lists[0][1])
            self.guessed = True
            bars = ("histogram", self._asked(where, column=self._plain_ref(lists[0][1])))
            return [("count", self._asked(where)), bars]
        if len(lists) == 1 and not self.by and where and self._in_plural(*lists[0]):  # “class F or G buildings”
            self._take(lists, lists[0][1])
            self.guessed = True
            bars = ("histogram", self._asked(where, column=self._plain_ref(lists[0][1])))
            return [("count", self._asked(where)), bars]
        if lists and not self.by:
            self._take(lists, lists[0][1])
            if where and self._things_first(lists[0][0]):
                return [("count", self._asked(where))]
            bars = ("histogram", self._asked(where, column=self._plain_ref(lists[0][1])))
            if not where or self.has(lists[0][0] - 1, "which"):
                return [bars]
            self.guessed = True  # all of these, or how they are spread over the list?
            rows = ("count", self._asked(where))
            return [rows, bars] if self.weight_at(lists[0][0]) < 2.5 and self._limits() else [bars, rows]
        if days and not self.by:
            self._take(days, days[0][1])
            grouping = (at for at in self.all_free("period") if not where or not self._at_times(at))
            period = next((self.marks[at] for at in grouping), None)
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
            groups = [ref["column"] if isinstance(ref, dict) else ref for ref in self.by]
            if self.contrasted and [cond.column for cond in self.conds] == groups:  # “who has more, X or Y”
                return [("count", self._asked(where, **self._grouped()))]
            if self.by and where and (topic or self.contrasted):  # “are remote workers more satisfied”
                self.guessed = True
                share = ("proportion", {"of": where, **self._grouped()})
                return [share, ("count", self._asked(where, **self._grouped()))]
            rows = ("count", self._asked(where, **self._grouped()))
            if not self.by and self.conds and self._either_of(self.conds[0]):
                self.guessed = True  # both together, or each?
                return [rows, ("count", self._asked(where, by=self.conds[0].column))]
            return [rows]
        return []

    def _rows_first(self, numbers: list[Json]) -> bool:
        """“popravila, dražja od 1000 evrov”, of `dni_do_popravila`: a part of a longer name, and then a comparison."""
        at, name = numbers[0]
        return (
            at == 0
            and self.weight_at(at) < 2.5
            and self.covered.get(name, 2) < 2
            and self._limited(at)
            and len(stems_of(name_words(name), self.lang)) > 1
        )

    def _alone(self, at: int) -> bool:
        """“…, how much in all”: no word says how much of what."""
        return at + 1 >= len(self.marks) or self.has(at + 1, "kind")

    def _things_first(self, at: int) -> bool:
        """“drinks over 4 euros”, “študentske vozovnice”: some things are counted, and not how they spread."""
        if self._asks_for_figure():
            return False
        if self.lang == "sl":
            return at > 0 and self.marks[at - 1].took == "val" and at == len(self.marks) - 1
        compared = at + 1 < len(self.marks) and (self._limited(at) or self.said(at + 1) in ("without", "with"))
        return at == 0 and compared and self.words(at).lower().endswith("s")

    def _asks_for_figure(self) -> bool:
        """A word that asks: “what”, “kakšne”."""
        asking = ("what", "how", "kaj", "kako", "kaks", "kolik", "which")
        return any(bare(token.text).startswith(asking) for token in self.tokens)

    def _crosstab(self, where: list[Json], columns: list[Json]) -> list[tuple[str, JsonObject]]:
        self.by = []
        return [("crosstab", self._asked(where, columns=columns))]

    def _most_done(self) -> None:
        """“tri najbolj izposojana orodja”: the commonest, whatever is done with them."""
        for at in range(len(self.marks) - 2 if self.lang == "sl" else 0):
            done = self.weight_at(at + 1) <= 1 and not self.has(at + 1, "val", "kind", "number")
            listed = self.column_at(at + 2, (Category, ItemSet))
            if self.said(at) == "najbolj" and done and _DONE.search(self.said(at + 1)) and listed:
                self.marks[at].roles, self.marks[at + 1].roles = {"kind": "top_item"}, {"stop": True}

    def _list_by_number(self, where: list[Json], lists: list[Json], names: list[Json]) -> list[tuple[str, JsonObject]]:
        """“departments by amount”: the amounts of each, or a table of both? [] if no number is named."""
        number = names[-1]["column"] if len(names) == 2 and isinstance(names[-1], dict) and "step" in names[-1] else ""
        column = self.number(number)
        if column is None or not lists or not self.is_a(lists[0][1], Category):
            return []
        self.guessed, self.by = True, []
        figures = [(key, self._asked(where, column=number, by=lists[0][1])) for key in ("median", "mean")]
        table = self._crosstab(where, [self._plain_ref(name) for name in names])
        return [*table, *figures] if column.size <= FEW else [*figures, *table]

    def _topic(self, at: int) -> bool:
        """Does the text begin with a subject, and not with people? “student housing by programme”, “helmet use by
        membership”"""
        if any(not self.has(before, "stop") for before in range(at)):
            return False
        used = ("use", "usage", "ownership", "uptake", "raba", "uporaba", "lastništvo")
        mark, after = self.marks[at], [token.stem for token in self.tokens[self.marks[at].last + 1 :][:1]]
        return mark.last > mark.first or bool(set(after) & self.stems(*used))

    def _of_those(self) -> bool:
        """“those who pay late”, “tisti, ki …”: some of the rows, and no figure of them."""
        pronouns = (
            "tisti",
            "tiste",
            "tista",
            "tistih",
            "those",
            "people",
            "persons",
            "everyone",
            "everybody",
            "vsi",
            "anyone",
        )
        opened = any(
            self.said(at) in ("who", "that", "whose", "ki", "with", "without", "brez", "z", "s") for at in (1, 2)
        )
        return len(self.marks) > 2 and (self.said(0) in pronouns or self.has(0, "rows")) and opened

    def _plain_people(self, numbers: list[Json]) -> bool:
        """Does the text only name people? “boys who train football”: it asks for no figure, and only its verb resembles
        the name of a number column."""
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

    def _with_kind(
        self, key: str, numbers: list[Json], lists: list[Json], days: list[Json], where: list[Json]
    ) -> list[tuple[str, JsonObject]]:
        """The questions of the named kind, with the columns that fit it."""
        parameters = {parameter.name: parameter for parameter in catalogue[key].card.parameters}
        if key == "proportion":
            return self._proportion(lists)
        if numbers and self._all_or_each(key):
            self.guessed = True  # each of them, or all together?
            given = self._asked(where, column=self._take_best(numbers), **self._grouped())
            self.take("target", self.all_free("money"))
            timed = any(mark.took == "target" and mark.roles.get("unit") in TIMES for mark in self.marks)
            lasts = timed and not any(self.role(at, "kind") == "sum" for at in self._kind_marks())
            order = ("median", "mean", "sum") if self._rate() or lasts else ("sum", "mean", "median")
            return [(found, given) for found in order]
        if key == "count" and (name := self._added(numbers)):
            self.guessed = True
            self._take(numbers, name)
            given = self._asked(where, column=name, **self._grouped())
            return [("sum", given), ("mean", given), ("median", given)]
        often = bool(numbers) and self.said(numbers[0][0]) in _OFTEN
        if key == "count" and numbers and (often or self._how_much(numbers) or self._how_many_of_unit(numbers)):
            return self._without_kind(numbers, lists, days, where, [])
        if key == "count":
            if len(self.by) > 1:
                return self._crosstab(where, self.by)
            if self.by and any(found[1] == self.by[0] for found in lists):
                self._take(lists, self.by[0])  # “all countries and how many singers in each country”
                lists = [found for found in lists if found[1] != self.by[0]]
            if len(lists) == 1 and self.by and not numbers and self._right_after_how_many(lists[0][0]):
                self._take(lists, lists[0][1])  # “number of shifts per month”: the rows, or a table of both?
                self.guessed = True
                given = self._asked(where, **self._grouped())
                return [(key, given), *self._crosstab(where, [self._plain_ref(lists[0][1]), *self.by])]
            each = [at for at in self.all_free("by") if self.said(at) in ("of each", "each")]
            one = [*numbers, *lists]
            if each and not self.by and len({name for _, name in one}) == 1:  # “satisfaction scores, how many of each”
                self.take("by", each)
                self._take(one, one[0][1])
                return [("histogram", self._asked(where, column=self._plain_ref(one[0][1])))]
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
            if takes == "column.ordered" and isinstance(grouped, dict):
                grouped = grouped["column"]  # “the cumulative share by days to pay”
            return [(key, self._asked(where, column=grouped, **extra))]
        named = self.by[0]["column"] if len(self.by) == 1 and isinstance(self.by[0], dict) else ""
        if key == "quantile" and not fitting and named in self.numbers:
            self.by = []  # “the top 10 % by number of sessions”
            return [(key, self._asked(where, column=named, **extra))]
        if not fitting and takes == "column.listed":
            taken = {cond.column for cond in self.conds}
            loose = {name for mark in self.marks for _, name in mark.roles.get("col", ()) if not mark.used}
            others = [name for name in self.schema.of_kind(Category, ItemSet) if name not in taken]
            open_lists = [name for name in others if not yes_no(self.declared(name))]
            self.guessed = True
            where_asked = any(self.said(at).split(" ")[0] in _WHERE for at in range(len(self.marks)))
            places = self._places(taken) if where_asked else []
            open_lists.sort(key=lambda name: (name not in places, name not in loose))
            return [(key, self._asked(where, column=name, **extra)) for name in open_lists]
        if not fitting:
            ages = set(self.ages)
            wide = [
                name
                for name in sorted(self.numbers, key=ages.__contains__)
                if takes in ("column.number", "column.ordered", "column.any")
            ]
            self.guessed = True
            much = any(self.said(at) == "how much" and self._alone(at) for at in self._kind_marks())
            wide = self._of_unit("money") or wide if much else wide
            added = [("count", self._asked(where, **self._grouped()))] if key == "sum" and where and not much else []
            sums = [(key, self._asked(where, column=name, **extra, **self._grouped(parameters))) for name in wide]
            return [*added, *sums]  # “letters and postcards in total”
        chosen = max(fitting, key=lambda found: self.weight_at(found[0]))
        self._take(fitting, chosen[1])
        if "by" not in parameters and key == "histogram" and self.by and self.is_a(chosen[1], Category):
            return self._crosstab(where, [self._plain_ref(chosen[1]), *self.by])
        self._by_place(parameters)
        rest = [found for found in lists if found[1] != chosen[1] and not self.marks[found[0]].used]
        unsplit: JsonObject = {}
        named_first = len(rest) == 1 and (self.has(rest[0][0] - 1, "which") or rest[0][0] < chosen[0])
        if "by" in parameters and not self.by and named_first and not self._limited(rest[0][0]):
            self.by.append(self._plain_ref(rest[0][1]))
            self._take(rest, rest[0][1])
            if self.has(rest[0][0] - 1, "which"):  # “which field has the highest average score”
                self.take("kind", [*self.all_free("top"), *self.all_free("bottom")])
            elif self._superlative(rest[0][0]) < 0:
                unsplit = self._asked(where, column=chosen[1], **extra)
        if key == "sum" and self.compare and self._sum_is_name(chosen[1]):
            self.guessed = True  # “a difference in takings”: of all of them, or of each?
            given = self._asked(where, column=chosen[1], **self._grouped())
            return [(figure, given) for figure in ("median", "mean", "sum")]
        asked: Json = chosen[1]
        if self.is_a(chosen[1], Date) and takes == "column.any":
            asked = {"column": chosen[1], "by": "month"}
        found = [(key, self._asked(where, column=asked, **extra, **self._grouped(parameters)))]
        self.guessed = self.guessed or bool(unsplit)
        return [*found, *([(key, unsplit)] if unsplit else [])]  # “average branch discount”: of each branch?

    def _by_place(self, parameters: Container[str]) -> None:
        """“kje je največ varoje v povprečju”: the one list of places becomes the groups."""
        most = [at for at in self._kind_marks() if self.role(at, "kind") == "top_item"]
        most += [*self.all_free("top"), *self.all_free("bottom")]
        if "by" in parameters and not self.by and most and (place := self._asked_place()):
            self.by.append(place[0][1])
            self.take("by", [place[0][0], *most])

    def _sum_is_name(self, name: str) -> bool:
        """Do the words that ask for a sum only name the column?"""
        summing = [at for at in range(len(self.marks)) if self.role(at, "kind") == "sum"]
        return bool(summing) and all(self.column_at(at) == name for at in summing)

    def _right_after_how_many(self, at: int) -> bool:
        """A list in the plural, as what is counted: “how many contracts by month”."""
        near = self.past(at - 1, -1, ["stop"], ["kind"])
        return near >= 0 and self.marks[near].took in ("kind", "passed") and self.role(near, "kind") == "count"

    def _limits(self) -> bool:
        """Is there a comparison with a number?"""
        return any(not cond.labels for cond in self.conds)

    def _limited(self, at: int) -> bool:
        """Does a bound come right after? Then the text is about some rows: “huts above 2000 m: average rating”"""
        return at + 1 < len(self.marks) and self.marks[at + 1].took == "bound"

    def _how_many(self, target: int | None = None) -> JsonObject:
        """“top 3”, “3 commonest diagnoses”, “tri mesta z največ naročili”"""
        named = [at for at, mark in enumerate(self.marks) if mark.took in ("kind", "passed")]
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
            if near >= 0 and self.marks[near].took in ("kind", "passed"):
                return str(name)
        return None

    def _all_or_each(self, key: str) -> bool:
        """“how much money do they get”, “koliko evrov smo dobili”: in total, or each?"""
        asked = [self.words(at).lower() for at in self._kind_marks()]
        money = any(mark.took == "target" and mark.roles.keys() & {"money", "unit"} for mark in self.marks)
        money = money or any(self._asks_for(at, MEASURES) for at in range(len(self.marks)))
        said = any("money" in mark.roles for mark in self.marks)
        return (key == "sum" and asked == ["how much"]) or (key == "count" and (money or said))

    def _rate(self) -> bool:
        """Is a figure of each one asked for? “a month”, “na mesec”, “per person”. Takes these words."""
        each = ("a", "an", "per", "na", "vsak", "vsako", "every", "each")
        periods = [at for at in self.all_free("period") if at and self.said(at - 1) in each]
        rates = [*self.all_free("rate"), *periods]
        self.take("rate", rates)
        return bool(rates)

    def _kind_marks(self) -> list[int]:
        return [at for at, mark in enumerate(self.marks) if mark.took in ("kind", "passed")]

    def _how_many_of_unit(self, numbers: list[Json]) -> bool:
        """“how many hours a week do they attend”, of `hrs_wk`: what is counted is measured."""
        timed = ("seconds", "minutes", "hours")
        return any(
            at - 1 in self._kind_marks()
            and self.weight_at(at) > 2
            and self.known.phrases.get((self._tokens_of(at)[0].stem,), {}).get("unit") in timed
            for at, _ in numbers
        )

    def _how_much(self, numbers: list[Json]) -> bool:
        """Does “koliko” mean how much, not how many? It does right before a number: “koliko zaslužijo ženske”"""
        if self.lang != "sl":
            return False
        firsts = [self.past(at - 1, -1, ["stop"], ["kind"]) for at, _ in numbers]  # “koliko znašajo vsi stroški”
        amounts = any(
            token.stem in self.stems("znaša", "znašajo", "znašal", "stane", "stanejo") for token in self.tokens
        )
        loosely = {at for at, _ in numbers if self.has(at, "rows") and self.weight_at(at) <= 1}
        return any(at - 1 in self._kind_marks() for at, _ in numbers if at not in loosely) or (
            amounts and bool(numbers) and (bool(self.conds) or any(first in self._kind_marks() for first in firsts))
        )
