# SPDX-License-Identifier: GPL-2.0-only
"""What each verb of ./ns3 does: make sure of what it needs, build, and run."""

import json
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path

from launcher import calibrate as calibration
from launcher import goals, install, python_environment
from launcher.bench import run_benchmarks
from launcher.build import build
from launcher.errors import BAD_INPUT, OK, LauncherError
from launcher.format import format_sources
from launcher.packages import BUILD, PLOT, TEST
from launcher.process import run
from launcher.tests import run_tests
from launcher.tree import RELEASE, RESULTS, ROOT, SANITIZE

_PROGRAM_TARGET = "gradsync-program"
_SIMULATION_INCOMPLETE = 3


def _program(arguments: Namespace, *options: str) -> int:
    """Build the program if need be and run it; its exit code."""
    install.ensure([BUILD], not arguments.no_install)
    build(RELEASE, [_PROGRAM_TARGET])
    return run([str(RELEASE.program), *options])


def _overrides(arguments: Namespace) -> list[str]:
    return [f"--set={override}" for override in arguments.set]


def run_scenario(arguments: Namespace) -> int:
    """./ns3 run: simulate, then plot what came out, also if some runs did not finish."""
    plotted = not arguments.no_plot
    install.ensure([BUILD, PLOT] if plotted else [BUILD], not arguments.no_install)
    if plotted:
        python_environment.ensure(not arguments.no_install)
    out = Path(arguments.out) if arguments.out else RESULTS / Path(arguments.scenario).stem
    options = [f"--scenario={arguments.scenario}", f"--out={out}", *_overrides(arguments)]
    if arguments.pcap:
        links = [link.split(":") for link in arguments.pcap]
        options.append(f"--set=results.pcap={json.dumps(links)}")
    if arguments.jobs is not None:
        options.append(f"--jobs={arguments.jobs}")
    if arguments.progress is not None:
        options.append(f"--progress={arguments.progress}")
    if arguments.no_resume:
        options.append("--no-resume")
    if arguments.trace:
        options.append("--trace")
    code = _program(arguments, *options)
    if plotted and code in (OK, _SIMULATION_INCOMPLETE):
        plotted_code = python_environment.python("-m", "gradsync", "plot", str(out))
        code = code or plotted_code
    return code


def describe(arguments: Namespace) -> int:
    """./ns3 describe: topology, oversubscription, plan statistics and ideal times."""
    return _program(arguments, f"--describe={arguments.scenario}", *_overrides(arguments))


def validate(arguments: Namespace) -> int:
    """./ns3 validate: read the scenario and verify its plans."""
    return _program(arguments, f"--validate={arguments.scenario}", *_overrides(arguments))


def plan(arguments: Namespace) -> int:
    """./ns3 plan: print the plan of a job, verify, draw and export it."""
    options = [f"--plan={arguments.scenario}", *_overrides(arguments), f"--run={arguments.run}"]
    for name in ("job", "draw", "export"):
        value = getattr(arguments, name)
        if value is not None:
            options.append(f"--{name}={value}")
    options += [f"--{name}" for name in ("json", "verify") if getattr(arguments, name)]
    return _program(arguments, *options)


def compare_auto(arguments: Namespace) -> int:
    """./ns3 auto: simulate all that the scheme auto chooses from, and tell how good its choice is."""
    out = Path(arguments.out) if arguments.out else RESULTS / Path(arguments.scenario).stem
    options = [f"--compare-auto={arguments.scenario}", f"--out={out}", *_overrides(arguments)]
    if arguments.jobs is not None:
        options.append(f"--jobs={arguments.jobs}")
    return _program(arguments, *options)


def list_kinds(arguments: Namespace) -> int:
    """./ns3 list: what a scenario can name."""
    return _program(arguments, "--list")


def _on_results(arguments: Namespace, verb: str, *options: str, layers: Sequence[str] = ()) -> int:
    """Run a verb of the Python package on a results folder: needs no build."""
    if not Path(arguments.results).is_dir():
        raise LauncherError(f"{arguments.results} is not a results folder", BAD_INPUT)
    install.ensure([PLOT], not arguments.no_install)
    python_environment.ensure(not arguments.no_install, *layers)
    return python_environment.python("-m", "gradsync", verb, arguments.results, *options)


def plot(arguments: Namespace) -> int:
    """./ns3 plot: draw results again."""
    options = [f"--kind={kind}" for kind in arguments.kind]
    for name in ("run", "out"):
        value = getattr(arguments, name)
        options += [f"--{name}={value}"] if value is not None else []
    return _on_results(arguments, "plot", *options)


def report(arguments: Namespace) -> int:
    """./ns3 report: one HTML file about a run."""
    options = [f"--out={arguments.out}"] if arguments.out is not None else []
    return _on_results(arguments, "report", *options, layers=[python_environment.REPORT])


def export(arguments: Namespace) -> int:
    """./ns3 export: the tables of a results folder as Parquet."""
    return _on_results(arguments, "export")


def regress(arguments: Namespace) -> int:
    """./ns3 regress: the regression scenarios against their baselines."""
    install.ensure([BUILD, PLOT], not arguments.no_install)
    python_environment.ensure(not arguments.no_install)
    build(RELEASE, [_PROGRAM_TARGET])
    scenarios = arguments.scenarios or str(ROOT / "scenarios" / "regression")
    options = [f"--scenarios={scenarios}", f"--out={arguments.out}"]
    options += [f"--jobs={arguments.jobs}"] if arguments.jobs is not None else []
    options += ["--update"] if arguments.update else []
    return python_environment.python("-m", "gradsync", "regress", *options)


