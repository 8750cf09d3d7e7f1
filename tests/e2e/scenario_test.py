# SPDX-License-Identifier: GPL-2.0-only
"""Scenario files end to end, from the file to results and messages."""

import json
import shutil

import jsonschema
import pytest
import referencing
from conftest import SCENARIOS, SMOKE, rows_of

from gradsync.plots import style

ALL_SCENARIOS = sorted(
    path
    for path in SCENARIOS.rglob("*.json")
    if path.name != "scenario.schema.json" and path.parent.name != "algorithms"
)
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
    "algbw_bytes_per_s",
    "busbw_bytes_per_s",
    "cross_rack_bytes",
    "peak_received_bytes",
    "longest_chain",
    "auto_choice",
    "auto_estimate_s",
    "codec_times",
    "goodput_bytes",
    "lost_bytes",
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
    "sum_print",
    "core_busy_s",
    "core_wait_s",
    "core_queue_max",
    "fallbacks",
    "tree_rebuilds",
    "packet_hops",
    "events",
    "iteration_mean_s",
    "computation_s",
    "hidden_s",
    "exposed_s",
    "bubble_s",
    "mfu",
    "samples_per_s",
    "tokens_per_s",
    "device_memory_bytes",
    "updates",
    "steps_per_s",
    "staleness_mean",
    "staleness_max",
    "ahead_max",
    "held_s",
    "skipped_iterations",
    "recorded_collectives",
    "wall_s",
    "peak_rss_bytes",
    "status",
}


def test_run_writes_every_file_and_column(smoke):
    written = {path.name for path in smoke.iterdir() if not path.name.startswith(".")}
    tables = {
        "runs.csv",
        "iterations.csv",
        "links.csv",
        "messages.csv",
        "faults.csv",
        "flows.csv",
    }
    tables |= {"samples.csv", "blocked.csv", "unfinished.csv"}
    tables |= {"training.csv", "streams.csv", "collectives.csv", "critical_path.csv"}
    tables |= {"updates.csv", "workers.csv"}
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
    result = program(check, path)
    assert result.returncode == 0, result.stderr


def test_describe_tells_oversubscription_before_anything_runs(program, tmp_path):
    result = program("describe", SMOKE)
    assert result.returncode == 0
    assert "oversubscription" in result.stdout.lower()
    for scheme in ("ps", "ring", "rat"):
        assert scheme in result.stdout
    assert list(tmp_path.iterdir()) == []


def test_describe_tells_what_nccl_would_take_and_why(program):
    # Four hosts of 1.25 GB/s, 1 MB: a ring by Simple takes 1.4 x (8.4 + 6 x 14) us and 4/6 of the rate.
    overrides = ["--set=scheme.kind=nccl", "--set=topology.hostsPerLeaf=2"]
    result = program("describe", SMOKE, *overrides)
    assert result.returncode == 0, result.stderr
    ring = 1.4 * 92.4 + 1e6 / (1250 * 4 / 6)
    assert "nccl: ring simple: multi-ring" in result.stdout
    assert f"out of a server: ring simple, {ring:.2f} us" in result.stdout
    assert f", simple {ring:.2f} us\n" in result.stdout
    assert "protocol: 8.4 us before the first message" in result.stdout
    named = program("describe", SMOKE, "--set=scheme.kind=nccl:tree", "--set=job.protocol=ll")
    assert "nccl:tree: double-binary-tree chains=true" in named.stdout
    assert "protocol: 6.6 us before the first message" in named.stdout


def test_describe_looks_at_no_queues_where_the_run_does(program, tmp_path):
    # The ideal time is that of the transport fluid, which has none.
    (tmp_path / "s.json").write_text(json.dumps(_scenario(results={"every": "1us"})))
    result = program("describe", "s.json")
    assert result.returncode == 0, result.stderr
    assert "fluid ICT" in result.stdout


def test_list_has_a_line_for_everything_a_scenario_can_name(program):
    result = program("list")
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


def _schema() -> jsonschema.Draft202012Validator:
    schema = json.loads((SCENARIOS / "scenario.schema.json").read_text())
    return jsonschema.Draft202012Validator(schema)


def _scenario(**parts) -> dict:
    star = {"kind": "star", "hosts": 4, "hostLink": {"rate": "10Gbps"}}
    return {"topology": star, "scheme": "ring", **parts}


