# SPDX-License-Identifier: GPL-2.0-only
"""Installs missing system packages with apt-get, saying exactly what and why."""

import os
import shutil
import subprocess
from collections.abc import Sequence

from launcher.errors import ENVIRONMENT, LauncherError
from launcher.lock import only_one
from launcher.packages import Requirement, missing
from launcher.process import run, say


def _listing(requirements: Sequence[Requirement]) -> str:
    width = max(len(r.apt) for r in requirements)
    return "\n".join(f"  {r.apt:<{width}}  {r.name}: {r.reason}" for r in requirements)


def _apt_get(*arguments: str) -> list[str]:
    command = ["env", "DEBIAN_FRONTEND=noninteractive", "apt-get", *arguments]
    return command if os.geteuid() == 0 else ["sudo", *command]


def _refusal(requirements: Sequence[Requirement], why: str) -> LauncherError:
    names = " ".join(r.apt for r in requirements)
    return LauncherError(
        f"missing:\n{_listing(requirements)}\n{why}; remedy: apt-get install {names}", ENVIRONMENT
    )


def _refuse_without_apt(requirements: Sequence[Requirement]) -> LauncherError:
    """One line, which packages of other systems can be found by."""
    things = ", ".join(f"{r.name} ({r.reason})" for r in requirements)
    names = " ".join(sorted({r.apt for r in requirements}))
    return LauncherError(
        f"missing: {things}; there is no apt-get on this system: install them by hand "
        f"(Debian calls them {names})",
        ENVIRONMENT,
    )


def _has_candidates(names: Sequence[str]) -> bool:
    """Whether the package lists are there and know every package."""
    told = subprocess.run(
        ["apt-cache", "policy", *names],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "LC_ALL": "C"},
    )
    candidates = [line for line in told.stdout.splitlines() if "Candidate:" in line]
    return len(candidates) == len(names) and not any("(none)" in line for line in candidates)


def _install_packages(names: Sequence[str]) -> bool:
    install = _apt_get("install", "-y", "--no-install-recommends", *names)
    updated = False
    if not _has_candidates(names):
        say("apt-get update, as the package lists are missing or old")
        run(_apt_get("update"))
        updated = True
    if run(install) == 0:
        return True
    if updated:
        return False
    say("apt-get update and once more, as the package lists may be old")
    run(_apt_get("update"))
    return run(install) == 0


def ensure(needs: Sequence[str], allowed: bool) -> None:
    """Make sure that everything these needs ask for is there.

    Raises LauncherError (exit 4) if something is missing and installing it is not allowed, not
    possible, or did not help.
    """
    wanted = missing(needs)
    if not wanted:
        return
    if not allowed:
        raise _refusal(wanted, "--no-install forbids installing it")
    with only_one("packages", "packages are being installed"):
        # Another launcher may have done it meanwhile.
        _install(missing(needs))
        left = missing(needs)
    if left:
        raise _refusal(left, "apt-get has installed it and it is still not found, or too old")


def _install(wanted: Sequence[Requirement]) -> None:
    if not wanted:
        return
    if shutil.which("apt-get") is None:
        raise _refuse_without_apt(wanted)
    if os.geteuid() != 0 and shutil.which("sudo") is None:
        raise _refusal(wanted, "installing needs root, and there is no sudo")
    say(f"installing with apt-get:\n{_listing(wanted)}")
    if not _install_packages(sorted({r.apt for r in wanted})):
        raise _refusal(wanted, "apt-get failed, see above")
