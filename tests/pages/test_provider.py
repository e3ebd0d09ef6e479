"""What is believed of what a provider says: issuer and subject, a name, an address that was verified; groups decide
only who may come in."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import httpx2
import pytest

import dpengine as dp
from ui.auth.config import Provider
from ui.auth.login import Identity, OpenID, refuse_other_issuer

CLAIMS: dict[str, Any] = {"iss": "https://id.example.org", "sub": "1", "name": "Ana", "email": "ana@example.org"}
SECRET = "0f1e2d3c4b5a69788796a5b4c3d2e1f0"


def way(groups: tuple[str, ...] = ()) -> OpenID:
    claim = "groups" if groups else ""
    provider = Provider("https://id.invalid/.well-known/x", "id", "secret", "openid", claim, groups)
    return OpenID(provider, "https://data.example.org/oauth2callback", SECRET)


def test_who_somebody_is() -> None:
    assert way()._identity(CLAIMS) == Identity("https://id.example.org", "1", "Ana", "ana@example.org")
    for told in (False, "false", None, 0):
        assert way()._identity(CLAIMS | {"email_verified": told}).email == ""
    assert way()._identity(CLAIMS | {"name": "A\x00na\u202e" + "x" * 900}).name == "Ana" + "x" * 197
    for missing in ({"sub": ""}, {"sub": None}, {"iss": 1}):
        with pytest.raises(dp.AllowanceError):
            way()._identity(CLAIMS | missing)


def test_groups_decide_who_may_come_in_and_nothing_else() -> None:
    for groups in (["staff", "allowance"], "allowance", [f"g{n}" for n in range(2000)] + ["allowance"]):
        assert way(("allowance",))._identity(CLAIMS | {"groups": groups}) == way()._identity(CLAIMS)
    for groups in ([], ["staff"], "allowances", None, {"allowance": 1}, 5):
        with pytest.raises(dp.AllowanceError) as refusal:
            way(("allowance",))._identity(CLAIMS | {"groups": groups})
        assert refusal.value.code == "porter.group"


@pytest.mark.long
def test_an_administrator_of_another_issuer_is_named_at_the_start(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    here, asked = way()._provider, []

    def get(address: str, **more: Any) -> httpx2.Response:
        asked.append(address)
        told = {"issuer": "https://id.example.org"}
        return httpx2.Response(200, json=told, request=httpx2.Request("GET", address))

    monkeypatch.setattr(httpx2, "get", get)
    refuse_other_issuer(here, "https://id.example.org")
    for wrong in ("https://id.example.org/", "https://other.example.org", "https://ID.example.org"):
        with pytest.raises(dp.AllowanceError) as refusal:
            refuse_other_issuer(here, wrong)
        assert refusal.value.code == "serve.issuer" and "Write “https://id.example.org” there" in str(refusal.value)
    assert set(asked) == {here.metadata}
    monkeypatch.undo()
    refuse_other_issuer(here, "https://other.example.org")  # nobody answers: logged, and nobody is kept from starting
    asyncio.run(way().farewell())
    assert "administrator.issuer is not compared" in caplog.text and "signing out: the provider does not" in caplog.text


def test_a_way_back_that_was_not_begun_here_leads_nowhere() -> None:
    scope = {"type": "http", "method": "GET", "headers": [], "query_string": b"code=1&state=2", "path": "/"}
    for cookies in ({}, {"__Host-allowance_login_d4735e3a265e16ee": "forged"}):
        with pytest.raises(dp.AllowanceError) as refusal:
            asyncio.run(way().end(scope, cookies))
        assert refusal.value.code == "porter.stale"
    with pytest.raises(dp.AllowanceError) as refusal:  # nobody answers at that address
        asyncio.run(way().begin({}, "/ask"))
    assert refusal.value.code == "porter.provider_gone"


@pytest.mark.parametrize("secure", [True, False])
def test_only_this_very_host_can_have_begun_the_way(monkeypatch: pytest.MonkeyPatch, secure: bool) -> None:
    """A sibling of ours cannot make somebody sign in as another: over https it cannot set a cookie of this name."""
    here = way()
    if not secure:
        here = OpenID(here._provider, "http://data.example.org/oauth2callback", SECRET)

    async def sent(request: Any, back: str) -> Any:
        request.session["_state_provider_2"] = {"data": {"nonce": "n"}}
        return SimpleNamespace(headers={"location": "https://id.example.org/authorize"})

    monkeypatch.setattr(here._client, "authorize_redirect", sent)
    name, value = asyncio.run(here.begin({}, "/ask")).cookie
    plain = "allowance_login_d4735e3a265e16ee"
    assert name == ("__Host-" + plain if secure else plain)
    many = {f"{name[:-2]}{place:02}": "x" for place in range(8)}
    assert set(asyncio.run(here.begin(many, "/")).stale) == set(many)
    if secure:
        scope = {"type": "http", "method": "GET", "headers": [], "query_string": b"code=1&state=2", "path": "/"}
        with pytest.raises(dp.AllowanceError) as refusal:
            asyncio.run(here.end(scope, {plain: value}))
        assert refusal.value.code == "porter.stale"
