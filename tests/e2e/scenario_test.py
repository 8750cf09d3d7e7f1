# SPDX-License-Identifier: GPL-2.0-only
"""Scenario files end to end, from the file to results and messages."""

import json
import shutil

import jsonschema
import pytest
from conftest import SCENARIOS, SMOKE, rows_of

ALL_SCENARIOS = sorted(p for p in SCENARIOS.rglob("*.json") if p.name != "scenario.schema.json")
# Design §8; `status` tells a run that did not finish.
RUN_COLUMNS = {
    "run",
    "seed",
    "workers",
    "oversubscription",
    "ict_mean_s",
    "ict_min_s",
    "ict_max_s",
    "bound_s",
    "times_bound",
    "cross_rack_bytes",
    "peak_received_bytes",
    "longest_chain",
    "auto_choice",
    "auto_estimate_s",
    "goodput_bytes",
    "wire_bytes",
    "dropped_packets",
    "ecn_marked_packets",
    "pfc_pause_s",
    "retransmitted_packets",
    "retransmitted_bytes",
    "sum_packets",
    "sum_overflows",
    "overflowed_sums",
    "wrong_sums",
    "sum_relative_error",
    "sum_largest_error",
    "float_packets",
    "server_packets",
    "fallbacks",
    "tree_rebuilds",
    "packet_hops",
    "events",
    "wall_s",
    "peak_rss_bytes",
    "status",
}


def test_run_writes_every_file_and_column(smoke):
    written = {path.name for path in smoke.iterdir() if not path.name.startswith(".")}
    tables = {"runs.csv", "iterations.csv", "links.csv", "messages.csv", "faults.csv", "flows.csv"}
    tables |= {"samples.csv", "blocked.csv", "unfinished.csv"}
    assert written == {*tables, "manifest.json"}
    runs = rows_of(smoke / "runs.csv")
    swept = json.loads(SMOKE.read_text())["sweep"]
    assert set(runs[0]) == RUN_COLUMNS | set(swept)
    # 2 sizes of rack times 3 schemes.
    assert len(runs) == 6
    assert {run["status"] for run in runs} == {"ok"}


def test_iterations_and_runs_agree(smoke):
    iterations = rows_of(smoke / "iterations.csv")
    for run in rows_of(smoke / "runs.csv"):
        times = [float(i["ict_s"]) for i in iterations if i["run"] == run["run"]]
        assert len(times) == 2
        assert float(run["ict_mean_s"]) == pytest.approx(sum(times) / 2, rel=1e-12)


def test_manifest_says_what_ran_without_saying_where(smoke):
    manifest = json.loads((smoke / "manifest.json").read_text())
    assert manifest["program"]["name"] == "gradsync"
    assert manifest["program"]["ns3"].startswith("3.")
    assert manifest["scenario"]["sweep"] == json.loads(SMOKE.read_text())["sweep"]
    assert len(manifest["runs"]) == 6


