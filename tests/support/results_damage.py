# SPDX-License-Identifier: GPL-2.0-only
"""Damages a results folder in one way of many: what disks, editors, merges and strangers do to files."""

import json
import random
import shutil
from pathlib import Path

ODD_CELLS = ("", "x", "nan", "inf", "-inf", "-1", "1e308", "1e19", "99999999999999999999", "0x10")
ODD_CELLS += (
    "1.5",
    "=1+1",
    "\x1b[2J",
    '"',
    "é" * 300,
    "[",
    "{}",
    "[1, 2]",
    '{"kind": 3}',
    "true",
    "١",
)
ODD_VALUES = (
    None,
    True,
    0,
    -1,
    1e308,
    "",
    "x",
    [],
    [[]],
    [1],
    {},
    {"kind": []},
    {"": None},
    "\x1b[2J",
)


def _tables(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.csv"))


def _cells(path: Path) -> list[list[str]]:
    return [line.split(",") for line in path.read_text().split("\n")]


def _write(path: Path, rows: list[list[str]]) -> None:
    path.write_text("\n".join(",".join(row) for row in rows))


class Damage:
    """One damage, by its seed; `what` says what it did."""

    def __init__(self, seed: int):
        self.draw = random.Random(f"damage {seed}")
        self.what = ""

    def do(self, folder: Path) -> None:
        """Damage a folder."""
        kinds = [self.cut, self.empty, self.remove, self.garbage, self.folder, self.flip]
        kinds += [
            self.column,
            self.cell,
            self.cell,
            self.row,
            self.double,
            self.name,
            self.column_twice,
        ]
        kinds += [self.value, self.value, self.drop_value, self.nest, self.fill]
        kind = self.draw.choice(kinds)
        self.what = kind.__name__
        kind(folder)

    def file(self, folder: Path) -> Path:
        names = [*_tables(folder), folder / "manifest.json", folder / "runs.csv"]
        path = self.draw.choice(names)
        self.what += f" {path.name}"
        return path

    def table(self, folder: Path) -> tuple[Path, list[list[str]]]:
        path = self.draw.choice([*_tables(folder), folder / "runs.csv"])
        self.what += f" {path.name}"
        return path, _cells(path)

    def cut(self, folder: Path) -> None:
        path = self.file(folder)
        content = path.read_bytes()
        path.write_bytes(content[: self.draw.randrange(len(content))])

    def empty(self, folder: Path) -> None:
        self.file(folder).write_bytes(b"")

    def remove(self, folder: Path) -> None:
        self.file(folder).unlink()

    def garbage(self, folder: Path) -> None:
        self.file(folder).write_bytes(self.draw.randbytes(self.draw.choice((1, 10, 5000))))

    def folder(self, folder: Path) -> None:
        path = self.file(folder)
        path.unlink()
        path.mkdir()

    def flip(self, folder: Path) -> None:
        path = self.file(folder)
        content = bytearray(path.read_bytes())
        for _ in range(self.draw.choice((1, 1, 5))):
            content[self.draw.randrange(len(content))] = self.draw.randrange(256)
        path.write_bytes(content)

    def column(self, folder: Path) -> None:
        path, rows = self.table(folder)
        place = self.draw.randrange(len(rows[0]))
        self.what += f" {rows[0][place]}"
        _write(path, [row[:place] + row[place + 1 :] for row in rows])

    def column_twice(self, folder: Path) -> None:
        path, rows = self.table(folder)
        place = self.draw.randrange(len(rows[0]))
        _write(path, [[*row, *row[place : place + 1]] for row in rows])

    def fill(self, folder: Path) -> None:
        """One odd cell in all rows of a column."""
        path, rows = self.table(folder)
        place, cell = self.draw.randrange(len(rows[0])), self.draw.choice(ODD_CELLS)
        self.what += f" {rows[0][place]} {cell!r}"
        _write(path, [rows[0], *(row[:place] + [cell] + row[place + 1 :] for row in rows[1:])])

    def cell(self, folder: Path) -> None:
        path, rows = self.table(folder)
        row = self.draw.choice(rows)
        place, cell = self.draw.randrange(len(row)), self.draw.choice(ODD_CELLS)
        self.what += f" {rows[0][min(place, len(rows[0]) - 1)]} {cell!r}"
        row[place] = cell
        _write(path, rows)

    def row(self, folder: Path) -> None:
        path, rows = self.table(folder)
        row = self.draw.choice(rows)
        if self.draw.random() < 0.5:
            row.append("1")
        else:
            row.pop()
        _write(path, rows)

    def double(self, folder: Path) -> None:
        path, rows = self.table(folder)
        place = self.draw.randrange(len(rows))
        _write(path, rows[: place + 1] * 2 + rows[place + 1 :])

    def name(self, folder: Path) -> None:
        path, rows = self.table(folder)
        place = self.draw.randrange(len(rows[0]))
        rows[0][place] = self.draw.choice(("", "x", "run", "\x1b]0;x\x07", "é" * 300))
        _write(path, rows)

    def _places(self, value: object, places: list) -> list:
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for key, inner in items:
            places.append((value, key))
            if isinstance(inner, (dict, list)):
                self._places(inner, places)
        return places

    def _manifest(self, folder: Path, change) -> None:
        path = folder / "manifest.json"
        document = json.loads(path.read_text())
        if self.draw.random() < 0.5:
            # Where most of what is looked at stands.
            places = [(document, key) for key in document]
            places += [(document["scenario"], key) for key in document["scenario"]]
        else:
            places = self._places(document, [])
        holder, key = self.draw.choice(places)
        self.what += f" {key}"
        change(holder, key)
        path.write_text(json.dumps(document))

    def value(self, folder: Path) -> None:
        def change(holder, key):
            holder[key] = self.draw.choice(ODD_VALUES)
            self.what += f" {holder[key]!r}"

        self._manifest(folder, change)

    def drop_value(self, folder: Path) -> None:
        def change(holder, key):
            del holder[key]

        self._manifest(folder, change)

    def nest(self, folder: Path) -> None:
        (folder / "manifest.json").write_text("[" * self.draw.choice((3, 100_000)))


def damaged_copy(whole: Path, copy: Path, seed: int) -> str:
    """A copy of a results folder with the damage of a seed, which is told."""
    shutil.copytree(whole, copy)
    damage = Damage(seed)
    damage.do(copy)
    return damage.what
