"""The entries on the What-if page: two settings of one question. The address keeps them, so that a link restores
them. Setting B follows the people and the number of questions of A until somebody moves them."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import streamlit as st

import dpengine as dp
from dpengine.accountant import how_many_fit
from dpengine.accountant.filter import MOST_EPSILON
from dpengine.core.exact import text_of
from dpengine.planning.whatif import MOST_TYPED_PEOPLE, offered, read_number_field
from ui.shell.language import address

STATE = "whatif"
LONGEST = 60
SECTIONS = ("odds", "curves", "ways", "many", "choose", "median", "lectures", "sample")
LECTURES = ("class", "split", "values", "columns", "weights")
SHAPES = ("even", "bell", "skewed")
SLIDERS = ("e", "d", "n", "k")  # ε, δ, people, questions
_ALWAYS = (*SLIDERS, "e2", "d2")  # always in the address
USUAL = {"q": "median", "n": "10,000", "e": "1", "d": "0.000001", "x": "", "k": "20"}
USUAL |= {"q2": "", "e2": "", "d2": "", "n2": "", "k2": "", "from": "table"}
USUAL |= {"column": "", "relation": "replace", "low": "1", "high": "6,000", "step": "1", "values": "10", "share": "90"}
USUAL |= {"columns": "3", "lists": "2", "options": "5", "features": "3", "asks": "20", "full": "no", "beta": "0.05"}
USUAL |= {"see": "odds", "prior": "10", "shape": "bell", "pic": "class"}
_CHOICES = {"q": offered(), "q2": ("", *offered()), "from": ("typed", "table")}
_CHOICES |= {
    "relation": ("replace", "add_remove"),
    "full": ("no", "yes"),
    "see": SECTIONS,
    "shape": SHAPES,
    "pic": LECTURES,
}
LADDERS = {
    "e": "0.01 0.02 0.05 0.1 0.2 0.3 0.5 0.7 1 1.5 2 3 5 7 10 15 20 35".split(),
    "d": ["0", *(text_of(Fraction(1, 10**power)) for power in range(12, 1, -1))],
    "n": [str(digit * 10**power) for power in range(1, 9) for digit in (1, 2, 5)] + ["1000000000"],
    "k": [str(digit * 10**power) for power in range(4) for digit in (1, 2, 5)] + ["10000"],
}
_MOST = {"e": MOST_EPSILON, "d": Fraction(1), "n": Fraction(MOST_TYPED_PEOPLE), "k": Fraction(how_many_fit.MOST)}


def state(table: dp.Table) -> dict[str, str]:
    """The settings: from the URL on arrival, else as last left, else the defaults."""
    arriving = {name: st.query_params[name] for name in USUAL if name in st.query_params}
    kept = st.session_state.get(STATE)
    if kept is None or (arriving and arriving != kept["url"]):
        turn = kept["turn"] + 1 if kept else 0
        given = _clean(arriving, table)
        if arriving and st.query_params.get("table", table.name) != table.name:  # a link from somebody who has it
            given |= {"from": "typed", "column": ""}
        kept = {"url": arriving, "given": given, "turn": turn, "table": table.name}
        st.session_state[STATE] = kept
    elif kept["given"]["from"] == "table" and kept["table"] != table.name:  # another table was opened meanwhile
        change(**from_table(table))
    return dict(st.session_state[STATE]["given"])


def _usual(table: dp.Table, source: str) -> dict[str, str]:
    """The settings that an address omits; for an open table the table's own terms."""
    return USUAL | (from_table(table) if source == "table" else beside(USUAL))


def from_table(table: dp.Table) -> dict[str, str]:
    """The public terms of the open table as setting A, and half of the table's ε as setting B."""
    rule = table.budget.rule
    return beside({"n": f"{table.facts.about:,}", "e": text_of(rule.epsilon), "d": text_of(rule.delta)})


def beside(first: dict[str, str]) -> dict[str, str]:
    """The settings with setting B as it is until somebody moves it: half of the ε of A, and a thousandth of the δ of
    A."""
    epsilon, delta = (read_number_field(first[name], "") for name in ("e", "d"))
    return first | {"e2": text_of(epsilon / 2), "d2": text_of(delta / 1000), "n2": "", "k2": ""}


