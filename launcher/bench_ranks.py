# SPDX-License-Identifier: GPL-2.0-only
"""./ns3 bench --ranks N: one simulation by N processes beside the same by one, in one run.

What is compared is `wall_s`, which has plan, network and results, but not the start of MPI. A machine's
speed drifts and processes that wait for each other are held up by whichever is: so both are run in turn,
and the least time stands beside the median.
"""

import csv
import json
import statistics
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from launcher.errors import FAILURE, LauncherError
from launcher.process import say
from launcher.tree import RELEASE, RESULTS


@dataclass(frozen=True)
class Load:
    """An exchange over a spine-leaf network that is not oversubscribed, hosts of 100 Gb/s."""

    scheme: str
    leaves: int
    hosts_per_leaf: int
    spines: int
    fabric_rate: str
    gradient: str
    repeats: int  # of each, three times as many with --full

    @property
    def hosts(self) -> int:
        """How many exchange the gradient."""
        return self.leaves * self.hosts_per_leaf

    def scenario(self) -> dict:
        """As a file has it."""
        return {
            "topology": {
                "kind": "spine-leaf",
                "leaves": self.leaves,
                "hostsPerLeaf": self.hosts_per_leaf,
                "spines": self.spines,
                "hostLink": {"rate": "100Gbps", "delay": "1us"},
                "fabricLink": {"rate": self.fabric_rate, "delay": "1us"},
            },
            "transport": {"kind": "roce", "mtu": "4096B", "congestionControl": "none"},
            "fabric": {"loadBalancing": "destination"},
            "job": {"gradient": self.gradient},
            "scheme": {"kind": self.scheme},
            "results": {"messages": False, "links": False},
        }


LOADS = (
    *(Load(scheme, 16, 16, 4, "400Gbps", "8MB", 10) for scheme in ("ring", "ps", "rat")),
    *(Load(scheme, 32, 32, 4, "800Gbps", "4MB", 2) for scheme in ("ring", "ps")),
    Load("rat", 32, 32, 4, "800Gbps", "4MB", 1),
)
# Of a row of runs.csv; all else is the same however many processes there are.
_COSTS = ("wall_s", "peak_rss_bytes")


def _run(load: Load, ranks: int, folder: Path) -> dict:
    """The row of runs.csv. Raises LauncherError if the run has not ended well."""
    file = folder / "exchange.json"
    file.write_text(json.dumps(load.scenario()))
    with tempfile.TemporaryDirectory(dir=folder) as out:
        command = [str(RELEASE.program), "run", str(file), "--out", out]
        command += ["--ranks", str(ranks)] if ranks > 1 else []
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise LauncherError(f"{' '.join(command)}: {done.stderr.strip()}", FAILURE)
        with open(Path(out) / "runs.csv", newline="", encoding="utf-8") as table:
            return next(csv.DictReader(table))


def _require_same(load: Load, first: dict, row: dict) -> None:
    for name, value in row.items():
        if name not in _COSTS and value != first[name]:
            raise LauncherError(
                f"{load.scheme} over {load.hosts} hosts: {name} is {first[name]} in one run and "
                f"{value} in another; no figure of either counts",
                FAILURE,
            )


def measure(load: Load, ranks: int, repeats: int) -> dict:
    """Both in turn, so many times. Raises LauncherError if their results differ."""
    rows: dict[int, list[dict]] = {1: [], ranks: []}
    with tempfile.TemporaryDirectory(prefix="gradsync-bench-") as folder:
        for turn in range(repeats):
            for processes in sorted(rows, reverse=turn % 2 == 1):
                rows[processes].append(_run(load, processes, Path(folder)))
    first = rows[1][0]
    for row in (*rows[1], *rows[ranks]):
        _require_same(load, first, row)
    one, several = ([float(row["wall_s"]) for row in rows[key]] for key in (1, ranks))
    return {
        "scheme": load.scheme,
        "hosts": load.hosts,
        "ranks": ranks,
        "events": int(first["events"]),
        "one_s": one,
        "several_s": several,
        "times_by_least": min(one) / min(several),
        "times_by_median": statistics.median(one) / statistics.median(several),
        "one_peak_rss_bytes": max(int(row["peak_rss_bytes"]) for row in rows[1]),
        "several_peak_rss_bytes": max(int(row["peak_rss_bytes"]) for row in rows[ranks]),
    }


def line(found: dict) -> str:
    """A row of the table."""
    one, several = found["one_s"], found["several_s"]
    return (
        f"{found['scheme']:<6} {found['hosts']:>5} {found['events']:>12,}"
        f" {min(one):>8.3f} {min(several):>8.3f} {found['times_by_least']:>6.2f}"
        f" {statistics.median(one):>8.3f} {statistics.median(several):>8.3f}"
        f" {found['times_by_median']:>6.2f} {found['one_peak_rss_bytes'] / 1e6:>7.0f}"
        f" {found['several_peak_rss_bytes'] / 1e6:>7.0f}"
    )


def run_ranks_benchmark(ranks: int, full: bool) -> Path:
    """Measure all loads, print a table, write results/bench-ranks.json; where that is."""
    say(f"one simulation by 1 and by {ranks} processes in turn; wall seconds, MB of the first one")
    say(f"{'':<25} {'least':>17} {'':>6} {'median':>17} {'':>6} {'peak MB':>15}")
    heads = f"{'one':>8} {ranks:>8} {'times':>6}"
    say(f"{'scheme':<6} {'hosts':>5} {'events':>12} {heads} {heads} {'one':>7} {ranks:>7}")
    rows = []
    for load in LOADS:
        rows.append(measure(load, ranks, load.repeats * (3 if full else 1)))
        say(line(rows[-1]))
    RESULTS.mkdir(exist_ok=True)
    out = RESULTS / "bench-ranks.json"
    out.write_text(json.dumps(rows, indent=1) + "\n")
    say(f"figures in {out}")
    return out
