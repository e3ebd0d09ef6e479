"""Values of lists and yes-or-no columns in a typed text, denied or not, become conditions or groups."""

from __future__ import annotations

import re

from rapidfuzz.distance import Prefix

from dpengine.declared.schema import Category, ItemSet, Number
from dpengine.reading.cutting import name_words, stems_of
from dpengine.reading.lexicon import PARTLY, SAID_ALIKE, SHARED, none_label, yes_no
from dpengine.reading.relations import Relations
from dpengine.reading.sentence import Condition
from dpengine.reading.words import GENERIC, bare, roots, typed_stem

_ASKING = "is are was were do does did ali so je who kdo imajo ima have has".split()  # of a question that contrasts
_LATE = ("late", "early", "overdue", "long", "prepozno", "prezgodaj", "pozno")
_COMPARING = ("differenc", "compar", "razlik", "primerj")
_OTHERS = ("od ostalih", "od drugih", "than others", "than the others", "than the rest", "kot ostali", "kot drugi")


class Conditions(Relations):
    def _values(self) -> None:
        """Values of lists become conditions."""
        for at in range(len(self.marks)):
            mark = self.marks[at]
            if mark.used or "val" not in mark.roles:
                continue
            best = max(weight for weight, _, _ in mark.roles["val"])
            how = self.past(at - 1, -1, ["stop"], ["kind"]) < 0 and self.said(0).split(" ")[0] in ("how", "kako")
            asked = self.lang == "sl" or self.said(at - 1) == "how"
            asked = asked and not any(self.weight_at(place) >= 2 for place in range(at + 1, len(self.marks)))
            if how and at and asked and not self.kinds and not self._typed_kinds() - {"sum"}:
                mark.roles = {"col": [(3, mark.roles["val"][0][1])]}  # “how satisfied are …”
                continue
            senses = [(name, value) for weight, name, value in mark.roles["val"] if weight == best]
            if self.has(at, "col") and (self.weight_at(at) > best or self._had(at)):
                continue
            if "more" in mark.roles and self._compares(at, senses[0][0]):
                continue
            if ("not" in mark.roles or "none" in mark.roles) and not any(
                self.column_at(near) == senses[0][0]
                for near in (at + 1, at + 2, self.past(at + 1, 1, ["stop"], ["col", "val", "kind"]))
            ):
                continue
            if (best <= 2 or not self._as_typed(at)) and self._said_of_rows(at):
                continue
            near_names = {self.column_at(near) for near in range(at - 2, at + 3)}
            name, value = next(((n, v) for n, v in senses if n in near_names), senses[0])
            shared = [v for n, v in senses if n == name] if best == SHARED else []
            if len(senses) > max(len(shared), 1) and name not in near_names:
                self.guessed = True
            denial = self._negated(at, name)
            if denial is None:
                denial = self._denied_too(at, name)
                denial = self._denied_after(at, name) if denial is None else denial
            elif (
                self._part_of_another(name, value) and self.said(denial) != "neither"
            ):  # “not satisfied”: and the very?
                denial = None
            if denial is not None:
                self._deny(denial)
            mark.take("val")
            if best == PARTLY and (self._rest_of_value(at, name) or self._better_named(at, name)):
                continue  # “tyre changes”, and another value is oil change
            for each in shared or [value]:
                self._add_value(at, name, each, denial is not None)
            unsure = best == PARTLY and name not in near_names
            unsure = unsure or any(token.far for token in self._tokens_of(at))
            if unsure and isinstance(self.schema.columns[name], Category):
                self.partly.append(next(cond for cond in self.conds[::-1] if value in cond.labels))
            for near in (at - 2, at - 1, at + 1, at + 2):  # “permanent contract”, “in the Eye clinic”
                if self.column_at(near) == name and not self.marks[near].used:
                    self.marks[near].take("val")
        self._same_column()

    def _said_of_rows(self, at: int) -> bool:
        """“children under 10” have an age, “resolved within an hour” took a time: no value of a list is meant. Takes
        the word."""
        bounded = [cond for cond in self.conds if not cond.labels and abs(cond.place - at) <= 4]
        for cond in bounded:
            aged = "life" in self.marks[at].roles and cond.column in self.ages
            if aged or (self.is_a(cond.column, Number) and self._makes(at, cond.column)):
                self.marks[at].take("bound")
                return True
        if at and self.said(at) in _LATE and self.marks[at - 1].took == "bound" and self.has(at - 1, "unit", "number"):
            self.marks[at].take("bound")  # “over an hour late”
            return True
        waited = self.said(at).startswith(("wait", "caka")) and any("long" in mark.roles for mark in self.marks[:at])
        if waited and max(weight for weight, _, _ in self.marks[at].roles["val"]) <= SAID_ALIKE and self._of_time():
            self.marks[at].take("rows")  # “how long do they wait for their money”, and a status is pending
            return True
        spoken = any(self.has(place, "long", "unit") for place in range(len(self.marks)))
        for name in self._of_time() if spoken else ():  # “how long does it take to resolve a ticket”
            if self._makes(at, name):
                self.marks[at].take("rows")
                return True
        return False

    def _as_typed(self, at: int) -> bool:
        """Is a value typed as it is written, or in another form of Slovene?"""
        if self.lang == "sl":
            return all(typed_stem(token.text, self.lang) == token.stem for token in self._tokens_of(at))
        return any(self.said(at).startswith(bare(name_words(value))) for *_, value in self.marks[at].roles["val"])

    def _makes(self, at: int, name: str) -> bool:
        """Is a mark made from the same word as a column's name? “resolve”, of `resolution_hours`"""
        word = self._tokens_of(at)[0].stem
        named = stems_of(name_words(name), self.lang)
        made = {root for part in named for root in roots(part, self.lang)} - {""}
        alike = any(Prefix.similarity(word, part) >= max(5, 0.62 * len(word)) for part in named)
        return alike or bool(made & set(roots(word, self.lang)))

    def _rest_of_value(self, at: int, name: str) -> bool:
        """Does a word beside this one name another value of the list better?"""
        near = [self.marks[place].roles.get("val", ()) for place in (at - 1, at + 1) if 0 <= place < len(self.marks)]
        return any(weight > PARTLY and column == name for senses in near for weight, column, _ in senses)

    def _better_named(self, at: int, name: str) -> bool:
        """“službene poti z vlakom”, of a list with a company car: another value is named in full, and not beside it."""
        full = [
            place
            for place in range(len(self.marks))
            if any(weight > PARTLY and column == name for weight, column, _ in self.marks[place].roles.get("val", ()))
        ]
        apart = [place for place in full if not self._only(min(at, place) + 1, max(at, place) - 1, "or")]
        joint = ("and", "in", "ter", "&")
        return bool(apart) and not any(self.said(place) in joint for place in range(min(at, full[0]), max(at, full[0])))

    def _deny(self, at: int) -> None:
        """Take a denial; Slovene denies twice: “ki ne uporabljajo nobenega orodja”."""
        self.marks[at].take("not")
        again = [near for near in range(max(at - 4, 0), at) if self.free(near, "not")]
        if self.lang == "sl" and again and self.said(at).startswith(("nob", "nit", "nik", "nih")):
            self.marks[again[-1]].take("not")

    def _compares(self, at: int, name: str) -> bool:
        """“is income higher for …”: no higher education, unless its column is named."""
        near = [self.column_at(place) for place in (at - 2, at - 1, at + 1, at + 2)]
        return name not in near and any(self.is_a(other, Number) for other in near)

    def _part_of_another(self, name: str, value: str) -> bool:
        """Do the words of another value hold those of this one?"""
        declared = self.declared(name)
        others = declared.values if isinstance(declared, Category) else ()
        return any(f" {bare(value)} " in f" {bare(other)} " for other in others if other != value)

    def _denied_too(self, at: int, name: str) -> int | None:
        """“without asthma or diabetes” denies both."""
        near = at - 1
        while self.has(near, "stop", "or", "and", "among") and not self.has(near, "have", "val"):
            if self.has(near, "with") and not self.has(near, "stop"):
                break
            near -= 1
        joined = any(self.has(place, "or", "and") for place in range(near + 1, at))
        denied = [cond for cond in self.conds if cond.negated and cond.column == name]
        values = self.marks[near].roles.get("val", ()) if near >= 0 and self.marks[near].took == "val" else ()
        for cond in denied if joined else ():
            if any(value in cond.labels for _, column, value in values if column == name):
                return next((place for place in range(near, -1, -1) if self.marks[place].took == "not"), None)
        return None

    def _denied_after(self, at: int, name: str) -> int | None:
        """“where a pump was not used”, at the end of the text and of a list with several values a row."""
        near = self.past(at + 1, 1, ["stop", "have"], ["not", "val", "and", "or", "which"])
        used = ("used", "needed", "involved", "present", "required", "included", "uporabljen", "potreben", "prisoten")
        after = [place for place in (near + 1, near + 2) if self.has(place, "stop")]
        last = {token.stem for place in after for token in self._tokens_of(place)}
        fitting = self.free(near, "not") and near >= len(self.marks) - 3 and self.is_a(name, ItemSet)
        return near if fitting and last & self.stems(*used) else None

    def _had(self, at: int) -> bool:
        """“car owners”, “without a car”: a yes or no, although another column lists the same word as a value."""
        if not yes_no(self.declared(self.column_at(at) or "")):
            return False
        before = any(self.has(near, "with", "not", "own") for near in (at - 1, at - 2))
        return before or self.has(at + 1, "own")

    def _add_value(self, at: int, name: str, value: str, negated: bool) -> None:
        several = isinstance(self.schema.columns[name], ItemSet)
        alike = [cond for cond in self.conds if cond.column == name and cond.labels and cond.negated == negated]
        for cond in alike:
            if not several or self._only(cond.place, at - 1, "or"):
                cond.labels.append(value)
                return
        self.conds.append(Condition(at, name, "", None, [value], negated))

    def _same_column(self) -> None:
        """All values of a list are groups, not a condition; so are values that are compared."""
        for cond in [cond for cond in self.conds if len(cond.labels) > 1 and not cond.negated]:
            column = self.schema.columns[cond.column]
            if not isinstance(column, Category):
                continue
            every = set(cond.labels) >= set(column.values)
            if self.by and not (every and self._typed_kinds() == {"count"}):
                continue  # but for “how many men and women in each region”
            if not self.by and any(bare(token.text) in ("etc", "itd", "ipd") for token in self.tokens):
                self.conds.remove(cond)  # “where were they made (agency, phone etc.)”: only examples
                self.by.append(cond.column)
                self.take("by", [at for at in range(len(self.marks)) if self.said(at) in ("etc", "itd", "ipd")])
                continue
            compares = any(self.said(at).startswith(_COMPARING) for at in range(len(self.marks)))
            versus = any("versus" in mark.roles for mark in self.marks) or (
                self.compare and (self.has(0, "compare") or compares)
            )
            if every:
                self.conds.remove(cond)
            if every or versus or self._each_apart():
                self.by.append(cond.column)

    def _each_apart(self) -> bool:
        """“city bikes or e-bikes: how many of each”: no groups are named after it."""
        places = [at for at in self.all_free("by") if self.said(at) in ("of each", "each", "vsakega", "vsake")]
        self.take("by", places)
        return bool(places)

    def _either_of(self, cond: Condition) -> bool:
        """Nothing but values of one list and an “or”: “stalls or circle?”"""
        values = [at for at, mark in enumerate(self.marks) if mark.took == "val"]
        others = [at for at in range(len(self.marks)) if at not in values and not self.has(at, "stop")]
        joined = [at for at in range(len(self.marks)) if self.has(at, "or")]
        return len(self.conds) == 1 and len(values) == len(cond.labels) and bool(joined) and set(others) <= set(joined)

    def _yes_columns(self) -> None:
        """“smokers”, “without a car”, “no scholarship”, “with a scholarship”."""
        named = self.all_free("col")
        plain_columns = [at for at in named if self.is_a(self.column_at(at), Category) and self._no_rows(at)]
        joined = len(plain_columns) == 2 and (
            self._only(plain_columns[0] + 1, plain_columns[1] - 1, "and")
            or self._only(plain_columns[0] + 1, plain_columns[1] - 1, "versus")
        )
        if joined and len(named) == 2 and not self.conds and not self._typed_kinds() - {"crosstab"}:
            return  # two columns beside each other: a cross table
        if "crosstab" in self._typed_kinds() and len(plain_columns) + len(self.by) > 1:
            return
        for at in named:
            name = self.column_at(at) or ""
            declared = self.declared(name)
            if self._asks_yes_or_no(at, name) and not self.by:
                continue
            denial = self._negated(at, name) if yes_no(declared) else self._negated(at)
            if denial is None and yes_no(declared):
                denial = self._not_so(at)
            if denial is None and yes_no(declared):
                denial = next((near for near in (at + 1, at - 1) if self._says_missing(near)), None)
            if yes_no(declared) and self._only_called(at, name):
                self.marks[at].take("rows")
                continue  # “meters read in May”, and a column says which are smart meters
            if yes_no(declared) and self._same_thing(at, name):
                self.marks[at].take("rows")
                continue  # “brez sončne elektrarne”, and another column has an electric car
            if denial is None and yes_no(declared) and self._in_a_value(at, name):
                self.marks[at].take("val")
                continue  # “passed first time” is the result first-time pass, and not that the theory was passed
            if denial is None and self._of_compound(at, name):
                self.marks[at].take("rows")
                continue  # “delivery distance” is the distance, and not of those that were delivered
            if yes_no(declared) and denial is None and self._loosely_named(at, name):
                del self.marks[at].roles["col"]
                continue  # “znamka avtomobila”, and a column says who got a replacement vehicle: it is named as unread
            if self.has(at, "rows") and self.weight_at(at) <= 1:
                continue  # “sprejemi”, although one column says which were urgent
            if (already := self._said_already(at)) is not None:
                self.marks[at].take("bound")  # “inspected since May” has a date, and nothing is said of passed
                turned = {">=": "<", "<": ">=", ">": "<=", "<=": ">"}.get(already.op if already.column else "")
                if denial is not None and turned:  # “not inspected since May”
                    already.op = turned
                    self._deny(denial)
                continue
            if yes_no(declared) and not self.by and (without := self._and_without(at)):
                self.by.append(name)  # “with breakfast and without”
                self.take("by", [at, *without])
                continue
            if yes_no(declared) and name in self.by:  # “compare renewed and not renewed loans”
                self.take("by", [at, *([] if denial is None else [denial])])
                continue
            if (pair := yes_no(declared)) and isinstance(declared, Category):
                if denial is None and "histogram" in self._typed_kinds() and len(named) == 1:
                    continue  # the question is about this column itself: its distribution
                label = pair[0] if denial is None else pair[1]
                if any(cond.column == name for cond in self.conds):
                    self.marks[at].take("val")
                    continue
                self.conds.append(Condition(at, name, "", None, [label]))
            elif (none := none_label(declared)) and isinstance(declared, Category):
                if denial is not None:
                    labels = [none]
                elif (
                    self.has(at - 1, "with")
                    or self.has(at - 2, "with")
                    or self.said(at - 1) == "ki"
                    or self._happened(at)
                ):
                    labels = [value for value in declared.values if value != none]
                else:
                    continue
                self.conds.append(Condition(at, name, "", None, labels))
            else:
                continue
            self.marks[at].take("val")
            if denial is not None:
                self._deny(denial)

    def _says_missing(self, at: int) -> bool:
        """“receipt missing”, “manjka potrdilo”."""
        said = self.said(at) if 0 <= at < len(self.marks) and not self.marks[at].used else ""
        return said in ("missing", "lacking", "absent", "manjka", "manjkajo", "manjkajoc", "manjkajoce")

    def _asks_yes_or_no(self, at: int, name: str) -> bool:
        """“replacement car yes / no”: groups. Takes these words."""
        labels = {bare(label) for label in yes_no(self.declared(name)) or ()}
        near = [place for place in range(at + 1, min(at + 4, len(self.marks))) if self.said(place) in labels]
        if not labels or {self.said(place) for place in near} != labels:
            return False
        if any(place not in near and not self.has(place, "or", "and", "versus") for place in range(at + 1, near[-1])):
            return False  # “electric car yes, solar no”
        self.by.append(name)
        self.take("by", [at, *near])
        return True

    def _loosely_named(self, at: int, name: str) -> bool:
        """Does another word for one part of a longer name stand there, without any word of having it?"""
        generic = self.stems(*GENERIC, "has", "is", "ima", "je", "with", "z", "s")
        telling = {word for word in stems_of(name_words(name), self.lang) if len(word) > 1} - generic
        said = {token.stem for token in self.tokens}
        having = any(self.has(near, "with", "own") for near in (at - 2, at - 1)) or self.has(at + 1, "own")
        return self.weight_at(at) <= 1 and len(telling) > 1 and not telling & said and not having

    def _only_called(self, at: int, name: str) -> bool:
        """Is a word the one that the table is called by, and only a part of a column's name?"""
        generic = self.stems(*GENERIC, "has", "is", "ima", "je")
        telling = [word for word in stems_of(name_words(name), self.lang) if word not in generic and len(word) > 1]
        return self._tokens_of(at)[0].stem in self.called and self.covered[name] < len(telling)

    def _in_a_value(self, at: int, name: str) -> bool:
        """Is a word for a part of a yes or no also in the values that stand beside it?"""
        generic = self.stems(*GENERIC, "has", "is", "ima", "je")
        telling = [word for word in stems_of(name_words(name), self.lang) if word not in generic and len(word) > 1]
        near = [cond for cond in self.conds if cond.labels and abs(cond.place - at) <= 4 and cond.column != name]
        word = self._tokens_of(at)[0].stem
        return self.covered[name] < len(telling) and any(
            all(word in stems_of(name_words(label), self.lang) for label in cond.labels) for cond in near
        )

    def _same_thing(self, at: int, name: str) -> bool:
        """Does a word that only begins like a name follow one that names another yes or no?"""
        before = self.column_at(at - 1) if at and self.marks[at - 1].took == "val" else None
        token = self.tokens[self.marks[at].first]
        loose = bare(token.text)[: len(token.stem)] != token.stem and not token.mended
        return bool(loose and before and before != name and yes_no(self.declared(before)))

    def _of_compound(self, at: int, name: str) -> bool:
        """Is a noun that is made from a yes or no the first part of a number's name?"""
        plain = self.lang == "en" and bool(yes_no(self.declared(name))) and self.marks[at].first == self.marks[at].last
        if not plain or self.said(at) in bare(name_words(name)).split() or self.said(at).endswith(("ed", "ing", "s")):
            return False
        return (
            self.column_at(at + 1, (Number,)) is not None and self.free(at + 1, "col") and self.weight_at(at + 1) >= 2
        )

    def _said_already(self, at: int) -> Condition | None:
        """The condition or groups beside a mark about another column that it names just as well."""
        weights: dict[str, float] = {}
        for weight, name in self.marks[at].roles["col"]:
            weights[name] = max(weight, weights.get(name, 0))
        grouped = [Condition(at, "", "", group["column"]) for group in self.by if isinstance(group, dict)]
        for cond in [*(cond for cond in self.conds if abs(cond.place - at) <= 4), *grouped]:
            name = cond.column or cond.operand
            if name != self.column_at(at) and weights.get(name, 0) >= self.weight_at(at):
                return cond
        return None

    def _happened(self, at: int) -> bool:
        """“injured runners”, “poškodovanih”: a participle says that there was something."""
        ending = "[^e]ed" if self.lang == "en" else "(?:an|en)(?:a|e|i|ih|im|imi)?"
        return self.weight_at(at) >= 1 and re.search(f"{ending}$", self.said(at)) is not None

    def _not_so(self, at: int) -> int | None:
        """“where pets are not allowed”: a denial after a yes or no, with at most one more word."""
        near = self.past(at + 1, 1, ["stop", "have"], ["not", "val", "col", "and", "or", "which"])
        after = [place for place in range(near + 1, len(self.marks)) if not self.has(place, "stop")]
        if any(self.has(place, "col", "val") for place in after):
            return None  # “solar but no charger”
        return near if self.free(near, "not") and len(after) <= 1 and not self.has(near + 1, "among") else None

    def _and_without(self, at: int) -> list[int]:
        """The words that name the others too: “with a car and without one”, “s kartico in brez nje”."""
        if not self.has(at + 1, "and", "or", "versus", "to") or not self.has(at + 2, "not"):
            return []
        if self.column_at(at + 3) == self.column_at(at):
            return [at + 1, at + 2, at + 3]
        if self.has(at + 3, "col", "val", "number", "num") and not self.has(at + 3, "stop"):
            return []
        return [at + 1, at + 2]

    def _some(self) -> None:
        """“share of loans with a late fee”: a number that is not 0."""
        kinds = self._typed_kinds()
        if kinds - {"count", "proportion"} or self.all_free("takings"):
            return
        for at in self.all_free("col"):
            name = self.column_at(at)
            column = self.number(name)
            said = at - 1 if not self.has(at - 1, "stop") or self.has(at - 1, "with") else at - 2
            if column is None or self.weight_at(at) < 2 or name in self._ratings():
                continue
            counts = column.step == 1 and not column.measure and (self.has(0, "rows", "val") or not self.marks[0].roles)
            owing = self.said(at - 1) in ("in", "v") and self.named_for(
                str(name), "arrears", "debt", "dolg", "zaostanek"
            )
            if not kinds and not counts and not owing:
                continue  # “plots with warnings”, “tenants in arrears”, and not “income with a car”
            some = owing or self.has(said, "with")
            some = some or (self.said(at - 1) == "any" and self._negated(at, str(name)) is None)
            if column.lower == 0 and some and not any(cond.column == name for cond in self.conds):
                self.conds.append(Condition(at, str(name), ">", "0"))
                self.marks[at].take("bound")

    def _contrast(self, asked_by: bool) -> None:
        """“Is the score higher with a guide than without?”: what is contrasted becomes the groups."""
        asked = bool(self.marks) and self.said(0).partition(" ")[0] in _ASKING
        asked = asked or (self.lang == "sl" and any(self.said(at) == "kdo" for at in range(len(self.marks))))
        words = ("than", "kot", "kakor", *_OTHERS)
        than = [at for at, mark in enumerate(self.marks) if self.said(at) in words and not mark.used]
        more = [
            at
            for at in range(len(self.marks))
            if self.free(at, "more") or (self.free(at, "before") and asked and self.role(at, "kind") != "top_item")
        ]
        labelled = [cond for cond in self.conds if cond.labels]
        if not more or not (asked or than) or not labelled:
            if self.by and (asked or than):
                self.take("compare", more)
                self.contrasted = bool(more)
            return
        if self.by:  # “do scholars do better? grades by scholarship”
            grouped = [cond for cond in labelled if cond.column in self.by]
            self.conds = [cond for cond in self.conds if not asked_by or cond not in grouped]
            self.take("compare", [*more, *than] if grouped else ())
            self.contrasted = self.contrasted or bool(grouped)
            return
        several = [cond for cond in labelled if len(cond.labels) > 1 and not cond.negated]
        stated = [cond for cond in labelled if yes_no(self.declared(cond.column))]
        chosen = (several or stated or labelled)[-1]
        declared = self.declared(chosen.column)
        if not isinstance(declared, Category):
            return
        self.by.append(chosen.column)
        if chosen not in several:
            self.conds = [cond for cond in self.conds if cond.column != chosen.column]
        self.take("compare", [*more, *than, *(self.all_free("not") if than else [])])
        self.contrasted = True
