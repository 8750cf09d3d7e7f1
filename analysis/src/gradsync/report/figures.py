# SPDX-License-Identifier: GPL-2.0-only
"""The interactive plots of a report."""

import math
import textwrap
from collections.abc import Callable
from dataclasses import replace
from html import escape
from typing import Any

import numpy as np
import plotly.graph_objects as go
import polars as pl

from gradsync.plots import style
from gradsync.plots.training import PARTS
from gradsync.results import columns
from gradsync.results.folder import Results
from gradsync.results.pick import describe_run, name_of, pick_comparison
from gradsync.results.quantities import show_quantity
from gradsync.results.series import Axes, Line, Scales, choose_axes, choose_scales, group

_MARKERS = {"o": "circle", "s": "square", "^": "triangle-up", "D": "diamond", "v": "triangle-down"}
_MARKERS |= {"P": "cross", "X": "x", "p": "pentagon", "h": "hexagon", "<": "triangle-left"}
_MARKERS |= {">": "triangle-right", "*": "star", "d": "diamond-tall"}
_DASHES: dict[Any, str] = {"-": "solid", "--": "dash", ":": "dot", "-.": "dashdot"}
_DASHES[style.LONG_DASHES] = "longdash"
_BASELINE = "ring"
_MOST_POINTS = 400
_MOST_TICKS = 10
# In a line of a phone of 375 pixels, in DejaVu Sans, which is wide.
_TITLE_LETTERS = 38
_AXIS_LETTERS = 34


def _figure(title: str, x: str, y: str, **layout: Any) -> go.Figure:
    figure = go.Figure()
    figure.update_layout(
        title={"text": title, "x": 0, "font": {"size": 16}},
        xaxis={"title": x, "gridcolor": "#eee", "automargin": True},
        yaxis={"title": y, "gridcolor": "#eee", "automargin": True},
        legend={"orientation": "h", "y": -0.25},
        margin={"l": 10, "r": 10, "t": 50, "b": 10},
        plot_bgcolor="white",
        height=460,
        **layout,
    )
    return figure


def _spread(lines: list[Line], divisor: float) -> dict[str, Any] | None:
    """What the values of all points may be in, as in the plots; None: nothing is known of it."""
    points = [point for line in lines for point in zip(line.low, line.y, line.high)]
    if not any(high > low for low, _, high in points):
        return None
    return {
        "symmetric": False,
        "array": [(high - y) / divisor for _, y, high in points],
        "arrayminus": [(y - low) / divisor for low, y, _ in points],
        "thickness": 1.2,
        "width": 4,
    }


def _trace(line: Line, look: style.SeriesStyle, divisor: float) -> go.Scatter:
    estimate = " (estimated times of codecs)" if line.is_estimate else ""
    return go.Scatter(
        x=line.x,
        y=[y / divisor for y in line.y],
        error_y=_spread([line], divisor),
        name=style.series_label(line.name) + estimate,
        mode="lines+markers",
        line={
            "color": look.colour,
            "width": look.width,
            "dash": "dash" if line.is_estimate else _DASHES[look.line],
        },
        marker={"symbol": _MARKERS[look.marker], "size": 1.6 * look.marker_size},
    )


def _dress_x(
    figure: go.Figure, results: Results, axes: Axes, lines: list[Line], scales: Scales
) -> None:
    """Its label, whether it is logarithmic, and ticks with their units where it has quantities."""
    column = results.column(axes.x or "")
    label = results.label(axes.x or "", "" if column.of else column.unit)
    figure.update_xaxes(title=label, type="log" if scales.log_x else "linear")
    if column.of:
        values = sorted({x for line in lines for x in line.x})
        ticks = values[:: math.ceil(len(values) / _MOST_TICKS)]
        text = [show_quantity(value, column.unit) for value in ticks]
        figure.update_xaxes(tickmode="array", tickvals=ticks, ticktext=text)


def _ict(results: Results) -> go.Figure:
    axes: Axes = choose_axes(results)
    lines = group(results, axes)
    looks = style.series_styles(line.name for line in lines)
    unit_y = results.column(axes.y).unit
    divisor, unit = columns.scale(unit_y, [y for line in lines for y in line.y])
    label = results.label(axes.y, unit)
    scales = choose_scales(results, axes, lines)
    if axes.x is None:
        figure = _figure(label, label, "", showlegend=False)
        figure.add_bar(
            x=[line.y[0] / divisor for line in lines],
            y=[style.series_label(line.name) for line in lines],
            orientation="h",
            marker_color=style.bar_colours(line.name for line in lines),
            error_x=_spread(lines, divisor),
        )
        figure.update_yaxes(autorange="reversed")
        return figure
    figure = _figure(label, "", label)
    for line in lines:
        figure.add_trace(_trace(line, looks[line.name], divisor))
    _dress_x(figure, results, axes, lines, scales)
    figure.update_yaxes(type="log" if scales.log_y else "linear")
    if not scales.log_y:
        figure.update_yaxes(rangemode="tozero")
    return figure


