"""What the words of a question about a table may mean: the phrases of the language, of its columns and their values.

Built from public facts alone, once for each declaration and language. A word that no phrase knows is taken for an
inflected form or a misspelling of the nearest one, unless it is a correct word for something else.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Container, Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise

from rapidfuzz import fuzz, process
from rapidfuzz.distance import OSA, Prefix

from dpengine.core.exact import text_of
from dpengine.core.remembered import remembered
from dpengine.core.types import Json, JsonObject
from dpengine.declared.schema import Category, ItemSet, Number, Schema
from dpengine.declared.spelling import MISSING, normal, spelling_lines
from dpengine.mechanisms import asked_on, catalogue
from dpengine.messages import called
from dpengine.messages.language import speaking
from dpengine.reading.cutting import TIMES, TypedWord, cut_words, name_words, plain_words, stems_of
from dpengine.reading.everyday import EVERYDAY
from dpengine.reading.measures import TIMED_UNITS, ends_in, measured, unit_in
from dpengine.reading.thesaurus import CLASSES, CONCEPTS, SUBJECTS, TIMED
from dpengine.reading.words import (
    ALIKE,
    BY_AGE,
    BY_YEAR,
    CUT_SHORT,
    ELSEWHERE,
    GENERIC,
    GRADES,
    IN_LIFE,
    LANGUAGES,
    LISTED_AS,
    MEASURES,
    MONEY,
    OF_EACH,
    OF_ROWS,
    OF_THINGS,
    OPPOSITES,
    PAID_FOR,
    PLACES,
    SAME_VALUE,
    SEASONS,
    Vocabulary,
    bare,
    roots,
    stem,
    typed_stem,
    women,
)

MOST_VALUES = 3_000  # of one list whose values the box knows
_LONGEST_PHRASE = 6
_SPELLINGS = ("sex-1", "marital-1", "employment-1", "schooling-1")  # where a list has no table of its own
_SMALL = ("stop", "among", "by", "have", "with", "between", "daysign", "to")  # med is among, medu is honey
_JOINING = ("before", "by", "not", "versus")  # no column is named by one of these alone
COUNTED = 2.2  # how well a column is named by what it counts
_MOST_REPHRASED = 60  # values of a list whose parts are known by other words
_FEW_REPHRASED = 30  # and values where two words are
_MOST_PAIRS = 400
SAID_ALIKE = 1.4  # how well a word of the thesaurus names a value
SHARED = 1.8  # how well a word names each of several values that have it
PARTLY = 1.9  # how well one word of several names a value
_LOOSE = 0.99  # of a word that is a small word too
_SAME_VERB = re.compile("(?:uj|[ai]?[ln])$")
_AMOUNT = (
    "amount spend spending spent pay bill price cost worth znesek plača plačajo porabijo zapravijo plačilo cena strošek"
    " stane položnica"
).split()
_TIME = ("time", "duration", "value", "level", "čas", "trajanje", "vrednost", "raven")
_PREPOSITIONS = frozenset("with at by in on for from to and or z s v na po za od do pri pred".split())
_BRIEF = frozenset("min minut minutes h hours ur s sec".split())
_LONG = frozenset("km mi m".split())
_PLACED = {"en": ("location", "place", "site"), "sl": ("lokacija", "kraj", "mesto")}
_WIDE = ("m2", "ha")  # velikost parcel
_FAR = ("how far", "far", "distance", "kako daleč", "daleč", "razdalja", "oddaljenost")
_LENGTH = ("length", "dolžina")
_COUNTED = ("number", "count", "quantity", "size", "število", "količina", "velikost")


@dataclass
class MarkedWords:
    """A run of words with everything it may mean, by role."""

    first: int
    last: int
    roles: JsonObject
    used: bool = False
    took: str = ""  # the role that was taken

    def take(self, role: str) -> None:
        self.used, self.took = True, role


@dataclass
class Lexicon:
    phrases: dict[tuple[str, ...], JsonObject] = field(default_factory=dict)
    stems: set[str] = field(default_factory=set)
    own: set[str] = field(default_factory=set)  # stems of the table's own words
    proper: set[str] = field(default_factory=set)  # stems of names such as “Garden”: no other word is made from them
    raw: dict[str, str] = field(default_factory=dict)  # the table's own words as they are written, with their stems
    written: list[str] = field(default_factory=list)  # what a completion may offer, in order
    bared: list[str] = field(default_factory=list)  # the same without accents
    by_letter: dict[str, list[str]] = field(default_factory=dict)  # all stems, by their first letter
    made: dict[str, str] = field(default_factory=dict)  # the table's own stems, by what they are made from
    written_as: dict[str, str] = field(default_factory=dict)  # the table's own stems as they are written
    counted: set[str] = field(default_factory=set)  # stems of what a column counts: rooms, members
    acronyms: set[str] = field(default_factory=set)  # parts of names in capitals: LOS, BMI
    whole: set[str] = field(default_factory=set)  # stems of parts that are written out: star is starost, and no starš
    cut: set[str] = field(default_factory=set)  # words of columns' names that are cut short: frms, amt
    small: dict[str, set[str]] = field(default_factory=dict)  # how the small words are written, by their stem

    def add(self, phrase: Iterable[str], role: str, data: Json, own: bool = False) -> None:
        words = tuple(phrase)
        if not words or len(words) > _LONGEST_PHRASE:
            return
        roles = self.phrases.setdefault(words, {})
        if role in ("col", "val", "letter"):
            roles.setdefault(role, [])
            roles[role] += [data] if data not in roles[role] else []
        else:
            roles.setdefault(role, data)
        self.stems.update(words)
        if own:
            self.own.update(words)


_LETTERS = frozenset("dn")


def yes_no(column: object) -> tuple[str, str] | None:
    """The labels for yes and no of a column that has only these."""
    if not isinstance(column, Category) or len(column.values) != 2:
        return None
    yes, no = (set(map(normal, line)) for line in spelling_lines("yes_no-1"))
    first, second = column.values
    if frozenset((normal(first), normal(second))) == _LETTERS:  # D and N, as Slovene forms write it
        return (first, second) if normal(first) == "d" else (second, first)
    if normal(first) in yes and normal(second) in no:
        return first, second
    return (second, first) if normal(second) in yes and normal(first) in no else None


_NONE = {"none", "no", "nothing", "brez", "nobena", "noben", "ni", "nima", "nobeno"}


def none_label(column: object) -> str | None:
    """The value of a list that means “none”, if it has one."""
    if not isinstance(column, Category) or yes_no(column):
        return None
    return next((value for value in column.values if bare(value) in _NONE), None)


@remembered(200)
def language_lexicon(lang: str) -> Lexicon:
    words, known = LANGUAGES[lang], Lexicon()
    for key, phrases in _kinds(words, lang).items():
        for phrase in phrases:
            known.add(stems_of(phrase, lang), "kind", key)
    tables: dict[str, dict[str, str]] = {
        "share": words.shares,
        "part": words.parts,
        "before": words.before,
        "after": words.after,
        "daysign": words.days,
        "period": words.periods,
        "unit": words.units | MEASURES,
        "num": words.numbers,
        "ord": words.ordinals,
        "edge": words.edges,
        "life": BY_AGE,
        "study": BY_YEAR,
        "graded": GRADES if lang == "sl" else {},
    }
    lines: list[tuple[str, Json, str]] = [
        (role, value, line) for role, table in tables.items() for value, line in table.items()
    ]
    small = words.small | {"stop": words.stop, "rows": words.rows}
    for role, value, line in [*lines, *((role, True, line) for role, line in small.items())]:
        for phrase in line.split("|"):
            known.add(stems_of(phrase, lang), role, value)
            if role in _SMALL and phrase.isalpha():
                known.small.setdefault(stem(phrase, lang), set()).add(bare(phrase))
    for place, month in enumerate(words.months.split("|")):
        forms = [month, *((month + "ja", month + "ju", month + "jem") if lang == "sl" else ())]
        if month[:3] not in ("nov", "maj"):  # “nov” is new too
            forms += [month[:3], *(("sept",) if month[:3] == "sep" else ())]
        for form in forms if month != "may" else ["may"]:
            known.add((stem(form, lang),), "month", place + 1)
    for first, line in SEASONS[lang].items():
        for word in line.split("|"):
            known.add(stems_of(word, lang), "season", first)
    yearly = stems_of("po letih", "sl") if lang == "sl" else ("per", "year")  # “po letu 2020” is a date
    known.add(yearly, "by year", True)
    if lang == "en":
        known.add(stems_of("year on year", lang), "by year", True)
    return known


def _kinds(words: Vocabulary, lang: str) -> dict[str, list[str]]:
    """The phrases of every question on Ask. One without a line in `words` is known by its card."""
    found = {}
    for key in asked_on("ask"):
        if key in words.kinds:
            found[key] = words.kinds[key].split("|")
        elif key not in ("quantile", "noisy_argmax", "vector_mean", "proportion"):
            with speaking(lang):
                found[key] = [catalogue[key].card.noun, catalogue[key].card.title]
    return found


def lexicon_of(schema: Schema, lang: str) -> Lexicon:
    """All phrases that a question about this table may use."""
    schema = measured(schema)
    with speaking(lang):
        return _built(schema, lang, tuple(map(called, schema.columns)))


@remembered(200)
def _built(schema: Schema, lang: str, names: tuple[str, ...]) -> Lexicon:
    """`names` are the columns as the reader of this language calls them: those of a practice table are translated."""
    base, known = language_lexicon(lang), Lexicon()
    known.phrases = {phrase: dict(roles) for phrase, roles in base.phrases.items()}
    known.stems, known.small = set(base.stems), base.small
    columns = [(name, column, shown) for (name, column), shown in zip(schema.columns.items(), names, strict=True)]
    rows = _row_names(
        [cut_words(name_words(written), lang) for written in dict.fromkeys((*schema.columns, *names))], lang
    )
    for name, column, shown in columns:
        for written in dict.fromkeys((name, shown)):
            for whole in dict.fromkeys((name_words(written), plain_words(written), _written_out(written, base))):
                _add_column(
                    known,
                    name,
                    stems_of(whole, lang),
                    lang,
                    rows,
                    bare(getattr(column, "measure", "")) in MONEY,
                    bool(measureless(written, column)),
                )
            if len(written) > 2 and (written_out := CUT_SHORT.get(written.lower())):  # dept
                known.add(stems_of(written_out, lang), "col", (3, name), own=True)
            if plain := measureless(written, column):
                bared, lasts = stems_of(plain, lang), bare(getattr(column, "measure", "")) in TIMED_UNITS
                known.add(bared, "col", (1 if lasts and rows.issuperset(bared) else 3, name), own=True)
            if plain := written.partition("(")[0].strip():  # “monthly fee (€)” → monthly fee
                known.add(stems_of(name_words(plain), lang), "col", (2.5, name), own=True)
    for name in schema.of_kind(Number):  # what a row has a number of: pages, seats
        measure = bare(getattr(schema.columns[name], "measure", ""))
        counted = stems_of(measure, lang) if measure.isalpha() and len(measure) > 3 else ()
        if counted and "unit" not in known.phrases.get(counted, {}):
            known.add(counted, "col", (COUNTED, name), own=True)
    for word in _TIME:  # `fin_time_min` is the time, if no other column is one
        timed = [name for name in schema.of_kind(Number) if stem(word, lang) in stems_of(name_words(name), lang)]
        if len(timed) == 1:
            known.add((stem(word, lang),), "col", (1.2, timed[0]), own=True)
    for table, words in LISTED_AS.items():  # `sx` with the values F and M is the sex, if no other column is
        listing = [name for name, column in schema.columns.items() if table in _spellings_of(column)]
        for word in words.split("|") if len(listing) == 1 else ():
            known.add(stems_of(word, lang), "col", (1.2, listing[0]), own=True)
    paid = [name for name in schema.of_kind(Number) if bare(getattr(schema.columns[name], "measure", "")) in MONEY]
    for word in _AMOUNT if len(paid) == 1 else ():
        known.add((stem(word, lang),), "col", (1, paid[0]))
    for name, column, shown in columns:
        pair = yes_no(column)
        for yes, no in OPPOSITES if pair else ():
            if pair and {stem(word, lang) for word in yes.split("|")} & set(stems_of(name_words(name), lang)):
                for word in no.split("|"):
                    known.add(stems_of(word, lang), "val", (2, name, pair[1]), own=True)
        listed = isinstance(column, (Category, ItemSet)) and not yes_no(column) and column.size <= MOST_VALUES
        if listed and isinstance(column, (Category, ItemSet)):
            _add_values(known, name, column, lang)
        for text in (name, shown, *(column.values if listed and isinstance(column, (Category, ItemSet)) else ())):
            known.raw.update(
                {bare(token.text): token.stem for token in cut_words(name_words(text), lang) if len(token.text) > 4}
            )
    _add_classes(known, schema, lang)
    _add_subjects(known, schema, lang)
    grouped = stems_of("po skupinah", lang)
    if grouped in known.phrases and known.phrases.get(grouped[1:], {}).get("col"):
        del known.phrases[grouped]  # by a column that is called group
    for word in [*known.stems] if lang == "sl" else ():  # plačali: plačano
        roles = known.phrases.get((word,), {})
        if roles.keys() == {"stop"} and (made := _SAME_VERB.sub("", word)) != word and len(made) > 3:
            for other in known.own:
                if _SAME_VERB.sub("", other) == made and "col" in known.phrases.get((other,), {}):
                    for _, name in known.phrases[other,]["col"]:
                        known.add((word,), "col", (_LOOSE, name))
    _elsewhere(lang)  # made now, so that the first unknown word does not wait for it
    parts = {bare(word) for text in (*schema.columns, *names) for word in plain_words(text).split(" ")}
    known.acronyms = {
        bare(word)
        for text in schema.columns
        for word in plain_words(text).split(" ")
        if word.isupper() and len(word) > 2
    } - {"eur", "usd", "gbp"}
    known.whole = {stem(word, lang) for text in schema.columns for word in _written_whole(text)}
    known.cut = {word for word in parts if _is_cut(word, base, lang)}
    known.written_as = {own: written for written, own in known.raw.items()}
    known.written = _offered(schema, lang)
    known.bared = list(map(bare, known.written))
    for word in sorted(known.stems):
        known.by_letter.setdefault(word[0], []).append(word)
    for word in sorted(known.own - known.proper, key=len, reverse=True):
        for root in roots(word, lang) if len(word) > 2 else ():
            known.made.setdefault(root, word)
    return known


def _written_whole(name: str) -> list[str]:
    parts, whole = plain_words(name).split(" "), name_words(name).split(" ")
    return [part for part, word in zip(parts, whole, strict=False) if part != word]


def _is_cut(word: str, base: Lexicon, lang: str) -> bool:
    """Is a word of a name cut short: no word of the language, and no unit?"""
    own = stem(word, lang)
    plain = 2 < len(word) < 7 and word.isalpha() and own not in base.stems and not unit_in(f"a_{word}")
    return plain and word not in _written_elsewhere()


def _written_out(name: str, base: Lexicon) -> str:
    """“Dist to club” is the distance, unless what is cut short is a word of the language."""
    words = plain_words(name).split(" ")
    known = [
        word.lower() in CUT_SHORT
        and (len(word) > 2 or not set(word.lower()) & set("aeiou"))
        and (word.lower(),) not in base.phrases
        for word in words
    ]
    known[0] = known[0] or (words[0].lower() in ("no", "nr") and words[1:2] == ["of"])  # “No of guests”
    return " ".join(CUT_SHORT[word.lower()] if short else word for word, short in zip(words, known, strict=True))


def measureless(name: str, column: object) -> str:
    """The words of a name without the unit at its end: `max_load_kg` is the max load."""
    words = plain_words(name).split(" ")
    ends = {
        bare(getattr(column, "measure", "")),
        *("eur usd".split() if getattr(column, "measure", "") in "€$" else ()),
    }
    last = bare(words[-1]) in ends - {""} or ends_in(name, bare(getattr(column, "measure", "")))
    return " ".join(name_words("_".join(words[:-1])).split()) if words[1:] and last else ""


def _row_names(names: list[list[TypedWord]], lang: str) -> frozenset[str]:
    """The words of columns' names that name the rows: `trip_minutes` and `trip_date` speak of trips."""
    one, each = ({bare(word) for word in words[lang]} for words in (OF_ROWS, OF_EACH))
    found: set[str] = set()
    seen: set[str] = set()
    once = {stem(word, lang) for word in IN_LIFE}
    things = {stem(word, lang) for word in LANGUAGES[lang].things.split("|")}
    of_things = {bare(word) for word in OF_THINGS[lang]}
    for words in names:
        if len(words) != 2:
            continue
        word, head = words if lang == "en" else words[::-1]
        which = bare(head.text)
        if bare(words[-1].text) in ("since", "until", "via", "od", "do"):  # `customer_since`, `clan_od`
            found.add(words[0].stem)
            continue
        says = which in one or (which in of_things and word.stem in things)
        found.update({word.stem} if says or (which in each and word.stem in seen) else ())
        seen.update({word.stem} if which in each else ())
    return frozenset(found - once)


