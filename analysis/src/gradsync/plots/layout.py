# SPDX-License-Identifier: GPL-2.0-only
"""Places the nodes of a network in tiers, from its links alone."""

from collections import defaultdict, deque
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Layout:
    """Node -> (x from 0 to 1, tier from 0 for the outermost nodes)."""

    positions: dict[str, tuple[float, int]]

    @property
    def tiers(self) -> int:
        """How many there are."""
        return 1 + max((tier for _, tier in self.positions.values()), default=0)


def _tiers(neighbours: dict[str, list[str]]) -> dict[str, int]:
    """Hops from the nodes with the fewest neighbours: hosts, or what is inside of them."""
    least = min(len(near) for near in neighbours.values())
    tier = {node: 0 for node, near in neighbours.items() if len(near) == least}
    waiting = deque(tier)
    while waiting:
        node = waiting.popleft()
        for near in neighbours[node]:
            if near not in tier:
                tier[near] = tier[node] + 1
                waiting.append(near)
    # Parts of the network that no such node reaches.
    return {node: tier.get(node, 0) for node in neighbours}


def place(links: Iterable[tuple[str, str]]) -> Layout:
    """The layout of a network given by its links; outer nodes stand in the order of the links."""
    found: dict[str, dict[str, None]] = defaultdict(dict)
    for first, second in links:
        found[first][second] = None
        found[second][first] = None
    neighbours = {node: list(near) for node, near in found.items()}
    if not neighbours:
        return Layout({})
    tier = _tiers(neighbours)
    x: dict[str, float] = {}
    for level in range(1 + max(tier.values())):
        nodes = [node for node in neighbours if tier[node] == level]
        # Above the middle of those below; equal ones keep their order.
        middle = {
            node: sum(below) / len(below) if below else 0.0
            for node in nodes
            for below in [[x[near] for near in neighbours[node] if near in x]]
        }
        if level > 0:
            nodes.sort(key=lambda node: middle[node])
        for index, node in enumerate(nodes):
            x[node] = (index + 0.5) / len(nodes)
    return Layout({node: (x[node], tier[node]) for node in neighbours})
