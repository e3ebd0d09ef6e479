"""Where something can leave the program, each as a function that hands it to a scan."""

from __future__ import annotations

import functools
import gc
import os
import re
import sys
import traceback
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from leaks.canaries import Scan

# The table itself lies here, and an upload until it is a table; nothing else may hold a value.
KEPT = re.compile(r"raw\.parquet|counted-\d+\.parquet|coded-.*")


def nodes(app: Any) -> Iterator[Any]:
    """Everything of a page that AppTest was sent: containers and elements, the sidebar's too."""
    waiting = [app._tree]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += list(getattr(node, "children", {}).values())


def protos(app: Any) -> Iterator[Any]:
    for node in nodes(app):
        proto = getattr(node, "proto", None)
        if proto is not None and hasattr(proto, "SerializeToString"):
            yield proto


def page(scan: Scan, app: Any, name: str) -> None:
    """What was sent to the browser, byte for byte, and the address it was given."""
    for proto in protos(app):
        scan.look(f"page {name}", proto.SerializeToString(), f"{name}: {type(proto).__name__}")
        scan.look(f"page {name}", str(proto), f"{name}: {type(proto).__name__}")
    scan.look("addresses", repr(dict(app.query_params)), name)


def _allowed(path: Path, home: Path) -> bool:
    inside = path.relative_to(home).parts
    if inside[0] == "files":
        return True
    in_table = inside[0] == "tables" and len(inside) == 3
    return in_table and KEPT.fullmatch(inside[-1]) is not None


def files(scan: Scan, home: Path, exit: str = "") -> None:
    """Every file of a workspace but the rows themselves; and every name."""
    for path in sorted(home.rglob("*")):
        name = str(path.relative_to(home))
        scan.look("file names", name)
        if path.is_file() and not path.is_symlink() and not _allowed(path, home):
            kind = exit or {".sqlite": path.name, ".sqlite-wal": path.name}.get(path.suffix, "other files")
            scan.look(kind, path.read_bytes(), name)


def folder(scan: Scan, place: Path, exit: str) -> None:
    """All that lies in a folder outside the workspace."""
    for path in sorted(place.rglob("*")):
        scan.look("file names", path.name)
        if path.is_file() and not path.is_symlink():
            scan.look(exit, path.read_bytes(), path.name)


def chain(error: BaseException) -> Iterator[BaseException]:
    """An error and all that it carries along."""
    waiting, seen = [error], set()
    while waiting:
        one = waiting.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        yield one
        waiting += [other for other in (one.__cause__, one.__context__) if other is not None]


def error(scan: Scan, fault: BaseException, name: str, exit: str = "errors") -> None:
    """Its sentence, what it carries, and its traceback as a log would print it, hidden causes included."""
    for one in chain(fault):
        scan.look(exit, f"{type(one).__name__} {one} {one!r} {one.args!r} {vars(one)!r}", name)
        scan.look(exit, "".join(traceback.format_exception(one)), name)


def caches(scan: Scan, packages: Iterable[str] = ("dpengine", "ui", "demos", "pages")) -> None:
    """The contents of every `functools` cache of the program, keys and values, and of Streamlit's data caches."""
    kind = type(functools.lru_cache(lambda: None))
    for name, module in sorted(sys.modules.items()):
        if name.split(".")[0] not in packages or module is None:
            continue
        for thing in list(vars(module).values()):
            if isinstance(thing, kind):
                for held in gc.get_referents(thing):
                    if isinstance(held, dict):
                        scan.look("caches", _told(held), f"{name}.{thing.__name__}")
    for held in streamlit_cache():
        scan.look("caches", held, "st.cache_data")


def _told(held: dict[Any, Any]) -> str:
    """Keys and values; a link of the cache's list is looked into."""
    told: list[str] = []
    for key, value in held.items():
        told += [repr(key), repr(value)]
        told += [repr(one) for one in gc.get_referents(value) if not isinstance(one, type)]
    return "\n".join(told)


def streamlit_cache() -> Iterator[bytes]:
    from streamlit.runtime.caching.cache_data_api import _data_caches

    for cache in [one for held in list(_data_caches._function_caches.values()) for one in list(held.values())]:
        storage = cache.storage
        for inner in (storage, getattr(storage, "_persist_storage", None)):
            memory = getattr(inner, "_mem_cache", None) or {}
            for value in list(memory.values()):
                yield value if isinstance(value, bytes) else repr(value).encode()


def descriptors(pid: int) -> Iterator[tuple[str, bytes]]:
    """Files a process holds open though nobody can see them: deleted ones, as temporary files are."""
    for link in Path(f"/proc/{pid}/fd").iterdir():
        try:
            target = os.readlink(link)
            if "(deleted)" in target and link.stat().st_size:
                yield target, link.read_bytes()
        except OSError:
            continue
