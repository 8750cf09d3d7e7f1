# SPDX-License-Identifier: GPL-2.0-only
"""Decides from a scenario what is plotted over what, and groups the runs into lines."""

import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import groupby
from statistics import fmean, stdev

from gradsync.results.folder import Results, to_number
from gradsync.results.student import half_width


@dataclass(frozen=True)
class Axes:
    """The columns of a plot: x (None: one bar per series), y, and those that tell lines apart."""

    x: str | None
    y: str
    series: tuple[str, ...]


@dataclass(frozen=True)
class Line:
    """One series: points in ascending x, each of one run or of the mean of several.

    `low` and `high` are the 95 % confidence interval where the runs of a point differ in the seed
    alone, else the least and the largest value. A y of NaN stands for runs none of which finished;
    `runs` has the first of each point.
    """

    name: str
    x: list[float]
    y: list[float]
    low: list[float]
    high: list[float]
    runs: list[dict[str, str]]


def choose_axes(results: Results) -> Axes:
    """The scenario's hints, or else the first swept path that is numeric as x, the rest as series.

    Raises ResultsError for a hint that names no column.
    """
    hints = results.hints
    swept = results.swept
    numeric = [
        p for p in swept if p != "seed" and not any(math.isnan(v) for v in results.numbers(p))
    ]
    x = hints.get("x") or next(iter(numeric), None)
    if "series" in hints:
        series: tuple[str, ...] = (hints["series"],)
    else:
        # A column computed from a swept path, such as oversubscription, stands for it as x.
        replaced = numeric[0] if x not in swept and numeric else x
        # Seeds are repetitions of one point, not lines of their own.
        series = tuple(path for path in swept if path not in (x, replaced, "seed"))
    if x:
        results.require(x)
        if all(math.isnan(value) for value in results.numbers(x)):
            # Words have no place on an axis: a bar for each.
            series, x = tuple(dict.fromkeys((x, *series))), None
    axes = Axes(x, hints.get("y", "ict_mean_s"), series)
    for column in (axes.y, *axes.series, *([axes.x] if axes.x else [])):
        results.require(column)
    return axes


def words(column: str, cell: str) -> str:
    """A swept value as part of a line's name; an object by its kind and what else it sets."""
    try:
        value = json.loads(cell)
    except ValueError:
        return cell
    if isinstance(value, dict):
        return _phrase(value)
    if isinstance(value, list):
        parts = [_phrase(item) if isinstance(item, dict) else str(item) for item in value]
        return " and ".join(parts) or f"no {column.rsplit('.', 1)[-1]}"
    return f"{column.rsplit('.', 1)[-1]} {cell}"


def _phrase(section: dict[str, object]) -> str:
    others = [f"{key} {item}" for key, item in section.items() if key != "kind"]
    return " ".join([str(section.get("kind", "")), *others]).strip()


def _interval(results: Results, axes: Axes, runs: list[dict[str, str]]) -> tuple[float, float]:
    """What a point's mean may be in: of repetitions the confidence interval, else what there is."""
    points = [path for path in results.swept if path != "seed"]
    if len(runs) > 1 and len({tuple(run[path] for path in points) for run in runs}) == 1:
        values = [v for v in (to_number(run[axes.y]) for run in runs) if not math.isnan(v)]
        if len(values) > 1:
            middle, half = fmean(values), half_width(len(values), stdev(values))
            return middle - half, middle + half
    low, high = ("ict_min_s", "ict_max_s") if axes.y == "ict_mean_s" else (axes.y, axes.y)
    return (
        _over(runs, lambda run: to_number(run[low]), min),
        _over(runs, lambda run: to_number(run[high]), max),
    )


def group(results: Results, axes: Axes) -> list[Line]:
    """The lines of the plot, in the order in which they first appear in runs.csv."""
    grouped: dict[str, list[dict[str, str]]] = {}
    for run in results.rows:
        names = [words(column, run[column]) for column in axes.series]
        # A line without a swept name is called after the scheme that all runs share.
        shared = str(results.scenario.get("scheme", {}).get("kind", "run"))
        grouped.setdefault(", ".join(names) or shared, []).append(run)
    lines = []
    for name, runs in grouped.items():
        if axes.x:
            points = _repetitions(
                sorted(runs, key=lambda run: to_number(run[axes.x or ""])), axes.x
            )
        else:
            points = [runs]
        intervals = [_interval(results, axes, point) for point in points]
        lines.append(
            Line(
                name,
                [to_number(point[0][axes.x]) if axes.x else math.nan for point in points],
                [_over(point, lambda run: to_number(run[axes.y]), fmean) for point in points],
                [low for low, _ in intervals],
                [high for _, high in intervals],
                [point[0] for point in points],
            )
        )
    return lines


def _repetitions(runs: list[dict[str, str]], x: str) -> list[list[dict[str, str]]]:
    """Neighbours with the same x, together."""
    return [list(point) for _, point in groupby(runs, key=lambda run: run[x])]


def _over(
    runs: list[dict[str, str]],
    value: Callable[[dict[str, str]], float],
    combine: Callable[[list[float]], float],
) -> float:
    """One number for the runs that have it; NaN if none has."""
    values = [value(run) for run in runs if not math.isnan(value(run))]
    return combine(values) if values else math.nan
