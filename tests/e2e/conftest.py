# SPDX-License-Identifier: GPL-2.0-only
"""Fixtures of the end-to-end tests: the launcher and the program as a user calls them."""

import csv
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "analysis" / "src"))

import gradsync  # noqa: E402

SCENARIOS = ROOT / "scenarios"
SMOKE = SCENARIOS / "smoke.json"
TOPOLOGIES = ROOT / "topologies"


def rows_of(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def pytest_addoption(parser):
    parser.addoption(
        "--match", help="run only the tests whose name matches this regular expression"
    )


def pytest_collection_modifyitems(config, items):
    expression = config.getoption("--match")
    if expression:
        kept = [item for item in items if re.search(expression, item.nodeid)]
        config.hook.pytest_deselected(items=[item for item in items if item not in kept])
        items[:] = kept


def call(command, cwd: Path, variables: Mapping[str, str] | None = None):
    """Run a command with its output captured as text."""
    return subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env={**os.environ, **(variables or {})},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


def simulate_losses(folder, title, repeats):
    """Results of PS and ring on racks of two and four hosts while packets are lost."""
    scenario = gradsync.Scenario(
        gradsync.spine_leaf(2, 2, 2, gradsync.link("10Gbps", "1us")),
        title=title,
        job={"gradient": "200kB"},
        fabric={"lossRate": 0.001},
        transport={"kind": "roce", "timeout": "200us"},
        plot={"x": "topology.hostsPerLeaf", "series": "scheme.kind"},
    )
    scenario = scenario.sweep("topology.hostsPerLeaf", [2, 4]).sweep("scheme.kind", ["ps", "ring"])
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        return scenario.repeat(repeats).run(folder)


@pytest.fixture
def ns3(tmp_path):
    """Calls this tree's ./ns3 from an empty folder."""

    def run(*arguments, variables=None):
        return call([ROOT / "ns3", *arguments], tmp_path, variables)

    return run


@pytest.fixture
def program(tmp_path):
    """Calls the simulator that was built, from an empty folder."""
    path = os.environ.get("GRADSYNC_PROGRAM", str(ROOT / "build" / "release" / "gradsync"))

    def run(*arguments):
        return call([path, *arguments], tmp_path)

    run.path = path
    return run


@pytest.fixture
def smoke(program, tmp_path):
    """Results of the smoke scenario."""
    result = program("run", SMOKE, "--out=smoke")
    assert result.returncode == 0, result.stderr
    return tmp_path / "smoke"


class BareSystem:
    """A system with no compiler and no library: a PATH and installation prefixes of its own.

    Its apt-get writes down what it is asked and installs nothing.
    """

    def __init__(self, folder: Path):
        self.bin = folder / "bin"
        self.prefix = folder / "usr"
        self.log = folder / "apt-get.log"
        self.bin.mkdir(parents=True)
        self.prefix.mkdir()
        for name in ("sh", "env", "id", "dirname"):
            (self.bin / name).symlink_to(shutil.which(name))
        # A sudo so that the tests hold for a user who is not root.
        self.script("sudo", 'exec "$@"')
        self.script("apt-get", f'echo "$@" >> "{self.log}"')
        self.script("apt-cache", 'shift; for name in "$@"; do echo "  Candidate: 1.0"; done')

    def script(self, name: str, body: str) -> None:
        (self.bin / name).write_text(f"#!/bin/sh\n{body}\n")
        (self.bin / name).chmod(0o755)

    @property
    def variables(self):
        return {"PATH": str(self.bin), "GRADSYNC_PREFIXES": str(self.prefix)}

    @property
    def asked(self):
        return self.log.read_text().splitlines() if self.log.exists() else []


@pytest.fixture
def bare_system(tmp_path):
    return BareSystem(tmp_path / "system")


class SmallTree:
    """A source tree with this launcher and a program of a few lines, so that builds take a second."""

    def __init__(self, folder: Path):
        self.folder = folder
        folder.mkdir()
        shutil.copy(ROOT / "ns3", folder / "ns3")
        shutil.copytree(
            ROOT / "launcher", folder / "launcher", ignore=shutil.ignore_patterns("__pycache__")
        )
        (folder / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.25)\nproject(small LANGUAGES CXX)\n"
            "add_executable(gradsync-program main.cc)\n"
            "set_target_properties(gradsync-program PROPERTIES OUTPUT_NAME gradsync)\n"
        )

    def source(self, text: str) -> None:
        (self.folder / "main.cc").write_text(text)

    def run(self, *arguments):
        return call(["./ns3", *arguments], self.folder)


@pytest.fixture
def small_tree(tmp_path):
    return SmallTree(tmp_path / "tree")
