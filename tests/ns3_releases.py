# SPDX-License-Identifier: GPL-2.0-only
"""Builds gradsync against the ready-made packages of other releases of ns-3, tests it and compares results.

    python3 -P tests/ns3_releases.py [--all | --sanitized] [RELEASE...]

Of each release (default: those that CI takes, the newest and one of the others in turn, by the number
of commits; the oldest is Debian's, which all else is built with) PyPI's package `ns3` is fetched and
unpacked, once, in build/ns3-packages; the program and the unit tests of the rooms that use ns-3's
simulator are built in build/ns3-RELEASE, unoptimised, as compiling takes most of the time. The tests run,
and the program some scenarios, whose results are to be those of build/release (./ns3 build). Where ns-3's
own TCP is another one, that is printed. --all builds and runs all unit tests, TestSuites and examples,
which takes twice as long. With --sanitized the newest one is not built again: build/sanitize was built with
it (tests/ns3_packages.py), and ./ns3 test --sanitize has run all tests; its program is compared.
"""

import csv
import os
import platform
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from launcher.tests import Count, run_ctest  # noqa: E402
from launcher.tree import RELEASE, SANITIZE, cores  # noqa: E402
from tests.ns3_packages import KNOWN, NEWEST, Package, call, fail, fetch  # noqa: E402

# What is to be equal: a file, and overrides that keep it short.
COMPARED = (
    ("smoke.json",),
    ("quickstart.json",),
    ("rat-oversubscription.json", "--set=job.gradient=1MiB", "--set=topology.hostsPerLeaf=4"),
)
# Whose code or tests use more of ns-3 than its Time, DataRate and attributes.
SIMULATED = (
    "aggregation",
    "engine",
    "fabric",
    "fault",
    "helper",
    "stock",
    "traffic",
    "transport",
)
TCP = (
    "rat-tcp.json",
    '--set=sweep={"topology.hostsPerLeaf": [4], "scheme.kind": ["ring"]}',
    "--set=job.gradient=16MiB",
)


def check_header_names(package: Package) -> Count:
    """In a source tree headers of all modules share one folder: none of ours has a name of ns-3's."""
    theirs = {file.name for file in (package.folder / "ns3" / "include" / "ns3").iterdir()}
    rooms = (ROOT / room for room in ("model", "helper", "study"))
    ours = {file.name for room in rooms for file in room.rglob("*.h")}
    for name in sorted(ours & theirs):
        print(f"ns-3 {package.release}: {name} is the name of a header of ns-3's")
    return Count(failed=1) if ours & theirs else Count(passed=1)


def build(package: Package, with_all: bool) -> None:
    # Of no type that CMake has, as to Release the tests add an option of theirs that optimises.
    settings = ["-DCMAKE_BUILD_TYPE=Unoptimised", "-DCMAKE_CXX_FLAGS=-DNDEBUG"]
    settings += ["-DGRADSYNC_BENCHMARKS=OFF", "-DGRADSYNC_TEST_CASES=OFF", "-DGRADSYNC_WERROR=ON"]
    settings += [f"-Dns3_DIR={package.cmake}"]
    # Twice as fast as GCC here, with precompiled headers.
    if shutil.which("clang++-14"):
        settings.append("-DCMAKE_CXX_COMPILER=clang++-14")
        if shutil.which("ld.lld-14"):
            settings.append("-DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=lld")
    call(["cmake", "-S", ROOT, "-B", package.build, "-G", "Ninja", *settings])
    targets = ["gradsync-program", *(f"{room}-tests" for room in SIMULATED)]
    targets = [] if with_all else targets
    call(["ninja", "-C", package.build, "-j", str(cores()), *targets])


def simulate(program: Path, scenario: Sequence[str], out: Path) -> Path:
    shutil.rmtree(out, ignore_errors=True)
    name, *overrides = scenario
    file = ROOT / "scenarios" / name
    call([program, "run", file, f"--out={out}", "--progress=never", *overrides])
    return out


