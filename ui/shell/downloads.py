"""Whose each download is: the person's in whose session a page offered it, noted when Streamlit takes the file in.

Nothing that a page says makes a file somebody's: an address that is written into a field and shown again is text.
"""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from typing import Any

from streamlit.runtime.media_file_manager import MediaFileManager

from dpengine.core.errors import AllowanceError
from ui.shell import person

_MOST = 2000  # files that are remembered for one person
_FILE = re.compile(r"(?:^|/)media/([0-9a-f]{16,128})")


class Downloads:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._files: dict[str, OrderedDict[str, None]] = {}

    def note(self, who: str | None, address: str) -> None:
        """A page of this person's offers what is at this address of Streamlit's."""
        found = _FILE.search(address)
        if who is None or found is None:
            return
        with self._lock:
            files = self._files.setdefault(who, OrderedDict())
            files[found[1]] = None
            files.move_to_end(found[1])
            while len(files) > _MOST:
                files.popitem(last=False)

    def theirs(self, who: str, inner: str) -> bool:
        found = _FILE.match(inner)
        with self._lock:
            return found is not None and found[1] in self._files.get(who, ())

    def watch(self, kind: Any = MediaFileManager) -> None:
        """From now on Streamlit says here which session a file is for."""
        add, make = kind.add, kind.execute_deferred

        def noted(manager: Any, *given: Any, **more: Any) -> str:
            address = str(add(manager, *given, **more))
            self.note(_who(), address)
            return address

        def made(manager: Any, name: str) -> str:
            """A file that is made when it is asked for is for the session that offered it, whoever asks."""
            entry = manager._deferred_callables.get(name)
            address = str(make(manager, name))
            self.note(None if entry is None else person.owner(entry["session_id"]), address)
            return address

        kind.add, kind.execute_deferred = noted, made


def _who() -> str | None:
    try:
        return person.person()
    except AllowanceError:
        return None


here = Downloads()
