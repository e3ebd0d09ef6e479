"""The catalogue: every question, by its key.

Every class with a `trial` (how it is tested) in a file of one of the folders here is a question; `order` on its card
sorts them. That alone puts it on its pages, into the audit and under all common tests.
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import walk_packages
from types import MappingProxyType

from dpengine.mechanisms.query import AnyQuery


def _questions() -> list[type[AnyQuery]]:
    modules = [import_module(module.name) for module in walk_packages(__path__, f"{__name__}.") if not module.ispkg]
    classes = {item for module in modules for item in vars(module).values() if isinstance(item, type)}
    return sorted(
        (item for item in classes if "trial" in vars(item)), key=lambda item: (item.card.order, item.card.key)
    )


catalogue: MappingProxyType[str, type[AnyQuery]] = MappingProxyType({each.card.key: each for each in _questions()})


def asked_on(page: str) -> tuple[str, ...]:
    """The keys of the questions that a page asks, in the order in which it offers them."""
    return tuple(key for key, question in catalogue.items() if page in question.card.asked_on)
