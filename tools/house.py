"""Figures of the house, which docs/house.md sets side by side: `python tools/house.py`, or of a commit:
`python tools/house.py 4d63b97f`. Counted are dpengine/ and ui/ without dpengine/messages, by git's list of files."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tarfile
from collections import Counter
from io import BytesIO
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).resolve().parents[1]
ROOMS = ("dpengine", "ui")
SMALL = 80  # lines: a module of fewer with one importer belongs into its importer
HOPS = "tests/pages/test_hops.py"


def sources(commit: str) -> dict[PurePosixPath, str]:
    """The Python files of a commit; of the working tree if `commit` is empty."""
    found = {}
    if commit:
        packed = subprocess.run(["git", "archive", commit, "--", *ROOMS], cwd=ROOT, check=True, capture_output=True)
        with tarfile.open(fileobj=BytesIO(packed.stdout)) as tree:
            for member in tree:
                if (file := tree.extractfile(member)) is not None and member.name.endswith(".py"):
                    found[PurePosixPath(member.name)] = file.read().decode("utf-8")
    else:
        listed = subprocess.run(["git", "ls-files", "--", *ROOMS], cwd=ROOT, check=True, capture_output=True)
        for name in listed.stdout.decode("utf-8").splitlines():
            if name.endswith(".py") and (ROOT / name).exists():
                found[PurePosixPath(name)] = (ROOT / name).read_text(encoding="utf-8")
    return {path: text for path, text in found.items() if "messages" not in path.parts}


def importers(files: dict[PurePosixPath, str]) -> dict[str, set[str]]:
    """For each module the others that import it, or a name from it."""
    names = {".".join(path.with_suffix("").parts).removesuffix(".__init__"): path for path in files}
    found: dict[str, set[str]] = {name: set() for name in names}
    for name, path in names.items():
        for node in ast.walk(ast.parse(files[path])):
            if isinstance(node, ast.Import):
                wanted = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                inside = [f"{node.module}.{alias.name}" for alias in node.names]
                wanted = [one if one in names else node.module for one in inside]
            else:
                continue
            for one in {*wanted} & {*names} - {name}:
                found[one].add(name)
    return found


def room(path: PurePosixPath) -> str:
    return "/".join(path.parts[:2]).removesuffix(".py")


def main(commit: str = "") -> None:
    files = sources(commit)
    lines = {path: len(text.splitlines()) for path, text in files.items()}
    alone = [name for name, others in importers(files).items() if len(others) == 1]
    length = {".".join(path.with_suffix("").parts): count for path, count in lines.items()}
    told = sum("told" in line for text in files.values() for line in text.splitlines())
    print(f"lines                        {sum(lines.values()):>7,}")
    print(f"files                        {len(files):>7,}")
    print(f"modules with one importer    {len(alone):>7,}")
    print(f"  of fewer than {SMALL} lines      {sum(length.get(name, SMALL) < SMALL for name in alone):>7,}")
    print(f"lines with “told”            {told:>7,}")
    print(f"hops of a count              {hops(commit):>7}")
    by_room: Counter[str] = Counter()
    for path, count in lines.items():
        by_room[room(path)] += count
    print("\nlines by room")
    for name, count in by_room.most_common():
        print(f"{name:<28} {count:>7,}")


def hops(commit: str) -> str:
    """The number that the test of the path holds; before that test, nobody counted by its rule."""
    if not commit:
        text = (ROOT / HOPS).read_text(encoding="utf-8")
    else:
        text = subprocess.run(
            ["git", "show", f"{commit}:{HOPS}"], cwd=ROOT, capture_output=True, encoding="utf-8"
        ).stdout
    most = re.search(r"^MOST = (\d+)$", text, re.MULTILINE)
    return most[1] if most else "–"


if __name__ == "__main__":
    main(*sys.argv[1:2])
