# SPDX-License-Identifier: GPL-2.0-only
"""Results of training iterations: tables, data frames, pictures, what the program prints."""

import json

import polars as pl
import pytest
from conftest import ROOT

import gradsync
from gradsync.errors import ResultsError
from gradsync.plots.kinds import plot_kind
from gradsync.plots.training import draw_breakdown, draw_critical, family
from gradsync.results.compare import compare_results

# Two stages of two ranks, without time between stages; two data-parallel ranks each.
TRAINING = {
    "blocks": [
        {"name": "layer", "count": 4, "forward": "1ms", "backward": "2ms", "gradient": "1MB"}
    ],
    "pipeline": 2,
    "microbatches": 3,
    "bucket": "1GB",
    "firstBucket": "1GB",
}


@pytest.fixture(scope="module")
def scenario():
    return gradsync.Scenario(
        title="Stages",
        topology=gradsync.star(4, gradsync.link("1Gbps", "0s")),
        transport="fluid",
        scheme="ring",
        job={"training": TRAINING, "iterations": 2},
    ).sweep("job.training.microbatches", [1, 3])


@pytest.fixture(scope="module")
def study(scenario, tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        return scenario.run(tmp_path_factory.mktemp("training") / "r")


def test_means_of_runs_are_the_closed_forms(study):
    # (m + p - 1)(F + B) with F + B = 6 ms of a stage of 2 layers; stage 1 is done a B = 4 ms before
    # stage 0 and its exchange ends first: that of 2 MB among two ranks takes 16 ms after the last B.
    runs = study.runs.sort("job.training.microbatches")
    assert runs["iteration_mean_s"].to_list() == pytest.approx([0.012 + 0.016, 0.024 + 0.016])
    assert runs["computation_s"].to_list() == pytest.approx([0.006, 0.018])
    # Of stage 0: nothing hidden. Of stage 1, a B: also not, as it has nothing left to compute.
    assert runs["hidden_s"].to_list() == [0, 0]
    assert runs["exposed_s"].to_list() == pytest.approx([0.016, 0.016])
    total = runs["computation_s"] + runs["exposed_s"] + runs["bubble_s"]
    assert total.to_list() == pytest.approx(runs["iteration_mean_s"].to_list(), abs=1e-15)
    assert runs["mfu"].null_count() == 2


def test_ranks_add_up_and_streams_are_those_that_communicate(study):
    training = study.training
    assert training.height == 2 * 2 * 4  # runs, iterations, ranks
    total = training.select(pl.col("computation_s") + pl.col("exposed_s") + pl.col("bubble_s"))
    assert total.to_series().to_list() == pytest.approx(training["iteration_s"].to_list())
    assert set(study.streams["stream"]) == {
        "data",
        "send forward",
        "receive forward",
        "send backward",
        "receive backward",
    }


def test_bandwidth_of_the_ring_is_the_links(study):
    gradients = study.collectives.filter(stream="data")
    # The groups of both stages, two iterations.
    assert gradients["count"].to_list() == [4, 4]
    assert gradients["bytes"].to_list() == [2_000_000, 2_000_000]
    assert gradients["busbw_bytes_per_s"].to_list() == pytest.approx([125e6, 125e6])


def test_the_critical_path_has_no_gap_and_names_the_link(study):
    for run in (0, 1):
        path = study.critical_path.filter(run=run, iteration=1)
        assert path["start_s"].to_list()[1:] == path["end_s"].to_list()[:-1]
        last = path.row(-1, named=True)
        assert (last["stream"], last["kind"]) == ("data", "all-reduce")
        assert {last["link_from"], last["link_to"]} <= {"leaf0", "host0", "host1"}
        computations = path.filter(kind="computation")
        assert computations["link_from"].null_count() == computations.height > 0


def test_the_program_prints_what_bounds_each_run(program):
    result = program("run", ROOT / "scenarios" / "pipeline-overlap.json", "--out=r")
    lines = [line for line in result.stdout.splitlines() if line.startswith("run ")]
    assert sum("critical path: gradients (data) " in line for line in lines) == 4
    assert sum("bubble " in line for line in lines) == 4


def test_points_and_a_second_start_give_the_same(scenario, study, tmp_path, monkeypatch):
    monkeypatch.chdir(ROOT)
    again = scenario.run(tmp_path / "again")
    assert compare_results(study.folder, again.folder) == []
    files = json.loads((again.folder / "manifest.json").read_text())["files"]
    assert {"training.csv", "streams.csv", "collectives.csv", "critical_path.csv"} <= set(files)
    # A run that is not as it was written is simulated again.
    (stored,) = (again.folder / ".runs").glob("1-*")
    (stored / "critical_path.csv").write_text("forged")
    assert compare_results(study.folder, scenario.run(tmp_path / "again").folder) == []


def test_bars_have_the_parts_of_runs_and_of_ranks(study):
    panel = draw_breakdown(study, None).axes[0]
    labels = [text.get_text() for text in panel.get_yticklabels()]
    assert labels == ["microbatches 1", "microbatches 3"]
    # In ms: computation, exposed, bubble of both runs, then what is hidden.
    widths = [round(bar.get_width(), 9) for bar in panel.patches]
    assert widths == [6, 18, 16, 16, 6, 6, 0, 0]
    ranks = draw_breakdown(study, 1).axes[0]
    assert ranks.get_yticklabels()[3].get_text() == "rank 3 (host3)"


def test_shares_of_the_critical_path_are_drawn(study):
    upper, lower = draw_critical(study, 1).axes
    labels = [text.get_text() for text in lower.get_yticklabels()]
    assert set(labels) == {
        "gradients (data)",
        "backward layer * (compute)",
        "forward layer * (compute)",
    }
    assert sum(bar.get_width() for bar in lower.patches) == pytest.approx(100)
    assert upper.get_xlim()[1] >= 40  # ms


@pytest.mark.parametrize("kind", ["breakdown", "critical"])
def test_pictures_are_the_same_each_time(study, tmp_path, kind):
    first = plot_kind(study, kind, out=tmp_path / "a.svg").read_bytes()
    assert first == plot_kind(study, kind, out=tmp_path / "b.svg").read_bytes()
    assert len(first) > 2000


@pytest.mark.parametrize("kind", ["breakdown", "critical"])
def test_runs_without_training_have_no_such_picture(tmp_path, monkeypatch, kind):
    monkeypatch.chdir(ROOT)
    plain = gradsync.Scenario(
        gradsync.star(2, "1Gbps"), transport="fluid", job={"gradient": "1MB"}
    ).run(tmp_path / "r")
    assert plain.training.is_empty()
    with pytest.raises(ResultsError, match="no run has finished a training iteration"):
        plot_kind(plain, kind)


def test_the_report_has_the_parts_of_iterations(study, tmp_path):
    pytest.importorskip("plotly")
    from gradsync.report.figures import render
    from gradsync.report.page import _result_table

    assert "plot-breakdown" in render(study)
    assert "exposed, ms" in _result_table(study)
    assert "MFU" not in _result_table(study)  # nobody knows it


def test_layers_are_one_family():
    assert family("forward layer 17") == "forward layer *"
    assert family("h.3.mlp.12") == "h.*.mlp.*"
