# SPDX-License-Identifier: GPL-2.0-only
"""The contents of a results folder, as far as plots need them."""

import csv
import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gradsync.errors import ResultsError


def to_number(text: str) -> float:
    """The number in a CSV cell; NaN if the cell is empty or no number."""
    try:
        return float(text)
    except ValueError:
        return math.nan


@dataclass(frozen=True)
class Results:
    """The runs of one scenario, in run order, and the scenario."""

    folder: Path
    scenario: dict[str, Any]
    runs: list[dict[str, str]]

    @property
    def swept(self) -> list[str]:
        """The dotted paths that the scenario sweeps over, in its order."""
        return list(self.scenario.get("sweep", {}))

    @property
    def hints(self) -> dict[str, Any]:
        """The scenario's `plot` object."""
        return self.scenario.get("plot", {})

    def numbers(self, column: str) -> list[float]:
        """A column as numbers, NaN for what is missing."""
        return [to_number(run[column]) for run in self.runs]

    def require(self, column: str) -> None:
        """Raise ResultsError if runs.csv has no such column."""
        if column not in self.runs[0]:
            known = ", ".join(self.runs[0])
            raise ResultsError(
                f"{self.folder / 'runs.csv'}: there is no column {column}; there are {known}"
            )

    @property
    def unfinished(self) -> int:
        """How many runs have no iteration completion time."""
        return sum(math.isnan(value) for value in self.numbers("ict_mean_s"))


def load(folder: Path) -> Results:
    """Read manifest.json and runs.csv. Raises ResultsError if they are missing or broken."""
    try:
        manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
        with open(folder / "runs.csv", newline="", encoding="utf-8") as file:
            runs = list(csv.DictReader(file))
    except FileNotFoundError as error:
        raise ResultsError(f"{error.filename} is missing: is {folder} a results folder?") from error
    except (OSError, ValueError) as error:
        raise ResultsError(f"{folder}: {error}") from error
    if not runs:
        raise ResultsError(f"{folder / 'runs.csv'} has no runs")
    return Results(folder, manifest.get("scenario", {}), runs)
