"""What starts the program for others: which services there are, by which images and volumes, and no password in any
file. Containers are not run here; tests/engines starts the same by processes."""

from __future__ import annotations

import re
from pathlib import Path

DEPLOY = Path(__file__).resolve().parent.parent / "deploy"
FILES = {path.name: path.read_text(encoding="utf-8") for path in sorted(DEPLOY.glob("compose*.yaml"))}


def services(text: str) -> dict[str, str]:
    """Each service with the lines that are indented below it."""
    [(_, block)] = re.findall(r"(?m)^(services):\n((?:(?: .*|#.*)?\n)+)", text)
    found = re.split(r"(?m)^  ([a-z0-9-]+):", block)
    return dict(zip(found[1::2], found[2::2], strict=True))


def test_the_services_are_the_app_its_ledger_and_a_spark_with_two_workers() -> None:
    assert list(FILES) == ["compose.several.yaml", "compose.spark.yaml", "compose.yaml"]
    assert set(services(FILES["compose.yaml"])) == {"allowance", "proxy", "provider"}
    assert set(services(FILES["compose.several.yaml"])) == {"allowance", "allowance-2", "ledger", "proxy"}
    lake = services(FILES["compose.spark.yaml"])
    assert set(lake) == {"allowance", "allowance-2", "spark", "spark-worker-1", "spark-worker-2"}
    assert "deploy.master.Master" in lake["spark"] and "deploy.worker.Worker" in lake["spark-worker-1"]
    assert lake["spark-worker-2"].strip() == "*worker" and lake["allowance-2"].strip() == "*server"


def test_images_are_named_with_their_version_and_all_else_is_built_here() -> None:
    text = "\n".join(FILES.values())
    images = re.findall(r"(?m)^\s*image:\s*(\S+)", text)
    assert len(images) == 2 and all(re.fullmatch(r"docker\.io/library/[a-z]+:\d+\.\d+(\.\d+)?", one) for one in images)
    targets = re.findall(r"target: ([a-z]+)", text)
    stages = re.findall(r"(?m)^FROM \S+ AS ([a-z]+)", (DEPLOY / "Containerfile").read_text(encoding="utf-8"))
    assert set(targets) <= set(stages)


def test_volumes_are_declared_and_shared_by_whoever_reads_the_codes() -> None:
    text = "\n".join(FILES.values())
    used = set(re.findall(r"[\s\"]([a-z]+):/[a-z]", text))
    last = "\n".join(one.split("\nvolumes:\n")[-1] for one in FILES.values())
    declared = set(re.findall(r"(?m)^  ([a-z]+):(?: #.*)?$", last))
    assert used == {"data", "authority", "ledger"} and used <= declared
    assert '"data:/data"' in FILES["compose.spark.yaml"] and '"./lake:/lake:ro"' in FILES["compose.spark.yaml"]


def test_no_password_stands_in_a_file() -> None:
    for name, text in FILES.items():
        lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
        for line in lines:
            if re.search(r"password|secret|token|postgresql://", line, re.IGNORECASE):
                assert "${LEDGER_PASSWORD:?}" in line, (name, line)
