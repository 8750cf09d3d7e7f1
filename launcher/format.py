# SPDX-License-Identifier: GPL-2.0-only
"""./ns3 format: C++ by clang-format, Python by ruff, and what ruff finds wrong in it."""

import shutil
import subprocess
from collections.abc import Sequence

from launcher.errors import ENVIRONMENT, FAILURE, OK, LauncherError
from launcher.process import run
from launcher.tree import ANALYSIS, ROOT, VENV

_CLANG_FORMAT = "clang-format-14"
_CPP = ("*.cc", "*.h", "*.cu")
_PYTHON = ("*.py",)


def _list(patterns: Sequence[str]) -> list[str]:
    """The files of these names that are there and that git does not ignore."""
    command = ["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others"]
    command += ["--exclude-standard", "--", *patterns]
    told = subprocess.run(command, capture_output=True, text=True, check=False)
    if told.returncode != 0:
        raise LauncherError(f"git does not list the files: {told.stderr.strip()}", ENVIRONMENT)
    paths = (ROOT / name for name in told.stdout.split("\0") if name)
    return sorted({str(path) for path in paths if path.exists()})


def format_sources(check: bool) -> int:
    """Format the sources or, to check, change nothing; exit code 1 if something is not right."""
    if shutil.which(_CLANG_FORMAT) is None:
        remedy = f"apt-get install {_CLANG_FORMAT}"
        raise LauncherError(f"{_CLANG_FORMAT} is missing; remedy: {remedy}", ENVIRONMENT)
    cpp, python = _list(_CPP), _list(_PYTHON)
    ruff = [str(VENV / "bin" / "ruff")]
    settings = ["--no-cache", "--quiet", "--config", str(ANALYSIS / "pyproject.toml")]
    steps = [[_CLANG_FORMAT, *(["--dry-run", "--Werror"] if check else ["-i"])]] if cpp else []
    steps = [[*step, *cpp] for step in steps]
    if python:
        # What ruff changes by itself may need formatting.
        steps.append([*ruff, "check", *settings, *([] if check else ["--fix"]), *python])
        formatting = ["--diff"] if check else []
        steps.append([*ruff, "format", "--force-exclude", *settings, *formatting, *python])
    codes = [run(step) for step in steps]
    if any(codes):
        return FAILURE
    print(f"{len(cpp)} files of C++ and {len(python)} of Python are formatted")
    return OK
