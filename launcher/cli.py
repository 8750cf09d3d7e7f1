# SPDX-License-Identifier: GPL-2.0-only
"""Reads the command line of ./ns3 and carries it out."""

import argparse
import sys
from collections.abc import Sequence
from typing import NoReturn

from launcher import verbs
from launcher.doctor import doctor
from launcher.errors import BAD_INPUT, INTERRUPTED, OK, LauncherError
from launcher.nearest import nearest
from launcher.process import ask_for_huge_pages, end_children_with_me
from launcher.text import printable, shown

_EXAMPLES = """\
Examples:
  ./ns3 run scenarios/rat-oversubscription.json         the study: sweep, table, plot
  ./ns3 run scenarios/quickstart.json --out /tmp/first  results to another folder
  ./ns3 run scenarios/rat-oversubscription.json --set job.gradient=8MiB --jobs 1
                                                        one value changed, one run at a time
  ./ns3 describe scenarios/rat-oversubscription.json    what it would simulate, and the ideal times
  ./ns3 run S.json --no-install                         refuse instead of installing packages

A second start goes on with the runs that are missing; --no-resume starts over.
Exit codes: 0 done, 1 internal error, 2 bad input, 3 an exchange did not finish, 4 something is
missing and could not be installed, 5 the build failed, 130 interrupted.
"""


class _Parser(argparse.ArgumentParser):
    """An argument parser that names the nearest verb or option instead of a usage block."""

    def error(self, message: str) -> NoReturn:
        raise LauncherError(f"{message}; see {self.prog} --help", BAD_INPUT)

    def options(self) -> list[str]:
        return [name for action in self._actions for name in action.option_strings]


def _add_scenario(parser: _Parser, what: str) -> None:
    parser.add_argument("scenario", metavar="SCENARIO", help=what)
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="PATH=VALUE",
        help="override a value of the scenario, e.g. topology.hostsPerLeaf=24; may be repeated",
    )


def _add_no_install(parser: _Parser) -> None:
    parser.add_argument(
        "--no-install",
        action="store_true",
        help="install nothing: list what is missing and exit with 4",
    )


def _run_parser(parser: _Parser) -> None:
    _add_scenario(parser, "scenario file (JSON)")
    parser.add_argument("--out", metavar="DIR", help="results folder (default: results/<name>)")
    parser.add_argument("--jobs", metavar="N", help="runs at a time (default: every core)")
    parser.add_argument(
        "--progress", choices=("auto", "always", "never"), help="progress bar (default: auto)"
    )
    parser.add_argument("--no-resume", action="store_true", help="repeat runs that are done")
    parser.add_argument(
        "--pcap",
        action="append",
        default=[],
        metavar="NODE:NODE",
        help="capture the link between two nodes to pcap files; may be repeated",
    )
    parser.add_argument("--trace", action="store_true", help="write trace.json for Perfetto")
    parser.add_argument("--no-plot", action="store_true", help="write no plot.svg and plot.png")
    _add_no_install(parser)


def _test_parser(parser: _Parser) -> None:
    parser.add_argument(
        "--filter",
        metavar="REGEX",
        help="only the tests whose name matches; with --sanitize, the test programs",
    )
    parser.add_argument(
        "--sanitize",
        action="store_true",
        help="Debug build with the address and undefined-behaviour sanitizers; no end-to-end tests",
    )
    _add_no_install(parser)


def _file_parser(parser: _Parser) -> None:
    _add_scenario(parser, "scenario file (JSON)")
    _add_no_install(parser)


def _plan_parser(parser: _Parser) -> None:
    _add_scenario(parser, "scenario file (JSON)")
    parser.add_argument("--run", metavar="N", default="0", help="which run of the sweep (0)")
    parser.add_argument("--job", metavar="NAME", help="which job (the first)")
    parser.add_argument("--json", action="store_true", help="JSON instead of a table")
    parser.add_argument("--verify", action="store_true", help="prove that it does what it is for")
    parser.add_argument("--draw", metavar="SVG", help="draw a space-time diagram")
    parser.add_argument("--export", metavar="GOAL", help="write a GOAL schedule")
    _add_no_install(parser)


def _auto_parser(parser: _Parser) -> None:
    _add_scenario(parser, "scenario file (JSON) with the scheme auto")
    parser.add_argument("--out", metavar="DIR", help="results folder (default: results/<name>)")
    parser.add_argument("--jobs", metavar="N", help="runs at a time (default: every core)")
    _add_no_install(parser)


