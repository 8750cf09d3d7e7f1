# SPDX-License-Identifier: GPL-2.0-only
"""Draws schemes whose switches want networks or settings of their own: NVSwitches, trees of SHARP, cores of
FLARE, Libra, and what the scheme auto makes of switches that can."""

from referee.catalogue import Catalogue
from referee.dice import Dice
from referee.draw_fault import draw_fault
from referee.draw_topology import draw_link, draw_topology
from referee.draw_transport import draw_roce

_KINDS = (
    "nvls",
    "nvls",
    "hierarchical",
    "sharp",
    "sharp",
    "flare",
    "flare",
    "libra",
    "libra",
    "auto",
)
_MOST_BYTES = 1_500_000
_FALLBACKS = ("ps", "ring", "none")


def _nvlinks(dice: Dice) -> tuple[dict, int]:
    """Servers whose accelerators meet at an NVSwitch."""
    accelerators, hosts = dice.between(2, 5), dice.of((1, 1, 2, 2, 3, 4))
    server = {
        "accelerators": accelerators,
        "nics": dice.of((1, accelerators)),
        "sockets": 1,
        "nvlink": {"rate": dice.of(("400Gbps", "1600Gbps", "7Gbps")), "delay": "100ns"},
    }
    topology: dict = {"kind": "star", "hosts": hosts, "hostLink": draw_link(dice), "server": server}
    return topology, hosts * accelerators


def _nvls_settings(dice: Dice) -> dict:
    return {
        "payloadBytes": f"{dice.of((4, 64, 256, 252, 4096))}B",
        "headerBytes": f"{dice.of((1, 16, 64))}B",
        "window": dice.of((1, 3, 16, 256)),
        "timeout": "1ms",
    }


def _sharp_settings(dice: Dice) -> dict:
    return {
        "generation": dice.of(("quantum", "quantum-2")),
        "payloadBytes": f"{dice.of((4, 256, 1000, 2048))}B",
        "headerBytes": f"{dice.of((1, 26, 60))}B",
        "groupTransactions": dice.of((1, 8)),
        "streamPackets": dice.of((1, 7, 64, 256)),
        "timeout": "1ms",
    }


def _flare_settings(dice: Dice) -> dict:
    return {
        "cores": dice.of((1, 3, 16, 512)),
        "handlerTime": dice.of(("1ns", "26ns", "300ns")),
        "addTime": dice.of(("0ns", "4ns")),
        "copyTime": dice.of(("0ns", "2ns")),
        "buffers": dice.of((1, 2, 4)),
        "payloadBytes": f"{dice.of((8, 256, 1024, 4096))}B",
        "headerBytes": f"{dice.of((1, 60, 86))}B",
        "credits": dice.of((1, 8, 64, 256)),
        "density": dice.of((1, 1, 1, 0.3, 0.01)),
        "timeout": "1ms",
    }


def _libra(dice: Dice, endpoints: int) -> dict:
    parameters = dice.spread(1, 100_000)
    return {
        "kind": "libra",
        "servers": dice.between(1, max(1, min(3, endpoints - 2))),
        "parameters": parameters,
        "hotParameters": dice.between(0, parameters),
        "exponent": dice.of((0.0, 0.5, 1.0, 1.7)),
    }


def _scheme(dice: Dice, kind: str, endpoints: int) -> dict:
    scheme: dict = {"kind": kind}
    if kind == "libra":
        scheme = _libra(dice, endpoints)
    elif kind == "hierarchical":
        scheme |= {"inside": "nvls", "broadcastChunks": dice.of((1, 2, 16))}
        scheme["barrier"] = dice.chance(0.5)
    elif kind == "sharp":
        scheme["tree"] = dice.of(("sat", "llt"))
    elif kind == "flare":
        scheme["sum"] = dice.of(("single", "multiple", "tree"))
    if kind in ("nvls", "libra", "sharp", "flare") and dice.chance(0.6):
        scheme["pipelineChunks"] = dice.between(1, 6)
    if dice.chance(0.5):
        scheme["fallback"] = dice.of(_FALLBACKS)
    return scheme


def _network(dice: Dice, catalogue: Catalogue, kind: str) -> tuple[dict, int]:
    if kind in ("nvls", "hierarchical") or (kind == "auto" and dice.chance(0.5)):
        return _nvlinks(dice)
    while True:
        topology, endpoints = draw_topology(dice, catalogue.topologies)
        # The scheme auto estimates all others, too; Libra needs a server beside two workers.
        if 3 <= endpoints <= (8 if kind == "auto" else 20):
            return topology, endpoints


def draw_aggregating(dice: Dice, catalogue: Catalogue) -> dict:
    """A scenario of one such job, or of several by the same scheme."""
    kind = dice.of(_KINDS)
    topology, endpoints = _network(dice, catalogue, kind)
    scenario: dict = {"topology": topology}
    draw_roce(dice, catalogue, scenario)
    aggregation: dict = {"values": dice.of(("sizes", "real"))}
    if kind in ("nvls", "hierarchical", "auto"):
        aggregation["nvls"] = _nvls_settings(dice)
    if kind in ("sharp", "auto"):
        aggregation["sharp"] = _sharp_settings(dice)
    if kind in ("libra", "auto"):
        aggregation["slot"] = {"slots": dice.of((1, 4, 32, 128)), "timeout": "1ms"}
    if kind == "flare":
        aggregation["flare"] = _flare_settings(dice)
    if kind in ("libra", "flare"):
        aggregation["values"] = dice.of(("sizes", "real", "float"))
    scenario["transport"]["aggregation"] = aggregation
    scenario["scheme"] = _scheme(dice, kind, endpoints)
    job = {"gradient": f"{dice.spread(1, _MOST_BYTES // endpoints)}B"}
    if dice.chance(0.4):
        job["iterations"] = dice.between(2, 3)
    if dice.chance(0.3):
        job["compute"] = dice.microseconds(0, 100)
    if kind in ("nvls", "sharp") and dice.chance(0.2):
        # The second may be denied what the first has, and falls back.
        scenario["jobs"] = [dict(job), dict(job)]
    else:
        scenario["job"] = job
    if dice.chance(0.15):
        scenario["faults"] = [draw_fault(dice, catalogue.faults, "roce", endpoints, None)]
        for each in scenario.get("jobs") or [scenario["job"]]:
            each["timeout"] = "200ms"
    return scenario
