"""Styles beyond Streamlit's theme: light and dark colours, and stylesheets, which select by stable keys only."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import streamlit as st


@dataclass(frozen=True)
class Palette:
    paper: str
    card: str
    ink: str
    muted: str
    line: str
    left: str
    left_soft: str
    take: str
    take_soft: str
    spent: str
    refuse: str
    on_accent: str

    def variables(self) -> str:
        return "".join(f"--{name.replace('_', '-')}:{value};" for name, value in vars(self).items())


LIGHT = Palette(
    *"#FBFAF6 #FFFFFF #1C2733 #55606C #DDD9CE #0B6B63 #CFE6E1 #B4590A #F6D9B8 #39495A #B3261E #FFFFFF".split()
)
DARK = Palette(
    *"#14191F #1C232B #ECE8DF #A9B3BD #38424D #5CC2B4 #1E4541 #E39A4D #5A3D1C #93A7BB #F0837A #10201E".split()
)


def dark() -> bool:
    return st.context.theme.type == "dark"


def palette() -> Palette:
    return DARK if dark() else LIGHT


def apply(more: str) -> None:
    """Set what depends on the reader: the colours, and `more` rules. The other rules come with the page, as a file
    (ui/shell/widget_words.py), and not again with every click."""
    variables = '--serif:"Source Serif","Source Serif 4",serif;' + palette().variables()
    st.html(f"<style>:root{{{variables}}}{more}</style>")


def every_page() -> str:
    return rules("shell/style") + rules("shell/places")


@cache
def rules(name: str) -> str:
    """The rules of a stylesheet below ui/, by its path; in one line, since Streamlit looks for indents at every
    click."""
    text = (Path(__file__).parents[1] / f"{name}.css").read_text(encoding="utf-8")
    return " ".join(line.strip() for line in text.splitlines())


def sheet(name: str) -> str:
    """HTML with a stylesheet below ui/, for the pages that need it."""
    return f"<style>{rules(name)}</style>"
