"""Who has signed in: a signed pass in a cookie, and a mark for each person in the workspace.

A pass names a person, until when it is good, and the person's mark when they signed in. It holds nothing else: no name,
no group, no token of the provider, so that it is small whatever the provider says of somebody. Signing out gives the
person a new mark, and every pass of theirs, copied ones too, is worth nothing at the next message, in every process
that serves this workspace. A mark that is missing is nobody's: passes do not outlive a folder that was lost, and marks
are in no backup.
"""

from __future__ import annotations

import hmac
import os
import re
import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from itsdangerous import BadSignature, URLSafeSerializer

FOLDER = "signed-in"
_PERSON = re.compile(r"p-[0-9a-f]{32}")
_MARK = re.compile(r"[0-9a-f]{32}")


@dataclass(frozen=True)
class Pass:
    person: str
    until: int  # seconds since 1970
    mark: str


class Passes:
    def __init__(self, secret: str, home: Path, hours: int, secure: bool) -> None:
        self._sign = URLSafeSerializer(secret, salt="allowance pass")
        self._folder = home / FOLDER
        self._seconds = hours * 60 * 60
        self._secure = secure
        # a browser lets no other host, and nothing that is not encrypted, set a cookie of such a name
        self.cookie = "__Host-allowance" if secure else "allowance"

    def give(self, person: str) -> bytes:
        """A cookie for somebody who has just signed in."""
        value = self._sign.dumps([person, int(time.time()) + self._seconds, self._mark(person)])
        return self.header(self.cookie, str(value), self._seconds)

    def take_back(self, person: str) -> None:
        """Every pass of this person is worth nothing from now on."""
        self._write(person, secrets.token_hex(16))

    def without(self) -> bytes:
        """A cookie that takes the pass from a browser."""
        return self.header(self.cookie, "", 0)

    def of(self, cookies: Mapping[str, str]) -> Pass | None:
        """The pass that these cookies hold, if it is ours and stands."""
        try:
            told = self._sign.loads(cookies.get(self.cookie, ""))
        except BadSignature:
            return None
        found = _pass(told)
        return found if found is not None and self.stands(found) else None

    def stands(self, given: Pass) -> bool:
        return time.time() < given.until and hmac.compare_digest(self._read(given.person), given.mark)

    def held(self, person: str) -> Pass:
        """For somebody whom a proxy has named: good for as long as a pass is, and until they sign out."""
        return Pass(person, int(time.time()) + self._seconds, self._mark(person))

    def header(self, name: str, value: str, seconds: int) -> bytes:
        """What sets a cookie of the porter: out of reach of scripts, sent to this very origin alone."""
        secure = "; Secure" if self._secure else ""
        return f"{name}={value}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Lax{secure}".encode("ascii")

    # --- marks

    def _mark(self, person: str) -> str:
        found = self._read(person)
        if found == NOBODYS:
            self._write(person, secrets.token_hex(16), new=True)
            found = self._read(person)
        if found == NOBODYS:  # the file is there and holds no mark
            self.take_back(person)
            found = self._read(person)
        return found

    def _read(self, person: str) -> str:
        try:
            found = self._place(person).read_text(encoding="ascii")
        except (OSError, UnicodeDecodeError):
            return NOBODYS
        return found if _MARK.fullmatch(found) else NOBODYS

    def _write(self, person: str, mark: str, new: bool = False) -> None:
        """Whole or not at all; of two who make the first mark at once, both get the same."""
        place = self._place(person)
        self._folder.mkdir(mode=0o700, exist_ok=True)
        draft = place.with_name(f".{place.name}.{secrets.token_hex(8)}")
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "w") as target:
            target.write(mark)
        try:
            if new:
                os.link(draft, place)
            else:
                os.replace(draft, place)
        except FileExistsError:
            pass
        finally:
            draft.unlink(missing_ok=True)

    def _place(self, person: str) -> Path:
        if not _PERSON.fullmatch(person):
            raise ValueError("not a person")
        return self._folder / person


NOBODYS = ""


def _pass(told: Any) -> Pass | None:
    if not isinstance(told, list) or len(told) != 3:
        return None
    person, until, mark = told
    if not isinstance(person, str) or not _PERSON.fullmatch(person) or not isinstance(until, int):
        return None
    return Pass(person, until, mark) if isinstance(mark, str) and _MARK.fullmatch(mark) else None
