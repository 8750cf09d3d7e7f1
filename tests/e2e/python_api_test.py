# SPDX-License-Identifier: GPL-2.0-only
"""The Python package as its users write it: scenarios in code, results as data frames."""

import math
import subprocess
import sys

import polars as pl
import pytest
from conftest import ROOT
from matplotlib import pyplot

import gradsync
from gradsync.results.student import t_975

SMOKE = ROOT / "scenarios" / "smoke.json"
FOUR = gradsync.star(4, "10Gbps")


@pytest.fixture(autouse=True)
def built(program, monkeypatch):
    monkeypatch.setenv("GRADSYNC_PROGRAM", str(program.path))


def four_hosts(**sections):
    return gradsync.Scenario(FOUR, transport="fluid", job={"gradient": "1MB"}, **sections)


@pytest.fixture
def repeated(tmp_path):
    """PS and ring while one of four hosts falls silent, three times with other hosts."""
    scenario = four_hosts(
        faults=[{"kind": "host-pause-send", "random": 1, "every": "200us", "duration": "100us"}]
    )
    scenario = scenario.sweep("scheme.kind", ["ps", "ring"])
    return scenario.set("seed", 5).repeat(3).run(tmp_path / "r")


def test_scenario_in_code_runs_and_its_tables_have_numbers(tmp_path):
    results = four_hosts().sweep("job.gradient", ["1MB", "2MB"]).run(tmp_path / "r", jobs=1)
    runs = results.runs
    assert runs["job.gradient"].to_list() == ["1MB", "2MB"]
    # Ring of 4: 2 * 3 steps of K/4 = 0.2 ms each at 1 MB, over two links of 1 us.
    assert runs["ict_mean_s"][0] == pytest.approx(6 * (0.2e-3 + 2e-6), rel=1e-9)
    assert runs.schema["ict_mean_s"] == pl.Float64 and runs.schema["goodput_bytes"] == pl.Int64
    # 2 (w - 1) K leave all hosts together.
    assert runs["goodput_bytes"].to_list() == [6_000_000, 12_000_000]
    assert results.messages.filter(pl.col("run") == 0)["bytes"].sum() == 6_000_000
    assert results.iterations.height == 2
    # Without faults there is a table all the same, with its types.
    assert results.faults.height == 0 and results.faults.schema["time_s"] == pl.Float64
    assert gradsync.load(tmp_path / "r").runs.equals(runs)


def test_summary_takes_seeds_as_repetitions_with_a_confidence_interval(repeated):
    assert repeated.runs["seed"].to_list() == [5, 6, 7] * 2
    summary = repeated.summary()
    assert summary["scheme.kind"].to_list() == ["ps", "ring"]
    assert summary["n"].to_list() == [3, 3]
    values = repeated.runs.filter(pl.col("scheme.kind") == "ring")["ict_mean_s"].to_list()
    mean = sum(values) / 3
    deviation = math.sqrt(sum((value - mean) ** 2 for value in values) / 2)
    assert summary["mean"][1] == pytest.approx(mean)
    # Student's t for 2 degrees of freedom.
    assert summary["ci95"][1] == pytest.approx(4.303 * deviation / math.sqrt(3))
    assert repeated.summary(by=["seed"])["n"].to_list() == [2, 2, 2]
    with pytest.raises(gradsync.ResultsError, match="there is no column nothing"):
        repeated.summary(value="nothing")


def test_single_run_has_no_confidence_interval(tmp_path):
    assert four_hosts().run(tmp_path / "r").summary()["ci95"].to_list() == [None]


@pytest.mark.parametrize(
    "degrees, expected", [(0, math.inf), (1, 12.706), (30, 2.042), (39, 2.042)]
)
def test_t_is_that_of_the_table_and_never_too_small(degrees, expected):
    assert t_975(degrees) == expected


