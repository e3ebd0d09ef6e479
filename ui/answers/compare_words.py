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
_LONG, _KEPT = 3, 2  # words that must be shared to be left out, and that stay: “Sex is male”, not “male”


@dataclass(frozen=True)
class Named:
    name: str
    figure: Comparable
    notes: tuple[str, ...] = ()  # on how the cells behind it fit


def shortened(names: Sequence[str]) -> tuple[list[str], str]:
    """Names that begin alike without what they share, but for its last words; and what was left out."""
    words = [name.split(" ") for name in names]
    alike = next((at for at, each in enumerate(zip(*words, strict=False)) if len({*each}) > 1), 0)
    cut = alike - _KEPT
    if cut < _LONG:
        return list(names), ""
    return [" ".join(name[cut:]) for name in words], " ".join(words[0][:cut])


def printed(told: Stated) -> tuple[str, str, str]:
    """A figure and its range."""
    low, high = down(told.low, _GRAIN), up(told.high, _GRAIN)
    value = rounded(down(told.value, _GRAIN), low, high)  # type: ignore[arg-type]
    return value, *rounded_range(low, high)  # type: ignore[arg-type]


class Words:
    """Of one comparison; `names` stand for its picks."""

    def __init__(self, told: Comparison, picked: Sequence[Named], table: str, question: str = "") -> None:
        """`question` is theirs, where they are parts of one answer."""
        self.told, self.picked, self.table_name, self.question = told, list(picked), table, question
        self.names = [one.name for one in picked]

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
            return say("compare.same", first=first, second=second, low=low, high=high, unit=self._unit(high))
        if apart.value < 0:  # told from the larger one
            first, second, apart = second, first, difference(pair.second.stated, pair.first.stated)
        value, low, high = printed(apart)
        return say("compare.above", first=first, second=second, value=value, low=low, high=high, unit=self._unit(value))

    def _unit(self, value: str) -> str:
        """What so many are counted in: a difference, or a sum."""
        first = self.told.picks[0]
        kind, column, _ = first.unit
        if first.measure and not first.day:
            return first.measure
        code = "compare.unit.days" if first.day else f"compare.unit.{kind}"
        return say(code, **({"column": column} if kind == "column" and not first.day else {"value": value}))

    def notes(self) -> list[str]:
        """How the cells behind the figures fit: once where it is the same of all, else beside the name of each."""
        if len({one.notes for one in self.picked}) == 1:
            return list(self.picked[0].notes)
        return [say("compare.note", name=one.name, note=note) for one in self.picked for note in one.notes]

    def rows(self) -> list[tuple[str, str]]:
        """What was worked out, and what came of it."""
        found = []
        for pair, name in zip(self.told.pairs, self.names[1:], strict=True):
            found += self._pair(pair, self.names[0], name)
        if self.told.total is not None:
            found.append((say("compare.sum"), self._range(self.told.total)))
        return found

    def _pair(self, pair: Compared, first: str, second: str) -> list[tuple[str, str]]:
        names = {"first": first, "second": second}
        found = [(say("compare.difference", **names), self._range(pair.difference))]
        if not pair.first.day:
            near = say("compare.near_zero", second=second)
            found.append((say("compare.ratio", **names), near if pair.ratio is None else _stated(pair.ratio)))
            if pair.change is not None:
                found.append((say("compare.change", **names), _stated(pair.change, " %")))
        found.append((say("compare.differ", **names), say("compare.yes" if pair.different else "compare.unknown")))
        return found

    def _range(self, told: Stated) -> str:
        value, low, high = printed(told)
        return say("compare.figure", value=f"{value} {self._unit(value)}", low=low, high=high)

    def table(self) -> str:
        rows = "".join(f"<tr><td>{escape(what)}</td><td>{escape(told)}</td></tr>" for what, told in self.rows())
        return f'<div class="scroll" tabindex="0"><table class="plain compared">{rows}</table></div>'

    def claim(self) -> str:
        """How often it holds, of what, and what it does not say."""
        code = "compare.claim"
        if self.told.alone:
            code = "compare.claim_alone" if self.told.answers == 1 else "compare.claim_bought"
        told = say(code, chance=chance(self.told.beta), table=self.table_name)
        twice = self.told.total is not None and len({one.request for one in self.told.picks}) > 1
        return f"{told} {say('compare.twice')}" if twice else told

    def sentence(self) -> str:
        """All of it in one breath."""
        several = len(self.told.pairs) > 1
        rows = "".join(f" {what}: {told}." for what, told in self.rows()) if several else ""
        finding = self.headline()
        finding = say("compare.of", question=self.question, finding=finding) if self.question else finding
        return " ".join((f"{finding}{rows}", *self.notes(), self.claim()))


def _stated(told: Stated, sign: str = "") -> str:
    value, low, high = printed(told)
    return say("compare.figure", value=value + sign, low=low + sign, high=high + sign)
