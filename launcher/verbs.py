# SPDX-License-Identifier: GPL-2.0-only
"""What each verb of ./ns3 does: make sure of what it needs, build, and run."""

import os
import shutil
import subprocess
import sys
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path

from launcher import calibrate as calibration
from launcher import goals, install, python_environment
from launcher.bench import run_benchmarks
from launcher.bench_peer import read_command
from launcher.bench_ranks import run_ranks_benchmark
from launcher.build import build
from launcher.errors import BAD_INPUT, FAILURE, OK, LauncherError
from launcher.format import format_sources
from launcher.fuzz import PROGRAM, choose_readers, fuzz
from launcher.packages import BUILD, PLOT, RANKS, SANITIZERS, TEST
from launcher.process import run, say
from launcher.python_environment import (
    BROWSER,
    DOCS,
    FIT,
    FORMAT,
    GRADIENTS,
    PLOTS,
    REPORT,
    SWEEP,
    TABLES,
    TESTS,
)
from launcher.tests import run_referee, run_tests
from launcher.tree import RELEASE, ROOT, SANITIZE

_PROGRAM_TARGET = "gradsync-program"
_LINK_TARGET = "gradsync-mpi"  # of the processes of run --ranks
_SIMULATION_INCOMPLETE = 3

# The launcher's own options that were given to a verb that others carry out.
Own = frozenset[str]


def _allowed(own: Own) -> bool:
    return "--no-install" not in own


def _as_called() -> dict[str, str]:
    """The environment in which others call themselves what the user called."""
    return {**os.environ, "GRADSYNC_CALLED_AS": "./ns3"}


def _make_program(own: Own, options: Sequence[str]) -> None:
    """Build the program if need be, and what links several of it where the options ask for that."""
    ranked = any(option.split("=", 1)[0] == "--ranks" for option in options)
    install.ensure([BUILD, RANKS] if ranked else [BUILD], _allowed(own))
    build(RELEASE, [_PROGRAM_TARGET, _LINK_TARGET] if ranked else [_PROGRAM_TARGET])


def call_program(own: Own, *options: str) -> int:
    """Build the program if need be and run it; its exit code."""
    _make_program(own, options)
    return run([str(RELEASE.program), *options], _as_called())


def show_help(verb: str) -> int:
    """The program's own help, without building it for that."""
    if RELEASE.program.exists():
        return run([str(RELEASE.program), verb, "--help"], _as_called())
    print(f"Usage: ./ns3 {verb} [OPTIONS]\n")
    print("The simulator has the options of this verb and is not built yet: ./ns3 build.")
    print(f"Until then: {ROOT / 'doc' / 'results.rst'}")
    return OK


def run_scenario(own: Own, rest: list[str]) -> int:
    """./ns3 run: simulate, then plot what came out, also if some runs did not finish."""
    plotted = "--no-plot" not in own
    install.ensure([BUILD, PLOT] if plotted else [BUILD], _allowed(own))
    if plotted:
        python_environment.ensure(_allowed(own), PLOTS)
    code = call_program(own, "run", *rest)
    if plotted and code in (OK, _SIMULATION_INCOMPLETE):
        folder = _ask_program("run", *rest, "--where")
        plotted_code = python_environment.python("-m", "gradsync", "plot", folder) if folder else OK
        code = code or plotted_code
    return code


def _ask_program(*options: str) -> str:
    asked = [str(RELEASE.program), *options]
    return subprocess.run(asked, stdout=subprocess.PIPE, text=True, check=False).stdout.rstrip("\n")


def show_package_help(verb: str) -> int:
    """The Python package's own help, for which it needs no other package."""
    variables = {**_as_called(), **python_environment.environment()}
    return run([sys.executable, "-P", "-m", "gradsync", verb, "--help"], variables)


def _call_package(
    own: Own, *options: str, needs: Sequence[str] = (), layers: Sequence[str] = (PLOTS, TABLES)
) -> int:
    """Run a verb of the Python package."""
    install.ensure([*needs, PLOT], _allowed(own))
    python_environment.ensure(_allowed(own), *layers)
    if BUILD in needs:
        build(RELEASE, [_PROGRAM_TARGET])
    return python_environment.python("-m", "gradsync", *options, variables=_as_called())


