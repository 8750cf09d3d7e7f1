# SPDX-License-Identifier: GPL-2.0-only
"""How ./ns3 builds, and how it hands the program's output and exit codes on."""

import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

PRINTS_ARGUMENTS = """
#include <cstdio>
int main(int argc, char** argv)
{
    for (int i = 1; i < argc; ++i) std::puts(argv[i]);
    return 0;
}
"""


def test_no_two_headers_define_a_type_of_one_name():
    # All are in one namespace, where two classes of a name are one to the linker, which keeps the
    # destructor of either for both and says nothing.
    root = Path(__file__).parents[2]
    headers = [path for room in ("model", "study") for path in root.glob(f"{room}/**/*.h")]
    keyword = r"(?:class|struct|enum class) (?:alignas\(\d+\) )?"
    pattern = re.compile(rf"^{keyword}(\w+)[^;\n]*$", re.MULTILINE)
    names = Counter(name for header in headers for name in pattern.findall(header.read_text()))
    assert names["Plan"] == 1
    assert [name for name, count in names.items() if count > 1] == []


def test_run_hands_the_options_to_the_program(small_tree):
    small_tree.source(PRINTS_ARGUMENTS)
    options = ["run", "a/b.json", "--set", "x=1", "--set=y=[2]", "--jobs", "3", "--no-resume"]
    result = small_tree.run(*options, "--no-plot", "--no-install")
    assert result.returncode == 0, result.stderr
    assert result.stdout.splitlines() == options


def test_help_is_the_programs_where_there_is_one(small_tree):
    small_tree.source(PRINTS_ARGUMENTS)
    before = small_tree.run("describe", "--help")
    assert before.returncode == 0
    assert "is not built yet: ./ns3 build" in before.stdout
    assert small_tree.run("describe", "s.json").returncode == 0
    after = small_tree.run("describe", "--help")
    assert after.stdout.splitlines()[:2] == ["describe", "--help"]
    assert "--no-install" in after.stdout
    assert "--no-plot" in small_tree.run("help", "run").stdout


@pytest.mark.parametrize("code", [1, 2, 3])
def test_exit_codes_of_the_program_pass_through(small_tree, code):
    small_tree.source(f"int main() {{ return {code}; }}")
    assert small_tree.run("validate", "x.json").returncode == code


def test_a_program_that_crashes_is_no_success(small_tree):
    small_tree.source("#include <cstdlib>\nint main() { std::abort(); }")
    assert small_tree.run("list").returncode == 128 + signal.SIGABRT


def test_ctrl_c_lets_the_program_end_itself(small_tree):
    small_tree.source(
        """
        #include <csignal>
        #include <cstdio>
        #include <unistd.h>
        volatile std::sig_atomic_t interrupted = 0;
        int main()
        {
            std::signal(SIGINT, [](int) { interrupted = 1; });
            std::puts("started");
            std::fflush(stdout);
            while (!interrupted) usleep(1000);
            std::puts("tidied up");
            return 130;
        }
        """
    )
    started = subprocess.Popen(
        ["./ns3", "list"],
        cwd=small_tree.folder,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert started.stdout.readline() == "started\n"
    # As a terminal does: to every process of the foreground group.
    os.killpg(started.pid, signal.SIGINT)
    output, _ = started.communicate(timeout=60)
    assert output == "tidied up\n"
    assert started.returncode == 130


def test_compile_error_is_shown_with_the_log(small_tree):
    small_tree.source("int main() { return undeclared; }")
    result = small_tree.run("list")
    assert result.returncode == 5
    assert "building failed" in result.stderr
    assert "undeclared" in result.stderr
    log = small_tree.folder / "build" / "release.log"
    assert f"whole log: {log}" in result.stderr
    assert "undeclared" in log.read_text()


def test_configure_error_is_shown_with_the_log(small_tree):
    (small_tree.folder / "CMakeLists.txt").write_text("no_such_command()\n")
    result = small_tree.run("list")
    assert result.returncode == 5
    assert "configuring failed" in result.stderr
    assert "no_such_command" in result.stderr


def test_second_build_does_nothing_and_says_nothing(small_tree):
    small_tree.source("int main() { return 0; }")
    first = small_tree.run("list")
    assert "building build/release" in first.stderr
    second = small_tree.run("list")
    assert second.stderr == ""


def test_changed_source_is_built_again(small_tree):
    small_tree.source("int main() { return 2; }")
    assert small_tree.run("list").returncode == 2
    # Ninja compares times of modification.
    time.sleep(0.01)
    small_tree.source("int main() { return 3; }")
    assert small_tree.run("list").returncode == 3


def test_two_builds_at_once_wait_for_each_other(small_tree):
    small_tree.source("int main() { return 0; }")
    started = [
        subprocess.Popen(
            ["./ns3", "list"], cwd=small_tree.folder, stderr=subprocess.PIPE, text=True
        )
        for _ in range(2)
    ]
    said = [process.communicate(timeout=120)[1] for process in started]
    assert [process.returncode for process in started] == [0, 0]
    # Exactly one of them had something to build.
    assert sum("building build/release" in text for text in said) == 1


def test_moved_tree_is_built_anew(small_tree):
    small_tree.source("int main() { return 0; }")
    assert small_tree.run("list").returncode == 0
    moved = small_tree.folder.with_name("moved")
    small_tree.folder.rename(moved)
    small_tree.folder = moved
    result = small_tree.run("list")
    assert result.returncode == 0, result.stderr
    assert "making it anew" in result.stderr


PACKAGES = Path(__file__).parents[2] / "analysis" / "src"
WAITS = """
#include <cstdio>
#include <unistd.h>
int main()
{
    std::FILE* file = std::fopen("pid", "w");
    std::fprintf(file, "%d\\n", getpid());
    std::fclose(file);
    std::puts("started");
    std::fflush(stdout);
    sleep(60);
}
"""


def is_running(pid):
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_to_the_launcher_ends_the_simulator(small_tree, number):
    small_tree.source(WAITS)
    # Under nohup this process ignores SIGHUP, and so would all that it starts.
    command = ["env", f"--default-signal={int(number)}", "./ns3", "list"]
    started = subprocess.Popen(command, cwd=small_tree.folder, stdout=subprocess.PIPE, text=True)
    assert started.stdout.readline() == "started\n"
    pid = int((small_tree.folder / "pid").read_text())
    assert is_running(pid)
    started.send_signal(number)
    assert started.wait(timeout=20) == 128 + number
    assert not is_running(pid)


def test_a_signal_to_the_python_package_ends_the_simulator(tmp_path):
    program = tmp_path / "program"
    program.write_text("#!/bin/sh\necho $$ > pid\nexec sleep 60\n")
    program.chmod(0o755)
    (tmp_path / "s.json").write_text("{}")
    started = subprocess.Popen(
        [sys.executable, "-P", "-m", "gradsync", "regress", "--scenarios=."],
        cwd=tmp_path,
        env={**os.environ, "GRADSYNC_PROGRAM": str(program), "PYTHONPATH": str(PACKAGES)},
    )
    deadline = time.monotonic() + 20
    while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text():
        assert time.monotonic() < deadline
        time.sleep(0.02)
    pid = int((tmp_path / "pid").read_text())
    started.terminate()
    assert started.wait(timeout=20) == 128 + signal.SIGTERM
    assert not is_running(pid)


def test_odd_names_are_shown_without_control_characters(small_tree):
    result = small_tree.run("\x1b[2J" + "x" * 300)
    assert result.returncode == 2
    assert "\x1b" not in result.stderr
    assert "unknown verb \\x1b[2J" in result.stderr
    assert "x" * 200 not in result.stderr
