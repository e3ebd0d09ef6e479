"""What the app imports it asks for by name: nothing is there only because something else needs it."""

from __future__ import annotations

import re
import sys
from functools import cache, reduce
from operator import or_
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent
OURS = ("allowance", "dpengine", "ui", "demos", "pages")
IMPORT = re.compile(r"^\s*(?:import (\w+)|from (\w+)[\w.]* import )", re.MULTILINE)
NAMED = {
    "ibis": "ibis-framework",
    "docx": "python-docx",
    "PIL": "pillow",
    "grpc": "grpcio",
}  # otherwise as it is imported


def required(file: str = "requirements.in") -> dict[str, Requirement]:
    lines = (line.partition("#")[0].strip() for line in (ROOT / file).read_text().splitlines())
    found = [Requirement(line) for line in lines if line and not line.startswith("-")]
    return {canonicalize_name(one.name): one for one in found}


@cache
def imported() -> dict[str, str]:
    """Packages that running code imports, each with a file that does."""
    found = {}
    for path in [ROOT / "app.py", *(path for part in OURS for path in sorted((ROOT / part).rglob("*.py")))]:
        names = [one or other for one, other in IMPORT.findall(path.read_text(encoding="utf-8"))]
        for name in {*names} - {*OURS} - sys.stdlib_module_names:
            found[canonicalize_name(NAMED.get(name, name))] = str(path.relative_to(ROOT))
    return found


def test_what_is_imported_is_required() -> None:
    extras = (
        required(f"requirements-{name}.in") for name in ("serve", "postgres", "spark")
    )  # not imported on a laptop
    asked = reduce(or_, extras, required()) | {name: Requirement(name) for name in ("py4j", "grpcio")}  # of pyspark
    missing = {name: where for name, where in imported().items() if name not in asked}
    assert not missing, f"imported and not in requirements.in: {missing}"
    unused = required().keys() - imported().keys()
    assert not unused, f"in requirements.in and nowhere imported: {sorted(unused)}"


def test_the_noise_comes_from_a_version_that_draws_it_right() -> None:
    """OpenDP before 0.14.2 drew additive noise with a bias."""
    allowed = required()["opendp"].specifier
    assert "0.14.2" in allowed and not any(version in allowed for version in ("0.13.0", "0.14.0", "0.14.1"))


def test_the_pins_are_what_is_asked_for() -> None:
    pinned = re.findall(r"^([A-Za-z0-9._-]+)==(\S+)", (ROOT / "requirements.txt").read_text(), flags=re.M)
    versions: dict[str, list[str]] = {}
    for name, version in pinned:
        versions.setdefault(canonicalize_name(name), []).append(version)
    for name, asked in required().items():
        assert versions.get(name) and all(one in asked.specifier for one in versions[name]), name
        for one in versions[name]:
            block = (ROOT / "requirements.txt").read_text().split(f"\n{name}=={one}", 1)[1].split("==", 1)[0]
            assert "-r requirements.in" in block, f"{name}: run make lock"


@pytest.mark.parametrize("extra", ["serve", "dev", "postgres", "spark"])
def test_what_comes_on_top_has_the_same_pins(extra: str) -> None:
    """Or the files could not be installed together."""
    pin = re.compile(r"^([A-Za-z0-9._-]+)==([^\s;]+)(?: ; (.*?))? \\$", flags=re.M)
    files = [pin.findall((ROOT / name).read_text()) for name in ("requirements.txt", f"requirements-{extra}.txt")]
    pinned, more = ({(name, version) for name, version, _ in found} for found in files)
    shared = {name for name, _ in pinned} & {name for name, _ in more}
    assert more and not {one for one in more if one[0] in shared} - pinned
    assert "--hash=sha256:" in (ROOT / f"requirements-{extra}.txt").read_text()
