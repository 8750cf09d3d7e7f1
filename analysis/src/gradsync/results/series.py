# SPDX-License-Identifier: GPL-2.0-only
"""Decides from a scenario what is plotted over what, and groups the runs into lines."""

import json
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from statistics import fmean, stdev

from gradsync.results.codec_times import is_estimated
from gradsync.results.folder import Results, to_number
from gradsync.results.student import half_width

# From here on equal steps of an axis would show the largest values alone.
_WIDE = 32


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
    is_estimate: bool = False
    """Whether all of them have times of codecs that are estimates."""


@dataclass(frozen=True)
class Scales:
    """Which axes are logarithmic; `remarks`, a sentence each, say what could not be drawn as asked."""

    log_x: bool
    log_y: bool
    remarks: tuple[str, ...]


def _hint(results: Results, key: str) -> str | None:
    """The column that a hint names; None where the program let it pass, as its path is not swept.

    Raises ResultsError for other names that are none, in folders whose hints no program checked.
    """
    name = results.hints.get(key)
    if name is None or name in results.rows[0]:
        return name
    if not results.columns:
        results.require(name)
    return None


def choose_axes(results: Results) -> Axes:
    """The scenario's hints, or else the first swept path that is numeric as x, the rest as series.

    Sizes, rates and times stand on x as the numbers that they are. Raises ResultsError for a hint
    that names no column.
    """
    swept = results.swept
    number = {path: results.number_of(path) for path in swept}
    numeric = [
        p for p in swept if p != "seed" and not any(map(math.isnan, results.numbers(number[p])))
    ]
    x = _hint(results, "x") or next(iter(numeric), None)
    # The path that the column has the numbers of.
    path = (results.column(x).of or x) if x else None
    hinted = _hint(results, "series")
    if hinted is not None:
        series: tuple[str, ...] = (hinted,)
    else:
        # A column computed from a swept path, such as oversubscription, stands for it as x.
        replaced = numeric[0] if path not in swept and numeric else path
        # Seeds are repetitions of one point, not lines of their own.
        series = tuple(p for p in swept if p not in (path, replaced, "seed"))
    if path:
        x = results.number_of(path)
        results.require(x)
        if all(map(math.isnan, results.numbers(x))):
            # Words have no place on an axis: a bar for each.
            series, x = tuple(dict.fromkeys((path, *series))), None
    axes = Axes(x, _hint(results, "y") or "ict_mean_s", series)
    for column in (axes.y, *axes.series, *([axes.x] if axes.x else [])):
        results.require(column)
    return axes


def are_wide(results: Results, column: str, values: Iterable[float]) -> bool:
    """Whether swept sizes, rates or times are so far apart that an axis is logarithmic by itself."""
    seen = [value for value in values if not math.isnan(value)]
    return bool(results.column(column).of and seen and 0 < _WIDE * min(seen) <= max(seen))


def choose_scales(results: Results, axes: Axes, lines: Sequence[Line]) -> Scales:
    """Which axes are logarithmic, as the hints ask, and what is not as the hints ask."""
    hints = results.hints
    remarks = []
    for key in ("x", "y", "series"):
        if hints.get(key) and _hint(results, key) is None:
            remarks.append(f"plot.{key}: {hints[key]} is not swept here")
    missing = _without_x(results, axes)
    if missing:
        path = results.column(axes.x or "").of or axes.x or ""
        found = ", ".join(dict.fromkeys(row[path] or "empty" for row in missing))
        runs = "1 run is" if len(missing) == 1 else f"{len(missing)} runs are"
        remarks.append(f"{runs} not drawn: {path} is {found}, no number")
    xs = [x for line in lines for x in line.x if axes.x]
    ys = [y for line in lines for y in line.y if not math.isnan(y)]
    log = {}
    for key, column, values in (("logX", axes.x, xs), ("logY", axes.y, ys)):
        log[key] = bool(hints.get(key))
        if log[key] and (column is None or not values):
            log[key] = False
            remarks.append(f"plot.{key}: no numbers are on this axis")
        elif log[key] and min(values) <= 0:
            log[key] = False
            remarks.append(f"plot.{key}: {column} is {min(values):g} somewhere, not logarithmic")
    if axes.x and "logX" not in hints:
        log["logX"] = are_wide(results, axes.x, xs)
    return Scales(log["logX"], log["logY"] and axes.x is not None, tuple(remarks))


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


def tell_equal_runs(results: Results) -> list[str]:
    """A sentence where repetitions are all the same, so that their spread of 0 says nothing."""
    if "seed" not in results.swept:
        return []
    points: dict[tuple[str, ...], list[dict[str, str]]] = {}
    others = [path for path in results.swept if path != "seed"]
    for row in results.rows:
        points.setdefault(tuple(row[path] for path in others), []).append(row)
    equal = [runs for runs in points.values() if results.are_equal(runs)]
    if not equal:
        return []
    counts = sorted({len(runs) for runs in equal})
    many = f"{counts[0]} to {counts[-1]}" if len(counts) > 1 else str(counts[0])
    of = f" of {len(equal)} of {len(points)} points" if len(equal) < len(points) else ""
    return [f"the seed changed nothing: {many} equal runs{of}"]


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


def _without_x(results: Results, axes: Axes) -> list[dict[str, str]]:
    """The runs that have no place on the x axis."""
    if axes.x is None:
        return []
    return [row for row in results.rows if math.isnan(to_number(row[axes.x]))]


def group(results: Results, axes: Axes) -> list[Line]:
    """The lines of the plot, in the order in which they first appear in runs.csv.

    Runs whose x is a word are in none; `choose_scales` tells of them.
    """
    grouped: dict[str, list[dict[str, str]]] = {}
    missing = {id(row) for row in _without_x(results, axes)}
    for run in results.rows:
        if id(run) in missing:
            continue
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
                all(is_estimated(results, point[0]) for point in points),
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
