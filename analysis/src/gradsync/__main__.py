# SPDX-License-Identifier: GPL-2.0-only
"""python -m gradsync VERB: carries out what gradsync.command_line has read."""

import argparse
import contextlib
import os
import platform
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from gradsync import command_line
from gradsync.errors import GradsyncError, ScenarioError, SimulationError
from gradsync.results.folder import Results, load
from gradsync.results.series import choose_axes, choose_scales, group
from gradsync.text import printable
from gradsync.version import __version__


def _plot(arguments: argparse.Namespace) -> int:
    # Imported here: comparing needs no plotting library.
    from gradsync.plots.page import read_page

    on = read_page(
        arguments.paper, arguments.columns, arguments.width, arguments.font, arguments.font_size
    )
    # A file alone is asked for what is drawn without a kind.
    kinds = arguments.kind or (["ict"] if arguments.out or on.is_paper else [])
    if kinds:
        from gradsync.plots.kinds import plot_kind

        out = Path(arguments.out) if arguments.out else None
        if out and len(kinds) > 1:
            raise ScenarioError(f"--out {out}: one file for {len(kinds)} pictures; give one --kind")
        results = load(arguments.results)
        if on.is_paper and results.unfinished:
            print(f"{results.unfinished} runs did not finish, which no title says", file=sys.stderr)
        if on.is_paper:
            _print_remarks(results)
        for kind in kinds:
            path = plot_kind(results, kind, arguments.run, out, on)
            print(f"wrote {path}", file=sys.stderr)
        return 0
    _draw(Path(arguments.results))
    return 0


def _print_remarks(results: Results) -> None:
    """What could not be drawn as asked."""
    axes = choose_axes(results)
    for remark in choose_scales(results, axes, group(results, axes)).remarks:
        print(f"gradsync: {printable(remark)}", file=sys.stderr)


def _draw(folder: Path) -> None:
    """plot.svg and plot.png into a results folder."""
    from gradsync.plots import tradeoff
    from gradsync.plots.plot import plot_results

    for path in plot_results(folder):
        print(f"wrote {path}", file=sys.stderr)
    results = load(folder)
    _print_remarks(results)
    if tradeoff.applies(results):
        print("\n".join(tradeoff.describe(results)))


def _export(arguments: argparse.Namespace) -> int:
    for path in load(arguments.results).write_parquet():
        print(f"wrote {path}", file=sys.stderr)
    return 0


def _regress(arguments: argparse.Namespace) -> int:
    from gradsync.studies import regress_report as report
    from gradsync.studies.regress import Regression

    out = Path(arguments.out)
    regression = Regression(Path(arguments.scenarios), out)
    regression.run(arguments.jobs)
    report.write_junit(regression, out / "junit.xml")
    report.draw_overlay(regression, out / "overlay.svg")
    if regression.differences:
        print(report.table(regression.differences))
    print(report.verdict(regression))
    print(f"curves: {out / 'overlay.svg'}, JUnit: {out / 'junit.xml'}")
    if arguments.update:
        regression.update()
        print(f"{regression.baselines}: these are the baselines now")
        return 0
    return 1 if regression.differences else 0


def _reproduce(arguments: argparse.Namespace) -> int:
    from gradsync.studies import reproduce, reproduce_page

    root = Path(arguments.papers)
    if arguments.name is None:
        for name in reproduce.list_papers(root):
            print(f"{name:<22} {reproduce.read_paper(root, name).title}")
        for name, reason in reproduce.list_missing(root).items():
            print(f"{name:<22} not yet: {reason}")
        return 0
    paper = reproduce.read_paper(root, arguments.name)
    out = Path(arguments.out or Path("results") / "papers" / paper.name)
    results = reproduce.simulate(paper, out, arguments.set)
    found = reproduce.outcomes(paper, results)
    page = reproduce_page.write_page(paper, results, found, out)
    print(f"{paper.title}\n{paper.source}\n\n{reproduce_page.as_text(found)}\n{paper.remark}")
    if any(outcome.interval is not None for outcome in found):
        print(reproduce_page.INTERVALS)
    print(f"The page is {page}")
    return 1 if any(outcome.has_failed for outcome in found) else 0


def _gallery(arguments: argparse.Namespace) -> int:
    from gradsync.studies.gallery import draw_gallery, list_outdated

    scenarios, out = Path(arguments.scenarios), Path(arguments.out)
    pictures = Path(arguments.pictures)
    drawn = draw_gallery(scenarios, out, out / "pictures" if arguments.check else pictures)
    if not arguments.check:
        for path in drawn:
            print(f"wrote {path}", file=sys.stderr)
        return 0
    outdated = list_outdated(drawn, pictures)
    for path in outdated:
        print(f"{pictures / path.name} is out of date; anew: {path}")
    print(f"{len(drawn) - len(outdated)} of {len(drawn)} pictures are as drawn anew")
    return 1 if outdated else 0


def _sum_errors(arguments: argparse.Namespace) -> int:
    from gradsync.studies.sum_error_plot import plot_sum_errors

    for path in plot_sum_errors(Path(arguments.out)):
        print(f"wrote {path}", file=sys.stderr)
    return 0


