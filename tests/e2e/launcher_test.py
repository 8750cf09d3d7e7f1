# SPDX-License-Identifier: GPL-2.0-only
"""What ./ns3 says and returns before any simulation is involved."""

import os
import re
import subprocess
import sys

import pytest
from conftest import ROOT

sys.path.append(str(ROOT))
from launcher.cli import _VERBS
from launcher.process import ask_for_huge_pages
from launcher.tests import Count, run_ctest

ENVIRONMENT = 4

# Everything README promises to install, and nothing else.
BUILD_PACKAGES = {
    "cmake",
    "g++",
    "libboost-dev",
    "libcli11-dev",
    "libfmt-dev",
    "libgsl-dev",
    "libns3-dev",
    "libprotobuf-dev",
    "libsqlite3-dev",
    "libxml2-dev",
    "ninja-build",
    "nlohmann-json3-dev",
    "ns3",
    "protobuf-compiler",
    "zlib1g-dev",
}


@pytest.mark.parametrize(
    "typed, meant",
    [("rnu", "run"), ("dcotor", "doctor"), ("tests", "test"), ("descibe", "describe")],
)
def test_unknown_verb_names_the_nearest(ns3, typed, meant):
    result = ns3(typed)
    assert result.returncode == 2
    assert f"unknown verb {typed}; the nearest is {meant}." in result.stderr
    assert result.stdout == ""


@pytest.mark.parametrize(
    "arguments, typed, meant",
    [
        (("run", "x.json", "--no-instal"), "--no-instal", "--no-install"),
        (("run", "x.json", "--no-plto"), "--no-plto", "--no-plot"),
        (("test", "--fliter", "x"), "--fliter", "--filter"),
        (("list", "--no_install"), "--no_install", "--no-install"),
        (("sweep", "x.json", "--noinstall"), "--noinstall", "--no-install"),
        (("format", "--chekc"), "--chekc", "--check"),
    ],
)
def test_unknown_option_names_the_nearest(ns3, arguments, typed, meant):
    result = ns3(*arguments)
    assert result.returncode == 2
    assert (
        f"unknown option {typed} of ./ns3 {arguments[0]}; the nearest is {meant}" in result.stderr
    )


@pytest.mark.parametrize(
    "set_by_the_user, expected",
    [
        (None, "glibc.malloc.hugetlb=1"),
        ("glibc.malloc.check=3", "glibc.malloc.check=3:glibc.malloc.hugetlb=1"),
        ("glibc.malloc.hugetlb=0", "glibc.malloc.hugetlb=0"),
    ],
)
def test_simulations_get_huge_pages_unless_the_user_decides(monkeypatch, set_by_the_user, expected):
    monkeypatch.delenv("GLIBC_TUNABLES", raising=False)
    if set_by_the_user:
        monkeypatch.setenv("GLIBC_TUNABLES", set_by_the_user)
    ask_for_huge_pages()
    assert os.environ["GLIBC_TUNABLES"] == expected


@pytest.mark.parametrize(
    "arguments, said",
    [
        (("run",), "gradsync: error: SCENARIO is required"),
        (("run", "x.json", "--job=2"), '--job: unknown option; did you mean "--jobs"?'),
        (("plan", "x.json", "--run"), "--run: 1 required"),
        (("plot",), "the following arguments are required: DIR; see ./ns3 plot --help"),
        (("plot", "x", "--kidn=ict"), "unknown option --kidn of ./ns3 plot; the nearest is --kind"),
        (("plot", "x", "--kind=itc"), "invalid choice: 'itc'"),
        (("export", "x", "y"), "y is one argument too many; see ./ns3 export --help"),
        (("sweep", "x.json", "--cores=all"), "argument --cores: invalid int value: 'all'"),
    ],
)
def test_those_that_carry_out_a_verb_refuse_its_options_in_one_line(ns3, arguments, said):
    result = ns3(*arguments)
    assert (result.returncode, result.stdout) == (2, "")
    (line,) = result.stderr.splitlines()
    assert said in line


def test_every_verb_has_help(ns3):
    for verb in _VERBS:
        result = ns3(verb, "--help")
        assert result.returncode == 0, result.stderr
        if verb == "help":
            continue
        assert f"./ns3 {verb}" in result.stdout
        if verb not in ("doctor", "completion"):  # which need nothing
            assert "--no-install" in result.stdout


def test_options_are_declared_once():
    """What the program and the package declare, the launcher does not repeat."""
    text = "".join(path.read_text() for path in (ROOT / "launcher").glob("*.py"))
    for name in ("jobs", "set", "draw", "pcap", "points", "kind", "runs-per-job", "update"):
        assert f'"--{name}' not in text, name


