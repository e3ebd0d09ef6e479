"""Lesson 11: whom do you trust? Errors, the messages step by step, dishonest people, one shuffler for several sums, and
who could learn what. All people are made up."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from functools import cache
from html import escape
from math import sqrt
from typing import Any

from demos.lessons import channel
from demos.lessons import trust as demo
from demos.lessons.channel import Seen
from demos.lessons.trust import HOLDS, NAMES, Stages
from dpengine.core.amounts import BETA
from dpengine.core.printed import chance, power_of_ten, three_figures
from dpengine.declared.facts import Facts
from dpengine.declared.schema import Category, Schema
from dpengine.declared.unit import Unit
from dpengine.messages import MEANT, plain, say
from dpengine.messages.language import current
from dpengine.messages.numbers import local, to_figures
from dpengine.noise import binomial
from dpengine.planning import trust_models
from dpengine.planning.trust_models import Kept, Shuffled, Way
from ui.learn.lesson import AGAIN, Given, Lesson, Setting, View, words
from ui.pictures import picture
from ui.pictures.picture import bars, pile

NUMBER = 11
text = words(NUMBER)
_MATTERS = {  # by what is looked at: the settings that change it
    "errors": ("people",),
    "messages": ("step", "again"),
    "honest": ("people", "honest"),
    "channel": ("channel", "again"),
    "who": (),
}
STEPS = ("1", "2", "3", "4")
HONEST = tuple(map(str, trust_models.SHARES))


def shown(given: Given) -> tuple[str, ...]:
    """The names of the settings to show; in a language without words for the other pictures, only those of the first
    picture."""
    if "trust_page" not in MEANT[current()]:
        return _MATTERS["errors"]
    return ("look", *_MATTERS[given["look"]])


def view(given: Given) -> View:
    look = given["look"] if "look" in shown(given) else "errors"
    people = int(given["people"])
    p = binomial.least_chance(people, demo.EPSILON, demo.DELTA)
    assert p is not None
    drawn, one, two = {"errors": _errors, "messages": _messages, "honest": _honest, "channel": _channel, "who": _who}[
        look
    ](given)
    return View(drawn, one, two, _theorem(people, p), text("source"), text("relation"))


def _theorem(people: int, p: Fraction) -> str:
    lecture = binomial.lecture_chance(people, demo.EPSILON, demo.DELTA)
    facts = {"p": _short(p), "lecture": _short(lecture), "small": demo.CHANCE, "delta": power_of_ten(demo.DELTA)}
    return text("theorem", epsilon=demo.EPSILON, deviation=to_figures(sqrt(people * p * (1 - p)), 3), **facts)


def _short(p: Fraction) -> str:
    return power_of_ten(p) if p < Fraction(1, 1000) else three_figures(Fraction(f"{float(p):.3g}"))


Drawn = tuple[str, str, str]  # a picture and two sentences


def _head(words: str) -> str:
    return f'<p class="head" dir="auto"><b>{escape(words)}</b></p>'


def _errors(given: Given) -> Drawn:
    people = int(given["people"])
    result = demo.errors(demo.Settings(people))
    counts = {model: plain(round(result[model])) for model in demo.SHOWN}
    rows = [(text(model), result[model], text("error", error=counts[model])) for model in demo.SHOWN]
    drawn = _head(text("bars")) + picture.figure(bars(rows), text("alt.bars", **counts), "trusted")
    two = text("two", local=counts["local"], times=plain(round(result["local"] / result["central"])))
    return drawn, text("one", people=people, **counts), two


# --- the messages of twelve people, one stage at a time. All stages show the same draw.


@cache
def _played(again: str) -> Stages:
    return demo.play()


def _messages(given: Given) -> Drawn:
    """The step of the messages that was chosen. The analyser's step shows the permuted messages and public numbers
    only."""
    step, played = given["step"], _played(given["again"])
    title = say("trust.step_of", step=step, all=len(STEPS)) + " " + say(f"trust.step.{step}")
    lead, two = say(f"trust.step.{step}.lead", p=demo.CHANCE), say("trust.steps_lead")
    if step in ("1", "2"):
        return _head(title) + _people(played if step == "2" else None), lead, two
    alt = say("trust.alt.pile", messages=len(played.pile), ones=sum(played.pile))
    drawn = _head(title) + picture.figure(pile(played.pile), alt, "piled")
    if step == "4":
        ones, estimate = demo.analysed(played.pile)
        facts = {"people": len(NAMES), "expected": len(NAMES) * demo.CHANCE}
        two = say("trust.analysed", ones=ones, estimate=estimate, **facts)
    return drawn, lead, two


def _people(played: Stages | None) -> str:
    """HTML: each person with the truth and, if messages were sent, both messages."""
    drawn = ""
    for place, name in enumerate(NAMES):
        truth = say("trust.has" if HOLDS[place] else "trust.has_not")
        sent = pile(played.sent[place]) if played else ""
        drawn += f"<li><b>{escape(name)}</b> <span class='muted'>{escape(truth)}</span>{sent}</li>"
    return f"<ul class='persons'>{drawn}</ul>"


# --- what is left of each promise if only some of the people are honest


@cache
def ways(people: int) -> tuple[Way, ...]:
    """The question “how many?” under each trust model, for this many made-up people."""
    schema = Schema({"c": Category(["yes", "no"], unknown="no", missing="no")})
    given = {"epsilon": demo.EPSILON, "delta": demo.DELTA, "where": [["c", "in", ["yes"]]]}
    return trust_models.ways(Facts("people", schema, Unit.rows(), "replace", people), "count", given)


def _honest(given: Given) -> Drawn:
    people = int(given["people"])
    honest, each = trust_models.honest_people(people, int(given["honest"])), ways(people)
    rows = trust_models.kept_by_honest(each, honest)
    title = say("honest.title") + " · " + say("honest.of", honest=honest, people=people)
    drawn = _head(title) + f'<p class="muted">{escape(say("honest.lead"))}</p>' + _kept(rows)
    return drawn, _promise(each, rows, honest), say("honest.others") + " " + say("honest.assumed")


def _kept(rows: tuple[Kept, ...]) -> str:
    body = ""
    for row in rows:
        mark = "✓" if row.holds else "✗"
        delta = say("honest.pure") if row.chance is None else say("honest.delta", delta=power_of_ten(row.delta))
        cells = (f"{mark} {delta}", _off(row.error), _off(row.worst))
        coin = f'<br><span class="muted">p = {coin_words(row.chance)}</span>' if row.chance is not None else ""
        html = "".join(f"<td class='number'>{escape(cell)}</td>" for cell in cells)
        name = say("honest.needed") if row.model == "needed" else say(f"trust.model.{row.model}")
        body += f"<tr><th scope='row'>{escape(name)}{coin}</th>{html}</tr>"
    names = ("privacy", "error", "worst")
    head = _number_heads(say(f"honest.column.{name}", chance=chance(BETA)) for name in names)
    return _scrolled(f"<tr><td></td>{head}</tr>{body}", say("honest.title"))


def _off(error: Fraction | None) -> str:
    return "—" if error is None else say("trust.error", error=-(-error.numerator // error.denominator))


def coin_words(p: Fraction) -> str:
    """A probability to four digits; a small one as a power of ten. It is never shown as 1 unless it is 1."""
    if p < Fraction(1, 1000):
        return power_of_ten(p)
    return local(f"{float(p):.6f}".rstrip("0")) if Fraction(99, 100) < p < 1 else to_figures(float(p), 4)


def _promise(each: tuple[Way, ...], rows: tuple[Kept, ...], honest: int) -> str:
    """A sentence: whether the shuffler's δ still holds with this many honest people, and what would repair it."""
    query, by_model = trust_models.shuffled_of(each), {row.model: row for row in rows}
    if query is None:
        return ""
    row, wanted = by_model["tight"], power_of_ten(query.delta)
    if row.holds:
        return say("honest.holds", honest=honest, delta=wanted)
    broken = say("honest.breaks", honest=honest, delta=power_of_ten(row.delta), wanted=wanted)
    return f"{broken} {_mended(query, row, by_model.get('needed'), honest)}"


