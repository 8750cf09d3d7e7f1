# SPDX-License-Identifier: GPL-2.0-only
"""Draws what goes wrong: a fault of each kind that the schema names, once, again and again, or by chance."""

from referee.case import RATE_UNITS, SIZE_UNITS, quantity
from referee.dice import Dice

# doc/tcp.rst, doc/fluid.rst: what these transports refuse.
_NOT_ON = {
    "tcp": ("host-pause-send", "host-crash", "aggregator-down"),
    "fluid": ("aggregator-down",),
}


def _details(dice: Dice, fault: dict, transport: str) -> None:
    kind = fault["kind"]
    if kind.endswith("-down") or kind == "host-crash":
        fault["detectionDelay"] = dice.microseconds(0, 500)
    if kind == "link-degraded":
        fault["rateShare"] = dice.between(1, 100) / 100
        if dice.chance(0.5):
            fault["extraDelay"] = dice.microseconds(0, 100)
        if transport != "fluid" and dice.chance(0.4):
            fault["loss"] = dice.of((0.01, {"goodToBad": 0.01, "badToGood": 0.5}))
    if kind == "straggler":
        fault["slowdown"] = dice.of(
            (2, 1.5, {"distribution": "lognormal", "median": 1.3, "sigma": 0.4})
        )
    if kind == "flood":
        fault["rate"] = f"{dice.spread(10, 12_000)}Mbps"


def _when(dice: Dice, fault: dict) -> None:
    if dice.chance(0.15):
        del fault["random"]
        fault["mtbf"] = dice.microseconds(200, 5000)
        fault["mttr"] = dice.microseconds(10, 1000)
        return
    every = dice.between(50, 3000)
    fault["start"] = dice.microseconds(0, 500)
    fault["duration"] = dice.microseconds(1, every)
    if dice.chance(0.5):
        fault["every"] = f"{every}us"
        fault["count"] = dice.between(1, 10)


def draw_fault(
    dice: Dice, kinds: tuple[str, ...], transport: str, hosts: int, near: str | None
) -> dict:
    """A fault of one target, which ends before long, so that most exchanges finish.

    `near` is a node with links that a fault of links can hit, where there are none between switches.
    """
    kind = dice.of([name for name in kinds if name not in _NOT_ON.get(transport, ())])
    fault: dict = {"kind": kind, "random": 1}
    if kind in ("link-down", "link-degraded", "flood") and isinstance(near, str):
        fault["at"] = near
    if kind.startswith(("host", "straggler")) and hosts > 1 and dice.chance(0.5):
        fault["hosts"] = list(range(hosts))[: dice.between(1, hosts)]
    _details(dice, fault, transport)
    _when(dice, fault)
    return fault


_MOST_FLOWS = 200
_MOST_FLOW_BYTES = {"fluid": 10**8, "roce": 10**6, "tcp": 60_000}


def _fast_rate(topology: dict) -> int:
    """Bits a second of the fastest link of a host, or more."""
    links = [topology["hostLink"]] if "hostLink" in topology else topology["links"]
    return max(quantity(link["rate"], RATE_UNITS) for link in links)


def draw_traffic(
    dice: Dice, kinds: tuple[str, ...], hosts: int, topology: dict, transport: str
) -> dict:
    """Foreign flows that are few and small beside the limits of a run."""
    kind = dice.of(kinds)
    flow: dict = {"kind": kind, "size": f"{dice.spread(1, 20_000)}B"}
    if kind == "poisson":
        flow["load"] = dice.of((0.01, 0.1, 0.3))
        # Picoseconds in which so many flows come, or so many bytes.
        bits = min(
            _MOST_FLOWS * 8 * quantity(flow["size"], SIZE_UNITS), 8 * _MOST_FLOW_BYTES[transport]
        )
        longest = bits * 10**12 / (flow["load"] * hosts * _fast_rate(topology))
        flow["duration"] = f"{max(1, min(200_000_000, int(longest)))}ps"
        return flow
    if kind == "incast":
        flow["fanIn"] = dice.between(1, max(1, hosts - 1))
        flow["every"] = dice.microseconds(20, 500)
    if dice.chance(0.5):
        flow["start"] = dice.microseconds(0, 50)
    flow["duration"] = dice.microseconds(10, 200)
    return flow
