# SPDX-License-Identifier: GPL-2.0-only
"""What a fit leaves behind: a table, fit.json and fit.csv with provenance, and a picture."""

import csv
import json
from pathlib import Path
from typing import Any

from gradsync.studies.collective import show_size
from gradsync.studies.fit import GIB, MIB, Errors, Fit
from gradsync.studies.fit_plot import plot_fit
from gradsync.studies.measured import bus_bandwidth

COLUMNS = (
    "size_bytes",
    "algorithm",
    "scheme",
    "fitted",
    "measured_time_s",
    "simulated_time_s",
    "simulated_over_measured",
    "measured_busbw_bytes_per_s",
    "simulated_busbw_bytes_per_s",
)
# Sets of rows whose errors are told, by what they are called.
_SETS = (
    ("fitted", True, 0),
    ("not fitted", False, 0),
    ("not fitted, from 1 MiB on", False, MIB),
    ("not fitted, from 1 GiB on", False, GIB),
)


def rows(fit: Fit) -> list[dict[str, Any]]:
    """A row of fit.csv for each row of the table: times in seconds, bandwidths in bytes per second."""
    request = fit.request
    found = []
    for row in request.rows:
        simulated = fit.times[row.size]
        times = (row.time_s, simulated)
        busbw = [
            bus_bandwidth(row.collective, request.table.ranks, row.size, time) for time in times
        ]
        fitted = row.size in request.fitted
        ratio = simulated / row.time_s
        names = (row.algorithm, fit.choices[row.size])
        cells = (row.size, *names, fitted, *times, ratio, *busbw)
        found.append(dict(zip(COLUMNS, cells)))
    return found


def as_table(fit: Fit) -> str:
    """The rows, the parameters and the errors for a terminal."""
    request = fit.request
    lines = [f"# {request.table.title}", f"# {_scenario_line(fit)}"]
    lines.append(
        f"{'size':>10} {'':>7} {'measured':>12} {'simulated':>12} {'ratio':>7} {'measured':>9} {'simulated':>9}"
    )
    lines.append(f"{'':>10} {'':>7} {'(us)':>12} {'(us)':>12} {'':>7} {'(GB/s)':>9} {'(GB/s)':>9}")
    for row in rows(fit):
        scheme = f"  {row['scheme']}" if len(request.measure.series) > 1 else ""
        lines.append(
            f"{show_size(row['size_bytes']):>10} {'fitted' if row['fitted'] else '':>7} "
            f"{row['measured_time_s'] * 1e6:>12.2f} {row['simulated_time_s'] * 1e6:>12.2f} "
            f"{row['simulated_over_measured']:>7.3f} {row['measured_busbw_bytes_per_s'] / 1e9:>9.2f} "
            f"{row['simulated_busbw_bytes_per_s'] / 1e9:>9.2f}{scheme}"
        )
    lines.append("")
    for index, (parameter, value) in enumerate(zip(request.parameters, fit.values)):
        shown = [parameter.unit.render(x) for x in (value, parameter.low, parameter.high)]
        at_bound = "; AT ITS BOUND" if fit.is_at_bound(index) else ""
        lines.append(f"{parameter.path} = {shown[0]} (from {shown[1]} to {shown[2]}{at_bound})")
    lines.append(_search_line(fit))
    for name, fitted, first in _SETS:
        lines.append(_error_line(name, fit.errors(fitted, first)))
    return "\n".join(lines)


def _scenario_line(fit: Fit) -> str:
    measure = fit.request.measure
    parts = [measure.collective, f"{fit.request.table.ranks} ranks", " or ".join(measure.schemes)]
    parts += [" or ".join(measure.protocols)] if measure.protocols else []
    return ", ".join([*parts, measure.transport, measure.topology.name, *measure.overrides])


def _search_line(fit: Fit) -> str:
    end = "converged" if fit.converged else "NOT converged, the best of them"
    told = f"{fit.evaluations} points simulated, {end}"
    if fit.condition is not None and fit.condition > 100:
        told += (
            f"; the parameters are hardly told apart by these rows (condition {fit.condition:.3g})"
        )
    return told


def _error_line(name: str, errors: Errors) -> str:
    if errors.mean is None or errors.worst_size is None:
        return f"{name}: no rows"
    return (
        f"{name}: {errors.rows} rows, error {errors.mean:.2%}, worst {show_size(errors.worst_size)}"
        f" with {errors.worst_ratio:.3f} of the measured time"
    )


def as_document(fit: Fit) -> dict[str, Any]:
    """fit.json: what was fitted to what, and what came out. Nothing of it depends on the machine."""
    request = fit.request
    table, measure = request.table, request.measure
    return {
        "table": {
            "file": str(table.path),
            "sha256": table.sha256,
            "title": table.title,
            "source": table.source,
            "remark": table.remark,
        },
        "scenario": {
            "collective": measure.collective,
            "ranks": table.ranks,
            "topology": str(measure.topology),
            "schemes": list(measure.schemes),
            "protocols": list(measure.protocols),
            "transport": measure.transport,
            "set": list(measure.overrides),
        },
        "fitted_bytes": sorted(request.fitted),
        "parameters": [
            {
                "path": parameter.path,
                **{
                    key: parameter.unit.render(value)
                    for key, value in (
                        ("value", found),
                        ("start", parameter.start),
                        ("low", parameter.low),
                        ("high", parameter.high),
                    )
                },
                "at_bound": fit.is_at_bound(index),
            }
            for index, (parameter, found) in enumerate(zip(request.parameters, fit.values))
        ],
        "converged": fit.converged,
        "evaluations": fit.evaluations,
        "condition": fit.condition,
        "errors": {name: vars(fit.errors(fitted, first)) for name, fitted, first in _SETS},
    }


def write_fit(fit: Fit, out: Path) -> list[Path]:
    """fit.json, fit.csv, fit.svg and fit.png in the folder; their paths."""
    document, table = out / "fit.json", out / "fit.csv"
    document.write_text(json.dumps(as_document(fit), indent=2) + "\n", encoding="utf-8")
    with table.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows(fit))
    return [document, table, *plot_fit(rows(fit), fit.request.table.title, out)]
