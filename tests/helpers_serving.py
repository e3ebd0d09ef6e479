"""The app as an organisation serves it, for journeys: a provider for trying, a configuration, people who sign in."""

from __future__ import annotations

import json
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from browser.steps import LIMIT, not_ours, settled
from conftest import Server, free_port, serving

SECRET = "0f1e2d3c4b5a69788796a5b4c3d2e1f0"
# Two owners, three analysts, an auditor and an administrator; Ana is in so many groups that no cookie would hold them.
PEOPLE: dict[str, dict[str, Any]] = {
    "root": {"name": "Rok Skrbnik", "email": "rok@example.org"},
    "ana": {"name": "Ana Novak", "email": "ana@example.org", "groups": [f"a group of number {n}" for n in range(900)]},
    "bor": {"name": "Bor Kos", "email": "bor@example.org"},
    "cene": {"name": "Cene Zupan", "email": "cene@example.org"},
    "dana": {"name": "Dana Hribar", "email": "dana@example.org", "email_verified": False},
    "eva": {"name": "Eva Bizjak", "email": "eva@example.org"},
    "vid": {"name": "Vid Revizor", "email": "vid@example.org"},
}


@dataclass(frozen=True)
class Office:
    server: Server
    address: str
    issuer: str

    def signed_in(self, page: Any, who: str, path: str = "/") -> Any:
        """Open a page of the app as somebody who signs in at the provider on the way."""
        page.goto(f"{self.address}{path}")
        page.get_by_role("button", name=who, exact=True).click()
        return settled(page)


@contextmanager
def office(folder: Path, log: Path, administrator: str = "root") -> Iterator[Office]:
    port, abroad = free_port(), free_port()
    issuer, address = f"http://127.0.0.1:{abroad}", f"http://localhost:{port}"
    not_ours.add(issuer)  # its pages ask for a stylesheet from elsewhere
    told = folder / "serve.toml"
    told.write_text(
        f'origin = "{address}"\ncookie_secret = "{SECRET}"\n'
        f'[administrator]\nissuer = "{issuer}"\nsubject = "{administrator}"\n'
        f'[provider]\nmetadata = "{issuer}/.well-known/openid-configuration"\n'
        'client_id = "allowance"\nclient_secret = "hush"\n',
        encoding="utf-8",
    )
    told.chmod(0o600)
    claims = [json.dumps({"sub": name, **more}) for name, more in PEOPLE.items()]
    command = [sys.executable, "-m", "oidc_provider_mock", "-p", str(abroad)]
    command += [part for one in claims for part in ("--user-claims", one)]
    with (folder / "provider.log").open("wb") as said, subprocess.Popen(command, stdout=said, stderr=said) as provider:
        try:
            _wait(f"{issuer}/.well-known/openid-configuration", provider)
            with serving(folder / "home", log, port=port, ALLOWANCE_SERVE=str(told)) as server:
                yield Office(server, address, issuer)
        finally:
            provider.terminate()


def _wait(address: str, process: subprocess.Popen[bytes]) -> None:
    ask = urllib.request.build_opener(urllib.request.ProxyHandler({})).open
    deadline = time.monotonic() + LIMIT / 1000
    while time.monotonic() < deadline and process.poll() is None:
        try:
            ask(address, timeout=LIMIT / 1000).close()
            return
        except OSError:
            time.sleep(0.1)
    raise RuntimeError("the provider for trying did not start")
