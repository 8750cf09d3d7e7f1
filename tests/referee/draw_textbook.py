# SPDX-License-Identifier: GPL-2.0-only
"""Draws the networks of textbooks: one switch, one exchange, parts of one size, so that closed forms hold."""

from referee.catalogue import Catalogue
from referee.dice import Dice
from referee.draw_topology import draw_link
from referee.laws_forms_time import TIMES

_WORKERS = (2, 3, 4, 4, 5, 6, 7, 8, 8, 9, 11, 12, 13, 16)
_SLOTS = (1, 2, 8, 32, 128)


def _divisors(number: int) -> list[int]:
    return [d for d in range(1, number + 1) if number % d == 0]


def _scheme(dice: Dice, catalogue: Catalogue, kind: str, workers: int) -> dict:
    """A scheme with the parameters of its closed form."""
    names = {parameter.name: parameter for parameter in catalogue.schemes[kind]}
    scheme: dict = {"kind": kind}
    if "pipelineChunks" in names:
        scheme["pipelineChunks"] = dice.between(1, 6) if kind in ("broadcast", "reduce") else 1
    if "algorithm" in names:
        scheme["algorithm"] = dice.of(names["algorithm"].choices)
    if kind == "ps":
        scheme["servers"] = dice.between(0, 3)
        scheme["pipelineChunks"] = dice.between(1, 3) if scheme["servers"] else 1
        scheme["barrier"] = dice.chance(0.3)
    for name in ("width", "groupSize"):
        if name in names:
            scheme[name] = dice.of(_divisors(workers))
    if "broadcast" in names:
        scheme["broadcast"] = "star"
    if "dimensions" in names:
        width = dice.of(_divisors(workers))
        scheme["dimensions"] = [width, workers // width]
    return scheme


def draw_seldom(dice: Dice) -> dict:
    """What laws are about of which else one draw in a hundred would be."""
    return _byteps(dice) if dice.chance(0.3) else _rat(dice)


def _byteps(dice: Dice) -> dict:
    """BytePS with machines beside the workers, on one switch."""
    workers = dice.between(2, 9)
    machines = dice.between(1, workers)
    return {
        "topology": {"kind": "star", "hosts": workers + machines, "hostLink": draw_link(dice)},
        "transport": {"kind": dice.of(("roce", "fluid"))},
        "scheme": {"kind": "byteps", "cpuMachines": machines},
        "job": {"gradient": f"{dice.spread(100, 3_000_000 // workers)}B"},
    }


def _rat(dice: Dice) -> dict:
    """RAT on racks of one size behind oversubscribed links."""
    racks, hosts = dice.between(2, 5), dice.between(2, 4)
    scheme: dict = {"kind": "rat"}
    if dice.chance(0.3):
        scheme["levels"] = "all"
    return {
        "topology": {
            "kind": "spine-leaf",
            "spines": dice.between(1, 3),
            "leaves": racks,
            "hostsPerLeaf": hosts,
            "hostLink": draw_link(dice),
            "fabricLink": draw_link(dice),
            "oversubscription": dice.of((1.5, 2, 3, 4, 8)),
        },
        "transport": {"kind": dice.of(("roce", "fluid"))},
        "scheme": scheme,
        "job": {"gradient": f"{dice.spread(1, 3_000_000 // (racks * hosts))}B"},
    }


def _draw_switchml(dice: Dice, slot: dict) -> None:
    """Packets of SwitchML's own client: of one or two sizes, in RoCEv2 in messages."""
    slot["format"] = dice.of(("switchml", "switchml-rocev2"))
    slot["valuesPerPacket"] = dice.of((64, 256))
    if slot["format"] == "switchml-rocev2":
        slot["messagePackets"] = dice.of([n for n in (1, 2, 4, 8) if slot["slots"] % n == 0])


def draw_textbook(dice: Dice, catalogue: Catalogue) -> dict:
    """A scenario of which everything follows by hand."""
    workers = dice.of(_WORKERS)
    kind = dice.of((*TIMES, "ring", "ring", "ring", "ring", "ps", "ps", *["switchml"] * 4))
    scheme = _scheme(dice, catalogue, kind, workers)
    servers = scheme.get("servers", 0)
    # The unit divides by every number of parts that a scheme above makes.
    pieces = scheme.get("pipelineChunks", 1) * max(1, servers) * workers * workers
    gradient = 4 * pieces * dice.spread(1, 200)
    packets = kind == "switchml" or dice.chance(0.6 if kind == "ring" else 0.3)
    transport: dict = {"kind": "roce" if packets else "fluid"}
    if packets:
        transport["mtu"] = dice.of(("256B", "1000B", "4096B"))
        transport["ackEvery"] = dice.of((0, 0, 16, 1))
    elif dice.chance(0.3):
        transport["efficiency"] = dice.of((0.5, 0.8))
    if kind == "switchml":
        gradient = dice.spread(1, 200_000)
        transport["aggregation"] = {
            "values": dice.of(("sizes", "real")),
            "slot": {"slots": dice.of(_SLOTS), "valuesPerPacket": dice.of((32, 64, 256))},
        }
        if dice.chance(0.4):
            _draw_switchml(dice, transport["aggregation"]["slot"])
        elif dice.chance(0.3):
            # What the program is compiled for.
            transport["aggregation"]["engine"] = "p4"
            transport["aggregation"]["slot"]["valuesPerPacket"] = 64
    topology = {"kind": "star", "hosts": workers + servers, "hostLink": draw_link(dice)}
    job: dict = {"gradient": f"{gradient}B", "iterations": dice.between(1, 2)}
    if kind == "ring" and dice.chance(0.2):
        job["codec"] = dice.of(
            (
                "fp32",
                "fp16",
                "bf16",
                "int8",
                "two-bit",
                "fixed-point",
                "powersgd",
                "qsgd",
                "terngrad",
                "signsgd",
            )
        )
    return {"topology": topology, "transport": transport, "scheme": scheme, "job": job}
