# SPDX-License-Identifier: GPL-2.0-only
"""Draws whole scenarios: what is small enough to simulate in milliseconds, and as mixed as can be."""

from referee.case import Case, Files
from referee.catalogue import Catalogue
from referee.dice import Dice
from referee.draw_aggregation import draw_aggregating
from referee.draw_fault import draw_fault, draw_traffic
from referee.draw_file import draw_programmed
from referee.draw_job import draw_job, draw_protocol
from referee.draw_textbook import draw_seldom, draw_textbook
from referee.draw_topology import draw_topology
from referee.draw_training import draw_training
from referee.draw_transport import draw_transport

_PROBES = ("again", "seed", "jobs", "prefetch", "engine", "trace", "quiet", "fluid")
_PROBES += ("other-scheme", "import", "tensors")
# Of all scenarios: those that train, and those that a law is about which else is seldom checked.
_TRAINING, _SELDOM = 0.2, 0.05
# Likewise: those whose switches aggregate in ways that want networks or settings of their own.
_AGGREGATING = 0.08
# Of jobs that exchange: those whose messages have a protocol.
_PROTOCOL = 0.12


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


def _draw_protocols(dice: Dice, scenario: dict) -> None:
    for job in scenario.get("jobs") or [scenario["job"]]:
        if dice.chance(_PROTOCOL):
            draw_protocol(dice, job, (job.get("scheme") or scenario["scheme"])["kind"])


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
    # Dice of their own, so that other seeds draw what they drew before there were these.
    if Dice(f"{seed} trains").chance(_TRAINING):
        trains, probes = draw_training(Dice(seed), catalogue)
        return Case(seed, trains, probes)
    if Dice(f"{seed} seldom").chance(_SELDOM):
        return Case(seed, draw_seldom(Dice(seed)), [])
    if Dice(f"{seed} aggregates").chance(_AGGREGATING):
        dice = Dice(seed)
        aggregating = draw_aggregating(dice, catalogue)
        return Case(seed, aggregating, _probes(dice, aggregating))
    dice = Dice(seed)
    files: Files = {}
    if dice.chance(0.025):
        programmed = draw_programmed(dice, files)
        return Case(seed, programmed, _probes(dice, programmed), files)
    if dice.chance(0.25):
        textbook = draw_textbook(dice, catalogue)
        _draw_protocols(Dice(f"{seed} protocol"), textbook)
        return Case(seed, textbook, _probes(dice, textbook))
    topology, endpoints = draw_topology(dice, catalogue.topologies)
    scenario: dict = {"topology": topology}
    transport = draw_transport(dice, catalogue, scenario)
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
    _draw_protocols(Dice(f"{seed} protocol"), scenario)
    return Case(seed, scenario, _probes(dice, scenario), files)
