# SPDX-License-Identifier: GPL-2.0-only
"""Compares two results folders: the same scenario and seed must give the same values, bit for bit."""

from collections.abc import Sequence
from itertools import zip_longest
from pathlib import Path

from gradsync.errors import ResultsError
from gradsync.results.columns import Column, read_columns
from gradsync.results.manifest import read_manifest
from gradsync.results.tables import FILLED, Columns, column_of, read_cells
from gradsync.text import shown

_MOST_SHOWN = 20


def _columns_of(folder: Path) -> dict[str, dict[str, Column]]:
    file = folder / "manifest.json"
    return read_columns(file, read_manifest(file)) if file.exists() else {}


def _compare_table(first: Path, second: Path, columns: Sequence[Columns]) -> list[str]:
    name = first.name
    if first.exists() != second.exists():
        return [f"{name}: only in {(first if first.exists() else second).parent}"]
    if not first.exists():
        return []
    differences = []
    pairs = zip_longest(read_cells(first, columns[0]), read_cells(second, columns[1]))
    for line, (row, other) in enumerate(pairs, 2):
        if row is None or other is None:
            differences.append(f"{name}:{line}: only in one of the two")
        elif list(row) != list(other):
            return [f"{name}: the columns are {shown(list(row))} and {shown(list(other))}"]
        else:
            differences += [
                f"{name}:{line}: {shown(column)} is {shown(value)} and {shown(other[column])}"
                for column, value in row.items()
                # What a run cost on its machine is no result of the simulation.
                if column_of(columns[0], column).compared != "never" and value != other[column]
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
    described = [_columns_of(folder) for folder in (first, second)]
    names = dict.fromkeys(name for tables in described for name in tables)
    return [
        difference
        for name in names or [f"{table}.csv" for table in FILLED]
        for difference in _compare_table(
            first / name, second / name, [tables.get(name, {}) for tables in described]
        )
    ]
