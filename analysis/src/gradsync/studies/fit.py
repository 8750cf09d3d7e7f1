# SPDX-License-Identifier: GPL-2.0-only
"""Fits parameters of a scenario to some rows of a measured table, and holds the result against the others."""

import hashlib
import math
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import least_squares

from gradsync.errors import ScenarioError, SimulationError
from gradsync.results.folder import Results
from gradsync.studies.collective import Request, make_scenario, read_size
from gradsync.studies.fit_request import FitRequest, Parameter

Vector = NDArray[np.float64]

MIB, GIB = 2**20, 2**30
# Step of the differences, in positions between the bounds (Parameter.at): well above a picosecond's
# rounding, well below where times bend.
_STEP = 1e-3
# Parameters move by less than this share of their span when the search ends.
_TOLERANCE = 1e-6
# As near to a bound, in positions, a parameter is at it: the search stops there.
_AT_BOUND = 1e-3


@dataclass(frozen=True)
class Errors:
    """How far simulated times are from measured ones over some rows."""

    rows: int
    mean: float | None
    """exp(mean |ln(simulated / measured)|) - 1; None without rows."""
    worst_size: int | None
    worst_ratio: float | None


@dataclass(frozen=True)
class Fit:
    """What came out. Times in seconds, by size in bytes."""

    request: FitRequest
    values: tuple[float, ...]
    times: dict[int, float]
    choices: dict[int, str]
    """The scheme, and with several protocols of messages the protocol, that was the fastest at each size."""
    evaluations: int
    converged: bool
    condition: float | None
    """Of the derivatives by both parameters, columns scaled to length 1; None for one parameter."""

    def ratio(self, size: int) -> float:
        """Simulated over measured time."""
        measured = next(row.time_s for row in self.request.rows if row.size == size)
        return self.times[size] / measured

    def is_at_bound(self, index: int) -> bool:
        """Whether a parameter would rather be outside of its bounds."""
        place = self.request.parameters[index].position(self.values[index])
        return min(place, 1 - place) < _AT_BOUND

    def errors(self, fitted: bool, from_bytes: int = 0) -> Errors:
        """Over the rows that were fitted, or that were not."""
        chosen = self.request.fitted
        sizes = [size for size in self.times if (size in chosen) == fitted and size >= from_bytes]
        return _find_errors({size: self.ratio(size) for size in sizes})


def _find_errors(ratios: dict[int, float]) -> Errors:
    if not ratios:
        return Errors(0, None, None, None)
    logs = {size: abs(math.log(ratio)) for size, ratio in ratios.items()}
    worst = max(logs, key=lambda size: logs[size])
    return Errors(len(logs), math.expm1(sum(logs.values()) / len(logs)), worst, ratios[worst])


@dataclass(frozen=True)
class Timed:
    """The least time of a size, in seconds, and the scheme that has it."""

    time_s: float
    scheme: str


class _EnoughError(Exception):
    """As many points were simulated as may be."""


class _Bench:
    """Simulates the fitted rows at points between the bounds; each point once, also over starts."""

    def __init__(self, request: FitRequest, out: Path, jobs: int | None):
        self.request = request
        self.folder = out / "points"
        self.jobs = jobs
        self.rows = [row for row in request.rows if row.size in request.fitted]
        self.residuals: dict[tuple[str, ...], Vector] = {}
        self.is_first = True

    def __call__(self, position: Sequence[float] | Vector) -> Vector:
        """ln(simulated / measured) of each fitted row. Raises ScenarioError, SimulationError."""
        overrides = _overrides(self.request.parameters, position)
        if overrides not in self.residuals:
            if len(self.residuals) >= self.request.most_evaluations:
                raise _EnoughError
            name = hashlib.sha256(" ".join(overrides).encode()).hexdigest()[:16]
            # Of a point on the way only times are wanted: links of many ranks are many rows.
            changes = [*overrides, "results.links=false"]
            measure = _measure_at(self.request, changes, [row.size for row in self.rows])
            results = simulate(measure, self.folder / name, self.jobs)
            found = _fastest(self.request, measure, results)
            logs = [math.log(found[row.size].time_s / row.time_s) for row in self.rows]
            self.residuals[overrides] = np.array(logs)
            self._tell(overrides)
        return self.residuals[overrides]

    def slopes(self, position: Vector) -> Vector:
        """Derivatives of the residuals: a row for each fitted row, a column for each parameter."""
        here = self(position)
        columns = []
        for index, parameter in enumerate(self.request.parameters):
            step = _STEP if position[index] + _STEP <= 1 else -_STEP
            moved = position.copy()
            moved[index] += step
            column = (self(moved) - here) / step
            # Later it may be one that the fastest scheme at the point does not have.
            if self.is_first and not column.any():
                raise ScenarioError(
                    f"--parameters {parameter.path} changes no time of the rows that are fitted: leave it out,"
                    " or fit other rows"
                )
            columns.append(column)
        self.is_first = False
        return np.stack(columns, axis=1)

    def best(self) -> tuple[str, ...]:
        """The point with the least sum of squares, of equal ones the first."""
        return min(self.residuals, key=lambda point: float(np.sum(self.residuals[point] ** 2)))

    def _tell(self, overrides: tuple[str, ...]) -> None:
        error = math.expm1(float(np.mean(np.abs(self.residuals[overrides]))))
        count = f"{len(self.residuals)} of at most {self.request.most_evaluations}"
        print(f"{count}: {', '.join(overrides)}: {error:.3%}", file=sys.stderr)


