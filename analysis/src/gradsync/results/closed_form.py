# SPDX-License-Identifier: GPL-2.0-only
"""Ideal times of all-reduce schemes from bandwidth alone, to draw beside what was simulated.

In units of K/B (gradient bytes over host link rate), for w workers in r equal racks whose uplinks
are oversubscribed o : 1. Wan et al., RAT (2020); its printed ratio of ps to ring is inverted, the one
that follows from these is o w (1 - 1/r) / (w - 1).
"""

from collections.abc import Mapping
from typing import Any


def ideal_time(scheme: str, workers: int, racks: int, oversubscription: float) -> float | None:
    """The time of co-located ps, ring, or rat pipelined in at least 4 chunks; None for others."""
    if workers < 2 or racks < 1:
        return None
    own_share = (workers - 1) / workers
    if scheme == "ps":
        return 2 * max(own_share, oversubscription * (1 - 1 / racks))
    if scheme == "ring":
        return 2 * own_share
    if scheme == "rat":
        return 2 * max(workers - 1, oversubscription * (racks - 1)) / workers
    return None


def holds(scenario: Mapping[str, Any]) -> bool:
    """Whether the runs of a scenario are what the closed forms are about.

    That is: racks of single-accelerator hosts, schemes without parameters of their own, one job, and
    an iteration that is nothing but its exchange.
    """
    topology = scenario.get("topology", {})
    job = scenario.get("job", {})
    known = {"topology.hostsPerLeaf", "topology.leaves", "topology.spines", "scheme.kind", "seed"}
    return (
        topology.get("kind") == "spine-leaf"
        and "server" not in topology
        and "jobs" not in scenario
        and not scenario.get("faults")
        and set(scenario.get("scheme", {})) <= {"kind"}
        and set(job) <= {"name", "gradient", "iterations"}
        and all(
            path in known or path.startswith("job.gradient") for path in scenario.get("sweep", {})
        )
    )


def ideal_ratio(
    scenario: Mapping[str, Any], run: Mapping[str, str], scheme: str, baseline: str
) -> float:
    """The ratio of two schemes' ideal times on the network of one run of a scenario that `holds`."""
    racks = int(run.get("topology.leaves") or scenario["topology"]["leaves"])
    workers, level = int(run["workers"]), float(run["oversubscription"])
    times = [ideal_time(name, workers, racks, level) for name in (scheme, baseline)]
    return times[0] / times[1] if times[0] and times[1] else float("nan")
