"""Receipts against ledgers: what holds is verified, every tampered field is found, and no file is touched."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import dpengine as dp
from dpengine import __main__
from dpengine.accountant.loss import Pure
from dpengine.asking import receipts
from dpengine.asking.answers import build_receipt, claim_of
from dpengine.asking.receipts import Finding, check, read_receipts
from dpengine.commands import verify
from dpengine.ledger import exports
from dpengine.ledger.chain import hash_of
from dpengine.ledger.rows import COLUMNS
from dpengine.workspace import Workspace
from tests.helpers_ledger import raises

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    opened = Workspace(tmp_path_factory.mktemp("home") / "var")
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def answers(home: Workspace) -> list[dp.Answer]:
    """One of each shape: a number, bars, a label, and one about a column that is not declared."""
    frame = pd.DataFrame({"x": [1, 2, 3, 4] * 50, "town": ["A", "B"] * 100, "note": ["p", "q"] * 100})
    schema = dp.Schema({"x": dp.Number(0, 10, step=1), "town": dp.Category(["A", "B"])})
    table = home.add_table("people", frame, schema=schema, unit=dp.Unit.rows(), budget=dp.Budget("10", "1e-6"))
    queries = [
        table.query("count", where=[["x", ">=", 3]], epsilon="0.5"),
        table.query("histogram", column="town", epsilon="0.25"),
        table.query("top_item", column="town", epsilon="0.1"),
        table.query("median", column="x", by="town", epsilon="0.5"),
        table.query("fit_check", epsilon="0.1"),
        table.query("find_declarations", lists=["note"], epsilon="1", delta="1e-8"),
        table.query("top_item", column="town", epsilon="0.1", noise="permute_and_flip"),
        table.query("histogram", column="town", epsilon="0.25", noise="gaussian"),
    ]
    return [table.ask(query) for query in queries]


@pytest.fixture(scope="module")
def receipt(answers: list[dp.Answer]) -> dict[str, Any]:
    """The first, as a person has it: from a file."""
    return dict(json.loads(json.dumps(answers[0].receipt, ensure_ascii=False)))


def found(home: Workspace, *receipts: dict[str, Any]) -> list[Finding]:
    return check(list(receipts), home.ledger.export_rows())


def test_receipts_of_every_shape_hold(home: Workspace, answers: list[dp.Answer]) -> None:
    content = "".join(home.table("people").answer_lines()).encode()
    receipts = read_receipts(content, "answers.jsonl")
    assert [one["request"] for one in receipts] == [answer.request_id for answer in answers]
    assert [one.code for one in found(home, *receipts)] == ["verify.fine"] * len(answers)
    claim = receipts[0]["claim"]
    assert {"unit", "relation", "bounds", "version", "theorem", "parameters", "promise"} <= claim.keys()
    assert {"claim", "loss", "price", "charge", "answer", "ledger", "actor"} <= receipts[0].keys()


def leaves(told: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Every field of a receipt down to its values; a list counts as one."""
    if isinstance(told, dict) and told:
        for name in sorted(told):
            yield from leaves(told[name], (*path, name))
    else:
        yield path


# What a receipt of one number holds at least. A test below changes every field of every receipt, whatever they are.
FIELDS = sorted(
    """receipt ledger request table budget actor at price
    loss.kind loss.epsilon charge.seq charge.hash answer.seq answer.hash answer.value answer.interval
    claim.key claim.version claim.parameters.epsilon claim.parameters.where claim.digest claim.sentence claim.theorem
    claim.relation claim.unit.kind claim.about claim.bounds.x.kind claim.bounds.x.lower claim.bounds.x.upper
    claim.bounds.x.step claim.promise.kind claim.promise.alpha claim.promise.of
    claim.promise.beta claim.promise.floor claim.promise.unit claim.promise.nominal""".split()
)


def test_a_receipt_holds_all_of_these(receipt: dict[str, Any]) -> None:
    assert {".".join(path) for path in leaves(receipt)} >= set(FIELDS)


