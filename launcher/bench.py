# SPDX-License-Identifier: GPL-2.0-only
"""./ns3 bench: the packet-level fabric, stock ns-3 and the bare event core, measured in one run.

Every figure is one process of a benchmark in tests/bench, so that its peak memory is its own. Rates of
different programs are compared as ratios only: a machine's speed drifts, a ratio taken within minutes
does not. Times are user CPU seconds, which other work on the machine disturbs least.
"""

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path

from launcher import bench_history, bench_peer
from launcher.errors import FAILURE, LauncherError
from launcher.process import say
from launcher.tree import RELEASE, RESULTS


@dataclass(frozen=True)
class Size:
    """A spine-leaf network that is not oversubscribed, and gradients for some seconds of work."""

    hosts: int
    leaves: int
    spines: int
    gradient: int  # bytes on the fabric
    stock_gradient: int | None  # bytes on stock ns-3, which is slower; None: not measured
    only_full: bool = False

    def network(self) -> list[str]:
        """Options of the benchmark programs."""
        per_leaf = self.hosts // self.leaves
        return [
            f"--leaves={self.leaves}",
            f"--spines={self.spines}",
            f"--hosts-per-leaf={per_leaf}",
        ]


SIZES = (
    Size(hosts=16, leaves=4, spines=4, gradient=400_000_000, stock_gradient=16_000_000),
    Size(hosts=128, leaves=8, spines=16, gradient=100_000_000, stock_gradient=2_000_000),
    # Stock ns-3 would need minutes for a kilobyte per host and step. Messages of four packets and of
    # eighteen: opening a connection costs more than a packet.
    Size(hosts=1024, leaves=32, spines=32, gradient=5_000_000, stock_gradient=None),
    Size(
        hosts=1024, leaves=32, spines=32, gradient=25_000_000, stock_gradient=None, only_full=True
    ),
)
# Payload of a packet of 1500 bytes from the IP header on: 44 of them RoCE headers and ICRC, 52 TCP's.
_SMALL = {"fabric": 1456, "stock": 1448}
# Scheme, payload of a packet, congestion control, and transfers of a host under way at once (0: all).
_LOADS = (
    ("ring", _SMALL["fabric"], "none", 0),
    ("ring", _SMALL["fabric"], "dcqcn", 0),
    ("ring", 4096, "dcqcn", 0),
    ("ps", _SMALL["fabric"], "dcqcn", 0),
    ("ps", 4096, "dcqcn", 0),
    ("ps", _SMALL["fabric"], "dcqcn", 128),
)
# Those that are measured without --full: least and most work for a packet.
_FEW_LOADS = (_LOADS[0], _LOADS[3])
_REPEATS = 3
_LONG_S = 20.0  # a run that takes longer is its own average