def _ratio(results: Results) -> go.Figure | None:
    axes = choose_axes(results)
    lines = group(results, axes)
    baseline = next((line for line in lines if line.name == _BASELINE), None)
    if axes.x is None or baseline is None or len(lines) < 2:
        return None
    of = dict(zip(baseline.x, baseline.y))
    looks = style.series_styles(line.name for line in lines)
    label = "Ratio to ring"
    figure = _figure(label, "", label)
    _dress_x(figure, results, axes, lines, choose_scales(results, axes, lines))
    for line in lines:
        y = [value / (of.get(x) or float("nan")) for x, value in zip(line.x, line.y)]
        figure.add_trace(_trace(replace(line, y=y, low=y, high=y), looks[line.name], 1.0))
    return figure


def _messages(results: Results) -> go.Figure | None:
    if results.messages.is_empty():
        return None
    runs = pick_comparison(results, None)
    times = results.messages.select("run", (pl.col("end_s") - pl.col("start_s")).alias("time"))
    divisor, unit = columns.scale("s", times["time"].to_list())
    names = {run: name_of(results, run) for run in runs}
    looks = style.series_styles(dict.fromkeys(names.values()))
    figure = _figure("Messages delivered", f"Completion time of a message ({unit})", "Share")
    for name in dict.fromkeys(names.values()):
        own = [run for run, called in names.items() if called == name]
        values = times.filter(pl.col("run").is_in(own))["time"].to_numpy()
        if len(values) == 0:
            continue
        share = np.linspace(0.0, 1.0, min(_MOST_POINTS, len(values) + 1))
        figure.add_scatter(
            x=(np.quantile(values, share) / divisor).tolist(),
            y=share.tolist(),
            name=style.series_label(name),
            mode="lines",
            line={"color": looks[name].colour, "width": 2, "dash": _DASHES[looks[name].line]},
        )
    return figure


def _bytes(results: Results) -> go.Figure | None:
    if results.links.is_empty():
        return None
    runs = pick_comparison(results, None)
    links = results.links.filter(pl.col("run").is_in(runs))
    sums = links.group_by("run", "kind", maintain_order=True).agg(pl.col("wire_bytes").sum())
    if sums.is_empty():
        return None
    divisor, unit = columns.scale("B", sums["wire_bytes"].to_list())
    names = {run: name_of(results, run) for run in runs}
    looks = style.series_styles(dict.fromkeys(names.values()))
    label = f"Bytes on links ({unit})"
    figure = _figure(f"{label}, by class of link", "", label, barmode="group")
    for run, name in names.items():
        own = sums.filter(pl.col("run") == run)
        figure.add_bar(
            x=own["kind"].to_list(),
            y=[value / divisor for value in own["wire_bytes"].to_list()],
            name=style.series_label(name),
            marker_color=looks[name].colour,
        )
    return figure


def _breakdown(results: Results) -> go.Figure | None:
    if "computation_s" not in results.rows[0]:
        return None
    rows = results.runs.select("run", *PARTS).drop_nulls().head(_MOST_POINTS)
    if rows.is_empty():
        return None
    totals = rows.select(pl.sum_horizontal(*PARTS)).to_series()
    divisor, unit = columns.scale("s", totals.to_list())
    label = f"Time of a training iteration ({unit})"
    figure = _figure("What training iterations are made of", label, "", barmode="stack")
    names = [describe_run(results, run) or f"run {run}" for run in rows["run"]]
    for column, part in PARTS.items():
        figure.add_bar(
            x=[value / divisor for value in rows[column]],
            y=names,
            orientation="h",
            name=part.label,
            marker={"color": part.colour, "pattern": {"shape": part.hatch[:1]}},
        )
    figure.update_yaxes(autorange="reversed")
    return figure


def _wrap(figure: go.Figure) -> None:
    """Break titles that a phone has no room for."""
    layout = figure.layout
    for title, most in (
        (layout.title, _TITLE_LETTERS),
        (layout.xaxis.title, _AXIS_LETTERS),
        (layout.yaxis.title, _AXIS_LETTERS),
    ):
        title.text = "<br>".join(textwrap.wrap(title.text or "", most))


_PLOTS: dict[str, Callable[[Results], go.Figure | None]] = {
    "ict": _ict,
    "ratio": _ratio,
    "breakdown": _breakdown,
    "messages": _messages,
    "bytes": _bytes,
}


def render(results: Results) -> str:
    """The plots as HTML, for a page that has Plotly's script."""
    parts = []
    for name, draw in _PLOTS.items():
        figure = draw(results)
        if figure is not None:
            title = escape(figure.layout.title.text)
            _wrap(figure)
            html = figure.to_html(
                full_html=False,
                include_plotlyjs=False,
                div_id=f"plot-{name}",
                config={"responsive": True, "displaylogo": False},
            )
            parts.append(f'<figure aria-label="{title}">{html}</figure>')
    return "".join(parts)