def tampered(
    receipt: dict[str, Any], field: str | tuple[str, ...], change: Callable[[dict[str, Any], str], object]
) -> dict[str, Any]:
    copy: dict[str, Any] = json.loads(json.dumps(receipt))
    inner, (*path, last) = copy, tuple(field.split(".")) if isinstance(field, str) else field
    for name in path:
        inner = inner[name]
    change(inner, last)
    return copy


def other(inner: dict[str, Any], last: str) -> None:
    old = inner[last]
    inner[last] = not old if isinstance(old, bool) else f"{old}0" if isinstance(old, str) else 7 if old != 7 else 8


def test_a_change_of_any_field_of_any_receipt_is_caught(home: Workspace, answers: list[dp.Answer]) -> None:
    changed = []
    for answer in answers:
        whole = json.loads(json.dumps(answer.receipt))
        changed += [tampered(whole, path, other) for path in leaves(whole) if path != ("request",)]
    assert len(changed) > 6 * len(FIELDS) - 40 and not any(one.ok for one in found(home, *changed))


@pytest.mark.parametrize("field", FIELDS)
def test_a_change_of_any_field_is_caught(home: Workspace, receipt: dict[str, Any], field: str) -> None:
    codes = {"ledger": "verify.elsewhere", "receipt": "verify.version", "request": "verify.absent"}
    [finding] = found(home, tampered(receipt, field, other))
    assert not finding.ok and finding.code == codes.get(field, "verify.differs")
    if finding.code == "verify.differs":
        assert len(finding.differences) == 1 and finding.differences[0].startswith(f"{field}: the receipt says ")
        assert finding.differences[0] in finding.sentence


@pytest.mark.parametrize("field", sorted(set(FIELDS) - {"receipt", "request", "ledger"}))
def test_a_field_left_out_is_caught(home: Workspace, receipt: dict[str, Any], field: str) -> None:
    [finding] = found(home, tampered(receipt, field, lambda inner, last: inner.pop(last)))
    assert finding.code == "verify.differs"


def test_what_only_looks_the_same_is_caught(home: Workspace, receipt: dict[str, Any]) -> None:
    whole = receipt["answer"]["value"]
    for value in (float(whole), str(whole), None, [whole]):
        [finding] = found(home, tampered(receipt, "answer.value", lambda inner, last, v=value: inner.update({last: v})))
        assert finding.code == "verify.differs", value
    [finding] = found(home, receipt | {"added": 1})
    assert finding.code == "verify.differs" and "no such field" in finding.sentence
    told = tampered(receipt, "answer.value", lambda inner, last: inner.update({last: "\x1b[2J\n" + "x" * 500}))
    [finding] = found(home, told)
    assert finding.sentence.isprintable() and len(finding.sentence) < 300


def test_a_receipt_of_another_workspace_is_told_so(home: Workspace, receipt: dict[str, Any], tmp_path: Path) -> None:
    other_home = Workspace(tmp_path / "other")
    town = other_home.table("town")
    town.ask(town.query("median", column="monthly_income", epsilon="0.1"))
    [finding] = check([receipt], other_home.ledger.export_rows())
    other_home.close()
    assert finding.code == "verify.elsewhere" and "ledger belongs to another workspace" in finding.sentence


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Workspace]:
    opened = Workspace(tmp_path / "own")
    yield opened
    opened.close()


