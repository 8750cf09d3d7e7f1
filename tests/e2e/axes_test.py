# SPDX-License-Identifier: GPL-2.0-only
"""Axes of quantities: sizes, rates and times are numbers from the sweep to the picture."""

import json

import pytest
from conftest import ROOT, rows_of

import gradsync
from gradsync.plots.kinds import draw_messages
from gradsync.plots.plot import draw
from gradsync.report.figures import _ict
from gradsync.report.findings import find_remarks
from gradsync.results.folder import load
from gradsync.results.quantities import show_quantity
from gradsync.results.series import choose_axes, choose_scales, group

SIZES = ["1KiB", "64KiB", "1MiB", "1GiB"]
BYTES = [2**10, 2**16, 2**20, 2**30]


def four_hosts(**sections):
    return gradsync.Scenario(gradsync.star(4, "10Gbps"), transport="fluid", **sections)


def run(scenario, folder):
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        return scenario.run(folder)


@pytest.fixture(scope="module")
def sizes(tmp_path_factory):
    """Ring and PS over four hosts from 1 KiB to 1 GiB, times over size."""
    scenario = four_hosts(plot={"x": "job.gradient", "y": "busbw_bytes_per_s", "logX": True})
    scenario = scenario.sweep("scheme.kind", ["ps", "ring"]).sweep("job.gradient", SIZES)
    return run(scenario, tmp_path_factory.mktemp("sizes") / "r")


def test_sizes_are_numbers_in_every_table_and_picture(sizes):
    assert [int(row["job.gradient_bytes"]) for row in sizes.rows] == 2 * BYTES
    assert sizes.runs["job.gradient_bytes"].to_list() == 2 * BYTES
    assert sizes.column("job.gradient_bytes").unit == "B"
    axes = choose_axes(sizes)
    assert (axes.x, axes.series) == ("job.gradient_bytes", ("scheme.kind",))
    assert [(line.name, line.x) for line in group(sizes, axes)] == [("ps", BYTES), ("ring", BYTES)]
    panel = draw(sizes).axes[0]
    assert panel.get_xscale() == "log" and panel.get_xlabel() == "Gradient"
    ticks = [label.get_text() for label in panel.get_xticklabels()]
    assert ticks == ["1 KiB", "64 KiB", "1 MiB", "1 GiB"]
    # The bus bandwidth of a ring of four at 10 Gb/s is the links': 1.25 GB/s.
    ring = panel.get_lines()[1]
    assert list(ring.get_xdata()) == BYTES
    assert ring.get_ydata()[-1] == pytest.approx(1.25, rel=1e-3)
    # Likewise in the report.
    figure = _ict(sizes)
    assert figure.layout.xaxis.type == "log"
    assert list(figure.layout.xaxis.ticktext) == ticks
    assert list(figure.data[1].x) == BYTES


def test_messages_are_those_of_one_point_a_line_for_each_scheme(sizes):
    figure = draw_messages(sizes, None)
    names = [text.get_text() for text in figure.legends[0].get_texts()]
    # Ring: 6 rounds of 4; ps: each of 4 workers sends to 3 servers and gets from 3.
    assert names == ["Parameter server (24 messages)", "Ring (24 messages)"]
    assert "1GiB" in figure.get_suptitle() and "1MiB" not in figure.get_suptitle()


def with_hints(results, folder, **hints):
    """The same results with other hints."""
    folder.mkdir()
    for path in results.folder.glob("*.csv"):
        (folder / path.name).write_bytes(path.read_bytes())
    manifest = json.loads((results.folder / "manifest.json").read_text())
    manifest["scenario"]["plot"] = hints
    (folder / "manifest.json").write_text(json.dumps(manifest))
    return load(folder)