def test_help_lists_every_verb(ns3):
    result = ns3("help")
    assert result.returncode == 0
    verbs = (
        "run sweep describe validate list plot report export reproduce regress gallery test bench"
    )
    verbs += " sum-errors collective fit format docs completion python"
    for verb in f"{verbs} calibrate build doctor help".split():
        assert re.search(rf"^  {verb} ", result.stdout, re.MULTILINE), verb


def test_run_help_has_examples(ns3):
    result = ns3("run", "--help")
    assert result.returncode == 0
    assert "Usage: ./ns3 run [OPTIONS] SCENARIO" in result.stdout
    assert "--set" in result.stdout
    assert "./ns3 run scenarios/rat-oversubscription.json" in result.stdout
    assert "--no-install" in result.stdout


def test_no_install_refuses_with_the_list(ns3, bare_system):
    result = ns3("list", "--no-install", variables=bare_system.variables)
    assert result.returncode == ENVIRONMENT
    remedy = re.search(r"remedy: apt-get install (.*)", result.stderr)
    assert set(remedy[1].split()) == BUILD_PACKAGES
    assert "libns3-dev          ns-3: the simulator's core" in result.stderr
    assert bare_system.asked == []


def test_missing_packages_are_installed_and_named(ns3, bare_system):
    result = ns3("list", variables=bare_system.variables)
    (asked,) = bare_system.asked
    words = asked.split()
    assert words[:3] == ["install", "-y", "--no-install-recommends"]
    assert set(words[3:]) == BUILD_PACKAGES
    for package in BUILD_PACKAGES:
        assert f"  {package} " in result.stderr
    # This apt-get installs nothing, which must not go unnoticed.
    assert result.returncode == ENVIRONMENT
    assert "apt-get has installed it and it is still not found" in result.stderr


def test_package_lists_are_updated_when_they_know_no_candidate(ns3, bare_system):
    bare_system.script("apt-cache", "exit 0")
    ns3("list", variables=bare_system.variables)
    assert [line.split()[0] for line in bare_system.asked] == ["update", "install"]


def test_failed_install_is_tried_again_after_an_update(ns3, bare_system):
    bare_system.script("apt-get", f'echo "$@" >> "{bare_system.log}"; exit 100')
    result = ns3("list", variables=bare_system.variables)
    assert [line.split()[0] for line in bare_system.asked] == ["install", "update", "install"]
    assert result.returncode == ENVIRONMENT
    assert "apt-get failed" in result.stderr


def test_a_system_without_apt_get_is_told_what_is_needed(ns3, bare_system):
    (bare_system.bin / "apt-get").unlink()
    result = ns3("list", variables=bare_system.variables)
    assert result.returncode == ENVIRONMENT
    # One line, with the things themselves, since other systems call their packages otherwise.
    (line,) = result.stderr.splitlines()
    assert line.startswith("ns3: missing: C++20 compiler (compiles the simulator (GCC 12)), CMake")
    assert "; there is no apt-get on this system: install them by hand (Debian calls them" in line
    assert set(line.rstrip(")").split()) >= BUILD_PACKAGES


