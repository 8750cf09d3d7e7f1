# SPDX-License-Identifier: GPL-2.0-only
"""Pictures of what happens inside of runs: messages, links, workers."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.collections import LineCollection
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from gradsync.errors import ResultsError
from gradsync.plots import page, style
from gradsync.plots.asynchronous import draw_staleness
from gradsync.plots.faults import draw_faults
from gradsync.plots.layout import place
from gradsync.plots.plot import check_format, draw, save
from gradsync.plots.training import draw_breakdown, draw_critical
from gradsync.results import columns
from gradsync.results.folder import Results
from gradsync.results.pick import describe_run, name_of, pick_comparison, pick_run

_MOST_WORKERS = 64
_MOST_LABELS = 24
_MOST_PORTS = 6
_SEND, _RECEIVE, _COMPUTE = "#0072B2", "#E69F00", "#BBBBBB"


def _rows(results: Results, table: pl.DataFrame, name: str, runs: list[int]) -> pl.DataFrame:
    rows = table.filter(pl.col("run").is_in(runs))
    if rows.is_empty():
        path = results.folder / name
        raise ResultsError(f"{path}: nothing was recorded; see `results` in doc/scenario.rst")
    return rows


def _title(figure: Figure, results: Results, text: str) -> None:
    title = results.hints.get("title") or results.scenario.get("title") or results.folder.name
    page.title(figure, f"{title}\n{text}")


def draw_messages(results: Results, run: int | None) -> Figure:
    """The share of messages delivered within a time, for each scheme of one point of the sweep."""
    runs = pick_comparison(results, run)
    messages = _rows(results, results.messages, "messages.csv", runs)
    names = {number: name_of(results, number) for number in runs}
    looks = style.series_styles(dict.fromkeys(names.values()))
    times = messages.select("run", (pl.col("end_s") - pl.col("start_s")).alias("time"))
    divisor, unit = columns.scale("s", times["time"].to_list())
    figure, panel = page.subplots(1, 1, (6.2, 4))
    for index, name in enumerate(dict.fromkeys(names.values())):
        own = [number for number, called in names.items() if called == name]
        values = np.sort(times.filter(pl.col("run").is_in(own))["time"].to_numpy()) / divisor
        share = np.arange(1, len(values) + 1) / len(values)
        look = looks[name]
        panel.step(
            np.concatenate(([values[0]], values)),
            np.concatenate(([0.0], share)),
            where="post",
            color=look.colour,
            linewidth=look.width,
            linestyle=look.line,
            marker=look.marker,
            markersize=look.marker_size,
            markevery=style.mark_every(index, len(looks)),
            zorder=look.order,
            label=f"{style.series_label(name)} ({len(values):,} messages)",
        )
    panel.set_ylim(0, 1.02)
    panel.set_xlim(left=0)
    panel.set_xlabel(f"Completion time of a message ({unit})")
    page.name_values(panel, "Share of messages")
    handles, labels = panel.get_legend_handles_labels()
    page.legend(figure, handles, labels, most=2)
    _title(figure, results, _shared(results, runs[0]))
    return figure


def _run(results: Results, number: int) -> str:
    text = describe_run(results, number)
    return f"run {number}: {text}" if text else f"run {number}"


def _shared(results: Results, run: int) -> str:
    """The values that compared runs share."""
    name = name_of(results, run)
    return ", ".join(part for part in describe_run(results, run).split(", ") if part not in name)


def _draw_network(panel: Axes, links: pl.DataFrame, colours: ScalarMappable) -> int:
    pairs = list(links.select("from", "to").iter_rows())
    layout = place(pairs)
    segments, loads = [], []
    for (source, target), load in zip(pairs, links["utilisation"].to_list()):
        (x1, y1), (x2, y2) = layout.positions[source], layout.positions[target]
        # The two directions of a link lie side by side: up on the left, down on the right.
        shift = -0.0022 if (y1, x1) < (y2, x2) else 0.0022
        segments.append([(x1 + shift, y1), (x2 + shift, y2)])
        loads.append(load)
    order = np.argsort(loads)
    width = 2.4 if len(pairs) < 150 else 1.2
    rgba = [tuple(colours.to_rgba(np.array([loads[i]]))[0]) for i in order]
    lines = LineCollection([segments[i] for i in order], colors=rgba, linewidths=width, zorder=2)
    panel.add_collection(lines)
    for x, tier in layout.positions.values():
        shape = "o" if tier == 0 else "s"
        panel.plot(x, tier, shape, color="white", markeredgecolor=style.INK, markersize=6, zorder=3)
    sizes = Counter(tier for _, tier in layout.positions.values())
    for node, (x, tier) in layout.positions.items():
        if tier > 0 and sizes[tier] > _MOST_LABELS:
            continue
        below = tier == 0
        panel.annotate(
            node,
            (x, tier),
            xytext=(0, -7) if below else (0, 8),
            textcoords="offset points",
            ha="center",
            va="top" if below else "bottom",
            rotation=90 if below and sizes[tier] > _MOST_LABELS // 2 else 0,
            fontsize=page.points(7 if sizes[tier] <= _MOST_LABELS else 4.5),
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.8, "alpha": 0.85},
            zorder=4,
        )
    return layout.tiers


def draw_links(results: Results, run: int | None) -> Figure:
    """The utilisation of every link of one run, drawn on the network."""
    number = pick_run(results, run)
    links = _rows(results, results.links, "links.csv", [number])
    colours = ScalarMappable(Normalize(0, 1), "viridis_r")
    figure, panel = page.subplots(1, 1, (9.2, 4.6))
    tiers = _draw_network(panel, links, colours)
    panel.set_xlim(0, 1)
    panel.set_ylim(-0.45, tiers - 0.65)
    panel.axis("off")
    bar = figure.colorbar(colours, ax=panel, shrink=0.75, pad=0.01)
    bar.set_label("Utilisation (wire bits over capacity, whole run)")
    _title(figure, results, f"{_run(results, number)}; up on the left, down on the right")
    return figure


def draw_bytes(results: Results, run: int | None) -> Figure:
    """Bytes on the wire by class of link, payload and overhead apart, for each scheme."""
    runs = pick_comparison(results, run)
    links = _rows(results, results.links, "links.csv", runs)
    sums = links.group_by("run", "kind").agg(pl.col("payload_bytes", "wire_bytes").sum())
    kinds = links["kind"].unique(maintain_order=True).to_list()
    names = [name_of(results, number) for number in runs]
    looks = style.series_styles(dict.fromkeys(names))
    divisor, unit = columns.scale("B", sums["wire_bytes"].to_list())
    figure, panels = page.subplots(
        1,
        len(kinds),
        (1.6 + 3.4 * len(kinds), 1.5 + 0.34 * len(runs)),
        by_rows=True,
        squeeze=False,
        sharey=True,
    )
    for panel, kind in zip(panels[0], kinds):
        own = sums.filter(pl.col("kind") == kind)
        of_kind = {row["run"]: row for row in own.iter_rows(named=True)}
        for place_, (number, name) in enumerate(zip(runs, names)):
            payload = of_kind[number]["payload_bytes"] / divisor
            wire = of_kind[number]["wire_bytes"] / divisor
            panel.barh(place_, payload, color=looks[name].colour, height=0.62)
            panel.barh(place_, wire - payload, left=payload, color="#BBBBBB", height=0.62)
            panel.text(wire, place_, f" {wire:.3g}", va="center", fontsize=page.points(8))
        panel.set_yticks(range(len(runs)), [style.series_label(name) for name in names])
        panel.set_ylim(len(runs) - 0.5, -0.5)
        panel.margins(x=0.14)
        panel.grid(False)
        page.name_values(panel, f"{kind} links ({unit})", "x")
    grey = "bytes on links; grey: headers, gaps, acknowledgements"
    _title(figure, results, ". ".join(filter(None, [grey, _shared(results, runs[0])])))
    return figure


def _merge(intervals: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """(start, length) of the times that any of the intervals (start, end) covers."""
    merged: list[list[float]] = []
    for start, end in sorted(intervals):
        if merged and start <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], end)
        else:
            merged.append([start, end])
    return [(start, end - start) for start, end in merged]


def draw_timeline(results: Results, run: int | None) -> Figure:
    """When each worker of one run computes, has something on the way out, and on the way in."""
    number = pick_run(results, run)
    messages = _rows(results, results.messages, "messages.csv", [number])
    iterations = _rows(results, results.iterations, "iterations.csv", [number])
    ends = messages.select(pl.concat([pl.col("src"), pl.col("dst")]).unique(maintain_order=True))
    workers = sorted(ends.to_series().to_list(), key=lambda name: (len(name), name))
    shown = workers[:_MOST_WORKERS]
    divisor, unit = columns.scale("s", [messages["end_s"].max()])  # type: ignore[list-item]
    figure, panel = page.subplots(1, 1, (9.2, 1.4 + 0.19 * len(shown)), by_rows=True)
    for index, worker in enumerate(shown):
        for column, colour, lower in (("src", _SEND, 0.02), ("dst", _RECEIVE, -0.38)):
            own = messages.filter(pl.col(column) == worker).select("start_s", "end_s")
            busy = _merge(list(own.iter_rows()))
            bars = [(start / divisor, length / divisor) for start, length in busy]
            panel.broken_barh(bars, (index + lower, 0.36), color=colour, linewidth=0)
    for start, compute in iterations.select("start_s", "compute_s").iter_rows():
        panel.axvspan(start / divisor, (start + compute) / divisor, color=_COMPUTE, alpha=0.6, lw=0)
        panel.axvline(start / divisor, color="#555555", linewidth=0.8, linestyle=":")
    panel.set_yticks(range(len(shown)), shown, fontsize=page.points(7))
    panel.set_ylim(len(shown) - 0.4, -0.6)
    panel.set_xlim(left=0)
    panel.grid(False)
    panel.set_xlabel(f"Time ({unit}); dotted: an iteration begins")
    handles = [Patch(color=colour) for colour in (_SEND, _RECEIVE, _COMPUTE)]
    labels = ["a message is on its way out", "a message is on its way in", "computes"]
    page.legend(figure, handles, labels)
    further = len(workers) - len(shown)
    left_out = f"; {further} further workers not shown" if further else ""
    _title(figure, results, _run(results, number) + left_out)
    return figure


def _draw_ports(
    panel: Axes, samples: pl.DataFrame, column: str, every: float, scales: tuple[float, float]
) -> None:
    """One column over time for the ports that have most of it; a port that was idle has no row."""
    peaks = samples.group_by("port", maintain_order=True).agg(pl.col(column).max())
    peaks = peaks.filter(pl.col(column) > 0).sort(column, descending=True, maintain_order=True)
    ports = peaks["port"].to_list()[:_MOST_PORTS]
    time, size = scales
    count = int(np.round(samples["time_s"].to_numpy().max() / every)) + 1
    looks = style.series_styles(ports)
    for index, port in enumerate(ports):
        own = samples.filter(pl.col("port") == port)
        values = np.zeros(count)
        values[np.round(own["time_s"].to_numpy() / every).astype(int)] = own[column].to_numpy()
        axis = np.arange(count) * every / time
        look = looks[port]
        panel.plot(
            axis,
            values / size,
            color=look.colour,
            linestyle=look.line,
            linewidth=1.1,
            marker=look.marker,
            markersize=look.marker_size,
            markevery=style.mark_every(index, len(ports)),
            label=port,
        )
    further = peaks.height - len(ports)
    if ports:
        title = f"and {further} more" if further else None
        panel.legend(
            loc="center left", bbox_to_anchor=(1.0, 0.5), title=title, fontsize=page.points(8)
        )
    else:
        panel.text(0.5, 0.5, "none", transform=panel.transAxes, ha="center", color="#555555")
    panel.set_ylim(bottom=0)
    panel.set_xlim(0, count * every / time)


def draw_queues(results: Results, run: int | None) -> Figure:
    """What waits at the fullest ports of one run, and which were paused most, over time."""
    number = pick_run(results, run)
    samples = _rows(results, results.samples, "samples.csv", [number])
    samples = samples.with_columns((pl.col("from") + " to " + pl.col("to")).alias("port"))
    times = samples["time_s"].unique().sort()
    every = float(np.diff(times.to_numpy(), prepend=0.0).min())
    divisor, unit = columns.scale("s", times.to_list())
    size, size_unit = columns.scale("B", samples["queue_bytes"].to_list())
    figure, (queues, pauses) = page.subplots(2, 1, (9.2, 5.2), sharex=True)
    _draw_ports(queues, samples, "queue_bytes", every, (divisor, size))
    _draw_ports(pauses, samples, "pfc_pause_s", every, (divisor, every / 100))
    queues.set_title(f"Waiting at a port ({size_unit})")
    pauses.set_title("Sending paused by PFC (% of the interval)")
    pauses.set_xlabel(f"Time ({unit})")
    _title(figure, results, _run(results, number))
    return figure


KINDS: dict[str, Callable[[Results, int | None], Figure]] = {
    "ict": lambda results, run: draw(results),
    "busbw": lambda results, run: draw(results, "busbw_bytes_per_s"),
    "algbw": lambda results, run: draw(results, "algbw_bytes_per_s"),
    "messages": draw_messages,
    "links": draw_links,
    "bytes": draw_bytes,
    "timeline": draw_timeline,
    "queues": draw_queues,
    "faults": draw_faults,
    "breakdown": draw_breakdown,
    "critical": draw_critical,
    "staleness": draw_staleness,
}


def draw_kind(
    results: Results, kind: str, run: int | None = None, on: page.Page = page.SCREEN
) -> Figure:
    """One kind of picture. Raises ResultsError for a kind, a run or a record that is not there."""
    if kind not in KINDS:
        raise ResultsError(f"there is no kind {kind} of plot; there are {', '.join(KINDS)}")
    with page.use(on):
        figure = KINDS[kind](results, run)
        page.fit(figure)
        # Notebooks show the value of a cell, and would show every open figure once more.
        plt.close(figure)
    return figure


def plot_kind(
    results: Results,
    kind: str,
    run: int | None = None,
    out: Path | None = None,
    on: page.Page = page.SCREEN,
) -> Path:
    """Draw one kind of picture into a file; its path.

    The default is KIND.svg in the results folder, on a page of a paper KIND.pdf.

    Raises ResultsError for a kind, a run or a record that is not there.
    """
    path = out or results.folder / f"{kind}.{'pdf' if on.is_paper else 'svg'}"
    check_format(path)
    figure = draw_kind(results, kind, run, on)
    with page.use(on):
        save(figure, path)
    return path
