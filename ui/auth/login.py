"""Signing in at an OpenID Connect provider with Authlib: code flow, state, nonce and PKCE.

Each attempt keeps its state and the wanted address in its own signed cookie for ten minutes, so several tabs can sign
in at once. From the provider we take the issuer, the subject, a name and an e-mail address. Groups only decide who may
sign in. An unverified e-mail address is dropped.
"""

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
class Identity:
    issuer: str
    subject: str
    name: str
    email: str


@dataclass(frozen=True)
class Redirect:
    """Where to send the browser, the cookie it must bring back, and old cookies it may drop."""

    location: str
    cookie: tuple[str, str]
    stale: tuple[str, ...]


class LoginProtocol(Protocol):
    async def begin(self, cookies: Mapping[str, str], wanted: str) -> Redirect:
        """The redirect to the provider, which sends the browser back to the wanted address."""

    async def end(self, scope: Mapping[str, Any], cookies: Mapping[str, str]) -> tuple[Identity, str, str]:
        """Who signed in, the address that the person wanted, and the name of this attempt's cookie, now used up."""

    async def farewell(self) -> str:
        """The address at which a person signs out at the provider, or ""."""


_COOKIE = "allowance_login_"
_HOST = "__Host-"  # browsers let no other host, not even a sibling, set a cookie with this prefix
_MOST_AT_ONCE = 8
_LONGEST = 200  # characters of a name
_LONGEST_WANTED = 2000  # a longer address is dropped, and the person lands on Start
_PATIENCE = 5  # seconds to wait for the provider when the server starts
_log = logging.getLogger("allowance")


def refuse_other_issuer(provider: Provider, issuer: str) -> None:
    """Refuse an issuer that is not the provider's own, once at the start. If the provider does not answer, log that and
    go on."""
    try:
        reported = str(httpx2.get(provider.metadata, timeout=_PATIENCE).raise_for_status().json()["issuer"])
    except Exception as error:
        kind = type(error).__name__
        _log.warning("starting: the provider does not answer (%s); administrator.issuer is not compared", kind)
        return
    config.refuse_other_issuer(issuer, reported)


class OpenID:
    def __init__(self, provider: Provider, back: str, secret: str) -> None:
        self._provider, self._back = provider, back
        self._cookie = _HOST + _COOKIE if back.startswith("https:") else _COOKIE
        self._sign = URLSafeTimedSerializer(secret, salt="allowance way")
        given = {"client_id": provider.client_id, "client_secret": provider.client_secret}
        scope = {"scope": provider.scopes, "code_challenge_method": "S256"}
        where = provider.metadata
        self._client: Any = OAuth().register("provider", server_metadata_url=where, client_kwargs=scope, **given)

    async def begin(self, cookies: Mapping[str, str], wanted: str) -> Redirect:
        session: dict[str, Any] = {}
        request = Request({"type": "http", "session": session, "headers": [], "query_string": b"", "method": "GET"})
        try:
            response = await self._client.authorize_redirect(request, self._back)
        except Exception as error:
            _log.warning("signing in: the provider does not answer (%s)", type(error).__name__)
            raise AllowanceError("porter.provider_gone") from None
        [(key, entry)] = session.items()
        state = key.rpartition("_")[2]
        value = self._sign.dumps([entry["data"], wanted if len(wanted) <= _LONGEST_WANTED else "/"])
        others = tuple(name for name in cookies if name.startswith(self._cookie))
        stale = others if len(others) >= _MOST_AT_ONCE else ()
        return Redirect(response.headers["location"], (self._name(state), str(value)), stale)

    async def end(self, scope: Mapping[str, Any], cookies: Mapping[str, str]) -> tuple[Identity, str, str]:
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
        except Exception as error:  # its message may quote a token
            _log.warning("signing in failed: %s", type(error).__name__)
            raise AllowanceError("porter.failed") from None
        return self._identity(claims), str(wanted), cookie

    async def farewell(self) -> str:
        try:
            metadata = await self._client.load_server_metadata()
        except Exception as error:
            _log.warning("signing out: the provider does not answer (%s)", type(error).__name__)
            return ""
        place = metadata.get("end_session_endpoint")
        return place if isinstance(place, str) else ""

    def _name(self, state: str) -> str:
        return self._cookie + hashlib.sha256(state.encode()).hexdigest()[:16]

    async def _claims(self, token: dict[str, Any]) -> dict[str, Any]:
        """The signed token's claims, completed from the userinfo endpoint for the same subject."""
        claims = dict(token.get("userinfo") or {})
        wanted = {"name", "email", self._provider.group_claim} - {""}
        metadata = await self._client.load_server_metadata()
        if claims.get("sub") and not wanted <= claims.keys() and metadata.get("userinfo_endpoint"):
            more = dict(await self._client.userinfo(token=token))
            if more.get("sub") == claims["sub"]:
                claims = more | claims
        return claims

    def _identity(self, claims: Mapping[str, Any]) -> Identity:
        issuer, subject = claims.get("iss"), claims.get("sub")
        if not (isinstance(issuer, str) and issuer and isinstance(subject, str) and subject):
            raise AllowanceError("porter.failed")
        groups = claims.get(self._provider.group_claim, ()) if self._provider.groups else ()
        groups = [groups] if isinstance(groups, str) else groups if isinstance(groups, list) else []
        if self._provider.groups and not set(map(str, groups)) & set(self._provider.groups):
            _log.warning("signing in: not in a group that may")
            raise AllowanceError("porter.group")
        email = claims.get("email") if claims.get("email_verified", True) is True else ""
        return Identity(issuer, subject, _short(claims.get("name") or claims.get("preferred_username")), _short(email))


def _short(text: object) -> str:
    """The printable characters of a text, up to a limit; "" for anything but text."""
    return "".join(letter for letter in text if letter.isprintable())[:_LONGEST] if isinstance(text, str) else ""
