"""How well typed questions are read: `python -m bench.reading [--wrong] [--fuzz N] files…`.

A file holds one JSON object a line: the name of a schema in tests/reading/schemas.json, a typed text, and the meanings
that a person would accept (none: the table cannot answer it). Counted per file: **right** at the first reading;
**open**, where the box names words that it did not understand, offers several readings or finds none; **wrong** without
saying so. A text that the table cannot answer is right if the box says so. `--wrong` prints what was not right.
In tests/reading, the first 200 of each language and the 100 held back were written before the reader, but by its
author. The other 67, and the 100 in each `-second` file, are by people who knew neither; those 100 are also about three
tables that nobody had in view. The reader was improved on all of these lines, after it had read about three quarters of
each `-second` file right. The `-fields` files are by its author, over tables of other fields: it was improved on them
after it had read three quarters of the first half right. The `-third` files are 600 questions over ten further tables,
written by its author with the meanings beside them before the reader was looked at again. It read about four fifths of
them right in both languages, and up to 3 of 100 wrong in silence, and was then improved on them. A third, by a hash of
the texts, was kept apart (`-third-held`), and was read for the first time after that: 86 of 106 and 83 of 96 right, 2
wrong of each; nobody looked at which. It is about the same ten tables. The `-strangers` files are by two people who had
never seen the reader, over ten tables of their own: it read 153 of 194 and 160 of 215 of them right and 1 and 7 wrong
in silence, and was then improved on them; a third of what they wrote is kept elsewhere. `sl-second-strangers` is by
another such person over five new tables: it read 106 of 150 right and 7 wrong in silence, and was then improved on
them. So the shares of none of these files
estimate how well the box reads other people's questions: that takes questions which nobody has worked on. `-office`,
`-desk` and `-last` were written and committed by somebody who had not seen the reader (`-last`: who had), over fifteen
tables of their own; a half of each, by a hash of its texts, is in a `-held` file, of which nobody has looked at more
than the shares. (The English `-desk-held` was looked at in the end, and is part of `en-desk`.) At first reading 156 of
200 in English were right and 9 wrong in silence, and 175 of 200 in Slovene with 2 wrong. The reader was then improved
on the other halves and on the `-practice` files, which are by the one who improved it. The `-clerk` files are 600
questions over twelve tables, written and committed with their meanings by somebody who had not seen the reader, and
who then improved it on two thirds of them. It read 167 of 199 right at first in English (none wrong in silence), and
155 of 191 in Slovene (11 wrong). Two of those meanings were added to afterwards: a table of three lists can be asked,
and a group may be named twice. The last third, by a hash of the texts, was read at the end: in English 90 of 101 right
and 1 wrong; in Slovene 92 of 109 and 3 (as once before, half way), which missed the goal, and after more general work
94 and 2. Nobody looked at which. `sl-later-held` is by the same author, who knew the reader by then: 92 of 102 right
when first read, 1 wrong. The
`-visitors` files are by two people who had never seen the reader, over ten tables of their own, in halves by a hash of
the texts. At first reading 53 of 84 in English were right and 4 wrong in silence, and 57 of 66 in Slovene with 1 wrong;
of the halves held back, 49 of 66 (3 wrong) and 58 of 84 (7 wrong). The commonest weekday, which may be written in two
ways, is graded as one since: so they were 54 (3 wrong) and 57 (1), and 49 (3) and 60 (5). The reader was then improved
on the first halves, and the shares of the others were looked at meanwhile: 73 of 84 and 65 of 66 are right, none wrong;
of the halves held back, 54 of 66 (1 wrong) and 66 of 84 (4 wrong). They are practice too now.
The `-callers` files are by two other people who had never seen the reader, over ten further tables, in halves by a hash
of the texts. At first reading 48 of 75 in English were right and 1 wrong in silence, and 51 of 73 in Slovene with 2
wrong; of the halves held back, 50 of 75 (2 wrong) and 57 of 77 (3 wrong): 65 and 72 of 100. The commonest causes were
everyday words that the reader did not know, units that are also a column's measure, two numbers that a text relates,
what the rows are called, and seasons. The reader was improved on the first halves, and the shares of the others were
looked at meanwhile: 70 of 75 and 67 of 73, none and 1 wrong; of the halves held back, 55 of 75 (2 wrong) and 65 of 77
(3 wrong). A season of a year, the busiest month and the busiest weekday can be asked since: five questions of earlier
files, whose authors held that the table cannot answer them, have that meaning too, and one about two years the years.
The public lists of everyday words were made with these tables in view: a table about something else is known by fewer
words. The other halves of the `-callers` files were opened then: they are practice too.
The `-guests` files are by two further people who had never seen the reader, over ten more tables: two thirds of what
they wrote. At first reading 170 of 211 in English were right and 5 wrong in silence,
and 157 of 191 in Slovene with 2 wrong: 81 and 82 of 100. The commonest causes were units that only a name tells
(`trip_min`), words that a name cuts short (`Brood_frms`), words that several values share, steps, spans in adjectives
(two-day, dvodnevne), and the ordinary words for a place, a size or a way of paying. The reader was improved on them
until 207 and 189 were right and none wrong. Two of them, which ask in which month or on which weekday most happens and
whose authors wrote only the counts, are graded right since if the commonest one is read. The last third, by a hash of
the texts (`-guests-held`), was kept elsewhere meanwhile, and nobody looked at more than its shares: at first reading 71
of 89 in English were right and 2 wrong, and 88 of 109 in Slovene with 3 wrong; now 78 and 99 right, 2 wrong of each.
All 300 together: 285 in English and 288 in Slovene right, 2 wrong of each.
**Right** asks only for the first reading: it may still name words that were not understood, or offer others.
`--fuzz N` reads N random texts instead and prints the slowest; a vocabulary is built once for each table.
"""

