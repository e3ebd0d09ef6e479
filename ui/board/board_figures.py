"""The cards of the board: a column's bars, and a summary beside its name. Free post-processing of a first look."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from fractions import Fraction
from functools import cached_property
from html import escape
from typing import Any

import streamlit as st

import dpengine as dp
from dpengine.asking.column_fit import ColumnFit
from dpengine.core.printed import chance
from dpengine.declared.grouped import Grouped
from dpengine.mechanisms.answer_state import leaders
from dpengine.mechanisms.counts.fit_checks import GATE, CellShare
from dpengine.mechanisms.marginals.wanted import DOES_NOT_FIT
from dpengine.messages import called, say
from dpengine.messages.language import current
from dpengine.messages.numbers import day, local
from dpengine.released import look_groups
from dpengine.released.look import Figure, Look
from dpengine.released.look_fit import HeldBack
from ui.parts import answer_notes
from ui.pictures import svg
from ui.words.figures import bare, rounded, rounded_range
from ui.words.wording import beyond_printed, beyond_words

MOST_BARS, MOST_ORDERED = 10, 36  # on a card; the table of figures has all
_NAMED = 3
_LISTED = 6
SCARCE = 0.05  # of all rows: if fewer are certainly outside the largest bar, the picture shows little
WIDE = 0.5  # of the declared range: a wider range is not worth showing


@dataclass(frozen=True)
class Bar:
    label: str  # as it is stored
    name: str
    value: float
    low: float | None
    high: float | None
    text: str
    extra: bool  # no answer, other, or does not fit
    faint: bool  # may be zero
    most: str = ""  # upper end
    wide: tuple[float, float] | None = None  # of a random sample: the share among all such people, in percent

    @cached_property
    def range(self) -> str:
        return "" if self.low is None or self.high is None else " – ".join(rounded_range(self.low, self.high))

    @property
    def wide_words(self) -> str:
        return "" if self.wide is None else f"{' – '.join(beyond_printed(self.wide))} %"

    def wide_drawn(self, shares: bool, look: Look) -> tuple[float, float] | None:
        """The range for the larger group on the picture's axis: if the axis shows numbers, as a number of the table's
        people. None if there is no such range, or if the number of people is secret."""
        if self.wide is None or shares:
            return self.wide
        people = look.query.facts.people
        return None if people is None else (self.wide[0] * people / 100, self.wide[1] * people / 100)

    @property
    def range_words(self) -> str:
        return self.range + (" %" if self.text.endswith("%") else "")


@dataclass(frozen=True)
class Picked:
    """Whom the board shows (a group of a column, of two columns, or everyone), and whether in shares or in numbers."""

    by: str = ""
    group: str = ""
    shares: bool = True
    also: str = ""
    second: str = ""

    def of(self, column: str) -> dict[str, str]:
        """The picked groups that narrow this column's picture; a group of the column itself does not."""
        groups = {self.by: self.group, self.also: self.second}
        return {name: group for name, group in groups.items() if name not in ("", column)}


@dataclass(frozen=True)
class Card:
    column: str
    bars: tuple[Bar, ...]
    ordered: bool  # a number or days: bars keep their order
    aside: str
    note: str  # "", "estimated", "unbought", "large" (too large to estimate), "sets", "sets_group"
    score: float  # share certainly outside the largest bar, or certainly unlike everyone

    @property
    def drawn(self) -> bool:
        return self.note not in ("unbought", "large", "sets_group")

    @property
    def scarce(self) -> bool:
        """Does the picture of everyone show little, because nearly all are in one bar, or because it is mostly
        noise?"""
        return self.score < SCARCE

    @cached_property
    def shown(self) -> tuple[Bar, ...]:
        """The bars of a small picture, in the declared order; of a long list the largest bars above zero."""
        kept = self._kept
        if self.ordered:
            return tuple(kept[:MOST_ORDERED])
        if len(kept) <= MOST_BARS:
            return tuple(kept)
        sure = [place for place, bar in enumerate(kept) if not bar.faint]
        largest = {*sorted(sure, key=lambda place: -kept[place].value)[:MOST_BARS]}
        return tuple(bar for place, bar in enumerate(kept) if place in largest)

    @property
    def rest(self) -> tuple[Bar, ...]:
        """The bars that only the table of figures has."""
        shown = {bar.label for bar in self.shown}
        return tuple(bar for bar in self._kept if bar.label not in shown)

    @cached_property
    def below(self) -> str:
        """The note under the picture: how large the hidden bars may be, and what grey means; empty if neither is
        needed."""
        lines = []
        if rest := self.rest:
            most = max((bar for bar in rest if bar.high is not None), key=lambda bar: bar.high or 0, default=None)
            if most is None:
                lines.append(say("board_page.rest", rest=len(rest)))
            else:
                code = "board_page.rest_none" if all(bar.faint for bar in rest) else "board_page.rest_most"
                lines.append(say(code, rest=len(rest), most=most.most))
        if any(bar.faint for bar in self.shown) and self.note != "estimated":
            lines.append(say("many.grey"))
        return " ".join(lines)

    @property
    def _kept(self) -> list[Bar]:
        return [bar for bar in self.bars if not (bar.extra and bar.faint)]


