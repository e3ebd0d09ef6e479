"""Values that can be told from everything else, and a search for them in whatever leaves the program.

A canary is made anew in each run. A text has 20 letters out of 20 (86 bits), a number 18 digits (over 59 bits), a day
lies in the years 2300 to 9700 where nothing else does. Each is looked for as it stands, with signs between thousands,
as bytes of another encoding, as hex and base64, as an integer or a float in memory, and as a plain hash.

False alarms: a needle of b random bits is found by chance in n bytes with probability at most n/2^b. The weakest
needles are the 8 bytes of a float (52 random bits) and its hex. With at most 100 of them and 10^9 bytes that are no
copies of each other: below 100·10^9/2^52 < 3·10^-5 on bytes that are uniformly random, and nothing that is searched is:
8 bytes in a row of a page, a log or a table of SQLite are text or small numbers, which no float of a canary's size is.
Counting only the at most 3·10^6 bytes that are (hashes, compressed pictures and frames): below 10^-6.
"""

from __future__ import annotations

import base64
import hashlib
import secrets
import struct
from dataclasses import dataclass, field
from datetime import date, timedelta
from functools import cached_property
from typing import Any

import numpy as np

LETTERS = "bcdfghjklmnpqrstvwxz"
_HEAD = 8  # bytes: no needle is shorter
_MIX = np.uint64(0x9E3779B97F4A7C15)
_FIRST_DAY, _DAYS = date(2300, 1, 1), 7400 * 365


def text() -> str:
    return "".join(secrets.choice(LETTERS) for _ in range(20))


def number() -> int:
    """18 digits, none of them in a row of zeros that rounding would leave."""
    return 10**17 + secrets.randbelow(9 * 10**17) // 10 * 10 + 1 + secrets.randbelow(9)


def day() -> str:
    return (_FIRST_DAY + timedelta(days=secrets.randbelow(_DAYS))).isoformat()


def _spelled(word: str) -> set[bytes]:
    """A text as other encodings, hex and base64 have it; base64 at each of the three places it can start at."""
    found = {word.encode(how) for how in ("utf-8", "utf-16-le", "utf-16-be")}
    plain = word.encode()
    found |= {plain.hex().encode()}
    for lead in range(3):
        coded = base64.b64encode(b"\0" * lead + plain)
        skip = (0, 2, 3)[lead]  # what depends on the bytes before …
        found.add(coded[skip : len(coded) - 4])  # … and after
    return found


def _hashed(word: str) -> set[bytes]:
    found: set[bytes] = set()
    for how in ("md5", "sha1", "sha256", "blake2b"):
        digest = hashlib.new(how, word.encode(), usedforsecurity=False).digest()
        found |= {digest[:16], digest.hex().encode()[:32]}
    return found


@dataclass(frozen=True)
class Canary:
    """`cell` is what stands in the table; `core` the part of it that nothing else holds."""

    name: str
    core: str
    cell: str = ""

    @cached_property
    def needles(self) -> frozenset[bytes]:
        """All lower case: what is searched is searched in lower case too."""
        words = {self.core}
        found: set[bytes] = set()
        if self.core.isdigit():
            value = int(self.core)
            words |= {f"{value:,}", f"{value:,}".replace(",", "."), f"{value:,}".replace(",", " "), f"{value:x}"}
            words.add(repr(float(value)).replace(".", "")[:15])  # 1.2345e+17 without its point
            words.add(repr(float(value)).partition("e")[0])
            for form in ("<q", ">q", "<d", ">d"):
                packed = struct.pack(form, value if "q" in form else float(value))
                found |= {packed, packed.hex().encode()}
        elif self.core[:4].isdigit():  # a day
            year, month, of_month = self.core.split("-")
            words |= {f"{of_month}.{month}.{year}", f"{of_month}/{month}/{year}", f"{month}/{of_month}/{year}"}
            words.add(f"datetime.date({year}, {int(month)}, {int(of_month)})")
            return frozenset(word.encode(how) for word in words for how in ("utf-8", "utf-16-le"))
        for word in words:
            found |= _spelled(word)
        for whole in {self.core, self.cell or self.core}:
            found |= _hashed(whole)
        return frozenset(_lower(needle) for needle in found)


def _lower(data: bytes) -> bytes:
    """ASCII capitals only, in any encoding; bytes.lower leaves all others alone."""
    return data.lower()


@dataclass
class Exit:
    """One way out: how many pieces and bytes were searched there, and what was found."""

    pieces: int = 0
    size: int = 0
    found: list[str] = field(default_factory=list)


class Scan:
    """Searches everything it is handed for every canary, and keeps the count for each exit."""

    def __init__(self, canaries: list[Canary]) -> None:
        self.canaries = canaries
        self.exits: dict[str, Exit] = {}
        self._seen: set[bytes] = set()

    def look(self, exit: str, data: Any, place: str = "") -> list[str]:
        """What was found now: the names of canaries, with the place. The same bytes are searched once."""
        raw = data if isinstance(data, bytes) else str(data).encode("utf-8", "surrogatepass")
        count = self.exits.setdefault(exit, Exit())
        count.pieces += 1
        count.size += len(raw)
        mark = hashlib.sha256(raw).digest()
        if mark in self._seen:
            return []
        low = raw.lower()
        found = [
            f"{one.name} at {place or exit}"
            for one in (self.canaries if self._begins(low) else ())
            if any(part in low for part in one.needles)
        ]
        count.found += found
        if not found:
            self._seen.add(mark)
        return found

    @cached_property
    def _beginnings(self) -> tuple[Any, Any]:
        """The first eight bytes of every needle, as sorted numbers, and which of their hashes there are."""
        heads = {int.from_bytes(part[:_HEAD], "little") for one in self.canaries for part in one.needles}
        numbers = np.array(sorted(heads), dtype=np.uint64)
        known = np.zeros(2**16, dtype=bool)
        known[(numbers * _MIX) >> np.uint64(48)] = True
        return numbers, known

    def _begins(self, low: bytes) -> bool:
        """Does any needle's beginning stand in it? In one pass; what has none has no needle."""
        numbers, known = self._beginnings
        for start in range(min(_HEAD, len(low) - _HEAD + 1)):
            here = np.frombuffer(low, dtype="<u8", count=(len(low) - start) // _HEAD, offset=start)
            here = here[known[(here * _MIX) >> np.uint64(48)]]
            if here.size and np.isin(here, numbers).any():
                return True
        return False

    @property
    def findings(self) -> list[str]:
        return [f"{exit}: {one}" for exit, count in self.exits.items() for one in count.found]
