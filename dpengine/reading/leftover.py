"""The words of a typed text that its reading did not use, and that would change the question.

Words that only join or fill are passed over. But a filling word may say something: “at work” is a place, “this year” a
time, “who sold” a condition. Where nothing near it was used, such a word is named too: a reading says what it left out.
"""

from __future__ import annotations

import re

from dpengine.core.errors import AllowanceError
from dpengine.core.types import JsonObject
from dpengine.declared.conditions import Range, read_predicate
from dpengine.declared.schema import Category, Code, Number
from dpengine.reading.cutting import name_words, stems_of
from dpengine.reading.lexicon import MarkedWords
from dpengine.reading.question import Question
from dpengine.reading.sentence import Condition
from dpengine.reading.words import RELATIVE, bare

# Roles of words that say something by themselves: unread, they are named
_MEANING = frozenset("col val number num kind month day ord top bottom percentile life study".split())
# Words that join and fill. Unread, they are passed over
_HARMLESS = frozenset(
    "stop rows and or among have with to which own only by daysign versus band below share part".split()
)
_EACH = (
    "per",
    "each",
    "of each",
    "for each",
    "every",
    "for every",
    "in each",
    "in every",
    "by each",
    "glede na",
    "za vsak",
)
_OLD_OR_NEW = frozenset(
    "old new star stara stare stari starih staro nov nova nove novi novih novo novim novem novega".split()
)
_THIS = frozenset("this ta to te tega tem te".split())
_NOW = ("letos", "letosnji", "letosnja", "letosnje", "letosnjem", "danes", "today")
_WEEKS = ("week", "weekly", "teden", "tedna", "tedensko", "tednih")
_EVERY = ("a", "an", "per", "every", "each", "na", "vsak", "vsake")
_AT = frozenset("at until till in by after before".split())
_MEASURING = ("velikost", "visina", "vrednost", "raven", "value", "level")  # a figure of each was asked for
_PLACES = frozenset("work start end".split())  # after these: “at work”, “in the end”
_TOGETHER = ("together", "combined", "altogether", "in all", "skupaj", "vsega skupaj", "in total", "overall")
_ADDED = frozenset("sum count proportion histogram crosstab".split())  # questions in which “total” adds nothing


