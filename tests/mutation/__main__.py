# SPDX-License-Identifier: GPL-2.0-only
"""Mutation testing: which share of small mistakes in the core do the tests of its rooms notice?

    python3 -P tests/mutation [--count N] [--seed S] [FILE...]

needs build/release with the test programs. A mutant is compiled by itself and takes the place of its file in a
copy of the library; the sources and the build are left alone. Mutants that do not compile do not count.
"""

import argparse
import json
import os
import random
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from mutations import Mutation, find_mutations, mutated

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "release"
LIBRARY = "libgradsync.a"
# The core: the files that are mutated by default, and the programs that test what a folder holds, the room's
# own first. Those that were not built are left out.
CORE = (
    "model/plan/plan-builder.cc",
    "model/plan/plan-graph.cc",
    "model/plan/plan-verifier.cc",
    "model/plan/plan-statistics.cc",
    "model/fabric/fabric-port.cc",
    "model/fabric/lazy-sender.cc",
    "model/transport/roce/roce-nic.cc",
    "model/transport/roce/roce-sender.cc",
    "model/transport/roce/roce-receiver.cc",
    "model/transport/roce/roce-queue-pair.cc",
)
TESTS = {
    "model/plan": ("plan-tests", "scheme-tests"),
    "model/fabric": ("fabric-tests", "transport-tests"),
    "model/transport": ("transport-tests",),
    "model/workload": ("workload-tests", "engine-tests"),
    "model/training": ("training-tests",),
    "model/engine": ("engine-tests",),
}
KILLED, SURVIVED, INVALID = "killed", "survived", "does not compile"
# A mutant that takes this much longer than the good program does not end.
PATIENCE = 5
LEAST_SECONDS = 10


def _run(command: list[str], **options) -> subprocess.CompletedProcess:
    return subprocess.run(
        command, cwd=BUILD, capture_output=True, text=True, check=False, **options
    )


def _output(row: dict) -> str:
    """The object file of a row of compile_commands.json."""
    command = shlex.split(row["command"])
    return command[command.index("-o") + 1]


@dataclass(frozen=True)
class Unit:
    """How a source file gets into the library: by itself, or with others in one unit."""

    source: Path
    command: list[str]  # compiles INPUT to OUTPUT
    member: str  # of the library
    others: str  # includes of what is in the same unit, empty for a file by itself

    @staticmethod
    def of(name: str) -> "Unit":
        """Raises StopIteration for a file that is not built."""
        source = ROOT / name
        rows = json.loads((BUILD / "compile_commands.json").read_text())
        rows = [row for row in rows if "gradsync.dir/" in _output(row)]

        def includes(row: dict) -> str:
            file = Path(row["file"])
            return file.read_text() if file.name.startswith("unity_") else ""

        line = f'#include "{source}"\n'
        row = next(row for row in rows if row["file"] == str(source) or line in includes(row))
        command = shlex.split(row["command"])
        if Path(command[0]).name == "ccache":
            del command[0]
        command = [{row["file"]: "INPUT", _output(row): "OUTPUT"}.get(a, a) for a in command]
        # The tests wait for the compiler, not for the simulation.
        command = ["-O1" if a == "-O3" else a for a in command if a != "-Werror"]
        return Unit(source, command, Path(_output(row)).name, includes(row).replace(line, ""))

    def compile(self, source: Path, target: Path) -> bool:
        """Whether it could be compiled."""
        names = {"INPUT": str(source), "OUTPUT": str(target)}
        return _run([*(names.get(a, a) for a in self.command), "-w"]).returncode == 0


