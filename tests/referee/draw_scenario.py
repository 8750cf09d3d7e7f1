# SPDX-License-Identifier: GPL-2.0-only
"""Draws whole scenarios: what is small enough to simulate in milliseconds, and as mixed as can be."""

from referee.case import Case, Files
from referee.catalogue import Catalogue
from referee.dice import Dice
from referee.draw_fault import draw_fault, draw_traffic
from referee.draw_file import draw_programmed
from referee.draw_job import draw_job
from referee.draw_textbook import draw_textbook
from referee.draw_topology import draw_topology

_PROBES = ("again", "seed", "jobs", "prefetch", "engine", "trace", "quiet", "fluid")
_PROBES += ("other-scheme", "import", "tensors")


def _draw_roce(dice: Dice, catalogue: Catalogue, scenario: dict) -> None:
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


def _draw_jobs(
    dice: Dice, catalogue: Catalogue, scenario: dict, endpoints: int, files: Files
) -> None:
    if not dice.chance(0.15):
        job = draw_job(dice, catalogue, scenario, endpoints, files)
        scenario["scheme"] = job.pop("scheme")
        scenario["job"] = job
        return
    scenario["jobs"] = [
        draw_job(dice, catalogue, scenario, endpoints, files) for _ in range(dice.between(1, 3))
    ]


def _probes(dice: Dice, scenario: dict) -> list[str]:
    wanted = [dice.of(_PROBES), dice.of(_PROBES)]
    if '"engine": "p4"' in str(scenario).replace("'", '"'):
        wanted.append("engine")
    if ("traffic" in scenario or "faults" in scenario) and dice.chance(0.5):
        wanted.append("other-scheme")
    if scenario["topology"]["kind"] == "star" and dice.chance(0.3):
        wanted.append("fluid")
    if "tensors" in scenario.get("job", {}):
        wanted.append("tensors")
    return sorted(set(wanted))


def _near(topology: dict) -> str | None:
    """A host, where a network has one switch and so no links between switches."""
    one_switch = topology["kind"] == "star" or (
        topology["kind"] == "graph" and topology["nodes"][1]["kind"] == "host"
    )
    if not one_switch:
        return None
    return "host0" if topology["kind"] == "star" and "server" not in topology else None


def draw_case(seed: str, catalogue: Catalogue) -> Case:
    """The scenario of a seed."""
    dice = Dice(seed)
    files: Files = {}
    if dice.chance(0.025):
        programmed = draw_programmed(dice, files)
        return Case(seed, programmed, _probes(dice, programmed), files)
    if dice.chance(0.25):
        textbook = draw_textbook(dice, catalogue)
        return Case(seed, textbook, _probes(dice, textbook))
    topology, endpoints = draw_topology(dice, catalogue.topologies)
    scenario: dict = {"topology": topology}
    transport = dice.of(catalogue.transports + ("roce", "roce", "roce", "fluid"))
    if transport == "roce":
        _draw_roce(dice, catalogue, scenario)
    elif transport == "tcp":
        _draw_tcp(dice, scenario)
    else:
        scenario["transport"] = {"kind": transport}
        if dice.chance(0.2):
            scenario["transport"]["efficiency"] = dice.of((0.5, 0.9))
    _draw_jobs(dice, catalogue, scenario, endpoints, files)
    jobs = scenario.get("jobs") or [scenario["job"]]
    if dice.chance(0.2):
        scenario["faults"] = [
            draw_fault(dice, catalogue.faults, transport, endpoints, _near(topology))
            for _ in range(dice.between(1, 3))
        ]
        for job in jobs:
            job["timeout"] = "200ms"
            if dice.chance(0.5):
                job["reaction"] = "replan"
    if dice.chance(0.15) and endpoints > 1:
        scenario["traffic"] = [
            draw_traffic(dice, catalogue.traffic, endpoints, topology, transport)
            for _ in range(dice.between(1, 2))
        ]
    if dice.chance(0.1):
        # An end before its time: packets are under way when the network is taken down.
        dice.of(jobs)["timeout"] = dice.of(("1ps", "1us", "20us", "100us"))
    # What waits for 20 seconds would have 60 million intervals of each link.
    short = "federated" not in str(scenario)
    if transport == "roce" and short and dice.chance(0.08):
        scenario["results"] = {"every": dice.of(("1us", "10us", "333ns"))}
    if dice.chance(0.5):
        scenario["seed"] = dice.between(1, 4_294_967_295)
    return Case(seed, scenario, _probes(dice, scenario), files)
