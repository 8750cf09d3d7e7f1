# SPDX-License-Identifier: GPL-2.0-only
"""Draws plot.svg and plot.png of a results folder."""

import math
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
from matplotlib.axes import Axes as Panel
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator

from gradsync.errors import ResultsError
from gradsync.plots import faults, page, style, tradeoff
from gradsync.plots.panels import draw_panels
from gradsync.plots.pgf import write_pgf
from gradsync.results import closed_form, columns
from gradsync.results.folder import Results, load
from gradsync.results.quantities import show_quantity
from gradsync.results.series import (
    Axes,
    Line,
    Scales,
    choose_axes,
    choose_scales,
    group,
    tell_equal_runs,
)
from gradsync.text import shown

_BASELINE = "ring"
_MOST_TICKS = 12
# From here on an axis has no room for ticks between powers of ten.
_DECADES = 1000
# Those with units, which are longer.
_MOST_QUANTITIES = 7
# Ratios that differ from 1 by less than this are shown again, enlarged.
_CLOSE = 0.25
# Lines whose times of codecs are estimates, whatever they are called.
_ESTIMATED = (0, (2.2, 1.4))


def _plain(value: float, _position: int = 0) -> str:
    return f"{value:g}"


def _draw_spread(
    panel: Panel, line: Line, look: style.SeriesStyle, divisor: float, size: float
) -> None:
    """What the values may be in, as a band and as bars, which are seen in grey and on few points."""
    if not any(high > low for low, high in zip(line.low, line.high)):
        return
    low = [value / divisor for value in line.low]
    high = [value / divisor for value in line.high]
    panel.fill_between(line.x, low, high, color=look.colour, alpha=0.18, linewidth=0)
    middle = [value / divisor for value in line.y]
    panel.errorbar(
        line.x,
        middle,
        yerr=[[y - at for y, at in zip(middle, low)], [at - y for y, at in zip(middle, high)]],
        fmt="none",
        ecolor=look.colour,
        elinewidth=0.9 * size,
        capsize=2.5 * size,
        zorder=look.order,
    )


def _draw_lines(panel: Panel, lines: list[Line], divisor: float, size: float = 1.0) -> None:
    size *= page.current().mark_size
    styles = style.series_styles(line.name for line in lines)
    for line in lines:
        look = styles[line.name]
        panel.plot(
            line.x,
            [value / divisor for value in line.y],
            color=look.colour,
            linewidth=look.width * size,
            linestyle=_ESTIMATED if line.is_estimate else look.line,
            marker=look.marker,
            markersize=look.marker_size * size,
            markeredgecolor="white",
            label=style.series_label(line.name),
            clip_on=False,
            zorder=look.order,
        )
        _draw_spread(panel, line, look, divisor, size)


def _leave_room(panel: Panel) -> None:
    # From 0, so that lengths can be compared, and with room above the topmost marker.
    panel.set_ylim(0, 1.04 * panel.get_ylim()[1])


def _dress_x(panel: Panel, results: Results, axes: Axes, lines: list[Line], scales: Scales) -> None:
    values = sorted({x for line in lines for x in line.x})
    column = results.column(axes.x or "")
    if scales.log_x:
        panel.set_xscale("log")
    panel.margins(x=0.06)
    most = _MOST_QUANTITIES if column.of else _MOST_TICKS
    if len(values) <= most or scales.log_x:
        panel.set_xticks(values[:: math.ceil(len(values) / most)])
        panel.minorticks_off()
    if column.of:
        # Each tick has its own prefix: sizes go from KiB to GiB.
        ticks = FuncFormatter(lambda value, _: show_quantity(value, column.unit))
        panel.xaxis.set_major_formatter(ticks)
        panel.set_xlabel(results.label(axes.x or "", ""))
        return
    panel.xaxis.set_major_formatter(FuncFormatter(_plain))
    # The values of x keep their unit: they are what the scenario says.
    panel.set_xlabel(results.label(axes.x or "", column.unit))


def _draw_values(
    panel: Panel, results: Results, axes: Axes, lines: list[Line], scales: Scales
) -> None:
    values = [value for line in lines for value in line.y]
    divisor, unit = columns.scale(results.column(axes.y).unit, values)
    _draw_lines(panel, lines, divisor)
    if scales.log_y:
        panel.set_yscale("log")
        seen = [value for value in values if not math.isnan(value)]
        is_long = max(seen) > _DECADES * min(seen)
        panel.yaxis.set_major_locator(LogLocator(subs=(1,) if is_long else (1, 2, 5)))
    else:
        _leave_room(panel)
    panel.yaxis.set_major_formatter(FuncFormatter(_plain))
    page.name_values(panel, results.label(axes.y, unit))
    _dress_x(panel, results, axes, lines, scales)


