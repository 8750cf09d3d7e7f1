# SPDX-License-Identifier: GPL-2.0-only
"""The columns of result tables, as manifest.json describes them: what they hold, their labels and units."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gradsync.errors import ResultsError
from gradsync.results.old_columns import OLD_NEVER, OLD_NOT_ALWAYS, old_type, old_unit
from gradsync.text import shown

_TYPES = {"integer": int, "number": float, "flag": bool, "text": str}
_COMPARED = ("always", "same-program", "never")
_SCALES = {
    "s": ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")),
    "B": ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "B")),
    "b/s": ((1e12, "Tb/s"), (1e9, "Gb/s"), (1e6, "Mb/s"), (1e3, "kb/s"), (1.0, "b/s")),
    "B/s": ((1e12, "TB/s"), (1e9, "GB/s"), (1e6, "MB/s"), (1e3, "kB/s"), (1.0, "B/s")),
}


@dataclass(frozen=True)
class Column:
    """A column of a table.

    `kind` is int, float, bool or str; None where its values tell it, in folders of before. `compared`:
    "always", "same-program" or "never", between which runs of a scenario and seed it is the same.
    `marked`: text has an apostrophe before it where a spreadsheet would take it for a formula. `of`:
    the swept path whose values these are, as numbers of `unit`; empty: none.
    """

    name: str
    label: str = ""
    unit: str = ""
    kind: type | None = None
    compared: str = "always"
    swept: bool = False
    marked: bool = False
    of: str = ""

    def text(self, cell: str) -> str:
        """What was written into a cell."""
        return cell[1:] if self.marked and self.kind is str and cell.startswith("'") else cell

    def cell(self, text: str) -> str:
        """The cell that `text` gives back."""
        return (
            "'" + text if self.marked and self.kind is str and text[:1] in tuple("=+-@'") else text
        )


def of_name(name: str) -> Column:
    """A column that no manifest describes, by its name."""
    compared = (
        "never" if name in OLD_NEVER else "same-program" if name in OLD_NOT_ALWAYS else "always"
    )
    return Column(name, "", old_unit(name), old_type(name), compared)


def _read(file: Path, table: str, entry: Any) -> Column:
    if not isinstance(entry, dict):
        raise ResultsError(f"{file}: columns.{shown(table)}: found {shown(entry)}")
    name, label, unit, of = (entry.get(key, "") for key in ("name", "label", "unit", "of"))
    kind, compared = entry.get("type"), entry.get("compared", "always")
    good = all(isinstance(text, str) for text in (name, label, unit, of, kind, compared))
    if not good or not name or kind not in _TYPES or compared not in _COMPARED:
        raise ResultsError(f"{file}: columns.{shown(table)}: {shown(entry)} is no column")
    swept = bool(entry.get("swept"))
    return Column(name, label, unit, _TYPES[kind], compared, swept, marked=True, of=of)


def read_columns(file: Path, manifest: Mapping[str, Any]) -> dict[str, dict[str, Column]]:
    """The columns of each table by its file, as the manifest has them; empty if it is of before.

    Raises ResultsError for what is no column.
    """
    tables = manifest.get("columns", {})
    for table in tables:
        if not re.fullmatch(r"[\w-]+\.csv", table):
            raise ResultsError(f"{file}: columns.{shown(table)} is no table")
    return {
        table: {column.name: column for column in (_read(file, table, entry) for entry in entries)}
        for table, entries in tables.items()
    }


def scale(unit: str, values: Iterable[float]) -> tuple[float, str]:
    """The divisor and unit that bring the largest of `values` above 1."""
    if unit not in _SCALES:
        return 1.0, unit
    largest = max((abs(value) for value in values if value == value), default=0.0)
    for divisor, name in _SCALES[unit]:
        if largest >= divisor:
            return divisor, name
    return _SCALES[unit][-1]


# Names that say little without the part that they are of.
_SHORT = frozenset({"rate", "delay"})


def _in_words(path: str) -> str:
    """hostsPerLeaf: Hosts per leaf. Of a link's rate the link, too."""
    *before, last = path.split(".")
    text = f"{before[-1]} {last}" if last in _SHORT and before else last
    return re.sub("([A-Z])", r" \1", text).lower().capitalize().replace("_", " ")


def label(column: Column, unit: str, hints: Mapping[str, str]) -> str:
    """The axis label of a column: the scenario's own text if it has one, with the unit."""
    own = hints.get(column.name) or hints.get(column.of)
    text = own or column.label or _in_words(column.of or column.name)
    return f"{text} ({unit})" if unit and "(" not in text else text
