# SPDX-License-Identifier: GPL-2.0-only
"""The contents of a results folder: its manifest, its rows as text, its tables as data frames."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gradsync.errors import ResultsError
from gradsync.results import tables
from gradsync.results.columns import Column, label, read_columns
from gradsync.results.manifest import read_manifest
from gradsync.text import shown

if TYPE_CHECKING:
    import polars
    from matplotlib.figure import Figure


# Draws a kind of picture of results, of a run or of all. Pictures know results, never the other way
# round: the package names the one that there is.
Drawer = Callable[["Results", str, int | None], "Figure"]
_draw: list[Drawer] = []


def draw_with(drawer: Drawer) -> None:
    """Name what `Results.figure` draws with."""
    _draw.append(drawer)


def to_number(text: str) -> float:
    """The number in a CSV cell; NaN if the cell is empty or no number."""
    try:
        return float(text)
    except ValueError:
        return math.nan


@dataclass(frozen=True)
class Results:
    """The runs of one scenario, in run order, and the scenario.

    The tables (`runs`, `iterations`, `links`, `messages`, `faults`, `blocked`, `flows`, `samples`,
    `training`, `streams`, `collectives`, `critical_path`, `updates`, `workers`; columns in
    doc/results.rst) are polars data frames, read when first asked for; `results.runs.to_pandas()`
    where pandas is preferred.
    """

    folder: Path
    scenario: dict[str, Any]
    rows: list[dict[str, str]]
    """runs.csv as text."""
    manifest: dict[str, Any] = field(default_factory=dict)

    @property
    def swept(self) -> list[str]:
        """The dotted paths that the scenario sweeps over, in its order; repetitions by seed last."""
        swept = list(self.scenario.get("sweep", {}))
        repeated = "repeat" in self.scenario and "seed" not in swept
        return [*swept, "seed"] if repeated else swept

    @property
    def hints(self) -> dict[str, Any]:
        """The scenario's `plot` object."""
        return dict(self.scenario.get("plot", {}))

    @cached_property
    def columns(self) -> dict[str, dict[str, Column]]:
        """The columns of each table by its file, as the manifest describes them; empty if it does not."""
        return read_columns(self.folder / "manifest.json", self.manifest)

    def column(self, name: str) -> Column:
        """A column of runs.csv."""
        return tables.column_of(self.columns.get("runs.csv", {}), name)

    def number_of(self, path: str) -> str:
        """The column with the numbers of a swept path: of "64MiB" bytes, else the path itself."""
        own = self.columns.get("runs.csv", {}).values()
        return next((column.name for column in own if column.of == path), path)

    def label(self, name: str, unit: str) -> str:
        """The axis label of a column of runs.csv: the scenario's own text if it has one, with the unit."""
        return label(self.column(name), unit, self.hints.get("labels", {}))

    @cached_property
    def runs(self) -> "polars.DataFrame":
        """A row per run: swept values, seed, completion times, counters."""
        return self._table("runs")

    @cached_property
    def iterations(self) -> "polars.DataFrame":
        """A row per run, job and iteration, with the parts of its completion time."""
        return self._table("iterations")

    @cached_property
    def links(self) -> "polars.DataFrame":
        """A row per run and direction of a link, with its load."""
        return self._table("links")

    @cached_property
    def messages(self) -> "polars.DataFrame":
        """A row per transfer, with start and end."""
        return self._table("messages")

    @cached_property
    def faults(self) -> "polars.DataFrame":
        """A row for each time a fault takes hold or lets go."""
        return self._table("faults")

    @cached_property
    def flows(self) -> "polars.DataFrame":
        """A row per foreign flow of `traffic`."""
        return self._table("flows")

    @cached_property
    def samples(self) -> "polars.DataFrame":
        """What links did over time, a row per interval and direction that was not idle."""
        return self._table("samples")

    @cached_property
    def blocked(self) -> "polars.DataFrame":
        """Workers that wait for others, a row at each change."""
        return self._table("blocked")

    @cached_property
    def training(self) -> "polars.DataFrame":
        """What training iterations are made of, a row per run, job, iteration and rank."""
        return self._table("training")

    @cached_property
    def streams(self) -> "polars.DataFrame":
        """Hidden and exposed communication of each rank on each of its streams."""
        return self._table("streams")

    @cached_property
    def collectives(self) -> "polars.DataFrame":
        """Communications of training iterations with their bandwidths, those that are alike in one row."""
        return self._table("collectives")

    @cached_property
    def critical_path(self) -> "polars.DataFrame":
        """The steps of what bounds each training iteration, without a gap."""
        return self._table("critical_path")

    @cached_property
    def updates(self) -> "polars.DataFrame":
        """The updates of asynchronous jobs, or evenly spaced ones, with their staleness."""
        return self._table("updates")

    @cached_property
    def workers(self) -> "polars.DataFrame":
        """What each worker of an asynchronous job did."""
        return self._table("workers")

    def _table(self, name: str) -> "polars.DataFrame":
        from gradsync.results import frames

        swept = self.swept if name == "runs" else []
        path = self.folder / f"{name}.csv"
        return frames.read_table(path, self.columns.get(path.name), swept, len(self.rows))

    def summary(
        self, by: Sequence[str] | None = None, value: str = "ict_mean_s"
    ) -> "polars.DataFrame":
        """Mean, spread and 95 % confidence interval of a column of `runs`.

        `by`: the columns that tell points apart; by default all swept paths but the seed, so that
        seeds are repetitions of a point. `equal`: the runs of a point are several and the same in all
        that was measured, whatever the seed; they say nothing of chance, and have no interval.
        """
        from gradsync.results import frames

        points = [path for path in self.swept if path != "seed"]
        # With the numbers of what is written with a unit.
        points = list(dict.fromkeys([*points, *map(self.number_of, points)]))
        points = points if by is None else list(by)
        for column in (*points, value):
            self.require(column)
        return frames.summarise(self.runs, points, value, self.measured)

    @cached_property
    def measured(self) -> list[str]:
        """The columns of runs.csv that another seed may change: all but the seed and what a run cost."""
        names = self.rows[0]
        return [n for n in names if n != "seed" and self.column(n).compared == "always"]

    def are_equal(self, runs: Sequence[dict[str, str]]) -> bool:
        """Whether these runs are several and came out the same, finished ones all of them."""
        if len(runs) < 2 or any(not row["ict_mean_s"] for row in runs):
            return False
        return len({tuple(row[name] for name in self.measured) for row in runs}) == 1

    def figure(self, kind: str = "ict", run: int | None = None) -> "Figure":
        """A picture of these results, of a kind of `gradsync.plots.kinds.KINDS`; notebooks show it.

        Raises ResultsError for a kind, a run or a record that is not there.
        """
        return _draw[-1](self, kind, run)

    def _repr_html_(self) -> str:
        """The table of runs, which notebooks show where the results are the value of a cell."""
        return str(self.runs._repr_html_())

    def write_parquet(self) -> list[Path]:
        """Write the tables as Parquet files into the folder, beside the CSV files."""
        from gradsync.results import frames

        return frames.write_parquet(self.folder, self.columns, self.swept)

    def numbers(self, column: str) -> list[float]:
        """A column of runs.csv as numbers, NaN for what is missing."""
        return [to_number(row[column]) for row in self.rows]

    def require(self, column: str) -> None:
        """Raise ResultsError if runs.csv has no such column."""
        tables.require(self.folder / "runs.csv", list(self.rows[0]), [column])

    @property
    def unfinished(self) -> int:
        """How many runs have no iteration completion time."""
        return sum(math.isnan(value) for value in self.numbers("ict_mean_s"))


def load(folder: str | Path) -> Results:
    """Read manifest.json and runs.csv. Raises ResultsError if they are missing or broken."""
    folder = Path(folder)
    for name in ("manifest.json", "runs.csv"):
        if not (folder / name).exists():
            raise ResultsError(f"{folder / name} is missing: is {folder} a results folder?")
    manifest = read_manifest(folder / "manifest.json")
    scenario = manifest.get("scenario", {})
    results = Results(folder, scenario, [], manifest)
    table = folder / "runs.csv"
    results.rows.extend(tables.read_cells(table, results.columns.get("runs.csv"), results.swept))
    if not results.rows:
        raise ResultsError(f"{table} has no runs")
    for column in ("ict_mean_s", *results.swept):
        results.require(column)
    for number, row in enumerate(results.rows):
        if row.get("run", str(number)) != str(number):
            raise ResultsError(f"{table}: row {number} is that of run {shown(row['run'])}")
    return results
