# SPDX-License-Identifier: GPL-2.0-only
"""Calls the simulator within limits of time and memory, and reads what it wrote."""

import contextlib
import csv
import os
import resource
import select
import shutil
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

TABLES = (
    "runs",
    "iterations",
    "links",
    "messages",
    "faults",
    "samples",
    "flows",
    "unfinished",
    "blocked",
    "training",
    "streams",
    "collectives",
    "critical_path",
    "updates",
    "workers",
)


@dataclass(frozen=True)
class Limits:
    """What one call may take. A scenario of the referee needs a hundredth of it."""

    seconds: float = 60.0
    peak_bytes: int = 1 << 30
    # The sanitizers reserve terabytes of addresses, so that only memory in use can be limited there.
    address_bytes: int | None = 8 << 30


SANITIZED = Limits(seconds=150.0, peak_bytes=2 << 30, address_bytes=None)


@dataclass
class Outcome:
    """How a call ended."""

    code: int
    out: str
    error: str
    seconds: float
    peak_bytes: int
    timed_out: bool = False


@dataclass
class Results:
    """A call that simulates, and the tables that it wrote."""

    outcome: Outcome
    tables: dict[str, list[dict[str, str]]] = field(default_factory=dict)
    files: dict[str, bytes] = field(default_factory=dict)

    @property
    def code(self) -> int:
        return self.outcome.code

    def rows(self, table: str) -> list[dict[str, str]]:
        return self.tables.get(table, [])

    @property
    def run(self) -> dict[str, str]:
        """The only row of runs.csv."""
        return self.tables["runs"][0]


def _limit(process: int, limits: Limits) -> None:
    if limits.address_bytes is not None:
        most = (limits.address_bytes, limits.address_bytes)
        resource.prlimit(process, resource.RLIMIT_AS, most)
    resource.prlimit(process, resource.RLIMIT_CORE, (0, 0))


def _ends(process: int, seconds: float) -> bool:
    """Waits for the end of a child, which is not reaped, for so long."""
    descriptor = os.pidfd_open(process)
    try:
        return bool(select.select([descriptor], [], [], seconds)[0])
    finally:
        os.close(descriptor)


class Simulator:
    """The program gradsync, called from a folder of its own."""

    def __init__(self, program: Path, limits: Limits):
        self.program = program
        self.limits = limits
        self.calls = 0
        # The program waits until a run is on the disk (doc/results.rst), which in memory is at once.
        memory = Path("/dev/shm")
        place = memory if os.access(memory, os.W_OK) else None
        self._folder = Path(tempfile.mkdtemp(prefix="gradsync-referee-", dir=place))

    def close(self) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)

    def call(self, *arguments: str) -> Outcome:
        """One call, killed when its time is over."""
        self.calls += 1
        out, error = self._folder / "stdout", self._folder / "stderr"
        start = time.monotonic()
        with out.open("wb") as out_file, error.open("wb") as error_file:
            # The process is reaped by wait4, which tells its peak memory with that of its children.
            child = subprocess.Popen(
                [str(self.program), *arguments],
                cwd=self._folder,
                stdin=subprocess.DEVNULL,
                stdout=out_file,
                stderr=error_file,
                start_new_session=True,
            )
            _limit(child.pid, self.limits)
            timed_out = not _ends(child.pid, self.limits.seconds)
            if timed_out:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(child.pid, signal.SIGKILL)
            _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        return Outcome(
            child.returncode,
            out.read_text(errors="replace"),
            error.read_text(errors="replace"),
            time.monotonic() - start,
            usage.ru_maxrss * 1024,
            timed_out,
        )

    def write(self, name: str, text: str) -> str:
        (self._folder / name).write_text(text)
        return name

    def read(self, name: str) -> str:
        return (self._folder / name).read_text()

    def simulate(self, scenario: str, *options: str) -> Results:
        """Runs a scenario file of this folder and reads all tables."""
        results = self._folder / "results"
        shutil.rmtree(results, ignore_errors=True)
        outcome = self.call("run", scenario, "--out=results", "--progress=never", *options)
        read = Results(outcome)
        for table in TABLES:
            path = results / f"{table}.csv"
            if path.exists():
                read.files[path.name] = path.read_bytes()
                with path.open(newline="") as file:
                    read.tables[table] = list(csv.DictReader(file))
        return read

    def describe(self, scenario: str) -> Outcome:
        return self.call("describe", scenario)

    def plan(self, scenario: str, job: str, *options: str) -> Outcome:
        return self.call("plan", scenario, f"--job={job}", *options)

    def list_kinds(self) -> str:
        return self.call("list", "--json").out