def _add_column(
    known: Lexicon,
    name: str,
    words: tuple[str, ...],
    lang: str,
    named: Container[str],
    money: bool = False,
    last: bool = False,
) -> None:
    """The name itself, its telling words, and other words for the same kind of column."""
    known.add(words, "col", (3, name), own=True)
    spread = [word for word in words if len(word) > 1]
    generic = {stem(word, lang) for word in GENERIC}
    head = spread.index("of") if "of" in spread else len(spread)
    for place, word in enumerate(spread if len(words) > 1 else ()):  # “fee (€)” → fee
        if word not in generic and word not in _PREPOSITIONS:
            roles = known.phrases.get((word,), {})
            counted = not {stem(word, lang) for word in _COUNTED}.isdisjoint(words)  # number of passengers
            known.counted.update({word} if counted and len(word) > 2 else ())
            doers = {stem(other, lang) for other in LANGUAGES[lang].doers.split("|")}
            rows = ("rows" in roles or word in doers or word in named) and not counted  # visitor type → visitors
            if rows:
                known.add((word,), "rows", True)
            small = "stop" in roles or (not roles.keys().isdisjoint(_JOINING) and "unit" not in roles)
            small = small and not (counted and "rows" in roles and word != "number")
            loose = 1 if rows else _LOOSE if small else 0  # water used → used
            known.add((word,), "col", (loose or (2 if place < head else 1.5), name), own=True)
    paid, paying = PAID_FOR
    if money and {stem(word, lang) for word in paid.split("|")} & set(words):
        for word in paying.split("|"):
            known.add(stems_of(word, lang), "col", (1, name), own=True)
    for part in words if len(words) > 1 and not last else ():  # `km_teden` speaks of kilometres
        for word in MEASURES[part].split("|") if part in MEASURES and len(part) > 1 else ():
            known.add(stems_of(word, lang), "col", (1.5, name), own=True)
    if 1 < len(words) < 4 and len(joined := "".join(words)) > 6:  # dropped_out → dropout
        known.add((joined,), "col", (2.5, name), own=True)
    for one, other in pairwise(words):  # uses e-books → ebook
        if len(one) == 1 and len(other) > 2 and one.isalpha():
            known.add((one + other,), "col", (2, name), own=True)
    if len(words) > 1 and words[0] in ("has", "is", "ima", "je"):  # has_car → car
        known.add(words[1:], "col", (2.5, name), own=True)
    for _, members in _alike_within(words, lang, values=False):
        for member in members:
            known.add(member, "col", (1, name), own=True)


