"""The broken variants that questions name (`Trial.broken_variants`), each on its question's own example."""

from __future__ import annotations

from demos.neighbours import EXAMPLES, Example, settings
from demos.twins import twins, watched
from demos.watching import View, claimed
from tests.planted.registry import Planted

Subject = tuple[Example, str]  # with the name of a twin, or none


def view_of(subject: Subject) -> View:
    drawn = watched(*subject)
    one, other = (drawn.value(rows) for rows in subject[0].tables)
    return drawn.view(one, other)


def check_claim_on_two_tables(subject: Subject) -> None:
    """What the law loses between the two tables is no more than the question claims."""
    claim = claimed(subject[0].query)
    loss = view_of(subject).loss(claim.delta)
    assert loss is not None and loss <= float(claim.epsilon) + 1e-9, f"loses {loss}, and claims {claim.epsilon}"


def _planted(name: str) -> Planted:
    example = Example(name, *settings(name)[0], "1")
    twin = next(twin for twin in twins(example) if view_of((example, twin)).known)
    words = f"The example of {name} keeps its claim and draws as its twin “{twin}”."
    return Planted(f"{name}: {twin}", words, check_claim_on_two_tables, "and claims", (example, ""), (example, twin))


PLANTED = [_planted(name) for name in EXAMPLES]
