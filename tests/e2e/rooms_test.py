# SPDX-License-Identifier: GPL-2.0-only
"""The rooms of the C++ sources include only what rooms.toml lets them."""

import re
import tomllib
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[2]
TREES = ["model", "helper", "study"]  # each knows those before it
INCLUDE = re.compile(r'^#include "ns3/([\w.-]+)"', re.MULTILINE)


def _sources():
    folders = [ROOT / tree for tree in TREES]
    return [
        path for folder in folders for path in folder.rglob("*") if path.suffix in (".h", ".cc")
    ]


def _room(path: Path) -> str:
    return path.parent.relative_to(ROOT).as_posix()


def _tree(room: str) -> str:
    return room.partition("/")[0]


def _includes() -> dict[str, dict[str, list[str]]]:
    """Room -> room that it includes -> the lines of doing so."""
    files = _sources()
    home = {path.name: _room(path) for path in files if path.suffix == ".h"}
    found = defaultdict(lambda: defaultdict(list))
    for path in files:
        for header in INCLUDE.findall(path.read_text()):
            if home.get(header, _room(path)) != _room(path):
                found[_room(path)][home[header]].append(f"{path.name} includes {header}")
    return found


def _declared() -> dict[str, set[str]]:
    """Room -> rooms that it may include, of its own tree; as the file has them."""
    trees = tomllib.loads((ROOT / "rooms.toml").read_text())
    return {
        f"{tree}/{room}".rstrip("/"): {f"{tree}/{other}" for other in others}
        for tree, rooms in trees.items()
        for room, others in rooms.items()
    }


def _allowed(room: str, declared: dict[str, set[str]]) -> set[str]:
    before = TREES[: TREES.index(_tree(room))]
    return declared[room] | {other for other in declared if _tree(other) in before}


def test_every_folder_of_sources_is_a_room():
    assert {_room(path) for path in _sources()} == set(_declared())


def test_rooms_include_only_what_they_may():
    declared = _declared()
    unasked = [
        line
        for room, others in _includes().items()
        for other, lines in others.items()
        if other not in _allowed(room, declared)
        for line in lines
    ]
    assert unasked == []


def test_named_files_are_opened_by_one_class_only():
    """What is read twice may be two things: NamedFiles hands out what was read once."""
    opening = re.compile(
        r"\b(ReadInputFile|ReadJsonFile|LoadJson|LoadFile|fopen|open)\b *\(|\bifstream \w+\("
    )
    may = {
        "model/base/input-file.cc",  # how it is done
        "model/p4/compiler/p4-program-loader.cc",  # for programs of one's own: no other file calls it
        "study/json/json-document.cc",  # how JSON is read
        "study/scenario/named-files.cc",
        "study/json/atomic-file.cc",  # these open what the program has written itself
        "study/command/auto-command.cc",
        "study/result/file-lock.cc",
        "study/result/folder-seal.cc",
        "study/result/prepared-sweep.cc",
        "study/result/program-version.cc",
        "study/result/result-files.cc",
        "study/result/results-folder.cc",
        "study/result/run-store.cc",
        "study/run/rank-processes.cc",  # why a process of --ranks has failed
    }
    do = {
        path.relative_to(ROOT).as_posix()
        for path in _sources()
        if path.suffix == ".cc" and opening.search(path.read_text())
    }
    assert do <= may


def test_rooms_know_only_rooms_above_them_in_the_list():
    declared = _declared()
    order = {room: place for place, room in enumerate(declared)}
    wrong = [
        (room, other)
        for room, others in declared.items()
        for other in others
        if order[other] >= order[room]
    ]
    assert wrong == []


def test_what_a_room_may_include_it_does():
    includes = _includes()
    needless = [
        (room, other)
        for room, others in _declared().items()
        if room.startswith("model/")
        for other in others
        if other not in includes[room]
    ]
    assert needless == []
