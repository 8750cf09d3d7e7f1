# SPDX-License-Identifier: GPL-2.0-only
"""./ns3 --version: of the program that was built, or of what there is to build it."""

import subprocess
import tomllib

from launcher.packages import REQUIREMENTS
from launcher.tree import ANALYSIS, RELEASE


def version() -> str:
    """One line: gradsync's version, that of ns-3, and that of the compiler."""
    if RELEASE.program.exists():
        command = [str(RELEASE.program), "--version"]
        told = subprocess.run(command, capture_output=True, text=True, check=False)
        if told.returncode == 0:
            return told.stdout.strip()
    project = tomllib.loads((ANALYSIS / "pyproject.toml").read_text())["project"]
    found = {row.name: row.find() or "missing" for row in REQUIREMENTS}
    there = f"ns-3 {found['ns-3']}, C++ compiler {found['C++20 compiler']}"
    return f"gradsync {project['version']} (not built yet; {there})"
