# SPDX-License-Identifier: GPL-2.0-only
"""Checks the results of scenarios/rat-oversubscription.json against what theory says.

Usage: check-study.py RESULTS. Standard library only; exit code 1 with a line per violation.
"""

import csv
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "analysis" / "src"))

from gradsync.results.closed_form import ideal_time

FILES = (
    "runs.csv",
    "iterations.csv",
    "links.csv",
    "messages.csv",
    "manifest.json",
    "plot.svg",
    "plot.png",
)
RACKS = 4
# PS / ring on an ideal network for o = w_r / 2 = 2, 4, … 12: 1.60, 3.10, 4.60, 6.10, 7.59, 9.09.
LEVELS = (2, 4, 6, 8, 10, 12)
SCHEMES = {"ps", "ring", "rat", "hierarchical"}
# Headers, acknowledgements and per-hop latency, which the ideal network has not.
TOLERANCE = 0.05


def check(folder: Path) -> list[str]:
    """Everything that is wrong with a results folder, as text."""
    wrong = [f"{name} is missing or empty" for name in FILES if not _has_content(folder / name)]
    if wrong:
        return wrong
    with open(folder / "runs.csv", newline="", encoding="utf-8") as file:
        runs = list(csv.DictReader(file))
    wrong += [f"run {run['run']}: status {run['status']}" for run in runs if run["status"] != "ok"]
    if wrong:
        return wrong
    ict = {(float(r["oversubscription"]), r["scheme.kind"]): float(r["ict_mean_s"]) for r in runs}
    for level in LEVELS:
        missing = SCHEMES - {scheme for o, scheme in ict if o == level}
        if missing:
            wrong.append(f"o = {level}: no run of {', '.join(sorted(missing))}")
            continue
        workers = 2 * level * RACKS
        ring = ict[level, "ring"]
        ideal = ideal_time("ps", workers, RACKS, level) / ideal_time("ring", workers, RACKS, level)
        print(
            f"o = {level:2}: ps/ring {ict[level, 'ps'] / ring:.3f} (ideal {ideal:.3f}), "
            f"rat/ring {ict[level, 'rat'] / ring:.3f}, "
            f"hierarchical/ring {ict[level, 'hierarchical'] / ring:.3f}"
        )
        if abs(ict[level, "ps"] / ring / ideal - 1) > TOLERANCE:
            wrong.append(f"o = {level}: ps/ring is more than {TOLERANCE:.0%} off the ideal")
        if ict[level, "rat"] / ring > 1 + TOLERANCE:
            wrong.append(f"o = {level}: rat is more than {TOLERANCE:.0%} slower than ring")
    return wrong


def _has_content(path: Path) -> bool:
    return path.is_file() and path.stat().st_size > 0


if __name__ == "__main__":
    violations = check(Path(sys.argv[1]))
    print("\n".join(violations) or "the study is as theory says")
    sys.exit(1 if violations else 0)
