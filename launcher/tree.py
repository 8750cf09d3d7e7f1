# SPDX-License-Identifier: GPL-2.0-only
"""Where things are in the source tree."""

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ANALYSIS = ROOT / "analysis"
VENV = ROOT / ".venv"
RESULTS = Path("results")  # relative to where the user stands, like the scenario


@dataclass(frozen=True)
class Profile:
    """One build directory and the CMake settings that make it."""

    name: str
    settings: tuple[str, ...]
    compiler: str | None = None  # by default the system's, or that of the variable CXX

    @property
    def directory(self) -> Path:
        return ROOT / "build" / self.name

    @property
    def program(self) -> Path:
        return self.directory / "gradsync"


RELEASE = Profile("release", ("-DCMAKE_BUILD_TYPE=Release",))
# By Clang, which brings libFuzzer and compiles the tests in half of GCC's time. A finding needs no more
# than line numbers; objects are a quarter smaller than with all of -g. Starting a program for every test
# case would take minutes.
SANITIZE = Profile(
    "sanitize",
    (
        "-DCMAKE_BUILD_TYPE=Debug",
        "-DCMAKE_CXX_FLAGS_DEBUG=-g1",
        "-DGRADSYNC_SANITIZE=ON",
        "-DGRADSYNC_BENCHMARKS=OFF",
        "-DGRADSYNC_TEST_CASES=OFF",
    ),
    compiler="clang++-14",
)


def cores() -> int:
    """The processor cores this process may use."""
    # macOS gives a process all of them.
    ask = getattr(os, "sched_getaffinity", None)
    return len(ask(0)) if ask else os.cpu_count() or 1


def revision() -> str:
    """The commit of this tree, and `-dirty` where files differ from it; `unknown` without git."""
    command = ["git", "-C", str(ROOT), "describe", "--always", "--dirty", "--abbrev=12"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:
        return "unknown"
    return done.stdout.strip() or "unknown"
