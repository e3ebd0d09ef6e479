"""What figures say beside each other, in words. Ranges are rounded outwards, so that what is printed holds as often."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from dpengine.core.exact import down, up
from dpengine.core.printed import chance
from dpengine.messages import say
from dpengine.released.compare import Comparable, Compared, Comparison, Stated, difference
from ui.words.figures import rounded, rounded_range

_GRAIN = 10**9


@dataclass(frozen=True)
class Named:
    name: str
    figure: Comparable


def printed(told: Stated) -> tuple[str, str, str]:
    """A figure and its range."""
    low, high = down(told.low, _GRAIN), up(told.high, _GRAIN)
    value = rounded(down(told.value, _GRAIN), low, high)  # type: ignore[arg-type]
    return value, *rounded_range(low, high)  # type: ignore[arg-type]


class Words:
    """Of one comparison; `names` stand for its picks."""

    def __init__(self, told: Comparison, names: Sequence[str], table: str, question: str = "") -> None:
        """`question` is theirs, where they are parts of one answer."""
        self.told, self.names, self.table_name, self.question = told, list(names), table, question

    def headline(self) -> str:
        """Of two: how far apart, or that they cannot be told apart. Of more: whether one is the largest."""
        if len(self.told.pairs) > 1:
            largest = self.told.largest
            if largest is None:
                return say("compare.largest_unknown")
            return say("compare.largest", name=self.names[self.told.picks.index(largest)])
        pair, (first, second) = self.told.pairs[0], self.names
        apart = pair.difference
        if not pair.different:
            low, high = printed(apart)[1:]
            return say("compare.same", first=first, second=second, low=low, high=high, unit=self._unit())
        if apart.value < 0:  # told from the larger one
            first, second, apart = second, first, difference(pair.second.stated, pair.first.stated)
        value, low, high = printed(apart)
        return say("compare.above", first=first, second=second, value=value, low=low, high=high, unit=self._unit())

    def _unit(self) -> str:
        kind, column, _ = self.told.picks[0].unit
        return say("compare.unit.days") if self.told.picks[0].day else say(f"compare.unit.{kind}", column=column)

    def rows(self) -> list[tuple[str, str]]:
        """What was worked out, and what came of it."""
        found = []
        for pair, name in zip(self.told.pairs, self.names[1:], strict=True):
            found += self._pair(pair, self.names[0], name)
        if self.told.total is not None:
            found.append((say("compare.sum"), _range(self.told.total)))
        return found

    def _pair(self, pair: Compared, first: str, second: str) -> list[tuple[str, str]]:
        names = {"first": first, "second": second}
        found = [(say("compare.difference", **names), _range(pair.difference))]
        if not pair.first.day:
            near = say("compare.near_zero", second=second)
            found.append((say("compare.ratio", **names), near if pair.ratio is None else _range(pair.ratio)))
            if pair.change is not None:
                found.append((say("compare.change", **names), _range(pair.change, " %")))
        found.append((say("compare.differ", **names), say("compare.yes" if pair.different else "compare.unknown")))
        return found

    def table(self) -> str:
        rows = "".join(f"<tr><td>{escape(what)}</td><td>{escape(told)}</td></tr>" for what, told in self.rows())
        return f'<div class="scroll"><table class="plain compared">{rows}</table></div>'

    def claim(self) -> str:
        """How often it holds, of what, and what it does not say."""
        code = "compare.claim_alone" if self.told.alone else "compare.claim"
        told = say(code, chance=chance(self.told.beta), table=self.table_name)
        twice = self.told.total is not None and len({one.request for one in self.told.picks}) > 1
        return f"{told} {say('compare.twice')}" if twice else told

    def sentence(self) -> str:
        """All of it in one breath."""
        several = len(self.told.pairs) > 1
        rows = "".join(f" {what}: {told}." for what, told in self.rows()) if several else ""
        finding = self.headline()
        finding = say("compare.of", question=self.question, finding=finding) if self.question else finding
        return f"{finding}{rows} {self.claim()}"


def _range(told: Stated, sign: str = "") -> str:
    value, low, high = printed(told)
    return say("compare.figure", value=value + sign, low=low + sign, high=high + sign)
