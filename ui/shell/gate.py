"""Which requests are accepted: those of this app's own pages, under one of its own addresses.

An address is a whole origin: scheme, host and port. The app's own are the one it was told (`ALLOWANCE_ORIGIN`, where a
proxy stands in front) and the one a connection really came in at: this machine by its usual names, or the number of
the network address, with the port that is listened on. A request says in `Host` which of them it means. A name that
another site points here (DNS rebinding) is none of them, and a page elsewhere, be it on another port of this machine,
says in `Origin` that it is not this app. What a proxy or anybody writes into `X-Forwarded-…` is not read.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import streamlit as st

from dpengine.core.errors import AllowanceError

ORIGIN = "ALLOWANCE_ORIGIN"
_PORTS = {"http": 80, "https": 443}
_HOST = re.compile(r"([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]+)?")  # a name or a number, and a port
_HERE = ("localhost", "127.0.0.1", "::1")
# Of what Streamlit answers beside pages and their files, this is what a page asks for. The rest tells about the server
# (metrics), drives the app for programs (agent), signs people in or serves components: nothing here uses any of it.
# Doors for programs are where people sign in alone, and the porter answers for them before anybody asks here.
_ASKED = ("health", "host-config", "stream", "upload_file")
_UPLOAD = re.compile(r"_stcore/upload_file/([^/]+)/([^/]+)")
_SHUT = ("component/", "auth/", "oauth2callback", "app/static/", "api/", "metrics")


class Origin(NamedTuple):
    scheme: str
    host: str
    port: int


def read(told: str) -> Origin | None:
    """A whole origin as browsers write it, with or without its usual port; None for anything else."""
    try:
        parts = urlsplit(told)
        port = parts.port
    except ValueError:
        return None
    if parts.scheme not in _PORTS or told != f"{parts.scheme}://{parts.netloc}" or not _HOST.fullmatch(parts.netloc):
        return None
    return Origin(parts.scheme, parts.hostname or "", _PORTS[parts.scheme] if port is None else port)


def configured() -> Origin | None:
    """The address that whoever runs the app gave it; a sentence where it is none."""
    told = os.environ.get(ORIGIN, "").strip()
    found = read(told.removesuffix("/"))
    if told and found is None:
        raise AllowanceError("gate.origin", setting=ORIGIN)
    return found


def meant(scope: Mapping[str, Any], told: Origin | None) -> Origin | None:
    """Which of the app's own addresses a request came to, by what it says in `Host`; None for any other."""
    host = header(scope, b"host")
    if told is not None and read(f"{told.scheme}://{host}") == told:
        return told
    return next((one for one in _here(scope) if read(f"{one.scheme}://{host}") == one), None)


def foreign(scope: Mapping[str, Any], ours: Origin) -> bool:
    """Does a page of another origin ask? Programs and plain links send none."""
    return any(name.lower() == b"origin" for name, _ in scope["headers"]) and read(header(scope, b"origin")) != ours


def shut(path: str) -> bool:
    """Is this answered by Streamlit and asked for by no page?"""
    inner = within(path)
    core = inner.removeprefix("_stcore/")
    if core == inner:  # whoever writes that name further on looks for a way around those who know it at its place
        return "_stcore" in inner or inner.startswith(_SHUT)
    name = core.split("/")[0]
    return name not in _ASKED or "_stcore" in core or (name == "upload_file" and upload(path) is None)


def upload(path: str) -> tuple[str, str] | None:
    """The session and the file that an address of an upload names; nothing for any other address. The one reading of
    it: whoever lets a file pass and whoever takes it must mean the same."""
    at = _UPLOAD.fullmatch(within(path))
    return (at[1], at[2]) if at is not None else None


def within(path: str) -> str:
    """A path without the folder that a proxy may serve the app under."""
    return path.lstrip("/").removeprefix(folder())


def folder() -> str:
    """The folder that a proxy serves the app under, with a stroke at its end; nothing where there is none."""
    base = str(st.get_option("server.baseUrlPath") or "").strip("/")
    return f"{base}/" if base else ""


def header(scope: Mapping[str, Any], wanted: bytes) -> str:
    """One header's value; one that is given twice is joined, and so is no host and no origin."""
    found: list[bytes] = [value for name, value in scope["headers"] if name.lower() == wanted]
    return b"; ".join(found).decode("latin-1")


def _here(scope: Mapping[str, Any]) -> Iterator[Origin]:
    """The address at which this connection arrived, as the kernel reports it, not the request."""
    address, port = scope.get("server") or ("", None)
    if port is not None:
        scheme = "https" if st.get_option("server.sslCertFile") else "http"
        yield from (Origin(scheme, host, port) for host in (*_HERE, address) if host)
