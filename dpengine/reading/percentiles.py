"""Percentiles in a typed text: “90th percentile”, “top 10 %”, “9 out of 10”."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

from dpengine.core.exact import text_of
from dpengine.declared.schema import Number
from dpengine.reading.days import Days
from dpengine.reading.lexicon import MarkedWords


class Percentiles(Days):
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
            elif (tenth := self._tenth(at - 1)) and self.said(at).startswith("decil"):
                self._share(text_of(tenth), at)
                self.marks[at - 1].take("share")
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
            elif self.free(at, "number") and self.has(at, "ordinal") and self.has(at + 1, "per cent"):
                self._share(text_of(self.marks[at].roles["number"] / 100), at)  # “95th pct”
                self.marks[at + 1].take("share")
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

    def _tenth(self, at: int) -> Fraction | None:
        """9 of “9th decile”, “2. decil”."""
        number = Fraction(self.role(at, "ord")) if self.has(at, "ord") else self.role(at, "number")
        ordinal = self.has(at, "ord", "ordinal") and not self.marks[at].used
        return number / 10 if ordinal and number is not None and 0 < number < 10 else None

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
            self._measure(self.column_at(near, (Number,)) or "") == "%"
            for near in [*range(max(at - 4, 0), at - 1), at + 2, at + 3]
        ):
            return self.marks[at + 1].take("per cent")  # “losses over 20 %”
        before = self.past(at - 1, -1, ["stop"], ["top", "bottom"])
        before = before if self.has(before, "top", "bottom") else at + 2  # “10 % najdaljših izposoj”
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