def _says_why(look: Look, column: str, fit: ColumnFit) -> bool:
    """Should a card say what a check found, instead of its figures? A list has no bar of cells that do not fit: such
    cells count as one of its values, or not at all."""
    listed = column in look.query.items or not ordered(look, column)
    return fit.doubted or fit.in_part if listed else bool(fit.codes)


def cards(found: dp.Answer, look: Look, picked: Picked) -> tuple[Card, ...]:
    """All cards, the most telling first. If a check found a code for “unknown”, or cells that are not in a list, the
    card says so instead of showing an average or a share that includes them."""
    drawn, known = _cards(_name(found), current(), picked, look), answer_notes.fits_of_answer(found)
    fits = {card.column: known.of(card.column, look.query.facts.schema[card.column]) for card in drawn}
    wrong = {name for name, fit in fits.items() if _says_why(look, name, fit)}
    return tuple(replace(card, aside=fits[card.column].reason()) if card.column in wrong else card for card in drawn)


@st.cache_resource(max_entries=200, show_spinner=False)
def _cards(charge: str, lang: str, picked: Picked, _look: Look) -> tuple[Card, ...]:
    """All cards, the highest score first. All visitors share this cache, one entry per language: a paid answer never
    changes."""
    look = _look
    drawn = [_card(look, column, picked) for column in look.columns]
    return tuple(sorted(drawn, key=lambda card: -card.score))


def bars_of(look: Look, column: str, picked: Picked) -> list[Bar]:
    if column in look.query.items:
        figures = _figures(look, column, Picked(shares=picked.shares))
        bars = [_bar(figure, figure.label, False, 100 if picked.shares else 1) for figure in figures]
        return _widened(bars, look.among_all(column))
    place = look.place(column)
    names = look.query.cell_names(place)
    extra = look.query.extra(place)
    listed = look.query.axes[place].listed
    bars = [
        _bar(figure, names[at], figure.label in extra or at >= listed, 100 if picked.shares else 1)
        for at, figure in enumerate(_figures(look, column, picked))
    ]
    groups = picked.of(column)
    return _widened(bars, None if groups and not picked.shares else look.among_all(column, groups))


def _widened(bars: list[Bar], shares: list[tuple[float, float]] | None) -> list[Bar]:
    """The bars with their ranges for the larger group of a random sample; the same bars if there are no such ranges."""
    return bars if shares is None else [replace(bar, wide=ends) for bar, ends in zip(bars, shares, strict=True)]


def _figures(look: Look, column: str, picked: Picked) -> list[Figure]:
    if groups := picked.of(column):
        of_group = look_groups.of_group if picked.shares else look_groups.counts_of_group
        return of_group(look, column, groups)
    return look_groups.of_everyone(look, column) if picked.shares else look.bars(column)


def _bar(figure: Figure, name: str, extra: bool, times: int) -> Bar:
    value = figure.value * times
    if figure.low is None or figure.high is None:
        text = _short(value, value, value, times)
        return Bar(figure.label, name, value, None, None, text, extra, value < times / 200)
    low, high = figure.low * times, figure.high * times
    faint = figure.low <= 0
    text = _short(value, low, high, times)
    most = _at_most(low, high, times)
    if faint:  # only the upper end is known
        text = say("board_page.below", most=most)
    return Bar(figure.label, name, value, low, high, text, extra, faint, most)


