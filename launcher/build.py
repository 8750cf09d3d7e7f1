# SPDX-License-Identifier: GPL-2.0-only
"""Configures and builds one profile, incrementally, one build at a time."""

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

from launcher.errors import BUILD_FAILED, INTERRUPTED, LauncherError
from launcher.lock import only_one
from launcher.packages import RANKS, TEST, missing
from launcher.process import say, started
from launcher.tree import ROOT, Profile, cores

_SHOWN_LINES = 60


def _stream(command: Sequence[str], log: TextIO) -> int:
    """Run a build step: every line goes to the log, the latest one to the terminal."""
    live = sys.stderr.isatty()
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    with started(command, **pipes) as child:
        assert child.stdout is not None
        for line in child.stdout:
            log.write(line)
            if live and line.startswith("["):
                width = shutil.get_terminal_size().columns - 1
                sys.stderr.write("\r\033[K" + line.rstrip()[:width])
                sys.stderr.flush()
        code = child.wait()
    if live:
        sys.stderr.write("\r\033[K")
    return code


def _fail(step: str, code: int, log: Path) -> None:
    # Ninja and CMake end with 130 or a signal after Ctrl-C; that is no failure of the code.
    if code < 0 or (code in (2, INTERRUPTED) and "interrupted by user" in log.read_text()):
        raise LauncherError("interrupted", INTERRUPTED)
    lines = log.read_text(errors="replace").splitlines()
    starts = [i for i, line in enumerate(lines) if line.startswith(("FAILED", "CMake Error"))]
    shown = lines[starts[0] :][:_SHOWN_LINES] if starts else lines[-_SHOWN_LINES:]
    raise LauncherError("\n".join([f"{step} failed:", *shown, f"whole log: {log}"]), BUILD_FAILED)


def _settings(profile: Profile) -> list[str]:
    with_tests = not missing([TEST])
    with_mpi = not missing([RANKS])
    settings = [
        *profile.settings,
        "-Uns3_DIR",  # CMake would keep the one that was wanted before
        f"-DGRADSYNC_TESTS={'ON' if with_tests else 'OFF'}",
        f"-DGRADSYNC_MPI={'ON' if with_mpi else 'OFF'}",
    ]
    if profile.compiler:
        settings.append(f"-DCMAKE_CXX_COMPILER={profile.compiler}")
    if shutil.which("ccache"):
        settings.append("-DCMAKE_CXX_COMPILER_LAUNCHER=ccache")
    named = os.environ.get("GRADSYNC_PREFIXES")
    if named:
        settings.append(f"-DCMAKE_PREFIX_PATH={named.replace(':', ';')}")
    # What a developer or CI adds, e.g. -DGRADSYNC_WERROR=ON.
    return settings + shlex.split(os.environ.get("GRADSYNC_CMAKE_ARGS", ""))


def _cached(directory: Path, key: str) -> str | None:
    cache = directory / "CMakeCache.txt"
    if cache.exists():
        for line in cache.read_text(errors="replace").splitlines():
            if line.startswith(f"{key}:"):
                return line.split("=", 1)[1]
    return None


def _configure(profile: Profile, log: TextIO, log_path: Path) -> None:
    directory = profile.directory
    home = _cached(directory, "CMAKE_HOME_DIRECTORY")
    if home is not None and home != str(ROOT):
        say(f"build/{profile.name} was made for {home}: making it anew")
        shutil.rmtree(directory)
    # CMake cannot change the compiler of a folder.
    compiler = _cached(directory, "CMAKE_CXX_COMPILER")
    if profile.compiler and compiler and Path(compiler).name != profile.compiler:
        say(f"build/{profile.name} was made by {compiler}: making it anew")
        shutil.rmtree(directory)
    settings = _settings(profile)
    stamp = directory / "gradsync-settings.txt"
    wanted = "\n".join(settings)
    # CMake itself notices changed CMake files when Ninja runs; a failed first run left no build.ninja.
    if (directory / "build.ninja").exists() and stamp.exists() and stamp.read_text() == wanted:
        return
    say(f"configuring build/{profile.name}")
    code = _stream(["cmake", "-S", str(ROOT), "-B", str(directory), "-G", "Ninja", *settings], log)
    log.flush()
    if code != 0:
        _fail("configuring", code, log_path)
    stamp.write_text(wanted)


def build(profile: Profile, targets: Sequence[str]) -> None:
    """Bring `targets` (none: everything) of the profile up to date.

    Raises LauncherError: exit 5 with the compiler's words if that fails, 130 after Ctrl-C.
    """
    with only_one(profile.name, f"build/{profile.name} is being built"):
        log_path = profile.directory.parent / f"{profile.name}.log"
        with open(log_path, "w", encoding="utf-8") as log:
            _configure(profile, log, log_path)
            command = ["ninja", "-C", str(profile.directory), "-j", str(cores())]
            # A no-op is not worth a word.
            told = subprocess.run(
                [*command, "-n", *targets], capture_output=True, text=True, check=False
            )
            if told.returncode == 0 and "no work to do" in told.stdout:
                return
            say(f"building build/{profile.name} (log: {log_path})")
            code = _stream([*command, *targets], log)
            log.flush()
        if code != 0:
            _fail("building", code, log_path)
