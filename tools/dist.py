"""`make dist`: wheel and sdist into dist/, with checksums and an SBOM (CycloneDX 1.6) of everything that is pinned, and
docs/wheels.md: whether every pin has a wheel for each system. Only the last asks the index, for names of files."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
DIST = ROOT / "dist"
WHEELS = ROOT / "docs" / "wheels.md"
PINS = ("requirements.txt", "requirements-serve.txt", "requirements-postgres.txt")
SYSTEMS = {
    "Windows (x64)": "x86_64-pc-windows-msvc",
    "macOS (arm64)": "aarch64-apple-darwin",
    "Linux (x64)": "x86_64-manylinux_2_28",
}
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
_PIN = re.compile(
    r"^([A-Za-z0-9._-]+)==([^\s;\\]+)(?: ; ([^\\]*?))? \\\n((?:    --hash=sha256:[0-9a-f]{64}(?: \\)?\n)+)", re.M
)

sys.path.insert(0, str(ROOT))
from allowance import __version__  # noqa: E402


def main() -> int:
    if DIST.is_dir():
        shutil.rmtree(DIST)
    subprocess.run([sys.executable, "-m", "hatchling", "build", "-d", str(DIST)], cwd=ROOT, check=True)
    place = DIST / f"allowance-{__version__}.cdx.json"
    place.write_text(json.dumps(bill(), indent=1) + "\n", encoding="utf-8")
    for name in (
        "start.cmd",
        "start.command",
        "requirements.txt",
    ):  # beside the wheel, they start it with a double-click
        shutil.copy(ROOT / name, DIST / name)
    files = sorted(path for path in DIST.iterdir() if path.is_file())
    sums = "".join(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in files)
    (DIST / "SHA256SUMS").write_bytes(sums.encode())
    print(sums, end="")
    lacking = {
        (system, python): without_wheel(target, python) for system, target in SYSTEMS.items() for python in PYTHONS
    }
    WHEELS.write_text(table(lacking), encoding="utf-8")
    missing = sorted({name for names in lacking.values() for name in names})
    print(f"Without a wheel somewhere: {', '.join(missing) or 'none'} (docs/wheels.md)")
    return 1 if missing else 0


def pinned(files: tuple[str, ...] = PINS) -> dict[tuple[str, str], tuple[str, list[str]]]:
    """Name and version of each pin, with its marker and hashes."""
    found = {}
    for file in files:
        for name, version, marker, hashes in _PIN.findall((ROOT / file).read_text(encoding="utf-8")):
            found[name, version] = marker, re.findall("[0-9a-f]{64}", hashes)
    return dict(sorted(found.items()))


def bill() -> dict[str, Any]:
    """The SBOM. A pin has several files, for several systems; each has its hash."""
    own = f"pkg:pypi/allowance@{__version__}"
    parts = []
    for (name, version), (_, hashes) in pinned().items():
        address = f"pkg:pypi/{name}@{version}"
        parts.append(
            {
                "type": "library",
                "bom-ref": address,
                "name": name,
                "version": version,
                "purl": address,
                "hashes": [{"alg": "SHA-256", "content": one} for one in hashes],
            }
        )
    program = {
        "type": "application",
        "bom-ref": own,
        "name": "allowance",
        "version": __version__,
        "purl": own,
        "licenses": [{"license": {"id": "MIT"}}],
    }
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": program},
        "components": parts,
        "dependencies": [{"ref": own, "dependsOn": [part["bom-ref"] for part in parts]}],
    }


def without_wheel(target: str, python: str) -> list[str]:
    """Pins that nobody could install there without a compiler."""
    if _resolves([f"-r {ROOT / file}" for file in PINS], target, python):
        return []
    pins = [
        f"{name}=={version}" + (f" ; {marker}" if marker else "") for (name, version), (marker, _) in pinned().items()
    ]
    return [pin.partition(" ")[0] for pin in pins if not _resolves([pin], target, python)]


def _resolves(wanted: list[str], target: str, python: str) -> bool:
    lines = "\n".join(wanted)
    command = [sys.executable, "-m", "uv", "pip", "compile", "-q", "--no-deps", "--only-binary", ":all:", "--no-header"]
    command += ["--python-platform", target, "--python-version", python, "-"]
    return subprocess.run(command, input=lines, encoding="utf-8", cwd=ROOT, capture_output=True).returncode == 0


def table(lacking: dict[tuple[str, str], list[str]]) -> str:
    """A row for each pin, and a column for each system."""
    lines = [
        "# Wheels",
        "",
        "Written by `make dist`, which asks the package index. Can each pin of the app and of the extras `serve` and "
        f"`postgres` be installed without a compiler, on Python {', '.join(PYTHONS)}? Brackets: where it is needed.",
        "",
        f"| package | {' | '.join(SYSTEMS)} |",
        f"|---|{'---|' * len(SYSTEMS)}",
    ]
    for (name, version), (marker, _) in pinned().items():
        pin = f"{name}=={version}"
        cells = []
        for system in SYSTEMS:
            without = [python for python in PYTHONS if pin in lacking[system, python]]
            cells.append(f"not on {', '.join(without)}" if without else "yes")
        lines.append(f"| {name} {version}{' (' + marker + ')' if marker else ''} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
