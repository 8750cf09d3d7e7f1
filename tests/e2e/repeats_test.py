# SPDX-License-Identifier: GPL-2.0-only
"""Repeats: every draw follows from the seed unless a scenario fixes it, and equal runs are said."""

import json

import pytest
from conftest import ROOT, rows_of

import gradsync
from gradsync.plots.plot import draw
from gradsync.report.page import render
from gradsync.results.series import choose_axes, group, tell_equal_runs

SEEDS = 4
SAID = f"the seed changed nothing: {SEEDS} equal runs"


def trees(**sections):
    """A double binary tree over a fat-tree of 16 hosts, whose connections share links by ECMP."""
    topology = gradsync.fat_tree(4, gradsync.link("10Gbps", "1us"))
    return gradsync.Scenario(
        topology, scheme="double-binary-tree", job={"gradient": "256KiB"}, **sections
    )


def run(scenario, folder):
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        return scenario.run(folder)


def times(results):
    return [row["ict_mean_s"] for row in results.rows]


def test_seeds_hash_connections_to_other_paths(tmp_path):
    results = run(trees().repeat(SEEDS), tmp_path / "r")
    assert len(set(times(results))) > 1
    summary = results.summary()
    assert summary["equal"].to_list() == [False]
    assert summary["ci95"][0] > 0
    (line,) = group(results, choose_axes(results))
    assert line.low[0] < line.y[0] < line.high[0]
    assert tell_equal_runs(results) == []
    # A seed is the seed of the hash; that of 1 is what the hash had when it had one of its own.
    fixed = run(trees().sweep("fabric.hashSeed", [1, 2, 3, 4]), tmp_path / "f")
    assert times(fixed) == times(results)


def test_a_fixed_hash_gives_equal_runs_which_are_said_everywhere(program, tmp_path):
    fixed = trees(fabric={"hashSeed": 3}).repeat(SEEDS)
    file = tmp_path / "s.json"
    fixed.save(file)
    done = program("run", file, "--out=r")
    assert done.returncode == 0, done.stderr
    assert f"{SAID} of one point" in done.stdout
    results = gradsync.load(tmp_path / "r")
    assert len(set(times(results))) == 1
    summary = results.summary()
    assert summary["equal"].to_list() == [True] and summary["ci95"].to_list() == [None]
    assert summary["n"].to_list() == [SEEDS]
    assert SAID in [text.get_text() for text in draw(results).texts]
    page = render(results)
    assert SAID in page and ">equal runs<" in page


def test_of_several_points_it_is_said_of_how_many(program, tmp_path):
    # The ring of one rack needs no equal-cost path; the tree over all of them does.
    scenario = trees().sweep("job.workers", [2, 16]).repeat(SEEDS)
    scenario.save(tmp_path / "s.json")
    done = program("run", "s.json", "--out=r")
    assert done.returncode == 0, done.stderr
    assert f"{SAID} of 1 of 2 points" in done.stdout
    results = gradsync.load(tmp_path / "r")
    assert tell_equal_runs(results) == [f"{SAID} of 1 of 2 points"]
    assert results.summary()["equal"].to_list() == [True, False]


def test_single_runs_and_runs_that_fail_are_not_equal(tmp_path):
    results = run(trees(seed=7), tmp_path / "r")
    assert results.summary()["equal"].to_list() == [False]
    assert not results.are_equal(results.rows)
    failed = [{**row, "ict_mean_s": ""} for row in [*results.rows, *results.rows]]
    assert not results.are_equal(failed)


def sizes_of(program, tmp_path, **scheme):
    """Bytes that hosts get in a sparse exchange, of seeds 1 and 2."""
    scenario = gradsync.Scenario(
        gradsync.star(4, "10Gbps"),
        scheme={"kind": "sparse-all-gather", "spread": 0.5, **scheme},
        transport="fluid",
        job={"gradient": "1MB"},
    ).repeat(2)
    scenario.save(tmp_path / "s.json")
    done = program("run", "s.json", f"--out={len(scheme)}")
    assert done.returncode == 0, done.stderr
    rows = rows_of(tmp_path / str(len(scheme)) / "runs.csv")
    return [row["goodput_bytes"] for row in rows]


def test_drawn_sizes_of_sparse_gradients_follow_from_the_seed(program, tmp_path):
    first, second = sizes_of(program, tmp_path)
    assert first != second
    # Fixed they agree, and 1 is what the first seed draws.
    assert sizes_of(program, tmp_path, drawSeed=1) == [first, first]


def test_errors_of_float_sums_follow_from_the_seed(program, tmp_path):
    document = json.loads((ROOT / "scenarios" / "float-sums.json").read_text())
    del document["sweep"], document["plot"]
    document |= {"repeat": 2, "job": {"gradient": "64KiB"}}
    (tmp_path / "s.json").write_text(json.dumps(document))
    done = program("run", "s.json", "--out=r")
    assert done.returncode == 0, done.stderr
    first, second = rows_of(tmp_path / "r" / "runs.csv")
    assert first["sum_relative_error"] and second["sum_relative_error"]
    assert first["sum_relative_error"] != second["sum_relative_error"]
