# SPDX-License-Identifier: GPL-2.0-only
"""What is fitted: a table, the rows of it that are fitted, parameters with their bounds, and the scenario."""

import argparse
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gradsync.errors import ScenarioError
from gradsync.studies.collective import (
    COLLECTIVES,
    Request,
    make_scenario,
    read_size,
    show_size,
    split_names,
)
from gradsync.studies.measured import Measurement, Table, read_table
from gradsync.studies.quantity import Unit, read_quantity
from gradsync.text import shown

MOST_PARAMETERS = 2
# Where no bounds are given: so many times less and more than the start.
_SPAN = 10.0


@dataclass(frozen=True)
class Parameter:
    """A value of the scenario that is fitted, in the smallest unit of its kind (ps, bps, or as it is)."""

    path: str
    unit: Unit
    start: float
    low: float
    high: float

    def at(self, position: float) -> float:
        """The value at 0 (low) to 1 (high), by logarithm unless low is 0 or less."""
        if self.low > 0:
            return self.low * math.exp(math.log(self.high / self.low) * position)
        return self.low + (self.high - self.low) * position

    def position(self, value: float) -> float:
        """The inverse of at()."""
        if self.low > 0:
            return math.log(value / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)

    def override(self, value: float) -> str:
        """As --set takes it."""
        return f"{self.path}={self.unit.render(value)}"


@dataclass(frozen=True)
class FitRequest:
    """A fit: `measure` has the sizes of all rows, in order, each once."""

    table: Table
    rows: tuple[Measurement, ...]
    fitted: frozenset[int]
    """Sizes, in bytes, of the rows that are fitted."""
    parameters: tuple[Parameter, ...]
    measure: Request
    most_evaluations: int


def read_fit_request(arguments: argparse.Namespace) -> FitRequest:
    """The request of a command line. Raises ScenarioError."""
    if arguments.evaluations < 1:
        raise ScenarioError(f"--evaluations {arguments.evaluations}: expected 1 or more")
    table = read_table(Path(arguments.table))
    rows = choose_rows(table, arguments.collective, arguments.algorithm)
    measure = _read_measure(arguments, table, rows)
    texts = [text.strip() for text in arguments.parameters.split(",")]
    if len(texts) > MOST_PARAMETERS:
        raise ScenarioError(
            f"--parameters names {len(texts)}, expected at most {MOST_PARAMETERS}: more are not told apart"
            " by sizes alone"
        )
    document = make_scenario(measure).document
    parameters = tuple(_read_parameter(text, document) for text in texts)
    if len({parameter.path for parameter in parameters}) < len(parameters):
        raise ScenarioError(f"--parameters names {parameters[0].path} twice")
    fitted = choose_fitted(arguments.rows, measure.sizes, len(parameters))
    return FitRequest(table, rows, fitted, parameters, measure, arguments.evaluations)


def _read_measure(
    arguments: argparse.Namespace, table: Table, rows: Sequence[Measurement]
) -> Request:
    """All rows' sizes, on the table's topology unless another is named."""
    collective = rows[0].collective
    schemes = COLLECTIVES[collective][:1]
    if arguments.scheme:
        schemes = split_names(arguments.scheme, "--scheme", "ring,rat")
    return Request(
        collective,
        Path(arguments.topology) if arguments.topology else table.topology,
        schemes,
        tuple(row.size for row in rows),
        arguments.transport,
        (*([] if arguments.topology else table.overrides), *arguments.set),
        split_names(arguments.protocol, "--protocol", "ll128,simple"),
    )