def _ratios(lines: list[Line]) -> list[Line]:
    baseline = next(line for line in lines if line.name == _BASELINE)
    by_x = dict(zip(baseline.x, baseline.y))
    ratios = []
    for line in lines:
        # Nothing has a ratio to 0.
        y = [value / (by_x.get(x) or math.nan) for x, value in zip(line.x, line.y)]
        ratios.append(replace(line, y=y, low=y, high=y))
    return ratios


def _check_values(results: Results, axes: Axes, lines: list[Line]) -> None:
    if all(math.isnan(value) for line in lines for value in line.y):
        raise ResultsError(f"{results.folder / 'runs.csv'}: no run has a value of {axes.y}")


def _draw_close_up(panel: Panel, lines: list[Line]) -> None:
    """Those ratios that are too close to 1 to be told apart, where the upper left is free for it."""
    top = panel.get_ylim()[1]
    middle = sum(panel.get_xlim()) / 2
    if any(y > 0.5 * top for line in lines for x, y in zip(line.x, line.y) if x < middle):
        return
    close = [line for line in lines if all(math.isnan(y) or abs(y - 1) < _CLOSE for y in line.y)]
    if len(close) < 2:
        return
    inset = panel.inset_axes((0.15, 0.63, 0.34, 0.28))
    _draw_lines(inset, close, 1.0, size=0.75)
    inset.margins(x=0.08, y=0.25)
    inset.tick_params(labelsize=page.points(7.5))
    inset.set_xticks(panel.get_xticks(), labels=[])
    inset.yaxis.set_major_locator(MaxNLocator(4))
    inset.set_title("close to 1", fontsize=page.points(8), fontweight="normal", pad=3)


def _draw_ratios(
    panel: Panel, results: Results, axes: Axes, lines: list[Line], scales: Scales
) -> None:
    ratios = _ratios(lines)
    _draw_lines(panel, ratios, 1.0)
    # The other schemes' ideal ratios are 1, or depend on parameters.
    for line in lines:
        if line.name != "ps" or not closed_form.holds(results.scenario):
            continue
        ideal = [
            closed_form.ideal_ratio(results.scenario, run, "ps", _BASELINE) for run in line.runs
        ]
        panel.plot(
            line.x,
            ideal,
            linestyle="none",
            marker="_",
            markersize=15,
            markeredgewidth=1.1,
            color=style.INK,
            label=f"{style.series_label(line.name)}, ideal network (closed form)",
            zorder=4,
        )
    _leave_room(panel)
    panel.yaxis.set_major_formatter(FuncFormatter(_plain))
    page.name_values(panel, f"Ratio to {style.series_label(_BASELINE).lower()}")
    _dress_x(panel, results, axes, lines, scales)
    _draw_close_up(panel, ratios)


def _draw_bars(panel: Panel, results: Results, axes: Axes, lines: list[Line]) -> None:
    divisor, unit = columns.scale(results.column(axes.y).unit, [line.y[0] for line in lines])
    values = [line.y[0] / divisor for line in lines]
    names = [style.series_label(line.name) for line in lines]
    colours = style.bar_colours(line.name for line in lines)
    spread = [
        [max(0.0, (line.y[0] - line.low[0]) / divisor) for line in lines],
        [max(0.0, (line.high[0] - line.y[0]) / divisor) for line in lines],
    ]
    has_spread = any(high > 0 for side in spread for high in side)
    bars = panel.barh(names, values, color=colours, height=0.6, xerr=spread if has_spread else None)
    for bar, line in zip(bars, lines):
        if line.is_estimate:
            bar.set(hatch="////", edgecolor="white")
    panel.bar_label(bars, labels=[f"{v:.4g}" for v in values], padding=4, color=style.INK)
    panel.invert_yaxis()
    panel.grid(False)
    panel.margins(x=0.12)
    page.name_values(panel, results.label(axes.y, unit), "x")


def _caption(figure: Figure, results: Results, remarks: Sequence[str] = ()) -> None:
    title = results.hints.get("title") or results.scenario.get("title") or ""
    if title:
        page.title(figure, title + "\n", 11, linespacing=0.4)
    missing = results.unfinished
    found = [f"{missing} {'run' if missing == 1 else 'runs'} did not finish"] if missing else []
    text = "\n".join([*found, *remarks])
    if text and not page.current().is_paper:
        figure.text(0.988, 0.985, text, ha="right", va="top", fontsize=8.5, color=style.WARNING)


