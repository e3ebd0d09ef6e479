"""What the porter asks of a way to sign in; ui/auth/login.py is one."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import httpx2
from authlib.integrations.base_client import OAuthError
from authlib.integrations.starlette_client import OAuth
from itsdangerous import BadSignature, URLSafeTimedSerializer
from starlette.requests import Request

from dpengine.core.errors import AllowanceError
from ui.auth import config
from ui.auth.config import Provider

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


# The way to an OpenID Connect provider and back, with Authlib: code flow, state, nonce and PKCE.
#
# What must be remembered on the way, and the address that somebody wanted, stands in a signed cookie of that attempt
# alone, for ten minutes: five tabs that are opened at once do not disturb each other. Of what the provider tells, the
# issuer, the subject, a name and an e-mail address are taken; groups decide only who may sign in. An address that the
# provider has not verified is not believed.

_COOKIE = "allowance_way_"
_HOST = "__Host-"  # a browser lets no other host, a sibling of ours neither, set a cookie of such a name
_MOST_AT_ONCE = 8
_LONGEST = 200  # of a name
_LONGEST_WANTED = 2000  # of an address: a longer one is not kept, and one lands on Start
_PATIENCE = 5  # seconds that a start waits for the provider
_log = logging.getLogger("allowance")


def refuse_other_issuer(provider: Provider, issuer: str) -> None:
    """Is the administrator one of this provider's? It is asked once, at the start; where it does not answer, that is
    logged and nobody is kept from starting."""
    try:
        told = str(httpx2.get(provider.metadata, timeout=_PATIENCE).raise_for_status().json()["issuer"])
    except Exception as fault:
        kind = type(fault).__name__
        _log.warning("starting: the provider does not answer (%s); administrator.issuer is not compared", kind)
        return
    config.refuse_other_issuer(issuer, told)


class OpenID:
    def __init__(self, provider: Provider, back: str, secret: str) -> None:
        self._provider, self._back = provider, back
        self._cookie = _HOST + _COOKIE if back.startswith("https:") else _COOKIE
        self._sign = URLSafeTimedSerializer(secret, salt="allowance way")
        self._client: Any = OAuth().register(
            "provider",
            server_metadata_url=provider.metadata,
            client_id=provider.client_id,
            client_secret=provider.client_secret,
            client_kwargs={"scope": provider.scopes, "code_challenge_method": "S256"},
        )

    async def begin(self, cookies: Mapping[str, str], wanted: str) -> Away:
        kept: dict[str, Any] = {}
        request = Request({"type": "http", "session": kept, "headers": [], "query_string": b"", "method": "GET"})
        try:
            sent = await self._client.authorize_redirect(request, self._back)
        except Exception as fault:
            _log.warning("signing in: the provider does not answer (%s)", type(fault).__name__)
            raise AllowanceError("porter.provider_gone") from None
        [(_, entry)] = kept.items()
        wanted = wanted if len(wanted) <= _LONGEST_WANTED else "/"
        state = next(key for key in kept).rpartition("_")[2]
        value = self._sign.dumps([entry["data"], wanted])
        others = tuple(name for name in cookies if name.startswith(self._cookie))
        stale = others if len(others) >= _MOST_AT_ONCE else ()
        return Away(sent.headers["location"], (self._name(state), str(value)), stale)

    async def end(self, scope: Mapping[str, Any], cookies: Mapping[str, str]) -> tuple[Told, str, str]:
        request = Request({**scope, "session": {}})
        state = request.query_params.get("state") or ""
        cookie = self._name(state)
        try:
            data, wanted = self._sign.loads(cookies.get(cookie, ""), max_age=TEN_MINUTES)
        except (BadSignature, ValueError):
            raise AllowanceError("porter.stale") from None
        request.session[f"_state_provider_{state}"] = {"data": data}
        try:
            metadata = await self._client.load_server_metadata()
            ours = {
                "iss": {"essential": True, "value": metadata["issuer"]},
                "aud": {"essential": True, "value": self._provider.client_id},
            }
            token = await self._client.authorize_access_token(request, claims_options=ours)
            claims = await self._claims(token)
        except OAuthError:
            _log.warning("signing in: the provider refused")
            raise AllowanceError("porter.refused") from None
        except Exception as fault:  # its words may quote a token
            _log.warning("signing in failed: %s", type(fault).__name__)
            raise AllowanceError("porter.failed") from None
        return self._told(claims), str(wanted), cookie

    async def farewell(self) -> str:
        try:
            metadata = await self._client.load_server_metadata()
        except Exception as fault:
            _log.warning("signing out: the provider does not answer (%s)", type(fault).__name__)
            return ""
        place = metadata.get("end_session_endpoint")
        return place if isinstance(place, str) else ""

    def _name(self, state: str) -> str:
        return self._cookie + hashlib.sha256(state.encode()).hexdigest()[:16]

    async def _claims(self, token: dict[str, Any]) -> dict[str, Any]:
        """What the signed token says, and what else the provider tells of the same subject."""
        claims = dict(token.get("userinfo") or {})
        wanted = {"name", "email", self._provider.group_claim} - {""}
        metadata = await self._client.load_server_metadata()
        if claims.get("sub") and not wanted <= claims.keys() and metadata.get("userinfo_endpoint"):
            more = dict(await self._client.userinfo(token=token))
            if more.get("sub") == claims["sub"]:
                claims = more | claims
        return claims

    def _told(self, claims: Mapping[str, Any]) -> Told:
        issuer, subject = claims.get("iss"), claims.get("sub")
        if not (isinstance(issuer, str) and issuer and isinstance(subject, str) and subject):
            raise AllowanceError("porter.failed")
        groups = claims.get(self._provider.group_claim, ()) if self._provider.groups else ()
        groups = [groups] if isinstance(groups, str) else groups if isinstance(groups, list) else []
        if self._provider.groups and not set(map(str, groups)) & set(self._provider.groups):
            _log.warning("signing in: not in a group that may")
            raise AllowanceError("porter.group")
        email = claims.get("email") if claims.get("email_verified", True) is True else ""
        return Told(issuer, subject, _short(claims.get("name") or claims.get("preferred_username")), _short(email))


def _short(told: object) -> str:
    """One line of signs that can be seen, or nothing."""
    return "".join(sign for sign in told if sign.isprintable())[:_LONGEST] if isinstance(told, str) else ""