@pytest.mark.parametrize(
    "parts",
    [
        {"scheme": {"kind": "ring", "barrier": True}},
        {"job": {"scheme": {"kind": "ring", "servers": 2}}},
        {"jobs": [{}, {"scheme": {"kind": "ring", "servers": 2}}]},
        {"scheme": {"kind": "ring", "pipelineChunks": 0}},
        {"scheme": {"pipelineChunks": 2}},
        {"job": {"codec": {"kind": "int8", "density": 0.1}}},
        {"transport": {"kind": "fluid", "mtu": "1kB"}},
        {"transport": {"kind": "tcp", "dcqcn": {}}},
        {"topology": {"kind": "star", "hosts": 4, "hostLink": {}, "spines": 2}},
        {"topology": {"hosts": 4, "hostLink": {}}},
        {"faults": [{"kind": "link-down", "random": 1, "loss": 0.1}]},
        {
            "faults": [
                {
                    "kind": "straggler",
                    "random": 1,
                    "slowdown": {"distribution": "uniform", "mean": 1},
                }
            ]
        },
        {
            "traffic": [
                {
                    "kind": "incast",
                    "size": "1kB",
                    "fanIn": 2,
                    "every": "1ms",
                    "load": 0.1,
                }
            ]
        },
        {
            "sweep": {"scheme.kind": ["ring", "ps"]},
            "job": {"codec": {"kind": "int8", "density": 0.1}},
        },
        {
            "job": {
                "training": {
                    "blocks": [{"backward": "1ms"}],
                    "gradientScheme": {"kind": "ring", "barrier": True},
                }
            },
        },
        {"job": {"training": {"blocks": [{"forwards": "1ms"}]}}},
        {"job": {"training": {"blocks": [{"forward": "1ms"}], "zero": 4}}},
        {"job": {"asynchronous": {"bound": -1}}},
        {"job": {"asynchronous": {"bound": "never"}}},
        {"job": {"asynchronous": {"pushEvery": 0}}},
        {"job": {"asynchronous": {"stages": [{"workers": 2}]}}},
    ],
    ids=str,
)
def test_schema_and_program_refuse_the_same(program, tmp_path, parts):
    scenario = _scenario(**parts)
    assert not _schema().is_valid(scenario)
    (tmp_path / "s.json").write_text(json.dumps(scenario))
    assert program("resolve", "s.json").returncode == 2


@pytest.mark.parametrize(
    "parts",
    [
        {"scheme": {"kind": "ps", "barrier": True}},
        # What only other kinds know is left out in the runs of those that do not.
        {
            "scheme": {"kind": "ring", "barrier": True},
            "sweep": {"scheme.kind": ["ring", "ps"]},
        },
        {
            "job": {"scheme": {"kind": "ring", "barrier": True}},
            "sweep": {"job.scheme.kind": ["ps"]},
        },
        {
            "job": {"codec": {"kind": "int8", "density": 0.1}},
            "sweep": {"job.codec.kind": ["dgc"]},
        },
        {"transport": {"mtu": "1kB"}},
        {"transport": {"congestionControl": "dcqcn", "dcqcn": {"alphaGain": 0.1}}},
        {"transport": {"aggregation": {"atpWindow": 50, "slot": {"slots": 4}}}},
        {
            "topology": {"kind": "star", "hostLink": {}},
            "sweep": {"topology.hosts": [2], "topology.hostLink.rate": ["1Gbps"]},
        },
        {
            "faults": [
                {
                    "kind": "straggler",
                    "random": 1,
                    "slowdown": {"distribution": "uniform", "low": 1, "high": 2},
                }
            ]
        },
        {"traffic": [{"kind": "incast", "size": "1kB", "fanIn": 2, "every": "1ms"}]},
        {
            "job": {
                "training": {
                    "blocks": [{"backward": "1ms", "gradient": "1MB"}],
                    "gradientScheme": {"kind": "ring", "barrier": True},
                }
            },
            "sweep": {"job.training.gradientScheme.kind": ["ring", "ps"]},
        },
        {
            "job": {"asynchronous": {"bound": "none", "stages": [{"steps": 2}, {"steps": 3}]}},
            "sweep": {
                "job.asynchronous.bound": [0, "none"],
                "job.asynchronous.stages.1.steps": [1, 2],
            },
        },
    ],
    ids=str,
)
def test_schema_and_program_take_the_same(program, tmp_path, parts):
    scenario = _scenario(**parts)
    _schema().validate(scenario)
    (tmp_path / "s.json").write_text(json.dumps(scenario))
    result = program("resolve", "s.json")
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize(
    ("folder", "name", "least"),
    [("topologies", "topology", 18), ("models", "model", 10), ("devices", "device", 5)],
)
def test_files_of_sections_may_have_a_title_and_the_keys_of_their_kind_only(folder, name, least):
    root = SCENARIOS.parent
    schema = json.loads((root / folder / f"{name}.schema.json").read_text())
    scenarios = json.loads((SCENARIOS / "scenario.schema.json").read_text())
    base = "https://gradsync.invalid/"
    registry = referencing.Registry().with_resources(
        [
            (
                f"{base}scenarios/scenario.schema.json",
                referencing.Resource.from_contents(scenarios),
            ),
            (
                f"{base}{folder}/{name}.schema.json",
                referencing.Resource.from_contents(schema),
            ),
        ]
    )
    validator = jsonschema.Draft202012Validator(
        {"$ref": f"{base}{folder}/{name}.schema.json"}, registry=registry
    )
    files = [path for path in (root / folder).glob("*.json") if ".schema." not in path.name]
    assert len(files) >= least
    for path in files:
        content = json.loads(path.read_text())
        validator.validate(content)
        validator.validate(content | {"title": "a title"})
        assert not validator.is_valid(content | {"pots": 4}), path


