"""How a served app ends: a question that is under way is answered and stored first.

It was charged before it was drawn, so one that is cut off stays paid for and unanswered. The web server itself ends the
process at once after a signal, without waiting for threads; so its last act is to wait for them. What waits in the
queue is dropped: nothing was charged for it. On a laptop Ctrl-C ends everything at once, as ever.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from dpengine.workspace import finish_releases
from ui.shell import person

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
