# SPDX-License-Identifier: GPL-2.0-only
"""Runs the tests of a built profile and adds up what they say."""

import re
import subprocess
import sys
from dataclasses import dataclass
from typing import Mapping, Optional, Sequence

from launcher.errors import BAD_INPUT, FAILURE, INTERRUPTED, OK, LauncherError
from launcher.process import child_decides_on_interrupt, say
from launcher.python_environment import command, environment
from launcher.tree import ROOT, Profile, cores

_PYTEST_NO_TESTS = 5


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


def count_ctest(output: str) -> Count:
    """The counts in ctest's closing lines; a test counted as skipped is not counted as passed."""
    match = re.search(r"tests passed, (\d+) tests failed out of (\d+)", output)
    if match is None:
        return Count()
    failed, total = int(match[1]), int(match[2])
    skipped = len(re.findall(r"\*\*\*Skipped", output))
    return Count(total - failed - skipped, failed, skipped)


def count_pytest(output: str) -> Count:
    """The counts in pytest's closing line; errors outside a test count as failures."""
    summary = next((line for line in reversed(output.splitlines()) if " in " in line), "")
    found = {kind: int(n) for n, kind in re.findall(r"(\d+) (\w+)", summary)}
    failed = found.get("failed", 0) + found.get("error", 0) + found.get("errors", 0)
    return Count(found.get("passed", 0), failed, found.get("skipped", 0))


def _tee(
    arguments: Sequence[str], variables: Optional[Mapping[str, str]] = None
) -> tuple[int, str]:
    with child_decides_on_interrupt():
        child = subprocess.Popen(
            list(arguments),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=variables,
        )
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


def _run_ctest(profile: Profile, name_filter: Optional[str]) -> tuple[bool, Count]:
    arguments = ["ctest", "--test-dir", str(profile.directory), "--output-on-failure"]
    arguments += ["--parallel", str(cores())]
    if name_filter:
        arguments += ["--tests-regex", name_filter]
    code, output = _tee(arguments)
    return code == 0, count_ctest(output)


def _run_pytest(profile: Profile, name_filter: Optional[str]) -> tuple[bool, Count]:
    arguments = command("-m", "pytest", str(ROOT / "tests" / "e2e"), "-p", "no:cacheprovider")
    if name_filter:
        arguments += ["--match", name_filter]
    variables = {**environment(), "GRADSYNC_PROGRAM": str(profile.program)}
    code, output = _tee(arguments, variables)
    return code in (0, _PYTEST_NO_TESTS), count_pytest(output)


def run_tests(profile: Profile, name_filter: Optional[str], end_to_end: bool) -> int:
    """Run what was built; 0 only if every test passed and at least one ran."""
    if name_filter:
        try:
            re.compile(name_filter)
        except re.error as error:
            raise LauncherError(f"--filter {name_filter}: {error}", BAD_INPUT) from error
    say(f"unit tests and TestSuites of build/{profile.name}")
    good, count = _run_ctest(profile, name_filter)
    if end_to_end:
        say("end-to-end tests")
        also_good, more = _run_pytest(profile, name_filter)
        good, count = good and also_good, count + more
    if count.passed + count.failed == 0:
        raise LauncherError("no test ran", BAD_INPUT if name_filter else FAILURE)
    print(count)
    return OK if good else FAILURE
