# SPDX-License-Identifier: GPL-2.0-only
"""Finds the simulator and calls it."""

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from gradsync.errors import ScenarioError, SimulationError

_BUILT = Path("build") / "release" / "gradsync"
_OK, _BAD_INPUT, _UNFINISHED = 0, 2, 3


def find_program() -> Path:
    """The simulator: $GRADSYNC_PROGRAM, or of the source tree around this package, or on the PATH.

    Never one of the current folder, which may be somebody else's.

    Raises ScenarioError if there is none.
    """
    named = os.environ.get("GRADSYNC_PROGRAM")
    if named:
        return Path(named)
    for folder in Path(__file__).resolve().parents:
        if (folder / _BUILT).is_file() and (folder / "scenarios").is_dir():
            return folder / _BUILT
    found = shutil.which("gradsync")
    if found:
        return Path(found)
    raise ScenarioError(
        "the simulator is not built: ./ns3 build in the source tree, or name it in GRADSYNC_PROGRAM"
    )


def call(arguments: Sequence[str], show_progress: bool = False) -> tuple[str, bool]:
    """Call the simulator: what it prints, and whether all exchanges finished.

    Raises ScenarioError for bad input and SimulationError for a crash or an interrupt.
    """
    done = subprocess.run(
        [str(find_program()), *arguments],
        stdout=subprocess.PIPE,
        stderr=None if show_progress else subprocess.PIPE,
        text=True,
        check=False,
    )
    if done.returncode in (_OK, _UNFINISHED):
        return done.stdout, done.returncode == _OK
    problem = (done.stderr or f"exit code {done.returncode}").strip()
    problem = problem.removeprefix("gradsync: error: ")
    raise (ScenarioError if done.returncode == _BAD_INPUT else SimulationError)(problem)
