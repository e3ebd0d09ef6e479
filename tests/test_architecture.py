"""The import map as data: arrows run one way, so the map in docs/architecture.md cannot rot."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

# Inside dpengine a file may import only what stands on a line above its own.
LAYERS: tuple[tuple[str, ...], ...] = (
    ("messages",),
    ("errors",),
    ("exact", "telling"),
    ("dates", "inversion", "spelling"),
    ("unit", "loss", "schema", "coins"),
    ("predicate", "laws", "bounds", "ratios", "dialect", "binomials", "shuffle"),
    ("cells", "rowwise", "kernels", "features", "excess", "facts", "promises", "amounts"),
    ("statistics", "rawneeds", "wording", "cuts", "records", "layers"),
    ("bands",),
    ("bandfloats",),
    ("contract", "engines", "survey"),
    ("persons", "marks"),
    ("loading",),
    ("coding", "itemsets"),
    ("accountant",),
    ("mechanisms", "rehearsal"),
    ("suggestions", "cheapest", "publishing", "trust", "rivals", "rising", "resample"),
    ("published", "synthetic", "scorer"),
    ("budget",),
    ("fits",),
    ("calibration", "training"),
    ("validity",),
    ("bearing", "population"),
    ("entries",),
    ("chain", "workers", "anchor", "hold", "space"),
    ("repeats",),
    ("ledgerfile",),
    ("acts", "steps"),
    ("ledger",),
    ("answers", "jobs", "samples", "registry"),
    ("whatif",),
    ("curves",),
    ("statement", "revision", "looks", "plan", "sessions"),
    ("receipts", "copies", "owner", "arrivals"),
    ("table",),
    ("workspace",),
    ("verify", "backup", "audit"),
    ("recover",),
    ("__main__",),
    ("__init__",),
)
LEVEL = {name: place for place, layer in enumerate(LAYERS) for name in layer}
ONLY_HERE = {
    "opendp": {"coins"},
    "ibis": {"engines", "statistics"},
    "sqlite_utils": {"repeats", "ledgerfile", "acts", "steps", "ledger"},
    "secrets": {"coins", "table", "workspace", "workers", "owner"},  # elsewhere for names, never for noise
}
NEVER_IN_ENGINE = {"streamlit", "plotly", "ui", "pages", "demos", "random"}


def imports(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def room(path: Path) -> str:
    """The file of dpengine, or its folder."""
    inside = path.relative_to(ROOT / "dpengine").parts
    return inside[0] if len(inside) > 1 else path.stem


ENGINE = sorted((ROOT / "dpengine").rglob("*.py"))


@pytest.mark.parametrize("path", ENGINE, ids=lambda path: str(path.relative_to(ROOT)))
def test_engine_imports_only_downwards(path: Path) -> None:
    here = room(path)
    assert here in LEVEL, f"{here} is not on the map: add it to LAYERS and docs/architecture.md"
    found = imports(path)
    tops = {name.split(".")[0] for name in found}
    assert not tops & NEVER_IN_ENGINE
    for library, homes in ONLY_HERE.items():
        assert library not in tops or here in homes, f"{library} belongs in {homes}"
    for name in found:
        parts = name.split(".")
        if parts[0] == "dpengine" and len(parts) > 1 and parts[1] in LEVEL and parts[1] != here:
            late = here == "table" and parts[1] == "workspace"  # for the type checker alone
            assert late or LEVEL[parts[1]] < LEVEL[here], f"{here} may not import {parts[1]}"


def test_no_float_noise_near_a_release() -> None:
    for path in ENGINE:
        text = path.read_text(encoding="utf-8")
        assert "np.random" not in text and "numpy.random" not in text and "default_rng" not in text, path.name


@pytest.mark.parametrize("path", sorted((ROOT / "ui").glob("*.py")), ids=lambda path: path.name)
def test_ui_imports_no_page(path: Path) -> None:
    assert not any(name.split(".")[0] == "pages" for name in imports(path))


@pytest.mark.parametrize("path", sorted((ROOT / "demos").rglob("*.py")), ids=lambda path: path.name)
def test_demonstrations_touch_no_table(path: Path) -> None:
    """They draw for made-up tables, so they may know the formulas and the coins, and nothing that holds a table."""
    found = imports(path)
    assert not {name.split(".")[0] for name in found} & {"streamlit", "plotly", "ui", "pages"}
    doors = ("table", "workspace", "open_workspace", "ledger", "loading", "registry", "samples", "jobs", "engines")
    assert not found & {f"dpengine.{name}" for name in doors}
    assert "import dpengine" not in path.read_text(encoding="utf-8").replace("from dpengine import", "")


@pytest.mark.parametrize("path", sorted((ROOT / "pages").glob("*.py")), ids=lambda path: path.name)
def test_pages_are_thin(path: Path) -> None:
    tops = {name.split(".")[0] for name in imports(path)}
    assert not tops & {"pages", "demos", "numpy", "pandas", "duckdb", "sqlite3", "opendp"}
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 120


def test_the_map_in_the_docs_is_this_one() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    for layer in LAYERS[:-1]:
        assert " · ".join(f"`{name}`" for name in layer) in text, layer


def test_the_public_face_is_small() -> None:
    import dpengine

    assert len(dpengine.__all__) <= 24
