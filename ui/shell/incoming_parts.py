"""A browser's upload as it comes over the net: one file in one part. The part's own bytes, step by step, and the same
request again with something short in the file's place."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from typing import Any

_BOUNDARY = re.compile(rb"""multipart/form-data;.*?boundary=("?)([A-Za-z0-9'()+_,./:=? -]{1,70})\1\s*(?:;|$)""", re.I)
_MOST_HEAD = 8192
_STEP = 2**20


class Unfit(Exception):
    """It is no upload of one file. `status` is what to answer."""

    def __init__(self, status: int = 400) -> None:
        super().__init__(status)
        self.status = status


class Filed:
    """`head`: the headers of the part, once they are read; `size`: how much of the file has come."""

    def __init__(self, content_type: bytes) -> None:
        found = _BOUNDARY.match(content_type)
        self._mark = None if found is None else b"--" + found[2]
        self.head = b""
        self.size = 0

    async def parts(self, receive: Any) -> AsyncIterator[bytes]:
        """The file's bytes, about a megabyte at a time."""
        if self._mark is None:
            raise Unfit
        end = b"\r\n" + self._mark + b"--"
        heard, more = b"", True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise Unfit
            heard, more = heard + message.get("body", b""), message.get("more_body", False)
            if not self.head:
                before, found, after = heard.partition(b"\r\n\r\n")
                if not found and len(heard) <= _MOST_HEAD and more:
                    continue
                if not found or len(before) > _MOST_HEAD or not before.startswith(self._mark + b"\r\n"):
                    raise Unfit
                self.head, heard = before[len(self._mark) + 2 :], after
            ready = len(heard) - len(end) - 4  # what may be the end waits
            if more and ready >= _STEP:
                self.size += ready
                yield heard[:ready]
                heard = heard[ready:]
        data, found, rest = heard.rpartition(end)
        if not found or rest.strip():
            raise Unfit
        self.size += len(data)
        if data:
            yield data

    def replaced(self, content: bytes) -> tuple[list[tuple[bytes, bytes]], bytes]:
        """Headers and body of the same request with `content` for the file."""
        assert self._mark is not None
        body = self._mark + b"\r\n" + self.head + b"\r\n\r\n" + content + b"\r\n" + self._mark + b"--\r\n"
        kind = b"multipart/form-data; boundary=" + self._mark[2:]
        return [(b"content-type", kind), (b"content-length", str(len(body)).encode())], body
