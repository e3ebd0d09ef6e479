"""The owner of each download: the person in whose session a page offered it, noted when Streamlit stores the file.

Text on a page never makes a person the owner of a file, not even a download address typed into a field and shown again.
"""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from typing import Any

from streamlit.runtime.media_file_manager import MediaFileManager

from dpengine.core.errors import AllowanceError
from ui.shell import person

_MOST = 2000  # files remembered for each person
_FILE = re.compile(r"(?:^|/)media/([0-9a-f]{16,128})")


class Downloads:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._files: dict[str, OrderedDict[str, None]] = {}

    def note(self, who: str | None, address: str) -> None:
        """Note that a page offers the file at this address to this person."""
        file = _FILE.search(address)
        if who is None or file is None:
            return
        with self._lock:
            files = self._files.setdefault(who, OrderedDict())
            files[file[1]] = None
            files.move_to_end(file[1])
            while len(files) > _MOST:
                files.popitem(last=False)

    def theirs(self, who: str, inner: str) -> bool:
        file = _FILE.match(inner)
        with self._lock:
            return file is not None and file[1] in self._files.get(who, ())

    def watch(self, kind: Any = MediaFileManager) -> None:
        """Note the owner of every file that Streamlit stores from now on."""
        add, execute = kind.add, kind.execute_deferred

        def added(manager: Any, *given: Any, **more: Any) -> str:
            address = str(add(manager, *given, **more))
            self.note(_who(), address)
            return address

        def executed(manager: Any, name: str) -> str:
            """A file built on request belongs to the session that offered it, whoever asks."""
            entry = manager._deferred_callables.get(name)
            address = str(execute(manager, name))
            self.note(None if entry is None else person.owner(entry["session_id"]), address)
            return address

        kind.add, kind.execute_deferred = added, executed


def _who() -> str | None:
    try:
        return person.person()
    except AllowanceError:
        return None


here = Downloads()
