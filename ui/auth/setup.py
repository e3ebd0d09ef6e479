"""Puts the porter before the app where a configuration says that people sign in; nothing on a laptop."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from starlette.middleware import Middleware

import dpengine as dp
from dpengine.core.errors import AllowanceError
from dpengine.workspace import finish_releases
from ui.api.app import BASE as API
from ui.api.app import Door
from ui.api.metrics import PATH, FiguresDoor
from ui.auth import config
from ui.shell import downloads, gate, person
from ui.shell.state import home
from ui.shell.web import ASGIApp


class Registered:
    """The people of this workspace, as the porter asks for them. Rights are read from the ledger each time."""

    def known(self, issuer: str, subject: str, name: str, email: str) -> str:
        return dp.open_workspace(home()).person(issuer, subject, name, email)

    def welcome(self, who: str) -> bool:
        return dp.open_workspace(home()).as_person(who).may("tables")

    def has_right(self, who: str) -> bool:
        return dp.open_workspace(home()).as_person(who).may("verify_ledger")


def porter() -> list[Middleware]:
    """A configuration that cannot be served ends the program with one sentence."""
    try:
        told = config.configured()
        return [] if told is None else [_porter(told)]
    except AllowanceError as complaint:
        sys.exit(str(complaint))


def _porter(told: config.Served) -> Middleware:
    try:
        from ui.auth.login import OpenID, refuse_other_issuer
        from ui.auth.middleware import BACK, Porter
        from ui.auth.passes import Passes
    except ModuleNotFoundError:
        raise AllowanceError("serve.requirements") from None
    if told.provider is not None:
        refuse_other_issuer(told.provider, told.administrator[0])
    os.environ[gate.ORIGIN] = told.address
    person.serve()
    downloads.here.watch()
    space = dp.open_workspace(home())
    space.databases = told.databases
    space.name_administrator(space.person(*told.administrator))  # does nothing where it is so already
    passes = Passes(told.cookie_secret, home(), told.hours, told.origin.scheme == "https")
    back = f"{told.address}/{gate.folder()}{BACK}"
    way = OpenID(told.provider, back, told.cookie_secret) if told.provider is not None else None
    doors: dict[str, ASGIApp] = {API: Door(_workspace), PATH: FiguresDoor(_workspace)}
    return Middleware(Porter, served=told, passes=passes, people=Registered(), way=way, doors=doors)


def _workspace() -> dp.Workspace:
    return dp.open_workspace(home())


# How a served app ends: a question that is under way is answered and stored first.
#
# It was charged before it was drawn, so one that is cut off stays paid for and unanswered. The web server itself ends
# the process at once after a signal, without waiting for threads; so its last act is to wait for them. What waits in
# the queue is dropped: nothing was charged for it. On a laptop Ctrl-C ends everything at once, as ever.

Lifespan = Callable[[Any], Any]


def finishing(inner: Lifespan) -> Lifespan:
    """The same lifespan, and at its end nothing is cut off."""

    @asynccontextmanager
    async def span(app: Any) -> AsyncIterator[None]:
        async with inner(app):
            try:
                yield
            finally:
                if person.served():
                    await asyncio.to_thread(finish_releases)

    return span
