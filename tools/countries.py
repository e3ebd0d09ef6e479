"""Writes the list of countries that columns accept (dpengine/declared/spellings/countries-1.txt).

    python -m venv /tmp/cldr && /tmp/cldr/bin/pip install babel && /tmp/cldr/bin/python tools/countries.py

Names in English, Slovene and each country's own languages, and the codes of three letters, are those of the Unicode
Common Locale Data Repository (CLDR), as the package Babel carries it; © Unicode, Inc., Unicode License v3
(https://www.unicode.org/license.txt). What stands in this file are our own additions: what we call a place, and how
files call it beside. Babel is needed by whoever writes the list anew, not by the program.
"""

from __future__ import annotations

import sys
import unicodedata
from pathlib import Path
from typing import Any

TARGET = Path(__file__).resolve().parent.parent / "dpengine" / "declared" / "spellings" / "countries-1.txt"
# Places that are no country of their own, or none at all.
LEFT_OUT = {"AC", "CP", "CQ", "DG", "EA", "EU", "EZ", "IC", "QO", "TA", "UN", "XA", "XB", "ZZ"}
NOT_A_CODE = {"NA"}  # in files this is no answer

# What we call them, in English and in Slovene, where it is not what CLDR says.
ENGLISH = {
    "CD": "Democratic Republic of the Congo",
    "CG": "Congo",
    "CI": "Ivory Coast",
    "CV": "Cabo Verde",
    "HK": "Hong Kong",
    "HM": "Heard Island and McDonald Islands",
    "MM": "Myanmar",
    "MO": "Macao",
    "PN": "Pitcairn",
    "PS": "Palestine",
    "ST": "Sao Tome and Principe",
    "GS": "South Georgia and the South Sandwich Islands",
    "TL": "East Timor",
    "TR": "Turkey",
    "UM": "United States Minor Outlying Islands",
    "VC": "Saint Vincent and the Grenadines",
    "VI": "US Virgin Islands",
}
SLOVENE = {"CG": "Kongo", "HK": "Hongkong", "MM": "Mjanmar", "MO": "Macao", "PS": "Palestina", "TL": "Vzhodni Timor"}

# How states call themselves, put together from the name above.
FORMS = {
    "Republic of {}": "AL AO AM AT AZ BY BJ BA BW BG BI CV CM TD CL CO CR HR CU CY DJ EC SV GQ EE FJ FI GH GT GN GW GY "
    "HT HN IS IN ID IQ IE KZ KE KI LV LR LT MG MW MV ML MT MU MD MZ MM NA NR NI MK PW PA PY PE PL SM SN RS SC SL SG SI "
    "ZA SS SR TJ TT TN UG UZ VU YE ZM ZW KR:Korea TW:China TR:Türkiye CI:Côte~d'Ivoire",
    "Republic of the {}": "CG GM MH NE PH SD",
    "{} Republic": "AR:Argentine CZ:Czech FR:French GA:Gabonese GR:Hellenic IT:Italian KG:Kyrgyz LB:Lebanese "
    "PT:Portuguese SK:Slovak SY:Syrian~Arab TG:Togolese",
    "Kingdom of {}": "BH BE BT KH DK SZ LS MA NO SA ES SE TH TO",
    "Islamic Republic of {}": "AF IR MR PK",
    "Federal Republic of {}": "DE NG SO",
    "Federal Democratic Republic of {}": "ET NP",
    "People's Republic of {}": "BD CN",
    "Principality of {}": "AD LI MC",
    "Commonwealth of {}": "DM",
    "Commonwealth of the {}": "BS MP",
    "State of {}": "IL KW PS QA",
    "Sultanate of {}": "OM",
}
# How files write them beside: short, old, misspelt, or as the United Nations and banks list them.
WRITTEN = {
    "AE": "UAE|Emirates|Emirati",
    "AX": "Aland",
    "BA": "Bosnia|Bosna|Bosna i Hercegovina",
    "BO": "Plurinational State of Bolivia|Bolivia (Plurinational State of)",
    "BN": "Brunei Darussalam",
    "BQ": "Bonaire, Sint Eustatius and Saba",
    "BR": "Federative Republic of Brazil",
    "CD": "DR Congo|DRC|Congo-Kinshasa|Congo, Dem. Rep.|Zaire",
    "CG": "Congo-Brazzaville|Congo, Rep.",
    "CI": "Cote d'Ivoire|Côte d'Ivoire",
    "CN": "PRC",
    "CO": "Columbia",
    "CW": "Curacao",
    "CZ": "Češka republika|Česko",
    "DE": "BRD",
    "DZ": "People's Democratic Republic of Algeria",
    "EG": "Arab Republic of Egypt|Egypt, Arab Rep.",
    "FK": "Falkland Islands (Malvinas)",
    "FM": "Federated States of Micronesia|Micronesia, Fed. Sts.",
    "GB": "UK|U.K.|Great Britain|Britain|England|Scotland|Wales|Northern Ireland|Velika Britanija|Anglija|Škotska|"
    "United Kingdom of Great Britain and Northern Ireland",
    "GM": "Gambia, The|The Gambia",
    "GP": "Gvadelup",
    "GR": "Ellada|Hellas",
    "GU": "Outlying-US(Guam-USVI-etc)",
    "HK": "Hong|Hong Kong SAR",
    "IR": "Iran, Islamic Republic of|Iran (Islamic Republic of)|Iran, Islamic Rep.",
    "JO": "Hashemite Kingdom of Jordan",
    "KM": "Union of the Comoros",
    "KP": "DPRK|Democratic People's Republic of Korea|Korea, Dem. People's Rep.",
    "KR": "Korea|Koreja|Korea, Republic of|Korea, Rep.",
    "LA": "Lao PDR|Lao People's Democratic Republic",
    "LK": "Ceylon|Democratic Socialist Republic of Sri Lanka",
    "LU": "Grand Duchy of Luxembourg",
    "MD": "Moldova, Republic of",
    "MK": "Macedonia|Makedonija|FYROM",
    "MM": "Burma",
    "MX": "United Mexican States",
    "MU": "Mavricij",
    "NL": "The Netherlands|Holandija|Holand-Netherlands|Holland|Kingdom of the Netherlands",
    "PG": "Independent State of Papua New Guinea",
    "PS": "Palestinian Territory|West Bank and Gaza|Occupied Palestinian Territory",
    "RU": "Russian Federation|Ruska federacija|Российская Федерация",
    "SH": "Saint Helena, Ascension and Tristan da Cunha",
    "SI": "SLO|Republika Slovenija",
    "CH": "Swiss|Swiss Confederation",
    "SZ": "Swaziland|Svazi",
    "TL": "Timor Leste",
    "TR": "Turkiye",
    "SB": "Solomonovi otoki",
    "TT": "Trinidad in Tabago|Trinadad&Tobago|Trinidad&Tobago|Trinidad",
    "TZ": "United Republic of Tanzania|Tanzania, United Republic of",
    "US": "United States of America|U.S.|U.S.A.|US of A|America|ZDA|Združene države",
    "UY": "Eastern Republic of Uruguay",
    "VA": "Vatican|Holy See|Holy See (Vatican City State)",
    "VE": "Bolivarian Republic of Venezuela|Venezuela (Bolivarian Republic of)|Venezuela, RB",
    "VG": "Virgin Islands, British",
    "VI": "Virgin Islands of the United States|Virgin Islands, U.S.|Virgin Islands (U.S.)",
    "VN": "Viet Nam|Viet-Nam|Socialist Republic of Viet Nam",
    "WS": "Independent State of Samoa",
    "XK": "XKX|Kosova",
    "ZA": "Južna Afrika",
}


