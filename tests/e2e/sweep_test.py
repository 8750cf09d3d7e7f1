# SPDX-License-Identifier: GPL-2.0-only
"""Sweeps as a workflow: the same results as a plain run, resumed, and only what changed."""

import json
import os
import subprocess
import sys

import pytest
from conftest import ROOT

from gradsync.__main__ import main
from gradsync.results.compare import compare_results
from gradsync.studies.sweep import Sweep

SMOKE = ROOT / "scenarios" / "smoke.json"


@pytest.fixture
def sweep(program, tmp_path, monkeypatch, capsys):
    """Runs `sweep` on the smoke scenario; gives exit code, standard output and the runs it did."""
    monkeypatch.setenv("GRADSYNC_PROGRAM", str(program.path))
    out = tmp_path / "swept"

    def written():
        # A run that gets another number is renamed: the file is the same one.
        return {path.stat().st_ino for path in out.glob(".runs/*/summary.json")}

    def run(*options):
        before = written()
        code = main(["sweep", str(SMOKE), f"--out={out}", *options])
        done = written() - before
        return code, capsys.readouterr(), len(done)

    run.out = out
    return run


def test_sweep_gives_what_a_plain_run_gives_and_repeats_only_what_changed(sweep, program, tmp_path):
    code, told, done = sweep("--runs-per-job=2", "--snakemake=--quiet=all")
    assert (code, done) == (0, 6)
    assert "6 runs to do, in 3 batches" in told.err
    assert "Smoke test" in told.out
    assert program("run", SMOKE, "--out=plain").returncode == 0
    assert compare_results(sweep.out, tmp_path / "plain") == []
    # Nothing is missing: Snakemake is not even started.
    code, told, done = sweep()
    assert (code, done) == (0, 0)
    assert "runs to do" not in told.err
    # One scheme more, whose two runs are done; their neighbours keep their results.
    schemes = json.dumps(["ps", "ring", "rat", "plink"])
    code, told, done = sweep(f"--set=sweep.scheme.kind={schemes}", "--snakemake=--quiet=all")
    assert (code, done) == (0, 2)


def test_run_that_crashes_is_named_and_the_others_are_kept(sweep, program, tmp_path, monkeypatch):
    # A simulator that is killed in the batch of run 1.
    wrapper = tmp_path / "wrapper"
    wrapper.write_text(
        f'#!/bin/sh\ncase "$*" in *--points=1*) kill -9 $$;; esac\nexec {program.path} "$@"\n'
    )
    wrapper.chmod(0o755)
    monkeypatch.setenv("GRADSYNC_PROGRAM", str(wrapper))
    code, told, done = sweep("--runs-per-job=1", "--snakemake=--quiet=all")
    assert (code, done) == (1, 5)
    assert "1 runs gave no result" in told.err and "start again to go on" in told.err


def test_refused_scenario_starts_no_workflow(sweep):
    code, _told, done = sweep("--set=scheme.kind=rign")
    assert (code, done) == (2, 0)
    assert not sweep.out.exists()


def test_executor_and_profile_are_handed_on():
    sweep = Sweep(SMOKE, ROOT, executor="slurm", cores=100, options=["--profile", "mine"])
    command = sweep._snakemake(ROOT)
    assert command[command.index("--executor") + 1] == "slurm"
    assert command[command.index("--jobs") + 1] == "100"
    assert command[-2:] == ["--profile", "mine"]
    assert "--cores" not in command


def test_batches_hold_every_run_once_and_spread_neighbours():
    batches = Sweep(SMOKE, ROOT, cores=2).batches(range(1000))
    assert len(batches) == 16
    runs = [int(run) for points in batches.values() for run in points.split(",")]
    assert sorted(runs) == list(range(1000))
    assert batches["00"].startswith("0,16,32")


def test_paths_may_have_braces_and_two_sweeps_of_a_folder_may_run_at_once(program, tmp_path):
    folder = tmp_path / "a {name} b"
    folder.mkdir()
    scenario = folder / "s {x}.json"
    scenario.write_text(SMOKE.read_text())
    path = str(ROOT / "analysis" / "src")
    variables = {**os.environ, "GRADSYNC_PROGRAM": str(program.path), "PYTHONPATH": path}
    command = [sys.executable, "-P", "-m", "gradsync", "sweep", str(scenario)]
    command += [f"--out={folder / 'out {y}'}", "--snakemake=--quiet=all", "--runs-per-job=3"]
    started = [
        subprocess.Popen(command, env=variables, stderr=subprocess.PIPE, stdout=subprocess.PIPE)
        for _ in range(2)
    ]
    said = [process.communicate(timeout=120) for process in started]
    assert [process.returncode for process in started] == [0, 0], said
    assert said[0][0] == said[1][0]
    assert program("run", SMOKE, "--out=plain").returncode == 0
    assert compare_results(folder / "out {y}", tmp_path / "plain") == []
