"""The kind of a file by its first bytes, and files that are packed: a .gz file, or a .zip archive with one file in it.

A packed file is unpacked in pieces, and refused once it is larger than a file of its size may be.
"""

from __future__ import annotations

import gzip
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, BinaryIO

from dpengine.core.errors import AllowanceError, refusing
from dpengine.core.files import create, refuse_full

MOST_UNPACKED = 10**9  # bytes that a small file may unpack to …
MOST_TIMES = 20  # … and a larger one, per byte of its own: text seldom packs better
PACKED = ("gz", "zip")
KINDS = ("csv", "parquet", "xlsx", "xls", "ods", "sav", "dta", "sas7bdat", "xpt", *PACKED)
_CHUNK = 1 << 20
_SAS = bytes.fromhex("000000000000000000000000c2ea8160b31411cfbd92080009c7318c181f1011")
_HEADS = {
    b"PAR1": "parquet",
    b"\x1f\x8b": "gz",
    b"\xd0\xcf\x11\xe0": "xls",
    b"$FL2": "sav",
    b"$FL3": "sav",
    b"<stata_dta>": "dta",
    b"HEADER RECORD*******LIB": "xpt",
    _SAS: "sas7bdat",
}
_STATA = (105, 108, 110, 111, 112, 113, 114, 115)  # versions whose number is the first byte; then the order of bytes, 1
_ODS = b"application/vnd.oasis.opendocument.spreadsheet"
_HIDDEN = ("__MACOSX/", ".")  # what archivers add


def kind_of(stream: BinaryIO | IO[bytes]) -> str:
    """The kind of a file, one of KINDS. "csv" for anything unknown: its reader then says what is wrong."""
    stream.seek(0)
    head = stream.read(64)
    kind = next((kind for magic, kind in _HEADS.items() if head.startswith(magic)), "csv")
    if len(head) > 3 and head[0] in _STATA and head[1] in (1, 2) and head[2] == 1:
        kind = "dta"
    if b"ENCRYPTEDSAV" in head:
        kind = "sav"
    if head.startswith(b"PK\x03\x04"):
        kind = _archive(stream)
    stream.seek(0)
    return kind


def _archive(stream: BinaryIO | IO[bytes]) -> str:
    """The kind of a zip archive: a spreadsheet is one with a workbook in it."""
    known = suppress(zipfile.BadZipFile, OSError, ValueError, RuntimeError, KeyError)
    with known, zipfile.ZipFile(stream) as parts:
        names = parts.namelist()
        if "xl/workbook.xml" in names:
            return "xlsx"
        if "mimetype" in names and parts.getinfo("mimetype").file_size < 200 and parts.read("mimetype") == _ODS:
            return "ods"
        return "zip"
    return "csv"


@contextmanager
def unpacked(path: Path) -> Iterator[Path]:
    """A context with the file or, if it is packed, its content, in a folder beside it that is deleted at the end."""
    if path.suffix.lower().lstrip(".") not in PACKED:
        yield path
        return
    with refusing("load.unwritable", OSError):
        folder = tempfile.TemporaryDirectory(prefix=".", dir=path.parent)  # 0700
    with folder as inside:
        yield unpack(path, Path(inside))


def unpack(path: Path, folder: Path, name: str = "unpacked") -> Path:
    """Write what a packed file holds into a folder, as `name` with the ending of its kind; not if it is packed
    again."""
    most = MOST_UNPACKED + MOST_TIMES * path.stat().st_size
    target = folder / name
    try:
        with _inside(path) as packed, create(target) as out:
            size = 0
            while block := packed.read(_CHUNK):
                size += len(block)
                if size > most:
                    raise AllowanceError("load.swollen")
                if size // _CHUNK % 64 == 0:
                    refuse_full(folder)
                _write(out, block)
        with open(target, "rb") as written:
            kind = kind_of(written)
        if kind in PACKED:
            raise AllowanceError("load.packed_twice")
        if not size:
            raise AllowanceError("load.empty")
        return target.rename(folder / f"{name}.{kind}")
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, ValueError, NotImplementedError):
        raise AllowanceError("load.packed_unreadable") from None
    finally:
        target.unlink(missing_ok=True)


def _write(out: BinaryIO | IO[bytes], block: bytes) -> None:
    with refusing("load.unwritable", OSError):
        out.write(block)
        out.flush()


@contextmanager
def _inside(path: Path) -> Iterator[IO[bytes] | gzip.GzipFile]:
    if path.suffix.lower() == ".gz":
        with gzip.open(path, "rb") as packed:
            yield packed
        return
    with zipfile.ZipFile(path) as archive:
        files = [info for info in archive.infolist() if not info.is_dir()]
        files = [info for info in files if not info.filename.rpartition("/")[2].startswith(_HIDDEN[1])]
        files = [info for info in files if not info.filename.startswith(_HIDDEN[0])]
        if len(files) != 1:
            raise AllowanceError("load.packed_many", many=len(files))
        if files[0].flag_bits & 1:
            raise AllowanceError("load.packed_locked")
        with archive.open(files[0]) as packed:
            yield packed
