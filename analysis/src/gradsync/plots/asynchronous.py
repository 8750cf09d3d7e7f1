# SPDX-License-Identifier: GPL-2.0-only
"""Pictures of asynchronous training: how old the parameters are that updates were computed with."""

import matplotlib

matplotlib.use("Agg")

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from gradsync.errors import ResultsError
from gradsync.plots import page, style
from gradsync.results.folder import Results
from gradsync.results.pick import describe_run, pick_run

_MOST_CURVES = 12


def _of_runs(results: Results, updates: pl.DataFrame) -> dict[str, pl.Series]:
    """The staleness of the updates of each run."""
    return {
        describe_run(results, number) or f"run {number}": own["staleness"]
        for (number,), own in updates.group_by("run", maintain_order=True)
    }


def _of_workers(updates: pl.DataFrame) -> dict[str, pl.Series]:
    """The same of each worker of one run."""
    several = updates["job"].n_unique() > 1
    return {
        f"{job} worker {worker}" if several else f"worker {worker} ({host})": own["staleness"]
        for (job, worker, host), own in updates.sort("job", "worker", maintain_order=True).group_by(
            "job", "worker", "host", maintain_order=True
        )
    }


def _draw_shares(panel: Axes, curves: dict[str, pl.Series]) -> None:
    looks = style.series_styles(curves)
    for index, (name, staleness) in enumerate(curves.items()):
        values = np.sort(staleness.to_numpy())
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
            markevery=style.mark_every(index, len(curves)),
            zorder=look.order,
            label=f"{name} (mean {values.mean():.3g})",
        )
    panel.set_ylim(0, 1.02)
    panel.set_xlim(left=0)
    panel.set_xlabel("Staleness: updates of others since the worker fetched")
    page.name_values(panel, "Share of updates")


def draw_staleness(results: Results, run: int | None) -> Figure:
    """The share of updates of at most that staleness: of each run, or of the workers of one.

    Raises ResultsError where no job is asynchronous.
    """
    of_workers = run is not None or len(results.rows) == 1
    updates = results.updates
    title = results.hints.get("title") or results.scenario.get("title") or results.folder.name
    if of_workers:
        number = pick_run(results, run)
        updates = updates.filter(pl.col("run") == number)
        title = "\n".join(filter(None, [str(title), describe_run(results, number)]))
    if updates.is_empty():
        raise ResultsError(f"{results.folder / 'updates.csv'}: no asynchronous job has updates")
    curves = _of_workers(updates) if of_workers else _of_runs(results, updates)
    shown = dict(list(curves.items())[:_MOST_CURVES])
    figure, panel = page.subplots(1, 1, (7.2, 4.4))
    _draw_shares(panel, shown)
    further = len(curves) - len(shown)
    handles, labels = panel.get_legend_handles_labels()
    page.legend(figure, handles, labels, most=2, fontsize=page.points(8))
    left_out = f"; {further} further curves not shown" if further else ""
    page.title(figure, f"{title}{left_out}")
    return figure
