# SPDX-License-Identifier: GPL-2.0-only
"""Measured and simulated bus bandwidth over sizes, and how far the simulated times are off."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from gradsync.plots import style
from gradsync.plots.plot import save
from gradsync.studies.collective import show_size

Rows = Sequence[Mapping[str, Any]]
_MOST_TICKS = 10
_MEASURED, _SIMULATED = "#D55E00", "#0072B2"


def draw_fit(rows: Rows, title: str) -> Figure:
    """`rows` as of fit.csv; markers of rows that were fitted are filled, of the others open."""
    with plt.rc_context(style.RC_PARAMS):
        figure, (above, below) = plt.subplots(
            2, 1, figsize=(6.4, 5.2), sharex=True, height_ratios=(2.2, 1), layout="constrained"
        )
        sizes = [row["size_bytes"] for row in rows]
        simulated = [row["simulated_busbw_bytes_per_s"] / 1e9 for row in rows]
        above.plot(sizes, simulated, color=_SIMULATED, linewidth=1.7, label="Simulated")
        _draw_points(above, rows, [row["measured_busbw_bytes_per_s"] / 1e9 for row in rows])
        above.set_ylim(0, 1.06 * above.get_ylim()[1])
        above.set_ylabel("Bus bandwidth (GB/s)")
        above.set_title(title)
        above.legend()
        below.axhline(0, color="#555555", linewidth=0.8)
        residuals = [100 * (row["simulated_over_measured"] - 1) for row in rows]
        for size, residual in zip(sizes, residuals):
            below.plot([size, size], [0, residual], color=_SIMULATED, linewidth=1.2)
        _draw_points(below, rows, residuals)
        below.margins(y=0.15)
        below.set_ylabel("Time off by (%)")
        below.set_xlabel("Size of the buffer")
        below.set_xscale("log", base=2)
        below.set_xticks(
            sizes if len(sizes) <= _MOST_TICKS else sizes[:: len(sizes) // _MOST_TICKS + 1]
        )
        below.xaxis.set_major_formatter(show_size)
        plt.close(figure)
    return figure


def _draw_points(panel: Axes, rows: Rows, values: Sequence[float]) -> None:
    for fitted, face, label in (
        (True, _MEASURED, "Measured, fitted"),
        (False, "white", "Measured, not fitted"),
    ):
        chosen = [(row["size_bytes"], y) for row, y in zip(rows, values) if row["fitted"] == fitted]
        panel.plot(
            *zip(*chosen),
            linestyle="",
            marker="o",
            markersize=5.5,
            markerfacecolor=face,
            markeredgecolor=_MEASURED,
            label=label,
            zorder=3,
            clip_on=False,
        )


def plot_fit(rows: Rows, title: str, folder: Path) -> list[Path]:
    """fit.svg and fit.png in the folder; their paths."""
    paths = [folder / f"fit.{kind}" for kind in ("svg", "png")]
    with plt.rc_context(style.RC_PARAMS):
        figure = draw_fit(rows, title)
        for path in paths:
            save(figure, path)
    return paths