def plot(own: Own, rest: list[str]) -> int:
    """./ns3 plot: draw results again."""
    # The picture of a sweep is drawn from text; data frames are three times as large as all that draws.
    # Options are for pictures of what happened inside of runs.
    return _call_package(own, "plot", *rest, layers=[PLOTS, TABLES] if rest[1:] else [PLOTS])


def run_python(own: Own, rest: list[str]) -> int:
    """./ns3 python: a program of one's own that imports gradsync."""
    install.ensure([BUILD, PLOT], _allowed(own))
    python_environment.ensure(_allowed(own), PLOTS, TABLES)
    build(RELEASE, [_PROGRAM_TARGET])
    return python_environment.python(*rest)


def show_python_help(verb: str) -> int:
    """What is to be said of a verb without options."""
    print(f"usage: ./ns3 {verb} FILE [ARGUMENT]...\n")
    print("positional arguments:\n  FILE  a program in Python, which may import gradsync")
    print("\noptions:\n  -h, --help  show this help")
    return OK


def report(own: Own, rest: list[str]) -> int:
    """./ns3 report: one HTML file about a run."""
    return _call_package(own, "report", *rest, layers=[PLOTS, TABLES, REPORT])


def export(own: Own, rest: list[str]) -> int:
    """./ns3 export: the tables of a results folder as Parquet."""
    return _call_package(own, "export", *rest, layers=[TABLES])


def regress(own: Own, rest: list[str]) -> int:
    """./ns3 regress: the regression scenarios against their baselines."""
    scenarios = f"--scenarios={ROOT / 'scenarios' / 'regression'}"
    return _call_package(own, "regress", scenarios, *rest, needs=[BUILD])


def reproduce(own: Own, rest: list[str]) -> int:
    """./ns3 reproduce: what a paper says and what is simulated, side by side; without a name, a list."""
    papers = f"--papers={ROOT / 'scenarios' / 'papers'}"
    return _call_package(own, "reproduce", papers, *rest, needs=[BUILD] if rest else [])


def collective(own: Own, rest: list[str]) -> int:
    """./ns3 collective: a collective over sizes, with the table of nccl-tests."""
    return _call_package(own, "collective", *rest, needs=[BUILD])


def fit(own: Own, rest: list[str]) -> int:
    """./ns3 fit: one or two values of a scenario to a measured table."""
    return _call_package(own, "fit", *rest, needs=[BUILD], layers=[PLOTS, TABLES, FIT])


def route(own: Own, rest: list[str]) -> int:
    """./ns3 route: where the gradients of several jobs are added in the network."""
    return _call_package(own, "route", *rest, needs=[BUILD], layers=[PLOTS, TABLES, FIT])


def gallery(own: Own, rest: list[str]) -> int:
    """./ns3 gallery: the pictures of the documentation, from simulations."""
    places = [f"--scenarios={ROOT / 'scenarios'}", f"--pictures={ROOT / 'doc' / 'pictures'}"]
    return _call_package(own, "gallery", *places, *rest, needs=[BUILD])


def gradients(own: Own, rest: list[str]) -> int:
    """./ns3 gradients: what codecs do to a training, and how sparse messages merge."""
    layers = [PLOTS, TABLES, GRADIENTS]
    return _call_package(own, "gradients", *rest, needs=[BUILD], layers=layers)


def sum_errors(own: Own, rest: list[str]) -> int:
    """./ns3 sum-errors: how far sums of integers in switches are from those of the gradients."""
    return _call_package(own, "sum-errors", *rest, needs=[BUILD])


def sweep(own: Own, rest: list[str]) -> int:
    """./ns3 sweep: a scenario as a Snakemake workflow, on all cores or on a cluster."""
    return _call_package(own, "sweep", *rest, needs=[BUILD], layers=[PLOTS, SWEEP])


