# SPDX-License-Identifier: GPL-2.0-only
"""Text from outside never moves the cursor, and what cannot be read or written is said in one line."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import ROOT, SMOKE

ODD = "\x1b[2J\u202e\x9b\r\n" + "x" * 300
# Readers refuse names with control characters of ASCII, but not these.
ODD_NAME = "\u202e\x9b" + "x" * 300
# What a terminal acts on, in bytes: all controls but the line feed that ends a line; and U+009B, U+202E.
ACTS = re.compile(rb"[\x00-\x09\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\xa8-\xae]")


def small(**changes):
    rate = {"rate": "10Gbps", "delay": "1us"}
    nodes = [{"name": "s", "kind": "switch", "tier": 1}]
    nodes += [{"name": f"{i}{ODD_NAME}", "kind": "host"} for i in range(2)]
    return {
        "title": ODD,
        "topology": {
            "kind": "graph",
            "nodes": nodes,
            "links": [{"a": node["name"], "b": "s", **rate} for node in nodes[1:]],
        },
        "job": {"name": ODD_NAME, "gradient": "20kB"},
        "scheme": "ring",
        **changes,
    }


def said(program, folder, *arguments):
    done = subprocess.run([program.path, *arguments], cwd=folder, capture_output=True, check=False)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("verb", ["run", "describe", "validate", "plan", "auto"])
def test_names_and_titles_stay_on_their_line(program, tmp_path, verb):
    scheme = "auto" if verb == "auto" else "ring"
    (tmp_path / "s.json").write_text(json.dumps(small(scheme=scheme)))
    options = {"run": ["--progress=always"], "plan": ["--verify"]}.get(verb, [])
    code, out, err = said(program, tmp_path, verb, "s.json", *options)
    assert code == 0, err
    assert not ACTS.search(out), out
    # The progress bar goes back to the beginning of its line.
    assert not ACTS.search(err.replace(b"\r", b"")), err
    assert b"x" * 200 not in out + err


@pytest.mark.parametrize(
    "arguments",
    [
        ["run", ODD],
        [ODD],
        ["run", f"--{ODD}"],
        ["run", "s.json", f"--set={ODD}=1"],
        ["run", "s.json", f"--set=scheme.kind={ODD}"],
        ["plan", "s.json", f"--job={ODD}"],
        ["run", "s.json", f"--progress={ODD}"],
        ["run", "s.json", f"--points={ODD}"],
        ["codec", ODD],
    ],
)
def test_a_refusal_is_one_line(program, tmp_path, arguments):
    (tmp_path / "s.json").write_text(json.dumps(small()))
    code, out, err = said(program, tmp_path, *arguments)
    assert (code, out) == (2, b"")
    assert err.endswith(b"\n")
    assert err.count(b"\n") == 1
    assert not ACTS.search(err), err


def test_a_table_row_is_a_line_whatever_names_have_in_them(program, tmp_path):
    (tmp_path / "s.json").write_text(json.dumps(small()))
    assert program("run", "s.json", "--out=r").returncode == 0
    for path in (tmp_path / "r").glob("*.csv"):
        assert not ACTS.search(path.read_bytes()), path
    assert len((tmp_path / "r" / "links.csv").read_text().splitlines()) == 1 + 4


def name_of_what_is_wrong(err):
    (line,) = err.decode().splitlines()
    assert line.startswith("gradsync: error: "), line
    return line


@pytest.mark.parametrize("verb", ["run", "describe", "validate", "resolve", "plan", "auto"])
def test_a_file_that_cannot_be_read_is_named(program, tmp_path, verb):
    (tmp_path / "folder.json").mkdir()
    (tmp_path / "plain").write_text("")
    (tmp_path / "loop.json").symlink_to("loop.json")
    # A folder, a way through a file (ENOTDIR), nothing, a circle of links, a name that is too long.
    for file in ("folder.json", "plain/s.json", "none.json", "loop.json", "x" * 300 + ".json"):
        code, out, err = said(program, tmp_path, verb, file)
        assert (code, out) == (2, b""), err
        assert file[:100] in name_of_what_is_wrong(err)


@pytest.mark.parametrize("folder", ["plain/r", "/proc/r", "/dev/full/r", "loop/r", "x" * 300])
@pytest.mark.parametrize("verb", ["run", "auto"])
def test_a_folder_that_cannot_be_written_is_named(program, tmp_path, verb, folder):
    (tmp_path / "plain").write_text("")
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "s.json").write_text(json.dumps(small(scheme="auto")))
    code, out, err = said(program, tmp_path, verb, "s.json", f"--out={folder}")
    # 2: refused before anything is made; 1: the disk does not do what it should.
    assert code in (1, 2), err
    assert out == b""
    assert folder[:100] in name_of_what_is_wrong(err)


@pytest.mark.parametrize("option", ["--draw", "--export"])
def test_a_picture_that_cannot_be_written_is_named(program, tmp_path, option):
    (tmp_path / "plain").write_text("")
    (tmp_path / "s.json").write_text(json.dumps(small()))
    code, _, err = said(program, tmp_path, "plan", "s.json", f"{option}=plain/x")
    assert code == 1
    assert "plain/x" in name_of_what_is_wrong(err)


@pytest.mark.parametrize(
    "arguments",
    [
        ["list"],
        ["--help"],
        ["run", "--help"],
        ["--version"],
        ["resolve", SMOKE],
        ["describe", SMOKE],
        ["run", SMOKE, "--out=r", "--progress=never"],
    ],
)
def test_a_full_device_behind_standard_output_is_an_error(program, tmp_path, arguments):
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [program.path, *arguments],
            cwd=tmp_path,
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert done.returncode == 1
    assert "standard output: " in name_of_what_is_wrong(done.stderr)


@pytest.mark.parametrize("arguments", [["help"], ["run", "--help"], ["doctor"], ["plot", "--help"]])
def test_the_launcher_says_so_too(tmp_path, arguments):
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [ROOT / "ns3", *arguments],
            cwd=tmp_path,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 1, done.stderr
    assert "standard output: " in done.stderr
    assert "Traceback" not in done.stderr


def processes_of(folder):
    """The command lines of what runs in a folder or below."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if Path(os.readlink(process / "cwd")).is_relative_to(folder):
                found.append((process / "cmdline").read_bytes())
        except OSError:
            continue
    return found


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_to_a_sweep_ends_its_jobs(program, tmp_path, number):
    simulator = tmp_path / "simulator"
    # Of real runs only the points take long.
    simulator.write_text(
        '#!/bin/sh\ncase "$*" in *--points=*) echo > started; exec sleep 100;; esac\n'
        f'exec {program.path} "$@"\n'
    )
    simulator.chmod(0o755)
    command = [sys.executable, "-P", "-m", "gradsync", "sweep", str(SMOKE), "--out=r", "--cores=2"]
    variables = {"PYTHONPATH": str(ROOT / "analysis" / "src"), "GRADSYNC_PROGRAM": str(simulator)}
    # This process may ignore SIGINT, as what runs in the background does.
    command = ["env", "--default-signal", *command]
    started = subprocess.Popen(
        command, cwd=tmp_path, env={**os.environ, **variables}, stderr=subprocess.DEVNULL
    )
    deadline = time.monotonic() + 60
    while not any(b"sleep" in line for line in processes_of(tmp_path)):
        assert started.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.1)
    started.send_signal(number)
    assert started.wait(timeout=60) == 128 + number
    assert processes_of(tmp_path) == []