_OTHERWISE = frozenset(  # what a word of the thesaurus must not be besides: “average”, “two” are no columns and values
    "kind share before after by not compare between month ord num top bottom or and versus last band part unit period"
    " edge percentile only none daysign".split()
)


def _within(phrase: tuple[str, ...], words: tuple[str, ...]) -> bool:
    return any(words[at : at + len(phrase)] == phrase for at in range(len(words) - len(phrase) + 1))


Phrases = list[tuple[str, ...]]


@dataclass(frozen=True)
class Alike:
    """Phrases that mean the same: of the thesaurus, or of the lists for columns and for values."""

    phrases: Phrases
    loose: bool
    line: str


@remembered(4)
def _said_alike(lang: str, values: bool) -> dict[tuple[str, ...], list[Alike]]:
    """Each phrase with the lines of phrases that mean the same, for columns or for values of lists."""
    found: dict[tuple[str, ...], list[Alike]] = {}
    small = language_lexicon(lang).phrases
    for loose, lines in ((False, SAME_VALUE if values else ALIKE), (True, CONCEPTS)):
        for line in lines:
            members = list(dict.fromkeys(stems_of(word, lang) for word in line.split("|")))
            if loose:
                plain = [one for one in members if small.get(one, {}).keys().isdisjoint(_OTHERWISE) or len(one) > 1]
                members = [one for one in plain if len(one) == 1 or one[0] not in ("po", "by")]
            for member in members:
                found.setdefault(member, []).append(Alike(members, loose, line))
    return found