def _short(value: float, low: float, high: float, times: int) -> str:
    """A bar's figure as a short text: whole percents, or tenths if the range is narrow; people to two digits of the
    error."""
    if times == 1:
        return rounded(value, low, high) if high > low else bare(value)
    tenths = high - low < 1 and value < 10
    return f"{local(f'{value:.1f}' if tenths else f'{value:.0f}')} %"


def _at_most(low: float, high: float, times: int) -> str:
    if times == 1:
        return rounded_range(low, high)[1]
    grain = 10 if high < 10 else 1
    return f"{local(f'{math.ceil(high * grain) / grain:.{grain // 10}f}')} %"


def note_of(look: Look, column: str, picked: Picked) -> str:
    """The code of the note on a column's picture; "" for a measured picture. "unbought" if nothing was bought about the
    columns together: an estimate would repeat everyone's figures."""
    if column in look.query.items:
        return "sets_group" if picked.by else "sets"
    groups = picked.of(column)
    part = tuple(sorted(look.place(name) for name in (column, *groups)))
    if part in look.marginals:
        return ""
    if not look.query.against and not look.fit.together(part):
        return "unbought"
    return "estimated" if look.fits(part) else "large"


def ordered(look: Look, column: str) -> bool:
    """Is the column a number or a day, in consecutive groups?"""
    ref = look.query.columns[look.place(column)]
    return (
        isinstance(ref, Grouped) and bool(ref.starts) and not isinstance(look.query.facts.schema[column], dp.Category)
    )


def _card(look: Look, column: str, picked: Picked) -> Card:
    note = note_of(look, column, picked)
    bars = () if note in ("unbought", "large") else tuple(bars_of(look, column, picked))
    if column in look.query.items:
        score = 0.0 if picked.by else look_groups.shown_beyond_noise(look, column)
        return Card(column, bars, False, aside_of_list(bars), note, score)
    in_order = ordered(look, column)
    if groups := picked.of(column):
        figures = [] if note else look_groups.of_group(look, column, groups)
        score = look_groups.unlike(figures, look_groups.of_everyone(look, column)) if figures else 0.0
        return Card(column, bars, in_order, "" if in_order else aside_of_list(bars), note, score)
    return Card(column, bars, in_order, aside(look, column, bars), note, look_groups.shown_beyond_noise(look, column))


def aside(look: Look, column: str, bars: Sequence[Bar]) -> str:
    """The summary beside a column's name: a number's average and median, the median day, or a list's most common value.
    If some cells do not fit, also the share of cells that do; if many do not, only the share that does not, because an
    average of the rest would pass for everybody's."""
    declared = look.query.facts.schema[column]
    if not ordered(look, column):
        return aside_of_list(bars)
    outside = _share(_outside(look, column))
    if outside.low >= GATE:
        return say("board_page.misfit", share=outside.span())
    middles = _middles(look, column, declared)
    if middles and outside.low > 0:
        fitting = CellShare(1 - outside.value, 1 - outside.high, 1 - outside.low)
        return say("board_page.of_fitting", share=fitting.span(), middles=middles)
    return middles


def _outside(look: Look, column: str) -> Figure | None:
    """The bar of cells that do not fit; None if there is none."""
    return next((figure for figure in look_groups.of_everyone(look, column) if figure.label == DOES_NOT_FIT), None)


@st.cache_resource(max_entries=200, show_spinner=False)
def telling_misfits(charge: str, _look: Look) -> tuple[str, ...]:
    """The columns whose cards show the share of cells that do not fit. All visitors share this cache."""
    numbers = [name for name in _look.columns if name not in _look.query.items and ordered(_look, name)]
    outside = ((name, _outside(_look, name)) for name in numbers)
    return tuple(name for name, figure in outside if figure is not None and float(figure.low or 0) > 0)


def _share(figure: Figure | None) -> CellShare:
    """The share of a bar with its range; 0 without a bar."""
    if figure is None:
        return CellShare(Fraction(0), Fraction(0), Fraction(0))
    ends = (figure.value, figure.low or 0, figure.high or 0)
    value, low, high = (min(max(Fraction(float(end)), Fraction(0)), Fraction(1)) for end in ends)
    return CellShare(value, low, high)


