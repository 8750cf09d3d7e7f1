# SPDX-License-Identifier: GPL-2.0-only
"""Several columns side by side: a row for each series, a mark for each x."""

import math

from matplotlib import colormaps
from matplotlib.axes import Axes as Panel
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter

from gradsync.plots import page, style
from gradsync.results import columns
from gradsync.results.folder import Results
from gradsync.results.quantities import show_quantity
from gradsync.results.series import Axes, Line, choose_axes, group

_MARKERS = "o^sDvP"
# From here on numbers are far enough apart for an axis of powers of ten.
_WIDE = 20.0


def _look(index: int, count: int) -> tuple[str, tuple[float, float, float, float]]:
    """Marker and colour of the index-th x; dark is more, in print too."""
    share = index / max(1, count - 1)
    return _MARKERS[index % len(_MARKERS)], colormaps["viridis_r"](0.15 + 0.8 * share)


def _draw_panel(
    panel: Panel, results: Results, lines: list[Line], column: str, x: list[float]
) -> None:
    divisor, unit = columns.scale(
        results.column(column).unit, [value for line in lines for value in line.y]
    )
    seen = []
    for index, at in enumerate(x):
        marker, colour = _look(index, len(x))
        values = [
            (row, dict(zip(line.x, line.y)).get(at, math.nan) / divisor)
            for row, line in enumerate(lines)
        ]
        seen += [value for _, value in values if value > 0]
        panel.plot(
            [value for _, value in values],
            [row for row, _ in values],
            linestyle="none",
            marker=marker,
            # Equal values lie on top of each other: the first is the smallest, and above.
            markersize=4.5 + 2.6 * index,
            color=colour,
            markeredgecolor="white",
            clip_on=False,
            zorder=4 - index / len(x),
        )
    if seen and max(seen) > _WIDE * min(seen):
        panel.set_xscale("log")
        panel.minorticks_off()
    else:
        panel.set_xlim(0, 1.06 * max(seen, default=1.0))
    panel.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    page.name_values(panel, results.label(column, unit), "x")
    panel.grid(True, axis="both")


def draw_panels(results: Results) -> Figure:
    """The columns that the scenario's hint `panels` names.

    Raises ResultsError for a hint that names no column.
    """
    base = choose_axes(results)
    names: list[str] = results.hints["panels"]
    for name in names:
        results.require(name)
    by_column = {name: group(results, Axes(base.x, name, base.series)) for name in names}
    lines = by_column[names[0]]
    x = sorted({value for line in lines for value in line.x})
    figure, panels = page.subplots(
        1,
        len(names),
        (1.4 + 2.5 * len(names), 1.3 + 0.24 * len(lines)),
        by_rows=True,
        sharey=True,
        squeeze=False,
    )
    for panel, name in zip(panels[0], names):
        _draw_panel(panel, results, by_column[name], name, x)
    panels[0][0].set_yticks(range(len(lines)), [style.series_label(line.name) for line in lines])
    panels[0][0].invert_yaxis()
    handles = [
        Line2D([], [], linestyle="none", marker=_look(i, len(x))[0], color=_look(i, len(x))[1])
        for i in range(len(x))
    ]
    column = results.column(base.x or "")
    text = results.label(base.x or "", "" if column.of else column.unit)
    figure.legend(
        handles,
        [show_quantity(value, column.unit if column.of else "") for value in x],
        title=text,
        loc="outside lower left",
        ncols=len(x),
        alignment="left",
    )
    return figure
