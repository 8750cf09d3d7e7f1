# SPDX-License-Identifier: GPL-2.0-only
"""Runs a sweep as a Snakemake workflow: on the cores of this machine or on any of its executors.

The simulator expands the grid, knows which runs a results folder has, and assembles the tables, here as
in a plain run; Snakemake decides where and when each batch of missing runs is done.
"""

import fcntl
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path

from gradsync.errors import SimulationError
from gradsync.studies.program import call, find_program

# Enough that the last batch to end is short beside the whole, few enough that starting them costs little.
BATCHES_PER_CORE = 8


@dataclass
class Sweep:
    """A scenario, its results folder, and how the work is cut."""

    scenario: Path
    out: Path
    overrides: Sequence[str] = ()
    cores: int = 1
    runs_per_batch: int | None = None
    threads: int = 1
    executor: str | None = None
    options: Sequence[str] = field(default_factory=tuple)

    @property
    def _arguments(self) -> list[str]:
        return [
            "run",
            str(self.scenario.resolve()),
            f"--out={self.out.resolve()}",
            "--progress=never",
            *(f"--set={override}" for override in self.overrides),
        ]

    def missing(self, resume: bool = True) -> list[int]:
        """Check all runs; the numbers of those that the folder lacks."""
        told, _ = call([*self._arguments, "--prepare", *([] if resume else ["--no-resume"])])
        return [run["run"] for run in json.loads(told) if not run["done"]]

    def batches(self, runs: Sequence[int]) -> dict[str, str]:
        """Runs dealt out in turn, so that neighbours, which take alike long, are spread evenly."""
        size = self.runs_per_batch or max(1, -(-len(runs) // (BATCHES_PER_CORE * self.cores)))
        count = -(-len(runs) // size)
        width = len(str(count))
        return {
            f"{batch:0{width}}": ",".join(str(run) for run in runs[batch::count])
            for batch in range(count)
        }

    def execute(self, runs: Sequence[int]) -> int:
        """Have Snakemake do these runs; its exit code. Runs that end are kept, whatever comes after."""
        work = self.out.resolve() / ".sweep"
        # The results folder knows what is done; marks of an earlier start know less.
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir(parents=True)
        config = {
            "command": shlex.join([str(find_program().resolve()), *self._arguments]),
            "batches": self.batches(runs),
            "threads": self.threads,
        }
        (work / "config.json").write_text(json.dumps(config), encoding="utf-8")
        # Snakemake starts Python again for each job.
        variables = {**os.environ, "PYTHONSAFEPATH": "1"}
        # A group of its own, so that a signal to this process alone reaches its jobs as well.
        with subprocess.Popen(self._snakemake(work), env=variables, process_group=0) as snakemake:
            try:
                return snakemake.wait()
            except BaseException:
                _end_group(snakemake)
                raise

    def _snakemake(self, work: Path) -> list[str]:
        # By its path: what imported this package may have found it where a new Python does not look.
        program = files("gradsync.studies") / "snakemake_call.py"
        command = [sys.executable, "-P", str(program)]
        command += [
            "--snakefile",
            str(files("gradsync.studies") / "Snakefile"),
            "--directory",
            str(work),
        ]
        command += ["--configfile", str(work / "config.json"), "--quiet", "rules", "host"]
        # Not profiles/default/ of the folder in which the user stands, which may hold commands.
        command += ["--workflow-profile", "none"]
        # The results folder is locked by the simulator itself; batches are independent of each other.
        command += ["--nolock", "--keep-going", "--scheduler", "greedy"]
        if self.executor is None:
            command += ["--cores", str(self.cores)]
        else:
            command += ["--executor", self.executor]
            command += [] if _has_jobs(self.options) else ["--jobs", str(self.cores)]
        return command + list(self.options)

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Wait until no other sweep is at work in the folder, and keep others waiting."""
        # Beside the folder, which a refused scenario must not make.
        path = self.out.resolve().with_name(f".{self.out.name}.sweep.lock")
        path.parent.mkdir(parents=True, exist_ok=True)
        while True:
            with open(path, "w", encoding="utf-8") as lock:
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    print(f"another sweep is at work in {self.out}: waiting", file=sys.stderr)
                    fcntl.flock(lock, fcntl.LOCK_EX)
                # The one before removed the file; a third may have made it anew.
                if not path.exists() or not os.path.samestat(path.stat(), os.fstat(lock.fileno())):
                    continue
                try:
                    yield
                finally:
                    path.unlink()
                return

    def assemble(self) -> tuple[str, bool]:
        """Write the tables; the table to print, and whether all exchanges finished.

        Raises SimulationError for runs that gave no result.
        """
        return call([*self._arguments, "--assemble"])


# Snakemake takes SIGINT for the end of its jobs too, on a cluster as well; SIGTERM lets them go on.
_PATIENCE_S = 30


def _end_group(leader: subprocess.Popen[bytes]) -> None:
    os.killpg(leader.pid, signal.SIGINT)
    try:
        leader.wait(_PATIENCE_S)
    except subprocess.TimeoutExpired:
        os.killpg(leader.pid, signal.SIGKILL)
        leader.wait()


def _has_jobs(options: Sequence[str]) -> bool:
    return any(name in ("--jobs", "-j") or name.startswith("--jobs=") for name in options)


def default_cores() -> int:
    """The cores that this process may use."""
    # macOS gives a process all of them.
    ask = getattr(os, "sched_getaffinity", None)
    return len(ask(0)) if ask else os.cpu_count() or 1


# Snakemake's own for options that it does not know; what fails in a workflow is 1.
_REFUSED = 2


def run_sweep(
    sweep: Sweep, resume: bool = True, then: Callable[[Path], None] = lambda _folder: None
) -> int:
    """Do what is missing and assemble; 0, 3 if an exchange did not finish, 2 for Snakemake's options.

    `then` draws the tables, before another sweep of the folder may write them anew. Where Snakemake
    was asked to do nothing, as by --dry-run, nothing is assembled. Raises ScenarioError for bad
    input, SimulationError if runs gave no result.
    """
    with sweep.alone():
        runs = sweep.missing(resume)
        code = _simulate(sweep, runs) if runs else 0
        left = len(sweep.missing()) if runs else 0
        if code == _REFUSED:
            return code
        if left and code == 0:
            print(f"nothing was to be done: {left} runs are missing as before", file=sys.stderr)
            return 0
        if left:
            logs = sweep.out / ".sweep" / "log"
            see = f"; see {logs}" if logs.exists() else ""
            raise SimulationError(
                f"{left} runs gave no result{see}. "
                "Those that are done are kept: start again to go on"
            )
        text, finished = sweep.assemble()
        print(text, end="", flush=True)
        then(sweep.out)
    return 0 if finished else 3


def _simulate(sweep: Sweep, runs: Sequence[int]) -> int:
    batches = len(sweep.batches(runs))
    print(f"{len(runs)} runs to do, in {batches} batches", file=sys.stderr, flush=True)
    return sweep.execute(runs)
