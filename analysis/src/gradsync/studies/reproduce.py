# SPDX-License-Identifier: GPL-2.0-only
"""Reproduces figures and tables of papers: what a paper says, what is simulated, and their ratio.

A folder in scenarios/papers has a paper.toml: `title`, `source`, `remark`, a list of `scenarios`, and
[[row]]s. A row's simulated value comes from the runs of one scenario that match `of`; with `to`, from
each such run and the run that matches `to` and is the same otherwise, by `how` (ratio, difference or
reduction). Groups of equal values in `by` are averaged, and `reduce` (mean, max, min) makes one number.
With `order`, it is the share of settings in which the values of a column follow each other as it says.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from statistics import stdev
from typing import Any

import polars as pl

from gradsync.errors import ResultsError, ScenarioError
from gradsync.results.folder import Results, load
from gradsync.results.student import half_width
from gradsync.studies.program import call
from gradsync.text import shown

_HOW = {
    "ratio": pl.col("value") / pl.col("other"),
    "difference": pl.col("value") - pl.col("other"),
    "reduction": 1 - pl.col("value") / pl.col("other"),
}
_REDUCE = {
    "mean": pl.col("value").mean(),
    "max": pl.col("value").max(),
    "min": pl.col("value").min(),
}


@dataclass(frozen=True)
class Row:
    """One number of a paper."""

    what: str
    of: Mapping[str, Any]
    paper: float | None = None
    theory: float | None = None
    to: Mapping[str, Any] = field(default_factory=dict)
    how: str = "ratio"
    by: tuple[str, ...] = ()
    reduce: str = "mean"
    value: str = "ict_mean_s"
    unit: str = ""
    scenario: int = 0
    within: float | None = None
    """Largest relative deviation from the paper that still reproduces it; None: it is not claimed."""
    points: float | None = None
    """The same in percentage points, for rows that are shares."""
    order: Mapping[str, list[list[Any]]] = field(default_factory=dict)
    """Column -> groups of its values, each slower than the next; those of a group are alike."""
    ties: float = 0.0
    """Largest relative deviation of values that are alike, from the least of them."""


@dataclass(frozen=True)
class Paper:
    """What is to be reproduced."""

    name: str
    folder: Path
    title: str
    source: str
    remark: str
    scenarios: tuple[Path, ...]
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class Outcome:
    """A row and what was simulated."""

    row: Row
    simulated: float
    interval: float | None = None
    """Half of its 95 % confidence interval over the seeds, if there are several."""

    @property
    def ratio(self) -> float | None:
        """Simulated over paper."""
        return self.simulated / self.row.paper if self.row.paper else None

    @property
    def verdict(self) -> str:
        """Whether the claim holds; empty if none is made."""
        if self.row.paper is None or self.ratio is None:
            return ""
        if self.row.points is not None:
            text = f"within {self.row.points:g} points"
            holds = abs(self.simulated - self.row.paper) * 100 <= self.row.points
        elif self.row.within is not None:
            text = "everywhere" if self.row.order else f"within {100 * self.row.within:g}%"
            holds = abs(self.ratio - 1) <= self.row.within
        else:
            return ""
        return text if holds else f"NOT {text}"

    @property
    def has_failed(self) -> bool:
        """Whether a claim is made and does not hold."""
        return self.verdict.startswith("NOT")


def list_papers(root: Path) -> list[str]:
    """The names that can be reproduced."""
    return sorted(path.parent.name for path in root.glob("*/paper.toml"))


def list_missing(root: Path) -> dict[str, str]:
    """What cannot be reproduced yet: name -> what it needs."""
    path = root / "missing.toml"
    if not path.exists():
        return {}
    try:
        return dict(tomllib.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError) as error:
        raise ScenarioError(f"{path}: {shown(error)}") from error


def read_paper(root: Path, name: str) -> Paper:
    """What a folder of scenarios/papers says. Raises ScenarioError if there is none, or it is wrong."""
    path = root / name / "paper.toml"
    reason = list_missing(root).get(name)
    if reason:
        raise ScenarioError(f"{name} cannot be reproduced yet: {reason}")
    if not path.exists():
        raise ScenarioError(f"there is no paper {name}; there are {', '.join(list_papers(root))}")
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
        rows = tuple(Row(**{**row, "by": tuple(row.get("by", ()))}) for row in content["row"])
        scenarios = tuple((path.parent / file).resolve() for file in content["scenarios"])
        return Paper(
            name,
            path.parent,
            content["title"],
            content["source"],
            content["remark"],
            scenarios,
            rows,
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ScenarioError(f"{path}: {shown(error)}") from error


def _match(runs: pl.DataFrame, wanted: Mapping[str, Any]) -> pl.DataFrame:
    for column, value in wanted.items():
        if column not in runs.columns:
            raise ResultsError(f"there is no column {column}; there are {', '.join(runs.columns)}")
        runs = runs.filter(pl.col(column) == value)
    if runs.is_empty():
        raise ResultsError(f"no run has {dict(wanted)}")
    return runs


def _is_in_order(values: Mapping[Any, float], groups: list[list[Any]], ties: float) -> bool:
    """Whether groups follow each other, slowest first, and the members of each are alike."""
    spans = [sorted(values[member] for member in group) for group in groups]
    alike = all(span[-1] <= span[0] * (1 + ties) for span in spans)
    return alike and all(slow[0] > fast[-1] for slow, fast in zip(spans, spans[1:], strict=False))


def _evaluate_order(row: Row, results: Results) -> float:
    """The share of settings in which the order of a row holds."""
    ((column, groups),) = row.order.items()
    members = [member for group in groups for member in group]
    chosen = _match(results.runs, row.of).filter(pl.col(column).is_in(members))
    keys = [path for path in results.swept if path != column]
    settings = [chosen] if not keys else chosen.partition_by(keys)
    held = 0
    for runs in settings:
        values = dict(zip(runs[column], runs[row.value], strict=True))
        if set(values) != set(members) or None in values.values():
            raise ResultsError(f"{row.what}: its runs are not all there, or did not finish")
        held += _is_in_order(values, groups, row.ties)
    return held / len(settings)


def _values(row: Row, results: Results) -> pl.DataFrame:
    """The values that a row reduces to one, each with what its run sweeps over."""
    chosen = _match(results.runs, row.of).with_columns(pl.col(row.value).alias("value"))
    if row.to:
        keys = [path for path in results.swept if path not in {*row.of, *row.to}]
        others = _match(results.runs, row.to).select(*keys, pl.col(row.value).alias("other"))
        joined = chosen.join(others, on=keys) if keys else chosen.join(others, how="cross")
        chosen = joined.with_columns(_HOW[row.how].alias("value"))
    return chosen


def _average(row: Row, values: pl.DataFrame) -> pl.DataFrame:
    return values.group_by(list(row.by)).agg(pl.col("value").mean()) if row.by else values


def evaluate(row: Row, results: Results) -> float:
    """The simulated value of a row. Raises ResultsError if its runs are not there or did not finish."""
    try:
        return _evaluate(row, results)
    except (pl.exceptions.PolarsError, KeyError, TypeError, ValueError) as error:
        # A row that names another column, way or value than there are.
        raise ResultsError(f"{shown(row.what)}: {shown(error)}") from error


def _evaluate(row: Row, results: Results) -> float:
    if row.order:
        return _evaluate_order(row, results)
    reduced = _average(row, _values(row, results)).select(_REDUCE[row.reduce]).item()
    if reduced is None:
        raise ResultsError(f"{row.what}: its runs did not finish")
    return float(reduced)


def find_interval(row: Row, results: Results) -> float | None:
    """Half of the 95 % confidence interval of a row's value over the seeds; None for fewer than two.

    Of a least or largest value: that of the group which has it.
    """
    if row.order or "seed" not in results.swept:
        return None
    values = _values(row, results)
    if row.reduce != "mean":
        extreme = evaluate(row, results)
        if not row.by:
            return None
        where = _average(row, values).filter(pl.col("value") == extreme).head(1)
        values = values.join(where.select(row.by), on=list(row.by))
    seeds = values.group_by("seed").agg(pl.col("value").mean())["value"].drop_nulls().to_list()
    return half_width(len(seeds), stdev(seeds)) if len(seeds) > 1 else None


def simulate(paper: Paper, out: Path, overrides: list[str]) -> list[Results]:
    """Run the scenarios of a paper, each into a folder of its own; what is done is not repeated."""
    results = []
    for scenario in paper.scenarios:
        folder = out / scenario.stem
        options = ["run", str(scenario), f"--out={folder}", "--progress=auto"]
        call([*options, *(f"--set={change}" for change in overrides)], show_progress=True)
        results.append(load(folder))
    return results


def outcomes(paper: Paper, results: list[Results]) -> list[Outcome]:
    """All rows with their simulated values."""
    return [
        Outcome(
            row, evaluate(row, results[row.scenario]), find_interval(row, results[row.scenario])
        )
        for row in paper.rows
    ]
