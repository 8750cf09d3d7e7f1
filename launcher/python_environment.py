# SPDX-License-Identifier: GPL-2.0-only
"""The virtual environment .venv/ with pinned packages: a layer per purpose, made when first needed."""

import hashlib
import os
import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from launcher.errors import ENVIRONMENT, LauncherError
from launcher.lock import only_one
from launcher.packages import venv_python
from launcher.process import run, say
from launcher.tree import ANALYSIS, VENV

# A lock file per layer, which verbs ask for by what they need; layers agree on the packages they share.
PLOTS = "requirements"
TABLES = "requirements-tables"
REPORT = "requirements-report"
GRADIENTS = "requirements-gradients"
FIT = "requirements-fit"
SWEEP = "requirements-sweep"
FORMAT = "requirements-format"
TESTS = "requirements-test"
BROWSER = "requirements-browser"
DOCS = "requirements-docs"
# What the packages of each take on the disk, in MB: tests/e2e/python_environment_test.py measures it.
MEGABYTES = {
    PLOTS: 133,
    TABLES: 183,
    REPORT: 42,
    GRADIENTS: 31,
    FIT: 114,
    SWEEP: 77,
    FORMAT: 25,
    TESTS: 67,
    BROWSER: 170,
    DOCS: 61,
}


def _lock(layer: str) -> Path:
    return ANALYSIS / f"{layer}.lock"


def _stamp(layer: str) -> Path:
    return VENV / f"gradsync-{layer}.sha256"


def _wanted(layer: str) -> str:
    return hashlib.sha256(_lock(layer).read_bytes()).hexdigest()


def _is_installed(layer: str) -> bool:
    return _stamp(layer).exists() and _stamp(layer).read_text() == _wanted(layer)


def is_current(*layers: str) -> bool:
    """Whether .venv/ has exactly the pinned packages of these layers, and an interpreter."""
    python = VENV / "bin" / "python"
    return python.exists() and all(_is_installed(layer) for layer in layers)


def _is_outdated() -> bool:
    """Whether some layer that is there is not the one that is wanted."""
    return any(_stamp(layer).exists() and not _is_installed(layer) for layer in MEGABYTES)


def ensure(allowed: bool, *layers: str) -> None:
    """Make .venv/ current. Raises LauncherError (exit 4) if that is not allowed or fails."""
    if is_current(*layers):
        return
    wanted = [layer for layer in layers if not is_current(layer)]
    if not allowed:
        locks = ", ".join(str(_lock(layer)) for layer in wanted)
        raise LauncherError(
            f"{VENV} lacks the packages of {locks} and --no-install forbids installing them",
            ENVIRONMENT,
        )
    with only_one("venv", f"{VENV} is being made"):
        # Another launcher may have done it meanwhile.
        if not is_current(*layers):
            _make(layers)


def _make(layers: Sequence[str]) -> None:
    wanted = [layer for layer in layers if not is_current(layer)]
    if not is_current() or _is_outdated():
        # Built from nothing: what an older lock left behind would hide a missing pin.
        shutil.rmtree(VENV, ignore_errors=True)
        _run([venv_python(), "-I", "-m", "venv", str(VENV)])
        wanted = list(layers)
    size = sum(MEGABYTES[layer] for layer in wanted)
    say(f"installing Python packages into {VENV}, about {size} MB: {', '.join(_names(wanted))}")
    # Only what the lock names, byte for byte, and no package that runs code of its own to install itself.
    pip = [str(VENV / "bin" / "python"), "-I", "-m", "pip", "install", "--quiet", "--no-deps"]
    pip += ["--require-hashes", "--only-binary=:all:"]
    # Modules are compiled when first imported: most never are.
    pip.append("--no-compile")
    for layer in wanted:
        _run([*pip, "-r", str(_lock(layer))])
        _stamp(layer).write_text(_wanted(layer))


def _run(step: Sequence[str]) -> None:
    # The module venv starts the new interpreter, whose -I is not ours to give.
    code = run(step, {**os.environ, "PYTHONSAFEPATH": "1"})
    if code != 0:
        raise LauncherError(f"failed with exit code {code}: {' '.join(step)}", ENVIRONMENT)


def _names(layers: Sequence[str]) -> list[str]:
    text = "\n".join(_lock(layer).read_text() for layer in layers)
    # A package begins a line; its hashes follow, indented.
    return re.findall(r"^[\w.-]+==[\w.+!-]+", text, re.MULTILINE)


def command(*arguments: str) -> list[str]:
    """The command line that runs .venv's interpreter with these arguments, and nothing of the current folder."""
    return [str(VENV / "bin" / "python"), "-P", *arguments]


def environment() -> dict[str, str]:
    """This process's environment, with the package `gradsync` importable."""
    # To Python an empty entry, as a colon at the end makes one, is the current folder.
    path = [str(ANALYSIS / "src"), *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in path if p)}


def python(*arguments: str, variables: Mapping[str, str] | None = None) -> int:
    """Run .venv's interpreter; its exit code."""
    return run(command(*arguments), {**(variables or {}), **environment()})
