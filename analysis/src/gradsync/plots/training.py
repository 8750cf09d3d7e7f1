# SPDX-License-Identifier: GPL-2.0-only
"""Pictures of training iterations: what they are made of, and what bounds them."""

import re
from dataclasses import dataclass
from typing import Any

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from gradsync.errors import ResultsError
from gradsync.plots import page, style
from gradsync.results import columns
from gradsync.results.folder import Results
from gradsync.results.pick import describe_run, pick_run

_MOST_BARS = 64
_MOST_SHARES = 10


@dataclass(frozen=True)
class Part:
    """How a part of a rank's time is called and drawn; the hatch says in grey what the colour does."""

    label: str
    colour: str
    hatch: str = ""


# The parts that add up, and what of the first is beside communication.
PARTS = {
    "computation_s": Part("computation", "#0072B2"),
    "exposed_s": Part("exposed communication", "#D55E00", "////"),
    "bubble_s": Part("bubble", "#DDDDDD"),
}
HIDDEN = Part("hidden communication (beside computation)", "#56B4E9", "....")
_EDGE: dict[str, Any] = {"edgecolor": "white", "linewidth": 0}
_COMPUTATION = "computation"


def _recorded(results: Results, table: pl.DataFrame, name: str) -> pl.DataFrame:
    if table.is_empty():
        raise ResultsError(f"{results.folder / name}: no run has finished a training iteration")
    return table


def _title(figure: Figure, results: Results, text: str) -> None:
    title = results.hints.get("title") or results.scenario.get("title") or results.folder.name
    page.title(figure, "\n".join(filter(None, [str(title), text])))


def _draw_parts(panel: Axes, names: list[str], parts: pl.DataFrame) -> None:
    """A bar for each row, from its parts; a thin one for what is hidden."""
    totals = parts.select(pl.sum_horizontal(*PARTS)).to_series()
    divisor, unit = columns.scale("s", totals.to_list())
    left = pl.zeros(len(names), eager=True)
    for column, part in PARTS.items():
        widths = parts[column] / divisor
        look = {"color": part.colour, "hatch": part.hatch, **_EDGE}
        panel.barh(range(len(names)), widths, left=left, height=0.72, **look)
        left = left + widths
    hidden = parts["hidden_s"] / divisor
    ends = parts["computation_s"] / divisor
    look = {"color": HIDDEN.colour, "hatch": HIDDEN.hatch, **_EDGE}
    panel.barh(range(len(names)), -hidden, left=ends, height=0.22, **look)
    panel.set_yticks(range(len(names)), names, fontsize=page.points(8 if len(names) <= 24 else 6))
    panel.set_ylim(len(names) - 0.4, -0.6)
    panel.set_xlim(left=0)
    panel.grid(False)
    panel.set_xlabel(f"Time of an iteration ({unit})")


def _of_runs(results: Results) -> tuple[list[str], pl.DataFrame, str]:
    """Means over ranks and iterations, a row per run that trains."""
    wanted = ["hidden_s", *PARTS]
    for column in wanted:
        results.require(column)
    rows = results.runs.select("run", *wanted).drop_nulls()
    _recorded(results, rows, "runs.csv")
    shown = rows.head(_MOST_BARS)
    names = [describe_run(results, run) or f"run {run}" for run in shown["run"]]
    further = rows.height - shown.height
    return names, shown, f"{further} further runs not shown" if further else ""


def _of_ranks(results: Results, number: int) -> tuple[list[str], pl.DataFrame, str]:
    """Means over the iterations of one run, a row per rank."""
    table = _recorded(results, results.training.filter(pl.col("run") == number), "training.csv")
    rows = table.group_by("job", "rank", maintain_order=True).agg(
        pl.col("host").first(), pl.col("hidden_s", *PARTS).mean()
    )
    shown = rows.head(_MOST_BARS)
    names = [f"rank {rank} ({host})" for rank, host in shown.select("rank", "host").iter_rows()]
    if rows["job"].n_unique() > 1:
        names = [f"{job} {name}" for job, name in zip(shown["job"], names)]
    further = rows.height - shown.height
    parts = [f"run {number}", describe_run(results, number)]
    return (
        names,
        shown,
        ", ".join(filter(None, [*parts, f"{further} further ranks not shown" if further else ""])),
    )


def draw_breakdown(results: Results, run: int | None) -> Figure:
    """What iterations are made of: a bar per run of a sweep, or per rank of one run.

    Raises ResultsError where nothing was trained.
    """
    of_ranks = run is not None or len(results.rows) == 1
    names, parts, text = (
        _of_ranks(results, pick_run(results, run)) if of_ranks else _of_runs(results)
    )
    figure, panel = page.subplots(1, 1, (8.4, 1.7 + 0.24 * len(names)), by_rows=True)
    _draw_parts(panel, names, parts)
    looks = [*PARTS.values(), HIDDEN]
    page.legend(
        figure,
        [Patch(facecolor=look.colour, hatch=look.hatch, **_EDGE) for look in looks],
        [look.label for look in looks],
    )
    _title(figure, results, text)
    return figure


def family(label: str) -> str:
    """A label with * for each number, so that all layers have the same; as the program prints them."""
    return re.sub("[0-9]+", "*", label)