def _alike_within(words: tuple[str, ...], lang: str, values: bool) -> list[tuple[tuple[str, ...], Phrases]]:
    """The runs of these words that have others for the same, with their lines."""
    known = _said_alike(lang, values)
    runs = [words[at:end] for at in range(len(words)) for end in range(at + 1, len(words) + 1)]
    return [(run, alike.phrases) for run in dict.fromkeys(runs) for alike in known.get(run, ())]


def alike_to(words: Iterable[str], lang: str) -> set[str]:
    """Single words of the thesaurus that mean the same as one of these."""
    known = _said_alike(lang, True)
    lines = [alike.phrases for word in words for alike in known.get((word,), ()) if alike.loose]
    return {phrase[0] for phrases in lines for phrase in phrases if len(phrase) == 1}


def _written_alike(value: str, line: str) -> bool:
    """Has a line a word that begins as the value does, with its accents? “peš” is no pes."""
    return value.isascii() or any(word.startswith(value.lower()[:3]) for word in line.split("|"))


def _add_values(known: Lexicon, name: str, column: Category | ItemSet, lang: str) -> None:
    tables = list(map(spelling_lines, _spellings_of(column)))
    seen: dict[str, set[str]] = {}
    for value in column.values:
        for written in {value, called(value)}:
            phrase = stems_of(name_words(written), lang)
            if "-" in phrase and len(phrase) > 2:  # 2-bed
                known.add((word for word in phrase if word != "-"), "val", (3, name, value), own=True)
            if name_words(written) != written.replace("_", " "):  # memoQ
                known.add(stems_of(written, lang), "val", (3, name, value), own=True)
            if sum(map(len, phrase)) > 1:
                known.add(phrase, "val", (3, name, value), own=True)
                known.proper.update(phrase if written[:1].isupper() and lang == "en" else ())
            if len(phrase) == 1 and len(phrase[0]) == 1:
                known.add(phrase, "letter", (3, name, value), own=True)
            joined = any(len(word) == 1 for word in phrase)  # an e-book is no book
            for word in phrase if len(phrase) > 1 and not joined else ():
                if len(word) > 2:
                    seen.setdefault(word, set()).add(value)
        lines = [line for table_lines in tables for line in table_lines if normal(value) in map(normal, line)]
        letter = [word for line in lines for word in line[:2]] if len(value) == 1 else []  # F is female
        spelt = {stems_of(name_words(word), lang) for word in (value, *letter)}
        found = [alike for one in spelt for alike in _said_alike(lang, values=True).get(one, ())]
        alike = [line.phrases for line in found if not line.loose]
        for line in found:
            for phrase in line.phrases if line.loose and _written_alike(value, line.line) else ():
                if phrase not in spelt and sum(map(len, phrase)) > 2:
                    known.add(phrase, "val", (SAID_ALIKE, name, value), own=lang == "sl")
        others = [phrase for phrases in alike for phrase in phrases if sum(map(len, phrase)) > 2]
        others += [stems_of(other, lang) for line in lines for other in line if len(other) > 2]
        for phrase in others:
            known.add(phrase, "val", (2, name, value), own=True)
    _add_words_of_values(known, name, column, lang)
    for word, values in seen.items():
        if 1 < len(values) < len(column.values) and (word,) not in known.phrases and not word.isdigit():
            for value in values if isinstance(column, Category) else ():
                known.add((word,), "val", (SHARED, name, value), own=True)
        inside = any(word in bare(value) for value in column.values if value not in values)  # fire: a wildfire too
        if len(values) == 1 and (word,) not in known.phrases and not word.isdigit() and not inside:
            known.add((word,), "val", (PARTLY, name, next(iter(values))), own=True)


