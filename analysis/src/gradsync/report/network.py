# SPDX-License-Identifier: GPL-2.0-only
"""The network of a report: one drawing for each of some runs, chosen from a list."""

from collections.abc import Sequence
from html import escape

import polars as pl
from matplotlib import colormaps
from matplotlib.colors import to_hex

from gradsync.errors import ResultsError
from gradsync.plots.layout import Layout, place
from gradsync.report.html_table import table
from gradsync.results.folder import Results
from gradsync.results.pick import describe_run, pick_run

_MOST_DRAWINGS = 12
_MOST_LINKS = 1500
_MOST_ROWS = 200
_WIDTH, _TIER, _MARGIN = 1000, 170, 60


def _colour(load: float) -> str:
    return str(to_hex(colormaps["viridis_r"](min(1.0, max(0.0, load)))))


GRADIENT = ", ".join(_colour(step / 4) for step in range(5))


def _point(layout: Layout, node: str) -> tuple[float, float]:
    x, tier = layout.positions[node]
    return _MARGIN + x * (_WIDTH - 2 * _MARGIN), (layout.tiers - 1 - tier) * _TIER + _MARGIN


def _line(layout: Layout, row: dict[str, object]) -> str:
    source, target = str(row["from"]), str(row["to"])
    (x1, y1), (x2, y2) = _point(layout, source), _point(layout, target)
    # The two directions of a link side by side: up on the left, down on the right.
    shift = -2.2 if (-y1, x1) < (-y2, x2) else 2.2
    load = float(str(row["utilisation"]))
    text = (
        f"{source} to {target}: {load:.1%} of {int(str(row['rate_bps'])) / 1e9:g} Gb/s, "
        f"{int(str(row['wire_bytes'])) / 1e6:.3g} MB, {row['dropped']} dropped, "
        f"queue at most {int(str(row['max_queue_bytes'])) / 1e3:.3g} kB"
    )
    return (
        f'<line x1="{x1 + shift:.1f}" y1="{y1:.1f}" x2="{x2 + shift:.1f}" y2="{y2:.1f}" '
        f'stroke="{_colour(load)}" stroke-width="3.4"><title>{escape(text)}</title></line>'
    )


def _node(layout: Layout, node: str) -> str:
    x, y = _point(layout, node)
    outer = layout.positions[node][1] == 0
    name = escape(node)
    mark = f'<circle cx="{x:.1f}" cy="{y:.1f}" r="6" fill="white" stroke="#222"><title>{name}</title></circle>'
    if outer:
        text = f'<text transform="translate({x + 4:.1f} {y + 12:.1f}) rotate(90)" font-size="11">{name}</text>'
    else:
        text = f'<text x="{x + 9:.1f}" y="{y - 8:.1f}" font-size="12">{name}</text>'
    return mark + text


def _drawing(links: pl.DataFrame, label: str) -> str:
    layout = place(list(links.select("from", "to").iter_rows()))
    rows = list(links.sort("utilisation").iter_rows(named=True))
    lines = "".join(_line(layout, row) for row in rows)
    nodes = "".join(_node(layout, node) for node in layout.positions)
    height = (layout.tiers - 1) * _TIER + 2 * _MARGIN
    return f'<svg viewBox="0 0 {_WIDTH} {height}" role="img" aria-label="{escape(label)}">{lines}{nodes}</svg>'


def _busiest(links: pl.DataFrame) -> str:
    top = links.sort("utilisation", descending=True, maintain_order=True).head(3)
    parts = [
        f"{row['from']} to {row['to']} {row['utilisation']:.1%}"
        for row in top.iter_rows(named=True)
    ]
    return f"Busiest: {'; '.join(parts)}. A link tells more when pointed at, and in the table."


def _table(links: pl.DataFrame, name: str) -> str:
    ordered = links.sort("utilisation", descending=True, maintain_order=True)
    rows = [
        [row["from"], row["to"], row["kind"], f"{row['rate_bps'] / 1e9:g}"]
        + [f"{row['utilisation']:.1%}", f"{row['wire_bytes'] / 1e6:.4g}", str(row["dropped"])]
        + [f"{row['max_queue_bytes'] / 1e3:.4g}", f"{1e3 * row['pfc_pause_s']:.4g}"]
        for row in ordered.head(_MOST_ROWS).iter_rows(named=True)
    ]
    head = [
        "from",
        "to",
        "kind",
        "Gb/s",
        "utilisation",
        "MB",
        "dropped",
        "most queued, kB",
        "paused, ms",
    ]
    text = table(head, rows, 3, f"Links of {name}")
    return f"<details><summary>Links as a table, the busiest first</summary>{text}</details>"


def _pick(results: Results, runs: Sequence[int] | None) -> list[int]:
    """Those that are asked for, or the first ones."""
    recorded = results.links["run"].unique(maintain_order=True).to_list()
    if runs is None:
        return recorded[:_MOST_DRAWINGS]
    for run in runs:
        pick_run(results, run)
        if run not in recorded:
            raise ResultsError(f"{results.folder / 'links.csv'}: nothing of run {run} was recorded")
    return list(dict.fromkeys(runs))


def _left_out(results: Results, drawn: int) -> str:
    there = results.links["run"].n_unique()
    if drawn == there:
        return ""
    return (
        f"<p>{drawn} of {there} runs are drawn; <code>./ns3 report DIR --network 3,7,20-25</code> "
        "draws those.</p>"
    )


def render(results: Results, picked: Sequence[int] | None = None) -> str:
    """The drawings, and a list to choose a run from.

    :param picked: the runs that are drawn; None: the first 12
    Raises ResultsError for a run that is not there.
    """
    links = results.links
    runs = _pick(results, picked) if links.height else []
    if not runs or links.filter(pl.col("run") == runs[0]).height > _MOST_LINKS:
        return "<p>Loads of links were not recorded, or the network is too large to draw.</p>"
    names = {run: f"run {run} {describe_run(results, run)}".strip() for run in runs}
    options = "".join(
        f'<option value="{run}">{escape(name)}</option>' for run, name in names.items()
    )
    parts = [
        "<p>Utilisation of every direction of a link over the whole run, from 0 to 100 %:</p>"
        '<div class="legend" role="img" aria-label="colour scale from 0 to 100 %"></div>'
        f'{_left_out(results, len(runs))}<p class="choice"><label for="run-choice">Run</label> '
        f'<select id="run-choice">{options}</select></p>'
    ]
    for run, name in names.items():
        own = links.filter(pl.col("run") == run)
        hidden = "" if run == runs[0] else " hidden"
        parts.append(
            f'<figure data-run="{run}"{hidden}><div class="scroll network" tabindex="0" role="region" '
            f'aria-label="Network of {escape(name)}">{_drawing(own, "Loads of links in " + name)}</div>'
            f"<figcaption>{escape(_busiest(own))}</figcaption>{_table(own, name)}</figure>"
        )
    return "".join(parts)
