"""How the app is served to several people who sign in: one file, named by `ALLOWANCE_SERVE` (docs/serving.md; an
example is deploy/serve.example.toml). Without it the app is one person's, and nothing here is used.

People come by one of two ways: an OpenID Connect provider, to which a browser is sent to sign in, or a proxy that has
asked them already and says in a header who they are. What the file must hold is checked before the server starts, and
whatever is wrong is one sentence, which never quotes a secret.
"""

from __future__ import annotations

import os
import re
import stat
import tomllib
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from dpengine.core.errors import AllowanceError
from dpengine.declared.source import split_lake
from ui.shell import gate, workshop_state

SERVE = "ALLOWANCE_SERVE"
FORWARDED = "FORWARDED_ALLOW_IPS"  # uvicorn's: whose word it takes for where a connection came from
LEAST_SECRET = 32  # signs
MOST_HOURS = 24
_LONGEST = 200  # signs that are quoted
_HERE = ("localhost", "127.0.0.1", "::1")
_HOST = re.compile(r"([0-9a-z._-]+|\[[0-9a-f:.]+\])(:[0-9]{1,5})?", re.IGNORECASE)


@dataclass(frozen=True)
class Provider:
    metadata: str
    client_id: str
    client_secret: str
    scopes: str
    group_claim: str
    groups: tuple[str, ...]  # whoever is in one of them may sign in; none named: everybody whom the provider knows


@dataclass(frozen=True)
class Proxy:
    header: str
    name_header: str
    email_header: str
    sources: tuple[IPv4Network | IPv6Network, ...]
    issuer: str
    sign_out: str

    def believed(self, client: Any) -> bool:
        """Did the connection come from one of the addresses that are named?"""
        try:
            address = ip_address(client[0])
        except (TypeError, IndexError, ValueError):
            return False
        mapped = getattr(address, "ipv4_mapped", None)
        return any((mapped or address) in source for source in self.sources)


@dataclass(frozen=True)
class Served:
    address: str  # https://data.example.org
    origin: gate.Origin
    cookie_secret: str
    hours: int
    administrator: tuple[str, str]
    provider: Provider | None
    proxy: Proxy | None
    databases: tuple[str, ...] = ()  # hosts that tables may come from, and lakes


_KNOWN = {
    "": {"origin", "cookie_secret", "session_hours", "administrator", "provider", "proxy", "databases"},
    "administrator": {"issuer", "subject"},
    "provider": {"metadata", "client_id", "client_secret", "scopes", "group_claim", "groups"},
    "proxy": {"header", "name_header", "email_header", "from", "issuer", "sign_out"},
}


def configured() -> Served | None:
    """What the file says; None where none is named. A sentence where it cannot be served so."""
    place = os.environ.get(SERVE, "").strip()
    if not place:
        return None
    if workshop_state.on():
        raise AllowanceError("serve.workshop", setting=SERVE)
    served = read(Path(place))
    other = gate.configured()
    if other is not None and other != served.origin:
        raise AllowanceError("serve.two_origins", setting=gate.ORIGIN)
    if served.proxy is not None and os.environ.get(FORWARDED) != "":
        raise AllowanceError("serve.forwarded", setting=FORWARDED)
    return served


def read(path: Path) -> Served:
    try:
        mode = path.stat().st_mode
        if stat.S_IMODE(mode) & 0o077:
            raise AllowanceError("serve.file_open", place=str(path))
        told = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError):
        raise AllowanceError("serve.file_missing", place=str(path), setting=SERVE) from None
    except tomllib.TOMLDecodeError:  # its own words quote the line, which may be a secret
        raise AllowanceError("serve.file_toml", place=str(path)) from None
    for part, known in _KNOWN.items():
        given = told.get(part, {}) if part else told
        if not isinstance(given, dict):
            raise AllowanceError("serve.section", key=part)
        for key in given.keys() - known:
            raise AllowanceError("serve.unknown", key=f"{part}.{key}".strip(".")[:80])
    if ("provider" in told) == ("proxy" in told):
        raise AllowanceError("serve.one_way")
    return _served(told)


