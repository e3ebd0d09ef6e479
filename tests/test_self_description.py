"""A question says everything about itself: where it is asked, in which words, how it is tried. Nothing is in a list
elsewhere, and what is missing is told here by name."""

from __future__ import annotations

import ast
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

import pytest

from demos.neighbours import EXAMPLES, QUESTION_OF, Example, settings
from demos.twins import twins
from dpengine.audit.world import CASES
from dpengine.mechanisms import asked_on, catalogue
from dpengine.mechanisms.card import Card
from dpengine.mechanisms.counts.count import Count
from dpengine.mechanisms.query import Query
from dpengine.mechanisms.trial import Example as Asked
from dpengine.mechanisms.trial import Trial
from dpengine.messages import MEANT, own
from dpengine.planning import whatif
from ui.ask import form_state

ROOT = Path(__file__).resolve().parent.parent
PAGES = {path.stem for path in (ROOT / "pages").glob("*.py")}
LANGUAGES = [language for language, areas in MEANT.items() if "cards" in areas]


def lacks(question: type[Query]) -> list[str]:
    """What a question does not say of itself."""
    card, trial = question.card, question.trial
    found = [f"the page {page} does not exist" for page in card.asked_on if page not in PAGES]
    if not card.asked_on:
        found.append("no page asks it")
    if not trial.cases:
        found.append("no case puts it under the battery")
    if not trial.example.given and any(
        parameter.required for parameter in card.parameters if parameter.kind != "epsilon"
    ):
        found.append("no example of it can be built")
    if not trial.broken_variants:
        found.append("it has no broken twin")
    codes = [f"card.{card.key}.{part}" for part in ("title", "noun", "plain", "theorem")]
    codes += [f"card.{card.key}.caveat.{name}" for name in card.caveats]
    codes += [f"card.{name}.noun" for name in trial.with_noise]
    found += [
        f"{code} is not said in {language}" for language in LANGUAGES for code in codes if code not in own(language)
    ]
    if not trial.covered and question.truth is Query.truth:
        found.append("nothing holds its ranges against the truth")
    if trial.covered and not stands(trial.covered):
        found.append(f"there is no test {trial.covered}")
    return found


def stands(test: str) -> bool:
    files = (path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py"))
    return any(f"\ndef {test}(" in text for text in files)


@pytest.mark.parametrize("key", catalogue)
def test_a_question_describes_itself(key: str) -> None:
    assert lacks(catalogue[key]) == []


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_has_a_broken_twin_on_every_pair_of_tables(name: str) -> None:
    for relation, unit in settings(name):
        example = Example(name, relation, unit, "1")
        assert example.query.card.key == QUESTION_OF[name] and twins(example), (relation, unit)


def test_no_two_questions_share_a_key_or_a_place() -> None:
    assert len({question.card.order for question in catalogue.values()}) == len(catalogue)
    assert [question.card.key for question in catalogue.values()] == list(catalogue)
    assert {key for key, _ in CASES} == set(catalogue)


def test_the_lists_of_pages_are_those_of_the_cards() -> None:
    assert asked_on("ask") == form_state.ORDER and asked_on("whatif") == whatif.offered()
    assert {page for question in catalogue.values() for page in question.card.asked_on} <= PAGES


class Silent(Count):
    """A count that says nothing about itself."""

    card: ClassVar[Card] = replace(Count.card, key="silent", asked_on=(), caveats=("much",))
    trial: ClassVar[Trial] = Trial({}, Asked({}), (), "test_nothing", {"loud": Asked({})})

    truth: Any = Query.truth


def test_what_is_missing_is_told() -> None:
    told = lacks(Silent)
    for what in (
        "no page asks it",
        "no case",
        "no broken twin",
        "no test test_nothing",
        "card.silent.noun is not said in sl",
    ):
        assert any(what in line for line in told), what
    assert any("card.loud.noun" in line for line in told) and any("card.silent.caveat.much" in line for line in told)
    Silent.card, Silent.trial = replace(Silent.card, asked_on=("nowhere",)), replace(Silent.trial, covered="")
    assert {"the page nowhere does not exist", "nothing holds its ranges against the truth"} <= set(lacks(Silent))


def test_a_class_without_a_trial_of_its_own_is_no_question() -> None:
    assert "silent" not in catalogue and "trial" not in vars(type(Example("check_model", "replace", "one", "1").query))


# --- no page decides by a question's key ------------------------------------------------------------------------------

FROM_CARDS = {"ORDER", "FINDS", "KEYS"}  # lists of keys that are made of cards


def is_key(part: ast.expr) -> bool:
    """`key`, `….key`, `…["key"]`, `….get("key")`, or the key of a question in an address, `…["q"]`."""
    if isinstance(part, ast.Call):
        got = isinstance(part.func, ast.Attribute) and part.func.attr == "get" and bool(part.args)
        return (got and getattr(part.args[0], "value", None) in ("key", "q")) or any(is_key(one) for one in part.args)
    if isinstance(part, ast.Subscript):
        return getattr(part.slice, "value", None) in ("key", "q")
    return getattr(part, "id", getattr(part, "attr", None)) == "key"


def is_fixed(part: ast.expr) -> bool:
    """A question named in the code, several of them, or a constant that stands for some."""
    if isinstance(part, ast.Tuple | ast.List | ast.Set):
        return any(is_fixed(one) for one in part.elts)
    if isinstance(part, ast.Constant):
        return part.value in catalogue
    name = str(getattr(part, "id", getattr(part, "attr", "")))
    return name.isupper() and name not in FROM_CARDS


def begins(part: ast.expr) -> bool:
    """The beginning of some question's key."""
    return isinstance(part, ast.Constant) and any(key.startswith(str(part.value)) for key in catalogue)


def decisions(source: str) -> list[int]:
    """The lines that compare a key with a question's name, or look it up among some."""
    found = []
    for node in ast.walk(ast.parse(source)):
        sides = [node.left, *node.comparators] if isinstance(node, ast.Compare) else []
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Dict):
            sides = [node.slice, *(one for one in node.value.keys if one is not None)]
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "startswith" and begins(node.args[0]):
            sides = [getattr(node.func, "value", node), ast.Constant(next(iter(catalogue)))]
        if any(is_key(side) for side in sides) and any(is_fixed(side) for side in sides):
            found.append(node.lineno)
    return found


def test_no_page_decides_by_the_key_of_a_question() -> None:
    for path in [*(ROOT / "ui").rglob("*.py"), *(ROOT / "pages").glob("*.py")]:
        assert not decisions(path.read_text(encoding="utf-8")), f"{path}: ask the question instead"


@pytest.mark.parametrize(
    "line",
    [
        'query.card.key == "count"',
        'key in ("mean", "sum")',
        "answer.query.card.key != SESSION",
        '{"density": 1, "cdf": 2}[key]',
        'str(claim.get("key")).startswith("train_")',
        'given["q"] == "median"',
    ],
)
def test_such_a_decision_is_seen(line: str) -> None:
    assert decisions(line) == [1]


def test_what_is_no_decision_is_left_alone() -> None:
    for line in ("one.card.key == key", "key in ORDER", "catalogue[key].card", 'key.startswith("ask-")'):
        assert decisions(line) == []


@cache
def left_to_be_written() -> list[str]:
    return [code for language in MEANT for code, text in own(language).items() if "TODO" in text]


@pytest.mark.parametrize("key", ["", *catalogue])
def test_no_sentence_is_left_to_be_written(key: str) -> None:
    """Of one question, or of all."""
    assert not [code for code in left_to_be_written() if not key or key in code.split(".")]