def _spellings_of(column: object) -> list[str]:
    """The tables of usual spellings that its values come from: the declared one, or those that hold them all."""
    if not isinstance(column, Category):
        return []
    if column.spellings not in ("", MISSING):
        return [column.spellings]
    values = {normal(value) for value in column.values}
    usual = {table: {normal(word) for line in spelling_lines(table) for word in line} for table in _SPELLINGS}
    return [table for table, spelled in usual.items() if values <= spelled]


def _add_words_of_values(known: Lexicon, name: str, column: Category | ItemSet, lang: str) -> None:
    """“computers” for “PCs and printing”: another word for a part of one value, if it is part of no other."""
    found: dict[tuple[str, ...], set[str]] = {}
    generic = {stem(word, lang) for word in GENERIC}
    for value in column.values if column.size <= _MOST_REPHRASED else ():
        phrase = stems_of(name_words(value), lang)
        for part, members in _alike_within(phrase, lang, values=True) if len(phrase) > 1 else ():
            if part != phrase and len("".join(part)) > 2 and not set(part) <= generic:
                for member in members:
                    found.setdefault(member, set()).add(value)
        if len(phrase) == 2 and column.size <= _FEW_REPHRASED:
            for pair in _rephrased(phrase, lang):
                if pair not in known.phrases:
                    known.add(pair, "val", (2, name, value), own=True)
    for member, values in found.items():
        roles = known.phrases.get(member, {})
        if len(values) == 1 and sum(map(len, member)) > 2 and not roles.keys() & {"col", "val", "kind", "not"}:
            known.add(member, "val", (PARTLY, name, next(iter(values))), own=lang == "sl")


def _rephrased(phrase: tuple[str, ...], lang: str) -> list[tuple[str, ...]]:
    """“council tenants” for “council rent”: both words of a value, each in other words."""
    known = _said_alike(lang, True)
    first, second = ([(word,), *(one for line in known.get((word,), ()) for one in line.phrases)] for word in phrase)
    return [one + other for one in first for other in second if len(first) * len(second) < _MOST_PAIRS]


def _add_classes(known: Lexicon, schema: Schema, lang: str) -> None:
    """“how happy are they” of the one rating, “how long does it take” of the one time."""
    for named, typed in CLASSES:
        names = [stems_of(word, lang) for word in named.split("|")]
        fitting = [
            name
            for name in schema.columns
            if not yes_no(schema.columns[name]) and any(_within(one, stems_of(name_words(name), lang)) for one in names)
        ]
        for phrase in typed.split("|") if len(fitting) == 1 else ():
            _add_loosely(known, stems_of(phrase, lang), fitting[0])
    timed = [name for name in schema.of_kind(Number) if _measures_time(name, schema.columns[name], lang)]
    brief = [name for name in timed if bare(getattr(schema.columns[name], "measure", "")) in _BRIEF] or timed
    long = [name for name in schema.of_kind(Number) if getattr(schema.columns[name], "measure", "") in _LONG]
    for phrase in TIMED.split("|") if len(brief) == 1 else ():
        if not long or phrase not in _LENGTH:
            _add_loosely(known, stems_of(phrase, lang), brief[0])
    wide = [name for name in schema.of_kind(Number) if getattr(schema.columns[name], "measure", "") in _WIDE]
    away = [name for name in long if getattr(schema.columns[name], "measure", "") != "m"]
    for spoken, measured_so in ((_LENGTH, long), (_FAR, away)):
        for phrase in spoken if len(measured_so) == 1 else ():
            _add_loosely(known, stems_of(phrase, lang), measured_so[0])
    for name in schema.of_kind(Number):
        if bare(name) in ("let", "leta", "years", "yrs"):  # a column that is called by the unit of ages
            known.add(stems_of("age" if lang == "en" else "starost", lang), "col", (2, name), own=True)
    for phrase in ("size", "velikost", "kvadratura") if len(wide) == 1 else ():
        _add_loosely(known, stems_of(phrase, lang), wide[0])
    places = {word for word in PLACES if len(word) > 3}
    placed = [name for name in schema.of_kind(Category) if places & set(bare(name_words(name)).split(" "))]
    for phrase in _PLACED[lang] if len(placed) == 1 else ():
        _add_loosely(known, stems_of(phrase, lang), placed[0])


def _add_loosely(known: Lexicon, phrase: tuple[str, ...], name: str) -> None:
    """Another word for a column, if the table has no word of its own like it, and it is no other small word."""
    roles = known.phrases.get(phrase, {})
    if roles.keys() & {"col", "val", "period", "not", "by", "before", "number"}:
        return
    if "unit" in roles and roles["unit"] != "times":
        return
    if "kind" in roles or (
        roles and not roles.keys() & {"stop", "unit"} and "long" not in roles and "more" not in roles
    ):
        return
    known.add(phrase, "col", (1, name))
    known.own.update(phrase if len(phrase) == 1 and "stop" not in roles else ())


def _measures_time(name: str, column: object, lang: str) -> bool:
    """Is a number a span of time, and no age?"""
    words = stems_of(name_words(name), lang)
    aged = {stem(word, lang) for word in ("age", "starost", "wk", "week", "month", "year")}
    units = {
        stem(word, lang) for unit in ("minutes", "hours", "days") for word in LANGUAGES[lang].units[unit].split("|")
    }
    spoken = {
        word
        for unit in TIMES[:-1]
        for words in LANGUAGES.values()
        for word in map(bare, words.units.get(unit, "").split("|"))
    }
    measure = bare(getattr(column, "measure", ""))
    return aged.isdisjoint(words) and (measure in spoken or not units.isdisjoint(words))


