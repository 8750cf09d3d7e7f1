# SPDX-License-Identifier: GPL-2.0-only
"""Draws networks. Rates are few, so that ties and divisions without rest occur, and odd ones too."""

from referee.dice import Dice

_RATES = ("1Gbps", "10Gbps", "25Gbps", "40Gbps", "100Gbps", "400Gbps", "7Gbps", "3333333333bps")
_DELAYS = ("0ns", "1ns", "500ns", "1us", "1us", "1us", "3us", "50us")
MOST_ENDPOINTS = 20


def draw_link(dice: Dice) -> dict:
    return {"rate": dice.of(_RATES), "delay": dice.of(_DELAYS)}


def _ratio(dice: Dice) -> float:
    return dice.of((0, 1, 1.5, 2, 3, 4, 8))


def _server(dice: Dice, topology: dict, share: float = 0.2) -> int:
    """Sometimes servers of several accelerators; endpoints of a server."""
    if not dice.chance(share):
        return 1
    accelerators = dice.between(2, 4)
    server: dict = {"accelerators": accelerators, "nics": dice.of((1, 1, 2, accelerators))}
    server["sockets"] = dice.of((1, 2))
    if dice.chance(0.3):
        server["nvlink"] = {"rate": "400Gbps", "delay": "100ns"}
    topology["server"] = server
    return accelerators


def _star(dice: Dice) -> tuple[dict, int]:
    hosts = dice.of((1, 2, 3, 4, 4, 5, 7, 8, 8, 9, 11, 13, 16))
    topology = {"kind": "star", "hosts": hosts, "hostLink": draw_link(dice)}
    return topology, hosts * _server(dice, topology)


def _spine_leaf(dice: Dice) -> tuple[dict, int]:
    leaves = dice.between(1, 5)
    topology: dict = {
        "kind": "spine-leaf",
        "spines": dice.between(1, 3),
        "leaves": leaves,
        "hostLink": draw_link(dice),
        "fabricLink": draw_link(dice),
    }
    if dice.chance(0.3):
        topology["hostsOfLeaf"] = [dice.between(1, 4) for _ in range(leaves)]
        hosts = sum(topology["hostsOfLeaf"])
    else:
        topology["hostsPerLeaf"] = dice.between(1, 4)
        hosts = leaves * topology["hostsPerLeaf"]
    if dice.chance(0.5):
        topology["oversubscription"] = _ratio(dice)
    return topology, hosts * _server(dice, topology)


def _fat_tree(dice: Dice) -> tuple[dict, int]:
    link = draw_link(dice)
    topology: dict = {
        "kind": "fat-tree",
        "k": dice.of((2, 4)),
        "hostLink": link,
        "leafUplink": link,
        "aggregationUplink": link,
    }
    hosts = topology["k"] ** 3 // 4
    if dice.chance(0.3):
        topology["hostsPerLeaf"] = dice.between(1, 2)
        hosts = topology["k"] ** 2 // 2 * topology["hostsPerLeaf"]
    if dice.chance(0.4):
        topology["rackOversubscription"] = _ratio(dice)
        topology["podOversubscription"] = _ratio(dice)
    return topology, hosts


def _three_tier(dice: Dice) -> tuple[dict, int]:
    topology: dict = {
        "kind": "three-tier",
        "pods": dice.between(1, 3),
        "leavesPerPod": dice.between(1, 2),
        "aggregationsPerPod": dice.between(1, 2),
        "cores": dice.of((2, 4)),
        "hostsPerLeaf": dice.between(1, 3),
        "hostLink": draw_link(dice),
        "leafUplink": draw_link(dice),
        "aggregationUplink": draw_link(dice),
    }
    if dice.chance(0.3):
        topology["coresPerAggregation"] = topology["cores"] // topology["aggregationsPerPod"]
    if dice.chance(0.4):
        topology["rackOversubscription"] = _ratio(dice)
        topology["podOversubscription"] = _ratio(dice)
    hosts = topology["pods"] * topology["leavesPerPod"] * topology["hostsPerLeaf"]
    return topology, hosts


def _rails(dice: Dice) -> tuple[dict, int]:
    topology: dict = {
        "kind": "rail-optimised",
        "units": dice.between(1, 2),
        "serversPerUnit": dice.between(1, 3),
        "spines": dice.between(1, 2),
        "linksPerSpine": dice.between(1, 2),
        "hostLink": draw_link(dice),
        "fabricLink": draw_link(dice),
    }
    if dice.chance(0.5):
        topology["oversubscription"] = _ratio(dice)
    servers = topology["units"] * topology["serversPerUnit"]
    return topology, servers * _server(dice, topology, 0.8)


def _graph(dice: Dice) -> tuple[dict, int]:
    """A random tree of switches with some links more, and hosts at any of them."""
    switches, hosts = dice.between(1, 5), dice.between(1, 9)
    nodes = [
        {"name": f"s{i}", "kind": "switch", "tier": dice.between(1, 2)} for i in range(switches)
    ]
    nodes += [{"name": f"h{i}", "kind": "host"} for i in range(hosts)]

    def link(a: str, b: str) -> dict:
        return {"a": a, "b": b, **draw_link(dice)}

    links = [link(f"s{i}", f"s{dice.between(0, i - 1)}") for i in range(1, switches)]
    links += [link(f"h{i}", f"s{dice.between(0, switches - 1)}") for i in range(hosts)]
    for _ in range(dice.between(0, 3) if switches > 1 else 0):
        a, b = dice.between(0, switches - 1), dice.between(0, switches - 1)
        if a != b:
            links.append(link(f"s{a}", f"s{b}"))
    topology: dict = {"kind": "graph", "nodes": nodes, "links": links}
    if dice.chance(0.3):
        topology["pathWeights"] = "capacity"
    return topology, hosts


_KINDS = {
    "star": _star,
    "spine-leaf": _spine_leaf,
    "fat-tree": _fat_tree,
    "three-tier": _three_tier,
    "graph": _graph,
    "rail-optimised": _rails,
}


def draw_topology(dice: Dice, kinds: tuple[str, ...]) -> tuple[dict, int]:
    """A network of at most MOST_ENDPOINTS, and its number of endpoints."""
    unknown = set(kinds) - set(_KINDS)
    if unknown:
        raise NotImplementedError(f"the referee draws no topology {sorted(unknown)}")
    # Most of the closed forms are for one switch and for two levels.
    kind = dice.of(kinds + ("star", "spine-leaf", "spine-leaf"))
    # One endpoint is too few for any exchange: that too must be said well, but rarely.
    least = 1 if dice.chance(0.02) else 2
    while True:
        topology, endpoints = _KINDS[kind](dice)
        if least <= endpoints <= MOST_ENDPOINTS:
            return topology, endpoints
        kind = dice.of(kinds)
