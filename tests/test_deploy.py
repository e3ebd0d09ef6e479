"""What starts the program for others: which services there are, by which images, commands, ports, volumes and settings,
and no password in any file. Containers are not run here: the files are read and put on top of each other as compose
does, and tests/engines starts the same by processes, the Spark by the very commands that stand here."""

from __future__ import annotations

import re
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest
import yaml

from dpengine.__main__ import COMMANDS

ROOT = Path(__file__).resolve().parent.parent
DEPLOY = ROOT / "deploy"
FILES = {path.name: path.read_text(encoding="utf-8") for path in sorted(DEPLOY.glob("compose*.yaml"))}
IMAGE = (DEPLOY / "Containerfile").read_text(encoding="utf-8")
LAYERS = ("compose.yaml", "compose.several.yaml", "compose.spark.yaml")
MADE_BY_PEOPLE = {"./serve.toml", "./lake"}  # the files' first lines say how
Part = dict[str, Any]


class Once(yaml.SafeLoader):
    """A key that stands twice would lose the first one without a word."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        keys = [key.value for key, _ in node.value]
        assert len(keys) == len(set(keys)), keys
        return super().construct_mapping(node, deep)


def read(name: str) -> Part:
    found: Part = yaml.load(FILES[name], Once)
    return found


def on_top(below: Any, above: Any) -> Any:
    """Mappings are joined; a list is added to the one below, a command replaces it."""
    if isinstance(below, dict) and isinstance(above, dict):
        joined = {key: on_top(below[key], value) if key in below else value for key, value in above.items()}
        return below | joined
    return below + above if isinstance(below, list) and isinstance(above, list) else above


def stack(layers: int) -> Part:
    """The first so many files together."""
    found: Part = {}
    for name in LAYERS[:layers]:
        found = on_top(found, read(name))
    return found


every_stack = pytest.mark.parametrize("layers", [1, 2, 3], ids=LAYERS)


def test_the_services_are_the_app_its_ledger_and_a_spark_with_two_workers() -> None:
    assert sorted(FILES) == sorted(LAYERS)
    one, two, three = (set(stack(layers)["services"]) for layers in (1, 2, 3))
    assert one == {"allowance", "proxy", "provider"} and two - one == {"allowance-2", "ledger"}
    assert three - two == {"spark", "spark-worker-1", "spark-worker-2"}
    servers = [stack(3)["services"][name] for name in ("allowance", "allowance-2")]
    assert {str(sorted(one["environment"].items())) for one in servers} == {
        str(sorted(servers[0]["environment"].items()))
    }
    assert all(one["build"]["args"]["WITH"] == "postgres spark" for one in servers)


@every_stack
def test_each_service_finds_what_it_names(layers: int) -> None:
    found = stack(layers)
    services = found["services"]
    stages = re.findall(r"(?m)^FROM \$\{BASE\} AS ([a-z]+)", IMAGE)
    for name, one in services.items():
        assert ("image" in one) != ("build" in one), name
        if "image" in one:
            assert re.fullmatch(r"docker\.io/library/[a-z]+:\d+\.\d+(\.\d+)?", one["image"]), name  # exact
        else:
            built = one["build"]
            assert (DEPLOY / built["context"]).resolve() == ROOT and ROOT / built[
                "dockerfile"
            ] == DEPLOY / "Containerfile"
            assert built["target"] in stages, name
            for more in built.get("args", {}).get("WITH", "").split():
                assert (ROOT / f"requirements-{more}.txt").is_file(), name
        assert set(one["networks"]) <= set(found["networks"]), name
        for volume in one.get("volumes", []):
            source = volume.split(":")[0]
            if source.startswith("."):
                assert source in MADE_BY_PEOPLE or (DEPLOY / source).is_file(), (name, volume)
            else:
                assert source in found["volumes"], (name, volume)
        for other, how in one.get("depends_on", {}).items():
            healthy = "test" in services[other].get("healthcheck", {})
            assert how["condition"] in ("service_started", *(["service_healthy"] if healthy else [])), (name, other)


@every_stack
def test_only_the_proxy_is_reached_from_outside_and_nobody_writes_to_the_image(layers: int) -> None:
    services = stack(layers)["services"]
    assert [name for name, one in services.items() if "ports" in one] == ["proxy"]
    assert services["proxy"]["ports"] == ["127.0.0.1:443:443"]
    assert not any("privileged" in one or "network_mode" in one or "user" in one for one in services.values())
    for name, one in services.items():
        if one.get("build", {}).get("target") == "allowance":
            assert one["read_only"] and one["cap_drop"] == ["ALL"], name
            assert one["security_opt"] == ["no-new-privileges:true"] and one["tmpfs"][0].startswith("/tmp:"), name
            assert "data:/data" in one["volumes"], name  # where codes are written and read


@pytest.mark.parametrize("name", ["Caddyfile", "Caddyfile.several"])
def test_the_proxy_sends_people_where_the_servers_listen(name: str) -> None:
    [port] = re.findall(r"STREAMLIT_SERVER_PORT=(\d+)", IMAGE)
    [provider] = re.findall(r'"oidc_provider_mock".*"-p", "(\d+)"', IMAGE)
    layers = 2 if name.endswith("several") else 1
    services = stack(layers)["services"]
    servers = {one for one in services if one.startswith("allowance")}
    text = (DEPLOY / name).read_text(encoding="utf-8")
    sent = [line.split()[1:] for line in text.splitlines() if line.strip().startswith("reverse_proxy")]
    told = [set(one) - {"{"} for one in sent]
    assert told == [{f"{server}:{port}" for server in servers}, {f"provider:{provider}"}]
    mounted = [volume.split(":")[:2] for volume in services["proxy"]["volumes"] if "Caddyfile" in volume]
    assert mounted[-1] == [f"./{name}", "/etc/caddy/Caddyfile"]


def test_spark_has_one_address_in_commands_configuration_and_words() -> None:
    services, text = stack(3)["services"], FILES["compose.spark.yaml"]
    master, *workers = (services[name] for name in ("spark", "spark-worker-1", "spark-worker-2"))
    said = dict(zip(master["command"][2::2], master["command"][3::2], strict=True))
    address = f"spark://{said['--host']}:{said['--port']}"
    assert said["--host"] == "spark" and master["command"][1].endswith(".deploy.master.Master")
    for worker in workers:
        assert worker["command"][1].endswith(".deploy.worker.Worker") and worker["command"][-1] == address
        assert worker["depends_on"] == {"spark": {"condition": "service_started"}}
    assert len({str(one) for one in workers}) == 1
    assert set(re.findall(r"spark://\w+:\d+", text)) == {address}
    for name in ("allowance", "allowance-2", "spark", "spark-worker-1", "spark-worker-2"):
        assert "./lake:/lake:ro" in services[name]["volumes"], name  # all list the same files
        assert services[name]["build"] == services["allowance"]["build"], name  # the same Spark and Python


def test_settings_and_files_that_are_named_are_there() -> None:
    code = "\n".join(
        path.read_text(encoding="utf-8") for room in ("ui", "dpengine") for path in (ROOT / room).rglob("*.py")
    )
    given = {name for one in stack(3)["services"].values() for name in one.get("environment", {})}
    given |= set(re.findall(r"ALLOWANCE_[A-Z_]+", IMAGE))
    ours = {name for name in given if name.startswith("ALLOWANCE_")}
    assert ours == {"ALLOWANCE_HOME", "ALLOWANCE_LEDGER", "ALLOWANCE_SERVE"} and all(f'"{one}"' in code for one in ours)
    words = "\n".join(path.read_text(encoding="utf-8") for path in [*(ROOT / "docs").glob("*.md"), *DEPLOY.iterdir()])
    started = re.findall(r"docker compose((?: -f \S+)*) up", words)
    assert {tuple(one.split()[1::2]) for one in started} == {(), LAYERS[:2], LAYERS}
    assert set(re.findall(r"compose\.[a-z.]*yaml", words)) <= set(FILES)


def test_no_password_stands_in_a_file() -> None:
    for name, text in FILES.items():
        lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
        for line in lines:
            if re.search(r"password|secret|token|postgresql://", line, re.IGNORECASE):
                assert "${LEDGER_PASSWORD:?}" in line, (name, line)


def test_the_builder_gets_what_the_image_copies_and_nothing_private() -> None:
    lines = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    given = [line[1:] for line in lines if line.startswith("!")]
    assert [line for line in lines if line and not line.startswith(("#", "!"))] == ["*", "**/__pycache__"]
    copied = {word for line in re.findall(r"(?m)^COPY (?!--from)(.+)$", IMAGE) for word in line.split()[:-1]}
    assert {name for name in copied if not any(fnmatch(name, one) for one in given)} == set()
    for name in ("var", ".venv", ".git", ".env", "build", "deploy/serve.toml", ".streamlit/secrets.toml", "tests"):
        assert not any(fnmatch(name, one) for one in given), name
    assert re.search(r"(?m)^USER 10001:10001$", IMAGE) and "HEALTHCHECK" in IMAGE


# systemd


def units() -> dict[str, dict[str, list[str]]]:
    found: dict[str, dict[str, list[str]]] = {}
    for path in [*DEPLOY.glob("*.service"), *DEPLOY.glob("*.timer")]:
        lines = (line for line in path.read_text(encoding="utf-8").splitlines() if "=" in line and line[0] != "#")
        for name, _, value in (line.partition("=") for line in lines):
            found.setdefault(path.name, {}).setdefault(name, []).append(value)
    return found


def test_each_timer_starts_a_service_that_runs_a_command_and_alerts() -> None:
    found = units()
    timers = {name.removesuffix(".timer") for name in found if name.endswith(".timer")}
    assert timers == {"allowance-verify", "allowance-head", "allowance-backup"}
    for name in timers:
        service = found[f"{name}.service"]
        verbs = re.findall(r"-m dpengine (\w+)", " ".join(service["ExecStart"]))
        assert set(verbs) == {name.rpartition("-")[2]} <= COMMANDS.keys()
        assert service["OnFailure"] == ["allowance-alert@%n.service"] and "allowance-alert@.service" in found
        assert service["Environment"] == [found["allowance.service"]["Environment"][0]]
    text = (ROOT / "docs" / "serving.md").read_text(encoding="utf-8")
    assert all(f"{name}.timer" in text for name in timers) and "-m 0700 /srv/backups" in text


def test_services_run_as_their_own_user_with_few_system_calls() -> None:
    for name, unit in units().items():
        if name.endswith(".service") and "alert" not in name:
            assert unit["User"] == ["allowance"] and unit["ProtectSystem"] == ["strict"], name
            assert unit["SystemCallFilter"] == ["@system-service", "~@privileged"], name