@remembered(2)
def _subjects(lang: str) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    phrases = dict.fromkeys(stems_of(word, lang) for word in SUBJECTS[lang].split("|"))
    return [(phrase, roots(phrase[0], lang)) for phrase in phrases]


def _add_subjects(known: Lexicon, schema: Schema, lang: str) -> None:
    """What the rows may be called, if no word of the table is like it: “subscribers”, “prijave”."""
    stated = [name for name, column in schema.columns.items() if yes_no(column)]
    begun: list[str] = []
    said = {root for name in stated for word in stems_of(name_words(name), lang) for root in roots(word, lang)}
    for column in schema.columns.values():
        if isinstance(column, (Category, ItemSet)) and column.size <= _MOST_REPHRASED:
            said |= {
                root
                for value in column.values
                for word in stems_of(name_words(value), lang)
                for root in roots(word, lang)
            }
            begun += [word for value in column.values for word in stems_of(name_words(value), lang) if len(word) > 4]
    for phrase, made_from in _subjects(lang):
        near = any(Prefix.similarity(phrase[0], word) >= max(5, 0.62 * len(word)) for word in begun)
        if phrase not in known.phrases and said.isdisjoint(made_from) and not near:
            known.add(phrase, "rows", True)


def joined(tokens: list[TypedWord], known: Lexicon, lang: str) -> list[TypedWord]:
    """Words that a table writes as one: “take away” of Takeaway, “length of stay” of LOS."""
    made: list[TypedWord] = []
    plain = [bare(token.text) for token in tokens]
    is_word = [token.number is None and not token.day and token.text.isalpha() for token in tokens]
    at = 0
    while at < len(tokens):
        size = 1
        for end in range(min(at + 4, len(tokens)), at + 1, -1):
            if not all(is_word[at:end]):
                continue
            run, parts = tokens[at:end], plain[at:end]
            initials, whole = "".join(part[:1] for part in parts), "".join(parts)
            if len(run) > 2 and initials in known.acronyms and run[0].stem not in known.own:
                whole, size = initials, len(run)
            elif len(run) == 2 and len(whole) > 6 and whole in known.raw and run[1].stem not in known.own:
                size = 2
            else:
                continue
            made.append(TypedWord(" ".join(token.text for token in run), typed_stem(whole, lang)))
            break
        made += tokens[at : at + 1] if size == 1 else []
        at += size
    return made


def spell(tokens: list[TypedWord], known: Lexicon, lang: str, called: Collection[str] = ()) -> None:
    """A word that nothing knows becomes the nearest known one: an inflected form, or a misspelling."""
    place = -1
    while (place := place + 1) < len(tokens):
        token = tokens[place]
        word = token.stem
        if token.number is not None or token.day or len(word) < 3:
            continue
        if whole := _cut_short(token, known, lang):
            token.stem = whole
            continue
        if word in known.stems or word in called:
            belonging = known.made.get(word, "") if "rows" in known.phrases.get((word,), {}) else ""
            if belonging == f"{word}ship" and "val" in known.phrases.get((belonging,), {}) and word not in called:
                token.stem = belonging  # a member, and a ticket may be a membership
            continue
        denied = re.match("non|ne|un|in|dis", word)
        rest = word[denied.end() :] if denied else ""
        made = rest if rest in known.own else _made_from(rest, known, lang) if lang == "sl" and len(rest) > 4 else None
        made = made or (_begins_alike(rest, known) if lang == "sl" and len(rest) > 6 else None)  # nepodaljšane
        if denied and made and not _made_from(word, known, lang):  # nekadilec, unresolved, nejahač
            token.stem = made
            tokens.insert(place, TypedWord(token.text, "ne" if lang == "sl" else "non"))
            continue
        here = word not in _elsewhere(lang) and not (lang == "sl" and _SL_VERB.sub("", bare(token.text)) in _verbs())
        if lang == "sl" and (near := _fleeting_e(bare(token.text), known, called)):
            token.stem = near
        elif (near := _inflected(word, known, lang) or (_made_from(word, known, lang) if here else None)) and not (
            near in known.whole and len(near) < 5
        ):
            token.far = len(near) <= 3 and len(word) > len(near) + 2  # a vrtnar is no Vrt
            token.stem = near
        elif here and (near := _misspelt(token, known)):
            away = OSA.distance(bare(token.text), known.written_as.get(near, near))
            token.far = len(word) <= 4 or 6 * min(away, OSA.distance(word, near)) > len(word)
            token.stem, token.mended = near, True


def _cut_short(token: TypedWord, known: Lexicon, lang: str) -> str | None:
    """The stem of the one cut word of a column's name that a typed word may be: `Brood_frms` has frames."""
    roles = known.phrases.get((token.stem,), {}).keys()
    word = bare(token.text)
    if (token.stem in known.own and roles) or roles - {"rows", "stop"}:
        return None
    if not roles and token.stem in _elsewhere(lang) and len(word) < 5:
        return None
    found = {part for part in known.cut if _shortens(part, word)}
    return stem(found.pop(), lang) if len(found) == 1 else None


def _shortens(part: str, word: str) -> bool:
    """Is a word cut to this part: its beginning, or its first letter and consonants of the rest?"""
    if word[0] != part[0] or len(word) <= len(part):
        return False
    if word.startswith(part):
        return len(word) > 4
    spoken = word[0] + re.sub("[aeiou]", "", word[1:])
    letters = iter(spoken)
    return not set(part[1:]) & set("aeiou") and len(spoken) <= len(part) + 1 and all(sign in letters for sign in part)


_SHORT = re.compile("([bcdfghjklmnprstvz])([bcdfghjklmnprstvz])(?:a|u|om|i|e|ov|ih)")


