# SPDX-License-Identifier: GPL-2.0-only
"""Runs the tests of a built profile and adds up what they say."""

import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from launcher.errors import BAD_INPUT, FAILURE, INTERRUPTED, OK, LauncherError
from launcher.process import run, say, started
from launcher.python_environment import command, environment
from launcher.tree import ROOT, SANITIZE, Profile, cores

_PYTEST_NO_TESTS = 5
_KINDS = ("OK", "FAILED", "SKIPPED")
_KEPT_OUTPUT = 1 << 24  # bytes of each program


@dataclass
class Count:
    """How many tests ended how."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def __add__(self, other: "Count") -> "Count":
        return Count(
            self.passed + other.passed, self.failed + other.failed, self.skipped + other.skipped
        )

    def __str__(self) -> str:
        skipped = f", {self.skipped} skipped" if self.skipped else ""
        return f"{self.passed} passed, {self.failed} failed{skipped}"


def _count_program(case: ElementTree.Element) -> Count:
    """One of ctest's tests: what a GoogleTest program says of its cases, else the test itself."""
    ended, output = case.get("status"), case.findtext("system-out", "")
    kinds = [re.findall(rf"\[ +{kind} +\] .* \(\d+ ms\)$", output, re.MULTILINE) for kind in _KINDS]
    count = Count(*map(len, kinds))
    if ended == "disabled":
        return Count(skipped=1)
    if count == Count() and "[  PASSED  ] 0 tests" not in output:
        return Count(passed=1) if ended == "run" else Count(failed=1)
    # A crash, a time-out or a sanitizer's finding after the last case: the cases do not tell.
    return count + Count(failed=1) if ended == "fail" and count.failed == 0 else count


def count_ctest(report: Path) -> Count:
    """The counts in ctest's JUnit file."""
    cases = ElementTree.parse(report).iter("testcase")
    return sum(map(_count_program, cases), Count())


def _failed_cases(case: ElementTree.Element) -> list[str]:
    """Of one of ctest's tests: the cases that failed, and the one in which its program ended."""
    output = case.findtext("system-out", "")
    begun = re.findall(r"^\[ RUN      \] (\S+)$", output, re.MULTILINE)
    good = set(re.findall(r"\[ +(?:OK|SKIPPED) \] (\S+) \(\d+ ms\)$", output, re.MULTILINE))
    return [name for name in begun if name not in good]


def failed_in_ctest(report: Path) -> list[str]:
    """How to run again, alone, what failed by ctest's JUnit file: a line each."""
    lines = []
    for case in ElementTree.parse(report).iter("testcase"):
        name = case.get("name", "")
        if case.get("status") == "fail":
            program = report.parent / name.split(".", 1)[0]
            cases = _failed_cases(case)
            lines += [f"{program} --gtest_filter={one}" for one in cases] or [f"{name} of ctest"]
    return lines


def count_pytest(output: str) -> Count:
    """The counts in pytest's closing line; errors outside a test count as failures."""
    summary = next((line for line in reversed(output.splitlines()) if " in " in line), "")
    found = {kind: int(n) for n, kind in re.findall(r"(\d+) (\w+)", summary)}
    failed = found.get("failed", 0) + found.get("error", 0) + found.get("errors", 0)
    return Count(found.get("passed", 0), failed, found.get("skipped", 0))


def _tee(
    arguments: Sequence[str],
    variables: Mapping[str, str] | None = None,
    folder: Path | None = None,
) -> tuple[int, str]:
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    with started(arguments, **pipes, env=variables, cwd=folder) as child:
        assert child.stdout is not None
        lines = []
        for line in child.stdout:
            lines.append(line)
            sys.stdout.write(line)
            sys.stdout.flush()
        code = child.wait()
    if code in (-2, INTERRUPTED):
        raise LauncherError("interrupted", INTERRUPTED)
    return code, "".join(lines)


def run_ctest(directory: Path, name_filter: str | None) -> tuple[bool, Count]:
    """Run the tests of a build directory on all cores; whether all is well, and the counts.

    Without a filter several cases share a process, as starting one takes longer than most of them.
    """
    report = directory / "ctest.xml"
    report.unlink(missing_ok=True)
    arguments = ["ctest", "--test-dir", str(directory), "--output-on-failure"]
    arguments += ["--parallel", str(cores()), "--output-junit", str(report)]
    # By default it keeps the first kilobyte, of a program with a hundred cases.
    for ending in ("passed", "failed"):
        arguments += [f"--test-output-size-{ending}", str(_KEPT_OUTPUT)]
    if name_filter:
        arguments += ["--tests-regex", name_filter]
    else:
        arguments += ["--build-config", "Shards", "--label-exclude", "^case$"]
    code, _ = _tee(arguments)
    if not report.exists():
        return code == 0, Count()
    for line in failed_in_ctest(report):
        print(f"failed: {line}")
    return code == 0, count_ctest(report)


def _run_pytest(profile: Profile, name_filter: str | None) -> tuple[bool, Count]:
    folder = ROOT / "tests" / "e2e"
    arguments = command("-m", "pytest", str(folder), "-p", "no:cacheprovider")
    if name_filter:
        arguments += ["--match", name_filter]
    workers = ["--numprocesses", str(cores())]
    # A file at a time, as its tests share what was simulated for them. Processes of MPI wait busily,
    # and leave their cores to each other then: beside what computes they would take many times as long.
    together = ["-m", "not alone", *workers, "--dist", "loadfile"]
    apart = ["-m", "alone", *workers]
    variables = {**environment(), "GRADSYNC_PROGRAM": str(profile.program)}
    good, count = True, Count()
    for chosen in (together, apart):
        # The workers that pytest starts import what lies where they stand.
        code, output = _tee([*arguments, *chosen], variables, folder)
        good = good and code in (0, _PYTEST_NO_TESTS)
        count += count_pytest(output)
    return good, count


def run_referee(profile: Profile, scenarios: int, seed: str) -> int:
    """Hold drawn scenarios against laws (tests/referee); 0 only if none was broken."""
    # It needs nothing but Python's own library.
    arguments = [sys.executable, "-I", str(ROOT / "tests" / "referee")]
    arguments += ["--program", str(profile.program), "--scenarios", str(scenarios), "--seed", seed]
    arguments += ["--sanitized"] if profile is SANITIZE else []
    return OK if run(arguments) == 0 else FAILURE


def run_tests(profile: Profile, name_filter: str | None, end_to_end: bool) -> int:
    """Run what was built; 0 only if every test passed and at least one ran."""
    if name_filter:
        try:
            re.compile(name_filter)
        except re.error as error:
            raise LauncherError(f"--filter {name_filter}: {error}", BAD_INPUT) from error
    say(f"unit tests and TestSuites of build/{profile.name}")
    good, count = run_ctest(profile.directory, name_filter)
    if end_to_end:
        say("end-to-end tests")
        also_good, more = _run_pytest(profile, name_filter)
        good, count = good and also_good, count + more
    if count.passed + count.failed == 0:
        raise LauncherError("no test ran", BAD_INPUT if name_filter else FAILURE)
    print(count)
    return OK if good else FAILURE
