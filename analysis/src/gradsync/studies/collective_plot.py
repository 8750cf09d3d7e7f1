# SPDX-License-Identifier: GPL-2.0-only
"""Bus bandwidth over the size of a collective."""

from collections.abc import Mapping
from pathlib import Path

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from gradsync.plots import style
from gradsync.plots.plot import save
from gradsync.studies.collective import show_size

Curves = Mapping[str, tuple[list[int], list[float]]]


def draw_busbw(curves: Curves, title: str) -> Figure:
    """A line for each scheme; sizes by powers of two."""
    with plt.rc_context(style.RC_PARAMS):
        figure, panel = plt.subplots(figsize=(6.4, 4.0), layout="constrained")
        for name, look in style.series_styles(curves).items():
            sizes, bandwidths = curves[name]
            panel.plot(
                sizes,
                bandwidths,
                color=look.colour,
                linewidth=look.width,
                linestyle=look.line,
                marker=look.marker,
                markersize=look.marker_size,
                markeredgecolor="white",
                label=style.series_label(name),
                zorder=look.order,
                clip_on=False,
            )
        panel.set_xscale("log", base=2)
        panel.xaxis.set_major_formatter(show_size)
        panel.set_ylim(0, 1.06 * panel.get_ylim()[1])
        panel.set_xlabel("Size of the buffer")
        panel.set_ylabel("Bus bandwidth (GB/s)")
        panel.set_title(title)
        panel.legend()
        plt.close(figure)
    return figure


def plot_busbw(curves: Curves, title: str, folder: Path) -> list[Path]:
    """busbw.svg and busbw.png in the folder; their paths."""
    paths = [folder / f"busbw.{kind}" for kind in ("svg", "png")]
    with plt.rc_context(style.RC_PARAMS):
        figure = draw_busbw(curves, title)
        for path in paths:
            save(figure, path)
    return paths