def _pick_iteration(results: Results, number: int) -> tuple[pl.DataFrame, str]:
    """The critical path of the last iteration of the first job that trains."""
    table = results.critical_path.filter(pl.col("run") == number)
    _recorded(results, table, "critical_path.csv")
    job = table["job"][0]
    table = table.filter(pl.col("job") == job)
    iteration = max(table["iteration"].to_list())
    return table.filter(pl.col("iteration") == iteration), f"{job}, iteration {iteration}"


def _draw_path(panel: Axes, path: pl.DataFrame, colours: dict[str, str]) -> None:
    """Each step at its rank, over time."""
    start = min(path["start_s"].to_list())
    divisor, unit = columns.scale("s", [max(path["end_s"].to_list()) - start])
    for stream, colour in colours.items():
        own = path.filter(pl.col("stream") == stream)
        left = (own["start_s"] - start) / divisor
        width = (own["end_s"] - own["start_s"]) / divisor
        panel.barh(own["rank"], width, left=left, height=0.9, color=colour, linewidth=0)
    turns = path.filter(pl.col("rank") != pl.col("rank").shift(1))
    before = path["rank"].shift(1).filter(path["rank"] != path["rank"].shift(1))
    at = (turns["start_s"] - start) / divisor
    panel.vlines(at, before, turns["rank"], color=style.INK, linewidth=0.5, alpha=0.5)
    ranks = path["rank"].unique().sort().to_list()
    if len(ranks) <= 16:
        panel.set_yticks(ranks)
    panel.set_ylim(max(ranks) + 0.7, min(ranks) - 0.7)
    panel.set_xlim(left=0)
    panel.grid(False)
    panel.set_title("Rank that the iteration waits for")
    panel.set_xlabel(f"Time ({unit})")


def _share_of_path(path: pl.DataFrame) -> pl.DataFrame:
    """The shares of what is alike, largest first, each with the link that bounds most of it."""
    own = ["stream", "family"]
    times = path.select(
        "stream",
        pl.col("label").map_elements(family, return_dtype=pl.String).alias("family"),
        (pl.col("end_s") - pl.col("start_s")).alias("time"),
        (pl.col("link_from") + " to " + pl.col("link_to")).alias("link"),
    )
    links = times.group_by(*own, "link", maintain_order=True).agg(pl.col("time").sum())
    links = links.sort("time", descending=True, maintain_order=True)
    sums = links.group_by(own, maintain_order=True).agg(
        pl.col("time").sum(), pl.col("link").first()
    )
    return sums.with_columns(pl.col("time") / pl.col("time").sum()).sort(
        "time", descending=True, maintain_order=True
    )


def _draw_shares(panel: Axes, shares: pl.DataFrame, colours: dict[str, str]) -> None:
    shown = shares.head(_MOST_SHARES)
    names = [
        f"{label} ({stream})" for stream, label in shown.select("stream", "family").iter_rows()
    ]
    values = [100 * share for share in shown["time"]]
    texts = [
        f"{value:.1f}" + (f"   {link}" if link else "")
        for value, link in zip(values, shown["link"])
    ]
    hues = [colours[stream] for stream in shown["stream"]]
    if shares.height > shown.height:
        names.append(f"{shares.height - shown.height} others")
        values.append(100 - sum(values))
        texts.append(f"{values[-1]:.1f}")
        hues.append("#BBBBBB")
    bars = panel.barh(range(len(names)), values, color=hues, height=0.7)
    panel.bar_label(bars, labels=texts, padding=4, color=style.INK, fontsize=page.points(8))
    panel.set_yticks(range(len(names)), names, fontsize=page.points(8))
    panel.set_ylim(len(names) - 0.4, -0.6)
    panel.margins(x=0.25)
    panel.grid(False)
    panel.set_title("Share of the critical path (%), and the busiest link on the way")


def draw_critical(results: Results, run: int | None) -> Figure:
    """What bounds an iteration: which rank it waits for over time, and the shares of what is alike.

    Raises ResultsError where nothing was trained.
    """
    number = pick_run(results, run)
    path, text = _pick_iteration(results, number)
    streams = path["stream"].unique(maintain_order=True).to_list()
    # Computation first and always blue; the streams of communication in their order of coming.
    streams.sort(key=lambda stream: (path.filter(stream=stream)["kind"] != _COMPUTATION).any())
    looks = style.series_styles(streams)
    colours = {stream: looks[stream].colour for stream in streams}
    colours |= {
        stream: PARTS["computation_s"].colour
        for stream in streams
        if (path.filter(stream=stream)["kind"] == _COMPUTATION).all()
    }
    shares = _share_of_path(path)
    rows = min(shares.height, _MOST_SHARES + 1)
    ranks = path["rank"].n_unique()
    heights = (1.2 + 0.16 * min(ranks, 16), 0.6 + 0.24 * rows)
    figure, (upper, lower) = page.subplots(
        2, 1, (8.4, 1.6 + sum(heights)), by_rows=True, height_ratios=heights
    )
    _draw_path(upper, path, colours)
    _draw_shares(lower, shares, colours)
    page.legend(figure, [Patch(color=colour) for colour in colours.values()], list(colours))
    point = describe_run(results, number)
    _title(figure, results, ", ".join(filter(None, [f"run {number}", point, text])))
    return figure
