"""Writes stranger.csv: a table as an office somewhere in Europe would save it, with everything that trips a reader.

Semicolons, decimal commas, thousands dots, dates dd.mm.yyyy, UTF-8 with a byte order mark, CRLF, names with spaces and
marks, quoted cells with semicolons and line ends in them, missing cells. The people are made up; the seed is fixed.
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path
from random import Random

ROWS = 600
CANARY = "kanarček-70417"  # planted in one cell of a free text column; no page may ever show it
REGIONS = ("pomurska", "podravska", "koroška", "savinjska", "gorenjska", "goriška", "osrednjeslovenska")
HEADER = [
    "Šifra",
    "Ime; priimek",
    "Datum vpisa",
    "Leto rojstva",
    "Spol",
    "Regija",
    "Kadilec",
    "Višina (cm)",
    "Teža [kg]",
    "Mesečna plača (EUR)",
    "Delež dela %",
    'Ocena "zadovoljstva"',
    "<b>Opomba</b>",
    "O'Brien -- DROP TABLE",
]


def amount(value: float) -> str:
    """1234.5 as 1.234,50"""
    return f"{value:,.2f}".translate(str.maketrans(",.", ".,"))


def rows(random: Random) -> list[list[str]]:
    def pick(*options: str) -> str:
        return options[int(random.random() * len(options))]

    def whole(low: int, high: int) -> int:
        return low + int((high + 1 - low) * random.random())

    made = []
    for number in range(ROWS):
        woman = random.random() < 0.52
        pay = 900 + 3200 * random.random() * random.random()
        row = [
            f"{number + 1:05d}",
            f"Oseba {number}; {pick('Novak', 'Kranjc', 'Žagar')}",
            f"{whole(1, 28):02d}.{whole(1, 12):02d}.{whole(2015, 2024)}",
            str(whole(1945, 2004)),
            pick("ženska", "Ž", "Ženska ") if woman else pick("moški", "M"),
            pick(*REGIONS),
            pick("da", "ne", "ne", "NE"),
            str(whole(150, 194)),
            f"{48 + 60 * random.random():.1f}".replace(".", ","),
            amount(pay),
            str(5 * whole(0, 20)),
            str(whole(1, 5)),
            pick("brez posebnosti", "klic; nato pismo", "dve\nvrstici", 'rekel je "da"'),
            pick("", "x"),
        ]
        for place in (3, 5, 8, 9, 11):
            if random.random() < 0.04:
                row[place] = pick("", "", "NaN", "n/a")
        made.append(row)
    made[417][12] = CANARY
    return made


def write(target: Path) -> None:
    with target.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.writer(file, delimiter=";", lineterminator="\r\n")
        writer.writerow(HEADER)
        writer.writerows(rows(Random(20261115)))


if __name__ == "__main__":
    write(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("stranger.csv"))
