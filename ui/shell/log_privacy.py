"""Keeps private values out of logs, shared temporary folders and core dumps.

An uncaught error (in a callback, a fragment, a thread, the web server) may quote a cell, and code that is not ours
prints it. So the log gets its type and its stack, never its message.
"""

from __future__ import annotations

import logging
import sys
import tempfile
import threading
import traceback
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any

_default_factory: Callable[..., logging.LogRecord] = logging.LogRecord


def keep(folder: Path) -> None:
    """Put this process's temporary files into `folder`, readable by its user only. The web server would write larger
    uploads to a folder that all users share."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    tempfile.tempdir = str(folder)
    with suppress(ImportError):  # Windows writes none by itself
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # a core dump would hold the tables
    logging.setLogRecordFactory(_record)
    sys.excepthook = _uncaught
    threading.excepthook = lambda given: _uncaught(given.exc_type, given.exc_value, given.exc_traceback)
    sys.unraisablehook = lambda given: _uncaught(given.exc_type, given.exc_value, given.exc_traceback)


def _describe(error: BaseException) -> str:
    """The type and the stack of an error and of its causes, as text without any message."""
    lines, seen = [], set[int]()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        lines.append(type(error).__name__)
        frames = traceback.extract_tb(error.__traceback__)
        lines += [f"  {Path(frame.filename).name}:{frame.lineno} in {frame.name}" for frame in frames]
        error = error.__cause__ or error.__context__  # type: ignore[assignment]
    return "\n".join(lines)


def _record(*given: Any, **named: Any) -> logging.LogRecord:
    record = _default_factory(*given, **named)
    if isinstance(record.exc_info, tuple) and record.exc_info[1] is not None:
        record.exc_text, record.exc_info = _describe(record.exc_info[1]), None
    if isinstance(record.msg, BaseException):
        record.msg = type(record.msg).__name__
    if isinstance(record.args, tuple):
        record.args = tuple(type(item).__name__ if isinstance(item, BaseException) else item for item in record.args)
    return record


def _uncaught(kind: type[BaseException], error: BaseException | None, places: TracebackType | None) -> None:
    print(kind.__name__ if error is None else _describe(error), file=sys.stderr)
