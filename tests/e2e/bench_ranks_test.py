# SPDX-License-Identifier: GPL-2.0-only
"""./ns3 bench --ranks: one simulation by several processes beside the same by one; nothing is timed here."""

import json
import shutil
import sys

import pytest
from conftest import ROOT, call

sys.path.insert(0, str(ROOT))
from launcher import bench_ranks
from launcher.errors import FAILURE, LauncherError

LOAD = bench_ranks.Load("ring", 2, 2, 2, "100Gbps", "100kB", 2)
ROW = {"ict_mean_s": "0.1", "events": "5", "peak_rss_bytes": "1000000"}


def stand_in(monkeypatch, walls, **changed):
    """Runs take the seconds of `walls`, [processes] in their order; those of two have other columns."""
    left = {ranks: iter(times) for ranks, times in walls.items()}
    order = []

    def run(_load, ranks, _folder):
        order.append(ranks)
        return {**ROW, **(changed if ranks > 1 else {}), "wall_s": next(left[ranks])}

    monkeypatch.setattr(bench_ranks, "_run", run)
    return order


def test_both_run_in_turn_and_are_compared_by_least_and_by_median(monkeypatch):
    order = stand_in(monkeypatch, {1: ["0.4", "0.5", "0.9"], 2: ["0.2", "0.4", "0.25"]})
    found = bench_ranks.measure(LOAD, 2, 3)
    assert order == [1, 2, 2, 1, 1, 2]
    # 0.4 / 0.2, and 0.5 / 0.25.
    assert (found["times_by_least"], found["times_by_median"]) == (2.0, 2.0)
    assert (found["hosts"], found["events"]) == (4, 5)
    assert bench_ranks.line(found).split() == (
        "ring 4 5 0.400 0.200 2.00 0.500 0.250 2.00 1 1".split()
    )


def test_runs_with_other_results_are_no_measurement(monkeypatch):
    stand_in(monkeypatch, {1: ["1"], 2: ["1"]}, events="6", peak_rss_bytes="2")
    with pytest.raises(LauncherError, match="events is 5 in one run and 6 in another") as caught:
        bench_ranks.measure(LOAD, 2, 1)
    assert caught.value.code == FAILURE


def test_a_run_that_fails_is_told_in_the_words_of_the_program(tmp_path):
    broken = bench_ranks.Load("rnig", 2, 2, 2, "100Gbps", "100kB", 1)
    with pytest.raises(LauncherError, match=r"rnig.*ring") as caught:
        bench_ranks._run(broken, 1, tmp_path)
    assert caught.value.code == FAILURE


@pytest.mark.alone
@pytest.mark.skipif(
    shutil.which("mpirun") is None or not (ROOT / "build/release/gradsync-mpi.so").exists(),
    reason="no Open MPI: ./ns3 run --ranks 2 installs it",
)
def test_the_program_simulates_each_load_by_one_and_by_several(tmp_path, monkeypatch):
    monkeypatch.setattr(bench_ranks, "RESULTS", tmp_path / "results")
    monkeypatch.setattr(bench_ranks, "LOADS", (LOAD,))
    told = json.loads(bench_ranks.run_ranks_benchmark(2, full=False).read_text())
    assert [(row["scheme"], row["hosts"], row["ranks"]) for row in told] == [("ring", 4, 2)]
    assert len(told[0]["one_s"]) == len(told[0]["several_s"]) == 2
    assert told[0]["events"] > 0


@pytest.mark.parametrize("ranks", ["1", "0", "-2", "two", "2.5", ""])
def test_fewer_than_two_processes_are_refused(tmp_path, ranks):
    told = call([ROOT / "ns3", "bench", "--no-install", f"--ranks={ranks}"], tmp_path)
    assert told.returncode == 2
    assert "--ranks: found" in told.stderr and len(told.stderr.splitlines()) == 1
