"""The catalogue: every question, by its key.

A question is found by standing in a file of one of the folders here: every class that says how it is tried (`trial`) is
one, in the order that its card names. That puts it on its pages, into the audit and under the whole battery of tests.
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import walk_packages
from types import MappingProxyType

from dpengine.mechanisms.query import AnyQuery


def _questions() -> list[type[AnyQuery]]:
    modules = [import_module(module.name) for module in walk_packages(__path__, f"{__name__}.") if not module.ispkg]
    classes = {each for module in modules for each in vars(module).values() if isinstance(each, type)}
    return sorted(
        (each for each in classes if "trial" in vars(each)), key=lambda each: (each.card.order, each.card.key)
    )


catalogue: MappingProxyType[str, type[AnyQuery]] = MappingProxyType({each.card.key: each for each in _questions()})


def asked_on(page: str) -> tuple[str, ...]:
    """The keys of the questions that a page asks, in the order in which it offers them."""
    return tuple(key for key, question in catalogue.items() if page in question.card.asked_on)