def _measure(program: str, *options: str) -> dict:
    """The median of some runs of a benchmark, by user time; of one run if it is long."""
    runs = []
    for _ in range(_REPEATS):
        command = [str(RELEASE.directory / program), *options]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise LauncherError(f"{' '.join(command)}: {done.stderr.strip()}", FAILURE)
        runs.append(json.loads(done.stdout))
        if runs[-1]["user_s"] > _LONG_S:
            break
    return sorted(runs, key=lambda run: run["user_s"])[len(runs) // 2]


def _core(scheduler: str, events: int, hosts: int) -> float:
    """Events per user second of the bare core, with as many pending as a network of that size has."""
    # A busy link has one pending event; a ring keeps both directions of two to four links a host busy.
    core = _measure(
        "event-core-bench",
        f"--scheduler={scheduler}",
        f"--events={events}",
        f"--pending={3 * hosts}",
    )
    return core["events"] / core["user_s"]


def _row(
    size: Size, scheme: str, mtu: int, control: str, sends: int, stock_rate: float | None
) -> dict:
    fabric = _measure(
        "exchange-bench",
        *size.network(),
        f"--scheme={scheme}",
        f"--gradient={size.gradient}",
        f"--mtu={mtu}",
        f"--congestion-control={control}",
        f"--max-outstanding-sends={sends}",
    )
    rate = fabric["data_packet_hops"] / fabric["user_s"]
    event_rate = fabric["events"] / fabric["user_s"]
    stock_core = _core("ns3::MapScheduler", fabric["events"], size.hosts)
    own_core = _core("ns3::gradsync::RadixScheduler", fabric["events"], size.hosts)
    return {
        **fabric,
        "hops_per_user_s": rate,
        "times_stock_ns3": rate / stock_rate if stock_rate else None,
        "share_of_map_core": event_rate / stock_core,
        "share_of_radix_core": event_rate / own_core,
    }


def _stock(size: Size) -> dict | None:
    if size.stock_gradient is None:
        return None
    return _measure(
        "stock-ns3-ring",
        *size.network(),
        f"--gradient={size.stock_gradient}",
        f"--mtu={_SMALL['stock']}",
    )


def _print_stock(stock: dict, rate: float) -> None:
    say(
        f"stock {stock['hosts']:>5} {stock['gradient_bytes'] / 1e6:>4.0f} {_SMALL['stock']:>6} {'':>12}"
        f" {stock['data_packet_hops'] / 1e6:>7.2f}"
        f" {stock['events'] / stock['data_packet_hops']:>7.3f} {stock['user_s']:>7.2f}"
        f" {rate / 1e6:>8.3f} {stock['peak_rss_bytes'] / 1e6:>8.1f}"
    )


def _memory_bound(row: dict) -> float:
    """What a run's memory should stay under, bytes: the program, 50 KB a host, 500 bytes a packet."""
    return row["program_rss_bytes"] + 50e3 * row["hosts"] + 500 * row["peak_packets"]


def _print(row: dict) -> None:
    ratio = row["times_stock_ns3"]
    times = f"{ratio:>8.1f}" if ratio else f"{'':>8}"
    say(
        f"{row['scheme']:<5} {row['hosts']:>5} {row['gradient_bytes'] / 1e6:>4.0f}"
        f" {row['mtu_bytes']:>6} {row['congestion_control']:>6}"
        f" {row['max_outstanding_sends'] or 'all':>5}"
        f" {row['data_packet_hops'] / 1e6:>7.2f}"
        f" {row['events_per_hop']:>7.3f} {row['user_s']:>7.2f} {row['hops_per_user_s'] / 1e6:>8.2f}"
        f" {row['peak_rss_bytes'] / 1e6:>8.1f} {_memory_bound(row) / 1e6:>6.0f} {times}"
        f" {row['share_of_map_core']:>8.2f} {row['share_of_radix_core']:>8.2f}"
    )


def _measure_peer(command: list[str], limit_s: float) -> list[dict]:
    """Another simulator beside ours on the exchanges that stock ns-3 has, too."""
    rows = []
    for size in SIZES:
        if size.stock_gradient is None:
            continue
        exchange = bench_peer.Exchange(
            size.hosts, size.leaves, size.spines, size.stock_gradient, _SMALL["fabric"]
        )
        ours = _measure(
            "exchange-bench",
            *size.network(),
            f"--gradient={size.stock_gradient}",
            f"--mtu={_SMALL['fabric']}",
        )
        peer = bench_peer.measure(command, exchange, _REPEATS, _LONG_S, limit_s)
        for line in bench_peer.lines(ours, peer):
            say(line)
        rows.append({"ours": ours, "peer": peer})
    return rows


def _measure_grid(full: bool) -> tuple[list[dict], list[dict]]:
    rows, stock_rows = [], []
    say("data packet-hops a second; RoCE with PFC and acknowledgements, 100 Gb/s, 1 us a link")
    say(
        "scheme hosts   MB    MTU     CC sends  M hops ev/hop  user s  M hops/s  peak MB  bound"
        "  x stock   x core  x radix core"
    )
    for size in SIZES:
        if size.only_full and not full:
            continue
        stock = _stock(size)
        stock_rate = stock["data_packet_hops"] / stock["user_s"] if stock else None
        for scheme, mtu, control, sends in _LOADS if full else _FEW_LOADS:
            rows.append(_row(size, scheme, mtu, control, sends, stock_rate))
            _print(rows[-1])
        if stock and stock_rate:
            stock_rows.append(stock)
            _print_stock(stock, stock_rate)
    say("x core: share of the events a second of ns-3's bare event core")
    return rows, stock_rows


def run_benchmarks(full: bool, peer: list[str], peer_limit_s: float = bench_peer.LIMIT_S) -> Path:
    """Measure the grid, or a part of it, print tables, write results/bench.json.

    `peer` is a command, none if it has no words; a run of it may take `peer_limit_s`. Returns the
    history, to which the figures are added.
    """
    history = RESULTS / "bench-history.csv"
    # What may go wrong goes first, not after minutes.
    bench_history.check(history)
    peers = _measure_peer(peer, peer_limit_s) if peer else []
    rows, stock_rows = _measure_grid(full)
    RESULTS.mkdir(exist_ok=True)
    out = RESULTS / "bench.json"
    found = {"fabric": rows, "stock_ns3": stock_rows, "peer": peers}
    out.write_text(json.dumps(found, indent=1) + "\n")
    bench_history.add(history, rows)
    say(f"figures in {out}, and beside those of earlier runs in {history}")
    return history
