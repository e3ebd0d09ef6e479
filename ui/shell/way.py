"""What the porter asks of a way to sign in; ui/shell/provider.py is one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

TEN_MINUTES = 600


@dataclass(frozen=True)
class Told:
    """What a provider says of somebody who may come in."""

    issuer: str
    subject: str
    name: str
    email: str


@dataclass(frozen=True)
class Away:
    """Where to send a browser, and the cookie that it must bring back; cookies of earlier attempts that it may drop."""

    location: str
    cookie: tuple[str, str]
    stale: tuple[str, ...]


class Way(Protocol):
    async def begin(self, cookies: Mapping[str, str], wanted: str) -> Away:
        """To the provider, to come back to the wanted address."""

    async def end(self, scope: Mapping[str, Any], cookies: Mapping[str, str]) -> tuple[Told, str, str]:
        """Who came back, where they wanted to go, and the cookie of this attempt, which is used up."""

    async def farewell(self) -> str:
        """Where the provider itself signs somebody out; nothing where it has no such place."""
