# SPDX-License-Identifier: GPL-2.0-only
"""The Python package: loading, comparing and plotting results, here ones written by hand."""

import csv
import json
import math

import pytest

from gradsync.errors import ResultsError
from gradsync.plots.plot import draw, plot_results
from gradsync.plots.style import series_styles
from gradsync.plots.tradeoff import applies, curves, describe, format_rate
from gradsync.results.closed_form import holds, ideal_time
from gradsync.results.codec_times import is_estimated
from gradsync.results.columns import scale
from gradsync.results.compare import compare_results
from gradsync.results.folder import load
from gradsync.results.series import Axes, choose_axes, group

SCENARIO = {
    "topology": {"kind": "spine-leaf", "leaves": 4},
    "scheme": {"kind": "ps"},
    "sweep": {"topology.hostsPerLeaf": [4, 8], "scheme.kind": ["ps", "ring"]},
    "plot": {"x": "oversubscription", "series": "scheme.kind"},
}


def write_results(folder, scenario, rows):
    folder.mkdir(exist_ok=True)
    (folder / "manifest.json").write_text(json.dumps({"scenario": scenario}))
    with open(folder / "runs.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, rows[0].keys())
        writer.writeheader()
        writer.writerows(rows)
    return folder


def a_run(hosts, scheme, ict, wall="1.0"):
    return {
        "topology.hostsPerLeaf": hosts,
        "scheme.kind": scheme,
        "workers": 4 * hosts,
        "oversubscription": hosts / 2,
        "ict_mean_s": ict,
        "ict_min_s": ict,
        "ict_max_s": ict,
        "wall_s": wall,
    }


@pytest.fixture
def study(tmp_path):
    # PS / ring = 0.06 / 0.04 = 1.5 at o = 2 and 0.12 / 0.04 = 3 at o = 4.
    times = {(4, "ps"): 0.06, (4, "ring"): 0.04, (8, "ps"): 0.12, (8, "ring"): 0.04}
    rows = [a_run(hosts, scheme, ict) for (hosts, scheme), ict in times.items()]
    return write_results(tmp_path / "study", SCENARIO, rows)


def test_seeds_are_points_of_one_line_with_their_mean_and_confidence_interval(tmp_path):
    scenario = {
        "scheme": {"kind": "ring"},
        "sweep": {"scheme.kind": ["ps", "ring"], "seed": [1, 2, 3], "faults.0.random": [1, 2]},
        "plot": {"x": "faults.0.random"},
    }
    rows = [
        {"scheme.kind": scheme, "seed": seed, "faults.0.random": k, "ict_mean_s": ict}
        | {"ict_min_s": ict, "ict_max_s": ict}
        for scheme, ict_of_seed in (("ps", (1, 2, 6)), ("ring", (4, "", 8)))
        for seed, ict in enumerate(ict_of_seed, 1)
        for k in (1, 2)
    ]
    results = load(write_results(tmp_path / "seeds", scenario, rows))
    axes = choose_axes(results)
    assert axes.series == ("scheme.kind",)
    ps, ring = group(results, axes)
    # (1 + 2 + 6) / 3, deviation sqrt 7, Student's t of 2 degrees 4.303; of the ring's three runs one did
    # not finish: deviation sqrt 8, t of 1 degree 12.706.
    assert (ps.x, ps.y) == ([1, 2], [3, 3])
    assert ps.high == pytest.approx([3 + 4.303 * (7 / 3) ** 0.5] * 2)
    assert ps.low == pytest.approx([3 - 4.303 * (7 / 3) ** 0.5] * 2)
    assert ring.y == [6, 6] and ring.high == pytest.approx([6 + 12.706 * 2] * 2)
    # Points that differ in more than the seed are no repetitions: the least and the largest value.
    pooled = group(load(results.folder), Axes("faults.0.random", "ict_mean_s", ()))[0]
    assert (pooled.low, pooled.high) == ([1, 1], [8, 8])


# Co-located PS over ring for 4 racks of 2 o hosts: o w (1 - 1/4) / (w - 1) with w = 8 o.
@pytest.mark.parametrize(
    "o, ratio", [(2, 1.60), (4, 3.10), (6, 4.60), (8, 6.10), (10, 7.59), (12, 9.09)]
)
def test_closed_form_of_ps_over_ring_under_oversubscription(o, ratio):
    workers = 8 * o
    assert ideal_time("ps", workers, 4, o) / ideal_time("ring", workers, 4, o) == pytest.approx(
        ratio, abs=0.005
    )


@pytest.mark.parametrize(
    "change",
    [
        {"topology": {"kind": "star"}},
        {"topology": {"kind": "spine-leaf", "leaves": 4, "server": {"accelerators": 4}}},
        {"job": {"gradient": "1MB", "compute": "1ms"}},
        {"scheme": {"kind": "ps", "servers": 2}},
        {"sweep": {"topology.fabricLink.rate": ["1Gbps"]}},
    ],
)
def test_closed_form_is_not_drawn_where_it_does_not_hold(change):
    assert holds(SCENARIO)
    assert not holds({**SCENARIO, **change})


def test_closed_form_without_oversubscription_is_the_own_share():
    # w = 4, r = 2, o = 1: all three schemes take 2 (w - 1) / w = 3/2.
    for scheme in ("ps", "ring", "rat"):
        assert ideal_time(scheme, 4, 2, 1) == pytest.approx(1.5)


def test_two_panels_hold_times_in_milliseconds_and_ratios_to_ring(study):
    times, ratios = draw(load(study)).axes[:2]
    assert "(ms)" in times.get_title(loc="left")
    ps, ring = times.get_lines()
    assert list(ps.get_xdata()) == [2, 4]
    assert list(ps.get_ydata()) == pytest.approx([60, 120])
    assert list(ring.get_ydata()) == pytest.approx([40, 40])
    ps, ring, ideal = ratios.get_lines()[:3]
    assert list(ps.get_ydata()) == pytest.approx([1.5, 3.0])
    assert list(ring.get_ydata()) == pytest.approx([1, 1])
    # 16 workers: 2 * 16 * 0.75 / 15; 32 workers: 4 * 32 * 0.75 / 31.
    assert list(ideal.get_ydata()) == pytest.approx([1.6, 96 / 31])


def test_same_results_give_the_same_picture_byte_for_byte(study):
    first = [path.read_bytes() for path in plot_results(study)]
    second = [path.read_bytes() for path in plot_results(study)]
    assert first == second
    assert [path.name for path in plot_results(study)] == ["plot.svg", "plot.png"]
    # Nothing half-written is left behind.
    assert sorted(path.name for path in study.iterdir()) == [
        "manifest.json",
        "plot.png",
        "plot.svg",
        "runs.csv",
    ]


def test_failed_run_is_a_gap_and_is_said(tmp_path):
    rows = [
        a_run(4, "ps", 0.06),
        a_run(8, "ps", ""),
        a_run(4, "ring", 0.04),
        a_run(8, "ring", 0.04),
    ]
    figure = draw(load(write_results(tmp_path / "r", SCENARIO, rows)))
    ps = figure.axes[0].get_lines()[0]
    assert ps.get_ydata()[0] == pytest.approx(60)
    assert ps.get_ydata()[1] != ps.get_ydata()[1]
    assert "1 run did not finish" in [text.get_text() for text in figure.texts]


def test_without_hints_the_first_numeric_path_is_x_and_the_others_are_lines(tmp_path):
    scenario = {key: value for key, value in SCENARIO.items() if key != "plot"}
    rows = [a_run(hosts, scheme, 1) for hosts in (4, 8) for scheme in ("ring", "rat")]
    panel = draw(load(write_results(tmp_path / "r", scenario, rows))).axes[0]
    assert [list(line.get_xdata()) for line in panel.get_lines()] == [[4, 8], [4, 8]]
    assert [line.get_label() for line in panel.get_lines()] == ["Ring", "RAT"]


def test_single_run_is_one_bar(tmp_path):
    scenario = {"topology": {"kind": "star"}, "scheme": {"kind": "ring"}}
    figure = draw(load(write_results(tmp_path / "r", scenario, [a_run(4, "ring", 0.002)])))
    (bar,) = figure.axes[0].patches
    assert bar.get_width() == pytest.approx(2)
    assert "(ms)" in figure.axes[0].get_title(loc="left")


def test_words_as_x_are_bars(tmp_path):
    scenario = {
        "scheme": {"kind": "ps"},
        "sweep": {"scheme.kind": ["ps", "ring"]},
        "plot": {"x": "scheme.kind"},
    }
    rows = [a_run(4, "ps", 0.004), a_run(4, "ring", 0.002)]
    panel = draw(load(write_results(tmp_path / "r", scenario, rows))).axes[0]
    assert [bar.get_width() for bar in panel.patches] == pytest.approx([4, 2])
    assert [text.get_text() for text in panel.get_yticklabels()] == ["Parameter server", "Ring"]


def test_panels_have_a_row_for_each_series_and_a_mark_for_each_x(study):
    scenario = {**SCENARIO, "plot": {**SCENARIO["plot"], "panels": ["ict_mean_s", "workers"]}}
    column = {"name": "ict_mean_s", "label": "Time of one", "unit": "s", "type": "number"}
    manifest = {"scenario": scenario, "columns": {"runs.csv": [column]}}
    (study / "manifest.json").write_text(json.dumps(manifest))
    times, workers = draw(load(study)).axes
    assert [text.get_text() for text in times.get_yticklabels()] == ["Parameter server", "Ring"]
    # One set of marks for o = 2 (4 hosts a leaf) and one for o = 4, a row for ps and one for ring.
    marks = [(list(line.get_xdata()), list(line.get_ydata())) for line in times.get_lines()]
    assert marks == [([60, 40], [0, 1]), ([120, 40], [0, 1])]
    assert [list(line.get_xdata()) for line in workers.get_lines()] == [[16, 16], [32, 32]]
    assert times.get_title(loc="left") == "Time of one (ms)"
    # Of this one the manifest says nothing.
    assert workers.get_title(loc="left") == "Workers"


def test_a_scheme_keeps_its_colour_whatever_else_is_plotted():
    assert series_styles(["ring"])["ring"] == series_styles(["x", "y", "ring"])["ring"]
    colours = [look.colour for look in series_styles(["ps", "ring", "rat", "x", "y"]).values()]
    assert len(set(colours)) == 5


@pytest.mark.parametrize(
    "values, expected",
    [([2.0, 0.1], (1.0, "s")), ([0.5], (1e-3, "ms")), ([2e-6], (1e-6, "µs")), ([], (1e-6, "µs"))],
)
def test_unit_fits_the_largest_value(values, expected):
    assert scale("s", values) == expected


def test_hint_for_a_column_that_does_not_exist_is_named(study):
    scenario = {**SCENARIO, "plot": {"x": "nothing"}}
    (study / "manifest.json").write_text(json.dumps({"scenario": scenario}))
    with pytest.raises(ResultsError, match="no column nothing"):
        draw(load(study))


@pytest.mark.parametrize("content", ["{", "\xff"])
def test_broken_manifest_is_named(study, content):
    (study / "manifest.json").write_bytes(content.encode("latin-1"))
    with pytest.raises(ResultsError, match="study"):
        load(study)


def test_missing_runs_are_named(study):
    (study / "runs.csv").unlink()
    with pytest.raises(ResultsError, match=r"runs\.csv is missing"):
        load(study)


def test_comparison_ignores_wall_clock_only(tmp_path):
    first = write_results(tmp_path / "a", SCENARIO, [a_run(4, "ps", 0.06, wall="1.0")])
    second = write_results(tmp_path / "b", SCENARIO, [a_run(4, "ps", 0.06, wall="2.0")])
    assert compare_results(first, second) == []
    write_results(second, SCENARIO, [a_run(4, "ps", 0.06000000001)])
    (difference, *_) = compare_results(first, second)
    assert difference == "runs.csv:2: ict_mean_s is 0.06 and 0.06000000001"


def test_comparison_sees_missing_rows_and_tables(tmp_path):
    rows = [a_run(4, "ps", 0.06), a_run(4, "ring", 0.04)]
    first = write_results(tmp_path / "a", SCENARIO, rows)
    second = write_results(tmp_path / "b", SCENARIO, rows[:1])
    assert compare_results(first, second) == ["runs.csv:3: only in one of the two"]
    write_results(second, SCENARIO, rows)
    (first / "links.csv").write_text("from,to\na,b\n")
    assert compare_results(first, second) == [f"links.csv: only in {first}"]


def test_a_codec_stops_paying_where_its_time_is_that_of_fp32(tmp_path):
    # fp32 takes 1 / rate; "half" half of that and a fixed 0.05: as long at rate 10, between 5 and 20
    # where its ratio goes from 0.75 to 1.5. "slow" always loses, "free" never.
    times = {
        "fp32": lambda rate: 1 / rate,
        "half": lambda rate: 0.5 / rate + 0.05,
        "slow": lambda rate: 2 / rate,
        "free": lambda rate: 0.1 / rate,
    }
    scenario = {
        "job": {"profile": {"file": "../profiles/x.profile.json"}},
        "sweep": {"link.rate": ["5Gbps", "20Gbps"], "job.codec.kind": list(times)},
    }
    rows = [
        {"link.rate": f"{rate}Gbps", "job.codec.kind": codec, "ict_mean_s": time(rate)}
        for rate in (5, 20)
        for codec, time in times.items()
    ]
    results = load(write_results(tmp_path, scenario, rows))
    assert applies(results)
    at = {curve.codec: curve.crossing() for curve in curves(results)}
    # Straight in logarithms: ln(1 / 0.75) of ln(1.5 / 0.75) = ln 2, of a factor of 4.
    assert at["half"] == pytest.approx(5e9 * 4 ** (math.log(1 / 0.75) / math.log(2)))
    assert (at["slow"], at["free"]) == (0, math.inf)
    assert [line.split(None, 2) for line in describe(results)] == [
        ["x", "half", "stops paying at 8.89 Gb/s"],
        ["x", "slow", "never pays from 5 Gb/s on"],
        ["x", "free", "pays up to 20 Gb/s at least"],
    ]
    paths = [path.name for path in plot_results(tmp_path)]
    assert paths == ["plot.svg", "plot.png", "crossings.csv"]
    assert (tmp_path / "crossings.csv").read_text().splitlines()[1] == "x,half,8.88889e+09"
    assert format_rate(1.5e12) == "1.5 Tb/s"


def _codec_rows(origin, swept):
    """A scenario whose codecs take times of such a profile, with fp32 and int8 over hosts, or one of each."""
    profile = {"file": "x.profile.json", "origin": origin}
    scenario = {
        "job": {"codec": {"kind": "int8"}, "profile": profile},
        "sweep": {"job.codec.kind": ["fp32", "int8"], **swept},
    }
    points = [{path: value} for path, values in swept.items() for value in values] or [{}]
    rows = [
        {**point, "job.codec.kind": codec, "ict_mean_s": 0.5, "ict_min_s": 0.5, "ict_max_s": 0.5}
        for codec in ("fp32", "int8")
        for point in points
    ]
    return scenario, rows


@pytest.mark.parametrize("swept", [{"topology.hosts": [2, 4]}, {}], ids=["lines", "bars"])
def test_a_plot_says_which_times_of_codecs_are_estimates(tmp_path, swept):
    drawn = {}
    for origin in ("roofline-estimate", "measurement"):
        folder = write_results(tmp_path / origin, *_codec_rows(origin, swept))
        results = load(folder)
        # fp32 takes no time, whatever the profile.
        told = [is_estimated(results, row) for row in results.rows]
        assert told == [
            origin != "measurement" and row["job.codec.kind"] == "int8" for row in results.rows
        ]
        plot_results(folder)
        drawn[origin] = (folder / "plot.svg").read_text()
    assert "estimated times of codecs" in drawn["roofline-estimate"]
    assert "estimated times of codecs" not in drawn["measurement"]


def test_the_ends_of_an_estimate_are_one_band(tmp_path):
    # Each codec takes half of fp32's time and a launch, at 5 and 20 Gb/s: with 0.05 it crosses at 8.89 Gb/s as above,
    # with 0.15 never, with 0.01 beyond.
    fixed = {"few": (0.01, 0.05), "one": (0.05, 0.05), "many": (0.05, 0.15)}
    rows = [
        {
            "link.rate": f"{rate}Gbps",
            "job.codec.kind": codec,
            "job.profile": f"../gpu-estimate-{micros}us.profile.json",
            "ict_mean_s": 1 / rate if codec == "fp32" else 0.5 / rate + fixed[codec][end],
        }
        for end, micros in enumerate((1, 5))
        for rate in (5, 20)
        for codec in ("fp32", *fixed)
    ]
    swept = {key: sorted({row[key] for row in rows}) for key in rows[0] if key != "ict_mean_s"}
    results = load(write_results(tmp_path, {"sweep": swept}, rows))
    assert [line.split(None, 2) for line in describe(results)] == [
        ["gpu-estimate", "few", "stops paying between 8.89 Gb/s and above 20 Gb/s"],
        ["gpu-estimate", "one", "stops paying at 8.89 Gb/s"],
        ["gpu-estimate", "many", "stops paying between below 5 Gb/s and 8.89 Gb/s"],
    ]
    plot_results(tmp_path)
    text = (tmp_path / "plot.svg").read_text()
    assert "estimate: a range" in text and "gpu-estimate-1us" not in text
