"""Writes an .xls file of Excel 97, byte by byte: no pinned library writes them. Made-up cells, ours to give away.

A compound file (one table of sectors, one folder, one stream `Workbook`) with the records of BIFF8: numbers, texts and
days. `mac`: days count from 1904, as on old Macs; `locked`: the record that says the rest is encrypted.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from datetime import date
from pathlib import Path

SECTOR = 512
_FREE, _END, _TABLE = 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD
Cell = str | float | date | None


def _record(kind: int, body: bytes) -> bytes:
    return struct.pack("<HH", kind, len(body)) + body


def _begin(kind: int) -> bytes:
    return _record(0x0809, struct.pack("<HHHHII", 0x0600, kind, 0x0DBB, 0x07CC, 0, 6))


def _cell(row: int, column: int, cell: Cell, mac: bool) -> bytes:
    if cell is None:
        return b""
    if isinstance(cell, str):
        text = cell.encode("utf-16-le")
        return _record(0x0204, struct.pack("<HHHHB", row, column, 0, len(text) // 2, 1) + text)
    if isinstance(cell, date):
        start = date(1904, 1, 1) if mac else date(1899, 12, 30)
        return _record(0x0203, struct.pack("<HHHd", row, column, 1, float((cell - start).days)))
    return _record(0x0203, struct.pack("<HHHd", row, column, 0, float(cell)))


def _stream(rows: Sequence[Sequence[Cell]], mac: bool, locked: bool) -> bytes:
    plain, day = (struct.pack("<HHHBBBBIIH", 0, form, 0, 0x20, 0, 0, 0, 0, 0, 0x20C0) for form in (0, 14))
    head = _begin(0x0005) + (_record(0x002F, struct.pack("<HHH", 1, 1, 1) + bytes(48)) if locked else b"")
    head += _record(0x0042, struct.pack("<H", 1200)) + _record(0x0022, struct.pack("<H", int(mac)))
    head += _record(0x00E0, plain) + _record(0x00E0, day)
    name = struct.pack("<BB", 5, 0) + b"Sheet"
    begins = len(head) + 4 + 6 + len(name) + 4
    head += _record(0x0085, struct.pack("<IBB", begins, 0, 0) + name) + _record(0x000A, b"")
    size = struct.pack("<IIHHH", 0, len(rows), 0, max((len(row) for row in rows), default=0), 0)
    cells = b"".join(_cell(at, place, cell, mac) for at, row in enumerate(rows) for place, cell in enumerate(row))
    return head + _begin(0x0010) + _record(0x0200, size) + cells + _record(0x000A, b"")


def _entry(name: str, kind: int, child: int, start: int, size: int) -> bytes:
    written = name.encode("utf-16-le") + b"\0\0" if name else b""
    head = written.ljust(64, b"\0") + struct.pack("<HBB", len(written), kind, 1)
    return head + struct.pack("<III", _FREE, _FREE, child) + bytes(36) + struct.pack("<IQ", start, size)


def write_xls(path: Path, rows: Sequence[Sequence[Cell]], mac: bool = False, locked: bool = False) -> Path:
    stream = _stream(rows, mac, locked)
    stream = stream.ljust(max(len(stream), 4096), b"\0")  # a shorter stream lies elsewhere
    sectors = -(-len(stream) // SECTOR)
    tables = 1
    while tables * SECTOR // 4 < tables + 1 + sectors:
        tables += 1
    chain = [_TABLE] * tables + [_END] + [tables + 2 + at for at in range(sectors - 1)] + [_END]
    chain += [_FREE] * (tables * SECTOR // 4 - len(chain))
    head = bytes.fromhex("d0cf11e0a1b11ae1") + bytes(16) + struct.pack("<HHHHH", 0x3E, 3, 0xFFFE, 9, 6) + bytes(6)
    head += struct.pack("<IIIIIIIII", 0, tables, tables, 0, 4096, _END, 0, _END, 0)
    head += struct.pack("<109I", *range(tables), *([_FREE] * (109 - tables)))
    folder = _entry("Root Entry", 5, 1, _END, 0) + _entry("Workbook", 2, _FREE, tables + 1, len(stream))
    folder = folder.ljust(SECTOR, b"\0")
    body = struct.pack(f"<{len(chain)}I", *chain) + folder + stream.ljust(sectors * SECTOR, b"\0")
    path.write_bytes(head + body)
    return path
