# SPDX-License-Identifier: GPL-2.0-only
"""Draws the pictures of the documentation from small scenarios, and tells which are out of date."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from gradsync.plots.kinds import plot_kind
from gradsync.plots.page import read_page
from gradsync.results.folder import Results, load
from gradsync.studies.program import call
from gradsync.studies.sum_error_plot import plot_sum_errors


@dataclass(frozen=True)
class Picture:
    """One picture: of which scenario in scenarios/, of which kind, of which run (none: of all).

    `paper` is the one whose column it is for; none: a screen.
    """

    name: str
    scenario: str
    kind: str
    run: Mapping[str, str] = field(default_factory=dict)
    paper: str | None = None


def _at_four_to_one(kind: str, scheme: str) -> Picture:
    wanted = {"topology.oversubscription": "4", "scheme.kind": scheme}
    return Picture(f"gallery-{kind}", "gallery", kind, wanted)


PICTURES = (
    Picture("gallery-ict", "gallery", "ict"),
    Picture("gallery-busbw", "gallery", "busbw"),
    Picture("gallery-algbw", "gallery", "algbw"),
    Picture("gallery-messages", "gallery", "messages"),
    Picture("gallery-bytes", "gallery", "bytes"),
    # The scheme whose run shows best what a picture of one run is for.
    _at_four_to_one("links", "ps"),
    _at_four_to_one("timeline", "hierarchical"),
    _at_four_to_one("queues", "ps"),
    Picture("chain-blocking", "chain-blocking", "faults"),
    Picture("gallery-breakdown", "pipeline-overlap", "breakdown"),
    Picture(
        "gallery-critical",
        "pipeline-overlap",
        "critical",
        {"job.training.overlap": "true", "job.training.schedule": "1f1b"},
    ),
    Picture("llm-iteration", "llm-iteration", "critical"),
    Picture("stale-synchronous", "stale-synchronous", "ict"),
    Picture("gallery-staleness", "stale-synchronous", "staleness"),
    Picture("compression-tradeoff", "compression-tradeoff", "ict"),
    Picture("in-network-oversubscription", "in-network-oversubscription", "ict"),
    # The figures that a paper on all-reduce has.
    Picture("paper-time", "message-sizes", "ict", paper="ieee"),
    Picture("paper-busbw", "message-sizes", "busbw", paper="ieee"),
    Picture("paper-oversubscription", "oversubscription-bands", "ict", paper="ieee"),
)


SUMS = "sum-errors.svg"
"""Errors of sums of integers, which no scenario is about."""


def _find_run(results: Results, wanted: Mapping[str, str]) -> int | None:
    if not wanted:
        return None
    return next(i for i, row in enumerate(results.rows) if wanted.items() <= row.items())


def draw_gallery(scenarios: Path, out: Path, pictures: Path) -> list[Path]:
    """Simulate the scenarios into folders in `out` and draw all pictures into `pictures`; their paths."""
    results = {}
    for name in dict.fromkeys(picture.scenario for picture in PICTURES):
        # By its own file: what it names is relative to that.
        call(["run", f"{scenarios / name}.json", f"--out={out / name}"])
        results[name] = load(out / name)
    pictures.mkdir(parents=True, exist_ok=True)
    _, sums, _ = plot_sum_errors(out / "sum-errors")
    (pictures / SUMS).write_bytes(sums.read_bytes())
    drawn = [
        plot_kind(
            results[picture.scenario],
            picture.kind,
            _find_run(results[picture.scenario], picture.run),
            pictures / f"{picture.name}.svg",
            read_page(picture.paper),
        )
        for picture in PICTURES
    ]
    return [*drawn, pictures / SUMS]


def list_outdated(drawn: list[Path], pictures: Path) -> list[Path]:
    """Those of `drawn` that `pictures` does not have, byte for byte."""
    return [
        path
        for path in drawn
        if not (pictures / path.name).exists()
        or (pictures / path.name).read_bytes() != path.read_bytes()
    ]
