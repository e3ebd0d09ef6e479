"""Every page of the app without a browser, with everything a person can download there."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dpengine as dp
from dpengine.asking.exports import ANSWER_COLUMNS, ROW_COLUMNS
from dpengine.ledger.exports import export_lines
from dpengine.mechanisms.models.of_gradients import OfGradients
from dpengine.released import model_scripts
from ui.answers import word
from ui.ledger import report
from ui.parts import exports
from ui.train import train

ROOT = Path(__file__).resolve().parents[2]
PLAN = json.dumps([["count", {"where": [["home", "in", ["a"]]], "epsilon": "0.1"}, "20", 0]])

# Each page as it can be met, by its address; `{answer}` and `{session}` stand for requests of this table.
PAGES: tuple[tuple[str, dict[str, str]], ...] = (
    ("ask", {"q": "count", "by": "home"}),
    ("data", {}),
    ("answers", {"view": "ledger"}),
    ("answers", {}),
    ("tables", {}),
    ("more", {}),
    ("start", {}),
    ("ask", {"q": "median", "column": "pay"}),
    ("ask", {"q": "histogram", "column": "likes"}),
    ("ask", {"q": "top_item", "column": "home"}),
    ("ask", {"q": "crosstab"}),
    ("ask", {"q": "proportion", "of": '[["far", ">", 3]]'}),
    ("ask", {"answer": "{answer}"}),
    ("data", {"change": "1"}),
    ("data", {"table": ""}),
    ("several", {"view": "after"}),
    ("several", {"session": "{session}"}),
    ("several", {"plan": PLAN}),
    ("whatif", {"from": "table", "q": "mean", "column": "far"}),
    ("whatif", {"see": "median"}),
    ("lessons", {}),
    ("audit", {}),
    ("publish", {"columns": '["home", "far"]', "epsilon": "1"}),
    ("publish", {"published": "{published}", "of": "home"}),
    ("publish", {"published": "{published}", "of": "far", "what": "bars"}),
    ("synthetic", {"columns": '["home", "far"]', "epsilon": "1"}),
    ("synthetic", {"made": "{fitted}", "of": "home"}),
    ("synthetic", {"made": "{made}", "of": "home"}),
    ("train", {"target": "pay", "features": '["home", "far"]', "share": "50"}),
    ("train", {"trained": "{trained}"}),
    ("board", {"against": '["home"]', "epsilon": "1"}),
    ("board", {"look": "{look}", "by": "home"}),
    ("train", {"shapes": "{look}"}),
    ("board", {"look": "{look}", "as": "people", "of": "far"}),
    ("thesis", {}),
)
SHORT = 3  # of them in `make test`


def opened(name: str, parameters: dict[str, str], runs: int = 1) -> Any:
    from streamlit.testing.v1 import AppTest

    app = AppTest.from_file(str(ROOT / "ui" / "main.py"), default_timeout=900)
    if name != "start":
        app.switch_page(f"../pages/{name}.py")
    for key, value in parameters.items():
        if value:
            app.query_params[key] = value
    for _ in range(runs):
        app.run()
    assert not app.exception
    return app


def pages(table: dp.Table, most: int | None = None, **told: str) -> Iterator[tuple[str, Any]]:
    for name, given in PAGES[:most]:
        filled = {key: told.get(value.strip("{}"), value) for key, value in given.items()}
        yield name, opened(name, {"table": table.name} | filled)


def downloads(table: dp.Table, workspace: Any, answers: list[dp.Answer]) -> Iterator[tuple[str, str]]:
    """All that a person can take away, as it is written."""
    for answer in answers:
        yield "answer as CSV", exports.answer_csv(answer)
        yield "receipts", json.dumps(answer.receipt)
        if answer.query.answer_kind == "file":
            yield "published table", exports.table_csv(table.published(answer).table()).decode()
        if isinstance(answer.query, OfGradients) and answer.path is not None:
            model = answer.query.model(answer.path.weights)
            yield "model", train.model_json(answer, model)
            yield "model as Python", model_scripts.script_of(model, answer.sentence, "")
    yield "ledger as CSV", exports.as_csv(ROW_COLUMNS, table.ledger_rows())
    yield "answers as CSV", exports.as_csv(ANSWER_COLUMNS, table.answer_rows())
    yield "answers as JSON lines", "".join(table.answer_lines())
    yield "ledger as JSON lines", "".join(export_lines(workspace.ledger))
    yield "report", report.html(table, workspace.ledger.head(), "2026-01-02T03:04:05+00:00")
    findings = [word.Finding(answer.sentence, answer) for answer in word.fit_for_report(table)]
    written = word.document(table, "Report", findings, workspace.ledger.head(), "2026-01-02")
    with zipfile.ZipFile(io.BytesIO(written)) as parts:
        yield "report for Word", parts.read("word/document.xml").decode()
