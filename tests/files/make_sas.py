"""Writes a .sas7bdat file byte by byte: no pinned library writes them. Made-up cells, ours to give away.

SAS does not publish the format; this follows what its readers look for (32 bits, little-endian, UTF-8, not packed): a
header, one page of subheaders (row size, column size, texts, names, attributes, formats) and pages of rows.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from datetime import date
from pathlib import Path

HEAD, PAGE, BEFORE = 1024, 1 << 18, 24
_MAGIC = bytes(12) + bytes.fromhex("c2ea8160b31411cfbd92080009c7318c181f1011")
_BEGINS = date(1960, 1, 1)
_MISSING = bytes.fromhex("000000000000feff")  # the NaN that SAS writes for a point
Cell = str | float | date | None


class _Texts:
    """All texts of the page in one block; a reference is its number, the place in it, and the length."""

    def __init__(self) -> None:
        self.block = bytearray(bytes(16))

    def ref(self, text: str) -> bytes:
        data = text.encode()
        at = len(self.block)
        self.block += data + bytes(-len(data) % 4)
        return struct.pack("<HHH", 0, at, len(data)) if data else bytes(6)

    def subheader(self) -> bytes:
        struct.pack_into("<H", self.block, 0, len(self.block) + 4 - 12)
        return struct.pack("<I", 0xFFFFFFFD) + bytes(self.block)


def _listed(sign: int, entries: list[bytes]) -> bytes:
    body = b"".join(entries) + bytes(8)
    return struct.pack("<IHHI", sign, len(body), 0, 0) + body


def write_sas(
    path: Path, names: Sequence[str], rows: Sequence[Sequence[Cell]], labels: Sequence[str] | None = None
) -> Path:
    """A column is text, days or numbers by its first row that has a cell."""
    columns = [[row[at] for row in rows] for at, _ in enumerate(names)]
    kinds = [type(next((cell for cell in column if cell is not None), 0.0)) for column in columns]
    widths = [
        max([1, *(len(str(cell).encode()) for cell in column if cell)]) if kind is str else 8
        for column, kind in zip(columns, kinds, strict=True)
    ]
    starts = [sum(widths[:at]) for at, _ in enumerate(widths)]
    texts = _Texts()
    named = _listed(0xFFFFFFFF, [texts.ref(name) + bytes(2) for name in names])
    attributes = [
        struct.pack("<IIHBB", start, width, 4, 2 if kind is str else 1, 0)
        for start, width, kind in zip(starts, widths, kinds, strict=True)
    ]
    formats = []
    for kind, label in zip(kinds, labels or [""] * len(names), strict=True):
        shown = texts.ref("DATE" if kind is date else "")
        formats.append(struct.pack("<I", 0xFFFFFBFE) + bytes(30) + shown + texts.ref(label) + bytes(6))
    length = sum(widths)
    a_page = (PAGE - BEFORE) // length
    size = bytearray(480)
    struct.pack_into("<I", size, 0, 0xF7F7F7F7)
    struct.pack_into("<II", size, 20, length, len(rows))
    struct.pack_into("<I", size, 60, 0)
    many = struct.pack("<II", 0xF6F6F6F6, len(names)) + bytes(4)
    parts = [bytes(size), many, texts.subheader(), named, _listed(0xFFFFFFFC, attributes), *formats]
    pages = [_meta(parts)]
    for start in range(0, len(rows), a_page):
        some = rows[start : start + a_page]
        body = b"".join(
            _cell(cell, kind, width) for row in some for cell, kind, width in zip(row, kinds, widths, strict=True)
        )
        pages.append((bytes(16) + struct.pack("<HHHH", 0x0100, len(some), 0, 0) + body).ljust(PAGE, b"\0"))
    path.write_bytes(_header(len(pages)) + b"".join(pages))
    return path


def _cell(cell: Cell, kind: type, width: int) -> bytes:
    if kind is str:
        return str(cell or "").encode().ljust(width)
    if cell is None:
        return _MISSING
    return struct.pack("<d", float((cell - _BEGINS).days) if isinstance(cell, date) else float(cell))


def _meta(parts: list[bytes]) -> bytes:
    pointers, bodies, at = b"", b"", PAGE
    for part in parts:
        at -= len(part)
        pointers += struct.pack("<IIBBH", at, len(part), 0, 0, 0)
        bodies = part + bodies
    head = bytes(16) + struct.pack("<HHHH", 0, len(parts), len(parts), 0) + pointers
    return head + bytes(PAGE - len(head) - len(bodies)) + bodies


def _header(pages: int) -> bytes:
    head = bytearray(HEAD)
    head[: len(_MAGIC)] = _MAGIC
    head[32], head[35], head[37], head[39], head[70] = 0x22, 0x22, 1, ord("1"), 20
    head[84:92], head[92:124], head[156:164] = b"SAS FILE", b"SURVEY".ljust(32), b"DATA    "
    struct.pack_into("<dd", head, 164, 0.0, 0.0)
    struct.pack_into("<III", head, 196, HEAD, PAGE, pages)
    head[216:224], head[224:240] = b"9.0401M6", b"Linux".ljust(16)
    return bytes(head)
