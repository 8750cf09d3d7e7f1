# SPDX-License-Identifier: GPL-2.0-only
"""Measured tables of collectives: NAME.csv has sizes with times or bus bandwidths, NAME.toml whose they are.

Columns: `size_bytes`, `collective`, `algorithm` (empty: not known), and `time_us` or `busbw_gb_per_s`, of which
each row has the one that was published. NAME.toml: `title`, `source`, `ranks`, `topology` (a file, relative to it),
and, if need be, `set` (overrides as those of --set) and `remark`.
"""

import csv
import hashlib
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from gradsync.errors import ScenarioError
from gradsync.studies.collective import COLLECTIVES
from gradsync.text import shown

COLUMNS = ("size_bytes", "collective", "algorithm", "time_us", "busbw_gb_per_s")
_REQUIRED = {"title": str, "source": str, "ranks": int, "topology": str}
_OPTIONAL = {"set": list, "remark": str}
_MOST_BYTES = 2**44
# Of times in microseconds and bandwidths in GB/s: a picosecond to three years.
_LEAST, _MOST = 1e-6, 1e14


@dataclass(frozen=True)
class Measurement:
    """One row of a table: what a collective of this size took."""

    size: int
    """Bytes, as nccl-tests count them."""
    collective: str
    algorithm: str
    time_s: float
    line: int


@dataclass(frozen=True)
class Table:
    """A measured table and where it is from."""

    path: Path
    title: str
    source: str
    remark: str
    ranks: int
    topology: Path
    overrides: tuple[str, ...]
    rows: tuple[Measurement, ...]
    sha256: str
    """Of the CSV file."""


def bus_factor(collective: str, ranks: int) -> float:
    """busbw / algbw of nccl-tests (its doc/PERFORMANCE.md)."""
    if collective == "all-reduce":
        return 2 * (ranks - 1) / ranks
    if collective in ("broadcast", "reduce"):
        return 1.0
    return (ranks - 1) / ranks


def bus_bandwidth(collective: str, ranks: int, size: int, time_s: float) -> float:
    """Bytes per second, as nccl-tests print it."""
    return size / time_s * bus_factor(collective, ranks)


def read_table(path: Path) -> Table:
    """A table and its side file. Raises ScenarioError with file, line and column."""
    side = path.with_suffix(".toml")
    about = _read_side(side)
    content = _read_bytes(path)
    try:
        lines = content.decode("utf-8").splitlines()
    except UnicodeDecodeError as error:
        raise ScenarioError(f"{path}: {error}") from error
    rows = tuple(_read_rows(path, lines, about["ranks"]))
    return Table(
        path,
        about["title"],
        about["source"],
        about.get("remark", "").strip(),
        about["ranks"],
        side.parent / about["topology"],
        tuple(about.get("set", ())),
        rows,
        hashlib.sha256(content).hexdigest(),
    )


def _read_bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise ScenarioError(f"{path}: {error.strerror}") from error


def _read_side(path: Path) -> dict[str, Any]:
    if not path.exists():
        raise ScenarioError(
            f"{path}: not there; beside a table it tells title, source, ranks and topology"
        )
    try:
        about = tomllib.loads(_read_bytes(path).decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise ScenarioError(f"{path}: {shown(error)}") from error
    known = _REQUIRED | _OPTIONAL
    for key, value in about.items():
        if key not in known:
            raise ScenarioError(f"{path}: unknown key {shown(key)}{_nearest(key, known)}")
        if type(value) is not known[key]:
            raise ScenarioError(
                f"{path}: {key} is {shown(value)}, expected {_type_name(known[key])}"
            )
    for key in _REQUIRED:
        if key not in about:
            raise ScenarioError(f"{path}: {key} is missing")
    if not about["topology"].isprintable():
        raise ScenarioError(f"{path}: topology has a character that no name has")
    if about["ranks"] < 2:
        raise ScenarioError(f"{path}: ranks is {about['ranks']}, expected 2 or more")
    if not all(isinstance(item, str) for item in about.get("set", ())):
        raise ScenarioError(f"{path}: set is {shown(about['set'])}, expected a list of PATH=VALUE")
    return about


def _type_name(kind: type) -> str:
    return {str: "a text", int: "a whole number", list: "a list"}[kind]


def _nearest(name: str, known: Mapping[str, Any] | Sequence[str]) -> str:
    close = get_close_matches(name, known, 1, 0.0)
    return f"; the nearest is {close[0]}" if close else ""


def _read_rows(path: Path, lines: list[str], ranks: int) -> list[Measurement]:
    reader = csv.reader(lines)
    try:
        records = [(reader.line_num, cells) for cells in reader if cells]
    except csv.Error as error:
        raise ScenarioError(f"{path}: line {reader.line_num}: {error}") from error
    if not records:
        raise ScenarioError(f"{path}: empty, expected the columns {', '.join(COLUMNS)}")
    head = records[0][1]
    for name in head:
        if name not in COLUMNS:
            raise ScenarioError(
                f"{path}: line 1: unknown column {shown(name)}{_nearest(name, COLUMNS)}"
            )
    for name in COLUMNS:
        if head.count(name) != 1:
            raise ScenarioError(f"{path}: line 1: {head.count(name)} columns {name}, expected one")
    rows = []
    for line, cells in records[1:]:
        if len(cells) != len(head):
            raise ScenarioError(f"{path}: line {line}: {len(cells)} cells, expected {len(head)}")
        rows.append(_read_row(f"{path}: line {line}", line, dict(zip(head, cells)), ranks))
    if not rows:
        raise ScenarioError(f"{path}: no row below the head")
    return rows


def _read_row(where: str, line: int, cells: Mapping[str, str], ranks: int) -> Measurement:
    size, collective = cells["size_bytes"], cells["collective"]
    whole = size.isascii() and size.isdigit() and len(size) < 20
    if not (whole and 1 <= int(size) <= _MOST_BYTES):
        raise ScenarioError(
            f"{where}, size_bytes: {shown(size)} is no number of bytes from 1 to 2^44"
        )
    if collective not in COLLECTIVES:
        raise ScenarioError(
            f"{where}, collective: unknown {shown(collective)}{_nearest(collective, COLLECTIVES)}"
        )
    time, bandwidth = cells["time_us"], cells["busbw_gb_per_s"]
    if bool(time) == bool(bandwidth):
        raise ScenarioError(f"{where}: time_us or busbw_gb_per_s, one of them, as it was published")
    if time:
        seconds = _read_positive(f"{where}, time_us", time) / 1e6
    else:
        rate = _read_positive(f"{where}, busbw_gb_per_s", bandwidth) * 1e9
        seconds = int(size) * bus_factor(collective, ranks) / rate
    return Measurement(int(size), collective, cells["algorithm"], seconds, line)


def _read_positive(where: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not _LEAST <= value <= _MOST:
        raise ScenarioError(f"{where}: {shown(text)} is no number from {_LEAST:g} to {_MOST:g}")
    return value
