# SPDX-License-Identifier: GPL-2.0-only
"""Checks the study of failures against shared knowledge of it (Wan et al. 2020, RAT).

Usage: check-failures.py FLUID [PACKETS]: results of scenarios/rat-failures.json, whole or of some
seeds, and of rat-failures-packets.json. Standard library only; exit code 1 with a line per violation.
"""

import csv
import statistics
import sys
from collections import defaultdict
from pathlib import Path

HOSTS = (1, 2, 4, 8, 16, 32)
PERIODS = ("10ms", "20ms", "50ms", "100ms")
# The paper has the ring 5.7 times slower than PS on average, 12 times at worst, and RAT like PS.
RAT_TOLERANCE = 0.05
MEAN_RANGE = (3.5, 8.0)
WORST_AT_LEAST = 8.0
# Fewer seeds leave cells with a mean that is off by more than the step to the next.
SEEDS_FOR_ORDER = 40
# Headers are 2 % of the bytes; latency, acknowledgements and queues cost the rest.
PACKET_TOLERANCE = 0.05


def read(folder: Path) -> tuple[dict, list[str]]:
    """(hosts, period, seed, scheme) -> ICT, and the runs that did not finish."""
    with open(folder / "runs.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    wrong = [f"run {row['run']}: status {row['status']}" for row in rows if row["status"] != "ok"]
    times = {
        (int(r["faults.0.random"]), r["faults.0.every"], int(r["seed"]), r["scheme.kind"]): float(
            r["ict_mean_s"]
        )
        for r in rows
        if r["status"] == "ok"
    }
    return times, wrong


def cell_ratios(times: dict) -> dict:
    """(hosts, period) -> ratios ring/PS of the seeds."""
    ratios = defaultdict(list)
    for (hosts, period, seed, scheme), ict in sorted(times.items()):
        if scheme == "ring":
            ratios[hosts, period].append(ict / times[hosts, period, seed, "ps"])
    return ratios


def check_fluid(times: dict) -> list[str]:
    """What of the paper's figure is not there."""
    wrong = []
    ratios = cell_ratios(times)
    means = {cell: statistics.mean(values) for cell, values in ratios.items()}
    for (hosts, period, seed, scheme), ict in times.items():
        ps = times[hosts, period, seed, "ps"]
        if scheme == "rat" and abs(ict / ps - 1) > RAT_TOLERANCE:
            wrong.append(f"k={hosts} d={period} seed {seed}: rat/ps is {ict / ps:.3f}")
    print("ring/ps, mean and deviation over the seeds")
    print("   k " + "".join(f"{'d=' + period:>14}" for period in PERIODS))
    for hosts in HOSTS:
        cells = [ratios[hosts, period] for period in PERIODS]
        if not all(cells):
            return [*wrong, f"k={hosts}: runs are missing"]
        print(
            f"{hosts:4} "
            + "".join(f"{statistics.mean(c):8.2f} {statistics.pstdev(c):5.2f}" for c in cells)
        )
    mean, worst = statistics.mean(means.values()), max(means.values())
    print(f"mean {mean:.2f}, worst {worst:.2f}")
    if not MEAN_RANGE[0] <= mean <= MEAN_RANGE[1]:
        wrong.append(f"the mean of ring/ps is {mean:.2f}, not in {MEAN_RANGE}")
    if worst < WORST_AT_LEAST:
        wrong.append(f"the worst cell of ring/ps is {worst:.2f}, below {WORST_AT_LEAST}")
    if min(len(values) for values in ratios.values()) >= SEEDS_FOR_ORDER:
        wrong += check_order(means)
    return wrong


def check_order(means: dict) -> list[str]:
    """Cells in which the ratio does not rise with k, or with d."""
    neighbours = [
        *(((a, d), (b, d)) for a, b in zip(HOSTS, HOSTS[1:], strict=False) for d in PERIODS),
        *(((k, a), (k, b)) for a, b in zip(PERIODS, PERIODS[1:], strict=False) for k in HOSTS),
    ]
    return [
        f"ring/ps falls from {means[low]:.2f} at {low} to {means[high]:.2f} at {high}"
        for low, high in neighbours
        if means[high] <= means[low]
    ]


def check_packets(packets: dict, fluid: dict) -> list[str]:
    """Runs in which packets and the fluid disagree."""
    deviations = {run: ict / fluid[run] - 1 for run, ict in packets.items() if run in fluid}
    if not deviations:
        return ["no run is in both results"]
    print(
        f"packets against fluid, {len(deviations)} runs: {min(deviations.values()):+.2%} "
        f"to {max(deviations.values()):+.2%}"
    )
    return [
        f"{run}: packets are {deviation:+.1%} off the fluid"
        for run, deviation in deviations.items()
        if abs(deviation) > PACKET_TOLERANCE
    ]


def main() -> int:
    """Reads, checks, prints."""
    fluid, violations = read(Path(sys.argv[1]))
    violations += check_fluid(fluid)
    if len(sys.argv) > 2:
        packets, wrong = read(Path(sys.argv[2]))
        violations += wrong + check_packets(packets, fluid)
    print("\n".join(violations) or "the study is as theory says")
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())
