# SPDX-License-Identifier: GPL-2.0-only
"""Draws every kind of picture from one small scenario, for the documentation."""

from pathlib import Path

from gradsync.plot_kinds import KINDS, plot_kind
from gradsync.results import Results
from gradsync.scenario import Scenario

# The scheme whose run shows best what a picture of one run is for; the others compare schemes.
_SCHEMES = {"links": "ps", "timeline": "hierarchical", "queues": "ps"}
_LEVEL = "4"


def _run(results: Results, kind: str) -> int | None:
    scheme = _SCHEMES.get(kind)
    if scheme is None:
        return None
    wanted = {"topology.oversubscription": _LEVEL, "scheme.kind": scheme}
    return next(i for i, row in enumerate(results.rows) if wanted.items() <= row.items())


def draw_gallery(scenario: Path, out: Path, pictures: Path) -> list[Path]:
    """Simulate the scenario into `out` and draw gallery-KIND.svg of each kind; their paths."""
    results = Scenario.load(scenario).run(out)
    pictures.mkdir(parents=True, exist_ok=True)
    return [
        plot_kind(results, kind, _run(results, kind), pictures / f"gallery-{kind}.svg")
        for kind in KINDS
    ]