def _mended(query: Shuffled, row: Kept, needed: Kept | None, honest: int) -> str:
    if needed is None:
        return say("honest.few", honest=honest, least=trust_models.fewest(query) or 0)
    assert needed.chance is not None and row.chance is not None
    coins = {"p": coin_words(row.chance), "needed": coin_words(needed.chance)}
    return say("honest.mend", before=_off(row.error), after=_off(needed.error), **coins)


# --- one shuffler for several protocols, and what an observer of each kind of pile learns


@cache
def _channelled(again: str) -> Seen:
    return channel.play()


def _channel(given: Given) -> Drawn:
    seen, way = _channelled(given["again"]), given["channel"]
    drawn, facts = {"apart": _apart, "tagged": _tagged, "bundles": _bundles}[way](seen)
    lead = say("channel.lead", p=channel.CHANCE)
    return _head(say("channel.title")) + drawn, lead, say(f"channel.learns.{way}", **facts)


def _way(way: int) -> str:
    return say(f"channel.way.{channel.WAYS[way]}")


def _tile(way: int, bit: int) -> str:
    return f'<i class="b{bit} t{way}">{escape(_way(way)[:1])}{bit}</i>'


def _piled(tiles: str, alt: str) -> str:
    return f'<div role="img" aria-label="{escape(alt)}"><div class="pile tags">{tiles}</div></div>'


