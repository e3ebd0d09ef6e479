"""On the Trust page: one shuffler for several protocols, and what an observer of each kind of pile learns."""

from __future__ import annotations

from html import escape
from typing import Any

import streamlit as st

from demos.lessons import channel as demo
from demos.lessons.channel import Seen
from dpengine.messages import plain, say
from ui.parts import fields
from ui.trust import trust_more, trust_state

_PLAYED = "trust-channel-played"


def show(given: dict[str, Any]) -> dict[str, Any]:
    played: Seen = st.session_state.setdefault(_PLAYED, demo.play())
    st.html(f'<h2>{escape(say("channel.title"))}</h2><p class="muted">{escape(say("channel.lead", p=demo.CHANCE))}</p>')
    key = trust_state.widget("channel")
    given = given | {"channel": fields.choose("channel.choose", demo.CHANNELS, given["channel"], key, "channel")}
    panel = {"apart": _apart, "tagged": _tagged, "bundles": _bundles}[given["channel"]]
    st.html(panel(played))
    st.button(say("trust.anew"), key="trust-channel-anew", on_click=_anew)
    return given


def _anew() -> None:
    st.session_state[_PLAYED] = demo.play()


def _way(way: int) -> str:
    return say(f"channel.way.{demo.WAYS[way]}")


def _tile(way: int, bit: int) -> str:
    return f'<i class="b{bit} t{way}">{escape(_way(way)[:1])}{bit}</i>'


def _piled(tiles: str, alt: str) -> str:
    return f'<div role="img" aria-label="{escape(alt)}"><div class="pile tags">{tiles}</div></div>'


def _apart(seen: Seen) -> str:
    drawn = ""
    for way, pile in enumerate(seen.apart):
        alt = say("trust.alt.pile", messages=len(pile), ones=sum(pile))
        drawn += f"<p><b>{escape(_way(way))}</b></p>" + _piled("".join(_tile(way, bit) for bit in pile), alt)
    return drawn + _learned(demo.counted_apart(seen.apart)) + _line("channel.learns.apart")


def _tagged(seen: Seen) -> str:
    alt = say("trust.alt.pile", messages=len(seen.tagged), ones=sum(bit for _, bit in seen.tagged))
    drawn = _piled("".join(_tile(way, bit) for way, bit in seen.tagged), alt)
    return drawn + _learned(demo.counted_tagged(seen.tagged)) + _line("channel.learns.tagged")


def _bundles(seen: Seen) -> str:
    """Envelopes in random order: without names, and yet each is a person's row."""
    drawn = ""
    for bundle in seen.bundles:
        tiles = "".join(_tile(way, bit) for way, pair in enumerate(bundle) for bit in pair)
        drawn += f'<li><div class="pile tags">{tiles}</div></li>'
    alt = say("channel.alt.bundles", people=len(seen.bundles))
    box = f'<div role="img" aria-label="{escape(alt)}"><ul class="persons bundles">{drawn}</ul></div>'
    certain = demo.read_off(seen.bundles)
    return box + _line("channel.learns.bundles", certain=certain, people=len(seen.bundles))


def _learned(bits: tuple[int, ...]) -> str:
    people = len(demo.HOLDS)
    estimates = demo.estimates(bits, people)
    rows = "".join(
        f"<tr><th scope='row'>{escape(_way(way))}</th><td class='number'>{plain(bits[way])}</td>"
        f"<td class='number'>{plain(estimates[way])}</td></tr>"
        for way in range(len(demo.WAYS))
    )
    heads = trust_more.number_heads([say("channel.ones"), say("channel.about")])
    return trust_more.scrolled(f"<tr><td></td>{heads}</tr>{rows}", say("channel.title"))


def _line(code: str, **facts: Any) -> str:
    return f'<p role="status">{escape(say(code, **facts))}</p>'
