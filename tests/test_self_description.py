"""A question says everything about itself: where it is asked, in which words, how it is tried. Nothing is in a list
elsewhere, and what is missing is told here by name."""

from __future__ import annotations

import re
from dataclasses import replace
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
from ui.parts import form

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
    if not trial.twins:
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
    file, _, name = test.partition("::")
    path = ROOT / file
    return (
        path.is_file() and re.search(rf"^def {re.escape(name)}\(", path.read_text(encoding="utf-8"), re.M) is not None
    )


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
    assert asked_on("ask") == form.ORDER and set(whatif.offered()) <= set(form.ORDER)
    assert {page for question in catalogue.values() for page in question.card.asked_on} <= PAGES


class Silent(Count):
    """A count that says nothing about itself."""

    card: ClassVar[Card] = replace(Count.card, key="silent", asked_on=(), caveats=("much",))
    trial: ClassVar[Trial] = Trial({}, Asked({}), (), "tests/test_self_description.py::nothing", {"loud": Asked({})})

    truth: Any = Query.truth


def test_what_is_missing_is_told() -> None:
    told = lacks(Silent)
    for what in (
        "no page asks it",
        "no case",
        "no broken twin",
        "no test tests/",
        "card.silent.noun is not said in sl",
    ):
        assert any(what in line for line in told), what
    assert any("card.loud.noun" in line for line in told) and any("card.silent.caveat.much" in line for line in told)
    Silent.card, Silent.trial = replace(Silent.card, asked_on=("nowhere",)), replace(Silent.trial, covered="")
    assert {"the page nowhere does not exist", "nothing holds its ranges against the truth"} <= set(lacks(Silent))


def test_a_class_without_a_trial_of_its_own_is_no_question() -> None:
    assert "silent" not in catalogue and "trial" not in vars(type(Example("check_model", "replace", "one", "1").query))
