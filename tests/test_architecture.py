"""The import map as data: arrows run one way, so the map in docs/architecture.md cannot rot."""

from __future__ import annotations

import ast
import re
from collections import Counter
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

# A room of the engine may import only rooms that stand above it.
ROOMS = (
    "messages",
    "core",
    "declared",
    "noise",
    "accountant",
    "statistics",
    "ledger",
    "mechanisms",
    "reading",
    "intake",
    "released",
    "population",
    "storage",
    "asking",
    "planning",
    "table",
    "people",
    "workspace",
    "commands",
    "client",
    "audit",
    "__main__",
    "__init__",
)
LEVEL = {name: place for place, name in enumerate(ROOMS)}
ONLY_HERE = {
    "opendp": {"noise"},
    "ibis": {"intake", "statistics"},
    "sqlite_utils": {"ledger"},
}
# For names and keys of files, never for noise: that goes through noise/coins.py.
SECRETS = {
    "noise/coins.py",
    "asking/release.py",
    "client.py",
    "workspace.py",
    "storage/erase.py",
    "storage/tokens.py",
    "storage/workers.py",
}
NEVER_IN_ENGINE = {"streamlit", "plotly", "allowance", "ui", "pages", "demos", "random"}


@cache
def imports(path: Path) -> frozenset[str]:
    found: set[str] = set()
    for node in statements(path):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return frozenset(found)


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def statements(path: Path) -> list[ast.AST]:
    """All of a file, also inside others; expressions, of which there are ten times as many, hold none."""
    found: list[ast.AST] = []
    waiting: list[ast.AST] = [parsed(path)]
    while waiting:
        node = waiting.pop()
        found.append(node)
        for part in ("body", "orelse", "finalbody", "handlers", "cases"):
            inner = getattr(node, part, ())
            waiting += inner if isinstance(inner, list) else ()
    return found


def inside(path: Path) -> str:
    return path.relative_to(ROOT / "dpengine").as_posix()


def room(path: Path) -> str:
    """The engine's folder that a file lies in, or the file itself where it lies in none."""
    return inside(path).split("/")[0].removesuffix(".py")


ENGINE = sorted((ROOT / "dpengine").rglob("*.py"))
PAGES = sorted((ROOT / "ui").rglob("*.py"))


def test_engine_imports_only_downwards() -> None:
    for path in ENGINE:
        here, said = room(path), inside(path)
        assert here in LEVEL, f"{here} is not on the map: add it to ROOMS and docs/architecture.md"
        found = imports(path)
        tops = {name.split(".")[0] for name in found}
        assert not tops & NEVER_IN_ENGINE, said
        for library, homes in ONLY_HERE.items():
            assert library not in tops or here in homes, f"{said}: {library} belongs in {homes}"
        assert "secrets" not in tops or said in SECRETS, said
        for name in found:
            parts = name.split(".")
            if parts[0] == "dpengine" and len(parts) > 1 and parts[1] in LEVEL and parts[1] != here:
                assert LEVEL[parts[1]] < LEVEL[here], f"{said}: {here} may not import {parts[1]}"


def test_no_float_noise_near_a_release() -> None:
    """But for `released/synthetic_fit.py`, which draws from a public seed for what is already released."""
    for path in ENGINE:
        text = path.read_text(encoding="utf-8")
        if path.name == "synthetic_fit.py":
            text = text.replace("np.random.Philox(key=", "")
        assert "np.random" not in text and "numpy.random" not in text and "default_rng" not in text, path.name


def test_rooms_of_the_pages_have_no_circle() -> None:
    arrows: dict[str, set[str]] = {}
    for path in PAGES:
        here = path.relative_to(ROOT / "ui").parts[0].removesuffix(".py")
        there = {name.split(".")[1] for name in imports(path) if name.startswith("ui.")}
        arrows.setdefault(here, set()).update(there - {here})
    assert list(TopologicalSorter(arrows).static_order())  # raises on a circle


def test_no_circle_of_imports() -> None:
    """Neither when the program runs nor for types alone: whatever a file imports can be read before it."""
    files = [*ENGINE, *PAGES, *sorted((ROOT / "demos").rglob("*.py")), *sorted((ROOT / "bench").rglob("*.py"))]
    names = {path.relative_to(ROOT).with_suffix("").as_posix().replace("/", "."): path for path in files}
    names = {name.removesuffix(".__init__"): path for name, path in names.items()}
    arrows = {name: (imports(path) & names.keys()) - {name} for name, path in names.items()}
    assert list(TopologicalSorter(arrows).static_order())  # raises on a circle


def test_ui_imports_no_page() -> None:
    assert not [path for path in PAGES if any(name.split(".")[0] == "pages" for name in imports(path))]


@pytest.mark.parametrize("path", sorted((ROOT / "ui" / "api").glob("*.py")), ids=lambda path: path.name)
def test_the_door_for_programs_knows_no_page(path: Path) -> None:
    """It uses faces alone: nothing of the pages, no Streamlit, and no data but through the engine."""
    found = imports(path)
    assert not {name.split(".")[0] for name in found} & {"streamlit", "pages", "demos", "duckdb", "sqlite3", "pandas"}
    assert not any(name.startswith("ui.") and not name.startswith("ui.api") for name in found)


