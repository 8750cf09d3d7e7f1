# SPDX-License-Identifier: GPL-2.0-only
"""gradsync from Python: build scenarios, run them, load their results as data frames, plot them.

    import gradsync

    scenario = gradsync.Scenario(
        topology=gradsync.spine_leaf(spines=2, leaves=4, hosts_per_leaf=8, host_link="40Gbps"),
        scheme="ring",
        job={"gradient": "97MiB"},
    )
    results = scenario.sweep("scheme.kind", ["ps", "ring", "rat"]).repeat(5).run("results/mine")
    results.summary()   # a polars data frame: means and confidence intervals
    results.messages    # every transfer

Nothing here needs the data-frame library until a table is asked for.
"""

from typing import TYPE_CHECKING

from gradsync.errors import GradsyncError, PlanError, ResultsError, ScenarioError, SimulationError
from gradsync.results.folder import Results, draw_with, load
from gradsync.studies.plan import Plan
from gradsync.studies.scenario import Scenario
from gradsync.studies.topologies import fat_tree, link, spine_leaf, star
from gradsync.version import __version__

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = [
    "GradsyncError",
    "Plan",
    "PlanError",
    "Results",
    "ResultsError",
    "Scenario",
    "ScenarioError",
    "SimulationError",
    "__version__",
    "fat_tree",
    "link",
    "load",
    "spine_leaf",
    "star",
]


def _draw(results: Results, kind: str, run: int | None) -> "Figure":
    # Imported here: what draws nothing needs no plotting library.
    from gradsync.plots.kinds import draw_kind

    return draw_kind(results, kind, run)


draw_with(_draw)
