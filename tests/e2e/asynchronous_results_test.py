# SPDX-License-Identifier: GPL-2.0-only
"""Results of asynchronous training: tables, data frames, pictures, what the program prints."""

import json

import polars as pl
import pytest
from conftest import ROOT

import gradsync
from gradsync.errors import ResultsError
from gradsync.plots.asynchronous import draw_staleness
from gradsync.plots.kinds import plot_kind
from gradsync.results.compare import compare_results

SCENARIO = ROOT / "scenarios" / "stale-synchronous.json"


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        scenario = gradsync.Scenario.load(SCENARIO)
        return scenario.run(tmp_path_factory.mktemp("asynchronous") / "r")


def test_the_bound_trades_staleness_for_steps(study):
    runs = study.runs
    assert runs["status"].unique().to_list() == ["ok"]
    assert runs["updates"].unique().to_list() == [8 * 40]
    for overlaps in (False, True):
        own = runs.filter(pl.col("job.asynchronous.overlapFetch") == overlaps)
        bounds = own["job.asynchronous.bound"].to_list()
        assert bounds == ["0", "1", "3", "7", "none"]
        for bound, ahead in zip(bounds, own["ahead_max"]):
            assert bound == "none" or ahead <= int(bound) + 1
        rates = own["steps_per_s"].to_list()
        # The slow worker takes twice as long: of 8 workers 7.5 go on where nobody waits, 4 where all do.
        assert rates == sorted(rates)
        assert rates[-1] > 1.5 * rates[0]
        assert own["held_s"].to_list() == sorted(own["held_s"].to_list(), reverse=True)
        assert own["held_s"][-1] == 0
        assert own["staleness_mean"][0] < own["staleness_mean"][-1]
    synchronous = runs.filter(pl.col("job.asynchronous.bound") == "0")
    assert (synchronous["staleness_max"] < 8).all()


def test_workers_add_up_to_the_run(study):
    workers = study.workers
    assert workers.height == 10 * 8
    assert workers["steps"].unique().to_list() == [40]
    for run in study.runs.iter_rows(named=True):
        own = workers.filter(run=run["run"])
        assert own["updates"].sum() == run["updates"]
        assert own["staleness_max"].max() == run["staleness_max"]
        assert own["staleness_mean"].mean() == pytest.approx(run["staleness_mean"])
        assert own["held_s"].mean() == pytest.approx(run["held_s"], abs=1e-11)
        assert (own["held_s"] <= own["wait_s"]).all()
        rates = own["steps"] / (own["compute_s"] + own["wait_s"])
        assert own["steps_per_s"].to_list() == pytest.approx(rates.to_list(), rel=1e-8)


def test_updates_are_those_that_are_counted(study):
    updates = study.updates
    for run in study.runs.iter_rows(named=True):
        own = updates.filter(run=run["run"])
        assert own["update"].to_list() == list(range(run["updates"]))
        assert own["time_s"].is_sorted()
        assert own["staleness"].mean() == pytest.approx(run["staleness_mean"])
        assert own["ahead"].max() == run["ahead_max"]
        steps = own.group_by("worker").agg(pl.col("step"))
        assert all(sorted(of) == list(range(1, 41)) for of in steps["step"])


def test_the_program_prints_and_describes_it(program, tmp_path):
    result = program("describe", SCENARIO)
    assert result.returncode == 0, result.stderr
    assert "asynchronous, 8 workers, 2 dedicated servers, gradient 8000000 bytes" in result.stdout
    assert "a push or a fetch: 2 messages, 8000000 bytes" in result.stdout
    # 8 workers, 40 steps, a push and a fetch each.
    assert f"{8 * 40 * 2 * 8_000_000} bytes in pushes" in result.stdout
    result = program("run", ROOT / "scenarios/regression/asynchronous.json", "--out=r")
    lines = [line for line in result.stdout.splitlines() if "staleness" in line]
    assert len(lines) == 6
    assert program("plan", SCENARIO).returncode == 2


def test_a_second_start_gives_the_same(tmp_path, monkeypatch):
    monkeypatch.chdir(ROOT)
    scenario = gradsync.Scenario.load(ROOT / "scenarios/regression/asynchronous.json")
    first = scenario.run(tmp_path / "a")
    again = scenario.run(tmp_path / "b")
    assert compare_results(first.folder, again.folder) == []
    files = json.loads((again.folder / "manifest.json").read_text())["files"]
    assert {"updates.csv", "workers.csv"} <= set(files)


def test_staleness_is_drawn_for_runs_and_for_workers(study, tmp_path):
    panel = draw_staleness(study, None).axes[0]
    assert len(panel.lines) == 10
    panel = draw_staleness(study, 9).axes[0]
    assert len(panel.lines) == 8
    for line in panel.lines:
        shares = line.get_ydata()
        assert shares[0] == 0 and shares[-1] == 1
    first = plot_kind(study, "staleness", out=tmp_path / "a.svg").read_bytes()
    assert first == plot_kind(study, "staleness", out=tmp_path / "b.svg").read_bytes()


def test_runs_without_such_jobs_have_no_such_picture(tmp_path, monkeypatch):
    monkeypatch.chdir(ROOT)
    plain = gradsync.Scenario(
        gradsync.star(2, "1Gbps"), transport="fluid", job={"gradient": "1MB"}
    ).run(tmp_path / "r")
    assert plain.updates.is_empty() and plain.workers.is_empty()
    with pytest.raises(ResultsError, match="no asynchronous job has updates"):
        plot_kind(plain, "staleness")


@pytest.mark.parametrize(
    ("asynchronous", "message"),
    [
        ({"bound": 1, "pushEvery": 4}, "job.asynchronous.bound: found 1, expected at least 3"),
        ({"bounds": 1}, "bound"),
        ({"fetchEvery": 0}, "job.asynchronous.fetchEvery: found 0"),
        ({"servers": 9}, "needs at least 1 worker and 9 dedicated servers"),
    ],
)
def test_bad_input_is_one_message(program, tmp_path, asynchronous, message):
    scenario = {
        "topology": {"kind": "star", "hosts": 4, "hostLink": {"rate": "1Gbps"}},
        "job": {"asynchronous": asynchronous},
    }
    (tmp_path / "s.json").write_text(json.dumps(scenario))
    result = program("run", "s.json", "--out=r")
    assert result.returncode == 2
    assert message in result.stderr and result.stderr.count("\n") == 1
    assert not (tmp_path / "r").exists()
