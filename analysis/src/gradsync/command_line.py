# SPDX-License-Identifier: GPL-2.0-only
"""The verbs of `python -m gradsync` and their options, which are declared here alone."""

import argparse
import os
import re
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from typing import NoReturn

from gradsync.errors import ScenarioError
from gradsync.text import shown

# Those of gradsync.plots.kinds and gradsync.plots.page, which take long to import; a test compares.
_KINDS = (
    "ict",
    "busbw",
    "algbw",
    "messages",
    "links",
    "bytes",
    "timeline",
    "queues",
    "faults",
    "breakdown",
    "critical",
    "staleness",
)
_PAPERS = ("ieee", "acm", "nature", "slides")


def _called_as() -> str:
    """What the user called: the launcher says so."""
    return os.environ.get("GRADSYNC_CALLED_AS", "gradsync")


class _Parser(argparse.ArgumentParser):
    """Errors are one line, a ScenarioError, and name the nearest option."""

    def __init__(self, **options: object) -> None:
        super().__init__(allow_abbrev=False, **options)  # type: ignore[arg-type]

    def error(self, message: str) -> NoReturn:
        raise ScenarioError(f"{message}; see {self.prog} --help")

    def parse_known_args(self, args=None, namespace=None):  # type: ignore[no-untyped-def]
        """As argparse has it, for the verb that was chosen too, which knows its own options."""
        found, extras = super().parse_known_args(args, namespace)
        self._refuse(extras)
        return found, extras

    def _refuse(self, extras: Sequence[str]) -> None:
        if not extras:
            return
        name = extras[0].split("=", 1)[0]
        if not name.startswith("-"):
            self.error(f"{shown(name)} is one argument too many")
        known = [option for action in self._actions for option in action.option_strings]
        close = get_close_matches(name, known, 1, 0.0)
        nearest = f"; the nearest is {close[0]}" if close else ""
        raise ScenarioError(f"unknown option {shown(name)} of {self.prog}{nearest}")


def _add_folder(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("results", metavar="DIR", help="results folder, e.g. results/quickstart")


def _add_set(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="PATH=VALUE",
        help="override a value of the scenario, e.g. topology.hostsPerLeaf=24; may be repeated",
    )


def _add_out(parser: argparse.ArgumentParser, default: str) -> None:
    parser.add_argument("--out", metavar="DIR", default=default, help="folder (%(default)s)")


def _plot_options(parser: argparse.ArgumentParser) -> None:
    _add_folder(parser)
    parser.add_argument(
        "--kind",
        action="append",
        default=[],
        choices=_KINDS,
        help="a picture KIND.svg of what happened inside of runs, instead of plot.svg; repeatable",
    )
    parser.add_argument(
        "--run", type=int, metavar="N", help="of --kind: which run (the first that finished)"
    )
    parser.add_argument(
        "--out", metavar="FILE", help="where to (.svg, .pdf, .png or .pgf), of one --kind (ict)"
    )
    papers = parser.add_argument_group("figures for papers", "without a title, as wide as a column")
    papers.add_argument("--paper", choices=_PAPERS, help="whose columns and text sizes")
    papers.add_argument(
        "--columns", type=int, choices=(1, 2), help="of --paper: as wide as one, or as all"
    )
    papers.add_argument("--width", metavar="LENGTH", help="e.g. 84mm, 3.3in or 241pt")
    papers.add_argument("--font", metavar="NAME", help="one that is installed")
    papers.add_argument("--font-size", type=float, metavar="POINTS", help="of the text")


def _read_runs(text: str) -> list[int]:
    """Numbers and ranges of them, as 3,7,20-25."""
    runs: list[int] = []
    for part in text.split(","):
        found = re.fullmatch(r"\s*(\d{1,9})(?:-(\d{1,9}))?\s*", part)
        first, last = (int(found[1]), int(found[2] or found[1])) if found else (1, 0)
        if not 0 <= last - first < 1000:
            raise argparse.ArgumentTypeError(f"found {shown(part)}, allowed: runs as 3,7,20-25")
        runs += range(first, last + 1)
    return runs


def _report_options(parser: argparse.ArgumentParser) -> None:
    _add_folder(parser)
    parser.add_argument("--out", metavar="FILE", help="where to (default: DIR/report.html)")
    parser.add_argument(
        "--network",
        metavar="RUNS",
        type=_read_runs,
        help="runs whose networks are drawn, e.g. 3,7,20-25 (the first 12)",
    )


def _regress_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--scenarios",
        metavar="DIR",
        default="scenarios/regression",
        help="scenarios with baselines (scenarios/regression)",
    )
    _add_out(parser, "results/regression")
    parser.add_argument("--jobs", metavar="N", type=int, help="runs at a time (every core)")
    parser.add_argument(
        "--update", action="store_true", help="show what changed and make it the baseline"
    )


