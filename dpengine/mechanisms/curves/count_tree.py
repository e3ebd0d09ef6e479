"""The shape of a tree of counts over the cells of a grid, and which nodes add up to what lies at or below a cell.

Tree        B branches at each node, L levels; the cells are the first level, the root is left out. A row is in one node
            of each level.
Digits      what is at or below a cell is a sum of nodes, some of them subtracted (“negative digits”, as in
            arXiv:2408.07021): inside its own block either the nodes up to the cell are added to what the whole blocks
            before it hold, or those after it are taken from what they hold with its own block, whichever are fewer. At
            the last level too, where the number of all rows is public. So a sum has about half as many nodes, none
            twice. Their noise is symmetric: a node that is subtracted is as noisy as one that is added.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache


@dataclass(frozen=True)
class NodeRange:
    """Nodes from `first` up to before `end`, added (1) or subtracted (−1)."""

    first: int
    end: int
    sign: int


NodeRanges = tuple[NodeRange, ...]


@lru_cache(maxsize=64)
def shape(leaves: int) -> tuple[int, int]:
    """(B, L): branches and levels, for the least noise in a sum of about L(B−1) nodes of scale ∝ L."""
    options = []
    for branches in range(2, max(leaves, 2) + 1):
        levels, reached = 1, branches
        while reached < leaves:
            levels, reached = levels + 1, reached * branches
        options.append((levels**3 * (branches - 1), branches, levels))
    _, branches, levels = min(options)
    return branches, levels


def nodes_of(cells: list[int]) -> list[int]:
    """Every node's count, the cells first."""
    branches, levels = shape(len(cells))
    nodes: list[int] = []
    for _ in range(levels):
        nodes += cells
        cells = [sum(cells[place : place + branches]) for place in range(0, len(cells), branches)]
    return nodes


@lru_cache(maxsize=64)
def sums(leaves: int, from_all: bool) -> tuple[tuple[NodeRanges, bool], ...]:
    """For every cell the nodes, and whether they are added to the number of all rows (only with `from_all`)."""
    branches, levels = shape(leaves)
    begins, widths = [0], [leaves]
    for _ in range(levels):
        begins.append(begins[-1] + widths[-1])
        widths.append(-(-widths[-1] // branches))
    found = []
    for cells in range(1, leaves + 1):
        parts: list[NodeRange] = []
        place, whole = cells, False
        for level in range(levels):
            begin, last = begins[level], level == levels - 1
            start = 0 if last else place // branches * branches
            end = widths[level] if last else min(start + branches, widths[level])
            back = end - place < place - start and (from_all or not last)
            first, stop = (place, end) if back else (start, place)
            if stop > first:
                parts.append(NodeRange(begin + first, begin + stop, -1 if back else 1))
            place = place // branches + back
            whole = back and last
        found.append((tuple(parts), whole))
    return tuple(found)


@lru_cache(maxsize=64)
def lengths(leaves: int, from_all: bool) -> tuple[int, ...]:
    """How many nodes the sum for each cell has."""
    return tuple(sum(part.end - part.first for part in parts) for parts, _ in sums(leaves, from_all))
