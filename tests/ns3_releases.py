# SPDX-License-Identifier: GPL-2.0-only
"""Builds gradsync against the ready-made packages of other releases of ns-3, tests it and compares results.

    python3 -P tests/ns3_releases.py [--all | --sanitized] [RELEASE...]
    python3 -P tests/ns3_releases.py --fetch

Of each release (default: those that CI takes, the newest and one of the others in turn, by the number
of commits; the oldest is Debian's, which all else is built with) PyPI's package `ns3` is fetched and
unpacked, once, in build/ns3-packages; the program and the unit tests of the rooms that use ns-3's
simulator are built in build/ns3-RELEASE, unoptimised, as compiling takes most of the time. The tests run,
and the program some scenarios, whose results are to be those of build/release (./ns3 build). Where ns-3's
own TCP is another one, that is printed. --all builds and runs all unit tests, TestSuites and examples,
which takes twice as long. --fetch fetches the newest release and prints where CMake finds it. With
--sanitized that one is not built again: build/sanitize was built with it, and ./ns3 test --sanitize has
run all tests; its program is compared.
"""

import csv
import hashlib
import os
import platform
import shutil
import subprocess
import sys
import time
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from launcher.tests import Count, run_ctest  # noqa: E402
from launcher.tree import RELEASE, SANITIZE, VENV, cores  # noqa: E402

PACKAGES = ROOT / "build" / "ns3-packages"
# Neither needs the packages that end up in it: an older Boost than ours, and Python's modules.
LEFT_OUT = ("ns3/include/boost/", "ns/", "visualizer/", "ns3/ns/", "ns3/visualizer/")
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


@dataclass(frozen=True)
class Package:
    """A ready-made ns-3: PyPI's version, the Python that its wheel is for, and the wheel's hash."""

    release: str
    version: str
    python: str
    sha256: str
    in_ci: str = "always"  # or "in turn", or "never"

    @property
    def wheel(self) -> Path:
        tag = "cp" + self.python.replace(".", "")
        return PACKAGES / f"ns3-{self.version}-{tag}-{tag}-manylinux_2_28_x86_64.whl"

    @property
    def folder(self) -> Path:
        return PACKAGES / self.release

    @property
    def cmake(self) -> Path:
        return self.folder / "ns3" / "lib64" / "cmake" / "ns3"

    @property
    def build(self) -> Path:
        return ROOT / "build" / f"ns3-{self.release}"


KNOWN = (
    Package(
        "3.38",
        "3.38.post272",
        "3.10",
        "8663f92372ac8e6f18dd402adb6d606f4ae47cb1358ceac2b6f8f82113c5a264",
        in_ci="never",
    ),
    Package(
        "3.39",
        "3.39.post2",
        "3.11",
        "7e6ab25b050100755a1d8fd152beb445ba3163a1acfbde0cc94d66a042e0b1d6",
        in_ci="in turn",
    ),
    Package(
        "3.40",
        "3.40",
        "3.10",
        "a93b44f666d29adab10fcf78eb60e56371c948e90e1d0a0bb93dd808b8d42829",
        in_ci="never",
    ),
    Package(
        "3.42",
        "3.42.post2",
        "3.11",
        "26878aff1eda2e06ad1eb6af842638a280e534d3e4b32e2907b2e57ebf715b2d",
        in_ci="in turn",
    ),
    Package(
        "3.43",
        "3.43.post9",
        "3.11",
        "6f55927a124c6eb761b554e176231663936f842792951442cf0afb6b0444a585",
        in_ci="in turn",
    ),
    Package(
        "3.44",
        "3.44.post0",
        "3.11",
        "2a98479a4a3a1bb819b95ce061871a9d068268b42351b8f0ef598160939ba7ce",
    ),
)


def fail(text: str) -> None:
    sys.exit(f"ns3_releases: {text}")


def call(arguments: Sequence[str | Path], **options: object) -> None:
    """Run a step; where it fails, say what it said and end."""
    told = subprocess.run(
        list(map(str, arguments)), capture_output=True, text=True, check=False, **options
    )
    if told.returncode != 0:
        lines = (told.stdout + told.stderr).splitlines()
        first = next((i for i, line in enumerate(lines) if line.startswith("FAILED")), -40)
        fail("\n".join([" ".join(map(str, arguments)), *lines[first:][:40]]))


def has_hash(package: Package) -> bool:
    if not package.wheel.exists():
        return False
    return hashlib.sha256(package.wheel.read_bytes()).hexdigest() == package.sha256


def fetch(package: Package) -> None:
    """The unpacked package in its folder."""
    if package.folder.exists():
        return
    PACKAGES.mkdir(parents=True, exist_ok=True)
    if not has_hash(package):
        python = VENV / "bin" / "python"
        if not python.exists():
            fail(f"{python} does not exist; remedy: ./ns3 test")
        pin = PACKAGES / f"{package.release}.txt"
        pin.write_text(f"ns3=={package.version} --hash=sha256:{package.sha256}\n")
        pip = [python, "-P", "-m", "pip", "download", "--quiet", "--no-deps", "--require-hashes"]
        wanted = ["--only-binary=:all:", "--platform=manylinux_2_28_x86_64"]
        wanted += [
            f"--python-version={package.python}",
            f"--dest={PACKAGES}",
            f"--requirement={pin}",
        ]
        call([*pip, *wanted])
    part = package.folder.with_suffix(".part")
    shutil.rmtree(part, ignore_errors=True)
    with zipfile.ZipFile(package.wheel) as archive:
        names = [name for name in archive.namelist() if not name.startswith(LEFT_OUT)]
        archive.extractall(part, names)
    part.rename(package.folder)


def check_header_names(package: Package) -> Count:
    """In a source tree headers of all modules share one folder: none of ours has a name of ns-3's."""
    theirs = {file.name for file in (package.folder / "ns3" / "include" / "ns3").iterdir()}
    rooms = (ROOT / room for room in ("model", "helper", "study"))
    ours = {file.name for room in rooms for file in room.rglob("*.h")}
    for name in sorted(ours & theirs):
        print(f"ns-3 {package.release}: {name} is the name of a header of ns-3's")
    return Count(failed=1) if ours & theirs else Count(passed=1)


def build(package: Package, with_all: bool) -> None:
    settings = ["-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_CXX_FLAGS_RELEASE=-O0 -DNDEBUG"]
    settings += ["-DGRADSYNC_BENCHMARKS=OFF", "-DGRADSYNC_TEST_CASES=OFF", "-DGRADSYNC_WERROR=ON"]
    settings += [f"-Dns3_DIR={package.cmake}"]
    # Twice as fast as GCC here, with precompiled headers.
    if shutil.which("clang++-14"):
        settings.append("-DCMAKE_CXX_COMPILER=clang++-14")
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
    newest = next(package for package in KNOWN if package.in_ci == "always")
    if "--fetch" in sys.argv:
        fetch(newest)
        print(newest.cmake)
        return 0
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
        if package is newest and "--sanitized" in options:
            count += check_sanitized(package)
        else:
            count += check(package, "--all" in options)
    print(f"{count.passed} passed, {count.failed} failed, {count.skipped} skipped")
    return 0 if count.failed == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
