# SPDX-License-Identifier: GPL-2.0-only
"""Draws whole scenarios: what is small enough to simulate in milliseconds, and as mixed as can be."""

from referee.case import SIZE_UNITS, Case, quantity
from referee.catalogue import Catalogue
from referee.dice import Dice
from referee.draw_fault import draw_fault, draw_traffic
from referee.draw_scheme import IN_NETWORK, dedicated_of, draw_scheme
from referee.draw_textbook import draw_textbook
from referee.draw_topology import draw_topology

# Bytes that all workers together contribute. Fluid costs by message, packets by byte, TCP most.
_MOST_BYTES = {"fluid": 10**12, "roce": 3_000_000, "tcp": 120_000}
_PROBES = ("again", "seed", "jobs", "prefetch", "engine", "trace", "quiet", "fluid", "other-scheme")


def _draw_gradient(dice: Dice, transport: str, workers: int) -> str:
    most = max(8, _MOST_BYTES[transport] // max(1, workers))
    if dice.chance(0.15):
        return f"{dice.between(1, 64)}B"  # fewer elements than workers, or less than one
    if dice.chance(0.35):
        # Whole elements in every part: closed forms hold to the byte.
        unit = 4 * workers * 12
        return f"{unit * max(1, dice.spread(1, max(2, most // unit)))}B"
    return f"{dice.spread(1, most)}B"


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


def _draw_aggregation(dice: Dice, scenario: dict, scheme: dict) -> None:
    aggregation: dict = {}
    if dice.chance(0.6):
        aggregation["values"] = dice.of(("sizes", "real", "float"))
    slot: dict = {}
    if dice.chance(0.5):
        slot["slots"] = dice.of((1, 4, 32, 128))
    if dice.chance(0.3):
        slot["valuesPerPacket"] = dice.of((1, 32, 64, 256))
    if scheme["kind"] in ("switchml", "passing") and dice.chance(0.3):
        aggregation["engine"] = "p4"
        slot.pop("valuesPerPacket", None)
    slot["timeout"] = "1ms"
    aggregation["slot"] = slot
    aggregation["atp"] = {"firstTimeout": "2ms"}
    if dice.chance(0.2):
        aggregation["atp"]["busyShare"] = dice.of((0.25, 0.5, 1))
    if dice.chance(0.2):
        aggregation["processingDelay"] = "500ns"
        aggregation["pipelinePacketRate"] = 100e6
    transport = scenario["transport"]
    transport["aggregation"] = aggregation
    if scheme["kind"] == "netreduce":
        transport.pop("recovery", None)
        transport.pop("reorderTolerance", None)
        if transport.get("congestionControl") == "hpcc":
            del transport["congestionControl"]
        if scenario.get("fabric", {}).get("loadBalancing") in ("spray", "adaptive"):
            del scenario["fabric"]["loadBalancing"]


def _draw_job(
    dice: Dice, catalogue: Catalogue, scenario: dict, endpoints: int, packets: bool
) -> dict:
    """A job of the scenario: its scheme, and what can be said beside it."""
    scheme, workers = draw_scheme(dice, catalogue, endpoints, packets)
    job: dict = {"scheme": scheme}
    available = max(1, endpoints - dedicated_of(scheme))
    if workers is None and available > 2 and dice.chance(0.2):
        workers = dice.between(2, available)
    if workers is not None and workers >= 2:
        job["workers"] = workers
        if "root" in scheme:
            scheme["root"] %= workers
    count = workers or available
    job["gradient"] = _draw_gradient(dice, scenario["transport"]["kind"], count)
    for name in ("chunkBytes", "partitionBytes"):
        # A million pieces of a large gradient are a plan of minutes.
        if scheme.get(name) or (name == "chunkBytes" and scheme["kind"] == "parameter-hub"):
            pieces = quantity(job["gradient"], SIZE_UNITS) // dice.between(1, 40)
            scheme[name] = max(scheme.get(name, 32768), pieces + 1)
    if dice.chance(0.3):
        job["iterations"] = dice.between(2, 3)
    if dice.chance(0.3):
        job["compute"] = dice.microseconds(0, 200)
    if dice.chance(0.1):
        job["reduceRate"] = dice.of(("10Gbps", "100Gbps"))
    if dice.chance(0.15):
        job["maxOutstandingSends"] = dice.between(1, 4)
    if dice.chance(0.1):
        job["start"] = dice.microseconds(0, 100)
    if scheme["kind"] in IN_NETWORK:
        _draw_aggregation(dice, scenario, scheme)
        if dice.chance(0.15):
            job["codec"] = dice.of(("fixed-point", "int8"))
    elif scheme["kind"] != "sparse-all-gather" and dice.chance(0.2):
        job["codec"] = dice.of(catalogue.codecs)
    return job


def _draw_jobs(
    dice: Dice, catalogue: Catalogue, scenario: dict, endpoints: int, packets: bool
) -> None:
    if not dice.chance(0.15):
        job = _draw_job(dice, catalogue, scenario, endpoints, packets)
        scenario["scheme"] = job.pop("scheme")
        scenario["job"] = job
        return
    scenario["jobs"] = [
        _draw_job(dice, catalogue, scenario, endpoints, packets) for _ in range(dice.between(1, 3))
    ]


def _probes(dice: Dice, scenario: dict) -> list[str]:
    wanted = [dice.of(_PROBES), dice.of(_PROBES)]
    if '"engine": "p4"' in str(scenario).replace("'", '"'):
        wanted.append("engine")
    if ("traffic" in scenario or "faults" in scenario) and dice.chance(0.5):
        wanted.append("other-scheme")
    if scenario["topology"]["kind"] == "star" and dice.chance(0.3):
        wanted.append("fluid")
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
    _draw_jobs(dice, catalogue, scenario, endpoints, transport == "roce")
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
    if transport == "roce" and dice.chance(0.08):
        scenario["results"] = {"every": dice.of(("1us", "10us", "333ns"))}
    if dice.chance(0.5):
        scenario["seed"] = dice.between(1, 4_294_967_295)
    return Case(seed, scenario, _probes(dice, scenario))
