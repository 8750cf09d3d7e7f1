# SPDX-License-Identifier: GPL-2.0-only
"""What ./ns3 bench measured, run after run, in one table: a row for each load of each run."""

import csv
import datetime
import os
import platform
from pathlib import Path

from launcher.errors import BAD_INPUT, LauncherError
from launcher.tree import revision

_LOAD = (
    "scheme",
    "hosts",
    "gradient_bytes",
    "mtu_bytes",
    "congestion_control",
    "max_outstanding_sends",
)
_FIGURES = (
    "data_packet_hops",
    "events",
    "user_s",
    "hops_per_user_s",
    "peak_rss_bytes",
    "times_stock_ns3",
    "share_of_radix_core",
)
COLUMNS = ("date", "revision", "machine", *_LOAD, *_FIGURES)


def _machine() -> str:
    """The processor's model, and how many there are."""
    model = platform.machine()
    information = Path("/proc/cpuinfo")
    if information.exists():
        rows = (line.partition(":") for line in information.read_text().splitlines())
        model = next((text.strip() for key, _, text in rows if key.strip() == "model name"), model)
    return f"{model}, {os.cpu_count()} cores"


def check(path: Path) -> bool:
    """Whether there is a table already.

    Raises LauncherError if the file is another one: it is to be left alone.
    """
    if not path.exists() or path.stat().st_size == 0:
        return False
    with open(path, encoding="utf-8", errors="replace", newline="") as file:
        found = next(csv.reader(file), [])
    if tuple(found) != COLUMNS:
        raise LauncherError(
            f"{path}: this is no history of ./ns3 bench: its first line is not "
            f"{','.join(COLUMNS)}; move it away",
            BAD_INPUT,
        )
    return True


def add(path: Path, rows: list[dict]) -> None:
    """The rows of one run of the benchmarks, after those of earlier ones. Raises what check() does."""
    is_new = not check(path)
    now = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    common = {"date": now, "revision": revision(), "machine": _machine()}
    with open(path, "a", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n", extrasaction="ignore")
        if is_new:
            writer.writeheader()
        writer.writerows({**common, **row} for row in rows)