def _apart(seen: Seen) -> tuple[str, dict[str, Any]]:
    drawn = ""
    for way, bits in enumerate(seen.apart):
        alt = say("trust.alt.pile", messages=len(bits), ones=sum(bits))
        drawn += f"<p><b>{escape(_way(way))}</b></p>" + _piled("".join(_tile(way, bit) for bit in bits), alt)
    return drawn + _learned(channel.counted_apart(seen.apart)), {}


def _tagged(seen: Seen) -> tuple[str, dict[str, Any]]:
    alt = say("trust.alt.pile", messages=len(seen.tagged), ones=sum(bit for _, bit in seen.tagged))
    drawn = _piled("".join(_tile(way, bit) for way, bit in seen.tagged), alt)
    return drawn + _learned(channel.counted_tagged(seen.tagged)), {}


def _bundles(seen: Seen) -> tuple[str, dict[str, Any]]:
    """HTML with envelopes in random order, without names (yet each is a person's row), and numbers for the text."""
    drawn = ""
    for bundle in seen.bundles:
        tiles = "".join(_tile(way, bit) for way, pair in enumerate(bundle) for bit in pair)
        drawn += f'<li><div class="pile tags">{tiles}</div></li>'
    alt = say("channel.alt.bundles", people=len(seen.bundles))
    box = f'<div role="img" aria-label="{escape(alt)}"><ul class="persons bundles">{drawn}</ul></div>'
    return box, {"certain": channel.read_off(seen.bundles), "people": len(seen.bundles)}


def _learned(bits: tuple[int, ...]) -> str:
    estimates = channel.estimates(bits, len(channel.HOLDS))
    rows = "".join(
        f"<tr><th scope='row'>{escape(_way(way))}</th><td class='number'>{plain(bits[way])}</td>"
        f"<td class='number'>{plain(estimates[way])}</td></tr>"
        for way in range(len(channel.WAYS))
    )
    heads = _number_heads([say("channel.ones"), say("channel.about")])
    return _scrolled(f"<tr><td></td>{heads}</tr>{rows}", say("channel.title"))


def _scrolled(rows: str, name: str, kind: str = "plain") -> str:
    """HTML with a table that may be wider than a phone; a keyboard can scroll it."""
    region = f'role="region" tabindex="0" aria-label="{escape(name)}"'
    return f'<div class="scroll" {region}><table class="{kind}">{rows}</table></div>'


def _number_heads(titles: Iterable[str]) -> str:
    return "".join(f"<th scope='col' class='number'>{escape(title)}</th>" for title in titles)


WHO = ("person", "server", "shuffler", "reader")


def _who(given: Given) -> Drawn:
    """A table of who could learn what under each trust model, with its text."""
    head = "".join(f"<th scope='col'>{escape(say(f'trust.who.{who}'))}</th>" for who in WHO)
    body = ""
    for model in ("central", "shuffle", "local"):
        cells = "".join(f"<td>{escape(say(f'trust.learns.{model}.{who}'))}</td>" for who in WHO)
        body += f"<tr><th scope='row'>{escape(say(f'trust.model.{model}'))}</th>{cells}</tr>"
    drawn = _head(say("trust.who")) + _scrolled(f"<tr><td></td>{head}</tr>{body}", say("trust.who"), "plain worded")
    return drawn, say("trust.observation"), say("trust.honest")


LESSON = Lesson(
    NUMBER,
    (
        Setting("look", tuple(_MATTERS), "errors", "choice"),
        Setting("people", tuple(map(str, demo.PEOPLE)), "10000"),
        Setting("honest", HONEST, HONEST[-1]),
        Setting("step", STEPS, "1"),
        Setting("channel", channel.CHANNELS, channel.CHANNELS[0], "choice"),
        AGAIN,
    ),
    view,
    "<div>" + bars([("", 3.0, ""), ("", 12.0, ""), ("", 100.0, "")]) + "</div>",
    shown=shown,
)
