"""Two columns that a text relates: “is pain linked to age?”, “do older patients wait longer?”."""

from __future__ import annotations

from dpengine.declared.date_column import Date
from dpengine.declared.schema import Category, Number
from dpengine.reading.groups import Groups

_ASKING = "is are was were do does did have has ali a so je se imajo kako".split()
_ELDER = ("older", "younger", "starejs", "mlajs")
_THAN = ("than", "kot", "od", "kakor")


class Relations(Groups):
    def _relations(self) -> None:
        if not self.by:
            self._related()
        if not self.by and not self.kinds:
            self._the_more()

    def _related(self) -> None:
        """“is attendance related to the score”: a number in groups of another one or of a list, or two lists."""
        cues = [at for at in self.all_free("related") if self.weight_at(at) < 2]
        if not cues:
            return
        named = self._related_columns(cues)
        if len(named) < 2:
            return
        (first, one), (second, other) = named[:2]
        if self.is_a(one, Number) and self.is_a(other, Number):
            at, name = (first, one) if one in self.ages and other not in self.ages else (second, other)
        elif self.is_a(one, Number) and self.is_a(other, Category, Date):
            at, name = second, other
        elif self.is_a(other, Number) and self.is_a(one, Category, Date):
            at, name = first, one
        else:
            self.kinds.append("crosstab")
            self.take("compare", cues)
            for place, column in named[:2]:
                self.marks[place].roles = {"col": [(3, column)]}
            return
        self.by.append({"column": name, "by": "month"} if self.is_a(name, Date) else self._ref(name))
        self.take("by", [*cues, *(place for place, column in named if column == name), at])
        self.take("compare", self.all_free("compare"))

    def _related_columns(self, cues: list[int]) -> list[tuple[int, str]]:
        """The columns that the text names, each once; by a value only where fewer than two are named themselves."""
        named: dict[str, int] = {}
        for at in range(len(self.marks)):
            name = self.column_at(at, (Number, Category, Date)) if self.free(at, "col") and at not in cues else None
            values = [weight for weight, *_ in self.marks[at].roles.get("val", ())]
            best = max([0.99, *values])
            if name and self._no_rows(at) and self.weight_at(at) > best:
                named.setdefault(name, at)
        for at in range(len(self.marks)) if len(named) < 2 else ():
            senses = sorted(self.marks[at].roles.get("val", ()), reverse=True) if self.free(at, "val") else []
            if senses and self.is_a(senses[0][1], Category) and len(named) < 2:
                named.setdefault(senses[0][1], at)
        return sorted(((at, name) for name, at in named.items()), key=lambda found: found[0])

    def _the_more(self) -> None:
        """“do older patients wait longer”: what is asked, in groups of the number that somebody has more of."""
        if not self.marks or self.said(0).split(" ")[0] not in _ASKING:
            return
        if any(self.said(at).split(" ")[-1] in _THAN for at in self.all_free("more") + self.all_free("versus")):
            return
        comparing = [at for at in self.all_free("more") if not self.has(at, "val") or self.weight_at(at) >= 1]
        spoken = {at: name for at in comparing if (name := self._compared_at(at))}
        elder = [at for at in self.all_free("life") if self.said(at).startswith(_ELDER)] if self.ages else []
        spoken |= dict.fromkeys(elder, "".join(self.ages[:1]))  # “older people”
        if not spoken:
            return
        aged = [at for at, name in spoken.items() if name in self.ages]
        place = (aged or list(spoken))[0]
        group = spoken[place]
        if self._group_is_asked(place, group, aged):
            return
        others = [
            at
            for at in self.all_free("col")
            if self.column_at(at, (Number,)) not in (None, group) and at != place and self._no_rows(at)
        ]
        more = [at for at, name in spoken.items() if name != group]
        values = [at for at in range(len(self.marks)) if self.free(at, "val") and at != place]
        if not others and more:
            self.marks[more[0]].roles = {"col": [(3, spoken[more[0]])]}
        elif not others and not values:
            return
        self.by.append(self._ref(group))
        about = [at for at in self.all_free("col") if self.column_at(at, (Number,)) == group]
        self.take("by", [place, *about])
        self.take("compare", [at for at in (*self.all_free("more"), *self.all_free("compare")) if at not in more[:1]])
        self.contrasted = not others and not more

    def _compared_at(self, at: int) -> str:
        """The number that a comparing word is about: the one that it says, or the next one that is named."""
        near = self.past(at + 1, 1, ["stop"], ["col", "val", "more"])
        said = self.said(at).split(" ")[-1]
        sized = said.startswith(("big", "larg", "small", "vecj", "manjs"))  # “bigger households”
        named = self.column_at(near, (Number,)) if self.free(near, "col") and (sized or self._no_rows(near)) else None
        spoken = self._spoken_of(said)
        if named and (not spoken or named in spoken):
            return named
        return spoken[0] if spoken else ""

    def _group_is_asked(self, place: int, group: str, aged: list[int]) -> bool:
        """“do women wait longer”: the comparing word asks for its own number, and no group is made of it."""
        before = [at for at in range(place) if self.has(at, "val", "rows") or (self.free(at, "col") and at > 0)]
        attributive = self.has(self.past(place + 1, 1, ["stop"], ["rows", "col", "val"]), "rows", "col")
        relative = any(self.said(at) in ("who", "that", "which", "ki", "with", "z", "s") for at in range(place))
        return place not in aged and bool(before) and not relative and not (attributive and not before)
