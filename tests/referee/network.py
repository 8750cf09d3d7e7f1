# SPDX-License-Identifier: GPL-2.0-only
"""The network as the referee sees it: from the rows of links.csv and the scenario, not from the simulator's graph."""

from collections import defaultdict, deque
from functools import cached_property

from referee.case import TIME_UNITS, quantity


class Network:
    """Nodes, links, distances and racks."""

    def __init__(self, topology: dict, rows: list[dict[str, str]]):
        self._topology = topology
        self.rows = rows
        self.neighbours: dict[str, list[str]] = defaultdict(list)
        for row in rows:
            self.neighbours[row["from"]].append(row["to"])

    @cached_property
    def _kinds(self) -> dict[str, dict]:
        """Of a graph: its nodes, by name."""
        return {node["name"]: node for node in self._topology.get("nodes", [])}

    def is_endpoint(self, name: str) -> bool:
        """doc/topology.rst, Servers: a host of one accelerator, or each of its accelerators."""
        if self._kinds:
            return self._kinds[name]["kind"] in ("host", "accelerator")
        if name.startswith("host"):
            return "." not in name or ".gpu" in name
        return False

    @cached_property
    def endpoints(self) -> list[str]:
        return [name for name in self.neighbours if self.is_endpoint(name)]

    @property
    def plain(self) -> bool:
        """Made by a generator, of servers with one accelerator and one NIC."""
        return self._topology.get("kind") != "graph" and "server" not in self._topology

    def distances(self, source: str) -> dict[str, int]:
        """Links on the shortest path to every node; endpoints do not forward."""
        found = {source: 0}
        queue = deque([source])
        while queue:
            node = queue.popleft()
            if node != source and self.is_endpoint(node):
                continue
            for neighbour in self.neighbours[node]:
                if neighbour not in found:
                    found[neighbour] = found[node] + 1
                    queue.append(neighbour)
        return found

    @cached_property
    def _distances(self) -> dict[str, dict[str, int]]:
        return {name: self.distances(name) for name in self.endpoints}

    def distance(self, src: str, dst: str) -> int:
        return self._distances[src][dst]

    def server(self, name: str) -> str:
        return name.split(".")[0]

    @cached_property
    def rack(self) -> dict[str, str]:
        """The leaf of every endpoint of a generated network."""
        leaves = {}
        for row in self.rows:
            if row["to"].startswith("leaf") and row["from"].startswith("host"):
                leaves[self.server(row["from"])] = row["to"]
        # A star's one switch may have any name.
        return {name: leaves.get(self.server(name), "") for name in self.endpoints}

    def pod(self, name: str) -> int:
        """The pod of an endpoint in a fat-tree or a three-tier network: leaves are numbered through."""
        leaf = int(self.rack[name].removeprefix("leaf"))
        if self._topology["kind"] == "fat-tree":
            return leaf // (self._topology["k"] // 2)
        return leaf // self._topology["leavesPerPod"]

    @cached_property
    def least_delay(self) -> int:
        """The shortest delay of any link, in picoseconds."""
        links = [
            self._topology.get(name, {})
            for name in ("hostLink", "fabricLink", "leafUplink", "aggregationUplink")
            if name in self._topology
        ] + self._topology.get("links", [])
        if "server" in self._topology:
            return 0
        return min((quantity(link.get("delay", "1us"), TIME_UNITS) for link in links), default=0)

    def out_of(self, name: str) -> int:
        """Bits a second that leave a node."""
        return sum(int(row["rate_bps"]) for row in self.rows if row["from"] == name)

    def into(self, name: str) -> int:
        return sum(int(row["rate_bps"]) for row in self.rows if row["to"] == name)