def main() -> int:
    from babel import Locale
    from babel.core import get_global
    from babel.languages import get_official_languages

    english, slovene = (Locale.parse(one).territories for one in ("en", "sl"))
    three: dict[str, list[str]] = {}  # old ones too: files are old
    for one, two in get_global("territory_aliases").items():
        if len(two) == 1 and _letters(one, 3):
            three.setdefault(two[0], []).append(one)
    codes = sorted({code for code in english if _letters(code, 2)} - LEFT_OUT)
    lines = []
    for code in codes:
        first, second = ENGLISH.get(code) or plainly(english[code]), SLOVENE.get(code) or slovene[code]
        own = [_named(Locale, tag, code) for tag in get_official_languages(code, regional=True, de_facto=True)]
        beside = ["" if code in NOT_A_CODE else code, *three.get(code, []), *formal(code, first)]
        beside += [*WRITTEN.get(code, "").split("|"), english[code], plainly(english[code]), slovene[code], *own]
        lines.append((first, "" if second == first else second, *_once(beside, first, second)))
    lines.sort(key=lambda line: _bare(line[0]))
    _apart(lines)
    TARGET.write_text("".join("|".join(line) + "\n" for line in lines), encoding="utf-8")
    print(f"{len(lines)} countries, CLDR {get_global('cldr')['version']}")
    return 0


def plainly(name: str) -> str:
    """As a person writes it: “Saint Kitts and Nevis” for “St. Kitts & Nevis”."""
    return name.replace("&", "and").replace("St. ", "Saint ").replace("’", "'").removesuffix(" SAR China")


def formal(code: str, name: str) -> list[str]:
    told = [(form, part.partition(":")) for form, those in FORMS.items() for part in those.split()]
    return [form.format(called.replace("~", " ") or name) for form, (of, _, called) in told if of == code]


def _named(locale: Any, tag: str, code: str) -> str:
    from babel import UnknownLocaleError

    try:
        return str(locale.parse(tag.replace("-", "_")).territories.get(code, ""))
    except UnknownLocaleError:  # a language without a locale of its own
        return ""


def _letters(code: str, many: int) -> bool:
    return len(code) == many and code.isascii() and code.isalpha() and code.isupper()


def _bare(text: str) -> str:
    return "".join(sign for sign in unicodedata.normalize("NFKD", text) if not unicodedata.combining(sign)).casefold()


def _once(names: list[str], *known: str) -> list[str]:
    seen = {"", *(name.casefold() for name in known)}
    return [name for name in names if not (name.casefold() in seen or seen.add(name.casefold()))]  # type: ignore[func-returns-value]


def _apart(lines: list[tuple[str, ...]]) -> None:
    """No spelling may stand for two."""
    of: dict[str, str] = {}
    for line in lines:
        for name in filter(None, line):
            other = of.setdefault(name.casefold(), line[0])
            if other != line[0]:
                raise SystemExit(f"{name!r} stands for {other} and for {line[0]}")


if __name__ == "__main__":
    sys.exit(main())
