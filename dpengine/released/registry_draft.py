"""A draft of an entry for OpenDP's registry of deployments of differential privacy, from public facts and the ledger.

It has the fields that the registry's schema names and no others; what nobody but the curator knows says so and is left
to them. It is written as JSON, which is YAML too. A draft tells and promises nothing new: everything in it stands in
the ledger, the declaration or the docs.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from dpengine.core.exact import float_above
from dpengine.core.json_types import JsonObject
from dpengine.declared.facts import Facts
from dpengine.mechanisms.card import AnswerKind, Card
from dpengine.messages import say
from dpengine.messages.language import stored

_PRODUCTS: dict[AnswerKind, str] = {"table": "Synthetic data", "file": "Dataset", "model": "Machine learning model"}
_MODELS = {"central": "Central", "local": "Local", "shuffle": "Shuffle"}


@dataclass(frozen=True)
class ReleasedSoFar:
    """What was released under a budget: the claim if nothing more is asked, the cap, the first day, and the kinds of
    questions that were answered with how often each."""

    epsilon: Fraction
    delta: Fraction
    cap: Fraction
    cap_delta: Fraction
    first: str  # YYYY-MM-DD
    kinds: Sequence[tuple[Card, int]]


def draft(facts: Facts, so_far: ReleasedSoFar) -> JsonObject:
    """In English, as all that is given to others."""
    with stored():
        return _draft(facts, so_far)


def text(facts: Facts, so_far: ReleasedSoFar) -> str:
    return json.dumps(draft(facts, so_far), ensure_ascii=True, indent=2) + "\n"


def file_name(table: str) -> str:
    """Small letters, figures and underscores, as the registry wants it."""
    return f"{_signs(table, '_') or 'table'}.yaml"


def _signs(name: str, between: str) -> str:
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", between, plain).strip(between)


def _draft(facts: Facts, so_far: ReleasedSoFar) -> JsonObject:
    cards = [card for card, _ in so_far.kinds]
    products = {_PRODUCTS.get(card.answer, "Summary statistics") for card in cards}
    models = {_MODELS[card.trust] for card in cards}
    answers = sum(times for _, times in so_far.kinds)
    pure = so_far.delta == 0
    return {
        "url_slug": "-".join((_signs(facts.table, "-") or "table", so_far.first[:4])),
        "status": "Draft",
        "tier": 2,
        "deployment": {
            "basic": {
                "name": facts.table,
                "data_curators": [say("registry.curator")],
                "intended_use": say("registry.use"),
                "data_product_type": products.pop() if len(products) == 1 else "Summary statistics",
                "data_product_region": say("registry.region"),
                "description": say("registry.description", answers=answers, titles=[card.title for card in cards]),
                "publication_date": so_far.first,
            },
            "dp_variant": {
                "variant_name": "Pure DP" if pure else "Approximate DP",
                "data_domain": say("registry.domain", columns=list(facts.schema.columns)),
                "unprotected_quantities": say(f"registry.public.{facts.relation}"),
            },
            "privacy_loss": {
                "privacy_unit": say("registry.unit.rows" if facts.unit.id_column is None else "registry.unit.column"),
                "privacy_unit_details": _unit(facts),
                "privacy_parameters": {"epsilon": float_above(so_far.epsilon)}
                | ({} if pure else {"delta": float_above(so_far.delta)}),
                "privacy_parameters_details": say("registry.cap", epsilon=so_far.cap, delta=float(so_far.cap_delta)),
            },
            "deployment_model": {
                "model_name": models.pop() if len(models) == 1 else "Varies",
                "release_type": "Many releases",
                "data_source_type": "Static",
                "access_type": "Interactive",
                "access_type_details": say("registry.access"),
            },
            "accounting": {
                "post_processing": say("registry.after"),
                "composition": say("registry.composition"),
            },
            "implementation": {
                "preprocessing_and_hyperparameter_tuning": say("registry.before"),
                "mechanisms": say(
                    "registry.mechanisms", theorems="; ".join(f"{one.title}: {one.theorem}" for one in cards)
                ),
                "justification": say("registry.why"),
            },
            "administrative": {"notes": say("registry.notes"), "registry_authors": [say("registry.author")]},
        },
    }


def _unit(facts: Facts) -> str:
    """What makes two tables neighbours."""
    told, unit = say(f"registry.relation.{facts.relation}"), facts.unit
    most = "" if unit.id_column is None else " " + say("registry.most", column=unit.id_column, most=unit.at_most)
    return told + most
