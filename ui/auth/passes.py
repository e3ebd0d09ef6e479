"""Who has signed in: a signed pass in a cookie, checked against a mark stored for each person.

A pass holds a person, an expiry time and the person's mark at sign-in, and nothing else: no name, group or provider
token, so it stays small. Signing out gives the person a new mark. All their passes, copies too, then fail at the next
message, in every process that serves this workspace. A missing mark matches no pass: passes do not survive the loss of
the folder, and no backup holds marks.
"""

from __future__ import annotations

import hmac
import re
import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from itsdangerous import BadSignature, URLSafeSerializer

from dpengine.core import files

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
        # browsers accept the `__Host-` prefix only from this host over an encrypted connection
        self.cookie = "__Host-allowance" if secure else "allowance"

    def give(self, person: str) -> bytes:
        """The cookie for a person who has just signed in."""
        value = self._sign.dumps([person, int(time.time()) + self._seconds, self._mark(person)])
        return self.header(self.cookie, str(value), self._seconds)

    def take_back(self, person: str) -> None:
        """End every pass of this person."""
        self._write(person, secrets.token_hex(16))

    def without(self) -> bytes:
        """A cookie that makes the browser delete the pass."""
        return self.header(self.cookie, "", 0)

    def of(self, cookies: Mapping[str, str]) -> Pass | None:
        """The valid pass in these cookies; None without one."""
        try:
            held = _pass(self._sign.loads(cookies.get(self.cookie, "")))
        except BadSignature:
            return None
        return held if held is not None and self.stands(held) else None

    def stands(self, given: Pass) -> bool:
        return time.time() < given.until and hmac.compare_digest(self._read(given.person), given.mark)

    def held(self, person: str) -> Pass:
        """A pass for a person whom a proxy has named."""
        return Pass(person, int(time.time()) + self._seconds, self._mark(person))

    def header(self, name: str, value: str, seconds: int) -> bytes:
        """A `Set-Cookie` value: hidden from scripts, sent to this host only, and from other sites only on a link."""
        secure = "; Secure" if self._secure else ""
        return f"{name}={value}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Lax{secure}".encode("ascii")

    # --- marks

    def _mark(self, person: str) -> str:
        mark = self._read(person)
        if mark == NOBODYS:
            self._write(person, secrets.token_hex(16), new=True)
            mark = self._read(person)
        if mark == NOBODYS:  # the file is there and holds no mark
            self.take_back(person)
            mark = self._read(person)
        return mark

    def _read(self, person: str) -> str:
        try:
            mark = self._place(person).read_text(encoding="ascii")
        except (OSError, UnicodeDecodeError):
            return NOBODYS
        return mark if _MARK.fullmatch(mark) else NOBODYS

    def _write(self, person: str, mark: str, new: bool = False) -> None:
        """Write the mark atomically. If two sign-ins write the first mark at once, the first one wins."""
        place = self._place(person)
        self._folder.mkdir(mode=0o700, exist_ok=True)
        draft = place.with_name(f".{place.name}.{secrets.token_hex(8)}")
        with files.create(draft) as target:
            target.write(mark.encode("ascii"))
        try:
            files.put_first(draft, place) if new else files.replace(draft, place)
        finally:
            draft.unlink(missing_ok=True)

    def _place(self, person: str) -> Path:
        if not _PERSON.fullmatch(person):
            raise ValueError("not a person")
        return self._folder / person


NOBODYS = ""


def _pass(value: Any) -> Pass | None:
    if not isinstance(value, list) or len(value) != 3:
        return None
    person, until, mark = value
    if not isinstance(person, str) or not _PERSON.fullmatch(person) or not isinstance(until, int):
        return None
    return Pass(person, until, mark) if isinstance(mark, str) and _MARK.fullmatch(mark) else None
