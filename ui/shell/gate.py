"""Which requests are accepted: those from this app's own pages, under one of its own origins.

An origin is a scheme, a host and a port. The app's own are the configured one (`ALLOWANCE_ORIGIN`, behind a proxy) and
the one at which the connection really arrived: this machine's usual names or its network address, with the listening
port. `Host` names the origin that a request means. A name that another site points here (DNS rebinding) is not ours. A
foreign page, even on another port of this machine, gives itself away in `Origin`. `X-Forwarded-…` headers are ignored.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import streamlit as st

from dpengine.core.errors import AllowanceError

ORIGIN = "ALLOWANCE_ORIGIN"
_PORTS = {"http": 80, "https": 443}
_HOST = re.compile(r"([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]+)?")  # a name or a number, and a port
_HERE = ("localhost", "127.0.0.1", "::1")
# Streamlit's endpoints that our pages use. The others (metrics, agent, sign-in, components) stay shut. Our own API
# exists only when people sign in; the sign-in middleware answers it before this module is asked.
_ASKED = ("health", "host-config", "stream", "upload_file")
_UPLOAD = re.compile(r"_stcore/upload_file/([^/]+)/([^/]+)")
_SHUT = ("component/", "auth/", "oauth2callback", "app/static/", "api/", "metrics")


class Origin(NamedTuple):
    scheme: str
    host: str
    port: int


def read(text: str) -> Origin | None:
    """The origin in a text as browsers write a whole origin, with or without its usual port; None for any other
    text."""
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        return None
    if parts.scheme not in _PORTS or text != f"{parts.scheme}://{parts.netloc}" or not _HOST.fullmatch(parts.netloc):
        return None
    return Origin(parts.scheme, parts.hostname or "", _PORTS[parts.scheme] if port is None else port)


def configured() -> Origin | None:
    """The configured origin, or None if none is configured; refuses a malformed one."""
    setting = os.environ.get(ORIGIN, "").strip()
    origin = read(setting.removesuffix("/"))
    if setting and origin is None:
        raise AllowanceError("gate.origin", setting=ORIGIN)
    return origin


def own_origin(scope: Mapping[str, Any], configured: Origin | None) -> Origin | None:
    """The own origin that the request's `Host` names; None if `Host` names another."""
    host = header(scope, b"host")
    if configured is not None and read(f"{configured.scheme}://{host}") == configured:
        return configured
    return next((origin for origin in _here(scope) if read(f"{origin.scheme}://{host}") == origin), None)


def foreign(scope: Mapping[str, Any], ours: Origin) -> bool:
    """Does the request come from a page of another origin? Programs and plain links send no origin."""
    return any(name.lower() == b"origin" for name, _ in scope["headers"]) and read(header(scope, b"origin")) != ours


def is_closed(path: str) -> bool:
    """Is this a Streamlit endpoint that no page of ours uses?"""
    inner = within(path)
    core = inner.removeprefix("_stcore/")
    if core == inner:  # `_stcore` further along the path tries to get around this check
        return "_stcore" in inner or inner.startswith(_SHUT)
    name = core.split("/")[0]
    return name not in _ASKED or "_stcore" in core or (name == "upload_file" and upload(path) is None)


def upload(path: str) -> tuple[str, str] | None:
    """The session and the file in an upload address, else None. Addresses are parsed only here, so every caller means
    the same file."""
    at = _UPLOAD.fullmatch(within(path))
    return (at[1], at[2]) if at is not None else None


def within(path: str) -> str:
    """A path without the proxy's folder at its beginning."""
    return path.lstrip("/").removeprefix(folder())


def folder() -> str:
    """The folder under which a proxy serves the app, with a final slash, or ""."""
    base = str(st.get_option("server.baseUrlPath") or "").strip("/")
    return f"{base}/" if base else ""


def header(scope: Mapping[str, Any], wanted: bytes) -> str:
    """The value of a header; "" if the header is missing. Repeated headers are joined, so they match no host and no
    origin."""
    values: list[bytes] = [value for name, value in scope["headers"] if name.lower() == wanted]
    return b"; ".join(values).decode("latin-1")


async def respond(send: Any, status: int, headers: Iterable[tuple[bytes, bytes]] = (), body: bytes = b"") -> None:
    """Answer a request here, without the app behind."""
    await send({"type": "http.response.start", "status": status, "headers": [*headers]})
    await send({"type": "http.response.body", "body": body})


def _here(scope: Mapping[str, Any]) -> Iterator[Origin]:
    """The origins at which this connection arrived, as the kernel reports them, not the request."""
    address, port = scope.get("server") or ("", None)
    if port is not None:
        scheme = "https" if st.get_option("server.sslCertFile") else "http"
        yield from (Origin(scheme, host, port) for host in (*_HERE, address) if host)
