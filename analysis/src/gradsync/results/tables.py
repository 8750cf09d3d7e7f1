# SPDX-License-Identifier: GPL-2.0-only
"""Reads the tables of a results folder, and refuses those that are not what was written.

What is damaged is named by its file, line and column, so that nothing behind this has to expect it.
"""

import csv
import math
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from gradsync.errors import ResultsError
from gradsync.results.columns import Column, of_name
from gradsync.text import shown

# Columns that every row of a table has a value in: what is drawn and computed needs no less.
FILLED: dict[str, tuple[str, ...]] = {
    "runs": (),
    "iterations": ("run", "job", "iteration", "start_s", "compute_s"),
    "links": ("run", "from", "to", "kind", "rate_bps", "payload_bytes", "wire_bytes")
    + ("utilisation", "dropped", "max_queue_bytes", "pfc_pause_s"),
    "messages": ("run", "src", "dst", "bytes", "start_s", "end_s"),
    "faults": ("run", "time_s", "kind", "event"),
    "blocked": ("run", "time_s", "blocked_workers"),
    "flows": ("run",),
    "samples": ("run", "time_s", "from", "to", "wire_bytes", "queue_bytes", "pfc_pause_s"),
    "training": ("run", "job", "iteration", "rank", "iteration_s")
    + ("computation_s", "hidden_s", "exposed_s", "bubble_s"),
    "streams": ("run", "job", "iteration", "rank", "stream", "hidden_s", "exposed_s"),
    "collectives": ("run", "stream", "label", "kind", "group_size", "bytes", "count", "mean_s"),
    "critical_path": ("run", "job", "iteration", "rank", "stream", "label", "start_s", "end_s"),
    "updates": ("run", "job", "worker", "host", "step", "time_s", "staleness", "ahead"),
    "workers": (
        "run",
        "job",
        "worker",
        "host",
        "steps",
        "updates",
        "compute_s",
        "wait_s",
        "held_s",
    ),
}
# Beyond these no simulation comes, and no axis: a year and a half in seconds, an exabyte.
_MOST = 1e18
_MOST_SECONDS = 5e7


Columns = Mapping[str, Column]


def column_of(columns: Columns, name: str) -> Column:
    """A column as it is described, or by its name."""
    return columns.get(name) or of_name(name)


def most_of(column: str) -> float:
    """The largest number that a column may hold."""
    is_time = column.endswith("_s") and not column.endswith("_per_s")
    return _MOST_SECONDS if is_time else _MOST


def open_table(path: Path) -> list[str]:
    """The column names of a table. Raises ResultsError if it is no file, or they are none."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise ResultsError(f"{path} is no regular file")
        with open(path, newline="", encoding="utf-8") as file:
            names = next(csv.reader(file), [])
    except FileNotFoundError as error:
        raise ResultsError(f"{path} is missing") from error
    except (OSError, ValueError, csv.Error) as error:
        raise ResultsError(f"{path}: {shown(error)}") from error
    if not names or not all(names):
        raise ResultsError(f"{path}:1: the names of columns are expected")
    twice = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    if twice:
        raise ResultsError(f"{path}:1: the column {shown(twice[0])} is there twice")
    return names


def require(path: Path, names: Sequence[str], wanted: Iterable[str]) -> None:
    """Raise ResultsError for a column that a table should have."""
    for name in wanted:
        if name not in names:
            known = shown(", ".join(names))
            raise ResultsError(f"{path}: there is no column {shown(name)}; there are {known}")


def _check(path: Path, line: int, column: str, cell: str, kind: type) -> None:
    expected = "a whole number" if kind is int else "a number"
    try:
        number = float(cell)
        good = math.isfinite(number) and abs(number) <= most_of(column)
        good = good and (kind is float or (cell.isascii() and cell.lstrip("-").isdigit()))
    except ValueError:
        good = False
    if not good:
        raise ResultsError(f"{path}:{line}: {column} is {shown(cell)}, expected {expected}")


def _rows(path: Path, names: Sequence[str]) -> Iterator[tuple[int, dict[str, str]]]:
    try:
        with open(path, newline="", encoding="utf-8") as file:
            reader = csv.reader(file, strict=True)
            next(reader)
            for cells in reader:
                if len(cells) != len(names):
                    raise ResultsError(
                        f"{path}:{reader.line_num}: {len(cells)} cells in {len(names)} columns"
                    )
                yield reader.line_num, dict(zip(names, cells, strict=True))
    except (OSError, ValueError, csv.Error) as error:
        raise ResultsError(f"{path}: {shown(error)}") from error


def read_cells(
    path: Path, columns: Columns | None = None, free: Sequence[str] = ()
) -> list[dict[str, str]]:
    """The rows of a table as text, every number in them one; `free` columns hold what they like.

    Raises ResultsError for whatever is not so.
    """
    names = open_table(path)
    found = {name: column_of(columns or {}, name) for name in names}
    numbers = {
        name: column.kind
        for name, column in found.items()
        if column.kind in (int, float) and not column.swept and name not in free
    }
    texts = [column for column in found.values() if column.marked and column.kind is str]
    rows = []
    for line, row in _rows(path, names):
        for name, kind in numbers.items():
            if row[name]:
                _check(path, line, name, row[name], kind)
        for column in texts:
            row[column.name] = column.text(row[column.name])
        rows.append(row)
    return rows
