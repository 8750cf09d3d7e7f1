# SPDX-License-Identifier: GPL-2.0-only
"""The page of a reproduction: paper, simulation and ratio side by side, and the curves."""

from html import escape
from pathlib import Path

import matplotlib.pyplot as plt

from gradsync.plots import style
from gradsync.plots.plot import draw, save
from gradsync.report.html_table import table
from gradsync.results.folder import Results
from gradsync.studies.reproduce import Outcome, Paper

HEAD = ["what", "paper", "ideal network", "simulated", "simulated / paper", ""]

INTERVALS = "±: half of the 95 % confidence interval over the seeds."

_STYLE = """body { color: #222; font: 16px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 60rem; padding: 1rem; }
.scroll { overflow-x: auto; } table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { border-bottom: 1px solid #ddd; padding: .3rem .7rem; text-align: right; }
td.text, th.text { text-align: left; } img { max-width: 100%; } pre { background: #f6f6f6; padding: .7rem; }"""


def _show(value: float | None, unit: str = "", interval: float | None = None) -> str:
    if value is None:
        return "–"
    if unit == "%":
        return f"{value:.2%}" if interval is None else f"{value:.2%} ± {interval:.2%}"
    text = f"{value:.4g}" if interval is None else f"{value:.4g} ± {interval:.2g}"
    return f"{text} {unit}".rstrip()


def cells(outcomes: list[Outcome]) -> list[list[str]]:
    """The rows of the table as text."""
    return [
        [
            outcome.row.what,
            _show(outcome.row.paper, outcome.row.unit),
            _show(outcome.row.theory, outcome.row.unit),
            _show(outcome.simulated, outcome.row.unit, outcome.interval),
            _show(outcome.ratio),
            outcome.verdict,
        ]
        for outcome in outcomes
    ]


def as_text(outcomes: list[Outcome]) -> str:
    """The table for a terminal."""
    rows = [HEAD, *cells(outcomes)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(HEAD))]
    lines = []
    for row in rows:
        padded = [row[0].ljust(widths[0])]
        padded += [cell.rjust(width) for cell, width in zip(row[1:5], widths[1:5])]
        lines.append("  ".join([*padded, row[5]]).rstrip())
    return "\n".join(lines)


def write_page(paper: Paper, results: list[Results], found: list[Outcome], out: Path) -> Path:
    """Write index.html and the pictures that it shows; the page's path."""
    pictures = []
    for result in results:
        path = out / f"{result.folder.name}.svg"
        with plt.rc_context(style.RC_PARAMS):
            figure = draw(result)
            save(figure, path)
            plt.close(figure)
        title = escape(str(result.scenario.get("title", path.stem)))
        pictures.append(f'<p><img src="{path.name}" alt="{title}"></p>')
    if any(outcome.interval is not None for outcome in found):
        pictures.insert(0, f"<p>{INTERVALS}</p>")
    remark = "".join(f"<p>{escape(part.strip())}</p>" for part in paper.remark.split("\n\n"))
    page = (
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(paper.title)}</title><style>{_STYLE}</style></head><body>"
        f"<h1>{escape(paper.title)}</h1><p>{escape(paper.source)}</p>"
        f"{table(HEAD, cells(found), 1, paper.title)}{remark}{''.join(pictures)}"
        f"<h2>Again</h2><pre>./ns3 reproduce {escape(paper.name)}</pre></body></html>\n"
    )
    path = out / "index.html"
    path.write_text(page, encoding="utf-8")
    return path
