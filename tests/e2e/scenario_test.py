# SPDX-License-Identifier: GPL-2.0-only
"""The simulator as a user meets it: scenario in, results out."""

import csv
import json
import os
import re
import shutil
import signal
import subprocess
import time
from xml.etree import ElementTree

import jsonschema
import pytest
from conftest import ROOT

from gradsync.compare import compare_results
from gradsync.plot import plot_results

SCENARIOS = ROOT / "scenarios"
SMOKE = SCENARIOS / "smoke.json"
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
    "wrong_sums",
    "server_packets",
    "packet_hops",
    "events",
    "wall_s",
    "peak_rss_bytes",
    "status",
}


def rows_of(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.fixture
def smoke(program, tmp_path):
    """Results of the smoke scenario."""
    result = program(f"--scenario={SMOKE}", "--out=smoke")
    assert result.returncode == 0, result.stderr
    return tmp_path / "smoke"


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


def test_foreign_flows_slow_an_exchange_down_and_are_recorded(program, tmp_path):
    incast = {"kind": "incast", "fanIn": 3, "size": "1MB", "every": "10ms", "duration": "1ms"}
    times = {}
    for name, traffic in (("alone", []), ("shared", [incast])):
        result = program(
            f"--scenario={SMOKE}",
            f"--out={name}",
            "--set=sweep={}",
            f"--set=traffic={json.dumps(traffic)}",
        )
        assert result.returncode == 0, result.stderr
        times[name] = float(rows_of(tmp_path / name / "runs.csv")[0]["ict_mean_s"])
    flows = rows_of(tmp_path / "shared" / "flows.csv")
    assert rows_of(tmp_path / "alone" / "flows.csv") == []
    assert [(flow["start_s"], flow["bytes"], flow["status"]) for flow in flows] == [
        ("0.000000000000", "1000000", "ok")
    ] * 3
    assert len({flow["src"] for flow in flows}) == 3
    assert len({flow["dst"] for flow in flows}) == 1
    assert times["shared"] > times["alone"]


def test_a_dead_link_ends_a_run_with_a_named_error_and_exit_code_3(program, tmp_path):
    fault = {"kind": "link-down", "at": "host3", "start": "100us"}
    pause = {"kind": "host-pause-send", "random": 1, "every": "200us", "duration": "10us"}
    result = program(
        f"--scenario={SMOKE}",
        "--out=dead",
        "--set=sweep={}",
        f"--set=faults={json.dumps([fault, pause])}",
        "--set=job.timeout=5ms",
    )
    assert result.returncode == 3
    assert 'job "job0", iteration 0: timed out, not done 0.005 s after it began' in result.stderr
    assert "faults at that time: link-down host3-leaf0" in result.stderr
    rows = rows_of(tmp_path / "dead" / "faults.csv")
    assert {row["event"] for row in rows if row["kind"] == "host-pause-send"} == {"begin", "end"}
    dead = [row for row in rows if row["kind"] == "link-down"]
    assert [(row["time_s"], row["target"], row["event"]) for row in dead] == [
        ("0.000100000000", "host3-leaf0", "begin")
    ]
    assert rows_of(tmp_path / "dead" / "runs.csv")[0]["status"] == "unfinished"
    # All transfers that are not done, of which the message names the first.
    left = rows_of(tmp_path / "dead" / "unfinished.csv")
    said = re.search(r"(\d+) of \d+ operations are not done: #(\d+) ", result.stderr)
    assert 0 < len(left) <= int(said[1])
    assert {row["state"] for row in left} <= {"network", "waiting"}
    assert any(row["state"] == "network" and "host3" in (row["src"], row["dst"]) for row in left)


def test_federated_rounds_close_by_either_policy(program, tmp_path):
    result = program(f"--scenario={SCENARIOS / 'federated.json'}", "--out=rounds")
    assert result.returncode == 0, result.stderr
    rows = rows_of(tmp_path / "rounds" / "iterations.csv")
    # All: at the timeout of 10 s; minimum 2: at 5 s, plus an answer of 12.5 % of 93.95 MB. Then
    # three models of 93.95 MB leave the controller at 1 Gb/s, headers included: 2.3 s; of two that
    # are waited for and one that is not, the two are there at the same time.
    times = {row["run"]: float(row["ict_s"]) for row in rows if row["iteration"] == "0"}
    assert times["0"] == pytest.approx(10 + 3 * 0.7516, rel=0.01)
    assert times["1"] == pytest.approx(5 + 0.125 * 0.7516 + 3 * 0.7516, rel=0.01)
    assert {row["replies"] for row in rows} == {"2"}
    # The answer that takes 20 s comes in the second round of 12.3 s, and in the third of 7.4 s.
    late = {run: [row["late"] for row in rows if row["run"] == run] for run in times}
    assert late == {"0": ["0", "1", "0"], "1": ["0", "0", "1"]}


def test_smoke_times_are_those_of_the_closed_form(smoke):
    # 8 workers in 2 racks, uplinks 2 x 10 Gb/s for 4 hosts: o = 2; K / B = 1 MB / 10 Gb/s = 0.8 ms.
    # PS: 2 max(7/8, 2 (1 - 1/2)) 0.8 ms = 1.6 ms, and 2 steps of at most 4 links of 1 us each.
    runs = {(r["oversubscription"], r["scheme.kind"]): r for r in rows_of(smoke / "runs.csv")}
    assert float(runs["2", "ps"]["ict_mean_s"]) == pytest.approx(1.6e-3 + 2 * 4e-6, rel=1e-9)
    # Bound: 2 (w - 1) K / (w B) = 1.4 ms at the hosts, 2 K / (2 * 20 Gb/s) = 0.4 ms at the uplinks.
    assert float(runs["2", "ps"]["bound_s"]) == pytest.approx(1.4e-3, rel=1e-9)
    assert float(runs["2", "ps"]["times_bound"]) == pytest.approx(1.608 / 1.4, abs=1e-6)
    # 2 (w - w_r) K = 2 * 4 * 1 MB across racks per iteration, and there are 2.
    assert int(runs["2", "ps"]["cross_rack_bytes"]) == 2 * 8_000_000


# Bytes across racks in K, longest chain, and the most that a rank receives in K, by the table of
# doc/schemes.rst; RAT's at 1:1 are those of PS. Spine-leaf: w = 16 in r = 4 racks of w_r = 4. Of the
# schemes whose bytes depend on the racks:
# - double-binary-tree: an edge carries K/2 up and down in each tree; 2-4, 4-8, 8-0, 10-12, 12-8 of
#   the first tree leave a rack, and their mirror images of the second.
# - mesh-2d, 4 x 4: columns cross, 16 ranks send 2 * 3/4 of each half.
# - bcube-hips, torus-hips, 4 x 4: one half near first, (r - 1) K, the other far first, (w - w_r) K.
# - multi-ring, strides 1 and 3: 4 and 12 of the 16 links cross, 15/16 K each.
# - geo-hips: the global server is in a rack of its own; a party's server receives m pushes and a sum.
# - parameter-hub: chunks do not divide evenly by the NICs, so that the peak is no fraction of K.
# - federated: the controller, where geo-hips has its global server, sends each client a command of
#   28 bytes and the model, and receives its answer.
ALL = 2 * 15 / 16
COMMAND = 28 / 15_360_000
SPINE_LEAF_TABLE = {
    "ps": (2 * (16 - 4), 2, ALL),
    "byteps": (2 * (16 - 4), 2, ALL),  # machines of one GPU: co-located PS
    "ps-ring": (2 * (16 - 4), 2, ALL),  # the same
    "ring": (2 * 4 * 15 / 16, 2 * 15, ALL),
    "rat": (2 * 3, 4, ALL),
    "hierarchical": (2 * 3, 2 * 3 + 2 * 3 + 3, 2 * 3 / 4 + 2 * 3 / 4),
    "plink": (2 * 3, 4, ALL),
    "halving-doubling": (2 * 3, 2 * 4, ALL),
    "butterfly": (16 * 2, 4, 4),  # w log2 r, log2 w
    "k-nomial": (2 * 3, 2 * 4, 4),
    "double-binary-tree": (2 * 5, 2 * 4, 2),
    "blueconnect": (2 * 3, 2 * (3 + 3), ALL),
    "torus-2d": (2 * 3, 2 * (3 + 3), ALL),
    "mesh-2d": (2 * 12, 2 * (3 + 3), 2 * 3 / 4 + 2 * 3 / 4),
    "bcube-hips": (3 + 12, 2 * 2, ALL),
    "torus-hips": (3 + 12, 2 * (3 + 3), ALL),
    "multi-ring": ((4 + 12) * 15 / 16, 2 * 15, ALL),
    "parameter-hub": (2 * 3, 4, None),
    "geo-hips": (2 * 4, 4, 4 + 1),
    "federated": ((2 + COMMAND) * 16, 3, 16),
}
# Fat-tree: r = 8 racks of 2 in 4 pods; only the racks are oversubscribed. Rows and groups of four
# span two racks:
# - double-binary-tree: 4 edges of leaves, 4 above and 3 above these leave a rack, in both trees.
# - torus-2d: 2 of 4 links of each row carry 3/2 K, 16 links of the columns 3/8 K.
# - mesh-2d: in each half 8 links of rows and 16 of columns carry 3/4 K.
# - bcube-hips: near first 2 of 3 messages of stage 1 cross, 8 K, and all of stage 2, 3 K; far first
#   12 K and 2 K.
# - torus-hips: 8 links of rows 3/4 K, of columns 16 3/16 K; then 16 and 8 likewise.
# - multi-ring: 8 and 16 of the 16 links cross.
# - geo-hips: the global server is in the rack of the first party, 2 (P - 1) K; it receives P sums.
FAT_TREE_TABLE = {
    "ps": (2 * (16 - 2), 2, ALL),
    "byteps": (2 * (16 - 2), 2, ALL),
    "ps-ring": (2 * (16 - 2), 2, ALL),
    "ring": (2 * 8 * 15 / 16, 2 * 15, ALL),
    "rat": (2 * 7, 4, ALL),
    "hierarchical": (2 * 7, 2 * 1 + 2 * 7 + 1, 2 * 1 / 2 + 2 * 7 / 8),
    "plink": (2 * 7, 4, ALL),
    "halving-doubling": (2 * 7, 2 * 4, ALL),
    "butterfly": (16 * 3, 4, 4),
    "k-nomial": (2 * 7, 2 * 4, 4),
    "double-binary-tree": (2 * 11, 2 * 4, 2),
    "blueconnect": (2 * 7, 2 * (1 + 1 + 3), ALL),
    "torus-2d": (8 * 3 / 2 + 16 * 3 / 8, 2 * (3 + 3), ALL),
    "mesh-2d": (2 * (8 + 16) * 3 / 4, 2 * (3 + 3), 3),
    "bcube-hips": (8 + 3 + 12 + 2, 2 * 2, ALL),
    "torus-hips": (8 * 3 / 4 + 16 * 3 / 16 + 16 * 3 / 4 + 8 * 3 / 16, 2 * (3 + 3), ALL),
    "multi-ring": ((8 + 16) * 15 / 16, 2 * 15, ALL),
    "parameter-hub": (2 * 7, 4, None),
    "geo-hips": (2 * 7, 4, 8),
    "federated": ((2 + COMMAND) * (16 - 2), 3, 16),
}


@pytest.mark.parametrize(
    "file, table",
    [
        ("scheme-comparison.json", SPINE_LEAF_TABLE),
        ("scheme-comparison-fat-tree.json", FAT_TREE_TABLE),
    ],
)
def test_scheme_comparison_moves_what_the_closed_forms_say(program, tmp_path, file, table):
    result = program(f"--scenario={SCENARIOS / file}", "--out=r", "--set=transport=fluid")
    assert result.returncode == 0, result.stderr
    runs = rows_of(tmp_path / "r" / "runs.csv")
    assert {run["scheme.kind"] for run in runs} == {"auto", *table}
    assert sorted({run["oversubscription"] for run in runs}, key=float) == ["1", "4", "8"]
    assert len(runs) == 3 * (1 + len(table))
    for ratio in {run["oversubscription"] for run in runs}:
        times = {r["scheme.kind"]: r for r in runs if r["oversubscription"] == ratio}
        auto = times.pop("auto")
        # Without packets the estimate is exact, to the tick of a picosecond, and so is the choice
        # among what needs no dedicated servers.
        best = min(
            float(run["ict_mean_s"])
            for run in times.values()
            if run["scheme.kind"] not in ("parameter-hub", "geo-hips", "federated")
        )
        assert float(auto["auto_estimate_s"]) == pytest.approx(float(auto["ict_mean_s"]), rel=1e-6)
        assert float(auto["ict_mean_s"]) <= best * (1 + 1e-6), (auto["auto_choice"], best)
    for run in runs:
        scheme = run["scheme.kind"]
        # A round that need not wait for all has no bound.
        assert scheme == "federated" or float(run["times_bound"]) >= 1 - 1e-6, run
        if scheme == "auto":
            continue
        if scheme == "rat" and run["oversubscription"] == "1":
            scheme = "ps"
        crossing, chain, peak = table[scheme]
        assert int(run["cross_rack_bytes"]) == pytest.approx(crossing * 15_360_000, abs=1e-3), run
        assert int(run["longest_chain"]) == chain, run
        if peak is not None:
            assert int(run["peak_received_bytes"]) == peak * 15_360_000, run


# Bytes across racks and longest chain, by doc/schemes.rst; w = 16, r = 4, K = 3.84 MB. The ring of
# the sparse gradients moves 960 entries of 8 bytes a worker over 4 * 15 links between racks; of the
# tokens of a barrier 4, 8, 16 and 16 leave a rack in the steps of 1, 2, 4 and 8 ranks.
COLLECTIVES_TABLE = {
    "all-gather": (4 * 15 * 240_000, 15),
    "reduce-scatter": (4 * 15 * 240_000, 15),
    "all-to-all": ((16 - 4) * 3_840_000, 1),
    "broadcast": (3 * 3_840_000, 15),
    "reduce": (3 * 3_840_000, 15),
    "barrier": (8 * (4 + 8 + 16 + 16), 4),
    "sparse-all-gather": (4 * 15 * 7_680, 15),
}


def test_collectives_move_what_the_closed_forms_say(program, tmp_path):
    result = program(f"--scenario={SCENARIOS / 'collectives.json'}", "--out=r")
    assert result.returncode == 0, result.stderr
    runs = rows_of(tmp_path / "r" / "runs.csv")
    assert len(runs) == 2 * len(COLLECTIVES_TABLE)
    for run in runs:
        crossing, chain = COLLECTIVES_TABLE[run["scheme.kind"]]
        assert int(run["cross_rack_bytes"]) == crossing, run
        assert int(run["longest_chain"]) == chain, run
        assert float(run["times_bound"]) >= 1, run


def test_plan_names_the_buffers_of_a_swap(program):
    result = program(f"--plan={SMOKE}", "--set=scheme.kind=butterfly", "--json", "--verify")
    assert result.returncode == 0, result.stderr
    plan = json.loads(result.stdout)
    assert plan["collective"] == "all-reduce"
    assert plan["violations"] == []
    # 4 workers swap into the staging buffer of the step, then each adds it at home.
    moves = [(op["from"] == op["to"], op["fromBuffer"], op["toBuffer"]) for op in plan["operations"]]
    assert set(moves) == {(False, 0, 1), (False, 0, 2), (True, 1, 0), (True, 2, 0)}


def test_exported_plan_comes_back_as_it_was(program, tmp_path):
    where = [f"--plan={SMOKE}", "--set=scheme.kind=butterfly", "--set=topology.hostsPerLeaf=4"]
    result = program(*where, "--json", "--export=x.goal")
    assert result.returncode == 0, result.stderr
    scenario = json.loads(SMOKE.read_text())
    scenario |= {"scheme": {"kind": "import", "file": "x.goal"}, "sweep": {}}
    (tmp_path / "import.json").write_text(json.dumps(scenario))
    imported = program("--plan=import.json", "--json", "--verify")
    assert imported.returncode == 0, imported.stderr
    plan = json.loads(imported.stdout)
    assert plan.pop("violations") == []
    assert plan == json.loads(result.stdout)


def test_imported_plan_that_is_wrong_is_refused_before_anything_is_written(program, tmp_path):
    goal = "num_ranks 8\nrank 0 {\nsend 8b to 1\n}\nrank 1 {\nrecv 9b from 0\n}\n"
    (tmp_path / "x.goal").write_text(goal)
    scenario = json.loads(SMOKE.read_text())
    scenario |= {"scheme": {"kind": "import", "file": "x.goal"}, "sweep": {}}
    (tmp_path / "import.json").write_text(json.dumps(scenario))
    result = program("--scenario=import.json", "--out=r")
    assert result.returncode == 2
    assert "x.goal:6: found a recv of 9 bytes, expected 8" in result.stderr
    assert not (tmp_path / "r").exists()


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


def test_same_scenario_twice_gives_the_same_results(program, smoke, tmp_path):
    assert program(f"--scenario={SMOKE}", "--out=again", "--jobs=1").returncode == 0
    assert compare_results(smoke, tmp_path / "again") == []


def test_second_start_repeats_nothing_and_a_change_repeats_what_it_changed(program, smoke):
    before = {r["run"]: r["wall_s"] for r in rows_of(smoke / "runs.csv")}
    marks = {p: p.stat().st_mtime_ns for p in (smoke / ".runs").rglob("*") if p.is_file()}
    assert marks, "finished runs are kept in .runs"
    assert program(f"--scenario={SMOKE}", "--out=smoke").returncode == 0
    assert {p: p.stat().st_mtime_ns for p in marks} == marks
    assert {r["run"]: r["wall_s"] for r in rows_of(smoke / "runs.csv")} == before
    assert program(f"--scenario={SMOKE}", "--out=smoke", "--set=job.gradient=2MB").returncode == 0
    runs = {(r["oversubscription"], r["scheme.kind"]): r for r in rows_of(smoke / "runs.csv")}
    assert float(runs["2", "ps"]["ict_mean_s"]) == pytest.approx(3.2e-3 + 2 * 4e-6, rel=1e-9)


def test_parts_done_by_several_programs_are_the_whole(program, smoke, tmp_path):
    parts = (f"--scenario={SMOKE}", "--out=parts", "--progress=never")
    prepared = program(*parts, "--prepare")
    assert [run["done"] for run in json.loads(prepared.stdout)] == [False] * 6
    # PS on 4 and 8 hosts: 2 (w - 1) K in each of 2 iterations.
    assert [json.loads(prepared.stdout)[run]["bytes"] for run in (0, 3)] == [12_000_000, 28_000_000]
    others = [
        subprocess.Popen([program.path, *parts, f"--points={points}"], cwd=tmp_path)
        for points in ("0-1,4", "2,5")
    ]
    assert [other.wait() for other in others] == [0, 0]
    incomplete = program(*parts, "--assemble")
    assert incomplete.returncode == 1
    assert "run 3 (topology.hostsPerLeaf=4, scheme.kind=ps) has no result" in incomplete.stderr
    assert program(*parts, "--points=3").returncode == 0
    assert program(*parts, "--assemble").returncode == 0
    assert compare_results(smoke, tmp_path / "parts") == []
    assert all(run["done"] for run in json.loads(program(*parts, "--prepare").stdout))
    assert program(*parts, "--points=6").returncode == 2


def test_killed_program_leaves_whole_runs_and_goes_on(program, tmp_path):
    scenario = json.loads(SMOKE.read_text())
    # Enough packets that the kill comes in the middle of the sweep.
    scenario["transport"] = {"kind": "roce"}
    scenario["job"]["gradient"] = "40MB"
    (tmp_path / "long.json").write_text(json.dumps(scenario))
    killed = subprocess.Popen(
        [program.path, "--scenario=long.json", "--out=r", "--jobs=1"],
        cwd=tmp_path,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    done = tmp_path / "r" / ".runs"
    while killed.poll() is None and not (done.exists() and _whole_runs(done)):
        time.sleep(0.005)
    os.killpg(killed.pid, signal.SIGKILL)
    killed.wait()
    assert not (tmp_path / "r" / "runs.csv").exists(), "the program was too fast to be killed"
    kept = {run: run.stat().st_mtime_ns for run in _whole_runs(done)}
    assert 1 <= len(kept) < 6
    assert program("--scenario=long.json", "--out=r").returncode == 0
    assert {run: run.stat().st_mtime_ns for run in kept} == kept
    assert program("--scenario=long.json", "--out=fresh").returncode == 0
    assert compare_results(tmp_path / "r", tmp_path / "fresh") == []


def _whole_runs(folder):
    # Unfinished ones have a temporary name.
    return [run for run in folder.iterdir() if run.is_dir() and run.name[0].isdigit()]


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
    for line in program("--list").stdout.split("Schemes", 1)[1].split("Topologies", 1)[0].splitlines():
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


def test_launcher_prints_draws_and_exports_a_plan(ns3, tmp_path):
    result = ns3(
        *("plan", str(SMOKE), "--run", "1", "--verify", "--no-install"),
        *("--draw", "plan.svg", "--export", "plan.goal"),
    )
    assert result.returncode == 0, result.stderr
    assert "verified: an all-reduce" in result.stdout
    drawing = ElementTree.parse(tmp_path / "plan.svg").getroot()
    assert drawing.tag == "{http://www.w3.org/2000/svg}svg"
    assert (tmp_path / "plan.goal").read_text().startswith("num_ranks ")


def test_launcher_passes_the_exit_code_of_bad_input_on(ns3):
    result = ns3("validate", "nowhere.json", "--no-install")
    assert result.returncode == 2
    assert "nowhere.json" in result.stderr


def test_one_tcp_timeout_outlasts_the_whole_incast(program, tmp_path):
    """The parameter server's incast loses packets that only a timer finds; a ring has no incast."""
    exchange = ("--set=job.gradient=1MiB", "--set=topology.hostsPerLeaf=4")
    times = {}
    for min_rto in ("1s", "10ms"):
        result = program(
            f"--scenario={SCENARIOS / 'rat-tcp.json'}",
            f"--out={min_rto}",
            f"--set=transport.minRto={min_rto}",
            *exchange,
        )
        assert result.returncode == 0, result.stderr
        for row in rows_of(tmp_path / min_rto / "runs.csv"):
            times[min_rto, row["scheme.kind"]] = float(row["ict_mean_s"])
    # 16 workers at 2:1 need 0.6 ms for 1 MiB without loss (reference: 3 K/B = 0.63 ms).
    assert times["1s", "ps"] > 1
    assert times["10ms", "ps"] < 1
    assert times["1s", "ring"] == times["10ms", "ring"] < 0.01


def test_a_crash_is_told_as_table_trace_and_picture(program, tmp_path):
    crash = {"kind": "host-crash", "hosts": [2], "start": "1ms", "detectionDelay": "100us"}
    result = program(
        f"--scenario={ROOT / 'scenarios' / 'chain-blocking.json'}",
        "--trace",
        f"--out={tmp_path / 'out'}",
        "--set=job.reaction=replan",
        "--set=job.gradient=4MB",
        f"--set=faults={json.dumps([crash])}",
    )
    assert result.returncode == 0, result.stderr
    begin, reaction = rows_of(tmp_path / "out" / "faults.csv")
    assert begin["target"] == "host2" and float(begin["recovery_s"]) > 0.0001
    assert reaction["kind"] == "reaction" and float(reaction["time_s"]) == 0.0011
    assert {int(row["blocked_workers"]) for row in rows_of(tmp_path / "out" / "blocked.csv")} > {0}
    trace = json.loads((tmp_path / "out" / "trace.json").read_text())
    names = {event["name"] for event in trace["traceEvents"]}
    assert {"host-crash host2", "job0 goes on without host2", "to host3", "blocked"} <= names
    assert [path.name for path in plot_results(tmp_path / "out")] == [
        "plot.svg",
        "plot.png",
        "faults.svg",
    ]