PROMISES = {
    node.name
    for node in ast.parse((ROOT / "dpengine" / "mechanisms" / "promises.py").read_text(encoding="utf-8")).body
    if isinstance(node, ast.ClassDef)
}


def called(tree: ast.AST) -> dict[str, str]:
    """What each imported or assigned name of a file stands for, as the last part of the name it was given."""
    names = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            names |= {alias.asname: alias.name for alias in node.names if alias.asname}
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Name | ast.Attribute | ast.Tuple | ast.BinOp):
            named = [part for part in ast.walk(node.value) if isinstance(part, ast.Name | ast.Attribute)]
            classes = [last for last in map(last_of, named) if last in PROMISES]
            names |= {target.id: classes[0] for target in node.targets if isinstance(target, ast.Name) and classes}
    return names


def last_of(node: ast.Name | ast.Attribute) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr


def decisions(tree: ast.AST) -> list[str]:
    """Where a page decides by something that only the question knows, or its promise."""
    found = []
    names = called(tree)
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id in ("isinstance", "issubclass")
        ):
            parts = [part for part in ast.walk(node.args[1]) if isinstance(part, ast.Name | ast.Attribute)]
            if any(names.get(last_of(part), last_of(part)) in PROMISES for part in parts):
                found.append(f"line {node.lineno}: the class of a promise")
        elif isinstance(node, ast.MatchClass) and isinstance(node.cls, ast.Name | ast.Attribute):
            if names.get(last_of(node.cls), last_of(node.cls)) in PROMISES:
                found.append(f"line {node.cls.lineno}: the class of a promise")
        elif isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            if any(isinstance(side, ast.Attribute) and side.attr == "picture" for side in sides):
                found.append(f"line {node.lineno}: a picture")
    return found


def test_ui_asks_the_question() -> None:
    found = {path.relative_to(ROOT).as_posix(): decisions(parsed(path)) for path in PAGES}
    assert not {name: where for name, where in found.items() if where}


@pytest.mark.parametrize(
    "text",
    [
        "isinstance(query.promise(), Within)",
        "isinstance(one, Number | promises.Rank)",
        "from dpengine.mechanisms.promises import Rank as Place\nisinstance(one, (str, Place))",
        "KINDS = (Rank, Band)\nisinstance(one, KINDS)",
        "match one:\n    case Excess():\n        pass",
        "query.card.picture == 'bars'",
        "answer.query.card.picture not in ('rows', 'file')",
    ],
)
def test_a_decision_that_only_the_question_can_make_is_seen(text: str) -> None:
    assert len(decisions(ast.parse(text))) == 1


@pytest.mark.parametrize("path", sorted((ROOT / "demos").rglob("*.py")), ids=lambda path: path.name)
def test_demonstrations_touch_no_table(path: Path) -> None:
    """They draw for made-up tables, so they may know the formulas and the coins, and nothing that holds a table."""
    found = imports(path)
    assert not {name.split(".")[0] for name in found} & {"streamlit", "plotly", "ui", "pages"}
    doors = ("table", "workspace", "open_workspace", "ledger", "intake", "storage", "asking.jobs", "statistics.engines")
    for door in doors:
        assert not any(name == f"dpengine.{door}" or name.startswith(f"dpengine.{door}.") for name in found), door
    assert "import dpengine" not in path.read_text(encoding="utf-8").replace("from dpengine import", "")


@pytest.mark.parametrize("path", sorted((ROOT / "pages").glob("*.py")), ids=lambda path: path.name)
def test_pages_are_thin(path: Path) -> None:
    tops = {name.split(".")[0] for name in imports(path)}
    assert not tops & {"pages", "demos", "numpy", "pandas", "duckdb", "sqlite3", "opendp"}
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 120


def test_the_map_in_the_docs_is_this_one() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    places = [text.index(f"| `{name}` |") for name in ROOMS if not name.startswith("__")]
    assert places == sorted(places)


def test_every_class_of_the_engine_has_a_name_of_its_own() -> None:
    names = Counter(node.name for path in ENGINE for node in statements(path) if isinstance(node, ast.ClassDef))
    assert not {name for name, count in names.items() if count > 1}


MOST_ANY = 91  # lines; lower it when there are fewer


def test_little_is_left_untyped_in_the_engine() -> None:
    """What is stored or comes from a form is `Json`, what nobody looks into is `object`."""
    lines = [line for path in ENGINE for line in path.read_text(encoding="utf-8").splitlines()]
    assert sum(re.search(r"\bAny\b", line) is not None for line in lines) <= MOST_ANY


def test_the_public_face_is_small() -> None:
    import dpengine

    assert len(dpengine.__all__) <= 30  # with reading typed questions, and declarations, summaries and joins of tables


def test_each_public_name_is_found() -> None:
    import dpengine

    assert [name for name in dpengine.__all__ if not hasattr(dpengine, name)] == []
    assert set(dpengine.__all__) == {*dpengine._HOMES} and not hasattr(dpengine, "AnyQuery")