def _overrides(
    parameters: Iterable[Parameter], position: Sequence[float] | Vector
) -> tuple[str, ...]:
    return tuple(
        parameter.override(parameter.at(float(place)))
        for parameter, place in zip(parameters, position)
    )


def _measure_at(request: FitRequest, overrides: Sequence[str], sizes: Sequence[int]) -> Request:
    measure = request.measure
    return replace(measure, sizes=tuple(sizes), overrides=(*measure.overrides, *overrides))


def simulate(measure: Request, out: Path, jobs: int | None) -> Results:
    """The runs of a measurement; those that the folder holds are not repeated."""
    out.parent.mkdir(parents=True, exist_ok=True)
    return make_scenario(measure).run(out, jobs=jobs)


def _fastest(request: FitRequest, measure: Request, results: Results) -> dict[int, Timed]:
    """What each size takes. Raises SimulationError where it takes nothing, ScenarioError for other ranks."""
    table, ranks = request.table, results.runs["workers"][0]
    if ranks != table.ranks:
        raise ScenarioError(
            f"{table.path}: of {table.ranks} ranks, but {ranks} take part in the scenario"
        )
    found: dict[int, Timed] = {}
    for row in results.runs.iter_rows(named=True):
        size, time = read_size(row["job.gradient"]), row["ict_mean_s"]
        if not time:
            raise SimulationError(f"{results.folder}: an exchange takes no time, or did not finish")
        if size not in found or time < found[size].time_s:
            found[size] = Timed(time, ", ".join(row[path] for path in measure.series_paths))
    return found


def check_bounds(request: FitRequest) -> None:
    """Raises ScenarioError, with the program's words, where no run can have the start or a bound."""
    parameters = request.parameters
    starts = [parameter.override(parameter.start) for parameter in parameters]
    make_scenario(_measure_at(request, starts, request.measure.sizes)).resolve()
    for index, parameter in enumerate(parameters):
        for bound in (parameter.low, parameter.high):
            point = [*starts[:index], parameter.override(bound), *starts[index + 1 :]]
            try:
                make_scenario(_measure_at(request, point, request.measure.sizes)).resolve()
            except ScenarioError as error:
                raise ScenarioError(
                    f"--parameters {parameter.path}: cannot be its bound {parameter.unit.render(bound)};"
                    f" give others as {parameter.path}=START:LOW:HIGH: {error}"
                ) from error


def fit(request: FitRequest, out: Path, jobs: int | None) -> Fit:
    """Least squares of log ratios over the fitted rows, then all rows at what came out.

    Deterministic. Results of all rows are in `out`, those of the points on the way in `out`/points.
    Raises ScenarioError for parameters that cannot be fitted, SimulationError for a run that fails.
    """
    check_bounds(request)
    bench = _Bench(request, out, jobs)
    start = [parameter.position(parameter.start) for parameter in request.parameters]
    try:
        done = least_squares(
            bench,
            np.clip(start, 0.0, 1.0),
            jac=bench.slopes,
            bounds=(0.0, 1.0),
            # Unlike "trf" it goes onto a bound in one step, and says so.
            method="dogbox",
            xtol=_TOLERANCE,
            ftol=_TOLERANCE**2,
            gtol=_TOLERANCE**2,
        )
        condition, converged = _condition(done.jac), bool(done.status > 0)
    except _EnoughError:
        condition, converged = None, False
    overrides = bench.best()
    measure = _measure_at(request, overrides, request.measure.sizes)
    values = tuple(
        _value_of(parameter, text) for parameter, text in zip(request.parameters, overrides)
    )
    found = _fastest(request, measure, simulate(measure, out, jobs))
    times = {row.size: found[row.size].time_s for row in request.rows}
    choices = {row.size: found[row.size].scheme for row in request.rows}
    return Fit(request, values, times, choices, len(bench.residuals), converged, condition)


def _value_of(parameter: Parameter, override: str) -> float:
    """The value that was simulated: as rounded, in smallest units."""
    text = override.removeprefix(f"{parameter.path}=").removesuffix(parameter.unit.name)
    return float(text) * parameter.unit.count


def _condition(slopes: Vector) -> float | None:
    if slopes.shape[1] < 2:
        return None
    lengths = np.linalg.norm(slopes, axis=0)
    return float(np.linalg.cond(slopes / lengths)) if lengths.all() else math.inf
