"""Names taken off a table, and found again with a second table that has them.

Two stories that happened, on made-up people (drawn once from a public seed, so that everybody sees the same):

    hospital   patients without names, but with sex, birth and postcode, meet a voter roll, which has these and a name;
    films      ratings without names meet ratings that some of the same people posted in public under their names.

The matcher of the hospital names a patient where exactly one voter has the same sex, birth and postcode. That of the
films scores every row: common films whose stars differ by one at most, rare films for more (log of people per fan), and
names a row where the best is ahead of the second best by more than AHEAD deviations of all scores (Narayanan and
Shmatikov 2008). Both get what an attacker has, and never who is who: `right` is counted afterwards, by somebody who
knows.

**A private release instead of the table.** Bars with the engine's own noise: of the diagnoses, or of the films and the
secret. From those the attacker makes up a table as best he can: rows in proportion to the bars, everything else as
likely as it can be. Then the same matcher runs. What it names is right about as often as names drawn by lot: for each
named row the share of named people who hold its secret, summed (`by_lot`).
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from fractions import Fraction
from functools import cache
from math import log, sqrt

from dpengine.declared.facts import Facts
from dpengine.declared.schema import Category, ItemSet, Schema
from dpengine.declared.unit import Unit
from dpengine.mechanisms.counts.histogram import Histogram
from dpengine.noise.coins import Coins, SystemCoins

STORIES, WAYS = ("hospital", "films"), ("table", "private")
DETAILS = ("day", "month", "year", "decade")
SEED = 2000  # of made-up people; no noise is drawn from it

FIRST = ("Ana", "Bo", "Cleo", "Dan", "Eve", "Finn", "Gita", "Hugo", "Ines", "Jan", "Kim", "Lea", "Max", "Nina", "Oto")
LAST = ("Adler", "Benko", "Costa", "Dolan", "Ekman", "Farkas", "Grau", "Hribar", "Ito", "Jelen", "Kos", "Lindt", "Moro")
TOWN, PATIENTS, POSTCODES = 2_400, 300, 12
FROM, DAYS = date(1935, 1, 1), 25_932  # births up to the end of 2005
ON_THE_ROLL = 0.9
DIAGNOSES = ("diabetes", "asthma", "depression", "cancer", "migraine", "flu")
OFTEN = (30, 24, 18, 10, 12, 6)

VIEWERS, POSTERS, STRANGERS, FILMS, MOST_SEEN = 600, 200, 20, 60, 14
SECRETS = ("A", "B", "C", "D", "E", "F")  # films that nobody posts about
STARS = 5
AHEAD = 1.5
MOST_KNOWN = 8


@dataclass(frozen=True)
class Person:
    """What identifies a person without a name: sex, birth, postcode."""

    sex: str
    birth: date
    postcode: int


@dataclass(frozen=True)
class Row:
    """A row of a table without names."""

    person: Person
    secret: int  # the diagnosis


@dataclass(frozen=True)
class Seen:
    """A row of the film table without names: stars by film, and a secret film."""

    stars: Mapping[int, int]
    secret: int


@dataclass(frozen=True)
class Settings:
    story: str = "hospital"
    way: str = "table"
    detail: str = "day"
    known: int = 6
    epsilon: Fraction = Fraction(1)


@dataclass(frozen=True)
class Example:
    row: Row
    name: str | None  # the matcher's


@dataclass(frozen=True)
class Found:
    settings: Settings
    rows: int  # of the nameless table, or of the attacker's made-up one
    names: int  # of the public table
    named: int  # rows that the matcher names
    right: int  # named rows whose person is in the table and has that secret
    by_lot: float  # right names expected from a random draw
    bars: tuple[int, ...] = ()  # the private release of the secrets
    examples: tuple[Example, ...] = ()


def run(settings: Settings, coins: Coins | None = None) -> Found:
    coins = coins or SystemCoins()
    return _hospital(settings, coins) if settings.story == "hospital" else _films(settings, coins)


# --- the hospital and the voter roll ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Town:
    people: tuple[Person, ...]
    names: tuple[str, ...]
    patients: tuple[int, ...]  # their identities, used only for `right`
    diagnoses: tuple[int, ...]
    roll: tuple[int, ...]  # the people on it


@cache
def town() -> Town:
    drawn = random.Random(SEED)
    people = tuple(
        Person(drawn.choice("FM"), FROM + timedelta(drawn.randrange(DAYS)), 1000 + drawn.randrange(POSTCODES))
        for _ in range(TOWN)
    )
    names = tuple(f"{drawn.choice(FIRST)} {drawn.choice(LAST)}" for _ in range(TOWN))
    patients = tuple(drawn.sample(range(TOWN), PATIENTS))
    diagnoses = tuple(drawn.choices(range(len(DIAGNOSES)), OFTEN, k=PATIENTS))
    return Town(people, names, patients, diagnoses, tuple(at for at in range(TOWN) if drawn.random() < ON_THE_ROLL))


def shown(person: Person, detail: str) -> tuple[str, str, int]:
    """A person's details in the tables at this level of detail."""
    day = person.birth
    birth = {
        "day": day.isoformat(),
        "month": f"{day.year}-{day.month:02}",
        "year": f"{day.year}",
        "decade": f"{day.year // 10 * 10}",
    }[detail]
    return person.sex, birth, person.postcode