def test_a_ledger_that_claims_another_loss_than_its_mechanism_states(own: Workspace) -> None:
    """The chain is whole and the receipt is what it holds: only recomputing the claim tells."""
    frame = pd.DataFrame({"x": [1, 2, 3, 4] * 50})
    schema = dp.Schema({"x": dp.Number(0, 10, step=1)})
    table = own.add_table("people", frame, schema=schema, unit=dp.Unit.rows(), budget=dp.Budget("10", "1e-6"))
    query = table.query("count", where=[["x", ">=", 3]], epsilon="0.5")
    claim = claim_of(query)
    wrong_cuts = [{"code": "cut.rows", "column": "who", "most": 9, "words": "x"}]
    cases = [
        ("verify.fine", claim, query.loss()),
        ("verify.fine_unknown", claim | {"version": 99}, Pure(Fraction(1, 100))),
        ("verify.loss", claim, Pure(Fraction(1, 100))),
        ("verify.claim", claim | {"digest": "0" * 64}, query.loss()),
        ("verify.claim", claim | {"promise": claim["promise"] | {"alpha": "1"}}, query.loss()),
        ("verify.claim", claim | {"cuts": wrong_cuts}, query.loss()),
        ("verify.claim", {name: part for name, part in claim.items() if name != "cuts"}, query.loss()),
        ("verify.terms", claim | {"relation": "add_remove"}, query.loss()),
    ]
    receipts = []
    for place, (_, told, loss) in enumerate(cases):
        asked: dict[str, Any] = {"budget": table.budget.id, "table": "people", "actor": "owner", "worker": "ab"}
        own.ledger.reserve(**asked, request=f"r{place}", claim=told, loss=loss)
        own.ledger.answer(f"r{place}", {"value": 1, "interval": None})
    own.ledger.reserve(
        budget=table.budget.id,
        table="people",
        actor="owner",
        request="pending",
        claim=claim,
        loss=query.loss(),
        worker="ab",
    )
    for entry in own.ledger.walk(table.budget.id):
        receipts.append(json.loads(json.dumps(build_receipt(entry))))
    assert [one.code for one in check(receipts, own.ledger.export_rows())] == [
        *(code for code, *_ in cases),
        "verify.unanswered",
    ]


# Files ----------------------------------------------------------------------------------------------------------------


def told(capsys: pytest.CaptureFixture[str], *paths: Path) -> tuple[int, list[str]]:
    code = verify.main([str(path) for path in paths])
    return code, capsys.readouterr().out.splitlines()


def listing(folder: Path) -> dict[str, tuple[int, int]]:
    return {path.name: (path.stat().st_size, path.stat().st_mtime_ns) for path in folder.iterdir()}


@pytest.fixture
def files(home: Workspace, receipt: dict[str, Any], tmp_path: Path) -> Path:
    """A folder with a receipt, a forged one, a closed copy of the ledger and an export."""
    (tmp_path / "receipt.json").write_text(json.dumps(receipt, indent=1), encoding="utf-8")
    forged = receipt | {"answer": receipt["answer"] | {"value": receipt["answer"]["value"] + 1}}
    (tmp_path / "forged.json").write_text(json.dumps(forged), encoding="utf-8")
    with closing(sqlite3.connect(home.ledger.path)) as live, closing(sqlite3.connect(tmp_path / "copy.sqlite")) as copy:
        live.backup(copy)
    (tmp_path / "export.jsonl").write_text("".join(exports.export_lines(home.ledger)), encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("ledger", ["copy.sqlite", "export.jsonl"])
def test_the_command_tells_one_line_each_and_touches_nothing(
    files: Path, capsys: pytest.CaptureFixture[str], ledger: str
) -> None:
    before = listing(files)
    code, lines = told(capsys, files / "receipt.json", files / ledger)
    assert code == 0 and len(lines) == 1 and lines[0].startswith("verified") and "receipt.json" in lines[0]
    code, lines = told(capsys, files / "receipt.json", files / "forged.json", files / ledger)
    assert code == 1 and len(lines) == 2
    assert lines[0].startswith("verified") and lines[1].startswith("NOT VERIFIED") and "answer.value" in lines[1]
    assert listing(files) == before


def test_a_live_ledger_is_read_with_what_its_log_holds(
    home: Workspace, files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = home.ledger.path.parent
    names = set(listing(folder))
    assert {"ledger.sqlite-wal", "ledger.sqlite-shm"} <= names
    assert told(capsys, files / "receipt.json", home.ledger.path)[0] == 0
    assert set(listing(folder)) == names
    bare = files / "bare"  # a copy with its log but without SQLite's third file
    bare.mkdir()
    for end in ("", "-wal"):
        shutil.copy(f"{home.ledger.path}{end}", bare)
    before = listing(bare)
    assert told(capsys, files / "receipt.json", bare / "ledger.sqlite")[0] == 0
    assert listing(bare) == before


def test_a_read_only_folder_will_do(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (files / "copy.sqlite").chmod(0o400)
    files.chmod(0o500)
    try:
        assert told(capsys, files / "receipt.json", files / "copy.sqlite")[0] == 0
    finally:
        files.chmod(0o700)


def cut(path: Path, share: float) -> None:
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * share)])


