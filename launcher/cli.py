# SPDX-License-Identifier: GPL-2.0-only
"""Reads the command line of ./ns3 and carries it out.

Verbs that the simulator or the Python package carries out are handed on with their options, which are
declared there.
"""

import argparse
import contextlib
import math
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NoReturn

from launcher import verbs
from launcher.bench_peer import LIMIT_S
from launcher.completion import SHELLS, script
from launcher.doctor import doctor
from launcher.errors import BAD_INPUT, FAILURE, INTERRUPTED, OK, LauncherError
from launcher.nearest import distance, nearest
from launcher.process import ask_for_huge_pages, end_children_with_me
from launcher.text import printable, shown
from launcher.version import version

_EXAMPLES = """\
Examples:
  ./ns3 run scenarios/rat-oversubscription.json         the study: sweep, table, plot
  ./ns3 run scenarios/quickstart.json --out /tmp/first  results to another folder
  ./ns3 run scenarios/rat-oversubscription.json --set job.gradient=8MiB --jobs 1
                                                        one value changed, one run at a time
  ./ns3 describe scenarios/rat-oversubscription.json    what it would simulate, and the ideal times
  ./ns3 run S.json --no-install                         refuse instead of installing packages
"""
_CODES = """
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


def _add_no_install(parser: _Parser) -> None:
    parser.add_argument(
        "--no-install",
        action="store_true",
        help="install nothing: list what is missing and exit with 4",
    )


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
    parser.add_argument(
        "--fuzz",
        metavar="SECONDS",
        help="no tests: all readers of files under libFuzzer and the sanitizers, by Clang",
    )
    parser.add_argument(
        "--reader", metavar="NAME", help="of --fuzz: this one alone, for all of the time"
    )
    parser.add_argument(
        "--referee",
        metavar="N",
        type=int,
        help="in place of the tests: N scenarios drawn at random, held against laws",
    )
    parser.add_argument(
        "--seed", metavar="TEXT", default="0", help="of --referee: others are drawn (%(default)s)"
    )
    _add_no_install(parser)


def _format_parser(parser: _Parser) -> None:
    parser.add_argument("--check", action="store_true", help="tell what is not, change nothing")
    _add_no_install(parser)


def _seconds(text: str) -> float:
    seconds = float(text)
    if not math.isfinite(seconds) or seconds <= 0.0:
        raise argparse.ArgumentTypeError(f"found {shown(text)}, expected seconds above 0")
    return seconds


def _ranks(text: str) -> int:
    ranks = int(text) if text.isdecimal() else 0
    if ranks < 2:
        raise argparse.ArgumentTypeError(f"found {shown(text)}, expected a whole number from 2 on")
    return ranks


def _bench_parser(parser: _Parser) -> None:
    parser.add_argument(
        "--full", action="store_true", help="all sizes and loads: 20 minutes in place of 5"
    )
    other = parser.add_mutually_exclusive_group()
    other.add_argument(
        "--ranks",
        metavar="N",
        type=_ranks,
        help="in place of all that: one simulation by N processes beside the same by one; with --full "
        "three times as many runs",
    )
    other.add_argument(
        "--peer",
        metavar="COMMAND",
        help="another simulator, measured beside ours on the same exchanges; {hosts}, {leaves}, {spines}, "
        "{hosts_per_leaf}, {gradient_bytes}, {mtu_bytes}, {rate} and {delay} stand for theirs",
    )
    parser.add_argument(
        "--peer-limit",
        metavar="SECONDS",
        type=_seconds,
        default=LIMIT_S,
        help="after which a run of it is ended and bench fails (%(default)g)",
    )
    _add_no_install(parser)


def _build_parser(parser: _Parser) -> None:
    parser.add_argument("--sanitize", action="store_true", help="the sanitizer build instead")
    _add_no_install(parser)


def _completion_parser(parser: _Parser) -> None:
    parser.add_argument("shell", metavar="SHELL", choices=list(SHELLS), help=", ".join(SHELLS))


def _docs_parser(parser: _Parser) -> None:
    parser.add_argument("--out", metavar="DIR", help="where to (default: build/docs)")
    _add_no_install(parser)


def _calibrate_parser(parser: _Parser) -> None:
    parser.add_argument("--out", metavar="DIR", help="folder of the profiles (default: profiles)")
    parser.add_argument("--name", metavar="NAME", help="name of the CPU's profile (its model)")
    parser.add_argument("--quick", action="store_true", help="few samples of small tensors, to try")
    parser.add_argument(
        "--gpu", action="store_true", help="only the GPU, for which nothing but kernels/ is built"
    )
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


@dataclass(frozen=True)
class _Handed:
    """A verb that others carry out: what the launcher itself takes of its options, and to whom it goes."""

    help: str
    carry_out: Callable[[verbs.Own, list[str]], int]
    show_help: Callable[[str], int]
    own: tuple[str, ...] = ("--no-install",)


@dataclass(frozen=True)
class _Own:
    """A verb of the launcher."""

    help: str
    carry_out: Callable[[argparse.Namespace], int]
    add_options: Callable[[_Parser], None] | None = _add_no_install


def _program(verb: str, summary: str) -> _Handed:
    return _Handed(summary, lambda own, rest: verbs.call_program(own, verb, *rest), verbs.show_help)


def _package(summary: str, carry_out: Callable[[verbs.Own, list[str]], int]) -> _Handed:
    return _Handed(summary, carry_out, verbs.show_package_help)


def _complete(shell: str) -> int:
    print(script(shell, {verb: row.help for verb, row in _VERBS.items()}), end="")
    return OK


_RUN_OPTIONS = ("--no-install", "--no-plot")
_VERBS: dict[str, _Handed | _Own] = {
    "run": _Handed(
        "simulate a scenario and plot its results",
        verbs.run_scenario,
        verbs.show_help,
        _RUN_OPTIONS,
    ),
    "sweep": _package("simulate a large sweep, here or on a cluster", verbs.sweep),
    "describe": _program("describe", "tell what a scenario would simulate"),
    "validate": _program("validate", "check a scenario and its plans"),
    "plan": _program("plan", "print, verify, draw or export a plan"),
    "auto": _program("auto", "tell how good the choice of the scheme auto is"),
    "list": _program("list", "schemes, topologies and transports"),
    "trees": _program("trees", "print by which trees of switches jobs could aggregate"),
    "p4": _program("p4", "play vectors on a P4 program, or describe it"),
    "python": _Handed(
        "run a Python program that imports gradsync", verbs.run_python, verbs.show_python_help
    ),
    "plot": _package("plot the results of a run again", verbs.plot),
    "report": _package("write one HTML file about a run", verbs.report),
    "export": _package("write the tables of a run as Parquet", verbs.export),
    "reproduce": _package("simulate what a paper says", verbs.reproduce),
    "collective": _package("time a collective as nccl-tests do", verbs.collective),
    "fit": _package("fit values of a scenario to measured times", verbs.fit),
    "route": _package("choose the switches that add for several jobs", verbs.route),
    "regress": _package("compare the schemes' curves with baselines", verbs.regress),
    "sum-errors": _package("errors of sums that switches make", verbs.sum_errors),
    "gradients": _package("train with each codec in the loop", verbs.gradients),
    "gallery": _package("draw the pictures of doc/ anew", verbs.gallery),
    "test": _Own("build and run the tests", verbs.test, _test_parser),
    "bench": _Own("build and run the benchmarks", verbs.bench, _bench_parser),
    "calibrate": _Own(
        "measure the codecs here and write profiles", verbs.calibrate, _calibrate_parser
    ),
    "format": _Own("format the sources, C++ and Python", verbs.format_all, _format_parser),
    "docs": _Own("make HTML of the pages in doc/", verbs.docs, _docs_parser),
    "build": _Own("build everything", verbs.build_all, _build_parser),
    "doctor": _Own("show what is installed and what is missing", lambda _: doctor(), None),
    "completion": _Own(
        "print what a shell completes ./ns3 with",
        lambda arguments: _complete(arguments.shell),
        _completion_parser,
    ),
    "help": _Own("show this help", lambda _: OK, None),
}
_OWN_HELP = {
    "--no-install": "install nothing: list what is missing and exit with 4",
    "--no-plot": "write no plot.svg and plot.png",
}


def _help() -> str:
    width = max(len(verb) for verb in _VERBS)
    lines = [f"  {verb:<{width}}  {row.help}" for verb, row in _VERBS.items()]
    return "\n".join(
        [
            "Usage: ./ns3 VERB [OPTIONS]\n",
            "gradsync simulates, packet by packet, how distributed machine learning exchanges",
            "gradients. Everything missing is installed and built on the way.\n",
            *lines,
            "\n./ns3 VERB --help tells more.\n",
            _EXAMPLES + _CODES,
        ]
    )


def _unknown(verb: str, name: str, known: Sequence[str]) -> LauncherError:
    return LauncherError(
        f"unknown option {shown(name)} of ./ns3 {verb}; the nearest is {nearest(name, known)}",
        BAD_INPUT,
    )


def _options(arguments: Sequence[str]) -> list[str]:
    """The names of options; what follows -- is none."""
    before = arguments[: arguments.index("--")] if "--" in arguments else arguments
    return [argument.split("=", 1)[0] for argument in before if argument.startswith("-")]


# So far from an option of the launcher, another one that it does not know is one of those mistyped:
# --no-instal would install. Those that it hands on to are further away.
_MISTYPED = 2


def _hand_on(verb: str, row: _Handed, arguments: Sequence[str]) -> int:
    options = _options(arguments)
    if "--help" in options or "-h" in options:
        code = row.show_help(verb)
        print("\nOptions of ./ns3 itself:")
        for name in row.own:
            print(f"  {name:<28}{_OWN_HELP[name]}")
        if verb == "run":
            print(f"\n{_EXAMPLES}", end="")
        return code
    for name in options:
        if name not in row.own and distance(name, nearest(name, row.own)) <= _MISTYPED:
            raise _unknown(verb, name, row.own)
    own = frozenset(name for name in options if name in row.own)
    return row.carry_out(own, [argument for argument in arguments if argument not in own])


def _parse(verb: str, row: _Own, arguments: Sequence[str]) -> argparse.Namespace:
    parser = _Parser(
        prog=f"./ns3 {verb}",
        description=row.help[0].upper() + row.help[1:] + ".",
        allow_abbrev=False,
    )
    if row.add_options:
        row.add_options(parser)
    for name in _options(arguments):
        if name not in parser.options():
            raise _unknown(verb, name, parser.options())
    return parser.parse_args(arguments)


def _dispatch(arguments: Sequence[str]) -> int:
    if not arguments or arguments[0] in ("help", "--help", "-h"):
        if len(arguments) > 1 and arguments[1] in _VERBS and arguments[1] != "help":
            return _carry_out(arguments[1], ["--help"])
        print(_help())
        return OK if arguments else BAD_INPUT
    verb = arguments[0]
    if verb == "--version":
        print(version())
        return OK
    if verb not in _VERBS:
        kind = "option" if verb.startswith("-") else "verb"
        known = ["--help", "--version"] if kind == "option" else list(_VERBS)
        raise LauncherError(
            f"unknown {kind} {shown(verb)}; the nearest is {nearest(verb, known)}. "
            f"Verbs: {', '.join(_VERBS)}",
            BAD_INPUT,
        )
    return _carry_out(verb, arguments[1:])


def _carry_out(verb: str, arguments: Sequence[str]) -> int:
    row = _VERBS[verb]
    if isinstance(row, _Handed):
        return _hand_on(verb, row, arguments)
    return row.carry_out(_parse(verb, row, arguments))


def main(arguments: Sequence[str]) -> int:
    """Carry out one command line; the exit code."""
    ask_for_huge_pages()
    end_children_with_me()
    try:
        code = _dispatch(arguments)
        sys.stdout.flush()
        return code
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
    except OSError as error:
        # A file that cannot be read or written, which the text names; standard output has no name.
        where = "" if error.filename else "standard output: "
        print(f"ns3: {where}{printable(error)}", file=sys.stderr)
        with contextlib.suppress(OSError):  # or Python tries again at its end, and says so
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BAD_INPUT if error.filename else FAILURE