def test_wide_sweeps_are_logarithmic_by_themselves_and_not_if_unwanted(sizes, tmp_path):
    by_itself = draw(with_hints(sizes, tmp_path / "a", y="busbw_bytes_per_s"))
    assert by_itself.axes[0].get_xscale() == "log"
    unwanted = draw(with_hints(sizes, tmp_path / "b", logX=False))
    assert unwanted.axes[0].get_xscale() == "linear"
    # Its own name, and that of the path, and no hint at all are the same axis.
    for name in ("job.gradient", "job.gradient_bytes", None):
        hints = {"x": name} if name else {}
        assert choose_axes(with_hints(sizes, tmp_path / f"{name}", **hints)) == choose_axes(
            with_hints(sizes, tmp_path / f"{name} again")
        )


def test_what_cannot_be_logarithmic_is_said(sizes, tmp_path):
    results = with_hints(sizes, tmp_path / "r", logX=True, y="dropped_packets", logY=True)
    axes = choose_axes(results)
    scales = choose_scales(results, axes, group(results, axes))
    assert (scales.log_x, scales.log_y) == (True, False)
    said = "plot.logY: dropped_packets is 0 somewhere, not logarithmic"
    assert list(scales.remarks) == [said]
    figure = draw(results)
    assert figure.axes[0].get_yscale() == "linear"
    assert said in [text.get_text() for text in figure.texts]
    assert find_remarks(results) == [said]
    # Words on x make bars, which have no such axis.
    bars = with_hints(sizes, tmp_path / "bars", x="scheme.kind", logX=True)
    axes = choose_axes(bars)
    remarks = choose_scales(bars, axes, group(bars, axes)).remarks
    assert remarks == ("plot.logX: no numbers are on this axis",)


def test_a_word_among_numbers_is_said(tmp_path):
    rates = ["1Gbps", "10Gbps", "unlimited"]
    hints = {"x": "job.reduceRate"}
    results = run(
        four_hosts(job={"gradient": "1MB"}, plot=hints).sweep("job.reduceRate", rates),
        tmp_path / "r",
    )
    assert [row["job.reduceRate_bps"] for row in results.rows] == ["1000000000", "10000000000", ""]
    axes = choose_axes(results)
    (line,) = group(results, axes)
    assert line.x == [1e9, 1e10]
    scales = choose_scales(results, axes, [line])
    assert scales.remarks == ("1 run is not drawn: job.reduceRate is unlimited, no number",)
    assert results.runs["job.reduceRate_bps"].to_list() == [10**9, 10**10, None]
    # Unasked, words make bars of all of them.
    assert choose_axes(with_hints(results, tmp_path / "unasked")).x is None


def test_hints_at_what_an_override_fixed_are_said_and_left_out(program, tmp_path):
    file = four_hosts(plot={"x": "job.gradient", "series": "scheme.kind"})
    file = file.sweep("scheme.kind", ["ps", "ring"]).sweep("job.gradient", SIZES)
    file.save(tmp_path / "s.json")
    done = program("run", "s.json", "--out=r", "--set", "job.gradient=1MiB")
    assert done.returncode == 0, done.stderr
    results = load(tmp_path / "r")
    axes = choose_axes(results)
    assert (axes.x, axes.series) == (None, ("scheme.kind",))
    lines = group(results, axes)
    assert [line.name for line in lines] == ["ps", "ring"]
    remarks = choose_scales(results, axes, lines).remarks
    assert remarks == ("plot.x: job.gradient is not swept here",)


