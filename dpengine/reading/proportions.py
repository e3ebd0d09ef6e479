"""A share in a typed text: what is counted, and of whom."""

from __future__ import annotations

from collections.abc import Callable, Container
from itertools import product

from dpengine.core.types import Json, JsonObject
from dpengine.declared.schema import Category, ItemSet
from dpengine.reading.conditions import Conditions
from dpengine.reading.lexicon import none_label, yes_no
from dpengine.reading.sentence import Condition
from dpengine.reading.words import PLACES, bare

# Small words that are no verbs, although they say nothing else
_NO_VERBS = frozenset(
    "a an the of to in on at for with who that which whose as from by and or z s v na iz za pri ob po od do med ki kot"
    " ter in tudi se že ze vsi vse vseh ali pa let leta years old".split()
)


_AS = ("as", "as a", "as the", "kot")


class Proportions(Conditions):
    def _row(self, cond: Condition) -> list[Json]:
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

    def _plain_ref(self, name: Json) -> Json:
        return self._ref(name) if isinstance(name, str) else name

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
        categories = [found for found in lists if self.is_a(found[1], Category)]
        asked = [found for found in categories if self.has(found[0] - 1, "which")]
        asked = asked or [found for found in categories if self._superlative(found[0]) >= 0]
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
        if any(cond.column not in self.dates for cond in of):  # “… were upheld in 2025”: the time is that of all
            of, rest = (
                [cond for cond in of if cond.column not in self.dates],
                [*rest, *(cond for cond in of if cond.column in self.dates)],
            )
        if any(yes_no(self.declared(cond.column)) for cond in of):  # “… without a lift in Celje”: and so is the place
            placed = [cond for cond in of if cond.labels and self.said(cond.place - 1) in ("in", "v", "at", "na")]
            placed = [cond for cond in placed if not cond.negated and self.named_for(cond.column, *PLACES)]
            of, rest = [cond for cond in of if cond not in placed], [*rest, *placed]
        ways = [(of, rest)]
        if not clear:
            self.guessed = True
            ways += [(rest, of), (ordered, [])]
        rows = [(list(map(self._row, of)), list(map(self._row, rest))) for of, rest in ways]
        return [("proportion", self._asked(where, of=of, **self._grouped())) for of, where in rows]

    def _asks_most(self, at: int) -> bool:
        return bool(self.role(at, "kind") == "top_item")

    def _split(self, conds: list[Condition]) -> tuple[list[Condition], list[Condition], bool]:
        """What is counted, of whom, and whether the words say so."""
        if len({cond.column for cond in conds}) == 1:
            return conds, [], True
        asked = [at for at, mark in enumerate(self.marks) if mark.took == "kind" and mark.roles["kind"] == "proportion"]
        before = [cond for cond in conds if asked and cond.place < asked[0]]
        plain = asked and not self._in_question(asked[0])
        rate = plain and any(cond.labels and cond.place == asked[0] - 1 for cond in before)  # “unemployment rate in …”
        if 0 < len(before) < len(conds) and any(self.said(asked[0] - step) in _AS for step in (1, 2)):
            return before, [cond for cond in conds if cond not in before], True  # “late ones as a share of all …”
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

        strong = self.stems("among", "amongst", "within", "med", "izmed", "pri", "izven", "zunaj")
        stated = [cond for cond in conds[1:] if yes_no(self.declared(cond.column))]
        verb = bool(asked and not plain and stated and conds[0].labels and not yes_no(self.declared(conds[0].column)))
        if asked and plain and len(conds) == 2 and conds[0].labels and not conds[1].labels and self._does(conds):
            return conds[1:], conds[:1], True  # “percentage of clients charged more than 100”
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

    def _does(self, conds: list[Condition]) -> bool:
        """Does a participle between two conditions name the column of the second?"""
        between = [at for at in range(conds[0].place + 1, conds[1].place) if self.marks[at].took == "bound"]
        return any(self.has(at, "col") and self.said(at).endswith(("ed", "ing")) for at in between)

    def _in_question(self, at: int) -> bool:
        """“what share …”, “kolikšen delež …”: and not “the share of …”."""
        asking = ("what", "kaksn", "kaksen", "koliksn", "koliksen")
        return any(
            bare(token.text).startswith(asking) for token in self._tokens_of(max(at - 1, 0)) + self._tokens_of(at)
        )

    def _whole_first(self, asked: int, conds: list[Condition]) -> bool:
        """Is the first condition of whom, with a verb between it and the rest: “kakšen delež kmetij izvaja …”?"""
        first, second = conds[0], conds[1]
        strong = {"among", "amongst", "within", "med", "izmed", "pri", "in", "v", "na"}
        before = {self.said(at) for at in range(first.place + 1, second.place)}
        if self.lang == "en":
            if (
                self.said(asked + 1) == "of"
                and first.labels
                and first.place <= asked + 3
                and self._verb(self._past_noun(first.place + 1, second.place))
            ):
                return True  # “what share of women work in sales”
            return self.said(asked + 1) == "of the" or (
                self.said(asked + 1) == "of" and self.said(asked + 2) == "the" and not before & {"among", "within"}
            )
        if first.labels and first.place <= asked + 2 and self._verb(self._past_noun(first.place + 1, second.place)):
            return True  # “kolikšen delež mešancev dela v ruševinah”
        verb = any(not self.marks[at].roles or self.has(at, "have") for at in range(first.place + 1, second.place))
        return verb and not before & strong

    def _past_noun(self, at: int, end: int) -> int:
        """The place after a word for the rows: “what share of refused applications came from Koper”."""
        return (
            at + 1 if at + 1 < end and not self._verb(at) and (self.has(at, "rows") or not self.marks[at].roles) else at
        )

    def _verb(self, at: int) -> bool:
        """A word that says what somebody does, and so ends the name of who does it."""
        if not 0 <= at < len(self.marks):
            return False
        roles = self.marks[at].roles.keys()
        return self.said(at) not in _NO_VERBS and roles <= {"stop", "have"} and self.marks[at].took != "bound"

    def _without(self, at: int) -> bool:
        return any(bare(token.text) in ("without", "brez") for token in self._tokens_of(at))

    def _says(self, at: int, role: str) -> bool:
        """Has the mark this role, or one of its words: “ima avto” is a column, and says “has”."""
        return self.has(at, role) or any(
            role in self.known.phrases.get((token.stem,), {}) for token in self._tokens_of(at)
        )