def match(rows: Sequence[Person], roll: Sequence[Person], detail: str) -> dict[int, int]:
    """By the index of each row that fits exactly one voter, the index of that voter on the roll. Its time is linear in
    both."""
    voters: defaultdict[tuple[str, str, int], list[int]] = defaultdict(list)
    for place, voter in enumerate(roll):
        voters[shown(voter, detail)].append(place)
    fits = {at: voters[shown(row, detail)] for at, row in enumerate(rows) if shown(row, detail) in voters}
    return {at: places[0] for at, places in fits.items() if len(places) == 1}


def _hospital(settings: Settings, coins: Coins) -> Found:
    place = town()
    bars: tuple[int, ...] = ()
    rows = [Row(place.people[who], secret) for who, secret in zip(place.patients, place.diagnoses, strict=True)]
    if settings.way == "private":
        truth = Counter(place.diagnoses)
        bars = histogram(tuple(truth[at] for at in range(len(DIAGNOSES))), settings.epsilon, coins)
        rows = _made_up_patients(bars, random.SystemRandom())
    named = match([row.person for row in rows], [place.people[who] for who in place.roll], settings.detail)
    holds = dict(zip(place.patients, place.diagnoses, strict=True))
    secrets = Counter(holds[who] for who in place.roll if who in holds)
    right = sum(holds.get(place.roll[voter]) == rows[at].secret for at, voter in named.items())
    by_lot = sum(secrets[rows[at].secret] / len(place.roll) for at in named)
    examples = tuple(
        Example(row, place.names[place.roll[named[at]]] if at in named else None) for at, row in enumerate(rows[:4])
    )
    return Found(settings, len(rows), len(place.roll), len(named), right, by_lot, bars, examples)


def _made_up_patients(bars: Sequence[int], drawn: random.Random) -> list[Row]:
    """The table that the attacker makes up from the release: as many rows, in proportion to the bars. All other columns
    are as likely as can be, because the release says nothing about them."""
    secrets = drawn.choices(range(len(bars)), [max(bar, 0) + 1e-9 for bar in bars], k=PATIENTS)
    return [
        Row(
            Person(drawn.choice("FM"), FROM + timedelta(drawn.randrange(DAYS)), 1000 + drawn.randrange(POSTCODES)),
            secret,
        )
        for secret in secrets
    ]


def histogram(counts: tuple[int, ...], epsilon: Fraction, coins: Coins) -> tuple[int, ...]:
    """These counts with the noise of the question that Ask uses for a column of labels."""
    labels = [str(at) for at in range(len(counts))]
    schema = Schema({"secret": Category(labels, unknown=labels[0], missing=labels[0])})
    facts = Facts("linkage", schema, Unit.rows(), "replace", sum(counts))
    return tuple(Histogram.build(facts, {"column": "secret", "epsilon": epsilon}).draw(counts, coins))


# --- films and public ratings -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Cinema:
    table: tuple[Seen, ...]
    posts: tuple[tuple[tuple[int, int], ...], ...]  # under a name: (film, stars), at most MOST_KNOWN of them
    posters: tuple[int | None, ...]  # the row's person, None if not in the table; used only for `right`


@cache
def cinema() -> Cinema:
    drawn = random.Random(SEED + 1)
    popular = [1 / (film + 3) for film in range(FILMS)]
    table = tuple(_viewer(drawn, popular) for _ in range(VIEWERS))
    rows_of: list[int | None] = [*drawn.sample(range(VIEWERS), POSTERS), *([None] * STRANGERS)]
    posts = tuple(_post(drawn, table[who] if who is not None else _viewer(drawn, popular)) for who in rows_of)
    return Cinema(table, posts, tuple(rows_of))


