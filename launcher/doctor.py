# SPDX-License-Identifier: GPL-2.0-only
"""The table of `./ns3 doctor`: what is there, what is missing, and what to do about it."""

import platform

from launcher import python_environment
from launcher.errors import ENVIRONMENT, OK
from launcher.packages import ON_DEMAND, OPTIONAL, REQUIREMENTS
from launcher.tree import RELEASE, cores


def _rows() -> tuple[list[tuple[str, str, str, str]], bool]:
    rows = [("Python", "launcher", platform.python_version(), "")]
    complete = True
    for requirement in REQUIREMENTS:
        version = requirement.find()
        is_missing = version is None and requirement.need not in ON_DEMAND
        complete = complete and not is_missing
        remedy = "" if version else f"apt-get install {requirement.apt}"
        found = version or ("MISSING" if is_missing else "not found")
        rows.append((requirement.name, requirement.need, found, remedy))
    for requirement in OPTIONAL:
        version = requirement.find()
        remedy = "" if version else f"optional: apt-get install {requirement.apt}"
        rows.append((requirement.name, requirement.need, version or "not found", remedy))
    # Neither of these is a fault: ./ns3 run makes both.
    current = python_environment.is_current(python_environment.PLOTS)
    state = "current" if current else "not made yet"
    rows.append((".venv", "plots", state, "" if current else "made by ./ns3 run"))
    built = RELEASE.program.exists()
    state = "built" if built else "not built yet"
    rows.append(("gradsync program", "simulation", state, "" if built else "built by ./ns3 run"))
    return rows, complete


def doctor() -> int:
    """Print the table; exit code 0 if nothing that is required is missing, else 4."""
    rows, complete = _rows()
    table = [("what", "needed for", "found", "remedy"), *rows]
    widths = [max(len(row[column]) for row in table) for column in range(3)]
    for row in table:
        cells = [cell.ljust(width) for cell, width in zip(row, widths)]
        print("  ".join([*cells, row[3]]).rstrip())
    print(f"\n{cores()} cores. ", end="")
    print("Nothing is missing." if complete else "./ns3 run installs what is missing.")
    return OK if complete else ENVIRONMENT