def _clean(arriving: dict[str, str], table: dp.Table) -> dict[str, str]:
    """The settings in an address, with defaults in place of impossible values; long ones are cut. Nothing in a URL is
    trusted."""
    given = {}
    for name, usual in _usual(table, arriving.get("from", USUAL["from"])).items():
        text = str(arriving.get(name, usual))[:LONGEST]
        possible = text in _CHOICES.get(name, (text,))
        if name.rstrip("2") in SLIDERS and text != usual:
            possible = (text == "" and name.endswith("2")) or number(name, text) is not None
        given[name] = text if possible else usual
    return given


@lru_cache(maxsize=1024)
def number(name: str, text: str) -> Fraction | None:
    """The value of a slider at this text; None if the slider cannot stand there."""
    kind = name.rstrip("2")
    try:
        value = read_number_field(text, "")
    except dp.AllowanceError:
        return None
    whole = kind not in ("n", "k") or (value.denominator == 1 and value >= 1)
    positive = value > 0 if kind == "e" else value >= 0
    fits = value < _MOST[kind] if kind == "d" else value <= _MOST[kind]
    return value if whole and positive and fits else None


def _lent(table: dp.Table, given: dict[str, str]) -> dict[str, str]:
    """The public facts of the open table that the question needs, as texts of the form."""
    column, relation = table.schema.columns.get(given["column"]), str(table.facts.relation)
    if isinstance(column, dp.Number):
        ends = {"low": column.lower, "high": column.upper, "step": column.step}
        return {"relation": relation} | {name: text_of(value) for name, value in ends.items()}
    return {"relation": relation} | ({"values": str(column.size)} if isinstance(column, dp.Category) else {})


def other(given: dict[str, str]) -> dict[str, str]:
    """Setting B as the settings of a form of its own, under the names of A."""
    return given | {name: given[f"{name}2"] or given[name] for name in ("q", *SLIDERS)}


def widget(name: str) -> str:
    """The key of a widget. After each link it is new, because a browser keeps old widget values."""
    return f"whatif-{name}-{st.session_state[STATE]['turn']}"


def put(**values: str) -> None:
    """Store these settings. Their widgets stay as they are; `change` also builds them anew."""
    kept = st.session_state[STATE]
    kept["given"] = kept["given"] | values


def change(**values: str) -> None:
    """Store these settings from outside their widgets, which are then built anew."""
    put(**values)
    st.session_state[STATE]["turn"] += 1


def remember(table: dp.Table, given: dict[str, str]) -> None:
    """Write the settings to the URL. This includes every number that the table lends, so that the link shows the same
    where the table is gone or has another allowance. Other defaults are left out."""
    kept, shown = st.session_state[STATE], given | (_lent(table, given) if given["from"] == "table" else {})
    query = {name: text for name, text in shown.items() if text != USUAL[name] or name in _ALWAYS}
    kept["given"], kept["url"], kept["table"] = given, query, table.name
    address({"table": table.name} | query)


# --- allowances that others published for a release from data kept in one place, with where they said so. Figures as
# published, whatever the unit they protect; the note says which. Releases where every device adds its own noise are not
# comparable with a table here and are left out.


@dataclass(frozen=True)
class Preset:
    key: str  # whatif.preset.<key> says what was released and what is protected
    year: int
    epsilon: str
    delta: str
    people: str  # "" if it was not published
    source: str


PRESETS = tuple(
    Preset(*row)
    for row in (
        ("census", 2021, "19.61", "0.0000000001", "331,449,281",
         "Abowd et al., The 2020 Census Disclosure Avoidance System TopDown Algorithm, "
         "Harvard Data Science Review, 2022"),
        ("births", 2024, "9.98", "0", "167,000",
         "Hod, Canetti, Differentially Private Release of Israel’s National Registry of Live Births, arXiv:2405.00267"),
        ("mobility", 2020, "2.64", "0", "",
         "Aktay et al., Google COVID-19 Community Mobility Reports: Anonymization Process Description, "
         "arXiv:2004.04145"),
        ("urls", 2020, "0.45", "0.00001", "",
         "Messing et al., Facebook Privacy-Protected Full URLs Data Set, Harvard Dataverse, doi:10.7910/DVN/TDOAPG"),
        ("audience", 2020, "34.9", "0.000000007", "",
         "Rogers et al., LinkedIn’s Audience Engagements API: A Privacy Preserving Data Analytics System at Scale, "
         "arXiv:2002.05839"),
    )
)  # fmt: skip