def _middles(look: Look, column: str, declared: Any) -> str:
    middle = look.percentile(column)
    if isinstance(declared, dp.Number):
        mean = look.mean(column)
        ends = float(declared.lower), float(declared.upper)
        parts = [
            _between("mean", mean, ends, rounded_range(float(mean.low or 0), float(mean.high or 0))),
            _between("median", middle, ends, tuple(bare(float(end or 0)) for end in (middle.low, middle.high))),
        ]
        return "\u00a0· ".join(part for part in parts if part)
    days = tuple(float(date.fromisoformat(str(declared.value(code))).toordinal()) for code in (0, declared.size - 1))
    return _between("median", middle, days, tuple(_day(end) for end in (middle.low, middle.high)))


def _between(what: str, figure: Figure, ends: tuple[float, ...], words: tuple[str, ...]) -> str:
    """The range of a figure in words. An end that only repeats an end of the declared range (`ends`) is left out; a
    range that covers most of the declared one gives an empty text."""
    low, high = float(figure.low or 0), float(figure.high or 0)
    if high - low > WIDE * (ends[1] - ends[0]):
        return ""
    code = "_most" if low <= ends[0] else "_least" if high >= ends[1] else ""
    return say(f"board_page.{what}{code}", low=words[0], high=words[1])


def _day(number: float | None) -> str:
    return day(date.fromordinal(int(number or 1)).isoformat())


def aside_of_list(bars: Sequence[Bar]) -> str:
    """A sentence on the most common value of a list, as far as it is certain; else empty."""
    ends = {bar.label: (bar.low, bar.high) for bar in bars if not bar.extra}
    if len(ends) < 2 or any(low is None for low, _ in ends.values()):
        return ""
    first = leaders(ends)
    if len(first) > _NAMED:
        names = [bar.name for bar in bars if bar.label in first]
        code = "board_page.alike_named" if len(first) <= _LISTED else "board_page.alike_many"
        return say(code, values=len(first), names=names)
    if len(first) > 1:
        return say("board_page.alike", names=say("answer.or").join(bar.name for bar in bars if bar.label in first))
    most = next(bar for bar in bars if bar.label == first[0])
    return say("board_page.most", name=most.name, range=most.range_words)


def standing(found: dp.Answer) -> str:
    """HTML with a standalone picture for each column, for the report."""
    look, title = look_of(found), say("chart.percent")
    drawn = ""
    for card in cards(found, look, Picked()):
        shown = {bar.name: bar for bar in card.shown}
        ranges = {name: (bar.low, bar.high) for name, bar in shown.items()}
        faint = [name for name, bar in shown.items() if bar.faint]
        values = {name: bar.value for name, bar in shown.items()}
        alt = "; ".join(f"{name}: {bar.text}" for name, bar in shown.items())
        wide = {name: bar.wide for name, bar in shown.items() if bar.wide is not None}
        drawn += f"<h3>{escape(called(card.column))}</h3>{svg.rows(values, ranges, title, alt, True, faint, wide)}"
    return drawn + (f'<p class="muted">{escape(words)}</p>' if (words := about_all(found)) else "")


def about_all(found: dp.Answer) -> str:
    """For a random sample, a sentence: what the light boxes are, or why there are none. Else empty."""
    if not found.beyond:
        return ""
    if found.population is None:
        return beyond_words(found)
    words = say("sample.board", chance=chance(found.query.beta))
    return f"{words} {say('sample.after_board')}" if found.beyond == "after" else words


def _name(found: dp.Answer) -> str:
    """The cache key of an answer. It changes when the answer gains or loses its ranges for the larger group."""
    return f"{found.receipt['charge']['hash']} {found.beyond}"


def look_of(found: dp.Answer) -> Look:
    return _kept(_name(found), found.value)


def tried(found: dp.Answer, look: Look, picked: Picked) -> HeldBack | None:
    """How accurate estimates of the picked kind were on held-back pairs; None if none were held back."""
    return _tried(found.receipt["charge"]["hash"], Picked(picked.by, "", True, picked.also), look)


@st.cache_resource(max_entries=200, show_spinner=False)
def _tried(charge: str, columns: Picked, _look: Look) -> HeldBack | None:
    if _look.fit.hubs:
        return _look.held_back
    shown = [name for name in _look.cells if note_of(_look, name, columns) == "estimated"]
    each = [_look.checked(name, *columns.of(name)) for name in shown]
    return HeldBack.of([result for result in each if result is not None])


@st.cache_resource(max_entries=20, show_spinner=False)
def _kept(charge: str, _look: Look) -> Look:
    """The same first look, as one object for all visitors, so that they share its cached results."""
    return _look
