"""Styles beyond Streamlit's theme: light and dark colours, and two stylesheets. They select by stable keys only."""

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


def apply() -> None:
    colours = palette()
    colour_lines = (f"--{name.replace('_', '-')}:{value};" for name, value in vars(colours).items())
    variables = '--serif:"Source Serif","Source Serif 4",serif;' + "".join(colour_lines)
    st.html(f"<style>:root{{{variables}}}{_rules()}</style>")


@cache
def _rules() -> str:
    """In one line: Streamlit looks for the indents of every text, at every click."""
    files = (Path(__file__).parent / f"{name}.css" for name in ("style", "places"))
    return " ".join(line.strip() for file in files for line in file.read_text(encoding="utf-8").splitlines())
