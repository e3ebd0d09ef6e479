"""A typed question becomes questions of the catalogue: “median income of women by region”.

Deterministic and local. The reader searches public facts alone: the words of the kinds of questions, the declared names
of columns and values, numbers and dates. It reads no row and no ledger, stores nothing, and spends nothing.

How a text is read: it is cut into words; a misspelt word becomes the nearest known one; the longest known phrases are
marked with everything they may mean; then dates, comparisons, groups, conditions, the kind of question and its column
are settled in this order, each from what the earlier steps left (sentence.py, days.py, percentiles.py, comparisons.py,
groups.py, relations.py, conditions.py, proportions.py, question.py: a step each, on top of the one before). Words that
nothing used, and that are more than a filling, are returned as `unread` (leftover.py).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from dpengine.core.errors import AllowanceError
from dpengine.core.types import JsonObject
from dpengine.declared.facts import Facts
from dpengine.declared.schema import Category, Number, Schema
from dpengine.mechanisms import catalogue
from dpengine.messages import called, say
from dpengine.messages.language import current
from dpengine.reading.cutting import name_words
from dpengine.reading.leftover import Leftover
from dpengine.reading.lexicon import lexicon_of
from dpengine.reading.words import LANGUAGES, bare

LONGEST = 300  # characters of a typed question
USUAL = "0.1"  # ε with which a reading is checked
MOST_READINGS = 3
MOST_COMPLETIONS = 6
_LONG = 20  # words
_SILENT = frozenset("stop to and or number per cent unit".split())  # none of these makes a question


class NotUnderstood(AllowanceError):
    """The text has no reading, several, or words that were not understood. `readings` are at most three, best first."""

    def __init__(self, code: str, readings: Sequence[Meaning] = (), /, **facts: object) -> None:
        super().__init__(code, **facts)
        self.readings = tuple(readings)


@dataclass(frozen=True)
class Meaning:
    """A question that the text may mean, without its price."""

    key: str
    given: JsonObject  # as in `table.query`
    sentence: str  # in the reader's language
    unread: tuple[str, ...] = ()  # words that were not understood, as typed
    guessed: bool = False  # the text leaves open what the reading chose


def readings(text: str, facts: Facts) -> list[Meaning]:
    """At most three questions that the text may mean, best first; none if it has no reading."""
    return _either(text, facts)[0]


def _either(text: str, facts: Facts) -> tuple[list[Meaning], AllowanceError | None]:
    """The readings in the reader's language, or in the other language if only that one understands every word; and why
    the question was refused, if it was."""
    lang = current() if current() in LANGUAGES else "en"
    found, refusal = _read(text, facts, lang)
    if not found or found[0].unread:
        other, _ = _read(text, facts, next(name for name in LANGUAGES if name != lang), every=True)
        if other and not other[0].unread:
            return other, None
    return found, refusal


def _read(text: str, facts: Facts, lang: str, every: bool = False) -> tuple[list[Meaning], AllowanceError | None]:
    """The readings, and why the first question that cannot be asked of this table cannot. `every`: of a text without
    an unknown word, or none."""
    parse = Leftover(text[:LONGEST], facts.schema, lang, facts.table)
    if all(mark.roles.keys() <= _SILENT for mark in parse.marks):
        return [], None  # nothing in it is known
    unknown = sum(not mark.roles for mark in parse.marks)
    mended = any(token.mended for token in parse.tokens)
    if (every and (unknown or mended)) or (len(parse.marks) >= _LONG and 2 * unknown > len(parse.marks)):
        return [], None  # a long text that is mostly unknown is no question
    parse.run()
    asked = parse.reading()
    unread = parse.unread(asked)
    if parse.by[1:]:
        unread += tuple(str(ref["column"] if isinstance(ref, dict) else ref) for ref in parse.by[1:])
    found: list[Meaning] = []
    refusal: AllowanceError | None = None
    for key, given in asked:
        try:
            query = catalogue[key].build(facts, {"epsilon": USUAL, **given})
        except AllowanceError as refused:
            refusal = refusal or refused
            if key == "variance" and refused.code == "variance.overflow":  # another measure of how spread they are
                asked.append(("iqr", given))
                unread += parse.deviations()
            continue
        found.append(Meaning(key, given, query.sentence(), unread, parse.guessed))
    return found[:MOST_READINGS], refusal


def understood(text: str, facts: Facts) -> Meaning:
    """The one question that a text means, or an error with its readings."""
    found, refusal = _either(text, facts)
    if not found:
        raise refusal or NotUnderstood("read.nothing")
    first = found[0]
    offered = say("read.or").join(say("read.quoted", text=reading.sentence) for reading in found)
    if first.unread:
        unread = ", ".join(say("read.quoted", text=word) for word in first.unread)
        raise NotUnderstood("read.unread", found, words=unread, readings=offered)
    if first.guessed and len(found) > 1:
        raise NotUnderstood("read.several", found, readings=offered)
    return first


def undeclared(text: str, facts: Facts, unread: Collection[str] = ()) -> list[str]:
    """The columns of the file that a text names and nobody has declared, as the text has them. `unread`: the words that
    a reading left; without any, each word may name a column."""
    typed, names = _plain(text), [name for name in facts.header if name not in facts.schema.columns]
    whole = {name: typed.find(plain) for name in names if (plain := _plain(name)).strip() and plain in typed}
    inside = [name for name in whole if any(_plain(name) in _plain(other) and name != other for other in whole)]
    found = {name: place for name, place in whole.items() if name not in inside}
    try:  # as if they were declared, so that an ending or a word of the same meaning names them too
        supposed = Schema(dict(facts.schema.columns) | {name: Number(0, 1) for name in names})
    except AllowanceError:
        return sorted(found, key=found.__getitem__)
    parse = Leftover(text[:LONGEST], supposed, current() if current() in LANGUAGES else "en", facts.table)
    left = _plain(" ".join(unread))
    for place in range(len(parse.marks)):
        name, words = parse.column_at(place) or "", _plain(parse.words(place))
        if name in names and name not in inside and parse.weight_at(place) >= 2 and (not unread or words in left):
            found.setdefault(name, typed.find(words))
    return sorted(found, key=found.__getitem__)


def _plain(text: str) -> str:
    return " ".join(["", *re.findall(r"[^\W_]+", bare(name_words(text))), ""])


def example(schema: Schema) -> str:
    """A question about the first columns, as a person may type it; "" for a table without any that suits."""
    words = LANGUAGES[current() if current() in LANGUAGES else "en"]
    numbers, lists = schema.of_kind(Number), schema.of_kind(Category)
    text = words.kinds["mean" if numbers else "count"].split("|")[0]
    if numbers:
        text = say("box.example_of", kind=text, column=name_words(called(numbers[0])))
    return say("box.example_by", text=text, column=name_words(called(lists[0]))) if lists else text


def vocabulary(schema: Schema) -> list[str]:
    """Every phrase that `completions` may offer. Public facts alone."""
    return list(lexicon_of(schema, current() if current() in LANGUAGES else "en").written)


def completions(text: str, schema: Schema) -> list[str]:
    """The text with its last word completed, at most six ways. Public facts alone."""
    known = lexicon_of(schema, current() if current() in LANGUAGES else "en")
    offered = list(zip(known.written, known.bared, strict=True))
    return list(dict.fromkeys(_completed(text[:LONGEST], offered)))[:MOST_COMPLETIONS]


def _completed(text: str, offered: list[tuple[str, str]]) -> Iterator[str]:
    starts = [match.start() for match in re.finditer(r"(?<!\S)\S", text)]
    if not text.strip() or text[-1:].isspace():
        return
    for start in starts[-3:]:  # the longest run of typed words that begins a phrase
        begun = bare(text[start:])
        matching = [phrase for phrase, plain in offered if plain.startswith(begun) and plain != begun]
        matching += [phrase for phrase, plain in offered if f" {begun}" in plain]
        yield from (text[:start] + phrase for phrase in matching)
        if matching:
            return