from __future__ import annotations

import argparse
import gc
import json
import random
import re
import time
from fractions import Fraction
from itertools import permutations
from pathlib import Path
from typing import Any

from dpengine.declared.conditions import OneOf, Range, read_predicate
from dpengine.declared.facts import Facts
from dpengine.declared.schema import Number, Schema
from dpengine.declared.unit import Unit
from dpengine.messages.language import speaking
from dpengine.reading.reader import Meaning, completions, readings

HERE = Path(__file__).resolve().parent.parent / "tests" / "reading"
SLOVENE = frozenset(
    "prebivalci ambulante studenti zaposleni narocila kmetija klub avtobusi knjiznica sola trgovina obcina koce"
    " bolnisnica fitnes nesrece gospodinjstva mesto izleti vrtci cebelarji najem klici pot"
    " rejniske_druzine tekaci kurilne_naprave prevajalci plovila grobovi novorojencki vozniski_kandidati statisti"
    " resevalni_psi zobna_ordinacija studentsko_delo posiljke prevozi_na_klic glasbena_sola reklamacije"
    " gorski_resevalci trznica koncerti vlaki cistilna_akcija"
    " ordinacija ocene anketa_promet placila stevci orodjarna"
    " veterina anketa_zaposlenih kamp izpiti"
    " avtoservis knjiznica_2 plezalni_klub kamp_2 vloge_obcina"
    " avtosola zd casopis okvare tecaji"
    " vrtec_v potni_v cebele_v vet_v nepr_v".split()
)
FUZZED = 60  # tables


def facts_of() -> dict[str, Facts]:
    """The public facts of all tables."""
    schemas = json.loads((HERE / "schemas.json").read_text(encoding="utf-8"))
    return {
        name: Facts(table=name, schema=Schema.from_json(schema), unit=Unit.rows(), relation="add_remove", about=5_000)
        for name, schema in schemas.items()
    }


def language_of(schema: str) -> str:
    return "sl" if schema in SLOVENE else "en"


def lines_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _kept(rows: Any, schema: Schema) -> dict[Any, Any]:
    """What conditions leave of each column. “> 10” of whole numbers is “>= 11”, and “not in” keeps the other values."""
    kept: dict[Any, Any] = {}
    for clause in read_predicate(rows, schema).clauses:
        if isinstance(clause, Range):
            low, high = kept.get(clause.column, (clause.low, clause.high))
            kept[clause.column] = max(low, clause.low), min(high, clause.high)
        elif isinstance(clause, OneOf):
            column = schema.columns[clause.column]
            listed = frozenset(clause.codes) & frozenset(range(len(getattr(column, "values", ()))))
            kept[clause.column] = kept.get(clause.column, listed) & listed
        else:
            kept[clause] = True
    return kept


