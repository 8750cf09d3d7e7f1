# SPDX-License-Identifier: GPL-2.0-only
"""Compares two results folders: the same scenario and seed must give the same values, bit for bit."""

from itertools import zip_longest
from pathlib import Path

from gradsync.errors import ResultsError
from gradsync.results.tables import read_cells
from gradsync.text import shown

TABLES = tuple(
    f"{name}.csv"
    for name in ("runs", "iterations", "links", "messages", "faults", "blocked", "flows", "samples")
)

# What a run cost on the machine it ran on, which is no result of the simulation.
WALL_CLOCK_COLUMNS = frozenset({"wall_s", "peak_rss_bytes"})

_MOST_SHOWN = 20


def _compare_table(first: Path, second: Path) -> list[str]:
    name = first.name
    if first.exists() != second.exists():
        return [f"{name}: only in {(first if first.exists() else second).parent}"]
    if not first.exists():
        return []
    differences = []
    pairs = zip_longest(read_cells(first), read_cells(second))
    for line, (row, other) in enumerate(pairs, 2):
        if row is None or other is None:
            differences.append(f"{name}:{line}: only in one of the two")
        elif list(row) != list(other):
            return [f"{name}: the columns are {shown(list(row))} and {shown(list(other))}"]
        else:
            differences += [
                f"{name}:{line}: {shown(column)} is {shown(value)} and {shown(other[column])}"
                for column, value in row.items()
                if column not in WALL_CLOCK_COLUMNS and value != other[column]
            ]
        if len(differences) >= _MOST_SHOWN:
            break
    return differences


def compare_results(first: Path, second: Path) -> list[str]:
    """What differs between two results folders, as text; at most some 20 differences per table.

    Values are compared as the text that was written: they are to be equal, not close.
    """
    for folder in (first, second):
        if not (folder / "runs.csv").exists():
            raise ResultsError(f"{folder}: runs.csv is missing")
    return [
        difference for name in TABLES for difference in _compare_table(first / name, second / name)
    ]