def test_a_system_that_does_not_tell_a_process_its_cores_is_no_traceback(bare_system):
    """macOS has no sched_getaffinity, and no apt-get."""
    (bare_system.bin / "apt-get").unlink()
    script = (
        f"import os, sys; del os.sched_getaffinity; sys.path.insert(0, {str(ROOT)!r})\n"
        "from launcher.cli import main\n"
        "sys.exit(main(sys.argv[1:]))"
    )
    for verb, told in (("doctor", f"{os.cpu_count()} cores. "), ("list", "ns3: missing: ")):
        done = subprocess.run(
            [sys.executable, "-I", "-c", script, verb],
            env={**os.environ, **bare_system.variables},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == ENVIRONMENT
        assert told in done.stdout + done.stderr
        assert "Traceback" not in done.stderr


def test_doctor_shows_what_is_missing_and_the_remedy(ns3, bare_system):
    result = ns3("doctor", variables=bare_system.variables)
    assert result.returncode == ENVIRONMENT
    assert re.search(r"^ns-3 +building +MISSING +apt-get install libns3-dev$", result.stdout, re.M)


def test_doctor_is_content_where_the_tests_run(ns3):
    result = ns3("doctor")
    assert result.returncode == 0, result.stdout
    assert "Nothing is missing." in result.stdout
    assert re.search(r"^ns-3 +building +3\.\d+$", result.stdout, re.MULTILINE)


def test_no_install_refuses_to_install_python(ns3):
    result = ns3("run", "x.json", "--no-install", variables={"GRADSYNC_PYTHON": "/nonexistent"})
    assert result.returncode == ENVIRONMENT
    assert "python3 (3.11 or newer) is missing" in result.stderr


def test_plot_of_something_that_is_no_folder(ns3):
    result = ns3("plot", "nowhere")
    assert result.returncode == 2
    assert "is nowhere a results folder?" in result.stderr


# What GoogleTest prints: a line as each case ends, and the failed and skipped ones again at the end.
ENDINGS = {
    "all good": (
        "[       OK ] A.B (1 ms)\n[       OK ] C/A.D/0 (20 ms)\n[  PASSED  ] 2 tests.",
        "exit 0",
        Count(passed=2),
    ),
    "some bad": (
        "[       OK ] A.B (1 ms)\n[  FAILED  ] C/A.D/0, where GetParam() = 7 (0 ms)\n"
        "[  SKIPPED ] A.E (0 ms)\n[  PASSED  ] 1 test.\n[  SKIPPED ] 1 test, listed below:\n"
        "[  SKIPPED ] A.E\n[  FAILED  ] 1 test, listed below:\n[  FAILED  ] C/A.D/0",
        "exit 1",
        Count(passed=1, failed=1, skipped=1),
    ),
    # The case that runs has no line of its own.
    "crash": ("[       OK ] A.B (1 ms)\n[ RUN      ] A.F", "kill -ABRT $$", Count(1, 1)),
    "crash at start": ("", "kill -SEGV $$", Count(failed=1)),
    # A leak is found after the last case.
    "leak": ("[       OK ] A.B (1 ms)\n[  PASSED  ] 1 test.", "exit 23", Count(1, 1)),
    # More than the kilobyte that ctest keeps unless told otherwise.
    "many": ("[       OK ] A.B (1 ms)\n" * 2000, "exit 0", Count(passed=2000)),
    "TestSuite": ("PASS gradsync-plan 1.0 s", "exit 0", Count(passed=1)),
}


@pytest.mark.parametrize("ending", ENDINGS)
def test_every_case_of_a_test_program_counts(tmp_path, ending):
    printed, end, expected = ENDINGS[ending]
    (tmp_path / "output").write_text(printed)
    (tmp_path / "program").write_text(f"cat {tmp_path}/output; {end}\n")
    (tmp_path / "CTestTestfile.cmake").write_text(f"add_test(it sh {tmp_path}/program)\n")
    good, count = run_ctest(tmp_path, None)
    assert count == expected
    assert good == (expected.failed == 0)


def test_cases_that_failed_are_named_with_how_to_run_them_alone(tmp_path, capfd):
    printed = (
        "[ RUN      ] A.B\n[       OK ] A.B (1 ms)\n[ RUN      ] A.E\n[  SKIPPED ] A.E (0 ms)\n"
        "[ RUN      ] C/A.D/0\nsays why\n[  FAILED  ] C/A.D/0, where GetParam() = 7 (0 ms)\n"
        "[ RUN      ] A.F"
    )
    (tmp_path / "output").write_text(printed)
    (tmp_path / "program").write_text(f"cat {tmp_path}/output; kill -ABRT $$\n")
    (tmp_path / "CTestTestfile.cmake").write_text(
        f"add_test(room-tests.shard-2 sh {tmp_path}/program)\nadd_test(other false)\n"
    )
    assert run_ctest(tmp_path, None)[0] is False
    told = [line for line in capfd.readouterr().out.splitlines() if line.startswith("failed: ")]
    assert told == [
        f"failed: {tmp_path}/room-tests --gtest_filter=C/A.D/0",
        f"failed: {tmp_path}/room-tests --gtest_filter=A.F",
        "failed: other of ctest",
    ]


def test_cases_are_run_in_shards_and_by_themselves_if_named(tmp_path):
    (tmp_path / "CTestTestfile.cmake").write_text(
        "add_test(room-tests.A.B sh -c [[echo '[       OK ] A.B (1 ms)']])\n"
        "set_tests_properties(room-tests.A.B PROPERTIES LABELS case)\n"
        "if(CTEST_CONFIGURATION_TYPE STREQUAL Shards)\n"
        "  add_test(room-tests.shard-0 sh -c [[printf '[       OK ] A.%s (1 ms)\\n' B C]])\n"
        "endif()\n"
        "add_test(example true)\n"
    )
    assert run_ctest(tmp_path, None) == (True, Count(passed=3))
    assert run_ctest(tmp_path, "room") == (True, Count(passed=1))


def test_a_test_program_that_is_missing_has_failed(tmp_path):
    (tmp_path / "CTestTestfile.cmake").write_text("add_test(it /nonexistent)\n")
    assert run_ctest(tmp_path, None) == (False, Count(failed=1))


def test_no_test_of_the_name_is_no_count(tmp_path):
    (tmp_path / "CTestTestfile.cmake").write_text("add_test(it true)\n")
    assert run_ctest(tmp_path, "other")[1] == Count()


def test_no_scenarios_are_no_referee(ns3):
    result = ns3("test", "--referee=0", "--no-install")
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr == "ns3: --referee 0: expected 1 or more\n"
