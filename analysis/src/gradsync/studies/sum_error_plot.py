# SPDX-License-Identifier: GPL-2.0-only
"""How far sums of integers in switches are from those of the gradients, over the factor before rounding."""

from io import StringIO
from pathlib import Path

import matplotlib.pyplot as plt
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from gradsync.plots import style
from gradsync.plots.plot import save
from gradsync.studies.program import call

_LARGEST = 2**31 - 1
# Factors that papers recommend.
_NAMED = {"ATP": 1e6, "PASSING": 1e8}
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7")
_MARKERS = "os^D"


def measure() -> pl.DataFrame:
    """What the simulator's codecs and switch come to. Raises ScenarioError if there is no simulator."""
    return pl.read_csv(StringIO(call(["sum-errors"])[0]))


def _name_factors(panel: Axes) -> None:
    for name, factor in _NAMED.items():
        panel.axvline(factor, color="#888888", linewidth=0.8, linestyle=":", zorder=1)
        panel.annotate(
            name,
            (factor, 1.0),
            xycoords=("data", "axes fraction"),
            xytext=(3, -2),
            textcoords="offset points",
            va="top",
            fontsize=8,
        )


def _draw_errors(panel: Axes, table: pl.DataFrame) -> None:
    for index, (name, rows) in enumerate(table.group_by("distribution", maintain_order=True)):
        colour = _COLOURS[index % len(_COLOURS)]
        factors = rows.filter(pl.col("encoding") == "factor")
        panel.plot(
            factors["factor"],
            factors["relative_error"],
            color=colour,
            marker=_MARKERS[index % len(_MARKERS)],
            markersize=3.5,
            label=str(name[0]),
        )
        exponents = rows.filter(pl.col("encoding") == "exponents")["relative_error"].item()
        panel.axhline(exponents, color=colour, linewidth=0.9, linestyle="--", zorder=1)
    panel.set_title("Error of the sums over the sums")
    panel.annotate(
        "dashed: SwitchML's exponents",
        (0.02, 0.11),
        xycoords="axes fraction",
        fontsize=8,
    )


def _draw_limits(panel: Axes, table: pl.DataFrame) -> None:
    factors = table["factor"].drop_nulls().unique().sort()
    panel.plot(factors, _LARGEST / factors, color=style.INK, label="largest sum that int32 holds")
    for index, (_, rows) in enumerate(table.group_by("distribution", maintain_order=True)):
        panel.axhline(rows["largest_sum"][0], color=_COLOURS[index % len(_COLOURS)])
    limit = _LARGEST / _NAMED["PASSING"]
    panel.plot([_NAMED["PASSING"]], [limit], "o", color=style.INK, markersize=5)
    panel.annotate(
        f"more than {limit:.2f} overflows",
        (_NAMED["PASSING"], limit),
        xytext=(-6, -4),
        textcoords="offset points",
        ha="right",
        va="top",
        fontsize=8.5,
    )
    panel.set_title("Largest sum, and what int32 holds (black)")


def draw_sum_errors(table: pl.DataFrame) -> Figure:
    """Errors of each distribution beside the limits of int32."""
    with plt.rc_context(style.RC_PARAMS):
        figure, (errors, limits) = plt.subplots(1, 2, figsize=(9.2, 4.2), layout="constrained")
        _draw_errors(errors, table)
        _draw_limits(limits, table)
        for panel in (errors, limits):
            panel.set_xscale("log")
            panel.set_yscale("log")
            panel.set_xlabel("Factor before rounding")
            _name_factors(panel)
        figure.legend(*errors.get_legend_handles_labels(), loc="outside lower left", ncols=2)
        workers, elements = table["workers"][0], table["elements"][0]
        title = f"Sums of {workers} gradients of {elements:,} elements, as a switch adds them up"
        figure.suptitle(title + "\n", x=0.012, ha="left", fontsize=11, linespacing=0.4)
        plt.close(figure)
    return figure


def plot_sum_errors(folder: Path) -> list[Path]:
    """Measure, write sums.csv, sums.svg and sums.png; their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    table = measure()
    paths = [folder / f"sums.{kind}" for kind in ("csv", "svg", "png")]
    table.write_csv(paths[0])
    with plt.rc_context(style.RC_PARAMS):
        figure = draw_sum_errors(table)
        for path in paths[1:]:
            save(figure, path)
    return paths
