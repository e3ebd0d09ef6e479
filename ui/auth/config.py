"""The settings for serving several people who sign in. `ALLOWANCE_SERVE` names the file (docs/serving.md; an example is
deploy/serve.example.toml). Without it the app serves one person, and nothing here is used.

People sign in at an OpenID Connect provider, or a proxy has signed them in and names them in a header. The file is
checked before the server starts. A mistake gets one sentence, which never quotes a secret.
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
from ui.shell import gate, workshop_state

SERVE = "ALLOWANCE_SERVE"
FORWARDED = "FORWARDED_ALLOW_IPS"  # uvicorn's: proxies that may name the client's address
LEAST_SECRET = 32  # characters
MOST_HOURS = 24
_LONGEST = 200  # characters quoted in a message
_HERE = ("localhost", "127.0.0.1", "::1")
_HOST = re.compile(r"([0-9a-z._-]+|\[[0-9a-f:.]+\])(:[0-9]{1,5})?", re.IGNORECASE)


@dataclass(frozen=True)
class Provider:
    metadata: str
    client_id: str
    client_secret: str
    scopes: str
    group_claim: str
    groups: tuple[str, ...]  # members of any of them may sign in; empty: everybody at the provider


@dataclass(frozen=True)
class Proxy:
    header: str
    name_header: str
    email_header: str
    sources: tuple[IPv4Network | IPv6Network, ...]
    issuer: str
    sign_out: str

    def believed(self, client: Any) -> bool:
        """Did the connection come from one of the proxy's configured addresses?"""
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
    databases: tuple[str, ...] = ()  # database hosts and lakes that tables may come from


_KNOWN = {
    "": {"origin", "cookie_secret", "session_hours", "administrator", "provider", "proxy", "databases"},
    "administrator": {"issuer", "subject"},
    "provider": {"metadata", "client_id", "client_secret", "scopes", "group_claim", "groups"},
    "proxy": {"header", "name_header", "email_header", "from", "issuer", "sign_out"},
}


def configured() -> Served | None:
    """The settings, or None if no file is named. Settings that cannot work raise an error."""
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
        settings = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError):
        raise AllowanceError("serve.file_missing", place=str(path), setting=SERVE) from None
    except tomllib.TOMLDecodeError:  # the parser's message quotes the line, which may be a secret
        raise AllowanceError("serve.file_toml", place=str(path)) from None
    for section, known in _KNOWN.items():
        given = settings.get(section, {}) if section else settings
        if not isinstance(given, dict):
            raise AllowanceError("serve.section", key=section)
        for key in given.keys() - known:
            raise AllowanceError("serve.unknown", key=f"{section}.{key}".strip(".")[:80])
    if ("provider" in settings) == ("proxy" in settings):
        raise AllowanceError("serve.one_way")
    return _served(settings)


def _served(settings: dict[str, Any]) -> Served:
    address = _text(settings, "origin").removesuffix("/")
    origin = gate.read(address)
    if origin is None or not _safe(address):
        raise AllowanceError("serve.origin")
    hours = settings.get("session_hours", 8)
    if not isinstance(hours, int) or isinstance(hours, bool) or not 1 <= hours <= MOST_HOURS:
        raise AllowanceError("serve.hours", most=MOST_HOURS)
    secret = _text(settings, "cookie_secret")
    if len(secret) < LEAST_SECRET or len(set(secret)) < 10:
        raise AllowanceError("serve.secret", least=LEAST_SECRET)
    administrator = _text(settings, "administrator.issuer"), _text(settings, "administrator.subject")
    provider, proxy = _provider(settings), _proxy(settings)
    if proxy is not None:  # a provider's issuer is compared when the server starts (ui/auth/login.py)
        refuse_other_issuer(administrator[0], proxy.issuer)
    from dpengine.declared.source import split_lake

    databases = _list(settings, "databases", [])
    if not all(_HOST.fullmatch(host) or split_lake(host)[0] for host in databases):
        raise AllowanceError("serve.databases")
    return Served(address, origin, secret, hours, administrator, provider, proxy, databases)


def refuse_other_issuer(issuer: str, reported: str) -> None:
    """Refuse a configured issuer that is not the one the provider reports. A person is an issuer and a subject, so
    under another issuer the administrator could never sign in."""
    if issuer != reported:
        raise AllowanceError("serve.issuer", issuer=issuer, reported=reported[:_LONGEST])


def _provider(settings: dict[str, Any]) -> Provider | None:
    if "provider" not in settings:
        return None
    metadata = _text(settings, "provider.metadata")
    if not _safe(metadata):
        raise AllowanceError("serve.metadata")
    scopes = _text(settings, "provider.scopes", "openid email profile")
    if "openid" not in scopes.split():
        raise AllowanceError("serve.scopes")
    claim, groups = _text(settings, "provider.group_claim", ""), _list(settings, "provider.groups", [])
    if bool(claim) != bool(groups):
        raise AllowanceError("serve.groups")
    client = _text(settings, "provider.client_id"), _text(settings, "provider.client_secret")
    return Provider(metadata, *client, scopes, claim, groups)


def _proxy(settings: dict[str, Any]) -> Proxy | None:
    if "proxy" not in settings:
        return None
    try:
        sources = tuple(ip_network(network) for network in _list(settings, "proxy.from"))
    except ValueError:
        raise AllowanceError("serve.sources") from None
    if not sources:
        raise AllowanceError("serve.sources")
    names = [_text(settings, f"proxy.{key}", *fallback) for key, *fallback in _PROXY_TEXTS]
    header, name_header, email_header, issuer, sign_out = names
    if sign_out and not _safe(sign_out):
        raise AllowanceError("serve.sign_out")
    return Proxy(header.lower(), name_header.lower(), email_header.lower(), sources, issuer, sign_out)


_PROXY_TEXTS = (("header",), ("name_header", ""), ("email_header", ""), ("issuer", "proxy"), ("sign_out", ""))


def _text(settings: dict[str, Any], key: str, *default: str) -> str:
    value = _value(settings, key, *default)
    if not isinstance(value, str) or (not value.strip() and not default) or not value.isprintable():
        raise AllowanceError("serve.text", key=key)
    return value.strip()


def _list(settings: dict[str, Any], key: str, *default: list[str]) -> tuple[str, ...]:
    value = _value(settings, key, *default)
    if not isinstance(value, list) or not all(isinstance(item, str) and item for item in value):
        raise AllowanceError("serve.list", key=key)
    return tuple(value)


def _value(settings: dict[str, Any], key: str, *default: Any) -> Any:
    section, _, name = key.rpartition(".")
    given = settings.get(section, {}) if section else settings
    if name not in given and not default:
        raise AllowanceError("serve.text", key=key)
    return given.get(name, *default)


def _safe(address: str) -> bool:
    """Is the address https, or http on this machine (to try the app out)?"""
    try:
        parts = urlsplit(address)
        return parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in _HERE)
    except ValueError:
        return False
