# SPDX-License-Identifier: GPL-2.0-only
"""Runs the regression scenarios and compares their curves with the committed baselines.

A baseline is the runs.csv of a scenario without what depends on the machine or on how the simulator
does its work. Baselines of the same ns-3 version and platform are met exactly; others within
TOLERANCE.
"""

import csv
import io
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gradsync.errors import ResultsError
from gradsync.results.folder import Results, load, to_number
from gradsync.results.tables import Columns, read_cells
from gradsync.studies.program import call

# Relative, for every number, where ns-3 or the platform is another: libraries may round otherwise.
TOLERANCE = 0.005

_MADE_WITH = "made-with.txt"


@dataclass(frozen=True)
class Difference:
    """One value of one run that is not what it was."""

    scenario: str
    point: str
    column: str
    before: str
    after: str

    @property
    def change(self) -> str:
        """The relative change, where both are numbers."""
        before, after = to_number(self.before), to_number(self.after)
        return (
            f"{after / before - 1:+.2%}" if before and after == after and before == before else ""
        )

    def __str__(self) -> str:
        return f"{self.scenario}: {self.point}: {self.column} {self.before} -> {self.after} {self.change}"


@dataclass
class Comparison:
    """One scenario against its baseline."""

    name: str
    results: Results
    baseline: dict[str, dict[str, str]]
    differences: list[Difference] = field(default_factory=list)

    @property
    def points(self) -> dict[str, dict[str, str]]:
        """The rows that were simulated now, by their swept values."""
        return _by_point(self.results.rows, self.results.swept)


def platform_of(manifest: dict[str, Any]) -> str:
    """What has to be the same for results to be the same bit for bit."""
    program, host = manifest.get("program", {}), manifest.get("host", {})
    return f"ns-3 {program.get('ns3')}, {host.get('system')} {host.get('machine')}"


def _by_point(rows: Iterable[dict[str, str]], swept: Iterable[str]) -> dict[str, dict[str, str]]:
    paths = list(swept)
    return {", ".join(f"{path}={row[path]}" for path in paths) or "run": row for row in rows}


def _kept(results: Results) -> list[dict[str, str]]:
    """The rows without what another program may do in another way, as cells."""
    columns = [results.column(name) for name in results.rows[0]]
    kept = [column for column in columns if column.compared == "always"]
    return [{column.name: column.cell(row[column.name]) for column in kept} for row in results.rows]


def _is_close(before: str, after: str) -> bool:
    first, second = to_number(before), to_number(after)
    return abs(second - first) <= TOLERANCE * abs(first)


def read_baseline(
    path: Path, swept: Iterable[str], columns: Columns | None = None
) -> dict[str, dict[str, str]]:
    """The rows of a baseline by their swept values; none if there is no baseline."""
    if not path.exists():
        return {}
    swept = list(swept)
    rows = read_cells(path, columns, swept)
    if rows and not set(swept) <= set(rows[0]):
        missing = next(column for column in swept if column not in rows[0])
        raise ResultsError(f"{path}: there is no column {missing}; --update makes it anew")
    return _by_point(rows, swept)


def find_differences(comparison: Comparison, exact: bool) -> list[Difference]:
    """What is not as in the baseline: values, runs that are missing, runs that are new."""
    differences = []
    points = comparison.points
    for point, row in comparison.baseline.items():
        now = points.get(point)
        if now is None:
            differences.append(Difference(comparison.name, point, "run", "there", "missing"))
            continue
        for column, before in row.items():
            after = now.get(column, "missing")
            if before != after and (exact or not _is_close(before, after)):
                differences.append(Difference(comparison.name, point, column, before, after))
    differences += [
        Difference(comparison.name, point, "run", "missing", "there")
        for point in points
        if point not in comparison.baseline
    ]
    return differences


def _write_baseline(path: Path, results: Results) -> None:
    text = io.StringIO()
    rows = _kept(results)
    writer = csv.DictWriter(text, rows[0].keys(), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    path.write_text(text.getvalue(), encoding="utf-8")


class Regression:
    """The scenarios of a folder, their baselines in its `baselines/`, and a folder for results."""

    def __init__(self, scenarios: Path, out: Path):
        self.files = sorted(scenarios.glob("*.json"))
        self.baselines = scenarios / "baselines"
        self.out = out
        self.comparisons: list[Comparison] = []
        if not self.files:
            raise ResultsError(f"{scenarios} has no scenarios")

    @property
    def made_with(self) -> str:
        """ns-3 version and platform of the baselines."""
        path = self.baselines / _MADE_WITH
        return path.read_text(encoding="utf-8", errors="replace").strip() if path.exists() else ""

    @property
    def platform(self) -> str:
        """ns-3 version and platform of the runs made now."""
        return platform_of(self.comparisons[0].results.manifest)

    @property
    def is_exact(self) -> bool:
        """Whether the baselines were made by the same ns-3 on the same platform."""
        return self.made_with == self.platform

    @property
    def differences(self) -> list[Difference]:
        """All of them, in the order of the scenarios."""
        return [found for comparison in self.comparisons for found in comparison.differences]

    def run(self, jobs: int | None = None) -> None:
        """Simulate every scenario and compare. A run that does not finish is a status like others."""
        self.comparisons = []
        for file in self.files:
            folder = self.out / file.stem
            options = ["run", str(file), f"--out={folder}", "--progress=never"]
            call(options + ([f"--jobs={jobs}"] if jobs is not None else []))
            results = load(folder)
            baseline = read_baseline(
                self.baselines / f"{file.stem}.csv", results.swept, results.columns.get("runs.csv")
            )
            self.comparisons.append(Comparison(file.stem, results, baseline))
        for comparison in self.comparisons:
            comparison.differences = find_differences(comparison, self.is_exact)

    def update(self) -> None:
        """Make what was simulated now the baselines."""
        self.baselines.mkdir(exist_ok=True)
        (self.baselines / _MADE_WITH).write_text(self.platform + "\n", encoding="utf-8")
        for path in self.baselines.glob("*.csv"):
            path.unlink()
        for comparison in self.comparisons:
            _write_baseline(self.baselines / f"{comparison.name}.csv", comparison.results)