@page.dressed
def draw(results: Results, y: str | None = None) -> Figure:
    """The figure of these results: lines over x with, where ring is among them, ratios to ring.

    :param y: another column than the completion times that the scenario asks for; without ratios,
        as are single columns of papers

    With the hint `panels`: a panel for each of its columns. Codecs swept over the rate of links are
    compared with the plain gradient.
    """
    if results.hints.get("panels") and y is None:
        figure = draw_panels(results)
        _caption(figure, results)
        return figure
    if tradeoff.applies(results) and y is None:
        return tradeoff.draw_tradeoff(results, lambda figure: _caption(figure, results))
    axes = choose_axes(results)
    if y is not None:
        results.require(y)
        axes = replace(axes, y=y)
    lines = group(results, axes)
    if y is not None:
        _check_values(results, axes, lines)
    scales = choose_scales(results, axes, lines)
    remarks = [*scales.remarks, *tell_equal_runs(results)]
    if axes.x is None:
        figure, panel = page.subplots(1, 1, (6.4, 1.3 + 0.38 * len(lines)), by_rows=True)
        _draw_bars(panel, results, axes, lines)
        if any(line.is_estimate for line in lines):
            remarks.append("hatched: estimated times of codecs")
        _caption(figure, results, remarks)
        return figure
    has_room = y is None and (page.current().is_double or not page.current().is_paper)
    with_ratio = has_room and len(lines) > 1 and any(line.name == _BASELINE for line in lines)
    figure, panels = page.subplots(
        1, 2 if with_ratio else 1, (9.2, 4.2) if with_ratio else (5.6, 3.9), squeeze=False
    )
    _draw_values(panels[0][0], results, axes, lines, scales)
    if with_ratio:
        _draw_ratios(panels[0][1], results, axes, lines, scales)
    handles, labels = panels[0][-1].get_legend_handles_labels()
    if any(line.is_estimate for line in lines):
        dashed = Line2D([], [], color=style.INK, linestyle=_ESTIMATED, linewidth=1.6)
        handles, labels = [*handles, dashed], [*labels, "estimated times of codecs"]
    if len(labels) > 1:
        page.legend(figure, handles, labels)
    _caption(figure, results, remarks)
    return figure


_FORMATS = (".svg", ".pdf", ".png", ".pgf")


def check_format(path: Path) -> None:
    """Raise ResultsError for a name whose end is no format that can be written."""
    if path.suffix not in _FORMATS:
        found = shown(path.suffix) if path.suffix else "no ending"
        raise ResultsError(f"{shown(str(path))}: found {found}, expected {', '.join(_FORMATS)}")


def save(figure: Figure, path: Path) -> None:
    """Write a figure, in the format that the name says, and rename it into place."""
    unfinished = path.with_name(f".{path.name}.part")
    # The same results give the same bytes: no date.
    dates = {".svg": "Date", ".pdf": "CreationDate"}
    options: dict[str, Any] = {}
    if path.suffix in dates:
        options["metadata"] = {dates[path.suffix]: None}
    if path.suffix == ".pgf":
        write_pgf(figure, unfinished)
    else:
        figure.savefig(unfinished, format=path.suffix[1:], **options)
    os.replace(unfinished, path)


def _plot_faults(results: Results) -> list[Path]:
    """faults.svg of a single run with faults."""
    if not faults.applies(results):
        return []
    path = results.folder / "faults.svg"
    with plt.rc_context(style.RC_PARAMS):
        figure = faults.draw_faults(results, None)
        save(figure, path)
        plt.close(figure)
    return [path]


def plot_results(folder: Path) -> list[Path]:
    """Write plot.svg and plot.png into a results folder; the same results give the same bytes.

    A single run with faults also gets faults.svg, codecs swept over link rates crossings.csv.

    Raises ResultsError if the results cannot be read.
    """
    results = load(folder)
    svg, png = folder / "plot.svg", folder / "plot.png"
    with plt.rc_context(style.RC_PARAMS):
        figure = draw(results)
        save(figure, svg)
        save(figure, png)
        plt.close(figure)
    crossings = []
    if tradeoff.applies(results):
        crossings.append(folder / "crossings.csv")
        tradeoff.write_crossings(results, crossings[0])
    return [svg, png, *crossings, *_plot_faults(results)]
