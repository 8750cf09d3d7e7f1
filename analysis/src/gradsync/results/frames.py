# SPDX-License-Identifier: GPL-2.0-only
"""The tables of a results folder as data frames, and what is computed from them."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import polars as pl

from gradsync.errors import ResultsError
from gradsync.results.student import half_width
from gradsync.results.tables import FILLED, Columns, column_of, most_of, open_table, require
from gradsync.text import shown

TABLES = tuple(FILLED)
_TYPES = {str: pl.String, int: pl.Int64, float: pl.Float64, bool: pl.Boolean}


def read_table(
    path: Path,
    columns: Columns | None = None,
    swept: Sequence[str] = (),
    runs: int | None = None,
) -> pl.DataFrame:
    """A CSV table with numbers as numbers and empty cells as null.

    What a column holds is what the manifest says, whatever is in it. Where it says nothing, swept
    columns are what their values look like: integers, decimals, or text such as "10ms".
    Raises ResultsError if the table is missing or broken, or has rows of a run beyond `runs`.
    """
    names = open_table(path)
    filled = FILLED.get(path.stem, ())
    require(path, names, filled)
    described = columns or {}
    found = [column_of(described, name) for name in names if name in described or name not in swept]
    try:
        table = pl.read_csv(
            path,
            infer_schema_length=None,
            schema_overrides={column.name: _TYPES[column.kind] for column in found if column.kind},
        )
    except (OSError, pl.exceptions.PolarsError) as error:
        raise ResultsError(f"{path}: {shown(error)}") from error
    _check(path, table, filled, runs)
    marked = [column.name for column in found if column.marked and column.kind is str]
    return table.with_columns(pl.col(name).str.strip_prefix("'") for name in marked)


def _check(path: Path, table: pl.DataFrame, filled: Sequence[str], runs: int | None) -> None:
    for name in filled:
        if table[name].null_count():
            line = table[name].is_null().arg_true()[0] + 2
            raise ResultsError(f"{path}:{line}: {name} is empty")
    for name, kind in table.schema.items():
        if not kind.is_numeric():
            continue
        good = pl.col(name).is_finite() if kind.is_float() else pl.lit(True)
        good = good & pl.col(name).cast(pl.Float64).abs().le(most_of(name))
        wrong = table.select((~good).fill_null(False).arg_true()).to_series()
        if len(wrong):
            found = table[name][wrong[0]]
            raise ResultsError(f"{path}:{wrong[0] + 2}: {shown(name)} is {found}, out of range")
    if runs is not None and "run" in table.columns and table.height:
        least, most = table["run"].min(), table["run"].max()
        if not (isinstance(least, int) and isinstance(most, int) and 0 <= least <= most < runs):
            raise ResultsError(f"{path}: runs {least!r} to {most!r}, where runs.csv has {runs}")


def summarise(
    runs: pl.DataFrame, by: Sequence[str], value: str, measured: Sequence[str]
) -> pl.DataFrame:
    """Mean, spread and 95 % confidence interval of a column over the runs that share `by`.

    Runs without a value are counted apart as `unfinished`. A single run has no interval, nor have
    several that are `equal`, the same in all of the columns `measured`: null.
    """
    outcomes = pl.struct(measured).n_unique()
    statistics = [
        pl.col(value).count().alias("n"),
        pl.col(value).null_count().alias("unfinished"),
        pl.col(value).mean().alias("mean"),
        pl.col(value).std().alias("sd"),
        pl.col(value).min().alias("min"),
        pl.col(value).max().alias("max"),
        ((outcomes == 1) & (pl.col(value).count() > 1)).alias("equal"),
    ]
    if by:
        table = runs.group_by(list(by), maintain_order=True).agg(statistics)
    else:
        table = runs.select(statistics)
    widths = [
        half_width(n, sd) if sd is not None and not equal else None
        for n, sd, equal in table.select("n", "sd", "equal").iter_rows()
    ]
    table = table.with_columns(pl.Series("ci95", widths, dtype=pl.Float64))
    return table.select(pl.exclude("equal"), "equal")


def write_parquet(folder: Path, columns: Mapping[str, Columns], swept: Sequence[str]) -> list[Path]:
    """Write every table of a results folder as Parquet beside its CSV file, each renamed into place."""
    written = []
    for name in [Path(file).stem for file in columns] or TABLES:
        source = folder / f"{name}.csv"
        if not source.exists():
            continue
        target = source.with_suffix(".parquet")
        unfinished = folder / f".{target.name}.part"
        table = read_table(source, columns.get(source.name), swept if name == "runs" else ())
        table.write_parquet(unfinished)
        unfinished.replace(target)
        written.append(target)
    return written