def _gradients(arguments: argparse.Namespace) -> int:
    from gradsync.studies import gradient_plot, gradients

    first, *others = (*gradients.METHODS, *gradients.VARIANTS)
    names = {method.name for method in (first, *others)}
    asked = set(arguments.codec or (method.name for method in gradients.METHODS))
    if not asked <= names:
        raise ScenarioError(f"codecs are {', '.join(sorted(names))}")
    methods = [first, *(method for method in others if method.name in asked)]
    setup = gradients.Setup(2, 4) if arguments.quick else gradients.Setup()
    command = "./ns3 gradients" + (" --quick" if arguments.quick else "")
    command += "".join(f" --codec {name}" for name in arguments.codec)
    found = gradients.study(methods, setup, command)
    out = Path(arguments.out)
    gradients.write_study(found, out / "gradients.json")
    print(gradients.as_table(found))
    for path in (out / "gradients.json", gradient_plot.plot_study(found, out / "gradients.svg")):
        print(f"wrote {path}", file=sys.stderr)
    return 0


def _report(arguments: argparse.Namespace) -> int:
    from gradsync.report.page import write_report

    out = Path(arguments.out) if arguments.out else None
    print(f"wrote {write_report(Path(arguments.results), out, arguments.network)}", file=sys.stderr)
    return 0


def _sweep(arguments: argparse.Namespace) -> int:
    from gradsync.studies.sweep import Sweep, default_cores, run_sweep

    out = arguments.out or Path("results") / Path(arguments.scenario).stem
    sweep = Sweep(
        Path(arguments.scenario),
        Path(out),
        arguments.set,
        arguments.cores or default_cores(),
        arguments.runs_per_job,
        arguments.threads,
        arguments.executor,
        arguments.snakemake,
    )
    draw = (lambda _folder: None) if arguments.no_plot else _draw
    return run_sweep(sweep, not arguments.no_resume, draw)


def _collective(arguments: argparse.Namespace) -> int:
    from gradsync.studies import collective

    request = collective.read_request(arguments)
    out = Path(arguments.out)
    results = collective.measure(request, out, arguments.jobs)
    print(collective.as_table(request, results))
    for line in collective.explain(request):
        print(line)
    from gradsync.studies.collective_plot import plot_busbw

    title = f"{request.collective}, {request.topology.stem}"
    for path in plot_busbw(collective.curves(request, results), title, out):
        print(f"wrote {path}", file=sys.stderr)
    return 3 if results.unfinished else 0


def _fit(arguments: argparse.Namespace) -> int:
    from gradsync.studies import fit, fit_page
    from gradsync.studies.fit_request import read_fit_request

    request = read_fit_request(arguments)
    table = request.table.path.resolve()
    out = Path(arguments.out or Path("results") / "fit" / f"{table.parent.name}-{table.stem}")
    found = fit.fit(request, out, arguments.jobs)
    print(fit_page.as_table(found))
    for path in fit_page.write_fit(found, out):
        print(f"wrote {path}", file=sys.stderr)
    return 0


def _route(arguments: argparse.Namespace) -> int:
    from gradsync.studies import routing

    scenario = Path(arguments.scenario)
    out = Path(arguments.out or scenario.with_name(f"{scenario.stem}-routed.json"))
    found = routing.find_routing(scenario, arguments.rounds, arguments.seed)
    print(routing.as_table(found))
    routing.write_scenario(scenario, found, out)
    print(f"wrote {out}", file=sys.stderr)
    return 0


def _compare(arguments: argparse.Namespace) -> int:
    from gradsync.results.compare import compare_results

    differences = compare_results(Path(arguments.first), Path(arguments.second))
    for difference in differences:
        print(difference)
    print(f"{len(differences)} differences, wall-clock columns aside")
    return 1 if differences else 0


def _bench_history(arguments: argparse.Namespace) -> int:
    from gradsync.studies.bench_plot import plot_history

    print(f"wrote {plot_history(Path(arguments.table))}", file=sys.stderr)
    return 0


def _version() -> str:
    from gradsync.studies.program import call

    try:
        simulator = call(["--version"])[0].strip()
    except (GradsyncError, OSError) as error:
        simulator = f"none ({printable(error)})"
    python = platform.python_version()
    return f"gradsync {__version__} (Python {python}); simulator: {simulator}"


_VERBS = {
    "plot": _plot,
    "export": _export,
    "regress": _regress,
    "report": _report,
    "reproduce": _reproduce,
    "gallery": _gallery,
    "gradients": _gradients,
    "sum-errors": _sum_errors,
    "sweep": _sweep,
    "collective": _collective,
    "fit": _fit,
    "route": _route,
    "compare": _compare,
    "bench-history": _bench_history,
}


def main(command: Sequence[str] | None = None) -> int:
    """Exit code 0 done, 1 results differ or a run crashed, 2 bad input, 3 an exchange did not finish."""
    try:
        code = _carry_out(command)
        sys.stdout.flush()
        return code
    except KeyboardInterrupt:
        print("gradsync: interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:
        # The reader of our output went away, as `head` does; nothing is left to say.
        sys.stderr.close()
        return 0
    except OSError as error:
        # A file that cannot be written, which the text names; standard output has no name.
        where = "" if error.filename else "standard output: "
        print(f"gradsync: {where}{printable(error)}", file=sys.stderr)
        _forget_output()
        return 2 if error.filename else 1


def _forget_output() -> None:
    """Let what standard output did not take go, or Python tries again at its end and says so."""
    with contextlib.suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _carry_out(command: Sequence[str] | None) -> int:
    try:
        arguments = command_line.read(command, _VERBS, _version)
        return int(arguments.carry_out(arguments))
    except GradsyncError as error:
        print(f"gradsync: {printable(error)}", file=sys.stderr)
        return 1 if isinstance(error, SimulationError) else 2


def _end(number: int, _frame: object) -> None:
    """End as an exception does, so that a simulation that is waited for ends too."""
    sys.exit(128 + number)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, _end)
    sys.exit(main())