@pytest.mark.parametrize(
    ("hint", "value", "nearest"),
    [
        ("x", "job.gradeint", "job.gradient"),
        ("y", "busbw_byte_per_s", "busbw_bytes_per_s"),
        ("series", "scheme.kinds", "scheme.kind"),
    ],
)
def test_a_misspelt_hint_is_told_before_the_sweep(program, tmp_path, hint, value, nearest):
    file = four_hosts(plot={hint: value})
    file = file.sweep("scheme.kind", ["ps", "ring"]).sweep("job.gradient", SIZES)
    file.save(tmp_path / "s.json")
    for verb in (["run", "s.json", "--out=r"], ["run", "s.json", "--out=r", "--prepare"]):
        done = program(*verb)
        assert done.returncode == 2
        assert f's.json: plot.{hint}: found "{value}"; did you mean "{nearest}"?' in done.stderr
        assert not (tmp_path / "r").exists()


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (1024, "B", "1 KiB"),
        (97 * 2**20, "B", "97 MiB"),
        (1.5 * 2**20, "B", "1.5 MiB"),
        (60_000, "B", "60 kB"),
        (10**10, "B", "10 GB"),
        (512, "B", "512 B"),
        # 3 MiB and a half KiB is neither: four digits of it.
        (3 * 2**20 + 512, "B", "3.146 MB"),
        (1e11, "b/s", "100 Gb/s"),
        (2.5e9, "b/s", "2.5 Gb/s"),
        (1e-6, "s", "1 µs"),
        (0.01, "s", "10 ms"),
        (0, "s", "0 s"),
        (4, "", "4"),
    ],
)
def test_quantities_in_words(value, unit, text):
    assert show_quantity(value, unit) == text


def test_tables_of_two_sweeps_have_one_type(tmp_path):
    whole = run(four_hosts(job={"gradient": "1MB"}).sweep("job.timeout", ["1s"]), tmp_path / "a")
    loss = gradsync.Scenario(gradsync.star(4, "10Gbps"), job={"gradient": "10kB"})
    few = run(loss.sweep("fabric.lossRate", [0]), tmp_path / "b")
    more = run(loss.sweep("fabric.lossRate", [0, 0.01]), tmp_path / "c")
    assert few.runs.schema == more.runs.schema
    joined = few.runs.vstack(more.runs)
    assert joined["fabric.lossRate"].to_list() == [0.0, 0.0, 0.01]
    assert rows_of(whole.folder / "runs.csv")[0]["job.timeout_s"] == "1.000000000000"


def test_time_and_bandwidth_over_size_of_the_scenario_for_papers(program, tmp_path):
    """scenarios/message-sizes.json in short."""
    sizes = json.dumps(["1KiB", "64KiB", "4MiB"])
    schemes = json.dumps(["ring", "halving-doubling", "double-binary-tree"])
    done = program(
        "run",
        ROOT / "scenarios" / "message-sizes.json",
        "--out=r",
        f"--set=sweep.job.gradient={sizes}",
        f"--set=sweep.scheme.kind={schemes}",
    )
    assert done.returncode == 0, done.stderr
    results = load(tmp_path / "r")
    times = draw(results).axes[0]
    assert (times.get_xscale(), times.get_yscale()) == ("log", "log")
    assert times.get_xlabel() == "Message size"
    assert len(times.get_lines()) == 3
    busbw = draw(results, "busbw_bytes_per_s").axes[0]
    # 100 Gb/s, less headers, from below: no scheme's bus bandwidth is above the links'.
    most = [line.get_ydata()[-1] for line in busbw.get_lines()]
    assert 10 < max(most) < 12.5
    # Trees take 2 log2 steps where a ring takes 2 (w - 1), which decides at 1 KiB.
    ring, halving, _tree = group(results, choose_axes(results))
    assert halving.y[0] < ring.y[0] / 2


def test_bands_over_oversubscription_of_the_scenario_for_papers(program, tmp_path):
    """scenarios/oversubscription-bands.json in short."""
    done = program(
        "run",
        ROOT / "scenarios" / "oversubscription-bands.json",
        "--out=r",
        "--set=repeat=3",
        "--set=job.gradient=512KiB",
        "--set=sweep.topology.rackOversubscription=[1, 4]",
        '--set=sweep.scheme.kind=["ring", "double-binary-tree"]',
    )
    assert done.returncode == 0, done.stderr
    results = load(tmp_path / "r")
    lines = group(results, choose_axes(results))
    assert [line.x for line in lines] == [[1, 4], [1, 4]]
    # The tree's connections share links by chance; every seed has other collisions.
    tree = lines[1]
    assert all(low < y < high for low, y, high in zip(tree.low, tree.y, tree.high))
    summary = results.summary()
    assert summary["ci95"].null_count() == summary["equal"].sum()