def _plot_parser(parser: _Parser) -> None:
    parser.add_argument("results", metavar="DIR", help="results folder, e.g. results/quickstart")
    parser.add_argument(
        "--kind",
        action="append",
        default=[],
        choices=("ict", "messages", "links", "bytes", "timeline", "faults", "queues"),
        help="a picture KIND.svg of what happened inside of runs, instead of plot.svg; repeatable",
    )
    parser.add_argument("--run", metavar="N", help="of --kind: which run (the first that finished)")
    parser.add_argument("--out", metavar="FILE", help="of --kind: where to (.svg, .pdf or .png)")
    _add_no_install(parser)


def _report_parser(parser: _Parser) -> None:
    parser.add_argument("results", metavar="DIR", help="results folder, e.g. results/quickstart")
    parser.add_argument("--out", metavar="FILE", help="where to (default: DIR/report.html)")
    _add_no_install(parser)


def _results_parser(parser: _Parser) -> None:
    parser.add_argument("results", metavar="DIR", help="results folder, e.g. results/quickstart")
    _add_no_install(parser)


def _sweep_parser(parser: _Parser) -> None:
    _add_scenario(parser, "scenario file (JSON)")
    parser.add_argument("--out", metavar="DIR", help="results folder (default: results/<name>)")
    parser.add_argument("--cores", metavar="N", help="cores to use, or jobs at a time on a cluster")
    parser.add_argument(
        "--runs-per-job", metavar="N", help="runs in a job (default: 8 jobs for each core)"
    )
    parser.add_argument("--threads", metavar="N", help="runs at a time within a job (1)")
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
    _add_no_install(parser)


def _reproduce_parser(parser: _Parser) -> None:
    parser.add_argument("name", metavar="NAME", nargs="?", help="which paper (without: a list)")
    parser.add_argument("--out", metavar="DIR", help="for the page (default: results/papers/NAME)")
    parser.add_argument(
        "--set", action="append", default=[], metavar="PATH=VALUE", help="as of ./ns3 run"
    )
    _add_no_install(parser)


def _sum_errors_parser(parser: _Parser) -> None:
    parser.add_argument(
        "--out", metavar="DIR", default="results/sum-errors", help="folder (%(default)s)"
    )
    _add_no_install(parser)


def _gradients_parser(parser: _Parser) -> None:
    parser.add_argument(
        "--codec", metavar="NAME", action="append", default=[], help="only this one; repeatable"
    )
    parser.add_argument("--quick", action="store_true", help="two short trainings of each, to try")
    parser.add_argument(
        "--out", metavar="DIR", default="results/gradients", help="folder (%(default)s)"
    )
    _add_no_install(parser)


def _gallery_parser(parser: _Parser) -> None:
    parser.add_argument(
        "--check", action="store_true", help="tell which pictures are out of date, change none"
    )
    _add_no_install(parser)


def _regress_parser(parser: _Parser) -> None:
    parser.add_argument(
        "--scenarios", metavar="DIR", help="scenarios with baselines (scenarios/regression)"
    )
    parser.add_argument(
        "--out", metavar="DIR", default="results/regression", help="for results (%(default)s)"
    )
    parser.add_argument("--jobs", metavar="N", help="runs at a time (default: every core)")
    parser.add_argument(
        "--update", action="store_true", help="show what changed and make it the baseline"
    )
    _add_no_install(parser)


def _format_parser(parser: _Parser) -> None:
    parser.add_argument("--check", action="store_true", help="tell what is not, change nothing")
    _add_no_install(parser)


def _build_parser(parser: _Parser) -> None:
    parser.add_argument("--sanitize", action="store_true", help="the sanitizer build instead")
    _add_no_install(parser)


def _calibrate_parser(parser: _Parser) -> None:
    parser.add_argument("--out", metavar="DIR", help="folder of the profiles (default: profiles)")
    parser.add_argument("--name", metavar="NAME", help="name of the CPU's profile (its model)")
    parser.add_argument("--quick", action="store_true", help="few samples of small tensors, to try")
    parser.add_argument(
        "--estimates", action="store_true", help="write the roofline estimates and measure nothing"
    )
    parser.add_argument(
        "--torch",
        metavar="PYTHON",
        default="python3",
        help="a Python that has PyTorch, to compare a GPU's kernels with (default: python3)",
    )
    parser.add_argument(
        "--goals",
        metavar="FILE",
        help="measure nothing: say which goals the kernels of a profile reach; 1 if any is missed",
    )
    _add_no_install(parser)


