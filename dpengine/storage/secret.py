"""The key of the fingerprints by which content is recognised: made once, and never shown outside its file."""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from pathlib import Path

from dpengine.core.errors import AllowanceError

SECRET_BYTES = 32


def read_secret(path: Path) -> bytes:
    """The key, made now where the workspace is new."""
    if not path.exists():
        if any(path.with_name(name).exists() for name in ("registry.sqlite", "ledger.sqlite")):
            # Under a new key no content would be recognised, and each would get a new allowance.
            raise AllowanceError("workspace.secret_missing")
        fresh = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
        handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "wb") as file:
            file.write(secrets.token_bytes(SECRET_BYTES))
            file.flush()
            os.fsync(file.fileno())
        with suppress(FileExistsError):  # another process was faster: its key counts
            os.link(fresh, path)
        fresh.unlink()
    key = path.read_bytes()
    if len(key) != SECRET_BYTES:
        raise AllowanceError("workspace.secret")
    return key
