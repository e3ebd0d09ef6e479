"""The catalogue: every question, by its key.

Every class below this folder that states its `trial` (how it is tested) is a question. That alone puts it on its pages,
into the audit and under all common tests. The card's `order` sorts them.
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import walk_packages
from types import MappingProxyType

from dpengine.mechanisms.query import AnyQuery


def _questions() -> list[type[AnyQuery]]:
    modules = [import_module(module.name) for module in walk_packages(__path__, f"{__name__}.") if not module.ispkg]
    classes = {item for module in modules for item in vars(module).values() if isinstance(item, type)}
    questions = [item for item in classes if "trial" in vars(item)]
    return sorted(questions, key=lambda question: (question.card.order, question.card.key))


catalogue: MappingProxyType[str, type[AnyQuery]] = MappingProxyType({each.card.key: each for each in _questions()})


def asked_on(page: str) -> tuple[str, ...]:
    """The keys of a page's questions, in their order."""
    return tuple(key for key, question in catalogue.items() if page in question.card.asked_on)
