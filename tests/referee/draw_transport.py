# SPDX-License-Identifier: GPL-2.0-only
"""Draws what carries the messages: packets, ns-3's TCP, or the fluid."""

from referee.catalogue import Catalogue
from referee.dice import Dice


def draw_roce(dice: Dice, catalogue: Catalogue, scenario: dict) -> None:
    """Transport `roce`, and the fabric under it."""
    transport: dict = {"kind": "roce", "mtu": dice.of(("256B", "1024B", "4096B", "1000B", "1500B"))}
    if dice.chance(0.5):
        transport["congestionControl"] = dice.of(catalogue.controls)
    if dice.chance(0.4):
        transport["ackEvery"] = dice.of((0, 1, 2, 3, 16, 64))
    if dice.chance(0.2):
        transport["windowPackets"] = dice.between(1, 64)
    if dice.chance(0.3):
        transport["recovery"] = "selective-repeat"
    transport["timeout"] = dice.of(("500us", "2ms", "67108864ns"))
    fabric: dict = {}
    if dice.chance(0.5):
        fabric["loadBalancing"] = dice.of(catalogue.load_balancing)
        if fabric["loadBalancing"] in ("spray", "adaptive"):
            transport["recovery"] = "selective-repeat"
            transport["reorderTolerance"] = 1000
    if dice.chance(0.25):
        fabric["pfc"] = False
    if dice.chance(0.2):
        fabric["bufferBytes"] = f"{dice.spread(600, 30_000)}kB"
    if dice.chance(0.15):
        fabric["lossRate"] = dice.of((0.001, 0.01, 0.05))
    if dice.chance(0.3):
        fabric["prefetchPorts"] = 0
    if dice.chance(0.3):
        fabric["hashSeed"] = dice.between(0, 9)
    if dice.chance(0.2):
        fabric["countBlocked"] = True
    needs_acks = (
        fabric.get("lossRate")
        or "windowPackets" in transport
        or transport.get("recovery") == "selective-repeat"
        or not fabric.get("pfc", True)
    )
    if needs_acks and transport.get("ackEvery") == 0:
        del transport["ackEvery"]
    scenario["transport"] = transport
    if fabric:
        scenario["fabric"] = fabric


def _draw_tcp(dice: Dice, scenario: dict) -> None:
    transport: dict = {"kind": "tcp", "minRto": "2ms", "delayedAckTimeout": "500us"}
    if dice.chance(0.4):
        transport["congestionOps"] = dice.of(("ns3::TcpDctcp", "ns3::TcpLinuxReno", "ns3::TcpBbr"))
    if dice.chance(0.3):
        transport["segmentBytes"] = dice.of(("536B", "8948B", "1001B"))
    if dice.chance(0.2):
        transport["queueDisc"] = dice.of(
            ("ns3::FifoQueueDisc", "ns3::PieQueueDisc", "ns3::CoDelQueueDisc")
        )
    if dice.chance(0.3):
        transport["loadBalancing"] = dice.of(("hash", "destination"))
    if dice.chance(0.1):
        transport["lossRate"] = 0.01
    scenario["transport"] = transport


def draw_transport(dice: Dice, catalogue: Catalogue, scenario: dict) -> str:
    """The transport of a scenario, with its fabric, and which one it is."""
    kind = dice.of(catalogue.transports + ("roce", "roce", "roce", "fluid"))
    if kind == "roce":
        draw_roce(dice, catalogue, scenario)
    elif kind == "tcp":
        _draw_tcp(dice, scenario)
    else:
        scenario["transport"] = {"kind": kind}
        if dice.chance(0.2):
            scenario["transport"]["efficiency"] = dice.of((0.5, 0.9))
    return kind
