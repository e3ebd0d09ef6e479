"""The first and the last step of `make release`, and the step before it.

`python tools/release.py prepare 1.0.0` (`make release-prepare VERSION=1.0.0`) writes the version where it stands: in
allowance/__init__.py, over the changelog's unreleased part, and in the README's lines. `check` says what is missing
before hours of tests begin. `done` compares the files of dist/ with their checksums and names the last steps.
"""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VERSION, CHANGELOG, README = ROOT / "allowance" / "__init__.py", ROOT / "CHANGELOG.md", ROOT / "README.md"
_LINE = re.compile(r'(?m)^__version__ = "(.+)"$')
_WHEEL = re.compile(r"allowance-(\d+\.\d+\.\d+)-py3")
_FORM = re.compile(r"\d+\.\d+\.\d+")
# What the parts of a release write again: not changed by hand.
WRITTEN = re.compile(r"docs/audit\.md|docs/wheels\.md|bench/results[a-z_-]*\.md")


def version() -> str:
    [found] = _LINE.findall(VERSION.read_text(encoding="utf-8"))
    return str(found)


def prepare(new: str) -> list[str]:
    if not _FORM.fullmatch(new):
        return ["Name a version such as 1.0.0: make release-prepare VERSION=1.0.0"]
    log = CHANGELOG.read_text(encoding="utf-8")
    if "\n## Unreleased\n" not in log:
        return ["CHANGELOG.md has no part “## Unreleased”."]
    day = datetime.now(UTC).date()
    VERSION.write_text(_LINE.sub(f'__version__ = "{new}"', VERSION.read_text(encoding="utf-8")), encoding="utf-8")
    CHANGELOG.write_text(log.replace("\n## Unreleased\n", f"\n## {new} ({day})\n", 1), encoding="utf-8")
    README.write_text(_WHEEL.sub(f"allowance-{new}-py3", README.read_text(encoding="utf-8")), encoding="utf-8")
    print(f"Version {new}. Read CHANGELOG.md once more, commit, then: make release")
    return []


def check() -> list[str]:
    """One sentence for each thing that is missing."""
    now = version()
    missing = [] if _FORM.fullmatch(now) else [f"{now} is no version to release."]
    log = CHANGELOG.read_text(encoding="utf-8")
    part = re.search(rf"(?ms)^## {re.escape(now)} \(\d{{4}}-\d\d-\d\d\)\n(.*?)(?=^## |\Z)", log)
    if part is None or not part[1].strip():
        missing.append(f"CHANGELOG.md says nothing about {now}: make release-prepare VERSION={now}")
    if "\n## Unreleased\n" in log:
        missing.append("CHANGELOG.md has an unreleased part.")
    if set(_WHEEL.findall(README.read_text(encoding="utf-8"))) != {now}:
        missing.append(f"README.md names another wheel than that of {now}.")
    changed = [line[3:] for line in _git("status", "--porcelain").splitlines()]
    if others := [name for name in changed if not WRITTEN.fullmatch(name)]:
        missing.append(f"Not committed: {', '.join(others[:5])}{' …' if len(others) > 5 else ''}")
    if _git("tag", "--list", f"v{now}").strip():
        missing.append(f"{now} was released before.")
    return missing


def done() -> list[str]:
    now, folder = version(), ROOT / "dist"
    wanted = {f"allowance-{now}-py3-none-any.whl", f"allowance-{now}.tar.gz", f"allowance-{now}.cdx.json"}
    try:
        lines = (folder / "SHA256SUMS").read_text(encoding="utf-8").splitlines()
        sums = {name: total for total, name in (line.split("  ", 1) for line in lines)}
        wrong = [name for name, total in sums.items() if _sum(folder / name) != total]
    except OSError:
        return ["dist/ is not whole: make dist"]
    missing = [f"dist/{name} is missing: make dist" for name in sorted(wanted - sums.keys())]
    missing += [f"dist/{name} has another checksum." for name in wrong]
    if not missing:
        print(f"Version {now} is ready in dist/. By hand:")
        print("  git add docs bench && git commit   # what audit, benches and the index have written")
        print(f"  git tag -a v{now} && git push --follow-tags, and publish all files of dist/")
    return missing


def _sum(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _git(*words: str) -> str:
    return subprocess.run(["git", *words], cwd=ROOT, check=True, capture_output=True, encoding="utf-8").stdout


def main(words: list[str]) -> int:
    if words[:1] == ["prepare"]:
        missing = prepare(words[1] if len(words) > 1 else "")
    else:
        missing = {"check": check, "done": done}[words[0]]()
    print("\n".join(missing), file=sys.stderr, end="\n" if missing else "")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
