"""The file that says how the app is served: whatever is wrong in it is one sentence, which quotes no secret, and the
server does not start."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest

import dpengine as dp
from ui.auth import config, setup
from ui.shell import gate, workshop_state

ROOT = Path(__file__).resolve().parents[2]
SECRET = "0f1e2d3c4b5a69788796a5b4c3d2e1f0"
HEAD = f"""origin = "https://data.example.org"
cookie_secret = "{SECRET}"
"""
ADMINISTRATOR = """[administrator]
issuer = "https://id.example.org"
subject = "1"
"""
PROVIDER = """[provider]
metadata = "https://id.example.org/.well-known/openid-configuration"
client_id = "allowance"
client_secret = "hush-hush"
"""
PROXY = """[proxy]
header = "X-Remote-User"
from = ["10.0.0.5", "10.1.0.0/24", "fd00::/64"]
issuer = "https://id.example.org"
"""
GOOD = HEAD + ADMINISTRATOR + PROVIDER


def written(folder: Path, text: str, mode: int = 0o600) -> Path:
    place = folder / "serve.toml"
    place.write_text(text, encoding="utf-8")
    place.chmod(mode)
    return place


def test_what_it_says(tmp_path: Path) -> None:
    told = config.read(written(tmp_path, GOOD))
    assert (told.address, told.hours, told.proxy) == ("https://data.example.org", 8, None)
    assert told.provider is not None and told.provider.scopes == "openid email profile"
    told = config.read(written(tmp_path, HEAD + ADMINISTRATOR + PROXY))
    assert told.proxy is not None and told.provider is None
    assert told.proxy.believed(("10.1.0.77", 1)) and not told.proxy.believed(("10.2.0.1", 1))


def test_the_example_lacks_only_the_secrets(tmp_path: Path) -> None:
    text = (ROOT / "deploy" / "serve.example.toml").read_text(encoding="utf-8")
    with pytest.raises(dp.AllowanceError):
        config.read(written(tmp_path, text))
    filled = text.replace('cookie_secret = ""', f'cookie_secret = "{SECRET}"')
    assert config.read(written(tmp_path, filled.replace('client_secret = ""', 'client_secret = "x"')))


WRONG = {
    "serve.file_toml": (GOOD + "x = ", GOOD + f'"{SECRET}'),
    "serve.unknown": (GOOD + "grups = []", "orign = 'x'\n" + GOOD),
    "serve.section": (HEAD + ADMINISTRATOR + "provider = 1\n"[:0] + "[[provider]]\nx = 1\n", "proxy = 1\n" + GOOD),
    "serve.one_way": (HEAD + ADMINISTRATOR, GOOD + PROXY),
    "serve.text": (HEAD + PROVIDER, GOOD.replace('subject = "1"', "subject = 1"), GOOD.replace('"hush-hush"', '""')),
    "serve.origin": tuple(
        GOOD.replace('"https://data.example.org"', f'"{one}"')
        for one in ("data.example.org", "http://data.example.org", "https://data.example.org/x", "ftp://localhost")
    ),
    "serve.hours": tuple(f"session_hours = {one}\n{GOOD}" for one in ("0", "25", "8.0", "true", "'8'")),
    "serve.secret": (GOOD.replace(SECRET, "short"), GOOD.replace(SECRET, "a" * 64)),
    "serve.metadata": (GOOD.replace("https://id.example.org/.well", "http://id.example.org/.well"),),
    "serve.scopes": (GOOD + 'scopes = "email"',),
    "serve.groups": (GOOD + 'groups = ["a"]', GOOD + 'group_claim = "groups"'),
    "serve.list": (GOOD + 'groups = "a"', HEAD + ADMINISTRATOR + PROXY.replace('["10.0.0.5"', '[5, "10.0.0.5"')),
    "serve.sources": (
        HEAD + ADMINISTRATOR + PROXY.replace("10.0.0.5", "proxy.lan"),
        HEAD + ADMINISTRATOR + '[proxy]\nheader = "a"\nfrom = []\n',
    ),
    "serve.issuer": (HEAD + ADMINISTRATOR + PROXY.replace('issuer = "https://id.example.org"', 'issuer = "proxy"'),),
    "serve.sign_out": (HEAD + ADMINISTRATOR + PROXY + 'sign_out = "javascript:1"',),
}


@pytest.mark.parametrize("code", sorted(WRONG))
def test_what_is_wrong_is_one_sentence_without_a_secret(tmp_path: Path, code: str) -> None:
    for text in WRONG[code]:
        with pytest.raises(dp.AllowanceError) as refusal:
            config.read(written(tmp_path, text))
        assert refusal.value.code == code, text
        assert SECRET not in str(refusal.value) and "hush" not in str(refusal.value)


def test_others_must_not_read_it(tmp_path: Path) -> None:
    for mode in (0o640, 0o604, 0o644):
        with pytest.raises(dp.AllowanceError) as refusal:
            config.read(written(tmp_path, GOOD, mode))
        assert refusal.value.code == "serve.file_open"
    with pytest.raises(dp.AllowanceError) as refusal:
        config.read(tmp_path / "none.toml")
    assert refusal.value.code == "serve.file_missing"


def test_what_does_not_go_with_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert config.configured() is None  # a laptop
    monkeypatch.setenv(config.SERVE, str(written(tmp_path, GOOD)))
    assert config.configured() is not None
    with monkeypatch.context() as patch:
        patch.setenv(gate.ORIGIN, "https://other.example.org")
        with pytest.raises(dp.AllowanceError, match=gate.ORIGIN):
            config.configured()
        patch.setenv(gate.ORIGIN, "https://data.example.org/")
        assert config.configured() is not None
    with monkeypatch.context() as patch:
        patch.setenv(workshop_state.CODE, "ABCD-2345")
        with pytest.raises(dp.AllowanceError, match="workshop"):
            config.configured()
    written(tmp_path, HEAD + ADMINISTRATOR + PROXY)
    with pytest.raises(dp.AllowanceError, match="FORWARDED_ALLOW_IPS"):  # uvicorn would believe X-Forwarded-For
        config.configured()
    monkeypatch.setenv(config.FORWARDED, "")
    assert config.configured() is not None


@pytest.mark.long
def test_the_server_does_not_start_on_a_wrong_file(tmp_path: Path) -> None:
    place = written(tmp_path, GOOD.replace("https://data", "http://data"))
    env = {**os.environ, "ALLOWANCE_HOME": str(tmp_path / "var"), config.SERVE: str(place)}
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port=0", "--server.headless=true"]
    ended = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, timeout=500, check=False)
    assert ended.returncode != 0 and "“origin” in the configuration" in ended.stderr
    assert "Traceback" not in ended.stderr and SECRET not in ended.stderr + ended.stdout


def test_the_loop_is_woken_seldom_and_does_all_that_is_handed_to_it_in_order() -> None:
    """Also after something that fails, and after a pause."""
    done: list[int] = []
    failed: list[object] = []
    woken: list[object] = []

    def fail() -> None:
        raise ValueError

    async def serve() -> None:
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _, found: failed.append(found["exception"]))
        wake = loop.call_soon_threadsafe
        loop.call_soon_threadsafe = lambda *given, **named: (woken.append(given), wake(*given, **named))[1]  # type: ignore[method-assign]
        setup.wake_seldom(loop)

        def hand_over(first: int) -> None:
            for number in range(first, first + 500):
                loop.call_soon_threadsafe(done.append, number)
                if number == 250:
                    loop.call_soon_threadsafe(fail)
                    loop.call_soon_threadsafe(done.append, -1).cancel()

        for first in (0, 500):
            await asyncio.to_thread(hand_over, first)
            await asyncio.sleep(0.05)

    asyncio.run(serve())
    assert done == list(range(1000)) and [type(one) for one in failed] == [ValueError]
    assert 0 < len(woken) < 100
