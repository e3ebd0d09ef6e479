"""Allowances that others published for a release from data kept in one place, with where they said so.

Figures as published, whatever the unit they protect; the note says which. Releases where every device adds its own
noise are not comparable with a table here and are left out.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Preset:
    key: str  # whatif.preset.<key> says what was released and what is protected
    year: int
    epsilon: str
    delta: str
    people: str  # "" if it was not published
    source: str


PRESETS = (
    Preset(
        "census",
        2021,
        "19.61",
        "0.0000000001",
        "331,449,281",
        "Abowd et al., The 2020 Census Disclosure Avoidance System TopDown Algorithm, "
        "Harvard Data Science Review, 2022",
    ),
    Preset(
        "births",
        2024,
        "9.98",
        "0",
        "167,000",
        "Hod, Canetti, Differentially Private Release of Israel’s National Registry of Live Births, arXiv:2405.00267",
    ),
    Preset(
        "mobility",
        2020,
        "2.64",
        "0",
        "",
        "Aktay et al., Google COVID-19 Community Mobility Reports: Anonymization Process Description, arXiv:2004.04145",
    ),
    Preset(
        "urls",
        2020,
        "0.45",
        "0.00001",
        "",
        "Messing et al., Facebook Privacy-Protected Full URLs Data Set, Harvard Dataverse, doi:10.7910/DVN/TDOAPG",
    ),
    Preset(
        "audience",
        2020,
        "34.9",
        "0.000000007",
        "",
        "Rogers et al., LinkedIn’s Audience Engagements API: A Privacy Preserving Data Analytics System at Scale, "
        "arXiv:2002.05839",
    ),
)