def test_refused_scenario_is_an_exception_and_leaves_nothing(tmp_path):
    with pytest.raises(gradsync.ScenarioError, match='did you mean "ring"'):
        four_hosts(scheme="rign").run(tmp_path / "r")
    assert not (tmp_path / "r").exists()
    with pytest.raises(gradsync.ScenarioError, match="hosts"):
        gradsync.Scenario({"kind": "star"}).check()


def test_exchange_that_does_not_finish_is_an_exception_or_a_null(tmp_path):
    silent = four_hosts(faults=[{"kind": "link-down", "at": "host1"}]).set("job.timeout", "5ms")
    with pytest.raises(gradsync.SimulationError, match="1 runs did not finish"):
        silent.run(tmp_path / "r")
    assert silent.run(tmp_path / "r", unfinished_ok=True).runs["ict_mean_s"].to_list() == [None]


def test_changes_make_new_scenarios_and_leave_the_old_one(tmp_path):
    scenario = four_hosts(jobs=None).sweep("scheme.kind", ["ps", "ring"])
    changed = scenario.set("scheme.kind", "rat").set("job.iterations", 2)
    assert scenario.document["sweep"] == {"scheme.kind": ["ps", "ring"]}
    assert changed.document["sweep"] == {}
    assert changed.document["scheme"] == {"kind": "rat"}
    assert changed.document["job"] == {"gradient": "1MB", "iterations": 2}
    listed = gradsync.Scenario(FOUR, jobs=[{"gradient": "1MB"}]).set("jobs.0.iterations", 3)
    assert listed.document["jobs"] == [{"gradient": "1MB", "iterations": 3}]
    with pytest.raises(gradsync.ScenarioError, match="has 1 items and no 1"):
        listed.set("jobs.1.iterations", 3)


def test_topology_file_is_found_from_anywhere(tmp_path):
    scenario = gradsync.Scenario.load(ROOT / "scenarios" / "quickstart.json")
    assert "16 endpoints" in scenario.describe()


def test_parquet_holds_what_the_csv_holds(repeated):
    files = repeated.write_parquet()
    assert {path.name for path in files} == {
        path.with_suffix(".parquet").name for path in repeated.folder.glob("*.csv")
    }
    assert pl.read_parquet(repeated.folder / "runs.parquet").equals(repeated.runs)


def test_package_installs_and_is_importable_alone(tmp_path):
    install = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-deps",
        "--no-build-isolation",
    ]
    source = tmp_path / "analysis"
    subprocess.run(["cp", "-r", str(ROOT / "analysis"), str(source)], check=True)
    subprocess.run([*install, "--target", str(tmp_path / "lib"), str(source)], check=True)
    done = subprocess.run(
        [sys.executable, "-c", "import gradsync; print(gradsync.__file__); gradsync.Scenario({})"],
        env={"PYTHONPATH": str(tmp_path / "lib")},
        capture_output=True,
        text=True,
        check=True,
    )
    assert str(tmp_path / "lib") in done.stdout


def test_package_is_typed(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--cache-dir", str(ROOT / "build" / "mypy")],
        cwd=ROOT / "analysis",
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout


def test_results_show_themselves_in_a_notebook(tmp_path):
    results = gradsync.Scenario(FOUR, transport="fluid", scheme="ring").run(tmp_path / "r")
    assert "<table" in results._repr_html_() and "ict_mean_s" in results._repr_html_()
    before = pyplot.get_fignums()
    figure = results.figure()
    assert [axes.get_title(loc="left") for axes in figure.axes] == [
        "Iteration completion time (ms)"
    ]
    # A figure that stays open is shown a second time.
    assert pyplot.get_fignums() == before
    with pytest.raises(gradsync.ResultsError, match="no kind x of plot"):
        results.figure("x")


@pytest.mark.parametrize("name", ["compression-tradeoff", "imported", "multi-gpu"])
def test_files_of_a_loaded_scenario_are_found_from_anywhere(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    gradsync.Scenario.load(ROOT / "scenarios" / f"{name}.json").check()