def _reproduce_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", nargs="?", help="which paper (without: a list)")
    parser.add_argument("--papers", metavar="DIR", default="scenarios/papers", help="of papers")
    parser.add_argument("--out", metavar="DIR", help="for the page (results/papers/NAME)")
    _add_set(parser)


def _gallery_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--scenarios", metavar="DIR", default="scenarios", help="what is drawn")
    _add_out(parser, "results/gallery")
    parser.add_argument("--pictures", metavar="DIR", default="doc/pictures", help="where to")
    parser.add_argument(
        "--check", action="store_true", help="tell which pictures are out of date, change none"
    )


def _gradients_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--codec", metavar="NAME", action="append", default=[], help="only this one; repeatable"
    )
    parser.add_argument("--quick", action="store_true", help="two short trainings of each, to try")
    _add_out(parser, "results/gradients")


def _sweep_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("scenario", metavar="SCENARIO", help="scenario file (JSON)")
    _add_set(parser)
    parser.add_argument("--out", metavar="DIR", help="results folder (default: results/<name>)")
    parser.add_argument(
        "--cores", metavar="N", type=int, help="cores to use, or jobs at a time on a cluster"
    )
    parser.add_argument(
        "--runs-per-job", metavar="N", type=int, help="runs in a job (8 jobs for each core)"
    )
    parser.add_argument(
        "--threads", metavar="N", type=int, default=1, help="runs at a time within a job (1)"
    )
    parser.add_argument("--executor", metavar="NAME", help="Snakemake's executor, such as slurm")
    parser.add_argument("--no-resume", action="store_true", help="repeat runs that are done")
    parser.add_argument("--no-plot", action="store_true", help="write no plot.svg and plot.png")
    parser.add_argument(
        "--snakemake",
        action="append",
        default=[],
        metavar="OPTION",
        help="an option for Snakemake itself, e.g. --snakemake=--profile=cluster; may be repeated",
    )


def _collective_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "collective", metavar="COLLECTIVE", help="all-reduce, all-gather, reduce-scatter, ..."
    )
    parser.add_argument(
        "--topology", metavar="FILE", required=True, help="e.g. topologies/hgx-h100.json"
    )
    parser.add_argument(
        "--from", dest="first", metavar="SIZE", default="1KiB", help="(%(default)s)"
    )
    parser.add_argument("--to", dest="last", metavar="SIZE", default="1GiB", help="(%(default)s)")
    parser.add_argument(
        "--factor", metavar="N", type=int, default=4, help="from size to size (%(default)s)"
    )
    parser.add_argument(
        "--scheme",
        action="append",
        default=[],
        metavar="NAMES",
        help="schemes of an all-reduce, or algorithms of any other, separated by commas",
    )
    parser.add_argument(
        "--protocol",
        action="append",
        default=[],
        metavar="NAMES",
        help="protocols of messages, separated by commas: none, simple, ll, ll128",
    )
    parser.add_argument("--transport", metavar="NAME", default="roce", help="(%(default)s)")
    parser.add_argument("--jobs", metavar="N", type=int, help="runs at a time (every core)")
    _add_set(parser)
    _add_out(parser, "results/collective")


