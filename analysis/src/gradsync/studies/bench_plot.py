# SPDX-License-Identifier: GPL-2.0-only
"""How fast the simulator was, run of the benchmarks after run: what ./ns3 bench keeps, drawn."""

from collections.abc import Sequence
from pathlib import Path

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from gradsync.errors import ResultsError
from gradsync.plots import style
from gradsync.plots.plot import save
from gradsync.results.tables import open_table, read_cells, require
from gradsync.text import shown

_LOAD = ("scheme", "hosts", "gradient_bytes", "mtu_bytes", "congestion_control")
# Column, what it is divided by, and what it is called.
_PANELS = (
    ("hops_per_user_s", 1e6, "Packet-hops a second, millions"),
    ("share_of_radix_core", 1.0, "Events a second, of those of a bare core"),
    ("peak_rss_bytes", 1e6, "Peak memory, MB"),
)

Rows = Sequence[dict[str, str]]


def read_history(path: Path) -> list[dict[str, str]]:
    """The rows of the machine that was measured last: times of others are no history of these.

    Raises ResultsError for a file that is no such table.
    """
    names = open_table(path)
    require(path, names, ("date", "revision", "machine", *_LOAD, *(row[0] for row in _PANELS)))
    rows = read_cells(path, free=names)
    if not rows:
        raise ResultsError(f"{path}: there are no rows yet; ./ns3 bench adds some")
    kept = [row for row in rows if row["machine"] == rows[-1]["machine"]]
    for row in kept:
        for name, _, _ in _PANELS:
            _number(path, name, row[name])
    return kept


def _number(path: Path, name: str, cell: str) -> float:
    try:
        return float(cell)
    except ValueError:
        raise ResultsError(f"{path}: {name} is {shown(cell)}, expected a number") from None


def _name_load(row: dict[str, str]) -> str:
    gradient = int(row["gradient_bytes"]) / 1e6
    control = (
        "" if row["congestion_control"] == "none" else f", {row['congestion_control'].upper()}"
    )
    scheme = style.series_label(row["scheme"])
    sends = row.get("max_outstanding_sends", "0")
    few = "" if sends == "0" else f", {sends} sends"
    return f"{scheme}, {row['hosts']} hosts, {gradient:g} MB, {row['mtu_bytes']} B{control}{few}"


def _draw_panel(panel: Axes, rows: Rows, runs: list[str], which: tuple[str, float, str]) -> None:
    column, unit, title = which
    loads = list(dict.fromkeys(_name_load(row) for row in rows))
    for name, look in style.series_styles(loads).items():
        points = [
            (runs.index(row["date"]), float(row[column]) / unit)
            for row in rows
            if _name_load(row) == name
        ]
        panel.plot(
            *zip(*points),
            color=look.colour,
            marker=look.marker,
            linestyle=look.line,
            markersize=4,
            linewidth=1.3,
            label=name,
        )
    panel.set_title(title, fontsize=10)
    panel.set_ylim(0.0, 1.05 * panel.get_ylim()[1])
    panel.grid(axis="y", color="#dddddd", linewidth=0.6)


def draw_history(rows: Rows) -> Figure:
    """A panel each for speed, speed against a bare event core in the same run, and memory."""
    runs = list(dict.fromkeys(row["date"] for row in rows))
    revisions = {row["date"]: row["revision"] for row in rows}
    with plt.rc_context(style.RC_PARAMS):
        figure, panels = plt.subplots(1, 3, figsize=(12.0, 4.6), layout="constrained", sharex=True)
        for panel, which in zip(panels, _PANELS, strict=True):
            _draw_panel(panel, rows, runs, which)
            labels = [f"{run[:10]}\n{revisions[run]}" for run in runs]
            panel.set_xticks(range(len(runs)), labels, rotation=60, ha="right", fontsize=7)
        handles = panels[0].get_legend_handles_labels()
        figure.legend(*handles, loc="outside lower left", ncols=2, fontsize=8)
        figure.suptitle(rows[-1]["machine"], x=0.012, ha="left", fontsize=11)
        plt.close(figure)
    return figure


def plot_history(path: Path) -> Path:
    """Draw a history beside itself, as SVG; its path."""
    with plt.rc_context(style.RC_PARAMS):
        out = path.with_suffix(".svg")
        save(draw_history(read_history(path)), out)
    return out
