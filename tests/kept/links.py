"""The parameters in the addresses of pages, from the code and from the links that the kept workspaces hold."""

from __future__ import annotations

import ast
import importlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import parse_qsl, urlsplit

from ui.board import board_state
from ui.check import audit
from ui.learn import lessons
from ui.publish import publish
from ui.several import session
from ui.shell import nav
from ui.synthetic import synthetic
from ui.train import train
from ui.whatif import settings

ROOT = Path(__file__).resolve().parents[2]
EVERY = "every page"

# What code reads from an address or writes into it one by one: by file, the page and the names. In braces stands a
# variable, and behind a colon what it may hold; without one, it holds other names of this table, or what `forms` lists.
# docs/formats.md says what each name is for.
READ: dict[str, dict[str, str]] = {
    "pages/ask.py": {"ask": "answer"},
    "pages/data.py": {"data": "answer change table"},
    "pages/several.py": {"several": "view {name:session}"},
    "pages/start.py": {"start": "answer"},
    "ui/answers/answers.py": {"answers": "page view"},
    "ui/ask/box.py": {"ask": "answer"},
    "ui/ask/fit_warnings.py": {EVERY: "{url_name}"},
    "ui/ask/form_state.py": {"ask": "answer table {all} {name}"},
    "ui/ask/preview.py": {"data": "then", "several": "session"},
    "ui/board/board.py": {"board": "as look new of page {by:by,also} {group:group,second} {all} {name}"},
    "ui/check/audit.py": {"audit": "{all} {name}"},
    "ui/data/change.py": {"data": "open"},
    "ui/data/offers.py": {"data": "answer check people"},
    "ui/data/people.py": {"data": "protect table"},
    "ui/data/table_page.py": {"data": "answer asked look table"},
    "ui/data/wizard.py": {"data": "{name:epsilon,delta}"},
    "ui/learn/lessons.py": {"lessons": "lesson {all}"},
    "ui/ledger/ledger_view.py": {"answers": "page"},
    "ui/parts/job.py": {EVERY: "table answer {name} {url_name}"},
    "ui/parts/tables.py": {"data": "answer find"},
    "ui/publish/publish.py": {"publish": "of what bins share published {parameter}"},
    "ui/several/plan.py": {"several": "asked keep plan run"},
    "ui/several/session.py": {"several": "run session step {name}"},
    "ui/shell/frame.py": {EVERY: "table"},
    "ui/shell/language.py": {EVERY: "lang {all}"},
    "ui/shell/nav.py": {EVERY: "table {name}"},
    "ui/shell/scroll.py": {EVERY: "{all}"},
    "ui/shell/state.py": {EVERY: "table"},
    "ui/shell/tour.py": {EVERY: "tour", "ask": "answer"},
    "ui/synthetic/synthetic.py": {"synthetic": "of if made"},
    "ui/train/train.py": {"train": "shapes trained checked with {all:target,positive,features}"},
    "ui/whatif/settings.py": {"whatif": "table {name}"},
    "ui/whatif/whatif.py": {"whatif": "{all}"},
    "ui/workshop/wall.py": {"wall": "q epsilon"},
    "ui/workshop/workshop.py": {EVERY: "table"},
}
_GET = ("get", "get_all", "pop")
_PICKERS = ("picked", "_number")  # functions of ours that take the name first


def listed(names: str, of: bool = False) -> set[str]:
    """The names in a cell of `READ` as `read_by` finds them; with `of`, the parameters that they stand for."""
    found = set[str]()
    for name in names.split():
        variable, _, holds = name.strip("{}").partition(":")
        found |= {name} if name == variable else set(filter(None, holds.split(","))) if of else {f"{{{variable}}}"}
    return found


def forms() -> dict[str, set[str]]:
    """The parameters that a page's form writes into its address and reads from it; of the lessons also their names."""
    of_lessons = {setting.name for number in lessons.NAMES for setting in lessons.lesson(number).settings}
    return {
        "board": {*board_state.NAMES},
        "synthetic": {*synthetic.NAMES},
        "publish": {*publish.NAMES},
        "train": {*train.NAMES},
        "several": {*session.FIELDS, "plan"},
        "whatif": {*settings.USUAL},
        "audit": {*audit.USUAL},
        "answers": {nav.VIEW},
        "lessons": {"lesson", *(f"lesson={name}" for name in lessons.NAMES.values()), *of_lessons},
    }


def links_json(links: Iterable[str]) -> dict[str, list[str]]:
    """Every page and its parameters: those of `forms`, of `READ`, and of these links."""
    found: dict[str, set[str]] = {EVERY: set()} | {name: set() for name in nav.NAMES} | forms()
    for pages in READ.values():
        for page, names in pages.items():
            found[page] |= listed(names, of=True)
    for link in links:
        parts = urlsplit(link)
        found[parts.path] |= {name for name, _ in parse_qsl(parts.query)}
    return {name: sorted(parameters) for name, parameters in found.items()}


def read_by(file: Path) -> set[str]:
    """The names by which a file's code reads an address; of a variable its own name, in braces."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    return {_text(node, file) for node in _names(tree)} | ({"{all}"} if _whole(tree) else set())


def read_in_all() -> dict[str, set[str]]:
    files = sorted([*ROOT.glob("ui/**/*.py"), *ROOT.glob("pages/*.py"), ROOT / "app.py"])
    found = {file.relative_to(ROOT).as_posix(): read_by(file) for file in files}
    return {file: names for file, names in found.items() if names}


def _is_address(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and ast.unparse(node) == "st.query_params"


def _names(tree: ast.AST) -> Iterator[ast.expr]:
    for node in ast.walk(tree):
        match node:
            case ast.Call(ast.Attribute(value, how), args) if _is_address(value) and how in _GET:
                yield args[0]
            case ast.Call(ast.Name(called), [ast.Constant() as first, *_]) if called in _PICKERS:
                yield first
            case ast.Call(keywords=keywords) if any(one.arg == "bind" for one in keywords):
                yield from (one.value for one in keywords if one.arg == "key")
            case ast.Subscript(value, name) if _is_address(value):
                yield name
            case ast.Compare(left, _, beside) if any(map(_is_address, beside)):
                yield left


def _whole(tree: ast.AST) -> bool:
    """Is the address used as a whole: copied, searched, or written anew?"""
    used = sum(_is_address(node) for node in ast.walk(tree))
    by_name = 0
    for node in ast.walk(tree):
        match node:
            case ast.Call(ast.Attribute(value, how)) if _is_address(value) and how in _GET:
                by_name += 1
            case ast.Subscript(value) if _is_address(value):
                by_name += 1
            case ast.Compare(comparators=beside):
                by_name += sum(map(_is_address, beside))
    return used > by_name


def _text(node: ast.expr, file: Path) -> str:
    """The text that a constant holds, also one of this module or of one that it imports."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    at: object = SimpleNamespace(nav=nav)  # a page draws itself when it is imported
    if file.is_relative_to(ROOT / "ui"):
        at = importlib.import_module(".".join(file.relative_to(ROOT).with_suffix("").parts))
    for part in ast.unparse(node).split("."):
        at = getattr(at, part, None)
    return at if isinstance(at, str) else f"{{{ast.unparse(node)}}}"
