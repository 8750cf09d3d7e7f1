# SPDX-License-Identifier: GPL-2.0-only
"""Runs that are done are not repeated, whoever did them; a killed program leaves whole runs."""

import json
import os
import signal
import subprocess
import time

import pytest
from conftest import SMOKE, rows_of

from gradsync.results.compare import compare_results


def test_same_scenario_twice_gives_the_same_results(program, smoke, tmp_path):
    assert program("run", SMOKE, "--out=again", "--jobs=1").returncode == 0
    assert compare_results(smoke, tmp_path / "again") == []


def test_second_start_repeats_nothing_and_a_change_repeats_what_it_changed(program, smoke):
    before = {r["run"]: r["wall_s"] for r in rows_of(smoke / "runs.csv")}
    marks = {p: p.stat().st_mtime_ns for p in (smoke / ".runs").rglob("*") if p.is_file()}
    assert marks, "finished runs are kept in .runs"
    assert program("run", SMOKE, "--out=smoke").returncode == 0
    assert {p: p.stat().st_mtime_ns for p in marks} == marks
    assert {r["run"]: r["wall_s"] for r in rows_of(smoke / "runs.csv")} == before
    assert program("run", SMOKE, "--out=smoke", "--set=job.gradient=2MB").returncode == 0
    runs = {(r["oversubscription"], r["scheme.kind"]): r for r in rows_of(smoke / "runs.csv")}
    assert float(runs["2", "ps"]["ict_mean_s"]) == pytest.approx(3.2e-3 + 2 * 4e-6, rel=1e-9)


def test_parts_done_by_several_programs_are_the_whole(program, smoke, tmp_path):
    parts = ("run", SMOKE, "--out=parts", "--progress=never")
    prepared = program(*parts, "--prepare")
    assert [run["done"] for run in json.loads(prepared.stdout)] == [False] * 6
    # PS on 4 and 8 hosts: 2 (w - 1) K in each of 2 iterations.
    assert [json.loads(prepared.stdout)[run]["bytes"] for run in (0, 3)] == [12_000_000, 28_000_000]
    others = [
        subprocess.Popen([program.path, *parts, f"--points={points}"], cwd=tmp_path)
        for points in ("0-1,4", "2,5")
    ]
    assert [other.wait() for other in others] == [0, 0]
    incomplete = program(*parts, "--assemble")
    assert incomplete.returncode == 1
    assert "run 3 (topology.hostsPerLeaf=4, scheme.kind=ps) has no result" in incomplete.stderr
    assert program(*parts, "--points=3").returncode == 0
    assert program(*parts, "--assemble").returncode == 0
    assert compare_results(smoke, tmp_path / "parts") == []
    assert all(run["done"] for run in json.loads(program(*parts, "--prepare").stdout))
    assert program(*parts, "--points=6").returncode == 2


def test_killed_program_leaves_whole_runs_and_goes_on(program, tmp_path):
    scenario = json.loads(SMOKE.read_text())
    # Enough packets that the kill comes in the middle of the sweep.
    scenario["transport"] = {"kind": "roce"}
    scenario["job"]["gradient"] = "40MB"
    (tmp_path / "long.json").write_text(json.dumps(scenario))
    killed = subprocess.Popen(
        [program.path, "run", "long.json", "--out=r", "--jobs=1"],
        cwd=tmp_path,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    done = tmp_path / "r" / ".runs"
    while killed.poll() is None and not (done.exists() and _whole_runs(done)):
        time.sleep(0.005)
    os.killpg(killed.pid, signal.SIGKILL)
    killed.wait()
    assert not (tmp_path / "r" / "runs.csv").exists(), "the program was too fast to be killed"
    kept = {run: run.stat().st_mtime_ns for run in _whole_runs(done)}
    assert 1 <= len(kept) < 6
    assert program("run", "long.json", "--out=r").returncode == 0
    assert {run: run.stat().st_mtime_ns for run in kept} == kept
    assert program("run", "long.json", "--out=fresh").returncode == 0
    assert compare_results(tmp_path / "r", tmp_path / "fresh") == []


def _whole_runs(folder):
    # Unfinished ones have a temporary name.
    return [run for run in folder.iterdir() if run.is_dir() and run.name[0].isdigit()]