class Leftover(Question):
    """Call `run`, then `reading`, then `unread`: each builds on what the one before has taken."""

    def unread(self, asked: list[tuple[str, JsonObject]] | None = None) -> tuple[str, ...]:
        """The words that no step used. `asked`: what `reading` made of the others."""
        key, given = asked[0] if asked else ("", {})
        self.key, self.held = key, repr(given)
        left: list[str] = self._at_once() if key else []
        held = {label.lower() for cond in self.conds for label in cond.labels}
        for at, mark in enumerate(self.marks):
            if mark.used:
                left += [self.words(at)] if key and self._used_in_vain(at, mark) else []
            elif self.words(at).lower() in held or self._names_group_again(at):
                continue  # “students: yes”, read as Student is yes
            elif self._turns(at, mark) or (key and self._fills_and_says(at, mark)) or self._means_something(mark):
                left += [self.words(at)] if any(sign.isalnum() for sign in self.words(at)) else []
        return tuple(dict.fromkeys(left))

    def deviations(self) -> tuple[str, ...]:
        """The words that ask for a standard deviation by its name."""
        named = [self.words(at) for at in self._kind_marks() if self.role(at, "kind") == "variance"]
        return tuple(word for word in named if re.search(r"dev|std|\bsd|varian|odklon", bare(word)))

    def _names_group_again(self, at: int) -> bool:
        """“room prices within each category”, of `room_category`: two words of the column by which groups are made."""
        name = self.column_at(at) if self.key and self.weight_at(at) >= 2 else None
        return name is not None and name in self.by and self.covered.get(name, 0) > 1 and repr(name) in self.held

    def _means_something(self, mark: MarkedWords) -> bool:
        """Does a word say something by itself?"""
        small = mark.roles.keys() - _MEANING
        if not small or "number" in mark.roles or ("val" in mark.roles and not small & {"stop", "not"}):
            return True
        comparing = "more" in mark.roles and bare(self.tokens[mark.first].text) not in ("than", "kot", "more", "vec")
        return comparing or not small & _HARMLESS

    def _at_once(self) -> list[str]:
        """The words of a comparison that no row can meet beside an earlier one: “in January and in March”."""
        left: list[str] = []
        spans: dict[str, tuple[Code, Code]] = {}
        for cond in sorted(self.conds, key=lambda cond: cond.place):
            if cond.labels or (span := self._reach(cond)) is None:
                continue
            low, high = spans.get(cond.column, span)
            if max(low, span[0]) > min(high, span[1]):
                left.append(self.words(cond.place))
            spans[cond.column] = max(low, span[0]), min(high, span[1])
            yearly = {"column": cond.column, "by": "year"} in self.by and cond.column in self.dates
            if yearly and cond.op == "between" and len({day[:4] for day in cond.operand}) == 1:
                left.append(self.words(cond.place))  # “more than in 2022? the rate per year”
        return left

    def _reach(self, cond: Condition) -> tuple[Code, Code] | None:
        """The codes that a comparison leaves; None if nobody can say."""
        try:
            clause = read_predicate([[cond.column, cond.op, cond.operand]], self.schema).clauses[0]
        except (AllowanceError, IndexError):
            return None
        return (clause.low, clause.high) if isinstance(clause, Range) else None

    def _turns(self, at: int, mark: MarkedWords) -> bool:
        """Would a small word, in this place, make another question?"""
        near = [place for place in (at - 1, at + 1, at + 2, at + 3) if self.has(place, "val", "when", "col")]
        compared = [cond.column for cond in self.conds if not cond.labels and cond.column in self.dates]
        said = self.said(at)
        return (
            (said in _OLD_OR_NEW and not self.ages_asked)
            or said in ("pred", "before", "after", "since", "until")
            or mark.roles.get("kind") == "top_item"
            or bool(mark.roles.keys() & {"top", "bottom"})
            or self._part_of_a_value(at)
            or ("by" in mark.roles and said in _EACH)
            or ("only" in mark.roles and not any(self.marks[place].used for place in near))
            or (self.lang == "sl" and mark.roles.keys() == {"rows", "col"} and self.said(at - 1) == "v")  # v rejništvu
            or ("or" in mark.roles and self._parts_conditions(at))
            or (self._before_a_number(at) and said in ("vec", "manj", "more", "less", "fewer"))
            or ("versus" in mark.roles and len(compared) > len(set(compared)))
            or (said in _MEASURING and self.key == "count" and "stop" in mark.roles and not self.has(at, "kind"))
            or (said in ("by", "po", "glede na") and self._no_groups_after(at))
            or (mark.roles.keys() == {"rows"} and self.free(at - 1, "by") and self.said(at - 1) == "by")  # by parents
            or (said == "nor" and not any(later.took == "val" for later in self.marks[at + 1 :]))
        )

    def _no_groups_after(self, at: int) -> bool:
        """“by type of user”: groups were asked for, and nothing that follows was understood."""
        return at > 0 and at + 1 < len(self.marks) and not any(mark.used for mark in self.marks[at + 1 : at + 4])

    def _part_of_a_value(self, at: int) -> bool:
        """“zelo … zadovoljne”, of a list that has both zadovoljen and zelo zadovoljen."""
        word = self._tokens_of(at)[0].stem
        if not self.has(at, "stop"):
            return False
        for cond in self.conds:
            column = self.declared(cond.column)
            for value in column.values if isinstance(column, Category) else ():
                first, _, rest = value.partition(" ")
                if rest in cond.labels and word in stems_of(first, self.lang):
                    return True
        return False

    def _fills_and_says(self, at: int, mark: MarkedWords) -> bool:
        """Is a word that mostly fills a time, a place, a person, or a condition here?"""
        said = self.said(at)
        if said in _NOW or (mark.roles.keys() & {"period"} and self.said(at - 1) in _THIS):
            return True  # “this year”: the day on which it is asked is no part of a question
        if said in ("na dan", "per day", "a day") or (said in ("day", "dan") and self.said(at - 1) in _EVERY):
            return not any(repr(name) in self.held for name in self._of_time())
        if self.said(at - 1) in _EVERY and (said in _WEEKS or "period" in mark.roles):
            timed = any(repr(name) in self.held for name in self._of_time())  # “hours of study per week”
            return said in _WEEKS and not timed and not any(word in self.held for word in ("week", "teden", "wk"))
        if "period" in mark.roles and "stop" not in mark.roles:
            return True
        if said in _PLACES and self.lang == "en" and (self.said(at - 1) in _AT or self._after_the(at)):
            return True
        if said in ("range", "ranges", "razpon", "razpona") and not self.by:
            return True
        if at == 0 and said in ("who", "kdo") and self._asks_for_a_name():
            return True
        if said in ("more", "less", "vec", "manj") and not (self.compare or self.contrasted or self.by):
            return not self.has(at + 1, "than", "more", "before")
        exact = self._exact(mark)
        figure = self.has(self.past(at - 1, -1, ["stop"], ["kind"]), "kind") and self.key != "count"
        if figure and "rows" in mark.roles and self.is_a(exact, Number) and repr(exact) not in self.held:
            return True  # “average life expectancy and total population”
        return self._own_clause(at)

    def _after_the(self, at: int) -> bool:
        return self.said(at - 1) in ("the", "at the") and self.said(at - 2) in _AT

    def _asks_for_a_name(self) -> bool:
        """“kdo je poškodoval vrtalnik”: no question names people. But “kdo porabi več, hiša ali stanovanje” does not
        ask for a name, and “who is over 50” counts in English."""
        counted = any(self.role(at, "kind") for at in self._kind_marks())
        return (
            not self.by
            and not counted
            and self.key not in ("top_item", "crosstab", "proportion")
            and (self.lang == "sl" or self.key != "count")
        )

    def _own_clause(self, at: int) -> bool:
        """“people who use it”: a verb that adds nothing, in a clause where nothing else was used."""
        if not self.has(at, "stop") or self.marks[at].roles.keys() - {"stop"} or self.said(at) in RELATIVE["helping"]:
            return False
        start = at - 1
        while (
            start >= 0 and not self.marks[start].used and self.said(start) in RELATIVE["helping"] - RELATIVE["opening"]
        ):
            start -= 1
        if start < 0 or self.said(start) not in RELATIVE["opening"] or start == 0:
            return False
        after = at + 1
        while after < len(self.marks) and not self.marks[after].used and self.has(after, "stop"):
            after += 1
        return after >= len(self.marks) or self.marks[after].took in ("kind", "by")

    def _used_in_vain(self, at: int, mark: MarkedWords) -> bool:
        """Was a word taken for a kind that the question is not? “the average of the total”"""
        if mark.took not in ("kind", "passed") or mark.roles.get("kind") not in ("sum", "top_item"):
            return False
        if self.key == mark.roles["kind"] or self.said(at) == "how much":
            return False
        if mark.roles["kind"] == "top_item":
            return mark.took == "passed" and "'by'" not in self.held
        several = any(len(cond.labels) > 1 for cond in self.conds) or self.said(at) not in _TOGETHER
        named = any(
            token.stem in stems_of(name_words(name), self.lang)
            for token in self._tokens_of(at)
            for name in self.schema.columns
        )
        if self.said(at) in _TOGETHER:
            return not several and self.key not in _ADDED
        return mark.took == "passed" and self.key not in _ADDED and not named

    def _parts_conditions(self, at: int) -> bool:
        """An “or” between conditions on different columns, or between comparisons: no question can say that."""
        conditions = ("val", "bound", "when", "life")
        left = next((mark for mark in reversed(self.marks[:at]) if mark.used), None)
        right = next((mark for mark in self.marks[at + 1 :] if mark.used), None)
        if left is None or right is None or left.took not in conditions or right.took not in conditions:
            return False
        return not (self._columns_of(left) & self._columns_of(right)) or "bound" in (left.took, right.took)

    def _before_a_number(self, at: int) -> bool:
        """A comparing word that nothing used, at most one word before a number that became a condition."""
        near = self.marks[at + 1 : at + 3]
        return any(mark.took == "bound" and "number" in mark.roles for mark in near)

    def _columns_of(self, mark: MarkedWords) -> set[str]:
        return {sense[1] for role in ("val", "col") for sense in mark.roles.get(role, ())}
