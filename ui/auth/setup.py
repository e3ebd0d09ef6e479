"""Sets up sign-in when the app is served to several people. On a laptop this does nothing.

This file also decides how a served app stops. A question is charged before its answer is drawn, so a question that is
cut off would be paid for and unanswered. The web server ends the process right after a signal, without waiting for
threads. So the server's last act here is to wait for running questions. Queued ones are dropped: nothing was charged
for them. On a laptop Ctrl-C stops everything at once.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from contextvars import Context
from typing import Any

from starlette.middleware import Middleware

import dpengine as dp
from dpengine.core import places
from ui.auth import config
from ui.shell import downloads, gate, person, speed


class WorkspacePeople:
    """The people of this workspace. Rights are read from the ledger each time."""

    def known(self, issuer: str, subject: str, name: str, email: str) -> str:
        return _workspace().person(issuer, subject, name, email)

    def welcome(self, who: str) -> bool:
        return _workspace().as_person(who).may("tables")

    def has_right(self, who: str) -> bool:
        return _workspace().as_person(who).may("verify_ledger")


def auth_middleware() -> list[Middleware]:
    """The sign-in middleware in a list, which is empty if nobody signs in. Settings that cannot work end the program
    with one sentence."""
    try:
        served = config.configured()
        return [] if served is None else [_build(served)]
    except dp.AllowanceError as error:
        sys.exit(str(error))


def _build(served: config.Served) -> Middleware:
    from ui.api.app import BASE as API
    from ui.api.app import ApiApp
    from ui.api.http import ASGIApp
    from ui.api.metrics import PATH, MetricsApp

    try:
        from ui.auth.login import OpenID, refuse_other_issuer
        from ui.auth.middleware import BACK, AuthMiddleware
        from ui.auth.passes import Passes
    except ModuleNotFoundError:
        raise dp.AllowanceError("serve.requirements") from None
    if served.provider is not None:
        refuse_other_issuer(served.provider, served.administrator[0])
    os.environ[gate.ORIGIN] = served.address
    person.serve()
    downloads.here.watch()
    space = _workspace()
    space.databases = served.databases
    space.name_administrator(space.person(*served.administrator))  # no effect if already named
    passes = Passes(served.cookie_secret, places.home(), served.hours, served.origin.scheme == "https")
    back = f"{served.address}/{gate.folder()}{BACK}"
    login = OpenID(served.provider, back, served.cookie_secret) if served.provider is not None else None
    doors: dict[str, ASGIApp] = {API: ApiApp(_workspace), PATH: MetricsApp(_workspace)}
    return Middleware(AuthMiddleware, served=served, passes=passes, people=WorkspacePeople(), login=login, doors=doors)


def _workspace() -> dp.Workspace:
    return dp.open_workspace(places.home())


Lifespan = Callable[[Any], Any]


def finishing(inner: Lifespan) -> Lifespan:
    """The given lifespan, extended: when it ends, it waits for running questions."""

    @asynccontextmanager
    async def lifespan(app: Any) -> AsyncIterator[None]:
        wake_seldom(asyncio.get_running_loop())
        speed.lighten()
        async with inner(app):
            try:
                yield
            finally:
                if person.served():
                    from dpengine.workspace import finish_releases

                    await asyncio.to_thread(finish_releases)

    return lifespan


_FETCH = 0.004  # seconds


def wake_seldom(loop: asyncio.AbstractEventLoop) -> None:
    """Wake the server's loop for the first of what other threads hand to it; the loop fetches the rest by itself, every
    few milliseconds. A page hands over some ninety parts. Streamlit would wake the loop for each; then the page's
    thread stands back, and on a busy server waits ninety times for its next turn."""
    waiting: deque[asyncio.Handle] = deque()
    lock, wake = threading.Lock(), loop.call_soon_threadsafe
    awake = False

    def work() -> None:
        nonlocal awake
        with lock:
            handed = list(waiting)
            waiting.clear()
            awake = bool(handed)
        if handed:
            loop.call_later(_FETCH, work)
        for handle in handed:
            if not handle.cancelled():
                handle._run()  # as the loop itself does: in its own context, with its own handler of errors

    def soon(callback: Callable[..., object], *args: Any, context: Context | None = None) -> asyncio.Handle:
        nonlocal awake
        handle = asyncio.Handle(callback, args, loop, context)
        with lock:
            waiting.append(handle)
            asleep, awake = not awake, True
        if asleep:
            wake(work)
        return handle

    loop.call_soon_threadsafe = soon  # type: ignore[method-assign, assignment]
