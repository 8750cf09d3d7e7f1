# SPDX-License-Identifier: GPL-2.0-only
"""Files that change while a sweep goes on: its rows are all of what was checked and hashed, or it is refused."""

import json
import shutil
import subprocess
import time

import pytest
from conftest import ROOT, SCENARIOS, rows_of

NAMED = ("x.json", "net.json", "ring.xml", "faults.csv", "h100.json")


@pytest.fixture
def study(tmp_path):
    """A scenario of four equal runs, some tenths of a second each, that names a file of each kind."""
    (tmp_path / "net.json").write_text(
        json.dumps(
            {
                "kind": "star",
                "hosts": 4,
                "hostLink": {"rate": "100Gbps", "delay": "1us"},
            }
        )
    )
    shutil.copy(SCENARIOS / "algorithms" / "ring-4.xml", tmp_path / "ring.xml")
    shutil.copy(ROOT / "profiles" / "h100-sxm-estimate-5us.profile.json", tmp_path / "h100.json")
    (tmp_path / "faults.csv").write_text("time,kind,target,duration\n1ms,host-pause,host1,2ms\n")
    scenario = {
        "topology": {"file": "net.json"},
        "transport": "roce",
        "job": {"gradient": "400MB", "codec": {"kind": "fp16"}, "profile": "h100.json"},
        "scheme": {"kind": "import", "file": "ring.xml"},
        "faults": [{"file": "faults.csv"}],
        "sweep": {"seed": [1, 2, 3, 4]},
    }
    (tmp_path / "x.json").write_text(json.dumps(scenario))
    return tmp_path


def _whole_runs(folder):
    return [path for path in folder.glob(".runs/*") if path.name[0].isdigit()]


def test_rows_are_all_of_the_files_that_were_checked(program, study):
    originals = {name: (study / name).read_bytes() for name in NAMED}
    running = subprocess.Popen(
        [program.path, "run", "x.json", "--out=r", "--jobs=1"],
        cwd=study,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    while running.poll() is None and not _whole_runs(study / "r"):
        time.sleep(0.005)
    for name in NAMED:
        (study / name).write_text("not what it was")
    assert len(_whole_runs(study / "r")) < 4, "the program was too fast for its files to change"
    _out, told = running.communicate()
    assert running.returncode == 0, told
    times = {row["ict_mean_s"] for row in rows_of(study / "r" / "runs.csv")}
    assert len(times) == 1
    manifest = json.loads((study / "r" / "manifest.json").read_text())
    assert manifest["scenario"]["topology"]["hosts"] == 4
    assert {entry["file"]: entry["bytes"] for entry in manifest["inputs"]} == {
        name: len(content) for name, content in originals.items()
    }

    # Back as they were, all runs are there; with another network none is.
    for name, content in originals.items():
        (study / name).write_bytes(content)
    before = {path: path.stat().st_ino for path in _whole_runs(study / "r")}
    assert program("run", "x.json", "--out=r").returncode == 0
    assert {path: path.stat().st_ino for path in _whole_runs(study / "r")} == before
    slower = originals["net.json"].replace(b"100Gbps", b"50Gbps")
    (study / "net.json").write_bytes(slower)
    assert program("run", "x.json", "--out=r").returncode == 0
    assert times.isdisjoint(row["ict_mean_s"] for row in rows_of(study / "r" / "runs.csv"))


@pytest.mark.parametrize("name", NAMED)
def test_part_of_a_sweep_whose_file_has_changed_is_refused(program, study, name):
    parts = ("run", "x.json", "--out=r", "--progress=never")
    assert program(*parts, "--prepare").returncode == 0
    original = (study / name).read_bytes()
    (study / name).write_bytes(original + b"\n")
    for part in ("--points=0", "--assemble"):
        refused = program(*parts, part)
        assert refused.returncode == 2
        assert f"{name}: has changed since the sweep was prepared" in refused.stderr
        assert refused.stderr.count("\n") == 1
    assert _whole_runs(study / "r") == []
    (study / name).write_bytes(original)
    assert program(*parts, "--points=0-3").returncode == 0
    assert program(*parts, "--assemble").returncode == 0


def test_part_of_another_sweep_is_refused(program, study):
    parts = ("run", "x.json", "--out=r", "--progress=never")
    assert program(*parts, "--prepare").returncode == 0
    refused = program(*parts, "--set=job.gradient=1MB", "--points=0")
    assert refused.returncode == 2
    assert "prepared.json: these are not the runs that were prepared" in refused.stderr
    # Without a prepared sweep each part is what it is.
    assert program("run", "x.json", "--out=s", "--points=0").returncode == 0
