# SPDX-License-Identifier: GPL-2.0-only
"""The virtual environment .venv/ with the pinned packages that plots and tests need."""

import hashlib
import os
import shutil
from pathlib import Path

from launcher.errors import ENVIRONMENT, LauncherError
from launcher.packages import venv_python
from launcher.process import run, say
from launcher.tree import ANALYSIS, VENV

_LOCK = ANALYSIS / "requirements.lock"


def _stamp() -> Path:
    return VENV / "gradsync-requirements.sha256"


def _wanted() -> str:
    return hashlib.sha256(_LOCK.read_bytes()).hexdigest()


def is_current() -> bool:
    """Whether .venv/ has exactly the pinned packages and its interpreter still runs."""
    python = VENV / "bin" / "python"
    return python.exists() and _stamp().exists() and _stamp().read_text() == _wanted()


def ensure(allowed: bool) -> None:
    """Make .venv/ current. Raises LauncherError (exit 4) if that is not allowed or fails."""
    if is_current():
        return
    if not allowed:
        raise LauncherError(
            f"{VENV} lacks the packages of {_LOCK} and --no-install forbids installing them",
            ENVIRONMENT,
        )
    say(f"installing Python packages into {VENV}: " + ", ".join(_names()))
    # Built from nothing each time: what an older lock left behind would hide a missing pin.
    shutil.rmtree(VENV, ignore_errors=True)
    pip = [str(VENV / "bin" / "python"), "-m", "pip", "install", "--quiet", "--no-deps"]
    for step in ([venv_python(), "-m", "venv", str(VENV)], [*pip, "-r", str(_LOCK)]):
        code = run(step)
        if code != 0:
            raise LauncherError(f"failed with exit code {code}: {' '.join(step)}", ENVIRONMENT)
    _stamp().write_text(_wanted())


def _names() -> list[str]:
    lines = (line.strip() for line in _LOCK.read_text().splitlines())
    return [line.split(";")[0].strip() for line in lines if line and not line.startswith("#")]


def command(*arguments: str) -> list[str]:
    """The command line that runs .venv's interpreter with these arguments."""
    return [str(VENV / "bin" / "python"), *arguments]


def environment() -> dict[str, str]:
    """This process's environment, with the package `gradsync` importable."""
    path = [str(ANALYSIS / "src"), os.environ.get("PYTHONPATH", "")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in path if p)}


def python(*arguments: str) -> int:
    """Run .venv's interpreter; its exit code."""
    return run(command(*arguments), environment())