def reproduce(arguments: Namespace) -> int:
    """./ns3 reproduce: what a paper says and what is simulated, side by side; without a name, a list."""
    install.ensure([BUILD, PLOT] if arguments.name else [PLOT], not arguments.no_install)
    python_environment.ensure(not arguments.no_install)
    if arguments.name:
        build(RELEASE, [_PROGRAM_TARGET])
    options = [f"--papers={ROOT / 'scenarios' / 'papers'}", *_overrides(arguments)]
    options += [arguments.name] if arguments.name else []
    options += [f"--out={arguments.out}"] if arguments.out is not None else []
    return python_environment.python("-m", "gradsync", "reproduce", *options)


def gallery(arguments: Namespace) -> int:
    """./ns3 gallery: the pictures of the documentation, from simulations."""
    install.ensure([BUILD, PLOT], not arguments.no_install)
    python_environment.ensure(not arguments.no_install)
    build(RELEASE, [_PROGRAM_TARGET])
    options = [f"--scenarios={ROOT / 'scenarios'}", f"--pictures={ROOT / 'doc' / 'pictures'}"]
    options += ["--check"] if arguments.check else []
    return python_environment.python("-m", "gradsync", "gallery", *options)


def gradients(arguments: Namespace) -> int:
    """./ns3 gradients: what codecs do to a training, and how sparse messages merge."""
    install.ensure([BUILD, PLOT], not arguments.no_install)
    python_environment.ensure(not arguments.no_install, python_environment.GRADIENTS)
    build(RELEASE, [_PROGRAM_TARGET])
    options = [f"--out={arguments.out}", *(f"--codec={name}" for name in arguments.codec)]
    options += ["--quick"] if arguments.quick else []
    return python_environment.python("-m", "gradsync", "gradients", *options)


def sum_errors(arguments: Namespace) -> int:
    """./ns3 sum-errors: how far sums of integers in switches are from those of the gradients."""
    install.ensure([BUILD, PLOT], not arguments.no_install)
    python_environment.ensure(not arguments.no_install)
    build(RELEASE, [_PROGRAM_TARGET])
    return python_environment.python("-m", "gradsync", "sum-errors", f"--out={arguments.out}")


def sweep(arguments: Namespace) -> int:
    """./ns3 sweep: a scenario as a Snakemake workflow, on all cores or on a cluster."""
    install.ensure([BUILD, PLOT], not arguments.no_install)
    python_environment.ensure(not arguments.no_install, python_environment.SWEEP)
    build(RELEASE, [_PROGRAM_TARGET])
    out = Path(arguments.out) if arguments.out else RESULTS / Path(arguments.scenario).stem
    options = [arguments.scenario, f"--out={out}", *_overrides(arguments)]
    for name in ("cores", "runs_per_job", "threads", "executor"):
        value = getattr(arguments, name)
        if value is not None:
            options.append(f"--{name.replace('_', '-')}={value}")
    options += ["--no-resume"] if arguments.no_resume else []
    options += [f"--snakemake={option}" for option in arguments.snakemake]
    code = python_environment.python("-m", "gradsync", "sweep", *options)
    if code in (OK, _SIMULATION_INCOMPLETE) and not arguments.no_plot:
        code = python_environment.python("-m", "gradsync", "plot", str(out)) or code
    return code


def test(arguments: Namespace) -> int:
    """./ns3 test: unit tests, ns-3 TestSuites and, without sanitizers, the end-to-end tests."""
    profile = SANITIZE if arguments.sanitize else RELEASE
    install.ensure([BUILD, TEST, PLOT], not arguments.no_install)
    if not arguments.sanitize:
        layers = [python_environment.REPORT, python_environment.GRADIENTS]
        layers += [python_environment.SWEEP, python_environment.TESTS]
        python_environment.ensure(not arguments.no_install, *layers)
    build(profile, [])
    return run_tests(profile, arguments.filter, end_to_end=not arguments.sanitize)


def build_all(arguments: Namespace) -> int:
    """./ns3 build: program, tests and benchmarks."""
    install.ensure([BUILD, TEST], not arguments.no_install)
    build(SANITIZE if arguments.sanitize else RELEASE, [])
    return OK


def format_all(arguments: Namespace) -> int:
    """./ns3 format: the sources as the house has them."""
    install.ensure([PLOT], not arguments.no_install)
    python_environment.ensure(not arguments.no_install, python_environment.TESTS)
    return format_sources(arguments.check)


def bench(arguments: Namespace) -> int:
    """./ns3 bench: the fabric, stock ns-3 and the bare event core in one run."""
    install.ensure([BUILD, TEST], not arguments.no_install)
    build(RELEASE, [])
    run_benchmarks()
    return OK


def calibrate(arguments: Namespace) -> int:
    """./ns3 calibrate: times of the codecs on this machine."""
    folder = Path(arguments.out) if arguments.out else calibration.PROFILES
    if arguments.estimates:
        calibration.write_estimates(folder)
        return OK
    if arguments.goals:
        return goals.report(Path(arguments.goals))
    install.ensure([BUILD, TEST], not arguments.no_install)
    build(RELEASE, ["codec-bench"])
    calibration.calibrate(folder, arguments.name, arguments.quick, arguments.torch)
    return OK
