# SPDX-License-Identifier: GPL-2.0-only
"""python -m gradsync plot DIR | export DIR | compare DIR DIR | regress | sweep S"""

import argparse
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from gradsync.errors import GradsyncError, ScenarioError, SimulationError
from gradsync.results.folder import load
from gradsync.text import printable


def _plot(arguments: argparse.Namespace) -> int:
    # Imported here: comparing needs no plotting library.
    if arguments.kind:
        from gradsync.plots.kinds import plot_kind

        out = Path(arguments.out) if arguments.out else None
        for kind in arguments.kind:
            path = plot_kind(load(arguments.results), kind, arguments.run, out)
            print(f"wrote {path}", file=sys.stderr)
        return 0
    from gradsync.plots import tradeoff
    from gradsync.plots.plot import plot_results

    for path in plot_results(Path(arguments.results)):
        print(f"wrote {path}", file=sys.stderr)
    results = load(arguments.results)
    if tradeoff.applies(results):
        print("\n".join(tradeoff.describe(results)))
    return 0


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
    print(f"wrote {write_report(Path(arguments.results), out)}", file=sys.stderr)
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
    return run_sweep(sweep, not arguments.no_resume)


def _add_sweep_options(parser: argparse.ArgumentParser) -> None:
    """The options of a sweep."""
    parser.add_argument("scenario", metavar="SCENARIO")
    parser.add_argument("--set", action="append", default=[], metavar="PATH=VALUE")
    parser.add_argument("--out", metavar="DIR")
    parser.add_argument("--cores", metavar="N", type=int)
    parser.add_argument("--runs-per-job", metavar="N", type=int)
    parser.add_argument("--threads", metavar="N", type=int, default=1)
    parser.add_argument("--executor", metavar="NAME")
    parser.add_argument("--no-resume", action="store_true")
    parser.add_argument("--snakemake", action="append", default=[], metavar="OPTION")


def _compare(arguments: argparse.Namespace) -> int:
    from gradsync.results.compare import compare_results

    differences = compare_results(Path(arguments.first), Path(arguments.second))
    for difference in differences:
        print(difference)
    print(f"{len(differences)} differences, wall-clock columns aside")
    return 1 if differences else 0


def main(command: Sequence[str] | None = None) -> int:
    """Exit code 0 done, 1 results differ or a run crashed, 2 bad input, 3 an exchange did not finish."""
    parser = argparse.ArgumentParser(prog="gradsync", description=__doc__)
    verbs = parser.add_subparsers(required=True)
    plot = verbs.add_parser("plot", help="write plot.svg and plot.png into a results folder")
    plot.add_argument("results", metavar="DIR")
    plot.add_argument("--kind", action="append", default=[], metavar="KIND")
    plot.add_argument("--run", type=int, metavar="N")
    plot.add_argument("--out", metavar="FILE")
    plot.set_defaults(carry_out=_plot)
    export = verbs.add_parser("export", help="write the tables of a results folder as Parquet")
    export.add_argument("results", metavar="DIR")
    export.set_defaults(carry_out=_export)
    regress = verbs.add_parser("regress", help="compare the regression scenarios with baselines")
    regress.add_argument("--scenarios", metavar="DIR", default="scenarios/regression")
    regress.add_argument("--out", metavar="DIR", default="results/regression")
    regress.add_argument("--jobs", metavar="N", type=int)
    regress.add_argument("--update", action="store_true", help="accept what is simulated now")
    regress.set_defaults(carry_out=_regress)
    report = verbs.add_parser("report", help="write one HTML file about a results folder")
    report.add_argument("results", metavar="DIR")
    report.add_argument("--out", metavar="FILE")
    report.set_defaults(carry_out=_report)
    reproduce = verbs.add_parser("reproduce", help="simulate what a paper says")
    reproduce.add_argument("name", metavar="NAME", nargs="?")
    reproduce.add_argument("--papers", metavar="DIR", default="scenarios/papers")
    reproduce.add_argument("--out", metavar="DIR")
    reproduce.add_argument("--set", action="append", default=[], metavar="PATH=VALUE")
    reproduce.set_defaults(carry_out=_reproduce)
    gallery = verbs.add_parser("gallery", help="draw the pictures of the documentation")
    gallery.add_argument("--scenarios", metavar="DIR", default="scenarios")
    gallery.add_argument("--out", metavar="DIR", default="results/gallery")
    gallery.add_argument("--pictures", metavar="DIR", default="doc/pictures")
    gallery.add_argument("--check", action="store_true", help="only compare with what is there")
    gallery.set_defaults(carry_out=_gallery)
    gradients = verbs.add_parser("gradients", help="train a network with each codec in the loop")
    gradients.add_argument("--codec", action="append", default=[], metavar="KIND")
    gradients.add_argument("--quick", action="store_true", help="two short trainings per codec")
    gradients.add_argument("--out", metavar="DIR", default="results/gradients")
    gradients.set_defaults(carry_out=_gradients)
    sum_errors = verbs.add_parser(
        "sum-errors", help="errors of sums that switches make, over the factor"
    )
    sum_errors.add_argument("--out", metavar="DIR", default="results/sum-errors")
    sum_errors.set_defaults(carry_out=_sum_errors)
    sweep = verbs.add_parser("sweep", help="run a sweep as a Snakemake workflow")
    _add_sweep_options(sweep)
    sweep.set_defaults(carry_out=_sweep)
    compare = verbs.add_parser("compare", help="compare two results folders value by value")
    compare.add_argument("first", metavar="DIR")
    compare.add_argument("second", metavar="DIR")
    compare.set_defaults(carry_out=_compare)
    arguments = parser.parse_args(command)
    try:
        return int(arguments.carry_out(arguments))
    except GradsyncError as error:
        print(f"gradsync: {printable(error)}", file=sys.stderr)
        return 1 if isinstance(error, SimulationError) else 2
    except BrokenPipeError:
        # The reader of our output went away, as `head` does; nothing is left to say.
        sys.stderr.close()
        return 0
    except OSError as error:
        # A file that cannot be written, which the text names.
        print(f"gradsync: {printable(error)}", file=sys.stderr)
        return 2


def _end(number: int, _frame: object) -> None:
    """End as an exception does, so that a simulation that is waited for ends too."""
    sys.exit(128 + number)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, _end)
    sys.exit(main())
