# SPDX-License-Identifier: GPL-2.0-only
"""One collective over a range of sizes, as nccl-tests print it: time, algbw and busbw."""

import argparse
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from itertools import product
from pathlib import Path
from typing import Any

from gradsync.errors import ScenarioError
from gradsync.results.folder import Results
from gradsync.studies.scenario import Scenario
from gradsync.text import shown

# What is measured where nothing is said: schemes of an all-reduce, algorithms of the others.
COLLECTIVES = {
    "all-reduce": ("ring", "double-binary-tree", "halving-doubling"),
    "all-gather": ("ring",),
    "reduce-scatter": ("ring",),
    "all-to-all": ("direct",),
    "broadcast": ("chain",),
    "reduce": ("chain",),
}
_UNITS = {"": 1, "B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9}
_UNITS |= {"KiB": 2**10, "MiB": 2**20, "GiB": 2**30}
_PREFIXES = ("B", "KiB", "MiB", "GiB", "TiB")
_MOST_BYTES = 2**44
_FLOAT_BYTES = 4
_PROTOCOL = "job.protocol.kind"
_CHOOSER = "nccl"
_PREDICTION = "NCCL's model"


@dataclass(frozen=True)
class Request:
    """What is measured: `schemes` of an all-reduce, of any other collective its algorithms."""

    collective: str
    topology: Path
    schemes: tuple[str, ...]
    sizes: tuple[int, ...]
    """Bytes of the buffer, as nccl-tests count them."""
    transport: str
    overrides: tuple[str, ...] = ()
    protocols: tuple[str, ...] = ()
    """Each scheme by each; none: as the overrides say."""

    @property
    def series_paths(self) -> tuple[str, ...]:
        """What tells the series of a table apart."""
        return (self.path, _PROTOCOL) if self.protocols else (self.path,)

    @property
    def series(self) -> list[tuple[str, ...]]:
        """The values of `series_paths` of each series, in order."""
        return list(product(self.schemes, *([self.protocols] if self.protocols else [])))

    @property
    def path(self) -> str:
        """What is swept beside the size."""
        return "scheme.kind" if self.collective == "all-reduce" else "scheme.algorithm"


def read_size(text: str) -> int:
    """Bytes, from "64KiB". Raises ScenarioError."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([A-Za-z]*)", text.strip())
    if found is None or found[2] not in _UNITS:
        raise ScenarioError(f"{shown(text)} is no size, expected one such as 64KiB")
    size = float(found[1]) * _UNITS[found[2]]
    if size != int(size) or not 1 <= size <= _MOST_BYTES:
        raise ScenarioError(
            f"{shown(text)}: expected whole bytes, from 1B to {_MOST_BYTES >> 40}TiB"
        )
    return int(size)


def show_size(size: float, _position: float = 0) -> str:
    """As 64 MiB; the second argument is what matplotlib gives to formatters."""
    power = 0
    while size >= 1024 and power + 1 < len(_PREFIXES):
        size /= 1024
        power += 1
    return f"{size:g} {_PREFIXES[power]}"


def make_scenario(request: Request) -> Scenario:
    """Every scheme at every size. Raises ScenarioError for an override without a value."""
    kind = request.schemes[0] if request.collective == "all-reduce" else request.collective
    scenario = Scenario(
        topology={"file": str(request.topology.resolve())},
        scheme={"kind": kind},
        transport={"kind": request.transport},
        title=f"{request.collective} on {request.topology.stem}",
        results={"messages": False},
    )
    for override in request.overrides:
        path, found, value = override.partition("=")
        if not found:
            raise ScenarioError(f"--set {shown(override)}: expected PATH=VALUE")
        scenario = scenario.set(path, _as_value(value))
    sizes = [f"{size}B" for size in request.sizes]
    scenario = scenario.sweep(request.path, request.schemes)
    if request.protocols:
        scenario = scenario.sweep(_PROTOCOL, request.protocols)
    return scenario.sweep("job.gradient", sizes)


def read_request(arguments: argparse.Namespace) -> Request:
    """The request of a command line. Raises ScenarioError."""
    name = arguments.collective
    if name not in COLLECTIVES:
        close = get_close_matches(name, COLLECTIVES, 1, 0.0)
        raise ScenarioError(
            f"unknown collective {shown(name)}, expected one of {', '.join(COLLECTIVES)}; the nearest is {close[0]}"
        )
    schemes = COLLECTIVES[name]
    if arguments.scheme:
        schemes = split_names(arguments.scheme, "--scheme", "ring,rat")
    others = [scheme for scheme in schemes if scheme in COLLECTIVES]
    if others:
        raise ScenarioError(
            f"--scheme {others[0]} is no scheme of {_article(name)}, but a collective"
        )
    first, last = read_size(arguments.first), read_size(arguments.last)
    return Request(
        name,
        Path(arguments.topology),
        schemes,
        list_sizes(first, last, arguments.factor),
        arguments.transport,
        tuple(arguments.set),
        split_names(arguments.protocol, "--protocol", "ll,simple"),
    )


def _article(name: str) -> str:
    return f"an {name}" if name.startswith("a") else f"a {name}"


def measure(request: Request, out: Path, jobs: int | None) -> Results:
    """Simulate what is not yet in the folder. Raises ScenarioError, SimulationError."""
    scenario = make_scenario(request)
    scenario.resolve()  # beside progress its error would not be the only line
    return scenario.run(out, jobs=jobs, progress=True, unfinished_ok=True)


def _as_value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def list_sizes(first: int, last: int, factor: int) -> tuple[int, ...]:
    """Bytes, each `factor` times the one before. Raises ScenarioError where there are none, or no end."""
    if factor < 2:
        raise ScenarioError(f"--factor {factor}: expected 2 or more")
    if first > last:
        raise ScenarioError(f"--from {first}B is more than --to {last}B")
    sizes = [first]
    while sizes[-1] * factor <= last:
        sizes.append(sizes[-1] * factor)
    return tuple(sizes)


def as_table(request: Request, results: Results) -> str:
    """The columns of nccl-tests, for each series; times in us, bandwidths in GB/s."""
    lines = [f"# {request.collective}, {results.runs['workers'][0]} ranks, {request.transport}"]
    head = f"{'size':>14} {'count':>13} {'type':>6} {'time':>12} {'algbw':>9} {'busbw':>9}"
    unit = f"{'(B)':>14} {'(elements)':>13} {'':>6} {'(us)':>12} {'(GB/s)':>9} {'(GB/s)':>9}"
    for series, rows in _by_series(request, results):
        lines += [f"#\n# {series}", "#" + head[1:], "#" + unit[1:]]
        busbw = []
        for row in rows:
            size = read_size(row["job.gradient"])
            time = row["ict_mean_s"]
            if time is None:
                lines.append(
                    f"{size:>14} {size // _FLOAT_BYTES:>13} {'float':>6} {'unfinished':>12}"
                )
                continue
            algbw, bus = row["algbw_bytes_per_s"], row["busbw_bytes_per_s"]
            choice = row.get("auto_choice")
            busbw += [bus / 1e9] if bus is not None else []
            lines.append(
                f"{size:>14} {size // _FLOAT_BYTES:>13} {'float':>6} {time * 1e6:>12.2f} "
                f"{_gigabytes(algbw):>9} {_gigabytes(bus):>9}{f'  {choice}' if choice else ''}"
            )
        if busbw:
            lines.append(f"# average busbw: {sum(busbw) / len(busbw):.3f} GB/s")
    return "\n".join(lines)


def explain(request: Request) -> list[str]:
    """What NCCL's model expects of each size, where it chooses. Raises as `measure`."""
    if request.collective != "all-reduce" or _CHOOSER not in request.schemes:
        return []
    scenario = make_scenario(replace(request, schemes=(_CHOOSER,), protocols=()))
    lines = ["#"]
    sizes = iter(request.sizes)
    is_inside = False
    for line in scenario.describe().splitlines():
        begins = line.strip().startswith(_PREDICTION)
        is_inside = begins or (is_inside and line.startswith(" " * 6))
        if begins:
            lines.append(f"# {next(sizes)} B: {line.strip()}")
        elif is_inside:
            lines.append(f"#   {line.strip()}")
    return lines


def _gigabytes(value: float | None) -> str:
    return "" if value is None else f"{value / 1e9:.3f}"


def _by_series(request: Request, results: Results) -> list[tuple[str, list[dict[str, Any]]]]:
    """Each scheme, by each protocol where these are compared."""
    rows = list(results.runs.iter_rows(named=True))
    paths = request.series_paths
    return [
        (", ".join(names), [row for row in rows if tuple(row[path] for path in paths) == names])
        for names in request.series
    ]


def curves(request: Request, results: Results) -> dict[str, tuple[list[int], list[float]]]:
    """Of each series, sizes in bytes and bus bandwidths in GB/s."""
    found = {}
    for series, rows in _by_series(request, results):
        known = [row for row in rows if row["busbw_bytes_per_s"] is not None]
        found[series] = (
            [read_size(row["job.gradient"]) for row in known],
            [row["busbw_bytes_per_s"] / 1e9 for row in known],
        )
    return found


def split_names(texts: Sequence[str], option: str, example: str) -> tuple[str, ...]:
    """Names, in order and each once, of lists by commas. Raises ScenarioError for an empty one."""
    names = tuple(dict.fromkeys(name.strip() for text in texts for name in text.split(",")))
    if "" in names:
        raise ScenarioError(f"{option}: expected names separated by commas, as {example}")
    return names