def _fleeting_e(word: str, known: Lexicon, called: Collection[str]) -> str | None:
    """“s psom” has a pes, as the table writes it; but not in a table that is called after its dogs."""
    letters = _SHORT.fullmatch(word)
    if letters is None or any((other := _SHORT.fullmatch(name)) and other[1] == letters[1] for name in called):
        return None
    whole = f"{letters[1]}e{letters[2]}"
    roles = known.phrases.get((whole,), {})
    written = [name for _, name in roles.get("col", ())] + [value for *_, value in roles.get("val", ())]
    return whole if any(name.lower() == whole for name in written) else None


def _inflected(word: str, known: Lexicon, lang: str) -> str | None:
    """The table's own word, if this is another form of it."""
    if lang == "sl":
        forms = (re.sub("[ae](?=[^aeiou]$)", "", word), word.removesuffix("j"), word + "j", re.sub("e?[ns]$", "", word))
        for other in (*forms, re.sub("[ae](?=[^aeiou]$)", "", forms[-1])):  # ovac, dežju, vremenu
            if other != word and len(other) > 2 and other in known.own:
                return other
        if (verb := re.sub("(?:uj|ov|ir|n)?(?:aj|uj|ej|ev|av|al|il|el|ot|at|it|n)$", "", word)) != word:
            if verb in known.own and len(verb) > 2:
                return verb  # dolgujejo: dolg, jahati: jaha
            softened = re.sub("(?:j|c|s|z)$", "", verb)  # zamujajo: zamuda
            for other in known.by_letter.get(word[0], ()) if len(verb) > 3 else ():
                if (
                    other in known.own
                    and other.startswith(softened)
                    and len(other) <= len(softened) + 1
                    and len(other) > 4
                ):
                    return other
    return _begins_alike(word, known) if len(word) > 3 else None


def _made_from(word: str, known: Lexicon, lang: str) -> str | None:
    """The table's own word that shares its root: “walkers”, “sneženje”, “judoisti”."""
    for root in roots(word, lang):
        own = known.made.get(root)
        if own is not None and (len(root) > 3 or own == root):
            return own
    return None


def _misspelt(token: TypedWord, known: Lexicon) -> str | None:
    """The known word that differs by the fewest letters, if it is near enough."""
    best: tuple[int, bool, str] | None = None
    for word in dict.fromkeys((token.stem, bare(token.text))):
        if len(word) < 4:
            continue
        written = [other for other in known.raw if other[0] == word[0]]
        near = [*written, *known.by_letter.get(word[0], ()), *known.by_letter.get(word[1], ())]
        for other, _, _ in process.extract(word, near, scorer=fuzz.ratio, score_cutoff=72, limit=8):
            away, meant = OSA.distance(word, other), known.raw.get(other, other)
            most = (1 if len(word) <= 6 else 2 if len(word) <= 10 else 3) if meant in known.own else 1 + len(word) // 9
            if len(other) < 4 or away > (most if other[0] == word[0] else 1):
                continue
            if word.startswith(other) and len(word) > len(other) + 1:
                continue  # a gardener is no garden
            if _turned(word, other) or (meant not in known.own and len(word) < 6 and _one_letter_changed(word, other)):
                continue  # a shore is no share
            if "not" in known.phrases.get((meant,), {}) and sorted(word) != sorted(other):
                continue  # nothing else turns a question into its opposite: “znajo” is no “zunaj”
            found = (away, meant not in known.own, meant)
            best = found if best is None else min(best, found)
    if best is None or (best[1] and known.phrases.get((best[2],), {}).keys() == {"stop"}):
        return None  # a word that says nothing would hide it
    return best[2]


_TURNING = (("on", "off"), ("in", "out"), ("in", "ex"), ("over", "under"), ("up", "down"), ("pre", "post"))


def _one_letter_changed(word: str, other: str) -> bool:
    return len(word) == len(other) and sorted(word) != sorted(other)


def _turned(word: str, other: str) -> bool:
    """“offline” is no misspelt “online”: the same word with an opposite beginning."""
    for pair in _TURNING:
        for one, two in (pair, pair[::-1]):
            if word.startswith(one) and other.startswith(two) and word[len(one) :] == other[len(two) :]:
                return True
    return False


@remembered(2)
def _elsewhere(lang: str) -> frozenset[str]:
    """Stems of everyday words for what other tables hold: correct words, so no misspellings of this table's."""
    lines = (*ALIKE, *SAME_VALUE, *CONCEPTS, ELSEWHERE, "|".join(EVERYDAY[lang]))
    return frozenset(word for line in lines for phrase in line.split("|") for word in stems_of(phrase, lang))


@remembered(1)
def _written_elsewhere() -> frozenset[str]:
    """The same words as they are written, in both languages."""
    lines = (*ALIKE, *SAME_VALUE, *CONCEPTS, ELSEWHERE, *EVERYDAY["en"], *EVERYDAY["sl"])
    return frozenset(word for line in lines for phrase in line.split("|") for word in bare(phrase).split(" "))


_SL_VERB = re.compile(
    "(?:emo|ete|ejo|em|es|amo|ate|ajo|am|as|imo|ite|ijo|im|is|al|ala|ali|alo|il|ila|ili|ilo|ati|iti)$"
)


@remembered(1)
def _verbs() -> frozenset[str]:
    """The beginnings of everyday Slovene verbs: potuj, hod."""
    lines = (*CONCEPTS, ELSEWHERE, *EVERYDAY["sl"])
    words = (bare(word) for line in lines for word in line.split("|"))
    return frozenset(_SL_VERB.sub("", word) for word in words if _SL_VERB.search(word) and len(word) > 6)


def _begins_alike(word: str, known: Lexicon) -> str | None:
    """The table's own word that shares the longest beginning."""
    best, length = None, (0, False)
    for other in known.by_letter.get(word[0], ()):
        if other in known.proper:
            continue
        shared = Prefix.similarity(word, other)
        near = shared >= 5 and shared >= 0.62 * max(len(word), len(other)) and other in known.own
        if near and (shared, (other,) in known.phrases) > length:
            best, length = other, (shared, (other,) in known.phrases)
    if best is None:
        for written, other in known.raw.items():  # a nogometaš plays nogomet
            if word.startswith(written) and len(written) >= 0.62 * len(word) and other not in known.proper:
                return other
    return best


