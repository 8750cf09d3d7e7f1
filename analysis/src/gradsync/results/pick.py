# SPDX-License-Identifier: GPL-2.0-only
"""Chooses the runs of a sweep that one picture shows."""

from gradsync.errors import ResultsError
from gradsync.results.folder import Results
from gradsync.results.series import choose_axes, words


def pick_run(results: Results, run: int | None) -> int:
    """The run that is asked for, or else the first that finished.

    Raises ResultsError for a run that is not there.
    """
    if run is not None:
        if not 0 <= run < len(results.rows):
            raise ResultsError(f"{results.folder} has runs 0 to {len(results.rows) - 1}, not {run}")
        return run
    finished = (i for i, row in enumerate(results.rows) if row["ict_mean_s"])
    return next(finished, 0)


def describe_run(results: Results, run: int) -> str:
    """A run by its swept values; empty if nothing is swept."""
    row = results.rows[run]
    return ", ".join(words(path, row[path]) for path in results.swept)


def name_of(results: Results, run: int) -> str:
    """What tells a run from those it is compared with: the names of its series, or the scheme."""
    axes = choose_axes(results)
    names = [words(column, results.rows[run][column]) for column in axes.series]
    return ", ".join(names) or str(results.scenario.get("scheme", {}).get("kind", "run"))


def pick_comparison(results: Results, run: int | None) -> list[int]:
    """The runs that differ from the last one (or the one asked for) in the series alone."""
    axes = choose_axes(results)
    anchor = results.rows[-1 if run is None else pick_run(results, run)]
    others = [path for path in results.swept if path not in axes.series]
    return [
        i
        for i, row in enumerate(results.rows)
        if row["ict_mean_s"] and all(row[path] == anchor[path] for path in others)
    ]