def _group(ref: Any) -> Any:
    return ref if not isinstance(ref, dict) else tuple(sorted((name, str(part)) for name, part in ref.items()))


def _same_group(given: Any, meant: Any, schema: Schema, bands: bool = False) -> bool:
    """A number in groups of its own step is the number itself: the same figures. `bands`: so are bars of any width."""
    if isinstance(given, dict) and isinstance(meant, str) and set(given) == {"column", "step"}:
        column = schema.columns[given["column"]]
        alike = bands or (isinstance(column, Number) and Fraction(given["step"]) == column.step)
        return given["column"] == meant and alike
    if isinstance(meant, dict) and meant.get("step") == "any":
        return isinstance(given, dict) and given["column"] == meant["column"] and ("step" in given or "edges" in given)
    return bool(_group(given) == _group(meant))


def _all_same(given: Any, meant: Any, schema: Schema) -> bool:
    """The columns of a cross table in the same order; of a number, bands of any width if none was meant."""
    pairs = zip(given, meant, strict=False)
    return len(given) == len(meant) and all(_same_group(one, other, schema, bands=True) for one, other in pairs)


def means(reading: Meaning, meant: dict[str, Any], schema: Schema) -> bool:
    """Is a reading what a person meant? A count by a list is the same as the bars of the list, and the bars of one
    list in groups of another the same as their cross table."""
    key, given = reading.key, dict(reading.given)
    kinds = {"variance" if kind == "spread" else kind for kind in meant["kind"]}  # the card of the variance says spread
    wanted = {name: part for name, part in meant.items() if name != "kind"}
    if key == "histogram" and "by" not in given and ("count" in kinds or "histogram" not in kinds):
        key, column = "count", given.pop("column")
        given["by"] = column
    if "histogram" in kinds and key == "count" and "column" in wanted and "by" in given:
        key, column = "histogram", given.pop("by")
        given["column"] = column
    if "count" in kinds and "column" in wanted and key == "count":
        wanted["by"] = wanted.pop("column")
    if key == "crosstab" and kinds == {"histogram"} and {"column", "by"} <= wanted.keys():  # the same counts
        kinds, wanted["columns"] = {"crosstab"}, [wanted.pop("column"), wanted.pop("by")]
    period = wanted.get("by")
    if key == "top_item" and isinstance(period, dict) and period["column"] == wanted.get("column"):
        wanted["column"] = wanted.pop("by")  # the commonest weekday of a date: the weekdays are what is counted
    if key == "cdf_tree" and "cdf" in kinds:  # the same curve, built another way
        key = "cdf"
    if key not in kinds:
        return False
    if key == "proportion" and "of" not in wanted:
        wanted["of"] = wanted.pop("where", [])
    if key == "density" and "column" in wanted and len(given["columns"]) == 1:
        given["column"] = given["columns"][0]
    if key == "quantile":
        shares = given["share"] if isinstance(given["share"], list) else [given["share"]]
        if sorted(map(float, shares)) != sorted(map(float, wanted["share"])):
            return False
    if given.get("how_many", 1) != wanted.get("how_many", 1):
        return False
    if key == "crosstab":
        if not any(_all_same(given["columns"], order, schema) for order in permutations(wanted["columns"])):
            return False
    elif not _same_group(given.get("column"), wanted.get("column"), schema, bands=key == "histogram"):
        return False
    return (
        _same_group(given.get("by"), wanted.get("by"), schema)
        and _kept(given.get("where"), schema) == _kept(wanted.get("where"), schema)
        and _kept(given.get("of"), schema) == _kept(wanted.get("of"), schema)
    )


def _says_which(line: dict[str, Any], reading: Meaning) -> bool:
    """“Which month do most start in?”: the commonest month, where only the counts by month are written."""
    asked = re.match("which|what|when|v kater|kater|kdaj", line["text"].lower()) and reading.key == "top_item"
    counted = [meant["by"] for meant in line["meant"] if meant["kind"] == ["count"] and "by" in meant]
    return bool(asked) and len(reading.given) == 1 and reading.given["column"] in counted