def _named(known: Lexicon, word: str) -> float:
    """How well a word names a column."""
    return max((weight for weight, _ in known.phrases.get((word,), {}).get("col", ())), default=0)


def women_apart(token: TypedWord, known: Lexicon, called: Container[str] = ()) -> list[TypedWord]:
    """“upokojenke” are retired women: a word for each."""
    men = women(bare(token.text)) if token.number is None and not token.day else None
    if men is None or (token.stem in known.own and not men[1]):
        return [token]
    man = typed_stem(men[0], "sl")
    if _named(known, token.stem) >= 2 > _named(known, man):  # a column says who smokes, and it is about women
        return [token]
    if man not in known.stems and man not in called and _inflected(man, known, "sl") is None:
        return [token]
    return [TypedWord(token.text, stem("ženska", "sl")), TypedWord(token.text, man)]


_NUMBERED = re.compile("(eno|dvo|tri|stiri|pet|sest|sedem|osem|tro|vec)(.{3,})")
_SPANNING = {"dnevn": "dni", "urn": "ur", "minutn": "minut", "tedensk": "tednov", "mesecn": "mesecev", "letn": "let"}


def numbered(token: TypedWord, known: Lexicon) -> list[TypedWord]:
    """“dvosobna” has two rooms: a number, and what a column counts."""
    parts = _NUMBERED.fullmatch(bare(token.text)) if token.stem not in known.stems else None
    if parts is None:
        return [token]
    counted = next((own for own in sorted(known.counted) if parts[2].startswith(own)), None)
    span = next((unit for begun, unit in _SPANNING.items() if parts[2].startswith(begun)), "")  # dvodnevne poti
    counted = counted or (stem(span, "sl") if span else None)
    number = 1 + "eno dvo tri stiri pet sest sedem osem".split().index(
        {"tro": "tri", "vec": "eno"}.get(parts[1], parts[1])
    )
    words = [TypedWord(token.text, str(number), Fraction(number)), TypedWord(token.text, counted or "")]
    if parts[1] == "vec":  # večdnevne poti
        words[:0] = [TypedWord("več", stem("več", "sl")), TypedWord("kot", stem("kot", "sl"))]
    return words if counted else [token]


def _follows(tokens: list[TypedWord], at: int, *words: str) -> bool:
    return at < len(tokens) and bare(tokens[at].text) in words


def marked(tokens: list[TypedWord], known: Lexicon) -> list[MarkedWords]:
    marks, place = [], 0
    while place < len(tokens):
        longest = _LONGEST_PHRASE if tokens[place].stem in known.stems or tokens[place].number is not None else 0
        for length in range(min(longest, len(tokens) - place), 0, -1):
            phrase = tuple(token.stem for token in tokens[place : place + length])
            roles = known.phrases.get(phrase)
            if roles is None and length > 1 and (number := tokens[place].number) is not None:  # “two bed” of 2-bed
                roles = known.phrases.get((text_of(number), *phrase[1:]))
            following = tokens[place + length].number if place + length < len(tokens) else None
            if roles and roles.keys() == {"after"} and length > 1 and place == 0:
                continue  # “ali starejši čakajo dlje”
            if roles and roles.get("period") == "month_of_year" and length > 1 and following is not None:
                continue  # “po mesecih v letu 2024”
            if roles and "after" in roles and length > 1 and _follows(tokens, place + length, "than", "kot", "od"):
                continue  # “more than 5 and less than 10”
            if roles and length > 1 and "not" in roles and _inflects_own(tokens[place : place + length], known):
                continue  # “outings of women” are not out of them
            if roles:
                break
        else:
            length, roles = 1, {}
        if length == 1 and (whole := _name_apart(tokens, place, known)):
            length, roles = whole
        token = tokens[place]
        if length == 1 and token.number is not None:
            roles = {**(roles or {}), "number": token.number, **({"ordinal": True} if token.ordinal else {})}
        if length == 1 and token.day is not None:
            roles = {**(roles or {}), "day": token.day}
        if length == 1 and roles and "col" in roles and bare(token.text) not in known.small.get(token.stem, roles):
            own = [(2 if weight == _LOOSE else weight, name) for weight, name in roles["col"]]
            roles = {role: data for role, data in roles.items() if role not in _SMALL} | {"col": own}
        marks.append(MarkedWords(place, place + length - 1, dict(roles or {})))
        place += length
    return marks


def _inflects_own(tokens: list[TypedWord], known: Lexicon) -> bool:
    """Is one of these words a form of the table's own words, whose stem is a small word?"""
    return any(token.stem in known.own and bare(token.text) != token.stem for token in tokens)


_JOINTS = frozenset("of per a the in for na za v od".split())


def _name_apart(tokens: list[TypedWord], place: int, known: Lexicon) -> tuple[int, JsonObject] | None:
    """“cena na stran” is `cena_strani`: the two words of a column's name around small ones."""
    end = place + 1
    while end < len(tokens) and end < place + 3 and bare(tokens[end].text) in _JOINTS:
        end += 1
    if end == place + 1 or end >= len(tokens):
        return None
    senses = known.phrases.get((tokens[place].stem, tokens[end].stem), {}).get("col", ())
    if not senses and bare(tokens[place + 1].text) == "of" and end == place + 2:  # “type of bike” is `bike_type`
        senses = known.phrases.get((tokens[end].stem, tokens[place].stem), {}).get("col", ())
    best = [sense for sense in senses if sense[0] >= 3]
    return (end - place + 1, {"col": best}) if best else None


def _offered(schema: Schema, lang: str) -> list[str]:
    """What a completion may offer: kinds of questions, columns, values, in this order."""
    words = LANGUAGES[lang]
    kinds = [line.split("|")[0] for line in words.kinds.values()]
    columns = [name_words(called(name)) for name in schema.columns]
    values = [
        called(value)
        for column in schema.columns.values()
        if isinstance(column, (Category, ItemSet)) and not yes_no(column)
        for value in column.values[:MOST_VALUES]
    ]
    small = [words.small["by"].split("|")[0], *(line.split("|")[0] for line in words.before.values())]
    return list(dict.fromkeys([*kinds, *columns, *small, *values]))