# Verb: (one line of help, adds its options, carries it out).
_VERBS = {
    "run": ("simulate a scenario and plot its results", _run_parser, verbs.run_scenario),
    "sweep": ("simulate a large sweep, here or on a cluster", _sweep_parser, verbs.sweep),
    "describe": ("tell what a scenario would simulate", _file_parser, verbs.describe),
    "validate": ("check a scenario and its plans", _file_parser, verbs.validate),
    "plan": ("print, verify, draw or export a plan", _plan_parser, verbs.plan),
    "auto": ("tell how good the choice of the scheme auto is", _auto_parser, verbs.compare_auto),
    "list": ("schemes, topologies and transports", _add_no_install, verbs.list_kinds),
    "plot": ("plot the results of a run again", _plot_parser, verbs.plot),
    "report": ("write one HTML file about a run", _report_parser, verbs.report),
    "export": ("write the tables of a run as Parquet", _results_parser, verbs.export),
    "reproduce": ("simulate what a paper says", _reproduce_parser, verbs.reproduce),
    "regress": ("compare the schemes' curves with baselines", _regress_parser, verbs.regress),
    "sum-errors": ("errors of sums that switches make", _sum_errors_parser, verbs.sum_errors),
    "gradients": ("train with each codec in the loop", _gradients_parser, verbs.gradients),
    "gallery": ("draw the pictures of doc/ anew", _gallery_parser, verbs.gallery),
    "test": ("build and run the tests", _test_parser, verbs.test),
    "bench": ("build and run the benchmarks", _add_no_install, verbs.bench),
    "calibrate": ("measure the codecs here and write profiles", _calibrate_parser, verbs.calibrate),
    "format": ("format the sources, C++ and Python", _format_parser, verbs.format_all),
    "build": ("build everything", _build_parser, verbs.build_all),
    "doctor": ("show what is installed and what is missing", None, lambda _: doctor()),
    "help": ("show this help", None, None),
}


def _help() -> str:
    width = max(len(verb) for verb in _VERBS)
    lines = [f"  {verb:<{width}}  {row[0]}" for verb, row in _VERBS.items()]
    return "\n".join(
        [
            "Usage: ./ns3 VERB [OPTIONS]\n",
            "gradsync simulates, packet by packet, how distributed machine learning exchanges",
            "gradients. Everything missing is installed and built on the way.\n",
            *lines,
            "\n./ns3 VERB --help tells more.\n",
            _EXAMPLES,
        ]
    )


def _parse(verb: str, arguments: Sequence[str]) -> argparse.Namespace:
    summary, add_options, _ = _VERBS[verb]
    parser = _Parser(
        prog=f"./ns3 {verb}",
        description=summary[0].upper() + summary[1:] + ".",
        epilog=_EXAMPLES if verb == "run" else None,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    if add_options:
        add_options(parser)
    for argument in arguments:
        if argument == "--":
            break
        name = argument.split("=", 1)[0]
        if name.startswith("-") and name not in parser.options():
            close = nearest(name, parser.options())
            raise LauncherError(
                f"unknown option {shown(name)} of ./ns3 {verb}; the nearest is {close}", BAD_INPUT
            )
    return parser.parse_args(arguments)


def _dispatch(arguments: Sequence[str]) -> int:
    if not arguments or arguments[0] in ("help", "--help", "-h"):
        if len(arguments) > 1 and arguments[1] in _VERBS and arguments[1] != "help":
            _parse(arguments[1], ["--help"])
        print(_help())
        return OK if arguments else BAD_INPUT
    verb = arguments[0]
    if verb not in _VERBS:
        kind = "option" if verb.startswith("-") else "verb"
        known = ["--help"] if kind == "option" else list(_VERBS)
        raise LauncherError(
            f"unknown {kind} {shown(verb)}; the nearest is {nearest(verb, known)}. "
            f"Verbs: {', '.join(_VERBS)}",
            BAD_INPUT,
        )
    return _VERBS[verb][2](_parse(verb, arguments[1:]))


def main(arguments: Sequence[str]) -> int:
    """Carry out one command line; the exit code."""
    ask_for_huge_pages()
    end_children_with_me()
    try:
        return _dispatch(arguments)
    except LauncherError as error:
        print(f"ns3: {printable(error)}", file=sys.stderr)
        return error.code
    except KeyboardInterrupt:
        print("ns3: interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        # The reader of our output went away, as `head` does; nothing is left to say.
        sys.stderr.close()
        return OK