def drop_last_line(path: Path) -> None:
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join(lines[:-1]), encoding="utf-8")


def retyped(path: Path, column: str, value: object) -> None:
    """The last row says something else in a column, and is hashed anew."""
    *lines, last = path.read_text(encoding="utf-8").splitlines()
    row = json.loads(last) | {column: value}
    row["hash"] = hash_of(row)
    first = json.loads(lines[0]) | {"head": row["hash"]}
    path.write_text("\n".join([json.dumps(first), *lines[1:], json.dumps(row)]) + "\n", encoding="utf-8")


@pytest.mark.parametrize("column", sorted(set(COLUMNS) - {"seq", "hash"}))
def test_a_row_of_odd_types_never_ends_in_a_traceback(
    files: Path, capsys: pytest.CaptureFixture[str], column: str
) -> None:
    for value in (["a"], None, 5, {"b": 1}):
        shutil.copy(files / "export.jsonl", files / "odd.jsonl")
        retyped(files / "odd.jsonl", column, value)
        code, lines = told(capsys, files / "receipt.json", files / "odd.jsonl")
        assert len(lines) == 1 and code in (0, 1)  # 0: nothing reads that column of another question's answer


BAD_LEDGERS: dict[str, tuple[str, Callable[[Path], object], str]] = {
    "missing": ("copy.sqlite", Path.unlink, "There is no ledger called copy.sqlite"),
    "empty": ("copy.sqlite", lambda path: path.write_bytes(b""), "is not a ledger"),
    "folder": ("copy.sqlite", lambda path: (path.unlink(), path.mkdir()), "cannot be read"),
    "half": ("copy.sqlite", lambda path: cut(path, 0.5), "is damaged or was cut off"),
    "tenth": ("copy.sqlite", lambda path: cut(path, 0.1), "is damaged or was cut off"),
    "other database": (
        "copy.sqlite",
        lambda path: sqlite3.connect(path).executescript("DROP TABLE entries; VACUUM").connection.close(),
        "is damaged or was cut off",
    ),
    "export cut in a row": ("export.jsonl", lambda path: cut(path, 0.7), "is damaged or was cut off"),
    "export without its last row": ("export.jsonl", drop_last_line, "is damaged or was cut off"),
    "a receipt": ("export.jsonl", lambda path: shutil.copy(path.with_name("receipt.json"), path), "is not a ledger"),
    "rows of another kind": ("export.jsonl", lambda path: retyped(path, "seq", "one"), "is not a ledger"),
    "noise": ("export.jsonl", lambda path: path.write_bytes(os.urandom(500)), "is not a ledger"),
}


