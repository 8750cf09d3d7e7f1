# SPDX-License-Identifier: GPL-2.0-only
"""A session of the referee: kept cases, drawn cases, what failed, and how often each law was checked."""

import argparse
import json
import multiprocessing
import os
import re
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from referee.case import Case, case_from_json
from referee.catalogue import Catalogue, read_catalogue
from referee.draw_scenario import draw_case
from referee.judge import Verdict, judge
from referee.law import LAWS
from referee.shrink import shrink
from referee.simulator import SANITIZED, Limits, Simulator

ROOT = Path(__file__).resolve().parents[2]
KEPT = Path(__file__).resolve().parent / "kept"
# From so many scenarios on a law that was never checked is an error: nobody draws what it is about.
ENOUGH = 300
_MOST_SHRUNK = 10


def _cores() -> int:
    # macOS gives a process all of them.
    ask = getattr(os, "sched_getaffinity", None)
    return len(ask(0)) if ask else os.cpu_count() or 1


def _arguments(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="referee", description=__doc__)
    parser.add_argument("--program", type=Path, required=True, help="the simulator, gradsync")
    parser.add_argument("--scenarios", type=int, default=300, metavar="N", help="to draw (300)")
    parser.add_argument("--seed", default="0", help="of all that is drawn (0)")
    parser.add_argument("--only", metavar="SEED", help="judge the scenario of one seed, as 0/17")
    parser.add_argument("--file", type=Path, help="judge a kept case, or a scenario, alone")
    parser.add_argument("--processes", type=int, default=_cores())
    parser.add_argument("--sanitized", action="store_true", help="limits of a sanitizer build")
    parser.add_argument("--failures", type=Path, default=ROOT / "build" / "referee" / "failures")
    return parser.parse_args(arguments)


class _Worker:
    """What a process has: the program and what can be drawn of it."""

    simulator: Simulator
    catalogue: Catalogue


def _start(program: Path, limits: Limits) -> None:
    _Worker.simulator = Simulator(program, limits)
    multiprocessing.util.Finalize(None, _Worker.simulator.close, exitpriority=1)
    _Worker.catalogue = read_catalogue(_Worker.simulator.list_kinds())


def _judge(work: Case | str) -> Verdict:
    case = draw_case(work, _Worker.catalogue) if isinstance(work, str) else work
    return judge(case, _Worker.simulator)


def _shrink(verdict: Verdict) -> Case:
    law = next(iter(verdict.complaints))

    def still_fails(case: Case) -> bool:
        found = judge(case, _Worker.simulator, law).complaints.get(law, [])
        # A law that cannot be checked any more is another failure.
        return bool(found) and _is_error(found) == _is_error(verdict.complaints[law])

    return shrink(verdict.case, still_fails)


def _is_error(complaints: list[str]) -> bool:
    return bool(re.match(r"[A-Z]\w*(Error|Iteration): ", complaints[0]))


def kept_cases(folder: Path = KEPT) -> list[Case]:
    """Scenarios that failed once, in the order of their names."""
    return [case_from_json(json.loads(path.read_text())) for path in sorted(folder.glob("*.json"))]


def _work(options: argparse.Namespace) -> list[Case | str]:
    if options.file:
        document = json.loads(options.file.read_text())
        if "scenario" not in document:
            document = {"seed": options.file.name, "scenario": document, "probes": []}
        return [case_from_json(document)]
    if options.only:
        return [options.only]
    return [*kept_cases(), *(f"{options.seed}/{i}" for i in range(options.scenarios))]


def _print_failure(verdict: Verdict) -> None:
    print(f"FAILED {verdict.case.seed}")
    for name, complaints in verdict.complaints.items():
        print(f"  {name} ({LAWS[name].source})")
        for complaint in complaints:
            print(f"    {complaint}")
    sys.stdout.flush()


def _keep(folder: Path, verdict: Verdict, small: Case) -> None:
    law = next(iter(verdict.complaints))
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{re.sub('[^a-z0-9]+', '-', (small.seed + '-' + law).lower())}.json"
    kept = {"law": law, "complaint": verdict.complaints[law][0], **small.to_json()}
    path.write_text(json.dumps(kept, indent=1) + "\n")
    print(f"  made small: {path}\n    {json.dumps(small.scenario)}")
    sys.stdout.flush()


def _verdicts(pool, work: list[Case | str]) -> Iterator[Verdict]:
    start, shown = time.monotonic(), 0
    for number, verdict in enumerate(pool.imap_unordered(_judge, work), 1):
        yield verdict
        if time.monotonic() - start > shown + 60:
            shown = int(time.monotonic() - start)
            print(f"{number} of {len(work)} scenarios, {shown} s", flush=True)


def _report_laws(checked: Counter[str], scenarios: int) -> list[str]:
    """Prints how often each law was checked; those that never were."""
    width = max(map(len, LAWS))
    for name in sorted(LAWS, key=lambda law: -checked[law]):
        print(f"  {name:<{width}} {checked[name]:>6}")
    return [name for name in LAWS if not checked[name]] if scenarios >= ENOUGH else []


def main(arguments: Sequence[str]) -> int:
    """A session; 0 if no law was broken and none was left out."""
    options = _arguments(arguments)
    limits = SANITIZED if options.sanitized else Limits()
    work = _work(options)
    checked: Counter[str] = Counter()
    codes: Counter[int] = Counter()
    failed: list[Verdict] = []
    initial = (options.program.resolve(), limits)
    with multiprocessing.Pool(options.processes, _start, initial) as pool:
        for verdict in _verdicts(pool, work):
            checked += verdict.checked
            codes[verdict.code] += 1
            if verdict.complaints:
                failed.append(verdict)
                _print_failure(verdict)
        for verdict, small in zip(failed, pool.imap(_shrink, failed[:_MOST_SHRUNK])):
            _keep(options.failures, verdict, small)
        pool.close()
        pool.join()
    print(f"laws, and in how many of {len(work)} scenarios each was checked:")
    never = _report_laws(checked, len(work))
    for name in never:
        print(f"never checked: {name}")
    ends = ", ".join(f"{count} with exit code {code}" for code, count in sorted(codes.items()))
    print(f"{sum(checked.values())} checks; {ends}")
    failures = len(failed) + len(never)
    # What a law says nothing of is counted per law above; a scenario is judged or not.
    print(f"{len(work) - len(failed)} passed, {failures} failed, 0 skipped")
    return 1 if failures else 0