@pytest.mark.parametrize("path", ALL_SCENARIOS, ids=lambda p: str(p.relative_to(SCENARIOS)))
def test_shipped_scenario_fits_the_schema_and_validates(program, path):
    schema = json.loads((SCENARIOS / "scenario.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.Draft202012Validator(schema).validate(json.loads(path.read_text()))
    # Choosing for 420 runs takes a minute: of that study only the reading is checked.
    check = "resolve" if path.parent.name == "auto-planner" else "validate"
    result = program(f"--{check}={path}")
    assert result.returncode == 0, result.stderr


def test_describe_tells_oversubscription_before_anything_runs(program, tmp_path):
    result = program(f"--describe={SMOKE}")
    assert result.returncode == 0
    assert "oversubscription" in result.stdout.lower()
    for scheme in ("ps", "ring", "rat"):
        assert scheme in result.stdout
    assert list(tmp_path.iterdir()) == []


def test_list_has_a_line_for_everything_a_scenario_can_name(program):
    result = program("--list")
    assert result.returncode == 0
    for name in (
        "ps",
        "ring",
        "rat",
        "hierarchical",
        "star",
        "spine-leaf",
        "fat-tree",
        "roce",
        "fluid",
        "tcp",
    ):
        assert any(line.split()[:1] == [name] for line in result.stdout.splitlines()), name


def test_schema_knows_every_scheme_and_its_parameters(program):
    schemes, parameters = set(), set()
    for line in (
        program("--list").stdout.split("Schemes", 1)[1].split("Topologies", 1)[0].splitlines()
    ):
        if line.startswith("      "):
            parameters.add(line.split()[0])
        elif line.startswith("  "):
            schemes.add(line.split()[0])
    schema = json.loads((SCENARIOS / "scenario.schema.json").read_text())
    name, settings = schema["$defs"]["scheme"]["anyOf"]
    assert set(name["enum"]) == set(settings["properties"]["kind"]["enum"]) == schemes
    assert set(settings["properties"]) - {"kind"} == parameters


@pytest.mark.parametrize(
    "override, expected",
    [
        ("topology.hostsPerLeef=4", ["topology.hostsPerLeef", "hostsPerLeaf"]),
        ("scheme.kind=rign", ["scheme.kind", "rign", "ring"]),
        ("topology.hostLink.rate=40", ["topology.hostLink.rate"]),
        ("job.gradient=-1MB", ["job.gradient"]),
        ("topology.leaves=0", ["leaves"]),
    ],
)
def test_bad_input_is_one_clear_message_and_nothing_is_written(
    program, tmp_path, override, expected
):
    result = program(f"--scenario={SMOKE}", "--out=r", f"--set={override}")
    assert result.returncode == 2
    for part in expected:
        assert part in result.stderr
    assert len(result.stderr.strip().splitlines()) <= 3
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("content", [b"", b"{", b'{"a": 1, "a": 2}', b'{"title": "\xff"}'])
def test_broken_file_is_refused(program, tmp_path, content):
    (tmp_path / "s.json").write_bytes(content)
    result = program("--scenario=s.json", "--out=r")
    assert result.returncode == 2
    assert "s.json" in result.stderr
    assert not (tmp_path / "r").exists()


def test_unknown_option_of_the_program_names_the_nearest(program):
    result = program("--scenari=x.json")
    assert result.returncode == 2
    assert "--scenario" in result.stderr


def test_run_by_the_launcher_ends_with_a_plot(ns3, tmp_path):
    shutil.copy(SMOKE, tmp_path / "my.json")
    result = ns3("run", "my.json", "--set", "job.gradient=3MB", "--no-install")
    assert result.returncode == 0, result.stderr
    folder = tmp_path / "results" / "my"
    assert (folder / "plot.svg").read_text().startswith("<?xml")
    assert (folder / "plot.png").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    # The table goes to standard output, the rest to standard error.
    assert "ring" in result.stdout


def test_launcher_passes_the_exit_code_of_bad_input_on(ns3):
    result = ns3("validate", "nowhere.json", "--no-install")
    assert result.returncode == 2
    assert "nowhere.json" in result.stderr


def test_an_old_name_gives_the_same_results_and_one_warning_that_tells_the_new_one(
    program, tmp_path
):
    scenario = {
        "topology": {"kind": "star", "hosts": 3, "hostLink": {"rate": "10Gbps", "delay": "1us"}},
        "job": {"gradient": "100kB"},
        "scheme": "switchml",
        "sweep": {"seed": [1, 2]},
    }
    times = {}
    for name, aggregation in (("old", {"slots": 4}), ("new", {"slot": {"slots": 4}})):
        scenario["transport"] = {"kind": "roce", "aggregation": aggregation}
        (tmp_path / f"{name}.json").write_text(json.dumps(scenario))
        done = program(f"--scenario={name}.json", f"--out={name}")
        assert done.returncode == 0, done.stderr
        warned = [line for line in done.stderr.splitlines() if "warning" in line]
        old, now = "transport.aggregation.slots", "transport.aggregation.slot.slots"
        expected = [f"gradsync: warning: {old} is now called {now}"] if name == "old" else []
        assert warned == expected
        times[name] = [row["ict_mean_s"] for row in rows_of(tmp_path / name / "runs.csv")]
    assert times["old"] == times["new"]
