"""The catalogue: every question, by its key.

Every class below this folder that states its `trial` (how it is tested) is a question. That alone puts it on its pages,
into the audit and under all common tests. The card's `order` sorts them. They are imported at the first look into the
catalogue: the first screen needs none of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from pkgutil import walk_packages

from dpengine.mechanisms.query import AnyQuery


@cache
def _questions() -> dict[str, type[AnyQuery]]:
    modules = [import_module(module.name) for module in walk_packages(__path__, f"{__name__}.") if not module.ispkg]
    classes = {item for module in modules for item in vars(module).values() if isinstance(item, type)}
    questions: list[type[AnyQuery]] = [item for item in classes if "trial" in vars(item)]
    questions.sort(key=lambda question: (question.card.order, question.card.key))
    return {question.card.key: question for question in questions}


class _Catalogue(Mapping[str, type[AnyQuery]]):
    def __getitem__(self, key: str) -> type[AnyQuery]:
        return _questions()[key]

    def __iter__(self) -> Iterator[str]:
        return iter(_questions())

    def __len__(self) -> int:
        return len(_questions())


catalogue: Mapping[str, type[AnyQuery]] = _Catalogue()


def asked_on(page: str) -> tuple[str, ...]:
    """The keys of the questions that a page lists, in their order."""
    cards = (question.card for question in catalogue.values())
    return tuple(card.key for card in cards if page in card.asked_on and not card.behind)