def verdict(line: dict[str, Any], facts: Facts) -> tuple[str, list[Meaning]]:
    """“right”, “open” or “wrong”, and the readings."""
    with speaking(language_of(line["schema"])):
        found = readings(line["text"], facts)
    says_so = not found or bool(found[0].unread) or (found[0].guessed and len(found) > 1)
    if not line["meant"] or (line.get("or_none") and says_so):
        return ("right" if says_so else "wrong"), found
    if found and any(means(found[0], meant, facts.schema) for meant in line["meant"]):
        return "right", found
    if found and _says_which(line, found[0]):
        return "right", found
    return ("open" if says_so else "wrong"), found


def score(lines: list[dict[str, Any]]) -> dict[str, int]:
    facts = facts_of()
    counted = dict.fromkeys(("right", "open", "wrong"), 0)
    for line in lines:
        counted[verdict(line, facts[line["schema"]])[0]] += 1
    return counted


def fuzzed(count: int) -> tuple[float, str]:
    """Read and complete random texts; the slowest in seconds of processor time, and its text. Failures are raised."""
    facts, coins = facts_of(), random.Random()
    pieces = [line["text"] for path in sorted(HERE.glob("*.jsonl")) for line in lines_of(path)]
    words = [word for piece in pieces for word in piece.split()] + [
        "",
        "%",
        "2024",
        "-",
        "1e9",
        "٣",
        "ß",
        "\0",
        "“",
        "9.9.9999",
    ]
    slowest = (0.0, "")
    facts = {name: facts[name] for name in coins.sample(list(facts), FUZZED)}  # their vocabularies are all remembered
    for known in facts.values():  # a table's vocabulary is built once in each language
        for lang in ("en", "sl"):
            with speaking(lang):
                readings("x", known)
    gc.collect()
    gc.freeze()  # as the app does with what was imported (ui/shell/speed.py)
    for _ in range(count):
        name = coins.choice(list(facts))
        kind = coins.randrange(3)
        if kind == 0:
            text = " ".join(coins.choice(words) for _ in range(coins.randrange(1, 14)))
        elif kind == 1:
            signs = list(coins.choice(pieces))
            for _ in range(coins.randrange(1, 6)):
                signs[coins.randrange(len(signs))] = chr(
                    coins.choice((coins.randrange(32, 127), coins.randrange(0x10FFFF)))
                )
            text = "".join(signs)
        else:
            text = "".join(chr(coins.randrange(1, 0x2FFF)) for _ in range(coins.randrange(400)))
        with speaking(coins.choice(("en", "sl", "he"))):
            began = time.process_time()
            readings(text, facts[name])
            completions(text, facts[name].schema)
            slowest = max(slowest, (time.process_time() - began, text))
    return slowest


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--wrong", action="store_true")
    parser.add_argument("--fuzz", type=int, default=0)
    parser.add_argument("files", nargs="*", type=Path)
    given = parser.parse_args()
    if given.fuzz:
        seconds, text = fuzzed(given.fuzz)
        print(f"{given.fuzz} texts read, the slowest in {1000 * seconds:.1f} ms of processor time: {text[:80]!r}")
    facts = facts_of()
    for path in given.files or ([] if given.fuzz else sorted(HERE.glob("*.jsonl"))):
        counted, lines = dict.fromkeys(("right", "open", "wrong"), 0), lines_of(path)
        for line in lines:
            how, found = verdict(line, facts[line["schema"]])
            counted[how] += 1
            if given.wrong and how != "right":
                print(f"{how:5} {line['schema']}: {line['text']}")
                for reading in found[:1]:
                    print(f"        {reading.key} {reading.given} unread {reading.unread} guessed {reading.guessed}")
        shares = ", ".join(f"{how} {number} ({100 * number / len(lines):.1f} %)" for how, number in counted.items())
        print(f"{path.name}: {len(lines)} questions: {shares}")


if __name__ == "__main__":
    main()