@pytest.mark.parametrize("name", sorted(BAD_LEDGERS))
def test_a_bad_ledger_is_one_sentence(files: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    file, spoil, sentence = BAD_LEDGERS[name]
    spoil(files / file)
    names = set(listing(files))
    code, lines = told(capsys, files / "receipt.json", files / file)
    assert code == 1 and len(lines) == 1 and sentence in lines[0] and "Traceback" not in lines[0]
    assert set(listing(files)) == names


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "it is not JSON"),
        (b"not json", "it is not JSON"),
        (b"\xff\xfe\x00", "it is not JSON"),
        (b'{"receipt": 2, "request": "a", "request": "b"}', "it is not JSON"),
        (b'{"receipt": NaN, "request": "a"}', "it is not JSON"),
        (b'{"receipt": 2, "request": "a", "price": 1e400}', "it is not JSON"),
        (b"[" * 100_000, "it is not JSON"),
        (b"[]", "not a receipt"),
        (b'{"a": 1}', "not a receipt"),
        (b'{"receipt": 1, "request": "a"}', "download it again"),
        (b'{"receipt": 2, "request": "a", "charge": 5}', "ledger belongs to another workspace"),
    ],
)
def test_a_bad_receipt_is_one_sentence(
    files: Path, capsys: pytest.CaptureFixture[str], content: bytes, sentence: str
) -> None:
    (files / "bad.json").write_bytes(content)
    code, lines = told(capsys, files / "bad.json", files / "receipt.json", files / "copy.sqlite")
    assert code == 1 and len(lines) == 2
    assert "bad.json" in lines[0] and "NOT VERIFIED" in lines[0] and sentence in lines[0]
    assert lines[1].startswith("verified")


def test_receipts_that_cannot_be_read(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for path, sentence in ((files / "nowhere.json", "There is no such file"), (files, "cannot be read")):
        code, lines = told(capsys, path, files / "copy.sqlite")
        assert code == 1 and len(lines) == 1 and sentence in lines[0]


def test_a_changed_row_fails_every_receipt(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with closing(sqlite3.connect(files / "copy.sqlite")) as copy:
        copy.execute("DROP TRIGGER no_update")
        copy.execute("UPDATE entries SET at = '1999-01-01' WHERE seq = 5")
        copy.commit()
    code, [line] = told(capsys, files / "receipt.json", files / "copy.sqlite")
    assert code == 1 and "Row 5 was changed after it was written" in line


@pytest.mark.long
def test_from_a_shell(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = [sys.executable, "-m", "dpengine", "verify", str(files / "forged.json"), str(files / "copy.sqlite")]
    forged = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=500)
    assert forged.returncode == 1 and forged.stdout.count("\n") == 1 and not forged.stderr
    assert __main__.main(["verify", "--receipt"]) == 2
    assert "python -m dpengine verify RECEIPT... LEDGER" in capsys.readouterr().err
    assert __main__.main([]) == __main__.main(["fly"]) == 2
    assert "verify" in capsys.readouterr().err


def test_the_workspace_checks_its_own(home: Workspace, receipt: dict[str, Any]) -> None:
    [finding] = home.check_receipts(json.dumps(receipt).encode(), "receipt.json")
    assert finding.ok and finding.name == receipt["charge"]["hash"][:8]
    with raises("verify.not_json"):
        home.check_receipts(b"x", "x")


def test_a_promise_from_another_processor_is_the_same_and_another_promise_is_not() -> None:
    """Floats differ there in their last digits (seen in the mean's: 3604162651661791 and …789)."""
    here = {"kind": "within", "alpha": "4549465984700096/3604162651661789", "of": 1, "nominal": True, "parts": ["1/3"]}
    assert receipts._alike(here | {"alpha": "4549465984700096/3604162651661791"}, here)
    for other in (
        {"alpha": "4549465984700096/3604162651661"},
        {"alpha": "-4549465984700096/3604162651661789"},
        {"alpha": "4549470000000000/3604162651661789"},
        {"alpha": "1e999999999"},
        {"alpha": 1.2622810718785946},
        {"of": 1.0},
        {"of": True},
        {"nominal": 1},
        {"kind": "rank"},
        {"parts": ["1/3", "1/3"]},
        {"parts": {"a": "1/3"}},
        {"more": "1"},
    ):
        assert not receipts._alike(here | other, here), other
    assert not receipts._alike({name: here[name] for name in ("kind", "of")}, here)