def _viewer(drawn: random.Random, popular: Sequence[float]) -> Seen:
    films: set[int] = set()
    wanted = drawn.randint(8, MOST_SEEN)
    while len(films) < wanted:
        films.add(drawn.choices(range(FILMS), popular)[0])
    stars = {film: min(max(round(drawn.gauss(3.4, 1.1)), 1), STARS) for film in films}
    return Seen(stars, drawn.choices(range(len(SECRETS)), OFTEN)[0])


def _post(drawn: random.Random, viewer: Seen) -> tuple[tuple[int, int], ...]:
    """A public post: now and then a star more or less than in the table."""
    films = drawn.sample(sorted(viewer.stars), min(MOST_KNOWN, len(viewer.stars)))
    posted = (viewer.stars[film] + (drawn.choice((-1, 1)) if drawn.random() < 0.2 else 0) for film in films)
    return tuple((film, min(max(stars, 1), STARS)) for film, stars in zip(films, posted, strict=True))


def match_ratings(posts: Sequence[Sequence[tuple[int, int]]], table: Sequence[Seen]) -> dict[int, int]:
    """By the index of each name whose posts fit one row clearly best, the index of that row."""
    fans: defaultdict[int, list[int]] = defaultdict(list)
    for at, row in enumerate(table):
        for film in row.stars:
            fans[film].append(at)
    matches = {}
    for name, post in enumerate(posts):
        scores: defaultdict[int, float] = defaultdict(float)
        for film, stars in post:
            for at in fans[film]:
                if abs(table[at].stars[film] - stars) <= 1:
                    scores[at] += log(len(table) / len(fans[film]))
        best = _ahead(scores, len(table))
        if best is not None:
            matches[name] = best
    return matches


def _ahead(scores: Mapping[int, float], rows: int) -> int | None:
    if not scores:
        return None
    order = sorted(scores.items(), key=lambda item: -item[1])
    mean = sum(scores.values()) / rows
    spread = sqrt(max(sum(score * score for score in scores.values()) / rows - mean * mean, 1e-12))
    second = order[1][1] if len(order) > 1 else 0.0
    return order[0][0] if order[0][1] - second >= AHEAD * spread else None


def _films(settings: Settings, coins: Coins) -> Found:
    place = cinema()
    table, bars = place.table, tuple(Counter(row.secret for row in place.table)[at] for at in range(len(SECRETS)))
    if settings.way == "private":
        liked = Counter(film for row in table for film in row.stars)
        films = of_sets(tuple(liked[film] for film in range(FILMS)), settings.epsilon / 2, coins)
        bars = histogram(bars, settings.epsilon / 2, coins)
        table = _made_up_viewers(films, bars, random.SystemRandom())
    named = match_ratings([post[: settings.known] for post in place.posts], table)
    holds = [None if who is None else place.table[who].secret for who in place.posters]
    secrets = Counter(holds)
    right = sum(holds[name] == table[at].secret for name, at in named.items())
    if settings.way == "table":  # another person's row is wrong even with the same secret
        right = sum(place.posters[name] == at for name, at in named.items())
    by_lot = sum(secrets[table[at].secret] / len(holds) for at in named.values())
    released = bars if settings.way == "private" else ()
    return Found(settings, len(table), len(place.posts), len(named), right, by_lot, released)


def _made_up_viewers(films: Sequence[int], bars: Sequence[int], drawn: random.Random) -> tuple[Seen, ...]:
    weights = [max(bar, 0) + 1e-9 for bar in bars]
    rows = []
    for secret in drawn.choices(range(len(bars)), weights, k=VIEWERS):
        watched = [film for film, fans in enumerate(films) if drawn.random() * VIEWERS < fans]
        rows.append(Seen({film: min(max(round(drawn.gauss(3.4, 1.1)), 1), STARS) for film in watched}, secret))
    return tuple(rows)


def of_sets(counts: tuple[int, ...], epsilon: Fraction, coins: Coins) -> tuple[int, ...]:
    """These counts with the noise for a column of sets: a person with up to MOST_SEEN films moves up to twice as many
    bars."""
    schema = Schema({"films": ItemSet([str(film) for film in range(len(counts))], at_most=MOST_SEEN)})
    facts = Facts("linkage", schema, Unit.rows(), "replace", VIEWERS)
    return tuple(Histogram.build(facts, {"column": "films", "epsilon": epsilon}).draw(counts, coins))
