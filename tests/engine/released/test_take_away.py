"""What is taken away of an account: a notebook that runs with the engine alone, and a draft for the registry."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import dpengine as dp
from dpengine.asking.exports import Account
from dpengine.declared.facts import Facts
from dpengine.declared.unit import RELATIONS
from dpengine.messages.language import speaking
from dpengine.released import files
from dpengine.workspace import Workspace

ROOT = Path(__file__).resolve().parents[3]
RUN = "x'''\"\"\"\\\n');open('ran','w')#\u2028 č"  # a value that would like to be a program


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dp.Table]:
    workspace = Workspace(tmp_path_factory.mktemp("taken"))
    kind = RUN.replace("\n", " ").replace("\u2028", " ")
    rows = pd.DataFrame({"wait": [10, 20, 30, 40] * 100, "clinic": [kind, "heart", kind, "skin"] * 100})
    schema = dp.Schema({"wait": dp.Number(0, 60), "clinic": dp.Category([kind, "heart", "skin"])})
    made = workspace.add_table(
        "Čakalnica #1", rows, schema=schema, unit=dp.Unit.rows(), budget=dp.Budget(epsilon="20", delta="1e-6")
    )
    made.ask(made.query("histogram", column="clinic", epsilon="1"))
    made.ask(made.query("mean", column="wait", epsilon="1"))
    made.ask(made.query("median", column="wait", by="clinic", epsilon="5"))
    made.ask(made.query("top_item", column="clinic", epsilon="1"))
    made.ask(made.query("overview", against=["clinic"], epsilon="1"))
    made.open_session(made.query("adaptive_session", questions=3, epsilon="1"))
    yield made
    workspace.close()


def ran(told: dict[str, Any], folder: Path, before: str = "") -> str:
    """What its cells print, in a Python that can import neither the pages nor Streamlit."""
    cells = ["".join(cell["source"]) for cell in told["cells"] if cell["cell_type"] == "code"]
    blocked = "import sys\nfor name in ('ui', 'pages', 'demos', 'streamlit', 'plotly'): sys.modules[name] = None\n"
    (folder / "cells.py").write_text(blocked + before + "\n".join(cells), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-W", "error", "cells.py"],
        cwd=folder,
        env={"PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=500,
    )
    assert done.returncode == 0, done.stderr
    assert not (folder / "ran").exists()
    return done.stdout


@pytest.mark.long
def test_the_notebook_runs_with_the_engine_alone(table: dp.Table, tmp_path: Path) -> None:
    told = json.loads(files.notebook_text(table.account_lines()))
    assert (told["nbformat"], told["nbformat_minor"]) == (4, 5)
    for cell in told["cells"]:
        assert re.fullmatch(r"[A-Za-z0-9_-]{1,64}", cell["id"]) and isinstance(cell["source"], list)
        extra = {"execution_count", "outputs"} if cell["cell_type"] == "code" else set()
        assert set(cell) == {"id", "cell_type", "metadata", "source"} | extra
    said = ran(told, tmp_path)
    assert said.count("verified ") == 6 and "NOT VERIFIED" not in said
    assert "heart" in said and "0.95" in said
    assert re.search(r"^clinic\n   .*: -?\d+ \(\d+ – \d+\)\n   heart: ", said, re.M), "the first look is not told"
    assert table.history(1)[0].charge.history.count == 6  # nothing was asked


def test_a_receipt_that_was_changed_is_seen_in_the_notebook(table: dp.Table) -> None:
    lines = list(table.account_lines())
    changed = json.loads(lines[0])
    changed["receipt"]["loss"]["parts"][0]["epsilon"] = "1/1000"
    found = Account.read([json.dumps(changed), *lines[1:]]).checked()
    assert found[0].startswith("NOT VERIFIED") and all(line.startswith("verified") for line in found[1:])


def test_it_is_held_against_a_ledger(table: dp.Table) -> None:
    account, ledger = Account.read(table.account_lines()), table._workspace.ledger.path  # type: ignore[attr-defined]
    assert all(line.startswith("verified") for line in account.against(str(ledger)))
    forged = json.loads(json.dumps(account.records[1][1]))
    forged["answer"]["value"] = 0
    assert Account(((2, forged),)).against(str(ledger))[0].startswith("NOT VERIFIED")


def test_figures_are_those_of_the_page(table: dp.Table) -> None:
    account = Account.read(table.account_lines())
    for number, entry in enumerate(reversed(table.history(6))):
        assert account.figures(number) == table.figures(entry)


# The registry's own rules, as its schema and its checker have them: fields, what must be there, lists, kinds.

REQUIRED = {
    "": {"url_slug", "status", "tier", "deployment"},
    "deployment": {"basic"},
    "deployment.basic": {
        "name",
        "data_curators",
        "description",
        "intended_use",
        "data_product_type",
        "data_product_region",
        "publication_date",
    },
    "deployment.administrative": {"registry_authors"},
}
ALLOWED = {
    "": REQUIRED[""],
    "deployment": {
        "basic",
        "dp_variant",
        "privacy_loss",
        "deployment_model",
        "accounting",
        "implementation",
        "administrative",
    },
    "deployment.basic": REQUIRED["deployment.basic"] | {"data_product_sector"},
    "deployment.dp_variant": {"variant_name", "data_domain", "unprotected_quantities"},
    "deployment.privacy_loss": {
        "privacy_unit",
        "privacy_unit_details",
        "privacy_parameters",
        "privacy_parameters_details",
    },
    "deployment.privacy_loss.privacy_parameters": {"epsilon", "delta", "rho"},
    "deployment.deployment_model": {
        "model_name",
        "model_name_details",
        "actors",
        "release_type",
        "release_type_details",
        "data_source_type",
        "data_source_type_details",
        "access_type",
        "access_type_details",
    },
    "deployment.accounting": {"post_processing", "composition"},
    "deployment.implementation": {"preprocessing_and_hyperparameter_tuning", "mechanisms", "justification"},
    "deployment.administrative": {"sources", "notes", "registry_authors"},
}
LISTS: dict[str, set[Any]] = {
    "status": {"Draft", "Pending", "Approved"},
    "tier": {1, 2, 3},
    "deployment.basic.data_product_type": {
        "Summary statistics",
        "Machine learning model",
        "Dataset",
        "Synthetic data",
        "Interactive API",
        "SQL queries",
    },
    "deployment.dp_variant.variant_name": {
        "Pure DP",
        "Approximate DP",
        "Zero-concentrated DP",
        "Renyi DP",
        "Custom",
    },
    "deployment.deployment_model.model_name": {"Local", "Central", "Shuffle", "Federated", "Varies"},
    "deployment.deployment_model.release_type": {"One release", "Many releases"},
    "deployment.deployment_model.data_source_type": {"Static", "Dynamic"},
    "deployment.deployment_model.access_type": {"Interactive", "Non-interactive"},
}
NUMBERS = (
    "tier",
    "deployment.privacy_loss.privacy_parameters.epsilon",
    "deployment.privacy_loss.privacy_parameters.delta",
)
SEVERAL = ("deployment.basic.data_curators", "deployment.administrative.registry_authors")


def faults(told: Any, path: str = "") -> list[str]:
    """What the registry would complain of."""
    if path in ALLOWED:
        if not isinstance(told, dict):
            return [f"{path} is no object"]
        found = [f"{path} may not have {name}" for name in told.keys() - ALLOWED[path]]
        found += [f"{path} needs {name}" for name in REQUIRED.get(path, set()) - told.keys()]
        return found + [one for name, part in told.items() for one in faults(part, f"{path}.{name}".lstrip("."))]
    if path in SEVERAL:
        fine = isinstance(told, list) and told and all(isinstance(one, str) for one in told)
    elif path in NUMBERS:
        fine = isinstance(told, int | float) and not isinstance(told, bool)
    else:
        fine = isinstance(told, str) and not re.search(r"\\\\[^()]", told) and "http" not in told
    found = [] if fine else [f"{path} is of another kind"]
    if path in LISTS and told not in LISTS[path]:
        found.append(f"{path} is not on its list")
    if path.endswith("publication_date") and date.fromisoformat(told).isoformat() != told:
        found.append(f"{path} is no day")
    return found


@pytest.mark.parametrize("lang", ["en", "sl"])
def test_the_draft_keeps_the_rules_of_the_registry(table: dp.Table, lang: str) -> None:
    so_far = table.released_so_far()
    assert so_far is not None
    with speaking(lang):
        text = files.registry_text(table.facts, so_far)
    told = json.loads(text)
    assert faults(told) == []
    assert "TO FILL IN" in told["deployment"]["basic"]["intended_use"]  # in English, whatever the reader reads
    parameters = told["deployment"]["privacy_loss"]["privacy_parameters"]
    meter = table.meter()
    assert Fraction(parameters["epsilon"]) >= meter.spent_epsilon and Fraction(parameters["delta"]) >= meter.delta_now
    assert re.fullmatch(r"[a-z0-9_]+\.yaml", files.registry_file_name(table.name))
    assert re.fullmatch(r"[a-z0-9-]+", told["url_slug"])
    assert "open(" not in text  # names of columns alone, no value of a list


def test_a_fault_would_be_found(table: dp.Table) -> None:
    so_far = table.released_so_far()
    assert so_far is not None
    told = files.registry_draft(table.facts, so_far)
    told["surprise"] = "x"
    told["tier"] = 0
    del told["deployment"]["basic"]["name"]
    told["deployment"]["basic"]["publication_date"] = "2026-1-1"
    with pytest.raises(ValueError):
        faults(told)
    told["deployment"]["basic"]["publication_date"] = "2026-01-01"
    assert faults(told) == [" may not have surprise", "tier is not on its list", "deployment.basic needs name"]


@pytest.mark.parametrize("relation", RELATIONS)
def test_units_and_variants_are_told(relation: str) -> None:
    schema = dp.Schema({"x": dp.Number(0, 10)})
    unit = dp.Unit.column("who", at_most=3)
    facts = Facts("t", schema, unit, relation, 100, ("x", "who"))
    cards = [(dp.catalogue["count"].card, 2)]
    pure = files.ReleasedSoFar(Fraction(1), Fraction(0), Fraction(2), Fraction(0), "2026-11-15", cards)
    told = files.registry_draft(facts, pure)["deployment"]
    assert told["dp_variant"]["variant_name"] == "Pure DP" and "delta" not in told["privacy_loss"]["privacy_parameters"]
    assert "who" in told["privacy_loss"]["privacy_unit_details"] and "3" in told["privacy_loss"]["privacy_unit_details"]
