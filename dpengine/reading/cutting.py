"""A typed text as words: cut apart, with numbers and days read, in figures or in words.

“twenty-five”, “petkrat” and “3 thousand” become numbers, “half an hour” 30 minutes, “longer than a week” 1 week.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from functools import lru_cache

from dpengine.core.exact import text_of
from dpengine.core.remembered import remembered
from dpengine.reading.words import CUT_SHORT, LANGUAGES, MEASURES, bare, stem, typed_stem

_TOKEN = re.compile(
    r"\d{4}-\d{1,2}-\d{1,2}|\d{1,2}\. ?\d{1,2}\. ?\d{4}|\d{1,2}/\d{1,2}/\d{4}|\d+(?:st|nd|rd|th)\b|\d[\d.,]*\d|\d"
    r"|\b[kcd]?m[23²³](?!\w)|[^\W\d_]+(?:['’][^\W\d_]+)?|<=|>=|[<>=≤≥%€$£+–&×-]"
)
_THOUSANDS = re.compile(r"(?<![\d.,])\d{1,3}(?:['’ \u00a0\u202f]\d{3})+(?![\d.,]*\d)")  # 10'000, 10 000
_DECLINED = re.compile(r"\b([^\W\d_]|[A-ZČŠŽ]{2,})-(?:ja|ju|jem|ji|jih|jev|jevo|u|a|om|em|i|e|ov|ih)\b")  # v c-ju
_MINUS = re.compile(r"-\d")
_CLITIC = re.compile(r"(?<=\w)['’](?:s|d|m|ll|ve|re)$", re.IGNORECASE)
_THOUSAND_K = re.compile(r"(?<=\d)[kK]\b")  # 50k
_NUMBER_OF = re.compile(r"#(?=\s*[^\W\d])|\bno\.(?=\s*[^\W\d])", re.IGNORECASE)  # no. claims
_WRITTEN_SHORT = {
    "en": lambda text: _THOUSAND_K.sub(
        " thousand", _NUMBER_OF.sub("number of ", re.sub(r"\bw/(o\b)?", _with_or_without, text))
    ),
    "sl": lambda text: _THOUSAND_K.sub(" tisoč", text),
}
TIMES = ("seconds", "minutes", "hours", "days", "weeks", "months", "years")  # units of time, and how long they are


@dataclass
class TypedWord:
    text: str
    stem: str
    number: Fraction | None = None
    day: date | None = None
    ordinal: bool = False
    mended: bool = False  # it was taken for a misspelling of another word
    far: bool = False  # and of one that is not much like it


def _with_or_without(found: re.Match[str]) -> str:
    """“w/o children”, “w/ a car”."""
    return "without " if found[1] else "with "


def cut_words(text: str, lang: str) -> list[TypedWord]:
    tokens: list[TypedWord] = []
    text = _DECLINED.sub(r"\1", text) if lang == "sl" else text
    text = re.sub(r"(?<=[^\W\d_])-(?=\w)", " ", text)  # “the over-60s”, “non-smokers”, “machine-roomless”
    text = _WRITTEN_SHORT[lang](text)
    text = re.sub(r"([€$£]) ?(\d(?:[\d.,]*\d)?)", r"\2 \1 ", text)  # $5,000
    text = _THOUSANDS.sub(lambda found: re.sub(r"\D", "", found[0]), text)
    text = re.sub(r"\b((?:19|20)\d\d)/(?=\d\d\b)", r"\1 ", text)  # winter 2024/25
    below = False  # a minus sign right before a number
    for match in _TOKEN.finditer(text):
        word = match[0]
        if word == "-" and _MINUS.match(text, match.start()) and not (tokens and tokens[-1].number is not None):
            below = match.start() == 0 or text[match.start() - 1].isspace()
            if below:
                continue
        if lang == "en" and (tens := _TENS_OF_YEARS.get(word.lower())):  # the nineties
            tokens += [TypedWord(word, str(tens), Fraction(tens)), TypedWord("s", "s")]
            continue
        if not word[0].isdigit():
            word = _CLITIC.sub("", word) if lang == "en" else word  # “I'd”, “what's”
            tokens.append(TypedWord(word, typed_stem(word, lang)))
            continue
        day = _day(word)
        following = text[match.end() : match.end() + 2]
        ordinal = word[-1].isalpha() or (lang == "sl" and following[:1] == "." and following != ".")
        number = None if day else _number(word.rstrip("sthndr"), lang)
        number, below = -number if below and number is not None else number, False
        tokens.append(TypedWord(word, word if number is None else text_of(number), number, day, ordinal))
    return tokens


_SMALL = {
    "en": "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen"
    " eighteen nineteen",
    "sl": "ena dva tri stiri pet sest sedem osem devet deset enajst dvanajst trinajst stirinajst petnajst sestnajst"
    " sedemnajst osemnajst devetnajst",
}
_TENS = {
    "en": "twenty thirty forty fifty sixty seventy eighty ninety",
    "sl": "dvajset trideset stirideset petdeset sestdeset sedemdeset osemdeset devetdeset",
}
_TENS_OF_YEARS = {
    word[:-1] + "ies": 10 * place + 20 for place, word in enumerate(_TENS["en"].split())
}  # twenties, thirties
_LARGE = {
    "en": {"hundred": 100, "thousand": 1_000, "million": 1_000_000},
    "sl": {"tisoc": 1_000, "milijon": 1_000_000, "milijona": 1_000_000, "milijonov": 1_000_000},
}
_FORMS = {"dve": 2, "dveh": 2, "dvema": 2, "treh": 3, "trije": 3, "tremi": 3, "stirih": 4, "stirje": 4, "stirimi": 4}
_PUPILS = re.compile("([a-z]+)osol(?:ec|c|k)")  # petošolci are in the fifth year
_YEARS = ("prv", "drug", "tretj", "cetrt", "pet", "sest", "sedm", "osm", "devet")
# Spans of time that are no plain number of a unit
_SPANS = {
    "en": {
        "half an hour": (30, "min"),
        "half hour": (30, "min"),
        "quarter of an hour": (15, "min"),
        "three quarters of an hour": (45, "min"),
        "an hour and a half": (90, "min"),
        "one and a half hours": (90, "min"),
        "half a year": (6, "months"),
        "a fortnight": (14, "days"),
        "twice": (2, "times"),
        "three times": (3, "times"),
    },
    "sl": {
        "pol ure": (30, "min"),
        "pol urice": (30, "min"),
        "cetrt ure": (15, "min"),
        "cetrt urice": (15, "min"),
        "tri cetrt ure": (45, "min"),
        "uro in pol": (90, "min"),
        "ura in pol": (90, "min"),
        "poldrugo uro": (90, "min"),
        "pol leta": (6, "mesecev"),
        "stirinajst dni": (14, "dni"),
    },
}
_COMPARING = {
    "en": frozenset("than over under within least most exactly above below".split()),
    "sl": frozenset("kot nad pod vsaj od cez najvec najmanj natanko do".split()),
}


_MANY = ("ov", "ev", "ur", "dni", "let", "minut", "sekund")  # ends of more than one of a unit


@remembered(2)
def _said_numbers(lang: str) -> dict[str, int]:
    """The words of the numbers up to 99, and in Slovene of the hundreds, in their inflected forms."""
    found = {word: place + 1 for place, word in enumerate(_SMALL[lang].split())}
    tens = {word: 10 * place + 20 for place, word in enumerate(_TENS[lang].split())}
    if lang == "sl":
        units = list(found)[:9]
        joined = {f"{unit}in{ten}": found[unit] + tens[ten] for unit in units for ten in tens}
        hundreds = {f"{'' if unit == 'ena' else unit}sto": 100 * found[unit] for unit in units} | {"dvesto": 200}
        found |= tens | joined | hundreds | _FORMS
        declined = {word: number for word, number in found.items() if number > 4}
        found |= {word + ending: number for word, number in declined.items() for ending in ("ih", "imi", "im")}
        found |= {"sedmih": 7, "sedmimi": 7, "osmih": 8, "osmimi": 8}
        return found
    return found | tens


def _said_number(typed: list[str], at: int, first: Fraction | None, lang: str) -> tuple[int, Fraction | None]:
    """A number in words that starts here, and how many words it has: “two hundred and fifty”, “3 thousand”."""
    known, large = _said_numbers(lang), _LARGE[lang]
    if first is None and typed[at] not in known and typed[at] not in large:
        return 0, None
    whole, part, place = Fraction(0), Fraction(0), at
    room = Fraction(10**9)  # the next word must be smaller than this
    while place < len(typed):
        word = typed[place]
        counted = known.get(word)
        value = first if place == at and first is not None else None if counted is None else Fraction(counted)
        if value is not None and value < room:
            part, place = part + value, place + 1
            room = Fraction(100 if value >= 100 else 10 if value >= 20 and value % 10 == 0 else 1)
        elif word in large and (part or lang == "sl") and large[word] < 10**9:
            scaled = (part or Fraction(1)) * large[word]
            whole, part = (whole, scaled) if large[word] == 100 else (whole + scaled, Fraction(0))
            place, room = place + 1, Fraction(large[word])
        elif word in ("-", "and", "in") and place > at and room > 1 and typed[place + 1 : place + 2]:
            joined = known.get(typed[place + 1])
            if joined is None or joined >= room or (word != "-" and room < 100):
                break
            place += 1
        else:
            break
    return (place - at, whole + part) if place > at else (0, None)


@remembered(2)
def _spans_of_time(lang: str) -> tuple[dict[str, dict[tuple[str, ...], tuple[int, str]]], frozenset[str]]:
    """The spans of time by their first word, and the stems of the units of time."""
    spans: dict[str, dict[tuple[str, ...], tuple[int, str]]] = {}
    for phrase, span in _SPANS[lang].items():
        spans.setdefault(phrase.split()[0], {})[tuple(phrase.split())] = span
    units = [*(LANGUAGES[lang].units[unit] for unit in TIMES), *MEASURES.values()]
    return spans, frozenset(stem(word, lang) for line in units for word in line.split("|") if len(word) > 2)


def with_numbers(tokens: list[TypedWord], lang: str) -> list[TypedWord]:
    """Numbers in words as numbers: “twenty-five”, “petkrat”; “half an hour” as 30 minutes, “over a week” as 1 week."""
    typed = [bare(token.text) for token in tokens]
    spans, time = _spans_of_time(lang)
    made: list[TypedWord] = []
    at = 0
    while at < len(tokens):
        token = tokens[at]
        starting = spans.get(typed[at], {})
        span = next((phrase for phrase in starting if tuple(typed[at : at + len(phrase)]) == phrase), ())
        if span:
            number, unit = starting[span]
            made += [
                TypedWord(" ".join(token.text for token in tokens[at : at + len(span)]), str(number), Fraction(number))
            ]
            made += [TypedWord(unit, stem(unit, lang))]
            at += len(span)
            continue
        pupils = _PUPILS.match(typed[at]) if lang == "sl" else None
        if pupils and (year := next((place + 1 for place, part in enumerate(_YEARS) if part == pupils[1]), 0)):
            made += [TypedWord(token.text, str(year), Fraction(year), ordinal=True), TypedWord("razred", "razred")]
            if typed[at].removeprefix(pupils[0])[:1] in ("", *"aeio") and pupils[0].endswith("solk"):  # šestošolke
                made.append(TypedWord(token.text, stem("ženska", lang)))
            at += 1
            continue
        if typed[at] == "once" and at > 0 and typed[at - 1] in ("least", "than"):
            made += [TypedWord(token.text, "1", Fraction(1)), TypedWord("times", stem("times", lang))]
            at += 1
            continue
        times = re.fullmatch(r"(\w+?)-?krat", typed[at]) if lang == "sl" else None
        if times and (often := {"en": 1, **_said_numbers(lang)}.get(times[1])):
            made += [TypedWord(token.text, str(often), Fraction(often)), TypedWord("krat", "krat")]
            at += 1
            continue
        length, said = (0, None) if token.day or token.ordinal else _said_number(typed, at, token.number, lang)
        compared = at > 0 and typed[at - 1] in _COMPARING[lang]
        after = at + 1 if typed[at] in ("a", "an") else at
        bare_unit = after < len(tokens) and tokens[after].stem in time and (after > at or lang == "sl")
        most = at > 0 and typed[at - 1] in ("najvec", "najmanj") and typed[at].endswith(_MANY)  # “največ kilogramov”
        if (
            compared
            and bare_unit
            and not most
            and not (tokens[after + 1 : after + 2] and tokens[after + 1].number is not None)
        ):
            made.append(TypedWord(" ".join(typed[at:after]) or "1", "1", Fraction(1)))  # “longer than a week”
            at = after
            made.append(tokens[at])
        elif said is None or (length == 1 and (token.number is not None or said == 1)):
            made.append(token)
        elif length == 1:
            made.append(TypedWord(token.text, token.stem, said))
            at += length - 1
        else:
            whole = " ".join(token.text for token in tokens[at : at + length])
            made.append(TypedWord(whole, text_of(said), said))
            at += length - 1
        at += 1
    return made


def _day(word: str) -> date | None:
    parts = [int(part) for part in re.findall(r"\d+", word)]
    if len(parts) != 3 or (set(word) <= set("0123456789., ") and word.count(".") != 2):
        return None
    year, month, day = parts if parts[0] > 31 else parts[::-1]
    try:
        return date(year, month, day) if year >= 1000 else None
    except ValueError:
        return None


def _number(word: str, lang: str) -> Fraction | None:
    """In the notation of the language; the other one where this makes no sense."""
    thousands, point = (",", ".") if lang == "en" else (".", ",")
    if re.fullmatch(rf"[1-9]\d{{0,2}}\{point}\d\d0", word):  # 10.000 in English: nobody writes three decimals so
        thousands, point = point, thousands
    for group, mark in ((thousands, point), (point, thousands)):
        if re.fullmatch(rf"\d{{1,3}}(\{group}\d{{3}})+(\{mark}\d+)?|\d+(\{mark}\d+)?", word):
            return Fraction(word.replace(group, "").replace(mark, "."))
    return None


@lru_cache(maxsize=20_000)
def stems_of(text: str, lang: str) -> tuple[str, ...]:
    """The stems of a phrase of the language or of the declaration: cached, so never of what was typed."""
    return tuple(token.stem for token in cut_words(text, lang))


def plain_words(name: str) -> str:
    """`monthlyIncome` and `monthly_income` as two words."""
    return re.sub(r"(?<=[a-zšžč]{2})(?=[A-ZŠŽČ])", " ", name).replace("_", " ").replace(".", " ")


@lru_cache(maxsize=20_000)
def name_words(name: str) -> str:
    """The same with what is cut short written out: `yr_group` is a year group. Cached: never of what is typed."""
    words = plain_words(name).split(" ")
    words = [*words[:-1], "številka"] if words[1:] and words[-1] == "st" else words  # konf_st
    if words[1:] and re.match(r"star[_. ]+(?:mes|let|l|pac)", name.lower()):
        words = ["starost", *words[1:]]
    return (
        " ".join(CUT_SHORT.get(word.lower(), word) for word in words)
        if words[1:] and ("_" in name or "." in name)
        else " ".join(words)
    )