def choose_rows(
    table: Table, collective: str | None, algorithm: str | None
) -> tuple[Measurement, ...]:
    """The rows of one collective and, if named, one algorithm, by size. Raises ScenarioError."""
    rows = [row for row in table.rows if collective in (None, row.collective)]
    rows = [row for row in rows if algorithm in (None, row.algorithm)]
    if not rows:
        chosen = " ".join(filter(None, (collective, algorithm)))
        raise ScenarioError(f"{table.path}: no row of {shown(chosen)}")
    rows.sort(key=lambda row: row.size)
    for row in rows:
        if row.collective != rows[0].collective:
            names = " and ".join(sorted({row.collective for row in rows}))
            raise ScenarioError(f"{table.path}: rows of {names}; choose by --collective")
    for row, next_row in zip(rows, rows[1:]):
        if row.size == next_row.size:
            raise ScenarioError(
                f"{table.path}: lines {row.line} and {next_row.line} have {row.size} bytes both;"
                " choose by --algorithm"
            )
    return tuple(rows)


def choose_fitted(text: str | None, sizes: Sequence[int], parameters: int) -> frozenset[int]:
    """The sizes to fit, of "1MiB,64MiB..1GiB"; without a text the first and the last. Raises ScenarioError."""
    fitted = {sizes[0], sizes[-1]} if text is None else set[int]()
    for part in text.split(",") if text is not None else ():
        first, is_range, last = part.partition("..")
        low = read_size(first)
        high = read_size(last) if is_range else low
        found = [size for size in sizes if low <= size <= high]
        if not found:
            there = ", ".join(show_size(size) for size in sizes)
            raise ScenarioError(f"--rows {shown(part)}: no such row; there are {there}")
        fitted.update(found)
    if len(fitted) < parameters:
        raise ScenarioError(
            f"{parameters} parameters need at least {parameters} rows to be fitted on; --rows has {len(fitted)}"
        )
    if len(fitted) == len(sizes):
        raise ScenarioError(
            f"all {len(sizes)} rows are fitted and none is left to check; leave some out of --rows"
        )
    return frozenset(fitted)


def _read_parameter(text: str, document: dict[str, Any]) -> Parameter:
    path, _, values = text.partition("=")
    where = f"--parameters {shown(path)}"
    if not path:
        raise ScenarioError(f"--parameters {shown(text)}: expected PATH, or PATH=START:LOW:HIGH")
    parts = values.split(":") if values else [_find_start(path, document)]
    if len(parts) not in (1, 3):
        raise ScenarioError(f"{where}: expected START or START:LOW:HIGH, found {shown(values)}")
    start, unit = read_quantity(parts[0], where)
    if len(parts) == 3:
        (low, low_unit), (high, high_unit) = (read_quantity(part, where) for part in parts[1:])
        if {low_unit.smallest, high_unit.smallest} != {unit.smallest}:
            raise ScenarioError(
                f"{where}: start and bounds are of different kinds: {shown(values)}"
            )
    elif start > 0:
        low, high = start / _SPAN, start * _SPAN
    else:
        raise ScenarioError(f"{where}: {shown(parts[0])} needs bounds, {path}=START:LOW:HIGH")
    if not low <= start <= high or low == high:
        raise ScenarioError(f"{where}: {shown(values)}: expected LOW <= START <= HIGH, LOW < HIGH")
    return Parameter(path, unit, start, low, high)


def _find_start(path: str, document: dict[str, Any]) -> str:
    """What the scenario has at a path; below `topology` also its file, as the program merges them."""
    found = _step_down(document, path)
    section, _, rest = path.partition(".")
    if found is None and section == "topology" and rest:
        file = document["topology"]["file"]
        try:
            found = _step_down(json.loads(Path(file).read_text(encoding="utf-8")), rest)
        except (OSError, ValueError, RecursionError) as error:
            raise ScenarioError(f"{file}: {shown(error)}") from error
    if found is None or isinstance(found, (dict, list, bool)):
        raise ScenarioError(
            f"--parameters {shown(path)}: the scenario has no value there to start from; give one, {shown(path)}=START"
        )
    return str(found)


def _step_down(place: Any, path: str) -> Any:
    for segment in path.split("."):
        if isinstance(place, list) and segment.isdigit() and int(segment) < len(place):
            place = place[int(segment)]
        elif isinstance(place, dict) and segment in place:
            place = place[segment]
        else:
            return None
    return place