class Bench:
    """A folder of one worker: a copy of the library without a file, into which mutants of it go."""

    def __init__(self, unit: Unit, programs: tuple[str, ...], folder: Path):
        self.unit = unit
        self.folder = folder
        self.library = folder / LIBRARY
        folder.mkdir()
        shutil.copy(BUILD / LIBRARY, self.library)
        _run(["ar", "d", str(self.library), unit.member]).check_returncode()
        if unit.others:
            rest = folder / "rest.cc"
            rest.write_text(unit.others)
            assert unit.compile(rest, folder / "rest.o"), "the rest of the unit does not compile"
            _run(["ar", "r", str(self.library), str(folder / "rest.o")]).check_returncode()
        self.links = {program: self._link_command(program) for program in programs}
        self.limits = dict.fromkeys(programs, 600.0)

    def _link_command(self, program: str) -> list[str]:
        told = _run(["ninja", "-t", "commands", program])
        text = told.stdout.splitlines()[-1].removeprefix(": && ").split(" && ")[0]
        names = {program: str(self.folder / program), LIBRARY: str(self.library)}
        return [names.get(a, a) for a in shlex.split(text)]

    def judge(self, text: str) -> str:
        """What becomes of a text of the file."""
        source = self.folder / self.unit.source.name
        source.write_text(text)
        if not self.unit.compile(source, self.folder / "mutant.o"):
            return INVALID
        _run(["ar", "r", str(self.library), str(self.folder / "mutant.o")]).check_returncode()
        for program, link in self.links.items():
            _run(link).check_returncode()
            if not self._passes(program):
                return KILLED
        return SURVIVED

    def _passes(self, program: str) -> bool:
        try:
            # At most 8 GB: some mutants ask for all there is.
            limited = ["prlimit", "--as=8589934592", str(self.folder / program)]
            limit = self.limits[program]
            return _run([*limited, "--gtest_fail_fast"], timeout=limit).returncode == 0
        except subprocess.TimeoutExpired:
            return False

    def measure(self) -> None:
        """Make sure that the good file passes, and how long it takes."""
        text = self.unit.source.read_text()
        assert self.judge(text) == SURVIVED, (
            f"{self.unit.source}: the tests fail without a mutation"
        )
        for program in self.links:
            begin = time.monotonic()
            self._passes(program)
            self.limits[program] = max(LEAST_SECONDS, PATIENCE * (time.monotonic() - begin))


def _programs(name: str) -> tuple[str, ...]:
    named = next(programs for room, programs in TESTS.items() if name.startswith(room + "/"))
    built = tuple(program for program in named if (BUILD / program).exists())
    assert built, f"none of {', '.join(named)} is built"
    return built


def test_file(name: str, count: int, draw: random.Random, benches: Path) -> tuple[int, int]:
    """Judge `count` mutants of a file; how many were killed, of how many that compiled."""
    unit = Unit.of(name)
    text = unit.source.read_text()
    mutations = find_mutations(text)
    draw.shuffle(mutations)
    bench = Bench(unit, _programs(name), benches / re.sub(r"\W", "-", name))
    bench.measure()
    survivors: list[Mutation] = []
    judged = 0
    for mutation in mutations:
        if judged == count:
            break
        outcome = bench.judge(mutated(text, mutation))
        judged += outcome != INVALID
        if outcome == SURVIVED:
            survivors.append(mutation)
            print(f"{name}:{mutation}", flush=True)
    print(
        f"{name}: {judged - len(survivors)} of {judged} killed ({len(mutations)} possible)",
        flush=True,
    )
    shutil.rmtree(bench.folder)
    return judged - len(survivors), judged


def main() -> int:
    """Judge mutants of the core, or of the files named."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", metavar="FILE", nargs="*", default=CORE)
    parser.add_argument("--count", type=int, default=20, help="mutants of each file (20)")
    parser.add_argument("--seed", type=int, default=1, help="which ones are drawn (1)")
    parser.add_argument("--jobs", type=int, default=1, help="files at a time (1)")
    arguments = parser.parse_args()
    os.environ["CCACHE_DISABLE"] = "1"
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(arguments.jobs) as pool:
        results = pool.map(
            lambda name: test_file(
                name, arguments.count, random.Random(f"{arguments.seed} {name}"), Path(folder)
            ),
            arguments.files,
        )
        killed, judged = map(sum, zip(*results, strict=True))
    print(f"{killed} of {judged} mutants killed ({100 * killed / max(judged, 1):.0f} %)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
