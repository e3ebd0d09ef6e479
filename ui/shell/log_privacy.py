"""Keeps private values out of the log, of temporary files, and of what a crash would leave on the disk.

An error that nothing caught (in a callback, a fragment, a thread, the web server itself) may quote a cell, and is
printed by code that is not ours. So the log gets its type and where it happened, never its text.
"""

from __future__ import annotations

import logging
import resource
import sys
import tempfile
import threading
import traceback
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any

_usual: Callable[..., logging.LogRecord] = logging.LogRecord


def keep(folder: Path) -> None:
    """From now on this process writes what it must put aside into `folder`, its user's alone: an upload of more than a
    megabyte, for one, which the web server would lay into a folder that all users share."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    tempfile.tempdir = str(folder)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # an image of its memory would hold the tables
    logging.setLogRecordFactory(_record)
    sys.excepthook = _uncaught
    threading.excepthook = lambda given: _uncaught(given.exc_type, given.exc_value, given.exc_traceback)
    sys.unraisablehook = lambda given: _uncaught(given.exc_type, given.exc_value, given.exc_traceback)


def told(error: BaseException) -> str:
    """An error and its causes, each by its type and the code it passed through."""
    lines, seen = [], set[int]()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        lines.append(type(error).__name__)
        frames = traceback.extract_tb(error.__traceback__)
        lines += [f"  {Path(frame.filename).name}:{frame.lineno} in {frame.name}" for frame in frames]
        error = error.__cause__ or error.__context__  # type: ignore[assignment]
    return "\n".join(lines)


def _record(*given: Any, **named: Any) -> logging.LogRecord:
    record = _usual(*given, **named)
    if isinstance(record.exc_info, tuple) and record.exc_info[1] is not None:
        record.exc_text, record.exc_info = told(record.exc_info[1]), None
    if isinstance(record.msg, BaseException):
        record.msg = type(record.msg).__name__
    if isinstance(record.args, tuple):
        record.args = tuple(type(one).__name__ if isinstance(one, BaseException) else one for one in record.args)
    return record


def _uncaught(kind: type[BaseException], error: BaseException | None, places: TracebackType | None) -> None:
    print(kind.__name__ if error is None else told(error), file=sys.stderr)