def test(arguments: Namespace) -> int:
    """./ns3 test: unit tests, ns-3 TestSuites and, without sanitizers, the end-to-end tests."""
    if arguments.fuzz is not None:
        return _fuzz(arguments)
    if arguments.referee is not None and arguments.referee < 1:
        raise LauncherError(f"--referee {arguments.referee}: expected 1 or more", BAD_INPUT)
    if arguments.reader is not None:
        raise LauncherError(f"--reader {arguments.reader} goes with --fuzz", BAD_INPUT)
    profile = SANITIZE if arguments.sanitize else RELEASE
    sanitizers = [SANITIZERS] if arguments.sanitize else []
    if arguments.referee is not None:
        install.ensure([BUILD, *sanitizers], not arguments.no_install)
        build(profile, [_PROGRAM_TARGET])
        return run_referee(profile, arguments.referee, arguments.seed)
    install.ensure([BUILD, TEST, PLOT, *sanitizers], not arguments.no_install)
    if not arguments.sanitize:
        layers = [PLOTS, TABLES, REPORT, GRADIENTS, FIT, SWEEP, FORMAT, TESTS]
        # Tests that open reports are skipped without one.
        layers += [BROWSER] if shutil.which("chromium") else []
        python_environment.ensure(not arguments.no_install, *layers)
    build(profile, [])
    return run_tests(profile, arguments.filter, end_to_end=not arguments.sanitize)


def _fuzz(arguments: Namespace) -> int:
    """./ns3 test --fuzz: every reader of files under libFuzzer."""
    if not arguments.fuzz.isdigit() or int(arguments.fuzz) == 0:
        raise LauncherError(f"--fuzz {arguments.fuzz}: expected seconds", BAD_INPUT)
    readers = choose_readers(arguments.reader)
    install.ensure([BUILD, TEST, SANITIZERS], not arguments.no_install)
    build(SANITIZE, [PROGRAM])
    return fuzz(SANITIZE, int(arguments.fuzz), readers)


def build_all(arguments: Namespace) -> int:
    """./ns3 build: program, tests and benchmarks."""
    sanitizers = [SANITIZERS] if arguments.sanitize else []
    install.ensure([BUILD, TEST, *sanitizers], not arguments.no_install)
    build(SANITIZE if arguments.sanitize else RELEASE, [])
    return OK


def format_all(arguments: Namespace) -> int:
    """./ns3 format: the sources as the house has them."""
    install.ensure([PLOT], not arguments.no_install)
    python_environment.ensure(not arguments.no_install, FORMAT)
    return format_sources(arguments.check)


def docs(arguments: Namespace) -> int:
    """./ns3 docs: the pages of doc/ as HTML; a warning of Sphinx is an error."""
    install.ensure([PLOT], not arguments.no_install)
    python_environment.ensure(not arguments.no_install, DOCS)
    out = Path(arguments.out) if arguments.out else ROOT / "build" / "docs"
    # Pages that an older run has left could hide what this one lacks.
    options = ["-q", "--fresh-env", "--nitpicky", "--fail-on-warning", "--keep-going", "-b", "html"]
    code = python_environment.python("-m", "sphinx", *options, str(ROOT / "doc"), str(out))
    if code != OK:
        return FAILURE
    print(f"the pages are in {out / 'index.html'}")
    return OK


def bench(arguments: Namespace) -> int:
    """./ns3 bench: the fabric, stock ns-3 and the bare event core in one run; or --ranks."""
    if arguments.ranks is not None:
        install.ensure([BUILD, RANKS], not arguments.no_install)
        build(RELEASE, [_PROGRAM_TARGET, _LINK_TARGET])
        run_ranks_benchmark(arguments.ranks, arguments.full)
        return OK
    # Refused before minutes of work, if it cannot be run.
    peer = read_command(arguments.peer) if arguments.peer is not None else []
    install.ensure([BUILD, TEST, PLOT], not arguments.no_install)
    python_environment.ensure(not arguments.no_install, PLOTS)
    build(RELEASE, [])
    history = run_benchmarks(arguments.full, peer, arguments.peer_limit)
    return python_environment.python("-m", "gradsync", "bench-history", str(history))


def calibrate(arguments: Namespace) -> int:
    """./ns3 calibrate: times of the codecs on this machine."""
    folder = Path(arguments.out) if arguments.out else calibration.PROFILES
    if arguments.estimates:
        calibration.write_estimates(folder)
        return OK
    if arguments.goals:
        return goals.report(Path(arguments.goals))
    missing = calibration.why_no_gpu()
    if arguments.gpu and missing:
        raise LauncherError(missing, BAD_INPUT)
    if not arguments.gpu:
        install.ensure([BUILD, TEST], not arguments.no_install)
        build(RELEASE, ["codec-bench"])
        calibration.calibrate_cpu(folder, arguments.name, arguments.quick)
    if missing:
        say(f"{missing}: only the CPU was measured")
    else:
        calibration.calibrate_gpu(folder, arguments.quick, arguments.torch)
    return OK