def _list(program) -> dict:
    return json.loads(program("list", "--json").stdout)


def test_list_tells_other_programs_what_it_tells_people(program):
    text = program("list").stdout
    for group in _list(program).values():
        for kind in group["kinds"]:
            assert f"\n  {kind['name']} " in text
            assert kind["summary"] in text
        for parameter in group["parameters"] + [p for k in group["kinds"] for p in k["parameters"]]:
            assert parameter["name"] in text


def test_styles_are_of_schemes_that_there_are(program):
    # Others get a style by their place among the series.
    assert set(style._SCHEMES) <= {kind["name"] for kind in _list(program)["schemes"]["kinds"]}


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
    result = program("run", SMOKE, "--out=r", f"--set={override}")
    assert result.returncode == 2
    for part in expected:
        assert part in result.stderr
    assert len(result.stderr.strip().splitlines()) <= 3
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("content", [b"", b"{", b'{"a": 1, "a": 2}', b'{"title": "\xff"}'])
def test_broken_file_is_refused(program, tmp_path, content):
    (tmp_path / "s.json").write_bytes(content)
    result = program("run", "s.json", "--out=r")
    assert result.returncode == 2
    assert "s.json" in result.stderr
    assert not (tmp_path / "r").exists()


def test_unknown_option_of_the_program_names_the_nearest(program):
    result = program("run", "x.json", "--progres=never")
    assert result.returncode == 2
    assert '--progres: unknown option; did you mean "--progress"?' in result.stderr


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
        "topology": {
            "kind": "star",
            "hosts": 3,
            "hostLink": {"rate": "10Gbps", "delay": "1us"},
        },
        "job": {"gradient": "100kB"},
        "scheme": "switchml",
        "sweep": {"seed": [1, 2]},
    }
    times = {}
    for name, aggregation in (("old", {"slots": 4}), ("new", {"slot": {"slots": 4}})):
        scenario["transport"] = {"kind": "roce", "aggregation": aggregation}
        (tmp_path / f"{name}.json").write_text(json.dumps(scenario))
        old, now = "transport.aggregation.slots", "transport.aggregation.slot.slots"
        expected = [f"gradsync: warning: {old} is now called {now}"] if name == "old" else []
        for command in (
            ["validate", f"{name}.json"],
            ["describe", f"{name}.json"],
            ["run", f"{name}.json", f"--out={name}"],
        ):
            done = program(*command)
            assert done.returncode == 0, done.stderr
            assert [line for line in done.stderr.splitlines() if "warning" in line] == expected
        times[name] = [row["ict_mean_s"] for row in rows_of(tmp_path / name / "runs.csv")]
    assert times["old"] == times["new"]
