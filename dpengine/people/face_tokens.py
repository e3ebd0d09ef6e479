"""What a person does about tokens, by which a program asks for them (storage/tokens.py)."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from dpengine.core.errors import AllowanceError
from dpengine.people import rights
from dpengine.people.face_people import PeopleFace
from dpengine.storage.tokens import Token

_log = logging.getLogger("allowance")


class TokenFace(PeopleFace):
    __slots__ = ()

    def new_token(
        self, name: str, tables: Sequence[str] = (), metrics: bool = False, until: str = ""
    ) -> tuple[str, Token]:
        """A token, which is shown now and never again, and what is kept of it. It covers the named tables, or all that
        the person may see; with `metrics`, only the figures about the server, and those for an administrator alone. It
        works through its last day, at most a year from now; 90 days where none is named."""
        self._check("new_token")
        for table in tables:
            self._check("table", table)
        if metrics and not self._at.may(frozenset({rights.ADMINISTRATOR})):
            raise AllowanceError("people.no_right")
        shown, made = self._at.house.token_book.make(self.person, name, tables, metrics, until)
        _log.warning("token made: %s by %s", made.id, self.person)
        return shown, made

    def tokens(self, person: str | None = None) -> list[Token]:
        """Their own tokens; for an administrator also another person's."""
        self._check("tokens")
        if person not in (None, self.person) and not self._at.may(frozenset({rights.ADMINISTRATOR})):
            raise AllowanceError("people.no_right")
        return self._at.house.token_book.of(person or self.person)

    def revoke_token(self, token: str) -> None:
        """Take back a token of their own, by its id; an administrator anybody's. It opens nothing from now on."""
        self._check("revoke_token")
        found = self._at.house.token_book.find(token)
        theirs = found is not None and found.person == self.person
        if found is None or not (theirs or self._at.may(frozenset({rights.ADMINISTRATOR}))):
            raise AllowanceError("token.unknown")
        self._at.house.token_book.revoke(token)
        _log.warning("token revoked: %s by %s", token, self.person)