def compare(build: Path) -> Count:
    """Scenarios with both programs: equal but for what the machine took."""
    count = Count()
    for scenario in COMPARED:
        name = Path(scenario[0]).stem
        outs = [
            simulate(program, scenario, build / "results" / f"{name}-{which}")
            for program, which in ((RELEASE.program, "3.37"), (build / "gradsync", "here"))
        ]
        told = subprocess.run(
            [sys.executable, "-P", "-m", "gradsync", "compare", *map(str, outs)],
            env={**os.environ, "PYTHONPATH": str(ROOT / "analysis" / "src")},
            check=False,
        )
        count += Count(passed=1) if told.returncode == 0 else Count(failed=1)
    return count


def mean_time(folder: Path) -> str:
    with open(folder / "runs.csv", encoding="utf-8", newline="") as file:
        return next(csv.DictReader(file))["ict_mean_s"]


def show_tcp(package: Package, build: Path) -> None:
    """What ns-3's own TCP makes of one ring: it differs between releases, and is not held."""
    there = simulate(RELEASE.program, TCP, build / "results" / "tcp-3.37")
    here = simulate(build / "gradsync", TCP, build / "results" / "tcp-here")
    theirs, ours = mean_time(there), mean_time(here)
    verdict = "the same" if theirs == ours else f"{theirs} s of build/release"
    print(f"ns-3 {package.release}: a ring over its TCP takes {ours} s, {verdict}", flush=True)


def check(package: Package, with_all: bool) -> Count:
    start = time.monotonic()
    fetch(package)
    fetched = time.monotonic()
    build(package, with_all)
    built = time.monotonic()
    count = check_header_names(package)
    good, cases = run_ctest(package.build, None if with_all else f"^({'|'.join(SIMULATED)})-tests")
    count += cases + Count(failed=0 if good or cases.failed else 1)
    tested = time.monotonic()
    count += compare(package.build)
    show_tcp(package, package.build)
    times = [fetched - start, built - fetched, tested - built, time.monotonic() - tested]
    words = ("fetched", "built", "tested", "compared")
    spent = ", ".join(f"{word} in {spent:.0f} s" for word, spent in zip(words, times))
    print(f"ns-3 {package.release}: {count}; {spent}", flush=True)
    return count


def check_sanitized(package: Package) -> Count:
    """Of the release that build/sanitize was built with: what ./ns3 test --sanitize does not look at."""
    cache = SANITIZE.directory / "CMakeCache.txt"
    if not cache.exists() or f"={package.cmake}\n" not in cache.read_text(encoding="utf-8"):
        fail(f"{SANITIZE.directory} was not built with {package.cmake}")
    count = check_header_names(package) + compare(SANITIZE.directory)
    show_tcp(package, SANITIZE.directory)
    print(f"ns-3 {package.release}, sanitized: {count}", flush=True)
    return count


def choose(named: Sequence[str]) -> list[Package]:
    """The ones named; else those of CI, of which only one takes its turn with each commit."""
    if named:
        return [package for package in KNOWN if package.release in named]
    in_turn = [package for package in KNOWN if package.in_ci == "in turn"]
    commits = subprocess.run(
        ["git", "-C", str(ROOT), "rev-list", "--count", "HEAD"],
        capture_output=True,
        text=True,
        check=False,
    )
    turn = in_turn[int(commits.stdout or 0) % len(in_turn)]
    return [package for package in KNOWN if package.in_ci == "always" or package is turn]


def main() -> int:
    if platform.machine() != "x86_64":
        fail(f"the packages are for x86_64, and this is {platform.machine()}")
    if not RELEASE.program.exists():
        fail(f"{RELEASE.program} does not exist; remedy: ./ns3 build")
    options = {"--all", "--sanitized"}.intersection(sys.argv)
    named = [argument for argument in sys.argv[1:] if argument not in options]
    unknown = set(named) - {package.release for package in KNOWN}
    if unknown:
        known = ", ".join(package.release for package in KNOWN)
        fail(f"no package of ns-3 {', '.join(sorted(unknown))}; there are {known}")
    count = Count()
    for package in choose(named):
        if package is NEWEST and "--sanitized" in options:
            count += check_sanitized(package)
        else:
            count += check(package, "--all" in options)
    print(f"{count.passed} passed, {count.failed} failed, {count.skipped} skipped")
    return 0 if count.failed == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
