# SPDX-License-Identifier: GPL-2.0-only
"""Draws what training with codecs in the loop showed: accuracy, and how sparse messages merge."""

from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
from matplotlib.axes import Axes as Panel
from matplotlib.figure import Figure

from gradsync.plots import style
from gradsync.plots.plot import save


def _draw_differences(panel: Panel, rows: dict[str, Any]) -> None:
    panel.axvline(0, color=style.INK, linewidth=0.9)
    for place, row in enumerate(rows.values()):
        width = row["differenceHalfWidth"]
        error = None if width is None else [100 * width]
        panel.errorbar(
            [100 * row["difference"]], [place], xerr=error, fmt="o", color="#0072B2", capsize=3
        )
    panel.set_yticks(range(len(rows)), list(rows))
    panel.invert_yaxis()
    panel.set_xlabel("Accuracy lost or won against fp32 (points)")
    panel.set_title("Accuracy, mean and 95 % interval")


def _draw_unions(panel: Panel, rows: dict[str, Any]) -> None:
    looks = style.series_styles(rows)
    for name, row in rows.items():
        unions = row["unions"]
        numbers = range(1, len(unions) + 1)
        look = looks[name]
        panel.plot(
            numbers,
            unions,
            color=look.colour,
            marker=look.marker,
            markersize=look.marker_size,
            label=name,
        )
        independent = [1 - (1 - unions[0]) ** number for number in numbers]
        panel.plot(numbers, independent, ":", color=look.colour)
    panel.set_yscale("log")
    panel.set_xlabel("Selections merged")
    panel.set_title("Share of the elements in the union")
    if rows:
        panel.legend(title="dotted: if independent")


def draw_study(found: dict[str, Any]) -> Figure:
    """Differences of accuracy of all codecs but the first, and unions of the sparse ones."""
    rows = dict(list(found["codecs"].items())[1:])
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.2, 4.0), layout="constrained")
    _draw_differences(left, rows)
    _draw_unions(right, {name: row for name, row in rows.items() if "unions" in row})
    return figure


def plot_study(found: dict[str, Any], path: Path) -> Path:
    """Draw it into a file; its path."""
    with plt.rc_context(style.RC_PARAMS):
        figure = draw_study(found)
        save(figure, path)
        plt.close(figure)
    return path