def _served(told: dict[str, Any]) -> Served:
    address = _text(told, "origin").removesuffix("/")
    origin = gate.read(address)
    if origin is None or not _safe(address):
        raise AllowanceError("serve.origin")
    hours = told.get("session_hours", 8)
    if not isinstance(hours, int) or isinstance(hours, bool) or not 1 <= hours <= MOST_HOURS:
        raise AllowanceError("serve.hours", most=MOST_HOURS)
    secret = _text(told, "cookie_secret")
    if len(secret) < LEAST_SECRET or len(set(secret)) < 10:
        raise AllowanceError("serve.secret", least=LEAST_SECRET)
    administrator = _text(told, "administrator.issuer"), _text(told, "administrator.subject")
    provider, proxy = _provider(told), _proxy(told)
    if proxy is not None:  # what a provider calls itself is compared at the start (ui/auth/login.py)
        refuse_other_issuer(administrator[0], proxy.issuer)
    databases = _list(told, "databases", [])
    if not all(_HOST.fullmatch(one) or split_lake(one)[0] for one in databases):
        raise AllowanceError("serve.databases")
    return Served(address, origin, secret, hours, administrator, provider, proxy, databases)


def refuse_other_issuer(issuer: str, told: str) -> None:
    """A person is an issuer and a subject: under another issuer the administrator would be nobody who ever comes."""
    if issuer != told:
        raise AllowanceError("serve.issuer", issuer=issuer, told=told[:_LONGEST])


def _provider(told: dict[str, Any]) -> Provider | None:
    if "provider" not in told:
        return None
    metadata = _text(told, "provider.metadata")
    if not _safe(metadata):
        raise AllowanceError("serve.metadata")
    scopes = _text(told, "provider.scopes", "openid email profile")
    if "openid" not in scopes.split():
        raise AllowanceError("serve.scopes")
    claim, groups = _text(told, "provider.group_claim", ""), _list(told, "provider.groups", [])
    if bool(claim) != bool(groups):
        raise AllowanceError("serve.groups")
    return Provider(
        metadata, _text(told, "provider.client_id"), _text(told, "provider.client_secret"), scopes, claim, groups
    )


def _proxy(told: dict[str, Any]) -> Proxy | None:
    if "proxy" not in told:
        return None
    try:
        sources = tuple(ip_network(one) for one in _list(told, "proxy.from"))
    except ValueError:
        raise AllowanceError("serve.sources") from None
    if not sources:
        raise AllowanceError("serve.sources")
    names = [_text(told, f"proxy.{key}", *fallback) for key, *fallback in _PROXY_TEXTS]
    header, name_header, email_header, issuer, sign_out = names
    if sign_out and not _safe(sign_out):
        raise AllowanceError("serve.sign_out")
    return Proxy(header.lower(), name_header.lower(), email_header.lower(), sources, issuer, sign_out)


_PROXY_TEXTS = (("header",), ("name_header", ""), ("email_header", ""), ("issuer", "proxy"), ("sign_out", ""))


def _text(told: dict[str, Any], key: str, *otherwise: str) -> str:
    found = _found(told, key, *otherwise)
    if not isinstance(found, str) or (not found.strip() and not otherwise) or not found.isprintable():
        raise AllowanceError("serve.text", key=key)
    return found.strip()


def _list(told: dict[str, Any], key: str, *otherwise: list[str]) -> tuple[str, ...]:
    found = _found(told, key, *otherwise)
    if not isinstance(found, list) or not all(isinstance(one, str) and one for one in found):
        raise AllowanceError("serve.list", key=key)
    return tuple(found)


def _found(told: dict[str, Any], key: str, *otherwise: Any) -> Any:
    part, _, name = key.rpartition(".")
    given = told.get(part, {}) if part else told
    if name not in given and not otherwise:
        raise AllowanceError("serve.text", key=key)
    return given.get(name, *otherwise)


def _safe(address: str) -> bool:
    """https, or this very machine for trying."""
    try:
        parts = urlsplit(address)
        return parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in _HERE)
    except ValueError:
        return False
