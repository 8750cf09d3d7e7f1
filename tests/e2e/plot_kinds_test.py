# SPDX-License-Identifier: GPL-2.0-only
"""Pictures of what happens inside of runs, drawn from results that the simulator wrote."""

import polars as pl
import pytest
from conftest import ROOT

import gradsync
from gradsync.plots.kinds import (
    KINDS,
    draw_bytes,
    draw_messages,
    draw_queues,
    draw_timeline,
    plot_kind,
)
from gradsync.plots.layout import place
from gradsync.plots.style import series_styles
from gradsync.studies.gallery import PICTURES, list_outdated
from gradsync.studies.sum_error_plot import draw_sum_errors, measure


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """PS and ring over four hosts on a star, without packets, with 0.1 ms of computation."""
    folder = tmp_path_factory.mktemp("study")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        scenario = gradsync.Scenario(
            gradsync.star(4, "10Gbps"),
            transport="fluid",
            job={"gradient": "1MB", "compute": "100us"},
        )
        return scenario.sweep("scheme.kind", ["ps", "ring"]).run(folder / "r")


@pytest.fixture(scope="module")
def incast(tmp_path_factory):
    """Three workers push to one server, packet by packet, looked at every 10 us."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        scenario = gradsync.Scenario(
            gradsync.star(4, "10Gbps"),
            scheme={"kind": "ps", "servers": 1},
            job={"gradient": "100kB"},
            results={"every": "10us"},
        )
        return scenario.run(tmp_path_factory.mktemp("incast") / "r")


@pytest.mark.parametrize(
    "kind", sorted(KINDS.keys() - {"queues", "breakdown", "critical", "staleness"})
)
def test_every_kind_is_drawn_and_the_same_each_time(study, tmp_path, kind):
    first = plot_kind(study, kind, out=tmp_path / "a.svg").read_bytes()
    assert first == plot_kind(study, kind, out=tmp_path / "b.svg").read_bytes()
    assert len(first) > 2000


def test_messages_of_a_ring_all_take_one_step(study):
    ps, ring = draw_messages(study, None).axes[0].get_lines()
    # K/4 = 250 kB at 10 Gb/s are 200 us, over two links of 1 us.
    assert set(ring.get_xdata().round(6)) == {202.0}
    assert ring.get_ydata()[-1] == 1.0
    # PS pushes and pulls 3 shards at once through each host's link: 600 us.
    assert ps.get_xdata().max() == pytest.approx(602)


def test_bytes_are_those_of_links_csv(study):
    panel = draw_bytes(study, None).axes[0]
    # Both: 2 (w - 1) K = 6 MB, on two links each, without headers.
    payload = [bar.get_width() for bar in panel.patches[::2]]
    assert payload == pytest.approx([12.0, 12.0])


def test_timeline_has_a_row_per_worker_and_the_computation(study):
    panel = draw_timeline(study, 1).axes[0]
    assert [text.get_text() for text in panel.get_yticklabels()] == [f"host{i}" for i in range(4)]
    out, _incoming = panel.collections[:2]
    (box,) = [path.get_extents() for path in out.get_paths()]
    # In a ring there is always a message on its way out: 6 steps of 0.202 ms after 0.1 ms.
    assert (box.x0, box.x1) == pytest.approx((0.1, 0.1 + 6 * 0.202))


def test_queue_fills_and_empties_over_time(incast):
    queues, _pauses = draw_queues(incast, None).axes
    fullest = queues.get_lines()[0]
    assert fullest.get_label() == "leaf0 to host3"
    assert fullest.get_ydata()[-1] == 0 < fullest.get_ydata().max()
    # What was sent in all intervals is what links.csv has, headers and acknowledgements included.
    sent = incast.samples.group_by("from", "to").agg(pl.col("wire_bytes").sum())
    whole = incast.links.select("from", "to", "wire_bytes").join(sent, on=["from", "to"])
    assert whole.height == 8
    assert whole["wire_bytes"].to_list() == whole["wire_bytes_right"].to_list()


def test_looking_changes_nothing(incast, tmp_path, monkeypatch):
    monkeypatch.chdir(ROOT)
    scenario = gradsync.Scenario.load(incast.folder / "scenario.json").set("results", {})
    unseen = scenario.run(tmp_path / "r")
    assert unseen.samples.is_empty()
    assert unseen.rows[0]["ict_mean_s"] == incast.rows[0]["ict_mean_s"]
    with pytest.raises(gradsync.ScenarioError, match="the transport fluid has no links to sample"):
        scenario.set("transport", "fluid").set("results.every", "1us").check()


def test_pictures_that_differ_or_are_missing_are_out_of_date(tmp_path):
    drawn = [tmp_path / name for name in ("same.svg", "other.svg", "new.svg")]
    there = tmp_path / "there"
    there.mkdir()
    for path in drawn:
        path.write_text(path.name)
    (there / "same.svg").write_text("same.svg")
    (there / "other.svg").write_text("other.sVg")
    assert list_outdated(drawn, there) == drawn[1:]


def test_every_picture_of_the_gallery_has_a_scenario_and_a_place():
    pages = "".join(page.read_text() for page in (ROOT / "doc").glob("*.rst"))
    for picture in PICTURES:
        assert (ROOT / "scenarios" / f"{picture.scenario}.json").exists()
        assert f"pictures/{picture.name}.svg" in pages
    assert {picture.kind for picture in PICTURES} == set(KINDS)


def test_sum_errors_fall_with_the_factor_until_sums_overflow(program, monkeypatch):
    monkeypatch.setenv("GRADSYNC_PROGRAM", str(program.path))
    table = measure()
    passing = table.filter((pl.col("factor") - 1e8).abs() < 1)
    assert passing.height == table["distribution"].n_unique() == 4
    # Overflow where, and only where, the largest sum is beyond 2^31 / 10^8 = 21.47.
    assert (passing["overflows"] > 0).to_list() == (passing["largest_sum"] > 21.47).to_list()
    assert passing["overflows"].sum() > 0
    errors, limits = draw_sum_errors(table).axes
    assert len([line for line in errors.get_lines() if len(line.get_xdata()) == 21]) == 4
    assert "more than 21.47 overflows" in [text.get_text() for text in limits.texts]


def test_network_is_laid_out_in_tiers():
    links = [("h0", "l0"), ("h1", "l0"), ("h2", "l1"), ("h3", "l1")]
    links += [("l0", "s0"), ("l1", "s0"), ("l0", "s1"), ("l1", "s1")]
    layout = place(links)
    assert layout.tiers == 3
    assert {node: tier for node, (_, tier) in layout.positions.items()} == {
        **dict.fromkeys(("h0", "h1", "h2", "h3"), 0),
        **dict.fromkeys(("l0", "l1"), 1),
        **dict.fromkeys(("s0", "s1"), 2),
    }
    assert layout.positions["h0"][0] == pytest.approx(1 / 8)
    assert place([]).positions == {}


def test_what_is_not_there_is_said(study, tmp_path):
    with pytest.raises(gradsync.ResultsError, match="there is no kind pie"):
        plot_kind(study, "pie")
    with pytest.raises(gradsync.ResultsError, match="has runs 0 to 1, not 2"):
        plot_kind(study, "links", run=2)
    (tmp_path / "runs.csv").write_text((study.folder / "runs.csv").read_text())
    (tmp_path / "manifest.json").write_text((study.folder / "manifest.json").read_text())
    header = (study.folder / "messages.csv").read_text().splitlines()[0]
    (tmp_path / "messages.csv").write_text(header + "\n")
    with pytest.raises(gradsync.ResultsError, match="nothing was recorded"):
        plot_kind(gradsync.load(tmp_path), "messages")


def test_every_registered_scheme_looks_like_no_other_and_always_the_same(program):
    listed = program("list").stdout.split("\n\n", 1)[0].splitlines()
    schemes = [line.split()[0] for line in listed if line[:2] == "  " and line[2] != " "]
    looks = series_styles(schemes)
    assert len({(look.colour, look.marker, look.line) for look in looks.values()}) == len(schemes)
    assert series_styles([*reversed(schemes)]) == looks