def _fit_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("table", metavar="TABLE", help="measured times, NAME.csv beside NAME.toml")
    parser.add_argument(
        "--parameters",
        required=True,
        metavar="PATH[=START[:LOW:HIGH]],...",
        help="one or two values of the scenario, e.g. transport.efficiency=0.9:0.5:1",
    )
    parser.add_argument(
        "--rows",
        metavar="SIZES",
        help="rows that are fitted, e.g. 1MiB,64MiB..1GiB (the first and the last)",
    )
    parser.add_argument("--collective", metavar="NAME", help="of a table of several")
    parser.add_argument("--algorithm", metavar="NAME", help="only rows that say so")
    parser.add_argument(
        "--scheme",
        action="append",
        default=[],
        metavar="NAMES",
        help="schemes of an all-reduce, or algorithms of any other (ring); the fastest at each size",
    )
    parser.add_argument(
        "--protocol",
        action="append",
        default=[],
        metavar="NAMES",
        help="protocols of messages, separated by commas; the fastest at each size",
    )
    parser.add_argument("--topology", metavar="FILE", help="in place of the table's")
    parser.add_argument("--transport", metavar="NAME", default="fluid", help="(%(default)s)")
    parser.add_argument(
        "--evaluations",
        metavar="N",
        type=int,
        default=60,
        help="points that are simulated at most (%(default)s)",
    )
    parser.add_argument("--jobs", metavar="N", type=int, help="runs at a time (every core)")
    _add_set(parser)
    parser.add_argument("--out", metavar="DIR", help="folder (results/fit/FOLDER-NAME)")


def _route_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("scenario", metavar="SCENARIO", help="scenario of one run (JSON)")
    parser.add_argument(
        "--rounds",
        metavar="N",
        type=int,
        default=256,
        help="roundings that are drawn (%(default)s)",
    )
    parser.add_argument("--seed", metavar="N", type=int, default=1, help="of them (%(default)s)")
    parser.add_argument(
        "--out",
        metavar="FILE",
        help="the scenario with the roots (SCENARIO with -routed, beside it)",
    )


def _compare_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("first", metavar="DIR")
    parser.add_argument("second", metavar="DIR")


def _bench_history_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("table", metavar="FILE", help="results/bench-history.csv")


_Options = Callable[[argparse.ArgumentParser], None]
_VERBS: dict[str, tuple[str, _Options]] = {
    "plot": ("plot the results of a run again", _plot_options),
    "export": ("write the tables of a run as Parquet", _add_folder),
    "regress": ("compare the schemes' curves with baselines", _regress_options),
    "report": ("write one HTML file about a run", _report_options),
    "reproduce": ("simulate what a paper says", _reproduce_options),
    "gallery": ("draw the pictures of doc/ anew", _gallery_options),
    "gradients": ("train with each codec in the loop", _gradients_options),
    "sum-errors": (
        "errors of sums that switches make, over the factor",
        lambda parser: _add_out(parser, "results/sum-errors"),
    ),
    "sweep": ("simulate a large sweep, here or on a cluster", _sweep_options),
    "collective": (
        "time a collective over sizes, as nccl-tests print it",
        _collective_options,
    ),
    "fit": ("fit values of a scenario to measured times", _fit_options),
    "route": ("choose the switches that add for several jobs", _route_options),
    "compare": ("compare two results folders value by value", _compare_options),
    "bench-history": ("draw what ./ns3 bench measured, run after run", _bench_history_options),
}

CarryOut = Callable[[argparse.Namespace], int]


class _Version(argparse.Action):
    """Prints what `const` gives, and ends."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        print(self.const())
        parser.exit()


def read(
    arguments: Sequence[str] | None, verbs: Mapping[str, CarryOut], version: Callable[[], str]
) -> argparse.Namespace:
    """The options of a verb, and as `carry_out` what `verbs` has for it. Raises ScenarioError."""
    parser = _Parser(prog=_called_as(), description="Results, studies and sweeps.")
    parser.add_argument(
        "--version",
        action=_Version,
        nargs=0,
        const=version,
        help="of this package and of the simulator that it finds",
    )
    parsers = parser.add_subparsers(required=True, metavar="VERB")
    for verb, (summary, add_options) in _VERBS.items():
        description = summary[0].upper() + summary[1:] + "."
        added = parsers.add_parser(verb, help=summary, description=description)
        add_options(added)
        added.set_defaults(carry_out=verbs[verb])
    return parser.parse_args(arguments)
