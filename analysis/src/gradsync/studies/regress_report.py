# SPDX-License-Identifier: GPL-2.0-only
"""What ./ns3 regress tells: a table, JUnit XML, and a picture of both curves."""

from collections import defaultdict
from pathlib import Path
from xml.etree import ElementTree

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from gradsync.plots import style
from gradsync.results import columns
from gradsync.results.folder import to_number
from gradsync.results.series import words
from gradsync.studies.regress import TOLERANCE, Comparison, Difference, Regression

_ICT = "ict_mean_s"
_MOST_ROWS = 60
_LONGEST_LABEL = 44


def table(differences: list[Difference]) -> str:
    """The differences as aligned text, completion times first."""
    ordered = sorted(differences, key=lambda found: found.column != _ICT)
    rows = [("scenario", "run", "column", "baseline", "now", "change")]
    rows += [
        (found.scenario, found.point, found.column, found.before, found.after, found.change)
        for found in ordered[:_MOST_ROWS]
    ]
    widths = [max(len(row[i]) for row in rows) for i in range(6)]
    lines = ["  ".join(cell.ljust(w) for cell, w in zip(row, widths)).rstrip() for row in rows]
    if len(ordered) > _MOST_ROWS:
        lines.append(f"and {len(ordered) - _MOST_ROWS} more")
    return "\n".join(lines)


def verdict(regression: Regression) -> str:
    """One line: how many runs were compared, how strictly, and what came out."""
    runs = sum(len(comparison.results.rows) for comparison in regression.comparisons)
    if regression.is_exact:
        how = f"exactly ({regression.platform})"
    else:
        made_with = regression.made_with or "no baseline"
        how = f"within {TOLERANCE:.1%} ({regression.platform}; baselines: {made_with})"
    differing = len({(found.scenario, found.point) for found in regression.differences})
    return (
        f"{runs} runs of {len(regression.comparisons)} scenarios compared {how}: {differing} differ"
    )


def write_junit(regression: Regression, path: Path) -> None:
    """A test suite per scenario, a test case per run."""
    root = ElementTree.Element("testsuites", name="gradsync regression")
    for comparison in regression.comparisons:
        found: dict[str, list[Difference]] = defaultdict(list)
        for difference in comparison.differences:
            found[difference.point].append(difference)
        points = [*comparison.points, *(p for p in found if p not in comparison.points)]
        suite = ElementTree.SubElement(
            root,
            "testsuite",
            name=comparison.name,
            tests=str(len(points)),
            failures=str(len(found)),
        )
        for point in points:
            case = ElementTree.SubElement(suite, "testcase", classname=comparison.name, name=point)
            if point in found:
                failure = ElementTree.SubElement(case, "failure", message=str(found[point][0]))
                failure.text = "\n".join(str(difference) for difference in found[point])
    tree = ElementTree.ElementTree(root)
    ElementTree.indent(tree)
    tree.write(path, encoding="utf-8", xml_declaration=True)


def _label(row: dict[str, str], comparison: Comparison) -> str:
    text = ", ".join(words(path, row[path]) for path in comparison.results.swept)
    return text if len(text) <= _LONGEST_LABEL else text[: _LONGEST_LABEL - 1] + "…"


def _draw(panel: Axes, comparison: Comparison) -> None:
    points = comparison.points
    names = [point for point in comparison.baseline if point in points]
    before = [to_number(comparison.baseline[name][_ICT]) for name in names]
    after = [to_number(points[name][_ICT]) for name in names]
    divisor, unit = columns.scale("s", [*before, *after])
    x = range(len(names))
    scaled = [value / divisor for value in before]
    panel.plot(x, scaled, "_", color="#888888", markersize=13, markeredgewidth=4, label="baseline")
    scaled = [value / divisor for value in after]
    panel.plot(x, scaled, "o", color="#0072B2", markersize=4, label="now")
    differing = [i for i in x if before[i] != after[i]]
    panel.plot(
        differing,
        [scaled[i] for i in differing],
        "X",
        color=style.WARNING,
        markersize=8,
        label="now, and not as it was",
    )
    panel.set_yscale("log")
    panel.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    panel.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    panel.yaxis.set_minor_formatter(NullFormatter())
    panel.set_title(
        f"{comparison.name}: {columns.label(comparison.results.column(_ICT), unit, {}).lower()}"
    )
    panel.set_xticks(list(x), [_label(points[name], comparison) for name in names])
    panel.tick_params(axis="x", labelrotation=90, labelsize=6)
    panel.margins(x=0.01, y=0.1)


def draw_overlay(regression: Regression, path: Path) -> None:
    """Both curves of every scenario, one above the other."""
    with plt.rc_context(style.RC_PARAMS):
        count = len(regression.comparisons)
        figure, panels = plt.subplots(
            count, 1, figsize=(10, 3.6 * count), layout="constrained", squeeze=False
        )
        for (panel,), comparison in zip(panels, regression.comparisons):
            _draw(panel, comparison)
        figure.legend(*panels[0][0].get_legend_handles_labels(), loc="outside upper right", ncols=3)
        figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)
        plt.close(figure)
