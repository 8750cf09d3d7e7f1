# SPDX-License-Identifier: GPL-2.0-only
"""The tables of a results folder as data frames, and what is computed from them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from gradsync.errors import ResultsError
from gradsync.results.student import half_width

TABLES = ("runs", "iterations", "links", "messages", "faults", "blocked", "flows", "samples")

# Columns that stay text even where every value of a run looks like a number.
_TEXT = frozenset(
    {"job", "from", "to", "src", "dst", "kind", "target", "event", "status", "auto_choice"}
)
_COUNTS = frozenset(
    {"run", "seed", "iteration", "operation", "workers", "fault", "packets", "blocked_workers"}
)


def _type(column: str) -> Any:
    if column in _TEXT:
        return pl.String
    if column in _COUNTS or column.endswith(("_bytes", "_packets", "_hops", "_bps")):
        return pl.Int64
    return pl.Float64 if column.endswith("_s") else None


def read_table(path: Path, swept: Sequence[str] = ()) -> pl.DataFrame:
    """A CSV table with numbers as numbers and empty cells as null.

    The swept columns are what their values look like: integers, decimals, or text such as "10ms".
    Raises ResultsError if the table is missing or broken.
    """
    try:
        with open(path, encoding="utf-8") as file:
            names = next(iter(pl.read_csv(file.readline().encode(), has_header=False).rows()))
        types = {name: _type(name) for name in names if name not in swept}
        return pl.read_csv(
            path,
            infer_schema_length=None,
            schema_overrides={name: kind for name, kind in types.items() if kind is not None},
        )
    except FileNotFoundError as error:
        raise ResultsError(f"{path} is missing") from error
    except (OSError, StopIteration, pl.exceptions.PolarsError) as error:
        raise ResultsError(f"{path}: {error}") from error


def summarise(runs: pl.DataFrame, by: Sequence[str], value: str) -> pl.DataFrame:
    """Mean, spread and 95 % confidence interval of a column over the runs that share `by`.

    Runs without a value are counted apart as `unfinished`. A single run has no interval: null.
    """
    statistics = [
        pl.col(value).count().alias("n"),
        pl.col(value).null_count().alias("unfinished"),
        pl.col(value).mean().alias("mean"),
        pl.col(value).std().alias("sd"),
        pl.col(value).min().alias("min"),
        pl.col(value).max().alias("max"),
    ]
    if by:
        table = runs.group_by(list(by), maintain_order=True).agg(statistics)
    else:
        table = runs.select(statistics)
    widths = [
        half_width(n, sd) if sd is not None else None
        for n, sd in table.select("n", "sd").iter_rows()
    ]
    return table.with_columns(pl.Series("ci95", widths, dtype=pl.Float64))


def write_parquet(folder: Path, swept: Sequence[str]) -> list[Path]:
    """Write every table of a results folder as Parquet beside its CSV file, each renamed into place."""
    written = []
    for name in TABLES:
        source = folder / f"{name}.csv"
        if not source.exists():
            continue
        target = source.with_suffix(".parquet")
        unfinished = folder / f".{target.name}.part"
        read_table(source, swept if name == "runs" else ()).write_parquet(unfinished)
        unfinished.replace(target)
        written.append(target)
    return written
