# SPDX-License-Identifier: GPL-2.0-only
"""Writes report.html: one file that tells what was run, what came out, and how to do it again."""

import json
import os
import shlex
from collections.abc import Sequence
from html import escape
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

from plotly.offline import get_plotlyjs

from gradsync.report import figures, network
from gradsync.report.findings import find_remarks, find_warnings
from gradsync.report.html_table import table
from gradsync.results.folder import Results, load, to_number
from gradsync.results.series import tell_equal_runs, words

_MOST_ROWS = 400
# Columns of the table after the swept ones: (column, heading, factor, digits).
_COLUMNS = (
    ("ict_mean_s", "ICT mean, ms", 1e3, 4),
    ("ict_min_s", "least, ms", 1e3, 4),
    ("ict_max_s", "most, ms", 1e3, 4),
    ("times_bound", "times the bound", 1, 3),
    ("cross_rack_bytes", "across racks, MB", 1e-6, 5),
    ("wire_bytes", "on links, MB", 1e-6, 5),
    ("dropped_packets", "dropped packets", 1, 7),
    ("retransmitted_packets", "sent again", 1, 7),
    ("ecn_marked_packets", "ECN marks", 1, 7),
    ("pfc_pause_s", "paused, ms", 1e3, 4),
)
# Likewise, of runs that train.
_TRAINING_COLUMNS = (
    ("computation_s", "computation, ms", 1e3, 4),
    ("exposed_s", "exposed, ms", 1e3, 4),
    ("bubble_s", "bubble, ms", 1e3, 4),
    ("hidden_s", "hidden, ms", 1e3, 4),
    ("mfu", "MFU", 1, 3),
    ("tokens_per_s", "tokens/s", 1, 5),
)


def _number(cell: str, factor: float, digits: int) -> str:
    value = to_number(cell)
    return f"{value * factor:.{digits}g}" if value == value else "–"


def _cell(path: str, cell: str) -> str:
    return words(path, cell) if cell[:1] in "[{" else cell


def _result_table(results: Results) -> str:
    trained = [
        entry for entry in _TRAINING_COLUMNS if any(row.get(entry[0]) for row in results.rows)
    ]
    shown = [entry for entry in (*_COLUMNS, *trained) if entry[0] in results.rows[0]]
    head = ["run", *results.swept, *(heading for _, heading, _, _ in shown), "status"]
    rows = [
        [
            row["run"] if "run" in row else str(i),
            *(_cell(path, row[path]) for path in results.swept),
        ]
        + [_number(row[column], factor, digits) for column, _, factor, digits in shown]
        + [row.get("status", "")]
        for i, row in enumerate(results.rows[:_MOST_ROWS])
    ]
    note = ""
    if len(results.rows) > _MOST_ROWS:
        note = f"<p>The first {_MOST_ROWS} of {len(results.rows)} runs; runs.csv has all.</p>"
    return note + table(head, rows, 1 + len(results.swept), "Runs")


def _summary_table(results: Results) -> str:
    if "seed" not in results.swept:
        return ""
    summary = results.summary()
    points = [path for path in results.swept if path != "seed"]
    head = [*points, "runs", "unfinished", "ICT mean, ms", "± 95 %, ms", "least, ms", "most, ms"]
    rows = []
    for row in summary.iter_rows(named=True):
        times = {
            name: "–" if row[name] is None else f"{1e3 * row[name]:.4g}"
            for name in ("mean", "ci95", "min", "max")
        }
        if row["equal"]:
            times["ci95"] = "equal runs"
        rows.append(
            [_cell(path, str(row[path])) for path in points]
            + [str(row["n"]), str(row["unfinished"]), *times.values()]
        )
    text = "<p>Over the seeds, with 95 % confidence intervals of the mean (Student's t):</p>"
    text += "".join(f"<p>{escape(told)}</p>" for told in tell_equal_runs(results))
    return text + table(head, rows, len(points), "Means over seeds") + "<p>Every run:</p>"


def _setup(results: Results) -> str:
    scenario = results.scenario
    rows = []
    for name in (
        "topology",
        "transport",
        "fabric",
        "fidelity",
        "job",
        "jobs",
        "scheme",
        "faults",
        "seed",
    ):
        if scenario.get(name):
            rows.append([name, json.dumps(scenario[name])])
    for path, values in scenario.get("sweep", {}).items():
        rows.append([f"sweep over {path}", json.dumps(values)])
    if "repeat" in scenario:
        rows.append(["repeat", str(scenario["repeat"])])
    text = table(["part", "value"], rows, 2, "The scenario")
    whole = escape(json.dumps(scenario, indent=2))
    return f"{text}<details><summary>The whole scenario</summary><pre tabindex=0>{whole}</pre></details>"


def _again(results: Results) -> str:
    manifest = results.manifest
    program, host = manifest.get("program", {}), manifest.get("host", {})
    command = ["./ns3", "run", str(manifest.get("scenarioFile", "scenario.json"))]
    command += [part for change in manifest.get("overrides", []) for part in ("--set", change)]
    versions = (
        f"gradsync {program.get('version')}, commit {program.get('commit')}, ns-3 {program.get('ns3')}, "
        f"{host.get('system')} {host.get('machine')}, {host.get('cpus')} processors; "
        f"{manifest.get('started')} to {manifest.get('ended')}"
    )
    return (
        f"<pre tabindex=0>git checkout {escape(str(program.get('commit')))}\n{escape(shlex.join(command))}</pre>"
        f"<p>{escape(versions)}. The same scenario, seed and build give the same results bit for bit; the "
        "scenario above, saved as a file, does without the named one.</p>"
    )


def _warnings(results: Results) -> str:
    found = [*find_warnings(results), *find_remarks(results)]
    if not found:
        return '<p class="fine">None: every exchange finished, and no packet was lost.</p>'
    return '<ul class="warnings">' + "".join(f"<li>{escape(text)}</li>" for text in found) + "</ul>"


def render(results: Results, runs: Sequence[int] | None = None) -> str:
    """The page as text, with the networks of these runs (None: of the first)."""
    hints: dict[str, Any] = results.hints
    title = hints.get("title") or results.scenario.get("title") or results.folder.resolve().name
    count = f"{len(results.rows)} runs" if len(results.rows) != 1 else "1 run"
    page = Template((files("gradsync.report") / "report.html").read_text(encoding="utf-8"))
    return page.substitute(
        title=escape(str(title)),
        about=f"{count}, simulated by gradsync. ICT: iteration completion time.",
        warnings=_warnings(results),
        results=_summary_table(results) + _result_table(results),
        plotly=get_plotlyjs(),
        plots=figures.render(results),
        gradient=network.GRADIENT,
        network=network.render(results, runs),
        setup=_setup(results),
        again=_again(results),
    )


def write_report(folder: Path, out: Path | None = None, runs: Sequence[int] | None = None) -> Path:
    """Write report.html into a results folder, or to `out`; its path.

    :param runs: whose networks are drawn; None: the first
    Raises ResultsError if the results cannot be read, or have no such run.
    """
    path = out or folder / "report.html"
    text = render(load(folder), runs)
    unfinished = path.with_name(f".{path.name}.part")
    unfinished.write_text(text, encoding="utf-8")
    os.replace(unfinished, path)
    return path
